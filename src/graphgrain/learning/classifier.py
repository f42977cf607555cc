"""GraphClassifier: from graphs to classes, with nothing left to choose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidParameterError
from ..parameters import Number, OneOf, Whole, parameter
from .estimator import GraphEstimator, Training, check_coverage
from .folds import even_sample, stratified_sample
from .inputs import check_classes, check_two_classes
from .machine import KernelMachine
from .ridge import Ridge, fit_with_folds, sparse_ridge
from .selection import (
    AUTO,
    OF_CLASSES,
    SCORES_OF_CLASSES,
    Judge,
    OneOrMore,
    alternatives,
    for_classes,
)

#: Bytes for each pair of graphs: the matrix in single precision, and room for a term.
PAIR_BYTES = 8.0
#: Up to this many graphs the matrix is of double precision.
DOUBLE = 3000


class ClassWeightRule:
    """None, "auto", "balanced", or a weight for each class."""

    def allows(self, value: Any) -> bool:
        return (
            value is None
            or (isinstance(value, str) and value in (AUTO, "balanced"))
            or isinstance(value, dict)
        )

    def __str__(self) -> str:
        return "None, 'auto', 'balanced' or a dictionary with the weight of each class"


def balanced(codes: np.ndarray) -> np.ndarray:
    """Weights with which all classes weigh the same, one on average."""
    counts = np.bincount(codes)
    shares = len(codes) / (np.count_nonzero(counts) * np.maximum(counts, 1))
    return shares[codes]


def signs_of(codes: np.ndarray, classes: int) -> np.ndarray:
    """What is learned: 1 for graphs of a class, -1 for others, (graphs, outputs).

    Two classes have one output, that of the second.
    """
    positive = np.arange(1, 2) if classes == 2 else np.arange(classes)
    return np.where(codes[:, np.newaxis] == positive, 1.0, -1.0)


class GraphClassifier(ClassifierMixin, GraphEstimator):
    """Classify graphs: a sum of kernels and ridge regression on classes that tune themselves.

    ``fit`` counts features once for each way to count, judges all their similarities by stratified
    cross-validation in rounds (all on a sample, the better part on more), and adds up those that
    help. One ridge regression is trained on the sum: to 1 for graphs of a class, to -1 for all
    others. Sigmoids turn its scores into probabilities; the class with the largest probability is
    the prediction.

    Parameters
    ----------
    kernels : str, kernel, KernelGrid, or list of these, default=("tree++", "sp")
        Kernels with explicit features to choose from, by name with all that they offer, or as they
        are given. By default Tree++ and pairs of labels at every distance ("sp", which is left out
        where graphs are so large that there are too many pairs); "auto" stands for Tree++,
        Weisfeiler-Lehman and shortest paths.
    max_level : int, default=4
        The levels of named kernels (tree depths, refinement steps) from 0 to this are tried.
    path_depth : int or list of int, default=(0, 6)
        Length of the longest paths of Tree++, the paper's d. With 0 the features are single
        neighbourhoods.
    alpha : float or list of float, default=(0.01, 0.03, 0.1, 0.3, 1, 3, 10)
        How much to smooth, for kernels whose graphs have similarity 1 with themselves. Of equally
        good values the largest is taken.
    centrality : str or None, or list of these, default="eigenvector"
        As in :class:`TreePlusPlus`.
    edge_labels : "auto", bool or list of bool, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries both if there are at least two edge labels.
    views : "auto", view, None or list of these, default="auto"
        How to see the graphs: None is as they are, else :class:`StructuralLabels`,
        :class:`PharmacophoreLabels`, :class:`EdgeFilter`, :class:`AttributeBins` or a pipeline of
        views. "auto" tries graphs as they are and with structural labels, pairs of atoms also with
        pharmacophore labels. Each is fitted to the training graphs alone.
    attributes : bool, default=True
        Whether graphs with attributes are also seen with these as labels.
    counts : "auto", str or list of str, default="auto"
        As in :class:`TreePlusPlus`.
    similarity : "auto", str or list of str, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries min-max of counts, and cosines of counts and of
        their roots.
    max_terms : int, default=20
        How many kernels the sum has at most.
    solver : {"auto", "kernel", "linear"}, default="auto"
        On what the machine is trained: on the kernel matrix, or on the features themselves, which
        takes any number of graphs and no min-max. "auto" is "kernel" as long as the matrix takes
        at most half of the memory that is free.
    scoring : {"auto", "accuracy", "balanced_accuracy", "roc_auc", "average_precision"}
        What kernels are judged by. "auto" is the ROC AUC if one of two classes has less than a
        third of the graphs, else the accuracy.
    class_weight : None, "auto", "balanced" or dict, default="auto"
        How much errors of each class count; "balanced" lets all classes weigh the same. "auto"
        is "balanced" for two classes that are not judged by their accuracy, if that is better in
        cross-validation. Probabilities follow the data, whatever the weights.
    graphs : str, optional
        The column of a table that holds the graphs; by default it is found by its content.
    descriptors : {None, "rdkit"}, default=None
        "rdkit" adds RDKit's descriptors of the molecules as columns.
    time_budget : float, optional
        Seconds. Once they are over, no further way to count is begun; at least one is tried.
    cv : int, splitter or "scaffold", default=5
        The inner folds. "scaffold" keeps molecules with the same ring systems together.
    random_state : int or None, default=0
        Seed of samples and folds.
    n_jobs : int, optional
        Number of threads; -1 takes all cores. The result does not depend on it.
    verbose : int, default=0
        1 reports the progress of the search on standard error.

    Attributes
    ----------
    classes_ : array
        The classes in sorted order.
    terms_ : list of dict
        The kernels of the sum.
    best_params_ : dict
        These and alpha.
    best_score_ : float
        Its score in the inner cross-validation. Having been chosen makes it optimistic: for an
        honest figure give the classifier to ``cross_val_score``.
    scoring_ : str
        What kernels were judged by.
    cv_results_ : dict
        All that was tried, in the form of scikit-learn's ``HalvingGridSearchCV``.
    skipped_ : list of dict
        What there was no time for.
    machine_ : KernelMachine
        What was learned; its values are the log-odds of classes.

    See Also
    --------
    GraphRegressor : The same for numbers.
    explain : Why it predicts what it predicts.

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
    class_weight: Any = parameter(ClassWeightRule(), default=AUTO)

    _tuned = "alpha"
    _usual = OF_CLASSES
    _rounds = (400, 1000, 2000)

    # ---------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose kernels and parameters, and train.

        Parameters
        ----------
        X : GraphBatch, sequence of graphs, or data frame with a column of graphs
        y : array-like of integers or strings
            The class of each graph.
        sample_weight : array-like, optional
            How much the error of each graph counts; graphs of weight 0 are left out.
        groups : array-like, optional
            Graphs of a group are never in different folds.
        """
        batch, columns = self._read_to_fit(X)
        self.classes_, codes = check_classes(y, len(batch), members=1)
        weights = self._checked_weights(sample_weight, len(batch)) * self._class_weights(codes)
        kept = weights > 0
        check_two_classes(self.classes_[np.unique(codes[kept])], int(kept.sum()))
        rng = np.random.default_rng(self.random_state)
        self.scoring_ = for_classes(self.scoring, codes[kept])
        data = self._training(batch, columns, codes, weights, kept, groups, rng)
        with self._blas():
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
        judge = Judge(
            learner, sample, signs[sample], data.folds[sample], weights, score, self.n_jobs
        )
        rounds = [
            self._sample(codes[sample], size, rng)[0]
            for size in self._rounds[:1]
            if 2 * size <= len(sample)
        ]
        rounds.append(self._sample(codes[sample], self._rounds[1], rng)[0])
        selector = self._select(data, rounds, judge, self._terms(data.batch, linear))
        total = selector.mean(selector.terms)
        judged = judge(total)
        if self.class_weight == AUTO and len(self.classes_) == 2 and self.scoring_ != "accuracy":
            weights = data.weights * balanced(codes)
            other = replace(judge, weights=weights[sample] * stand_for)
            against = other(total)
            if against.mean > judged.mean:
                selector.judge, judged, data = other, against, data._replace(weights=weights)
        self._keep(selector, judged)
        if linear:
            alpha = float(learner.grid[judged.place])
            machine, held_out, _ = self._train_features(
                selector.terms,
                data,
                lambda matrix, rows: sparse_ridge(matrix, signs[rows], alpha, data.weights[rows]),
            )
        else:
            precision = np.float64 if len(codes) <= DOUBLE else np.float32
            machine, K, share, judged = self._kernel_matrix(
                data, selector, judged, total, precision
            )
            alpha = float(learner.grid[judged.place])
            coefficients, intercept, held_out = fit_with_folds(
                K, signs, alpha, data.weights, data.folds
            )
            machine.set_coefficients(coefficients, intercept, share)
        self.best_params_[self._tuned] = alpha
        machine, held_out, _ = self._with_forest(machine, held_out, data, selector.judge)
        self._calibrate(machine, held_out, data)
        self.n_graphs_ = len(codes)

    def _forest_units(self, data: Training, held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Trees speak in log-odds."""
        factors, shifts = fit_sigmoids(data.targets, held_out, data.weights).T
        return factors, shifts

    def _calibrate(self, machine: KernelMachine, held_out: np.ndarray, data: Training) -> None:
        """Scores become log-odds, by graphs that were held out."""
        sigmoids = fit_sigmoids(data.targets, held_out, np.ones(len(held_out)))
        self.machine_ = machine.rescaled(sigmoids[:, 0], sigmoids[:, 1])
        log_odds = held_out * sigmoids[:, 0] + sigmoids[:, 1]
        self.held_out_probabilities_ = probabilities(log_odds).astype(np.float32)
        self.held_out_classes_ = data.targets.astype(np.int32)

    def _sample(
        self, codes: np.ndarray, size: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Graphs that judge, and how many each stands for.

        A measure that does not depend on how large the classes are is known best from a sample
        with as many graphs of the rare class as there are. Standing for many, each of the others
        weighs more, so that an alpha means the same there as for all graphs.
        """
        if len(codes) <= size:
            return np.arange(len(codes)), np.ones(len(codes))
        pairs = len(self.classes_) == 2 and self.scoring_ in ("roc_auc", "average_precision")
        if pairs or self.scoring_ == "balanced_accuracy":
            return even_sample(codes, size, rng)
        return stratified_sample(codes, size, rng), np.ones(size)

    def _class_weights(self, codes: np.ndarray) -> np.ndarray:
        if self.class_weight in (None, AUTO):
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
        return balanced(codes)

    # ---------------------------------------------------------------- predict

    def decision_function(self, X: Any) -> np.ndarray:
        """The log-odds of classes: a sum over patterns, by which classes are predicted.

        Returns
        -------
        array of shape (graphs,) for two classes, where positive means ``classes_[1]``, else
        (graphs, classes)
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """The class of each graph: that of the largest probability."""
        values = self._values(X)
        codes = (values[:, 0] > 0).astype(int) if values.shape[1] == 1 else values.argmax(axis=1)
        found: np.ndarray = self.classes_[codes]
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of graphs whose class is predicted."""
        return float(super().score(X, y, sample_weight))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Sigmoids of the scores, fitted to graphs that were held out in cross-validation of this
        machine.

        Returns
        -------
        array of shape (graphs, classes)
        """
        return probabilities(self._values(X))

    def predict_set(self, X: Any, coverage: float = 0.9) -> list[list[Any]]:
        """The classes that each graph may have: the true one is among them with this probability.

        Each class is covered by itself, rare ones too. That holds for graphs of the kind of the
        training graphs (exchangeable with them); new scaffolds are not. A set may be empty: the
        graph is like those of no class.

        Parameters
        ----------
        X : as in :meth:`fit`
        coverage : float, default=0.9
            Above 0 and below 1.

        Returns
        -------
        list of lists of classes, the likeliest first

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs, y = gg.load_drugs()
        >>> model = gg.GraphClassifier(max_level=1, max_terms=1).fit(graphs, y == "opioids")
        >>> model.predict_set(graphs[[221]], coverage=0.9)
        [[True]]
        """
        check_is_fitted(self, "machine_")
        check_coverage(coverage)
        new = self.predict_proba(X)
        inside = class_sets(self.held_out_probabilities_, self.held_out_classes_, new, coverage)
        order = np.argsort(-new, axis=1, kind="stable")
        return [
            [self.classes_[code].item() for code in row if inside[number, code]]
            for number, row in enumerate(order.tolist())
        ]


# -------------------------------------------------------------------- probabilities
#
# From scores to probabilities, by the method of Platt, and to sets of classes that hold. A sigmoid
# is fitted to the scores of graphs that were held out in cross-validation of the machine that is
# shipped, so that it does not see how well the training graphs are fitted. With several classes
# each has a sigmoid against the rest, and the probabilities of a graph are scaled to add up to one.
# The class with the largest probability is the one with the largest log-odds.

#: A sigmoid that would fall with the score, by chance on a set without signal, is made this flat.
FLAT = 1e-3


def fit_sigmoids(codes: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Slope and intercept for each output of scores (graphs, outputs).

    With one output it is the score of class 1. ``weights`` say how much each graph counts.
    """
    positive = [1] if scores.shape[1] == 1 else range(scores.shape[1])
    return np.array(
        [_sigmoid(codes == code, scores[:, place], weights) for place, code in enumerate(positive)]
    )


def _sigmoid(positive: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    from sklearn.linear_model import LogisticRegression

    # Targets that are not quite 0 and 1, as Platt has them: a set that is told apart without a
    # mistake does not make every answer certain.
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
    """The probability of each class, (graphs, classes), from log-odds (graphs, outputs)."""
    from scipy.special import expit

    each = expit(log_odds)
    if each.shape[1] == 1:
        return np.hstack([1 - each, each])
    total = each.sum(axis=1, keepdims=True)
    return np.where(total > 0, each / np.where(total > 0, total, 1.0), 1.0 / each.shape[1])


def class_sets(
    held_out: np.ndarray, codes: np.ndarray, new: np.ndarray, coverage: float
) -> np.ndarray:
    """Which classes belong to the set of each new graph, (graphs, classes).

    A class is left out where its probability is lower than that of all but a share of
    ``1 - coverage`` of the training graphs of this class, which were held out: each class is
    covered by itself, so that rare ones are too.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.classifier import class_sets
    >>> held_out = np.linspace([0.99, 0.01], [0.51, 0.49], 9)
    >>> class_sets(held_out, np.zeros(9, int), np.array([[0.9, 0.1], [0.3, 0.7]]), 0.9).tolist()
    [[True, True], [False, True]]
    """
    sets = np.ones(new.shape, dtype=bool)
    for code in range(new.shape[1]):
        own = np.sort(held_out[codes == code, code])
        allowed = int(np.floor((1 - coverage) * (len(own) + 1) + 1e-9))
        if allowed:
            sets[:, code] = new[:, code] >= own[allowed - 1]
    return sets
