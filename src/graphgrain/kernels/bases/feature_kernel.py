"""FeatureKernel: kernels whose features can be listed, all along one path.

A subclass counts (``count_features``: for every level, the distinct 64-bit hashes of each graph
and how often each occurs) and, to be explained, points (``locate_each``: where features sit).
Everything else is done here and in :class:`~graphgrain.kernels.features.Features`: columns, Gram
matrices, sparse matrices, names, and what it will cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...core.counting import RootedFeatures, find_columns
from ...core.structures import Csc
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
from .estimate import Estimate, estimate_by_pieces, estimate_cost
from .graph_kernel import GraphKernel, numbered_names

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from .graph_kernel import Output


class FeatureKernel(GraphKernel):
    """Base class of the kernels with explicit features.

    A kernel of your own writes one method, ``count_features``: for every level the distinct
    features of each graph, as 64-bit hashes, and how often each occurs. To be explained it also
    says where features are (``locate_each``). All others come from here, and so do the parameters;
    those of its own it declares as in the example.

    Parameters
    ----------
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    count_hashes : Counts from one hash for each occurrence.
    hash_labels : Hashes of labels.

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

    parameters_after_counting = GraphKernel.parameters_after_counting | {"counts", "n_features"}
    _used_at_fit = frozenset({"counts"})
    #: The parameter that says where the levels end; None for kernels with a single level.
    level_parameter: ClassVar[str | None] = None

    #: Whether counts are integers below 2^53, so that their products may be added in any order.
    _whole_counts: ClassVar[bool] = True

    @property
    def level_scales(self) -> np.ndarray:
        """What the (mapped) counts of each level are multiplied with to become features."""
        name = self.level_parameter
        return np.ones(1 if name is None else 1 + getattr(self, name))

    # ---------------------------------------------------------------- what a kernel writes

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        """Distinct features of each graph and their counts, one item per level."""
        raise InvalidParameterError(
            f"{type(self).__name__} must say what it counts: give it a method count_features, as "
            "VertexHistogram has it."
        )

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """What :meth:`locate` gives, for each graph of a batch.

        A kernel that does not say where its features are can do all but point to them.
        """
        raise InvalidParameterError(
            f"{type(self).__name__} does not say where its features are. Give it a method "
            "locate_each, as VertexHistogram has it, to explain its models."
        )

    def estimate_large(self, graph: GraphBatch) -> Estimate:
        """What counting the features of one large graph will cost."""
        return estimate_by_pieces(self, graph)

    def _roots(self, batch: GraphBatch) -> Callable[[int], RootedFeatures] | None:
        """For kernels that count root by root: the features of each graph, by its number."""
        return None

    def names_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        """Readable names of some features of a level, each of which occurs in the graphs.

        The kernel need not be fitted. Without short names of its own it has the long form.

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
        """The same as :meth:`names_of` in the long form: the level first, every label in full.

        The hash itself, unless a kernel knows better.

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
        """The features of graphs, as they are counted, before any map of counts.

        The kernel need not be fitted, and stays as it is.

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
        return Features(self.count_features(batch), self._whole_counts)

    def _mapped(self, batch: GraphBatch) -> Features:
        return self._counted(batch).mapped(self.counts)

    def estimate(self, X: Any) -> Estimate:
        """What fitting to these graphs will cost, about; takes seconds at most, as a rule.

        The features of some graphs, and of some vertices or pieces of each graph with thousands of
        vertices, are counted. The kernel need not be fitted, and stays as it is.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs

        Returns
        -------
        Estimate
            Processor seconds until the features are counted, and bytes of memory, those of a
            Gram matrix included where ``output="gram"``.

        Examples
        --------
        >>> import graphgrain as gg
        >>> path = [([(v, v + 1) for v in range(2000)], [0] * 2001)]
        >>> cost = gg.ShortestPath().estimate(path)
        >>> bool(cost.seconds < 60 and cost.bytes < 2**30)
        True
        """
        check_parameters(self)
        return estimate_cost(self, as_graphs(X), self._gives_gram)

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
            self._fit_features(batch, self._counted(batch))
            return
        for name in ("graphs_", "columns_"):
            self.__dict__.pop(name, None)  # of an earlier fit

    def _checked(self, X: Any) -> GraphBatch:
        if self._stateless and not hasattr(self, "n_graphs_"):
            check_parameters(self)
            return as_graphs(X)
        return super()._checked(X)

    def fit_counted(self, batch: GraphBatch, counted: Features) -> Self:
        """Fit to graphs whose features are counted already.

        Kernels that differ in nothing but ``counts`` have the same features; counting them is
        most of the work, and is done once for all of them.

        Parameters
        ----------
        batch : GraphBatch
        counted : Features
            What :meth:`count` of such a kernel has given.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs = gg.as_graphs([([(0, 1), (1, 2)], [1, 1, 2]), ([(0, 1)], [1, 2])])
        >>> counted = gg.TreePlusPlus().count(graphs)
        >>> shared = gg.TreePlusPlus(counts="sqrt").fit_counted(graphs, counted)
        >>> alone = gg.TreePlusPlus(counts="sqrt").fit(graphs)
        >>> bool((shared.transform(graphs) == alone.transform(graphs)).all())
        True
        """
        check_parameters(self)
        self._begin_fit(batch)
        self._fit_features(batch, counted)
        return self

    def _fit_features(self, batch: GraphBatch, counted: Features) -> None:
        self.graphs_ = batch
        self._forget_names()
        self.columns_: FeatureColumns = counted.mapped(self.counts).columns(self.n_jobs)

    @property
    def vocabulary_(self) -> list[np.ndarray]:
        """Sorted feature hashes of each level."""
        if "columns_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is not fitted: it has no vocabulary_.")
        return self.columns_.vocabulary

    @property
    def features_(self) -> Csc:
        """The features of the fitted graphs by columns, counts mapped, levels not scaled."""
        return self.columns_.entries

    @property
    def squared_norms_(self) -> np.ndarray:
        """Sum of squares of the features of each level (rows) and fitted graph (columns)."""
        return self.columns_.squares

    @property
    def level_offsets_(self) -> np.ndarray:
        """Where the columns of each level begin."""
        return self.columns_.offsets

    def at_level(self, level: int) -> Self:
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
        >>> kernel = gg.TreePlusPlus(tree_depth=3, similarity="dot").fit(graphs)
        >>> kernel.at_level(0).transform(graphs).astype(int).tolist()
        [[17, 7], [7, 6]]
        """
        check_is_fitted(self, "columns_")
        name = self.level_parameter
        allowed = Whole(0, len(self.vocabulary_) - 1)
        if not allowed.allows(level):
            raise InvalidParameterError(f"{name or 'level'} must be {allowed}; got {level!r}.")
        kernel = copy(self)
        kernel._forget_names()
        if name is not None:
            setattr(kernel, name, level)
            kernel._fitted_with = {**self._fitted_with, name: level}
        kernel.columns_ = self.columns_.first_levels(level + 1)
        return kernel

    # ---------------------------------------------------------------- Gram matrices

    def gram(self) -> np.ndarray:
        check_is_fitted(self, "columns_")
        return self._at_work(self._gram_of_fitted)

    def _gram_of_fitted(self) -> np.ndarray:
        return list(self._grams())[-1]

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        return list(self._grams(self._mapped(batch)))[-1]

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
        >>> kernel = gg.TreePlusPlus(tree_depth=1, similarity="dot").fit(graphs)
        >>> kernel.gram_levels().astype(int).tolist()
        [[[17, 7], [7, 6]], [[32, 8], [8, 12]]]
        """
        check_is_fitted(self, "columns_")
        new = None if X is None else self._mapped(self._checked(X))
        rows = self.n_graphs_ if new is None else len(new)
        self._check_memory(rows, self.n_graphs_, len(self.vocabulary_))
        levels = np.empty((len(self.vocabulary_), rows, self.n_graphs_))
        for level, K in enumerate(self._grams(new, every_level=True)):
            levels[level] = K
        return levels

    def each_gram_level(self) -> Iterator[np.ndarray]:
        """The Gram matrices of :meth:`gram_levels` one by one, for sets too large to hold all."""
        check_is_fitted(self, "columns_")
        yield from self._grams(every_level=True)

    def _grams(
        self, new: Features | None = None, every_level: bool = False
    ) -> Iterator[np.ndarray]:
        """Gram matrices of the fitted graphs, or of new ones with them; the last level or all."""
        if new is None:
            return self.columns_.grams(self.similarity, self.n_jobs, every_level)
        return self.columns_.comparisons(new, self.similarity, self.n_jobs, every_level)

    # ---------------------------------------------------------------- explicit features

    def _output_of_fitted(self, batch: GraphBatch) -> Output:
        if self._stateless:
            return self._hashed(batch)
        return self._gram_of_fitted() if self.output == "gram" else self._sparse()

    def _output_with_fitted(self, batch: GraphBatch) -> Output:
        if self._stateless:
            return self._hashed(batch)
        check_is_fitted(self, "columns_")
        if self.output == "gram":
            return self._gram_with_fitted(batch)
        return self._sparse(self._mapped(batch))

    def _hashed(self, batch: GraphBatch) -> csr_array:
        """Columns that are hashes modulo their number."""
        assert self.n_features is not None
        features = self._mapped(batch)
        return features.hashed_matrix(self.n_features, self.level_scales, self.n_jobs)

    def _sparse(self, features: Features | None = None) -> csr_array:
        """The fitted graphs, or new ones, in the fitted columns."""
        matrix = self.columns_.matrix(features)
        scales = self.level_scales
        if (scales != 1.0).any():
            sizes = [len(vocabulary) for vocabulary in self.vocabulary_]
            matrix.data *= np.repeat(scales, sizes)[matrix.indices]
        return matrix

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

        For molecules they are SMARTS that match wherever the feature occurs, with the level and
        what SMARTS cannot say behind a space; for other graphs labels with arrows between them.

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
        if self._stateless and not hasattr(self, "columns_"):
            raise InvalidParameterError(
                f"Features have names if fit has seen them; with n_features={self.n_features} "
                "columns are shared and nothing is learned. Fit with n_features=None."
            )
        check_is_fitted(self, "columns_")

    def _decoded_names(self, level: int) -> list[str]:
        self._check_named()
        vocabulary = self.vocabulary_[level]
        if self.counts != "intersection":
            return self.names_of(self.graphs_, level, vocabulary)
        base, times = repeated(self.count_features(self.graphs_)[level])
        found = find_columns(expanded_hashes(base, times), vocabulary)
        hash_of = np.empty(len(vocabulary), dtype=np.uint64)
        times_of = np.empty(len(vocabulary), dtype=np.int64)
        hash_of[found], times_of[found] = base, times
        distinct, place = np.unique(hash_of, return_inverse=True)
        described = self.names_of(self.graphs_, level, distinct)
        return [
            at_least(described[which], count)
            for which, count in zip(place.tolist(), times_of.tolist(), strict=True)
        ]

    def _names(self, level: int) -> list[str]:
        """The names of the fitted features of a level, in order; decoded once and remembered."""
        remembered: dict[int, list[str]] = self.__dict__.setdefault("_remembered_names", {})
        if level not in remembered:
            remembered[level] = self._decoded_names(level)
        return remembered[level]

    def _forget_names(self) -> None:
        self.__dict__.pop("_remembered_names", None)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_remembered_names"}

    # ---------------------------------------------------------------- pointing to features

    def locate(self, graph: Any) -> list[Occurrences]:
        """All occurrences of all features of one graph, level by level.

        The kernel need not be fitted.

        Parameters
        ----------
        graph : GraphBatch with one graph, or a list with one graph

        Returns
        -------
        list of Occurrences
            One per level, with the arrays ``hashes``, ``paths``, ``trees`` and, where occurrences
            do not count 1 each, ``weights``.

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
        """The vertices of a graph that produce a feature.

        Parameters
        ----------
        graph : GraphBatch with one graph, or a list with one graph
        feature : int or str
            A column of the feature matrix, its name, or the long form of the name.

        Returns
        -------
        list of tuples of vertex numbers
            As many as the feature counts: the vertices along a path, the ends of an edge or of
            a pair, or a single vertex, as the kernel has it. For Tree++ a path and its reverse
            both count; where several shortest paths carry the same pattern, one of them stands
            for all. With ``counts="intersection"`` the column "at least 3 times" gives all
            occurrences where there are 3 or more, and none elsewhere. With ``n_features`` a
            column may hold several patterns: the occurrences of all of them.

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
        elif self._stateless:
            return self._in_shared_column(levels, feature)
        else:
            level, code = self._level_of_column(feature)
            found, patterns = levels[level], self._patterns_behind(levels[level], code)
        return found.of(patterns)

    def _in_shared_column(self, levels: list[Occurrences], column: int) -> list[tuple[int, ...]]:
        """The occurrences of all patterns that meet in a column of ``n_features``."""
        assert self.n_features is not None
        if not 0 <= column < self.n_features:
            raise IndexError(f"Feature {column} is out of range: there are {self.n_features}.")
        found: list[tuple[int, ...]] = []
        for number, level in enumerate(levels):
            hashes, counts = np.unique(level.hashes, return_counts=True)
            units = map_counts(Counts(np.ones(len(hashes), int), hashes, counts), self.counts)
            owners = np.repeat(np.arange(len(hashes)), units.lengths)
            there = columns_of_hashes(units.hashes, number, self.n_features) == column
            found += level.of(hashes[np.unique(owners[there])])
        return sorted(found)

    def _with_name(
        self, batch: GraphBatch, levels: list[Occurrences], feature: str
    ) -> tuple[Occurrences, np.ndarray]:
        """The patterns of a graph that bear a name, and their level.

        The names of the graph's own patterns are read first; those of the fitted graphs only if
        it is not among them, level by level, and then remembered.
        """
        name, times = times_of_name(feature) if self.counts == "intersection" else (feature, 1)
        for level, found in enumerate(levels):
            distinct, counts = np.unique(found.hashes, return_counts=True)
            for write in (self.names_of, self.descriptions_of):
                matches = np.array(write(batch, level, distinct), dtype=object) == name
                if matches.any():
                    return found, distinct[matches & (counts >= times)]
        for level, found in enumerate(levels):
            # The fitted graphs may show more forms of a pattern, and its name then tells them all.
            names = self._names(level)
            if feature in names:
                code = self.vocabulary_[level][names.index(feature)]
                return found, self._patterns_behind(found, code)
        raise KeyError(f"No feature has the name {feature!r}; feature_names() lists them.")

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


def one_graph(batch: GraphBatch, method: str) -> GraphBatch:
    """The batch, or an error if it is not a single graph."""
    if len(batch) != 1:
        raise InvalidGraphError(f"{method} looks at one graph; got {len(batch)}. Use graphs[i].")
    return batch
