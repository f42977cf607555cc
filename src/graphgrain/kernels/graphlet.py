"""The graphlet kernel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, combinations, permutations
from math import comb
from typing import ClassVar, NamedTuple

import numpy as np

from ..core.counting import count_graphs
from ..core.graphlets import count_connected, list_connected, sample_sets
from ..core.hashing import hash_labels
from ..core.memory import require_memory
from ..core.spectra import adjacency
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, Whole, parameter
from .bases.feature_kernel import FeatureKernel
from .features import Counts, Occurrences, single_vertices

# --------------------------------------------------------------------
# The graphs of up to five vertices up to isomorphism, and how their counts hang together.

LARGEST = 5


class GraphletTypes(NamedTuple):
    """All graphs with a given number of vertices.

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

    ``connected`` has the shape (graphs, sizes, types), the result (graphs, types), in Python
    integers: they can be larger than 64 bits.

    Let D consist of a component A and the rest B. Every pair of an induced A and an induced B
    covers some induced subgraph F, so that N(A) N(B) = sum over F of c(F) N(F), where c(F) says
    how often a pair covers F. Apart from D itself all F are smaller or have fewer components.
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


# --------------------------------------------------------------------
# The kernel.


class Graphlet(FeatureKernel):
    """Graphlet kernel: counts of the induced subgraphs with three, four or five vertices.

    Every set of ``size`` vertices, or every connected one, is an occurrence of the graph that it
    induces, up to isomorphism. The kernel is the product of the counts. Labels do not matter.

    Parameters
    ----------
    size : int, default=4
        Number of vertices, from 3 to 5.
    connected : bool, default=True
        Count connected subgraphs only; otherwise all, of which sparse graphs have mostly edgeless
        ones.
    n_samples : int, optional
        Draw this number of vertex sets in each graph and estimate the counts, for graphs with too
        many; by default all are counted.
    random_state : int, default=0
        Seed of the draws. A graph gets the same ones in every call.
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    NeighbourhoodPairs : Labelled neighbourhoods instead of small subgraphs.
    SpectralDistance : Another kernel of structure alone.

    Notes
    -----
    It sees structure alone: no labels, nothing beyond ``size`` vertices. The time grows with
    the number of connected sets, at most n d^(size - 1) for n vertices of degree d. Disconnected
    subgraphs are not enumerated: their numbers follow exactly from those of the connected ones.
    Estimates are unbiased: a connected set is grown by random neighbours and counts with the
    inverse of the probability of being drawn; with ``connected=False`` all sets are equally
    likely. A sample depends on how vertices are numbered, an exact count does not.

    GraKeL's GraphletSampling takes connected and disconnected subgraphs of all sizes from 3 to k
    together, and needs pynauty: it has no form with the same values.

    References
    ----------
    Shervashidze, Vishwanathan, Petri, Mehlhorn, Borgwardt: Efficient Graphlet Kernels for Large
    Graph Comparison. AISTATS 2009. Wernicke: Efficient Detection of Network Motifs. IEEE/ACM
    Transactions on Computational Biology and Bioinformatics 3 (4), 2006.

    Examples
    --------
    >>> import graphgrain as gg
    >>> triangle_with_tail = [(0, 1), (1, 2), (0, 2), (2, 3)]
    >>> kernel = gg.Graphlet(3, output="features")
    >>> kernel.fit_transform([(triangle_with_tail, [0, 0, 0, 0])]).toarray().tolist()
    [[1.0, 2.0]]
    >>> kernel.feature_names().tolist()
    ['3 vertices: 0-1 0-2 1-2', '3 vertices: 0-1 0-2']
    """

    size: int = parameter(Whole(3, LARGEST), default=4, kw_only=False)
    connected: bool = parameter(BOOLEAN, default=True)
    n_samples: int | None = parameter(Whole(1, optional=True), default=None)
    random_state: int = parameter(Whole(0), default=0)
    _uses_labels: ClassVar[bool] = False

    @property
    def _whole_counts(self) -> bool:  # type: ignore[override]
        return self.n_samples is None and self.connected  # others may pass 2^53

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        hashes, table = self._hashes(), type_table(self.size)
        seed = np.random.SeedSequence(self.random_state).generate_state(1, dtype=np.uint64)[0]

        def count(begin: int, end: int) -> list[Counts]:
            if self.n_samples is None:
                found = count_connected(batch.arrays, self.size, table, begin, end)
                numbers = (
                    found[:, self.size, : len(hashes)]
                    if self.connected
                    else all_counts(found, self.size).reshape(end - begin, len(hashes))
                )
            else:
                numbers = sample_sets(
                    batch.arrays, self.size, self.connected, table, self.n_samples, seed, begin, end
                )
            rows, columns = np.nonzero(numbers)
            values = numbers[rows, columns]
            if values.dtype == object:
                values = values.astype(np.float64)
            lengths = np.bincount(rows, minlength=end - begin)
            return [Counts(lengths, hashes[columns], values)]

        return count_graphs(count, batch.vertex_counts, self.n_jobs)

    def _hashes(self) -> np.ndarray:
        """The hash of each type."""
        codes = np.array(graphlet_types(self.size).canonical, dtype=np.int64)
        return hash_labels(codes + (self.size << 16), 3)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """All vertex sets, drawn or not."""
        hashes, table = self._hashes(), type_table(self.size)
        for graph, n in enumerate(batch.vertex_counts.tolist()):
            if self.connected:
                counts = count_connected(batch.arrays, self.size, table, graph, graph + 1)
                _require_sets(total := int(counts[0, self.size].sum()), n, self.size)
                found = list_connected(batch.arrays, graph, self.size, table, total)
                sets, types = found[:, : self.size], found[:, self.size]
            else:
                sets = _all_sets(n, self.size)
                A = adjacency(batch.arrays, graph).astype(np.int64)
                codes = np.zeros(len(sets), dtype=np.int64)
                for j in range(self.size):
                    for i in range(j):
                        codes |= A[sets[:, i], sets[:, j]] << (j * (j - 1) // 2 + i)
                types = table[self.size][codes]
            yield [Occurrences(hashes[types], sets.astype(np.int32), single_vertices(n))]

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        names = {}
        for code, own in zip(
            graphlet_types(self.size).canonical, self._hashes().tolist(), strict=True
        ):
            edges = " ".join(f"{i}-{j}" for i, j in sorted(edges_of(self.size, code)))
            names[own] = f"{self.size} vertices: {edges or 'no edges'}"
        return [names[code] for code in hashes.tolist()]


def _all_sets(n: int, size: int) -> np.ndarray:
    """All sets of ``size`` of n vertices, a row for each."""
    _require_sets(how_many := comb(n, size), n, size)
    vertices = chain.from_iterable(combinations(range(n), size))
    return np.fromiter(vertices, dtype=np.int64, count=how_many * size).reshape(-1, size)


def _require_sets(how_many: int, n: int, size: int) -> None:
    """Refuse to list what does not fit."""
    require_memory(
        8.0 * how_many * (2 * size + 4),  # the vertices twice, types, codes and hashes
        f"The {how_many:,} sets of {size} among {n:,} vertices, listed one by one,",
        "Use a smaller size or connected=True, or a kernel with fewer features such as "
        "WeisfeilerLehman",
    )
