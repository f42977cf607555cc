"""Folding: from the coefficients of training graphs to weights on patterns.

1. Patterns with the same counts in the same training graphs are grouped.
2. The weight of a group is the sum of ``coefficient[i] * f(count in i)`` over its training graphs,
   where f is the count map. For a normalised kernel, graph i is divided by its norm.
3. Groups whose weights are all zero, since none of their graphs is a support vector, are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..core.counting import group_hashes
from ..core.hashing import GOLDEN, mix_array
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts
from .level_weights import mean_square
from .pattern_weights import PatternLevel, Patterns, PatternWeights, mapped


class GroupColumns(NamedTuple):
    """The counts of each group in the training graphs, needed to fold and not after that."""

    groups: np.ndarray
    graphs: np.ndarray
    counts: np.ndarray


def group_patterns(level: Counts) -> tuple[PatternLevel, GroupColumns]:
    """Group the patterns of one level by their counts in the training graphs."""
    hashes, indptr, graphs, counts, _ = group_hashes(*level)
    counts = counts.astype(np.int64)
    # A sum over the entries of a column: the same for two columns only if they have the same ones.
    with np.errstate(over="ignore"):
        entries = mix_array(graphs.astype(np.uint64) * GOLDEN + mix_array(counts.view(np.uint64)))
        codes = np.add.reduceat(entries, indptr[:-1]) if len(hashes) else entries
    _, first, groups = np.unique(codes, return_index=True, return_inverse=True)
    lengths = np.diff(indptr)[first]
    starts = np.concatenate(([0], np.cumsum(lengths)))
    places = np.repeat(indptr[:-1][first] - starts[:-1], lengths) + np.arange(starts[-1])
    of_groups = counts[places]
    most = np.maximum.reduceat(of_groups, starts[:-1]) if len(first) else of_groups
    kind = np.int32 if most.max(initial=0) <= np.iinfo(np.int32).max else np.int64
    columns = GroupColumns(
        np.repeat(np.arange(len(first), dtype=np.int32), lengths),
        graphs[places],
        of_groups.astype(kind),
    )
    units = np.concatenate(([0], np.cumsum(most)))
    return PatternLevel(hashes, groups.reshape(-1).astype(np.int32), units), columns


class Folding:
    """Folds machines that look at the same patterns into weights.

    Parameters
    ----------
    view : fitted view or None
    kernel : FeatureKernel
        Counts the patterns; only its parameters matter.
    label_kind : str
        Of the training graphs as the view shows them.
    counted : iterable of Counts
        What ``kernel.count_features`` gave for them. Each level is needed once.
    """

    def __init__(
        self, view: Any, kernel: FeatureKernel, label_kind: str, counted: Iterable[Counts]
    ) -> None:
        levels, self.columns = [], []
        for level in counted:
            found, columns = group_patterns(level)
            levels.append(found)
            self.columns.append(columns)
            self.graphs = len(level.lengths)
        self.patterns = Patterns(view, kernel, label_kind, levels)

    def fold(
        self,
        counts: str,
        normalize: bool,
        n_levels: int | None,
        coefficients: np.ndarray,
        intercept: np.ndarray,
        level_weights: np.ndarray | None = None,
    ) -> PatternWeights:
        """Weights from the coefficients of the training graphs, of shape (outputs, graphs).

        The first ``n_levels`` levels take part; None stands for all.
        """
        scaled = np.atleast_2d(coefficients).astype(np.float64)
        intercept = np.atleast_1d(intercept).astype(np.float64)
        without = np.zeros(len(scaled))
        divisors = factors = np.ones(len(self.columns[:n_levels]))
        if normalize:
            squares = self.squares(counts)[:n_levels]
            total = squares.sum(axis=0)
            without = scaled[:, total == 0].sum(axis=1)
            each = squares if level_weights is not None else np.broadcast_to(total, squares.shape)
            divisors = np.sqrt(np.where(each > 0, each, 1.0))
        if level_weights is not None:
            factors = self.level_factors(counts, normalize, level_weights)
        levels = zip(self.patterns.levels, self.columns, divisors, factors, strict=False)
        weights = [
            _folded(level, columns, counts, factor * scaled / divisor)
            for level, columns, divisor, factor in levels
        ]
        rest = (counts, normalize, weights, intercept, without, level_weights)
        return PatternWeights(self.patterns, *rest)

    def level_factors(self, counts: str, normalize: bool, level_weights: np.ndarray) -> np.ndarray:
        """What the products of each level are multiplied with, apart from norms."""
        if normalize:
            return level_weights
        return level_weights / [mean_square(squares) for squares in self.squares(counts)]

    def squares(self, counts: str) -> np.ndarray:
        """The sum of squared features of each level (rows) and training graph (columns)."""
        found = []
        for level, columns in zip(self.patterns.levels, self.columns, strict=True):
            values = mapped(columns.counts, counts)
            # each unit of an intersection is a feature of value one
            squares = values if counts == "intersection" else values**2
            patterns = np.bincount(level.groups, minlength=len(level.units) - 1)
            each = squares * patterns[columns.groups]
            found.append(np.bincount(columns.graphs, each, self.graphs))
        return np.array(found)


def _folded(level: PatternLevel, columns: GroupColumns, how: str, scaled: np.ndarray) -> np.ndarray:
    if how != "intersection":
        values = mapped(columns.counts, how)
        size = len(level.units) - 1
        return np.column_stack(
            [np.bincount(columns.groups, values * row[columns.graphs], size) for row in scaled]
        )
    units, graphs = unit_entries(level, columns)
    weights = np.column_stack([np.bincount(units, row[graphs], level.units[-1]) for row in scaled])
    return running_sums(level, weights)


def unit_entries(level: PatternLevel, columns: GroupColumns) -> tuple[np.ndarray, np.ndarray]:
    """Units and graphs of the entries of an intersection: a count of c has the first c units."""
    before = np.cumsum(columns.counts) - columns.counts
    units = np.arange(columns.counts.sum())
    units += np.repeat(level.units[columns.groups] - before, columns.counts)
    return units, np.repeat(columns.graphs, columns.counts)


def running_sums(level: PatternLevel, weights: np.ndarray) -> np.ndarray:
    """The weights of units, added up within each group."""
    most = level.most
    active = np.flatnonzero(most > 1)
    for unit in range(1, int(most.max(initial=0))):  # the second unit of all groups, the third, ...
        active = active[most[active] > unit]
        weights[level.units[active] + unit] += weights[level.units[active] + unit - 1]
    return weights


def without_zeros(members: Iterable[PatternWeights]) -> list[PatternWeights]:
    """The same machines without patterns that no machine gives any weight."""
    members = list(members)
    reduced: dict[int, tuple[Patterns, list[np.ndarray]]] = {}
    for member in members:
        patterns = member.patterns
        if id(patterns) in reduced:
            continue
        sharing = [other for other in members if other.patterns is patterns]
        depth = max(other.n_levels for other in sharing)
        kept_groups, levels = [], []
        for number, level in enumerate(patterns.levels[:depth]):
            used = np.zeros(len(level.units) - 1, dtype=bool)
            for other in sharing:
                if number < other.n_levels:
                    used |= _used(level, other.weights[number], other.counts)
            kept = used[level.groups]
            renumbered = (np.cumsum(used) - 1).astype(np.int32)
            levels.append(
                PatternLevel(
                    level.hashes[kept],
                    renumbered[level.groups[kept]],
                    np.concatenate(([0], np.cumsum(level.most[used]))),
                )
            )
            kept_groups.append(used)
        kernel = patterns.kernel
        if kernel.level_parameter is not None:
            kernel = clone(kernel).set_params(**{kernel.level_parameter: depth - 1})
        shown = Patterns(patterns.view, kernel, patterns.label_kind, levels)
        reduced[id(patterns)] = shown, kept_groups
    result = []
    for member in members:
        patterns, kept_groups = reduced[id(member.patterns)]
        weights = []
        for number, values in enumerate(member.weights):
            rows = kept_groups[number]
            if member.counts == "intersection":
                rows = np.repeat(rows, member.patterns.levels[number].most)
            weights.append(values[rows])
        rest = (member.counts, member.normalize, weights, member.intercept)
        result.append(
            PatternWeights(patterns, *rest, member.without_patterns, member.level_weights)
        )
    return result


def _used(level: PatternLevel, weights: np.ndarray, how: str) -> np.ndarray:
    """Which groups have any weight."""
    some = (weights != 0).any(axis=1)
    if how != "intersection" or not len(some):
        return some
    return np.logical_or.reduceat(some, level.units[:-1])
