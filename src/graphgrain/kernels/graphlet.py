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
# Graphs of up to five vertices up to isomorphism, and relations between their counts.

LARGEST = 5


class GraphletTypes(NamedTuple):
    """All graphs with a given number of vertices.

    The adjacency code of a graph has a bit for each edge (i, j), i < j, at position
    j (j - 1) / 2 + i. Its canonical code is the smallest over all orders of the vertices.
    """

    of_code: np.ndarray  # type of every adjacency code
    canonical: list[int]  # canonical code of every type
    components: list[int]  # number of components of every type


def _pairs(size: int) -> list[tuple[int, int]]:
    return [(i, j) for j in range(size) for i in range(j)]


def edges_of(size: int, code: int) -> list[tuple[int, int]]:
    """Return the edges of an adjacency code."""
    return [pair for place, pair in enumerate(_pairs(size)) if code >> place & 1]


@lru_cache
def graphlet_types(size: int) -> GraphletTypes:
    """Return the types of graphs with ``size`` vertices, sorted by number of edges and code."""
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
    """Return the types of all sizes up to ``largest`` as an array ``table[size, code]``."""
    table = np.zeros((largest + 1, 1 << (largest * (largest - 1) // 2)), dtype=np.int64)
    for size in range(1, largest + 1):
        of_code = graphlet_types(size).of_code
        table[size, : len(of_code)] = of_code
    return table


def all_counts(connected: np.ndarray, size: int) -> np.ndarray:
    """Derive the counts of all induced subgraphs from those of the connected ones.

    ``connected`` has shape (graphs, sizes, types), the result (graphs, types), in Python integers,
    since counts can exceed 64 bits.

    Let D consist of a component A and the remainder B. The union of an induced A and an induced B
    is an induced subgraph F, so N(A) N(B) = sum over F of c(F) N(F), where c(F) is the number of
    such pairs that cover F. All F except D itself are smaller or have fewer components.
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
    """Return a component, the remainder, and the number of such pairs that cover each graph."""
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
    """Return the size and type of the subgraph induced by some vertices."""
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


class Graphlet(FeatureKernel):
    """Graphlet kernel: counts of the induced subgraphs with three, four or five vertices.

    Every set of ``size`` vertices, or every connected one, is one occurrence of the graph it
    induces, up to isomorphism. The kernel is the dot product of the counts. Labels are ignored.

    Parameters
    ----------
    size : int, default=4
        Number of vertices, from 3 to 5.
    connected : bool, default=True
        If True, count only connected subgraphs; if False all, most of which have no edges in
        sparse graphs.
    n_samples : int, optional
        Number of vertex sets sampled per graph to estimate the counts, for graphs with too many
        of them. By default all are counted. Estimates are not whole; ``counts="intersection"``
        rounds them down.
    random_state : int, default=0
        Seed of the samples. A graph gets the same samples in every call.
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    NeighbourhoodPairs : Labelled neighbourhoods instead of small subgraphs.
    SpectralDistance : Another kernel that uses only the structure.

    Notes
    -----
    Uses only the structure, within ``size`` vertices. The cost is proportional to the number of
    connected sets, at most n d^(size - 1) for n vertices of degree d. Disconnected subgraphs are
    not enumerated; their counts follow exactly from those of the connected ones. Estimates are
    unbiased: a connected set is grown by random neighbours and weighted by the inverse of its
    probability; with ``connected=False`` all sets are equally likely. Samples depend on the
    numbering of the vertices, exact counts do not.

    GraKeL's GraphletSampling combines connected and disconnected subgraphs of all sizes from 3 to k
    and needs pynauty; no setting gives the same values.

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
        return self.n_samples is None and self.connected  # otherwise they may exceed 2^53

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
        """Return the hash of each type."""
        codes = np.array(graphlet_types(self.size).canonical, dtype=np.int64)
        return hash_labels(codes + (self.size << 16), 3)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """Yield all vertex sets, including those not sampled."""
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
    """Return all sets of ``size`` of n vertices, one per row."""
    _require_sets(how_many := comb(n, size), n, size)
    vertices = chain.from_iterable(combinations(range(n), size))
    return np.fromiter(vertices, dtype=np.int64, count=how_many * size).reshape(-1, size)


def _require_sets(how_many: int, n: int, size: int) -> None:
    """Raise an error if a list of this many sets does not fit into memory."""
    require_memory(
        8.0 * how_many * (2 * size + 4),  # the vertices twice, types, codes and hashes
        f"The {how_many:,} sets of {size} among {n:,} vertices, listed one by one,",
        "Use a smaller size or connected=True, or a kernel with fewer features such as "
        "WeisfeilerLehman",
    )
