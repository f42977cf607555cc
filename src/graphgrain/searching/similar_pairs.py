"""All pairs of similar graphs, each once, exactly: of an index, or of graphs in memory.

The features of all graphs are counted once and kept as 32-bit numbers; ``core/similarity_join.py``
finds the pairs, block after block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..core.gram import MINMAX
from ..core.similarity_join import (
    Records,
    count_postings,
    fill_postings,
    join,
    number_keys,
    prefix_lengths,
    rank_tokens,
)
from ..core.threads import call, run
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.bases.feature_kernel import FeatureKernel
from ..parameters import Whole
from .building import check_kernel, default_kernel
from .graph_index import GraphIndex
from .manifest import KINDS
from .segment import CHUNK, KeyedFeatures, keyed_features, values_differ

#: Graphs whose pairs are found together.
BLOCK = 8192
#: Pairs that are in memory for each thread, beyond one for each graph.
_ROOM = 1 << 16


class Pairs(NamedTuple):
    """Pairs of similar graphs.

    Attributes
    ----------
    first, second : int arrays
        The graphs of each pair, ``first`` below ``second``, as they are counted from 0.
    similarities : array

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


def pairs(
    graphs: Any,
    min_similarity: float = 0.8,
    *,
    kernel: FeatureKernel | None = None,
    similarity: str | None = None,
    max_per_graph: int | None = None,
    n_jobs: int | None = None,
) -> Pairs:
    """All pairs of graphs that are at least this similar, each once, exactly.

    Parameters
    ----------
    graphs : GraphIndex, or anything that :func:`as_graphs` accepts
    min_similarity : float
        The least similarity, above 0 and at most 1.
    kernel : kernel with explicit features, optional
        How graphs are compared; an index has its own. By default that of an index:
        ``TreePlusPlus(4, 1, counts="binary")``, with edge labels where there are any.
    similarity : {"minmax", "cosine"}, optional
        By default that of the index, or "minmax".
    max_per_graph : int, optional
        At most this many pairs of each graph: the most similar ones are taken first, as long as
        neither of their graphs has its number.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    Pairs
        Ordered by ``first`` and ``second``.

    See Also
    --------
    GraphIndex.pairs : The same for an index, as a stream.
    cliffs : Pairs that are similar and behave differently.
    sphere_exclusion : Clusters of similar graphs.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _, names = gg.load_drugs(names=True)
    >>> found = gg.pairs(graphs, min_similarity=0.95)
    >>> [(str(names[a]), str(names[b])) for a, b in zip(found.first, found.second)]
    [('cyclobarbital', 'heptabarb')]
    """
    stream = iter_pairs(graphs, min_similarity, kernel=kernel, similarity=similarity, n_jobs=n_jobs)
    whole = joined_pairs(stream)
    if max_per_graph is not None:
        if not Whole(1).allows(max_per_graph):
            raise InvalidParameterError(
                f"max_per_graph must be {Whole(1)} or None; got {max_per_graph!r}."
            )
        whole = capped_pairs(whole, int(max_per_graph))
    return whole


def iter_pairs(
    graphs: Any,
    min_similarity: float = 0.8,
    *,
    kernel: FeatureKernel | None = None,
    similarity: str | None = None,
    n_jobs: int | None = None,
    after: int = 0,
    progress: Callable[[int], object] = lambda done: None,
) -> Iterator[Pairs]:
    """The pairs of :func:`pairs` block by block, so that memory does not grow with their number.

    ``after`` leaves out the first blocks, which are always the same. ``progress`` is told how many
    graphs each step has done; each is done twice, counted and compared.
    """
    if isinstance(graphs, GraphIndex):
        if kernel is not None:
            raise InvalidParameterError(
                f"An index has its own kernel, {graphs.kernel!r}; got {kernel!r}. Leave it out, or "
                "give the graphs: index.graphs()."
            )
        kernel, n_jobs = graphs.kernel, graphs.n_jobs if n_jobs is None else n_jobs
        name = graphs.similarity if similarity is None else similarity
        features = _features_of_index(graphs)
        count = len(graphs)
    else:
        batch = as_graphs(graphs)
        kernel = default_kernel(batch) if kernel is None else check_kernel(kernel)
        name = "minmax" if similarity is None else similarity
        features = _features_of_batch(kernel, batch)
        count = len(batch)
    kind = _checked(name, min_similarity)
    return _joined_blocks(
        features, count, values_differ(kernel), kind, float(min_similarity), n_jobs, after, progress
    )


def _checked(similarity: Any, min_similarity: Any) -> int:
    if similarity not in ("minmax", "cosine"):
        raise InvalidParameterError(
            f"Pairs are compared by 'minmax' or 'cosine', which are the same in both directions "
            f"and at most 1; got similarity={similarity!r}."
        )
    number = isinstance(min_similarity, int | float | np.number)
    if not number or isinstance(min_similarity, bool) or not 0.0 < min_similarity <= 1.0:
        raise InvalidParameterError(
            f"min_similarity must be above 0 and at most 1; got {min_similarity!r}."
        )
    return KINDS[similarity]


def _features_of_index(index: GraphIndex) -> Iterator[KeyedFeatures]:
    live = index._snapshot.live
    for begin in range(0, len(live), CHUNK):
        yield keyed_features(index.kernel, index._snapshot.graphs(live[begin : begin + CHUNK]))


def _features_of_batch(kernel: FeatureKernel, batch: GraphBatch) -> Iterator[KeyedFeatures]:
    for begin in range(0, len(batch), CHUNK):
        yield keyed_features(kernel, batch[begin : begin + CHUNK])


def joined_pairs(blocks: Iterable[Pairs]) -> Pairs:
    """All pairs of a stream, ordered by their graphs."""
    parts = list(blocks)
    first = np.concatenate([np.empty(0, dtype=np.int64), *(part.first for part in parts)])
    second = np.concatenate([np.empty(0, dtype=np.int64), *(part.second for part in parts)])
    values = np.concatenate([np.empty(0), *(part.similarities for part in parts)])
    order = np.lexsort((second, first))
    return Pairs(first[order], second[order], values[order])


def capped_pairs(found: Pairs, most: int) -> Pairs:
    """The most similar pairs, at most so many of each graph."""
    used: dict[int, int] = {}
    kept = []
    for at in np.lexsort((found.second, found.first, -found.similarities)).tolist():
        a, b = int(found.first[at]), int(found.second[at])
        if used.get(a, 0) < most and used.get(b, 0) < most:
            used[a], used[b] = used.get(a, 0) + 1, used.get(b, 0) + 1
            kept.append(at)
    rows = np.sort(np.array(kept, dtype=np.int64))
    return Pairs(*(values[rows] for values in found))


# -------------------------------------------------------------------- the join


def _joined_blocks(
    features: Iterator[KeyedFeatures],
    count: int,
    weighted: bool,
    kind: int,
    least: float,
    n_jobs: int | None,
    after: int,
    progress: Callable[[int], object],
) -> Iterator[Pairs]:
    pointers, tokens, values, frequencies = _numbered(features, weighted, progress)
    measures = np.empty(count)
    ranks = np.empty(len(frequencies), dtype=np.int32)
    ascending = np.argsort(frequencies, kind="stable")
    ranks[ascending] = np.arange(len(ranks), dtype=np.int32)
    frequencies = frequencies[ascending]
    steps = np.linspace(0, count, 65).astype(int).tolist()
    run(
        lambda begin, end: rank_tokens(pointers, tokens, values, ranks, kind, measures, begin, end),
        list(pairwise(steps)),
        n_jobs,
    )
    prefixes, listed = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    # Min-max: an overlap o of sums a <= b has o >= least (a + b - o), so o >= least b, and
    # o >= 2 least / (1 + least) a. Cosine: by Cauchy and Schwarz.
    shares = (least, 2 * least / (1 + least)) if kind == MINMAX else (least**2, least**2)
    for share, lengths in zip(shares, (prefixes, listed), strict=True):
        call(prefix_lengths, pointers, values, measures, kind, share, lengths)
    order = np.argsort(measures, kind="stable")
    records = Records(pointers, tokens, values, measures, order, prefixes, listed)
    starts = np.zeros(len(frequencies) + 1, dtype=np.int64)
    call(count_postings, records, frequencies, starts)
    np.cumsum(starts, out=starts)
    postings = np.empty(starts[-1], dtype=np.int32)
    call(fill_postings, records, frequencies, starts[:-1].copy(), postings)
    first = _first_places(measures[order], kind, least, weighted)

    def work(begin: int, end: int) -> list[tuple[np.ndarray, np.ndarray]]:
        seen, near = np.full(count, -1, dtype=np.int64), np.empty(count, dtype=np.int32)
        out, similarities = np.empty((count + _ROOM, 2), dtype=np.int64), np.empty(count + _ROOM)
        found = []
        place = begin
        while place < end:
            place, number = join(
                records, starts, postings, first, kind, least, place, end, seen, near, out,
                similarities,
            )  # fmt: skip
            found.append((out[:number].copy(), similarities[:number].copy()))
        return found

    for begin in range(after * BLOCK, count, BLOCK):
        end = min(begin + BLOCK, count)
        bounds = np.linspace(begin, end, 9).astype(int).tolist()
        parts = [part for parts in run(work, list(pairwise(bounds)), n_jobs) for part in parts]
        graphs = np.concatenate([part for part, _ in parts])
        values_found = np.concatenate([part for _, part in parts])
        rows = np.lexsort((graphs[:, 1], graphs[:, 0]))
        progress(end - begin)
        yield Pairs(graphs[rows, 0], graphs[rows, 1], values_found[rows])


def _numbered(
    features: Iterator[KeyedFeatures], weighted: bool, progress: Callable[[int], object]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features by numbers: pointers, numbers, values, and in how many graphs each feature is."""
    slots = np.full(1 << 16, -1, dtype=np.int32)
    slot_keys = np.zeros(len(slots), dtype=np.uint64)
    frequencies = np.zeros(1 << 16, dtype=np.int32)
    known = 0
    lengths, tokens, values = [], [], []
    for part in features:
        while 4 * (known + len(part.keys)) > 3 * len(slots):
            slots, slot_keys = _larger(slots, slot_keys)
        out = np.empty(len(part.keys), dtype=np.int32)
        known = call(number_keys, part.keys, slots, slot_keys, known, out)
        if known > len(frequencies):
            grown = np.zeros(max(known, 2 * len(frequencies)), dtype=np.int32)
            grown[: len(frequencies)] = frequencies
            frequencies = grown
        np.add.at(frequencies, out, 1)
        tokens.append(out)
        lengths.append(np.diff(part.pointers))
        values.append(part.values if weighted else part.values[:0])
        progress(len(lengths[-1]))
    pointers = np.concatenate(([0], np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths]))))
    return (
        pointers.astype(np.int64),
        _emptied(tokens, np.int32),
        _emptied(values, np.float64),
        frequencies[:known],
    )


def _larger(slots: np.ndarray, slot_keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A hash table of twice the size with the same content."""
    filled = np.flatnonzero(slots >= 0)
    keys = slot_keys[filled[np.argsort(slots[filled])]]  # in the order of their numbers
    grown = np.full(2 * len(slots), -1, dtype=np.int32)
    grown_keys = np.zeros(len(grown), dtype=np.uint64)
    call(number_keys, keys, grown, grown_keys, 0, np.empty(len(keys), dtype=np.int32))
    return grown, grown_keys


def _emptied(parts: list[np.ndarray], dtype: Any) -> np.ndarray:
    """One array from parts, which are given up one by one: memory for all of it once, not twice."""
    whole = np.empty(sum(map(len, parts)), dtype=dtype)
    end = len(whole)
    while parts:
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)
    return whole


def _first_places(sizes: np.ndarray, kind: int, least: float, weighted: bool) -> np.ndarray:
    """For every place the first whose graph is not too small to be similar."""
    if kind == MINMAX:
        return np.searchsorted(sizes, least * sizes * (1.0 - 1e-9))
    if not weighted:  # the cosine of sets is at most the root of the quotient of their sizes
        return np.searchsorted(sizes, least * least * sizes * (1.0 - 1e-9))
    return np.zeros(len(sizes), dtype=np.int64)
