"""GraphKernel: scikit-learn interface, input conversion and validation of all kernels."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...core.gram import finish
from ...core.memory import require_memory
from ...core.similarity import COSINE
from ...core.threads import in_one_worker, with_one_blas_thread
from ...errors import (
    GraphgrainWarning,
    InvalidGraphError,
    InvalidParameterError,
    NotEnoughMemoryError,
)
from ...graphs.batch import GraphBatch
from ...graphs.convert.dispatch import as_graphs
from ...graphs.isomorphism import differ_only_in_edge_labels
from ...graphs.processes import progress_bar
from ...parameters import (
    JOBS,
    VERBOSITY,
    OneOf,
    all_or_nothing,
    check_parameters,
    parameter,
)
from ...views.base import GraphTransformer

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    #: A Gram matrix, or a sparse feature matrix for kernels with explicit features.
    Output: TypeAlias = np.ndarray | csr_array

Result = TypeVar("Result")

#: Parameters that change no result, and those that change no similarity either.
RUN_PARAMETERS = frozenset({"n_jobs", "verbose"})
OUTPUT_PARAMETERS = RUN_PARAMETERS | {"output", "n_features"}
#: Seconds after which a step shows a progress bar.
_PATIENCE = 2.0
#: Up to this number of graphs, quick kernels take less than about a millisecond.
_FEW = 1024


class GraphKernel(GraphTransformer, ABC, auto_wrap_output_keys=("transform",)):
    """Base class of all graph kernels.

    ``fit`` accepts graphs in any form supported by :func:`graphgrain.as_graphs`. ``fit_transform``
    returns the square Gram matrix of the fitted graphs, ``transform`` the rectangular matrix
    between new graphs (rows) and the fitted graphs (columns).

    Unless the similarity is the dot product, graphs without features have similarity 1 with each
    other and 0 with all other graphs. A graph without vertices has no features for any kernel.

    Subclasses implement ``_fit``, ``_gram_of_fitted`` and ``_gram_with_fitted`` and inherit the
    parameters below. They declare their own parameters as in a dataclass, with a type and a
    default (``radius: int = 2``), or in ``__init__``.

    Parameters
    ----------
    similarity : {"cosine", "dot"}, default="cosine"
        "dot" is the kernel value itself; "cosine" divides it by the square roots of both graphs'
        self-similarities, so that every graph has similarity 1 with itself.
    n_jobs : int, optional
        Number of threads. None means 1 unless set by ``joblib.parallel_config``, -1 all cores.
        The result does not depend on it.
    verbose : int, default=0
        If 1 or more, show a progress bar on standard error for steps that take longer than two
        seconds.

    See Also
    --------
    FeatureKernel : Base class of the kernels with explicit features; easier to subclass.

    Examples
    --------
    >>> import numpy as np
    >>> import graphgrain as gg
    >>> class Sizes(gg.GraphKernel):
    ...     def _fit(self, batch):
    ...         self.sizes_ = batch.vertex_counts
    ...     def _gram_of_fitted(self):
    ...         return self._ratios(self.sizes_)
    ...     def _gram_with_fitted(self, batch):
    ...         return self._ratios(batch.vertex_counts)
    ...     def _ratios(self, sizes):
    ...         return np.minimum.outer(sizes, self.sizes_) / np.maximum.outer(sizes, self.sizes_)
    >>> Sizes().fit_transform([([], ["C"]), ([(0, 1)], ["C", "O"])]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """

    similarity: str = parameter(
        OneOf(("cosine", "dot"), "'minmax' compares explicit features"), default="cosine"
    )
    n_jobs: int | None = parameter(JOBS, default=None)
    verbose: int = parameter(VERBOSITY, default=0)

    #: Whether similarities, other than dot products, are promised to be from 0 to 1.
    unit_similarities: ClassVar[bool] = False
    #: Parameters that only affect how extracted features are used. Kernels that differ in no
    #: other parameters can share the extraction.
    parameters_after_counting: ClassVar[frozenset[str]] = OUTPUT_PARAMETERS | {"similarity"}
    #: Those of ``parameters_after_counting`` that fit uses; they must not change afterwards.
    _used_at_fit: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # scikit-learn's set_output: a Gram matrix can be returned as a table, one column per graph
        super().__init_subclass__(**{"auto_wrap_output_keys": ("transform",), **kwargs})

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the kernel to graphs.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
        y : ignored
        """
        check_parameters(self)
        batch = as_graphs(X)
        self._at_work(lambda: self._fit_batch(batch), batch)
        return self

    def _is_quick(self, batch: GraphBatch) -> bool:
        """Return whether ``fit_transform`` takes about a microsecond per graph.

        It may then call each ``plain_entry_point`` in the main thread, and should call no other.
        """
        return False

    def _at_work(self, work: Callable[[], Result], fitted: GraphBatch | None = None) -> Result:
        """Run ``work`` with a progress bar if requested, and with BLAS limited to one thread.

        Results must not depend on ``n_jobs``, and BLAS sums depend on its number of threads.
        ``fitted`` are the graphs to fit, if this is a fit.
        """
        bar = None
        if self.verbose:
            name = type(self).__name__
            bar = partial(progress_bar, True, unit="parts", description=name, delay=_PATIENCE)
        try:
            # User-defined kernels may run Python, which Ctrl-C only stops in the main thread.
            if not type(self).__module__.startswith("graphgrain."):
                return with_one_blas_thread(work, bar)
            brief = (
                fitted is not None
                and self._is_quick(fitted)
                and len(fitted) <= _FEW
                and fitted.n_vertices <= 32 * _FEW
            )
            return in_one_worker(work, self.n_jobs, bar, brief)
        except NotEnoughMemoryError:
            raise
        except MemoryError as error:
            raise NotEnoughMemoryError(
                f"{self!r} needs more memory than there is ({error}). Use fewer graphs, or smaller "
                "values of its parameters."
            ) from None

    def _fit_batch(self, batch: GraphBatch, for_gram: bool = False) -> None:
        """Fit to a batch; if that fails, the kernel stays as an earlier fit left it."""
        with all_or_nothing(self):
            for name in self.__dict__.get("_learned", ()):  # by an earlier fit
                self.__dict__.pop(name, None)
            before = set(self.__dict__)
            self._begin_fit(batch)
            if for_gram:
                self._check_memory(self.n_graphs_, self.n_graphs_)
            self._fit(batch)
            self._learned = set(self.__dict__) - before

    def _begin_fit(self, batch: GraphBatch) -> None:
        self.n_graphs_ = len(batch)
        if not self.n_graphs_:
            raise InvalidGraphError(
                f"{type(self).__name__} needs at least one graph to fit; got an empty list."
            )
        self.warn_of_unused(batch)
        self.label_kind_ = batch.label_kind
        self._edge_label_kind = batch.edge_label_kind
        self._empty = batch.vertex_counts == 0
        self._fitted_with = self._fixed_by_fit()

    def warn_of_unused(self, batch: GraphBatch) -> None:
        """Say once for each batch and kernel what was asked for and is not used."""
        name = type(self).__name__
        if batch.told is not None and "attributes" not in self.sees and name not in batch.told:
            batch.told.add(name)
            warnings.warn(
                f"{name} does not use the attributes that were asked for. "
                "gg.AttributeBins(on='vertex' or 'edge') makes labels of them "
                "(edge_labels=True uses those of edges); "
                "gg.Propagation(attributes=True) and gg.AttributedGraphHopper() use those of "
                "vertices.",
                GraphgrainWarning,
                stacklevel=2,
            )
        if "edge labels" not in self.sees and differ_only_in_edge_labels(batch):
            warnings.warn(
                f"{name} does not use edge labels, and these graphs differ in nothing else. "
                + (
                    "edge_labels=True uses them."
                    if hasattr(self, "edge_labels")
                    else "gg.TreePlusPlus(edge_labels=True) does."
                ),
                GraphgrainWarning,
                stacklevel=2,
            )

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Output:
        """Fit to the graphs and return their Gram matrix (or features)."""
        check_parameters(self)
        batch = as_graphs(X)

        def work() -> Output:
            self._fit_batch(batch, for_gram=self._gives_gram)
            return self._output_of_fitted(batch)

        return self._at_work(work, batch)

    def gram(self) -> np.ndarray:
        """Return the Gram matrix of the fitted graphs, equal to that of ``fit_transform``.

        Examples
        --------
        >>> import graphgrain as gg
        >>> gg.ShortestPath().fit([([(0, 1)], ["C", "O"]), ([(0, 1)], ["C", "N"])]).gram().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        check_is_fitted(self, "n_graphs_")
        self._check_unchanged()
        return self._at_work(self._own_gram)

    def transform(self, X: Any) -> Output:
        """Compare graphs (rows) with the fitted graphs (columns), or return their features."""
        batch = self._checked(X)
        if self._gives_gram:
            self._check_memory(len(batch), self.n_graphs_)
        return self._at_work(lambda: self._output_with_fitted(batch))

    @property
    def _gives_gram(self) -> bool:
        return getattr(self, "output", "gram") == "gram"

    def _check_memory(self, rows: int, columns: int, levels: int = 1) -> None:
        """Raise an error if Gram matrices of this size would not fit into memory."""
        instead = "Use fewer graphs"
        if hasattr(self, "output"):
            instead += (
                ", or output='features' with a linear model (n_features=2**20 needs no vocabulary)"
            )
        require_memory(
            8.0 * rows * columns * (levels + 1),  # one extra during the computation
            f"A kernel matrix of {rows:,} x {columns:,} graphs"
            + (f" for {levels} levels" if levels > 1 else ""),
            instead,
        )

    def _checked(self, X: Any) -> GraphBatch:
        """Convert and validate new graphs for a fitted kernel."""
        check_is_fitted(self, "n_graphs_")
        self._check_unchanged()
        batch = as_graphs(X)
        if batch.n_vertices and batch.label_kind != self.label_kind_ and self._uses_labels:
            raise InvalidGraphError(
                f"The graphs must have labels of the kind seen at fit ({self.label_kind_}); got "
                f"{batch.label_kind}. Convert them with GraphBatch.with_labels."
            )
        kinds = {self._edge_label_kind, batch.edge_label_kind} - {None}
        if len(kinds) > 1 and "edge labels" in self.sees:
            raise InvalidGraphError(
                "The graphs must have edge labels of the kind seen at fit "
                f"({self._edge_label_kind}); got {batch.edge_label_kind}."
            )
        return batch

    def _check_unchanged(self) -> None:
        """Raise an error if parameters are invalid, or if fit has used others."""
        check_parameters(self)
        for name, now in self._fixed_by_fit().items():
            value = self._fitted_with[name]
            if not (now is value or (type(now) is type(value) and np.array_equal(now, value))):
                raise InvalidParameterError(
                    f"A fitted kernel keeps its parameters; {name} was {value!r} at fit and is "
                    f"{now!r} now. Call fit again."
                )

    def _fixed_by_fit(self) -> dict[str, Any]:
        """Return the parameters that must not change after fit."""
        return {
            name: getattr(self, name)
            for name in _parameter_names(type(self))
            if name not in self.parameters_after_counting - self._used_at_fit
        }

    #: Whether the kernel requires graphs with attributes.
    needs_attributes: ClassVar[bool] = False

    #: Whether the kernel uses vertex labels.
    _uses_labels: ClassVar[bool] = True

    @property
    def sees(self) -> tuple[str, ...]:
        """Inputs that the kernel uses besides the structure of graphs, with its current parameters.

        Examples
        --------
        >>> import graphgrain as gg
        >>> gg.WeisfeilerLehman(edge_labels=True).sees, gg.Propagation(attributes=True).sees
        (('vertex labels', 'edge labels'), ('attributes',))
        """
        parameters = self.get_params(deep=False)
        if parameters.get("attributes", False):  # in place of labels
            return ("attributes",)
        kinds = {
            "vertex labels": self._uses_labels,
            "edge labels": bool(parameters.get("edge_labels", False)),
            "attributes": self.needs_attributes,
        }
        return tuple(kind for kind, used in kinds.items() if used)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return a name for each output column: the lowercase class name and a number.

        Parameters
        ----------
        input_features : ignored
        """
        check_is_fitted(self, "n_graphs_")
        return numbered_names(self, self.n_graphs_)

    def _output_of_fitted(self, batch: GraphBatch) -> Output:
        """Return the output of ``transform`` for the fitted graphs, ``batch``."""
        return self._own_gram()

    def _own_gram(self) -> np.ndarray:
        return self._with_empty(self._gram_of_fitted(), self._empty)

    def _output_with_fitted(self, batch: GraphBatch) -> Output:
        return self._with_empty(self._gram_with_fitted(batch), batch.vertex_counts == 0)

    def _with_empty(self, K: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Apply the rule for graphs without vertices; ``rows`` marks the empty rows."""
        if self.similarity != "dot" and (rows.any() or self._empty.any()):
            without_overlap = finish(np.zeros_like(K), ~rows, ~self._empty, False, COSINE, None)
            np.copyto(K, without_overlap, where=rows[:, np.newaxis] | self._empty)
        return K

    @abstractmethod
    def _fit(self, batch: GraphBatch) -> None:
        """Store everything the other methods need in attributes ending in ``_``."""

    @abstractmethod
    def _gram_of_fitted(self) -> np.ndarray:
        """Return the Gram matrix of the fitted graphs."""

    @abstractmethod
    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        """Return the Gram matrix between new graphs (rows) and the fitted graphs (columns)."""


def normalized(K: np.ndarray, left: np.ndarray, right: np.ndarray | None = None) -> np.ndarray:
    """Return the cosine similarities of kernel values, given the self-similarities of both sides.

    If ``right`` is omitted the matrix is square and its diagonal is set to 1.
    """
    # Dividing by even powers of two is exact, and products of huge or tiny values stay finite.
    rows, columns = (np.frexp(own)[1] // 2 for own in (left, left if right is None else right))
    result = finish(
        np.ldexp(K, -np.add.outer(rows, columns)),
        np.ldexp(left, -2 * rows),
        np.ldexp(left if right is None else right, -2 * columns),
        False,
        COSINE,
        None,
    )
    if right is None:
        np.fill_diagonal(result, 1.0)
    return result


@cache
def _parameter_names(kernel: type[GraphKernel]) -> tuple[str, ...]:
    """Return the names of a kernel's parameters; cached, since it is slower than a small fit."""
    return tuple(name for name in signature(kernel.__init__).parameters if name != "self")


def numbered_names(kernel: GraphKernel, count: int) -> np.ndarray:
    """Return column names as scikit-learn does: treeplusplus0, treeplusplus1, ..."""
    prefix = type(kernel).__name__.lower()
    return np.array([f"{prefix}{number}" for number in range(count)], dtype=object)


def check_edge_labels(batch: GraphBatch, wanted: bool) -> None:
    """Raise an error if edge labels are wanted but the graphs have none."""
    if wanted and batch.n_edges and batch.edge_label_codes is None:
        raise InvalidGraphError(
            "edge_labels=True needs graphs with edge labels; these have none. Give them "
            "(for example from_networkx(graphs, edge_label=...)) or use edge_labels=False."
        )
