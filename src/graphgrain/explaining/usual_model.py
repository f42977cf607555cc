"""The model that the command line explains: the estimator that a user would fit."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidParameterError
from ..learning.classifier import GraphClassifier
from ..learning.regressor import GraphRegressor

#: A column of whole numbers with more different values than this holds numbers, not classes.
_MOST_CLASSES = 50


def are_classes(y: np.ndarray) -> bool:
    """Whether targets are classes: strings, or a few whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.explaining.usual_model import are_classes
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


def usual_model(y: np.ndarray, n_jobs: int | None = None) -> GraphClassifier | GraphRegressor:
    """The estimator that a user would fit, for classes or for numbers; not fitted."""
    return GraphClassifier(n_jobs=n_jobs) if are_classes(y) else GraphRegressor(n_jobs=n_jobs)
