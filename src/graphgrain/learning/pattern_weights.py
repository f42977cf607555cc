"""PatternWeights: a fitted kernel machine as a weight for each pattern.

With explicit features every kernel machine is linear. Its value for a graph x is the sum over the
training graphs i of ``coefficient[i] * <features of i, features of x>`` plus an intercept, so that
the coefficients can be folded into one weight per pattern, and the training graphs are not needed
any more:

1. Patterns that have the same counts in the same training graphs always get the same weight. They
   form a group; on molecules there are twenty times as many patterns as groups. Grouping is done
   once for all machines that look at the same patterns (:class:`Patterns`).
2. A group has one weight. With ``counts="intersection"``, where "occurs at least t times" is a
   feature for each t, it has a running sum of weights, of which a count of c takes the first c.
3. The value of a new graph is the sum of ``weight * f(count)`` over its known patterns, divided by
   its norm if the kernel is normalised, in which all of its patterns count. Where levels have
   weights of their own, each level is divided by its own norm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..core.counting import find_columns
from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts, map_counts, squared_norms
from ..views.base import seen_through


class PatternLevel(NamedTuple):
    """The patterns of one level of a kernel that the training graphs have.

    Attributes
    ----------
    hashes : array of uint64, ascending
    groups : array of int32
        The group of each pattern.
    units : array of int64
        Group g has the units ``units[g]`` to ``units[g + 1]``: as many as its patterns occur in
        a training graph at most.
    """

    hashes: np.ndarray
    groups: np.ndarray
    units: np.ndarray

    @property
    def most(self) -> np.ndarray:
        """For each group, how often its patterns occur in a training graph at most."""
        return np.diff(self.units)


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

    def count(self, batch: GraphBatch, n_jobs: int | None = None) -> list[Counts]:
        """The patterns of new graphs, as the view shows them."""
        seen = seen_through(self.view, batch)
        if seen.n_vertices and seen.label_kind != self.label_kind:
            raise InvalidGraphError(
                f"The graphs must have labels of the kind seen at fit ({self.label_kind}); got "
                f"{seen.label_kind}. Convert them with GraphBatch.with_labels."
            )
        kernel = self.kernel if n_jobs is None else clone(self.kernel).set_params(n_jobs=n_jobs)
        return kernel.count_features(seen)


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
    level_weights : array, optional
        How much each level counts, where that was learnt; ``weights`` are multiplied by it
        already. With ``normalize`` each level of a graph is then divided by its own norm.

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
        level_weights: np.ndarray | None = None,
    ) -> None:
        self.patterns = patterns
        self.counts = counts
        self.normalize = normalize
        self.weights = weights
        self.intercept = intercept
        self.without_patterns = (
            np.zeros_like(intercept) if without_patterns is None else without_patterns
        )
        self.level_weights = level_weights

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
    def divides_levels(self) -> bool:
        """Whether each level of a graph is divided by its own norm."""
        return self.normalize and self.level_weights is not None

    @property
    def view(self) -> Any:
        """The fitted view in front of the kernel, or None."""
        return self.patterns.view

    @property
    def kernel(self) -> FeatureKernel:
        """The kernel with its parameters, not fitted to any graphs, which adds levels plainly."""
        kernel = clone(self.patterns.kernel)
        own: dict[str, Any] = {
            "counts": self.counts,
            "similarity": "cosine" if self.normalize else "dot",
        }
        if kernel.level_parameter is not None:
            own[kernel.level_parameter] = self.n_levels - 1
        known = kernel.get_params()  # a kernel may have one count map and no parameter for it
        return kernel.set_params(**{name: own[name] for name in own if name in known})

    def in_units(self, factors: np.ndarray, shifts: np.ndarray) -> PatternWeights:
        """The same machine with each output multiplied by its factor, then shifted."""
        return PatternWeights(
            self.patterns,
            self.counts,
            self.normalize,
            [weights * factors for weights in self.weights],
            self.intercept * factors + shifts,
            self.without_patterns * factors,
            self.level_weights,
        )

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
        columns = find_columns(hashes, table.hashes)
        known = np.flatnonzero(columns >= 0)
        added = np.zeros((len(columns), self.n_outputs))
        added[known] = self._weighted(level, table.groups[columns[known]], counts[known])
        return added

    def _weighted(self, level: int, groups: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """What patterns of these groups add, of shape (patterns, outputs)."""
        weights = self.weights[level]
        if self.counts == "intersection":
            units = self.patterns.levels[level].units
            return weights[np.minimum(units[groups] + counts, units[groups + 1]) - 1]
        return mapped(counts, self.counts)[:, np.newaxis] * weights[groups]

    def decision_values(self, X: Any) -> np.ndarray:
        """The values of graphs, of shape (graphs, outputs).

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
        """
        [values] = decision_values([self], X)
        return values


def decision_values(
    members: Sequence[PatternWeights], X: Any, n_jobs: int | None = None
) -> list[np.ndarray]:
    """The values of graphs by each of several machines; shared patterns are counted once."""
    batch = as_graphs(X)
    counted: dict[int, _Counted] = {}
    for member in members:
        if id(member.patterns) not in counted:
            counted[id(member.patterns)] = _Counted(member.patterns, batch, n_jobs)
    return [counted[id(member.patterns)].values(member) for member in members]


class _Counted:
    """The known patterns of new graphs, level by level, for all machines that look at them."""

    def __init__(self, patterns: Patterns, batch: GraphBatch, n_jobs: int | None) -> None:
        self.graphs = len(batch)
        self.levels = patterns.count(batch, n_jobs)[: len(patterns.levels)]
        self.known = []
        for level, table in zip(self.levels, patterns.levels, strict=True):
            columns = find_columns(level.hashes, table.hashes)
            known = np.flatnonzero(columns >= 0)
            rows = np.repeat(np.arange(self.graphs), level.lengths)[known]
            self.known.append((rows, table.groups[columns[known]], level.counts[known]))
        self._squares: dict[str, np.ndarray] = {}

    def squares(self, how: str) -> np.ndarray:
        """The sum of squared features of each graph at each level."""
        if how not in self._squares:
            self._squares[how] = np.array([squares_of(level, how) for level in self.levels])
        return self._squares[how]

    def values(self, member: PatternWeights) -> np.ndarray:
        """The values of one machine, of shape (graphs, outputs)."""
        values = np.zeros((self.graphs, member.n_outputs))
        for number in range(member.n_levels):
            rows, groups, counts = self.known[number]
            added = member._weighted(number, groups, counts)
            if member.divides_levels:
                added /= np.sqrt(self.squares(member.counts)[number][rows])[:, np.newaxis]
            for output in range(member.n_outputs):
                values[:, output] += np.bincount(rows, added[:, output], self.graphs)
        if member.normalize:
            squares = self.squares(member.counts)[: member.n_levels].sum(axis=0)
            some = squares > 0
            if not member.divides_levels:
                values[some] /= np.sqrt(squares[some])[:, np.newaxis]
            values[~some] = member.without_patterns
        return values + member.intercept


def mapped(counts: np.ndarray, how: str) -> np.ndarray:
    """Counts after the map; for an intersection this is the number of units."""
    if how in ("raw", "intersection"):
        return counts.astype(np.float64)
    level = Counts(np.array([len(counts)]), np.zeros(0, dtype=np.uint64), counts)
    return map_counts(level, how).counts


def squares_of(level: Counts, how: str) -> np.ndarray:
    """The sum of squared features of each graph."""
    values = mapped(level.counts, how)
    # each unit of an intersection is a feature of value one
    return squared_norms(
        level._replace(counts=np.sqrt(values) if how == "intersection" else values)
    )
