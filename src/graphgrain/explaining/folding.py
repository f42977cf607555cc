"""From a pipeline of a kernel and a linear model to one weight per column of the kernel.

The value of a linear model is ``coef @ z + intercept``, where z is what the steps in front of it
make of a graph's features. Going backwards, each step is taken into the weights:

1. Scalers and projections are linear: weights are multiplied, and what they subtract goes to the
   bias. Selectors leave weights of 0 for columns that they drop.
2. A normaliser divides a row by its norm, so that weights stay and the row gets a scale.
3. Similarities to the fitted graphs are products of features: weights on them become weights on
   patterns. The norm of a normalised similarity is one more scale of the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import (
    FunctionTransformer,
    KernelCenterer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from ..errors import InvalidParameterError
from ..kernels.bases.feature_kernel import FeatureKernel

_NORMS: dict[str, Callable[[Any], np.ndarray]] = {
    "l1": lambda X: np.abs(X).sum(axis=1),
    "l2": lambda X: np.sqrt(X.multiply(X).sum(axis=1)),
    "max": lambda X: abs(X).max(axis=1).toarray(),
}


@dataclass
class Folded:
    """``value = sum of scale_k * bias_k + (product of all scales) * weights @ row``.

    Attributes
    ----------
    weights : array of shape (columns, outputs)
    biases : list of arrays of shape (outputs,)
        The k-th is multiplied with the first k scales.
    normalisers : list of (int, str)
        Position of the step in front of whose row the norm is taken, and which norm.
    """

    weights: np.ndarray
    biases: list[np.ndarray]
    normalisers: list[tuple[int, str]] = field(default_factory=list)

    def add_bias(self, values: np.ndarray) -> None:
        self.biases[-1] = self.biases[-1] + values

    def normalise(self, position: int, norm: str) -> None:
        self.normalisers.append((position, norm))
        self.biases.append(np.zeros_like(self.biases[-1]))


def fold_steps(steps: list[Any], coefficients: np.ndarray, intercept: np.ndarray) -> Folded:
    """Weights on the output of the kernel, from those behind the steps that follow it.

    Parameters
    ----------
    steps : list of fitted transformers
    coefficients : array of shape (outputs, columns)
    intercept : array of shape (outputs,)
    """
    folded = Folded(np.asarray(coefficients, dtype=np.float64).T, [np.array(intercept, float)])
    for position in reversed(range(len(steps))):
        _fold(steps[position], position, folded)
    return folded


def _fold(step: Any, position: int, folded: Folded) -> None:
    W = folded.weights
    if isinstance(step, SelectorMixin):
        folded.weights = np.zeros((len(step.get_support()), W.shape[1]))
        folded.weights[step.get_support()] = W
    elif isinstance(step, StandardScaler | RobustScaler):
        _fold_scaler(getattr(step, "mean_", getattr(step, "center_", None)), step, folded)
    elif isinstance(step, MaxAbsScaler):
        folded.weights = W / step.scale_[:, None]
    elif isinstance(step, MinMaxScaler) and not step.clip:
        folded.add_bias(step.min_ @ W)
        folded.weights = W * step.scale_[:, None]
    elif isinstance(step, Normalizer):
        folded.normalise(position, step.norm)
    elif isinstance(step, TfidfTransformer) and not step.sublinear_tf:
        if step.norm is not None:
            folded.normalise(position, step.norm)
        if step.use_idf:
            folded.weights = W * step.idf_[:, None]
    elif isinstance(step, TruncatedSVD):
        folded.weights = step.components_.T @ W
    elif isinstance(step, PCA):
        scale = np.sqrt(step.explained_variance_) if step.whiten else np.ones(len(W))
        folded.weights = step.components_.T @ (W / scale[:, None])
        folded.add_bias(-step.mean_ @ folded.weights)
    elif isinstance(step, KernelCenterer):
        total = W.sum(axis=0)
        folded.add_bias(step.K_fit_all_ * total - step.K_fit_rows_ @ W)
        folded.weights = W - total / len(W)
    elif isinstance(step, FunctionTransformer) and step.func is None:
        pass
    elif step is not None and step != "passthrough":
        raise InvalidParameterError(
            f"explain can look through scalers, normalisers, selectors, PCA and TruncatedSVD "
            f"between a kernel and a linear model; it cannot look through {step!r}. Leave that "
            "step out."
        )


def _fold_scaler(centre: np.ndarray | None, step: Any, folded: Folded) -> None:
    if getattr(step, "scale_", None) is not None:
        folded.weights = folded.weights / step.scale_[:, None]
    centred = getattr(step, "with_mean", getattr(step, "with_centering", False))
    if centred and centre is not None:
        folded.add_bias(-centre @ folded.weights)


def row_norms(steps: list[Any], normalisers: list[tuple[int, str]], X: Any) -> np.ndarray:
    """One over the norm at each normaliser, of shape (normalisers, rows); 1 for a row of zeros."""
    wanted = dict(normalisers)
    found = {}
    for position, step in enumerate(steps):
        if position in wanted:
            scaled = X
            if isinstance(step, TfidfTransformer) and step.use_idf:
                scaled = sparse.csr_array(X) * step.idf_
            norms = np.asarray(_NORMS[wanted[position]](sparse.csr_array(scaled))).ravel()
            found[position] = 1.0 / np.where(norms > 0, norms, 1.0)
        if step is not None and step != "passthrough" and position < max(wanted, default=-1):
            X = step.transform(X)
    return np.array([found[position] for position, _ in normalisers]).reshape(len(wanted), -1)


def fold_gram(kernel: FeatureKernel, folded: Folded) -> None:
    """From weights on similarities to the fitted graphs to weights on the kernel's columns."""
    W = folded.weights
    scales = kernel.level_scales
    if kernel.similarity == "cosine":
        squares = (scales**2) @ kernel.squared_norms_
        W = W / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
    indptr, rows, values = kernel.features_
    X = sparse.csc_array((values, rows, indptr), shape=(kernel.n_graphs_, len(indptr) - 1))
    sizes = [len(vocabulary) for vocabulary in kernel.vocabulary_]
    folded.weights = (X.T @ W) * np.repeat(scales, sizes)[:, None]
