"""MoleculeACE: the activity of molecules on 30 targets, and that of activity cliffs.

van Tilborg, Alenicheva, Grisoni: Exposing the Limitations of Molecular Machine Learning with
Activity Cliffs. Journal of Chemical Information and Modeling 62 (23), 2022.

Training and test molecules are given. A method is trained on the training molecules of a set,
choosing there whatever it chooses, and predicts the test molecules once. Errors are root mean
squared errors of the logarithm of the activity, on all test molecules and on those that belong to
an activity cliff: a pair of similar molecules of very different activity.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..learning.regressor import GraphRegressor
from .fingerprints import GaussianRegression
from .molecule_benchmark import Method, run_method
from .molecule_sets import MoleculeSet, read_molecules
from .records import PredictionRecord
from .results_file import ResultsFile

#: Tree++ as it is, no argument set; and the method that is best in the publication.
METHODS = (
    Method("tree++", lambda seed, n_jobs: GraphRegressor(n_jobs=n_jobs), bits=0),
    Method("ecfp4 + svm", lambda seed, n_jobs: GaussianRegression()),
)
PUBLISHED_BEST = ("SVM", "ECFP")


def set_names(folder: Path) -> list[str]:
    """The sets in a folder of MoleculeACE."""
    return sorted(path.name.split(".")[0] for path in folder.glob("CHEMBL*.csv*"))


def read_set(folder: Path, name: str, n_jobs: int | None = None) -> MoleculeSet:
    """One of the sets."""
    [path] = folder.glob(f"{name}.csv*")
    return read_molecules(path, "y", n_jobs)


def run_set(
    data: MoleculeSet, method: Method, results: ResultsFile, n_jobs: int | None = None
) -> PredictionRecord:
    """Train a method on the training molecules and predict the test molecules."""
    test = np.asarray(data.columns["split"]) == "test"
    places = np.flatnonzero(~test), np.flatnonzero(test)
    return run_method(data, method, "given", *places, 0, results, n_jobs)


@dataclass(frozen=True)
class Errors:
    """Root mean squared errors on all test molecules and on those of activity cliffs."""

    all: float
    cliffs: float


def errors_of(record: PredictionRecord, data: MoleculeSet) -> Errors:
    """The errors of a method on a set."""
    squares = (np.array(record.truth) - np.array(record.predictions)) ** 2
    cliff = np.asarray(data.columns["cliff_mol"])[record.test].astype(float) == 1
    return Errors(float(np.sqrt(squares.mean())), float(np.sqrt(squares[cliff].mean())))


def published(folder: Path) -> dict[str, dict[str, Errors]]:
    """By set and method the errors that the publication has."""
    table: dict[str, dict[str, Errors]] = {}
    with open(folder / "published.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            words = (row["algorithm"], row["descriptor"], row["augmentation"])
            name = " ".join(word for word in words if word not in ("", "0"))
            errors = Errors(float(row["rmse"]), float(row["cliff_rmse"]))
            table.setdefault(row["dataset"], {})[name] = errors
    return table


def compare(rows: list[dict[str, Any]], ours: str, other: str) -> dict[str, Any]:
    """On how many sets a method is better than another, and how sure that is (Wilcoxon)."""
    from scipy.stats import wilcoxon

    differences = [row[other].all - row[ours].all for row in rows]
    p = float(wilcoxon(differences).pvalue) if len(rows) > 5 and any(differences) else None
    return {"better": sum(d > 0 for d in differences), "sets": len(rows), "p": p}


def table_of(
    folder: Path, sets: list[MoleculeSet], found: dict[tuple[str, str], PredictionRecord]
) -> list[dict[str, Any]]:
    """A row for each set: errors of the methods run here, and of the published ones."""
    from_paper = published(folder)
    rows = []
    for data in sets:
        row: dict[str, Any] = {"dataset": data.name, "molecules": len(data.y)}
        for method in METHODS:
            row[method.name] = errors_of(found[data.name, method.name], data)
            row[f"{method.name} seconds"] = found[data.name, method.name].seconds
        others = from_paper[data.name]
        row["published svm"] = others[" ".join(PUBLISHED_BEST)]
        row["published best"] = min(others.values(), key=lambda errors: errors.all)
        rows.append(row)
    return rows
