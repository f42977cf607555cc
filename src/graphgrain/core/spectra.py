"""Dense matrices of single graphs, and linear algebra on them."""

from __future__ import annotations

import numpy as np

from .components import component_order
from .memory import require_memory
from .structures import Graphs

#: Eigenvalues with a smaller difference, relative to the largest, are treated as equal.
SAME_EIGENVALUE = 1e-9


def adjacency(graphs: Graphs, graph: int) -> np.ndarray:
    """Return the adjacency matrix of one graph."""
    first, last = graphs.offsets[graph : graph + 2].tolist()
    n = last - first
    require_memory(
        3 * 8 * n * n,  # with its eigenvectors or its inverse
        f"The matrices of a graph with {n:,} vertices",
        "Use a kernel that needs none, such as TreePlusPlus or WeisfeilerLehman",
    )
    A = np.zeros((n, n))
    pointers = graphs.indptr[first : last + 1]
    rows = np.repeat(np.arange(n), np.diff(pointers))
    A[rows, graphs.indices[pointers[0] : pointers[-1]] - first] = 1.0
    return A


def laplacian_inverse(graphs: Graphs, graph: int) -> np.ndarray:
    """Return the pseudo-inverse of the Laplacian D - A of one graph.

    The null space of the Laplacian is spanned by the indicators of the components. Adding the
    projection onto it gives an invertible matrix, and subtracting it from the inverse gives the
    pseudo-inverse, without a threshold for zero eigenvalues.
    """
    A = adjacency(graphs, graph)
    first, n = int(graphs.offsets[graph]), len(A)
    order = np.empty(n, dtype=np.int64)
    starts = np.empty(n + 1, dtype=np.int64)
    count = component_order(graphs, first, n, order, starts, np.empty(n, dtype=np.int64))
    projection = np.zeros((n, n))
    for begin, end in zip(starts[:count].tolist(), starts[1 : count + 1].tolist(), strict=True):
        members = order[begin:end]
        projection[np.ix_(members, members)] = 1.0 / (end - begin)
    return np.linalg.inv(np.diag(A.sum(axis=1)) - A + projection) - projection


def eigenspace_magnitudes(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ascending eigenvalues of a symmetric matrix, and its eigenvectors' magnitudes.

    The eigenvectors of a repeated eigenvalue are not unique; all its columns contain the root mean
    square over the eigenspace, which is.
    """
    values, vectors = np.linalg.eigh(A)
    squares = vectors**2
    if len(values):
        gap = SAME_EIGENVALUE * max(1.0, float(np.abs(values).max()))
        space = np.concatenate(([0], np.cumsum(np.diff(values) > gap)))
        sizes = np.bincount(space)
        if len(sizes) < len(values):
            starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
            squares = (np.add.reduceat(squares, starts, axis=1) / sizes)[:, space]
    return values, np.sqrt(squares)


def return_probabilities(A: np.ndarray, steps: int) -> np.ndarray:
    """Return the probabilities that a random walk from v (row) is back after 1, 2, ... steps.

    The walk may also stay at a vertex: A + I is used in place of A.
    """
    A = A + np.eye(len(A))
    roots = np.sqrt(A.sum(axis=1))
    values, vectors = np.linalg.eigh(A / np.outer(roots, roots))
    return vectors**2 @ values[:, None] ** np.arange(1, steps + 1)
