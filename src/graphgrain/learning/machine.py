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
    of x and i.

Terms of kernels without features, and of columns beside the graphs, are not sums over patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core.gram import GramSum, add_minima, overlaps_by_column
from ..core.triangle import Triangle, require_triangle
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.features import Counts, FeatureColumns, Features, by_pattern
from .columns import ColumnSimilarity, ColumnTerm
from .solver import LANDMARKS
from .terms import Source as Source
from .terms import Term as Term

#: Number of rows of a triangle that are computed together.
ROWS = 256


@dataclass(frozen=True, eq=False)
class FittedTerm:
    """A term with the features of the training graphs; its values are sums over patterns.

    Attributes
    ----------
    term : Term
    features : Features
        Features of the training graphs, as counted by the source.
    scale : float
        Factor of the similarities.
    """

    term: Term
    features: Features
    scale: float = 1.0

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: self.__dict__[each.name] for each in fields(self)}

    @cached_property
    def columns(self) -> FeatureColumns:
        """Mapped features of the training graphs, by columns."""
        return self.term.prepare(self.features).columns()

    @cached_property
    def totals(self) -> np.ndarray:
        """Squared norms of the training graphs, or for min-max the sums of their features."""
        minmax = self.term.similarity == "minmax"
        return (self.columns.sums if minmax else self.columns.squares).sum(axis=0)

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

    # ---------------------------------------------------------------- sums over patterns

    def contributions(
        self, levels: Sequence[Counts], coefficients: np.ndarray, output: int = 0
    ) -> list[np.ndarray]:
        """Return the contribution of each pattern of one graph to an output, for each level.

        ``coefficients`` has the shape (outputs, training graphs), ``levels`` are raw counts.
        """
        prepared = self.term.prepare(Features(list(levels)))
        places = [self.columns_of(n, level.hashes) for n, level in enumerate(prepared.levels)]
        place, counts = np.concatenate(places), np.concatenate([c.counts for c in prepared.levels])
        counts, entries = counts.astype(np.float64), self.columns.entries
        divisors = np.ones(len(self.totals))
        if self.term.similarity == "minmax":
            minima, ends = np.zeros((1, len(self.totals))), np.array([0, len(place)])
            add_minima(ends, place.astype(np.int32), counts, entries, minima, 0, 1)
            divisors = counts.sum() + self.totals - minima[0]
        elif self.term.similarity == "cosine":
            divisors = np.sqrt((counts**2).sum() * self.totals)
        factors = self.scale * coefficients[output] / np.where(divisors > 0, divisors, 1.0)
        minmax = self.term.similarity == "minmax"
        sums = overlaps_by_column(*entries, place, counts, factors, minmax)
        ends = np.cumsum([len(part) for part in places])[:-1]
        return by_pattern(np.split(sums, ends), levels, self.term.counts)

    def own_contributions(self, levels: Sequence[Counts]) -> list[np.ndarray]:
        """Return the contribution of each pattern to the similarity of a graph with itself."""
        prepared = self.term.prepare(Features(list(levels)))
        power = 1 if self.term.similarity == "minmax" else 2
        values = [level.counts.astype(np.float64) ** power for level in prepared.levels]
        total = sum(float(part.sum()) for part in values)
        factor = self.scale if self.term.similarity == "dot" else self.scale / (total or 1.0)
        return by_pattern([factor * part for part in values], levels, self.term.counts)

    def without_patterns(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the value of a graph that equals the training graphs without patterns."""
        if self.term.similarity == "dot":
            return np.zeros(len(coefficients))
        return self.scale * coefficients[:, self.totals == 0].sum(axis=1)

    def known(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """Return a mask of the patterns of a level that occur in training graphs."""
        return self.columns_of(level, hashes) >= 0

    def columns_of(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """Return the columns of the hashes of one graph, -1 for unknown ones.

        NumPy is faster here than compiled code: one graph has few hashes, and calls have overhead.
        """
        vocabulary = self.columns.vocabulary[level]
        if not len(vocabulary):
            return np.full(len(hashes), -1)
        place = np.minimum(np.searchsorted(vocabulary, hashes), len(vocabulary) - 1)
        found = vocabulary[place] == hashes
        return np.where(found, place + self.columns.offsets[level], -1)


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
            if here.stop == graphs or begin // ROWS % 16 == 15:
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
