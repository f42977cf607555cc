"""What the kernels that count edges share: hashes, places and names of edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..core.hashing import mix_array
from ..graphs.batch import GraphBatch
from .bases.graph_kernel import check_edge_labels
from .naming import label_name


def edge_pointers(batch: GraphBatch) -> np.ndarray:
    """Where the edges of each graph begin."""
    return np.concatenate(([0], np.cumsum(batch.edge_counts)))


def edge_hashes(batch: GraphBatch, of_vertices: np.ndarray, edge_labels: bool) -> np.ndarray:
    """A hash per edge, from those of its ends and, if wanted, its label.

    The ends are added up, so that it is the same from both.
    """
    own = np.zeros(batch.n_edges, dtype=np.uint64)
    if edge_labels and batch.n_edges:
        check_edge_labels(batch, True)
        arrays = batch.arrays
        own = mix_array(arrays.edge_hashes[arrays.edge_labels[batch.edge_entries]])
    edges = batch.edges
    with np.errstate(over="ignore"):
        return mix_array(of_vertices[edges[:, 0]] + of_vertices[edges[:, 1]] + own)


def edges_by_graph(batch: GraphBatch) -> Iterator[tuple[slice, np.ndarray]]:
    """For each graph which edges are its own, and their ends, counted from its first vertex."""
    edges, ends = batch.edges, edge_pointers(batch).tolist()
    for graph, first in enumerate(batch.offsets[:-1].tolist()):
        own = slice(ends[graph], ends[graph + 1])
        yield own, (edges[own] - first).astype(np.int32)


def edge_names(
    batch: GraphBatch,
    hashes: np.ndarray,
    ends: Callable[[int, int], list[str]],
    edge_labels: bool,
) -> dict[int, str]:
    """A readable name for each distinct hash: ``ends(u, v)``, with the edge between them.

    ``hashes`` has one for every edge; without names of its ends an edge is its label alone.
    """
    edges, labels = batch.edges, batch.edge_labels
    names = {}
    distinct, where = np.unique(hashes, return_index=True)
    for code, edge in zip(distinct.tolist(), where.tolist(), strict=True):
        link = "-"
        if edge_labels and labels is not None:
            link = f"-[{label_name(labels[edge])}]-"
        names[code] = f" {link} ".join(ends(*edges[edge].tolist())) or link
    return names
