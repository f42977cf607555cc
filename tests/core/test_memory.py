"""What does not fit ends at once, with an error that says how much it needs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.core import memory
from graphgrain.errors import GraphgrainError, NotEnoughMemoryError


def test_available_memory_is_that_of_the_system():
    available = memory.available_memory()
    if available is None and not sys.platform.startswith("linux"):
        pytest.skip("needs a system that tells how much memory is free, as Linux does")
    assert available is not None
    assert 1 << 24 < available < 1 << 46


def test_kernel_matrix(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 100 << 20)
    batch = gg.GraphBatch.from_edges(np.ones(4000, dtype=int), [])
    with pytest.raises(NotEnoughMemoryError, match=r"4,000 x 4,000 .* 0\.2 GiB .*'features'"):
        gg.TreePlusPlus().fit_transform(batch)
    kernel = gg.VertexHistogram().fit(batch)
    with pytest.raises(NotEnoughMemoryError, match="4,000 x 4,000"):
        kernel.transform(batch)
    with pytest.raises(NotEnoughMemoryError, match="4 levels"):
        gg.TreePlusPlus().fit(batch).gram_levels()
    assert gg.TreePlusPlus(output="features").fit_transform(batch).shape == (4000, 4)
    assert issubclass(NotEnoughMemoryError, MemoryError)
    assert issubclass(NotEnoughMemoryError, GraphgrainError)


def random_graph(n: int, degree: float) -> gg.GraphBatch:
    edges = np.random.default_rng(0).integers(0, n, (int(n * degree / 2), 2))
    return gg.GraphBatch.from_edges([n], edges[edges[:, 0] != edges[:, 1]])


def test_large_graph_whose_patterns_will_not_fit(monkeypatch):
    """Millions of patterns are not counted to find that they are too many."""
    graph = random_graph(8_000, 8.0)
    monkeypatch.setattr(memory, "available_memory", lambda: 200 << 20)
    with pytest.raises(NotEnoughMemoryError, match=r"8,000 vertices .* smaller path_depth"):
        gg.TreePlusPlus(4, 2).fit(graph)


def test_large_graphs_whose_patterns_fit(monkeypatch):
    """A star and a path have more pairs than memory, but few patterns."""
    monkeypatch.setattr(memory, "available_memory", lambda: 200 << 20)
    n = 6_000
    ends = np.arange(1, n)
    star = gg.GraphBatch.from_edges([n], np.column_stack((np.zeros(n - 1, dtype=int), ends)))
    counts = gg.TreePlusPlus(2, 1, centrality=None).count_features(star)
    # the centre, a leaf, both in either direction, two leaves by way of the centre
    assert sorted(counts[0].counts.tolist()) == [n, 2 * (n - 1), (n - 1) * (n - 2)]
    assert sorted(counts[1].counts.tolist()) == [1, n - 1, 2 * (n - 1), (n - 1) * (n - 2)]
    path = gg.GraphBatch.from_edges([n], np.column_stack((ends - 1, ends)))
    totals = [int(level.counts.sum()) for level in gg.TreePlusPlus(2, 1).count_features(path)]
    assert totals == [n + 2 * (n - 1) + 2 * (n - 2)] * 2


def test_dense_matrices_of_large_graphs():
    graph = gg.GraphBatch.from_edges([400_000], [(0, 1)])
    with pytest.raises(NotEnoughMemoryError, match=r"400,000 vertices .* TreePlusPlus"):
        gg.PyramidMatch().fit(graph)


@pytest.mark.parametrize(
    "kernel",
    [
        gg.RandomWalk(),
        gg.RandomWalk(2, labels=False),
        gg.Marginalized(),
        gg.SubtreePatterns(),
        gg.TreePatterns(),
        gg.AttributedGraphInvariants(),
        gg.WassersteinWL(attributes=True),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_pairs_of_vertices_of_large_graphs(kernel):
    graphs = gg.GraphBatch.from_edges(
        [400_000, 3], [(0, 1), (400_000, 400_001)], vertex_attributes=np.zeros((400_003, 1))
    )
    with pytest.raises(NotEnoughMemoryError, match=r"400,000 and 400,000 .* TreePlusPlus"):
        kernel.fit_transform(graphs)
    small = kernel.fit(graphs[1:])
    if not isinstance(kernel, gg.WassersteinWL):  # compares new graphs with the fitted alone
        with pytest.raises(NotEnoughMemoryError, match=r"400,000 and 400,000"):
            small.transform(graphs)


@pytest.mark.parametrize("connected", [True, False])
def test_listing_the_graphlets_of_a_large_graph(monkeypatch, connected):
    monkeypatch.setattr(memory, "available_memory", lambda: 50 << 20)
    star = gg.GraphBatch.from_edges([200], [(0, leaf) for leaf in range(1, 200)])
    with pytest.raises(NotEnoughMemoryError, match=r"sets of 4 among 200 vertices"):
        list(gg.Graphlet(4, connected=connected).locate_each(star))
