"""Effect of hash collisions: kernel error and accuracy for different numbers of columns.

``python -m benchmarks.collisions [DATASET ...]``. The features of all graphs are hashed to
``n_features`` columns, rows are scaled to unit length, and the result is compared with the exact
features: the difference of similarities over all pairs of (up to 1,000) graphs, and the accuracy of
a linear support vector machine on the same folds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from graphgrain.kernels.registry import KERNELS

from .data import load_with_classes

SETS = ["PROTEINS", "NCI1"]
SIZES = [1 << bits for bits in (8, 10, 12, 14, 16, 18, 20, 22)]
_MOST_PAIRED = 1000


def accuracy(X: Any, y: np.ndarray, seed: int) -> float:
    """Return the mean accuracy over ten folds, in per cent."""
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    return 100 * float(cross_val_score(LinearSVC(C=1.0), X, y, cv=folds).mean())


def measure(data_set: str, name: str, sizes: Sequence[int], seed: int) -> list[dict[str, Any]]:
    """Return a row for the exact features, then one for each number of columns."""
    graphs, y = load_with_classes(data_set)
    kernel = KERNELS[name].kernel(output="features", n_jobs=-1)  # type: ignore[call-arg]
    exact = normalize(kernel.fit_transform(graphs))
    chosen = np.random.default_rng(seed).permutation(len(graphs))[:_MOST_PAIRED]
    similarity = (exact[chosen] @ exact[chosen].T).toarray()
    common = {"set": data_set, "kernel": KERNELS[name].title}
    rows = [
        {**common, "columns": exact.shape[1], "features": "exact", "alone": 100.0}
        | {"mean error": 0.0, "largest error": 0.0, "accuracy": accuracy(exact, y, seed)}
    ]
    for size in sizes:
        X = normalize(kernel.set_params(n_features=size).transform(graphs))
        error = np.abs((X[chosen] @ X[chosen].T).toarray() - similarity)
        # probability that no other feature has the same column
        alone = 100 * (1 - 1 / size) ** (exact.shape[1] - 1)
        rows.append(
            {**common, "columns": size, "features": "hashed", "alone": alone}
            | {"mean error": float(error.mean()), "largest error": float(error.max())}
            | {"accuracy": accuracy(X, y, seed)}
        )
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the arguments and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.collisions", description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS, help="names of TU data sets")
    parser.add_argument("--kernels", nargs="+", default=["tree++", "wl"], choices=sorted(KERNELS))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="numbers of columns")
    parser.add_argument("--seed", type=int, default=0, help="seed of folds and of paired graphs")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(argv)
    rows = [
        row
        for data_set in options.datasets
        for name in options.kernels
        for row in measure(data_set, name, options.sizes, options.seed)
    ]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    table = Table(title="Hashed columns compared with exact features")
    for column in ("set", "kernel", "columns", "unique features, %", "mean error"):
        table.add_column(column, justify="left" if column in ("set", "kernel") else "right")
    table.add_column("largest error", justify="right")
    table.add_column("accuracy", justify="right")
    for row in rows:
        exact = row["features"] == "exact"
        table.add_row(
            row["set"],
            row["kernel"],
            f"{row['columns']:,}" + (" (exact)" if exact else ""),
            f"{row['alone']:.1f}",
            *("" if exact else f"{row[name]:.4f}" for name in ("mean error", "largest error")),
            f"{row['accuracy']:.1f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
