"""What the kernels that can read edge labels share."""

from __future__ import annotations

from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch


def check_edge_labels(batch: GraphBatch, wanted: bool) -> None:
    """Refuse graphs that have edges without labels where the labels are wanted."""
    if wanted and batch.n_edges and batch.edge_label_codes is None:
        raise InvalidGraphError(
            "edge_labels=True needs graphs with edge labels; these have none. Give them "
            "(for example from_networkx(graphs, edge_label=...)) or use edge_labels=False."
        )
