"""Clusters by sphere exclusion, without a matrix of all similarities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import InvalidParameterError
from .graph_index import GraphIndex


class Clusters(NamedTuple):
    """The clusters of the graphs of an index.

    Attributes
    ----------
    labels : int array
        The cluster of each graph, in the order of the index; the largest is 0.
    centers : int array
        For each cluster the graph in its middle.
    sizes : int array
    """

    labels: np.ndarray
    centers: np.ndarray
    sizes: np.ndarray


def sphere_exclusion(index: GraphIndex, threshold: float = 0.6) -> Clusters:
    """Put graphs into clusters around those with the most neighbours (Taylor and Butina).

    The graph with the most neighbours is the centre of the first cluster, which takes them all;
    then the next that is not yet in a cluster, which takes those of its neighbours that are
    not, and so on. Every member has at least the similarity ``threshold`` with its centre, and
    no two centres have.

    Parameters
    ----------
    index : GraphIndex
    threshold : float
        The least similarity of neighbours, above 0.

    References
    ----------
    Butina: Unsupervised Data Base Clustering Based on Daylight's Fingerprint and Tanimoto
    Similarity. Journal of Chemical Information and Computer Sciences 39, 1999.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> graphs, _, names = gg.load_drugs(names=True)
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = gg.GraphIndex.build(f"{folder.name}/drugs.ggi", graphs, ids=names)
    >>> clusters = gg.sphere_exclusion(index, threshold=0.5)
    >>> names[clusters.labels == 0].tolist()[:3]
    ['allobarbital', 'amobarbital', 'aprobarbital']
    """
    if not 0.0 < threshold <= 1.0:
        raise InvalidParameterError(f"threshold must be above 0 and at most 1; got {threshold!r}.")
    neighbors = index.radius_neighbors_graph(radius=1.0 - threshold)
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
