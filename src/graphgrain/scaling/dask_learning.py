"""Learning over the partitions of a Dask collection."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import InvalidParameterError
from .dask_blocks import dask


def dask_partial_fit(model: Any, X: Any, y: Any = None, *, classes: Any = None) -> Any:
    """Train a model with ``partial_fit`` on one block after the other.

    The model travels to the blocks, which stay where they are; the order is that of the blocks,
    so the result does not depend on workers, or on their deaths.

    Parameters
    ----------
    model : estimator with ``partial_fit``
        Such as scikit-learn's ``SGDClassifier``, ``SGDRegressor`` or ``MiniBatchKMeans``. It
        stays as it is; a trained copy is returned.
    X : dask.array.Array
        Such as :func:`dask_features` gives.
    y : Dask array, series or bag, optional
        Targets, in partitions of the same sizes as the blocks.
    classes : array-like, optional
        All classes, for a classifier: the first block need not have all of them.

    Returns
    -------
    model : the same kind of estimator, trained

    Examples
    --------
    >>> import dask.bag, numpy
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import SGDClassifier
    >>> smiles = dask.bag.from_sequence(["CCO", "CCN", "CCCO", "CCCN"], npartitions=2)
    >>> y = dask.bag.from_sequence([1, 0, 1, 0], npartitions=2)
    >>> X = gg.dask_features(smiles, n_features=512)
    >>> model = gg.dask_partial_fit(SGDClassifier(random_state=0), X, y, classes=[0, 1])
    >>> model.predict(X.compute(scheduler="synchronous")).tolist()
    [1, 0, 1, 0]
    """
    library = dask()
    if not hasattr(model, "partial_fit"):
        raise InvalidParameterError(
            f"Training block by block needs a model with partial_fit; {type(model).__name__} has "
            "none. SGDClassifier and SGDRegressor have."
        )
    blocks = np.ravel(X.to_delayed()).tolist()
    targets = [None] * len(blocks) if y is None else np.ravel(y.to_delayed()).tolist()
    if len(targets) != len(blocks):
        raise InvalidParameterError(
            f"X and y must have the same partitions; got {len(blocks)} blocks of X and "
            f"{len(targets)} of y."
        )
    step = library.delayed(_step, pure=True)
    state: Any = clone(model)
    for number, (block, target) in enumerate(zip(blocks, targets, strict=True)):
        state = step(state, block, target, classes, number)
    return library.compute(state)[0]


def _step(model: Any, X: Any, y: Any, classes: Any, number: int) -> Any:
    """The model after one more block; the one before stays, in case this is done again."""
    model = deepcopy(model)
    if y is None:
        return model.partial_fit(X)
    y = np.asarray(y)
    if len(y) != X.shape[0]:
        raise InvalidParameterError(
            f"X and y must have the same rows; block {number} has {X.shape[0]} rows of X and "
            f"{len(y)} of y."
        )
    if classes is None:
        return model.partial_fit(X, y)
    return model.partial_fit(X, y, classes=np.asarray(classes))
