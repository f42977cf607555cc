"""Centralities of vertices, and the classes of vertices whose centralities are equal."""

from __future__ import annotations

import numpy as np

from .components import classify, component_order
from .perron import ENVELOPE_WORK, eigenvector_classes, gradient_classes, make_scratch
from .structures import Graphs
from .threads import chunks, entry_point, run


@entry_point
def path_classes(graphs, betweenness, begin, end, values, bits, classes, stop):
    """Closeness or betweenness of the graphs ``begin`` to ``end``, and their classes.

    Closeness is (n - 1) / (sum of distances) within the component, betweenness the number of
    shortest paths through a vertex, each pair of ends sharing 1 among its paths (Brandes).
    """
    offsets, indptr, indices = graphs.offsets, graphs.indptr, graphs.indices
    most = 1
    for g in range(begin, end):
        most = max(most, offsets[g + 1] - offsets[g])
    order, starts, distance, queue, ranked = np.empty((5, most + 1), dtype=np.int64)
    paths, share = np.empty((2, most))
    for g in range(begin, end):
        base = offsets[g]
        size = offsets[g + 1] - base
        components = component_order(graphs, base, size, order, starts, distance)
        for v in range(size):
            values[base + v] = 0.0
        for c in range(components):
            n = starts[c + 1] - starts[c]
            for source in range(starts[c], starts[c + 1]):
                if stop[0]:
                    return
                for i in range(starts[c], starts[c + 1]):
                    distance[order[i]] = -1
                    paths[order[i]] = 0.0
                    share[order[i]] = 0.0
                root = order[source]
                distance[root] = 0
                paths[root] = 1.0
                queue[0] = root
                tail = 1
                total = 0
                for head in range(n):
                    v = queue[head]
                    total += distance[v]
                    for entry in range(indptr[base + v], indptr[base + v + 1]):
                        w = indices[entry] - base
                        if distance[w] < 0:
                            distance[w] = distance[v] + 1
                            queue[tail] = w
                            tail += 1
                        if distance[w] == distance[v] + 1:
                            paths[w] += paths[v]
                if not betweenness:
                    values[base + root] = (n - 1) / total if total else 1.0
                    continue
                for back in range(n - 1, 0, -1):
                    w = queue[back]
                    for entry in range(indptr[base + w], indptr[base + w + 1]):
                        v = indices[entry] - base
                        if distance[v] == distance[w] - 1:
                            share[v] += paths[v] / paths[w] * (1.0 + share[w])
                    values[base + w] += share[w] / 2.0
            classify(order, starts[c], starts[c + 1], base, values, bits, ranked, classes)


def centrality_classes(
    graphs: Graphs,
    kind: str,
    n_jobs: int | None = None,
    envelope_work: float = ENVELOPE_WORK,
    values: np.ndarray | None = None,
) -> np.ndarray:
    """Class of each vertex by "eigenvector", "closeness" or "betweenness" centrality.

    The centralities themselves are written to ``values`` if it is given.
    """
    offsets = graphs.offsets
    if values is None:
        values = np.empty(int(offsets[-1]))
    bits = values.view(np.int64)
    classes = np.zeros(int(offsets[-1]), dtype=np.int32)
    ranges = chunks(np.diff(offsets))
    if kind != "eigenvector":
        between = kind == "betweenness"
        run(lambda a, b: path_classes(graphs, between, a, b, values, bits, classes), ranges, n_jobs)
        return classes

    def by_elimination(begin: int, end: int) -> None:
        scratch = make_scratch(graphs, begin, end)
        eigenvector_classes(graphs, envelope_work, begin, end, values, bits, classes, scratch)

    def by_gradients(graph: int, after: int) -> None:
        gradient_classes(graphs, graph, values, bits, classes, make_scratch(graphs, graph, after))

    run(by_elimination, ranges, n_jobs)
    large = np.unique(np.searchsorted(offsets, np.flatnonzero(values < 0), side="right") - 1)
    run(by_gradients, [(g, g + 1) for g in large.tolist()], n_jobs)
    return classes
