"""Load graphs, targets and names from a DATA argument."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import (
    InvalidFileError,
    InvalidGraphError,
    InvalidParameterError,
)
from ..graphs.batch import GraphBatch, counted
from ..graphs.convert.rdkit import LabelOptions, from_smiles
from ..graphs.datasets.fetch import fetch_tu, load_drugs, tu_datasets
from ..graphs.files.archive import unknown_format
from ..graphs.files.matlab import load_mat
from ..graphs.files.molecules import (
    KINDS,
    MoleculeFile,
    is_molecule_file,
    missing_values,
    molecule_texts,
    typed,
)
from ..graphs.files.tu import load_tu
from ..kernels.registry import KERNELS
from ..views.base import seen_through, view_name
from .console import note
from .kernel_options import combined
from .options import Reading, check_choice, listed, nearest

if TYPE_CHECKING:
    from ..kernels.bases.graph_kernel import GraphKernel

BUNDLED = "drugs"
#: Suffixes of files of graphs other than molecules.
_FILES = (".zip", ".gz", ".mat", ".txt", ".json", ".ggi")


class Loaded(NamedTuple):
    """A data set."""

    name: str  # for tables and records; includes the target, if one was chosen
    graphs: GraphBatch
    y: np.ndarray | None  # classes or values
    names: np.ndarray | None = None
    view: str = ""  # view of the graphs; also part of ``name``
    table: dict[str, Any] = {}  # noqa: RUF012 - columns of a file of molecules, as text
    smiles: list[str] | None = None
    rows: np.ndarray | None = None  # rows of the file, counted from 1; None: all of them

    @property
    def columns(self) -> list[str]:
        """Names of the columns of a file of molecules: possible targets."""
        return [name for name in self.table if name != "line"]

    def row(self, position: int) -> int:
        """Return the row of a graph in its file, counted from 1."""
        return position + 1 if self.rows is None else int(self.rows[position])

    def take(self, positions: np.ndarray) -> Loaded:
        """Return some of the graphs, with their targets, names and columns."""
        return self._replace(
            graphs=self.graphs[positions],
            y=None if self.y is None else self.y[positions],
            names=None if self.names is None else self.names[positions],
            table={name: values[positions] for name, values in self.table.items()},
            smiles=None if self.smiles is None else [self.smiles[row] for row in positions],
            rows=np.array([self.row(position) for position in positions.tolist()]),
        )

    def with_classes(self) -> Loaded:
        """Return self; raise an error with a hint if the target column was not chosen."""
        if self.y is None and self.columns:
            raise InvalidParameterError(
                f"There must be targets to learn: name their column with --target. "
                f"The columns of {self.name} are {', '.join(self.columns)}."
            )
        return self

    def with_one_target(self) -> Loaded:
        """Return self; raise an error if there are several targets for each graph."""
        if self.y is not None and self.y.ndim > 1:
            raise InvalidParameterError(
                f"This command takes one target for each graph; {self.name} has "
                f"{self.y.shape[1]}. `graphgrain fit` trains a model on all of them."
            )
        return self


def load(data: str, reading: Reading | None = None, *, all_rows: bool = False) -> Loaded:
    """Load the data set of a DATA argument.

    With ``all_rows``, for commands that refer to rows by number, ``--missing skip`` keeps graphs
    without a target; their targets are NaN or the empty string.
    """
    reading = reading or Reading()
    view = combined(reading.view)
    loaded = _with_targets(_load(data, reading), reading.missing, all_rows)
    if not len(loaded.graphs):
        raise InvalidFileError(f"There is no graph in {data}. Is it the right file?")
    if view is None:
        return loaded
    words, seen = view_name(view), seen_through(view.fit(loaded.graphs), loaded.graphs)
    return loaded._replace(name=f"{loaded.name} > {words}", graphs=seen, view=words)


def load_graphs(text: str, reading: Reading) -> Loaded:
    """Load a file or data set, or the one molecule of a SMILES."""
    if not text.strip() or is_data(text):
        return load(text, reading)
    with taken_as_smiles(text):
        options: dict[str, Any] = dict.fromkeys(label_names(reading), True)
        return Loaded(text, from_smiles([text], **options), None, smiles=[text])


def is_data(text: str) -> bool:
    """Check if a text is the name of a file or a data set and not SMILES."""
    path = Path(text).expanduser()
    if path.exists() or is_molecule_file(path) or path.suffix.lower() in _FILES:
        return True
    return text.lower() in {BUNDLED, *(item.name.lower() for item in tu_datasets())}


@contextmanager
def taken_as_smiles(text: str) -> Iterator[None]:
    """Add to errors that a text was read as SMILES, not as the name of a file."""
    try:
        yield
    except InvalidGraphError as error:
        error.add_note(
            f"{text!r} was taken as SMILES: there is no file and no data set of that name."
        )
        raise


def _with_targets(loaded: Loaded, missing: str, all_rows: bool) -> Loaded:
    """Return the graphs that have a target, and handle missing ones by ``--missing``."""
    if loaded.y is None or loaded.y.ndim != 1:
        return loaded
    gone = missing_values(loaded.y)
    if not gone.any():
        return loaded._replace(y=typed(loaded.y))
    count, row = int(gone.sum()), loaded.row(int(np.argmax(gone)))
    found = f"{count:,} of {len(gone):,} graphs of {loaded.name} have none (the first: row {row})"
    if missing == "raise":
        raise InvalidParameterError(
            f"Every graph must have a target; {found}. Empty, NA, NaN, null and similar values "
            "count as missing. Fill them in, or skip these graphs with --missing skip."
        )
    if gone.all():
        raise InvalidParameterError(f"There must be targets; {found}. Is it the right column?")
    if all_rows:
        return loaded._replace(y=typed(loaded.y))
    note(f"{loaded.name}: {count:,} of {len(gone):,} graphs have no target and are skipped.")
    present = np.flatnonzero(~gone)
    return loaded.take(present)._replace(y=typed(loaded.y[present]))


def label_names(reading: Reading) -> list[str]:
    """Return the names of ``--labels``."""
    names = listed([reading.labels])
    for name in names:
        check_choice("--labels", name, LabelOptions._fields)
    return names


def molecule_options(reading: Reading) -> dict[str, Any]:
    """Return the options as parameters of the readers of molecules."""
    labels = dict.fromkeys(label_names(reading), True)
    return {"smiles": reading.smiles, "errors": reading.errors, **labels}


def with_labels(reading: Reading, labels: Iterable[str], built: str) -> Reading:
    """Return the options with label options of an earlier command, which must not be others."""
    for name in set(label_names(reading)).difference(labels):
        raise InvalidParameterError(
            f"{built} without --labels {name}, and molecules are read in the same way. Leave "
            f"{name} out."
        )
    return replace(reading, labels=",".join(labels))


def note_ignored_attributes(data: Loaded, kernel: GraphKernel) -> None:
    """Warn if graphs have attributes that a kernel does not use."""
    graphs = data.graphs
    columns = {"vertex": graphs.vertex_attributes, "edge": graphs.edge_attributes}
    present = [
        counted(values.shape[1], f"{kind} attribute")
        for kind, values in columns.items()
        if values is not None and values.shape[1]
    ]
    if present and not data.view and not kernel.get_params().get("attributes", False):
        note(
            f"{data.name} has {' and '.join(present)}, which {type(kernel).__name__} does not use. "
            "--view attribute-bins turns them into labels; the kernel propa can use those of "
            "vertices (--set attributes=True)."
        )


def _load(data: str, reading: Reading) -> Loaded:
    if not data.strip():
        raise InvalidParameterError("DATA is a file, a folder or the name of a data set; got ''.")
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
            f"There is no file or folder {data!r}. DATA is a file, a folder, the name of a TU "
            "data set (`graphgrain info` lists them) or drugs."
        )
    _only_for_molecules(reading)
    if bundled:
        place = resources.files("graphgrain.graphs.datasets") / "data" / "drugs.csv"
        text = place.read_text(encoding="utf-8")
        smiles = [row["smiles"] for row in csv.DictReader(text.splitlines())]
        return Loaded(BUNDLED, *load_drugs(names=True))._replace(smiles=smiles)
    names = {item.name.lower(): item.name for item in tu_datasets()}
    if data.lower() in names:
        data = names[data.lower()]
    try:
        return Loaded(data, *fetch_tu(data))
    except InvalidParameterError:
        if data in names.values():
            raise
        hint = nearest(data, [BUNDLED, *names.values()])
        if data in KERNELS:
            hint = (
                f"{data} is a kernel: options take one value each, separated by commas, as in "
                "--kernel tree++,wl. "
            )
        raise InvalidParameterError(
            f"There is no file, folder or data set {data!r}. {hint}"
            "`graphgrain info` lists all named data sets."
        ) from None


def _molecules(path: Path, data: str, reading: Reading) -> Loaded:
    """Load a file of molecules with the target column."""
    graphs, columns = molecule_texts(path, **molecule_options(reading))
    if not len(graphs):
        raise InvalidFileError(
            f"No molecule of {data} can be read. Is it the right file, and the right column of "
            "SMILES (--smiles)?"
        )
    name = path.name.split(".")[0]
    written = reading.smiles or next((c for c in columns if "smiles" in c.lower()), None)
    loaded = Loaded(
        name,
        graphs,
        y=None,
        table=columns,
        smiles=None if written is None else [str(text) for text in columns[written]],
        rows=_rows(path, reading, columns["line"]),
    )
    for column in (reading.id, reading.target):
        if column is not None and column not in loaded.columns:
            raise InvalidParameterError(
                f"{data!r} has no column {column!r}. {nearest(column, loaded.columns)}Its columns "
                f"are {', '.join(loaded.columns)}."
            )
    loaded = loaded._replace(names=columns.get(reading.id or "name"))
    if reading.target is None:
        return loaded
    return loaded._replace(name=f"{name}: {reading.target}", y=columns[reading.target])


def _rows(path: Path, reading: Reading, lines: np.ndarray) -> np.ndarray:
    """Return the rows of molecules, counted from 1; unreadable molecules count."""
    if reading.errors == "raise":
        return np.arange(1, len(lines) + 1)
    records = MoleculeFile.opened(path, reading.smiles).records
    return 1 + np.searchsorted([record.line for record in records], lines)


def _only_for_molecules(reading: Reading) -> None:
    """Raise an error if options for files of molecules are set."""
    for option in options_set(reading):
        if option not in ("view", "missing"):
            raise InvalidParameterError(
                f"--{option} is for files of molecules ({', '.join(KINDS)}); other data sets "
                f"contain their classes and labels. Leave out --{option}."
            )


def options_set(reading: Reading) -> list[str]:
    """Return the names of the options that differ from their defaults."""
    return [name for name, value in vars(reading).items() if value != getattr(Reading(), name)]


def row_names(loaded: Loaded) -> list[str]:
    """Return display names of the graphs: ids, SMILES, or rows from 1."""
    names = loaded.smiles or [f"row {loaded.row(k):,}" for k in range(len(loaded.graphs))]
    if loaded.names is None:
        return names
    return [str(name) or text for name, text in zip(loaded.names, names, strict=True)]
