"""FeatureKernel: base class of the kernels with explicit features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...core.counting import find_columns
from ...errors import InvalidGraphError, InvalidParameterError
from ...graphs.batch import GraphBatch
from ...graphs.convert.dispatch import as_graphs
from ...parameters import OneOf, Whole, check_parameters, parameter
from ..features import (
    COUNT_MAPS,
    SIMILARITIES,
    Counts,
    FeatureColumns,
    Features,
    Occurrences,
    columns_of_hashes,
    expanded_hashes,
    map_counts,
    repeated,
)
from ..naming import at_least, times_of_name
from .graph_kernel import GraphKernel, numbered_names

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from .graph_kernel import Output


class FeatureKernel(GraphKernel):
    """Base class of the kernels with explicit features.

    Subclasses implement ``count_features``: for every level, the distinct features of each graph,
    as 64-bit hashes, and their counts. To support explanations they also implement
    ``locate_each``, which gives the position of each occurrence. All other methods and the
    parameters below are inherited; additional parameters are declared as in the example.

    Parameters
    ----------
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    count_hashes : Count hashes, given one per occurrence.
    hash_labels : Hash labels.

    Examples
    --------
    >>> import numpy as np
    >>> import graphgrain as gg
    >>> class Degrees(gg.FeatureKernel):
    ...     largest: int = 4
    ...     def count_features(self, batch):
    ...         degrees = np.minimum(batch.degrees, self.largest)
    ...         return [gg.count_hashes(batch.offsets, gg.hash_labels(degrees))]
    >>> paths = [([(0, 1)], ["C", "C"]), ([(0, 1), (1, 2)], ["C", "C", "C"])]
    >>> Degrees(similarity="minmax").fit_transform(paths).round(2).tolist()
    [[1.0, 0.67], [0.67, 1.0]]
    """

    similarity: str = parameter(OneOf(tuple(SIMILARITIES)), default="cosine")
    output: str = parameter(OneOf(("gram", "features")), default="gram")
    counts: str = parameter(OneOf(COUNT_MAPS), default="raw")
    n_features: int | None = parameter(Whole(1, 2**31 - 1, optional=True), default=None)

    parameters_after_counting = GraphKernel.parameters_after_counting | {"counts"}
    _used_at_fit = frozenset({"counts"})
    #: Name of the parameter that sets the last level; None for kernels with a single level.
    level_parameter: ClassVar[str | None] = None

    #: Whether counts are integers below 2^53, so that sums of products are exact in any order.
    _whole_counts: ClassVar[bool] = True

    @property
    def level_scales(self) -> np.ndarray:
        """Factor applied to the (mapped) counts of each level in the feature matrix."""
        name = self.level_parameter
        return np.ones(1 if name is None else 1 + getattr(self, name))

    # ---------------------------------------------------------------- implemented by subclasses

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        """Return the distinct features of each graph and their counts, one item per level."""
        raise InvalidParameterError(
            f"{type(self).__name__} must implement count_features; see VertexHistogram for an "
            "example."
        )

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """Yield the result of :meth:`locate` for each graph of a batch.

        Optional: without it, a kernel supports everything except locating its features.
        """
        raise InvalidParameterError(
            f"{type(self).__name__} does not say where its features are. Give it a method "
            "locate_each, as VertexHistogram has it, to explain its models."
        )

    def names_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        """Return readable names of some features of a level, each of which occurs in the graphs.

        The kernel need not be fitted. Defaults to :meth:`descriptions_of`.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graph = gg.as_graphs([([(0, 1)], ["C", "O"])])
        >>> [counts] = gg.EdgeHistogram().count_features(graph)
        >>> gg.EdgeHistogram().names_of(graph, 0, counts.hashes)
        ['C->O']
        """
        return self.descriptions_of(batch, level, hashes)

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        """Return the long form of :meth:`names_of`: the level first, and every label in full.

        Defaults to the hash.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graph = gg.as_graphs([([(0, 1)], ["C", "O"])])
        >>> [counts] = gg.EdgeHistogram().count_features(graph)
        >>> gg.EdgeHistogram().descriptions_of(graph, 0, counts.hashes)
        ['C - O']
        """
        return [f"k={level}: {code:016x}" for code in hashes.tolist()]

    # ---------------------------------------------------------------- counting

    def count(self, X: Any) -> Features:
        """Count the features of graphs, without applying the map ``counts``.

        The kernel need not be fitted and is not modified.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs

        Returns
        -------
        Features

        Examples
        --------
        >>> import graphgrain as gg
        >>> gg.VertexHistogram().count([([(0, 1)], ["C", "C"]), ([], ["C"])]).levels[0].counts
        array([2, 1])
        """
        check_parameters(self)
        return self._counted(as_graphs(X))

    def _counted(self, batch: GraphBatch) -> Features:
        return Features(self.count_features(batch), self._whole_counts, self.similarity)

    def _mapped(self, batch: GraphBatch) -> Features:
        return self._counted(batch).mapped(self.counts)

    # ---------------------------------------------------------------- fit

    @property
    def _stateless(self) -> bool:
        """Whether the output depends on nothing learned in fit."""
        return self.output == "features" and self.n_features is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = not self._stateless
        return tags

    def _fit(self, batch: GraphBatch) -> None:
        if not self._stateless:
            self.graphs_ = batch
            #: Names of levels and hashes of names, decoded once and left out of copies.
            self._decoded: dict[int | str, Any] = {}
            self.columns_: FeatureColumns = self._mapped(batch).columns(self.n_jobs)

    def _checked(self, X: Any) -> GraphBatch:
        if self._stateless and not hasattr(self, "n_graphs_"):
            check_parameters(self)
            return as_graphs(X)
        return super()._checked(X)

    def _check_counted(self) -> None:
        """Raise an error unless fit has stored the features, with the current parameters."""
        if self._stateless and not hasattr(self, "columns_"):
            raise InvalidParameterError(
                "With output='features' and n_features, fit learns no features: columns are "
                "shared and have no names. Fit with n_features=None."
            )
        check_is_fitted(self, "columns_")
        self._check_unchanged()

    @property
    def vocabulary_(self) -> list[np.ndarray]:
        """Sorted feature hashes of each level."""
        if "columns_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is not fitted: it has no vocabulary_.")
        return self.columns_.vocabulary

    @property
    def level_offsets_(self) -> np.ndarray:
        """First column of each level, and the total number of columns."""
        return self.columns_.offsets

    def at_level(self, level: int) -> Self:
        """Return the fitted kernel truncated at a lower level, without counting again.

        Parameters
        ----------
        level : int
            New value of :attr:`level_parameter` (``tree_depth`` for Tree++), at most that of this
            kernel.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs = [([(0, 1), (1, 2)], [1, 1, 2]), ([(0, 1)], [1, 2])]
        >>> kernel = gg.TreePlusPlus(tree_depth=3, similarity="dot").fit(graphs)
        >>> kernel.at_level(0).transform(graphs).astype(int).tolist()
        [[17, 7], [7, 6]]
        """
        self._check_counted()
        name = self.level_parameter
        allowed = Whole(0, len(self.vocabulary_) - 1)
        if not allowed.allows(level):
            raise InvalidParameterError(f"{name or 'level'} must be {allowed}; got {level!r}.")
        if name is None and level < len(self.vocabulary_) - 1:
            raise InvalidParameterError(
                f"{type(self).__name__} has no level_parameter, which at_level would set to "
                f"{level}. Use gram_levels, or fit with other parameters."
            )
        kernel = copy(self)
        kernel._decoded = {}
        if name is not None:
            setattr(kernel, name, level)
            kernel._fitted_with = {**self._fitted_with, name: level}
        kernel.columns_ = self.columns_.first_levels(level + 1)
        return kernel

    # ---------------------------------------------------------------- Gram matrices

    def gram(self) -> np.ndarray:
        self._check_counted()
        return self._at_work(self._gram_of_fitted)

    def _gram_of_fitted(self) -> np.ndarray:
        return list(self._grams())[-1]

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        return list(self._grams(self._mapped(batch)))[-1]

    def gram_levels(self, X: Any = None) -> np.ndarray:
        """Return the Gram matrices of all levels, computed in one pass.

        Entry ``k`` of the result is the Gram matrix of the same kernel truncated at level ``k``
        (for Tree++, with ``tree_depth=k``).

        Parameters
        ----------
        X : graphs, optional
            New graphs to compare with the fitted ones. By default the fitted graphs themselves.

        Returns
        -------
        array of shape (levels, graphs, fitted graphs)

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs = [([(0, 1), (1, 2)], [1, 1, 2]), ([(0, 1)], [1, 2])]
        >>> kernel = gg.TreePlusPlus(tree_depth=1, similarity="dot").fit(graphs)
        >>> kernel.gram_levels().astype(int).tolist()
        [[[17, 7], [7, 6]], [[32, 8], [8, 12]]]
        """
        self._check_counted()
        new = None if X is None else self._mapped(self._checked(X))
        rows = self.n_graphs_ if new is None else len(new)
        self._check_memory(rows, self.n_graphs_, len(self.vocabulary_))
        levels = np.empty((len(self.vocabulary_), rows, self.n_graphs_))
        for level, K in enumerate(self._grams(new, every_level=True)):
            levels[level] = K
        return levels

    def each_gram_level(self) -> Iterator[np.ndarray]:
        """Yield the matrices of :meth:`gram_levels` one by one, to save memory."""
        self._check_counted()
        yield from self._grams(every_level=True)

    def _grams(
        self, new: Features | None = None, every_level: bool = False
    ) -> Iterator[np.ndarray]:
        """Gram matrices of the fitted graphs, or of new with fitted graphs; last level or all."""
        return self.columns_.grams(self.similarity, self.n_jobs, every_level, new)

    # ---------------------------------------------------------------- explicit features

    def _output_of_fitted(self, batch: GraphBatch) -> Output:
        if self._stateless:
            return self._hashed(batch)
        if self.output == "gram":
            return self._gram_of_fitted()
        return self.columns_.scaled(self.level_scales).matrix()

    def _output_with_fitted(self, batch: GraphBatch) -> Output:
        if self._stateless:
            return self._hashed(batch)
        self._check_counted()
        if self.output == "gram":
            return self._gram_with_fitted(batch)
        return self.columns_.matrix(self._mapped(batch).scaled(self.level_scales))

    def _hashed(self, batch: GraphBatch) -> csr_array:
        """Return the matrix whose columns are hashes modulo ``n_features``."""
        assert self.n_features is not None
        features = self._mapped(batch).scaled(self.level_scales)
        return features.hashed_matrix(self.n_features, self.n_jobs)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return a name for each column of the output.

        With ``output="features"`` these are the :meth:`feature_names`. With ``output="gram"``,
        where columns are fitted graphs, and with ``n_features``, where features share columns,
        they are the lowercase class name and a number.

        Parameters
        ----------
        input_features : ignored
        """
        if self._stateless:
            assert self.n_features is not None
            return numbered_names(self, self.n_features)
        return super().get_feature_names_out() if self.output == "gram" else self.feature_names()

    def feature_names(self) -> np.ndarray:
        """Return readable names of the features, independent of ``output``.

        For molecules, names are SMARTS that match every occurrence of the feature, followed by a
        space, the level and details that SMARTS cannot express. For other graphs, names are labels
        joined by arrows.

        Examples
        --------
        >>> import graphgrain as gg
        >>> gg.VertexHistogram().fit([([(0, 1)], ["C", "O"])]).feature_names().tolist()
        ['O', 'C']
        """
        self._check_counted()
        names = [name for level in range(len(self.vocabulary_)) for name in self._names(level)]
        return np.array(names, dtype=object)

    def _decoded_names(self, level: int, write: Callable[..., list[str]]) -> list[str]:
        """Return the fitted names of a level, written by ``names_of`` or ``descriptions_of``."""
        self._check_counted()
        vocabulary = self.vocabulary_[level]
        if self.counts != "intersection":
            return write(self.graphs_, level, vocabulary)
        base, times = repeated(self.count_features(self.graphs_)[level])
        found = find_columns(expanded_hashes(base, times), vocabulary)
        hash_of = np.empty(len(vocabulary), dtype=np.uint64)
        times_of = np.empty(len(vocabulary), dtype=np.int64)
        hash_of[found], times_of[found] = base, times
        distinct, place = np.unique(hash_of, return_inverse=True)
        described = write(self.graphs_, level, distinct)
        return [
            at_least(described[which], count)
            for which, count in zip(place.tolist(), times_of.tolist(), strict=True)
        ]

    def _names(self, level: int) -> list[str]:
        """Return the names of the fitted features of a level, in order (cached)."""
        if level not in self._decoded:
            self._decoded[level] = self._decoded_names(level, self.names_of)
        names: list[str] = self._decoded[level]
        return names

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {**state, "_decoded": {}} if "_decoded" in state else state

    # ---------------------------------------------------------------- locating features

    def locate(self, graph: Any) -> list[Occurrences]:
        """Return all occurrences of all features of one graph, level by level.

        The kernel need not be fitted.

        Parameters
        ----------
        graph : GraphBatch with one graph, or a list with one graph

        Returns
        -------
        list of Occurrences
            One per level, with the arrays ``hashes``, ``paths``, ``trees`` and, unless every
            occurrence counts 1, ``weights``.

        Examples
        --------
        >>> import graphgrain as gg
        >>> [found] = gg.EdgeHistogram().locate([([(0, 1), (1, 2)], ["C", "C", "O"])])
        >>> len(found.hashes), found.paths.tolist()
        (2, [[0, 1], [1, 2]])
        """
        check_parameters(self)
        [levels] = self.locate_each(one_graph(as_graphs(graph), "locate"))
        return levels

    def occurrences(self, graph: Any, feature: int | str) -> list[tuple[int, ...]]:
        """Return the vertices of a graph at which a feature occurs.

        Parameters
        ----------
        graph : GraphBatch with one graph, or a list with one graph
        feature : int or str
            A column of the feature matrix, its name, or the long form of the name.

        Returns
        -------
        list of tuples of vertex numbers
            One tuple per occurrence: the vertices along a path, the ends of an edge or of a pair,
            or a single vertex, depending on the kernel. For Tree++ a path and its reverse both
            count; if several shortest paths have the same pattern, one of them represents all.
            With ``counts="intersection"``, the column "at least 3 times" gives all occurrences
            if there are 3 or more, and none otherwise. With ``n_features`` a column may contain
            several patterns; the occurrences of all of them are returned.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graph = [([(0, 1), (1, 2)], ["C", "C", "O"])]
        >>> kernel = gg.PathPattern(path_depth=1).fit(graph)
        >>> kernel.occurrences(graph, "C->O")
        [(1, 2), (2, 1)]
        """
        batch = one_graph(self._checked(graph), "occurrences")
        [levels] = self.locate_each(batch)
        if isinstance(feature, str):
            found, patterns = self._with_name(batch, levels, feature)
            return found.of(patterns)
        return self._in_column(levels, feature)

    def _in_column(self, levels: list[Occurrences], column: int) -> list[tuple[int, ...]]:
        """Return the occurrences of the pattern of a column, or of all that share it."""
        count = self.n_features
        if not self._stateless:
            self._check_counted()
            count = int(self.level_offsets_[-1])
        if count is None or not 0 <= column < count:
            raise IndexError(f"Feature {column} is out of range: there are {count} columns.")
        tuples: list[tuple[int, ...]] = []
        for number, level in enumerate(levels):
            hashes, counts = np.unique(level.hashes, return_counts=True)
            units = map_counts(Counts(np.ones(len(hashes), int), hashes, counts), self.counts)
            there = self.columns_of(units.hashes, number) == column
            tuples += level.of(hashes[np.unique(units.rows[there])])
        return sorted(tuples)

    def columns_of(self, hashes: np.ndarray, level: int) -> np.ndarray:
        """Return the columns of some features of a level, -1 for those that have none.

        Examples
        --------
        >>> import graphgrain as gg
        >>> kernel = gg.VertexHistogram().fit([([(0, 1)], ["C", "O"])])
        >>> columns = kernel.columns_of(gg.hash_labels(["C", "O", "N"]), 0)
        >>> columns.tolist(), kernel.feature_names().tolist()
        ([1, 0, -1], ['O', 'C'])
        """
        if self._stateless:
            assert self.n_features is not None
            return columns_of_hashes(hashes, level, self.n_features)
        columns = find_columns(hashes, self.vocabulary_[level])
        return np.where(columns < 0, -1, columns + self.level_offsets_[level])

    def _with_name(
        self, batch: GraphBatch, levels: list[Occurrences], feature: str
    ) -> tuple[Occurrences, np.ndarray]:
        """Return the occurrences of the level of a named feature, and the hashes with that name.

        A fitted kernel decodes a name once for all graphs.
        """
        name, times = times_of_name(feature) if self.counts == "intersection" else (feature, 1)
        decoded = self._decoded if hasattr(self, "columns_") else {}
        if name not in decoded:
            decoded[name] = self._named_in(batch, levels, name) or self._named_in_fitted(name)
        if decoded[name] is None:
            raise KeyError(f"No feature has the name {feature!r}; feature_names() lists them.")
        level, codes = decoded[name]
        distinct, counts = np.unique(levels[level].hashes, return_counts=True)
        return levels[level], distinct[np.isin(distinct, codes) & (counts >= times)]

    def _named_in(
        self, batch: GraphBatch, levels: list[Occurrences], name: str
    ) -> tuple[int, np.ndarray] | None:
        """Return the level and the hashes of a graph's own patterns with a name."""
        for level, found in enumerate(levels):
            distinct = np.unique(found.hashes)
            for write in (self.names_of, self.descriptions_of):
                matches = np.array(write(batch, level, distinct), dtype=object) == name
                if matches.any():
                    return level, distinct[matches]
        return None

    def _named_in_fitted(self, name: str) -> tuple[int, np.ndarray] | None:
        """Return the level and the hash of the first fitted pattern with a name.

        With several shapes of a pattern in the fitted graphs, its name lists all of them.
        """
        self._check_counted()
        for write in (self._names, partial(self._decoded_names, write=self.descriptions_of)):
            for level, vocabulary in enumerate(self.vocabulary_):
                names = write(level)
                if name in names:
                    return level, vocabulary[[names.index(name)]]
        return None


def check_explicit(kernel: Any, who: str, fixed: bool = False) -> FeatureKernel:
    """Return a kernel with explicit features; ``who`` needs it, and begins the error message.

    With ``fixed``, the features must also be the same whenever they are counted.
    """
    if not isinstance(kernel, FeatureKernel):
        raise InvalidParameterError(
            f"{who} needs a kernel with explicit features; got {kernel!r}. Use TreePlusPlus, "
            "WeisfeilerLehman, ShortestPath, Propagation or a histogram."
        )
    if fixed and kernel.get_params().get("random_state", 0) is None:
        raise InvalidParameterError(
            f"{who} needs the same features every time; random_state=None draws others for each "
            "batch. Give it a number."
        )
    return kernel


def one_graph(batch: GraphBatch, method: str) -> GraphBatch:
    """Return the batch, or raise an error if it does not contain exactly one graph."""
    if len(batch) != 1:
        raise InvalidGraphError(f"{method} looks at one graph; got {len(batch)}. Use graphs[i].")
    return batch
