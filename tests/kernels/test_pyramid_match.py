"""Pyramid match against GraKeL in its form, and against the paper's formula in plain Python."""

import grakel
import networkx as nx
import numpy as np
import pytest

import graphgrain as gg

from .peers import data_set, matrices_for_grakel, random_graphs, renumbered


def clear(A, dimension, cells):
    """Whether eigenvalues differ, also in magnitude, and no coordinate lies on a border of cells.

    Where they do not, a solver's rounding errors decide.
    """
    values, U = np.linalg.eigh(A)
    scaled = np.abs(U) * cells
    near = np.abs(scaled - np.round(scaled)) < 1e-6
    return (
        len(values) > dimension
        and np.diff(values).min(initial=1) > 1e-4
        and np.diff(np.sort(np.abs(values))).min(initial=1) > 1e-4
        and not (near & (scaled > 0.5) & (scaled < cells - 0.5)).any()
    )


def clear_graphs(batch, dimension, depth):
    return batch[np.array([clear(A, dimension, 2**depth) for A, _ in matrices_for_grakel(batch)])]


@pytest.mark.parametrize(("dimension", "depth"), [(4, 1), (6, 3), (8, 5)])
def test_equals_grakel_in_its_form_without_repeated_eigenvalues(dimension, depth):
    batch = clear_graphs(random_graphs(200, seed=11, largest=16, density=0.4), dimension, depth)
    assert len(batch) > 30
    peer = grakel.PyramidMatch(d=dimension, L=depth + 1, with_labels=True)
    ours = gg.PyramidMatch(dimension, depth, form="grakel", similarity="dot")
    expected = peer.fit_transform(matrices_for_grakel(batch))
    np.testing.assert_allclose(ours.fit_transform(batch), expected, rtol=1e-12)


def definition(batch, d, L):
    """The paper's formula with histograms as dictionaries."""
    histograms = []
    for A, labels in matrices_for_grakel(batch):
        values, U = np.linalg.eigh(A)
        U = np.abs(U[:, np.argsort(-np.abs(values))][:, :d])
        U = np.pad(U, ((0, 0), (0, d - U.shape[1])))
        levels = []
        for level in range(L + 1):
            counts = {}
            for v, point in enumerate(U):
                for axis, x in enumerate(point):
                    key = axis, min(int(x * 2**level), 2**level - 1), labels[v]
                    counts[key] = counts.get(key, 0) + 1
            levels.append(counts)
        histograms.append(levels)

    def kernel(a, b):
        matches = [
            sum(min(c, y.get(k, 0)) for k, c in x.items()) for x, y in zip(a, b, strict=True)
        ]
        return matches[L] + sum(
            0.5 ** (L - level) * (matches[level] - matches[level + 1]) for level in range(L)
        )

    return np.array([[kernel(a, b) for b in histograms] for a in histograms])


@pytest.mark.parametrize(("dimension", "depth"), [(4, 2), (6, 0), (3, 4)])
def test_equals_the_papers_formula(dimension, depth):
    batch = clear_graphs(random_graphs(120, seed=5, largest=12, density=0.45), 2, depth)[:25]
    assert len(batch) == 25
    ours = gg.PyramidMatch(dimension, depth, similarity="dot").fit_transform(batch)
    np.testing.assert_allclose(ours, definition(batch, dimension, depth), rtol=1e-12)


@pytest.mark.parametrize("form", ["paper", "grakel"])
def test_levels_are_the_kernels_of_smaller_depth(form):
    batch = random_graphs(15)
    levels = gg.PyramidMatch(depth=3, form=form).fit(batch).gram_levels()
    for depth, K in enumerate(levels):
        np.testing.assert_allclose(
            K, gg.PyramidMatch(depth=depth, form=form).fit_transform(batch), rtol=1e-12
        )


@pytest.mark.parametrize("form", ["paper", "grakel"])
def test_features_give_the_kernel(form):
    batch = random_graphs(15)
    kernel = gg.PyramidMatch(form=form, similarity="dot")
    K = kernel.fit_transform(batch)
    X = kernel.set_params(output="features").fit_transform(batch)
    np.testing.assert_allclose((X @ X.T).toarray(), K, rtol=1e-12)
    names = kernel.feature_names()
    assert len(names) == X.shape[1] == len(set(names))
    assert "level 0, axis 1, cell 1: 0 (at least 2 times)" in names


def test_does_not_depend_on_vertex_numbers_even_if_eigenvalues_repeat():
    symmetric = [nx.cycle_graph(8), nx.star_graph(7), nx.petersen_graph(), nx.empty_graph(4)]
    sparse = random_graphs(20)
    sparse = gg.GraphBatch.from_edges(sparse.vertex_counts, sparse.edges)
    batch = gg.as_graphs(symmetric) + sparse
    for form in ("paper", "grakel"):
        kernel = gg.PyramidMatch(form=form).fit(batch)
        K = kernel.transform(renumbered(batch).with_labels(None))
        np.testing.assert_allclose(K, kernel.transform(batch), rtol=1e-12)


def test_real_graphs_are_close_to_grakel():
    batch = data_set("PTC_MM")[:60]
    peer = grakel.PyramidMatch(d=6, L=4, with_labels=True, normalize=True)
    ours = gg.PyramidMatch(6, 3, form="grakel").fit_transform(batch)
    difference = np.abs(ours - peer.fit_transform(matrices_for_grakel(batch)))
    assert np.median(difference) < 0.01  # repeated eigenvalues of molecules make the rest
