"""AttributedKernel: kernels that compare the attributes of pairs of vertices."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..parameters import Number, OneOf, Rule
from ..views.base import attribute_columns
from .base import GraphKernel
from .pairwise import PairwiseKernel


class AttributedKernel(PairwiseKernel):
    """Base class: how vertices are compared.

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

    @property
    def _gamma(self) -> float:
        return 1.0 / max(self.n_attributes_, 1) if self.gamma is None else self.gamma

    def _attributes(self, batch: GraphBatch) -> np.ndarray:
        return attributes_as_at_fit(batch, self.n_attributes_)

    def _fit(self, batch: GraphBatch) -> None:
        self.n_attributes_ = attribute_columns(batch, "vertex").shape[1]
        super()._fit(batch)


def attributes_as_at_fit(batch: GraphBatch, expected: int) -> np.ndarray:
    """Vertex attributes, or an error if there are not as many as at fit."""
    table = attribute_columns(batch, "vertex")
    if len(table) and table.shape[1] != expected:
        raise InvalidGraphError(
            f"The graphs must have as many vertex attributes as at fit ({expected}); got "
            f"{table.shape[1]}."
        )
    return table
