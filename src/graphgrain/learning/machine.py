"""KernelMachine: a fitted kernel model whose output is a sum over the patterns of a graph.

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

Machines trained on the features themselves store pattern weights instead of training graphs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core.counting import find_columns
from ..core.gram import GramSum, add_minima, minima_by_column
from ..core.similarity import row_sums
from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import OUTPUT_PARAMETERS
from ..kernels.features import Counts, FeatureColumns, Features
from ..views.base import seen_through, view_name
from .columns import ColumnPart

#: Approximate number of similarities to training graphs held in memory at a time.
BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class Source:
    """A kernel and a view, which together define how features are counted.

    Attributes
    ----------
    name : str
        Name of the kernel.
    kernel : FeatureKernel
        Unfitted kernel with its parameters, at the highest level.
    view : fitted view or None
    label_kind : str or None
        Kind of the vertex labels of the training graphs after the view; None for any.
    """

    name: str
    kernel: FeatureKernel
    view: Any
    label_kind: str | None

    def see(self, batch: GraphBatch) -> GraphBatch:
        """Apply the view to graphs."""
        seen = seen_through(self.view, batch)
        if seen.n_vertices and self.label_kind not in (None, seen.label_kind):
            raise InvalidGraphError(
                f"The graphs must have labels of the kind seen at fit ({self.label_kind}); got "
                f"{seen.label_kind}. Convert them with GraphBatch.with_labels."
            )
        return seen

    def count(self, batch: GraphBatch, n_jobs: int | None = None) -> Features:
        """Count the features of graphs."""
        kernel = clone(self.kernel).set_params(n_jobs=n_jobs)
        return kernel.count(self.see(batch))


@dataclass(frozen=True, eq=False)
class Term:
    """One kernel of the sum: a similarity of the features of a source.

    Attributes
    ----------
    source : Source
    counts : str
        Map applied to the counts.
    similarity : {"cosine", "minmax", "dot"}
    n_levels : int or None
        Number of levels used; None if the kernel has no level parameter.
    """

    source: Source
    counts: str
    similarity: str
    n_levels: int | None = None

    @property
    def group(self) -> tuple[int, str, str]:
        """Key shared by terms that differ only in their level."""
        return (id(self.source), self.counts, self.similarity)

    @property
    def kernel(self) -> FeatureKernel:
        """Unfitted kernel with the parameters of the term."""
        kernel = clone(self.source.kernel)
        own: dict[str, Any] = {"counts": self.counts, "similarity": self.similarity}
        if kernel.level_parameter is not None and self.n_levels is not None:
            own[kernel.level_parameter] = self.n_levels - 1
        known = kernel.get_params()
        return kernel.set_params(**{name: own[name] for name in own if name in known})

    def parameters(self) -> dict[str, Any]:
        """Return the name of the kernel and its main and non-default parameters."""
        kernel = self.kernel
        usual = type(kernel)().get_params(deep=False)
        chosen = ("counts", "similarity", "edge_labels", kernel.level_parameter)
        own = {
            name: value
            for name, value in kernel.get_params(deep=False).items()
            if (name in chosen or repr(value) != repr(usual[name]))
            and name not in OUTPUT_PARAMETERS
        }
        view = {} if self.source.view is None else {"view": view_name(self.source.view)}
        return {"kernel": self.source.name, **own, **view}

    def prepare(self, features: Features) -> Features:
        """Select the levels of the term and apply its count map."""
        return features.first_levels(self.n_levels).mapped(self.counts)


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


@dataclass(eq=False)
class KernelMachine:
    """Fitted model of a sum of kernels.

    Attributes
    ----------
    terms : list of FittedTerm or PatternWeights
    coefficients : array of shape (outputs, training graphs)
        None if the terms are pattern weights.
    intercept : array of shape (outputs,)
    columns : ColumnPart or None
        Contribution of the columns beside the graphs.
    sources : list of Source
        Distinct sources of the terms.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> model = gg.GraphClassifier(max_level=1, max_terms=1).fit(graphs, y == "opioids")
    >>> machine = model.machine_
    >>> len(machine.terms), machine.coefficients.shape
    (1, (1, 292))
    >>> bool((machine.graph_values(graphs)[:, 0] == model.decision_function(graphs)).all())
    True
    """

    terms: list[Any]
    coefficients: np.ndarray | None
    intercept: np.ndarray
    columns: ColumnPart | None = None
    sources: list[Source] = field(init=False)

    def __post_init__(self) -> None:
        self.sources = list({id(t.term.source): t.term.source for t in self.terms}.values())

    @property
    def n_outputs(self) -> int:
        """Number of outputs per graph."""
        return len(self.intercept)

    @property
    def n_graphs(self) -> int:
        """Number of training graphs stored; 0 with pattern weights."""
        return 0 if isinstance(self.terms[0], PatternWeights) else len(self.terms[0].features)

    def count(self, batch: GraphBatch, n_jobs: int | None = None) -> dict[int, Features]:
        """Count the features of graphs; the keys are the ids of the sources."""
        return {id(source): source.count(batch, n_jobs) for source in self.sources}

    def values(
        self,
        counted: dict[int, Features],
        columns: dict[str, np.ndarray],
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Return the outputs for counted graphs and their columns, (graphs, outputs)."""
        values = self._of_counted(counted, n_jobs)
        return values if self.columns is None else values + self.columns.values(columns)

    def graph_values(self, batch: GraphBatch, n_jobs: int | None = None) -> np.ndarray:
        """Return the outputs for graphs without the contribution of columns."""
        result = np.empty((len(batch), self.n_outputs))
        for begin, end in self.blocks(len(batch)):
            result[begin:end] = self._of_counted(self.count(batch[begin:end], n_jobs), n_jobs)
        return result

    def _of_counted(self, counted: dict[int, Features], n_jobs: int | None) -> np.ndarray:
        result = np.tile(self.intercept, (len(next(iter(counted.values()))), 1))
        for term in self.terms:
            result += term.values(counted[id(term.term.source)], self.coefficients, n_jobs)
        return result

    def blocks(self, graphs: int) -> list[tuple[int, int]]:
        """Return (begin, end) of blocks of graphs that limit the similarities held in memory."""
        size = max(1, BLOCK // max(self.n_graphs, 1))
        return [(begin, min(begin + size, graphs)) for begin in range(0, graphs, size)]

    # ---------------------------------------------------------------- similarities

    def gram(self, n_jobs: int | None = None, dtype: type = np.float64) -> np.ndarray:
        """Return the kernel matrix of the training graphs, without columns."""
        total = GramSum(self.n_graphs, dtype)
        for term in self.terms:
            term.columns.add_gram(term.term.similarity, total, term.scale, n_jobs)
        return total.mirrored(n_jobs)

    def compare(self, counted: dict[int, Features], n_jobs: int | None = None) -> np.ndarray:
        """Return the kernel matrix between new graphs (rows) and training graphs."""
        parts = [t.compare(counted[id(t.term.source)], n_jobs) for t in self.terms]
        return np.sum(parts, axis=0)

    def own_similarity(self, counted: dict[int, Features]) -> np.ndarray:
        """Return the similarity of each new graph with itself."""
        parts = [t.own_similarity(counted[id(t.term.source)]) for t in self.terms]
        return np.sum(parts, axis=0)

    def unseen(self, counted: dict[int, Features]) -> np.ndarray:
        """Return the share of pattern occurrences whose pattern is in no training graph."""
        graphs = len(next(iter(counted.values())))
        new, total = np.zeros(graphs), np.zeros(graphs)
        for own in by_source(self.terms):
            deepest = own[0]
            levels = counted[id(deepest.term.source)].levels[: deepest.term.n_levels]
            for number, level in enumerate(levels):
                known = deepest.known(number, level.hashes)
                new += np.bincount(level.rows[~known], level.counts[~known], graphs)
                total += np.bincount(level.rows, level.counts, graphs)
        return new / np.maximum(total, 1.0)

    def set_coefficients(
        self, coefficients: np.ndarray, intercept: np.ndarray, share: float
    ) -> None:
        """Set coefficients for a sum in which the column kernel has this share."""
        self.coefficients, self.intercept = (1 - share) * coefficients, intercept
        if self.columns is not None and self.columns.kernel is not None:
            self.columns = replace(self.columns, coefficients=share * coefficients)

    def rescaled(self, factors: np.ndarray, shifts: np.ndarray) -> KernelMachine:
        """Return a copy with each output multiplied by its factor, then shifted."""
        terms = [
            replace(t, weights=t.weights * factors) if isinstance(t, PatternWeights) else t
            for t in self.terms
        ]
        coefficients = self.coefficients
        if coefficients is not None:
            coefficients = coefficients * np.reshape(factors, (-1, 1))
        columns = None if self.columns is None else self.columns.rescaled(factors)
        return KernelMachine(terms, coefficients, self.intercept * factors + shifts, columns)


def by_source(terms: Sequence[Any]) -> list[list[Any]]:
    """Group fitted terms by their source, the one with the most levels first."""
    groups: dict[int, list[Any]] = {}
    for fitted in terms:
        groups.setdefault(id(fitted.term.source), []).append(fitted)
    return [sorted(own, key=lambda each: -(each.term.n_levels or 0)) for own in groups.values()]


def _joined(prepared: Features, places: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    counts = np.concatenate([level.counts for level in prepared.levels]).astype(np.float64)
    return np.concatenate(places), counts
