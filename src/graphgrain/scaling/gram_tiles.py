"""Compute kernel matrices larger than memory, tile by tile, into a file.

The matrix is split into square tiles. Each tile needs only two blocks of graphs: the kernel is
fitted on one and transforms the other. Features are computed again for every tile, which is cheap
compared with the similarities, and computing a tile again gives the same result.
"""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn.base import clone

from ..errors import InvalidParameterError, UnwritableFileError, needed
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..graphs.processes import map_processes, progress_bar
from ..kernels.bases.feature_kernel import check_explicit
from ..kernels.tree_plus_plus import TreePlusPlus
from ..parameters import Whole, check_value
from ..writing import check_output, delete_if_free, take_over, unwritable
from .dask import dask as dask_package

#: First row and column of a tile, and the graphs of its rows and columns.
Tile = tuple[int, int, GraphBatch, GraphBatch]


def save_gram(
    graphs: Any,
    path: str | os.PathLike[str],
    kernel: Any = None,
    *,
    tile_size: int = 2_000,
    dtype: Any = np.float64,
    dask: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Path:
    """Compute a Gram matrix that does not fit in memory, and write it to a file.

    Parameters
    ----------
    graphs : GraphBatch or anything that :func:`as_graphs` accepts
    path : path
        Output file: ``.npy`` for NumPy (open it with ``np.load(path, mmap_mode="r")``) or
        ``.zarr`` for Zarr. It is created once the matrix is complete.
    kernel : kernel with explicit features, optional
        The default is ``TreePlusPlus()``.
    tile_size : int, default=2000
        Number of rows and columns of a tile, which determines memory use.
    dtype : {float64, float32}, default=float64
        Data type of the matrix.
    dask : bool, default=False
        Whether to compute the tiles with Dask, on the connected cluster
        (``dask.distributed.Client``) or with its default scheduler. All workers must be able to
        write to ``path``.
    n_jobs : int, optional
        Number of processes if ``dask`` is False. None uses the current process only, -1 one
        process per core.
    verbose : int, default=0
        If 1 or more, show a progress bar.

    Returns
    -------
    path : Path
        Path of the file.

    Examples
    --------
    >>> import graphgrain as gg, numpy as np, tempfile
    >>> graphs = gg.load_drugs()[0][:50]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = gg.save_gram(graphs, f"{folder}/K.npy", tile_size=20)
    ...     K = np.array(np.load(path, mmap_mode="r"))
    >>> bool((K == gg.TreePlusPlus().fit_transform(graphs)).all())
    True
    """
    batch = as_graphs(graphs)
    chosen = _kernel(kernel)
    place = Path(path)
    if place.suffix not in (".npy", ".zarr"):
        raise InvalidParameterError(
            f"A matrix is written as .npy or .zarr; got {str(place)!r}. Choose one of them."
        )
    size = int(check_value("tile_size", tile_size, Whole(1)))
    kind = np.dtype(dtype)
    if kind not in (np.float64, np.float32):
        raise InvalidParameterError(f"dtype must be float64 or float32; got {dtype!r}.")
    if place.suffix == ".npy":
        check_output(place, "The matrix")
        if place.exists() and not place.is_file():
            raise UnwritableFileError(
                f"A matrix must be written to a regular file; {str(place)!r} is a pipe or a "
                "device. Choose a file."
            )
    place = Path(os.path.realpath(place))  # write to the target of a link
    _check_room(place, len(batch) ** 2 * kind.itemsize)
    temporary = place.with_name(f".{place.stem}-{uuid4().hex[:12]}{place.suffix}")
    try:
        _create(temporary, len(batch), kind, size)
        write = partial(write_tile, temporary, chosen)
        begins = range(0, len(batch), size)
        # the upper triangle, including the diagonal
        places = [(row, column) for row in begins for column in begins if row <= column]
        if dask:
            _with_dask(write, batch, size, places)
        else:
            tiles = ((r, c, batch[r : r + size], batch[c : c + size]) for r, c in places)
            with progress_bar(verbose, len(places), "tiles") as bar:
                for _ in map_processes(write, tiles, n_jobs):
                    bar.update(1)
        if place.is_dir():
            shutil.rmtree(place)
        take_over(temporary, place, place.stat() if place.is_file() else None)
    except OSError as error:
        raise unwritable("The matrix", place, error) from None
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            delete_if_free(temporary)
    return Path(path)


def write_tile(path: Path, kernel: Any, tile: Tile) -> None:
    """Compute a tile, and write it and its transpose."""
    row, column, rows, columns = tile
    chosen = clone(kernel)
    K = chosen.fit_transform(rows) if row == column else chosen.fit(columns).transform(rows)
    if path.suffix == ".npy":
        matrix = np.load(path, mmap_mode="r+")
    else:
        matrix = _zarr().open_array(str(path), mode="r+")
    down, across = slice(row, row + len(rows)), slice(column, column + len(columns))
    matrix[down, across] = K
    matrix[across, down] = K.T
    if isinstance(matrix, np.memmap):
        matrix.flush()


def _kernel(kernel: Any) -> Any:
    # In tiles, each similarity must depend on two graphs alone.
    kernel = TreePlusPlus() if kernel is None else kernel
    kernel = check_explicit(kernel, "A matrix computed in tiles", fixed=True)
    return clone(kernel).set_params(output="gram")


def _with_dask(
    write: Any, batch: GraphBatch, tile_size: int, places: list[tuple[int, int]]
) -> None:
    library = dask_package()
    # Blocks are part of the task graph, so the scheduler keeps them if a worker dies.
    blocks = {
        begin: library.delayed(batch[begin : begin + tile_size], traverse=False)
        for begin in range(0, len(batch), tile_size)
    }
    task = library.delayed(write)
    library.compute([task((row, column, blocks[row], blocks[column])) for row, column in places])


def _check_room(place: Path, needed: int) -> None:
    """Raise an error early if the disk is too small."""
    if not place.parent.is_dir():
        raise UnwritableFileError(f"There is no folder {str(place.parent)!r} to write to.")
    free = shutil.disk_usage(place.parent).free
    if needed > free:
        raise UnwritableFileError(
            f"The matrix needs {needed / 1e9:,.1f} GB on disk; {free / 1e9:,.1f} GB are free in "
            f"{str(place.parent)!r}. Choose another place, dtype=float32, or features "
            "(save_features), whose size grows with the number of graphs alone."
        )


def _create(path: Path, count: int, kind: np.dtype, tile_size: int) -> None:
    if path.suffix == ".npy":
        np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(count, count)).flush()
        return
    side = max(1, min(tile_size, count))
    _zarr().create_array(store=str(path), shape=(count, count), chunks=(side, side), dtype=kind)


def _zarr() -> Any:
    instead = "'graphgrain[zarr]', or write .npy."
    with needed("Files that end in .zarr are written with Zarr", instead):
        import zarr
    return zarr
