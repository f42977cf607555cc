"""AttributedKernel: kernels that compare the attributes of pairs of vertices."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..graphs.batch import GraphBatch
from ..parameters import Number, OneOf, Rule
from ..views.base import attribute_columns
from .bases.graph_kernel import GraphKernel
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
        return attribute_columns(batch, "vertex", self.n_attributes_)

    def _fit(self, batch: GraphBatch) -> None:
        self.n_attributes_ = attribute_columns(batch, "vertex").shape[1]
        super()._fit(batch)
