"""PatternWeights: a fitted kernel machine as a weight for each pattern.

With explicit features every kernel machine is linear. Its value for a graph x is the sum over the
training graphs i of ``coefficient[i] * <features of i, features of x>`` plus an intercept, so that
the coefficients can be folded into one weight per pattern, and the training graphs are not needed
any more:

1. Patterns that have the same counts in the same training graphs always get the same weight. They
   form a group; on molecules there are twenty times as many patterns as groups. Grouping is done
   once for all machines that look at the same patterns (:class:`Patterns`).
2. The weight of a group is the sum of ``coefficient[i] * f(count in i)`` over its training graphs,
   where f is the count map. For a normalised kernel, graph i is divided by its norm.
3. An intersection counts in units: "occurs at least t times" is a feature for each t. A group then
   has a running sum of weights, of which a count of c takes the first c.
4. The value of a new graph is the sum of ``weight * f(count)`` over its known patterns, divided by
   its norm if the kernel is normalised, in which all of its patterns count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..core.counting import find_columns, group_hashes
from ..core.hashing import GOLDEN, mix_array
from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.features import Counts, FeatureKernel, map_counts, squared_norms
from ..views.base import seen_through


class PatternLevel(NamedTuple):
    """The patterns of one level of a kernel that the training graphs have.

    Attributes
    ----------
    hashes : array of uint64, ascending
    groups : array of int32
        The group of each pattern.
    most : array of int64
        For each group, how often its patterns occur in a training graph at most.
    """

    hashes: np.ndarray
    groups: np.ndarray
    most: np.ndarray

    @property
    def first_units(self) -> np.ndarray:
        """Where the units of each group begin when groups are written one after the other."""
        return np.cumsum(self.most) - self.most


class GroupColumns(NamedTuple):
    """The counts of each group in the training graphs, needed to fold and not after that."""

    groups: np.ndarray
    graphs: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class Patterns:
    """The patterns that some machines share: one view, one way to count, all levels.

    Attributes
    ----------
    view : fitted view or None
    kernel : FeatureKernel
        Counts the patterns; it holds parameters alone.
    label_kind : str
        Of the training graphs' vertex labels.
    levels : list of PatternLevel
    """

    view: Any
    kernel: FeatureKernel
    label_kind: str
    levels: list[PatternLevel]

    def count(self, batch: GraphBatch) -> list[Counts]:
        """The patterns of new graphs, as the view shows them."""
        seen = seen_through(self.view, batch)
        if seen.n_vertices and seen.label_kind != self.label_kind:
            raise InvalidGraphError(
                f"The graphs must have labels of the kind seen at fit ({self.label_kind}); got "
                f"{seen.label_kind}. Convert them with GraphBatch.with_labels."
            )
        return self.kernel.count_features(seen)


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
    columns = GroupColumns(np.repeat(np.arange(len(first)), lengths), graphs[places], of_groups)
    return PatternLevel(hashes, groups.reshape(-1).astype(np.int32), most), columns


class PatternWeights:
    """A kernel machine as weights on patterns.

    Parameters
    ----------
    patterns : Patterns
        What the weights belong to; other machines may share it.
    counts : str
        The count map, as in :class:`TreePlusPlus`.
    normalize : bool
        Whether graphs are divided by their norm.
    weights : list of arrays of shape (groups, outputs), or (units, outputs)
        One for each level that takes part. For ``counts="intersection"`` there is a row for each
        unit of each group, running sums within the group.
    intercept : array of shape (outputs,)
    without_patterns : array of shape (outputs,), optional
        What graphs without any pattern get beside the intercept if ``normalize``.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> model = gg.TreePlusPlusClassifier(3, 1, committee=1).fit(graphs, y == "opioids")
    >>> [weights] = model.pattern_weights_
    >>> weights
    PatternWeights(TreePlusPlus(path_depth=3, tree_depth=1), 1,294 patterns)
    >>> bool((weights.decision_values(graphs)[:, 0] == model.decision_function(graphs)).all())
    True
    """

    def __init__(
        self,
        patterns: Patterns,
        counts: str,
        normalize: bool,
        weights: list[np.ndarray],
        intercept: np.ndarray,
        without_patterns: np.ndarray | None = None,
    ) -> None:
        self.patterns = patterns
        self.counts = counts
        self.normalize = normalize
        self.weights = weights
        self.intercept = intercept
        self.without_patterns = (
            np.zeros_like(intercept) if without_patterns is None else without_patterns
        )

    def __repr__(self) -> str:
        sizes = sum(len(level.hashes) for level in self.patterns.levels[: self.n_levels])
        return f"PatternWeights({self.kernel!r}, {sizes:,} patterns)"

    @property
    def n_levels(self) -> int:
        """How many levels of the kernel take part."""
        return len(self.weights)

    @property
    def n_outputs(self) -> int:
        """How many values a graph gets."""
        return len(self.intercept)

    @property
    def view(self) -> Any:
        """The fitted view in front of the kernel, or None."""
        return self.patterns.view

    @property
    def kernel(self) -> FeatureKernel:
        """The kernel with its parameters; it is not fitted to any graphs."""
        kernel = clone(self.patterns.kernel)
        own = {"counts": self.counts, "normalize": self.normalize}
        level = kernel.level_parameter
        depth = {} if level is None else {level: self.n_levels - 1}
        return kernel.set_params(**own, **depth)

    def contributions(self, level: int, hashes: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """What patterns with these counts add to the values of a graph, before any division.

        Parameters
        ----------
        level : int
        hashes : array of uint64
        counts : array of int
            How often each pattern occurs in the graph, as it was counted.

        Returns
        -------
        array of shape (patterns, outputs); zeros for patterns that no training graph had
        """
        table = self.patterns.levels[level]
        return self._added(level, find_columns(hashes, table.hashes), counts)

    def _added(self, level: int, columns: np.ndarray, counts: np.ndarray) -> np.ndarray:
        table, weights = self.patterns.levels[level], self.weights[level]
        known = np.flatnonzero(columns >= 0)
        groups, counts = table.groups[columns[known]], counts[known]
        added = np.zeros((len(columns), self.n_outputs))
        if self.counts == "intersection":
            units = table.first_units[groups] + np.minimum(counts, table.most[groups]) - 1
            added[known] = weights[units]
        else:
            added[known] = mapped(counts, self.counts)[:, np.newaxis] * weights[groups]
        return added

    def decision_values(self, X: Any) -> np.ndarray:
        """The values of graphs, of shape (graphs, outputs).

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
        """
        [values] = decision_values([self], X)
        return values


def decision_values(members: Sequence[PatternWeights], X: Any) -> list[np.ndarray]:
    """The values of graphs by each of several machines; shared patterns are counted once."""
    batch = as_graphs(X)
    counted: dict[int, tuple[list[Counts], list[np.ndarray]]] = {}
    for member in members:
        patterns = member.patterns
        if id(patterns) not in counted:
            levels = patterns.count(batch)[: len(patterns.levels)]
            columns = [
                find_columns(level.hashes, table.hashes)
                for level, table in zip(levels, patterns.levels, strict=True)
            ]
            counted[id(patterns)] = levels, columns
    return [_values(member, len(batch), *counted[id(member.patterns)]) for member in members]


def _values(
    member: PatternWeights, graphs: int, levels: list[Counts], columns: list[np.ndarray]
) -> np.ndarray:
    values = np.zeros((graphs, member.n_outputs))
    squares = np.zeros(graphs)
    for number in range(member.n_levels):
        level = levels[number]
        rows = np.repeat(np.arange(graphs), level.lengths)
        added = member._added(number, columns[number], level.counts)
        for output in range(member.n_outputs):
            values[:, output] += np.bincount(rows, added[:, output], minlength=graphs)
        if member.normalize:
            squares += _squares(level, member.counts)
    if member.normalize:
        some = squares > 0
        values[some] /= np.sqrt(squares[some])[:, np.newaxis]
        values[~some] = member.without_patterns
    return values + member.intercept


def mapped(counts: np.ndarray, how: str) -> np.ndarray:
    """Counts after the map; for an intersection this is the number of units."""
    if how in ("raw", "intersection"):
        return counts.astype(np.float64)
    level = Counts(np.array([len(counts)]), np.zeros(0, dtype=np.uint64), counts)
    return map_counts(level, how).counts


def _squares(level: Counts, how: str) -> np.ndarray:
    """The sum of squared features of each graph."""
    values = mapped(level.counts, how)
    # each unit of an intersection is a feature of value one
    return squared_norms(
        level._replace(counts=np.sqrt(values) if how == "intersection" else values)
    )


class Folding:
    """Folds machines that look at the same patterns into weights.

    Parameters
    ----------
    view : fitted view or None
    kernel : FeatureKernel
        Counts the patterns; only its parameters matter.
    label_kind : str
        Of the training graphs as the view shows them.
    counted : list of Counts
        What ``kernel.count_features`` gave for them.
    """

    def __init__(
        self, view: Any, kernel: FeatureKernel, label_kind: str, counted: Sequence[Counts]
    ) -> None:
        parts = [group_patterns(level) for level in counted]
        self.patterns = Patterns(view, kernel, label_kind, [level for level, _ in parts])
        self.columns = [columns for _, columns in parts]
        self.counted = counted

    def fold(
        self,
        counts: str,
        normalize: bool,
        n_levels: int,
        coefficients: np.ndarray,
        intercept: np.ndarray,
    ) -> PatternWeights:
        """Weights from the coefficients of the training graphs, of shape (outputs, graphs)."""
        scaled = np.atleast_2d(coefficients).astype(np.float64)
        intercept = np.atleast_1d(intercept).astype(np.float64)
        without = np.zeros(len(scaled))
        if normalize:
            squares = np.sum([_squares(level, counts) for level in self.counted[:n_levels]], axis=0)
            without = scaled[:, squares == 0].sum(axis=1)
            scaled = scaled / np.sqrt(np.where(squares > 0, squares, 1.0))
        levels = zip(self.patterns.levels[:n_levels], self.columns[:n_levels], strict=True)
        weights = [_folded(level, columns, counts, scaled) for level, columns in levels]
        return PatternWeights(self.patterns, counts, normalize, weights, intercept, without)


def _folded(level: PatternLevel, columns: GroupColumns, how: str, scaled: np.ndarray) -> np.ndarray:
    if how != "intersection":
        values = mapped(columns.counts, how)
        return np.column_stack(
            [
                np.bincount(columns.groups, values * of_output[columns.graphs], len(level.most))
                for of_output in scaled
            ]
        )
    # An entry with a count of c adds to the first c units of its group.
    first = level.first_units
    before = np.cumsum(columns.counts) - columns.counts
    ramp = np.arange(columns.counts.sum()) - np.repeat(before, columns.counts)
    units = np.repeat(first[columns.groups], columns.counts) + ramp
    graphs = np.repeat(columns.graphs, columns.counts)
    size = int(level.most.sum())
    weights = np.column_stack([np.bincount(units, row[graphs], size) for row in scaled])
    # Running sums within each group: the second unit of all groups, the third of all, ...
    active = np.flatnonzero(level.most > 1)
    for unit in range(1, int(level.most.max(initial=0))):
        active = active[level.most[active] > unit]
        weights[first[active] + unit] += weights[first[active] + unit - 1]
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
            used = np.zeros(len(level.most), dtype=bool)
            for other in sharing:
                if number < other.n_levels:
                    used |= _used(level, other.weights[number], other.counts)
            kept = used[level.groups]
            renumbered = (np.cumsum(used) - 1).astype(np.int32)
            levels.append(
                PatternLevel(level.hashes[kept], renumbered[level.groups[kept]], level.most[used])
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
        result.append(PatternWeights(patterns, *rest, member.without_patterns))
    return result


def _used(level: PatternLevel, weights: np.ndarray, how: str) -> np.ndarray:
    """Which groups have any weight."""
    some = (weights != 0).any(axis=1)
    if how != "intersection" or not len(level.most):
        return some
    return np.logical_or.reduceat(some, level.first_units)
