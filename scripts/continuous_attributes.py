"""Effect of continuous attributes on accuracy: the table in docs/beyond.md.

Compares Tree++ on labels only with Tree++ on attributes converted to labels by bins (quantiles,
k-means) or by random hashing. Ten stratified test folds; tree depth and C are chosen by
cross-validation of the training graphs, to which the bins are fitted.

    GRAPHGRAIN_DATA=folder python scripts/continuous_attributes.py --repeats 3 BZR PROTEINS

With ``--self-tuned`` the same for GraphClassifier: without attributes, and with binned attributes
as an additional view.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.svm import fit_svms, split_answers
from sklearn.pipeline import Pipeline, make_pipeline

import graphgrain as gg
from graphgrain.learning.selection import accuracy, best_value, classes_of

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


def self_tuned(name: str) -> dict[str, Maker]:
    """Return classifiers with the usual views of a data set, and with binned attributes."""
    bonds = gg.EdgeFilter(drop=[1])
    usual, before = ([None, bonds], [bonds]) if name.endswith("_MD") else ([None], [])
    before = [gg.EdgeLengths()] if name in ("BZR", "COX2", "DHFR") else before
    on = "vertex" if name == "PROTEINS" else "edge"
    views = {"labels": usual}
    for word, strategy in (("quantiles", "quantile"), ("k-means", "kmeans")):
        views[word] = [*usual, make_pipeline(*before, gg.AttributeBins(on, BINS, strategy))]
    return {word: partial(gg.GraphClassifier, views=some) for word, some in views.items()}


def of_self_tuned(
    graphs: gg.GraphBatch, y: np.ndarray, make: Maker, repeats: int
) -> Iterator[float]:
    """Yield the accuracy of a self-tuned classifier in each repetition."""
    codes = np.unique(y, return_inverse=True)[1]
    protocol = Protocol("nested")
    for repetition in range(repeats):
        right = 0.0
        for fold in range(protocol.folds):
            split = protocol.test_fold(codes, repetition, fold)
            model = make(n_jobs=-1).fit(graphs[split.train], codes[split.train])
            right += model.score(graphs[split.test], codes[split.test]) * len(split.test)
        yield right / len(codes)


def accuracies(graphs: gg.GraphBatch, y: np.ndarray, make: Maker, repeats: int) -> Iterator[float]:
    """Yield the accuracy of each repetition."""
    codes = np.unique(y, return_inverse=True)[1]
    protocol, grid = Protocol("nested"), (1, 10, 100, 1000)
    n_classes = int(codes.max()) + 1
    for repetition in range(repeats):
        right = 0
        for fold in range(protocol.folds):
            split = protocol.test_fold(codes, repetition, fold)
            fitted = [make(depth) for depth in DEPTHS]
            grams = [kernel.fit_transform(graphs[split.train]) for kernel in fitted]
            known = codes[split.train]
            each = []
            for gram in grams:
                scores = np.mean(
                    [
                        [
                            accuracy(known[part[1]], answer)
                            for answer in split_answers(gram, known, part, grid, n_classes)[0]
                        ]
                        for part in split.validation
                    ],
                    axis=0,
                )
                each.append((scores.max(), best_value(scores)))
            depth = int(np.argmax([score for score, _ in each]))
            model = fit_svms(grams[depth], known, grid, n_classes)[each[depth][1]]
            predicted = classes_of(model.scores(fitted[depth].transform(graphs[split.test])))
            right += int((predicted == codes[split.test]).sum())
        yield right / len(codes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", help=f"default: all, that is {'; '.join(SETS)}")
    parser.add_argument("--repeats", type=int, default=3, help="repetitions (default: 3)")
    parser.add_argument("--self-tuned", action="store_true", help="evaluate GraphClassifier")
    arguments = parser.parse_args()
    names = [name for name in SETS if not (arguments.self_tuned and name.endswith("complete"))]
    if unknown := set(arguments.datasets) - set(names):
        parser.error(f"unknown data sets {sorted(unknown)}; available are {names}")
    ways = list(self_tuned("BZR") if arguments.self_tuned else SETS["BZR"])
    print("| data set |", " | ".join(ways), "|")
    print("|---" * (1 + len(ways)) + "|")
    for name in arguments.datasets or names:
        graphs, y = gg.fetch_tu(name.split(",")[0])
        cells = []
        for way in ways:
            print(f"{name}: {way}", file=sys.stderr)
            if arguments.self_tuned:
                each = of_self_tuned(graphs, y, self_tuned(name)[way], arguments.repeats)
            else:
                each = accuracies(graphs, y, SETS[name][way], arguments.repeats)
            found = 100 * np.array(list(each))
            cells.append(f"{found.mean():.1f} ± {found.std():.1f}")
        print("|", " | ".join([name, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
