"""The same graphs with other edges, edge labels or edge attributes.

All work on entries: each edge has two, one from each end (see :class:`GraphBatch`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .batch import GraphBatch
from .checks import check_length, checked_attributes
from .labels import encode_labels


def keep_entries(batch: GraphBatch, stays: np.ndarray) -> GraphBatch:
    """Only the edges whose two entries are marked in ``stays``; all vertices remain."""
    check_length(len(stays), len(batch.indices), "marks", "entries")
    kept = np.concatenate(([0], np.cumsum(stays)))
    codes, attributes = batch.edge_label_codes, batch.edge_attributes
    return batch._replace(
        indptr=kept[batch.indptr],
        indices=batch.indices[stays],
        edge_label_codes=None if codes is None else codes[stays],
        edge_attributes=None if attributes is None else attributes[stays],
    )


def relabel_entries(batch: GraphBatch, labels: Any) -> GraphBatch:
    """Other edge labels, one per entry."""
    codes, table = encode_labels(labels, "edge")
    check_length(len(codes), len(batch.indices), "labels", "entries")
    return batch._replace(edge_label_codes=codes, edge_label_table=table)


def replace_entry_attributes(batch: GraphBatch, values: np.ndarray) -> GraphBatch:
    """Other edge attributes, one row per entry."""
    return batch._replace(edge_attributes=checked_attributes(values, len(batch.indices), "edge"))
