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
from typing import Any

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

from ..core.counting import find_columns
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.features import Counts, columns_of_hashes, map_counts, squared_norms
from ..learning.estimator import CountedGraphs, GraphEstimator
from ..views.base import seen_through

#: Maximum relative difference between the model's values and the sums of contributions.
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class ColumnWeights:
    """Weights on the columns of a fitted kernel: the term of a pipeline."""

    kernel: FeatureKernel
    view: Any  # fitted, or None
    weights: np.ndarray  # (columns, outputs)
    #: Factor for the contributions of each graph of a batch.
    scales: Callable[[GraphBatch], np.ndarray]

    @property
    def n_levels(self) -> int:
        return len(self.kernel.level_scales)

    @property
    def place(self) -> int:
        """Identifier of the pass that locates the patterns; equal for terms that share it."""
        return id(self.kernel)

    def value(self, levels: Sequence[Counts], scale: float) -> np.ndarray:
        """Return the sum of all contributions of one graph, of shape (outputs,)."""
        parts = [self._added(number, counts).sum(axis=0) for number, counts in enumerate(levels)]
        return scale * np.sum(parts, axis=0)

    def contributions(
        self, levels: Sequence[Counts], scale: float, output: int
    ) -> list[np.ndarray]:
        """Return the contributions of one graph to an output, of shape (patterns,) per level."""
        return [
            scale * self._added(number, counts)[:, output] for number, counts in enumerate(levels)
        ]

    def known(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """Mark the patterns that occur in training; all of them if features are hashed."""
        return self._columns(level, hashes) >= 0

    def without_patterns(self) -> np.ndarray | float:
        """Return the extra bias of a graph without patterns; here the biases include it."""
        return 0.0

    def _columns(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """Return the column of each feature, -1 if there is none."""
        kernel = self.kernel
        if hasattr(kernel, "vocabulary_"):
            columns = find_columns(hashes, kernel.vocabulary_[level]).astype(np.int64)
            return np.where(columns >= 0, columns + int(kernel.level_offsets_[level]), -1)
        return columns_of_hashes(hashes, level, len(self.weights))

    def _added(self, level: int, counts: Counts) -> np.ndarray:
        """Return unscaled contributions; intersection counts sum over the units of a pattern."""
        mapped = map_counts(counts, self.kernel.counts)
        rows = np.arange(len(counts.hashes))
        if self.kernel.counts == "intersection":
            rows = np.repeat(rows, counts.counts.astype(np.int64))
        columns = self._columns(level, mapped.hashes)
        there = columns >= 0
        values = mapped.counts[there] * self.kernel.level_scales[level]
        added = np.zeros((len(counts.hashes), self.weights.shape[1]))
        np.add.at(added, rows[there], values[:, None] * self.weights[columns[there]])
        return added


@dataclass(frozen=True)
class MachineTerm:
    """A term of an estimator's machine, with the interface of `ColumnWeights`."""

    fitted: Any  # FittedTerm or PatternWeights
    coefficients: Any  # (outputs, training graphs), or None
    factors: np.ndarray  # (outputs,), from the machine's values to the explained ones

    @cached_property
    def kernel(self) -> FeatureKernel:
        return self.fitted.term.kernel

    @property
    def view(self) -> Any:
        return self.fitted.term.source.view

    @cached_property
    def n_levels(self) -> int:
        return len(self.kernel.level_scales)

    @property
    def place(self) -> int:
        return id(self.fitted.term.source)

    def scales(self, seen: GraphBatch) -> np.ndarray:
        return np.ones(len(seen))

    def value(self, levels: Sequence[Counts], scale: float) -> np.ndarray:
        return self.fitted.value(levels, self.coefficients) * self.factors

    def contributions(
        self, levels: Sequence[Counts], scale: float, output: int
    ) -> list[np.ndarray]:
        parts = self.fitted.contributions(levels, self.coefficients, output)
        return [part * self.factors[output] for part in parts]

    def known(self, level: int, hashes: np.ndarray) -> np.ndarray:
        return self.fitted.known(level, hashes)

    def without_patterns(self) -> np.ndarray | float:
        """Return the similarity to training graphs that have no patterns either."""
        return self.fitted.without_patterns(self.coefficients) * self.factors


Term = ColumnWeights | MachineTerm


@dataclass(frozen=True)
class LinearForm:
    """A model as weights on patterns."""

    outputs: list[Any]  # class or target index of each output; [None] for a single output
    two_classes: tuple[Any, Any] | None  # classes of negative and positive values, if binary
    terms: Sequence[Term]
    biases: Callable[[GraphBatch], np.ndarray]  # (graphs, outputs)
    values: Callable[[GraphBatch], np.ndarray]  # computed by the model itself
    #: Class of each graph (None for regression); if None, the class with the largest decision.
    predictions: Callable[[GraphBatch], list[Any]] | None
    checked: bool  # whether the sums of contributions are to be checked against the values
    #: Converts user input to graphs and table columns.
    read: Callable[[Any], CountedGraphs] = lambda X: CountedGraphs(as_graphs(X), {})
    #: Contribution of the table columns; a single 0 if they are unused.
    columns: Callable[[dict[str, np.ndarray]], Any] = lambda table: 0.0

    @property
    def classes(self) -> list[Any]:
        """Classes of a classifier, in the order of its decisions."""
        return list(self.two_classes or self.outputs)

    def prediction(self, batch: GraphBatch, number: int, decision: np.ndarray) -> Any:
        """Return the class predicted for one graph; None for regression."""
        if self.predictions is not None:
            return self.predictions(batch[number])[0]
        if self.two_classes is not None:
            return self.two_classes[int(decision[0] > 0)]
        return self.outputs[int(decision.argmax())]


def _predictions(model: Any) -> Callable[[GraphBatch], list[Any]]:
    if is_classifier(model):
        return lambda batch: _plain(model.predict(batch))
    return lambda batch: [None] * len(batch)


def linear_form(model: Any) -> LinearForm:
    """Express a fitted model as weights on patterns; see :func:`graphgrain.explain`."""
    if hasattr(model, "best_estimator_"):  # a search, such as GridSearchCV
        return linear_form(model.best_estimator_)
    if isinstance(model, GraphEstimator):
        return _of_estimator(model)
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


def _of_estimator(model: GraphEstimator) -> LinearForm:
    """Express an estimator by its machine: log-odds of classes, or values on the training scale."""
    check_is_fitted(model, "machine_")
    machine = model.machine_
    factors, shifts = model._explained_units()
    outputs, two = _meaning(model, machine.n_outputs)
    bias = machine.intercept * factors + shifts

    def biases(batch: GraphBatch) -> np.ndarray:
        return np.tile(bias, (len(batch), 1))

    def values(batch: GraphBatch) -> np.ndarray:
        return (machine.graph_values(batch, model.n_jobs) * factors) + shifts

    predictions = None if is_classifier(model) else _predictions(model)

    def columns(table: dict[str, np.ndarray]) -> Any:
        return 0.0 if machine.columns is None else machine.columns.values(table) * factors

    terms = [MachineTerm(term, machine.coefficients, factors) for term in machine.terms]
    return LinearForm(outputs, two, terms, biases, values, predictions, False, model._read, columns)


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
    kernel, final = steps[place], steps[-1]
    if not isinstance(kernel, FeatureKernel):
        raise InvalidParameterError(
            f"explain needs a kernel with explicit features; {type(kernel).__name__} only "
            "gives similarities. Use TreePlusPlus, WeisfeilerLehman, ShortestPath, Propagation or "
            "a histogram."
        )
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
    gram = kernel.output == "gram"
    if gram and kernel.similarity == "minmax":
        raise InvalidParameterError(
            "explain supports similarity='cosine' and 'dot' in pipelines; a model on "
            "similarity='minmax' has no weights on patterns. Use GraphClassifier or "
            "GraphRegressor, for which explain is exact."
        )
    if gram:
        pull_back_gram(kernel, pulled)

    def scales(seen: GraphBatch) -> np.ndarray:
        """Return the products of the first 0, 1, ... row scales of each graph."""
        norms = np.ones((0, len(seen)))
        if pulled.normalisers:
            norms = row_norms(between, pulled.normalisers, kernel.transform(seen))
        return np.vstack((np.ones(len(seen)), np.cumprod(norms, axis=0)))

    def row_scales(seen: GraphBatch) -> np.ndarray:
        whole = scales(seen)[-1]
        if gram and kernel.similarity == "cosine":
            # Norms are computed from all features, including those not seen in fit.
            squares = np.zeros(len(seen))
            for counts, scale in zip(kernel.count_features(seen), kernel.level_scales, strict=True):
                squares += scale**2 * squared_norms(map_counts(counts, kernel.counts))
            whole = whole * (1.0 / np.sqrt(np.where(squares > 0, squares, 1.0)))
        return whole

    def decisions(batch: GraphBatch) -> np.ndarray:
        return _own_values(model, final, batch)

    def biases(batch: GraphBatch) -> np.ndarray:
        seen = seen_through(view, batch)
        result = scales(seen).T @ np.array(pulled.biases)
        if gram and kernel.similarity == "cosine":
            # A graph without features is similar only to others without; no pattern explains it.
            lengths = [level.lengths for level in kernel.count_features(seen)]
            bare = np.sum(lengths, axis=0) == 0
            if bare.any():
                result[bare] = decisions(batch[np.flatnonzero(bare)])
        return result

    term = ColumnWeights(kernel, view, pulled.weights, row_scales)
    return LinearForm(outputs, two, [term], biases, decisions, _predictions(model), True)


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


def _own_values(model: Pipeline, final: Any, batch: GraphBatch) -> np.ndarray:
    """Return the values computed by the model itself, of shape (graphs, outputs)."""
    if isinstance(final, SVC | NuSVC) and len(final.classes_) > 2:
        by_pairs = copy(final)  # do not modify the user's model
        by_pairs.decision_function_shape = "ovo"
        values = -by_pairs.decision_function(model[:-1].transform(batch))
        return values @ _pairs_to_classes(len(final.classes_))
    values = model.decision_function(batch) if is_classifier(final) else model.predict(batch)
    return np.asarray(values).reshape(len(batch), -1)


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
# Compute one weight per column of the kernel from a pipeline of a kernel and a linear model. The
# value of a linear model is ``coef @ z + intercept``, where z is the output of the previous steps
# for a graph's features. The weights are pulled back through each step, last step first:
#
# 1. Scalers and projections are linear: weights are multiplied, and offsets go to the bias.
#    Selectors give weight 0 to the columns they drop.
# 2. A normaliser divides a row by its norm: weights are unchanged, and the row gets a scale.
# 3. Similarities to the fitted graphs are products of features: weights on them become weights on
#    patterns. The norm of a normalised similarity is another scale of the row.

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
    return np.array([found[position] for position, _ in normalisers]).reshape(len(wanted), -1)


def pull_back_gram(kernel: FeatureKernel, pulled: PulledBack) -> None:
    """Convert weights on similarities to the fitted graphs to weights on the kernel's columns."""
    W = pulled.weights
    scales = kernel.level_scales
    if kernel.similarity == "cosine":
        squares = (scales**2) @ kernel.squared_norms_
        W = W / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
    indptr, rows, values = kernel.features_
    X = sparse.csc_array((values, rows, indptr), shape=(kernel.n_graphs_, len(indptr) - 1))
    sizes = [len(vocabulary) for vocabulary in kernel.vocabulary_]
    pulled.weights = (X.T @ W) * np.repeat(scales, sizes)[:, None]
