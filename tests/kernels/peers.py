"""What the tests of the kernels share: data, random graphs, and the way to GraKeL."""

from __future__ import annotations

import numpy as np

import graphgrain as gg

from .. import real_data


def data_set(name: str) -> gg.GraphBatch:
    """The graphs of a real data set; the test is skipped where it is absent."""
    return real_data.load(name)[0]


def random_graphs(
    count: int = 30, seed: int = 0, largest: int = 14, labels: int = 3, density: float = 0.2
) -> gg.GraphBatch:
    """Sparse random graphs with labels on vertices and edges; many have isolated vertices."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, size=count)
    edges, base = [], 0
    for size in sizes.tolist():
        upper = np.argwhere(np.triu(rng.random((size, size)) < density, 1))
        edges.append(upper + base)
        base += size
    pairs = np.concatenate(edges)
    return gg.GraphBatch.from_edges(
        sizes,
        pairs,
        rng.integers(0, labels, size=base),
        edge_labels=rng.integers(0, 2, size=len(pairs)),
    )


def renumbered(batch: gg.GraphBatch, seed: int = 0) -> gg.GraphBatch:
    """The same graphs with the vertices of each, and the edges, in random order."""
    rng = np.random.default_rng(seed)
    place = np.concatenate(
        [
            base + rng.permutation(size)
            for base, size in zip(batch.offsets, batch.vertex_counts, strict=False)
        ]
    )
    labels = np.empty_like(batch.labels)
    labels[place] = batch.labels
    attributes = batch.vertex_attributes
    if attributes is not None:
        attributes = np.empty_like(attributes)
        attributes[place] = batch.vertex_attributes
    order = rng.permutation(batch.n_edges)
    return gg.GraphBatch.from_edges(
        batch.vertex_counts,
        place[batch.edges][order],
        labels,
        edge_labels=None if batch.edge_labels is None else batch.edge_labels[order],
        vertex_attributes=attributes,
    )


def for_grakel(batch: gg.GraphBatch) -> list:
    """The graphs as GraKeL takes them: neighbour lists, vertex labels, edge labels."""
    result = []
    for graph in batch:
        labels = dict(enumerate(graph.labels.tolist()))
        neighbours: dict = {v: [] for v in labels}
        edge_labels = {}
        values = graph.edge_labels if graph.edge_labels is not None else np.zeros(graph.n_edges)
        for (u, v), value in zip(graph.edges.tolist(), values.tolist(), strict=True):
            neighbours[u].append(v)
            neighbours[v].append(u)
            edge_labels[u, v] = edge_labels[v, u] = value
        result.append([neighbours, labels, edge_labels])
    return result


def matrices_for_grakel(batch: gg.GraphBatch) -> list:
    """The same with dense adjacency matrices."""
    result = []
    for graph in batch:
        A = np.zeros((graph.n_vertices, graph.n_vertices))
        u, v = graph.edges.T
        A[u, v] = A[v, u] = 1
        result.append([A, dict(enumerate(graph.labels.tolist()))])
    return result
