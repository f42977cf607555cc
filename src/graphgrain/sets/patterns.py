"""Which patterns differ between two sets, corrected for all patterns that were tested.

1. A pattern is tested by the share of graphs that have it, and by its mean count in all graphs.
   The difference between the sets is divided by its standard deviation under permutations.
2. Adjusted p-values compare each difference with the largest of all tested patterns in every
   permutation (Westfall and Young, Resampling-Based Multiple Testing, 1993): the probability that
   even one pattern is listed by chance is below the level. ``correction="fdr"`` controls the
   expected share of patterns listed by chance instead (Benjamini and Hochberg), with p-values from
   the pooled permutations of all patterns.
3. Patterns that are too rare to differ are not tested.
4. A pattern that tells the same graphs apart as a stronger one is listed under it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

#: A pattern whose largest possible difference is below this many standard deviations is too rare.
_LEAST = 3.0
#: Patterns with at least this correlation over all graphs tell the same graphs apart.
_SAME = 0.9
#: Patterns tested together.
_TOGETHER = 1 << 14
#: Number of patterns among which redundant ones are searched.
_MOST = 2000
#: Number of redundant patterns that are named.
_FOLLOWERS = 5
#: Standard deviations up to this are rounding errors.
_ROUNDING = 1e-12
#: Bins of the pooled scores of permutations.
_BINS = np.linspace(0.0, 40.0, 8001)


@dataclass(frozen=True)
class SetPattern:
    """A pattern that is more frequent in one of two sets.

    Attributes
    ----------
    name : str
        Name of the pattern or fragment; SMARTS for the patterns of molecules.
    shares : tuple of two float
        Share of the graphs of each set that have it.
    counts : tuple of two float
        Mean count in the graphs of each set.
    effect : float
        Difference, second set minus first, of the shares or of the mean counts.
    by : {"share", "count"}
        What ``effect`` and the p-value are about: the stronger of the two.
    interval : tuple of two float
        95 % confidence interval of the effect, for independent graphs (or groups).
    p_value : float
        Corrected for all patterns that were tested.
    contribution : float
        Part of the squared MMD; the parts of all patterns add up to it. NaN for fragments.
    same : tuple of str
        Names of weaker patterns that tell the same graphs apart.
    example : int or None
        A graph that has it most often, by its number in the set where it is more frequent; None if
        there are too many graphs to count them one by one.
    """

    name: str
    shares: tuple[float, float]
    counts: tuple[float, float]
    effect: float
    by: str
    interval: tuple[float, float]
    p_value: float
    contribution: float
    same: tuple[str, ...]
    example: int | None

    def __str__(self) -> str:
        if self.by == "share":
            first, second = (f"{100 * share:.0f} %" for share in self.shares)
        else:
            first, second = (f"{count:.3g} times a graph" for count in self.counts)
        return f"{self.name}: {first} against {second} (p = {self.p_value:.3g})"


CORRECTIONS = ("max", "fdr")


class Tests(NamedTuple):
    """Differences of the tested patterns between two sets.

    ``by_count`` tells which of the two tests of a pattern is the stronger; ``p_values`` are those
    of each correction.
    """

    columns: np.ndarray
    by_count: np.ndarray
    statistics: np.ndarray
    p_values: dict[str, np.ndarray]


@dataclass
class PatternTable:
    """Patterns of two sets, and the test of all of them.

    Attributes
    ----------
    presence, values : csc_array
        Whether each graph has each pattern, and its counts; or means of these over equally many
        graphs in each row, if there are too many graphs.
    support : array
        Number of graphs with each pattern.
    sizes : tuple of two int
        Number of graphs of each set.
    signs : array of shape (rows, 1 + permutations)
        Set of each row, and permuted sets; see :func:`signed_sets`.
    units : array
        Unit of each row.
    name : callable
        Returns the name of a column.
    """

    presence: csc_array
    values: csc_array
    support: np.ndarray
    sizes: tuple[int, int]
    signs: np.ndarray
    units: np.ndarray
    name: Callable[[int], str]

    def __post_init__(self) -> None:
        self.second = self.signs[:, 0] < 0
        self.tests = self._test()

    def _test(self) -> Tests:
        columns = self._testable()
        n = (self.signs > 0).sum(axis=0)
        weights = np.where(self.signs > 0, -1.0 / n, 1.0 / (len(self.signs) - n))
        largest = np.zeros(self.signs.shape[1])
        pooled = np.zeros(len(_BINS) - 1, dtype=np.int64)
        observed = np.zeros((2, len(columns)))
        for begin in range(0, len(columns), _TOGETHER):
            part = slice(begin, begin + _TOGETHER)
            for kind, matrix in enumerate((self.presence, self.values)):
                differences = matrix[:, columns[part]].T @ weights
                spread = differences.std(axis=1)  # of all alike, so that the test is exact
                scale = np.where(spread > _ROUNDING, spread, np.inf)
                scores = np.abs(differences) / scale[:, np.newaxis]
                observed[kind, part] = differences[:, 0] / scale
                np.maximum(largest, scores.max(axis=0, initial=0.0), out=largest)
                pooled += np.histogram(np.minimum(scores[:, 1:], _BINS[-1]), _BINS)[0]
        by_count = np.abs(observed[1]) > np.abs(observed[0]) * (1 + 1e-9)
        statistics = np.where(by_count, observed[1], observed[0])
        ranked, scores = np.sort(largest[1:]), np.abs(statistics)
        beyond = len(ranked) - np.searchsorted(ranked, scores * (1 - 1e-9))
        p_values = {
            "max": (1.0 + beyond) / (1.0 + len(ranked)),
            "fdr": _false_discoveries(scores, pooled),
        }
        return Tests(columns, by_count, statistics, p_values)

    def _testable(self) -> np.ndarray:
        """Return the columns in which the sets could differ by more than chance."""
        graphs, support = sum(self.sizes), self.support
        share = max(self.sizes) / min(self.sizes)
        presence = support * share * (graphs - 1) / np.maximum(graphs - support, 1)
        absence = (graphs - support) * share * (graphs - 1) / np.maximum(support, 1)
        repeated = np.asarray((self.values > 1).sum(axis=0)).ravel() > 0
        enough = np.where(repeated, presence, np.minimum(presence, absence)) >= _LEAST**2
        return np.flatnonzero(enough & (support > 0))

    def strongest(
        self, correction: str, level: float, n: int | None, contributions: np.ndarray | None
    ) -> list[SetPattern]:
        """Return the n patterns whose p-value is at most ``level``; merge redundant ones."""
        tests = self.tests
        chosen = np.flatnonzero(tests.p_values[correction] <= level)
        order = chosen[np.lexsort((tests.columns[chosen], -np.abs(tests.statistics[chosen])))]
        leaders = self._merged(order[:_MOST])
        return [
            self._described(leader, followers, tests.p_values[correction], contributions)
            for leader, followers in list(leaders.items())[:n]
        ]

    def _vectors(self, order: np.ndarray) -> np.ndarray:
        """Return the tested values of some patterns over all graphs, standardised."""
        columns, by_count = self.tests.columns[order], self.tests.by_count[order]
        values = np.where(
            by_count, self.values[:, columns].toarray(), self.presence[:, columns].toarray()
        )
        values = values - values.mean(axis=0)
        lengths = np.linalg.norm(values, axis=0)
        standardised: np.ndarray = values / np.where(lengths > 0, lengths, 1.0)
        return standardised

    def _merged(self, order: np.ndarray) -> dict[int, list[int]]:
        """Return the strongest patterns, each with the weaker ones that say the same."""
        if not len(order):
            return {}
        vectors = self._vectors(order)
        alike = np.abs(vectors.T @ vectors) >= _SAME
        leaders: dict[int, list[int]] = {}
        free = np.ones(len(order), dtype=bool)
        for number in range(len(order)):
            if free[number]:
                followers = np.flatnonzero(alike[number] & free)
                free[followers] = False
                leaders[int(order[number])] = [int(order[f]) for f in followers if f != number]
        return leaders

    def _described(
        self,
        number: int,
        followers: list[int],
        p_values: np.ndarray,
        contributions: np.ndarray | None,
    ) -> SetPattern:
        column = int(self.tests.columns[number])
        by_count = bool(self.tests.by_count[number])
        present = self.presence[:, [column]].toarray().ravel()
        values = self.values[:, [column]].toarray().ravel()
        tested = values if by_count else present
        sides = (~self.second, self.second)
        effect = float(tested[sides[1]].mean() - tested[sides[0]].mean())
        favoured = np.flatnonzero(sides[1] if effect > 0 else sides[0])
        whole = len(self.second) == sum(self.sizes)  # a row is a graph
        example = int(np.argmax(values[favoured])) if whole else None
        added = float("nan") if contributions is None else float(contributions[column])
        return SetPattern(
            name=self.name(column),
            shares=_pair(present[side].mean() for side in sides),
            counts=_pair(values[side].mean() for side in sides),
            effect=effect,
            by="count" if by_count else "share",
            interval=self._interval(tested, effect, not by_count),
            p_value=float(p_values[number]),
            contribution=added,
            same=self._distinct_names(column, followers),
            example=example,
        )

    def _distinct_names(self, column: int, followers: list[int]) -> tuple[str, ...]:
        """Return some names of weaker patterns; the same name may be that of several kernels."""
        names = [self.name(column)]
        for follower in followers:
            if len(names) > _FOLLOWERS:
                break
            name = self.name(int(self.tests.columns[follower]))
            if name not in names:
                names.append(name)
        return tuple(names[1:])

    def _interval(self, values: np.ndarray, effect: float, shares: bool) -> tuple[float, float]:
        """Return a 95 % interval of the difference of means, by the variance between units.

        Shares get one more graph with and one without the pattern (Agresti and Caffo, The American
        Statistician 54, 2000), so that a share of zero has an interval.
        """
        variance, centre = 0.0, 0.0
        for side, sign in ((~self.second, -1.0), (self.second, 1.0)):
            x, (_, unit) = values[side], np.unique(self.units[side], return_inverse=True)
            mean = (x.sum() + shares) / (len(x) + 2 * shares)
            between = np.bincount(unit, x - x.mean())
            robust = float(between @ between) / len(x) ** 2
            plain = float(((x - x.mean()) ** 2).sum()) / len(x) ** 2
            added = mean * (1 - mean) / (len(x) + 2) if shares else plain
            variance += max(added * max(1.0, robust / plain if plain > 0 else 1.0), robust)
            centre += sign * mean
        half = 1.959964 * float(np.sqrt(variance))
        return float(min(centre - half, effect)), float(max(centre + half, effect))


def _pair(values: object) -> tuple[float, float]:
    first, second = (float(value) for value in values)  # type: ignore[attr-defined]
    return first, second


# -------------------------------------------------------------------- false discoveries


def _false_discoveries(scores: np.ndarray, pooled: np.ndarray) -> np.ndarray:
    """Return Benjamini-Hochberg adjusted p-values, from the pooled permuted scores.

    A score is the larger of two, which doubles its p-value.
    """
    beyond = np.append(np.cumsum(pooled[::-1])[::-1], 0)
    places = np.searchsorted(_BINS, np.minimum(scores, _BINS[-1]), side="right") - 1
    p = np.minimum(1.0, 2.0 * (1.0 + beyond[places]) / (1.0 + pooled.sum()))
    order = np.argsort(p)
    ranked = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(ranked[::-1])[::-1]
    return np.minimum(adjusted, 1.0)
