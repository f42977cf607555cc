"""Machine: a fitted kernel model whose output is a sum over the patterns of a graph.

The kernel is a sum of terms. The output for a graph x is the sum over terms and training graphs i
of ``coefficient[i] * scale * similarity(x, i)``, plus an intercept. Each similarity decomposes into
contributions of the patterns p of x:

dot
    ``x_p * w_p``, where the weight w_p is the sum of ``coefficient[i] * i_p``.
cosine
    The same with graph i divided by its norm, and the result divided by the norm of x.
minmax
    The sum over i of ``coefficient[i] * min(x_p, i_p) / m_i``, where m_i is the sum of the maxima
    of x and i. This requires the features of the training graphs.

Terms of kernels without features, and of columns beside the graphs, are not sums over patterns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core.counting import find_columns
from ..core.gram import GramSum, add_minima, minima_by_column
from ..core.similarity import row_sums
from ..core.triangle import Triangle, require_triangle
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.features import Counts, FeatureColumns, Features
from .columns import ColumnSimilarity, ColumnTerm
from .solver import LANDMARKS
from .terms import Source as Source
from .terms import Term as Term

#: Number of rows of a triangle that are computed together.
ROWS = 256


@dataclass(frozen=True, eq=False)
class _PatternSum(ABC):
    """A term whose value for a graph is a sum over the patterns of the graph.

    In all methods, ``coefficients`` has the shape (outputs, training graphs), and ``levels`` are
    the raw counts of one graph.
    """

    term: Term

    def __getstate__(self) -> dict[str, Any]:
        return {own.name: self.__dict__[own.name] for own in fields(self)}

    @property
    @abstractmethod
    def patterns(self) -> list[np.ndarray]:
        """Sorted hashes of the patterns of the training graphs, for each level."""

    @abstractmethod
    def weights_for(self, coefficients: np.ndarray) -> np.ndarray:
        """Return pattern weights (patterns, outputs), for dot product and cosine."""

    @abstractmethod
    def without_patterns(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the value of a graph without any patterns."""

    def values(
        self, features: Features, coefficients: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """Return the values of graphs, (graphs, outputs)."""
        prepared, weights = self.term.prepare(features), self.weights_for(coefficients)
        graphs = len(prepared)
        result = np.zeros((graphs, weights.shape[1]))
        parts = zip(prepared.levels, self.patterns, self._offsets, strict=False)
        for level, known, offset in parts:
            place = find_columns(level.hashes, known)
            there = np.flatnonzero(place >= 0)
            rows = level.rows[there]
            own = weights[offset + place[there]]
            for output in range(weights.shape[1]):
                result[:, output] += np.bincount(rows, own[:, output] * level.counts[there], graphs)
        if self.term.similarity == "cosine":
            squares = prepared.squares.sum(axis=0)
            result /= np.sqrt(np.where(squares > 0, squares, 1.0))[:, np.newaxis]
            result[squares == 0] += self.without_patterns(coefficients)
        return result

    def contributions(
        self, levels: Sequence[Counts], coefficients: np.ndarray, output: int = 0
    ) -> list[np.ndarray]:
        """Return the contribution of each pattern of one graph to an output, for each level."""
        added = self._products(levels, coefficients, slice(output, output + 1))
        return self._by_pattern([part[:, 0] for part in added], levels)

    def value(self, levels: Sequence[Counts], coefficients: np.ndarray) -> np.ndarray:
        """Return the total contribution of the patterns of one graph, (outputs,)."""
        products = self._products(levels, coefficients, slice(None))
        return np.sum([part.sum(axis=0) for part in products], axis=0)

    def known(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """Return a mask of the patterns of a level that occur in training graphs."""
        return self.columns_of(level, hashes) >= 0

    def columns_of(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """Return the columns of the hashes of one graph, -1 for unknown ones.

        NumPy is faster here than compiled code: one graph has few hashes, and calls have overhead.
        """
        known = self.patterns[level]
        if not len(known):
            return np.full(len(hashes), -1)
        place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        return np.where(known[place] == hashes, place + self._offsets[level], -1)

    @cached_property
    def _offsets(self) -> list[int]:
        """Index of the first pattern of each level."""
        return np.cumsum([0] + [len(own) for own in self.patterns]).tolist()

    def _products(
        self, levels: Sequence[Counts], coefficients: np.ndarray, outputs: slice
    ) -> list[np.ndarray]:
        prepared, places, _, _ = self._compared(levels)
        weights = self.weights_for(coefficients)[:, outputs]
        norm = 1.0
        if self.term.similarity == "cosine":
            norm = float(np.sqrt(prepared.squares.sum())) or 1.0
        found = []
        for level, place in zip(prepared.levels, places, strict=True):
            part = np.zeros((len(place), weights.shape[1]))
            known = place >= 0
            part[known] = weights[place[known]] * (level.counts[known] / norm)[:, np.newaxis]
            found.append(part)
        return found

    def _compared(
        self, levels: Sequence[Counts]
    ) -> tuple[Features, list[np.ndarray], np.ndarray, np.ndarray]:
        """Return the mapped features of one graph, their columns, and for min-max the sums of
        minima and maxima of the graph with each training graph.

        The last result is cached, since value and contributions of a graph are computed in turn.
        """
        first = levels[0].hashes
        last = self.__dict__.get("_last")
        if last is None or last[0] is not first:
            prepared = self.term.prepare(Features(list(levels)))
            places = [self.columns_of(n, level.hashes) for n, level in enumerate(prepared.levels)]
            found = (prepared, places, *self._minima_and_maxima(prepared, places))
            last = self.__dict__["_last"] = (first, found)
        return last[1]

    def _minima_and_maxima(
        self, prepared: Features, places: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(0), np.zeros(0)

    def _by_pattern(
        self, added: Sequence[np.ndarray], levels: Sequence[Counts]
    ) -> list[np.ndarray]:
        """Sum contributions of mapped features by pattern.

        The count map "intersection" turns a count c into c features; others keep the patterns.
        """
        if self.term.counts != "intersection":
            return list(added)
        found = []
        for part, counts in zip(added, levels, strict=False):
            size = len(counts.hashes)
            owners = np.repeat(np.arange(size), counts.counts.astype(np.int64))
            found.append(np.bincount(owners, part, size))
        return found


@dataclass(frozen=True, eq=False)
class FittedTerm(_PatternSum):
    """A term with the features of the training graphs.

    Attributes
    ----------
    term : Term
    features : Features
        Features of the training graphs, as counted by the source.
    scale : float
        Factor of the similarities.
    """

    features: Features
    scale: float = 1.0

    @cached_property
    def columns(self) -> FeatureColumns:
        """Mapped features of the training graphs, by columns."""
        return self.term.prepare(self.features).columns()

    @property
    def patterns(self) -> list[np.ndarray]:
        return self.columns.vocabulary

    @cached_property
    def totals(self) -> np.ndarray:
        """Squared norms of the training graphs, or for min-max the sums of their features."""
        own = self.columns
        return (own.sums if self.term.similarity == "minmax" else own.squares).sum(axis=0)

    @property
    def bounded(self) -> bool:
        """Whether similarities are promised to be from 0 to 1."""
        return self.term.similarity != "dot"

    def add_gram(self, total: GramSum, n_jobs: int | None) -> None:
        """Add the scaled similarities among the training graphs to a sum."""
        self.columns.add_gram(self.term.similarity, total, self.scale, n_jobs)

    def compare(self, features: Features, n_jobs: int | None) -> np.ndarray:
        """Return scaled similarities of graphs to the training graphs."""
        K = self.columns.compare(self.term.prepare(features), self.term.similarity, n_jobs)
        K *= self.scale
        return K

    def own_similarity(self, features: Features) -> np.ndarray:
        """Return the scaled similarity of each graph with itself."""
        if self.term.similarity == "dot":
            return self.scale * self.term.prepare(features).squares.sum(axis=0)
        return np.full(len(features), self.scale)

    def weights_for(self, coefficients: np.ndarray) -> np.ndarray:
        remembered = self.__dict__.get("_weights_of")
        if remembered is None or remembered[0] is not coefficients:
            scaled = np.atleast_2d(coefficients) * self.scale
            if self.term.similarity == "cosine":
                scaled = scaled / np.sqrt(np.where(self.totals > 0, self.totals, 1.0))
            indptr, rows, values = self.columns.entries
            found = np.empty((len(indptr) - 1, len(scaled)))
            for output, row in enumerate(scaled):
                found[:, output] = row_sums(indptr, values * row[rows])
            remembered = self.__dict__["_weights_of"] = (coefficients, found)
        return remembered[1]

    def without_patterns(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the value of a graph that equals the training graphs without patterns."""
        if self.term.similarity == "dot":
            return np.zeros(len(coefficients))
        return self.scale * coefficients[:, self.totals == 0].sum(axis=1)

    def values(
        self, features: Features, coefficients: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        if self.term.similarity != "minmax":
            return super().values(features, coefficients, n_jobs)
        return self.compare(features, n_jobs) @ coefficients.T

    def value(self, levels: Sequence[Counts], coefficients: np.ndarray) -> np.ndarray:
        if self.term.similarity != "minmax":
            return super().value(levels, coefficients)
        _, _, minima, maxima = self._compared(levels)
        return coefficients @ (self.scale * minima / maxima)

    def contributions(
        self, levels: Sequence[Counts], coefficients: np.ndarray, output: int = 0
    ) -> list[np.ndarray]:
        if self.term.similarity != "minmax":
            return super().contributions(levels, coefficients, output)
        prepared, places, _, maxima = self._compared(levels)
        factors = self.scale * coefficients[output] / maxima
        found = minima_by_column(*self.columns.entries, *_joined(prepared, places), factors)
        ends = np.cumsum([len(part) for part in places])[:-1]
        return self._by_pattern(np.split(found, ends), levels)

    def _minima_and_maxima(
        self, prepared: Features, places: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of minima and maxima of one graph with each training graph."""
        if self.term.similarity != "minmax":
            return super()._minima_and_maxima(prepared, places)
        place, counts = _joined(prepared, places)
        K = np.zeros((1, len(self.totals)))
        ends, columns = np.array([0, len(place)]), place.astype(np.int32)
        add_minima(ends, columns, counts, self.columns.entries, K, 0, 1)
        [minima] = K
        maxima = counts.sum() + self.totals - minima
        return minima, np.where(maxima > 0, maxima, 1.0)

    def own_contributions(self, levels: Sequence[Counts]) -> list[np.ndarray]:
        """Return the contribution of each pattern to the similarity of a graph with itself."""
        prepared = self.term.prepare(Features(list(levels)))
        power = 1 if self.term.similarity == "minmax" else 2
        values = [level.counts.astype(np.float64) ** power for level in prepared.levels]
        total = sum(float(part.sum()) for part in values)
        factor = self.scale if self.term.similarity == "dot" else self.scale / (total or 1.0)
        return self._by_pattern([factor * part for part in values], levels)


@dataclass(frozen=True, eq=False)
class PatternWeights(_PatternSum):
    """A term as pattern weights, without training graphs.

    Attributes
    ----------
    term : Term
        Its similarity is "dot" or "cosine".
    vocabulary : list of uint64 arrays
        Sorted hashes of each level, after the count map.
    weights : array of shape (patterns, outputs)
        Weights of the patterns of all levels, in order.
    """

    vocabulary: list[np.ndarray]
    weights: np.ndarray

    @property
    def patterns(self) -> list[np.ndarray]:
        return self.vocabulary

    def weights_for(self, coefficients: np.ndarray) -> np.ndarray:
        return self.weights

    def without_patterns(self, coefficients: np.ndarray) -> np.ndarray:
        return np.zeros(self.weights.shape[1])


@dataclass(frozen=True, eq=False)
class FittedKernel:
    """A term of a kernel without features: its similarities come from the kernel itself.

    Attributes
    ----------
    term : Term
    features : GraphBatch
        The training graphs.
    scale : float
        Factor of the similarities.
    """

    term: Term
    features: GraphBatch
    scale: float = 1.0

    @cached_property
    def kernel(self) -> Any:
        """The kernel, fitted to the training graphs."""
        return self.term.kernel.fit(self.features)

    @property
    def bounded(self) -> bool:
        """Whether similarities are promised to be from 0 to 1."""
        return bool(self.kernel.unit_similarities)

    def compare(self, batch: GraphBatch, n_jobs: int | None) -> np.ndarray:
        """Return scaled similarities of graphs to the training graphs."""
        return self.scale * np.asarray(self.kernel.set_params(n_jobs=n_jobs).transform(batch))

    def own_similarity(self, batch: GraphBatch) -> np.ndarray:
        """Return the scaled similarity of each graph with itself."""
        return np.full(len(batch), self.scale)

    def add_gram(self, total: GramSum, n_jobs: int | None) -> None:
        """Add the scaled similarities among the training graphs to a sum."""
        total.matrix += self.scale * self.kernel.set_params(n_jobs=n_jobs).gram()


@dataclass(eq=False)
class Machine:
    """Exact kernel ridge regression on a weighted sum of terms.

    Attributes
    ----------
    terms : list of FittedTerm, FittedKernel and ColumnTerm
    coefficients : array of shape (outputs, training graphs)
    intercept : array of shape (outputs,)
    """

    terms: list[Any]
    coefficients: np.ndarray = field(default_factory=lambda: np.zeros((1, 0)))
    intercept: np.ndarray = field(default_factory=lambda: np.zeros(1))

    @cached_property
    def sources(self) -> list[Any]:
        """Distinct sources of the terms."""
        return list({id(fitted.term.source): fitted.term.source for fitted in self.terms}.values())

    @property
    def n_outputs(self) -> int:
        """Number of outputs per graph."""
        return len(self.intercept)

    @property
    def n_graphs(self) -> int:
        """Number of training graphs."""
        return len(self.terms[0].features)

    @property
    def pattern_terms(self) -> list[FittedTerm]:
        """The terms that are sums over patterns."""
        return [fitted for fitted in self.terms if isinstance(fitted, FittedTerm)]

    def gram(self, n_jobs: int | None = None) -> np.ndarray:
        """Return the kernel matrix of the training graphs."""
        total = GramSum(self.n_graphs)
        for fitted in self.terms:
            fitted.add_gram(total, n_jobs)
        return total.mirrored(n_jobs)

    def triangle(self, n_jobs: int | None, alpha: float, report: Callable[[str], None]) -> Triangle:
        """Return the kernel matrix of the training graphs, one triangle in 16 or 32 bits."""
        graphs = self.n_graphs
        noisy = 4.4e-6 * 2 * np.sqrt(graphs) > alpha  # rounding would move eigenvalues by more
        fixed = not noisy and all(fitted.bounded for fitted in self.terms)
        require_triangle(graphs, fixed, 8.0 * (LANDMARKS + 100))
        gram = Triangle(graphs, fixed)
        for begin in range(0, graphs, ROWS):
            here = slice(begin, min(begin + ROWS, graphs))
            counted = {id(f.term.source): f.features[here] for f in self.terms}
            gram.set_rows(begin, self.compare(counted, n_jobs))
            report(f"similarities of {here.stop:,} of {graphs:,} graphs")
        return gram

    def part(self, rows: np.ndarray) -> Machine:
        """Return the machine of some training graphs, without coefficients."""
        return Machine([replace(fitted, features=fitted.features[rows]) for fitted in self.terms])

    def among(self, counted: dict[int, Any]) -> Machine:
        """Return the machine with other graphs in the place of the training graphs."""
        return Machine([replace(f, features=counted[id(f.term.source)]) for f in self.terms])

    def compare(self, counted: dict[int, Any], n_jobs: int | None = None) -> np.ndarray:
        """Return the kernel matrix between new graphs (rows) and training graphs."""
        total = self.terms[0].compare(counted[id(self.terms[0].term.source)], n_jobs)
        for fitted in self.terms[1:]:
            total += fitted.compare(counted[id(fitted.term.source)], n_jobs)
        return total

    def own_similarity(self, counted: dict[int, Any]) -> np.ndarray:
        """Return the similarity of each new graph with itself."""
        parts = [f.own_similarity(counted[id(f.term.source)]) for f in self.terms]
        return np.sum(parts, axis=0)

    def unseen(self, counted: dict[int, Any], graphs: int) -> np.ndarray:
        """Return the share of pattern occurrences whose pattern is in no training graph."""
        new, total = np.zeros(graphs), np.zeros(graphs)
        for members in by_source(self.pattern_terms):
            deepest = members[0]
            levels = counted[id(deepest.term.source)].levels[: deepest.term.n_levels]
            for number, level in enumerate(levels):
                known = deepest.known(number, level.hashes)
                new += np.bincount(level.rows[~known], level.counts[~known], graphs)
                total += np.bincount(level.rows, level.counts, graphs)
        return new / np.maximum(total, 1.0)


def fitted_term(term: Any, features: Any) -> Any:
    """Return a term with the features of the training graphs; its mean self-similarity is 1."""
    if isinstance(term, ColumnSimilarity):
        return ColumnTerm(term, features)
    if not term.source.explicit:
        if term.similarity == "dot":
            raise InvalidParameterError(
                f"{type(term.kernel).__name__} has no explicit features, and must have "
                "similarity='cosine' to be a term of a model."
            )
        return FittedKernel(term, features)
    fitted = FittedTerm(term, features)
    unit = float(np.mean(fitted.own_similarity(features)))
    return fitted if unit in (0.0, 1.0) else FittedTerm(term, features, 1.0 / unit)


def by_source(terms: Sequence[Any]) -> list[list[Any]]:
    """Group fitted terms by their source, the one with the most levels first."""
    groups: dict[int, list[Any]] = {}
    for fitted in terms:
        groups.setdefault(id(fitted.term.source), []).append(fitted)
    return [sorted(own, key=lambda each: -(each.term.n_levels or 0)) for own in groups.values()]


def _joined(prepared: Features, places: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    counts = np.concatenate([level.counts for level in prepared.levels]).astype(np.float64)
    return np.concatenate(places), counts
