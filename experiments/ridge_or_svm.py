"""Ridge regression compared with support vector machines, on the same kernel matrix of Tree++.

    python -m experiments.ridge_or_svm
    python -m experiments.ridge_or_svm -d herg --draws 20

The training molecules of the ADMET classification sets are split by scaffold several times; the
test parts of ADMET are not used. On the same kernel matrix, both methods select their parameters (C
or alpha, and class weights) by the ROC AUC of five random folds of the training part, then rank the
rest. Sets of more than ``--most`` molecules are sampled.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

import graphgrain as gg
from benchmarks.admet import measures, task_of
from benchmarks.molecules import chosen
from graphgrain.evaluation.splits import scaffold_split
from graphgrain.learning.folds import stratified_folds
from graphgrain.learning.solver import Posterior

from .markdown import better_on, comparison_words, markdown

#: Returns coefficients for a matrix, classes, weights and a parameter.
Train = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]


def by_svm(K: np.ndarray, y: np.ndarray, weights: np.ndarray, C: float) -> np.ndarray:
    """Fit a support vector machine of scikit-learn."""
    svm = SVC(C=C, kernel="precomputed").fit(K, y, sample_weight=weights)
    found = np.zeros(len(y))
    found[svm.support_] = svm.dual_coef_[0]
    return found


def by_ridge(K: np.ndarray, y: np.ndarray, weights: np.ndarray, alpha: float) -> np.ndarray:
    """Fit a ridge regression in closed form."""
    coefficients, _ = Posterior(K, alpha, weights).fit(2.0 * y[:, np.newaxis] - 1)
    found: np.ndarray = coefficients[0]
    return found


MACHINES: dict[str, tuple[Train, tuple[float, ...]]] = {
    "ridge": (by_ridge, (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)),
    "SVM": (by_svm, (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)),
}


def area(
    train: Train, grid: tuple[float, ...], K: np.ndarray, y: np.ndarray, split: tuple, seed: int
) -> float:
    """Return the ROC AUC on the test rows of a split, with parameters selected on the others."""
    rows, test = split
    own, codes = K[np.ix_(rows, rows)], y[rows]
    balanced = (len(codes) / (2 * np.bincount(codes)))[codes]
    folds = stratified_folds(codes, 5, np.random.default_rng(seed))
    found = {}
    for name, weights in (("plain", np.ones(len(rows))), ("balanced", balanced)):
        for value in grid:
            areas = []
            for fold in folds:
                rest = np.setdiff1d(np.arange(len(rows)), fold)
                machine = train(own[np.ix_(rest, rest)], codes[rest], weights[rest], value)
                areas.append(roc_auc_score(codes[fold], own[np.ix_(fold, rest)] @ machine))
            found[float(np.mean(areas)), name, value] = weights
    best = max(found)
    return roc_auc_score(y[test], K[np.ix_(test, rows)] @ train(own, codes, found[best], best[2]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-d", "--datasets", default="", help="comma-separated (default: all)")
    parser.add_argument("--draws", type=int, default=10, help="number of splits per data set")
    parser.add_argument(
        "--most", type=int, default=1500, help="maximum number of molecules per data set"
    )
    options = parser.parse_args()
    known = {name: m for name, m in measures().items() if m in ("roc_auc", "average_precision")}
    scores: dict[str, dict[str, float]] = {name: {} for name in MACHINES}
    rows = []
    for name in chosen(options.datasets, list(known)):
        task = task_of(name, known[name])
        some = np.random.default_rng(0).permutation(task.train)[: options.most]
        smiles, y = [task.data.smiles[place] for place in some], task.data.y[some].astype(int)
        K = gg.TreePlusPlus(similarity="minmax", edge_labels=True).fit_transform(smiles)
        found: dict[str, list[float]] = {machine: [] for machine in MACHINES}
        for seed in range(options.draws):
            train, validation, test = scaffold_split(smiles, random_state=seed)
            split = (train, np.concatenate([validation, test]))
            for machine, (method, grid) in MACHINES.items():
                found[machine].append(area(method, grid, K, y, split, seed))
        for machine, areas in found.items():
            scores[machine][name] = float(np.mean(areas))
        rows.append([name, f"{len(y):,}", *(f"{scores[m][name]:.4f}" for m in MACHINES)])
        print(*rows[-1], flush=True)
    print(markdown(["set", "molecules", *MACHINES], rows))
    print(comparison_words("ridge", "SVM", better_on(scores["ridge"], scores["SVM"])))


if __name__ == "__main__":
    main()
