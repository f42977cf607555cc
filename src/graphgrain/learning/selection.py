"""Choosing the terms of a kernel by cross-validation, in rounds.

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
from typing import Any, NamedTuple

import numpy as np

from ..core.gram import GramSum
from ..graphs.batch import GraphBatch
from ..kernels.features import FeatureColumns, Features
from ..views.structural_labels import StructuralLabels
from .svm import classes_of
from .terms import AUTO, Source, Term

#: Groups of terms that are left for the sum.
SHORTLIST = 8
#: A round keeps this part of the groups, but at least the shortlist.
KEPT = 1 / 3


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

    @property
    def smallest(self) -> int:
        """The first value that is not worse by half a standard error over the folds.

        With few graphs all large values of C may be as good as the best: none makes a mistake. With
        more graphs that is no longer so, and the smallest of them carries over.
        """
        behind = self.by_fold - self.scores
        errors = behind.std(axis=1, ddof=1) / np.sqrt(behind.shape[1])
        return int(np.argmax(behind.mean(axis=1) <= 0.5 * errors))


@dataclass(frozen=True)
class Judge:
    """Judges kernel matrices of some of the training graphs.

    Attributes
    ----------
    learner : Ridge or Svm
        Trains models for a grid of its own parameter.
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
