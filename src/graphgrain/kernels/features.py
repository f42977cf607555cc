"""FeatureKernel: kernels whose features can be listed, all along one path.

A subclass counts features: for every level, the distinct 64-bit hashes of each graph and how
often each occurs. Here they become a sparse matrix (one column per hash seen at fit, levels one
after the other), then the Gram matrix. Levels are what a kernel sums over, such as tree depths
or refinement steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.counting import find_columns, group_hashes, transpose
from ..core.gram import add_products, finish, precision
from ..core.structures import Csc
from ..core.threads import run
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..parameters import OneOf, Rule, Whole, check_parameters
from .base import GraphKernel, numbered_names
from .counts import (
    COUNT_MAPS,
    Counts,
    count_in_chunks,
    counted,
    expanded_hashes,
    map_counts,
    repeated,
    side_by_side,
    squared_norms,
)
from .estimate import CountingKernel
from .hashed_columns import hashed_matrix
from .naming import at_least
from .occurrences import LocatedFeatures, Occurrences

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "COUNT_MAPS",
    "Counts",
    "FeatureKernel",
    "count_in_chunks",
    "counted",
    "map_counts",
    "squared_norms",
]


class FeatureKernel(LocatedFeatures, CountingKernel):
    """Base class of the kernels with explicit features."""

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **GraphKernel.parameter_rules,
        "output": OneOf(("gram", "features")),
        "counts": OneOf(COUNT_MAPS),
        "n_features": Whole(1, 2**31 - 1, optional=True),
    }

    _free_after_fit = GraphKernel._free_after_fit | {"n_features"}
    #: The parameter that says where the levels end; None for kernels with a single level.
    level_parameter: ClassVar[str | None] = None

    #: Whether counts are integers below 2^53, so that their products may be added in any order.
    _whole_counts: ClassVar[bool] = True

    output: str
    counts: str
    n_features: int | None

    @property
    def level_scales(self) -> np.ndarray:
        """What the (mapped) counts of each level are multiplied with to become features."""
        name = self.level_parameter
        return np.ones(1 if name is None else 1 + getattr(self, name))

    # ---------------------------------------------------------------- fit

    @property
    def _stateless(self) -> bool:
        """Whether the output needs nothing that fit could learn."""
        return self.output == "features" and self.n_features is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = not self._stateless
        return tags

    def _fit(self, batch: GraphBatch) -> None:
        if not self._stateless:
            self._fit_counts(batch, self.count_features(batch))
            return
        for name in ("graphs_", "vocabulary_", "_features", "_norms"):
            self.__dict__.pop(name, None)  # of an earlier fit

    def _checked(self, X: Any) -> GraphBatch:
        if self._stateless and not hasattr(self, "n_graphs_"):
            check_parameters(self, self.parameter_rules)
            return as_graphs(X)
        return super()._checked(X)

    def fit_counted(self, batch: GraphBatch, counted: Sequence[Counts]) -> FeatureKernel:
        """Fit to graphs whose features are counted already.

        Kernels that differ in nothing but ``counts`` have the same features; counting them is
        most of the work, and is done once for all of them.

        Parameters
        ----------
        batch : GraphBatch
        counted : list of Counts
            What ``count_features(batch)`` of such a kernel has given.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs = gg.as_graphs([([(0, 1), (1, 2)], [1, 1, 2]), ([(0, 1)], [1, 2])])
        >>> counted = gg.TreePlusPlus().count_features(graphs)
        >>> shared = gg.TreePlusPlus(counts="sqrt").fit_counted(graphs, counted)
        >>> alone = gg.TreePlusPlus(counts="sqrt").fit(graphs)
        >>> bool((shared.transform(graphs) == alone.transform(graphs)).all())
        True
        """
        self._begin_fit(batch)
        self._fit_counts(batch, counted)
        return self

    def _fit_counts(self, batch: GraphBatch, counted: Sequence[Counts]) -> None:
        levels = run(  # the last level has most features: threads that begin there end together
            lambda level, _: group_hashes(*map_counts(counted[level], self.counts)),
            [(level, level + 1) for level in reversed(range(len(counted)))],
            self.n_jobs,
        )[::-1]
        self.graphs_ = batch
        self._forget_names()
        self.vocabulary_ = [vocabulary for vocabulary, *_ in levels]
        self._features = side_by_side([columns for _, *columns, _ in levels])
        self._norms = np.array([squares for *_, squares in levels])

    @property
    def features_(self) -> Csc:
        """The features of the fitted graphs by columns, counts mapped, levels not scaled."""
        return self._features

    @property
    def squared_norms_(self) -> np.ndarray:
        """Sum of squares of the features of each level (rows) and fitted graph (columns)."""
        return self._norms

    def names_of(self, graphs: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        """Readable names of some features of a level, each of which occurs in the graphs.

        The kernel need not be fitted.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graph = gg.as_graphs([([(0, 1)], ["C", "O"])])
        >>> [counts] = gg.EdgeHistogram().count_features(graph)
        >>> gg.EdgeHistogram().names_of(graph, 0, counts.hashes)
        ['C - O']
        """
        return self._describe(graphs, level, hashes)

    @property
    def level_offsets_(self) -> np.ndarray:
        """Where the columns of each level begin."""
        return np.cumsum([0] + [len(vocabulary) for vocabulary in self.vocabulary_])

    def at_level(self, level: int) -> Any:
        """The fitted kernel as it would be if it stopped at a lower level, without a new pass.

        Parameters
        ----------
        level : int
            The new value of :attr:`level_parameter` (for Tree++ ``tree_depth``), at most that of
            this kernel.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs = [([(0, 1), (1, 2)], [1, 1, 2]), ([(0, 1)], [1, 2])]
        >>> kernel = gg.TreePlusPlus(tree_depth=3, normalize=False).fit(graphs)
        >>> kernel.at_level(0).transform(graphs).astype(int).tolist()
        [[17, 7], [7, 6]]
        """
        check_is_fitted(self, "vocabulary_")
        name = self.level_parameter
        allowed = Whole(0, len(self.vocabulary_) - 1)
        if not allowed.allows(level):
            raise InvalidParameterError(f"{name or 'level'} must be {allowed}; got {level!r}.")
        kernel = copy(self)
        kernel._forget_names()
        if name is not None:
            setattr(kernel, name, level)
            kernel._fitted_with = {**self._fitted_with, name: level}
        kernel.vocabulary_ = self.vocabulary_[: level + 1]
        kernel._norms = self._norms[: level + 1]
        columns = int(kernel.level_offsets_[-1])
        pointers, rows, values = self._features
        entries = int(pointers[columns])
        kernel._features = Csc(pointers[: columns + 1], rows[:entries], values[:entries])
        return kernel

    # ---------------------------------------------------------------- Gram matrices

    def gram(self) -> np.ndarray:
        check_is_fitted(self, "vocabulary_")
        return self._gram_of_fitted()

    def _gram_of_fitted(self) -> np.ndarray:
        return list(self._gram(None, self._norms))[-1]

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        return list(self._gram(*self._known_features(batch)))[-1]

    def gram_levels(self, X: Any = None) -> np.ndarray:
        """Gram matrices of all levels from one extraction.

        Entry ``k`` of the result is the Gram matrix that the same kernel would give if it stopped
        at level ``k`` (for Tree++: with ``tree_depth=k``).

        Parameters
        ----------
        X : graphs, optional
            New graphs, compared with the fitted ones. Without it: the fitted graphs.

        Returns
        -------
        array of shape (levels, graphs, fitted graphs)

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs = [([(0, 1), (1, 2)], [1, 1, 2]), ([(0, 1)], [1, 2])]
        >>> kernel = gg.TreePlusPlus(tree_depth=1, normalize=False).fit(graphs)
        >>> kernel.gram_levels().astype(int).tolist()
        [[[17, 7], [7, 6]], [[32, 8], [8, 12]]]
        """
        check_is_fitted(self, "vocabulary_")
        new, norms = None, self._norms
        if X is not None:
            new, norms = self._known_features(self._checked(X))
        self._check_memory(norms.shape[1], self.n_graphs_, len(self.vocabulary_))
        levels = np.empty((len(self.vocabulary_), norms.shape[1], self.n_graphs_))
        for level, K in enumerate(self._gram(new, norms, every_level=True)):
            levels[level] = K
        return levels

    def each_gram_level(self) -> Iterator[np.ndarray]:
        """The Gram matrices of :meth:`gram_levels` one by one, for sets too large to hold all."""
        check_is_fitted(self, "vocabulary_")
        yield from self._gram(None, self._norms, every_level=True)

    def _gram(
        self, new: Csc | None, norms: np.ndarray, every_level: bool = False
    ) -> Iterable[np.ndarray]:
        """Gram matrix of the fitted graphs (no ``new``) or with new ones; last or all levels."""
        symmetric = new is None
        left, other = (self._features, None) if new is None else (new, self._features)
        own, fitted = norms.cumsum(axis=0), self._norms.cumsum(axis=0)
        integral = self.counts in ("binary", "intersection") or (
            self.counts == "raw" and self._whole_counts
        )
        bound = max(own[-1].max(initial=0.0), fitted[-1].max(initial=0.0))
        kind = precision(bound, integral)
        K: np.ndarray = np.zeros((norms.shape[1], self.n_graphs_), dtype=kind)
        left = left._replace(values=left.values.astype(kind, copy=False))  # once for all levels
        other = other and other._replace(values=other.values.astype(kind, copy=False))
        offsets = self.level_offsets_
        ends = offsets[1:] if every_level else offsets[-1:]
        begin = 0
        for step, end in enumerate(ends.tolist()):
            add_products(K, left, other, begin, end, self.n_jobs)
            at = step if every_level else -1
            yield finish(K, own[at], fitted[at], symmetric, self.normalize, self.n_jobs)
            begin = end

    def _known_features(self, batch: GraphBatch) -> tuple[Csc, np.ndarray]:
        """Features of new graphs in the fitted columns, and the norms with all features."""
        levels = [map_counts(counts, self.counts) for counts in self.count_features(batch)]
        parts = []
        for level, vocabulary in zip(levels, self.vocabulary_, strict=True):
            columns = find_columns(level.hashes, vocabulary)
            starts = np.concatenate(([0], np.cumsum(level.lengths)))
            parts.append(
                transpose(starts, columns, level.counts.astype(np.float64), len(vocabulary))
            )
        return side_by_side(parts), np.array([squared_norms(level) for level in levels])

    # ---------------------------------------------------------------- explicit features

    def _output_of_fitted(self, batch: GraphBatch) -> Any:
        if self._stateless:
            return self._hashed(batch)
        return self.gram() if self.output == "gram" else self._sparse(self._features, len(batch))

    def _output_with_fitted(self, batch: GraphBatch) -> Any:
        if self._stateless:
            return self._hashed(batch)
        check_is_fitted(self, "vocabulary_")
        if self.output == "gram":
            return self._gram_with_fitted(batch)
        return self._sparse(self._known_features(batch)[0], len(batch))

    def _hashed(self, batch: GraphBatch) -> csr_array:
        """Columns that are hashes modulo their number."""
        assert self.n_features is not None
        levels = [map_counts(level, self.counts) for level in self.count_features(batch)]
        return hashed_matrix(levels, self.n_features, self.level_scales, self.n_jobs)

    def _sparse(self, columns: Csc, rows: int) -> csr_array:
        from scipy.sparse import csr_array

        indptr, indices, values = transpose(*columns, rows)
        width = int(self.level_offsets_[-1])
        if len(values) <= np.iinfo(np.int32).max:  # scikit-learn's linear models ask for it
            indptr = indptr.astype(np.int32)
        return csr_array((values, indices, indptr), shape=(rows, width))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """A name for each column of the output.

        With ``output="features"`` the names of :meth:`feature_names`; with ``output="gram"``,
        where a column is a fitted graph, and with ``n_features``, where features share columns,
        the class in small letters and a number.

        Parameters
        ----------
        input_features : ignored
        """
        if self._stateless:
            assert self.n_features is not None
            return numbered_names(self, self.n_features)
        return super().get_feature_names_out() if self.output == "gram" else self.feature_names()

    def feature_names(self) -> np.ndarray:
        """Readable names of the features, one for each, whatever ``output`` is.

        Examples
        --------
        >>> import graphgrain as gg
        >>> gg.VertexHistogram().fit([([(0, 1)], ["C", "O"])]).feature_names().tolist()
        ['O', 'C']
        """
        self._check_named()
        names = [name for level in range(len(self.vocabulary_)) for name in self._names(level)]
        return np.array(names, dtype=object)

    def _check_named(self) -> None:
        if self._stateless and not hasattr(self, "vocabulary_"):
            raise InvalidParameterError(
                f"Features have names if fit has seen them; with n_features={self.n_features} "
                "columns are shared and nothing is learnt. Fit with n_features=None."
            )
        check_is_fitted(self, "vocabulary_")

    def _decoded_names(self, level: int) -> list[str]:
        self._check_named()
        vocabulary = self.vocabulary_[level]
        if self.counts != "intersection":
            return self._describe(self.graphs_, level, vocabulary)
        base, times = repeated(self.count_features(self.graphs_)[level])
        found = find_columns(expanded_hashes(base, times), vocabulary)
        hash_of = np.empty(len(vocabulary), dtype=np.uint64)
        times_of = np.empty(len(vocabulary), dtype=np.int64)
        hash_of[found], times_of[found] = base, times
        distinct, place = np.unique(hash_of, return_inverse=True)
        described = self._describe(self.graphs_, level, distinct)
        return [
            at_least(described[which], count)
            for which, count in zip(place.tolist(), times_of.tolist(), strict=True)
        ]

    def _level_of_column(self, column: int) -> tuple[int, np.uint64]:
        offsets = self.level_offsets_
        if not 0 <= column < offsets[-1]:
            raise IndexError(f"Feature {column} is out of range: there are {offsets[-1]} columns.")
        level = int(np.searchsorted(offsets, column, side="right")) - 1
        return level, self.vocabulary_[level][column - offsets[level]]

    def _patterns_behind(self, found: Occurrences, code: np.uint64) -> np.ndarray:
        if self.counts != "intersection":
            return np.array([code])
        distinct, counts = np.unique(found.hashes, return_counts=True)
        base, times = repeated(Counts(np.array([len(distinct)]), distinct, counts))
        return base[expanded_hashes(base, times) == code]
