"""What a classifier or a regressor is to learn: checked once, in one style."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from ..errors import InvalidParameterError


def check_classes(y: Any, graphs: int, *, members: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """The classes in sorted order, and the class of each graph as a position in them.

    Parameters
    ----------
    y : array-like
    graphs : int
        How many entries there must be.
    members : int
        How many graphs of each class there must be at least.

    Examples
    --------
    >>> from graphgrain.learning.targets import check_classes
    >>> classes, codes = check_classes(["b", "a", "b", "a"], 4)
    >>> classes.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1, 0])
    """
    values = _one_per_graph(y, graphs, "classes")
    if values.ndim == 2 and values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    if values.ndim != 1:
        raise InvalidParameterError(
            f"There must be one class per graph; y has the shape {values.shape}. Choose a column."
        )
    if values.dtype.kind == "O" and not all(isinstance(value, str) for value in values):
        raise InvalidParameterError(
            "Classes must be integers or strings, all of one kind; got values of the types "
            f"{sorted({type(value).__name__ for value in values})}."
        )
    if values.dtype.kind == "f" and (fractions := values[values != np.round(values)]).size:
        raise InvalidParameterError(
            f"Classes must be integers or strings; got continuous values such as {fractions[0]:g}, "
            "as for regression. Use GraphRegressor or TreePlusPlusRegressor, or cut the values "
            "into classes."
        )
    classes, codes = np.unique(values, return_inverse=True)
    check_two_classes(classes, graphs)
    counts = np.bincount(codes)
    if counts.min() < members:
        small = classes[counts.argmin()]
        raise InvalidParameterError(
            f"Each class must have at least {members} graphs, so that one can be left out for "
            f"testing; class {small.item() if hasattr(small, 'item') else small!r} has "
            f"{counts.min()}. Remove its graphs, or join it with another class."
        )
    return classes, codes.reshape(-1).astype(np.int64)


def check_two_classes(classes: np.ndarray, graphs: int) -> None:
    """One class alone is told apart from nothing."""
    if len(classes) < 2:
        raise InvalidParameterError(
            f"There must be at least two classes to tell apart; all {graphs} graphs have the "
            f"class {classes[0] if len(classes) else None!r}."
        )


def check_values(y: Any, graphs: int) -> np.ndarray:
    """Regression targets as floats, one or one row per graph."""
    values = _one_per_graph(y, graphs, "values")
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"Values to predict must be numbers; got {values.ravel().tolist()[0]!r}. Use "
            "GraphClassifier or TreePlusPlusClassifier for classes."
        ) from None
    if values.ndim > 2 or not np.isfinite(values).all():
        raise InvalidParameterError(
            "Values to predict must be finite, one or one row per graph; got "
            + (f"{values.ndim} dimensions." if values.ndim > 2 else "an infinite one.")
        )
    return values


def check_folds(folds: int, graphs: int) -> None:
    """No fold may be empty."""
    if graphs < folds:
        raise InvalidParameterError(
            f"There must be at least as many graphs as folds; got {graphs} graphs for {folds} "
            "folds. Use fewer folds, or more graphs."
        )


def _one_per_graph(y: Any, graphs: int, what: str) -> np.ndarray:
    if y is None:
        raise InvalidParameterError(
            f"There must be {what} to learn; got y=None. Files without them can be compared "
            "(`graphgrain kernel`) but not learned from."
        )
    values = np.asarray(y)
    if values.dtype.kind == "O":
        values = np.asarray(values.tolist())  # a list of str in an object array, say
        if values.dtype.kind == "U" and not all(isinstance(v, str) for v in np.ravel(y)):
            values = np.asarray(y, dtype=object)
    if values.shape[:1] != (graphs,):
        raise InvalidParameterError(
            f"y must hold one entry for each of the {graphs} graphs; its shape is {values.shape}."
        )
    missing = [
        place
        for place, value in enumerate(values.tolist())
        if value is None or np.any(np.asarray(value) != np.asarray(value))
    ]
    if missing:
        raise InvalidParameterError(
            f"Every graph must have its target; graph {missing[0]} has {values[missing[0]]} "
            f"({len(missing)} in all). Remove these graphs, or fill in what is missing."
        )
    return values
