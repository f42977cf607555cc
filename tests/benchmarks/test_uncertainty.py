"""How sure methods are: peers against scikit-learn's Gaussian process, measures, the command."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, PairwiseKernel, WhiteKernel

pytest.importorskip("rdkit")

from benchmarks import uncertainty
from benchmarks.molecules import PredictionRecord
from benchmarks.uncertainty import ConformalForest, TanimotoProcess, report, sureness
from experiments.peers import MinMaxCounts
from experiments.records import Records

from .test_molecules import SMILES, data, folder  # noqa: F401 - fixtures

MORE = [f"C{tail}{text}" for text in SMILES for tail in ("C", "N", "O", "CCC")]


def test_the_process_is_scikit_learns():
    rng = np.random.default_rng(0)
    y = np.array([len(text) for text in SMILES]) + 4 * rng.normal(size=len(SMILES))
    ours = TanimotoProcess().fit(SMILES, y)
    ratio = ours.noise_ / ours.scale_
    assert ours.ratios[0] < ratio < ours.ratios[-1]
    # Count Tanimoto as a dot product of rows whose products are those similarities.
    everything = [*SMILES, *MORE[:10]]
    K = MinMaxCounts().fit(everything).gram(everything)
    values, vectors = np.linalg.eigh(K)
    rows = vectors * np.sqrt(np.maximum(values, 0))
    kernel = ConstantKernel(ours.scale_, "fixed") * PairwiseKernel(metric="linear", gamma=1.0)
    kernel += WhiteKernel(ours.noise_, "fixed")
    peer = GaussianProcessRegressor(kernel, optimizer=None).fit(rows[: len(SMILES)], y - y.mean())
    mean, std = peer.predict(rows[len(SMILES) :], return_std=True)
    own, own_std, low, high = ours.predict_with_intervals(MORE[:10])
    np.testing.assert_allclose(own, mean + y.mean(), rtol=1e-5)
    np.testing.assert_allclose(own_std, std, rtol=1e-4)
    within = stats.norm.cdf((high - own) / own_std) - stats.norm.cdf((low - own) / own_std)
    np.testing.assert_allclose(within, 0.9)
    # No other scale and noise have a larger marginal likelihood, up to the grid's step.
    best = peer.log_marginal_likelihood_value_
    for scale, noise in ((0.5, 1), (2, 1), (1, 0.5), (1, 2)):
        other = ConstantKernel(scale * ours.scale_, "fixed") * PairwiseKernel(metric="linear")
        other += WhiteKernel(noise * ours.noise_, "fixed")
        fitted = GaussianProcessRegressor(other, optimizer=None)
        fitted.fit(rows[: len(SMILES)], y - y.mean())
        assert fitted.log_marginal_likelihood_value_ < best + 1e-6


def test_conformal_intervals_hold_what_they_promise():
    """On exchangeable molecules nine of ten intervals hold, within binomial bounds."""
    held = total = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.array([len(text) for text in MORE]) + rng.normal(size=len(MORE))
        order = rng.permutation(len(MORE))
        train, test = order[:60], order[60:]
        forest = ConformalForest(seed, 1).fit([MORE[n] for n in train], y[train])
        mean, _, low, high = forest.predict_with_intervals([MORE[n] for n in test])
        np.testing.assert_allclose(high - mean, mean - low)
        held += int(((low <= y[test]) & (y[test] <= high)).sum())
        total += len(test)
    assert stats.binom.cdf(held, total, 0.9) > 1e-3


def as_record(stored):
    names = PredictionRecord.__dataclass_fields__
    return PredictionRecord(**{name: stored[name] for name in names})


def made_up(std, errors, method="m"):
    return PredictionRecord(
        dataset="toy", fingerprint="f", split="given", method=method, variant="", seed=0,
        test=list(range(len(errors))), truth=[0.0] * len(errors), predictions=list(errors),
        std=list(std), low=[e - s for e, s in zip(errors, std, strict=True)],
        high=[e + s for e, s in zip(errors, std, strict=True)], seconds=1.0,
    )  # fmt: skip


def test_measures():
    errors = [0.1, -0.1, 2.0, -2.0]
    found = sureness(made_up([0.2, 0.2, 1.0, 1.0], errors))
    assert (found.coverage, found.width) == (0.5, pytest.approx(1.2))
    expected = -np.mean(stats.norm.logpdf(errors, scale=[0.2, 0.2, 1.0, 1.0]))
    assert found.density == pytest.approx(expected)
    assert found.half == pytest.approx(0.1 / np.sqrt(np.mean(np.square(errors))))
    random = sureness(made_up([0.2, 1.0, 0.2, 1.0], errors))
    assert found.area < random.area  # doubt where it is justified


def test_the_command(folder, tmp_path, capsys):  # noqa: F811
    arguments = ["-m", uncertainty.PROCESS.name, "-r", str(tmp_path / "r.jsonl")]
    arguments += ["-d", "CHEMBL1_Ki,herg"]
    text = uncertainty.main(arguments)
    results = Records(tmp_path / "r.jsonl")
    first, second = (as_record(stored) for stored in results.records)
    found = [sureness(record) for record in (first, second)]
    assert f"| {uncertainty.PROCESS.name} | {found[0].coverage:.3f} |" in text
    assert len(first.std) == len(first.test)
    assert uncertainty.main([*arguments, "--show"]) == text
    tasks = uncertainty.all_tasks("CHEMBL1_Ki", 1)
    results = Records(tmp_path / "none.jsonl")
    assert report(tasks, uncertainty.methods(), results) == "There is no result yet.\n"
