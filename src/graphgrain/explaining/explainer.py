"""Explain the decisions of a model.

1. Express the model as weights on patterns (``models.linear_form``).
2. Locate the patterns of each graph, once for all kernels that share them, with the deepest one.
3. Multiply the weights by the (mapped) pattern counts to get contributions.
4. Divide each contribution among the occurrences of its pattern, and these among vertices and
   edges (``sharing``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..core.threads import call
from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts, Occurrences, Tally
from ..learning.estimator import GraphEstimator
from ..learning.machine import by_source
from ..parameters import JOBS, check_value
from .explanation import Explanation, FoundLevel
from .models import LinearForm, check_linear, linear_form
from .sharing import check_share, edges_as_in, share_occurrences


def explain(
    model: Any,
    graphs: Any,
    *,
    target: Any = None,
    of: str = "decision",
    share: str | None = None,
    held_out: bool = False,
    n_jobs: int | None = None,
) -> list[Explanation]:
    """Explain a model's decisions as exact sums over patterns, vertices and edges.

    Parameters
    ----------
    model : fitted model
        A :class:`GraphClassifier` or :class:`GraphRegressor`;
        or a scikit-learn pipeline of a kernel with explicit features and a linear model
        (``LogisticRegression``, ``LinearSVC``, ``Ridge``, ...), optionally with views before the
        kernel and scalers, normalisers, selectors, ``PCA`` or ``TruncatedSVD`` after it; or a
        pipeline of a kernel with ``output="gram"`` and ``SVC(kernel="precomputed")``, ``SVR`` or
        ``KernelRidge``; or a search such as ``GridSearchCV`` over one of these.
    graphs : GraphBatch, sequence of graphs, or table accepted by the model
    target : optional
        For more than two classes, the class to explain; by default the predicted class of each
        graph. For multi-output regression, the index of the target (also of its uncertainty).
    of : {"decision", "uncertainty"}, default="decision"
        Quantity to explain. "uncertainty" is log sigma, the logarithm of the size of errors that
        the model expects (for a :class:`GraphClassifier` those of its score): patterns of training
        graphs with large held-out errors, and rare ones, increase it.
    share : {"path", "tree"}, optional
        How the contribution of an occurrence is distributed over vertices and edges, equally over
        all shortest paths that spell the pattern:

        - "path": over the vertices and edges of these paths;
        - "tree": each path vertex passes its share on to the tree rooted there.

        Default is "tree" for classifiers and for the uncertainty, "path" for regressors; these
        agreed best with the ground truth on training molecules.
    held_out : bool, default=False
        For a :class:`GraphClassifier` or :class:`GraphRegressor`, explain the decision for a graph
        of the training set by the model without it and its copies, which has not seen its target.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    list of Explanation
        One per graph.

    See Also
    --------
    class_patterns : Patterns that are typical of each class.
    class_fragments : Rings and functional groups that are typical of each class.
    compare : Explanation of the similarity of two graphs.

    Notes
    -----
    ``decision == bias + columns + sum of contributions`` holds up to rounding, and the values of
    the vertices sum to the same contributions. docs/explaining.md describes cases in which an
    explanation can still mislead.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs, y = gg.load_drugs()
    >>> kernel = gg.TreePlusPlus(output="features", counts="binary")
    >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, y == "opioids")
    >>> [why] = gg.explain(model, graphs[221])
    >>> bool(abs(why.decision - why.bias - why.vertices.sum()) < 1e-9)
    True
    """
    if share is not None:
        check_share(share)
    if of not in ("decision", "uncertainty"):
        raise InvalidParameterError(f"of must be 'decision' or 'uncertainty'; got {of!r}.")
    check_value("n_jobs", n_jobs, JOBS)
    while hasattr(model, "best_estimator_"):  # a search, such as GridSearchCV
        model = model.best_estimator_
    # One call to the worker instead of one for each of many short steps.
    if of == "uncertainty":
        return call(explain_uncertainty, model, graphs, target, share or "tree", n_jobs)
    found = call(explain_outputs, model, graphs, target, share, n_jobs, False, held_out)
    return [outputs[0] for outputs in found]


def explain_outputs(
    model: Any,
    graphs: Any,
    target: Any = None,
    share: str | None = None,
    n_jobs: int | None = None,
    every: bool = False,
    held_out: bool = False,
) -> list[list[Explanation]]:
    """Explain one output of the model for each graph, or all outputs if ``every`` is True."""
    share = share or ("tree" if is_classifier(model) else "path")
    form = linear_form(model, held_out)
    read = form.read(graphs)
    batch = read.batch
    wanted = None if every else _wanted(form, target, is_classifier(model))
    if not len(batch):
        return []
    evaluated = form.evaluate(read)
    biases, factors, own_values, predictions = evaluated[:4]
    beside = np.broadcast_to(evaluated.columns, biases.shape)
    factors = np.broadcast_to(factors, biases.shape)
    sums = biases + beside
    known = np.zeros(len(batch)) if evaluated.in_training is None else evaluated.in_training
    result: list[list[Explanation]] = []
    for number, (graph, parts) in enumerate(_opened(form.terms, batch, n_jobs)):
        coefficients = evaluated.coefficients
        if np.ndim(coefficients) == 3:
            coefficients = coefficients[number]
        bare, value = np.zeros(len(form.outputs)), np.zeros(len(form.outputs))
        for own, terms in parts:
            for fitted in terms:
                value += fitted.value(own.counted[: fitted.term.n_levels], coefficients)
            if not any(len(tally.hashes) for tally in own.tallies):
                bare += sum(fitted.without_patterns(coefficients) for fitted in terms)
        bare, value = bare * factors[number], value * factors[number]
        biases[number] += bare
        sums[number] += bare + value
        decision = sums[number]
        if own_values is not None:
            decision = own_values[number]
            check_linear(model, decision, sums[number])
        predicted = form.largest(decision) if predictions is None else predictions[number]
        outputs: Sequence[int] = range(len(form.outputs))
        if not every:
            outputs = [form.outputs.index(predicted) if wanted is None else wanted]
        found = []
        for output in outputs:
            levels = []
            for own, terms in parts:
                levels += own.levels(
                    [
                        fitted.contributions(
                            own.counted[: fitted.term.n_levels], coefficients, output
                        )
                        for fitted in terms
                    ],
                    factors[number, output],
                    terms,
                )
            vertices, edges = shared_values(graph, levels, share)
            low, high = form.two_classes or (None, form.outputs[output])
            found.append(
                Explanation(
                    decision=float(decision[output]),
                    bias=float(biases[number, output]),
                    columns=float(beside[number, output]),
                    vertices=vertices,
                    edges=edges,
                    prediction=predicted,
                    target=high,
                    opposite=low,
                    graph=graph,
                    share=share,
                    levels=levels,
                    in_training=bool(known[number]),
                    held_out=held_out and bool(known[number]),
                )
            )
        result.append(found)
    return result


def _wanted(form: LinearForm, target: Any, is_classification: bool) -> int | None:
    """Return the index of the requested output, or None for the predicted class."""
    several = len(form.outputs) > 1
    if target is None or (isinstance(target, str) and target == "predicted" and is_classification):
        if several and not is_classification:
            raise InvalidParameterError(
                f"The model predicts {len(form.outputs)} numbers; say which of them to explain: "
                f"target=0 to {len(form.outputs) - 1}."
            )
        return None if several else 0
    if not several:
        words = " and ".join(map(repr, form.two_classes or ()))
        about = f"the two classes {words}" if words else "a single number"
        raise InvalidParameterError(
            f"target chooses among several classes; this model has one value for {about}. "
            "Leave it out."
        )
    if isinstance(target, np.ndarray | list) or target not in form.outputs:
        predicted = ", or 'predicted'" if is_classification else ""
        raise InvalidParameterError(
            f"target must be one of {', '.join(map(repr, form.outputs))}{predicted}; got "
            f"{target!r}."
        )
    return form.outputs.index(target)


def explain_uncertainty(
    model: Any, graphs: Any, target: Any, share: str, n_jobs: int | None
) -> list[Explanation]:
    """Explain log sigma, the logarithm of the size of errors, as a sum over patterns."""
    if not isinstance(model, GraphEstimator):
        raise InvalidParameterError(
            "of='uncertainty' needs a GraphRegressor or a GraphClassifier; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model, "machine_")
    form = linear_form(model)
    wanted = _wanted(form, target, is_classifier(model))
    read = model.count(graphs)
    decisions = model.pattern_sums(read).values
    sums = model.pattern_sums(read, of="uncertainty")
    result = []
    for number, (graph, parts) in enumerate(_opened(sums.terms, read.batch, n_jobs)):
        output = wanted
        if output is None:
            output = int(decisions[number].argmax())
        coefficients, factor = sums.of(number)[[output]], sums.factors[number, output]
        levels = []
        for found, terms in parts:
            added = [
                [
                    part + factor * itself
                    for part, itself in zip(
                        fitted.contributions(found.counted[: fitted.term.n_levels], coefficients),
                        fitted.own_contributions(found.counted[: fitted.term.n_levels]),
                        strict=True,
                    )
                ]
                for fitted in terms
            ]
            levels += found.levels(added, 1.0, terms)
        total = float(sums.values[number, output])
        beside = float(sums.columns[number, output])
        patterns = float(sum(part.contributions.sum() for part in levels))
        result.append(
            Explanation(
                total,
                total - beside - patterns,
                beside,
                *shared_values(graph, levels, share),
                prediction=None,
                target="unsure",
                opposite="sure",
                graph=graph,
                share=share,
                levels=levels,
            )
        )
    return result


def shared_values(
    graph: GraphBatch, levels: list[FoundLevel], share: str
) -> tuple[np.ndarray, np.ndarray]:
    by_view: dict[int, list[FoundLevel]] = {}
    for part in levels:
        by_view.setdefault(id(part.seen), []).append(part)
    vertices, edges = np.zeros(graph.n_vertices), np.zeros(graph.n_edges)
    for parts in by_view.values():
        shared = [
            (part.found, (part.contributions / part.tally.times)[part.tally.place])
            for part in parts
        ]
        own, between = share_occurrences(parts[0].seen, shared, share)
        vertices += own
        edges += edges_as_in(graph, parts[0].seen, between)
    return vertices, edges


# -------------------------------------------------------------------- contributions


class Found(NamedTuple):
    """Patterns of one graph, found by one kernel."""

    kernel: FeatureKernel
    seen: GraphBatch  # the graph after the kernel's view
    located: list[Occurrences]
    tallies: list[Tally]
    counted: list[Counts]

    @classmethod
    def of(cls, kernel: FeatureKernel, seen: GraphBatch, located: list[Occurrences]) -> Found:
        tallies = [level.tally() for level in located]
        counted = [Counts(np.array([len(t.hashes)]), t.hashes, t.values) for t in tallies]
        return cls(kernel, seen, located, tallies, counted)

    def levels(
        self, added: list[list[np.ndarray]], factor: float, terms: Sequence[Any]
    ) -> list[FoundLevel]:
        """Return the levels with the sums of contributions, and patterns known to terms marked."""
        totals = [np.zeros(len(tally.hashes)) for tally in self.tallies]
        known = [np.zeros(len(tally.hashes), dtype=bool) for tally in self.tallies]
        for parts in added:
            for level, part in enumerate(parts):
                totals[level] += factor * part
        for fitted in terms:
            for level, tally in enumerate(self.tallies[: fitted.term.n_levels]):
                if not known[level].all():
                    known[level] |= fitted.known(level, tally.hashes)
        each = zip(self.located, self.tallies, totals, known, strict=True)
        return [
            FoundLevel(self.kernel, self.seen, level, *parts) for level, parts in enumerate(each)
        ]


def _opened(
    fitted_terms: Sequence[Any], batch: GraphBatch, n_jobs: int | None
) -> Iterator[tuple[GraphBatch, list[tuple[Found, list[Any]]]]]:
    """Yield each graph with its patterns, located once per view and kernel."""
    prepared = []
    for terms in by_source(fitted_terms):
        deepest = terms[0].term
        seen = deepest.source.see(batch)
        if not np.array_equal(seen.offsets, batch.offsets):
            raise InvalidGraphError(
                f"explain needs views that keep the vertices of graphs; {deepest.source.view!r} "
                "changes their number, so that values cannot be assigned to vertices."
            )
        kernel = with_threads(deepest.kernel, n_jobs)
        prepared.append((terms, kernel, seen, kernel.locate_each(seen)))
    for number in range(len(batch)):
        graph = batch[number]
        parts = []
        for terms, kernel, seen, located in prepared:
            found = Found.of(kernel, graph if seen is batch else seen[number], next(located))
            parts.append((found, terms))
        yield graph, parts


def with_threads(kernel: FeatureKernel, n_jobs: int | None) -> FeatureKernel:
    return kernel if n_jobs is None else copy(kernel).set_params(n_jobs=n_jobs)
