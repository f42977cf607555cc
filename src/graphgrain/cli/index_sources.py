"""From a DATA argument to an index: an index that is there, or one made of graphs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.datasets.fetch import tu_datasets
from ..graphs.files.molecules import is_molecule_file
from ..searching.graph_index import GraphIndex
from .arguments import Reading, check_choice
from .loading import BUNDLED, MOLECULE_OPTIONS, Loaded, load

#: Endings of files of graphs other than molecules.
_FILES = (".zip", ".gz", ".mat", ".txt", ".json", ".ggi")


class IndexSource(NamedTuple):
    """What :meth:`GraphIndex.build` is called with."""

    name: str
    source: Any
    ids: str | None = None
    columns: dict[str, Any] | None = None
    options: dict[str, Any] = {}  # noqa: RUF012 - a default of a named tuple, never changed

    def build(self, path: str | Path, **more: Any) -> GraphIndex:
        """The index; a bar shows how far it is, if somebody looks."""
        return GraphIndex.build(
            path,
            self.source,
            ids=more.pop("ids", None) or self.ids,
            first_id=1,  # rows are counted from 1 on the command line
            columns=self.columns,
            verbose=sys.stderr.isatty(),
            **self.options,
            **more,
        )


def index_source(data: str, reading: Reading) -> IndexSource:
    """What a DATA argument means for an index; files of molecules are read in pieces."""
    check_choice("--errors", reading.errors, ("raise", "skip"))
    path = Path(data).expanduser()
    options = {name: getattr(reading, name) for name in MOLECULE_OPTIONS}
    if data == BUNDLED and not reading.view:
        drugs = files("graphgrain.graphs.datasets") / "data" / "drugs.csv"
        return IndexSource(BUNDLED, Path(str(drugs)), "name", None, options)
    if is_molecule_file(path) and path.exists() and not reading.view:
        return IndexSource(path.name.split(".")[0], path, None, None, options)
    loaded = load(data, reading)
    columns = {} if loaded.y is None else {"target": np.asarray(loaded.y)}
    if loaded.names is not None:
        columns["name"] = np.asarray(loaded.names)
    return IndexSource(loaded.name, loaded.graphs, None, columns)


@contextmanager
def opened(data: str, reading: Reading, n_jobs: int, similarity: str) -> Iterator[GraphIndex]:
    """An index by its path, or a passing one of whatever DATA names."""
    if _is_index(data):
        yield GraphIndex.open(data, n_jobs=n_jobs)
        return
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source = index_source(data, reading)
        yield source.build(Path(folder) / "passing.ggi", n_jobs=n_jobs, similarity=similarity)


def _is_index(data: str) -> bool:
    path = Path(data).expanduser()
    return path.suffix == ".ggi" or (path / "manifest.json").is_file()


def as_query_graphs(
    index: GraphIndex, queries: list[str], reading: Reading
) -> tuple[GraphBatch, list[str]]:
    """Graphs and names of queries: SMILES, or files and data sets of graphs."""
    batches, names = [], []
    for query in queries:
        if not query.strip():
            raise InvalidParameterError("A query is a SMILES, a file or a data set; got nothing.")
        if _is_data(query):
            loaded = load(query, reading)
            batches.append(loaded.graphs)
            names += row_names(loaded)
            continue
        try:
            batches.append(index.as_queries([query]))
        except InvalidGraphError as error:
            error.add_note(
                f"{query!r} was taken as SMILES: there is no file and no data set of that name."
            )
            raise
        names.append(query)
    return GraphBatch.concatenate(batches), names


def _is_data(query: str) -> bool:
    """Whether a query is the name of a file or a data set, and no SMILES."""
    path = Path(query).expanduser()
    if path.exists() or is_molecule_file(path) or path.suffix.lower() in _FILES:
        return True
    known = {item.name.lower() for item in tu_datasets()} | {BUNDLED}
    return query.lower() in known


def row_names(loaded: Loaded) -> list[str]:
    """What the graphs of a data set are called: names, or rows counted from 1."""
    rows = [f"row {number:,}" for number in range(1, len(loaded.graphs) + 1)]
    if loaded.names is None:
        return rows
    return [str(name) or row for name, row in zip(loaded.names, rows, strict=True)]


def labels_of_numbers(index: GraphIndex, numbers: np.ndarray) -> tuple[list[Any], list[str]]:
    """Ids of graphs by their numbers in an index, and what tells a person which these are."""
    places = index._snapshot.live[numbers]
    ids = index._snapshot.ids(places)
    return ids, _labels(ids, index._snapshot.columns(places))


def labels_of(index: GraphIndex, ids: list[Any]) -> list[str]:
    """What tells a person which graphs these are: names or SMILES, where the ids are numbers."""
    return _labels(ids, index.columns(ids))


def _labels(ids: list[Any], columns: dict[str, np.ndarray]) -> list[str]:
    known = {name.lower(): values.tolist() for name, values in columns.items()}
    told = [known[name] for name in ("name", "smiles") if name in known]
    return [
        "" if isinstance(key, str) else next((str(each[at]) for each in told if each[at]), "")
        for at, key in enumerate(ids)
    ]
