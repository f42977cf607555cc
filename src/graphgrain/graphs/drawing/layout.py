"""Where the vertices of a graph are drawn.

Each connected component is laid out by itself, so that distances on paper come close to distances
in the graph: multidimensional scaling of the shortest paths (scikit-learn's SMACOF), begun from
the classical solution and so always the same. Components are then put side by side, the largest
first.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from ..batch import GraphBatch


def layout(graph: GraphBatch) -> np.ndarray:
    """A row of coordinates per vertex; neighbours are about 1 apart.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.graphs.drawing.layout import layout
    >>> layout(gg.as_graphs([([(0, 1), (1, 2)], [0, 0, 0])])).shape
    (3, 2)
    """
    n = graph.n_vertices
    links = csr_array((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n))
    count, owner = connected_components(links, directed=False)
    members = [np.flatnonzero(owner == number) for number in range(count)]
    members.sort(key=lambda part: -len(part))
    width = max(1.0, np.sqrt(n) * 1.6)
    points = np.zeros((n, 2))
    x = y = height = 0.0
    for part in members:
        own = _component(links[part][:, part])
        own -= own.min(axis=0)
        size = own.max(axis=0)
        if x and x + size[0] > width:
            x, y, height = 0.0, y + height + 1.0, 0.0
        points[part] = own + np.array([x, y])
        x += size[0] + 1.0
        height = max(height, size[1])
        width = max(width, size[0])
    return points


def _component(links: csr_array) -> np.ndarray:
    n = links.shape[0]
    if n < 3:
        return np.column_stack((np.arange(n, dtype=float), np.zeros(n)))
    from sklearn.manifold import smacof

    # dense: SciPy before 1.13 takes no 64-bit indices here, and distances are dense anyway
    distances = shortest_path(links.toarray(), unweighted=True, directed=False)
    start = _classical(distances)
    points, _ = smacof(
        distances, n_components=2, init=start, n_init=1, max_iter=300, normalized_stress=False
    )
    points = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    return points @ axes.T  # the longer way is from left to right


def _classical(distances: np.ndarray) -> np.ndarray:
    """Classical scaling; a little of a circle keeps equal vertices apart."""
    n = len(distances)
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    start = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    angles = 2 * np.pi * np.arange(n) / n
    return start + 0.05 * np.column_stack((np.cos(angles), np.sin(angles)))
