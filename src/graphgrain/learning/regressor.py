"""TreePlusPlusRegressor: from graphs to numbers, with nothing left to choose."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from ..parameters import Rule
from .committee import SEATS
from .machines import Ridge
from .splits import random_folds, train_and_test
from .targets import check_values
from .tuned import POSITIVE, TunedTreePlusPlus, alternatives


class TreePlusPlusRegressor(RegressorMixin, TunedTreePlusPlus):
    """Predict numbers from graphs: Tree++ and kernel ridge regression that tune themselves.

    Parameters
    ----------
    path_depth, max_tree_depth, centrality, edge_labels, views, counts, time_budget, cv,
    random_state, n_jobs
        As in :class:`TreePlusPlusClassifier`.
    committee : int, default=12
        How many of the best combinations predict together: the mean of what they say. No more
        than half of those that were tried.
    alpha : float or list of float
        How much to smooth. Of equally good values the largest is taken.

    Attributes
    ----------
    members_, best_params_, cv_results_, skipped_, pattern_weights_, kernel_, view_
        As in :class:`TreePlusPlusClassifier`.
    best_score_ : float
        Minus the mean squared error in the inner cross-validation.

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
    }
    _tuned = "alpha"

    def __init__(
        self,
        path_depth: Any = 6,
        max_tree_depth: int = 7,
        *,
        alpha: Any = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0),
        centrality: Any = "eigenvector",
        edge_labels: Any = "auto",
        views: Any = None,
        counts: Any = "auto",
        committee: int = SEATS,
        time_budget: float | None = None,
        cv: int = 5,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.path_depth = path_depth
        self.max_tree_depth = max_tree_depth
        self.alpha = alpha
        self.centrality = centrality
        self.edge_labels = edge_labels
        self.views = views
        self.counts = counts
        self.committee = committee
        self.time_budget = time_budget
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> TreePlusPlusRegressor:
        """Choose the parameters and train.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
        y : array-like of numbers
            One per graph, or one row per graph.
        """
        batch = self._checked_graphs(X)
        values = check_values(y, len(batch))
        rng = np.random.default_rng(self.random_state)
        folds = random_folds(len(batch), self.cv, rng)
        splits = [train_and_test(folds, fold) for fold in range(self.cv)]
        self._tune(batch, values, splits, Ridge(sorted(alternatives(self.alpha))))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The value (or the row of values) of each graph."""
        return self._mean(X, lambda model, values: model.values_of(values))
