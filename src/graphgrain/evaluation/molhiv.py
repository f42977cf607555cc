"""molhiv: which of 41,127 molecules inhibit HIV, with test molecules of unseen scaffolds.

The set, its split and its measure are those of ogbg-molhiv.

Hu, Fey, Zitnik, Dong, Ren, Liu, Catasta, Leskovec: Open Graph Benchmark: Datasets for Machine
Learning on Graphs. Advances in Neural Information Processing Systems 33, 2020.

Molecules are split by scaffold, 80 to 10 to 10. Whatever a method chooses, it chooses on the
training molecules; the validation part says how well the choice carries over to new scaffolds; the
test part is predicted once. The measure is the ROC AUC.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..learning.classifier import GraphClassifier
from ..learning.scoring import area_under_roc
from .fingerprints import logistic_regression, random_forest
from .molecule_benchmark import Method, run_method
from .molecule_sets import MoleculeSet, read_molecules
from .records import PredictionRecord
from .results_file import ResultsFile
from .scaffolds import scaffold_split, scaffolds

#: The weight of an active molecule among so many inactive ones is large, and C small for it.
COSTS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
METHODS = (
    Method(
        "tree++",
        lambda seed, n_jobs: GraphClassifier(
            C=COSTS, class_weight="balanced", random_state=seed, n_jobs=n_jobs
        ),
        bits=0,
        variant="class_weight=balanced, C from 0.05",
        seeded=True,
    ),
    Method("ecfp4 + logistic", lambda seed, n_jobs: logistic_regression(n_jobs)),
    Method(
        "ecfp4 + forest",
        lambda seed, n_jobs: random_forest("classification", seed, n_jobs),
        seeded=True,
    ),
)
#: Test ROC AUC of the Open Graph Benchmark's own table.
PUBLISHED = {"GIN with virtual node": 0.771, "Graphormer": 0.805, "ECFP + random forest": 0.806}


def read_hiv(folder: Path, n_jobs: int | None = None) -> MoleculeSet:
    """The molecules of the HIV set."""
    return read_molecules(folder / "hiv.csv.gz", "active", n_jobs)


@dataclass(frozen=True)
class Parts:
    """Positions of the molecules of each part."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    @classmethod
    def of(cls, data: MoleculeSet) -> Parts:
        """Split by scaffold as the Open Graph Benchmark does."""
        return cls(*scaffold_split(scaffolds(data.smiles)))


def run_seed(
    data: MoleculeSet,
    parts: Parts,
    method: Method,
    seed: int,
    results: ResultsFile,
    n_jobs: int | None = None,
) -> PredictionRecord:
    """Train on the training part; predict validation and test part, in this order."""
    both = np.concatenate([parts.validation, parts.test])
    return run_method(data, method, "scaffold", parts.train, both, seed, results, n_jobs)


@dataclass(frozen=True)
class Areas:
    """ROC AUC on both parts, and an interval for the test part.

    Attributes
    ----------
    validation, test : float
    low, high : float
        Of a hundred test parts drawn from this one with replacement, 95 lie between these.
    """

    validation: float
    test: float
    low: float
    high: float


def areas_of(record: PredictionRecord, parts: Parts, draws: int = 1000) -> Areas:
    """The areas of a method."""
    cut = len(parts.validation)
    truth, answers = np.array(record.truth) == 1, np.array(record.predictions)
    rng = np.random.default_rng(0)
    test_truth, test_answers = truth[cut:], answers[cut:]
    drawn = []
    for _ in range(draws):
        rows = rng.integers(0, len(test_truth), len(test_truth))
        if 0 < test_truth[rows].sum() < len(rows):
            drawn.append(area_under_roc(test_truth[rows], test_answers[rows]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Areas(
        area_under_roc(truth[:cut], answers[:cut]),
        area_under_roc(test_truth, test_answers),
        float(low),
        float(high),
    )
