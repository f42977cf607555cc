"""How much each of several regressors counts when they predict together.

1. Equal shares: the plain mean. Members that are nearly alike differ on a few held-out graphs by
   chance, and the mean does not fall for it.
2. Fitted shares: non-negative least squares on held-out graphs. Where members differ much, such as
   kernels with and without normalisation for a target that grows with size, they find the best.
3. Whichever predicts better is taken; to judge them, shares are fitted without a fold and predict
   that fold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .learner import Split


def best_shares(
    held_out: Sequence[np.ndarray],
    targets: np.ndarray,
    weights: np.ndarray,
    splits: Sequence[Split],
) -> np.ndarray:
    """The shares of members that predict new graphs best, none of them negative.

    Parameters
    ----------
    held_out : sequence of arrays of shape (graphs, outputs)
        What each member said of graphs that it had not seen.
    targets : array of shape (graphs, outputs)
    weights : array of shape (graphs,)
        How much the error of each graph counts.
    splits : sequence of pairs
        Positions of training and test graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.shares import best_shares
    >>> y = np.arange(8.0).reshape(-1, 1) - 3.5
    >>> folds = [(np.arange(4), np.arange(4, 8)), (np.arange(4, 8), np.arange(4))]
    >>> best_shares([y + 1, y - 1], y, np.ones(8), folds).tolist()
    [0.5, 0.5]
    >>> best_shares([y, np.ones((8, 1))], y, np.ones(8), folds).round(6).tolist()
    [1.0, 0.0]
    """
    roots = np.sqrt(weights)[:, np.newaxis]
    predictions = np.stack([roots * values for values in held_out], axis=-1)
    wanted = roots * targets
    equal = np.full(len(held_out), 1.0 / len(held_out))
    errors = np.zeros(2)
    for train, test in splits:
        fitted = _fitted(predictions[train], wanted[train])
        for place, shares in enumerate((equal, fitted)):
            errors[place] += float(np.sum((wanted[test] - predictions[test] @ shares) ** 2))
    return equal if errors[0] <= errors[1] else _fitted(predictions, wanted)


def _fitted(predictions: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Shares by non-negative least squares."""
    from scipy.optimize import nnls

    shares: np.ndarray = nnls(predictions.reshape(-1, predictions.shape[-1]), wanted.ravel())[0]
    if not (shares > 0).any():  # no member is better than the mean of the targets
        shares[0] = 1.0
    return shares
