"""All pairs of similar graphs are those that all comparisons find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.kernels import Counts
from graphgrain.searching import similar_pairs as module

from .oracle import similarity_matrix


def brute(kernel, graphs, name, least):
    """Every pair, one at a time."""
    matrix = similarity_matrix(kernel, graphs, graphs, name)
    return {
        (a, b): matrix[a, b]
        for a in range(len(graphs))
        for b in range(a + 1, len(graphs))
        if matrix[a, b] >= least
    }


def told(found):
    return dict(
        zip(
            zip(found.first.tolist(), found.second.tolist(), strict=True),
            found.similarities.tolist(),
            strict=True,
        )
    )


@pytest.mark.parametrize("counts", ["binary", "intersection", "raw", "sqrt"])
@pytest.mark.parametrize("similarity", ["minmax", "cosine"])
@pytest.mark.parametrize("least", [0.3, 0.711, 1.0])
def test_the_pairs_are_those_of_all_comparisons(drugs, counts, similarity, least):
    graphs = drugs[0][:45]
    graphs = gg.GraphBatch.concatenate([graphs, graphs[5:15]])  # duplicates
    kernel = gg.TreePlusPlus(3, 1, edge_labels=True, counts=counts)
    found = told(gg.pairs(graphs, least, kernel=kernel, similarity=similarity, n_jobs=2))
    # A cosine of 1 may be rounded to a little less.
    expected = brute(kernel, graphs, similarity, least * (1 - 1e-12))
    missing = {pair: value for pair, value in expected.items() if pair not in found}
    assert set(found) <= set(expected)
    assert all(abs(value - least) < 1e-9 for value in missing.values())
    if counts != "sqrt" and similarity == "minmax":
        assert not missing  # sums of integers are exact
        assert found == expected
    assert len(found) >= 10
    np.testing.assert_allclose(
        [found[pair] for pair in found], [expected[pair] for pair in found], rtol=1e-12
    )


FEATURES = st.lists(st.integers(0, 12), max_size=8)


@given(st.lists(FEATURES, min_size=1, max_size=25), st.floats(0.05, 1.0), st.booleans())
@settings(max_examples=60)
def test_any_small_graphs(rows, least, binary):
    """Edgeless graphs: their features are their labels, as many as there are vertices."""
    labels = [label for row in rows for label in row]
    graphs = gg.GraphBatch.from_edges([len(row) for row in rows], [], labels)
    kernel = gg.VertexHistogram(counts="binary" if binary else "raw")
    found = told(gg.pairs(graphs, least, kernel=kernel, similarity="minmax"))
    assert found == brute(kernel, graphs, "minmax", least)


@pytest.mark.parametrize("similarity", ["minmax", "cosine"])
def test_a_kernel_is_used_with_its_own_similarity(drugs, tmp_path, similarity):
    graphs = drugs[0][:60]
    kernel = gg.TreePlusPlus(2, 1, edge_labels=True, similarity=similarity)
    expected = brute(kernel, graphs, similarity, 0.7)
    found = told(gg.pairs(graphs, 0.7, kernel=kernel))
    index = gg.GraphIndex.build(tmp_path / "own.ggi", graphs, kernel)
    assert set(found) == set(told(gg.pairs(index, 0.7))) == set(expected)
    matrix = similarity_matrix(kernel, graphs, graphs, similarity)
    values = index.search(graphs, k=3)[1]
    np.testing.assert_allclose(values, -np.sort(-matrix)[:, :3], rtol=1e-12)
    distances = index.kneighbors(graphs, 3)[0]
    np.testing.assert_allclose(distances, 1 + np.sort(-matrix)[:, :3], atol=1e-12)
    centres = gg.sphere_exclusion(index, 0.6).centers
    assert (matrix[np.ix_(centres, centres)] - np.eye(len(centres))).max() < 0.6
    nearest = gg.near_duplicates(index, graphs[:5], 0.2).similarities
    np.testing.assert_allclose(nearest, 1.0)


def test_blocks_and_full_buffers_change_nothing(drugs, monkeypatch):
    graphs = drugs[0]
    expected = gg.pairs(graphs, 0.5)
    monkeypatch.setattr(module, "BLOCK", 50)
    monkeypatch.setattr(module, "_BUFFER", 0)
    monkeypatch.setattr(module, "CHUNK", 37)
    done = []
    blocks = list(gg.searching.iter_pairs(graphs, 0.5, n_jobs=2, progress=done.append))
    assert len(blocks) == 6
    assert sum(done) == 2 * len(graphs)
    assert told(module.joined_pairs(blocks)) == told(expected)
    assert all((block.first < block.second).all() for block in blocks)


def test_pairs_of_an_index(tmp_path, drugs):
    graphs, names = drugs[0][:120], drugs[2][:120]
    index = gg.GraphIndex.build(tmp_path / "d.ggi", graphs, ids=names)
    index.remove(names[[3, 50]])
    left = np.delete(np.arange(len(graphs)), [3, 50])
    expected = brute(index.kernel, graphs[left], "minmax", 0.6)
    assert told(gg.pairs(index, 0.6)) == expected
    streamed = module.joined_pairs(index.pairs(0.6))
    assert told(streamed) == expected
    first = next(iter(expected))
    ids, _ = index.search(graphs[left][first[0]], k=None, min_similarity=0.6)
    assert index.ids[first[1]] in ids[0]
    with pytest.raises(InvalidParameterError, match="An index has its own kernel"):
        gg.pairs(index, 0.6, kernel=gg.WeisfeilerLehman())


def test_a_cap_for_each_graph(drugs):
    graphs = drugs[0][:150]
    every = told(gg.pairs(graphs, 0.4))
    for most in (1, 3):
        found = told(gg.pairs(graphs, 0.4, max_per_graph=most))
        counts = np.bincount(np.array(list(found)).ravel(), minlength=len(graphs))
        assert counts.max() <= most
        assert found.items() <= every.items()
        # What is left out has a graph with its number of pairs that are no less similar.
        for (a, b), value in every.items():
            if (a, b) not in found:
                rivals = [
                    [v for pair, v in found.items() if graph in pair and v >= value]
                    for graph in (a, b)
                ]
                assert max(map(len, rivals)) >= most


def test_a_pattern_of_two_levels_is_two_patterns():
    """A hash may occur on several levels; with its level it is another pattern."""
    hashes, once = np.array([5], dtype=np.uint64), np.ones(1)
    levels = [Counts(np.array([1, 0]), hashes, once), Counts(np.array([0, 1]), hashes, once)]
    features = gg.Features(levels)
    assert len(gg.pairs(features, 0.1)) == 0
    assert gg.GraphIndex.build(None, features).kneighbors(features, 2)[0].tolist() == [
        [0, 1],
        [0, 1],
    ]


def test_nothing_to_find():
    assert len(gg.pairs(gg.GraphBatch.from_edges([], []), 0.5, kernel=gg.TreePlusPlus())) == 0
    different = gg.GraphBatch.from_edges([0, 1], [], ["C"])
    assert len(gg.pairs(different, 0.1)) == 0
