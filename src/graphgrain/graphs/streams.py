"""Streams of graphs in chunks, so that memory use does not grow with their number.

A chunk is a :class:`GraphBatch` with the columns of its graphs. Files, batches and iterables
become streams of chunks here; later stages process one chunk at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from ..errors import InvalidGraphError, InvalidParameterError
from ..parameters import Whole, check_value
from .batch import GraphBatch
from .convert.dispatch import as_graphs
from .convert.parts import column_items

#: Graphs per chunk: large enough to make the overhead per chunk negligible, small enough that the
#: features of a chunk take some tens of megabytes.
CHUNK_SIZE = 2_000


def as_chunks(source: Any, *, chunk_size: int = CHUNK_SIZE, **options: Any) -> Iterator[GraphBatch]:
    """Turn a file, a batch or any iterable of graphs into a stream of chunks.

    Parameters
    ----------
    source : path, GraphBatch or iterable
        - the path of a file of molecules, read incrementally (see :func:`iter_molecules`), or of
          a data set in TU format or a Matlab file, read as a whole (see :func:`load_tu`), whose
          classes or values become the column ``"target"``,
        - a GraphBatch,
        - any iterable, including generators, of graphs that :func:`as_graphs` accepts, or of
          GraphBatches.
    chunk_size : int, default=2000
        Number of graphs per chunk; the last chunk may hold fewer.
    **options
        Passed on to the file reader, such as ``charge=True`` for molecules.

    Yields
    ------
    GraphBatch
        Consecutive graphs, with their columns (:attr:`GraphBatch.columns`).

    Examples
    --------
    >>> import graphgrain as gg
    >>> paths = (([(i, i + 1) for i in range(n)], [0] * (n + 1)) for n in range(5))
    >>> [len(graphs) for graphs in gg.as_chunks(paths, chunk_size=2)]
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
        return cut([source], chunk_size)
    if len(getattr(source, "shape", ())) == 2:
        source = column_items(source)
    if isinstance(source, bytes | Mapping) or not hasattr(source, "__iter__"):
        raise InvalidGraphError(
            "A stream of graphs is a path, a GraphBatch, or an iterable of graphs; got "
            f"{type(source).__name__}."
        )
    return cut(_converted(source, chunk_size), chunk_size)


def cut(batches: Iterable[GraphBatch], chunk_size: int) -> Iterator[GraphBatch]:
    """Regroup batches of any sizes into batches of ``chunk_size`` graphs."""
    waiting: list[GraphBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        if count < chunk_size:
            continue
        whole = GraphBatch.concatenate(waiting)
        full = count - count % chunk_size
        for begin in range(0, full, chunk_size):
            yield whole[begin : begin + chunk_size]
        waiting = [whole[full:]] if full < count else []
        count -= full
    if count:
        yield GraphBatch.concatenate(waiting)


def _file_chunks(path: Path, chunk_size: int, options: dict[str, Any]) -> Iterator[GraphBatch]:
    from .files.matlab import load_mat
    from .files.molecules import is_molecule_file, iter_molecules
    from .files.tu import load_tu

    if is_molecule_file(path):
        return iter_molecules(path, chunk_size=chunk_size, **options)
    is_mat = path.name.lower().removesuffix(".gz").endswith(".mat")
    graphs, y = (load_mat if is_mat else load_tu)(path, **options)
    # several values for each graph are one list
    columns = {} if y is None else {"target": y if y.ndim == 1 else y.tolist()}
    return cut([graphs.with_columns(columns)], chunk_size)


def _converted(source: Iterable[Any], chunk_size: int) -> Iterator[GraphBatch]:
    """Yield batches unchanged, and other graphs converted."""
    for are_batches, items in groupby(source, lambda item: isinstance(item, GraphBatch)):
        if are_batches:
            yield from items
            continue
        while some := list(islice(items, chunk_size)):
            yield as_graphs(some)
