"""Search segments: compute bounds from sketches, then exact similarities.

1. Every segment is scanned for each query, and the graphs with the best upper bounds are kept.
2. Their features are counted again from the stored graphs, which gives exact similarities.
3. Once the k-th best similarity is at least the best bound of the remaining graphs, these can be
   discarded. If the kept graphs do not suffice for that, the segments are scanned again for all
   graphs whose bound is at least the k-th best similarity so far.

Ties are in the order of the index.
"""

from __future__ import annotations

from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np

from ..core.similarity import COSINE, DOT
from ..core.sketches import Best, Query, exact_similarities, scan
from ..core.threads import run, thread_count
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts, Features, squared_norms, total_counts
from .index_folder import Snapshot
from .segment import FEATURELESS, KINDS, keyed_features, values_differ

#: Number of graphs whose features are in memory at a time.
_TOGETHER = 2048


class Hits(NamedTuple):
    """The results of one query, best first."""

    positions: np.ndarray  # int64, numbered across all segments
    similarities: np.ndarray


class Ranker:
    """Compare queries with the graphs of an index."""

    def __init__(
        self, kernel: FeatureKernel | None, snapshot: Snapshot, similarity: str, n_jobs: int | None
    ) -> None:
        self.kernel, self.snapshot, self.n_jobs = kernel, snapshot, n_jobs
        self.segments, self.bases = snapshot.segments, snapshot.bases
        self.kind = KINDS[similarity]
        self.weighted = (
            any(len(segment.lists.values) for segment in self.segments)
            if kernel is None
            else values_differ(kernel)
        )
        # For values of 0 and 1, the product is the minimum.
        self.product = self.kind in (COSINE, DOT) and self.weighted

    # ---------------------------------------------------------------- queries

    def queries(self, features: Counts) -> list[Query]:
        """Create queries from the sorted features of graphs."""
        measures = self.measures(features)
        sizes = np.sqrt(measures) if self.kind == COSINE else measures
        return [
            Query(
                features.hashes[begin:end],
                features.counts[begin:end],
                self.kind,
                self.product,
                float(measure),
                float(size),
            )
            for (begin, end), measure, size in zip(
                pairwise(features.starts.tolist()), measures, sizes, strict=True
            )
        ]

    def measures(self, features: Counts) -> np.ndarray:
        """Return the sum of the values of each graph, or of their squares for the cosine."""
        return squared_norms(features) if self.kind == COSINE else total_counts(features)

    def search(self, graphs: GraphBatch | Features, k: int | None, threshold: float) -> list[Hits]:
        """Find the k best graphs (all if None) that reach the threshold, for each query."""
        features = sorted_features(keyed_features(self.kernel, graphs))
        if self.kind == DOT:  # graphs without features are not similar to any
            bare = features.hashes == FEATURELESS
            features = features._replace(counts=np.where(bare, 0.0, features.counts))
        state = [_Progress(query, k, threshold) for query in self.queries(features)]
        self._scan(state, None if k is None else 2 * k + 12)
        self._rank(features, state)
        rest = [progress for progress in state if not progress.settled]
        if rest:
            for progress in rest:
                progress.least = max(progress.least, progress.worst_result()[0])
            self._scan(rest, None)
            self._rank(features, state)
        return [progress.hits() for progress in state]

    # ---------------------------------------------------------------- bounds

    def _scan(self, state: list[_Progress], most: int | None) -> None:
        """Find the graphs with the best bounds, or all, that reach the required similarity."""
        total = int(self.bases[-1])
        size = total if most is None else min(most, total)
        threads = thread_count(self.n_jobs)
        # Distribute the segments of few queries, or many queries, to the threads.
        shares = 1 if len(state) >= threads else min(threads, len(self.segments))
        bounds = np.linspace(0, len(self.segments), shares + 1).astype(int).tolist()
        tasks = [(query, part) for query in range(len(state)) for part in range(shares)]
        largest = max(map(len, self.segments), default=0)

        def work(begin: int, end: int) -> list[tuple[np.ndarray, np.ndarray]]:
            scratch = np.empty(largest, dtype=np.float32)
            parts = []
            for query, part in tasks[begin:end]:
                best = Best(np.empty(size), np.empty(size, dtype=np.int64), np.zeros(1, np.int64))
                for number in range(bounds[part], bounds[part + 1]):
                    segment = self.segments[number]
                    scan(
                        state[query].query, segment.lists, segment.commons,
                        *segment.measures(self.kind), segment.removed, int(self.bases[number]),
                        state[query].least, best, scratch,
                    )  # fmt: skip
                filled = best.filled[0]
                parts.append((best.positions[:filled].copy(), best.bounds[:filled].copy()))
            return parts

        steps = np.linspace(0, len(tasks), min(len(tasks), 4 * threads) + 1).astype(int).tolist()
        parts = chain.from_iterable(run(work, list(pairwise(steps)), self.n_jobs))
        for progress in state:
            progress.add(list(islice(parts, shares)), most)

    # ---------------------------------------------------------------- similarities

    def _rank(self, features: Counts, state: list[_Progress]) -> None:
        """Compute similarities of candidates in the order of their bounds, as far as needed."""
        while True:
            owner, positions = [], []
            for number, progress in enumerate(state):
                wanted = progress.next()
                owner.append(np.full(len(wanted), number))
                positions.append(wanted)
            pairs = np.concatenate(owner), np.concatenate(positions)
            if not len(pairs[0]):
                return
            values = self.similarities(features, *pairs)
            for number, progress in enumerate(state):
                progress.take(values[pairs[0] == number])

    def similarities(
        self, features: Counts, owner: np.ndarray, positions: np.ndarray
    ) -> np.ndarray:
        """Compute the exact similarity of query ``owner[p]`` and the graph at ``positions[p]``."""
        result = np.empty(len(owner))
        measures = self.measures(features)
        distinct, rows = np.unique(positions, return_inverse=True)
        for begin in range(0, len(distinct), _TOGETHER):
            pairs = np.flatnonzero((rows >= begin) & (rows < begin + _TOGETHER))
            graphs = self.features(distinct[begin : begin + _TOGETHER])
            if self.weighted:
                # With sums in the same order, equal graphs have similarity exactly 1.
                graphs = sorted_features(graphs)
            result[pairs] = exact_similarities(
                self.kind, self.product, features.hashes, features.counts, features.starts,
                measures, owner[pairs], graphs.starts, graphs.hashes, graphs.counts,
                self.measures(graphs), rows[pairs] - begin,
            )  # fmt: skip
        return result

    def features(self, positions: np.ndarray) -> Counts:
        """Count the features of graphs of the index."""
        return keyed_features(self.kernel, self.snapshot.select(positions))


def sorted_features(features: Counts) -> Counts:
    """Sort the features of each graph by their keys."""
    order = np.lexsort((features.hashes, features.rows))
    return features._replace(hashes=features.hashes[order], counts=features.counts[order])


_NO_POSITIONS = np.empty(0, dtype=np.int64)


class _Progress:
    """The state of the search for one query."""

    def __init__(self, query: Query, k: int | None, threshold: float) -> None:
        self.query, self.k, self.least = query, k, threshold
        self._threshold = threshold
        self._complete = True  # whether no relevant graph was left out of the candidates
        self.positions = _NO_POSITIONS
        self.bounds: np.ndarray = np.empty(0)
        self.values: np.ndarray = np.empty(0)  # known similarities, of the first candidates

    def add(self, parts: list[tuple[np.ndarray, np.ndarray]], most: int | None) -> None:
        """Add positions and bounds, the best first, after candidates whose similarity is known.

        Of ``most`` or more, worse ones were left out.
        """
        compared = len(self.values)
        positions, bounds = map(
            np.concatenate, zip((_NO_POSITIONS, np.empty(0)), *parts, strict=True)
        )
        new = np.flatnonzero(~np.isin(positions, self.positions[:compared]))
        order = new[np.lexsort((positions[new], -bounds[new]))[:most]]
        self.positions = np.concatenate((self.positions[:compared], positions[order]))
        self.bounds = np.concatenate((self.bounds[:compared], bounds[order]))
        self._complete = most is None or len(positions) < most

    @property
    def settled(self) -> bool:
        """Whether no graph that was left out can belong to the result."""
        if self._complete:
            return True
        # Graphs that were left out have a smaller bound than the last candidate, or come after it.
        last = (self.bounds[-1], -self.positions[-1])
        return self.worst_result() >= last

    def worst_result(self) -> tuple[float, int]:
        """Return the k-th best similarity so far and its place; minus infinity if none."""
        assert self.k is not None
        if len(self.values) < self.k:
            return (-np.inf, 0)
        order = np.lexsort((self.positions[: len(self.values)], -self.values))[self.k - 1]
        return (float(self.values[order]), -int(self.positions[order]))

    def next(self) -> np.ndarray:
        """Return the candidates to compare next."""
        compared = len(self.values)
        if self.k is None:
            return self.positions[compared:]
        rest = compared < len(self.positions)
        if not rest or self.worst_result() >= (
            self.bounds[compared],
            -int(self.positions[compared]),
        ):
            return self.positions[:0]
        return self.positions[compared : compared + max(self.k + 3 - compared, 8)]

    def take(self, values: np.ndarray) -> None:
        """Add the similarities of the candidates returned by ``next``."""
        self.values = np.concatenate((self.values, values))

    def hits(self) -> Hits:
        """Return the results."""
        positions = self.positions[: len(self.values)]
        enough = self.values >= self._threshold
        order = np.lexsort((positions, -self.values))
        order = order[enough[order]][: self.k]
        return Hits(positions[order], self.values[order])
