"""Clusters, diverse subsets and near-duplicates, without a full similarity matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.counting import joined
from ..core.sketches import least_similarities
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts
from ..parameters import SHARE, Whole, check_value
from .graph_index import as_index
from .ranking import Ranker, sorted_features
from .segment import as_array

#: Number of graphs compared exactly at a time.
_TOGETHER = 64


class Clusters(NamedTuple):
    """Clusters of graphs.

    Attributes
    ----------
    labels : int array
        Cluster of each graph; cluster 0 is the largest.
    centers : int array
        Index of the central graph of each cluster.
    sizes : int array
        Number of graphs of each cluster.

    Examples
    --------
    >>> import graphgrain as gg
    >>> chains = [([(0, 1), (1, 2)], list(text)) for text in ("CCO", "CCO", "NNN")]
    >>> gg.sphere_exclusion(chains).sizes.tolist()
    [2, 1]
    """

    labels: np.ndarray
    centers: np.ndarray
    sizes: np.ndarray


def sphere_exclusion(
    graphs: Any,
    min_similarity: float = 0.6,
    *,
    kernel: FeatureKernel | None = None,
    similarity: str | None = None,
    n_jobs: int | None = None,
) -> Clusters:
    """Cluster graphs around those with the most neighbours (Taylor-Butina clustering).

    The graph with the most neighbours and all its neighbours form the first cluster. The next
    graph that is not in a cluster forms a cluster with those of its neighbours that are not in a
    cluster either, and so on. The similarity of every member to its centre is at least
    ``min_similarity``, and the similarity of any two centres is below it. (With the
    similarity "containment", members contain their centre, and centres may contain each other.)

    Parameters
    ----------
    graphs : GraphIndex, Features, or anything that :func:`as_graphs` accepts
    min_similarity : float, default=0.6
        Minimum similarity of neighbours, above 0 and at most 1.
    kernel : kernel with explicit features, optional
        As in :meth:`GraphIndex.build`; not allowed for an index or features.
    similarity : {"minmax", "cosine", "containment"}, optional
        By default the similarity of the index or of the kernel, or "minmax" if neither is passed.
    n_jobs : int, optional
        Number of threads; an index has its own.

    Returns
    -------
    clusters : Clusters

    References
    ----------
    Butina: Unsupervised Data Base Clustering Based on Daylight's Fingerprint and Tanimoto
    Similarity. Journal of Chemical Information and Computer Sciences 39, 1999.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _, names = gg.load_drugs(names=True)
    >>> clusters = gg.sphere_exclusion(graphs, min_similarity=0.5)
    >>> names[clusters.labels == 0].tolist()[:3]
    ['allobarbital', 'amobarbital', 'aprobarbital']
    """
    check_value("min_similarity", min_similarity, SHARE)
    index = as_index(graphs, kernel, similarity, n_jobs)
    neighbors = index.radius_neighbors_graph(radius=1.0 - min_similarity)
    counts = np.diff(neighbors.indptr)
    labels = np.full(len(counts), -1, dtype=np.int64)
    centers: list[int] = []
    for center in np.argsort(-counts, kind="stable").tolist():
        if labels[center] >= 0:
            continue
        near = neighbors.indices[neighbors.indptr[center] : neighbors.indptr[center + 1]]
        labels[near[labels[near] < 0]] = len(centers)
        labels[center] = len(centers)
        centers.append(center)
    sizes = np.bincount(labels, minlength=len(centers))
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Clusters(rank[labels], np.array(centers, dtype=np.int64)[order], sizes[order])


def pick_diverse(
    graphs: Any,
    count: int,
    first: int = 0,
    *,
    kernel: FeatureKernel | None = None,
    similarity: str | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Pick diverse graphs: each is as different as possible from those picked before (MaxMin).

    1. A lower bound of the similarity to the nearest pick is kept for every graph. A new pick
       raises it according to the sketches: by the common features that both have.
    2. The graphs with the smallest bounds are compared exactly with the picks.
    3. Once the smallest bound is exact, no other graph can be further away, and it is picked.

    Parameters
    ----------
    graphs, kernel, similarity, n_jobs
        As in :func:`sphere_exclusion`.
    count : int
        Number of graphs to pick.
    first : int, default=0
        Position of the first pick.

    Returns
    -------
    numbers : int array
        Positions of the picks, in the order of picking; ``index.ids[numbers]`` are the ids of an
        index.

    Notes
    -----
    The result is exact. The search is fast for kernels with ``counts="binary"`` or
    ``"intersection"``; with other count maps, sketches give no lower bounds, and every graph is
    compared with every pick.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _, names = gg.load_drugs(names=True)
    >>> names[gg.pick_diverse(graphs, 4)].tolist()
    ['alimemazine', 'fluocinonide', 'ceftriaxone', 'pazufloxacin']
    """
    index = as_index(graphs, kernel, similarity, n_jobs)
    check_value("count", count, Whole(1, len(index)))
    check_value("first", first, Whole(0, len(index) - 1))
    live = index._snapshot.live
    ranker = index._ranker()
    nearest = np.zeros(len(live))  # lower bounds of the similarity to the nearest pick
    exact = np.zeros(len(live), dtype=np.int64)  # number of picks compared exactly
    picks: list[int] = []
    features: list[Counts] = []
    farthest = first
    while True:
        picks.append(farthest)
        nearest[farthest] = np.inf
        features.append(sorted_features(ranker.features(live[[farthest]])))
        _raise(ranker, features[-1], nearest)
        if len(picks) == count:
            return np.array(picks)
        while exact[farthest := int(np.argmin(nearest))] < len(picks):
            few = np.argpartition(nearest, min(_TOGETHER, len(nearest) - 1))[:_TOGETHER]
            stale = np.union1d(few[exact[few] < len(picks)], [farthest])
            stale = stale[np.isfinite(nearest[stale])]
            begin = int(exact[stale].min())
            [missing] = joined([[pick] for pick in features[begin:]])
            pairs = len(picks) - begin
            values = ranker.similarities(
                missing, np.tile(np.arange(pairs), len(stale)), np.repeat(live[stale], pairs)
            )
            nearest[stale] = np.maximum(nearest[stale], values.reshape(len(stale), pairs).max(1))
            exact[stale] = len(picks)


def _raise(ranker: Ranker, pick: Counts, nearest: np.ndarray) -> None:
    """Raise the bounds of all graphs according to the common features shared with a pick."""
    query = ranker.queries(pick)[0]
    begin = 0
    for segment in ranker.segments:
        end = begin + len(segment.live)
        if segment.lists.bits.shape[1]:
            measures, _ = segment.measures(ranker.kind)
            least = least_similarities(query, segment.lists, measures)[segment.live]
            np.maximum(nearest[begin:end], least, out=nearest[begin:end])
        begin = end


class NearDuplicates(NamedTuple):
    """Queries with a near-duplicate in a collection.

    Attributes
    ----------
    queries : int array
        Indices of the queries that have a near-duplicate.
    ids : array
        Id of the most similar graph for each of them: its position, unless an index has others.
    similarities : array
        Similarity of each query to that graph.

    Examples
    --------
    >>> import graphgrain as gg
    >>> chains = [([(0, 1), (1, 2)], list(text)) for text in ("CCO", "NNN")]
    >>> gg.near_duplicates(chains, chains[1:]).ids.tolist()
    [1]
    """

    queries: np.ndarray
    ids: np.ndarray
    similarities: np.ndarray


def near_duplicates(
    graphs: Any,
    queries: Any,
    min_similarity: float = 0.9,
    similarity: str | None = None,
    *,
    kernel: FeatureKernel | None = None,
    n_jobs: int | None = None,
) -> NearDuplicates:
    """Find queries that have a near-duplicate in a collection, most similar first.

    Parameters
    ----------
    graphs, kernel, n_jobs
        As in :func:`sphere_exclusion`; for example the training set.
    queries : graphs, or Features for features
        The queries, for example the test set.
    min_similarity : float, default=0.9
        Minimum similarity of near-duplicates, above 0 and at most 1.
    similarity : str, optional
        As in :meth:`GraphIndex.search`; by default as in :func:`sphere_exclusion`.

    Returns
    -------
    found : NearDuplicates

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _, names = gg.load_drugs(names=True)
    >>> train, test = names[::2], names[1::2]
    >>> pairs = gg.near_duplicates(graphs[::2], graphs[1::2], min_similarity=0.9)
    >>> [(str(test[q]), str(train[i])) for q, i in zip(pairs.queries, pairs.ids)][:2]
    [('norfloxacin', 'pefloxacin'), ('cloxacillin', 'dicloxacillin')]
    """
    check_value("min_similarity", min_similarity, SHARE)
    index = as_index(graphs, kernel, similarity, n_jobs)
    ids, similarities = index.search(queries, k=1, min_similarity=min_similarity)
    rows = np.array([number for number, row in enumerate(ids) if len(row)], dtype=np.int64)
    values = np.array([similarities[number][0] for number in rows])
    order = np.argsort(-values, kind="stable")
    nearest = as_array([ids[number].tolist()[0] for number in rows[order]])
    return NearDuplicates(rows[order], nearest, values[order])
