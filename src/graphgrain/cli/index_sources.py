"""From a DATA argument to an index: an index that is there, or one made of graphs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.files.molecules import is_molecule_file
from ..searching.graph_index import GraphIndex
from .arguments import Reading, check_choice
from .loading import BUNDLED, load


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
            columns=self.columns,
            verbose=sys.stderr.isatty(),
            **self.options,
            **more,
        )


def index_source(data: str, reading: Reading) -> IndexSource:
    """What a DATA argument means for an index; files of molecules are read in pieces."""
    check_choice("--errors", reading.errors, ("raise", "skip"))
    path = Path(data).expanduser()
    given = asdict(reading)
    options = {name: value for name, value in given.items() if name not in ("target", "view")}
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
        path = Path(query).expanduser()
        if query == BUNDLED or path.exists() or path.suffix in (".csv", ".sdf", ".zip", ".gz"):
            loaded = load(query, reading)
            given = loaded.names if loaded.names is not None else range(len(loaded.graphs))
            batches.append(loaded.graphs)
            names += [f"{query}: {name}" for name in given]
        elif not query.strip():
            raise InvalidParameterError("A query is a SMILES or a file; got an empty word.")
        else:
            batches.append(index.as_queries([query]))
            names.append(query)
    return GraphBatch.concatenate(batches), names
