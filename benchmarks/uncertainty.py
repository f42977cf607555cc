"""Uncertainty: coverage of intervals, and errors of the most certain predictions.

    python -m benchmarks.uncertainty
    python -m benchmarks.uncertainty -d CHEMBL2047_EC50,logs --show

Regression data sets: the 30 sets of MoleculeACE and those of the ADMET group with their given
splits, logP and logS with random and random scaffold splits. Every method is trained on the same
molecules and returns for each test molecule a prediction, a standard deviation and a 90 % interval:

- graphgrain: ``predict(X, return_std=True)`` and ``predict_interval(X, coverage=0.9)``;
- a Gaussian process with the count Tanimoto kernel on unfolded ECFP4, in closed form (the model of
  GAUCHE), with scale and noise by marginal likelihood;
- a random forest on ECFP4 with split conformal intervals, calibrated on a fifth of the training
  molecules.

Metrics: the fraction of test molecules within their intervals (nominal: 0.9), the mean width of the
intervals, the negative log predictive density, the error of the more certain half relative to the
overall error, and the area under the curve of error against the fraction kept, relative to the
overall error (below 1 if the uncertainty is informative).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.markdown import better_on, comparison_words, markdown, records_file, write_between
from experiments.peers import Method, MinMaxCounts, OnFeatures, ecfp4, graphgrain_estimator
from experiments.records import Records

from . import admet, moleculeace, splits
from .molecules import (
    PredictionRecord,
    Task,
    chosen,
    collected,
    molecules_folder,
    parser,
    run,
    wanted_methods,
)

COVERAGE = 0.9
#: A standard normal variable is within +-NORMAL with probability 0.9.
NORMAL = 1.6448536269514722


# ---------------------------------------------------------------- methods


class Ours:
    """The estimator of graphgrain."""

    def __init__(self, descriptors: bool, seed: int, n_jobs: int | None) -> None:
        self.model = graphgrain_estimator(descriptors)(False, seed, n_jobs)

    def fit(self, smiles: Sequence[str], y: np.ndarray) -> Ours:
        """Train the estimator."""
        self.model.fit(smiles, y)
        self.best_params_ = getattr(self.model, "best_params_", {})
        return self

    def predict_with_intervals(self, smiles: Sequence[str]) -> tuple[np.ndarray, ...]:
        """Return predictions, standard deviations, and interval bounds."""
        mean, std = self.model.predict(smiles, return_std=True)
        low, high = self.model.predict_interval(smiles, coverage=COVERAGE)
        return mean, std, low, high


class TanimotoProcess:
    """Gaussian process on count Tanimoto; scale and noise maximise the marginal likelihood.

    The kernel is ``scale * T + noise * I``. Given the eigenvalues of T, the likelihood for a ratio
    of noise to scale is a single sum, and the best scale for it has a closed form.
    """

    ratios = np.logspace(-4, 2, 61)

    def fit(self, smiles: Sequence[str], y: np.ndarray) -> TanimotoProcess:
        """Fit with one eigendecomposition."""
        self.kernel_ = MinMaxCounts().fit(smiles)
        self.mean_ = float(np.mean(y))
        values, vectors = np.linalg.eigh(self.kernel_.gram(smiles))
        values = np.maximum(values, 0)
        turned = vectors.T @ (y - self.mean_)
        best = (np.inf, 1.0, 1.0)
        for ratio in self.ratios:
            scale = max(float(np.mean(turned**2 / (values + ratio))), 1e-12)
            loss = len(y) * np.log(scale) + float(np.log(values + ratio).sum())
            best = min(best, (loss, float(ratio), scale))
        _, ratio, self.scale_ = best
        self.noise_ = ratio * self.scale_
        self.best_params_ = {"scale": self.scale_, "noise": self.noise_}
        self.weights_ = vectors @ (turned / (values + ratio))
        self.root_ = vectors / np.sqrt(values + ratio)
        return self

    def predict_with_intervals(self, smiles: Sequence[str]) -> tuple[np.ndarray, ...]:
        """Return predictions, standard deviations (including noise), and interval bounds."""
        K = self.kernel_.gram(smiles)
        mean = K @ self.weights_ + self.mean_
        known = ((K @ self.root_) ** 2).sum(axis=1)
        std = np.sqrt(self.scale_ * np.maximum(1 - known, 0) + self.noise_)
        return mean, std, mean - NORMAL * std, mean + NORMAL * std


class ConformalForest:
    """Random forest with split conformal intervals (Papadopoulos et al. 2002; Lei et al. 2018).

    A fifth of the training molecules is held out; their absolute errors determine the width of the
    intervals, which is constant. The standard deviation is that of the trees, scaled to fit the
    same errors.
    """

    def __init__(self, seed: int, n_jobs: int | None) -> None:
        self.seed, self.n_jobs = seed, n_jobs

    def fit(self, smiles: Sequence[str], y: np.ndarray) -> ConformalForest:
        """Train on four fifths, calibrate on the rest."""
        from sklearn.ensemble import RandomForestRegressor

        order = np.random.default_rng(self.seed).permutation(len(y))
        held, rest = np.split(order, [len(y) // 5])
        forest = RandomForestRegressor(
            500, max_features=0.3, random_state=self.seed, n_jobs=self.n_jobs
        )
        self.model_ = OnFeatures(ecfp4, forest).fit([smiles[n] for n in rest], y[rest])
        mean, spread = self._trees([smiles[n] for n in held])
        errors = np.abs(y[held] - mean)
        rank = int(np.ceil((len(held) + 1) * COVERAGE))
        self.half_ = float(np.sort(errors)[min(rank, len(held)) - 1])
        self.scale_ = float(np.sqrt(np.mean((errors / spread) ** 2)))
        self.best_params_ = {"half width": self.half_}
        return self

    def predict_with_intervals(self, smiles: Sequence[str]) -> tuple[np.ndarray, ...]:
        """Return predictions, standard deviations, and interval bounds."""
        mean, spread = self._trees(smiles)
        return mean, self.scale_ * spread, mean - self.half_, mean + self.half_

    def _trees(self, smiles: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        X = ecfp4(smiles)
        each = np.array([tree.predict(X) for tree in self.model_.model.estimators_])
        return each.mean(axis=0), np.maximum(each.std(axis=0), 1e-6)


PROCESS = Method("ECFP4 Gaussian process", lambda classes, seed, n_jobs: TanimotoProcess())
FOREST = Method(
    "ECFP4 conformal forest",
    lambda classes, seed, n_jobs: ConformalForest(seed, n_jobs),
    seeded=True,
)


def methods() -> list[Method]:
    """Return our methods, then the others. One seed is enough for many data sets."""
    return [
        Method("graphgrain + descriptors", lambda c, seed, jobs: Ours(True, seed, jobs), True),
        Method("graphgrain", lambda c, seed, jobs: Ours(False, seed, jobs), True),
        PROCESS,
        FOREST,
    ]


# ---------------------------------------------------------------- measures


@dataclass(frozen=True)
class Sureness:
    """Quality of the uncertainty estimates of a method on one data set.

    Attributes
    ----------
    coverage, width : float
        Coverage and mean width of the 90 % intervals.
    density : float
        Mean negative log density of the normal predictive distribution.
    half : float
        RMSE of the more certain half, relative to the overall RMSE.
    area : float
        RMSE relative to the overall RMSE, averaged over all fractions kept, most certain first.
    """

    coverage: float
    width: float
    density: float
    half: float
    area: float


def sureness(record: PredictionRecord) -> Sureness:
    """Compute the metrics of a record."""
    truth, mean, std, low, high = (
        np.array(column)
        for column in (record.truth, record.predictions, record.std, record.low, record.high)
    )
    std = np.maximum(std, 1e-9)
    errors = (truth - mean) ** 2
    density = 0.5 * np.log(2 * np.pi * std**2) + errors / (2 * std**2)
    order = np.argsort(std, kind="stable")
    kept = np.sqrt(np.cumsum(errors[order]) / np.arange(1, len(errors) + 1))
    whole = max(float(np.sqrt(errors.mean())), 1e-12)
    return Sureness(
        coverage=float(np.mean((low <= truth) & (truth <= high))),
        width=float(np.mean(high - low)),
        density=float(density.mean()),
        half=float(kept[max(len(kept) // 2, 1) - 1]) / whole,
        area=float(kept.mean()) / whole,
    )


def mean_sureness(records: Sequence[PredictionRecord]) -> Sureness:
    """Return the mean of each metric over the seeds."""
    each = [vars(sureness(record)) for record in records]
    return Sureness(**{name: float(np.mean([one[name] for one in each])) for name in each[0]})


def report(tasks: Sequence[Task], wanted: Sequence[Method], file: Records) -> str:
    """Return a table for each kind of split, and pairwise comparisons."""
    records = collected(tasks, wanted, file)
    if not records:
        return "There is no result yet.\n"
    found = {
        method: {name: mean_sureness(own[name]) for name in own} for method, own in records.items()
    }
    kinds = {task.name: _kind(task) for task in tasks}
    parts = []
    for kind in dict.fromkeys(kinds.values()):
        rows = []
        for method, own in found.items():
            each = [s for name, s in own.items() if kinds[name] == kind]
            if not each:
                continue
            held = sum(0.88 <= s.coverage <= 0.92 for s in each)
            means = [np.mean([getattr(s, m) for s in each]) for m in Sureness.__annotations__]
            rows.append([method, *(f"{value:.3f}" for value in means), f"{held} of {len(each)}"])
        heads = [kind, "coverage", "width", "density", "surer half", "area", "88 to 92 %"]
        parts += [markdown(heads, rows), "\n"]
    first, *others = found
    for other in others:
        for measure, words in (
            ("width", "has shorter intervals than"),
            ("density", "has a better density than"),
        ):
            own, theirs = (_values(found[name], measure) for name in (first, other))
            sentence = comparison_words(first, other, better_on(own, theirs))
            parts.append(f"- {sentence.replace('is better than', words)}\n")
    return "".join(parts)


def _values(found: dict[str, Sureness], measure: str) -> dict[str, float]:
    """Return a negated metric on each data set, so that larger is better."""
    return {name: -float(getattr(each, measure)) for name, each in found.items()}


def _kind(task: Task) -> str:
    """Return the kind of split of a task."""
    if task.split == "given":
        return "MoleculeACE" if "cliff_mol" in task.data.columns else "ADMET (by scaffold)"
    return f"logP and logS, {task.split.split()[0]} split"


def all_tasks(wanted: str, draws: int) -> list[Task]:
    """Return the tasks of all regression data sets."""
    ace = molecules_folder() / "moleculeace"
    measures = admet.measures()
    regression = [name for name, measure in measures.items() if measure in ("mae", "spearman")]
    names = [*moleculeace.set_names(ace), *regression, "logp", "logs"]
    tasks = []
    for name in chosen(wanted, names):
        if name in measures:
            tasks.append(admet.task_of(name, measures[name]))
        elif name in splits.SETS:
            tasks += splits.tasks_of(name, list(splits.SPLITS), draws)
        else:
            tasks.append(moleculeace.task_of(ace, name))
    return tasks


def main(arguments: list[str] | None = None) -> str:
    """Run missing experiments, then print the tables."""
    made = parser("uncertainty", __doc__, records_file("uncertainty"), seeds=1)
    made.add_argument(
        "--draws", type=int, default=5, help="number of splits of each kind for logP and logS"
    )
    options: Any = made.parse_args(arguments)
    tasks = all_tasks(options.datasets, options.draws)
    wanted = wanted_methods(options.methods, methods())
    file = Records(options.results)
    if not options.show:
        run(tasks, wanted, options.seeds, file, options.n_jobs, sure=True)
    text = report(tasks, wanted, file)
    if options.page is not None:
        write_between(options.page, "uncertainty", text)
    print(text)
    return text


if __name__ == "__main__":
    main()
