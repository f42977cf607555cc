"""Descriptor matching against descriptors, cells and matches written out one by one."""

from collections import Counter
from itertools import pairwise
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphgrain as gg
from graphgrain.core.hashing import hash_labels
from tests.strategies import graphs as any_graph
from tests.strategies import to_tuple

from .peers import data_set, random_graphs
from .test_graph_hopper import with_attributes


def descriptors(graph, columns, n_iter):
    """Array (steps, vertices, columns): powers of the transition matrix times the columns."""
    n = graph.n_vertices
    A = np.zeros((n, n))
    u, v = graph.edges.T
    A[u, v] = A[v, u] = 1.0
    T = A / np.maximum(A.sum(axis=1, keepdims=True), 1.0)
    return np.array([np.linalg.matrix_power(T, t) @ columns for t in range(n_iter + 1)])


def matched(first, second):
    """How many points can be matched in equal cells, each once: greedily, one by one."""
    left = list(second)
    count = 0
    for cell in first:
        if cell in left:
            left.remove(cell)
            count += 1
    return count


def pyramid(first, second, width, depth, shift):
    """One grid: matches at each level, new ones weighted by the size of their cells."""

    def cells(points, level):
        side = width / 2**level
        return [
            tuple(floor((x + s) / side) for x, s in zip(point, shift, strict=True))
            for point in points
        ]

    found = [matched(cells(first, level), cells(second, level)) for level in range(depth + 1)]
    total, finer = 0.0, 0
    for level in range(depth, -1, -1):
        total += 0.5 ** (depth - level) * (found[level] - finer)
        finer = found[level]
    return total


def by_definition(kernel, batch, attributes=None):
    if attributes is None:
        columns = np.eye(len(batch.label_table))[batch.label_codes]
        hashes = hash_labels(batch.label_table)
    else:
        columns, hashes = attributes, hash_labels(np.arange(attributes.shape[1]), 2)
    shifts = kernel._shifts(hashes)  # (columns, steps, grids)
    points = []
    for graph, own in zip(batch, np.split(columns, batch.offsets[1:-1]), strict=True):
        steps = descriptors(graph, own, kernel.n_iter)
        points.append(np.concatenate(list(steps), axis=1).tolist())
    K = np.zeros((len(batch), len(batch)))
    for grid in range(kernel.n_draws):
        shift = shifts[:, :, grid].T.ravel().tolist()
        for i, one in enumerate(points):
            for j, other in enumerate(points):
                K[i, j] += pyramid(one, other, kernel.width, kernel.depth, shift)
    return K / kernel.n_draws


@pytest.mark.parametrize(("n_iter", "depth"), [(0, 2), (1, 0), (2, 3), (3, 5)])
def test_labels_by_the_definition(n_iter, depth):
    batch = random_graphs(6, seed=2, largest=8, density=0.3)
    kernel = gg.DescriptorMatching(n_iter, depth, n_draws=3, similarity="dot")
    K = kernel.fit_transform(batch)
    np.testing.assert_allclose(K, by_definition(kernel, batch), rtol=1e-12)
    fresh = gg.DescriptorMatching(n_iter, depth, n_draws=3, similarity="dot").fit(batch[:2])
    np.testing.assert_allclose(fresh.transform(batch[2:]), K[2:, :2], rtol=1e-12)


@settings(max_examples=25)
@given(st.lists(any_graph(max_size=7), min_size=2, max_size=2), st.floats(0.3, 3.0))
def test_odd_graphs_too(pair, width):
    batch = gg.as_graphs([to_tuple(graph) for graph in pair])
    kernel = gg.DescriptorMatching(2, 3, width=width, n_draws=2, similarity="dot")
    K = kernel.fit_transform(batch)
    np.testing.assert_allclose(K, by_definition(kernel, batch), rtol=1e-12)


@pytest.mark.parametrize("width", [0.5, 4.0])
def test_attributes_by_the_definition(width):
    batch = with_attributes(random_graphs(5, seed=4, largest=7, density=0.4))
    kernel = gg.DescriptorMatching(2, 3, attributes=True, width=width, n_draws=3, similarity="dot")
    K = kernel.fit_transform(batch)
    expected = by_definition(kernel, batch, batch.vertex_attributes)
    np.testing.assert_allclose(K, expected, rtol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-9


def test_how_often_two_descriptors_share_a_cell():
    """The product over all axes of 1 - difference / side, within four standard errors."""
    draws = 20_000
    batch = gg.GraphBatch.from_edges([1, 1], [], vertex_attributes=[[5.0, 1.0], [5.3, 0.75]])
    kernel = gg.DescriptorMatching(0, 0, attributes=True, n_draws=draws, similarity="dot")
    expected = (1.0 - 0.3) * (1.0 - 0.25)
    error = np.sqrt(expected * (1.0 - expected) / draws)
    assert abs(kernel.fit_transform(batch)[0, 1] - expected) < 4.0 * error


def test_without_steps_labels_are_matched_and_nothing_else():
    """Different labels differ by the side of the largest cells: they never meet."""
    batch = data_set("MUTAG")[:20]
    K = gg.DescriptorMatching(0, similarity="dot").fit_transform(batch)
    counts = [Counter(graph.labels.tolist()) for graph in batch]
    expected = [[(one & other).total() for other in counts] for one in counts]
    np.testing.assert_allclose(K, expected, rtol=1e-12)


def test_finer_cells_tell_more_apart():
    batch = data_set("MUTAG")[:30]
    levels = gg.DescriptorMatching(2, 6).fit(batch).gram_levels()
    means = [K[np.triu_indices(len(K), 1)].mean() for K in levels]
    assert all(coarse >= fine for coarse, fine in pairwise(means))
    assert means[0] > means[-1]


def test_shifts_are_those_of_the_label_not_of_the_set():
    """Grids do not move when other graphs bring other labels."""
    batch = random_graphs(10, seed=5, labels=4)
    K = gg.DescriptorMatching(2).fit_transform(batch)
    few = np.flatnonzero([0 not in graph.labels for graph in batch])
    assert len(few) > 1
    np.testing.assert_array_equal(
        gg.DescriptorMatching(2).fit_transform(batch[few]), K[np.ix_(few, few)]
    )


def test_seeds():
    batch = random_graphs(6, seed=8)
    one, other = (gg.DescriptorMatching(random_state=s).fit_transform(batch) for s in (1, 2))
    assert not np.array_equal(one, other)
    np.testing.assert_array_equal(one, gg.DescriptorMatching(random_state=1).fit_transform(batch))
    free = gg.DescriptorMatching(random_state=None).fit(batch)
    np.testing.assert_array_equal(free.transform(batch), free.gram())
    with pytest.raises(gg.errors.InvalidParameterError, match="without fit"):
        gg.DescriptorMatching(random_state=None, output="features", n_features=9).transform(batch)


def test_attributes_that_are_far():
    kernel = gg.DescriptorMatching(attributes=True)
    kernel.fit(with_attributes(random_graphs(4, seed=1)))
    far = gg.GraphBatch.from_edges([2], [(0, 1)], [0, 1], vertex_attributes=[[1e300, -1e300]] * 2)
    assert kernel.transform(far).max() == 0.0
    assert kernel.fit(far).gram() == 1.0
