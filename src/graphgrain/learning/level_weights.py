"""Weights for the levels of a kernel, learnt by centred alignment.

The kernel of level k is the plain sum of what the levels 0 to k count. Here each level l is a
kernel of its own, K_l, and the training graphs say how much each matters: K = sum of w_l K_l.

1. K_l is scaled before it is weighted. If the kernel is normalised, each level is, graph by graph:
   K_l(x, y) is the cosine of the features that x and y have at level l (0 where one of them has
   none), so that K(x, x) = 1. Otherwise K_l is divided by the mean self-similarity of the
   training graphs.
2. The weights are those, none negative, that sum up to 1 and make K most like the targets: they
   maximise the cosine between K and Y Y', both centred, where Y has a column for each class (or
   the numbers to predict). This is alignf of Cortes, Mohri and Rostamizadeh (Algorithms for
   Learning Kernels Based on Centered Alignment, JMLR 13, 2012). With M the products of the centred
   K_l among each other and a their products with Y Y', the solution is proportional to that of

       minimise v' M v - 2 v' a  subject to v >= 0,

   a problem of non-negative least squares.
3. If no level is like the targets at all, all count the same.

In cross-validation the weights are learnt on the training part of each split.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import numpy as np

from ..core.memory import require_memory
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.grid import FittedSetting

#: Entries of level matrices that are looked at together.
_CHUNK = 2**22


def level_matrices(fitted: FittedSetting) -> Iterator[np.ndarray]:
    """The scaled matrix of each level of a fitted kernel by itself, one after the other."""
    plain = copy(fitted.kernel)
    assert isinstance(plain, FeatureKernel)
    plain.similarity = "dot"
    before: np.ndarray | float = 0.0
    levels = zip(plain.each_gram_level(), plain.squared_norms_, strict=True)
    for gram, squares in levels:
        own = gram - before
        before = gram
        if fitted.kernel.similarity == "cosine":
            norms = np.sqrt(np.where(squares > 0, squares, 1.0))
            own /= norms[:, np.newaxis]
            own /= norms
            np.fill_diagonal(own, np.where(squares > 0, 1.0, 0.0))
        else:
            own /= mean_square(squares)
        yield own


def stacked_levels(fitted: FittedSetting, dtype: type[np.floating]) -> np.ndarray:
    """The same all at once, of shape (levels, graphs, graphs)."""
    levels, graphs = len(fitted.grid.levels(fitted.setting)), len(fitted.graphs)
    require_memory(
        float(levels * graphs * graphs * np.dtype(dtype).itemsize),
        f"Weights of {levels} levels need all kernel matrices of {graphs:,} graphs; they",
        "Use weights='equal', or a solver other than 'kernel', which judges by a sample",
    )
    matrices = np.empty((levels, graphs, graphs), dtype)
    for level, matrix in enumerate(level_matrices(fitted)):
        matrices[level] = matrix
    return matrices


def mean_square(squares: np.ndarray) -> float:
    """The mean self-similarity of graphs at a level, never 0."""
    return max(float(squares.mean()), 1e-300)


def bare_graphs(fitted: FittedSetting) -> np.ndarray:
    """Which of the fitted graphs a normalised kernel takes for equal: those without features."""
    assert isinstance(fitted.kernel, FeatureKernel)
    return (fitted.kernel.squared_norms_.sum(axis=0) == 0) & (fitted.kernel.similarity == "cosine")


def weighted_sum(
    matrices: Iterator[np.ndarray] | np.ndarray, weights: np.ndarray, bare: np.ndarray
) -> np.ndarray:
    """The sum of level matrices, each times its weight; bare graphs are equal."""
    total: np.ndarray | None = None
    for matrix, weight in zip(matrices, weights, strict=True):
        part = weight * matrix.astype(np.float64, copy=False)
        total = part if total is None else np.add(total, part, out=total)
    assert total is not None
    total[np.ix_(bare, bare)] = 1.0
    return total


def aligned_weights(
    matrices: np.ndarray, targets: np.ndarray, graph_weights: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """The weights of levels that some of the graphs speak for.

    Parameters
    ----------
    matrices : array of shape (levels, graphs, graphs)
    targets : array
        The class of each graph, or a row of numbers for each.
    graph_weights : array
        How much each graph counts.
    rows : array
        The graphs to learn from.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.level_weights import aligned_weights
    >>> y = np.array([0, 0, 1, 1])
    >>> telling, noise = (y[:, None] == y).astype(float), np.eye(4)
    >>> aligned_weights(np.array([noise, telling]), y, np.ones(4), np.arange(4)).round(6).tolist()
    [0.0, 1.0]
    """
    columns = (targets[:, None] == np.unique(targets)) if targets.ndim == 1 else targets
    own = graph_weights[rows] / graph_weights[rows].sum()
    Y = columns[rows].astype(np.float64)
    Y = own[:, np.newaxis] * (Y - own @ Y)
    levels, n = len(matrices), len(rows)
    products, alike = np.zeros((levels, levels)), np.zeros(levels)
    means = np.empty((levels, n))
    for begin in range(0, n, step := max(1, _CHUNK // (levels * n))):
        some = slice(begin, begin + step)
        part = matrices[:, rows[some]][:, :, rows].astype(np.float64, copy=False)
        means[:, some] = part @ own
        alike += np.einsum("lij,jk,ik->l", part, Y, Y[some], optimize=True)
        part *= np.sqrt(own[some])[:, np.newaxis] * np.sqrt(own)
        flat = part.reshape(levels, -1)
        products += flat @ flat.T
    # what centring takes away from the products
    totals = means @ own
    products += np.outer(totals, totals) - 2.0 * (means * own) @ means.T
    return most_aligned(products, alike)


def most_aligned(products: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """Non-negative weights of sum 1 that maximise ``alike @ w / sqrt(w @ products @ w)``."""
    from scipy.optimize import nnls

    sizes = np.sqrt(np.maximum(np.diagonal(products), 0.0))
    some = sizes > 1e-12 * max(float(sizes.max(initial=0.0)), 1e-300)
    weights = np.zeros(len(alike))
    if some.any() and (alike[some] > 0).any():
        # in units in which all levels have the same size, so that none is lost to rounding
        inner = products[np.ix_(some, some)] / np.outer(sizes[some], sizes[some])
        values, vectors = np.linalg.eigh(inner)
        roots = np.sqrt(np.maximum(values, 1e-10 * values.max()))
        goal = (vectors.T @ (alike[some] / sizes[some])) / roots
        scale = max(float(np.abs(goal).max()), 1e-300)
        found, _ = nnls(roots[:, np.newaxis] * vectors.T, goal / scale)
        weights[some] = found / sizes[some]
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
