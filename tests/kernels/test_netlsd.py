"""NetLSD against matrix exponentials of Laplacians, and closed forms."""

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm

import graphgrain as gg

from .peers import matrices_for_grakel, random_graphs, renumbered


def laplacian(A):
    return nx.normalized_laplacian_matrix(nx.from_numpy_array(A)).toarray()


@pytest.mark.parametrize("scale", ["empty", "complete", "none"])
def test_heat_is_the_trace_of_the_exponential(scale):
    batch = random_graphs(6, seed=1)
    times = np.logspace(-2, 2, 12)
    for row, (A, _) in zip(
        gg.NetLSD(12, scale=scale).signatures(batch), matrices_for_grakel(batch), strict=True
    ):
        n = len(A)
        units = {"empty": n, "complete": 1 + (n - 1) * np.exp(-times), "none": 1}
        traces = np.array([np.trace(expm(-t * laplacian(A))) for t in times])
        np.testing.assert_allclose(row, traces / units[scale], rtol=1e-9)


def test_waves_are_the_real_part_of_the_trace():
    batch = random_graphs(5, seed=2)
    times = np.linspace(0, 2 * np.pi, 9)
    for row, (A, _) in zip(
        gg.NetLSD(9, signature="wave").signatures(batch), matrices_for_grakel(batch), strict=True
    ):
        traces = [np.trace(expm(-1j * t * laplacian(A))).real / len(A) for t in times]
        np.testing.assert_allclose(row, traces, atol=1e-9)


def test_the_kernel_is_a_gaussian_of_the_distances():
    batch = random_graphs(8, seed=3)
    kernel = gg.NetLSD(20).fit(batch)
    S = kernel.signatures(batch)
    apart = np.linalg.norm(S[:, None] - S, axis=2)
    median = np.median(apart[np.triu_indices(8, 1)])
    np.testing.assert_allclose(kernel.gram(), np.exp(-(apart**2) / (2 * median**2)), rtol=1e-9)
    wider = gg.NetLSD(20, gamma=0.3).fit(batch)
    np.testing.assert_allclose(wider.transform(batch[:2]), np.exp(-0.3 * apart[:2] ** 2), rtol=1e-9)


def test_graphs_with_equal_spectra_are_equal():
    star = ([(0, v) for v in range(1, 5)], [0] * 5)
    cycle = ([(0, 1), (1, 2), (2, 3), (3, 0)], [0] * 5)  # and a vertex: other normalised spectrum
    bipartite = ([(u, v) for u in (0, 1) for v in (2, 3, 4)], [0] * 5)
    K = gg.NetLSD(30).fit_transform([star, bipartite, cycle])
    assert K[0, 1] == pytest.approx(1.0)  # complete bipartite graphs: 0, 1 (n - 2 times), 2
    assert K[0, 2] < 0.99


@pytest.mark.parametrize("signature", ["heat", "wave"])
@pytest.mark.parametrize("scale", ["empty", "none"])
def test_graphs_that_differ_only_in_rounding_errors_are_equal(signature, scale):
    """Also if most pairs of graphs are isomorphic, so that the median distance is theirs."""
    trees = gg.as_graphs(
        [(list(nx.random_labeled_tree(40, seed=n).edges), [0] * 40) for n in (0, 1)]
    )
    many = gg.GraphBatch.concatenate([renumbered(trees[0], n) for n in range(8)] + [trees[1]])
    K = gg.NetLSD(signature=signature, scale=scale).fit_transform(many)
    np.testing.assert_allclose(K[:8, :8], 1.0, rtol=1e-9)
    assert (K[8, :8] < 1.0).all()
