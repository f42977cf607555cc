"""Calibration of predicted probabilities: HIV at three sizes, random split.

    python -m benchmarks.calibration

For each number of training molecules (``--sizes``), the table shows the mean predicted probability,
the rate of actives among the test molecules, the slope of a logistic regression of outcomes on
log-odds (1 is ideal), the Brier score, and the ROC AUC.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import graphgrain as gg

from .data import molecule_file

SIZES = (4900, 10_000, 20_000)
TEST = 10_000


def reliability_slope(odds: np.ndarray, active: np.ndarray) -> float:
    """Return the slope of a logistic regression of outcomes on log-odds."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e6, max_iter=1000).fit(odds.reshape(-1, 1), active)
    return float(model.coef_[0, 0])


def main() -> None:
    """Print the table."""
    from sklearn.metrics import brier_score_loss, roc_auc_score

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("-j", "--n-jobs", type=int, default=1)
    options = parser.parse_args()
    graphs, columns = gg.load_molecules(molecule_file("hiv"), errors="skip")
    active = columns["active"].astype(int)
    order = np.random.default_rng(0).permutation(len(graphs))
    test = order[-TEST:]
    print("| molecules | mean p | rate | slope | Brier | ROC AUC | seconds |")
    print("|---|---|---|---|---|---|---|")
    for size in map(int, options.sizes.split(",")):
        start = time.process_time()
        train = np.sort(order[:size])
        model = gg.GraphClassifier(n_jobs=options.n_jobs).fit(graphs[train], active[train])
        spent = time.process_time() - start
        odds = model.decision_function(graphs[test])
        p = 1 / (1 + np.exp(-odds))
        print(
            f"| {size:,} | {p.mean():.4f} | {active[test].mean():.4f} | "
            f"{reliability_slope(odds, active[test]):.2f} | "
            f"{brier_score_loss(active[test], p):.4f} | {roc_auc_score(active[test], p):.3f} | "
            f"{spent:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
