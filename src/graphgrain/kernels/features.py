"""Features: counted patterns of graphs, the input of everything that builds on the kernels.

A pattern is identified by a 64-bit hash that depends only on label values. It is therefore the same
in every batch, process and machine, and counts can be compared and merged without a dictionary.

1. A kernel determines, for every level, the distinct hashes of each graph and their counts
   (:class:`Counts`). A kernel is a sum over its levels, such as tree depths or refinement steps.
2. :class:`Features` holds all levels of some graphs. It can be sliced by graphs and by levels, and
   counts can be mapped.
3. :class:`FeatureColumns` holds the same in CSC form, one column per distinct hash. It computes
   similarities (dot product, cosine, or min-max: the sum of minima over the sum of maxima) and
   sparse matrices with a vocabulary; :meth:`Features.hashed_matrix` needs no vocabulary.
4. :class:`Occurrences` holds the positions of features in a graph, computed separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.attribution import NO_PATHS, Spelling
from ..core.balls import balls_of
from ..core.counting import Counts as Counts
from ..core.counting import find_columns, group_levels, hashed_rows, transpose
from ..core.gram import (
    FEW_COLUMNS,
    GramSum,
    add_minima,
    add_products,
    cut_into_units,
    finish,
    gram_of_few,
    precision,
)
from ..core.hashing import GOLDEN, mix_array
from ..core.similarity import COSINE, DOT, MINMAX, logarithms, row_sums
from ..core.structures import Csc
from ..core.threads import chunks, run
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch, counted
from ..parameters import OneOf, check_value

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Maximum number of entries of the unary map of "intersection" (8 GiB).
_MOST_ONES = 2**29
#: Number of patterns compared per task of a thread.
_TOGETHER = 1 << 14

COUNT_MAPS = ("raw", "sqrt", "log", "binary", "intersection")
#: Similarities of features by their public names.
SIMILARITIES = {"cosine": COSINE, "minmax": MINMAX, "dot": DOT}

#: Allocates a matrix of zeros.
Zeros = Callable[[tuple[int, int], type], np.ndarray]


class Features:
    """Counted patterns of some graphs.

    Parameters
    ----------
    levels : sequence of Counts
        Counts of each level of the kernel.
    whole : bool, default=True
        Whether counts are integers below 2^53, so that sums of products are exact in any order.
    similarity : {"cosine", "minmax", "dot"}, default="minmax"
        Similarity of the kernel that counted them, used by :meth:`similarities` unless it is given
        another.

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

    def __init__(
        self, levels: Sequence[Counts], whole: bool = True, similarity: str = "minmax"
    ) -> None:
        self.levels = list(levels)
        self.whole = whole
        self.similarity = similarity

    def __len__(self) -> int:
        return len(self.levels[0].lengths)

    def __repr__(self) -> str:
        entries = sum(len(level.hashes) for level in self.levels)
        graphs, levels = counted(len(self), "graph"), counted(len(self.levels), "level")
        return f"Features({graphs}, {levels}, {entries:,} entries)"

    def __getitem__(self, graphs: Any) -> Features:
        """Select graphs by a slice, a mask, positions or a position."""
        wanted = np.atleast_1d(np.arange(len(self))[graphs])
        return self._with([_rows_of(level, wanted) for level in self.levels])

    def first_levels(self, number: int | None) -> Features:
        """Return the first ``number`` levels; None means all."""
        return self._with(self.levels[:number])

    def _with(self, levels: Sequence[Counts], whole: bool | None = None) -> Features:
        return Features(levels, self.whole if whole is None else whole, self.similarity)

    def mapped(self, how: str) -> Features:
        """Apply a count map; see :func:`map_counts`."""
        whole = how in ("binary", "intersection") or (how == "raw" and self.whole)
        return self._with([map_counts(level, how) for level in self.levels], whole)

    def scaled(self, factors: np.ndarray) -> Features:
        """Multiply the counts of each level by a factor."""
        if (factors == 1.0).all():
            return self
        parts = zip(self.levels, factors.tolist(), strict=True)
        return self._with([level._replace(counts=level.counts * f) for level, f in parts], False)

    @property
    def squares(self) -> np.ndarray:
        """Sum of squares of each level (rows) and graph (columns)."""
        return np.array([squared_norms(level) for level in self.levels])

    @property
    def sums(self) -> np.ndarray:
        """Sum of the values of each level (rows) and graph (columns)."""
        return np.array([total_counts(level) for level in self.levels])

    def keyed(self) -> Counts:
        """Return the features of all levels, graph after graph; hashes are mixed with their level.

        The hashes are those of which :meth:`hashed_matrix` takes the remainder.
        """
        rows = np.concatenate([level.rows for level in self.levels])
        keys = np.concatenate([_keys(level.hashes, n) for n, level in enumerate(self.levels)])
        values = np.concatenate([level.counts for level in self.levels]).astype(np.float64)
        order = np.argsort(rows, kind="stable")
        return Counts(np.bincount(rows, minlength=len(self)), keys[order], values[order])

    def columns(self, n_jobs: int | None = None) -> FeatureColumns:
        """Return the features in CSC form: one column per distinct hash, level after level."""
        levels = group_levels(self.levels, n_jobs)
        return FeatureColumns(
            [vocabulary for vocabulary, *_ in levels],
            _side_by_side([columns for _, *columns, _ in levels]),
            np.array([squares for *_, squares in levels]),
            self.whole,
        )

    def similarities(
        self,
        similarity: str | None = None,
        other: Features | None = None,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Compute similarities among the graphs, or of these (rows) to others (columns).

        By default with the similarity of the kernel that counted them.
        """
        name = self.similarity if similarity is None else similarity
        check_value("similarity", name, OneOf(tuple(SIMILARITIES)))
        if other is not None:
            return other.columns(n_jobs).compare(self, name, n_jobs)
        [K] = self.columns(n_jobs).grams(name, n_jobs, every_level=False)
        return K

    def hashed_matrix(self, n_features: int, n_jobs: int | None = None) -> csr_array:
        """Return a sparse matrix with ``n_features`` columns, without a vocabulary.

        The column of a feature is its hash, mixed with its level, modulo ``n_features``.
        """
        from scipy.sparse import csr_array

        graphs = len(self)
        lengths = np.array([level.lengths for level in self.levels])
        starts = np.concatenate(([0], np.cumsum(lengths)))
        bounds = starts[graphs * np.arange(len(lengths))[:, np.newaxis] + np.arange(graphs + 1)]
        hashes = np.concatenate([level.hashes for level in self.levels])
        values = np.concatenate([level.counts.astype(np.float64) for level in self.levels])
        parts = run(
            lambda begin, end: hashed_rows(bounds, hashes, values, n_features, begin, end),
            chunks(lengths.sum(axis=0), 1 << 18) or [(0, 0)],
            n_jobs,
        )
        sizes, columns, sums = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        return csr_array((sums, columns, _short(indptr)), shape=(graphs, n_features))


@dataclass(eq=False)
class FeatureColumns:
    """Features of some graphs in CSC form: one column per distinct hash, level after level.

    Attributes
    ----------
    vocabulary : list of uint64 arrays
        Sorted hashes of each level.
    entries : Csc
        Sparse matrix whose rows are graphs.
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
        """First column of each level, and the total number of columns."""
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
        """Return the first levels as views, without copying."""
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

    def scaled(self, factors: np.ndarray) -> FeatureColumns:
        """Multiply the values of each level by a factor."""
        if (factors == 1.0).all():
            return self
        sizes = np.diff(self.entries.indptr[self.offsets])
        entries = self.entries._replace(values=self.entries.values * np.repeat(factors, sizes))
        squares = self.squares * factors[:, np.newaxis] ** 2
        return FeatureColumns(self.vocabulary, entries, squares, False)

    def of(self, features: Features) -> Csc:
        """Return other graphs in these columns; features without a column are dropped."""
        parts = []
        for level, vocabulary in zip(features.levels, self.vocabulary, strict=True):
            columns, counts = find_columns(level.hashes, vocabulary), level.counts
            parts.append(
                transpose(level.starts, columns, counts.astype(np.float64), len(vocabulary))
            )
        return _side_by_side(parts)

    def compare(self, features: Features, similarity: str, n_jobs: int | None = None) -> np.ndarray:
        """Compute the similarities of other graphs (rows) to these (columns)."""
        [K] = self.grams(similarity, n_jobs, every_level=False, new=features)
        return K

    def grams(
        self,
        similarity: str,
        n_jobs: int | None = None,
        every_level: bool = True,
        new: Features | None = None,
    ) -> Iterator[np.ndarray]:
        """Yield similarities of the first level, the first two, ...; or only of all levels.

        They are those among the graphs, or of new graphs (rows) to these (columns).
        """
        code = SIMILARITIES[similarity]
        few = new is None and not every_level and 0 < self.offsets[-1] <= FEW_COLUMNS
        if few and similarity != "minmax":
            norms = self.squares.sum(axis=0)
            if precision(norms.max(initial=0.0), self.whole) is np.float32:
                yield gram_of_few(self.entries, norms, code, n_jobs)
                return
        products = (
            self._minima(new, n_jobs, every_level)
            if new is not None and similarity == "minmax"
            else self._products(similarity, n_jobs, every_level, new)
        )
        for K, left, right in products:
            yield finish(K, left, right, new is None, code, n_jobs)

    def add_gram(self, similarity: str, total: GramSum, factor: float, n_jobs: int | None) -> None:
        """Add ``factor`` times the similarities among the graphs to a sum."""
        for K, norms, _ in self._products(similarity, n_jobs, False, zeros=total.zeros):
            total.add(K, norms, SIMILARITIES[similarity], factor, n_jobs)

    def _minima(
        self, features: Features, n_jobs: int | None, every_level: bool
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield sums of minima with other graphs, and the sums of both, per level or for all.

        Computed graph by graph, which is faster here than the units used for Gram matrices.
        """
        own, fitted = features.sums.cumsum(axis=0), self.sums.cumsum(axis=0)
        K: np.ndarray = np.zeros((own.shape[1], fitted.shape[1]))
        for step, level in enumerate(features.levels):
            columns = find_columns(level.hashes, self.vocabulary[step])
            columns[columns >= 0] += self.offsets[step]
            counts = level.counts.astype(np.float64)
            graphs = partial(add_minima, level.starts, columns, counts, self.entries, K)
            run(graphs, chunks(level.lengths, _TOGETHER), n_jobs)
            if every_level or step == len(features.levels) - 1:
                yield K, own[step], fitted[step]

    def _products(
        self,
        similarity: str,
        n_jobs: int | None,
        every_level: bool,
        new: Features | None = None,
        zeros: Zeros = np.zeros,
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield products and the squared norms of both sides, per level or for all.

        For min-max, which is among these graphs only, they are sums of minima and sums of values.
        """
        left, right, offsets = self.entries, None, self.offsets
        own = fitted = self.squares
        if similarity == "minmax":
            starts, left, right = cut_into_units(self.entries)
            offsets = starts[offsets]
            own = fitted = self.sums
        elif new is not None:
            left, right, own = self.of(new), self.entries, new.squares
        own, fitted = own.cumsum(axis=0), fitted.cumsum(axis=0)
        bound = max(own[-1].max(initial=0.0), fitted[-1].max(initial=0.0))
        K = zeros((own.shape[1], fitted.shape[1]), precision(bound, self.whole))
        left = left._replace(values=left.values.astype(K.dtype, copy=False))
        right = right and right._replace(values=right.values.astype(K.dtype, copy=False))
        ends = offsets[1:] if every_level else offsets[-1:]
        begin = 0
        for step, end in enumerate(ends.tolist()):
            add_products(K, left, right, begin, end, n_jobs, symmetric=new is None)
            at = step if every_level else -1
            yield K, own[at], fitted[at]
            begin = end

    def matrix(self, features: Features | None = None) -> csr_array:
        """Return these graphs, or others with these columns, as a sparse matrix in CSR form."""
        from scipy.sparse import csr_array

        columns = self.entries if features is None else self.of(features)
        graphs = len(self) if features is None else len(features)
        indptr, indices, values = transpose(*columns, graphs)
        shape = (graphs, int(self.offsets[-1]))
        return csr_array((values, indices, _short(indptr)), shape=shape)


def columns_of_hashes(hashes: np.ndarray, level: int, n_features: int) -> np.ndarray:
    """Return the column of each feature of a level in :meth:`Features.hashed_matrix`."""
    return (_keys(hashes, level) % np.uint64(n_features)).astype(np.int64)


def _keys(hashes: np.ndarray, level: int) -> np.ndarray:
    with np.errstate(over="ignore"):
        return mix_array(hashes + np.uint64(level + 1) * GOLDEN)


def first_places(hashes: np.ndarray, wanted: np.ndarray) -> list[int]:
    """Return the first position of each of the wanted hashes, all of which occur."""
    distinct, where = np.unique(hashes, return_index=True)
    return where[np.searchsorted(distinct, wanted)].tolist()


# -------------------------------------------------------------------- maps of counts


def _rows_of(level: Counts, wanted: np.ndarray) -> Counts:
    """Select graphs of a level."""
    lengths = level.lengths[wanted]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places = np.arange(total) + np.repeat(level.starts[wanted] - (ends - lengths), lengths)
    return Counts(lengths, level.hashes[places], level.counts[places])


def total_counts(level: Counts) -> np.ndarray:
    """Return the sum of the counts of each graph."""
    return row_sums(level.starts, level.counts)


def squared_norms(level: Counts) -> np.ndarray:
    """Return the sum of squared counts of each graph."""
    return row_sums(level.starts, level.counts, squared=True)


def map_counts(level: Counts, how: str) -> Counts:
    """Map the counts; "intersection" turns a count of c into c features of count 1.

    In addition to the public maps, "unit" scales the level of each graph to Euclidean norm 1.
    """
    if how == "unit":
        lengths = np.sqrt(squared_norms(level))
        return level._replace(counts=level.counts / np.repeat(lengths, level.lengths))
    if how == "sqrt":
        return level._replace(counts=np.sqrt(level.counts))
    if how == "log":
        return level._replace(counts=logarithms(level.counts))
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
        return Counts(np.diff(ends[level.starts]), expanded_hashes(base, times), np.ones(len(base)))
    if how != "raw":
        maps = ", ".join(map(repr, COUNT_MAPS))
        raise InvalidParameterError(f"counts must be one of {maps}; got {how!r}.")
    return level


def repeated(level: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Return each hash once per occurrence, with the running number 1, 2, ... of the occurrence."""
    counts = level.counts.astype(np.int64)
    first = np.concatenate(([0], np.cumsum(counts)))[:-1]
    times = np.arange(counts.sum()) - np.repeat(first, counts) + 1
    return np.repeat(level.hashes, counts), times


def by_pattern(parts: Sequence[np.ndarray], levels: Sequence[Counts], how: str) -> list[np.ndarray]:
    """Return one value for each pattern of a graph from one for each of its mapped features.

    The map "intersection" makes c features of a count of c; others keep the patterns.
    """
    if how != "intersection":
        return list(parts)
    return [
        np.bincount(
            np.repeat(np.arange(len(level.hashes)), level.counts.astype(np.int64)),
            part,
            len(level.hashes),
        )
        for part, level in zip(parts, levels, strict=True)
    ]


def expanded_hashes(hashes: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return a hash for "occurs at least ``times`` times", the hash itself for one."""
    with np.errstate(over="ignore"):
        again = mix_array(hashes + times.astype(np.uint64) * GOLDEN)
    return np.where(times == 1, hashes, again)


def _side_by_side(parts: Sequence[Sequence[np.ndarray]]) -> Csc:
    """Concatenate the columns of several matrices in CSC form."""
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
    """Use 32-bit row pointers if possible, as scikit-learn's linear models require."""
    return indptr.astype(np.int32) if indptr[-1] <= np.iinfo(np.int32).max else indptr


# -------------------------------------------------------------------- positions of features


class Occurrences(NamedTuple):
    """Every occurrence of every feature of one level in one graph.

    Attributes
    ----------
    hashes : uint64 array
        Feature of each occurrence; a hash is repeated once per occurrence.
    paths : int32 array of shape (occurrences, longest)
        Vertices of each occurrence, in order, padded with -1. Vertices are numbered within the
        graph.
    trees : int32 array of shape (vertices, largest)
        Row v contains the vertices whose labels contribute wherever v is on a path, v first.
    weights : float array, optional
        Contribution of each occurrence to the value of its feature, equal for all occurrences of
        a feature. By default 1.
    spelling : Spelling
        Codes along the paths; by default, occurrences are sets of vertices instead of paths. All
        shortest paths with the same codes are the same occurrence, and ``paths`` has one of them.

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
    spelling: Spelling = NO_PATHS

    def of(self, wanted: np.ndarray) -> list[tuple[int, ...]]:
        """Return the sorted vertex paths of some features."""
        paths = self.paths[np.isin(self.hashes, wanted)]
        sizes = (paths >= 0).sum(axis=1)
        tuples: list[tuple[int, ...]] = []
        for size in np.unique(sizes).tolist():
            tuples += zip(*paths[sizes == size, :size].T.tolist(), strict=True)
        return sorted(tuples)

    def tally(self) -> Tally:
        """Return the distinct features, the number of occurrences and the sum of their weights."""
        hashes, place, times = np.unique(self.hashes, return_inverse=True, return_counts=True)
        values = times
        if self.weights is not None:
            values = np.bincount(place, self.weights, len(hashes))
        return Tally(hashes, place, times, values)


class Tally(NamedTuple):
    """The features of one level in one graph."""

    hashes: np.ndarray  # ascending
    place: np.ndarray  # index of each occurrence in hashes
    times: np.ndarray  # number of occurrences
    values: np.ndarray  # sums of weights, before the count map


def single_vertices(count: int) -> np.ndarray:
    """Return paths, or trees, of one vertex each: 0, 1, ..."""
    return np.arange(count, dtype=np.int32).reshape(-1, 1)


def located_vertices(
    batch: GraphBatch, levels: Sequence[np.ndarray] | np.ndarray
) -> Iterator[list[Occurrences]]:
    """Yield occurrences of one vertex each; at level t they depend on all vertices within t steps.

    ``levels`` has, for each level, a hash per vertex of the batch.
    """
    for graph, (first, last) in enumerate(pairwise(batch.offsets.tolist())):
        paths = single_vertices(last - first)
        yield [
            Occurrences(hashes[first:last], paths, balls(batch, graph, step))
            for step, hashes in enumerate(levels)
        ]


def balls(batch: GraphBatch, graph: int, radius: int) -> np.ndarray:
    """Return the vertices within a distance of each vertex, in the form of trees."""
    if radius == 0:
        return single_vertices(int(batch.vertex_counts[graph]))
    return balls_of(batch.arrays, graph, radius)
