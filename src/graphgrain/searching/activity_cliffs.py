"""Activity cliffs: pairs of graphs that are similar but differ in a measured value."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import GraphgrainWarning, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.files.molecules import MISSING
from ..graphs.isomorphism import duplicates
from ..graphs.tables import is_missing
from ..kernels.features import Features
from ..parameters import Number
from .graph_index import GraphIndex

if TYPE_CHECKING:
    from .similar_pairs import Pairs

Collection = GraphIndex | GraphBatch | Features
#: Graphs whose similarity is not less have the same patterns, up to rounding.
_SAME = 1.0 - 1e-12


class Cliffs(NamedTuple):
    """Pairs of similar graphs that differ in y, steepest first, as returned by :func:`pairs`.

    Attributes
    ----------
    first, second : int arrays
        Indices of the graphs of each pair.
    similarities : array
        Similarity of each pair, below 1.
    differences : array
        y of the second graph minus y of the first.
    steepness : array
        Absolute difference divided by the distance, 1 minus the similarity.
    same_patterns : Pairs
        Pairs that differ in y although they have the same patterns: the kernel cannot tell these
        graphs apart, so no steepness is defined.
    duplicates : list of lists of int
        Equal graphs that differ in y (repeated measurements). No pattern can explain the
        difference, so they are neither cliffs nor in ``same_patterns``.
    missing : int array
        Indices of the graphs without y, which are ignored.

    Examples
    --------
    >>> import graphgrain as gg
    >>> chains = [([(i, i + 1) for i in range(7)], list("CCCCCCC" + end)) for end in "NC"]
    >>> cliffs = gg.pairs(chains, 0.3, y=[4.0, 1.2])
    >>> cliffs.differences.tolist(), cliffs.steepness.tolist()
    ([-2.8], [5.6])
    """

    first: np.ndarray
    second: np.ndarray
    similarities: np.ndarray
    differences: np.ndarray
    steepness: np.ndarray
    same_patterns: Pairs
    duplicates: list[list[int]]
    missing: np.ndarray

    def __len__(self) -> int:
        return len(self.first)


def cliffs_among(
    similar: Pairs, collection: Collection, values: np.ndarray, min_difference: float
) -> Cliffs:
    """Return the pairs that differ by ``min_difference`` or more; see :class:`Cliffs`.

    Of features none are known to be duplicates.
    """
    if not Number(0.0).allows(min_difference):
        raise InvalidParameterError(f"min_difference must be above 0; got {min_difference!r}.")
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        warnings.warn(
            f"y is missing for {len(missing):,} of {len(values):,} graphs, which are left out.",
            GraphgrainWarning,
            stacklevel=3,
        )
    differences = values[similar.second] - values[similar.first]
    # Rounding must not exclude a pair that differs by exactly this much.
    with np.errstate(invalid="ignore"):
        far = np.abs(differences) >= min_difference * (1 - 1e-12)
    alike = far & (similar.similarities >= _SAME)
    groups = _equal_graphs(collection, np.union1d(similar.first[alike], similar.second[alike]))
    group: np.ndarray = np.arange(len(values))
    for graphs in groups:
        group[graphs] = graphs[0]
    alike &= group[similar.first] != group[similar.second]
    steep = np.flatnonzero(far & (similar.similarities < _SAME))
    steepness = np.abs(differences[steep]) / (1.0 - similar.similarities[steep])
    order = np.lexsort(
        (similar.second[steep], similar.first[steep], -np.abs(differences[steep]), -steepness)
    )
    rows = steep[order]
    if groups:
        warnings.warn(
            f"{sum(map(len, groups)):,} graphs are equal to others with a y that differs by "
            f"{min_difference:g} or more: measured twice? They are listed as duplicates, not as "
            "cliffs.",
            GraphgrainWarning,
            stacklevel=3,
        )
    return Cliffs(
        similar.first[rows],
        similar.second[rows],
        similar.similarities[rows],
        differences[rows],
        steepness[order],
        type(similar)(*(column[alike] for column in similar)),
        groups,
        missing,
    )


def numbers_of(collection: Collection, y: Any) -> np.ndarray:
    """Return y, or the column of an index with that name, as floats with NaN for missing values."""
    if isinstance(y, str) and isinstance(collection, GraphIndex):
        if y not in collection.column_names:
            names = ", ".join(collection.column_names) or "none"
            raise InvalidParameterError(f"The index has no column {y!r}; it has {names}.")
        y = collection._snapshot.column(y, collection._snapshot.live)
    try:
        items = [np.nan if is_missing(value) or _is_marked(value) else value for value in y]
        values = np.array(items, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            "y must be a number for each graph, NaN where it is missing; got "
            f"{str(y)[:60]}. Differences of classes have no size."
        ) from None
    if values.shape != (len(collection),):
        raise InvalidParameterError(
            f"y must have a number for each graph; got {len(values):,} for {len(collection):,} "
            "graphs."
        )
    if np.isinf(values).any():
        raise InvalidParameterError("y must be finite; got infinity.")
    return values


def _is_marked(value: Any) -> bool:
    """Return whether a text marks a missing value: columns of files are stored as text."""
    return isinstance(value, str) and value.strip() in MISSING


def _equal_graphs(collection: Collection, numbers: np.ndarray) -> list[list[int]]:
    """Return groups of equal graphs among those with some numbers."""
    if not len(numbers):
        return []
    if isinstance(collection, GraphIndex):
        graphs = collection._snapshot.select(collection._snapshot.live[numbers])
    else:
        graphs = collection[numbers]
    if isinstance(graphs, Features):
        return []
    return [numbers[group].tolist() for group in duplicates(graphs, attributes=True)]
