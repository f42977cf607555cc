"""Selection of the terms of a sum of kernels, by cross-validation in rounds.

The name of a kernel stands for all its levels, count maps, similarities, uses of edge labels and
views; a grid or a kernel object is tried with its own parameters.

1. Every term is evaluated on a small sample of the training graphs. The best terms of each group
   (terms that differ only in their level) are evaluated again on more graphs in the next round, as
   in successive halving.
2. The sum starts as the mean of fixed Tree++ terms and pairs at every distance, unless another
   start scores better: the same without pairs or with size terms by more than one standard error
   over the folds, or the single best term by more than two, since it is the best of many.
3. On the small sample the term that improves the score most is added, as long as the improvement
   exceeds its standard error. The extended sum is used if it is also better on the larger sample.

The mean of several kernels is more stable than the best one: on a small data set, the best of many
candidates owes part of its score to chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ..core.gram import GramSum
from ..core.threads import blas_threads, run
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.drawing.molecule import are_molecules
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.features import Features
from ..kernels.grid import KernelGrid, Setting, grid_of
from ..kernels.registry import KERNELS
from ..parameters import Described, Rule, check_parameters
from ..views.attribute_bins import AttributeBins
from ..views.base import seen_through
from ..views.pharmacophore_labels import PharmacophoreLabels
from ..views.structural_labels import StructuralLabels
from .machine import Source, Term

Item = TypeVar("Item")
Result = TypeVar("Result")

AUTO = "auto"
#: Kernels for ``kernels="auto"``. The optimal assignment kernel WL-OA is included: it is the
#: min-max similarity of WL counts.
USUAL = ("tree++", "wl", "sp")
#: Default kernels of the estimators: Tree++, and pairs at every distance.
DEFAULT = ("tree++", "sp")
#: Above this number of vertex pairs, "sp" is omitted if there are other kernels.
MOST_PAIRS = 500_000_000
#: Numbers of clusters for attributes, from coarse to fine.
CLUSTERS = (8, 32, 128)
#: Candidate pairs of count map and similarity, best on average first.
OF_CLASSES = (("raw", "minmax"), ("sqrt", "cosine"), ("raw", "cosine"))
OF_NUMBERS = (("raw", "minmax"), ("sqrt", "cosine"), ("raw", "dot"), ("sqrt", "dot"))
#: Count maps to try with a similarity set by the user.
_MAPS = {"minmax": ("raw",), "cosine": ("raw", "sqrt"), "dot": ("raw", "sqrt")}
#: Number of terms considered for the sum.
SHORTLIST = 8
#: Share of the groups that a round keeps; at least ``SHORTLIST`` are kept.
KEPT = 1 / 3


# -------------------------------------------------------------------- candidates


def is_auto(value: Any) -> bool:
    """Return whether a parameter is "auto"."""
    return isinstance(value, str) and value == AUTO


def alternatives(value: Any) -> list[Any]:
    """Return the candidate values of a parameter as a list."""
    return list(value) if isinstance(value, list | tuple | np.ndarray | range) else [value]


@dataclass(frozen=True)
class OneOrMore:
    """A value or a non-empty list of candidate values; also "auto" if ``auto``."""

    rule: Rule
    auto: bool = False

    def allows(self, value: Any) -> bool:
        if self.auto and is_auto(value):
            return True
        values = alternatives(value)
        return bool(values) and all(self.rule.allows(item) for item in values)

    def __str__(self) -> str:
        words = f"{self.rule}; or a list of such values to choose from"
        return f"{words}; or {AUTO!r}" if self.auto else words


class KernelRule:
    """ "auto", or kernels given as names, grids or estimators."""

    def allows(self, value: Any) -> bool:
        if is_auto(value):
            return True
        items = alternatives(value)
        return bool(items) and all(
            item in KERNELS if isinstance(item, str) else isinstance(item, KernelGrid | GraphKernel)
            for item in items
        )

    def __str__(self) -> str:
        return (
            f"'auto', a kernel or a list of kernels, each a name ({', '.join(explicit_kernels())}),"
            " a KernelGrid or an estimator such as WeisfeilerLehman(3)"
        )


def _is_view(value: Any) -> bool:
    if isinstance(value, type | GraphKernel):
        return False
    return value is None or (hasattr(value, "fit") and hasattr(value, "transform"))


VIEW = Described(
    "None (the graphs as they are) or a view, such as EdgeFilter(drop=[1]) or a pipeline of views",
    _is_view,
)


def explicit_kernels() -> list[str]:
    """Return the names of the kernels with explicit features."""
    return [name for name in KERNELS if all(map(_is_explicit, _kernels_of(grid_of(name))))]


def possible_terms(
    graphs: GraphBatch,
    kernels: Any,
    *,
    path_depth: Any,
    max_level: int,
    centrality: Any,
    edge_labels: Any,
    views: Any,
    attributes: bool,
    counts: Any,
    similarity: Any,
    usual: Sequence[tuple[str, str]],
) -> list[Term]:
    """Return all candidate terms, those on unchanged graphs first.

    The parameters are those of :class:`GraphClassifier`; ``usual`` are the pairs of count map and
    similarity for "auto".
    """
    offered = alternatives(views)
    if is_auto(views):
        offered = [None, StructuralLabels()]
        offered += [PharmacophoreLabels()] if are_molecules(graphs) else []
    given = offered[:1] if is_auto(views) else list(offered)
    if attributes:
        offered += _attribute_views(graphs, given)
    shown = []
    for view in offered:
        fitted = None if view is None else clone(view).fit(graphs)
        shown.append((fitted, seen_through(fitted, graphs)))
    pairs = _pairs(counts, similarity, usual)
    found: list[Term] = []
    items = list(USUAL) if is_auto(kernels) else alternatives(kernels)
    if len(items) > 1 and float((graphs.vertex_counts.astype(float) ** 2).sum()) > MOST_PAIRS:
        items = [item for item in items if item != "sp"]
    for item in items:
        if not isinstance(item, str):
            for each in shown[: len(given)]:
                found += _as_it_is(item, *each)
            continue
        grid = grid_of(item)
        plain = [_with_levels(kernel, max_level) for kernel in _kernels_of(grid)]
        if item == "tree++":
            plain = [
                clone(plain[0]).set_params(path_depth=depth, centrality=measure)
                for depth, measure in product(alternatives(path_depth), alternatives(centrality))
            ]
        for number, (view, seen) in enumerate(shown):
            if isinstance(view, PharmacophoreLabels) and is_auto(views) and item != "sp":
                continue
            flags = _edge_choices(edge_labels, plain[0], seen, shown[:number])
            if is_auto(edge_labels) and item == "sp":
                flags = flags[-1:]  # with edge labels, pairs resemble the paths of Tree++
            elif isinstance(view, StructuralLabels) and is_auto(views):
                flags = flags[:1]
            for edges in flags:
                for kernel in plain:
                    if "edge_labels" in kernel.get_params():
                        kernel = clone(kernel).set_params(edge_labels=edges)
                    source = Source(item, kernel, view, seen.label_kind)
                    _check_explicit(source)
                    found += _terms(source, pairs)
    return found


def _pairs(
    counts: Any, similarity: Any, usual: Sequence[tuple[str, str]]
) -> Sequence[tuple[str, str]]:
    if is_auto(counts) and is_auto(similarity):
        return usual
    if is_auto(counts):
        return [(how, one) for one in alternatives(similarity) for how in _MAPS[one]]
    if is_auto(similarity):
        similarity = list(dict.fromkeys(one for _, one in usual))
    return list(product(alternatives(counts), alternatives(similarity)))


def _terms(source: Source, pairs: Iterable[tuple[str, str]]) -> list[Term]:
    """Return the terms of a source, one for each level."""
    kernel, name = source.kernel, source.kernel.level_parameter
    levels = [None] if name is None else range(1, getattr(kernel, name) + 2)
    if "counts" not in kernel.get_params():
        pairs = [(kernel.counts, one) for _, one in pairs]
    return [Term(source, how, one, level) for how, one in dict.fromkeys(pairs) for level in levels]


def _with_levels(kernel: GraphKernel, highest: int) -> Any:
    name = getattr(kernel, "level_parameter", None)
    return kernel if name is None else clone(kernel).set_params(**{name: highest})


def _kernels_of(grid: KernelGrid) -> list[Any]:
    """Return the kernels of a grid, without those that differ only in count map or similarity."""
    kernels: dict[str, Any] = {}
    for setting in grid.settings:
        kernel = grid.estimator(Setting(setting.parameters))
        plain = clone(kernel)
        if isinstance(kernel, FeatureKernel) and "counts" in kernel.get_params():
            plain.set_params(counts="raw")
        kernels.setdefault(repr(plain), plain)
    return list(kernels.values())


def _as_it_is(item: Any, before: Any, graphs: GraphBatch) -> list[Term]:
    """Return the terms of a grid or kernel with its own parameters, up to its own level.

    ``before`` is a fitted view or None, ``graphs`` are seen through it. The view of a setting
    comes after it.
    """
    kernels: list[tuple[str, Any, Any]]
    if isinstance(item, KernelGrid):
        item.check()
        kernels = [(item.name, item.estimator(s), s.view) for s in item.settings]
    else:
        known = {each.kernel: each.name for each in KERNELS.values()}
        check_parameters(item)
        kernels = [(known.get(type(item), type(item).__name__), clone(item), None)]
    found = []
    for name, kernel, view in kernels:
        fitted, seen = before, graphs
        if view is not None:
            own = clone(view).fit(graphs)
            fitted = own if before is None else make_pipeline(before, own)
            seen = seen_through(own, graphs)
        source = Source(name, kernel, fitted, seen.label_kind)
        _check_explicit(source)
        found += _terms(source, [(kernel.counts, kernel.similarity)])
    return found


def _attribute_views(graphs: GraphBatch, views: list[Any]) -> list[Any]:
    """Return views that turn attributes, if there are any, into labels after each given view."""
    there = {"vertex": graphs.vertex_attributes, "edge": graphs.edge_attributes}
    found = []
    for on, table in there.items():
        if table is not None and len(table):
            for view in views:
                for number in CLUSTERS:
                    bins = AttributeBins(on, number, "kmeans")
                    found.append(bins if view is None else make_pipeline(view, bins))
    return found


def _edge_choices(
    edge_labels: Any, kernel: GraphKernel, seen: GraphBatch, before: list[tuple[Any, GraphBatch]]
) -> list[bool]:
    """Return the values of ``edge_labels`` to try, without those that repeat an earlier view."""
    flags = alternatives(edge_labels)
    if "edge_labels" not in kernel.get_params():
        flags = [False]
    elif is_auto(edge_labels):
        codes = seen.edge_label_codes
        apart = codes is not None and len(codes) > 0 and bool((codes != codes[0]).any())
        flags = [True, False] if apart else [False]
    return [flag for flag in flags if not any(_same(seen, other, flag) for _, other in before)]


def _same(one: GraphBatch, other: GraphBatch, edge_labels: bool) -> bool:
    """Return whether two batches are the same to a kernel with or without edge labels."""
    names = ["offsets", "indptr", "indices", "label_codes", "label_table"]
    names += ["edge_label_codes", "edge_label_table"] if edge_labels else []
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _is_explicit(kernel: GraphKernel) -> bool:
    return (
        isinstance(kernel, FeatureKernel)
        and kernel._whole_counts
        and kernel.counts != "unit"
        and bool((kernel.level_scales == 1.0).all())
    )


def _check_explicit(source: Source) -> None:
    kernel = source.kernel
    if not _is_explicit(kernel):
        raise InvalidParameterError(
            f"kernels must count explicit features, so that decisions are sums over patterns; "
            f"{type(kernel).__name__} does not. Take some of {', '.join(explicit_kernels())}, or "
            f"use {type(kernel).__name__} in a pipeline with SVC(kernel='precomputed')."
        )
    if kernel.get_params().get("random_state", 0) is None:
        raise InvalidParameterError(
            f"random_state of {type(kernel).__name__} must be an integer here, so that the "
            "patterns of new graphs are counted as those of the training graphs were; got None."
        )


# -------------------------------------------------------------------- selection


class FoldScores(NamedTuple):
    """Cross-validation scores of a kernel."""

    scores: np.ndarray  # (values of alpha, folds)
    place: int  # index of the best alpha

    @property
    def by_fold(self) -> np.ndarray:
        """Scores of the best alpha."""
        return self.scores[self.place]

    @property
    def mean(self) -> float:
        """Mean score of the best alpha."""
        return float(np.mean(self.by_fold))


@dataclass(frozen=True)
class CrossValidation:
    """Cross-validation of kernel matrices on a sample of the training graphs.

    Attributes
    ----------
    learner : Ridge
        Model with a grid of alpha.
    rows : array
        Positions of the sample among the training graphs.
    targets, folds, weights : array
        Targets, fold numbers and weights of the sample.
    score : callable
        ``score(positions, values)``, larger is better; positions refer to the sample.
    """

    learner: Any
    rows: np.ndarray
    targets: np.ndarray
    folds: np.ndarray
    weights: np.ndarray
    score: Callable[[np.ndarray, np.ndarray], float]
    n_jobs: int | None = None

    def __call__(self, K: np.ndarray, sample: np.ndarray | None = None) -> FoldScores:
        """Evaluate the kernel matrix of the graphs at these positions (default: all)."""
        sample = np.arange(len(self.rows)) if sample is None else sample
        targets, folds, weights = self.targets[sample], self.folds[sample], self.weights[sample]
        with blas_threads(1):  # these matrices are small: more threads would mostly wait
            return self.scored(self.learner.held_out(K, targets, folds, weights), sample)

    def scored(self, found: np.ndarray, sample: np.ndarray) -> FoldScores:
        """Score held-out predictions ``found``, (values of alpha, graphs, outputs)."""
        folds = self.folds[sample]
        parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        scores = np.array(
            [[self.score(sample[part], values[part]) for part in parts] for values in found]
        )
        return FoldScores(scores, best_value(scores.mean(axis=1)))


@dataclass
class Selector:
    """Selection of the terms of a sum; see the module docstring.

    Attributes
    ----------
    batch : GraphBatch
        Sample of the training graphs on which terms are evaluated.
    validation : CrossValidation
        Cross-validation on this sample.
    rounds : sequence of arrays
        Positions of the graphs used in each round, the largest set last.
    most : int
        Maximum number of terms in the sum.
    report : callable
        Receives progress messages.
    in_time : callable
        Returns whether another group of terms may be started; None if there is no time budget.
    terms : list of Term
        The selected terms.
    tried : list of (Term, FoldScores, int)
        Evaluated terms with scores and numbers of graphs, in the order of the rounds.
    skipped : list of Term
        Candidates skipped because the time budget was exhausted.
    """

    batch: GraphBatch
    validation: CrossValidation
    rounds: Sequence[np.ndarray] = ()
    most: int = 1
    report: Callable[[str], None] = print
    in_time: Callable[[], bool] | None = None
    terms: list[Term] = field(default_factory=list)
    tried: list[tuple[Term, FoldScores, int]] = field(default_factory=list)
    skipped: list[Term] = field(default_factory=list)
    _features: dict[int, Features] = field(default_factory=dict)
    _matrices: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)

    def features(self, source: Source) -> Features:
        """Return the features of the sample, counted once per source."""
        if id(source) not in self._features:
            self._features[id(source)] = source.count(self.batch, self.validation.n_jobs)
        return self._features[id(source)]

    def _evaluate(
        self, terms: Sequence[Term], sample: np.ndarray
    ) -> Iterator[tuple[Term, FoldScores]]:
        """Evaluate terms that differ only in their level, in one thread."""
        wanted = {term.n_levels: term for term in terms}
        deepest, every = terms[-1], None not in wanted
        own = self.features(deepest.source)
        columns = deepest.prepare(own[sample]).columns(1)
        for level, K in enumerate(columns.grams(deepest.similarity, 1, every_level=every)):
            term = wanted.get(level + 1 if every else None)
            if term is not None:
                scale = term_scale(term, own)
                yield term, self.validation(K if scale == 1.0 else K * scale, sample)

    def _evaluate_all(
        self, groups: Sequence[Sequence[Term]], sample: np.ndarray, first_round: bool
    ) -> list[list[tuple[Term, FoldScores]]]:
        """Evaluate groups in parallel; empty lists for those beyond the time budget."""
        in_time = self.in_time
        if in_time is None or not first_round:
            return self._evaluate_together(groups, sample, lambda: True)
        found: list[list[tuple[Term, FoldScores]]] = []
        # Source after source: what is counted in time is also evaluated.
        for _, part in groupby(groups, lambda group: id(group[0].source)):
            own = list(part)
            if not found or in_time():
                found += self._evaluate_together(own, sample, in_time)
            else:
                found += [[] for _ in own]
        return found

    def _evaluate_together(
        self, groups: Sequence[Sequence[Term]], sample: np.ndarray, in_time: Callable[[], bool]
    ) -> list[list[tuple[Term, FoldScores]]]:
        """Evaluate the first group, and in parallel to it the others that begin in time."""
        for group in groups:  # counted with all threads, before each works alone
            self.features(group[0].source)

        def evaluate(group: Sequence[Term]) -> list[tuple[Term, FoldScores]]:
            begun = group is groups[0] or in_time()
            return list(self._evaluate(group, sample)) if begun else []

        return self._in_parallel(evaluate, groups)

    def _scores(self, matrices: Sequence[np.ndarray], sample: np.ndarray) -> list[FoldScores]:
        """Evaluate kernel matrices in parallel."""
        return self._in_parallel(lambda K: self.validation(K, sample), matrices)

    def _in_parallel(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> list[Result]:
        """Call a function for every item; results in order."""
        ranges = [(i, i + 1) for i in range(len(items))]
        return run(lambda i, _: function(items[i]), ranges, self.validation.n_jobs)

    def mean(self, terms: Sequence[Term], sample: np.ndarray | None = None) -> np.ndarray:
        """Return the mean of the scaled kernel matrices of terms, on some graphs or all."""
        K = self._matrix(terms[0], sample).copy()
        for term in terms[1:]:
            K += self._matrix(term, sample)
        if sample is None:  # the selected sum, after which no sample is needed
            self._matrices.clear()
        K /= len(terms)
        return K

    def _matrix(self, term: Term, sample: np.ndarray | None) -> np.ndarray:
        """Return the scaled kernel matrix of a term; those of samples are remembered.

        Samples are told apart by their size: those of the rounds have different sizes.
        """
        graphs = len(self.batch) if sample is None else len(sample)
        if (id(term), graphs) in self._matrices:
            return self._matrices[id(term), graphs]
        n_jobs, own = self.validation.n_jobs, self.features(term.source)
        columns = term.prepare(own if sample is None else own[sample]).columns(n_jobs)
        total = GramSum(graphs)
        columns.add_gram(term.similarity, total, term_scale(term, own), n_jobs)
        K = total.mirrored(n_jobs)
        if sample is not None:
            self._matrices[id(term), graphs] = K
        return K

    def run(self, terms: Sequence[Term]) -> None:
        """Select among the terms; the first group is always tried."""
        groups: dict[Any, list[Term]] = {}
        for term in terms:
            groups.setdefault(term.group, []).append(term)
        order = list(groups.values())
        best: dict[Any, tuple[FoldScores, Term]] = {}
        for number, sample in enumerate(self.rounds):
            best = {}
            evaluated = self._evaluate_all(order, sample, number == 0)
            for group, results in zip(order, evaluated, strict=True):
                if not results:
                    self.skipped += group
                for term, scored in results:
                    self.tried.append((term, scored, len(sample)))
                    known = best.get(term.group)
                    if known is None or _key(scored, term) > _key(*known):
                        best[term.group] = (scored, term)
            ranked = sorted(best.values(), key=lambda one: _key(*one), reverse=True)
            kept = max(SHORTLIST, int(np.ceil(KEPT * len(ranked))))
            order = [[term] for _, term in ranked[:kept]]
            self.report(
                f"round {number + 1} of {len(self.rounds)}, {len(sample)} graphs: best "
                f"{ranked[0][0].mean:.4f}"
            )
        self._add_up(_varied([term for _, term in ranked]), terms)

    def _add_up(self, shortlist: list[Term], terms: Sequence[Term]) -> None:
        """Set ``terms`` to the best start, extended by terms that improve it."""
        small, large = self.rounds[0], self.rounds[-1]
        starts = [start for start in starts_of(terms) if len(start) <= self.most]
        starts.append([shortlist[0]])
        scores = self._scores([self.mean(start, large) for start in starts], large)
        chosen, best = starts[0], scores[0]
        for start, scored in zip(starts[1:], scores[1:], strict=True):
            if is_better(scored, best, 2.0 if len(start) == 1 else 1.0):
                chosen, best = start, scored
        longer = self._grown(chosen, shortlist, small)
        if len(longer) > len(chosen):
            scored = self.validation(self.mean(longer, large), large)
            if is_better(scored, best):
                chosen, best = longer, scored
        self.terms = chosen
        self.report(f"{len(chosen)} terms, {best.mean:.4f}")

    def _grown(self, start: list[Term], shortlist: list[Term], sample: np.ndarray) -> list[Term]:
        """Extend the terms greedily by those of the shortlist that improve the score."""
        chosen = list(start)
        total = self.mean(start, sample) * len(start)
        best = self.validation(total / len(chosen), sample)
        while len(chosen) < self.most:
            left = [t for t in shortlist if t not in chosen]
            if not left:
                break
            sums = [(total + self._matrix(t, sample)) / (len(chosen) + 1) for t in left]
            tried = zip(self._scores(sums, sample), left, strict=True)
            scored, term = max(tried, key=lambda one: one[0].mean)
            if not is_better(scored, best):
                break
            chosen.append(term)
            total = total + self._matrix(term, sample)
            best = scored
        return chosen


def is_better(new: FoldScores, old: FoldScores, errors: float = 1.0) -> bool:
    """Return whether a kernel is better by more than this many standard errors over the folds.

    Smaller differences are expected by chance for the best of many candidates.
    """
    difference = new.by_fold - old.by_fold
    error = float(difference.std(ddof=1)) / np.sqrt(len(difference))
    return bool(difference.mean() > max(errors * error, 1e-9 * abs(old.mean)))


def starts_of(terms: Sequence[Term]) -> list[list[Term]]:
    """Return sums of terms that do well on average, best first.

    The first one consists of min-max similarities: Tree++ with the shortest paths and trees of
    depth 1 and 2, Tree++ with the longest paths and trees of depth 0, 1 and 2 (with structural
    labels, which are more specific, the largest depth is 1), and pairs of labels at every distance
    in every view. The second omits the pairs. The third adds dot products of square roots of
    Tree++ counts with the shortest paths, for targets that grow with the graph. Only terms that
    are among the candidates are used.
    """
    own = [t for t in terms if t.source.name == "tree++"]
    depths = sorted({t.source.kernel.get_params()["path_depth"] for t in own})
    if len(depths) < 2:
        return []
    shallow, deep = depths[0], depths[-1]
    grains: list[Term] = []
    sizes: list[Term] = []
    for view, less in ((type(None), 0), (StructuralLabels, 1)):
        here = [t for t in own if type(t.source.view) is view]
        wanted: list[tuple[list[Term], int, Sequence[int], tuple[str, str]]] = [
            (grains, shallow, (2, 3 - less), ("raw", "minmax")),
            (grains, deep, (1, 2, 3 - less), ("raw", "minmax")),
            (sizes, shallow, (1, 2, 3), ("sqrt", "dot")),
        ]
        for found, depth, levels, pair in wanted:
            found += [
                t
                for t in here
                if t.n_levels in levels
                and (t.counts, t.similarity) == pair
                and t.source.kernel.get_params()
                == {**here[0].source.kernel.get_params(), "path_depth": depth}
            ]
    if len(grains) < 2:
        return []
    similar = ("sp", "raw", "minmax")
    pairs = [t for t in terms if (t.source.name, t.counts, t.similarity) == similar]
    starts = [grains + pairs]
    starts += [grains] if pairs else []
    return [*starts, grains + pairs + sizes] if sizes else starts


def term_scale(term: Term, features: Features) -> float:
    """Return the factor that makes the mean self-similarity of graphs 1."""
    if term.similarity != "dot":
        return 1.0
    return 1.0 / max(float(term.prepare(features).squares.sum(axis=0).mean()), 1e-300)


def _key(scored: FoldScores, term: Term) -> tuple[float, int]:
    """Return a sort key: score, then fewer levels."""
    return (float(f"{scored.mean:.12g}"), -(term.n_levels or 0))


def _varied(ranked: list[Term]) -> list[Term]:
    """Return a shortlist of the best terms that includes the best of each similarity."""
    first = {term.similarity: term for term in reversed(ranked)}
    wanted = {id(term) for term in [*ranked[: SHORTLIST - len(first)], *first.values()]}
    for term in ranked:
        if len(wanted) >= SHORTLIST:
            break
        wanted.add(id(term))
    return [term for term in ranked if id(term) in wanted]


# -------------------------------------------------------------------- scores
#
# Scores of held-out predictions; larger is better.

#: With two classes, accuracy is not a useful score if one has a smaller share than this.
RARE = 1 / 3


def classes_of(scores: np.ndarray) -> np.ndarray:
    """Return class codes from decision values; two classes have one value per graph."""
    return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)


def accuracy(codes: np.ndarray, scores: np.ndarray) -> float:
    """Return the share of correctly classified graphs."""
    return float(np.mean(codes == classes_of(scores)))


def balanced_accuracy(codes: np.ndarray, scores: np.ndarray) -> float:
    """Return the mean recall over the classes."""
    predicted = classes_of(scores)
    return float(np.mean([np.mean(predicted[codes == c] == c) for c in np.unique(codes)]))


def roc_auc(codes: np.ndarray, scores: np.ndarray) -> float:
    """Return the area under the ROC curve; with several classes the one-vs-rest mean."""
    return _each_class(codes, scores, area_under_roc, 0.5)


def area_under_roc(positive: np.ndarray, scores: np.ndarray) -> float:
    """Return the probability that a positive scores higher than a negative.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.selection import area_under_roc
    >>> area_under_roc(np.array([True, False, True, False]), np.array([0.9, 0.1, 0.4, 0.4]))
    0.875
    """
    from scipy.stats import rankdata

    ones = int(positive.sum())
    above = rankdata(scores)[positive].sum() - ones * (ones + 1) / 2
    return float(above / (ones * (len(positive) - ones)))


def average_precision(codes: np.ndarray, scores: np.ndarray) -> float:
    """Return the average precision; with several classes the one-vs-rest mean."""
    from sklearn.metrics import average_precision_score

    return _each_class(codes, scores, average_precision_score, 0.0)


def _each_class(
    codes: np.ndarray, scores: np.ndarray, measure: Callable[..., float], nothing: float
) -> float:
    columns = {1: scores} if scores.ndim == 1 else dict(enumerate(scores.T))
    found = [
        float(measure(codes == number, column))
        for number, column in columns.items()
        if 0 < np.sum(codes == number) < len(codes)
    ]
    return float(np.mean(found)) if found else nothing


#: Scores of classifiers under their scikit-learn names.
SCORES_OF_CLASSES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "roc_auc": roc_auc,
    "average_precision": average_precision,
}


def for_classes(name: str, codes: np.ndarray) -> str:
    """Resolve "auto" to the ROC AUC if one of two classes is rare, else the accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.selection import for_classes
    >>> for_classes("auto", np.array([0] * 19 + [1])), for_classes("auto", np.array([0, 1]))
    ('roc_auc', 'accuracy')
    """
    if name != AUTO:
        return name
    counts = np.bincount(codes)
    rare = len(counts) == 2 and counts.min() < RARE * len(codes)
    return "roc_auc" if rare else "accuracy"


def rmse(values: np.ndarray, predictions: np.ndarray) -> float:
    """Return the negative root mean squared error."""
    return -float(np.sqrt(np.mean((values - predictions) ** 2)))


def mae(values: np.ndarray, predictions: np.ndarray) -> float:
    """Return the negative mean absolute error."""
    return -float(np.mean(np.abs(values - predictions)))


def r2(values: np.ndarray, predictions: np.ndarray) -> float:
    """Return the coefficient of determination, 0 if the targets are constant."""
    spread = float(np.sum((values - values.mean(axis=0)) ** 2))
    return 1.0 - float(np.sum((values - predictions) ** 2)) / spread if spread > 0 else 0.0


def spearman(values: np.ndarray, predictions: np.ndarray) -> float:
    """Return the mean rank correlation over the targets, 0 for constant values."""
    from scipy.stats import rankdata

    found = []
    for y, p in zip(values.T, predictions.T, strict=True):
        # rounded, so that predictions of equal graphs are ties despite rounding error
        own, other = rankdata(y), rankdata(np.round(p / max(np.abs(p).max(), 1e-300), 9))
        spread = float(own.std() * other.std())
        found.append(float(np.cov(own, other, bias=True)[0, 1]) / spread if spread > 0 else 0.0)
    return float(np.mean(found))


#: Scores of regressors, on targets of shape (graphs, outputs) in the original units.
SCORES_OF_NUMBERS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "rmse": rmse,
    "mae": mae,
    "r2": r2,
    "spearman": spearman,
}


def best_value(scores: np.ndarray) -> int:
    """Return the index of the best alpha; of equal ones the last, which is the largest."""
    # relative rounding, so that ties depend neither on the order of summation nor on units
    means = np.round(scores / max(float(np.abs(scores).max()), 1e-300), 12)
    return len(means) - 1 - int(np.argmax(means[::-1]))
