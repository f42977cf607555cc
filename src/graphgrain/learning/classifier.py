"""TreePlusPlusClassifier: from graphs to classes, with nothing left to choose."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from ..parameters import Rule
from .committee import SEATS, classes_of
from .machines import SupportVectors
from .splits import stratified_folds, train_and_test
from .targets import check_classes
from .tuned import POSITIVE, TunedTreePlusPlus, alternatives


class TreePlusPlusClassifier(ClassifierMixin, TunedTreePlusPlus):
    """Classify graphs: Tree++ and a support vector machine that choose their own parameters.

    ``fit`` counts features once for all tree depths and count maps (once more with edge labels,
    where graphs have them, and again for each further view) and judges every combination and C by
    stratified cross-validation. The best dozen combinations, each with its best C, are trained on
    all graphs and decide together.

    Parameters
    ----------
    path_depth : int or list of int, default=6
        Length of the longest paths, the paper's d.
    max_tree_depth : int, default=7
        Tree depths (the paper's k) from 0 to this are tried.
    C : float or list of float, default=(1, 10, 100, 1000)
        How much an error costs the support vector machine. Of equally good values the largest
        is taken, of equally good tree depths the smallest.
    centrality : str or None, or list of these, default="eigenvector"
        As in :class:`TreePlusPlus`.
    edge_labels : "auto", bool or list of bool, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries both if there are at least two edge labels.
    views : view, None or list of these, optional
        How to see the graphs: None is as they are, else :class:`EdgeFilter`,
        :class:`AttributeBins` or a pipeline of views. ``[None, EdgeFilter(drop=[1])]`` tries
        both. Each is fitted to the training graphs alone. A view is not tried where the kernel
        would see what another has shown it already.
    counts : "auto", str or list of str, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries "raw", "sqrt" and "intersection".
    committee : int, default=12
        How many of the best combinations decide together, by the mean of their decision values:
        this number, but no more than half of those that were tried. 1 is the best alone, which
        is quicker to predict.
    time_budget : float, optional
        Seconds. Once they are over, no further combination of the parameters above is begun; at
        least one is tried. Combinations are tried in this order: the first count map without
        edge labels, with edge labels, through the other views, then the other count maps in the
        same way.
    cv : int, default=5
        Number of inner folds.
    random_state : int or None, default=0
        Seed of the inner folds.
    n_jobs : int, optional
        Number of threads; -1 takes all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : array
        The classes in sorted order.
    members_ : list of dict
        The parameters of those that decide together, the best first.
    best_params_ : dict
        The first of them.
    best_score_ : float
        Their accuracy in the inner cross-validation. Having been chosen makes it optimistic:
        for an honest figure give the classifier to ``cross_val_score``.
    cv_results_ : dict
        All that was tried, in the form of scikit-learn's ``GridSearchCV``.
    skipped_ : list of dict
        What there was no time for.
    pattern_weights_ : list of PatternWeights
        What each member has learnt, as a weight for each pattern; no training graph is kept.
    kernel_ : TreePlusPlus
        The kernel with the best parameters, not fitted to any graphs.
    view_ : view or None
        The fitted view in front of it.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> model = gg.TreePlusPlusClassifier().fit(graphs[::2], y[::2])
    >>> [model.best_params_[name] for name in ("counts", "edge_labels", "tree_depth", "C")]
    ['intersection', True, 0, 10]
    >>> model.predict(graphs[[61, 81, 221]]).tolist()
    ['benzodiazepines', 'beta blockers', 'opioids']
    >>> float(round(model.score(graphs[1::2], y[1::2]), 2))
    0.99
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **TunedTreePlusPlus.parameter_rules,
        "C": POSITIVE,
    }
    _tuned = "C"

    def __init__(
        self,
        path_depth: Any = 6,
        max_tree_depth: int = 7,
        *,
        C: Any = (1, 10, 100, 1000),
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
        self.C = C
        self.centrality = centrality
        self.edge_labels = edge_labels
        self.views = views
        self.counts = counts
        self.committee = committee
        self.time_budget = time_budget
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> TreePlusPlusClassifier:
        """Choose the parameters and train.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
        y : array-like of integers or strings
            The class of each graph; at least two graphs of each.
        """
        batch = self._checked_graphs(X)
        self.classes_, codes = check_classes(y, len(batch))
        folds = stratified_folds(codes, self.cv, np.random.default_rng(self.random_state))
        splits = [train_and_test(folds, fold) for fold in range(self.cv)]
        learner = SupportVectors(sorted(alternatives(self.C)), len(self.classes_))
        self._tune(batch, codes, splits, learner)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each graph."""
        return self.classes_[classes_of(self.decision_function(X))]

    def decision_function(self, X: Any) -> np.ndarray:
        """How strongly each graph belongs to each class.

        Returns
        -------
        array of shape (graphs,) for two classes, where positive means ``classes_[1]``, else
        (graphs, classes)
        """
        return self._mean(X, lambda machine, values: machine.scores_of(values))
