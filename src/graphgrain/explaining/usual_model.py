"""The model that the command line explains: fitted in seconds, and linear in patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.tree_plus_plus import TreePlusPlus

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


def usual_model(batch: GraphBatch, y: np.ndarray, n_jobs: int | None = None) -> Pipeline:
    """Tree++ and a linear model, for classes or for numbers; not fitted.

    Edge labels take part where there are several. Counts are square roots, each graph is
    normalised, and a linear support vector machine (for numbers: ridge regression) learns from
    them.
    """
    edges = batch.edge_label_table
    kernel = TreePlusPlus(
        output="features",
        counts="sqrt",
        edge_labels=edges is not None and len(edges) > 1,
        n_jobs=n_jobs,
    )
    final: Any = LinearSVC() if are_classes(y) else Ridge(alpha=0.1)
    return make_pipeline(kernel, Normalizer(), final)
