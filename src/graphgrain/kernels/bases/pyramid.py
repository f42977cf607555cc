"""Pyramid: base class of the kernels that match points in a hierarchy of cells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.gram import add_products, finish
from ...parameters import parameter
from ..features import (
    SIMILARITIES,
    Features,
)
from .feature_kernel import FeatureKernel


class Pyramid(FeatureKernel):
    """Base class of the pyramid match kernels; subclasses count the points of each cell.

    I_l is the number of points of two graphs that can be matched within cells of level l, the
    intersection of two histograms. With L = ``depth`` the kernel is
    I_L + sum over l < L of 2^-(L-l) (I_l - I_{l+1}).
    """

    counts: str = parameter(default="intersection", init=False)  # by definition
    level_parameter = "depth"

    def _weights(self, depth: int) -> np.ndarray:
        """Return the weight of each I_l in the kernel of this depth."""
        weights = 0.5 ** np.arange(depth + 1.0, 0.0, -1.0)
        weights[0] *= 2.0
        return weights

    def _grams(
        self, new: Features | None = None, every_level: bool = False
    ) -> Iterator[np.ndarray]:
        fitted = self.columns_
        left, other, norms = fitted.entries, None, fitted.squares
        if new is not None:
            left, other, norms = fitted.of(new), fitted.entries, new.squares
        levels = len(fitted.vocabulary)
        depths = range(levels) if every_level else [levels - 1]
        weights = [self._weights(depth) for depth in depths]
        if self.similarity == "minmax":  # of the features, which are scaled by square roots
            weights = [np.sqrt(weight) for weight in weights]
        results = [np.zeros((norms.shape[1], self.n_graphs_)) for _ in depths]
        bounds = fitted.offsets.tolist()
        for level in range(levels):
            matches = np.zeros_like(results[0])
            add_products(matches, left, other, bounds[level], bounds[level + 1], self.n_jobs)
            for K, weight in zip(results, weights, strict=True):
                if level < len(weight):
                    K += weight[level] * matches
        code = SIMILARITIES[self.similarity]
        for K, weight in zip(results, weights, strict=True):
            own, seen = weight @ norms[: len(weight)], weight @ fitted.squares[: len(weight)]
            yield finish(K, own, seen, new is None, code, self.n_jobs)

    @property
    def level_scales(self) -> np.ndarray:
        return np.sqrt(self._weights(len(super().level_scales) - 1))
