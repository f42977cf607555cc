"""Which models can be explained, and how each becomes weights on patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import GraphKernel
from ..views.base import seen_through
from .folding import fold_gram, fold_steps, gram_scales, row_norms
from .terms import ColumnWeights, MemberWeights, Term

#: How far the weights may be from the model's own values before it does not count as linear.
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class LinearForm:
    """A model as weights on patterns.

    Attributes
    ----------
    outputs : list
        What each output speaks for: a class, the number of a target, or None for the only one.
    two_classes : tuple or None
        For one output that tells two classes apart: what negative and positive values mean.
    terms : list of Term
    biases, decisions : callables
        The bias, and the model's own values, of each graph of a batch: (graphs, outputs).
    predictions : callable
        The class that the model predicts for each graph; None for each where it predicts numbers.
    """

    outputs: list[Any]
    two_classes: tuple[Any, Any] | None
    terms: Sequence[Term]
    biases: Callable[[GraphBatch], np.ndarray]
    decisions: Callable[[GraphBatch], np.ndarray]
    predictions: Callable[[GraphBatch], list[Any]]


def _predictions(model: Any) -> Callable[[GraphBatch], list[Any]]:
    if is_classifier(model):
        return lambda batch: _plain(model.predict(batch))
    return lambda batch: [None] * len(batch)


def linear_form(model: Any) -> LinearForm:
    """Weights on patterns from a fitted model; see :func:`graphgrain.explain` for which."""
    if hasattr(model, "best_estimator_"):  # a search, such as GridSearchCV
        return linear_form(model.best_estimator_)
    if hasattr(model, "pattern_weights_"):
        return _of_members(model)
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
        "explain takes a self-tuned estimator (TreePlusPlusClassifier, ...) or a Pipeline of a "
        f"kernel and a linear model; got {type(model).__name__}. For example "
        "make_pipeline(TreePlusPlus(output='features'), LogisticRegression()).fit(graphs, y)."
    )


# -------------------------------------------------------------------- self-tuned estimators


def _of_members(model: Any) -> LinearForm:
    members = model.pattern_weights_
    width = members[0].n_outputs
    if is_classifier(model) and len(model.classes_) > 2:
        mixing, outputs, two = _pairs_to_classes(len(model.classes_)), _plain(model.classes_), None
    elif is_classifier(model):
        mixing, outputs, two = np.eye(1), [None], tuple(_plain(model.classes_))
    else:
        mixing, outputs, two = np.eye(width), list(range(width)) if width > 1 else [None], None
    mixing = mixing / len(members)
    bias = np.sum([member.intercept @ mixing for member in members], axis=0)

    def decisions(batch: GraphBatch) -> np.ndarray:
        values = [member.decision_values(batch) @ mixing for member in members]
        return np.sum(values, axis=0)

    def biases(batch: GraphBatch) -> np.ndarray:
        result = np.tile(bias, (len(batch), 1))
        for member in members:
            if member.normalize and member.without_patterns.any():
                seen = seen_through(member.view, batch)
                counts = [level.lengths for level in member.kernel.count_features(seen)]
                result[np.sum(counts, axis=0) == 0] += member.without_patterns @ mixing
        return result

    terms = [MemberWeights(member, mixing) for member in members]
    return LinearForm(outputs, two, terms, biases, decisions, _predictions(model))


def _pairs_to_classes(classes: int) -> np.ndarray:
    """The mean, for each class, of the values of its pairs; positive ones speak for the second."""
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
    coefficients, intercept, outputs, two = _coefficients(final, kernel)
    folded = fold_steps(between, coefficients, intercept)
    gram = kernel.output == "gram"
    if gram:
        fold_gram(kernel, folded)

    def scales(seen: GraphBatch) -> np.ndarray:
        """Products of the first 0, 1, ... scales of each graph."""
        norms = np.ones((0, len(seen)))
        if folded.normalisers:
            norms = row_norms(between, folded.normalisers, kernel.transform(seen))
        return np.vstack((np.ones(len(seen)), np.cumprod(norms, axis=0)))

    def row_scales(seen: GraphBatch) -> np.ndarray:
        own = gram_scales(kernel, seen) if gram else 1.0
        return scales(seen)[-1] * own

    def decisions(batch: GraphBatch) -> np.ndarray:
        return _own_values(model, final, batch)

    def biases(batch: GraphBatch) -> np.ndarray:
        seen = seen_through(view, batch)
        result = scales(seen).T @ np.array(folded.biases)
        if gram and kernel.similarity == "cosine":
            # Without features a graph is similar to its like: nothing that a pattern could tell.
            lengths = [level.lengths for level in kernel.count_features(seen)]
            bare = np.sum(lengths, axis=0) == 0
            if bare.any():
                result[bare] = decisions(batch[np.flatnonzero(bare)])
        return result

    term = ColumnWeights(kernel, view, folded.weights, row_scales)
    return LinearForm(outputs, two, [term], biases, decisions, _predictions(model))


def _coefficients(final: Any, kernel: FeatureKernel) -> tuple[Any, Any, list[Any], Any]:
    """Coefficients (outputs, columns), intercept, what outputs mean, and the two classes."""
    precomputed = getattr(final, "kernel", None) == "precomputed"
    if precomputed and kernel.output != "gram":
        raise InvalidParameterError(
            f"{type(final).__name__}(kernel='precomputed') needs similarities; the kernel gives "
            "features. Use output='gram'."
        )
    if precomputed and isinstance(final, SVC | NuSVC):
        coefficients, intercept = _pairwise(final, kernel.n_graphs_)
        if len(final.classes_) == 2:
            return coefficients, intercept, [None], tuple(_plain(final.classes_))
        mixing = _pairs_to_classes(len(final.classes_))
        return mixing.T @ coefficients, intercept @ mixing, _plain(final.classes_), None
    if precomputed and isinstance(final, SVR | NuSVR):
        coefficients = np.zeros((1, kernel.n_graphs_))
        coefficients[:, final.support_] = final.dual_coef_
        return coefficients, final.intercept_, [None], None
    if precomputed and isinstance(final, KernelRidge):
        coefficients = final.dual_coef_.T.reshape(-1, kernel.n_graphs_)
        width = len(coefficients)
        return coefficients, np.zeros(width), list(range(width)) if width > 1 else [None], None
    if isinstance(final, OneVsRestClassifier) and all(
        hasattr(each, "coef_") for each in final.estimators_
    ):
        coefficients = np.vstack([_dense(each.coef_) for each in final.estimators_])
        intercept = np.concatenate([np.atleast_1d(each.intercept_) for each in final.estimators_])
    elif not isinstance(final, SVC | NuSVC) and hasattr(final, "coef_"):
        coefficients = np.atleast_2d(_dense(final.coef_))
        intercept = np.broadcast_to(np.atleast_1d(final.intercept_), len(coefficients))
    else:
        raise InvalidParameterError(
            "explain needs a linear model, whose value is a sum over patterns; got "
            f"{type(final).__name__}. Use LogisticRegression, LinearSVC, Ridge, "
            "SVC(kernel='precomputed') after a kernel with output='gram', or a self-tuned "
            "estimator."
        )
    if is_classifier(final):
        if len(coefficients) == 1:
            return coefficients, intercept, [None], tuple(_plain(final.classes_))
        return coefficients, intercept, _plain(final.classes_), None
    width = len(coefficients)
    return coefficients, intercept, list(range(width)) if width > 1 else [None], None


def _plain(classes: np.ndarray) -> list[Any]:
    """Classes as Python's own numbers and strings, which read better."""
    return [getattr(label, "item", lambda label=label: label)() for label in classes]


def _dense(coefficients: Any) -> np.ndarray:
    return coefficients.toarray() if sparse.issparse(coefficients) else np.asarray(coefficients)


def _pairwise(machine: Any, graphs: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of each pair of classes on all fitted graphs; positive: the second class."""
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
    # With two classes scikit-learn has turned the sign already.
    sign = 1.0 if classes == 2 else -1.0
    return sign * np.array(rows), sign * machine.intercept_


def _own_values(model: Pipeline, final: Any, batch: GraphBatch) -> np.ndarray:
    """The model's own values, of shape (graphs, outputs)."""
    if isinstance(final, SVC | NuSVC) and len(final.classes_) > 2:
        shape = final.decision_function_shape
        try:
            final.decision_function_shape = "ovo"
            values = -model.decision_function(batch)
        finally:
            final.decision_function_shape = shape
        return values @ _pairs_to_classes(len(final.classes_))
    values = model.decision_function(batch) if is_classifier(final) else model.predict(batch)
    return np.asarray(values).reshape(len(batch), -1)


def check_linear(model: Any, decisions: np.ndarray, sums: np.ndarray) -> None:
    """Refuse a model whose own values are not what its weights add up to."""
    size = np.maximum(np.abs(decisions), 1.0)
    if decisions.size and (np.abs(decisions - sums) > _TOLERANCE * size).any():
        raise InvalidParameterError(
            "explain needs a linear model, whose value is a sum over patterns; that of "
            f"{type(model).__name__} is not what its coefficients add up to (link functions and "
            "clipping do that). Use LogisticRegression, LinearSVC or Ridge."
        )
