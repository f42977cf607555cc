"""From a model and graphs to explanations.

1. The model becomes weights on patterns (``models.linear_form``).
2. Kernels that look at the same patterns are located once, in the deepest of them.
3. The weights of a graph's patterns, times what their counts amount to, are its contributions.
4. Each contribution is divided among the occurrences of its pattern, and shared among vertices
   and edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.features import Counts
from ..views.base import seen_through
from .explanation import Explanation, FoundLevel
from .models import LinearForm, check_linear, linear_form
from .sharing import check_share, edges_as_in, removal_values, share_occurrences
from .terms import Term

#: Parameters in which kernels may differ and still find the same patterns.


def explain(
    model: Any, graphs: Any, *, target: Any = None, share: str = "tree"
) -> list[Explanation] | list[dict[Any, Explanation]]:
    """Why a model says what it says: its decisions as exact sums over patterns, atoms, bonds.

    Parameters
    ----------
    model : fitted model
        A self-tuned estimator (:class:`TreePlusPlusClassifier`, :class:`TreePlusPlusRegressor`,
        :class:`GraphClassifier`, :class:`GraphRegressor`);
        or a scikit-learn pipeline of a kernel with explicit features and a linear model
        (``LogisticRegression``, ``LinearSVC``, ``Ridge``, ...), with views before the kernel and
        scalers, normalisers, selectors, ``PCA`` or ``TruncatedSVD`` behind it; or a pipeline of a
        kernel with ``output="gram"`` and ``SVC(kernel="precomputed")``, ``SVR``, ``KernelRidge``;
        or a search such as ``GridSearchCV`` over one of these.
    graphs : GraphBatch or sequence of graphs
    target : optional
        For several classes (or targets): the one to explain, or ``"predicted"`` for the class that
        the model predicts.
    share : {"path", "tree", "shapley", "removal"}, default="tree"
        How a pattern's contribution is shared among vertices and edges: among those along its
        path alone; handed on from each vertex of the path to the tree that stands there; among
        all that take part (then the values of vertices are Shapley values); or, instead of
        sharing, by asking the model again without each vertex and each edge. The default did
        best where the truth is known.

    Returns
    -------
    list
        One :class:`Explanation` per graph. For several classes and no ``target``: one dictionary
        per graph, from each class to its explanation.

    Notes
    -----
    ``decision == bias + sum of contributions`` holds up to rounding, and the values of vertices
    add up to the same. Where an explanation can mislead all the same is told in
    docs/explaining.md.

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
    check_share(share)
    batch = as_graphs(graphs)
    form = linear_form(model)
    outputs = _wanted(form, target, is_classifier(model))
    if not len(batch):
        return []
    decisions = form.decisions(batch)
    biases = form.biases(batch)
    predictions = form.predictions(batch)
    found = list(_contributions(form, batch))
    sums = biases + [_total(levels, len(form.outputs)) for _, levels in found]
    check_linear(model, decisions, sums)
    result: list[Any] = []
    for number, (graph, levels) in enumerate(found):
        predicted = predictions[number]
        if target == "predicted" and len(form.outputs) > 1:
            outputs = [form.outputs.index(predicted)]
        lost = removal_values(graph, form.decisions) if share == "removal" else None
        explained = {}
        for output in outputs:
            own = [part._replace(contributions=part.contributions[:, output]) for part in levels]
            if lost is None:
                vertices, edges = _shared(graph, own, share)
            else:
                vertices, edges = lost[0][:, output], lost[1][:, output]
            low, high = form.two_classes or (None, form.outputs[output])
            explained[form.outputs[output]] = Explanation(
                decision=float(decisions[number, output]),
                bias=float(biases[number, output]),
                vertices=vertices,
                edges=edges,
                prediction=predicted,
                target=high,
                opposite=low,
                graph=graph,
                share=share,
                levels=own,
            )
        single = len(form.outputs) == 1 or target is not None
        result.append(next(iter(explained.values())) if single else explained)
    return result


def _wanted(form: LinearForm, target: Any, is_classification: bool) -> list[int]:
    """The outputs that are asked for."""
    if target is None:
        return list(range(len(form.outputs)))
    if len(form.outputs) == 1:
        words = " or ".join(map(repr, form.two_classes or ()))
        about = f"the two classes {words}" if words else "a single number"
        if isinstance(target, str) and target == "predicted" and form.two_classes:
            return [0]
        raise InvalidParameterError(
            f"target chooses among several classes; this model tells {about} with one value. "
            "Leave it out."
        )
    if isinstance(target, str) and target == "predicted" and is_classification:
        return list(range(len(form.outputs)))
    if target not in form.outputs:
        predicted = ", or 'predicted'" if is_classification else ""
        raise InvalidParameterError(
            f"target must be one of {', '.join(map(repr, form.outputs))}{predicted}; got "
            f"{target!r}."
        )
    return [form.outputs.index(target)]


def _total(levels: list[FoundLevel], outputs: int) -> np.ndarray:
    return sum((part.contributions.sum(axis=0) for part in levels), np.zeros(outputs))


def _shared(
    graph: GraphBatch, levels: list[FoundLevel], share: str
) -> tuple[np.ndarray, np.ndarray]:
    by_view: dict[int, list[FoundLevel]] = {}
    for part in levels:
        by_view.setdefault(id(part.seen), []).append(part)
    vertices, edges = np.zeros(graph.n_vertices), np.zeros(graph.n_edges)
    for parts in by_view.values():
        # hashes ascend, so that each occurrence finds its pattern
        shared = [(part.found, (part.contributions / part.counts)[part.place]) for part in parts]
        own, between = share_occurrences(parts[0].seen, shared, share)
        vertices += own
        edges += edges_as_in(graph, parts[0].seen, between)
    return vertices, edges


# -------------------------------------------------------------------- contributions


def _contributions(
    form: LinearForm, batch: GraphBatch
) -> Iterator[tuple[GraphBatch, list[FoundLevel]]]:
    """For each graph the patterns of all kernels, with contributions (patterns, outputs)."""
    prepared = []
    for terms in sources(form.terms):
        seen = seen_through(terms[0].view, batch)
        if not np.array_equal(seen.offsets, batch.offsets):
            raise InvalidGraphError(
                f"explain needs views that keep the vertices of graphs; {terms[0].view!r} "
                "changes their number, so that values cannot be told to vertices."
            )
        kernel = max(terms, key=lambda term: term.n_levels).kernel
        scales = [term.scales(seen) for term in terms]
        prepared.append((terms, kernel, seen, scales, kernel.locate_each(seen)))
    width = len(form.outputs)
    for number in range(len(batch)):
        levels = []
        graph = batch[number]
        for terms, kernel, seen, scales, located in prepared:
            shown = graph if seen is batch else seen[number]
            for level, found in enumerate(next(located)):
                hashes, place, counts, values = found.tally()
                whole = Counts(np.array([len(hashes)]), hashes, values)
                total = np.zeros((len(hashes), width))
                known = np.zeros(len(hashes), dtype=bool)
                for term, scale in zip(terms, scales, strict=True):
                    if level < term.n_levels:
                        total += scale[number] * term.contributions(level, whole)
                        known |= term.known(level, hashes)
                levels.append(
                    FoundLevel(kernel, shown, level, found, hashes, place, counts, total, known)
                )
        yield graph, levels


def sources(terms: Sequence[Term]) -> list[list[Term]]:
    """Terms grouped by where their patterns are found."""
    groups: dict[Any, list[Term]] = {}
    for term in terms:
        kernel = term.kernel
        depth = {kernel.level_parameter} if kernel.level_parameter else set()
        own = {
            name: repr(value)
            for name, value in kernel.get_params(deep=False).items()
            if name not in kernel.parameters_after_counting | depth
        }
        key = (id(term.view), type(kernel).__name__, tuple(sorted(own.items())))
        groups.setdefault(key, []).append(term)
    return list(groups.values())
