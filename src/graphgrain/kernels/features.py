"""Features: counted patterns of graphs, the one value that everything behind the kernels takes.

A pattern is a 64-bit hash that depends on label values alone, so that it means the same in every
batch, process and machine; no dictionary is needed to compare or merge counts.

1. A kernel counts: for every level the distinct hashes of each graph and how often each occurs
   (:class:`Counts`). Levels are what a kernel sums over, such as tree depths or refinement steps.
2. :class:`Features` are the levels of some graphs. A count map may be applied to them; they can be
   sliced by graphs and by levels.
3. By columns, one for each distinct hash (:class:`FeatureColumns`), they give similarities: the
   dot product, the cosine, or min-max, the sum of minima over the sum of maxima. By rows, with a
   vocabulary or with a fixed number of columns, they are a sparse matrix.
4. Where they sit in a graph a kernel says apart from that (:class:`Occurrences`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.balls import balls_of
from ..core.counting import Counts as Counts
from ..core.counting import find_columns, group_hashes, hashed_rows, transpose
from ..core.gram import (
    COSINE,
    DOT,
    FEW_COLUMNS,
    MINMAX,
    GramSum,
    add_minima,
    add_products,
    cut_into_units,
    finish,
    gram_of_few,
    precision,
)
from ..core.hashing import GOLDEN, mix_array
from ..core.structures import Csc
from ..core.threads import chunks, run
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Most entries that the unary map of "intersection" may have: 8 GiB.
_MOST_ONES = 2**29
#: Patterns of graphs that are compared by one thread at a time.
_TOGETHER = 1 << 14

COUNT_MAPS = ("raw", "sqrt", "log", "binary", "intersection")
#: Similarities of features, by the names that users give.
SIMILARITIES = {"cosine": COSINE, "minmax": MINMAX, "dot": DOT}

#: Makes a matrix of zeros.
Zeros = Callable[[tuple[int, int], type], np.ndarray]


class Features:
    """The counted patterns of some graphs.

    Parameters
    ----------
    levels : sequence of Counts
        One for each level of the kernel that counted them.
    whole : bool, default=True
        Whether counts are integers below 2^53, so that their products may be added in any order.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> features = gg.TreePlusPlus(tree_depth=1).count(graphs)
    >>> features
    Features(2 graphs, 2 levels, 17 entries)
    >>> features.similarities("minmax").round(3).tolist()
    [[1.0, 0.238], [0.238, 1.0]]
    >>> features[:1].similarities("minmax", features).round(3).tolist()
    [[1.0, 0.238]]
    """

    def __init__(self, levels: Sequence[Counts], whole: bool = True) -> None:
        self.levels = list(levels)
        self.whole = whole

    def __len__(self) -> int:
        return len(self.levels[0].lengths)

    def __repr__(self) -> str:
        entries = sum(len(level.hashes) for level in self.levels)
        graphs = f"{len(self):,} graph{'s' if len(self) != 1 else ''}"
        levels = f"{len(self.levels)} level{'s' if len(self.levels) != 1 else ''}"
        return f"Features({graphs}, {levels}, {entries:,} entries)"

    def __getitem__(self, graphs: Any) -> Features:
        """The features of some graphs: a slice, a mask or positions."""
        wanted = np.arange(len(self))[graphs]
        return Features([_rows_of(level, wanted) for level in self.levels], self.whole)

    def first_levels(self, number: int | None) -> Features:
        """The first levels alone; None stands for all."""
        return Features(self.levels[:number], self.whole)

    def mapped(self, how: str) -> Features:
        """The features after a count map; see :func:`map_counts`."""
        whole = how in ("binary", "intersection") or (how == "raw" and self.whole)
        return Features([map_counts(level, how) for level in self.levels], whole)

    @property
    def squares(self) -> np.ndarray:
        """Sum of squares of each level (rows) and graph (columns)."""
        return np.array([squared_norms(level) for level in self.levels])

    @property
    def sums(self) -> np.ndarray:
        """Sum of the values of each level (rows) and graph (columns)."""
        return np.array([_sums(level, level.counts) for level in self.levels])

    def columns(self, n_jobs: int | None = None) -> FeatureColumns:
        """The features by columns, one for each distinct hash, level after level."""
        levels = run(  # the last level has most features: threads that begin there end together
            lambda level, _: group_hashes(*self.levels[level]),
            [(level, level + 1) for level in reversed(range(len(self.levels)))],
            n_jobs,
        )[::-1]
        return FeatureColumns(
            [vocabulary for vocabulary, *_ in levels],
            _side_by_side([columns for _, *columns, _ in levels]),
            np.array([squares for *_, squares in levels]),
            self.whole,
        )

    def similarities(
        self, similarity: str = "cosine", other: Features | None = None, n_jobs: int | None = None
    ) -> np.ndarray:
        """Similarities among the graphs, or of these (rows) to others (columns)."""
        if other is None:
            return self.columns(n_jobs).gram(similarity, n_jobs)
        return other.columns(n_jobs).compare(self, similarity, n_jobs)

    def hashed_matrix(
        self, n_features: int, scales: np.ndarray | None = None, n_jobs: int | None = None
    ) -> csr_array:
        """A sparse matrix with ``n_features`` columns, which needs no vocabulary.

        A feature's column is its hash, mixed with its level, modulo their number; ``scales``
        multiply the levels.
        """
        from scipy.sparse import csr_array

        graphs = len(self)
        bounds = np.zeros((len(self.levels), graphs + 1), dtype=np.int64)
        base = 0
        for number, level in enumerate(self.levels):
            np.cumsum(level.lengths, out=bounds[number, 1:])
            bounds[number] += base
            base += len(level.hashes)
        factors = np.ones(len(self.levels)) if scales is None else scales
        hashes = np.concatenate([level.hashes for level in self.levels])
        values = np.concatenate(
            [
                scale * level.counts
                for level, scale in zip(self.levels, factors.tolist(), strict=True)
            ]
        )
        sizes = np.diff(bounds, axis=1).sum(axis=0)
        parts = run(
            lambda begin, end: hashed_rows(bounds, hashes, values, n_features, begin, end),
            chunks(sizes, 1 << 18) or [(0, 0)],
            n_jobs,
        )
        lengths, columns, sums = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        return csr_array((sums, columns, _short(indptr)), shape=(graphs, n_features))


@dataclass(eq=False)
class FeatureColumns:
    """The features of some graphs by columns: one for each distinct hash, level after level.

    Attributes
    ----------
    vocabulary : list of uint64 arrays
        Sorted hashes of each level.
    entries : Csc
        The matrix; rows are graphs.
    squares : array of shape (levels, graphs)
        Sum of squares of each level and graph.
    whole : bool
        As in :class:`Features`.
    """

    vocabulary: list[np.ndarray]
    entries: Csc
    squares: np.ndarray
    whole: bool

    def __len__(self) -> int:
        return self.squares.shape[1]

    @property
    def offsets(self) -> np.ndarray:
        """Where the columns of each level begin."""
        return np.cumsum([0] + [len(vocabulary) for vocabulary in self.vocabulary])

    @property
    def sums(self) -> np.ndarray:
        """Sum of the values of each level (rows) and graph (columns)."""
        bounds = self.entries.indptr[self.offsets].tolist()
        return np.array(
            [
                np.bincount(self.entries.rows[a:b], self.entries.values[a:b], len(self))
                for a, b in pairwise(bounds)
            ]
        )

    def first_levels(self, number: int) -> FeatureColumns:
        """The first levels alone; nothing is copied."""
        columns = int(self.offsets[number])
        entries = int(self.entries.indptr[columns])
        return FeatureColumns(
            self.vocabulary[:number],
            Csc(
                self.entries.indptr[: columns + 1],
                self.entries.rows[:entries],
                self.entries.values[:entries],
            ),
            self.squares[:number],
            self.whole,
        )

    def of(self, features: Features) -> Csc:
        """Other graphs in these columns; what has no column is left out."""
        parts = []
        for level, vocabulary in zip(features.levels, self.vocabulary, strict=True):
            columns = find_columns(level.hashes, vocabulary)
            starts = np.concatenate(([0], np.cumsum(level.lengths)))
            parts.append(
                transpose(starts, columns, level.counts.astype(np.float64), len(vocabulary))
            )
        return _side_by_side(parts)

    def gram(self, similarity: str, n_jobs: int | None = None) -> np.ndarray:
        """Similarities of the graphs to each other."""
        [K] = self.grams(similarity, n_jobs, every_level=False)
        return K

    def compare(self, features: Features, similarity: str, n_jobs: int | None = None) -> np.ndarray:
        """Similarities of other graphs (rows) to these (columns)."""
        [K] = self.comparisons(features, similarity, n_jobs, every_level=False)
        return K

    def grams(
        self,
        similarity: str,
        n_jobs: int | None = None,
        every_level: bool = True,
    ) -> Iterator[np.ndarray]:
        """Similarities to each other with the first level, the first two, ...; or with all."""
        columns = len(self.entries.indptr) - 1
        if not every_level and similarity != "minmax" and 0 < columns <= FEW_COLUMNS:
            norms = self.squares.sum(axis=0)
            if precision(norms.max(initial=0.0), self.whole) is np.float32:
                yield gram_of_few(self.entries, norms, SIMILARITIES[similarity], n_jobs)
                return
        for K, norms, _ in self._own_products(similarity, n_jobs, every_level):
            yield finish(K, norms, norms, True, SIMILARITIES[similarity], n_jobs)

    def add_gram(self, similarity: str, total: GramSum, factor: float, n_jobs: int | None) -> None:
        """Add a multiple of the similarities to each other to a sum."""
        for K, norms, _ in self._own_products(similarity, n_jobs, False, total.zeros):
            total.add(K, norms, SIMILARITIES[similarity], factor, n_jobs)

    def _own_products(
        self, similarity: str, n_jobs: int | None, every_level: bool, zeros: Zeros = np.zeros
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        if similarity != "minmax":
            yield from self._products(
                self.entries, None, self.offsets, (self.squares, self.squares), n_jobs,
                every_level, zeros,
            )  # fmt: skip
            return
        units = cut_into_units(self.entries)
        reached = units.reached
        heights = np.repeat(units.heights, np.diff(reached.indptr))
        sums = self.sums
        yield from self._products(
            reached, reached._replace(values=heights), units.starts[self.offsets], (sums, sums),
            n_jobs, every_level, zeros, symmetric=True,
        )  # fmt: skip

    def comparisons(
        self,
        features: Features,
        similarity: str,
        n_jobs: int | None = None,
        every_level: bool = True,
    ) -> Iterator[np.ndarray]:
        """Similarities of other graphs to these with the first level, the first two, ..."""
        found = (
            self._minima(features, n_jobs, every_level)
            if similarity == "minmax"
            else self._products(
                self.of(features), self.entries, self.offsets, (features.squares, self.squares),
                n_jobs, every_level,
            )
        )  # fmt: skip
        for K, left, right in found:
            yield finish(K, left, right, False, SIMILARITIES[similarity], n_jobs)

    def _minima(
        self, features: Features, n_jobs: int | None, every_level: bool
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Sums of minima of other graphs and these, and sums of both, after each level or all.

        Graph by graph: cutting these into units, as for their own Gram matrix, takes longer.
        """
        own, fitted = features.sums.cumsum(axis=0), self.sums.cumsum(axis=0)
        K: np.ndarray = np.zeros((own.shape[1], fitted.shape[1]))
        for step, level in enumerate(features.levels):
            columns = find_columns(level.hashes, self.vocabulary[step])
            columns[columns >= 0] += self.offsets[step]
            starts = np.concatenate(([0], np.cumsum(level.lengths)))
            counts = level.counts.astype(np.float64)
            graphs = partial(add_minima, starts, columns, counts, self.entries, K)
            run(graphs, chunks(level.lengths, _TOGETHER), n_jobs)
            if every_level or step == len(features.levels) - 1:
                yield K, own[step], fitted[step]

    def _products(
        self,
        left: Csc,
        right: Csc | None,
        offsets: np.ndarray,
        norms: tuple[np.ndarray, np.ndarray],
        n_jobs: int | None,
        every_level: bool,
        zeros: Zeros = np.zeros,
        symmetric: bool | None = None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Products of two matrices with the same columns, and norms, after each level or all."""
        symmetric = right is None if symmetric is None else symmetric
        own, fitted = norms[0].cumsum(axis=0), norms[1].cumsum(axis=0)
        bound = max(own[-1].max(initial=0.0), fitted[-1].max(initial=0.0))
        K = zeros((own.shape[1], fitted.shape[1]), precision(bound, self.whole))
        kind = K.dtype
        left = left._replace(values=left.values.astype(kind, copy=False))  # once for all levels
        right = right and right._replace(values=right.values.astype(kind, copy=False))
        ends = offsets[1:] if every_level else offsets[-1:]
        begin = 0
        for step, end in enumerate(ends.tolist()):
            add_products(K, left, right, begin, end, n_jobs, symmetric)
            at = step if every_level else -1
            yield K, own[at], fitted[at]
            begin = end

    def matrix(self, features: Features | None = None) -> csr_array:
        """These graphs, or others in these columns, as a sparse matrix by rows."""
        from scipy.sparse import csr_array

        columns = self.entries if features is None else self.of(features)
        graphs = len(self) if features is None else len(features)
        indptr, indices, values = transpose(*columns, graphs)
        shape = (graphs, int(self.offsets[-1]))
        return csr_array((values, indices, _short(indptr)), shape=shape)


def columns_of_hashes(hashes: np.ndarray, level: int, n_features: int) -> np.ndarray:
    """The column of each feature of a level, as :meth:`Features.hashed_matrix` chooses it."""
    with np.errstate(over="ignore"):
        mixed = mix_array(hashes + np.uint64(level + 1) * GOLDEN)
    return (mixed % np.uint64(n_features)).astype(np.int64)


def first_places(hashes: np.ndarray, wanted: np.ndarray) -> list[int]:
    """Where each of the wanted hashes, which all occur, stands first."""
    distinct, where = np.unique(hashes, return_index=True)
    return where[np.searchsorted(distinct, wanted)].tolist()


# -------------------------------------------------------------------- maps of counts


def _rows_of(level: Counts, wanted: np.ndarray) -> Counts:
    """The features of some graphs of a level."""
    starts = np.concatenate(([0], np.cumsum(level.lengths)))
    lengths = level.lengths[wanted]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places = np.arange(total) + np.repeat(starts[wanted] - (ends - lengths), lengths)
    return Counts(lengths, level.hashes[places], level.counts[places])


def _sums(level: Counts, values: np.ndarray) -> np.ndarray:
    """Sums of values, one for each feature of a level, by graph."""
    rows = np.repeat(np.arange(len(level.lengths)), level.lengths)
    return np.bincount(rows, weights=values.astype(np.float64), minlength=len(level.lengths))


def squared_norms(level: Counts) -> np.ndarray:
    """Sum of squared counts of each graph."""
    return _sums(level, level.counts.astype(np.float64) ** 2)


def map_counts(level: Counts, how: str) -> Counts:
    """Counts after the map; an intersection turns a count of c into c ones.

    Beside the maps that users choose from there is "unit": the level of each graph scaled to
    length 1.
    """
    if how == "unit":
        lengths = np.sqrt(squared_norms(level))
        return level._replace(counts=level.counts / np.repeat(lengths, level.lengths))
    if how == "sqrt":
        return level._replace(counts=np.sqrt(level.counts))
    if how == "log":
        return level._replace(counts=np.log1p(level.counts))
    if how == "binary":
        return level._replace(counts=np.ones(len(level.counts)))
    if how == "intersection":
        ends = np.concatenate(([0], np.cumsum(level.counts.astype(np.int64))))
        if not 0 <= ends[-1] <= _MOST_ONES:
            raise InvalidParameterError(
                f"counts='intersection' makes a column of every unit of a count; these add up to "
                f"{float(level.counts.sum()):.3g}, more than {_MOST_ONES:,}. Use counts='sqrt' or "
                "'log'."
            )
        base, times = repeated(level)
        totals = ends[np.concatenate(([0], np.cumsum(level.lengths)))]
        return Counts(np.diff(totals), expanded_hashes(base, times), np.ones(len(base)))
    return level


def repeated(level: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Each hash as often as it occurs, with the running number 1, 2, ... of the occurrence."""
    counts = level.counts.astype(np.int64)
    first = np.concatenate(([0], np.cumsum(counts)))[:-1]
    times = np.arange(counts.sum()) - np.repeat(first, counts) + 1
    return np.repeat(level.hashes, counts), times


def expanded_hashes(hashes: np.ndarray, times: np.ndarray) -> np.ndarray:
    """A hash for "occurs at least this often"; for once it is the hash itself."""
    with np.errstate(over="ignore"):
        again = mix_array(hashes + times.astype(np.uint64) * GOLDEN)
    return np.where(times == 1, hashes, again)


def _side_by_side(parts: Sequence[Sequence[np.ndarray]]) -> Csc:
    """One matrix from the levels, all in CSC form."""
    if len(parts) == 1:
        return Csc(*parts[0])
    base = np.cumsum([0] + [len(rows) for _, rows, _ in parts])
    ends = [indptr[1:] + start for (indptr, _, _), start in zip(parts, base[:-1], strict=True)]
    return Csc(
        np.concatenate([[0], *ends]),
        np.concatenate([rows for _, rows, _ in parts]),
        np.concatenate([values for _, _, values in parts]),
    )


def _short(indptr: np.ndarray) -> np.ndarray:
    """Row pointers in 32 bits where they fit: scikit-learn's linear models ask for it."""
    return indptr.astype(np.int32) if indptr[-1] <= np.iinfo(np.int32).max else indptr


# -------------------------------------------------------------------- where features sit in a graph


class Occurrences(NamedTuple):
    """Every occurrence of every feature of one level in one graph.

    Attributes
    ----------
    hashes : uint64 array
        The feature of each occurrence: each hash as often as the feature occurs.
    paths : int32 array of shape (occurrences, longest)
        The vertices of each occurrence, in order; -1 fills the rest. Vertices are numbered
        within the graph.
    trees : int32 array of shape (vertices, largest)
        Row v: the vertices whose labels take part wherever v stands on a path, v first.
    weights : float array, optional
        What each occurrence adds to its feature, the same for all of a feature; 1 without it.

    Examples
    --------
    >>> import graphgrain as gg
    >>> [found] = gg.VertexHistogram().locate([([(0, 1)], ["C", "O"])])
    >>> found.of(found.hashes[:1])
    [(0,)]
    """

    hashes: np.ndarray
    paths: np.ndarray
    trees: np.ndarray
    weights: np.ndarray | None = None

    def of(self, wanted: np.ndarray) -> list[tuple[int, ...]]:
        """The sorted vertex paths of some features."""
        rows = self.paths[np.isin(self.hashes, wanted)].tolist()
        return sorted(tuple(vertex for vertex in row if vertex >= 0) for row in rows)

    def tally(self) -> Tally:
        """The features that occur, how often, and what the occurrences add up to."""
        hashes, place, times = np.unique(self.hashes, return_inverse=True, return_counts=True)
        values = times
        if self.weights is not None:
            values = np.bincount(place, self.weights, len(hashes))
        return Tally(hashes, place, times, values)


class Tally(NamedTuple):
    """The features of one level in one graph."""

    hashes: np.ndarray  # ascending
    place: np.ndarray  # of each occurrence among them
    times: np.ndarray
    values: np.ndarray  # before the map of counts


def single_vertices(count: int) -> np.ndarray:
    """Paths, or trees, that are one vertex each: 0, 1, ..."""
    return np.arange(count, dtype=np.int32).reshape(-1, 1)


def located_vertices(
    batch: GraphBatch, levels: Sequence[np.ndarray] | np.ndarray
) -> Iterator[list[Occurrences]]:
    """Occurrences that are one vertex each, which at level t has seen those t steps around it.

    ``levels`` have a hash for every vertex of the batch.
    """
    for graph, (first, last) in enumerate(pairwise(batch.offsets.tolist())):
        paths = single_vertices(last - first)
        yield [
            Occurrences(hashes[first:last], paths, balls(batch, graph, step))
            for step, hashes in enumerate(levels)
        ]


def balls(batch: GraphBatch, graph: int, radius: int) -> np.ndarray:
    """Trees that hold all vertices up to a distance."""
    if radius == 0:
        return single_vertices(int(batch.vertex_counts[graph]))
    return balls_of(batch.arrays, graph, radius)
