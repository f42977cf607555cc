"""Activity cliffs: pairs of graphs that are similar but differ in a measured value."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import GraphgrainWarning, InvalidParameterError
from ..explaining.comparison import Comparison, compare
from ..graphs.batch import GraphBatch, counted
from ..graphs.convert.dispatch import as_graphs
from ..graphs.drawing.layout import shared_part
from ..graphs.files.molecules import MISSING
from ..graphs.isomorphism import duplicates
from ..graphs.tables import is_missing
from ..kernels.bases.feature_kernel import FeatureKernel
from ..parameters import Number
from .graph_index import GraphIndex, check_kernel, default_kernel
from .index_files import Snapshot
from .similar_pairs import Pairs, pairs


class Cliff(NamedTuple):
    """A pair of similar graphs that differ in y.

    Attributes
    ----------
    first, second : int
        Indices of the graphs.
    similarity : float
        Similarity of the graphs.
    difference : float
        y of the second graph minus y of the first.
    steepness : float
        Absolute difference divided by the distance, 1 minus the similarity.

    Examples
    --------
    >>> import graphgrain as gg
    >>> chains = [([(i, i + 1) for i in range(7)], list("CCCCCCC" + end)) for end in "NC"]
    >>> gg.cliffs(chains, [4.0, 1.2], min_similarity=0.3)[0]
    Cliff(first=0, second=1, similarity=0.5, difference=-2.8, steepness=5.6)
    """

    first: int
    second: int
    similarity: float
    difference: float
    steepness: float


@dataclass(frozen=True, repr=False)
class Cliffs:
    """Pairs of similar graphs that differ in y, steepest first, as returned by :func:`cliffs`.

    Attributes
    ----------
    cliffs : list of Cliff
        The pairs.
    counts : int array
        Number of cliffs that each graph is part of.
    duplicates : list of lists of int
        Equal graphs whose y differ by at least ``min_difference`` (repeated measurements). No
        pattern can explain the difference, so they do not count as cliffs.
    missing : int array
        Indices of the graphs without y, which are ignored.
    y : float array
        Measured value of each graph.
    kernel : kernel
        The kernel that was used to compare graphs.

    Examples
    --------
    >>> import graphgrain as gg
    >>> chains = [([(i, i + 1) for i in range(7)], list("CCCCCCC" + end)) for end in "NC"]
    >>> found = gg.cliffs(chains, [4.0, 1.2], min_similarity=0.3)
    >>> found, found.counts.tolist()
    (Cliffs(1 pair of 2 graphs), [1, 1])
    """

    cliffs: list[Cliff]
    counts: np.ndarray
    duplicates: list[list[int]]
    missing: np.ndarray
    y: np.ndarray
    kernel: FeatureKernel
    _graphs: Snapshot | GraphBatch = field(repr=False)

    def __len__(self) -> int:
        return len(self.cliffs)

    def __getitem__(self, number: int) -> Cliff:
        return self.cliffs[number]

    def __repr__(self) -> str:
        graphs = int((self.counts > 0).sum())
        return f"Cliffs({counted(len(self), 'pair')} of {graphs:,} graphs)"

    def graphs(self, number: int) -> GraphBatch:
        """Return the two graphs of a cliff."""
        return self._graphs[list(self.cliffs[number][:2])]

    def compare(self, number: int) -> Comparison:
        """Compare the patterns of the two graphs of a cliff."""
        pair = self.graphs(number)
        return compare(self.kernel, pair[:1], pair[1:])

    def changed(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices of both graphs of a cliff outside their common part."""
        pair = self.graphs(number)
        common = shared_part(pair[:1], pair[1:])
        first, second = pair.vertex_counts.tolist()
        return (
            np.setdiff1d(np.arange(first), common[:, 0]),
            np.setdiff1d(np.arange(second), common[:, 1]),
        )


def cliffs(
    graphs: Any,
    y: Any,
    min_similarity: float = 0.8,
    min_difference: float = 1.0,
    *,
    kernel: FeatureKernel | None = None,
    similarity: str | None = None,
    similar: Pairs | None = None,
    n_jobs: int | None = None,
) -> Cliffs:
    """Find activity cliffs: pairs of graphs that are similar but differ in y.

    Parameters
    ----------
    graphs : GraphIndex, or anything that :func:`as_graphs` accepts
    y : array-like, or str for an index
        Measured value of each graph, NaN or None if missing; or the name of a column of the index.
    min_similarity, kernel, similarity, n_jobs
        As in :func:`pairs`.
    min_difference : float, default=1.0
        Minimum difference in y, above 0. For decadic logarithms of activities, 1 is a factor of
        ten.
    similar : Pairs, optional
        Pairs to use instead of those found by the kernel, for example by another similarity.

    Returns
    -------
    found : Cliffs
        The cliffs, steepest first. ``found.compare(0)`` compares the patterns of the first pair,
        and ``found.changed(0)`` returns the vertices that differ.

    Warns
    -----
    GraphgrainWarning
        If equal graphs have different y (repeated measurements, see ``found.duplicates``), or if
        y is missing for some graphs.

    See Also
    --------
    pairs : Find all pairs of similar graphs.
    changes : Find replacements in pairs that differ in one place, and how they change y.
    compare : Compare the patterns of two graphs.

    References
    ----------
    Maggiora: On Outliers and Activity Cliffs: Why QSAR Often Disappoints. Journal of Chemical
    Information and Modeling 46, 2006.

    Examples
    --------
    >>> import graphgrain as gg
    >>> chains = [([(i, i + 1) for i in range(7)], list("CCCCCCC" + end)) for end in "ONC"]
    >>> found = gg.cliffs(chains, [1.0, 4.0, 1.2], min_similarity=0.3, min_difference=2)
    >>> found
    Cliffs(2 pairs of 3 graphs)
    >>> found[0].first, found[0].second, round(found[0].difference, 1)
    (1, 2, -2.8)
    >>> found.counts.tolist(), [part.tolist() for part in found.changed(0)]
    ([1, 2, 1], [[7], [7]])
    """
    if isinstance(graphs, GraphIndex):
        source: Snapshot | GraphBatch = graphs._snapshot  # numbers refer to its present state
        used = graphs.kernel
    else:
        source = graphs = as_graphs(graphs)
        used = default_kernel(graphs) if kernel is None else check_kernel(kernel)
    values = numbers_of(source, y)
    count = len(values)
    if not Number(0.0).allows(min_difference):
        raise InvalidParameterError(f"min_difference must be above 0; got {min_difference!r}.")
    if similar is None:
        found = pairs(graphs, min_similarity, kernel=kernel, similarity=similarity, n_jobs=n_jobs)
    else:
        first, second, similarities = similar
        found = Pairs(np.asarray(first, int), np.asarray(second, int), np.asarray(similarities))
    numbers = np.concatenate(found[:2])
    for number in numbers[(numbers < 0) | (numbers >= count)][:1]:
        raise InvalidParameterError(
            f"similar must hold pairs of these {count:,} graphs; it has number {number:,}."
        )
    missing = np.flatnonzero(np.isnan(values))
    warn_of_missing(len(missing), count)
    difference = values[found.second] - values[found.first]
    # Rounding must not exclude a pair that differs by exactly this much.
    with np.errstate(invalid="ignore"):
        far = np.flatnonzero(np.abs(difference) >= min_difference * (1 - 1e-12))
    groups = _measured_twice(source, found.first[far], found.second[far], found.similarities[far])
    twin = {graph: number for number, group in enumerate(groups) for graph in group}
    listed = []
    for a, b, value, step in zip(
        *(each[far].tolist() for each in (*found, difference)), strict=True
    ):
        if a in twin and twin[a] == twin.get(b):
            continue
        steep = abs(step) / (1.0 - value) if value < 1.0 else np.inf
        listed.append(Cliff(a, b, value, step, steep))
    listed.sort(key=lambda cliff: (-cliff.steepness, -abs(cliff.difference), cliff[:2]))
    if groups:
        warnings.warn(
            f"{sum(map(len, groups)):,} graphs are equal to others with a y that differs by "
            f"{min_difference:g} or more: measured twice? They are listed as duplicates, not as "
            "cliffs.",
            GraphgrainWarning,
            stacklevel=2,
        )
    places = np.array([cliff[:2] for cliff in listed], dtype=np.int64).ravel()
    counts = np.bincount(places, minlength=count)
    return Cliffs(listed, counts, groups, missing, values, used, source)


def numbers_of(source: Snapshot | GraphBatch, y: Any) -> np.ndarray:
    """Return y, or the column of an index with that name, as floats with NaN for missing values."""
    if isinstance(y, str) and isinstance(source, Snapshot):
        if y not in source.column_names:
            names = ", ".join(source.column_names) or "none"
            raise InvalidParameterError(f"The index has no column {y!r}; it has {names}.")
        y = source.column(y, source.live)
    try:
        items = [np.nan if is_missing(value) or _is_marked(value) else value for value in y]
        values = np.array(items, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            "y must be a number for each graph, NaN where it is missing; got "
            f"{str(y)[:60]}. Differences of classes have no size."
        ) from None
    if values.shape != (len(source),):
        raise InvalidParameterError(
            f"y must have a number for each graph; got {len(values):,} for {len(source):,} graphs."
        )
    if np.isinf(values).any():
        raise InvalidParameterError("y must be finite; got infinity.")
    return values


def _is_marked(value: Any) -> bool:
    """Return whether a text marks a missing value: columns of files are stored as text."""
    return isinstance(value, str) and value.strip() in MISSING


def warn_of_missing(missing: int, count: int) -> None:
    if missing:
        warnings.warn(
            f"y is missing for {missing:,} of {count:,} graphs, which are left out.",
            GraphgrainWarning,
            stacklevel=3,
        )


def _measured_twice(
    source: Snapshot | GraphBatch,
    first: np.ndarray,
    second: np.ndarray,
    similarities: np.ndarray,
) -> list[list[int]]:
    """Return groups of equal graphs among pairs of similarity 1."""
    same = similarities >= 1.0 - 1e-12
    chosen = np.union1d(first[same], second[same])
    if not len(chosen):
        return []
    groups = duplicates(source[chosen], attributes=True)
    return [[int(chosen[number]) for number in group] for group in groups]
