"""AttributedKernel: kernels that compare the attributes of pairs of vertices."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..parameters import Number, OneOf, Rule
from ..views.base import attribute_columns
from .base import GraphKernel, normalized


class AttributedKernel(GraphKernel):
    """Base class: a subclass prepares graphs once and compares them two by two.

    Attributes
    ----------
    n_attributes_ : int
        Number of attributes of the vertices seen at fit.
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **GraphKernel.parameter_rules,
        "node_kernel": OneOf(("gaussian", "linear")),
        "gamma": Number(0.0, optional=True),
    }
    needs_attributes: ClassVar[bool] = True

    node_kernel: str
    gamma: float | None
    n_attributes_: int

    @abstractmethod
    def _prepare(self, batch: GraphBatch) -> Any:
        """What comparing needs to know about graphs."""

    @abstractmethod
    def _compare(self, left: Any, right: Any, lower: bool) -> np.ndarray:
        """Similarities of all pairs of prepared graphs; up to the diagonal if ``lower``."""

    @abstractmethod
    def _compare_own(self, graphs: Any) -> np.ndarray:
        """Similarity of each prepared graph with itself."""

    @property
    def _gamma(self) -> float:
        return 1.0 / max(self.n_attributes_, 1) if self.gamma is None else self.gamma

    def _attributes(self, batch: GraphBatch) -> np.ndarray:
        return attributes_as_at_fit(batch, self.n_attributes_)

    def _fit(self, batch: GraphBatch) -> None:
        self.n_attributes_ = attribute_columns(batch, "vertex").shape[1]
        self._fitted = self._prepare(batch)
        self._own = self._compare_own(self._fitted)

    def _gram_of_fitted(self) -> np.ndarray:
        K = self._compare(self._fitted, self._fitted, True)
        K = np.tril(K) + np.tril(K, -1).T
        return normalized(K, self._own) if self.normalize else K

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        new = self._prepare(batch)
        K = self._compare(new, self._fitted, False)
        return normalized(K, self._compare_own(new), self._own) if self.normalize else K


def attributes_as_at_fit(batch: GraphBatch, expected: int) -> np.ndarray:
    """Vertex attributes, or an error if there are not as many as at fit."""
    table = attribute_columns(batch, "vertex")
    if len(table) and table.shape[1] != expected:
        raise InvalidGraphError(
            f"The graphs must have as many vertex attributes as at fit ({expected}); got "
            f"{table.shape[1]}."
        )
    return table
