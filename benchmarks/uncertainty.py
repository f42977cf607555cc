"""How sure: intervals that hold, and how much is gained by trusting the surest predictions.

    python -m benchmarks.uncertainty
    python -m benchmarks.uncertainty -d CHEMBL2047_EC50,logs --show

Sets with numbers to predict: the 30 sets of MoleculeACE and the regression sets of the ADMET group
with their given splits, logP and logS by random and by random scaffold split. Every method is
trained on the same molecules and says for each test molecule a number, a standard deviation and a
90 % interval:

- graphgrain: ``predict(X, return_std=True)`` and ``predict_interval(X, coverage=0.9)``;
- a Gaussian process with the count Tanimoto kernel on ECFP4, nothing folded, in closed form (the
  model of GAUCHE), scale and noise by marginal likelihood;
- a random forest on ECFP4 with split conformal intervals: a fifth of the training molecules says
  how long they must be.

Measures: the share of test molecules whose number lies in its interval (promised: 0.9), the mean
width of intervals, the negative logarithm of the predictive density, the error of the surer half
over the error of all, and the area under the curve of errors against the share that is kept, over
the error of all (below 1 where doubt is justified).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphgrain.evaluation.records import ResultsFile

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
from .peers import Method, MinMaxCounts, OnFeatures, ecfp4, graphgrain_estimator, has_descriptors
from .tables import better_on, comparison_words, markdown, records_file, write_between

COVERAGE = 0.9
#: What a standard normal variable is within, in nine of ten cases.
NORMAL = 1.6448536269514722


# ---------------------------------------------------------------- methods


class Ours:
    """The estimator that users import."""

    def __init__(self, descriptors: bool, seed: int, n_jobs: int | None) -> None:
        self.model = graphgrain_estimator(descriptors)(False, seed, n_jobs)

    def fit(self, smiles: Sequence[str], y: np.ndarray) -> Ours:
        """Train it."""
        self.model.fit(smiles, y)
        self.best_params_ = getattr(self.model, "best_params_", {})
        return self

    def predict_with_intervals(self, smiles: Sequence[str]) -> tuple[np.ndarray, ...]:
        """Numbers, standard deviations, and both ends of the intervals."""
        mean, std = self.model.predict(smiles, return_std=True)
        low, high = self.model.predict_interval(smiles, coverage=COVERAGE)
        return mean, std, low, high


class TanimotoProcess:
    """A Gaussian process on count Tanimoto; scale and noise maximise the marginal likelihood.

    The kernel is ``scale * T + noise * I``. With the eigenvalues of T known, the likelihood of a
    ratio of noise to scale takes one sum, and the best scale for it has a closed form.
    """

    ratios = np.logspace(-4, 2, 61)

    def fit(self, smiles: Sequence[str], y: np.ndarray) -> TanimotoProcess:
        """One decomposition."""
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
        """Numbers, standard deviations (noise included), and both ends of the intervals."""
        K = self.kernel_.gram(smiles)
        mean = K @ self.weights_ + self.mean_
        known = ((K @ self.root_) ** 2).sum(axis=1)
        std = np.sqrt(self.scale_ * np.maximum(1 - known, 0) + self.noise_)
        return mean, std, mean - NORMAL * std, mean + NORMAL * std


class ConformalForest:
    """A random forest with split conformal intervals (Papadopoulos et al. 2002; Lei et al. 2018).

    A fifth of the training molecules is kept out of training: their absolute errors say how long
    intervals are. The standard deviation is that of the trees, scaled so that it fits the same
    errors; intervals are of one length, as plain split conformal prediction has them.
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
        """Numbers, standard deviations, and both ends of the intervals."""
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
)


def methods() -> list[Method]:
    """Ours first; peers after it. One seed: sets are many."""
    made: list[Method] = [Method("graphgrain", lambda c, seed, jobs: Ours(False, seed, jobs))]
    if has_descriptors():
        name = "graphgrain + descriptors"
        made.insert(0, Method(name, lambda c, seed, jobs: Ours(True, seed, jobs)))
    return [*made, PROCESS, FOREST]


# ---------------------------------------------------------------- measures


@dataclass(frozen=True)
class Sureness:
    """How well a method knows how sure it is, on one set.

    Attributes
    ----------
    coverage, width : float
        Of its 90 % intervals.
    density : float
        Mean negative logarithm of the predictive density, which is normal.
    half : float
        The error (RMSE) of the surer half over that of all.
    area : float
        Mean over all shares that are kept, the surest first, of their error over that of all.
    """

    coverage: float
    width: float
    density: float
    half: float
    area: float


def sureness(record: PredictionRecord) -> Sureness:
    """The measures of a record."""
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


def report(tasks: Sequence[Task], wanted: Sequence[Method], file: ResultsFile) -> str:
    """A table for each kind of split, and on how many sets ours is better."""
    records = collected(tasks, wanted, file)
    if not records:
        return "There is no result yet.\n"
    found = {
        method: {name: sureness(own[name][0]) for name in own} for method, own in records.items()
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
    """A measure on each set, the larger the better."""
    return {name: -float(getattr(each, measure)) for name, each in found.items()}


def _kind(task: Task) -> str:
    """How the split of a task was made."""
    if task.split == "given":
        return "MoleculeACE" if "cliff_mol" in task.data.columns else "ADMET (by scaffold)"
    return f"logP and logS, {task.split.split()[0]} split"


def all_tasks(wanted: str, draws: int) -> list[Task]:
    """All sets with numbers to predict."""
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
    """Run what the records lack, then show the tables."""
    made = parser("uncertainty", __doc__, records_file("uncertainty"), seeds=1)
    made.add_argument("--draws", type=int, default=5, help="splits of logP and logS of each kind")
    options: Any = made.parse_args(arguments)
    tasks = all_tasks(options.datasets, options.draws)
    wanted = wanted_methods(options.methods, methods())
    with ResultsFile(options.results) as file:
        if not options.show:
            run(tasks, wanted, 1, file, options.n_jobs, sure=True)
        text = report(tasks, wanted, file)
    if options.page is not None:
        write_between(options.page, "uncertainty", text)
    print(text)
    return text


if __name__ == "__main__":
    main()
