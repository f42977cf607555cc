"""Estimates of cost: near what is found, without doing the work."""

import networkx as nx
import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidParameterError

from .peers import random_graphs


def graph(name: str, size: int) -> gg.GraphBatch:
    made = {
        "path": lambda: nx.path_graph(size),
        "star": lambda: nx.star_graph(size - 1),
        "random": lambda: nx.gnm_random_graph(size, 2 * size, seed=0),
    }[name]()
    return gg.as_graphs([made])


#: Kernels that count root by root: 16 bytes are handed back for each feature, and 120 are in
#: tables, which count by the level with the most.
ROOTED = [
    gg.TreePlusPlus(3, 2, centrality="degree", output="features"),
    gg.PathPattern(3, centrality="degree", output="features"),
    gg.ShortestPath(output="features"),
    gg.WLShortestPath(2, output="features"),
    gg.NeighbourhoodPairs(1, 2, output="features"),
]
#: All others, with the bytes of a feature.
OTHERS = [
    (gg.WeisfeilerLehman(3, output="features"), 40),
    (gg.WLEdge(3, output="features"), 40),
    (gg.EdgeHistogram(output="features"), 40),
    (gg.Propagation(3, output="features"), 40),
    (gg.GraphHopper(output="features"), 24),
]


@pytest.mark.parametrize("name", ["path", "star", "random"])
@pytest.mark.parametrize("kernel", ROOTED, ids=lambda kernel: type(kernel).__name__)
def test_memory_is_that_of_the_features_to_be_found(kernel, name):
    batch = graph(name, 1500)
    found = np.array([len(level.hashes) for level in kernel.count_features(batch)])
    expected = found.max() * len(found) * 120 + found.sum() * 16
    cost = kernel.estimate(batch)
    assert expected / 3 <= cost.bytes <= 3 * expected
    assert cost.seconds > 0


@pytest.mark.parametrize("name", ["path", "star", "random"])
@pytest.mark.parametrize(("kernel", "size"), OTHERS, ids=lambda item: type(item).__name__)
def test_memory_of_kernels_without_roots(monkeypatch, kernel, size, name):
    monkeypatch.setattr("graphgrain.core.counting.STORED_PAIRS", 100**2)
    batch = graph(name, 200 if isinstance(kernel, gg.GraphHopper) else 8000)
    found = sum(len(level.hashes) for level in kernel.count_features(batch))
    cost = kernel.estimate(batch)
    spare = 2 * 2 * 8 * batch.n_vertices  # of GraphHopper: the ways on from two layers
    assert size * found / 3 <= cost.bytes <= 3 * size * found + spare
    assert cost.seconds > 0


def test_more_roots_cost_more_and_patterns_that_repeat_do_not():
    kernel = gg.TreePlusPlus(3, 2, centrality="degree", output="features")
    small, large = (kernel.estimate(graph("random", size)) for size in (1500, 6000))
    assert large.bytes > 2 * small.bytes
    paths = [kernel.estimate(graph("path", size)).bytes for size in (1500, 6000)]
    assert paths[1] < 2 * paths[0]


@pytest.mark.parametrize("kernel", [gg.ShortestPath(), gg.NeighbourhoodPairs(), gg.GraphHopper()])
def test_work_that_nobody_would_wait_for_is_told(kernel):
    """The work grows at least with the square of a star's size, and is never begun here."""
    small, large = (kernel.estimate(graph("star", size)).seconds for size in (2_000, 20_000))
    assert large > 20 * small


def test_small_graphs_and_the_matrix():
    graphs = random_graphs(300, seed=0, largest=20)
    features = gg.TreePlusPlus(output="features")
    cost = features.estimate(graphs)
    found = sum(len(level.hashes) for level in features.count_features(graphs))
    assert 40 * found < cost.bytes < 160 * found
    assert gg.TreePlusPlus().estimate(graphs).bytes == cost.bytes + 16 * 300**2
    assert not hasattr(features, "n_graphs_")
    assert gg.TreePlusPlus(output="features").estimate([]) == (0.0, 0.0)


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidParameterError, match="path_depth"):
        gg.TreePlusPlus(path_depth=-1).estimate(random_graphs(2, seed=0, largest=4))
