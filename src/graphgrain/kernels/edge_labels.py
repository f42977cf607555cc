"""What the kernels that can read edge labels share."""

from __future__ import annotations

import numpy as np

from ..core.hashing import hash_labels
from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch


def edge_label_hashes(batch: GraphBatch, wanted: bool) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the entries of ``indices`` and the hash of each code; placeholders if not wanted."""
    if not wanted or not batch.n_edges:
        return np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.uint64)
    if batch.edge_label_codes is None or batch.edge_label_table is None:
        raise InvalidGraphError(
            "edge_labels=True needs graphs with edge labels; these have none. Give them "
            "(for example from_networkx(graphs, edge_label=...)) or use edge_labels=False."
        )
    return batch.edge_label_codes, hash_labels(batch.edge_label_table, 1)
