"""StructuralLabels: degrees and rings as part of vertex labels."""

from __future__ import annotations

import numpy as np

from ..core.components import on_rings
from ..graphs.batch import GraphBatch
from .attribute_bins import with_bins
from .base import View


class StructuralLabels(View):
    """Join the label of each vertex with its degree and whether it lies on a ring.

    Short patterns then tell a chain from a ring and a branch from an end, as the atom invariants of
    circular fingerprints do. Both come from the graph itself.

    See Also
    --------
    GraphBatch.with_degree_labels : The degree in place of the label.

    Examples
    --------
    >>> import graphgrain as gg
    >>> ring = ([(0, 1), (1, 2), (2, 0), (2, 3)], ["C", "C", "C", "O"])
    >>> gg.StructuralLabels().fit_transform([ring]).labels.tolist()
    ['C|2|1', 'C|2|1', 'C|3|1', 'O|1|0']
    """

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        rings = on_rings(batch.arrays).astype(np.int64)
        return with_bins(batch, "vertex", np.column_stack([batch.degrees, rings]), True)
