"""Estimators for graphs on tables: every row becomes a graph, so that scikit-learn's checks run.

A row of m numbers becomes a path of m vertices; a vertex has the place of its number and the
number, rounded, as its label. What a table needs beyond a list of graphs (the same columns as at
fit, no NaN) is checked here as scikit-learn's own estimators do.
"""

from __future__ import annotations

from functools import cache, wraps
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

import graphgrain as gg


def as_paths(X: np.ndarray) -> gg.GraphBatch:
    """Each row as a path whose labels are places and rounded numbers."""
    rows, columns = X.shape
    steps = np.arange(columns - 1)
    edges = [np.column_stack((steps, steps + 1)) + columns * row for row in range(rows)]
    places = np.tile(np.arange(columns), rows)
    labels = [f"{place}:{value:.0f}" for place, value in zip(places, X.ravel(), strict=True)]
    return gg.GraphBatch.from_edges([columns] * rows, np.concatenate(edges), labels)


@cache  # one class for each, so that it can be pickled by its name
def for_tables(Estimator: type) -> type:
    """The same estimator for tables."""

    class OnRows(Estimator):
        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.input_tags.two_d_array = True
            tags.no_validation = False
            return tags

        def _paths(self, X: Any, **options: Any) -> gg.GraphBatch:
            if isinstance(X, gg.GraphBatch):  # a method calls another
                return X
            return as_paths(validate_data(self, X, dtype=np.float64, **options))

        @wraps(Estimator.fit)
        def fit(self, X: Any, y: Any = None, **more: Any) -> Any:
            if y is None and self.__sklearn_tags__().target_tags.required:
                validate_data(self, X, y)
            return super().fit(self._paths(X), y, **more)

        if hasattr(Estimator, "fit_transform"):

            def fit_transform(self, X: Any, y: Any = None, **more: Any) -> Any:
                return super().fit_transform(self._paths(X), y, **more)

    def applied(name: str) -> Any:
        def method(self: Any, X: Any) -> Any:
            check_is_fitted(self)
            return getattr(super(OnRows, self), name)(self._paths(X, reset=False))

        method.__name__ = name
        return method

    for name in ("transform", "predict", "predict_proba", "decision_function"):
        if hasattr(Estimator, name):
            setattr(OnRows, name, applied(name))
    OnRows.__name__ = OnRows.__qualname__ = Estimator.__name__
    OnRows.__module__ = __name__
    globals()[Estimator.__name__] = OnRows  # where pickle looks for it
    return OnRows
