"""Find all pairs of similar graphs of an index or in memory, exactly.

1. The features of all graphs are counted once and written to a temporary file as 32-bit numbers
   (:func:`_number_features`). The file is mapped, so the system decides how much is in memory.
2. Numbers become ranks, the rarest feature first (:func:`_rank_features`).
3. The similarity join in ``core/similarity_join.py`` finds the pairs block by block.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, pairwise
from typing import IO, Any, NamedTuple, overload

import numpy as np

from ..core.similarity import MINMAX
from ..core.similarity_join import (
    Records,
    count_postings,
    fill_postings,
    join,
    number_keys,
    rank_tokens,
)
from ..core.threads import call, run
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch, running_sum
from ..graphs.convert.dispatch import as_graphs
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts, Features
from ..parameters import JOBS, SHARE, Whole, check_value
from .activity_cliffs import Cliffs, cliffs_among, numbers_of
from .graph_index import GraphIndex, as_index, check_kernel, default_kernel, frozen, similarity_by
from .segment import CHUNK, KINDS, keyed_features, values_differ

#: Number of graphs whose pairs are found together.
BLOCK = 8192
#: Size of the pair buffer of each thread, in addition to one pair per graph.
_BUFFER = 1 << 16


class Pairs(NamedTuple):
    """Pairs of similar graphs.

    Attributes
    ----------
    first, second : int arrays
        Indices of the graphs of each pair, with ``first < second``.
    similarities : array
        Similarity of each pair.

    Examples
    --------
    >>> import graphgrain as gg
    >>> found = gg.pairs([([(0, 1)], ["C", "O"]), ([(0, 1)], ["O", "C"]), ([], ["N"])])
    >>> found.first.tolist(), found.second.tolist(), found.similarities.tolist()
    ([0], [1], [1.0])
    """

    first: np.ndarray
    second: np.ndarray
    similarities: np.ndarray

    def __len__(self) -> int:
        return len(self.first)


@overload
def pairs(
    graphs: Any,
    min_similarity: float = 0.8,
    *,
    y: None = None,
    min_difference: float = 1.0,
    kernel: FeatureKernel | None = None,
    similarity: str | None = None,
    max_per_graph: int | None = None,
    n_jobs: int | None = None,
) -> Pairs: ...


@overload
def pairs(
    graphs: Any,
    min_similarity: float = 0.8,
    *,
    y: Any,
    min_difference: float = 1.0,
    kernel: FeatureKernel | None = None,
    similarity: str | None = None,
    max_per_graph: int | None = None,
    n_jobs: int | None = None,
) -> Cliffs: ...


def pairs(
    graphs: Any,
    min_similarity: float = 0.8,
    *,
    y: Any = None,
    min_difference: float = 1.0,
    kernel: FeatureKernel | None = None,
    similarity: str | None = None,
    max_per_graph: int | None = None,
    n_jobs: int | None = None,
) -> Pairs | Cliffs:
    """Find all pairs of similar graphs, or those that differ in a measured value.

    The result is exact, and each pair occurs once.

    Parameters
    ----------
    graphs : GraphIndex, Features, or anything that :func:`as_graphs` accepts
    min_similarity : float, default=0.8
        Minimum similarity, above 0 and at most 1.
    y : array-like, or str for an index, optional
        Measured value of each graph, NaN or None if missing; or the name of a column of the index.
        With it only pairs that differ in y are returned, the activity cliffs, steepest first.
    min_difference : float, default=1.0
        Minimum difference in y, above 0. For decadic logarithms of activities, 1 is a factor of
        ten.
    kernel : kernel with explicit features, optional
        Kernel used to compare graphs; not allowed for an index, which has its own. The default is
        ``TreePlusPlus(4, 1, counts="binary")``, with edge labels if there are any.
    similarity : {"minmax", "cosine"}, optional
        By default the similarity of the kernel or of the index, or "minmax" if neither is passed.
    max_per_graph : int, optional
        Maximum number of pairs per graph. Pairs are taken in order of decreasing similarity (or
        steepness) as long as both graphs are below the maximum. By default all pairs are returned.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    pairs : Pairs, or Cliffs with y
        Pairs are sorted by ``first`` and ``second``, cliffs by steepness.

    Warns
    -----
    GraphgrainWarning
        If equal graphs have different y (repeated measurements), or if y is missing for some
        graphs.

    See Also
    --------
    GraphIndex.pairs : Yield the pairs of an index in blocks.
    near_duplicates : Find pairs of two collections.
    sphere_exclusion : Cluster similar graphs.
    compare : Compare the patterns of two graphs.

    References
    ----------
    Maggiora: On Outliers and Activity Cliffs: Why QSAR Often Disappoints. Journal of Chemical
    Information and Modeling 46, 2006.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _, names = gg.load_drugs(names=True)
    >>> similar = gg.pairs(graphs, min_similarity=0.95)
    >>> [(str(names[a]), str(names[b])) for a, b in zip(similar.first, similar.second)]
    [('cyclobarbital', 'heptabarb')]
    >>> chains = [([(i, i + 1) for i in range(7)], list("CCCCCCC" + end)) for end in "ONC"]
    >>> cliffs = gg.pairs(chains, 0.3, y=[1.0, 4.0, 1.2], min_difference=2)
    >>> cliffs.first.tolist(), cliffs.second.tolist(), cliffs.steepness.round(1).tolist()
    ([1, 0], [2, 1], [5.6, 4.5])
    """
    check_value("max_per_graph", max_per_graph, Whole(1, optional=True))
    if isinstance(graphs, GraphIndex):
        graphs = frozen(graphs)  # numbers refer to its present state
    elif not isinstance(graphs, Features):
        graphs = as_graphs(graphs)
    values = None if y is None else numbers_of(graphs, y)
    stream = iter_pairs(graphs, min_similarity, kernel=kernel, similarity=similarity, n_jobs=n_jobs)
    similar = joined_pairs(stream)
    if values is None:
        return similar if max_per_graph is None else capped_pairs(similar, max_per_graph)
    cliffs = cliffs_among(similar, graphs, values, min_difference)
    if max_per_graph is None:
        return cliffs
    rows = _capped(cliffs, range(len(cliffs)), max_per_graph)
    first, second, similarities, differences, steepness = (column[rows] for column in cliffs[:5])
    return Cliffs(first, second, similarities, differences, steepness, *cliffs[5:])


def iter_pairs(
    graphs: Any,
    min_similarity: float = 0.8,
    *,
    kernel: FeatureKernel | None = None,
    similarity: str | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> Iterator[Pairs]:
    """Yield the pairs of :func:`pairs` in blocks, so that memory use does not grow with them.

    ``progress`` is called with the number of graphs processed in each step; every graph is
    processed twice, once to count its features and once to compare it.
    """
    if isinstance(graphs, GraphIndex) or (isinstance(graphs, Features) and kernel is not None):
        index = as_index(graphs, kernel, similarity)
        kernel, name, snapshot = index.kernel, index.similarity, index._snapshot
        n_jobs = index.n_jobs if n_jobs is None else n_jobs
        chunks = (
            snapshot.select(snapshot.live[begin : begin + CHUNK])
            for begin in range(0, len(snapshot), CHUNK)
        )
    else:
        source = graphs if isinstance(graphs, Features) else as_graphs(graphs)
        chosen = None if kernel is None else check_kernel(kernel)
        name = similarity_by(chosen, similarity)
        if isinstance(source, GraphBatch):
            kernel = default_kernel(source) if chosen is None else chosen
            kernel.warn_of_unused(source)
        chunks = (source[begin : begin + CHUNK] for begin in range(0, len(source), CHUNK))
    if name not in ("minmax", "cosine"):
        raise InvalidParameterError(
            f"Pairs are compared by 'minmax' or 'cosine', which are the same in both directions "
            f"and at most 1; got similarity={name!r}."
        )
    check_value("min_similarity", min_similarity, SHARE)
    check_value("n_jobs", n_jobs, JOBS)
    weighted = kernel is None or values_differ(kernel)
    features = (keyed_features(kernel, chunk) for chunk in chunks)
    return _joined_blocks(features, weighted, KINDS[name], float(min_similarity), n_jobs, progress)


def joined_pairs(blocks: Iterable[Pairs]) -> Pairs:
    """Join blocks of pairs and sort them by graphs."""
    nothing = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    whole = Pairs(*map(np.concatenate, zip(nothing, *blocks, strict=True)))
    order = np.lexsort((whole.second, whole.first))
    return Pairs(*(values[order] for values in whole))


def capped_pairs(similar: Pairs, most: int) -> Pairs:
    """Return the most similar pairs, with at most a certain number per graph."""
    order = np.lexsort((similar.second, similar.first, -similar.similarities)).tolist()
    rows = np.sort(_capped(similar, order, most))
    return Pairs(*(values[rows] for values in similar))


def _capped(similar: Pairs | Cliffs, order: Iterable[int], most: int) -> np.ndarray:
    """Return rows of pairs in some order, as long as both graphs have not too many."""
    used: Counter[int] = Counter()
    rows = []
    for row in order:
        ends = int(similar.first[row]), int(similar.second[row])
        if max(used[end] for end in ends) < most:
            used.update(ends)
            rows.append(row)
    return np.array(rows, dtype=np.int64)


# -------------------------------------------------------------------- the join


def _joined_blocks(
    features: Iterator[Counts],
    weighted: bool,
    kind: int,
    least: float,
    n_jobs: int | None,
    progress: Callable[[int], object],
) -> Iterator[Pairs]:
    with tempfile.TemporaryFile() as tokens, tempfile.TemporaryFile() as values:
        lengths, frequencies = _number_features(
            features, tokens, values if weighted else None, progress
        )
        pointers, count = running_sum(lengths), len(lengths)
        arrays = _mapped(tokens, np.int32), _mapped(values, np.float64)
        records = Records(pointers, *arrays, np.empty(count), *np.empty((2, count), dtype=np.int32))
        frequencies = _rank_features(records, frequencies, kind, least, n_jobs)
        join_block = _joiner(records, frequencies, kind, least, n_jobs)
        for begin in range(0, count, BLOCK):
            end = min(begin + BLOCK, count)
            block = join_block(begin, end)
            progress(end - begin)
            yield block


def _number_features(
    features: Iterator[Counts],
    tokens: IO[bytes],
    values: IO[bytes] | None,
    progress: Callable[[int], object],
) -> tuple[np.ndarray, np.ndarray]:
    """Write features as numbers; return those of each graph and the graphs of each feature."""
    slots = np.full(1 << 16, -1, dtype=np.int32)
    slot_keys = np.zeros(len(slots), dtype=np.uint64)
    frequencies = np.zeros(1 << 16, dtype=np.int32)
    distinct = 0
    lengths = [np.empty(0, dtype=np.int64)]
    for part in features:
        while 4 * (distinct + len(part.hashes)) > 3 * len(slots):
            slots, slot_keys = _larger(slots, slot_keys)
        numbers = np.empty(len(part.hashes), dtype=np.int32)
        distinct = call(number_keys, part.hashes, slots, slot_keys, distinct, numbers)
        if distinct > len(frequencies):
            frequencies = np.pad(frequencies, (0, max(distinct, len(frequencies))))
        np.add.at(frequencies, numbers, 1)
        tokens.write(numbers.data)
        if values is not None:
            values.write(part.counts.data)
        lengths.append(part.lengths)
        progress(len(part.lengths))
    return np.concatenate(lengths), frequencies[:distinct]


def _larger(slots: np.ndarray, slot_keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a hash table of twice the size with the same content."""
    filled = np.flatnonzero(slots >= 0)
    keys = slot_keys[filled[np.argsort(slots[filled])]]  # in the order of their numbers
    grown = np.full(2 * len(slots), -1, dtype=np.int32)
    grown_keys = np.zeros(len(grown), dtype=np.uint64)
    call(number_keys, keys, grown, grown_keys, 0, np.empty(len(keys), dtype=np.int32))
    return grown, grown_keys


def _mapped(file: IO[bytes], dtype: Any) -> np.ndarray:
    """Return the content of a file as a writable array that is not read before it is used."""
    file.flush()
    if not file.tell():  # an empty file cannot be mapped
        return np.empty(0, dtype=dtype)
    return np.asarray(np.memmap(file, dtype=dtype, mode="r+"))


def _rank_features(
    records: Records, frequencies: np.ndarray, kind: int, least: float, n_jobs: int | None
) -> np.ndarray:
    """Replace features by their sorted ranks, the rarest first; return the frequency of each.

    Measures and prefix lengths of the graphs are filled in.
    """
    ascending = np.argsort(frequencies, kind="stable")
    ranks = np.empty(len(frequencies), dtype=np.int32)
    ranks[ascending] = np.arange(len(ranks), dtype=np.int32)
    # Min-max: the overlap o of graphs with sums a <= b must satisfy o >= least (a + b - o), so
    # o >= least b and o >= 2 least / (1 + least) a. Cosine: Cauchy-Schwarz.
    shares = (least, 2 * least / (1 + least)) if kind == MINMAX else (least**2, least**2)
    work = partial(rank_tokens, records, ranks, kind, shares)
    count = len(records.measures)
    run(work, list(pairwise([*range(0, count, CHUNK), count])), n_jobs)
    return frequencies[ascending]


def _joiner(
    records: Records, frequencies: np.ndarray, kind: int, least: float, n_jobs: int | None
) -> Callable[[int, int], Pairs]:
    """Return a function that finds the pairs of a range of graphs with those that are not larger.

    Graphs are in ascending order of their measures.
    """
    order = np.argsort(records.measures, kind="stable")
    first = _first_positions(records.measures[order], kind, least, len(records.values) > 0)
    starts = np.zeros(len(frequencies) + 1, dtype=np.int64)
    call(count_postings, records, frequencies, starts)
    np.cumsum(starts, out=starts)
    postings = np.empty(starts[-1], dtype=np.int32)
    call(fill_postings, records, order, frequencies, starts[:-1].copy(), postings)
    count = len(order)

    def work(begin: int, end: int) -> list[tuple[np.ndarray, np.ndarray]]:
        marks, near = np.zeros(count, dtype=np.int64), np.empty(count, dtype=np.int32)
        size = count + _BUFFER
        out, similarities = np.empty((size, 2), dtype=np.int64), np.empty(size)
        parts = []
        position = begin
        while position < end:
            position, number = join(
                records, order, starts, postings, first, kind, least, position, end, marks, near,
                out, similarities,
            )  # fmt: skip
            parts.append((out[:number].copy(), similarities[:number].copy()))
        return parts

    def block(begin: int, end: int) -> Pairs:
        bounds = np.linspace(begin, end, 9).astype(int).tolist()
        parts = chain.from_iterable(run(work, list(pairwise(bounds)), n_jobs))
        graphs, values = map(np.concatenate, zip(*parts, strict=True))
        rows = np.lexsort((graphs[:, 1], graphs[:, 0]))
        return Pairs(graphs[rows, 0], graphs[rows, 1], values[rows])

    return block


def _first_positions(sizes: np.ndarray, kind: int, least: float, weighted: bool) -> np.ndarray:
    """Return for each of the ascending sizes the first that is large enough."""
    if kind != MINMAX and weighted:
        return np.zeros(len(sizes), dtype=np.int64)
    # The cosine of sets is at most the square root of the ratio of their sizes.
    share = least if kind == MINMAX else least * least
    return np.searchsorted(sizes, share * sizes * (1.0 - 1e-9))
