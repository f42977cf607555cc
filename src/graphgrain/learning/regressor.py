"""TreePlusPlusRegressor: from graphs to numbers, with nothing left to choose."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from ..parameters import OneOf, Rule
from .candidates import alternatives
from .committee import MEMBERS
from .linear import GroupedFeatures, train_ridge
from .pattern_weights import PatternWeights
from .ridge import KernelRidge
from .scoring import OF_NUMBERS
from .search import Search
from .splits import random_folds, train_and_test
from .targets import check_values
from .tuning import POSITIVE, TunedTreePlusPlus

#: With more graphs than this, so many judge the candidates.
SAMPLE = 1000


class TreePlusPlusRegressor(RegressorMixin, TunedTreePlusPlus):
    """Predict numbers from graphs: Tree++ and kernel ridge regression that tune themselves.

    Parameters
    ----------
    path_depth : int or list of int, default=(0, 6)
        Length of the longest paths, the paper's d. With 0 the features are single neighbourhoods.
    max_tree_depth : int, default=3
        Tree depths (the paper's k) from 0 to this are tried.
    centrality, edge_labels, views, counts, solver, time_budget, cv, random_state, n_jobs, verbose
        As in :class:`TreePlusPlusClassifier`; but with more than 1,000 graphs, combinations are
        judged by a sample of so many, unless the solver is "kernel".
    normalize : bool, list of bool or "auto", default="auto"
        As in :class:`TreePlusPlus`. "auto" tries both: what grows with the size of a graph, such
        as its mass, is better told without.
    committee : int, default=12
        How many of the best combinations may predict together, no more than half of those that
        were tried. What they say is added up with shares, none of them negative, that predict
        held-out graphs best; those without a share are left out.
    alpha : float or list of float
        How much to smooth, for kernels whose graphs have similarity 1 with themselves (on
        average). Of equally good values the largest is taken.
    scoring : {"r2", "neg_mean_absolute_error"}, default="r2"
        What combinations are judged by: the squared or the absolute error. Targets are scaled to
        mean 0 and standard deviation 1, so that their unit does not matter.

    Attributes
    ----------
    member_weights_ : array
        The share of each member.
    members_, best_params_, cv_results_, skipped_, pattern_weights_, kernel_, view_
        As in :class:`TreePlusPlusClassifier`.
    best_score_ : float
        The score in the inner cross-validation: R2, or minus the mean absolute error in standard
        deviations of the targets.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _ = gg.load_drugs()
    >>> atoms = graphs.vertex_counts
    >>> model = gg.TreePlusPlusRegressor(max_tree_depth=2).fit(graphs[::2], atoms[::2])
    >>> model.score(graphs[1::2], atoms[1::2]) > 0.5
    True
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **TunedTreePlusPlus.parameter_rules,
        "alpha": POSITIVE,
        "scoring": OneOf(tuple(OF_NUMBERS)),
    }
    _tuned = "alpha"

    def __init__(
        self,
        path_depth: Any = (0, 6),
        max_tree_depth: int = 3,
        *,
        alpha: Any = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0),
        centrality: Any = "eigenvector",
        edge_labels: Any = "auto",
        views: Any = None,
        counts: Any = "auto",
        normalize: Any = "auto",
        committee: int = MEMBERS,
        solver: str = "auto",
        scoring: str = "r2",
        time_budget: float | None = None,
        cv: int = 5,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.path_depth = path_depth
        self.max_tree_depth = max_tree_depth
        self.alpha = alpha
        self.centrality = centrality
        self.edge_labels = edge_labels
        self.views = views
        self.counts = counts
        self.normalize = normalize
        self.committee = committee
        self.solver = solver
        self.scoring = scoring
        self.time_budget = time_budget
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreePlusPlusRegressor:
        """Choose the parameters and train.

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
        self._tune(batch, scaled, weights, sample, splits, learner, OF_NUMBERS[self.scoring])
        return self

    def _train_on_features(
        self, features: GroupedFeatures, targets: np.ndarray, value: float, weights: np.ndarray
    ) -> PatternWeights:
        return train_ridge(features, targets, value, weights)

    def _shares(self, search: Search, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Shares, none negative, with which held-out graphs are predicted best."""
        from scipy.optimize import nnls

        roots = np.sqrt(weights)[:, np.newaxis]
        held_out = [(roots * search.held_out[one]).ravel() for one in search.members]
        shares, _ = nnls(np.column_stack(held_out), (roots * targets).ravel())
        if not (shares > 0).any():  # no candidate is better than the mean of the targets
            shares[0] = 1.0
        return shares

    def _in_units(self, weights: PatternWeights, factor: float) -> PatternWeights:
        return weights.in_units(factor * self._spread, self._mean)

    def predict(self, X: Any) -> np.ndarray:
        """The value (or the row of values) of each graph."""
        values = np.mean(self._outputs(X), axis=0)
        return values[:, 0] if self._one_target else values
