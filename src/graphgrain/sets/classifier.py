"""How well a classifier tells two sets apart: held-out AUC, and a bound on their divergence.

The classifier is kernel ridge regression with targets of both signs. Its predictions for a fold
that it was not trained on follow in closed form from the inverse of the regularised matrix
(see :mod:`graphgrain.learning.ridge`); alpha has the smallest held-out error.

The bound is that of the PolyGraph discrepancy (Krimmel et al., arXiv 2510.06122): with held-out
probabilities p of the first set, 1 + mean(log2 p) / 2 over the first set + mean(log2 (1 - p)) / 2
over the second is at most the Jensen-Shannon divergence in bits, up to sampling error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Graphs at least this similar are copies, up to rounding.
COPY = 1.0 - 1e-9
#: Fewest independent graphs of each set for a classifier.
_FEWEST = 5
_ALPHAS = 10.0 ** np.arange(-4, 3)
_FOLDS = 10
_RESAMPLES = 500


class Separation(NamedTuple):
    """How well two sets are told apart by a classifier on held-out graphs.

    Attributes
    ----------
    auc : float
        Area under the ROC curve; 0.5 if they cannot be told apart.
    interval : tuple of two float
        95 % bootstrap interval of the AUC over graphs (or groups).
    divergence : float
        Lower bound on the Jensen-Shannon divergence, between 0 and 1.
    decisions : array
        Held-out decision of each graph; positive for the first set.
    """

    auc: float
    interval: tuple[float, float]
    divergence: float
    decisions: np.ndarray


def separation(
    K: np.ndarray, second: np.ndarray, units: np.ndarray, seed: int | None
) -> Separation | None:
    """Return how well the sets are told apart, or None if folds cannot hold both of them."""
    rng = np.random.default_rng(seed)
    units = _with_copies(K, units)
    folds = _deal(second, units, rng)
    if folds is None:
        return None
    decisions = _held_out(K, np.where(second, -1.0, 1.0), folds)
    # Each fold has its own offset, since its graphs are missing from the training set.
    for fold in np.unique(folds):
        decisions[folds == fold] -= decisions[folds == fold].mean()
    auc = _auc(decisions, second)
    draws = _bootstrap(decisions, second, units, rng)
    low, high = np.quantile(draws, [0.025, 0.975]).tolist()
    divergence = _divergence(decisions, second, folds)
    return Separation(auc, (min(low, auc), max(high, auc)), divergence, decisions)


def cosines(K: np.ndarray) -> np.ndarray:
    """Return the similarities with the diagonal scaled to 1."""
    roots = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    scale = np.outer(roots, roots)
    return np.divide(K, scale, out=np.eye(len(K)), where=scale > 0)


def _with_copies(K: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return units in which copies of a graph belong together, or one would tell the other."""
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import connected_components

    _, unit = np.unique(units, return_inverse=True)
    graphs = np.arange(len(unit))
    members = coo_array((np.ones(len(unit)), (graphs, unit))).tocsr()
    alike = csr_array(cosines(K) >= COPY) + members @ members.T
    labels: np.ndarray = connected_components(alike, directed=False)[1]
    return labels


def _deal(second: np.ndarray, units: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """Deal whole units to folds, so that each fold has graphs of both sets."""
    _, unit = np.unique(units, return_inverse=True)
    sizes = np.array([np.bincount(unit, ~second), np.bincount(unit, second)])
    kinds = (sizes[0] > 0) + 2 * (sizes[1] > 0)
    shares = [int(((kinds & side) > 0).sum()) for side in (1, 2)]
    n_folds = min(_FOLDS, *shares)
    if n_folds < _FEWEST:
        return None
    of_unit = np.empty(len(kinds), dtype=np.int64)
    start = 0
    for kind in (1, 2, 3):
        members = rng.permutation(np.flatnonzero(kinds == kind))
        of_unit[members] = (start + np.arange(len(members))) % n_folds
        start += len(members) if kind == 3 else 0
    folds: np.ndarray = of_unit[unit]
    return folds


def _held_out(K: np.ndarray, y: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Return held-out decisions of ridge regression, for the best alpha."""
    from scipy.linalg import eigh

    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, np.newaxis] + K.mean()
    values, vectors = eigh(centred, driver="evd", check_finite=False)
    values = np.maximum(values, 0.0)
    scale = max(float(values.sum()) / len(K), 1e-300)
    weights = np.where(y > 0, 1.0 / (y > 0).sum(), 1.0 / (y < 0).sum())
    targets = y - np.average(y, weights=weights)
    projected = vectors.T @ targets
    best, smallest = targets, np.inf
    for alpha in _ALPHAS * scale:
        shrunk = vectors / (values + alpha)
        coefficients = shrunk @ projected
        errors = np.empty(len(K))
        for fold in np.unique(folds):
            test = np.flatnonzero(folds == fold)
            block = shrunk[test] @ vectors[test].T
            errors[test] = np.linalg.solve(block, coefficients[test])
        loss = float(np.average(errors**2, weights=weights))
        if loss < smallest * (1 - 1e-9):
            best, smallest = targets - errors, loss
    return best


def _auc(decisions: np.ndarray, second: np.ndarray) -> float:
    from scipy.stats import rankdata

    n, m = int((~second).sum()), int(second.sum())
    ranks = rankdata(decisions)
    return float((ranks[~second].sum() - n * (n + 1) / 2) / (n * m))


def _bootstrap(
    decisions: np.ndarray, second: np.ndarray, units: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the AUC of resampled units, drawn within those of the first, second and both sets."""
    _, unit = np.unique(units, return_inverse=True)
    order = np.argsort(unit, kind="stable")
    bounds = np.searchsorted(unit[order], np.arange(unit.max() + 2))
    sides = np.zeros(unit.max() + 1, dtype=int)
    np.bitwise_or.at(sides, unit, np.where(second, 2, 1))
    strata = [np.flatnonzero(sides == side) for side in (1, 2, 3)]
    draws = []
    for _ in range(_RESAMPLES):
        chosen = np.concatenate([rng.choice(s, len(s)) for s in strata if len(s)])
        lengths = bounds[chosen + 1] - bounds[chosen]
        offsets = np.repeat(bounds[chosen] - np.cumsum(lengths) + lengths, lengths)
        rows = order[np.arange(lengths.sum()) + offsets]
        draws.append(_auc(decisions[rows], second[rows]))
    return np.array(draws)


def _divergence(decisions: np.ndarray, second: np.ndarray, folds: np.ndarray) -> float:
    """Return the bound on the Jensen-Shannon divergence from calibrated held-out decisions."""
    from sklearn.linear_model import LogisticRegression

    x = decisions[:, np.newaxis] / max(float(decisions.std()), 1e-300)
    likelihood = np.empty(len(x))
    for half in (0, 1):  # calibrated on the other folds
        test = folds % 2 == half
        model = LogisticRegression(class_weight="balanced").fit(x[~test], second[~test])
        p = model.predict_proba(x[test])
        likelihood[test] = np.log2(np.maximum(p[np.arange(len(p)), second[test].astype(int)], 1e-9))
    bound = 1.0 + likelihood[~second].mean() / 2 + likelihood[second].mean() / 2
    return float(min(1.0, max(0.0, bound)))
