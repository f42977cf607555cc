"""Choosing the terms of a kernel by cross-validation, in rounds.

A name of a kernel stands for all its levels, count maps, similarities, uses of edge labels and
views; a grid or an estimator is tried as it is.

1. Every term is judged on a small sample of the training graphs. The best of each group (terms that
   differ in their levels alone) go on to the next round, on more graphs, as in successive halving.
2. The sum starts as the mean over the grains of Tree++ and pairs at every distance, unless another
   start is better: without pairs or with sizes by one standard error over the folds, or the best
   term alone by two, since it is the best of many.
3. On the small sample the term that helps most is added, as long as one helps by more than its
   standard error. The sum so grown is taken if it helps on the larger sample too.

A mean of several kernels is steadier than the best one: on a small set the best of many candidates
has been lucky.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ..core.gram import GramSum
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.drawing.molecule import are_molecules
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.features import FeatureColumns, Features
from ..kernels.grid import KernelGrid, Setting
from ..kernels.registry import KERNELS
from ..parameters import Rule, check_parameters
from ..views.attribute_bins import AttributeBins
from ..views.base import seen_through
from ..views.pharmacophore_labels import PharmacophoreLabels
from ..views.structural_labels import StructuralLabels
from .machine import Source, Term

AUTO = "auto"
#: What ``kernels="auto"`` stands for. The optimal assignment kernel WL-OA is min-max on what WL
#: counts, which is among the similarities that are tried.
USUAL = ("tree++", "wl", "sp")
#: What estimators sum over unless they are told otherwise: Tree++, and pairs at every distance.
DEFAULT = ("tree++", "sp")
#: Beside other kernels, pairs of all vertices are left out where there are more of them than this.
MOST_PAIRS = 500_000_000
#: Into how many clusters attributes are put: from coarse to fine, each four times the one before.
CLUSTERS = (8, 32, 128)
#: Count maps and similarities to choose from, the best on average first.
OF_CLASSES = (("raw", "minmax"), ("sqrt", "cosine"), ("raw", "cosine"))
OF_NUMBERS = (("raw", "minmax"), ("sqrt", "cosine"), ("raw", "dot"), ("sqrt", "dot"))
#: The count maps that are tried with a similarity which the user has chosen.
_MAPS = {"minmax": ("raw",), "cosine": ("raw", "sqrt"), "dot": ("raw", "sqrt")}
#: Groups of terms that are left for the sum.
SHORTLIST = 8
#: A round keeps this part of the groups, but at least the shortlist.
KEPT = 1 / 3


# -------------------------------------------------------------------- what there is to choose from


def is_auto(value: Any) -> bool:
    """Whether a parameter leaves the choice to the estimator."""
    return isinstance(value, str) and value == AUTO


def alternatives(value: Any) -> list[Any]:
    """The values that a parameter offers."""
    return list(value) if isinstance(value, list | tuple | np.ndarray | range) else [value]


@dataclass(frozen=True)
class OneOrMore:
    """A value, or a list of values to choose from; also "auto" if ``auto``."""

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
    """ "auto", or kernels by name, with their grids, or as estimators."""

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


class ViewRule:
    """None, or something that turns graphs into graphs."""

    def allows(self, value: Any) -> bool:
        if isinstance(value, type | GraphKernel):
            return False
        return value is None or (hasattr(value, "fit") and hasattr(value, "transform"))

    def __str__(self) -> str:
        return (
            "None (the graphs as they are) or a view, such as EdgeFilter(drop=[1]) or a pipeline "
            "of views"
        )


def explicit_kernels() -> list[str]:
    """The names of the kernels with explicit features.

    Examples
    --------
    >>> from graphgrain.learning.selection import explicit_kernels
    >>> explicit_kernels()[:4]
    ['tree++', 'path-pattern', 'wl', 'sp']
    """
    return [name for name, grid in KERNELS.items() if all(map(_is_explicit, _kernels_of(grid)))]


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
    """All terms to choose from, those of the plainest source first.

    The parameters are those of :class:`GraphClassifier`; ``usual`` are the pairs of a count map and
    a similarity that "auto" stands for.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.learning.selection import OF_CLASSES, possible_terms
    >>> graphs, _ = gg.load_drugs()
    >>> terms = possible_terms(graphs, "auto", path_depth=6, max_level=3, centrality="degree",
    ...     edge_labels=False, views=None, attributes=True, counts="auto", similarity="auto",
    ...     usual=OF_CLASSES)
    >>> [(term.source.name, term.similarity) for term in terms[::8]]
    [('tree++', 'minmax'), ('tree++', 'cosine'), ('wl', 'cosine'), ('sp', 'minmax')]
    """
    offered = alternatives(views)
    if is_auto(views):
        offered = [None, StructuralLabels()]
        offered += [PharmacophoreLabels()] if are_molecules(graphs) else []
    if attributes:
        offered += _attribute_views(graphs, offered[:1] if is_auto(views) else offered)
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
            found += _as_it_is(item, shown[0], usual)
            continue
        grid = KERNELS[item]
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
                flags = flags[-1:]  # with labels between the ends, pairs are what paths are
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
    """The terms of a source, level by level."""
    kernel, name = source.kernel, source.kernel.level_parameter
    levels = [None] if name is None else range(1, getattr(kernel, name) + 2)
    if "counts" not in kernel.get_params():
        pairs = [(kernel.counts, one) for _, one in pairs]
    return [Term(source, how, one, level) for how, one in dict.fromkeys(pairs) for level in levels]


def _with_levels(kernel: GraphKernel, highest: int) -> Any:
    name = getattr(kernel, "level_parameter", None)
    return kernel if name is None else clone(kernel).set_params(**{name: highest})


def _kernels_of(grid: KernelGrid) -> list[Any]:
    """The kernels of a grid, those that differ in count map or similarity alone once."""
    kernels: dict[str, Any] = {}
    for setting in grid.settings:
        kernel = grid.estimator(Setting(setting.parameters))
        plain = clone(kernel)
        if isinstance(kernel, FeatureKernel) and "counts" in kernel.get_params():
            plain.set_params(counts="raw")
        kernels.setdefault(repr(plain), plain)
    return list(kernels.values())


def _as_it_is(
    item: Any, shown: tuple[Any, GraphBatch], usual: Sequence[tuple[str, str]]
) -> list[Term]:
    """The terms of a grid, or of a kernel with its own parameters at all levels up to its own."""
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
        fitted, seen = shown
        if view is not None:
            fitted = clone(view).fit(seen)
            seen = seen_through(fitted, seen)
        source = Source(name, kernel, fitted, seen.label_kind)
        _check_explicit(source)
        found += _terms(source, [(kernel.counts, kernel.similarity)])
    return found


def _attribute_views(graphs: GraphBatch, views: list[Any]) -> list[Any]:
    """Views that turn attributes into labels, behind each of the views; none without attributes."""
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
    """With and without edge labels, unless an earlier view shows the same."""
    flags = alternatives(edge_labels)
    if "edge_labels" not in kernel.get_params():
        flags = [False]
    elif is_auto(edge_labels):
        codes = seen.edge_label_codes
        apart = codes is not None and len(codes) > 0 and bool((codes != codes[0]).any())
        flags = [True, False] if apart else [False]
    return [flag for flag in flags if not any(_same(seen, other, flag) for _, other in before)]


def _same(one: GraphBatch, other: GraphBatch, edge_labels: bool) -> bool:
    """Whether a kernel that looks at edge labels, or does not, cannot tell the two apart."""
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


# -------------------------------------------------------------------- choosing


class Judged(NamedTuple):
    """How a kernel did."""

    scores: np.ndarray  # (values of the learner's parameter, folds)
    place: int  # of the best value

    @property
    def by_fold(self) -> np.ndarray:
        """The scores of the best value."""
        return self.scores[self.place]

    @property
    def mean(self) -> float:
        """Its mean score."""
        return float(np.mean(self.by_fold))


@dataclass(frozen=True)
class Judge:
    """Judges kernel matrices of some of the training graphs.

    Attributes
    ----------
    learner : Ridge
        Trains models for a grid of alpha.
    rows : array
        The training graphs that may judge.
    targets, folds, weights : array
        Theirs.
    score : callable
        ``score(positions, values)``, larger is better; positions are among these graphs.
    """

    learner: Any
    rows: np.ndarray
    targets: np.ndarray
    folds: np.ndarray
    weights: np.ndarray
    score: Callable[[np.ndarray, np.ndarray], float]
    n_jobs: int | None = None

    def __call__(self, K: np.ndarray, sample: np.ndarray | None = None) -> Judged:
        """How the kernel of a sample (positions; by default all) does."""
        sample = np.arange(len(self.rows)) if sample is None else sample
        targets, folds, weights = self.targets[sample], self.folds[sample], self.weights[sample]
        return self.judged(self.learner.held_out(K, targets, folds, weights, self.n_jobs), sample)

    def judged(self, found: np.ndarray, sample: np.ndarray) -> Judged:
        """Scores of what models said, (values, graphs, outputs)."""
        folds = self.folds[sample]
        parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        scores = np.array(
            [[self.score(sample[part], values[part]) for part in parts] for values in found]
        )
        return Judged(scores, best_value(scores.mean(axis=1)))


@dataclass
class Selector:
    """Chooses terms.

    Attributes
    ----------
    batch : GraphBatch
        The graphs that judge.
    judge : Judge
    rounds : sequence of arrays
        Positions of the graphs that judge in each round, the last being the most.
    most : int
        Terms of the sum at most.
    tell : callable
        Hears how the search goes.
    in_time : callable
        Whether another way to count may be begun.
    terms : list of Term
        What was chosen.
    tried : list of (Term, Judged, int)
        With the number of graphs that judged, in the order of the rounds.
    skipped : list of Term
        What there was no time for.
    """

    batch: GraphBatch
    judge: Judge
    rounds: Sequence[np.ndarray] = ()
    most: int = 1
    tell: Callable[[str], None] = print
    in_time: Callable[[], bool] = lambda: True
    terms: list[Term] = field(default_factory=list)
    tried: list[tuple[Term, Judged, int]] = field(default_factory=list)
    skipped: list[Term] = field(default_factory=list)
    _features: dict[int, Features] = field(default_factory=dict)

    def features(self, source: Source) -> Features:
        """What a source counts in the judging graphs, counted once."""
        if id(source) not in self._features:
            self._features[id(source)] = source.count(self.batch, self.judge.n_jobs)
        return self._features[id(source)]

    def _columns(self, term: Term, sample: np.ndarray | None) -> FeatureColumns:
        """Some judging graphs as the term compares them, by columns."""
        own = self.features(term.source)
        return term.prepare(own if sample is None else own[sample]).columns(self.judge.n_jobs)

    def grams(self, terms: Sequence[Term], sample: np.ndarray) -> Iterable[tuple[Term, np.ndarray]]:
        """The scaled kernel matrices of terms that differ in their levels alone."""
        wanted = {term.n_levels: term for term in terms}
        deepest, every = terms[-1], None not in wanted
        columns = self._columns(deepest, sample)
        found = columns.grams(deepest.similarity, self.judge.n_jobs, every_level=every)
        for level, K in enumerate(found):
            term = wanted.get(level + 1 if every else None)
            if term is not None:
                scale = term_scale(term, self.features(term.source))
                yield term, (K if scale == 1.0 else K * scale)

    def mean(self, terms: Sequence[Term], sample: np.ndarray | None = None) -> np.ndarray:
        """The mean of the scaled kernel matrices of some terms, of a sample or all graphs."""
        total = GramSum(len(self.batch) if sample is None else len(sample))
        for term in terms:
            scale = term_scale(term, self.features(term.source))
            columns = self._columns(term, sample)
            columns.add_gram(term.similarity, total, scale, self.judge.n_jobs)
        K = total.mirrored(self.judge.n_jobs)
        K /= len(terms)
        return K

    def run(self, terms: Sequence[Term]) -> None:
        """Choose among the terms; the first source is always tried."""
        groups: dict[Any, list[Term]] = {}
        for term in terms:
            groups.setdefault(term.group, []).append(term)
        order = list(groups.values())
        best: dict[Any, tuple[Judged, Term]] = {}
        for number, sample in enumerate(self.rounds):
            best = {}
            for place, group in enumerate(order):
                if number == 0 and place and not self.in_time():
                    self.skipped += [term for rest in order[place:] for term in rest]
                    break
                for term, K in self.grams(group, sample):
                    judged = self.judge(K, sample)
                    self.tried.append((term, judged, len(sample)))
                    known = best.get(term.group)
                    if known is None or _key(judged, term) > _key(*known):
                        best[term.group] = (judged, term)
            ranked = sorted(best.values(), key=lambda one: _key(*one), reverse=True)
            kept = max(SHORTLIST, int(np.ceil(KEPT * len(ranked))))
            order = [[term] for _, term in ranked[:kept]]
            self.tell(
                f"round {number + 1} of {len(self.rounds)}, {len(sample)} graphs: best "
                f"{ranked[0][0].mean:.4f}"
            )
        self._add_up(_varied([term for _, term in ranked]), terms)

    def _add_up(self, shortlist: list[Term], terms: Sequence[Term]) -> None:
        """The sum: the best start, and what helps it."""
        small, large = self.rounds[0], self.rounds[-1]
        starts = [start for start in starts_of(terms) if len(start) <= self.most]
        starts.append([shortlist[0]])
        chosen, best = starts[0], self.judge(self.mean(starts[0], large), large)
        for start in starts[1:]:
            judged = self.judge(self.mean(start, large), large)
            if helps(judged, best, 2.0 if len(start) == 1 else 1.0):
                chosen, best = start, judged
        longer = self._grown(chosen, shortlist, small)
        if len(longer) > len(chosen):
            judged = self.judge(self.mean(longer, large), large)
            if helps(judged, best):
                chosen, best = longer, judged
        self.terms = chosen
        self.tell(f"{len(chosen)} terms, {best.mean:.4f}")

    def _grown(self, start: list[Term], shortlist: list[Term], sample: np.ndarray) -> list[Term]:
        """Terms, and those of the shortlist that help on a sample, the most helpful first."""
        matrices = {id(t): self.mean([t], sample) for t in shortlist}
        chosen = list(start)
        total = self.mean(start, sample) * len(start)
        best = self.judge(total / len(chosen), sample)
        while len(chosen) < self.most:
            left = [t for t in shortlist if t not in chosen]
            if not left:
                break
            tried = [
                (self.judge((total + matrices[id(t)]) / (len(chosen) + 1), sample), t) for t in left
            ]
            judged, term = max(tried, key=lambda one: one[0].mean)
            if not helps(judged, best):
                break
            chosen.append(term)
            total = total + matrices[id(term)]
            best = judged
        return chosen


def helps(new: Judged, old: Judged, errors: float = 1.0) -> bool:
    """Whether a kernel is better than another by more than some standard errors over the folds.

    Less is what the best of many candidates has by luck.
    """
    difference = new.by_fold - old.by_fold
    error = float(difference.std(ddof=1)) / np.sqrt(len(difference))
    return bool(difference.mean() > max(errors * error, 1e-9 * abs(old.mean)))


def starts_of(terms: Sequence[Term]) -> list[list[Term]]:
    """Sums of terms that do well on average, the first of them first.

    The grains of Tree++: min-max of the shortest paths with trees of depth one and two, and of the
    longest with trees of depth none, one and two; with structural labels, which say more by
    themselves, one tree depth less. Beside them min-max of pairs of labels at every distance, seen
    through every view. Then the grains without pairs, and all with sizes: dot products of roots of
    counts along the shortest paths, for what grows with a graph. Only those that are among the
    terms.
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
    """What makes a term's similarity of a graph with itself 1 on average."""
    if term.similarity != "dot":
        return 1.0
    return 1.0 / max(float(term.prepare(features).squares.sum(axis=0).mean()), 1e-300)


def _key(judged: Judged, term: Term) -> tuple[float, int]:
    """Better terms have larger keys; of equal ones that with fewer levels."""
    return (float(f"{judged.mean:.12g}"), -(term.n_levels or 0))


def _varied(ranked: list[Term]) -> list[Term]:
    """The best terms, among them the best of each similarity."""
    first = {term.similarity: term for term in reversed(ranked)}
    wanted = {id(term) for term in [*ranked[: SHORTLIST - len(first)], *first.values()]}
    for term in ranked:
        if len(wanted) >= SHORTLIST:
            break
        wanted.add(id(term))
    return [term for term in ranked if id(term) in wanted]


# -------------------------------------------------------------------- scores
#
# How candidates are judged on graphs that they were not trained on: larger is better.

#: A class with a smaller share than this makes accuracy a poor judge.
RARE = 1 / 3


def classes_of(scores: np.ndarray) -> np.ndarray:
    """The classes of decision values: one value per row for two classes."""
    return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)


def accuracy(codes: np.ndarray, scores: np.ndarray) -> float:
    """The share of graphs that get their class."""
    return float(np.mean(codes == classes_of(scores)))


def balanced_accuracy(codes: np.ndarray, scores: np.ndarray) -> float:
    """The mean over the classes of that share."""
    predicted = classes_of(scores)
    return float(np.mean([np.mean(predicted[codes == c] == c) for c in np.unique(codes)]))


def roc_auc(codes: np.ndarray, scores: np.ndarray) -> float:
    """The area under the curve; with several classes the mean over each against the rest."""
    return _each_class(codes, scores, area_under_roc, 0.5)


def area_under_roc(positive: np.ndarray, scores: np.ndarray) -> float:
    """The chance that a positive scores higher than a negative.

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
    """The area under precision and recall; with several classes the mean of each."""
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


#: For classifiers, by the names that scikit-learn has for them.
SCORES_OF_CLASSES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "roc_auc": roc_auc,
    "average_precision": average_precision,
}


def for_classes(name: str, codes: np.ndarray) -> str:
    """The measure that "auto" stands for: the ROC AUC if one of two classes is rare.

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
    """Minus the root mean squared error."""
    return -float(np.sqrt(np.mean((values - predictions) ** 2)))


def mae(values: np.ndarray, predictions: np.ndarray) -> float:
    """Minus the mean absolute error."""
    return -float(np.mean(np.abs(values - predictions)))


def r2(values: np.ndarray, predictions: np.ndarray) -> float:
    """One minus the squared error over the variance; 0 where there is no variance."""
    spread = float(np.sum((values - values.mean(axis=0)) ** 2))
    return 1.0 - float(np.sum((values - predictions) ** 2)) / spread if spread > 0 else 0.0


def spearman(values: np.ndarray, predictions: np.ndarray) -> float:
    """The correlation of ranks, the mean over several targets; 0 where nothing varies."""
    from scipy.stats import rankdata

    found = []
    for y, p in zip(values.T, predictions.T, strict=True):
        # equal graphs are ties, whatever rounding makes of their predictions
        own, other = rankdata(y), rankdata(np.round(p / max(np.abs(p).max(), 1e-300), 9))
        spread = float(own.std() * other.std())
        found.append(float(np.cov(own, other, bias=True)[0, 1]) / spread if spread > 0 else 0.0)
    return float(np.mean(found))


#: For regressors, on targets of shape (graphs, outputs) in the user's units; larger is better.
SCORES_OF_NUMBERS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "rmse": rmse,
    "mae": mae,
    "r2": r2,
    "spearman": spearman,
}


def best_value(scores: np.ndarray) -> int:
    """The best entry of a learner's grid; of equal ones the last, which is the largest."""
    # rounded, so that the order in which equal scores are added is no matter, nor their unit
    means = np.round(scores / max(float(np.abs(scores).max()), 1e-300), 12)
    return len(means) - 1 - int(np.argmax(means[::-1]))
