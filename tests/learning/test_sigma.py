"""Sigma: it knows where errors are large, intervals cover, covariances are the process's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, PairwiseKernel

import graphgrain as gg

WL = gg.WeisfeilerLehman(2, similarity="minmax")


@pytest.fixture(scope="module")
def noisy():
    """Chains whose noise is ten times larger with an end of one kind."""
    rng = np.random.default_rng(0)
    graphs, loud, y = [], [], []
    for _ in range(900):
        size = int(rng.integers(12, 20))
        atoms = [*rng.choice(["C", "N"], size).tolist(), rng.choice(["O", "S"])]
        graphs.append(([(i, i + 1) for i in range(size)], atoms))
        loud.append(atoms[-1] == "S")
        y.append(atoms.count("N") + rng.normal(0, 2.0 if loud[-1] else 0.2))
    return gg.as_graphs(graphs), np.array(y), np.array(loud)


@pytest.fixture(scope="module")
def model(noisy):
    graphs, y, _ = noisy
    return gg.GraphRegressor(WL).fit(graphs[:400], y[:400])


def test_sigma_knows_where_errors_are_large(model, noisy):
    graphs, y, loud = noisy
    values, sigma = model.predict(graphs[400:], return_std=True)
    errors = np.abs(y[400:] - values)
    assert spearmanr(sigma, errors)[0] > 0.5
    for some, size in ((loud[400:], 2.0), (~loud[400:], 0.2)):
        assert size / 2 < np.median(sigma[some]) < 3 * size
    assert 0.7 < np.sqrt(np.mean((errors / sigma) ** 2)) < 1.4


@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_intervals_cover_where_sigma_is_small_and_where_it_is_large(model, noisy, coverage):
    graphs, y, loud = noisy
    low, high = model.predict_interval(graphs[400:], coverage)
    inside = (low <= y[400:]) & (y[400:] <= high)
    for some in (loud[400:], ~loud[400:]):
        there = 1 / some.sum() + 1 / (400 * some.mean())
        assert abs(inside[some].mean() - coverage) < 3 * np.sqrt(coverage * (1 - coverage) * there)
    value = model.predict(graphs[400:])
    np.testing.assert_allclose(high - value, value - low)


def test_what_makes_it_unsure_is_the_end(model, noisy):
    graphs, _, loud = noisy
    whys = gg.explain(model, graphs[400:440], of="uncertainty")
    sigma = model.predict(graphs[400:440], return_std=True)[1]
    np.testing.assert_allclose([why.decision for why in whys], np.log(sigma))
    ends = np.array([why.vertices[-1] for why in whys])
    assert ends[loud[400:440]].min() > ends[~loud[400:440]].max()


def test_units_of_the_target_are_those_of_sigma(model, noisy):
    graphs, y, _ = noisy
    scaled = gg.GraphRegressor(WL).fit(graphs[:400], 1000 * y[:400] + 5)
    new = graphs[400:]
    expected = 1000 * model.predict(new, return_std=True)[1]
    np.testing.assert_allclose(scaled.predict(new, return_std=True)[1], expected, rtol=1e-6)
    np.testing.assert_allclose(
        np.subtract(*scaled.predict_interval(new)), 1000 * np.subtract(*model.predict_interval(new))
    )


def test_without_differences_sigma_is_nearly_constant():
    rng = np.random.default_rng(0)
    graphs = gg.as_graphs(
        [([(i, i + 1) for i in range(24)], rng.choice(["C", "N"], 25).tolist()) for _ in range(300)]
    )
    model = gg.GraphRegressor(WL).fit(graphs[:150], rng.normal(size=150))
    _, sigma = model.predict(graphs[150:], return_std=True)
    assert np.log(sigma).std() < 0.3
    assert np.median(sigma) == pytest.approx(1, abs=0.25)


def test_covariance_and_draws_are_those_of_scikit_learns_process(noisy):
    """Its free mean is a constant kernel of huge variance."""
    graphs, y, _ = noisy
    train, new, y = graphs[:60], graphs[400:410], y[:60]
    model = gg.GraphRegressor(WL, alpha=0.3).fit(train, y)
    K = clone(WL).fit_transform(gg.GraphBatch.concatenate([train, new]))
    root = np.linalg.cholesky(K + 1e-10 * np.eye(70))
    process = GaussianProcessRegressor(
        PairwiseKernel(metric="linear", pairwise_kernels_kwargs=None)
        + ConstantKernel(1e6, "fixed"),
        alpha=0.3,
        optimizer=None,
    ).fit(root[:60], y)
    mean, covariance = process.predict(root[60:], return_cov=True)
    # the scale of the process is the likeliest one
    centred = np.eye(60) - 1 / 60
    P = np.linalg.pinv(centred @ (K[:60, :60] + 0.3 * np.eye(60)) @ centred)
    scale = y @ P @ y / 59
    values, found = model.predict(new, return_cov=True)
    np.testing.assert_allclose(values, mean, atol=1e-3)
    np.testing.assert_allclose(found, scale * covariance, atol=2e-3 * scale)
    drawn = model.sample_y(new, 4000, random_state=1)
    np.testing.assert_allclose(drawn.mean(axis=1), values, atol=5 * np.sqrt(scale / 4000))
    np.testing.assert_allclose(np.cov(drawn), found, atol=8 * scale / np.sqrt(4000))
