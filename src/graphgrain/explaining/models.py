"""Express supported models as weights on patterns.

The value of a model for a graph is its bias plus, for each term, the contributions of the graph's
patterns. A term belongs to one kernel applied to one view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KernelCenterer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidParameterError
from ..graphs.convert.dispatch import as_graphs
from ..kernels.bases.feature_kernel import FeatureKernel, check_explicit
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.features import FeatureColumns, Features, columns_of_hashes
from ..learning.estimator import CountedGraphs, GraphEstimator
from ..learning.machine import FittedTerm, PatternWeights
from ..learning.terms import Source, Term
from ..views.base import seen_through

#: Maximum relative difference between the model's values and the sums of contributions.
_TOLERANCE = 1e-6


class Evaluated(NamedTuple):
    """The values of a model for graphs, apart from the contributions of their patterns."""

    biases: np.ndarray  # (graphs, outputs), for graphs with patterns
    factors: np.ndarray  # of the values of the terms; (graphs, outputs) after broadcasting
    #: Values computed by the model itself, if the sums are to be checked against them.
    values: np.ndarray | None
    #: Class of each graph (None for regression); if None, the class with the largest decision.
    predictions: list[Any] | None
    columns: Any = 0.0  # contribution of the columns of a table, (graphs, outputs)
    #: Coefficients of the terms, (outputs, training graphs), also with graphs as the first axis.
    coefficients: Any = None
    in_training: Any = None  # whether each graph was trained on


@dataclass(frozen=True)
class LinearForm:
    """A model as weights on patterns."""

    outputs: list[Any]  # class or target index of each output; [None] for a single output
    two_classes: tuple[Any, Any] | None  # classes of negative and positive values, if binary
    terms: Sequence[Any]  # FittedTerm or PatternWeights
    evaluate: Callable[[CountedGraphs], Evaluated]
    #: Converts user input to graphs and table columns.
    read: Callable[[Any], CountedGraphs] = lambda X: CountedGraphs(as_graphs(X), {})

    @property
    def classes(self) -> list[Any]:
        """Classes of a classifier, in the order of its decisions."""
        return list(self.two_classes or self.outputs)

    def largest(self, decision: np.ndarray) -> Any:
        """Return the class with the largest decision."""
        if self.two_classes is not None:
            return self.two_classes[int(decision[0] > 0)]
        return self.outputs[int(decision.argmax())]


def linear_form(model: Any, held_out: bool = False) -> LinearForm:
    """Express a fitted model as weights on patterns; see :func:`graphgrain.explain`."""
    if hasattr(model, "best_estimator_"):  # a search, such as GridSearchCV
        return linear_form(model.best_estimator_, held_out)
    if isinstance(model, GraphEstimator):
        return _of_estimator(model, held_out)
    if held_out:
        raise InvalidParameterError(
            "held_out=True needs a GraphClassifier or a GraphRegressor, which have the models "
            f"without each training graph in closed form; got {type(model).__name__}."
        )
    if isinstance(model, Pipeline):
        return _of_pipeline(model)
    if isinstance(model, GraphKernel):
        raise InvalidParameterError(
            f"explain needs a fitted model; {type(model).__name__} alone is a kernel. Use "
            f"make_pipeline({type(model).__name__}(output='features'), LogisticRegression()), or "
            "compare(kernel, a, b) for the similarity of two graphs."
        )
    if hasattr(model, "fit"):
        check_is_fitted(model)
    raise InvalidParameterError(
        "explain takes a GraphClassifier, a GraphRegressor or a Pipeline of a "
        f"kernel and a linear model; got {type(model).__name__}. For example "
        "make_pipeline(TreePlusPlus(output='features'), LogisticRegression()).fit(graphs, y)."
    )


# -------------------------------------------------------------------- estimators


def _of_estimator(model: GraphEstimator, held_out: bool) -> LinearForm:
    """Express an estimator by its machine: log-odds of classes, or values."""
    check_is_fitted(model, "machine_")
    machine = model.machine_
    outputs, two = _meaning(model, machine.n_outputs)

    def evaluate(read: CountedGraphs) -> Evaluated:
        sums = model.pattern_sums(read, held_out=held_out)
        predictions = None if is_classifier(model) else [None] * len(read)
        ones = np.ones((1, 1))
        return Evaluated(
            sums.biases, ones, None, predictions, sums.columns, sums.coefficients, sums.in_training
        )

    return LinearForm(outputs, two, machine.pattern_terms, evaluate, model.count)


def _meaning(model: Any, width: int) -> tuple[list[Any], tuple[Any, Any] | None]:
    """Return the class or target of each output, and the two classes of a binary classifier."""
    if is_classifier(model):
        classes = _plain(model.classes_)
        return (classes, None) if width > 1 else ([None], (classes[0], classes[1]))
    return list(range(width)) if width > 1 else [None], None


def _pairs_to_classes(classes: int) -> np.ndarray:
    """Return the matrix from one-vs-one values to the mean per class; positive: second class."""
    pairs = list(combinations(range(classes), 2))
    mixing = np.zeros((len(pairs), classes))
    for row, (first, second) in enumerate(pairs):
        mixing[row, [first, second]] = [-1.0, 1.0]
    return mixing / (classes - 1)


# -------------------------------------------------------------------- pipelines


def _of_pipeline(model: Pipeline) -> LinearForm:
    steps = [step for _, step in model.steps]
    places = [n for n, step in enumerate(steps) if isinstance(step, GraphKernel)]
    if not places:
        raise InvalidParameterError(
            "explain needs a kernel among the steps of a pipeline; these are "
            f"{', '.join(type(step).__name__ for step in steps)}."
        )
    place = places[0]
    kernel, final = check_explicit(steps[place], "explain"), steps[-1]
    if place == len(steps) - 1:
        raise InvalidParameterError(
            "explain needs a model after the kernel; the pipeline has none."
        )
    check_is_fitted(kernel)
    check_is_fitted(final)
    view = model[:place] if place else None
    between = steps[place + 1 : -1]
    coefficients, intercept = _coefficients(final, kernel)
    outputs, two = _meaning(final, len(coefficients))
    pulled = pull_back(between, coefficients, intercept)
    after = model[place + 1 :]

    similar = kernel.output == "gram"

    def evaluate(read: CountedGraphs) -> Evaluated:
        batch = read.batch
        X = kernel.transform(seen_through(view, batch))
        norms = row_norms(between, pulled.normalisers, X)
        # products of the first 0, 1, ... row scales of each graph
        scales = np.vstack((np.ones(len(batch)), np.cumprod(norms, axis=0))).T
        return Evaluated(
            scales @ np.array(pulled.biases),
            scales[:, -1:],
            _own_values(after, X),
            _plain(after.predict(X)) if is_classifier(final) else [None] * len(batch),
            coefficients=pulled.weights.T if similar else None,
        )

    if similar:
        similarities = _OfKernel(kernel_term(kernel, kernel.similarity, view), Features([]))
        return LinearForm(outputs, two, [similarities], evaluate)
    term = kernel_term(kernel, "dot", view)
    if hasattr(kernel, "vocabulary_"):
        weights = PatternWeights(term, kernel.vocabulary_, pulled.weights)
    else:
        weights = _SharedColumns(term, [], pulled.weights)
    return LinearForm(outputs, two, [weights], evaluate)


@dataclass(frozen=True, eq=False)
class _KernelTerm(Term):
    """A kernel as it is, with what it has learned in fit and with factors of levels."""

    @property
    def kernel(self) -> FeatureKernel:
        return self.source.kernel

    def prepare(self, features: Features) -> Features:
        return super().prepare(features).scaled(self.kernel.level_scales)


def kernel_term(kernel: FeatureKernel, similarity: str, view: Any = None) -> Term:
    """Return a kernel, without a model, as the term of a sum."""
    source = Source(type(kernel).__name__, kernel, view, None)  # the kernel checks labels
    return _KernelTerm(source, kernel.counts, similarity)


@dataclass(frozen=True, eq=False)
class _OfKernel(FittedTerm):
    """Similarities to the graphs of a fitted kernel, which has their features as columns."""

    @cached_property
    def columns(self) -> FeatureColumns:
        kernel = self.term.kernel
        return kernel.columns_.scaled(kernel.level_scales)


@dataclass(frozen=True, eq=False)
class _SharedColumns(PatternWeights):
    """Weights of hashed columns, which several patterns can share."""

    def columns_of(self, level: int, hashes: np.ndarray) -> np.ndarray:
        return columns_of_hashes(hashes, level, len(self.weights))


def _coefficients(final: Any, kernel: FeatureKernel) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients (outputs, columns) and the intercept of a linear model."""
    precomputed = getattr(final, "kernel", None) == "precomputed"
    if precomputed and kernel.output != "gram":
        raise InvalidParameterError(
            f"{type(final).__name__}(kernel='precomputed') needs similarities; the kernel gives "
            "features. Use output='gram'."
        )
    if precomputed and isinstance(final, SVC | NuSVC):
        coefficients, intercept = _pairwise(final, kernel.n_graphs_)
        if len(final.classes_) == 2:
            return coefficients, intercept
        mixing = _pairs_to_classes(len(final.classes_))
        return mixing.T @ coefficients, intercept @ mixing
    if precomputed and isinstance(final, SVR | NuSVR):
        coefficients = np.zeros((1, kernel.n_graphs_))
        coefficients[:, final.support_] = final.dual_coef_
        return coefficients, final.intercept_
    if precomputed and isinstance(final, KernelRidge):
        coefficients = final.dual_coef_.T.reshape(-1, kernel.n_graphs_)
        return coefficients, np.zeros(len(coefficients))
    if isinstance(final, OneVsRestClassifier) and all(
        hasattr(each, "coef_") for each in final.estimators_
    ):
        coefficients = np.vstack([_dense(each.coef_) for each in final.estimators_])
        return coefficients, np.concatenate(
            [np.atleast_1d(each.intercept_) for each in final.estimators_]
        )
    if not isinstance(final, SVC | NuSVC) and hasattr(final, "coef_"):
        coefficients = np.atleast_2d(_dense(final.coef_))
        return coefficients, np.broadcast_to(np.atleast_1d(final.intercept_), len(coefficients))
    raise InvalidParameterError(
        "explain needs a linear model, whose value is a sum over patterns; got "
        f"{type(final).__name__}. Use LogisticRegression, LinearSVC, Ridge, "
        "SVC(kernel='precomputed') after a kernel with output='gram', or GraphClassifier."
    )


def _plain(classes: np.ndarray) -> list[Any]:
    """Convert classes to built-in Python types, which have a shorter repr."""
    return [getattr(label, "item", lambda label=label: label)() for label in classes]


def _dense(coefficients: Any) -> np.ndarray:
    return coefficients.toarray() if sparse.issparse(coefficients) else np.asarray(coefficients)


def _pairwise(machine: Any, graphs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the one-vs-one coefficients on all fitted graphs; positive: the second class."""
    classes = len(machine.classes_)
    starts = np.concatenate(([0], np.cumsum(machine.n_support_)))
    rows = []
    for first, second in combinations(range(classes), 2):
        row = np.zeros(graphs)
        for own, other in ((first, second), (second, first)):
            vectors = slice(starts[own], starts[own + 1])
            line = other - 1 if other > own else other
            row[machine.support_[vectors]] = machine.dual_coef_[line, vectors]
        rows.append(row)
    # With two classes scikit-learn has already flipped the sign.
    sign = 1.0 if classes == 2 else -1.0
    return sign * np.array(rows), sign * machine.intercept_


def _own_values(model: Pipeline, X: Any) -> np.ndarray:
    """Return the values computed by the model from the kernel's output, (graphs, outputs)."""
    final = model[-1]
    if isinstance(final, SVC | NuSVC) and len(final.classes_) > 2:
        by_pairs = copy(final)  # do not modify the user's model
        by_pairs.decision_function_shape = "ovo"
        pairs = Pipeline([*model.steps[:-1], ("pairs", by_pairs)])
        return -pairs.decision_function(X) @ _pairs_to_classes(len(final.classes_))
    values = model.decision_function(X) if is_classifier(final) else model.predict(X)
    return np.asarray(values).reshape(X.shape[0], -1)


def check_linear(model: Any, decisions: np.ndarray, sums: np.ndarray) -> None:
    """Raise an error if the model's values differ from the sums of its contributions."""
    size = np.maximum(np.abs(decisions), 1.0)
    if decisions.size and (np.abs(decisions - sums) > _TOLERANCE * size).any():
        raise InvalidParameterError(
            "explain needs a linear model, whose value is a sum over patterns; that of "
            f"{type(model).__name__} is not what its coefficients add up to (link functions and "
            "clipping do that). Use LogisticRegression, LinearSVC or Ridge."
        )


# -------------------------------------------------------------------- steps of a pipeline
#
# Compute one weight per column of the kernel's output from a pipeline of a kernel and a linear
# model. The value of the model is ``coef @ z + intercept``, where z is the output of the previous
# steps for a graph. The weights are pulled back through each step, last step first:
#
# 1. Scalers and projections are linear: weights are multiplied, and offsets go to the bias.
#    Selectors give weight 0 to the columns they drop.
# 2. A normaliser divides a row by its norm: weights are unchanged, and the row gets a scale.
#
# Weights on features are those of their patterns (``PatternWeights``), weights on similarities to
# the fitted graphs are the coefficients of these graphs (``FittedTerm``).

_NORMS: dict[str, Callable[[Any], np.ndarray]] = {
    "l1": lambda X: np.abs(X).sum(axis=1),
    "l2": lambda X: np.sqrt(X.multiply(X).sum(axis=1)),
    "max": lambda X: abs(X).max(axis=1).toarray(),
}


@dataclass
class PulledBack:
    """``value = sum of scale_k * bias_k + (product of all scales) * weights @ row``."""

    weights: np.ndarray  # (columns, outputs)
    biases: list[np.ndarray]  # the k-th is multiplied by the first k scales
    #: Position of each normalising step, and its norm.
    normalisers: list[tuple[int, str]] = field(default_factory=list)

    def add_bias(self, values: np.ndarray) -> None:
        self.biases[-1] = self.biases[-1] + values

    def normalise(self, position: int, norm: str) -> None:
        self.normalisers.append((position, norm))
        self.biases.append(np.zeros_like(self.biases[-1]))


def pull_back(steps: list[Any], coefficients: np.ndarray, intercept: np.ndarray) -> PulledBack:
    """Convert weights on the output of fitted steps to weights on the output of the kernel."""
    pulled = PulledBack(np.asarray(coefficients, dtype=np.float64).T, [np.array(intercept, float)])
    for position in reversed(range(len(steps))):
        step, W = steps[position], pulled.weights
        if isinstance(step, SelectorMixin):
            pulled.weights = np.zeros((len(step.get_support()), W.shape[1]))
            pulled.weights[step.get_support()] = W
        elif isinstance(step, StandardScaler | RobustScaler):
            if step.scale_ is not None:
                pulled.weights = W / step.scale_[:, None]
            if isinstance(step, RobustScaler):
                centre = step.center_
            else:
                centre = step.mean_ if step.with_mean else None
            if centre is not None:
                pulled.add_bias(-centre @ pulled.weights)
        elif isinstance(step, MaxAbsScaler):
            pulled.weights = W / step.scale_[:, None]
        elif isinstance(step, MinMaxScaler) and not step.clip:
            pulled.add_bias(step.min_ @ W)
            pulled.weights = W * step.scale_[:, None]
        elif isinstance(step, Normalizer):
            pulled.normalise(position, step.norm)
        elif isinstance(step, TfidfTransformer) and not step.sublinear_tf:
            if step.norm is not None:
                pulled.normalise(position, step.norm)
            if step.use_idf:
                pulled.weights = W * step.idf_[:, None]
        elif isinstance(step, TruncatedSVD):
            pulled.weights = step.components_.T @ W
        elif isinstance(step, PCA):
            scale = np.sqrt(step.explained_variance_) if step.whiten else np.ones(len(W))
            pulled.weights = step.components_.T @ (W / scale[:, None])
            pulled.add_bias(-step.mean_ @ pulled.weights)
        elif isinstance(step, KernelCenterer):
            total = W.sum(axis=0)
            pulled.add_bias(step.K_fit_all_ * total - step.K_fit_rows_ @ W)
            pulled.weights = W - total / len(W)
        elif isinstance(step, FunctionTransformer) and step.func is None:
            pass
        elif step is not None and step != "passthrough":
            raise InvalidParameterError(
                f"explain can look through scalers, normalisers, selectors, PCA and TruncatedSVD "
                f"between a kernel and a linear model; it cannot look through {step!r}. Leave that "
                "step out."
            )
    return pulled


def row_norms(steps: list[Any], normalisers: list[tuple[int, str]], X: Any) -> np.ndarray:
    """Return 1 / norm at each normaliser, of shape (normalisers, rows); 1 for rows of zeros."""
    wanted = dict(normalisers)
    found = {}
    for position, step in enumerate(steps):
        if position in wanted:
            scaled = X
            if isinstance(step, TfidfTransformer) and step.use_idf:
                scaled = sparse.csr_array(X) * step.idf_
            norms = np.asarray(_NORMS[wanted[position]](sparse.csr_array(scaled))).ravel()
            found[position] = 1.0 / np.where(norms > 0, norms, 1.0)
        if step is not None and step != "passthrough" and position < max(wanted, default=-1):
            X = step.transform(X)
    return np.array([found[position] for position, _ in normalisers]).reshape(-1, X.shape[0])
