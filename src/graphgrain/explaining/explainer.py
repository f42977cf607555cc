"""Explain the decisions of a model.

1. Express the model as sums over patterns (``models``).
2. Locate the patterns of each graph, once for all terms that share them, with the deepest one.
3. Ask the model for the contribution of each pattern.
4. Divide each contribution among the occurrences of its pattern, and these among vertices and
   edges (``sharing``).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from ..core.threads import call
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts, Occurrences, Tally
from ..parameters import JOBS, OneOf, check_value
from .explanation import Explanation, FoundLevel
from .models import Decisions, Part, decisions, uncertainties
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
        or a scikit-learn pipeline of a kernel with ``output="features"`` and a linear model that
        has ``coef_`` (``LogisticRegression``, ``LinearSVC``, ``Ridge``, ...), optionally with views
        before the kernel; or a search such as ``GridSearchCV`` over one of these.
    graphs : GraphBatch, sequence of graphs, or table accepted by the model
    target : optional
        For more than two classes, the class to explain; by default the predicted class of each
        graph. For multi-output regression, the index of the target (also of its uncertainty).
    of : {"decision", "uncertainty"}, default="decision"
        Quantity to explain. "uncertainty" is the variance of a :class:`GraphRegressor`'s
        prediction (for a :class:`GraphClassifier` that of its score, in units of the kernel):
        patterns that are new or rare in training increase it, patterns shared with training
        graphs reduce it.
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
    compare_sets : Patterns and fragments that are more frequent in one class.
    compare : Explanation of the similarity of two graphs.

    Notes
    -----
    ``decision == bias + columns + sum of contributions`` holds up to rounding, and the values of
    the vertices sum to the same contributions. For a regressor trained on a transformed target
    (``scale_``) the decision is the prediction on that scale. docs/explaining.md describes cases
    in which an explanation can still mislead.

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
    check_value("of", of, OneOf(("decision", "uncertainty")))
    check_value("n_jobs", n_jobs, JOBS)
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
    classification = is_classifier(model)
    share = share or ("tree" if classification else "path")
    made = decisions(model, graphs, held_out)
    wanted = None if every else _wanted(made, target, classification)
    result = []
    for number, (graph, found) in enumerate(_located(made, n_jobs)):
        predicted = made.predicted(number) if classification else None
        outputs = range(len(made.outputs))
        if not every:
            output = made.outputs.index(predicted) if wanted is None else wanted
            outputs = range(output, output + 1)
        low, high = made.two_classes or (None, None)
        result.append(
            [
                _explained(
                    made, number, output, graph, found,
                    prediction=predicted,
                    target=made.outputs[output] if made.two_classes is None else high,
                    opposite=low,
                    share=share,
                )
                for output in outputs
            ]
        )  # fmt: skip
    return result


def _wanted(made: Decisions, target: Any, classification: bool) -> int | None:
    """Return the index of the requested output, or None for the predicted class."""
    several = len(made.outputs) > 1
    if target is None or (isinstance(target, str) and target == "predicted" and classification):
        if several and not classification:
            raise InvalidParameterError(
                f"The model predicts {len(made.outputs)} numbers; say which of them to explain: "
                f"target=0 to {len(made.outputs) - 1}."
            )
        return None if several else 0
    if not several:
        words = " and ".join(map(repr, made.two_classes or ()))
        about = f"the two classes {words}" if words else "a single number"
        raise InvalidParameterError(
            f"target chooses among several classes; this model has one value for {about}. "
            "Leave it out."
        )
    if isinstance(target, np.ndarray | list) or target not in made.outputs:
        predicted = ", or 'predicted'" if classification else ""
        raise InvalidParameterError(
            f"target must be one of {', '.join(map(repr, made.outputs))}{predicted}; got "
            f"{target!r}."
        )
    return made.outputs.index(target)


def explain_uncertainty(
    model: Any, graphs: Any, target: Any, share: str, n_jobs: int | None
) -> list[Explanation]:
    """Explain log sigma, the logarithm of the expected error, as a sum over patterns."""
    made = uncertainties(model, graphs)
    wanted = _wanted(made, target, is_classifier(model))
    explained = []
    for number, (graph, found) in enumerate(_located(made, n_jobs)):
        output = made.largest[number] if wanted is None else wanted
        explained.append(
            _explained(
                made, number, output, graph, found,
                prediction=None, target="unsure", opposite="sure", share=share,
            )
        )  # fmt: skip
    return explained


def _explained(
    made: Decisions, number: int, output: int, graph: GraphBatch, found: list[Found], **about: Any
) -> Explanation:
    """Divide one value of the model for one graph among patterns, vertices and edges."""
    levels = [
        level
        for own, part in zip(found, made.parts, strict=True)
        for level in own.levels(
            part.contributions(number, own.counted, output),
            [part.known(place, tally.hashes) for place, tally in enumerate(own.tallies)],
        )
    ]
    decision = float(made.values[number, output])
    beside = float(made.columns[number, output])
    patterns = float(sum(part.contributions.sum() for part in levels))
    bias = decision - beside - patterns
    if made.biases is not None:
        bias = float(made.biases[number, output])
    vertices, edges = shared_values(graph, levels, about["share"])
    return Explanation(
        decision=decision,
        bias=bias,
        columns=beside,
        vertices=vertices,
        edges=edges,
        graph=graph,
        levels=levels,
        in_training=bool(made.in_training[number]),
        **about,
    )


def shared_values(
    graph: GraphBatch, levels: list[FoundLevel], share: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of vertices and edges: those of all views, each of which may drop edges."""
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

    def levels(self, contributions: list[np.ndarray], known: list[np.ndarray]) -> list[FoundLevel]:
        each = zip(self.located, self.tallies, contributions, known, strict=True)
        return [
            FoundLevel(self.kernel, self.seen, level, *parts) for level, parts in enumerate(each)
        ]


def _located(made: Decisions, n_jobs: int | None) -> Iterator[tuple[GraphBatch, list[Found]]]:
    """Yield each graph with its patterns, located once per view and kernel."""
    kernels = [with_threads(part, n_jobs) for part in made.parts]
    located = [
        kernel.locate_each(part.seen) for kernel, part in zip(kernels, made.parts, strict=True)
    ]
    for number in range(len(made.batch)):
        graph = made.batch[number]
        found = []
        for kernel, part, each in zip(kernels, made.parts, located, strict=True):
            seen = graph if part.seen is made.batch else part.seen[number]
            found.append(Found.of(kernel, seen, next(each)))
        yield graph, found


def with_threads(part: Part, n_jobs: int | None) -> FeatureKernel:
    return part.kernel if n_jobs is None else copy(part.kernel).set_params(n_jobs=n_jobs)
