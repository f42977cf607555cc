"""Molecules split once into training and test part: by scaffold, at random, or as a column says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidParameterError
from ..learning.classifier import GraphClassifier
from ..learning.regressor import GraphRegressor
from ..learning.scoring import area_under_roc
from .fingerprints import GaussianRegression, logistic_regression, random_forest
from .molecule_benchmark import Method
from .molecule_sets import MoleculeSet
from .records import PredictionRecord
from .scaffolds import SHARES, scaffold_split, scaffolds

SPLITS = ("scaffold", "random")


def parts_of(data: MoleculeSet, split: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of training and test molecules.

    Parameters
    ----------
    split : str
        ``"scaffold"`` or ``"random"``: 80 per cent train, the last 10 test, as is the custom of
        the field; the 10 between them, by which others tune, are left out, since methods here
        choose on training molecules. Else a column of the file with the words train and test.
    seed : int
        Of the random split.
    """
    if split == "scaffold":
        train, _, test = scaffold_split(scaffolds(data.smiles))
        return train, test
    if split == "random":
        order = np.random.default_rng(seed).permutation(len(data.y))
        first, second = (np.cumsum(SHARES)[:2] * len(order)).astype(int)
        return np.sort(order[:first]), np.sort(order[second:])
    if split not in data.columns:
        raise InvalidParameterError(
            f"--split is scaffold, random or a column of the file; got {split!r}. The columns of "
            f"{data.name} are {', '.join(data.columns)}."
        )
    words = np.asarray(data.columns[split])
    parts = np.flatnonzero(words == "train"), np.flatnonzero(words == "test")
    if not len(parts[0]) or not len(parts[1]):
        raise InvalidParameterError(
            f"The column {split!r} must say train or test for molecules; it has "
            f"{', '.join(sorted({str(word) for word in words})[:5])}."
        )
    return parts


def has_classes(data: MoleculeSet) -> bool:
    """Whether the targets are the classes 0 and 1, not numbers."""
    return set(np.unique(data.y).tolist()) == {0.0, 1.0}


def methods_for(data: MoleculeSet) -> list[Method]:
    """The self-tuned Tree++ and what stands beside it on ECFP4."""
    if has_classes(data):
        return [
            Method(
                "tree++",
                lambda seed, n_jobs: GraphClassifier(
                    scoring="roc_auc", random_state=seed, n_jobs=n_jobs
                ),
                bits=0,
            ),
            Method("ecfp4 + logistic", lambda seed, n_jobs: logistic_regression(n_jobs)),
            Method(
                "ecfp4 + forest",
                lambda seed, n_jobs: random_forest("classification", seed, n_jobs),
            ),
        ]
    return [
        Method(
            "tree++",
            lambda seed, n_jobs: GraphRegressor(random_state=seed, n_jobs=n_jobs),
            bits=0,
        ),
        Method("ecfp4 + svm", lambda seed, n_jobs: GaussianRegression()),
        Method("ecfp4 + forest", lambda seed, n_jobs: random_forest("regression", seed, n_jobs)),
    ]


@dataclass(frozen=True)
class Measure:
    """A figure with the name that the field has for it."""

    name: str
    value: float


def measures_of(record: PredictionRecord, classes: bool) -> list[Measure]:
    """ROC AUC and average precision of classes; RMSE, MAE and R2 of numbers.

    Examples
    --------
    >>> from graphgrain.evaluation.molecule_splits import measures_of
    >>> from graphgrain.evaluation.records import PredictionRecord
    >>> record = PredictionRecord(dataset="d", fingerprint="f", split="random", kernel="tree++",
    ...     variant="", seed=0, test=[0, 1], truth=[1.0, 3.0], predictions=[1.0, 2.0], chosen=[],
    ...     seconds=1.0)
    >>> [(m.name, round(m.value, 3)) for m in measures_of(record, classes=False)]
    [('RMSE', 0.707), ('MAE', 0.5), ('R2', 0.5)]
    """
    truth, answers = np.array(record.truth), np.array(record.predictions)
    if classes:
        from sklearn.metrics import average_precision_score

        positive = truth == 1
        if positive.all() or not positive.any():
            return [Measure("ROC AUC", float("nan")), Measure("average precision", float("nan"))]
        return [
            Measure("ROC AUC", area_under_roc(positive, answers)),
            Measure("average precision", float(average_precision_score(positive, answers))),
        ]
    errors = truth - answers
    squares = float(np.mean(errors**2))
    return [
        Measure("RMSE", squares**0.5),
        Measure("MAE", float(np.mean(np.abs(errors)))),
        Measure("R2", 1 - squares / float(np.var(truth)) if np.var(truth) > 0 else float("nan")),
    ]
