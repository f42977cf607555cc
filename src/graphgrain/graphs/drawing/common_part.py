"""A large part that two graphs have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..batch import GraphBatch

#: Number of vertex pairs from which the search for the common part is started.
_SEEDS = 16
#: Maximum radius of the compared neighbourhoods.
_RADIUS = 6


def shared_part(first: GraphBatch, second: GraphBatch) -> np.ndarray:
    """Find a large connected part that two graphs have in common, as pairs of vertices.

    A greedy heuristic for the maximum common subgraph, which is hard to find exactly: start from
    pairs of vertices whose neighbourhoods agree up to the largest radius, grow along edges with
    equal labels, and keep the largest of several attempts.
    """
    links = [_links(graph) for graph in (first, second)]
    agreement = _agreement(first, second, links)
    order = np.argsort(-agreement, axis=None, kind="stable")[:_SEEDS]
    best: dict[int, int] = {}
    for u, v in np.column_stack(np.unravel_index(order, agreement.shape)).tolist():
        if agreement[u, v] and best.get(u) != v:
            grown = _grown(links, agreement, u, v)
            if len(grown) > len(best):
                best = grown
            if len(best) == min(agreement.shape):
                break
    return np.array(sorted(best.items()), dtype=np.int64).reshape(-1, 2)


def _agreement(
    first: GraphBatch, second: GraphBatch, links: list[list[dict[int, str]]]
) -> np.ndarray:
    """Count the radii up to which neighbourhoods agree, for each pair; 0 if labels differ."""
    colours: list[list[Any]] = [[str(x) for x in g.labels.tolist()] for g in (first, second)]
    agreed = np.zeros((first.n_vertices, second.n_vertices), dtype=np.int64)
    for _ in range(_RADIUS):
        table: dict[Any, int] = {}
        codes = [[table.setdefault(c, len(table)) for c in own] for own in colours]
        agreed += np.equal.outer(np.array(codes[0]), np.array(codes[1]))
        colours = [
            [
                (own[v], tuple(sorted((name, own[w]) for w, name in edges.items())))
                for v, edges in enumerate(linked)
            ]
            for own, linked in zip(codes, links, strict=True)
        ]
    return agreed


def _links(graph: GraphBatch) -> list[dict[int, str]]:
    found: list[dict[int, str]] = [{} for _ in range(graph.n_vertices)]
    names = graph.edge_labels
    labels = [""] * graph.n_edges if names is None else [str(name) for name in names.tolist()]
    for (u, v), name in zip(graph.edges.tolist(), labels, strict=True):
        found[u][v] = found[v][u] = name
    return found


def _grown(
    links: list[list[dict[int, str]]], agreement: np.ndarray, u: int, v: int
) -> dict[int, int]:
    pairs, taken = {u: v}, {v}
    queue = [(u, v)]
    for a, b in queue:
        options = sorted(
            (-int(agreement[x, y]), x, y)
            for x, name in links[0][a].items()
            for y, other in links[1][b].items()
            if name == other and agreement[x, y]
        )
        for _, x, y in options:
            fits = all(
                links[1][y].get(pairs[n]) == name for n, name in links[0][x].items() if n in pairs
            )
            if x not in pairs and y not in taken and fits:
                pairs[x] = y
                taken.add(y)
                queue.append((x, y))
    return pairs


def differences(first: GraphBatch, second: GraphBatch) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the vertices and edges of the second graph outside the common part.

    Edges between common vertices differ if the first graph has none there, or another label.
    """
    image = dict(shared_part(first, second)[:, ::-1].tolist())  # second -> first
    linked, labels = _links(first), second.edge_labels
    names = [""] * second.n_edges if labels is None else [str(name) for name in labels.tolist()]
    vertices = np.array([vertex not in image for vertex in range(second.n_vertices)], dtype=bool)
    edges = [
        u not in image or v not in image or linked[image[u]].get(image[v]) != name
        for (u, v), name in zip(second.edges.tolist(), names, strict=True)
    ]
    return vertices, np.array(edges, dtype=bool)
