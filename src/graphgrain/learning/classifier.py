"""GraphClassifier: graph classification with automatic kernel selection."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidParameterError
from ..parameters import Described, Number, OneOf, Whole, all_or_nothing, check_value, parameter
from .estimator import COVERAGE, GraphEstimator, Training
from .folds import even_sample, stratified_sample
from .inputs import check_classes, check_two_classes
from .machine import KernelMachine
from .ridge import Ridge, fit_with_folds, sparse_ridge
from .selection import (
    AUTO,
    OF_CLASSES,
    SCORES_OF_CLASSES,
    CrossValidation,
    OneOrMore,
    alternatives,
    classes_of,
    for_classes,
)

#: Bytes per pair of graphs: the matrix in single precision, plus workspace for one term.
PAIR_BYTES = 8.0
#: Up to this many graphs the kernel matrix has double precision.
DOUBLE = 3000


CLASS_WEIGHT = Described(
    "None, 'auto', 'balanced' or a dictionary with the weight of each class",
    lambda v: v is None or isinstance(v, dict) or (isinstance(v, str) and v in (AUTO, "balanced")),
)


def balanced(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weights of graphs, changed so that all classes have the same total weight."""
    totals = np.bincount(codes, weights)
    shares = weights.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0))
    return weights * shares[codes]


def signs_of(codes: np.ndarray, classes: int) -> np.ndarray:
    """Return targets of 1 for graphs of a class and -1 for others, (graphs, outputs).

    Two classes have a single output, for the second class.
    """
    positive = np.arange(1, 2) if classes == 2 else np.arange(classes)
    return np.where(codes[:, np.newaxis] == positive, 1.0, -1.0)


class GraphClassifier(ClassifierMixin, GraphEstimator):
    """Classify graphs with a sum of kernels and ridge regression, both tuned automatically.

    ``fit`` counts the features of each candidate kernel once and evaluates all similarities of
    these features by stratified cross-validation in rounds: all candidates on a small sample, the
    better ones on more graphs. It sums the kernels that improve the score and trains one ridge
    regression on the sum, with target 1 for graphs of a class and -1 for all others. Sigmoids turn
    its scores into probabilities, and the class with the largest probability is predicted.

    Parameters
    ----------
    kernels : str, kernel, KernelGrid, or list of these, default=("tree++", "sp")
        Candidate kernels; they must have explicit features. A name stands for all levels, count
        maps and similarities of the kernel; kernel objects and grids are used with their own
        parameters. The default is Tree++ and pairs of labels at every distance ("sp", which is
        omitted if the graphs are so large that there are too many pairs); "auto" stands for
        Tree++, Weisfeiler-Lehman and shortest paths.
    max_level : int, default=4
        Highest level of named kernels (tree depth, refinement steps); all levels from 0 are tried.
    path_depth : int or list of int, default=(0, 6)
        Length of the longest paths of Tree++ (d in the paper). With 0 each feature is a single
        neighbourhood.
    alpha : float or list of float, default=(0.01, 0.03, 0.1, 0.3, 1, 3, 10)
        Regularisation strength, relative to a kernel that is 1 between a graph and itself. Of
        equally good values the largest is chosen.
    centrality : str or None, or list of these, default="eigenvector"
        As in :class:`TreePlusPlus`.
    edge_labels : "auto", bool or list of bool, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries both if there are at least two edge labels.
    views : "auto", view, None or list of these, default="auto"
        Transformations applied to the graphs before features are counted: None for no change,
        :class:`StructuralLabels`, :class:`PharmacophoreLabels`, :class:`EdgeFilter`,
        :class:`AttributeBins` or a pipeline of views. "auto" tries the graphs unchanged and with
        structural labels, and for molecules "sp" also with pharmacophore labels. Views are fitted
        to the training graphs only.
    attributes : bool, default=True
        Whether to use vertex and edge attributes: clustered, they are tried as labels.
    counts : "auto", str or list of str, default="auto"
        As in :class:`TreePlusPlus`.
    similarity : "auto", str or list of str, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries min-max of the counts, and the cosine of the
        counts and of their square roots.
    max_terms : int, default=20
        Maximum number of kernels in the sum.
    solver : {"auto", "kernel", "linear"}, default="auto"
        "kernel" trains on the kernel matrix, "linear" on the features themselves, which scales to
        any number of graphs but excludes min-max similarities. "auto" is "kernel" if the matrix
        takes at most half of the available memory.
    scoring : {"auto", "accuracy", "balanced_accuracy", "roc_auc", "average_precision"}
        Score used to compare kernels. "auto" is the ROC AUC if there are two classes and one has
        less than a third of the graphs, and the accuracy otherwise.
    class_weight : None, "auto", "balanced" or dict, default="auto"
        Weights of the classes; "balanced" gives all classes the same total weight. "auto" is
        "balanced" if there are two classes, the score is not the accuracy, and balancing improves
        it in cross-validation. Probabilities are calibrated without weights in all cases.
    graphs : str, optional
        Name of the column with the graphs, if X is a table. By default it is detected from its
        content.
    descriptors : {None, "rdkit"}, default=None
        "rdkit" adds RDKit's molecular descriptors as columns.
    time_budget : float, optional
        Time limit in seconds after which no further candidates are started; the first one is
        always tried.
    cv : int, splitter or "scaffold", default=5
        Inner cross-validation. "scaffold" keeps molecules with the same ring systems in one fold.
    random_state : int or None, default=0
        Seed for samples and folds.
    n_jobs : int, optional
        Number of threads; -1 uses all cores. Up to 4,000 training graphs, results do not depend on
        it; beyond, BLAS uses several threads, which may change the last bits.
    verbose : int, default=0
        1 reports the progress of the search on standard error.

    Attributes
    ----------
    classes_ : array
        Class labels in sorted order.
    terms_ : list of dict
        Parameters of the kernels in the sum.
    best_params_ : dict
        ``terms_`` and the selected alpha.
    best_score_ : float
        Score of the selected parameters in the inner cross-validation. Selection makes it
        optimistic; use ``cross_val_score`` on the classifier for an unbiased estimate.
    scoring_ : str
        Score used to compare kernels.
    cv_results_ : dict
        All candidates with their scores, in the format of scikit-learn's ``HalvingGridSearchCV``.
    skipped_ : list of dict
        Candidates skipped because the time budget was exhausted.
    machine_ : KernelMachine
        The fitted model; its outputs are the log-odds of the classes.

    See Also
    --------
    GraphRegressor : Regression with the same kernels.
    explain : Attribute predictions to vertices and patterns.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> model = gg.GraphClassifier(max_level=2).fit(graphs[::2], y[::2])
    >>> model.predict(graphs[[61, 81, 221]]).tolist()
    ['benzodiazepines', 'beta blockers', 'opioids']
    >>> model.score(graphs[1::2], y[1::2]) > 0.95
    True
    """

    max_level: int = parameter(Whole(0), default=4, kw_only=False)
    alpha: Any = parameter(OneOrMore(Number(0.0)), default=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0))
    scoring: str = parameter(OneOf((AUTO, *SCORES_OF_CLASSES)), default=AUTO)
    class_weight: Any = parameter(CLASS_WEIGHT, default=AUTO)

    _usual = OF_CLASSES
    _rounds = (400, 1000, 2000)
    _clear = 3.75  # p = 0.01 with five folds

    # ---------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select kernels and parameters by cross-validation, and train on all graphs.

        Parameters
        ----------
        X : GraphBatch, sequence of graphs, or data frame with a column of graphs
        y : array-like of integers or strings
            Class of each graph.
        sample_weight : array-like, optional
            Weight of each graph; graphs of weight 0 are ignored.
        groups : array-like, optional
            Graphs of the same group are kept in the same fold.

        Returns
        -------
        self : GraphClassifier
        """
        with all_or_nothing(self):
            batch, columns = self._read_to_fit(X)
            self.classes_, codes = check_classes(y, len(batch), members=1)
            weights = self._weighted(codes, self._checked_weights(sample_weight, len(batch)))
            kept = weights > 0
            check_two_classes(self.classes_[np.unique(codes[kept])], int(kept.sum()))
            rng = np.random.default_rng(self.random_state)
            self.scoring_ = for_classes(self.scoring, codes[kept])
            data = self._training(batch, columns, codes, weights, kept, groups, rng)
            pairs = np.unique(np.column_stack([data.folds, data.targets]), axis=0)[:, 0]
            if self.scoring_ in ("roc_auc", "average_precision") and np.bincount(pairs).max() < 2:
                if self.scoring != AUTO:
                    raise InvalidParameterError(
                        f"scoring={self.scoring!r} needs folds with graphs of several classes; "
                        f"those of cv={self.cv!r} have one class each. Use fewer folds, or "
                        "scoring='accuracy'."
                    )
                self.scoring_ = "accuracy"
            with self._blas(len(data.targets)):
                self._fit(data._replace(weights=data.weights / data.weights.mean()), rng)
        return self

    def _fit(self, data: Training, rng: np.random.Generator) -> None:
        codes = data.targets
        linear = self._is_linear(len(codes), PAIR_BYTES)
        sample, stand_for = self._sample(codes, self._rounds[-1], rng)
        measure = SCORES_OF_CLASSES[self.scoring_]

        def score(positions: np.ndarray, values: np.ndarray) -> float:
            own = values[:, 0] if values.shape[1] == 1 else values
            return measure(codes[sample][positions], own)

        learner = Ridge(sorted(alternatives(self.alpha)))
        signs = signs_of(codes, len(self.classes_))
        weights = data.weights[sample] * stand_for
        validation = CrossValidation(
            learner, sample, signs[sample], data.folds[sample], weights, score, self.n_jobs
        )
        rounds = [
            self._sample(codes[sample], size, rng)[0]
            for size in self._rounds[:1]
            if 2 * size <= len(sample)
        ]
        rounds.append(self._sample(codes[sample], self._rounds[1], rng)[0])
        selector = self._select(data, rounds, validation, self._terms(data.batch, linear))
        total = selector.mean(selector.terms)
        scored = validation(total)
        if self.class_weight == AUTO and len(self.classes_) == 2 and self.scoring_ != "accuracy":
            weights = balanced(codes, data.weights)
            other = replace(validation, weights=weights[sample] * stand_for)
            against = other(total)
            if against.mean > scored.mean:
                selector.validation, scored, data = other, against, data._replace(weights=weights)
        self._keep(selector, scored)
        if linear:
            alpha = float(learner.grid[scored.place])
            machine, held_out, _ = self._train_features(
                selector,
                data,
                lambda matrix, rows: sparse_ridge(matrix, signs[rows], alpha, data.weights[rows]),
            )
        else:
            precision = np.float64 if len(codes) <= DOUBLE else np.float32
            machine, K, scored = self._kernel_matrix(data, selector, scored, total, precision)
            alpha = float(learner.grid[scored.place])
            coefficients, intercept, held_out = fit_with_folds(
                K, signs, alpha, data.weights, data.folds
            )
            machine.set_coefficients(coefficients, intercept, self._column_share_)
        self.best_params_["alpha"] = alpha
        machine, held_out, _ = self._with_forest(machine, held_out, data, selector.validation)
        self._calibrate(machine, held_out, data)
        self.n_graphs_ = len(codes)

    def _forest_units(self, data: Training, held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return factors and shifts to log-odds, the unit of forest outputs."""
        factors, shifts = fit_sigmoids(data.targets, held_out, data.weights).T
        return factors, shifts

    def _calibrate(self, machine: KernelMachine, held_out: np.ndarray, data: Training) -> None:
        """Convert scores to log-odds, calibrated on held-out graphs."""
        sigmoids = fit_sigmoids(data.targets, held_out, np.ones(len(held_out)))
        self.machine_ = machine.rescaled(sigmoids[:, 0], sigmoids[:, 1])
        log_odds = held_out * sigmoids[:, 0] + sigmoids[:, 1]
        found = probabilities(log_odds).astype(np.float32)
        self.held_out_probabilities_ = self._by_row(found, np.nan)
        self.held_out_classes_ = self._by_row(data.targets.astype(np.int32), -1)

    def _sample(
        self, codes: np.ndarray, size: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sample graphs for the evaluation of kernels; return positions and weights.

        A score that does not depend on class sizes is estimated best from a sample that is as
        balanced as possible. The weights (how many graphs of its class each one represents) give
        alpha the same meaning on the sample as on all graphs.
        """
        if len(codes) <= size:
            return np.arange(len(codes)), np.ones(len(codes))
        pairs = len(self.classes_) == 2 and self.scoring_ in ("roc_auc", "average_precision")
        if pairs or self.scoring_ == "balanced_accuracy":
            return even_sample(codes, size, rng)
        return stratified_sample(codes, size, rng), np.ones(size)

    def _weighted(self, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weights of graphs, multiplied by those of their classes."""
        if self.class_weight in (None, AUTO):
            return weights
        if not isinstance(self.class_weight, dict):
            return balanced(codes, weights)
        # classes may be given as texts, such as those of a file
        known = {str(name): weight for name, weight in self.class_weight.items()}
        known |= self.class_weight
        found = []
        for name in self.classes_.tolist():
            key = name if name in known else str(name)
            if key not in known:
                raise InvalidParameterError(
                    f"class_weight must have a weight for every class; {name!r} has none."
                )
            found.append(known[key])
        if not all(isinstance(weight, Real) for weight in found):
            raise InvalidParameterError(f"Weights of classes must be numbers; got {found}.")
        factors = np.array(found, dtype=float)
        if not (np.isfinite(factors) & (factors > 0)).all():
            raise InvalidParameterError(
                f"Weights of classes must be finite numbers above 0; got {factors.tolist()}."
            )
        return weights * factors[codes]

    # ---------------------------------------------------------------- predict

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the classes, which are sums over the patterns of a graph.

        Returns
        -------
        array of shape (graphs,) for two classes, where positive means ``classes_[1]``, else
        (graphs, classes)
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest probability for each graph."""
        codes = classes_of(self.decision_function(X))
        return self.classes_[codes]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the given graphs."""
        return float(super().score(X, y, sample_weight))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Probabilities are sigmoids of the scores, fitted to the held-out graphs of the
        cross-validation.

        Returns
        -------
        array of shape (graphs, classes)
        """
        return probabilities(self._values(X))

    def predict_set(self, X: Any, coverage: float = 0.9) -> list[list[Any]]:
        """Return prediction sets that contain the true class with the given probability.

        The coverage holds for each class separately, including rare ones, if new graphs are
        exchangeable with the training graphs, which molecules with new scaffolds are not. A set
        is empty if the graph does not resemble those of any class.

        Parameters
        ----------
        X : as in :meth:`fit`
        coverage : float, default=0.9
            Probability between 0 and 1, both excluded.

        Returns
        -------
        list of lists of classes, most probable first

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs, y = gg.load_drugs()
        >>> model = gg.GraphClassifier(max_level=1, max_terms=1).fit(graphs, y == "opioids")
        >>> model.predict_set(graphs[[221]], coverage=0.9)
        [[True]]
        """
        check_is_fitted(self, "machine_")
        check_value("coverage", coverage, COVERAGE)
        new = self.predict_proba(X)
        inside = class_sets(self.held_out_probabilities_, self.held_out_classes_, new, coverage)
        order, classes = np.argsort(-new, axis=1, kind="stable"), self.classes_.tolist()
        return [
            [classes[code] for code in row if inside[number, code]]
            for number, row in enumerate(order.tolist())
        ]


# -------------------------------------------------------------------- probabilities
#
# Platt scaling and conformal prediction sets. The sigmoid is fitted to scores of graphs that were
# held out in cross-validation of the final model, so that it is not biased by the fit to the
# training graphs. With more than two classes each has a one-vs-rest sigmoid, and the probabilities
# of a graph are normalised to sum to 1. The class with the largest probability is the one with the
# largest log-odds.

#: Minimum slope of a sigmoid; on data without signal the fitted slope may be negative by chance.
FLAT = 1e-3


def fit_sigmoids(codes: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return slope and intercept for each output of scores (graphs, outputs).

    A single output is the score of class 1. ``weights`` are those of the graphs.
    """
    positive = [1] if scores.shape[1] == 1 else range(scores.shape[1])
    return np.array(
        [_sigmoid(codes == code, scores[:, place], weights) for place, code in enumerate(positive)]
    )


def _sigmoid(positive: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    from sklearn.linear_model import LogisticRegression

    # Platt's smoothed targets instead of 0 and 1: perfectly separated training data does not lead
    # to probabilities of 0 and 1.
    ones, zeros = int(positive.sum()), int((~positive).sum())
    high, low = (ones + 1) / (ones + 2), 1 / (zeros + 2)
    share = np.where(positive, high, low)
    scale = max(float(np.std(scores)), 1e-12)
    column = (scores / scale).reshape(-1, 1)
    model = LogisticRegression(C=1e6, max_iter=1000).fit(
        np.concatenate([column, column]),
        np.repeat([1, 0], len(scores)),
        sample_weight=np.concatenate([share * weights, (1 - share) * weights]),
    )
    slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
    if slope < FLAT:
        mean = float(np.average(share, weights=weights))
        slope, intercept = FLAT, float(np.log(mean / (1 - mean)))
    return slope / scale, intercept


def probabilities(log_odds: np.ndarray) -> np.ndarray:
    """Return class probabilities (graphs, classes) from log-odds (graphs, outputs)."""
    from scipy.special import expit

    each = expit(log_odds)
    if each.shape[1] == 1:
        return np.hstack([1 - each, each])
    total = each.sum(axis=1, keepdims=True)
    return np.where(total > 0, each / np.where(total > 0, total, 1.0), 1.0 / each.shape[1])


def class_sets(
    held_out: np.ndarray, codes: np.ndarray, new: np.ndarray, coverage: float
) -> np.ndarray:
    """Return a mask of the classes in the prediction set of each new graph, (graphs, classes).

    A class is excluded if its probability is below the ``1 - coverage`` quantile of the held-out
    probabilities of the training graphs of this class. Coverage therefore holds for each class
    separately, including rare ones.
    """
    sets = np.ones(new.shape, dtype=bool)
    for code in range(new.shape[1]):
        own = np.sort(held_out[codes == code, code])
        allowed = int(np.floor((1 - coverage) * (len(own) + 1) + 1e-9))
        if allowed:
            sets[:, code] = new[:, code] >= own[allowed - 1]
    return sets
