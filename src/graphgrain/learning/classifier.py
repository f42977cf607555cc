"""TreePlusPlusClassifier: from graphs to classes, with nothing left to choose."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from ..errors import InvalidParameterError
from ..parameters import OneOf, Rule
from .calibration import fit_sigmoids, probabilities
from .candidates import alternatives
from .committee import MEMBERS
from .linear import GroupedFeatures, train_svm
from .pattern_weights import PatternWeights
from .scoring import AUTO, OF_CLASSES, for_classes
from .splits import stratified_folds, stratified_sample, train_and_test
from .svm import ClassPairs, KernelSvm, classes_of
from .targets import check_classes
from .tuning import MOST_FOR_KERNEL, POSITIVE, TunedTreePlusPlus

#: With many graphs, so many judge the candidates.
SAMPLE = 3000


class ClassWeightRule:
    """None, "balanced", or a weight for each class."""

    def allows(self, value: Any) -> bool:
        return (
            value is None
            or (isinstance(value, str) and value == "balanced")
            or isinstance(value, dict)
        )

    def __str__(self) -> str:
        return "None, 'balanced' or a dictionary with the weight of each class"


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
    normalize : bool, list of bool or "auto", default=True
        As in :class:`TreePlusPlus`. "auto" tries both.
    committee : int, default=12
        How many of the best combinations decide together, by the mean of their decision values:
        this number, but no more than half of those that were tried. 1 is the best alone, which
        is quicker to predict.
    solver : {"auto", "kernel", "linear"}, default="auto"
        On what the support vector machines are trained: on kernel matrices, or on the features
        themselves, which takes any number of graphs. "auto" is "kernel" up to 5,000 graphs.
        Beyond that, combinations are judged by a sample of 3,000 graphs, unless the solver is
        "kernel".
    scoring : {"auto", "accuracy", "balanced_accuracy", "roc_auc", "average_precision"}
        What combinations are judged by. "auto" is the ROC AUC if one of two classes has less than
        a tenth of the graphs, else the accuracy.
    class_weight : None, "balanced" or dict, default=None
        What C is multiplied by for each class; "balanced" lets all classes weigh the same.
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
    verbose : int, default=0
        1 tells on standard error how far the search is.

    Attributes
    ----------
    classes_ : array
        The classes in sorted order.
    members_ : list of dict
        The parameters of those that decide together, the best first.
    best_params_ : dict
        The first of them.
    best_score_ : float
        Its score in the inner cross-validation. Having been chosen makes it optimistic: for an
        honest figure give the classifier to ``cross_val_score``.
    scoring_ : str
        What combinations were judged by.
    cv_results_ : dict
        All that was tried, in the form of scikit-learn's ``GridSearchCV``.
    skipped_ : list of dict
        What there was no time for.
    member_weights_ : array
        How much each counts; all the same.
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
        "scoring": OneOf((AUTO, *OF_CLASSES)),
        "class_weight": ClassWeightRule(),
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
        normalize: Any = True,
        committee: int = MEMBERS,
        solver: str = "auto",
        scoring: str = "auto",
        class_weight: Any = None,
        time_budget: float | None = None,
        cv: int = 5,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.path_depth = path_depth
        self.max_tree_depth = max_tree_depth
        self.C = C
        self.centrality = centrality
        self.edge_labels = edge_labels
        self.views = views
        self.counts = counts
        self.normalize = normalize
        self.committee = committee
        self.solver = solver
        self.scoring = scoring
        self.class_weight = class_weight
        self.time_budget = time_budget
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreePlusPlusClassifier:
        """Choose the parameters and train.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
        y : array-like of integers or strings
            The class of each graph.
        sample_weight : array-like, optional
            What C is multiplied by for each graph; graphs of weight 0 are left out.
        """
        batch = self._checked_graphs(X)
        self.classes_, codes = check_classes(y, len(batch), members=1)
        weights = self._checked_weights(sample_weight, len(batch)) * self._class_weights(codes)
        if (weights == 0).any():
            kept = np.flatnonzero(weights)
            batch, codes, weights = batch[kept], codes[kept], weights[kept]
        rng = np.random.default_rng(self.random_state)
        sample = np.arange(len(batch))
        if self.solver != "kernel" and len(batch) > MOST_FOR_KERNEL:
            sample = stratified_sample(codes, SAMPLE, rng)
        folds = stratified_folds(codes[sample], self.cv, rng)
        splits = [train_and_test(folds, fold) for fold in range(self.cv)]
        learner = KernelSvm(sorted(alternatives(self.C)), len(self.classes_))
        self._pairs = ClassPairs(tuple(np.unique(codes).tolist()), len(self.classes_))
        self.scoring_ = for_classes(self.scoring, codes)
        search = self._tune(
            batch, codes, weights, sample, splits, learner, OF_CLASSES[self.scoring_]
        )
        held_out = np.mean([search.held_out[one] for one in search.members], axis=0)
        self._sigmoids = fit_sigmoids(codes[sample], held_out, len(self.classes_))
        return self

    def _class_weights(self, codes: np.ndarray) -> np.ndarray:
        counts = np.bincount(codes, minlength=len(self.classes_))
        if self.class_weight is None:
            return np.ones(len(codes))
        if isinstance(self.class_weight, dict):
            known = {str(name): weight for name, weight in self.class_weight.items()}
            missing = [name for name in self.classes_.tolist() if str(name) not in known]
            if missing:
                raise InvalidParameterError(
                    f"class_weight must have a weight for every class; {missing[0]!r} has none."
                )
            factors = np.array([known[str(name)] for name in self.classes_.tolist()], dtype=float)
            if not (np.isfinite(factors) & (factors > 0)).all():
                raise InvalidParameterError(
                    f"Weights of classes must be finite numbers above 0; got {factors.tolist()}."
                )
            return factors[codes]
        return (len(codes) / (len(counts) * counts))[codes]

    def _train_on_features(
        self, features: GroupedFeatures, targets: np.ndarray, value: float, weights: np.ndarray
    ) -> PatternWeights:
        return train_svm(features, targets, self._pairs, value, weights)

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
        return np.mean([self._pairs.answers(values) for values in self._outputs(X)], axis=0)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Sigmoids of the decision values, fitted to graphs that were held out in the inner
        cross-validation. Where these do not cross one half at a decision value of zero, the
        likelier class may differ from :meth:`predict`.

        Returns
        -------
        array of shape (graphs, classes)
        """
        return probabilities(self._sigmoids, self.decision_function(X))
