"""Streams of graphs in chunks, so that memory use does not grow with their number.

A chunk is a batch of graphs with columns of metadata. Files, batches and iterables become
streams of chunks here; later stages process one chunk at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidGraphError, InvalidParameterError
from ..parameters import Whole, check_value
from .batch import GraphBatch, joined_columns
from .convert.dispatch import as_graphs
from .convert.parts import column_items

#: Graphs per chunk: large enough to make the overhead per chunk negligible, small enough that the
#: features of a chunk take some tens of megabytes.
CHUNK_SIZE = 2_000


class Chunk(NamedTuple):
    """Consecutive graphs of a stream, with columns of metadata.

    Attributes
    ----------
    graphs : GraphBatch
    columns : dictionary of arrays
        Arrays with one entry per graph, such as ``"line"`` and ``"name"`` for molecules.

    Examples
    --------
    >>> import graphgrain as gg
    >>> for graphs, columns in gg.as_chunks(gg.load_drugs()[0], chunk_size=200):
    ...     print(len(graphs), graphs.n_vertices)
    200 4788
    92 2064
    """

    graphs: GraphBatch
    columns: dict[str, np.ndarray]

    def part(self, begin: int, end: int) -> Chunk:
        """Return the graphs ``begin`` to ``end - 1`` of this chunk, with their columns."""
        columns = {name: values[begin:end] for name, values in self.columns.items()}
        return Chunk(self.graphs[begin:end], columns)


def as_chunks(source: Any, *, chunk_size: int = CHUNK_SIZE, **options: Any) -> Iterator[Chunk]:
    """Turn a file, a batch or any iterable of graphs into a stream of chunks.

    Parameters
    ----------
    source : path, GraphBatch or iterable
        - the path of a file of molecules, read incrementally (see :func:`iter_molecules`), or of
          a data set in TU format or a Matlab file, read as a whole (see :func:`load_tu`),
        - a GraphBatch,
        - any iterable, including generators, of graphs that :func:`as_graphs` accepts, of
          GraphBatches or of chunks.
    chunk_size : int, default=2000
        Number of graphs per chunk; the last chunk may hold fewer.
    **options
        Passed on to the file reader, such as ``charge=True`` for molecules.

    Yields
    ------
    Chunk
        A pair ``(graphs, columns)``.

    Examples
    --------
    >>> import graphgrain as gg
    >>> paths = (([(i, i + 1) for i in range(n)], [0] * (n + 1)) for n in range(5))
    >>> [len(chunk.graphs) for chunk in gg.as_chunks(paths, chunk_size=2)]
    [2, 2, 1]
    """
    check_value("chunk_size", chunk_size, Whole(1))
    if isinstance(source, str | os.PathLike):
        return _file_chunks(Path(source), chunk_size, options)
    if options:
        raise InvalidParameterError(
            f"Options such as {next(iter(options))!r} are for files; the source is "
            f"{type(source).__name__}."
        )
    if isinstance(source, GraphBatch):
        return cut([Chunk(source, source.columns)], chunk_size)
    if len(getattr(source, "shape", ())) == 2:
        source = column_items(source)
    if isinstance(source, bytes | Mapping | Chunk) or not hasattr(source, "__iter__"):
        raise InvalidGraphError(
            "A stream of graphs is a path, a GraphBatch, or an iterable of graphs or chunks; got "
            f"{type(source).__name__}."
        )
    return cut(_converted(source, chunk_size), chunk_size)


def cut(chunks: Iterable[Chunk], chunk_size: int) -> Iterator[Chunk]:
    """Regroup chunks of any sizes into chunks of ``chunk_size`` graphs."""
    waiting: list[Chunk] = []
    count = 0
    for chunk in chunks:
        waiting.append(chunk)
        count += len(chunk.graphs)
        if count < chunk_size:
            continue
        whole = join_chunks(waiting)
        full = count - count % chunk_size
        for begin in range(0, full, chunk_size):
            yield whole.part(begin, begin + chunk_size)
        waiting = [whole.part(full, count)] if full < count else []
        count -= full
    if count:
        yield join_chunks(waiting)


def join_chunks(chunks: Sequence[Chunk]) -> Chunk:
    """Concatenate chunks, in order."""
    if len(chunks) == 1:
        return chunks[0]
    columns = joined_columns([c.columns for c in chunks], [len(c.graphs) for c in chunks])
    return Chunk(GraphBatch.concatenate([chunk.graphs for chunk in chunks]), columns)


def _file_chunks(path: Path, chunk_size: int, options: dict[str, Any]) -> Iterator[Chunk]:
    from .files.matlab import load_mat
    from .files.molecules import is_molecule_file, iter_molecules
    from .files.tu import load_tu

    if is_molecule_file(path):
        return iter_molecules(path, chunk_size=chunk_size, **options)
    is_mat = path.name.lower().removesuffix(".gz").endswith(".mat")
    graphs, y = (load_mat if is_mat else load_tu)(path, **options)
    return cut([Chunk(graphs, {} if y is None else {"target": y})], chunk_size)


def _converted(source: Iterable[Any], chunk_size: int) -> Iterator[Chunk]:
    """Yield chunks unchanged, batches as chunks without columns, and other graphs converted."""
    for whole, items in groupby(source, lambda item: isinstance(item, Chunk | GraphBatch)):
        if whole:
            for item in items:
                yield item if isinstance(item, Chunk) else Chunk(item, item.columns)
            continue
        while some := list(islice(items, chunk_size)):
            graphs = as_graphs(some)
            yield Chunk(graphs, graphs.columns)
