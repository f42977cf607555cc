"""GraphClassifier: classification of graphs by a weighted sum of kernels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..parameters import Described, all_or_nothing, check_value, parameter
from .estimator import COVERAGE, GraphEstimator
from .inputs import check_classes, check_two_classes, class_factors

CLASS_WEIGHT = Described(
    "None, 'balanced' or a dictionary with the weight of each class",
    lambda v: v is None or isinstance(v, dict) or (isinstance(v, str) and v == "balanced"),
)


def signs_of(codes: np.ndarray, classes: int) -> np.ndarray:
    """Return targets of 1 for graphs of a class and -1 for others, (graphs, outputs).

    Two classes have a single output, for the second class.
    """
    positive = np.arange(1, 2) if classes == 2 else np.arange(classes)
    return np.where(codes[:, np.newaxis] == positive, 1.0, -1.0)


class GraphClassifier(ClassifierMixin, GraphEstimator):
    """Classify graphs with a weighted sum of kernels and exact ridge regression.

    The kernel is the weighted sum of about nine terms: neighbourhoods, paths of neighbourhoods and
    pairs of labels, each on the labels as read, on labels with degree and ring, and on the roles of
    atoms or the bins of attributes. The weights maximise the marginal likelihood, with a prior
    that pulls them towards equal ones. The targets are 1 for graphs of a class and -1 for all
    others. Sigmoids turn the scores into probabilities, and the class with the largest probability
    is predicted. Nothing is searched.

    Parameters
    ----------
    kernels : kernel, str, or list of these, optional
        Kernels to use as the terms, with their own parameters and similarity; a name stands for a
        kernel with its default parameters. Kernels without explicit features are allowed, but
        their decisions cannot be explained. By default the terms above.
    graphs : str, optional
        Name of the column with the graphs, if X is a table. By default it is detected from its
        content.
    weights : None, "equal" or list of float, default=None
        Weights of the terms: None by marginal likelihood, or numbers, one for each term.
    views : view, None or list of these, default=None
        Transformations applied to the graphs before features are counted, such as
        :class:`EdgeFilter`; each adds its own terms. None stands for the graphs as they are. Views
        are fitted to the training graphs only.
    descriptors : {None, "rdkit"}, default=None
        "rdkit" adds RDKit's molecular descriptors as a term.
    alpha : float or list of float, optional
        Regularisation strength, relative to a kernel that is 1 between a graph and itself. By
        default, or of a list, the value with the smallest leave-one-out error.
    max_graphs : int, default=100_000
        Largest number of training graphs; of more, a sample is used.
    standardize : {None, "largest", "cleanup", "parent"}, default=None
        How molecules are standardised before they are read, as in :func:`from_rdkit`.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes; "balanced" gives all classes the same total weight. Probabilities
        are then those of classes with these weights.
    random_state : int or None, default=0
        Seed for samples.
    n_jobs : int, optional
        Number of threads; -1 uses all cores. Up to 4,000 training graphs, results do not depend on
        it; beyond, BLAS uses several threads, which may change the last bits.
    verbose : int, default=0
        1 reports the progress of the fit on standard error.

    Attributes
    ----------
    classes_ : array
        Class labels in sorted order.
    terms_ : list of dict
        Parameters of the terms, with their weights.
    alpha_ : float
        Regularisation strength.
    held_out_ : array of shape (graphs, classes)
        Probabilities of the training graphs by models without them and all their copies; NaN for
        graphs of weight 0 and where none was computed.
    machine_ : Machine
        The fitted model; its outputs are the log-odds of the classes.

    See Also
    --------
    GraphRegressor : Regression with the same kernels.
    explain : Attribute predictions to vertices and patterns.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> model = gg.GraphClassifier().fit(graphs[::2], y[::2])
    >>> model.predict(graphs[[61, 81, 221]]).tolist()
    ['benzodiazepines', 'beta blockers', 'opioids']
    >>> model.score(graphs[1::2], y[1::2]) > 0.95
    True
    """

    class_weight: Any = parameter(CLASS_WEIGHT, default=None)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Weigh the terms, choose alpha, and train on all graphs.

        Parameters
        ----------
        X : GraphBatch, sequence of graphs, or data frame with a column of graphs
        y : array-like of integers or strings
            Class of each graph.
        sample_weight : array-like, optional
            Weight of each graph; graphs of weight 0 are ignored.
        groups : array-like, optional
            Graphs of the same group are left out together wherever a graph is left out.

        Returns
        -------
        self : GraphClassifier
        """
        with all_or_nothing(self):
            read = self._read_to_fit(X)
            self.classes_, codes = check_classes(y, len(read), members=1)
            signs = signs_of(codes, len(self.classes_))
            factors = class_factors(codes, self.classes_, self.class_weight)
            rng = np.random.default_rng(self.random_state)
            data = self._training(read, signs, sample_weight, groups, factors, rng)
            used = codes if self._kept is None else codes[self._kept]
            check_two_classes(self.classes_[np.unique(used)], len(used))
            machine, errors = self._train(data, rng)
            self.alpha_ = float(self._alphas[0])
            held_out = data.targets - errors
            known = np.isfinite(held_out).all(axis=1)
            self._sigmoids = fit_sigmoids(used[known], held_out[known], data.weights[known])
            slopes, shifts = self._sigmoids.T
            machine.coefficients = machine.coefficients * slopes[:, np.newaxis]
            machine.intercept = machine.intercept * slopes + shifts
            self.machine_ = machine
            self._codes = np.where(known, used, -1)
            self.held_out_ = self._by_row(probabilities(held_out * slopes + shifts))
        return self

    # ---------------------------------------------------------------- predict

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the classes, which are sums over the patterns of a graph.

        Returns
        -------
        array of shape (graphs,) for two classes, where positive means ``classes_[1]``, else
        (graphs, classes)
        """
        values = self._compared(X).values
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest probability for each graph."""
        values = self.decision_function(X)
        codes = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the given graphs."""
        return float(super().score(X, y, sample_weight))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Probabilities are sigmoids of the scores, fitted to the held-out scores of the training
        graphs.

        Returns
        -------
        array of shape (graphs, classes)
        """
        return probabilities(self._compared(X).values)

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
        >>> model = gg.GraphClassifier(gg.WeisfeilerLehman(1)).fit(graphs, y == "opioids")
        >>> model.predict_set(graphs[[221]], coverage=0.9)
        [[True]]
        """
        check_is_fitted(self, "machine_")
        check_value("coverage", coverage, COVERAGE)
        new = self.predict_proba(X)
        held_out = self.held_out_ if self._kept is None else self.held_out_[self._kept]
        inside = class_sets(held_out, self._codes, new, coverage)
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
    from scipy.special import expit

    # Platt's smoothed targets instead of 0 and 1: perfectly separated training data does not lead
    # to probabilities of 0 and 1.
    ones, zeros = float(weights[positive].sum()), float(weights[~positive].sum())
    share = np.where(positive, (ones + 1) / (ones + 2), 1 / (zeros + 2))
    mean = float(np.average(share, weights=weights))
    variance = np.cov(scores, aweights=weights, ddof=0) if len(scores) > 1 else 0.0
    scale = max(float(np.sqrt(variance)), 1e-12)
    inputs = np.column_stack([scores / scale, np.ones(len(scores))])
    line = np.array([0.0, np.log(mean / (1 - mean))])
    for _ in range(100):  # Newton's method
        chance = expit(inputs @ line)
        curvature = inputs.T @ (inputs * (weights * chance * (1 - chance))[:, np.newaxis])
        slope = inputs.T @ (weights * (share - chance))
        step = np.linalg.solve(curvature + 1e-9 * np.eye(2), slope)
        line += step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-10:
            break
    if line[0] < FLAT:
        line = np.array([FLAT, np.log(mean / (1 - mean))])
    return float(line[0] / scale), float(line[1])


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
