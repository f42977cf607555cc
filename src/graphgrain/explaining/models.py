"""Decisions of models as sums over the patterns of graphs.

An estimator is asked for two things:

1. ``model.count(X)``: the graphs, with their features by source;
2. ``model.pattern_sums(counted, of="decision" or "uncertainty", held_out=False)``: the
   ``values`` with their parts ``biases`` and ``columns`` (graphs, outputs); for the rest the fitted
   ``terms``, each of which computes the contributions of a graph's patterns from the coefficients
   of the training graphs (``of(graph)``) and, times ``factors``, from the graph's similarity with
   itself; and ``in_training``, whether each graph is a training graph.

The features of a kernel in a pipeline have the weights that the linear model gives their columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.bases.feature_kernel import FeatureKernel, check_explicit
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.features import Counts, Features, by_pattern
from ..learning.estimator import GraphEstimator
from ..learning.machine import by_source
from ..views.base import seen_through

#: Maximum relative difference between the model's values and the sums of contributions.
_TOLERANCE = 1e-6


class Part(NamedTuple):
    """Patterns that one kernel finds in graphs, as one view shows them."""

    kernel: FeatureKernel
    seen: GraphBatch  # the graphs after the view
    #: Contributions of the counted patterns of a graph to an output, for each level.
    contributions: Callable[[int, list[Counts], int], list[np.ndarray]]
    #: Mask of the patterns of a level that training graphs have.
    known: Callable[[int, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Decisions:
    """Values of a model for graphs: a bias, a part of other columns, and sums over patterns."""

    batch: GraphBatch
    outputs: list[Any]  # class or target index of each output; [None] for a single output
    two_classes: tuple[Any, Any] | None  # classes of negative and positive values, if binary
    values: np.ndarray  # (graphs, outputs)
    biases: np.ndarray | None  # (graphs, outputs); None for what the other parts leave
    columns: np.ndarray  # (graphs, outputs)
    in_training: np.ndarray  # whether each graph is a training graph
    parts: list[Part]
    largest: Any = None  # output with the largest decision, for what are no decisions

    @property
    def classes(self) -> list[Any]:
        """Classes of a classifier, in the order of its decisions."""
        return list(self.two_classes or self.outputs)

    def predicted(self, graph: int) -> Any:
        """Return the class with the largest value."""
        if self.two_classes is not None:
            return self.two_classes[int(self.values[graph, 0] > 0)]
        return self.outputs[int(self.values[graph].argmax())]


def decisions(model: Any, X: Any, held_out: bool = False) -> Decisions:
    """Express the decisions of a fitted model; see :func:`graphgrain.explain`."""
    while hasattr(model, "best_estimator_"):  # a search, such as GridSearchCV
        model = model.best_estimator_
    if isinstance(model, GraphEstimator):
        return _of_estimator(model, X, held_out)
    if held_out:
        raise InvalidParameterError(
            "held_out=True needs a GraphClassifier or a GraphRegressor, which have the models "
            f"without each training graph in closed form; got {type(model).__name__}."
        )
    if isinstance(model, Pipeline):
        return _of_pipeline(model, X)
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


def _meaning(model: Any, width: int) -> tuple[list[Any], tuple[Any, Any] | None]:
    """Return the class or target of each output, and the two classes of a binary classifier."""
    if is_classifier(model):
        classes = [getattr(label, "item", lambda label=label: label)() for label in model.classes_]
        return (classes, None) if width > 1 else ([None], (classes[0], classes[1]))
    return list(range(width)) if width > 1 else [None], None


# -------------------------------------------------------------------- estimators


def _of_estimator(model: GraphEstimator, X: Any, held_out: bool) -> Decisions:
    """Express log-odds of classes, or values of targets."""
    check_is_fitted(model, "machine_")
    counted = model.count(X)
    sums = model.pattern_sums(counted, held_out=held_out)
    outputs, two_classes = _meaning(model, sums.values.shape[1])
    biases = sums.biases.copy()
    assert counted.features is not None
    for fitted in sums.terms:
        features = counted.features[id(fitted.term.source)].first_levels(fitted.term.n_levels)
        lengths = np.sum([level.lengths for level in features.levels], axis=0)
        for graph in np.flatnonzero(lengths == 0).tolist():
            biases[graph] += fitted.without_patterns(sums.of(graph))
    parts = _parts(sums, counted.batch)
    return Decisions(
        counted.batch, outputs, two_classes, sums.values, biases, sums.columns, sums.in_training,
        parts,
    )  # fmt: skip


def uncertainties(model: Any, X: Any) -> Decisions:
    """Express what an estimator expects of its errors."""
    if not isinstance(model, GraphEstimator):
        raise InvalidParameterError(
            "of='uncertainty' needs a GraphRegressor or a GraphClassifier; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model, "machine_")
    counted = model.count(X)
    sums = model.pattern_sums(counted, of="uncertainty")
    outputs, two_classes = _meaning(model, sums.values.shape[1])
    largest = model.pattern_sums(counted).values.argmax(axis=1)
    parts = _parts(sums, counted.batch)
    return Decisions(
        counted.batch, outputs, two_classes, sums.values, None, sums.columns, sums.in_training,
        parts, largest,
    )  # fmt: skip


def _parts(sums: Any, batch: GraphBatch) -> list[Part]:
    parts = []
    for own in by_source(sums.terms):
        deepest = own[0].term
        seen = deepest.source.see(batch)
        if not np.array_equal(seen.offsets, batch.offsets):
            raise InvalidGraphError(
                f"explain needs views that keep the vertices of graphs; {deepest.source.view!r} "
                "changes their number, so that values cannot be assigned to vertices."
            )
        contributions, known = partial(_contributions, sums, own), partial(_known, own)
        parts.append(Part(deepest.kernel, seen, contributions, known))
    return parts


def _contributions(
    sums: Any, terms: list[Any], graph: int, levels: list[Counts], output: int
) -> list[np.ndarray]:
    """Add up the contributions of the terms of one source."""
    total = [np.zeros(len(level.hashes)) for level in levels]
    coefficients, factor = sums.of(graph), sums.factors[graph, output]
    for fitted in terms:
        own = levels[: fitted.term.n_levels]
        for place, part in enumerate(fitted.contributions(own, coefficients, output)):
            total[place] += part
        for place, part in enumerate(fitted.own_contributions(own) if factor else ()):
            total[place] += factor * part
    return total


def _known(terms: list[Any], level: int, hashes: np.ndarray) -> np.ndarray:
    known = np.zeros(len(hashes), dtype=bool)
    for fitted in terms:
        if fitted.term.n_levels is None or level < fitted.term.n_levels:
            known |= fitted.known(level, hashes)
    return known


# -------------------------------------------------------------------- pipelines


def _of_pipeline(model: Pipeline, X: Any) -> Decisions:
    steps = [step for _, step in model.steps]
    if len(steps) < 2 or not isinstance(steps[-2], GraphKernel):
        raise InvalidParameterError(
            "explain needs a kernel and a linear model as the last two steps of a pipeline; these "
            f"are {', '.join(type(step).__name__ for step in steps)}. Leave out the steps between "
            "them, or use a GraphClassifier or GraphRegressor."
        )
    kernel, final = check_explicit(steps[-2], "explain"), steps[-1]
    check_is_fitted(kernel)
    check_is_fitted(final)
    if not hasattr(final, "coef_") or kernel.output != "features":
        raise InvalidParameterError(
            "explain needs a linear model with coef_ on features, whose value is a sum over "
            f"patterns; got {type(final).__name__} on output={kernel.output!r}. Use output="
            "'features' and LogisticRegression, LinearSVC or Ridge, or a GraphClassifier."
        )
    weights = final.coef_.toarray() if sparse.issparse(final.coef_) else np.asarray(final.coef_)
    weights = np.atleast_2d(weights).T
    batch = as_graphs(X)
    view = model[:-2] if len(steps) > 2 else None
    seen = seen_through(view, batch)
    matrix = kernel.transform(seen)
    own = final.decision_function if is_classifier(final) else final.predict
    values = np.reshape(own(matrix), (len(batch), -1)) if len(batch) else np.zeros((0, 1))
    _check_linear(final, matrix, values, weights)
    outputs, two_classes = _meaning(final, weights.shape[1])
    part = _Weighted(kernel, weights)
    return Decisions(
        batch, outputs, two_classes, values,
        np.broadcast_to(np.asarray(final.intercept_, dtype=float), values.shape),
        np.zeros(values.shape), np.zeros(len(batch), dtype=bool),
        [Part(kernel, seen, part.contributions, part.known)],
    )  # fmt: skip


def _check_linear(final: Any, matrix: Any, values: np.ndarray, weights: np.ndarray) -> None:
    """Raise an error unless a model's values, one for each class, are linear in its features."""
    name = type(final).__name__
    if matrix.shape[0] and is_classifier(final) and np.ndim(final.predict(matrix[:1])) > 1:
        raise InvalidParameterError(
            f"explain takes classifiers with one class for each graph; {name} was fitted to "
            "several labels for each. Fit one model for each label."
        )
    sums = matrix @ weights + final.intercept_
    fits = sums.shape == values.shape or not len(values)
    if not fits or (np.abs(sums - values) > _TOLERANCE * np.maximum(np.abs(values), 1.0)).any():
        raise InvalidParameterError(
            f"explain needs a linear model, whose value is a sum over patterns; that of {name} is "
            "not what its coefficients add up to (link functions and clipping do that). Use "
            "LogisticRegression, LinearSVC or Ridge."
        )


class _Weighted(NamedTuple):
    """The features of a kernel with the weights of their columns."""

    kernel: FeatureKernel
    weights: np.ndarray  # (columns, outputs)

    def contributions(self, graph: int, levels: list[Counts], output: int) -> list[np.ndarray]:
        mapped = Features(levels).mapped(self.kernel.counts).scaled(self.kernel.level_scales)
        weights = np.append(self.weights[:, output], 0.0)  # that of unknown patterns is the last
        parts = [
            weights[self.kernel.columns_of(level.hashes, number)] * level.counts
            for number, level in enumerate(mapped.levels)
        ]
        return by_pattern(parts, levels, self.kernel.counts)

    def known(self, level: int, hashes: np.ndarray) -> np.ndarray:
        return self.kernel.columns_of(hashes, level) >= 0
