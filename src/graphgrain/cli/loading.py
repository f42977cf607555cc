"""From a DATA argument to graphs, classes and names."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.markup import escape

from ..errors import GraphgrainWarning, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.rdkit import LabelOptions
from ..graphs.datasets.fetch import fetch_tu, load_drugs, tu_datasets
from ..graphs.files.archive import unknown_format
from ..graphs.files.matlab import load_mat
from ..graphs.files.molecules import (
    KINDS,
    is_molecule_file,
    missing_values,
    molecule_texts,
    typed,
)
from ..graphs.files.tu import load_tu
from .app import err
from .arguments import Reading, check_choice, nearest

if TYPE_CHECKING:
    from ..kernels.bases.graph_kernel import GraphKernel

BUNDLED = "drugs"
#: Options that the reader of molecules takes by the same names.
MOLECULE_OPTIONS = ("smiles", "errors", *LabelOptions._fields)


class Loaded(NamedTuple):
    """A data set."""

    name: str  # for tables and records; with the target, if one was chosen
    graphs: GraphBatch
    y: np.ndarray | None  # classes or values
    names: np.ndarray | None = None
    columns: tuple[str, ...] = ()  # for a table of molecules, those that may be the target
    view: str = ""  # through which the graphs are seen; also part of ``name``
    table: dict[str, Any] = {}  # noqa: RUF012 - all columns of a file of molecules, never changed
    smiles: list[str] | None = None

    def with_classes(self) -> Loaded:
        """The same, or an error that says how to choose the column with the classes."""
        if self.y is None and self.columns:
            raise InvalidParameterError(
                f"There must be classes to learn: name the column that has them with --target. "
                f"The columns of {self.name} are {', '.join(self.columns)}."
            )
        return self


def load(data: str, reading: Reading | None = None, *, all_rows: bool = False) -> Loaded:
    """The data set that a DATA argument names.

    With ``all_rows``, for commands that count rows, graphs without a target stay where
    ``--missing skip`` is given, their targets NaN or the empty string.
    """
    reading = reading or Reading()
    check_choice("--errors", reading.errors, ("raise", "skip"))
    check_choice("--missing", reading.missing, ("error", "skip"))
    view = None
    if reading.view:  # otherwise scikit-learn, which takes seconds to start, is not needed
        from ..views.base import seen_through, view_name
        from .kernel_options import combined

        view = combined(reading.view)
    loaded = _with_targets(_load(data, reading), reading.missing, all_rows)
    if view is None:
        return loaded
    words, seen = view_name(view), seen_through(view.fit(loaded.graphs), loaded.graphs)
    return loaded._replace(name=f"{loaded.name} > {words}", graphs=seen, view=words)


def _with_targets(loaded: Loaded, missing: str, all_rows: bool) -> Loaded:
    """The graphs that have a target; one rule for what is missing, whatever the command."""
    if loaded.y is None or loaded.y.ndim != 1:
        return loaded
    gone = missing_values(loaded.y)
    if not gone.any():
        return loaded._replace(y=typed(loaded.y))
    count, first = int(gone.sum()), int(np.argmax(gone))
    lines = loaded.table.get("line")
    place = f"graph {first + 1}" if lines is None else f"line {lines[first]}"
    found = f"{count:,} of {len(gone):,} graphs of {loaded.name} have none (the first: {place})"
    if missing == "error":
        raise InvalidParameterError(
            f"Every graph must have a target; {found}. Empty, NA, NaN, null and the like count as "
            "missing. Fill them in, or go on without these graphs: --missing skip."
        )
    if gone.all():
        raise InvalidParameterError(f"There must be targets; {found}. Is it the right column?")
    if all_rows:
        return loaded._replace(y=typed(loaded.y))
    err().print(
        f"[yellow]Note:[/yellow] {escape(loaded.name)}: {count:,} of {len(gone):,} graphs have no "
        "target and are left out."
    )
    kept = np.flatnonzero(~gone)
    return loaded._replace(
        graphs=loaded.graphs[kept],
        y=typed(loaded.y[kept]),
        names=None if loaded.names is None else loaded.names[kept],
        table={name: values[kept] for name, values in loaded.table.items()},
        smiles=None if loaded.smiles is None else [loaded.smiles[row] for row in kept],
    )


def note_ignored_attributes(data: Loaded, kernels: Iterable[GraphKernel]) -> None:
    """Warn if graphs have attributes that a kernel does not look at."""
    graphs = data.graphs
    columns = {"vertex": graphs.vertex_attributes, "edge": graphs.edge_attributes}
    found = [
        f"{values.shape[1]} {kind} attribute{'s' if values.shape[1] > 1 else ''}"
        for kind, values in columns.items()
        if values is not None and values.shape[1]
    ]
    kinds = (type(k).__name__ for k in kernels if not k.get_params().get("attributes", False))
    blind = list(dict.fromkeys(kinds))
    if found and blind and not data.view:
        warnings.warn(
            f"{data.name} has {' and '.join(found)}, which {', '.join(blind)} "
            f"{'do' if len(blind) > 1 else 'does'} not look at. --view attribute-bins makes "
            "labels of them; the kernel propa can use those of vertices (--set attributes=True).",
            GraphgrainWarning,
            stacklevel=2,
        )


def row_names(loaded: Loaded) -> list[str]:
    """What the graphs of a data set are called: names, SMILES, or rows counted from 1."""
    rows = loaded.smiles or [f"row {number:,}" for number in range(1, len(loaded.graphs) + 1)]
    if loaded.names is None:
        return rows
    return [str(name) or row for name, row in zip(loaded.names, rows, strict=True)]


def _load(data: str, reading: Reading) -> Loaded:
    path = Path(data).expanduser()
    bundled = data.lower() == BUNDLED
    if not bundled and path.exists():
        if is_molecule_file(path):
            return _molecules(path, data, reading)
        _only_for_molecules(reading)
        suffix = Path(path.name.lower().removesuffix(".gz")).suffix
        if suffix != ".mat" and path.suffix.lower() != ".zip" and not path.is_dir():
            raise unknown_format(path)
        return Loaded(path.stem, *(load_mat if suffix == ".mat" else load_tu)(path))
    if not bundled and ("/" in data or "\\" in data or path.suffix):
        raise InvalidParameterError(
            f"There is no file or folder {data!r}. DATA is a file, a folder, a name of the TU "
            "collection (`graphgrain datasets` lists them) or drugs."
        )
    if bundled:
        _only_for_molecules(reading)
        place = resources.files("graphgrain.graphs.datasets") / "data" / "drugs.csv"
        text = place.read_text(encoding="utf-8")
        rows = list(csv.DictReader(text.splitlines()))
        smiles = [row["smiles"] for row in rows]
        return Loaded(BUNDLED, *load_drugs(names=True))._replace(smiles=smiles)
    known = {item.name.lower(): item.name for item in tu_datasets()}
    if data.lower() in known:
        data = known[data.lower()]
        _only_for_molecules(reading)
    try:
        return Loaded(data, *fetch_tu(data))
    except InvalidParameterError:
        if data in known.values():
            raise
        from ..kernels.registry import KERNELS

        hint = nearest(data, [BUNDLED, *known.values()])
        if data in KERNELS:
            hint = (
                f"{data} is a kernel: options take one value each, separated by commas, as in "
                "--kernel tree++,wl. "
            )
        raise InvalidParameterError(
            f"There is no file, folder or data set {data!r}. {hint}"
            "`graphgrain datasets` lists all data sets that have a name."
        ) from None


def _molecules(path: Path, data: str, reading: Reading) -> Loaded:
    """The graphs of a file of molecules, with the target that was asked for."""
    options = {name: getattr(reading, name) for name in MOLECULE_OPTIONS}
    graphs, columns = molecule_texts(path, **options)
    name, target = path.name.split(".")[0], reading.target
    others = tuple(column for column in columns if column != "line")
    found = Loaded(name, graphs, None, columns.get("name"), others)
    written = reading.smiles or next((c for c in columns if "smiles" in c.lower()), None)
    found = found._replace(table={name: typed(values) for name, values in columns.items()})
    if written is not None:
        found = found._replace(smiles=[str(text) for text in columns[written]])
    if target is None:
        return found
    if target not in columns:
        raise InvalidParameterError(
            f"{data!r} has no column {target!r}. {nearest(target, columns)}Its columns are "
            f"{', '.join(others)}."
        )
    return found._replace(name=f"{name}: {target}", y=columns[target])


def _only_for_molecules(reading: Reading) -> None:
    """Options that this data has no use for are an error, not a surprise."""
    default = Reading()
    for option, value in vars(reading).items():
        if option not in ("view", "missing") and value != getattr(default, option):
            raise InvalidParameterError(
                f"--{option} is for files of molecules ({', '.join(KINDS)}); other data "
                f"has its classes and labels inside. Leave out --{option}."
            )
