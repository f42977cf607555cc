"""AttributeScaler: attributes on a common scale."""

from __future__ import annotations

import numpy as np

from ..graphs.batch import GraphBatch, replace_entry_attributes, replaced
from ..parameters import OneOf, parameter
from .base import View, attribute_columns


class AttributeScaler(View):
    """Scale continuous attributes.

    Kernels do not scale the attributes they compare, so attributes with large values would dominate
    those with small values. Apply this view first.

    Parameters
    ----------
    on : {"vertex", "edge"}, default="vertex"
        Whether vertex or edge attributes are scaled.
    method : {"standard", "range"}, default="standard"
        Scale each attribute to mean 0 and standard deviation 1, or to the range from 0 to 1, on
        the fitted graphs. Attributes that are constant there become 0.

    Attributes
    ----------
    centre_, scale_ : arrays
        Offset subtracted from each attribute, and the divisor applied after that.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = gg.GraphBatch.from_edges([2, 1], [(0, 1)], vertex_attributes=[2e3, 6e3, 4e3])
    >>> gg.AttributeScaler(method="range").fit_transform(graphs).vertex_attributes.tolist()
    [[0.0], [1.0], [0.5]]
    """

    on: str = parameter(OneOf(("vertex", "edge")), default="vertex", kw_only=False)
    method: str = parameter(OneOf(("standard", "range")), default="standard", kw_only=False)

    def _fit(self, batch: GraphBatch) -> None:
        # sorted, so that rounding does not depend on the numbering of the vertices
        values = np.sort(attribute_columns(batch, self.on), axis=0)
        if not len(values):
            self.centre_, self.scale_ = np.zeros(values.shape[1]), np.ones(values.shape[1])
            return
        self.centre_, spread = values[0], values[-1] - values[0]
        self.scale_ = np.where(spread > 0.0, spread, 1.0)
        if self.method == "standard":
            shares = (values - self.centre_) / self.scale_
            self.centre_ = self.centre_ + self.scale_ * shares.mean(axis=0)
            self.scale_ = np.where(spread > 0.0, spread * shares.std(axis=0), 1.0)

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        values = attribute_columns(batch, self.on, len(self.scale_))
        scaled = (values - self.centre_) / self.scale_
        if self.on == "edge":
            return replace_entry_attributes(batch, scaled)
        return replaced(batch, vertex_attributes=scaled)
