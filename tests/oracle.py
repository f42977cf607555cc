"""Tree++ in the slowest, most obvious way: sets, tuples and sorting, straight from the definition.

No hashing, no Numba, no arrays but for one call to numpy.linalg.eigh. The fast code is
compared with this.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property

import networkx as nx
import numpy as np

TOLERANCE = 1e-7
Pattern = tuple


@dataclass
class Graph:
    """An undirected labelled graph; ``edges`` maps a frozenset of two vertices to a label."""

    labels: list
    edges: dict[frozenset, Hashable] = field(default_factory=dict)

    def neighbours(self, v: int) -> set[int]:
        return {u for edge in self.edges if v in edge for u in edge if u != v}

    @cached_property
    def adjacency(self) -> list[set[int]]:
        return [self.neighbours(v) for v in range(len(self.labels))]

    def components(self) -> list[list[int]]:
        left, found = set(range(len(self.labels))), []
        while left:
            component, border = set(), {min(left)}
            while border:
                component |= border
                border = {u for v in border for u in self.adjacency[v]} - component
            found.append(sorted(component))
            left -= component
        return found


def centralities(graph: Graph, kind: str | None) -> dict[int, float]:
    values = {}
    for component in graph.components():
        part = nx.Graph()
        part.add_nodes_from(component)
        part.add_edges_from(edge for edge in map(tuple, graph.edges) if edge[0] in part)
        if kind == "eigenvector":
            _, vectors = np.linalg.eigh(nx.to_numpy_array(part, nodelist=component))
            found = dict(zip(component, np.abs(vectors[:, -1]).tolist(), strict=True))
        elif kind == "closeness":
            found = nx.closeness_centrality(part) if len(component) > 1 else {component[0]: 1.0}
        elif kind == "betweenness":
            found = nx.betweenness_centrality(part, normalized=False)
        elif kind == "degree":
            found = {v: float(len(graph.adjacency[v])) for v in component}
        else:
            found = dict.fromkeys(component, 0.0)
        values.update(found)
    return values


def centrality_classes(graph: Graph, kind: str | None) -> dict[int, int]:
    values, classes = centralities(graph, kind), {}
    for component in graph.components():
        ordered = sorted(component, key=values.__getitem__)
        current = 0
        for before, v in zip([None, *ordered], ordered, strict=False):
            if before is not None and values[v] - values[before] > TOLERANCE:
                current += 1
            classes[v] = current
    return classes


@dataclass
class Search:
    """A truncated breadth-first search: levels in rank order, ranks, candidate parents."""

    levels: list[list[int]]
    candidates: dict[int, list[int]]
    edge: dict[int, Hashable]


def search(graph: Graph, root: int, depth: int, classes: dict[int, int], edge_labels: bool):
    rank = {root: 0}
    levels, candidates, edge = [[root]], {root: []}, {}
    seen = {root}
    for _ in range(depth):
        above = levels[-1]
        level = {u for v in above for u in graph.adjacency[v]} - seen
        keys = {}
        for v in level:
            parents = [u for u in above if u in graph.adjacency[v]]
            smallest = min(rank[u] for u in parents)
            candidates[v] = [u for u in parents if rank[u] == smallest]
            key = (smallest, graph.labels[v], classes[v])
            if edge_labels:
                edge[v] = min(graph.edges[frozenset((u, v))] for u in candidates[v])
                candidates[v] = [
                    u for u in candidates[v] if graph.edges[frozenset((u, v))] == edge[v]
                ]
                key += (edge[v],)
            keys[v] = key
        distinct = sorted(set(keys.values()))
        rank |= {v: distinct.index(keys[v]) for v in level}
        levels.append(sorted(level, key=lambda v: keys[v]))
        seen |= level
    return Search(levels, candidates, edge)


def tree_label(graph: Graph, found: Search, depth: int, edge_labels: bool) -> tuple:
    sequence: tuple = ()
    for level in found.levels[: depth + 1]:
        for v in level:
            if edge_labels and v in found.edge:
                sequence += (found.edge[v],)
            sequence += (graph.labels[v],)
    return sequence


def patterns(
    graph: Graph,
    path_depth: int,
    tree_depth: int,
    centrality: str | None = "eigenvector",
    edge_labels: bool = False,
    choose: Callable[..., Pattern] = min,
) -> list[Counter]:
    """The feature counts of every level from 0 to ``tree_depth``.

    A pattern is a tuple of tree labels, with edge labels between them if asked for; of both
    reading directions the smaller tuple is counted. Of the patterns of several candidate parents
    the smallest is extended: Python compares tuples, and tuples in tuples, as the definition asks,
    element by element, a beginning before its continuation.
    """
    classes = centrality_classes(graph, centrality)
    depth = max(path_depth, tree_depth)
    found = [search(graph, root, depth, classes, edge_labels) for root in range(len(graph.labels))]
    counts = []
    for level in range(tree_depth + 1):
        trees = [tree_label(graph, one, level, edge_labels) for one in found]
        counter: Counter = Counter()
        for root, one in enumerate(found):
            pattern = {root: (trees[root],)}
            for ring in one.levels[1 : path_depth + 1]:
                for v in ring:
                    chosen = choose(pattern[u] for u in one.candidates[v])
                    link = (one.edge[v],) if edge_labels else ()
                    pattern[v] = (*chosen, *link, trees[v])
            counter.update(min(p, p[::-1]) for p in pattern.values())
        counts.append(counter)
    return counts


COUNT_MAPS: dict[str, Callable[[float], float]] = {
    "raw": float,
    "sqrt": math.sqrt,
    "log": lambda count: math.log(1 + count),
    "binary": lambda count: 1.0,
    "intersection": float,  # of which the minimum is taken instead of the product
}


def values(levels: list[Counter], counts: str) -> dict:
    """The value of each pattern of a graph, level by level."""
    change = COUNT_MAPS[counts]
    return {(k, pattern): change(n) for k, one in enumerate(levels) for pattern, n in one.items()}


def overlap(a: dict, b: dict, products: bool) -> float:
    common = a.keys() & b.keys()
    return math.fsum(a[p] * b[p] if products else min(a[p], b[p]) for p in common)


def similarity(a: dict, b: dict, kind: str, counts: str) -> float:
    """The similarity of two graphs, given the values of their patterns."""
    products = kind in ("dot", "cosine") and counts != "intersection"
    both = overlap(a, b, products)
    if kind == "dot":
        return both
    if not a or not b:  # graphs without patterns are equal, and have nothing in common with others
        return float(not a and not b)
    left, right = overlap(a, a, products), overlap(b, b, products)
    return {
        "cosine": lambda: both / math.sqrt(left * right),
        "minmax": lambda: both / (left + right - both),
        "containment": lambda: both / left,
    }[kind]()


def gram(features: list[list[Counter]], counts: str = "raw", kind: str = "dot") -> np.ndarray:
    """Gram matrix from the feature counts of each graph, level by level."""
    rows = [values(levels, counts) for levels in features]
    return np.array([[similarity(a, b, kind, counts) for b in rows] for a in rows])
