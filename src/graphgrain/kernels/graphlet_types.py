"""The graphs of up to five vertices up to isomorphism, and how their counts hang together."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

LARGEST = 5


class GraphletTypes(NamedTuple):
    """All graphs with so many vertices.

    A graph is written as bits, edge (i, j) with i < j at place j (j - 1) / 2 + i; the smallest
    number that any order of the vertices gives is its canonical code.
    """

    of_code: np.ndarray  # type of every adjacency code
    canonical: list[int]  # canonical code of every type
    components: list[int]  # number of components of every type


def _pairs(size: int) -> list[tuple[int, int]]:
    return [(i, j) for j in range(size) for i in range(j)]


def edges_of(size: int, code: int) -> list[tuple[int, int]]:
    """The edges that an adjacency code stands for."""
    return [pair for place, pair in enumerate(_pairs(size)) if code >> place & 1]


@lru_cache
def graphlet_types(size: int) -> GraphletTypes:
    """The types of graphs with ``size`` vertices, by number of edges, then by code."""
    pairs = _pairs(size)
    codes = np.arange(1 << len(pairs))
    smallest = codes.copy()
    for order in permutations(range(size)):
        moved = np.zeros_like(codes)
        for place, (i, j) in enumerate(pairs):
            a, b = sorted((order[i], order[j]))
            moved |= (codes >> place & 1) << (b * (b - 1) // 2 + a)
        np.minimum(smallest, moved, out=smallest)
    canonical = sorted(set(smallest.tolist()), key=lambda code: (code.bit_count(), code))
    number = {code: place for place, code in enumerate(canonical)}
    of_code = np.array([number[code] for code in smallest.tolist()], dtype=np.int64)
    components = [len(_component_sets(size, code)) for code in canonical]
    return GraphletTypes(of_code, canonical, components)


@lru_cache
def type_table(largest: int) -> np.ndarray:
    """``table[size, code]``: the types of all sizes up to ``largest`` for compiled code."""
    table = np.zeros((largest + 1, 1 << (largest * (largest - 1) // 2)), dtype=np.int64)
    for size in range(1, largest + 1):
        of_code = graphlet_types(size).of_code
        table[size, : len(of_code)] = of_code
    return table


def all_counts(connected: np.ndarray, size: int) -> np.ndarray:
    """Numbers of all induced subgraphs with ``size`` vertices from those of connected ones.

    Let D consist of a component A and the rest B. Every pair of an induced A and an induced B
    covers some induced subgraph F, so that N(A) N(B) = sum over F of c(F) N(F), where c(F) says
    how often a pair covers F. Apart from D itself all F are smaller or have fewer components.

    Parameters
    ----------
    connected : int array of shape (graphs, sizes, types)

    Returns
    -------
    array of Python integers of shape (graphs, types): they can be larger than 64 bits.
    """
    counts: dict[tuple[int, int], np.ndarray] = {}
    for vertices in range(1, size + 1):
        types = graphlet_types(vertices)
        for number in sorted(range(len(types.canonical)), key=lambda t: types.components[t]):
            if types.components[number] == 1:
                counts[vertices, number] = connected[:, vertices, number].astype(object)
                continue
            first, rest, coefficients = _decomposition(vertices, number)
            total = counts[first] * counts[rest]
            for other, times in coefficients.items():
                if other != (vertices, number):
                    total = total - times * counts[other]
            counts[vertices, number] = total // coefficients[vertices, number]
    return np.array([counts[size, t] for t in range(len(graphlet_types(size).canonical))]).T


@lru_cache
def _decomposition(
    size: int, number: int
) -> tuple[tuple[int, int], tuple[int, int], dict[tuple[int, int], int]]:
    """A component, the rest, and how often a pair of these covers each graph."""
    code = graphlet_types(size).canonical[number]
    component = _component_sets(size, code)[0]
    rest = [v for v in range(size) if v not in component]
    a, b = _induced(code, component), _induced(code, rest)
    coefficients: dict[tuple[int, int], int] = {}
    for vertices in range(max(a[0], b[0]), size + 1):
        for other, own in enumerate(graphlet_types(vertices).canonical):
            everything = set(range(vertices))
            firsts = [
                set(s) for s in combinations(range(vertices), a[0]) if _induced(own, list(s)) == a
            ]
            seconds = [
                set(s) for s in combinations(range(vertices), b[0]) if _induced(own, list(s)) == b
            ]
            times = sum(s | t == everything for s in firsts for t in seconds)
            if times:
                coefficients[vertices, other] = times
    return a, b, coefficients


def _induced(code: int, members: list[int]) -> tuple[int, int]:
    """Size and type of the subgraph that some vertices induce."""
    result = 0
    for place, (i, j) in enumerate(_pairs(len(members))):
        a, b = sorted((members[i], members[j]))
        result |= (code >> (b * (b - 1) // 2 + a) & 1) << place
    return len(members), int(graphlet_types(len(members)).of_code[result])


def _component_sets(size: int, code: int) -> list[list[int]]:
    owner = list(range(size))
    for i, j in edges_of(size, code):
        old, new = owner[j], owner[i]
        owner = [new if o == old else o for o in owner]
    return [[v for v in range(size) if owner[v] == o] for o in dict.fromkeys(owner)]
