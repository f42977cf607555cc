"""KernelMachine: a fitted machine whose decision is a sum over the patterns of a graph.

The kernel is a sum of terms. The value for a graph x is the sum over terms and training graphs i of
``coefficient[i] * scale * similarity(x, i)``, plus an intercept. For every similarity that is a sum
over the patterns p of x itself:

dot
    ``x_p * w_p``, where the weight w_p is the sum of ``coefficient[i] * i_p``.
cosine
    The same with graph i divided by its norm, all divided by the norm of x.
minmax
    The sum over i of ``coefficient[i] * min(x_p, i_p) / m_i``, where m_i is the sum of the maxima
    of x and i. Here the counted features of the training graphs are needed.

Machines trained on the features themselves have weights on patterns and no training graphs.
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
from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts, FeatureColumns, Features
from ..views.base import seen_through, view_name
from .columns import ColumnPart

#: About how many similarities are held at a time when graphs are compared with training graphs.
BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class Source:
    """One way to count features.

    Attributes
    ----------
    name : str
        The kernel's name.
    kernel : FeatureKernel
        Its parameters, with the highest level; it is not fitted to any graphs.
    view : fitted view or None
    label_kind : str
        Of the vertex labels of the training graphs, as the view shows them.
    """

    name: str
    kernel: FeatureKernel
    view: Any
    label_kind: str

    def see(self, batch: GraphBatch) -> GraphBatch:
        """Graphs as the view shows them."""
        seen = seen_through(self.view, batch)
        if seen.n_vertices and seen.label_kind != self.label_kind:
            raise InvalidGraphError(
                f"The graphs must have labels of the kind seen at fit ({self.label_kind}); got "
                f"{seen.label_kind}. Convert them with GraphBatch.with_labels."
            )
        return seen

    def count(self, batch: GraphBatch, n_jobs: int | None = None) -> Features:
        """The features of graphs."""
        kernel = clone(self.kernel).set_params(n_jobs=n_jobs)
        return kernel.count(self.see(batch))


@dataclass(frozen=True, eq=False)
class Term:
    """One similarity of what a source counts.

    Attributes
    ----------
    source : Source
    counts : str
        The count map.
    similarity : {"cosine", "minmax", "dot"}
    n_levels : int or None
        How many levels take part; None where the kernel has no parameter for it.
    """

    source: Source
    counts: str
    similarity: str
    n_levels: int | None = None

    @property
    def group(self) -> tuple[int, str, str]:
        """The same for terms that differ in their levels alone."""
        return (id(self.source), self.counts, self.similarity)

    @property
    def kernel(self) -> FeatureKernel:
        """The kernel of the term, with its parameters, not fitted to any graphs."""
        kernel = clone(self.source.kernel)
        own: dict[str, Any] = {"counts": self.counts, "similarity": self.similarity}
        if kernel.level_parameter is not None and self.n_levels is not None:
            own[kernel.level_parameter] = self.n_levels - 1
        known = kernel.get_params()
        return kernel.set_params(**{name: own[name] for name in own if name in known})

    def parameters(self) -> dict[str, Any]:
        """What the term is, for the user: the kernel's name and what differs from its defaults."""
        kernel = self.kernel
        usual = type(kernel)().get_params(deep=False)
        chosen = ("counts", "similarity", "edge_labels", kernel.level_parameter)
        own = {
            name: value
            for name, value in kernel.get_params(deep=False).items()
            if (name in chosen or repr(value) != repr(usual[name]))
            and name not in ("n_jobs", "verbose", "output", "n_features")
        }
        view = {} if self.source.view is None else {"view": view_name(self.source.view)}
        return {"kernel": self.source.name, **own, **view}

    def prepare(self, features: Features) -> Features:
        """What its source has counted, as the term compares it."""
        return features.first_levels(self.n_levels).mapped(self.counts)


@dataclass(frozen=True, eq=False)
class _PatternSum(ABC):
    """A term whose value for a graph is a sum over the patterns of the graph.

    ``coefficients`` are those of the training graphs, (outputs, training graphs); ``levels`` hold
    the patterns of one graph as they were counted.
    """

    term: Term

    def __getstate__(self) -> dict[str, Any]:
        return {own.name: self.__dict__[own.name] for own in fields(self)}

    @property
    @abstractmethod
    def patterns(self) -> list[np.ndarray]:
        """The hashes of each level that some training graph has, ascending."""

    @abstractmethod
    def weights_for(self, coefficients: np.ndarray) -> np.ndarray:
        """Weights of the patterns, (patterns, outputs), for similarities that are products."""

    @abstractmethod
    def without_patterns(self, coefficients: np.ndarray) -> np.ndarray:
        """The value of a graph without any pattern."""

    def values(
        self, features: Features, coefficients: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """The values of graphs, (graphs, outputs)."""
        prepared, weights = self.term.prepare(features), self.weights_for(coefficients)
        graphs = len(prepared)
        result = np.zeros((graphs, weights.shape[1]))
        parts = zip(prepared.levels, self.patterns, self._offsets, strict=False)
        for level, known, offset in parts:
            place = find_columns(level.hashes, known)
            there = np.flatnonzero(place >= 0)
            rows = np.repeat(np.arange(graphs), level.lengths)[there]
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
        """What each pattern of one graph adds to an output, (patterns,) for each level."""
        added = self._products(levels, coefficients, slice(output, output + 1))
        return self._by_pattern([part[:, 0] for part in added], levels)

    def known(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """Which patterns of a level some training graph has."""
        return _places(hashes, self.patterns[level], 0) >= 0

    @cached_property
    def _offsets(self) -> list[int]:
        """Where the patterns of each level begin."""
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
        """The patterns of one graph as the term compares them, the columns that they have, and for
        min-max the sums of minima and maxima of the graph and each training graph.

        The last graph is remembered: its contributions are asked for after its value.
        """
        first = levels[0].hashes
        last = self.__dict__.get("_last")
        if last is None or last[0] is not first:
            prepared = self.term.prepare(Features(list(levels)))
            known = zip(prepared.levels, self.patterns, self._offsets, strict=False)
            places = [_places(level.hashes, own, offset) for level, own, offset in known]
            found = (prepared, places, *self._minima_and_maxima(prepared, places))
            last = self.__dict__["_last"] = (first, found)
        compared: tuple[Features, list[np.ndarray], np.ndarray, np.ndarray] = last[1]
        return compared

    def _minima_and_maxima(
        self, prepared: Features, places: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(0), np.zeros(0)

    def _by_pattern(
        self, added: Sequence[np.ndarray], levels: Sequence[Counts]
    ) -> list[np.ndarray]:
        """The same for the patterns as counted: by an intersection a count c became c features."""
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
    """A term with the training graphs in it.

    Attributes
    ----------
    term : Term
    features : Features
        What its source has counted in the training graphs.
    scale : float
        What similarities are multiplied with.
    """

    features: Features
    scale: float = 1.0

    @cached_property
    def columns(self) -> FeatureColumns:
        """The training graphs by columns."""
        return self.term.prepare(self.features).columns()

    @property
    def patterns(self) -> list[np.ndarray]:
        return self.columns.vocabulary

    @cached_property
    def totals(self) -> np.ndarray:
        """Squared norms of the training graphs, for min-max the sums of their features."""
        own = self.columns
        return (own.sums if self.term.similarity == "minmax" else own.squares).sum(axis=0)

    def compare(self, features: Features, n_jobs: int | None) -> np.ndarray:
        """Similarities of graphs to the training graphs, scaled."""
        K = self.columns.compare(self.term.prepare(features), self.term.similarity, n_jobs)
        K *= self.scale
        return K

    def own_similarity(self, features: Features) -> np.ndarray:
        """Similarity of each graph to itself, scaled."""
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
                running = np.concatenate(([0.0], np.cumsum(values * row[rows])))
                found[:, output] = np.diff(running[indptr])
            remembered = self.__dict__["_weights_of"] = (coefficients, found)
        weights: np.ndarray = remembered[1]
        return weights

    def without_patterns(self, coefficients: np.ndarray) -> np.ndarray:
        """It equals training graphs without any."""
        if self.term.similarity == "dot":
            return np.zeros(len(coefficients))
        return self.scale * coefficients[:, self.totals == 0].sum(axis=1)

    def values(
        self, features: Features, coefficients: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        if self.term.similarity != "minmax":
            return super().values(features, coefficients, n_jobs)
        values: np.ndarray = self.compare(features, n_jobs) @ coefficients.T
        return values

    def value(self, levels: Sequence[Counts], coefficients: np.ndarray) -> np.ndarray:
        """What all patterns of one graph add together, (outputs,)."""
        if self.term.similarity == "minmax":
            _, _, minima, maxima = self._compared(levels)
            value: np.ndarray = coefficients @ (self.scale * minima / maxima)
            return value
        products = self._products(levels, coefficients, slice(None))
        total: np.ndarray = np.sum([part.sum(axis=0) for part in products], axis=0)
        return total

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
        """Sums of minima and maxima of one graph and each training graph."""
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
        """The share of each pattern of one graph in the graph's similarity with itself."""
        prepared = self.term.prepare(Features(list(levels)))
        power = 1 if self.term.similarity == "minmax" else 2
        values = [level.counts.astype(np.float64) ** power for level in prepared.levels]
        total = sum(float(part.sum()) for part in values)
        factor = self.scale if self.term.similarity == "dot" else self.scale / (total or 1.0)
        return self._by_pattern([factor * part for part in values], levels)


@dataclass(frozen=True, eq=False)
class PatternWeights(_PatternSum):
    """A term as weights on patterns, without training graphs.

    Attributes
    ----------
    term : Term
        Its similarity is "dot" or "cosine".
    vocabulary : list of uint64 arrays
        The hashes of each level, after the count map, ascending.
    weights : array of shape (patterns, outputs)
        Level after level.
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

    def value(self, levels: Sequence[Counts], coefficients: Any) -> np.ndarray:
        """What all patterns of one graph add together, (outputs,)."""
        return self.values(Features(list(levels)), coefficients, None)[0]


@dataclass(eq=False)
class KernelMachine:
    """A fitted machine.

    Attributes
    ----------
    terms : list of FittedTerm or PatternWeights
    coefficients : array of shape (outputs, training graphs)
        None with weights on patterns.
    intercept : array of shape (outputs,)
    columns : ColumnPart or None
        What the columns beside the graphs add.

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
        """How many values a graph gets."""
        return len(self.intercept)

    @property
    def n_graphs(self) -> int:
        """How many training graphs it holds: none with weights on patterns."""
        return 0 if isinstance(self.terms[0], PatternWeights) else len(self.terms[0].features)

    def count(self, batch: GraphBatch, n_jobs: int | None = None) -> dict[int, Features]:
        """The features of graphs, once for each source."""
        return {id(source): source.count(batch, n_jobs) for source in self.sources}

    def values(
        self, batch: GraphBatch, columns: dict[str, np.ndarray], n_jobs: int | None = None
    ) -> np.ndarray:
        """The values of graphs with their columns, (graphs, outputs)."""
        result = self.graph_values(batch, n_jobs)
        return result if self.columns is None else result + self.columns.values(columns)

    def graph_values(self, batch: GraphBatch, n_jobs: int | None = None) -> np.ndarray:
        """The values of graphs, without what columns add."""
        result = np.tile(self.intercept, (len(batch), 1))
        for begin, end in self.blocks(len(batch)):
            counted = self.count(batch[begin:end], n_jobs)
            for term in self.terms:
                own = counted[id(term.term.source)]
                result[begin:end] += term.values(own, self.coefficients, n_jobs)
        return result

    def blocks(self, graphs: int) -> list[tuple[int, int]]:
        """Where to begin and end, so that not too many similarities are held at a time."""
        size = max(1, BLOCK // max(self.n_graphs, 1))
        return [(begin, min(begin + size, graphs)) for begin in range(0, graphs, size)]

    # ---------------------------------------------------------------- similarities

    def gram(self, n_jobs: int | None = None, dtype: type = np.float64) -> np.ndarray:
        """The kernel matrix of the training graphs, without what columns add."""
        total = GramSum(self.n_graphs, dtype)
        for term in self.terms:
            term.columns.add_gram(term.term.similarity, total, term.scale, n_jobs)
        return total.mirrored(n_jobs)

    def compare(self, counted: dict[int, Features], n_jobs: int | None = None) -> np.ndarray:
        """The kernel between new graphs (rows) and the training graphs."""
        parts = [t.compare(counted[id(t.term.source)], n_jobs) for t in self.terms]
        total: np.ndarray = np.sum(parts, axis=0)
        return total

    def own_similarity(self, counted: dict[int, Features]) -> np.ndarray:
        """The kernel of each new graph with itself."""
        parts = [t.own_similarity(counted[id(t.term.source)]) for t in self.terms]
        total: np.ndarray = np.sum(parts, axis=0)
        return total

    def unseen(self, counted: dict[int, Features]) -> np.ndarray:
        """The share of the pattern occurrences of graphs that no training graph has."""
        graphs = len(next(iter(counted.values())))
        new, total = np.zeros(graphs), np.zeros(graphs)
        for source in self.sources:
            own = [term for term in self.terms if term.term.source is source]
            deepest = max(own, key=lambda term: term.term.n_levels or 0)
            levels = counted[id(source)].levels[: deepest.term.n_levels]
            for number, level in enumerate(levels):
                known = deepest.known(number, level.hashes)
                rows = np.repeat(np.arange(len(level.lengths)), level.lengths)
                new += np.bincount(rows[~known], level.counts[~known], graphs)
                total += np.bincount(rows, level.counts, graphs)
        return new / np.maximum(total, 1.0)

    def set_coefficients(
        self, coefficients: np.ndarray, intercept: np.ndarray, share: float
    ) -> None:
        """Coefficients of a sum in which the kernel of columns has this share."""
        self.coefficients, self.intercept = (1 - share) * coefficients, intercept
        if self.columns is not None and self.columns.kernel is not None:
            self.columns = replace(self.columns, coefficients=share * coefficients)

    def rescaled(self, factors: np.ndarray, shifts: np.ndarray) -> KernelMachine:
        """The same machine with each output multiplied by its factor, then shifted."""
        terms = [
            replace(t, weights=t.weights * factors) if isinstance(t, PatternWeights) else t
            for t in self.terms
        ]
        coefficients = self.coefficients
        if coefficients is not None:
            coefficients = coefficients * np.reshape(factors, (-1, 1))
        columns = None if self.columns is None else self.columns.rescaled(factors)
        return KernelMachine(terms, coefficients, self.intercept * factors + shifts, columns)


def _places(hashes: np.ndarray, vocabulary: np.ndarray, offset: int) -> np.ndarray:
    """The columns of the hashes of one graph, -1 for those without.

    These are few: handing them to compiled code would take longer than finding them.
    """
    if not len(vocabulary):
        return np.full(len(hashes), -1)
    place = np.minimum(np.searchsorted(vocabulary, hashes), len(vocabulary) - 1)
    return np.where(vocabulary[place] == hashes, place + offset, -1)


def _joined(prepared: Features, places: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    counts = np.concatenate([level.counts for level in prepared.levels]).astype(np.float64)
    return np.concatenate(places), counts
