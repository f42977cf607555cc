"""StructuralLabels: degrees and rings as part of vertex labels."""

from __future__ import annotations

import numpy as np

from ..core.components import on_rings
from ..graphs.batch import GraphBatch
from .attribute_bins import with_bins
from .base import View


class StructuralLabels(View):
    """Extend the label of each vertex by its degree and whether it is in a ring.

    Short patterns then distinguish chains from rings and branches from ends, as the atom invariants
    of circular fingerprints do.

    See Also
    --------
    GraphBatch.with_degree_labels : Use degrees instead of labels.

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
