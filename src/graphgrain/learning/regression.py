"""SelfTunedRegressor: ridge regression on kernels that training graphs choose."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from ..parameters import OneOf, Rule
from .candidates import alternatives
from .learner import Split
from .linear import GroupedFeatures, train_ridge
from .pattern_weights import PatternWeights
from .ridge import KernelRidge
from .scoring import OF_NUMBERS
from .search import Search
from .shares import best_shares
from .splits import random_folds, train_and_test
from .targets import check_folds, check_values
from .tuning import POSITIVE, SelfTuned

#: With more graphs than this, so many judge the candidates.
SAMPLE = 1000


class SelfTunedRegressor(RegressorMixin, SelfTuned):
    """Base class of the regressors that choose for themselves."""

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **SelfTuned.parameter_rules,
        "alpha": POSITIVE,
        "scoring": OneOf(tuple(OF_NUMBERS)),
    }
    _tuned = "alpha"

    alpha: Any
    scoring: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose kernels and parameters, and train.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
        y : array-like of numbers
            One per graph, or one row per graph.
        sample_weight : array-like, optional
            How much the error of each graph counts; graphs of weight 0 are left out.
        """
        batch = self._checked_graphs(X)
        values = check_values(y, len(batch))
        weights = self._checked_weights(sample_weight, len(batch))
        if (weights == 0).any():
            kept = np.flatnonzero(weights)
            batch, values, weights = batch[kept], values[kept], weights[kept]
            check_folds(self.cv, len(kept))
        weights = weights / weights.mean()
        self._one_target = values.ndim == 1
        columns = values.reshape(len(batch), -1)
        self._mean = np.average(columns, axis=0, weights=weights)
        spread = np.sqrt(np.average((columns - self._mean) ** 2, axis=0, weights=weights))
        self._spread = np.where(spread > 0, spread, 1.0)
        rng = np.random.default_rng(self.random_state)
        sample = np.arange(len(batch))
        if self.solver != "kernel" and len(batch) > SAMPLE:
            sample = np.sort(rng.permutation(len(batch))[:SAMPLE])
        folds = random_folds(len(sample), self.cv, rng)
        splits = [train_and_test(folds, fold) for fold in range(self.cv)]
        learner = KernelRidge(sorted(alternatives(self.alpha)))
        scaled = (columns - self._mean) / self._spread
        judging = sample, weights[sample]
        self._tune(batch, scaled, weights, judging, splits, learner, OF_NUMBERS[self.scoring])
        return self

    def _train_on_features(
        self, features: GroupedFeatures, targets: np.ndarray, value: float, weights: np.ndarray
    ) -> PatternWeights:
        return train_ridge(features, targets, value, weights)

    def _shares(
        self, search: Search, targets: np.ndarray, weights: np.ndarray, splits: list[Split]
    ) -> np.ndarray:
        """Shares, none negative, with which held-out graphs are predicted best."""
        held_out = [search.held_out[one] for one in search.members]
        return best_shares(held_out, targets, weights, splits)

    def _in_units(self, weights: PatternWeights, factor: float) -> PatternWeights:
        return weights.in_units(factor * self._spread, self._mean)

    def predict(self, X: Any) -> np.ndarray:
        """The value (or the row of values) of each graph."""
        values = np.mean(self._outputs(X), axis=0)
        return values[:, 0] if self._one_target else values
