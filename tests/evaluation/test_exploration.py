"""Kernel PCA and the sample against obvious code and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA

import graphgrain as gg
from graphgrain.evaluation.exploration import (
    explore,
    kernel_pca,
    sample,
)


def test_kernel_pca_is_that_of_scikit_learn() -> None:
    X = np.random.default_rng(0).normal(size=(40, 6)) * [3, 2, 1, 0.5, 0.2, 0.1]
    K = X @ X.T
    points, explained = kernel_pca(K)
    expected = KernelPCA(2, kernel="precomputed").fit_transform(K)
    np.testing.assert_allclose(np.abs(points), np.abs(expected), atol=1e-9)
    centred = X - X.mean(axis=0)
    variances = np.linalg.svd(centred, compute_uv=False) ** 2
    np.testing.assert_allclose(explained, variances[:2] / variances.sum(), rtol=1e-9)


@pytest.mark.parametrize("K", [np.ones((1, 1)), np.ones((5, 5)), np.zeros((3, 3))])
def test_kernel_pca_of_graphs_that_are_all_alike(K: np.ndarray) -> None:
    points, explained = kernel_pca(K)
    assert points.shape == (len(K), 2)
    np.testing.assert_allclose(points, 0, atol=1e-7)
    assert np.isfinite(explained).all()


def test_sample_keeps_the_shares_and_every_class() -> None:
    codes = np.repeat([0, 1, 2], [3000, 1000, 1])
    chosen = sample(codes, 400)
    assert len(np.unique(chosen)) == len(chosen)
    assert np.bincount(codes[chosen]).tolist() == [300, 100, 1]
    np.testing.assert_array_equal(chosen, sample(codes, 400))
    np.testing.assert_array_equal(sample(codes, 5000), np.arange(4001))


def test_a_rare_class_stays_in_the_sample_and_few_graphs_are_enough(quick_model: Any) -> None:
    chains = gg.as_graphs(
        [([(v, v + 1) for v in range(n)], ["C"] * n + ["O"]) for n in range(1, 61)]
    )
    y = np.array(["common"] * 58 + ["rare"] * 2)
    found = explore("chains", chains, y, most=12)
    assert [one.truth for one in found.graphs].count("rare") == 2
    numbers = np.arange(60) + 0.5
    assert len(explore("chains", chains[:7], numbers[:7]).graphs) == 7
    alone = explore("chains", chains[:59], y[:59])
    assert not alone.graphs[-1].right  # nothing was learned of its class without it


def test_graphs_without_a_name_are_shown_by_their_smiles_or_number() -> None:
    """Lines of .smi files need no name, which makes their names empty."""
    pytest.importorskip("rdkit")
    names = np.array(["ethanol", "", ""])
    for graphs, shown in (
        (gg.from_smiles(["CCO", "CCN", "CCC"]), ["ethanol", "CCN", "CCC"]),
        (
            gg.as_graphs([([(0, 1), (1, 2)], ["C", "C", end]) for end in "ONC"]),
            ["ethanol", "graph 2", "graph 3"],
        ),
    ):
        assert [seen.name for seen in explore("x", graphs, None, names).graphs] == shown
