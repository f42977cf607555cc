"""What a classifier or a regressor is to learn: checked once, in one style."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from ..errors import InvalidParameterError

#: Values beyond this have squares that cannot be added up.
_LARGEST = 1e150
#: A column of whole numbers with more different values than this holds numbers, not classes.
_MOST_CLASSES = 50


def are_classes(y: np.ndarray) -> bool:
    """Whether targets are classes: strings, or a few whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.targets import are_classes
    >>> are_classes(np.array([0, 1, 1])), are_classes(np.array([0.5, 1.25, 3.0]))
    (True, False)
    """
    if y.dtype.kind not in "fiu":
        return True
    if not np.isfinite(y).all():
        raise InvalidParameterError(
            f"Every graph must have a target; {int((~np.isfinite(y)).sum())} of {len(y)} have none."
        )
    return bool((y == np.round(y)).all()) and len(np.unique(y)) <= _MOST_CLASSES


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
            "as for regression. Use GraphRegressor, or cut the values into classes."
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


def check_values(y: Any, graphs: int, gaps: bool = False) -> np.ndarray:
    """Regression targets as floats, one or one row per graph; NaN only if ``gaps`` are allowed."""
    values = _one_per_graph(y, graphs, "values", gaps)
    if np.iscomplexobj(values):
        raise InvalidParameterError(
            "Values to predict must be real numbers; got complex ones. Predict the real and the "
            "imaginary part as two columns."
        )
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"Values to predict must be numbers; got {values.ravel().tolist()[0]!r}. Use "
            "GraphClassifier for classes."
        ) from None
    if values.ndim > 2 or np.isinf(values).any():
        raise InvalidParameterError(
            "Values to predict must be finite, one or one row per graph; got "
            + (f"{values.ndim} dimensions." if values.ndim > 2 else "an infinite one.")
        )
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if largest > _LARGEST:
        raise InvalidParameterError(
            f"Values to predict must be below {_LARGEST:g} in size, so that their squares can be "
            f"added up; got {largest:g}. Divide them by a constant."
        )
    if values.ndim == 2:
        empty = np.isnan(values).all(axis=0)
        if empty.any():
            raise InvalidParameterError(
                f"Every target must have a value for some graph; column {int(empty.argmax())} has "
                "none. Leave it out."
            )
    return values


def check_folds(folds: int, graphs: int) -> None:
    """No fold may be empty."""
    if graphs < folds:
        raise InvalidParameterError(
            f"There must be at least as many graphs as folds; got {graphs} graphs for {folds} "
            "folds. Use fewer folds, or more graphs."
        )


def _one_per_graph(y: Any, graphs: int, what: str, gaps: bool = False) -> np.ndarray:
    if y is None:
        raise InvalidParameterError(
            f"There must be {what} to learn; got y=None. Files without them can be compared "
            "(`graphgrain kernel`) but not learned from."
        )
    if isinstance(y, list | tuple) or str(getattr(y, "dtype", "")) == "object":
        kinds = {type(v).__name__ for v in np.asarray(y, dtype=object).ravel() if v is not None}
        if "str" in kinds and len(kinds) > 1 and not kinds <= {"str", "str_"}:
            raise InvalidParameterError(
                f"Targets must be all numbers or all strings; got values of the types "
                f"{', '.join(sorted(kinds))}. Convert them to one kind."
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
    if gaps and values.ndim == 2:
        return values
    missing = [
        (place, value)
        for place, value in enumerate(values.tolist())
        # An empty string is what readers make of a blank in a column of words.
        if value is None or value == "" or np.any(np.asarray(value) != np.asarray(value))
    ]
    if missing:
        raise InvalidParameterError(
            f"Every graph must have its target; graph {missing[0][0]} has {missing[0][1]!r} "
            f"({len(missing)} in all). Remove these graphs, or fill in what is missing."
        )
    return values


class TargetScale:
    """The scale on which targets are learned: as they are, their logarithm, or Yeo-Johnson's power.

    Parameters
    ----------
    kind : {"none", "log", "yeo-johnson"}
    values : array of shape (graphs, targets)
        NaN where there is none. Scaled targets have mean 0 and standard deviation 1.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.targets import TargetScale
    >>> y = np.array([[1.0], [10.0], [100.0]])
    >>> scale = TargetScale("log", y)
    >>> scale.scaled(y).round(3).ravel().tolist()
    [-1.225, 0.0, 1.225]
    >>> scale.original(scale.scaled(y)).round(6).ravel().tolist()
    [1.0, 10.0, 100.0]
    """

    def __init__(self, kind: str, values: np.ndarray, weights: np.ndarray | None = None) -> None:
        self.kind = kind
        self.powers = np.ones(values.shape[1])
        if kind == "yeo-johnson":
            from scipy.stats import yeojohnson_normmax

            for column, own in enumerate(values.T):
                known = own[np.isfinite(own)]
                spread = max(float(known.std()), 1e-300)
                self.powers[column] = float(np.clip(yeojohnson_normmax(known / spread), -4, 4))
        self.units = np.nanstd(values, axis=0)
        self.units = np.where(self.units > 0, self.units, 1.0)
        self.mean, self.spread = np.zeros(values.shape[1]), np.ones(values.shape[1])
        moved = self.scaled(values)
        own = np.ones(len(values)) if weights is None else weights
        known = np.isfinite(moved)
        total = np.where(known, own[:, np.newaxis], 0.0)
        filled = np.where(known, moved, 0.0)
        self.mean = (total * filled).sum(axis=0) / total.sum(axis=0)
        variance = (total * (filled - self.mean) ** 2).sum(axis=0) / total.sum(axis=0)
        self.spread = np.where(variance > 0, np.sqrt(variance), 1.0)
        scaled = self.scaled(values)
        self.low, self.high = np.nanmin(scaled, axis=0), np.nanmax(scaled, axis=0)

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Targets on the scale on which they are learned."""
        if self.kind == "log":
            moved = np.log(values)
        elif self.kind == "yeo-johnson":
            columns = zip(values.T, self.units, self.powers, strict=True)
            moved = np.column_stack([_power(own / unit, power) for own, unit, power in columns])
        else:
            moved = values
        result: np.ndarray = (moved - self.mean) / self.spread
        return result

    def original(self, scaled: np.ndarray) -> np.ndarray:
        """Back to the user's units.

        Off a straight scale the way back has no limit. So beyond the training targets it goes on
        straight, as steeply as at their end, but no more than from the least to the greatest of
        them; below positive ones, whose logarithm is learned, it stays above 0.
        """
        if self.kind == "none":
            return scaled * self.spread + self.mean
        inside = np.clip(scaled, self.low, self.high)
        below, above = np.minimum(scaled - self.low, 0.0), np.maximum(scaled - self.high, 0.0)
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        ends = np.vstack([self.low, self.low + 1e-4 * width, self.high - 1e-4 * width, self.high])
        least, more, less, most = self._back(ends)
        steepest = (most - least) / width
        result = self._back(inside if self.kind != "log" else inside + below)
        result += above * np.minimum((most - less) / (1e-4 * width), steepest)
        if self.kind != "log":
            result += below * np.minimum((more - least) / (1e-4 * width), steepest)
        return result

    def _back(self, scaled: np.ndarray) -> np.ndarray:
        moved = scaled * self.spread + self.mean
        if self.kind == "log":
            return np.exp(moved)
        return np.column_stack(
            [u * _unpower(m, p) for m, u, p in zip(moved.T, self.units, self.powers, strict=True)]
        )

    def slope(self, scaled: np.ndarray) -> np.ndarray:
        """How much the original changes for a small change on the scale."""
        step = 1e-4
        change = self.original(scaled + step) - self.original(scaled - step)
        return np.maximum(change / (2 * step), 0.0)


def _power(values: np.ndarray, power: float) -> np.ndarray:
    """The transformation of Yeo and Johnson."""
    from scipy.stats import yeojohnson

    known = np.isfinite(values)
    result = np.full(values.shape, np.nan)
    result[known] = yeojohnson(values[known], power)
    return result


def _unpower(values: np.ndarray, power: float) -> np.ndarray:
    """Its inverse; beyond what the transformation reaches, the last value."""
    result = np.empty(values.shape)
    up = values >= 0
    with np.errstate(all="ignore"):
        if abs(power) < 1e-12:
            result[up] = np.expm1(values[up])
        else:
            result[up] = np.maximum(power * values[up] + 1, 1e-12) ** (1 / power) - 1
        if abs(power - 2) < 1e-12:
            result[~up] = -np.expm1(-values[~up])
        else:
            base = np.maximum(1 - (2 - power) * values[~up], 1e-12)
            result[~up] = 1 - base ** (1 / (2 - power))
    return result
