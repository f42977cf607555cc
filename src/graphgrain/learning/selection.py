"""Choosing the terms of a kernel by cross-validation, in rounds.

1. Every term is judged on a small sample of the training graphs. The best of each group (terms that
   differ in their levels alone) go on to the next round, on more graphs, as in successive halving.
2. The kernel starts as the best term, or as the mean over the grains of Tree++ if that is as good;
   then the term that helps most is added, as long as one helps: on average and on most folds.
3. The sum is judged on as many graphs as the rounds allow, which gives the learner's own parameter.

A mean of several kernels is steadier than the best one: on a small set the best of many candidates
has been lucky.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..kernels.features import Features
from .scoring import best_value
from .terms import Source, Term

#: Groups of terms that are left for the sum.
SHORTLIST = 8
#: A round keeps this part of the groups, but at least the shortlist.
KEPT = 1 / 3


class Learner(Protocol):
    """Trains models for a grid of its own parameter; see :class:`Ridge` and :class:`Svm`."""

    @property
    def grid(self) -> Sequence[float]: ...

    def held_out(
        self,
        K: np.ndarray,
        targets: np.ndarray,
        folds: np.ndarray,
        weights: np.ndarray,
        n_jobs: int | None = None,
    ) -> np.ndarray: ...


class Judged(NamedTuple):
    """How a kernel did."""

    scores: np.ndarray  # (values of the learner's parameter, folds)
    place: int  # of the best value
    held_out: np.ndarray  # what its models said of graphs that they had not seen

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
    learner : Learner
    targets, folds, weights : array
        Of all graphs that may judge.
    score : callable
        ``score(positions, values)``, larger is better.
    """

    learner: Learner
    targets: np.ndarray
    folds: np.ndarray
    weights: np.ndarray
    score: Callable[[np.ndarray, np.ndarray], float]
    n_jobs: int | None = None

    def __call__(self, K: np.ndarray, sample: np.ndarray) -> Judged:
        folds = self.folds[sample]
        found = self.learner.held_out(
            K, self.targets[sample], folds, self.weights[sample], self.n_jobs
        )
        return self.judged(found, sample)

    def judged(self, found: np.ndarray, sample: np.ndarray) -> Judged:
        """Scores of what models said, (values, graphs, outputs)."""
        folds = self.folds[sample]
        parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        scores = np.array(
            [[self.score(sample[part], values[part]) for part in parts] for values in found]
        )
        place = best_value(scores.mean(axis=1))
        return Judged(scores, place, found[place])


@dataclass
class Selection:
    """What was chosen, and all that was tried.

    Attributes
    ----------
    terms : list of Term
    value : float
        Of the learner's own parameter.
    score : float
        Of the sum, in cross-validation.
    tried : list of dict
        In the order of the rounds.
    skipped : list of Term
        What there was no time for.
    """

    terms: list[Term] = field(default_factory=list)
    value: float = 0.0
    score: float = -np.inf
    tried: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[Term] = field(default_factory=list)


class Selector:
    """Chooses terms.

    Parameters
    ----------
    count : callable
        The features of the judging graphs by a source.
    judge : Judge
    rounds : sequence of arrays
        Positions of the graphs that judge in each round, the last being the most.
    most : int
        Terms of the sum at most.
    tell : callable
        Hears how the search goes.
    in_time : callable
        Whether another way to count may be begun.
    """

    def __init__(
        self,
        count: Callable[[Source], Features],
        judge: Judge,
        rounds: Sequence[np.ndarray],
        most: int,
        tell: Callable[[str], None],
        in_time: Callable[[], bool],
    ) -> None:
        self.count = count
        self.judge = judge
        self.rounds = rounds
        self.most = most
        self.tell = tell
        self.in_time = in_time
        self.selection = Selection()
        self._features: dict[int, Features] = {}

    def features(self, source: Source) -> Features:
        """What a source counts in the judging graphs, counted once."""
        if id(source) not in self._features:
            self._features[id(source)] = self.count(source)
        return self._features[id(source)]

    def scale(self, term: Term) -> float:
        """What makes the term's similarity of a graph with itself 1 on average."""
        return term_scale(term, self.features(term.source))

    def grams(self, terms: Sequence[Term], sample: np.ndarray) -> Iterable[tuple[Term, np.ndarray]]:
        """The scaled kernel matrices of terms that differ in their levels alone."""
        wanted = {term.n_levels: term for term in terms}
        deepest = terms[-1]
        if None in wanted:
            deepest = wanted[None]
        features = deepest.prepare(self.features(deepest.source)[sample])
        columns = features.columns(self.judge.n_jobs)
        every = None not in wanted
        found = columns.grams(deepest.similarity, self.judge.n_jobs, every_level=every)
        for level, K in enumerate(found):
            term = wanted.get(level + 1 if every else None)
            if term is not None:
                scale = self.scale(term)
                yield term, (K if scale == 1.0 else K * scale)

    def mean(self, terms: Sequence[Term], sample: np.ndarray) -> np.ndarray:
        """The mean of the scaled kernel matrices of some terms."""
        total: np.ndarray | None = None
        for term in terms:
            [K] = [K for found, K in self.grams([term], sample) if found is term]
            total = K if total is None else total + K
        assert total is not None
        return total / len(terms)

    def run(self, terms: Sequence[Term]) -> Selection:
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
                    self.selection.skipped += [term for rest in order[place:] for term in rest]
                    break
                for term, K in self.grams(group, sample):
                    judged = self.judge(K, sample)
                    self._record(term, judged, len(sample))
                    if group[0].group not in best or _key(judged, term) > _key(
                        *best[group[0].group]
                    ):
                        best[group[0].group] = (judged, term)
            ranked = sorted(best.values(), key=lambda one: _key(*one), reverse=True)
            kept = max(SHORTLIST, int(np.ceil(KEPT * len(ranked))))
            order = [_near(groups[term.group], term) for _, term in ranked[:kept]]
            self.tell(
                f"round {number + 1} of {len(self.rounds)}, {len(sample)} graphs: best "
                f"{ranked[0][0].mean:.4f}"
            )
        self._add_up([term for _, term in ranked[:SHORTLIST]], terms)
        return self.selection

    def _record(self, term: Term, judged: Judged, graphs: int) -> None:
        self.selection.tried.append({"term": term, "judged": judged, "graphs": graphs})

    def _add_up(self, shortlist: list[Term], terms: Sequence[Term]) -> None:
        """The sum: term after term, as long as one helps."""
        sample = self.rounds[-1]
        grains = grains_of(terms)
        matrices = {id(t): next(iter(self.grams([t], sample)))[1] for t in shortlist}
        matrices |= {
            id(t): K
            for t in grains
            if id(t) not in matrices
            for found, K in self.grams([t], sample)
            if found is t
        }
        chosen = [shortlist[0]]
        total = matrices[id(shortlist[0])].astype(np.float64)
        best = self.judge(total, sample)
        if len(grains) > 1 and self.most >= len(grains):
            mean = np.sum([matrices[id(t)] for t in grains], axis=0) / len(grains)
            judged = self.judge(mean, sample)
            if not helps(best, judged):
                chosen, total, best = list(grains), mean * len(grains), judged
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
        self.selection.terms = chosen
        self.selection.value = float(self.judge.learner.grid[best.place])
        self.selection.score = best.mean
        self.tell(f"{len(chosen)} terms, {best.mean:.4f}")


def helps(new: Judged, old: Judged) -> bool:
    """Whether a kernel is better than another: on average and on most folds."""
    difference = new.by_fold - old.by_fold
    return bool(difference.mean() > 1e-9) and int((difference > 0).sum()) > len(difference) // 2


def grains_of(terms: Sequence[Term]) -> list[Term]:
    """The grains of Tree++: neighbourhoods, label paths, and paths of neighbourhoods.

    Those are min-max terms of the shortest paths with trees of depth one and two, and of the
    longest with trees of depth none, one and two; empty where they are not among the terms.
    """
    own = [t for t in terms if t.source.name == "tree++" and t.similarity == "minmax"]
    if not own:
        return []
    first = own[0].source.kernel.get_params()
    same = {n: v for n, v in first.items() if n not in ("path_depth", "n_jobs")}
    own = [
        t
        for t in own
        if t.source.view is own[0].source.view
        and all(t.source.kernel.get_params()[n] == v for n, v in same.items())
    ]
    depths = sorted({t.source.kernel.get_params()["path_depth"] for t in own})
    shallow, deep = depths[0], depths[-1]
    places = [(shallow, 2), (shallow, 3), (deep, 1), (deep, 2), (deep, 3)]
    if len(depths) < 2:
        return []
    found = [
        t
        for depth, levels in places
        for t in own
        if t.source.kernel.get_params()["path_depth"] == depth and t.n_levels == levels
    ]
    return found if len(found) == len(places) else []


def term_scale(term: Term, features: Features) -> float:
    """What makes a term's similarity of a graph with itself 1 on average."""
    if term.similarity != "dot":
        return 1.0
    return 1.0 / max(float(term.prepare(features).squares.sum(axis=0).mean()), 1e-300)


def _key(judged: Judged, term: Term) -> tuple[float, int]:
    """Better terms have larger keys; of equal ones that with fewer levels."""
    return (round(judged.mean, 12), -(term.n_levels or 0))


def _near(group: list[Term], best: Term) -> list[Term]:
    """The best term of a group and those with a level more or less."""
    if best.n_levels is None:
        return [best]
    return [t for t in group if t.n_levels is not None and abs(t.n_levels - best.n_levels) <= 1]
