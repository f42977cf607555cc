"""From a DATA argument to graphs, classes and names."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import GraphgrainWarning, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.rdkit import LabelOptions
from ..graphs.datasets.fetch import fetch_tu, load_drugs, tu_datasets
from ..graphs.files.matlab import load_mat
from ..graphs.files.molecules import KINDS, is_molecule_file, load_molecules
from ..graphs.files.tu import load_tu
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.registry import KERNELS
from ..views.base import seen_through, view_name
from .arguments import Reading, check_choice, nearest
from .kernel_options import combined

BUNDLED = "drugs"
#: Options that the reader of molecules takes by the same names.
MOLECULE_OPTIONS = ("smiles", "errors", *LabelOptions._fields)


class Loaded(NamedTuple):
    """A data set.

    Attributes
    ----------
    name : str
        For tables and records; with the target, if one was chosen.
    graphs : GraphBatch
    y : array or None
        Classes or values.
    names : array or None
        Names of the graphs.
    columns : tuple of str
        For a table of molecules, the columns that may be the target.
    view : str
        The view through which the graphs are seen, which ``name`` tells too.
    table : dict
        For molecules, all columns of the file.
    smiles : list of str or None
        For molecules that have them.
    """

    name: str
    graphs: GraphBatch
    y: np.ndarray | None
    names: np.ndarray | None = None
    columns: tuple[str, ...] = ()
    view: str = ""
    table: dict[str, Any] = {}  # noqa: RUF012 - a default of a named tuple, never changed
    smiles: list[str] | None = None

    def with_classes(self) -> Loaded:
        """The same, or an error that says how to choose the column with the classes."""
        if self.y is None and self.columns:
            raise InvalidParameterError(
                f"There must be classes to learn: name the column that has them with --target. "
                f"The columns of {self.name} are {', '.join(self.columns)}."
            )
        return self


def load(data: str, reading: Reading | None = None) -> Loaded:
    """The data set that a DATA argument names.

    Parameters
    ----------
    data : str
        A file, a folder, a name of the TU collection, or ``drugs``.
    reading : Reading, optional
        What the options of the command say about it.
    """
    reading = reading or Reading()
    check_choice("--errors", reading.errors, ("raise", "skip"))
    view = combined(reading.view)
    loaded = _load(data, reading)
    if view is None:
        return loaded
    seen = seen_through(view.fit(loaded.graphs), loaded.graphs)
    words = view_name(view)
    return loaded._replace(name=f"{loaded.name} > {words}", graphs=seen, view=words)


def note_ignored_attributes(data: Loaded, kernels: Iterable[GraphKernel]) -> None:
    """Warn if graphs have attributes that a kernel does not look at."""
    graphs = data.graphs
    columns = {"vertex": graphs.vertex_attributes, "edge": graphs.edge_attributes}
    found = [
        f"{values.shape[1]} {kind} attribute{'s' if values.shape[1] > 1 else ''}"
        for kind, values in columns.items()
        if values is not None and values.shape[1]
    ]
    blind = list(
        dict.fromkeys(
            type(kernel).__name__
            for kernel in kernels
            if not kernel.get_params().get("attributes", False)
        )
    )
    if found and blind and not data.view:
        warnings.warn(
            f"{data.name} has {' and '.join(found)}, which {', '.join(blind)} "
            f"{'do' if len(blind) > 1 else 'does'} not look at. --view attribute-bins makes "
            "labels of them; the kernel propa can use those of vertices (--set attributes=True).",
            GraphgrainWarning,
            stacklevel=2,
        )


def _load(data: str, reading: Reading) -> Loaded:
    path = Path(data).expanduser()
    if data != BUNDLED and path.exists():
        if is_molecule_file(path):
            return _molecules(path, data, reading)
        _only_for_molecules(reading)
        is_matlab = Path(path.name.lower().removesuffix(".gz")).suffix == ".mat"
        return Loaded(path.stem, *(load_mat if is_matlab else load_tu)(path))
    if data != BUNDLED and ("/" in data or "\\" in data or path.suffix):
        raise InvalidParameterError(
            f"There is no file or folder {data!r}. DATA is a file, a folder, a name of the TU "
            "collection (`graphgrain datasets` lists them) or drugs."
        )
    if data == BUNDLED:
        _only_for_molecules(reading)
        text = (resources.files("graphgrain.graphs.datasets") / "data" / "drugs.csv").read_text()
        rows = list(csv.DictReader(text.splitlines()))
        smiles = [row["smiles"] for row in rows]
        return Loaded(data, *load_drugs(names=True))._replace(smiles=smiles)
    known = [item.name for item in tu_datasets()]
    if data in known:
        _only_for_molecules(reading)
    try:
        return Loaded(data, *fetch_tu(data))
    except InvalidParameterError:
        if data in known:
            raise
        hint = nearest(data, [BUNDLED, *known])
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
    graphs, columns = load_molecules(path, **options)
    name, target = path.name.split(".")[0], reading.target
    others = tuple(column for column in columns if column != "line")
    found = Loaded(name, graphs, None, columns.get("name"), others, table=columns)
    written = reading.smiles or next((c for c in columns if "smiles" in c.lower()), None)
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
        if option != "view" and value != getattr(default, option):
            raise InvalidParameterError(
                f"--{option} is for files of molecules ({', '.join(KINDS)}); other data "
                f"has its classes and labels inside. Leave out --{option}."
            )
