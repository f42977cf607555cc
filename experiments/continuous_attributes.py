"""Effect of continuous attributes on accuracy: the table in docs/beyond.md.

Compares Tree++ on labels only with Tree++ on attributes converted to labels by bins (quantiles,
k-means) or by random hashing. Ten stratified test folds; tree depth and C are chosen by
cross-validation of the training graphs, to which the bins are fitted.

    GRAPHGRAIN_DATA=folder python -m experiments.continuous_attributes --repeats 3 BZR PROTEINS
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

import graphgrain as gg

from .data import load_with_classes
from .protocol import Fold, Protocol

DEPTHS = range(4)
BINS = 4
#: Returns a kernel with its views for a tree depth, or a classifier.
Maker = Callable[..., Any]


def kernels(*views: Any, edges: bool, on: str) -> dict[str, Maker]:
    """Return Tree++ pipelines with labels only, and with three ways to use attributes."""

    def tree(depth: int, edge_labels: bool) -> gg.TreePlusPlus:
        return gg.TreePlusPlus(tree_depth=depth, edge_labels=edge_labels)

    def binned(strategy: str) -> Maker:
        bins = gg.AttributeBins(on, BINS, strategy)
        return lambda depth: make_pipeline(*views, bins, tree(depth, edges or on == "edge"))

    def hashed(depth: int) -> Pipeline:
        return make_pipeline(*views, gg.HashedAttributes(tree(depth, edges or on == "edge"), on=on))

    return {
        "labels": lambda depth: make_pipeline(*views, tree(depth, edges)),
        "quantiles": binned("quantile"),
        "k-means": binned("kmeans"),
        "hashed": hashed,
    }


#: Pipelines by data set: coordinates give bond lengths; edges of the *_MD sets have distances.
SETS: dict[str, dict[str, Maker]] = {
    **dict.fromkeys(("BZR", "COX2", "DHFR"), kernels(gg.EdgeLengths(), edges=False, on="edge")),
    "PROTEINS": kernels(edges=False, on="vertex"),
    **dict.fromkeys(
        ("BZR_MD", "COX2_MD", "DHFR_MD"), kernels(gg.EdgeFilter(drop=[1]), edges=True, on="edge")
    ),
    **dict.fromkeys(
        ("BZR_MD, complete", "COX2_MD, complete", "DHFR_MD, complete"),
        kernels(edges=True, on="edge"),
    ),
}


def accuracies(graphs: gg.GraphBatch, y: np.ndarray, make: Maker, repeats: int) -> Iterator[float]:
    """Yield the accuracy of each repetition."""
    codes = np.unique(y, return_inverse=True)[1]
    protocol = Protocol("nested")
    n_classes = int(codes.max()) + 1
    for repetition in range(repeats):
        right = 0
        for number in range(protocol.folds):
            fold = protocol.fold(codes, repetition, number)
            everything = np.concatenate([fold.train, fold.test])
            train, test = np.split(np.arange(len(everything)), [len(fold.train)])
            levels = []
            for depth in DEPTHS:
                kernel = make(depth).fit(graphs[fold.train])
                rows = kernel.transform(graphs[everything])
                gram = np.zeros((len(everything), len(everything)))
                gram[:, : len(train)] = rows
                inside = Fold(train, test, fold.validation)
                levels.append(protocol.evaluate(gram, codes[everything], n_classes, inside))
            best = max(levels, key=lambda level: max(level["validation"]))
            right += int((np.array(best["predictions"]) == codes[fold.test]).sum())
        yield right / len(codes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", help=f"default: all, that is {'; '.join(SETS)}")
    parser.add_argument("--repeats", type=int, default=3, help="repetitions (default: 3)")
    arguments = parser.parse_args()
    names = list(SETS)
    if unknown := set(arguments.datasets) - set(names):
        parser.error(f"unknown data sets {sorted(unknown)}; available are {names}")
    ways = list(SETS["BZR"])
    print("| data set |", " | ".join(ways), "|")
    print("|---" * (1 + len(ways)) + "|")
    for name in arguments.datasets or names:
        graphs, y = load_with_classes(name.split(",")[0])
        cells = []
        for way in ways:
            print(f"{name}: {way}", file=sys.stderr)
            each = accuracies(graphs, y, SETS[name][way], arguments.repeats)
            found = 100 * np.array(list(each))
            cells.append(f"{found.mean():.1f} ± {found.std():.1f}")
        print("|", " | ".join([name, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
