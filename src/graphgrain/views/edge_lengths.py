"""EdgeLengths: distances between the ends of edges as edge attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch, replace_entry_attributes
from ..parameters import parameter
from .base import View, attribute_columns


class EdgeLengths(View):
    """Set the edge attribute to the distance between the ends of each edge.

    Coordinates change under rotation, distances do not. Apply this view before
    :class:`AttributeBins` or :class:`HashedAttributes` to datasets with 3-D coordinates.

    Parameters
    ----------
    columns : sequence of int, optional
        Indices of the vertex attributes that are coordinates. By default all.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = gg.GraphBatch.from_edges([2], [(0, 1)], vertex_attributes=[[0, 0], [3, 4]])
    >>> gg.EdgeLengths().fit_transform(graphs).edge_attributes.tolist()
    [[5.0], [5.0]]
    """

    columns: Any = parameter(default=None, kw_only=False)

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        points = attribute_columns(batch, "vertex")
        if self.columns is not None and len(points):
            try:
                points = points[:, list(self.columns)]
            except (IndexError, TypeError) as error:
                raise InvalidParameterError(
                    f"columns must be numbers of vertex attributes (0 to {points.shape[1] - 1}); "
                    f"got {self.columns!r}."
                ) from error
        lengths = np.linalg.norm(points[batch.sources] - points[batch.indices], axis=1)
        return replace_entry_attributes(batch, lengths.reshape(-1, 1))
