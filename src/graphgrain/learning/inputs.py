"""Validation of the inputs of estimators: tables with graphs, targets, folds."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from ..errors import InvalidParameterError
from ..graphs.batch import counted
from ..graphs.tables import is_missing, read_table

#: Limit of absolute values; squares of larger ones would overflow in sums.
_LARGEST = 1e150
#: Name of the column of graphs in tables made from files, whose columns have other names.
GRAPH_COLUMN = "<graph>"
#: Integers with more distinct values than this are regression targets, not classes.
_MOST_CLASSES = 50


def split_table(
    X: Any, graphs: Any, trained: str | None = None
) -> tuple[Any, str | None, dict[str, np.ndarray]]:
    """Return the graphs of a table, the name of their column, and all other columns.

    Parameters
    ----------
    X : table (see :func:`read_table`) or graphs
    graphs : str or None
        Name of the column with graphs; None detects it from its content.
    trained : str, optional
        Column with graphs in training. A table that has it needs no detection.
    """
    from ..graphs.convert.dispatch import holds_graphs

    table = read_table(X)
    if table is None:
        if graphs is not None:
            raise InvalidParameterError(
                f"graphs={graphs!r} names a column of a table; got a {type(X).__name__}. Give a "
                "data frame or a dict of columns, or leave graphs out."
            )
        return X, None, {}
    names = list(table)
    if graphs is None and (trained in names or len(names) == 1):
        graphs = trained if trained in names else names[0]
    elif graphs is None:
        found = [name for name in names if holds_graphs(table[name])]
        if len(found) != 1:
            there = f"these do: {', '.join(found)}" if found else f"none of {', '.join(names)} does"
            raise InvalidParameterError(
                f"One column of a table must hold graphs; {there}. Name it with graphs='...'."
            )
        graphs = found[0]
    elif str(graphs) not in names:
        raise InvalidParameterError(
            f"The table has no column {graphs!r}; its columns are {', '.join(names)}."
        )
    graphs = str(graphs)
    rest = {name: _values(table[name]) for name in names if name != graphs}
    return table[graphs], graphs, rest


def _values(column: Any) -> np.ndarray:
    """Return a column as an array, with missing values of pandas as None or NaN.

    Categories of pandas are texts, also if they are numbers.
    """
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    categories = str(getattr(column, "dtype", "")) == "category"
    if values.dtype.kind == "O" or categories:
        known = [None if is_missing(v) else v for v in values.tolist()]
        if categories:
            known = [None if v is None else category_name(v) for v in known]
        values = np.array([*known, None], dtype=object)[:-1]  # one-dimensional, also of lists
    return values


def category_name(value: Any) -> str:
    """Return a category as text; an integer is the same category as an equal float.

    Examples
    --------
    >>> from graphgrain.learning.inputs import category_name
    >>> category_name(2), category_name(2.0), category_name("2"), category_name(True)
    ('2', '2', '2', 'True')
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value)


def is_float(value: Any) -> bool:
    """Return whether a value or its text is a number."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def are_classes(y: np.ndarray) -> bool:
    """Return whether targets are classes: strings, or integers with few distinct values.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.inputs import are_classes
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
    """Return the sorted classes, and the class of each graph as an index into them.

    Parameters
    ----------
    y : array-like
    graphs : int
        Required number of entries.
    members : int
        Minimum number of graphs per class.
    """
    values = _one_per_graph(y, graphs, "classes")
    if values.ndim == 2 and values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    if values.ndim != 1:
        raise InvalidParameterError(
            f"There must be one class per graph; y has the shape {values.shape}. Choose a column."
        )
    if values.dtype.kind == "T":  # NumPy's strings of any length, which files do not hold
        values = values.astype(object)
    if values.dtype.kind == "O" and not all(isinstance(value, str) for value in values):
        raise InvalidParameterError(
            "Classes must be integers or strings, all of one kind; got values of the types "
            f"{sorted({type(value).__name__ for value in values})}."
        )
    if values.dtype.kind not in "biufUO":
        raise InvalidParameterError(
            f"Classes must be integers or strings; got an array of {values.dtype}. Convert it."
        )
    if values.dtype.kind == "f" and (fractions := values[values != np.round(values)]).size:
        raise InvalidParameterError(
            f"Classes must be integers or strings; got continuous values such as {fractions[0]:g}, "
            "as for regression. Use GraphRegressor, or cut the values into classes."
        )
    if values.dtype.kind == "f" and values.itemsize not in (4, 8):  # files hold no others
        values = values.astype(np.float64)
    classes, codes = np.unique(values, return_inverse=True)
    check_two_classes(classes, graphs)
    counts = np.bincount(codes)
    if counts.min() < members:
        raise InvalidParameterError(
            f"Each class must have at least {members} graphs, so that one can be left out for "
            f"testing; class {classes.tolist()[counts.argmin()]!r} has {counts.min()}. Remove its "
            "graphs, or join it with another class."
        )
    return classes, codes.reshape(-1).astype(np.int64)


def balanced(codes: np.ndarray) -> np.ndarray:
    """Return weights of graphs that give all classes the same total weight."""
    totals = np.bincount(codes)
    return len(codes) / (np.count_nonzero(totals) * totals[codes])


def class_factors(codes: np.ndarray, classes: np.ndarray, class_weight: Any) -> np.ndarray:
    """Return the weight of the class of each graph."""
    if class_weight is None:
        return np.ones(len(codes))
    if not isinstance(class_weight, dict):
        return balanced(codes)
    # classes may be given as texts, such as those of a file
    known = {str(name): weight for name, weight in class_weight.items()} | class_weight
    found = []
    for name in classes.tolist():
        key = name if name in known else str(name)
        if key not in known:
            raise InvalidParameterError(
                f"class_weight must have a weight for every class; {name!r} has none."
            )
        found.append(known[key])
    if not all(isinstance(weight, Real) for weight in found):
        raise InvalidParameterError(f"Weights of classes must be numbers; got {found}.")
    factors = np.array(found, dtype=float)
    if not (np.isfinite(factors) & (factors > 0)).all():
        raise InvalidParameterError(
            f"Weights of classes must be finite numbers above 0; got {factors.tolist()}."
        )
    return factors[codes]


def check_two_classes(classes: np.ndarray, graphs: int) -> None:
    """Raise an error unless there are at least two classes."""
    if len(classes) < 2:
        raise InvalidParameterError(
            f"There must be at least two classes to tell apart; got {classes.tolist()} in "
            f"{counted(graphs, 'graph')}."
        )


def check_values(y: Any, graphs: int, gaps: bool = False) -> np.ndarray:
    """Return regression targets as floats, one or one row per graph; NaN only with ``gaps``."""
    values = _one_per_graph(y, graphs, "values", gaps)
    if np.iscomplexobj(values):
        raise InvalidParameterError(
            "Values to predict must be real numbers; got complex ones. Predict the real and the "
            "imaginary part as two columns."
        )
    if values.dtype.kind == "O":  # nullable columns of pandas
        values = np.array([np.nan if is_missing(v) else v for v in values.ravel()], object).reshape(
            values.shape
        )
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        bad = next(value for value in values.ravel().tolist() if not is_float(value))
        raise InvalidParameterError(
            f"Values to predict must be numbers; got {str(bad)[:40]!r}. Use GraphClassifier for "
            "classes."
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


def check_weights(sample_weight: Any, graphs: int) -> np.ndarray:
    """Return a weight for each graph, by default 1."""
    if sample_weight is None:
        return np.ones(graphs)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            "sample_weight must hold a number for each graph; got "
            f"{type(sample_weight).__name__} with other entries."
        ) from None
    if weights.shape != (graphs,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidParameterError(
            f"sample_weight must hold a finite number of 0 or more for each of the {graphs} "
            f"graphs; its shape is {weights.shape}, its smallest entry "
            f"{weights.min(initial=np.inf):g}."
        )
    if not (weights > 0).any():
        raise InvalidParameterError(
            "sample_weight must be above zero for some graph; all weights are zero."
        )
    return weights


def check_groups(groups: Any, graphs: int) -> np.ndarray:
    """Return a number for the group of each graph."""
    found = np.asarray(groups)
    if found.shape != (graphs,):
        raise InvalidParameterError(
            f"groups must hold one entry for each of the {graphs} graphs; its shape is "
            f"{found.shape}."
        )
    try:
        return np.unique(found, return_inverse=True)[1].reshape(-1)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in found.tolist()})
        raise InvalidParameterError(
            f"groups must be all numbers or all strings; got values of the types "
            f"{', '.join(kinds)}."
        ) from None


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
        values = np.asarray(values.tolist())  # e.g. strings in an object array
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
        # readers turn blank cells of text columns into empty strings
        if is_missing(value)
        or (isinstance(value, str) and value == "")
        or (isinstance(value, list) and any(map(is_missing, value)))
    ]
    if missing:
        raise InvalidParameterError(
            f"Every graph must have its target; graph {missing[0][0]} has {missing[0][1]!r} "
            f"({len(missing)} in all). Remove these graphs, or fill in what is missing."
        )
    return values
