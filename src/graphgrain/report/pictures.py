"""A data set seen through a kernel: the matrix sorted by class, and a map of its graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graphs.batch import GraphBatch
from ..kernels.registry import KERNELS

#: More graphs than this are drawn as a sample in which each class has its share.
MOST_GRAPHS = 1000
#: The matrix is averaged to at most about this many rows.
MOST_ROWS = 180


@dataclass(frozen=True)
class Picture:
    """What there is to draw of one data set.

    Attributes
    ----------
    name : str
        The data set.
    kernel, parameters : str, dict
        Which kernel was used.
    total : int
        Number of graphs of the data set; the arrays below hold those that are drawn.
    classes : list of str
    codes, names, vertices, edges : arrays
        Class, name, number of vertices and of edges of each graph.
    points : array of shape (graphs, 2)
        Kernel PCA.
    explained : array of shape (2,)
        The share of the variance along each axis.
    matrix : array of shape (rows, rows)
        Kernel matrix sorted by class, then along the first axis of the map; averaged over blocks.
    blocks : list of int
        Number of rows of each class.
    """

    name: str
    kernel: str
    parameters: dict[str, Any]
    total: int
    classes: list[str]
    codes: np.ndarray
    names: list[str]
    vertices: np.ndarray
    edges: np.ndarray
    points: np.ndarray
    explained: np.ndarray
    matrix: np.ndarray
    blocks: list[int]

    @property
    def averaged(self) -> bool:
        """Whether a row of the matrix stands for several graphs."""
        return len(self.matrix) < len(self.codes)

    @property
    def scale(self) -> tuple[float, float]:
        """The similarities between which colours run: most entries off the diagonal."""
        rows = len(self.matrix)
        if rows < 2:
            return 0.0, 1.0
        values = self.matrix[~np.eye(rows, dtype=bool)]
        low, high = np.quantile(values, [0.01, 0.99])
        return (float(low), float(high)) if high - low > 1e-9 else (float(low) - 0.5, low + 0.5)


def picture(
    name: str,
    graphs: GraphBatch,
    classes: list[str],
    codes: np.ndarray,
    kernel: str = "tree++",
    parameters: dict[str, Any] | None = None,
    names: Any = None,
    n_jobs: int | None = None,
) -> Picture:
    """Compute a kernel on (a sample of) a data set and what can be seen in it.

    Parameters
    ----------
    codes : array
        The class of each graph as a position in ``classes``.
    names : sequence of str, optional
        By default graphs are numbered from 1, as in the files of the TU collection.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.report.pictures import picture
    >>> graphs = gg.as_graphs([([(0, 1)], list(pair)) for pair in ("CC", "CO", "OO")])
    >>> seen = picture("toy", graphs, ["a", "b"], [0, 1, 0])
    >>> seen.points.shape, seen.blocks, seen.names
    ((3, 2), [2, 1], ['graph 1', 'graph 2', 'graph 3'])
    """
    codes = np.asarray(codes)
    chosen = sample(codes, MOST_GRAPHS)
    batch, shown = graphs[chosen], codes[chosen]
    parameters = dict(parameters or {})
    K = KERNELS[kernel].kernel(**parameters, n_jobs=n_jobs).fit_transform(batch)
    points, explained = kernel_pca(K)
    order = np.lexsort((points[:, 0], shown))
    blocks = _blocks(np.bincount(shown, minlength=len(classes)))
    return Picture(
        name=name,
        kernel=kernel,
        parameters=parameters,
        total=len(codes),
        classes=list(classes),
        codes=shown,
        names=[f"graph {g + 1}" if names is None else str(names[g]) for g in chosen.tolist()],
        vertices=batch.vertex_counts,
        edges=batch.edge_counts,
        points=points,
        explained=explained,
        matrix=block_means(K[np.ix_(order, order)], blocks),
        blocks=[len(block) for block in blocks],
    )


def sample(codes: np.ndarray, most: int) -> np.ndarray:
    """Positions of at most (about) so many graphs, the same each time, each class by its share.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.report.pictures import sample
    >>> codes = np.repeat([0, 1], [900, 100])
    >>> np.bincount(codes[sample(codes, 50)]).tolist()
    [45, 5]
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    rng = np.random.default_rng(0)
    parts = []
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        size = max(1, round(most * len(members) / len(codes)))
        parts.append(rng.choice(members, size, replace=False))
    return np.sort(np.concatenate(parts))


def kernel_pca(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two first principal components in feature space, and their shares of the variance.

    The sign of each component is such that its largest coordinate is positive.
    """
    from scipy.linalg import eigh

    n = len(K)
    row_means = K.mean(axis=0)
    centred = K - row_means - row_means[:, np.newaxis] + row_means.mean()
    points, explained = np.zeros((n, 2)), np.zeros(2)
    if n < 2:
        return points, explained
    values, vectors = eigh(centred, subset_by_index=[n - 2, n - 1])
    total = np.trace(centred)
    for axis, (value, vector) in enumerate(zip(values[::-1], vectors.T[::-1], strict=True)):
        if value <= 1e-12 * max(total, 1):
            continue
        sign = np.sign(vector[np.argmax(np.abs(vector))])
        points[:, axis] = sign * np.sqrt(value) * vector
        explained[axis] = value / total
    return points, explained


def _blocks(counts: np.ndarray) -> list[np.ndarray]:
    """For each class the sizes of the blocks of graphs that a row of the matrix stands for."""
    blocks = []
    for count in counts.tolist():
        rows = count
        if counts.sum() > MOST_ROWS and count:
            rows = max(1, round(MOST_ROWS * count / counts.sum()))
        edges = np.linspace(0, count, min(rows, count) + 1).round().astype(int)
        blocks.append(np.diff(edges))
    return blocks


def block_means(K: np.ndarray, blocks: list[np.ndarray]) -> np.ndarray:
    """The mean of each block of a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.report.pictures import block_means
    >>> block_means(np.arange(9.0).reshape(3, 3), [np.array([2]), np.array([1])])
    array([[2. , 3.5],
           [6.5, 8. ]])
    """
    sizes = np.concatenate(blocks)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(np.add.reduceat(K, starts, axis=0), starts, axis=1)
    return sums / np.outer(sizes, sizes)
