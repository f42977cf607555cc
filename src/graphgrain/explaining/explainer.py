"""From a model and graphs to explanations.

1. The model becomes weights on patterns (``models.linear_form``).
2. Kernels that look at the same patterns are located once, in the deepest of them.
3. The weights of a graph's patterns, times what their counts amount to, are its contributions.
4. Each contribution is divided among the occurrences of its pattern, and shared among vertices
   and edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..core.threads import call
from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts
from ..learning.estimator import GraphEstimator
from ..views.base import seen_through
from .explanation import Explanation, FoundLevel
from .models import LinearForm, Term, check_linear, linear_form
from .sharing import check_share, edges_as_in, removal_values, share_occurrences


def explain(
    model: Any,
    graphs: Any,
    *,
    target: Any = None,
    of: str = "decision",
    share: str | None = None,
    n_jobs: int | None = None,
) -> list[Explanation]:
    """Why a model says what it says: its decisions as exact sums over patterns, atoms, bonds.

    Parameters
    ----------
    model : fitted model
        A :class:`GraphClassifier` or :class:`GraphRegressor`;
        or a scikit-learn pipeline of a kernel with explicit features and a linear model
        (``LogisticRegression``, ``LinearSVC``, ``Ridge``, ...), with views before the kernel and
        scalers, normalisers, selectors, ``PCA`` or ``TruncatedSVD`` behind it; or a pipeline of a
        kernel with ``output="gram"`` and ``SVC(kernel="precomputed")``, ``SVR``, ``KernelRidge``;
        or a search such as ``GridSearchCV`` over one of these.
    graphs : GraphBatch, sequence of graphs, or a table as the model takes it
    target : optional
        For several classes: the one to explain; by default the class that the model predicts for
        each graph. For several targets of a regressor: the number of one of them.
    of : {"decision", "uncertainty"}, default="decision"
        What is explained. "uncertainty" is the variance of a :class:`GraphRegressor`'s prediction
        (for a :class:`GraphClassifier` that of its score, in units of the kernel): what is new or
        rare in training adds to it, what training graphs share takes from it.
    share : {"path", "tree", "equal", "removal"}, optional
        How a pattern's contribution is shared among vertices and edges: among those along its
        path alone; handed on from each vertex of the path to the tree that stands there; equally
        among all that take part in an occurrence; or, instead of sharing, by asking the model
        again without each vertex and each edge. By default "tree" for classes and for the
        uncertainty, "path" for numbers: these did best on training molecules whose truth is known.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    list of Explanation
        One per graph.

    Notes
    -----
    ``decision == bias + columns + sum of contributions`` holds up to rounding, and the values of
    vertices add up to the same. For a regressor that learns on another scale (``scale_``) it is
    the prediction on that scale. Where an explanation can mislead all the same is told in
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
    if share is not None:
        check_share(share)
    if of not in ("decision", "uncertainty"):
        raise InvalidParameterError(f"of must be 'decision' or 'uncertainty'; got {of!r}.")
    while hasattr(model, "best_estimator_"):  # a search, such as GridSearchCV
        model = model.best_estimator_
    # many short steps, which cross to a worker once
    if of == "uncertainty":
        return call(explain_uncertainty, model, graphs, share or "tree", n_jobs)
    return [each[0] for each in explain_outputs(model, graphs, target, share, n_jobs)]


def explain_outputs(
    model: Any,
    graphs: Any,
    target: Any = None,
    share: str | None = None,
    n_jobs: int | None = None,
    every: bool = False,
) -> list[list[Explanation]]:
    """The decisions of a model about each graph: one, or of ``every`` class, counted once."""
    share = share or ("tree" if is_classifier(model) else "path")
    return call(_explain_decisions, model, graphs, target, share, n_jobs, every)


def _explain_decisions(
    model: Any, graphs: Any, target: Any, share: str, n_jobs: int | None, every: bool
) -> list[list[Explanation]]:
    form = linear_form(model)
    batch, columns = form.read(graphs)
    wanted = None if every else _wanted(form, target, is_classifier(model))
    if not len(batch):
        return []
    biases, beside = form.biases(batch), form.beside(columns, len(batch))
    own_values = None if form.decisions is None else form.decisions(batch)
    sums = biases + beside
    result: list[list[Explanation]] = []
    for number, opened in enumerate(_opened(form, batch, n_jobs)):
        bare = opened.without_patterns(len(form.outputs))
        biases[number] += bare
        sums[number] += bare + opened.value(len(form.outputs))
        decision = sums[number]
        if own_values is not None:
            decision = own_values[number]
            check_linear(model, decision, sums[number])
        predicted = form.prediction(batch, number, decision)
        outputs: Sequence[int] = range(len(form.outputs))
        if not every:
            outputs = [form.outputs.index(predicted) if wanted is None else wanted]
        lost = removal_values(opened.graph, form.values) if share == "removal" else None
        found = []
        for output in outputs:
            levels = opened.levels(output)
            if lost is not None:
                vertices, edges = lost[0][:, output], lost[1][:, output]
            else:
                vertices, edges = shared_values(opened.graph, levels, share)
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
                    graph=opened.graph,
                    share=share,
                    levels=levels,
                )
            )
        result.append(found)
    return result


def _wanted(form: LinearForm, target: Any, is_classification: bool) -> int | None:
    """The output that is asked for; None stands for that of the predicted class."""
    several = len(form.outputs) > 1
    if target is None or (isinstance(target, str) and target == "predicted" and is_classification):
        if several and not is_classification:
            raise InvalidParameterError(
                f"The model predicts {len(form.outputs)} numbers; say which of them to explain: "
                f"target=0 to {len(form.outputs) - 1}."
            )
        return None if several else 0
    if not several:
        words = " or ".join(map(repr, form.two_classes or ()))
        about = f"the two classes {words}" if words else "a single number"
        raise InvalidParameterError(
            f"target chooses among several classes; this model tells {about} with one value. "
            "Leave it out."
        )
    if target not in form.outputs:
        predicted = ", or 'predicted'" if is_classification else ""
        raise InvalidParameterError(
            f"target must be one of {', '.join(map(repr, form.outputs))}{predicted}; got "
            f"{target!r}."
        )
    return form.outputs.index(target)


def explain_uncertainty(
    model: Any, graphs: Any, share: str, n_jobs: int | None
) -> list[Explanation]:
    """The variance of predictions as a sum over patterns.

    The variance of a Gaussian process at a graph x is k(x, x) - k(x)' v + what the intercept and
    noise add, with v = A^-1 k(x). Both k(x, x) and k(x)' v are sums over the patterns of x: the
    first by the share of each in the similarity of x with itself, the second as the decision of a
    machine with the coefficients v.
    """
    if not isinstance(model, GraphEstimator):
        raise InvalidParameterError(
            "of='uncertainty' needs a GraphRegressor or a GraphClassifier; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model, "machine_")
    batch, columns = model._read(graphs)
    process = model._process()
    machine = process.machine
    sources = machine.sources
    located = {
        id(source): _with_threads(source.kernel, n_jobs).locate_each(source.see(batch))
        for source in sources
    }
    result = []
    for number in range(len(batch)):
        graph = batch[number]
        here = {name: values[number : number + 1] for name, values in columns.items()}
        K, own = process.similarities(graph, here)
        v = process.posterior.influence(K)
        total = process.posterior.variance(K, own, v)[0] * process.variance
        levels = []
        for source in sources:
            found = next(located[id(source)])
            shown = source.see(graph)
            tallies = [level.tally() for level in found]
            counted = [Counts(np.array([len(t.hashes)]), t.hashes, t.values) for t in tallies]
            sums = [np.zeros(len(t.hashes)) for t in tallies]
            known = [np.zeros(len(t.hashes), dtype=bool) for t in tallies]
            for term in machine.terms:
                if term.term.source is not source:
                    continue
                explained = term.contributions(counted, v)
                prior = term.own_contributions(counted)
                for level, (less, more) in enumerate(zip(explained, prior, strict=True)):
                    sums[level] += (more - less) * process.share * process.variance
            for term in model.machine_.terms:
                if term.term.source is source:
                    for level, tally in enumerate(tallies[: term.term.n_levels]):
                        known[level] |= term.known(level, tally.hashes)
            for level, tally in enumerate(tallies):
                where = (source.kernel, shown, level, found[level])
                tallied = (tally.hashes, tally.place, tally.times)
                levels.append(FoundLevel(*where, *tallied, sums[level], known[level]))
        patterns = float(sum(part.contributions.sum() for part in levels))
        vertices, edges = shared_values(graph, levels, share)
        result.append(
            Explanation(
                decision=float(total + process.noise),
                bias=float(total + process.noise - patterns),
                columns=0.0,
                vertices=vertices,
                edges=edges,
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
        # hashes ascend, so that each occurrence finds its pattern
        shared = [(part.found, (part.contributions / part.counts)[part.place]) for part in parts]
        own, between = share_occurrences(parts[0].seen, shared, share)
        vertices += own
        edges += edges_as_in(graph, parts[0].seen, between)
    return vertices, edges


# -------------------------------------------------------------------- contributions


@dataclass(frozen=True)
class _Opened:
    """One graph with its patterns found, for all terms of a model.

    Attributes
    ----------
    graph : GraphBatch
    parts : list
        For each way to find patterns: its terms with their scales, kernel, the graph as it is seen,
        occurrences and tallies of each level.
    """

    graph: GraphBatch
    parts: list[tuple[list[tuple[Term, float]], Any, GraphBatch, list[Any], list[Any]]]

    def value(self, outputs: int) -> np.ndarray:
        """What all patterns add together."""
        total = np.zeros(outputs)
        for terms, _, _, _, tallies in self.parts:
            counted = _counted(tallies)
            for term, scale in terms:
                total += term.value(counted[: term.n_levels], scale)
        return total

    def without_patterns(self, outputs: int) -> np.ndarray:
        """What kernels add that find no pattern in the graph."""
        total = np.zeros(outputs)
        for terms, _, _, _, tallies in self.parts:
            if not any(len(tally.hashes) for tally in tallies):
                total += sum(term.without_patterns() for term, _ in terms)
        return total

    def levels(self, output: int) -> list[FoundLevel]:
        """The patterns of all kernels, with what they add to an output."""
        found = []
        for terms, kernel, seen, located, tallies in self.parts:
            counted = _counted(tallies)
            totals = [np.zeros(len(tally.hashes)) for tally in tallies]
            known = [np.zeros(len(tally.hashes), dtype=bool) for tally in tallies]
            for term, scale in terms:
                own = term.contributions(counted[: term.n_levels], scale, output)
                for level, part in enumerate(own):
                    totals[level] += part
                    if not known[level].all():
                        known[level] |= term.known(level, tallies[level].hashes)
            for level, tally in enumerate(tallies):
                where = (kernel, seen, level, located[level])
                tallied = (tally.hashes, tally.place, tally.times)
                found.append(FoundLevel(*where, *tallied, totals[level], known[level]))
        return found


def _counted(tallies: list[Any]) -> list[Counts]:
    return [Counts(np.array([len(t.hashes)]), t.hashes, t.values) for t in tallies]


def _opened(form: LinearForm, batch: GraphBatch, n_jobs: int | None) -> Iterator[_Opened]:
    """Each graph with its patterns found, once for each view and kernel."""
    prepared = []
    for terms in sources(form.terms):
        seen = seen_through(terms[0].view, batch)
        if not np.array_equal(seen.offsets, batch.offsets):
            raise InvalidGraphError(
                f"explain needs views that keep the vertices of graphs; {terms[0].view!r} "
                "changes their number, so that values cannot be told to vertices."
            )
        kernel = _with_threads(max(terms, key=lambda term: term.n_levels).kernel, n_jobs)
        scales = [term.scales(seen) for term in terms]
        prepared.append((terms, kernel, seen, scales, kernel.locate_each(seen)))
    for number in range(len(batch)):
        graph = batch[number]
        parts = []
        for terms, kernel, seen, scales, located in prepared:
            shown = graph if seen is batch else seen[number]
            found = next(located)
            own = [(t, float(s[number])) for t, s in zip(terms, scales, strict=True)]
            parts.append((own, kernel, shown, found, [level.tally() for level in found]))
        yield _Opened(graph, parts)


def _with_threads(kernel: FeatureKernel, n_jobs: int | None) -> FeatureKernel:
    return kernel if n_jobs is None else copy(kernel).set_params(n_jobs=n_jobs)


def sources(terms: Sequence[Term]) -> list[list[Term]]:
    """Terms grouped by where their patterns are found."""
    groups: dict[Any, list[Term]] = {}
    for term in terms:
        groups.setdefault(term.place(), []).append(term)
    return list(groups.values())
