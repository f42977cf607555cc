"""The similarity of two graphs as a sum over the patterns that they share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch, counted
from ..graphs.convert.dispatch import as_graphs
from ..graphs.drawing.picture import Pictured, card, picture, picture_or_reason
from ..graphs.drawing.shapes import Picture
from ..kernels.bases.feature_kernel import FeatureKernel, check_explicit
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.features import Counts, Features, Occurrences, by_pattern
from .explainer import Found, shared_values
from .explanation import FoundLevel
from .sharing import check_share

#: Number of patterns shown in a notebook.
_PATTERNS = 8


@dataclass(frozen=True)
class SharedPattern:
    """A pattern of one or both of two compared graphs.

    Attributes
    ----------
    name : str
        Name of the pattern; SMARTS for molecules.
    share : float
        Fraction of the similarity due to the pattern, between 0 and 1.
    counts : tuple of two int
        Number of occurrences in each graph.
    occurrences : tuple of two lists of tuples
        Vertices of each occurrence, for each graph.

    Examples
    --------
    >>> import graphgrain as gg
    >>> ethanol, methanol = ([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])
    >>> pair = gg.compare(gg.VertexHistogram(), [ethanol], [methanol])
    >>> [(pattern.name, pattern.counts) for pattern in pair.shared(2)]
    [('C', (2, 1)), ('O', (1, 1))]
    """

    name: str
    share: float
    counts: tuple[int, int]
    occurrences: tuple[list[tuple[int, ...]], list[tuple[int, ...]]]


class ComparedLevel(NamedTuple):
    """Patterns of both graphs at one level of the kernel."""

    found: tuple[Occurrences, Occurrences]
    hashes: np.ndarray  # union over both graphs, ascending
    counts: np.ndarray  # (2, patterns)
    added: np.ndarray  # contribution of each pattern to the similarity


@dataclass(frozen=True, repr=False)
class Comparison(Pictured):
    """Patterns that two graphs share, and patterns that only one of them has.

    Returned by :func:`graphgrain.compare`. :meth:`to_svg` and :meth:`to_png` draw both graphs side
    by side, coloured by their contributions to the similarity, with common parts in the same
    orientation. ``width`` and ``height`` apply to each graph; ``which`` (0 or 1) draws only one.

    Attributes
    ----------
    similarity : float
        Value of the kernel.
    vertices : tuple of two arrays
        For each graph, the contribution of each vertex to the similarity. Each array sums to
        ``similarity``.
    edges : tuple of two arrays
        For each graph, one value per row of its ``edges``.
    graphs : GraphBatch
        The two graphs.
    kernel : FeatureKernel
        The fitted kernel.

    Examples
    --------
    >>> import graphgrain as gg
    >>> ethanol, methanol = ([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])
    >>> pair = gg.compare(gg.VertexHistogram(), [ethanol], [methanol])
    >>> round(pair.similarity, 4), pair.vertices[1].round(4).tolist()
    (0.9487, [0.6325, 0.3162])
    """

    similarity: float
    vertices: tuple[np.ndarray, np.ndarray]
    edges: tuple[np.ndarray, np.ndarray]
    graphs: GraphBatch
    kernel: FeatureKernel
    levels: list[ComparedLevel]

    def shared(self, n: int | None = None) -> list[SharedPattern]:
        """Return the n patterns (all if None) of both graphs, the largest contribution first."""
        return self._ranked(n, lambda level: (level.counts > 0).all(axis=0), lambda p: p.added)

    def only(self, which: int, n: int | None = None) -> list[SharedPattern]:
        """Return the patterns that only one graph (0 or 1) has, the most frequent first.

        Ties are ordered by level, because patterns missing at a low level are also missing at all
        higher ones.

        Parameters
        ----------
        which : {0, 1}
            The graph.
        n : int, optional
            Number of patterns; all by default.
        """
        if which not in (0, 1):
            raise InvalidParameterError(f"which must be 0 or 1; got {which!r}.")
        return self._ranked(
            n,
            lambda level: (level.counts[which] > 0) & (level.counts[1 - which] == 0),
            lambda level: level.counts[which],
        )

    def _ranked(self, n: int | None, chosen: Any, value: Any) -> list[SharedPattern]:
        places = [
            (-float(value(level)[place]), number, int(place))
            for number, level in enumerate(self.levels)
            for place in np.flatnonzero(chosen(level))
        ]
        return [self._pattern(number, place) for _, number, place in sorted(places)[:n]]

    def _pattern(self, number: int, place: int) -> SharedPattern:
        level = self.levels[number]
        code = level.hashes[place : place + 1]
        holder = int(level.counts[0, place] == 0)
        [name] = self.kernel.names_of(self.graphs[holder], number, code)
        return SharedPattern(
            name=name,
            share=float(level.added[place] / self.similarity) if self.similarity else 0.0,
            counts=(int(level.counts[0, place]), int(level.counts[1, place])),
            occurrences=(level.found[0].of(code), level.found[1].of(code)),
        )

    def _picture(self, *, which: int | None = None, **options: Any) -> Picture:
        if which not in (None, 0, 1):
            raise InvalidParameterError(f"which must be 0, 1 or None; got {which!r}.")
        limit = max(float(np.abs(values).max(initial=0.0)) for values in self.vertices)
        given: dict[str, Any] = {"limit": limit or None, "legend": False, **options}
        drawn = [
            picture(
                self.graphs[number],
                vertices=self.vertices[number],
                like=self.graphs[0] if number else None,
                **given,
            )
            for number in ((0, 1) if which is None else (which,))
        ]
        return drawn[0] if which is not None else drawn[0].beside(drawn[1])

    def __repr__(self) -> str:
        both = sum(int((level.counts > 0).all(axis=0).sum()) for level in self.levels)
        own = [
            sum(int((level.counts[n] > level.counts[1 - n]).sum()) for level in self.levels)
            for n in (0, 1)
        ]
        return (
            f"Comparison(similarity={self.similarity:.4f}, {counted(both, 'shared pattern')}, "
            f"the first has {own[0]} more often, the second {own[1]})"
        )

    def _repr_html_(self) -> str:
        values = {
            "similarity": self.similarity,
            "detail": f"{type(self.kernel).__name__}; stronger colours mean larger contributions",
            "pictures": [picture_or_reason(partial(self.to_svg, which=n)) for n in (0, 1)],
            "shared": self.shared(_PATTERNS),
            "own": [
                ("Only the first has", self.only(0, _PATTERNS)),
                ("Only the second has", self.only(1, _PATTERNS)),
            ],
        }
        return card("graphgrain.explaining", "parts.html", "comparison", values)


def compare(kernel: GraphKernel, a: Any, b: Any, *, share: str = "tree") -> Comparison:
    """Explain why two graphs are similar and where they differ.

    Parameters
    ----------
    kernel : kernel with explicit features
        Fitted or not; an unfitted kernel is fitted to the two graphs.
    a, b : GraphBatch or list with one graph each
    share : {"path", "tree"}, default="tree"
        How contributions of patterns are distributed over vertices; see :func:`explain`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import graphgrain as gg
    >>> ethanol, methanol = ([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])
    >>> pair = gg.compare(gg.TreePlusPlus(2, 0), [ethanol], [methanol])
    >>> pair
    Comparison(similarity=0.6931, 3 shared patterns, the first has 3 more often, the second 0)
    >>> [(pattern.name, pattern.counts) for pattern in pair.shared(1)]
    [('C->O', (2, 2))]
    >>> pair.only(0, 1)[0].name
    'C->C'
    """
    check_share(share)
    explicit = check_explicit(kernel, "compare")
    pair = [as_graphs(a), as_graphs(b)]
    for batch in pair:
        if len(batch) != 1:
            raise InvalidGraphError(f"compare looks at two graphs; got {len(batch)} on one side.")
    graphs = GraphBatch.concatenate(pair)
    fitted = explicit if hasattr(kernel, "n_graphs_") else clone(explicit).fit(graphs)
    each = zip((graphs[0], graphs[1]), fitted.locate_each(graphs), strict=True)
    found = [Found.of(fitted, graph, located) for graph, located in each]
    similarity, added = _contributions(fitted, [own.counted for own in found])
    sides = [
        own.levels(parts, [part != 0 for part in parts])
        for own, parts in zip(found, added, strict=True)
    ]
    shared = [shared_values(own.seen, side, share) for own, side in zip(found, sides, strict=True)]
    return Comparison(
        similarity,
        (shared[0][0], shared[1][0]),
        (shared[0][1], shared[1][1]),
        graphs,
        fitted,
        [_compared(*levels) for levels in zip(*sides, strict=True)],
    )


def _contributions(
    kernel: FeatureKernel, counts: list[list[Counts]]
) -> tuple[float, list[list[np.ndarray]]]:
    """Return the similarity of two graphs, and what each pattern of each graph adds to it."""
    rows = [
        Features(own, whole=False).mapped(kernel.counts).scaled(kernel.level_scales)
        for own in counts
    ]
    [[similarity]] = rows[0].similarities(kernel.similarity, rows[1])
    overlaps = []
    for first, second in zip(rows[0].levels, rows[1].levels, strict=True):
        _, left, right = np.intersect1d(
            first.hashes, second.hashes, assume_unique=True, return_indices=True
        )
        both = np.minimum if kernel.similarity == "minmax" else np.multiply
        common = both(first.counts[left], second.counts[right]).astype(np.float64)
        overlaps.append((common, left, right))
    total = sum(float(common.sum()) for common, *_ in overlaps)
    factor = similarity / total if total else 0.0
    added: list[list[np.ndarray]] = []
    for side in (0, 1):
        parts = []
        for level, (common, *places) in zip(rows[side].levels, overlaps, strict=True):
            part = np.zeros(len(level.hashes))
            part[places[side]] = factor * common
            parts.append(part)
        added.append(by_pattern(parts, counts[side], kernel.counts))
    return float(similarity), added


def _compared(first: FoundLevel, second: FoundLevel) -> ComparedLevel:
    hashes = np.union1d(first.tally.hashes, second.tally.hashes)
    counts, added = np.zeros((2, len(hashes)), dtype=np.int64), np.zeros(len(hashes))
    for row, level in enumerate((first, second)):
        place = np.searchsorted(hashes, level.tally.hashes)
        counts[row, place] = level.tally.times
        added[place] = level.contributions  # of a shared pattern the same in both
    return ComparedLevel((first.found, second.found), hashes, counts, added)
