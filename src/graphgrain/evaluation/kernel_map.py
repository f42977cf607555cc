"""A data set seen through a kernel: a map of its graphs, and the matrix sorted by class."""

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
class DrawnGraphs:
    """The graphs of a data set that maps show: all, or a sample.

    Attributes
    ----------
    name : str
        The data set.
    graphs : GraphBatch
    total : int
        Number of graphs of the data set.
    classes : list of str
    codes, names, vertices, edges : arrays
        Class, name, number of vertices and of edges of each graph.
    """

    name: str
    graphs: GraphBatch
    total: int
    classes: list[str]
    codes: np.ndarray
    names: list[str]
    vertices: np.ndarray
    edges: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def counts(self) -> np.ndarray:
        """Number of graphs of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))


def drawn_graphs(
    name: str, graphs: GraphBatch, classes: list[str], codes: Any, names: Any = None
) -> DrawnGraphs:
    """The graphs of a data set that maps show.

    Parameters
    ----------
    codes : array
        The class of each graph as a position in ``classes``.
    names : sequence of str, optional
        By default graphs are numbered from 1, as in the files of the TU collection.
    """
    codes = np.asarray(codes)
    chosen = sample(codes, MOST_GRAPHS)
    batch = graphs[chosen]
    return DrawnGraphs(
        name=name,
        graphs=batch,
        total=len(codes),
        classes=list(classes),
        codes=codes[chosen],
        names=[graph_name(g, names) for g in chosen.tolist()],
        vertices=batch.vertex_counts,
        edges=batch.edge_counts,
    )


def graph_name(number: int, names: Any = None) -> str:
    """What a graph is called: by its name, or by its place in the data set, from 1 on."""
    return f"graph {number + 1}" if names is None else str(names[number])


@dataclass(frozen=True)
class KernelMap:
    """What there is to draw of one kernel on one data set.

    Attributes
    ----------
    drawn : DrawnGraphs
    kernel, variant, parameters : str, str, dict
        Which kernel was used.
    points : array of shape (graphs, 2)
        Kernel PCA.
    explained : array of shape (2,)
        The share of the variance along each axis.
    matrix : array of shape (rows, rows)
        Kernel matrix sorted by class, then along the first axis of the map; averaged over blocks.
    blocks : list of int
        Number of rows of each class.
    """

    drawn: DrawnGraphs
    kernel: str
    variant: str
    parameters: dict[str, Any]
    points: np.ndarray
    explained: np.ndarray
    matrix: np.ndarray
    blocks: list[int]

    @property
    def averaged(self) -> bool:
        """Whether a row of the matrix stands for several graphs."""
        return len(self.matrix) < len(self.drawn)

    @property
    def all_alike(self) -> bool:
        """Whether the kernel sees no difference between any two graphs."""
        return not self.explained.any()

    @property
    def scale(self) -> tuple[float, float]:
        """The similarities between which colours run: most entries off the diagonal."""
        rows = len(self.matrix)
        if rows < 2:
            return 0.0, 1.0
        values = self.matrix[~np.eye(rows, dtype=bool)]
        low, high = np.quantile(values, [0.01, 0.99])
        return (float(low), float(high)) if high - low > 1e-9 else (float(low) - 0.5, low + 0.5)


def kernel_map(
    drawn: DrawnGraphs,
    kernel: str = "tree++",
    parameters: dict[str, Any] | None = None,
    variant: str = "",
    n_jobs: int | None = None,
) -> KernelMap:
    """Compute a kernel on (a sample of) a data set and what can be seen in it.

    Parameters
    ----------
    drawn : DrawnGraphs
    kernel : str
        Name in the registry.
    parameters : dict, optional
    variant : str
        What tells the kernel from its usual form, for titles.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.evaluation.kernel_map import drawn_graphs, kernel_map
    >>> graphs = gg.as_graphs([([(0, 1)], list(pair)) for pair in ("CC", "CO", "OO")])
    >>> seen = kernel_map(drawn_graphs("toy", graphs, ["a", "b"], [0, 1, 0]))
    >>> seen.points.shape, seen.blocks, seen.drawn.names
    ((3, 2), [2, 1], ['graph 1', 'graph 2', 'graph 3'])
    """
    parameters = dict(parameters or {})
    K = KERNELS[kernel].kernel(**parameters, n_jobs=n_jobs).fit_transform(drawn.graphs)
    points, explained = kernel_pca(K)
    order = np.lexsort((points[:, 0], drawn.codes))
    blocks = _blocks(drawn.counts)
    return KernelMap(
        drawn=drawn,
        kernel=kernel,
        variant=variant,
        parameters=parameters,
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
    >>> from graphgrain.evaluation.kernel_map import sample
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

    Both are zero where a component has no variance.
    """
    from sklearn.decomposition import KernelPCA

    n = len(K)
    points, explained = np.zeros((n, 2)), np.zeros(2)
    total = np.trace(K) - K.sum() / n  # the variance of all components, times n
    if n < 3 or total <= 1e-9 * max(np.trace(K), 1):
        return points, explained
    pca = KernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K)
    kept = pca.eigenvalues_ > 1e-12 * max(total, 1)
    points[:, kept] = (pca.eigenvectors_ * np.sqrt(pca.eigenvalues_))[:, kept]
    explained[kept] = pca.eigenvalues_[kept] / total
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
    >>> from graphgrain.evaluation.kernel_map import block_means
    >>> block_means(np.arange(9.0).reshape(3, 3), [np.array([2]), np.array([1])])
    array([[2. , 3.5],
           [6.5, 8. ]])
    """
    sizes = np.concatenate(blocks)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(np.add.reduceat(K, starts, axis=0), starts, axis=1)
    return sums / np.outer(sizes, sizes)
