"""Coordinates of the vertices of graphs that are not molecules.

1. Attributes: two or three for each vertex are coordinates (three are projected to two).
2. Trees grow from left to right: each level is a column, each leaf a row, and a vertex stands in
   the middle of its children.
3. Other graphs: distances in the drawing approximate those in the graph, by multidimensional
   scaling of the shortest path lengths with scikit-learn's SMACOF, started from the classical
   solution and therefore deterministic. Components stand next to each other, largest first.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, shortest_path

from ..batch import GraphBatch

#: Minimum distance of vertices, in edge lengths, and maximum number of rounds to achieve it.
_APART = 0.5
_PUSHES = 200


def attribute_points(graph: GraphBatch) -> np.ndarray | None:
    """Return positions if the graph has two or three attributes for each vertex.

    The mean length of an edge is 1, and the second coordinate points down.
    """
    attributes = graph.vertex_attributes
    if attributes is None or attributes.shape[1] not in (2, 3) or graph.n_vertices < 2:
        return None
    points = attributes - attributes.mean(axis=0)
    if points.shape[1] == 3:
        points = principal_axes(points)
    if np.ptp(points) == 0:
        return None
    ends = graph.edges
    lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    unit = float(lengths.mean() if len(ends) else 0.0) or float(np.ptp(points))
    return np.asarray(points * np.array([1.0, -1.0]) / unit)


def root_of(graph: GraphBatch, arcs: np.ndarray) -> int | None:
    """Return the root if the graph is a tree of at least three vertices, otherwise None.

    The root is the only vertex without an incoming arc, or the first if vertices are numbered from
    the root, or the one from which the tree is least deep.
    """
    n = graph.n_vertices
    if n < 3 or graph.n_edges != n - 1 or connected_components(_links(graph))[0] > 1:
        return None
    sources = np.setdiff1d(np.arange(n), arcs[:, 1])
    if len(arcs) and len(sources) == 1:
        return int(sources[0])
    if np.all(np.bincount(graph.edges[:, 1], minlength=n)[1:] == 1):  # one smaller neighbour each
        return 0
    if graph.degrees.max() <= 2:
        return int(np.argmin(graph.degrees))
    return int(shortest_path(_links(graph), unweighted=True).max(axis=0).argmin())


def tree_layout(graph: GraphBatch, root: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the level and the row of each vertex of a tree."""
    order, parents = breadth_first_order(_links(graph), root, directed=False)
    children: dict[int, list[int]] = {vertex: [] for vertex in order.tolist()}
    level = np.zeros(graph.n_vertices, dtype=np.int64)
    for vertex in order.tolist()[1:]:
        children[int(parents[vertex])].append(vertex)
        level[vertex] = level[parents[vertex]] + 1
    rows = np.zeros(graph.n_vertices)
    stack, leaves = [root], 0
    while stack:  # leaves from top to bottom
        vertex = stack.pop()
        stack += sorted(children[vertex], reverse=True)
        if not children[vertex]:
            rows[vertex] = leaves
            leaves += 1
    for vertex in reversed(order.tolist()):
        if children[vertex]:
            below = rows[sorted(children[vertex])]
            rows[vertex] = (below[0] + below[-1]) / 2
    return level, rows


def scaled_layout(graph: GraphBatch) -> np.ndarray:
    """Return points with distances like those in the graph; neighbours are about 1 apart."""
    n, links = graph.n_vertices, _links(graph)
    count, owner = connected_components(links, directed=False)
    members = [np.flatnonzero(owner == number) for number in range(count)]
    members.sort(key=lambda part: -len(part))
    width = max(1.0, np.sqrt(n) * 1.6)
    points = np.zeros((n, 2))
    x = y = height = 0.0
    for part in members:
        # dense, as SciPy before 1.13 does not support 64-bit indices here
        distances = shortest_path(links[part][:, part].toarray(), unweighted=True, directed=False)
        component = _component(distances)
        component -= component.min(axis=0)
        size = component.max(axis=0)
        if x and x + size[0] > width:
            x, y, height = 0.0, y + height + 1.0, 0.0
        points[part] = component + np.array([x, y])
        x += size[0] + 1.0
        height, width = max(height, size[1]), max(width, size[0])
    return points


def principal_axes(points: np.ndarray) -> np.ndarray:
    """Turn points so that their largest extent is horizontal, and leave out a third axis."""
    points = points - points.mean(axis=0)
    axes = np.linalg.svd(points, full_matrices=False)[2][:2]
    return np.asarray(points @ axes.T)


def _links(graph: GraphBatch) -> csr_array:
    n = graph.n_vertices
    return csr_array((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n))


def _component(distances: np.ndarray) -> np.ndarray:
    n = len(distances)
    if n < 3:
        return np.column_stack((np.arange(n, dtype=float), np.zeros(n)))
    from sklearn.manifold import smacof

    options = {"n_components": 2, "n_init": 1, "max_iter": 300, "normalized_stress": False}
    points = smacof(distances, init=_classical(distances), **options)[0]
    return principal_axes(_spread(points))


def _spread(points: np.ndarray) -> np.ndarray:
    """Push overlapping vertices apart."""
    for _ in range(_PUSHES):
        steps = points[:, None] - points
        gaps = np.linalg.norm(steps, axis=2)
        np.fill_diagonal(gaps, np.inf)
        if gaps.min() >= _APART:
            break
        missing = np.maximum(0.0, _APART - gaps) / np.maximum(gaps, 1e-6)
        points = points + 0.4 * (steps * missing[:, :, None]).sum(axis=1)
    return points


def _classical(distances: np.ndarray) -> np.ndarray:
    """Compute classical scaling; adding a small circle separates equivalent vertices."""
    n = len(distances)
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    start = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    angles = 2 * np.pi * np.arange(n) / n
    return start + 0.05 * np.column_stack((np.cos(angles), np.sin(angles)))
