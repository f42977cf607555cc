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


@pytest.mark.parametrize("name", ["path", "star", "random"])
def test_memory_is_that_of_the_patterns_to_be_found(name):
    """16 bytes are handed back for each pattern, and 120 in tables, which count by the level with
    the most: between these bounds lies what the true number of patterns would give."""
    batch = graph(name, 1500)
    kernel = gg.TreePlusPlus(3, 2, centrality="degree", output="features")
    found = np.array([len(level.hashes) for level in kernel.count_features(batch)])
    expected = found.max() * 3 * 120 + found.sum() * 16
    cost = kernel.estimate(batch)
    assert expected / 4 <= cost.bytes <= 4 * expected
    assert cost.seconds > 0


def test_more_roots_cost_more_and_patterns_that_repeat_do_not():
    kernel = gg.TreePlusPlus(3, 1, centrality="degree", output="features")
    small, large = (kernel.estimate(graph("random", size)) for size in (1500, 6000))
    assert large.bytes > 2 * small.bytes
    paths = [kernel.estimate(graph("path", size)).bytes for size in (1500, 6000)]
    assert paths[1] < 2 * paths[0]


def test_small_graphs_and_the_matrix():
    graphs = random_graphs(300, seed=0, largest=20)
    features = gg.TreePlusPlus(output="features")
    cost = features.estimate(graphs)
    found = sum(len(level.hashes) for level in features.count_features(graphs))
    assert cost.bytes == pytest.approx(40 * found, rel=0.2)
    assert gg.TreePlusPlus().estimate(graphs).bytes == cost.bytes + 16 * 300**2
    assert not hasattr(features, "n_graphs_")
    assert gg.TreePlusPlus(output="features").estimate([]) == (0.0, 0.0)


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidParameterError, match="path_depth"):
        gg.TreePlusPlus(path_depth=-1).estimate(random_graphs(2, seed=0, largest=4))
