"""Speed of our support vector machine compared with scikit-learn's, on the same matrices.

``python -m benchmarks.machines [DATASET]``. For each level of Tree++ both are trained for each C on
four fifths of the graphs and predict the rest, alternating and on one thread; the best time of each
is used. ``the same`` is the fraction of equal predictions. Both stop at the same tolerance.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import graphgrain as gg
from experiments.data import load_with_classes
from experiments.protocol import classes_of
from experiments.svm import split_answers
from graphgrain.learning.folds import stratified_folds, train_and_test

from .stages import best_of_each

GRID = (1, 10, 100, 1000)
RUNS = 3


def scikit_learn(gram: np.ndarray, codes: np.ndarray, train: Any, test: Any) -> list[np.ndarray]:
    """Return predictions for each C; if no coefficient reaches C, larger values change nothing."""
    from sklearn.svm import SVC

    K, rows, found = gram[np.ix_(train, train)], gram[np.ix_(test, train)], []
    for C in GRID:
        svm = SVC(C=C, kernel="precomputed", break_ties=True).fit(K, codes[train])
        found.append(svm.predict(rows))
        if np.abs(svm.dual_coef_).max(initial=0.0) < C:
            break
    return found + found[-1:] * (len(GRID) - len(found))


def ours(gram: np.ndarray, codes: np.ndarray, train: Any, test: Any) -> list[np.ndarray]:
    """Return the predictions of graphgrain for each C."""
    answers, _ = split_answers(gram, codes, (train, test), GRID, int(codes.max()) + 1)
    return [classes_of(scores) for scores in answers]


def _cells(times: np.ndarray) -> list[str]:
    return [f"{times[0]:.3f}", f"{times[1]:.3f}", f"{times[1] / times[0]:.1f}"]


def main(data_set: str = "NCI1") -> None:
    """Measure every level and print a table."""
    graphs, y = load_with_classes(data_set)
    codes = np.unique(y, return_inverse=True)[1]
    grams = gg.TreePlusPlus(tree_depth=7).fit(graphs).gram_levels()
    folds = stratified_folds(codes, 5, np.random.default_rng(0))
    split = train_and_test(folds, 0)
    ours(grams[0], codes, *split)  # compiles
    table = Table(title=f"{data_set}: SVMs for C in {GRID}", box=None, title_justify="left")
    for head in ("level", "ours, s", "scikit-learn, s", "ratio", "the same"):
        table.add_column(head, justify="right")
    sums = np.zeros(2)
    for level, gram in enumerate(grams):
        work = {who: partial(who, gram, codes, *split) for who in (ours, scikit_learn)}
        same = np.mean(np.array(work[ours]()) == np.array(work[scikit_learn]()))
        times = np.array(list(best_of_each(work, RUNS).values()))
        sums += times
        table.add_row(str(level), *_cells(times), f"{same:.2%}")
    table.add_row("all", *_cells(sums))
    Console().print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
