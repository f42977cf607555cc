"""Views: transformers applied to graphs before a kernel.

They map graphs to graphs and precede a kernel in a scikit-learn pipeline::

    make_pipeline(EdgeFilter(drop=[1]), TreePlusPlus(edge_labels=True), SVC(kernel="precomputed"))

Anything they learn, such as bin edges, is learned in ``fit``. To combine several views, add their
features: a ``FeatureUnion`` of pipelines with ``output="features"``.
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..parameters import Declared, all_or_nothing, check_parameters

if TYPE_CHECKING:
    # scikit-learn has no type hints, and an untyped base class would accept any parameter.
    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __getstate__(self) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class TransformerMixin:
        def __init_subclass__(cls, auto_wrap_output_keys: Any = None, **kwargs: Any) -> None: ...
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
else:
    from sklearn.base import BaseEstimator, TransformerMixin


class GraphTransformer(Declared, TransformerMixin, BaseEstimator):
    """Base class of kernels and views, whose input is graphs rather than a table."""

    def __init_subclass__(cls, auto_wrap_output_keys: Any = None, **kwargs: Any) -> None:
        # Graphs cannot be converted to a table, so set_output is disabled by default.
        super().__init_subclass__(auto_wrap_output_keys=auto_wrap_output_keys, **kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


class View(GraphTransformer):
    """Base class of the views, which map graphs to graphs."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the view to graphs."""
        check_parameters(self)
        with all_or_nothing(self):
            self._fit(as_graphs(X))
            self.is_fitted_ = True
        return self

    def transform(self, X: Any) -> GraphBatch:
        """Return the transformed graphs."""
        check_is_fitted(self, "is_fitted_")
        return self._transform(as_graphs(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return ``input_features``: in a pipeline, features are named by the kernel after it."""
        return input_features

    def _fit(self, batch: GraphBatch) -> None:
        """Learn from the graphs; by default nothing."""

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        raise TypeError(f"{type(self).__name__} does not implement _transform.")


def attribute_columns(batch: GraphBatch, on: str, expected: int | None = None) -> np.ndarray:
    """Return the vertex or edge attributes of a batch, or raise an error if they are missing.

    ``expected`` is the required number of attributes. Graphs without vertices or edges need none.
    """
    values = batch.vertex_attributes if on == "vertex" else batch.edge_attributes
    if not (batch.n_vertices if on == "vertex" else batch.n_edges):
        width = 1 if values is None else values.shape[1]
        return np.zeros((0, width if expected is None else expected))
    if values is None:
        raise InvalidGraphError(
            f"This needs {on} attributes; the graphs have none. Load them, or make edge "
            "attributes from coordinates with EdgeLengths."
        )
    if expected is not None and values.shape[1] != expected:
        raise InvalidGraphError(
            f"The graphs must have as many {on} attributes as at fit ({expected}); got "
            f"{values.shape[1]}."
        )
    return values


def standard_deviations(values: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each column, 1 if it has no values."""
    if not len(values):
        return np.ones(values.shape[1])
    # Dividing by powers of two is exact, and squares of huge values stay finite. The values are
    # sorted, so that rounding does not depend on the numbering of the vertices.
    powers = np.frexp(np.abs(values).max(axis=0))[1]
    return np.ldexp(np.ldexp(np.sort(values, axis=0), -powers).std(axis=0), powers)


def seen_through(view: Any, batch: GraphBatch) -> GraphBatch:
    """Apply a fitted view to graphs; None leaves them unchanged."""
    if view is None:
        return batch
    seen = as_graphs(view.transform(batch))
    if len(seen) != len(batch):
        raise InvalidParameterError(
            f"A view must give as many graphs as it takes; {view!r} took {len(batch)} and gave "
            f"{len(seen)}."
        )
    return seen


def view_name(view: Any) -> str:
    """Return a one-line description of a view: its class and non-default parameters.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from sklearn.pipeline import make_pipeline
    >>> from graphgrain.views.base import view_name
    >>> view_name(make_pipeline(gg.EdgeFilter(drop=[1]), gg.EdgeLengths()))
    'EdgeFilter(drop=[1]) > EdgeLengths()'
    """
    if hasattr(view, "steps"):
        return " > ".join(view_name(step) for _, step in view.steps)
    usual = signature(type(view)).parameters
    own = [
        f"{name}={value!r}"
        for name, value in view.get_params(deep=False).items()
        if repr(value) != repr(usual[name].default)
    ]
    return f"{type(view).__name__}({', '.join(own)})"
