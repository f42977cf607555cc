"""What the ready-made Tree++ estimators share: they choose their kernel's parameters themselves.

1. Every combination of the kernel parameters that were given as lists is a setting.
2. For each setting one extraction gives the kernel matrices of all tree depths.
3. Inner cross-validation scores each matrix with each value of the learner's own parameter.
4. The best learner is trained on all graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..graphs.convert import as_graphs
from ..kernels.features import COUNT_MAPS
from ..kernels.parameters import BOOLEAN, Jobs, Number, OneOf, Rule, Seed, Whole, check_parameters
from ..kernels.tree_plus_plus import CENTRALITIES, TreePlusPlus
from .machines import Learner
from .search import Split, best, search
from .targets import check_folds


@dataclass(frozen=True)
class OneOrMore:
    """A value, or a list of values to choose from."""

    rule: Rule

    def allows(self, value: Any) -> bool:
        values = alternatives(value)
        return bool(values) and all(self.rule.allows(item) for item in values)

    def __str__(self) -> str:
        return f"{self.rule}; or a list of such values to choose from"


def alternatives(value: Any) -> list[Any]:
    """The values that a parameter offers."""
    return list(value) if isinstance(value, list | tuple | np.ndarray | range) else [value]


class TunedTreePlusPlus(BaseEstimator):
    """Base class of TreePlusPlusClassifier and TreePlusPlusRegressor."""

    _rules: ClassVar[dict[str, Rule]] = {
        "path_depth": OneOrMore(Whole(0)),
        "max_tree_depth": Whole(0),
        "centrality": OneOrMore(OneOf(tuple(CENTRALITIES))),
        "edge_labels": OneOrMore(BOOLEAN),
        "counts": OneOrMore(OneOf(COUNT_MAPS)),
        "cv": Whole(2),
        "random_state": Seed(),
        "n_jobs": Jobs(),
    }
    #: The learner's own parameter.
    _tuned: ClassVar[str]

    path_depth: Any
    max_tree_depth: int
    centrality: Any
    edge_labels: Any
    counts: Any
    cv: int
    random_state: int | None
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    # ---------------------------------------------------------------- fit

    def _settings(self) -> list[dict[str, Any]]:
        """The kernel's parameters that are tried, all but the tree depth."""
        names = ("path_depth", "centrality", "edge_labels", "counts")
        values = [alternatives(getattr(self, name)) for name in names]
        return [dict(zip(names, chosen, strict=True)) for chosen in product(*values)]

    def _checked_graphs(self, X: Any) -> GraphBatch:
        check_parameters(self, self._rules)
        batch = as_graphs(X)
        if not len(batch):
            raise InvalidGraphError(
                f"{type(self).__name__} needs graphs to learn from; got an empty list."
            )
        check_folds(self.cv, len(batch))
        return batch

    def _tune(
        self, batch: GraphBatch, targets: np.ndarray, splits: list[Split], learner: Learner
    ) -> None:
        """Try all settings, keep the best model and its kernel."""
        tried: list[dict[str, Any]] = []
        scores: list[np.ndarray] = []
        top = -np.inf
        for setting in self._settings():
            kernel = TreePlusPlus(tree_depth=self.max_tree_depth, n_jobs=self.n_jobs, **setting)
            grams = kernel.fit(batch).gram_levels()
            found = search(grams, targets, splits, learner, self.n_jobs)
            tried += [
                {**setting, "tree_depth": depth, self._tuned: value}
                for depth, value in product(range(len(grams)), learner.grid)
            ]
            scores.append(found.reshape(-1, len(splits)))
            depth, place = best(found, learner)
            score = float(found[depth, place].mean())
            if score > top:
                top = score
                self.kernel_ = kernel.at_depth(depth)
                self.model_ = learner.fit(grams[depth], targets)[place]
                self.best_params_ = {
                    **setting,
                    "tree_depth": depth,
                    self._tuned: learner.grid[place],
                }
        self.best_score_ = top
        self.n_graphs_ = len(batch)
        self.cv_results_ = _results(tried, np.concatenate(scores))

    # ---------------------------------------------------------------- predict

    def _similarities(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.kernel_.transform(X)


def _results(tried: list[dict[str, Any]], scores: np.ndarray) -> dict[str, Any]:
    """What was tried in the form of scikit-learn's searches, ready for a pandas.DataFrame."""
    means = scores.mean(axis=1)
    table: dict[str, Any] = {
        f"param_{name}": [params[name] for params in tried] for name in tried[0]
    }
    table["params"] = tried
    for split in range(scores.shape[1]):
        table[f"split{split}_test_score"] = scores[:, split]
    table["mean_test_score"] = means
    table["std_test_score"] = scores.std(axis=1)
    table["rank_test_score"] = 1 + np.array([int((means > mean + 1e-12).sum()) for mean in means])
    return table


#: A grid of positive numbers.
POSITIVE = OneOrMore(Number(0.0))
