"""The command index: graphs into an index that can be searched.

Other commands take an index or graphs: from their DATA argument to an index that is there, or to
a passing one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.markup import escape

from ..graphs.files.molecules import is_molecule_file
from ..kernels.registry import KERNELS
from ..searching.graph_index import GraphIndex, described_kernel
from ..searching.index_files import KINDS
from .app import Interrupted, answer, command, out
from .arguments import Data, Jobs, Json, Reading, Set, check_choice
from .kernel_options import given, kernel_grid
from .loading import BUNDLED, MOLECULE_OPTIONS, load


@command(
    [
        "graphgrain index drugs -o drugs.ggi",
        "graphgrain index molecules.smi.gz -o library.ggi --errors skip",
        "graphgrain index molecules.csv -o library.ggi --ids name --kernel wl --set n_iter=3",
    ]
)
def index(
    data: Data,
    reading: Reading,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The index, a folder; by habit NAME.ggi.")
    ],
    ids: Annotated[
        str | None,
        typer.Option(help="The column with the ids; by default numbers.", metavar="COLUMN"),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel",
            "-k",
            help="Name of the kernel; by default Tree++ with the settings for search.",
        ),
    ] = None,
    parameters: Set = None,
    similarity: Annotated[
        str, typer.Option(help="How graphs are compared.", metavar="|".join(KINDS))
    ] = "minmax",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an index that is there.")
    ] = False,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Make an index of graphs, for search and cluster.

    It keeps the graphs themselves, so that the file they came from is no longer needed.
    Interrupted or killed, the same command goes on where it stopped (files of molecules).
    """
    check_choice("--similarity", similarity, tuple(KINDS))
    chosen = None
    if kernel is not None or parameters:
        kernel = kernel or "tree++"
        kernel_grid(kernel, parameters)  # checks both
        chosen = KERNELS[kernel].kernel(**given(kernel, parameters))
    source = index_source(data, reading)
    begin = time.perf_counter()
    try:
        made = source.build(
            output,
            kernel=chosen,
            ids=ids,
            similarity=similarity,
            overwrite=overwrite,
            n_jobs=n_jobs,
        )
    except KeyboardInterrupt:
        raise Interrupted("Run the same command again to go on from there.") from None
    seconds = time.perf_counter() - begin
    size = made.nbytes()
    if as_json:
        answer(
            {
                "index": str(output),
                "graphs": len(made),
                "bytes": size,
                "kernel": described_kernel(made),
                "similarity": made.similarity,
                "columns": made.column_names,
                "seconds": round(seconds, 3),
            }
        )
        return
    each = f", {size / len(made):,.0f} bytes each" if len(made) else ""
    out().print(
        f"{len(made):,} graphs in {escape(str(output))} ({size / 1e6:,.1f} MB{each}) in "
        f"{seconds:,.1f} s.\nCompared by {made.similarity} of {escape(described_kernel(made))}."
    )


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
