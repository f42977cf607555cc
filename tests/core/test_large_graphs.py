"""Large graphs, their roots divided among threads: the same features as of small ones."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import graphgrain as gg
from graphgrain.core import memory
from graphgrain.errors import NotEnoughMemoryError

from ..kernels.peers import random_graphs

KERNELS = [
    gg.TreePlusPlus(4, 2),
    gg.TreePlusPlus(3, 1, edge_labels=True),
    gg.PathPattern(3),
    gg.ShortestPath(),
    gg.ShortestPath(edge_labels=True),
    gg.WLShortestPath(2),
    gg.WLShortestPath(1, edge_labels=True),
    gg.NeighbourhoodPairs(2, 3),
    gg.NeighbourhoodPairs(1, 2, edge_labels=True),
]


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_roots_divided(monkeypatch, kernel, n_jobs):
    """Beyond STORED_PAIRS the roots of a graph are divided; its features stay the same."""
    made = random_graphs(12, seed=1, largest=30)
    kernel = kernel.set_params(n_jobs=n_jobs)
    whole = kernel.count_features(made)
    monkeypatch.setattr("graphgrain.core.counting.STORED_PAIRS", 200)
    assert (made.vertex_counts > 14).any()
    assert (made.vertex_counts <= 14).any()
    divided = kernel.count_features(made)
    for one, other in zip(whole, divided, strict=True):
        np.testing.assert_array_equal(one.lengths, other.lengths)
        rows = np.repeat(np.arange(len(one.lengths)), one.lengths)
        ends = [np.lexsort((level.hashes, rows)) for level in (one, other)]
        np.testing.assert_array_equal(one.hashes[ends[0]], other.hashes[ends[1]])
        np.testing.assert_array_equal(one.counts[ends[0]], other.counts[ends[1]])


@pytest.mark.parametrize(
    ("kernel", "instead"),
    [
        (gg.ShortestPath(edge_labels=True), "WeisfeilerLehman"),
        (gg.WLShortestPath(3), "WeisfeilerLehman"),
        (gg.NeighbourhoodPairs(2, 6), "smaller radius or distance"),
        (gg.GraphHopper(), "PathPattern"),
    ],
    ids=lambda item: type(item).__name__,
)
def test_features_that_will_not_fit_are_refused(monkeypatch, kernel, instead):
    monkeypatch.setattr(memory, "available_memory", lambda: 64 << 20)
    if isinstance(kernel, gg.GraphHopper):
        graph = nx.path_graph(6000)  # a feature for every place on paths of every length
    else:
        graph = nx.gnm_random_graph(3000, 4500, seed=0)
    rng = np.random.default_rng(0)
    nx.set_edge_attributes(graph, {edge: int(rng.integers(9)) for edge in graph.edges}, "label")
    nx.set_node_attributes(graph, 1, "label")
    with pytest.raises(NotEnoughMemoryError, match=rf"vertices .*{instead}"):
        kernel.fit([graph])
