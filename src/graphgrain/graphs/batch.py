"""GraphBatch: many undirected graphs as a few flat arrays.

The vertices of all graphs are numbered through; graph ``g`` owns the vertices
``offsets[g]`` to ``offsets[g + 1]``. The neighbours of vertex ``v`` are
``indices[indptr[v]:indptr[v + 1]]``, in ascending order, so every edge has two entries,
one from each end. Labels are codes into a sorted table of distinct values.

Everything is validated once, in :meth:`GraphBatch.from_edges`; the rest of the library
relies on it. The arrays are read-only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.structures import Graphs
from .checks import (
    both_directions,
    check_length,
    checked_attributes,
    checked_offsets,
    checked_pairs,
)
from .flat import (
    all_or_none,
    gathered_ranges,
    graph_numbers,
    graphs_with_hashes,
    joined_attributes,
    joined_edge_labels,
    joined_offsets,
    same_arrays,
)
from .labels import count_distinct, encode_labels, label_kind, merge_tables


class GraphBatch:
    """A sequence of undirected graphs with vertex labels and optional extras.

    Make one with :meth:`from_edges`, :func:`graphgrain.as_graphs` or one of the ``from_*``
    and ``load_*`` functions. It behaves like a one-dimensional NumPy array of graphs:
    ``len``, iteration, integers, slices, boolean masks and index arrays all work, and so do
    scikit-learn's splitters. An integer gives a batch that holds one graph. ``np.asarray`` gives
    an array of such batches; estimators that insist on a table, such as ``BaggingClassifier``,
    take it as a column: ``np.asarray(graphs).reshape(-1, 1)``.

    Attributes
    ----------
    offsets : int64 array, one longer than the number of graphs
        Where the vertices of each graph begin.
    indptr, indices : int64 and int32 arrays
        Neighbour lists (CSR) over all vertices.
    label_codes, label_table : int32 array per vertex, array of distinct labels
        ``label_table[label_codes]`` are the labels (see :attr:`labels`).
    labelled : bool
        False if no labels were given: all vertices then carry the label 0.
    edge_label_codes, edge_label_table : arrays or None
        The same for edges, one code per entry of ``indices``.
    vertex_attributes, edge_attributes : float64 arrays with two dimensions, or None
        One row per vertex, one row per entry of ``indices``.

    Examples
    --------
    >>> import graphgrain as gg
    >>> batch = gg.GraphBatch.from_edges([3, 2], [(0, 1), (1, 2), (3, 4)], labels=list("CCOCN"))
    >>> batch
    GraphBatch(2 graphs, 5 vertices, 3 edges, 3 vertex labels)
    >>> batch[1].labels.tolist()
    ['C', 'N']
    """

    _FIELDS = (
        "edge_attributes",
        "edge_label_codes",
        "edge_label_table",
        "indices",
        "indptr",
        "label_codes",
        "label_table",
        "labelled",
        "offsets",
        "vertex_attributes",
    )
    __slots__ = (*_FIELDS, "_arrays")
    __hash__ = None  # type: ignore[assignment]

    offsets: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    label_codes: np.ndarray
    label_table: np.ndarray
    labelled: bool
    edge_label_codes: np.ndarray | None
    edge_label_table: np.ndarray | None
    vertex_attributes: np.ndarray | None
    edge_attributes: np.ndarray | None
    _arrays: Graphs | None

    def __init__(self) -> None:
        raise TypeError(
            "GraphBatch is not built directly. Use graphgrain.as_graphs(...) for graphs of other "
            "libraries, or GraphBatch.from_edges(sizes, edges, labels) for flat arrays."
        )

    @classmethod
    def _of(cls, **arrays: Any) -> GraphBatch:
        """A batch from arrays that are known to be valid."""
        batch = object.__new__(cls)
        batch._arrays = None
        for name in cls._FIELDS:
            value = arrays[name]
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            setattr(batch, name, value)
        return batch

    @classmethod
    def from_edges(
        cls,
        sizes: Iterable[int],
        edges: Any,
        labels: Any = None,
        *,
        edge_labels: Any = None,
        vertex_attributes: Any = None,
        edge_attributes: Any = None,
    ) -> GraphBatch:
        """Build a batch from flat lists; this is the door where everything is checked.

        Parameters
        ----------
        sizes : sequence of int
            The number of vertices of each graph.
        edges : sequence of pairs, or array of shape (m, 2)
            Vertex numbers, counted through over all graphs. Direction is dropped: an edge may
            be listed once, or once from each end. Self-loops and edges that are listed more often
            are left out, with a warning; of several labels the smallest stays, with its
            attributes.
        labels : sequence, optional
            An integer or a string per vertex.
        edge_labels : sequence, optional
            An integer or a string per row of ``edges``.
        vertex_attributes, edge_attributes : array-like, optional
            Finite numbers: one row per vertex, one row per row of ``edges``.
        """
        offsets = checked_offsets(sizes)
        n_vertices = int(offsets[-1])
        pairs = checked_pairs(edges, offsets)

        if labels is None:
            label_codes = np.zeros(n_vertices, dtype=np.int32)
            label_table = np.zeros(1, dtype=np.int64)
        else:
            label_codes, label_table = encode_labels(labels, "vertex")
            check_length(len(label_codes), n_vertices, "labels", "vertices")
        edge_codes = edge_table = None
        if edge_labels is not None:
            edge_codes, edge_table = encode_labels(edge_labels, "edge")
            check_length(len(edge_codes), len(pairs), "edge labels", "edges")
        vertex_attributes = checked_attributes(vertex_attributes, n_vertices, "vertex")
        edge_attributes = checked_attributes(edge_attributes, len(pairs), "edge")

        source, target, origin = both_directions(pairs, edge_codes, edge_attributes)
        indptr = np.zeros(n_vertices + 1, dtype=np.int64)
        np.cumsum(np.bincount(source, minlength=n_vertices), out=indptr[1:])
        return cls._of(
            offsets=offsets,
            indptr=indptr,
            indices=target.astype(np.int32),
            label_codes=label_codes,
            label_table=label_table,
            labelled=labels is not None,
            edge_label_codes=None if edge_codes is None else edge_codes[origin],
            edge_label_table=edge_table,
            vertex_attributes=vertex_attributes,
            edge_attributes=None if edge_attributes is None else edge_attributes[origin],
        )

    # ---------------------------------------------------------------- what is in it

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def arrays(self) -> Graphs:
        """The graphs as compiled functions read them, labels as hashes; made once."""
        if self._arrays is None:
            labels = self.label_codes, self.label_table
            edge_labels = self.edge_label_codes, self.edge_label_table
            self._arrays = graphs_with_hashes(
                self.offsets, self.indptr, self.indices, labels, edge_labels
            )
        return self._arrays

    @property
    def shape(self) -> tuple[int]:
        """``(number of graphs,)``: scikit-learn then indexes the batch like an array."""
        return (len(self),)

    @property
    def n_vertices(self) -> int:
        """Number of vertices of all graphs together."""
        return int(self.offsets[-1])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges of all graphs together."""
        return len(self.indices) // 2

    @property
    def vertex_counts(self) -> np.ndarray:
        """Number of vertices of each graph."""
        return np.diff(self.offsets)

    @property
    def edge_counts(self) -> np.ndarray:
        """Number of undirected edges of each graph."""
        return np.diff(self.indptr[self.offsets]) // 2

    @property
    def degrees(self) -> np.ndarray:
        """Number of neighbours of each vertex."""
        return np.diff(self.indptr)

    @property
    def graph_of_vertex(self) -> np.ndarray:
        """The number of the graph that each vertex belongs to."""
        return np.repeat(np.arange(len(self)), self.vertex_counts)

    @property
    def labels(self) -> np.ndarray:
        """The label of each vertex."""
        return self.label_table[self.label_codes]

    @property
    def label_kind(self) -> str:
        """``"integer"``, ``"string"`` or ``"none"``."""
        return label_kind(self.label_table) if self.labelled else "none"

    @property
    def edge_labels(self) -> np.ndarray | None:
        """The label of each row of :attr:`edges`, or None."""
        if self.edge_label_table is None or self.edge_label_codes is None:
            return None
        return self.edge_label_table[self.edge_label_codes[self.edge_entries]]

    @property
    def edge_entries(self) -> np.ndarray:
        """Where in ``indices`` each edge stands, seen from its smaller end."""
        source = np.repeat(np.arange(self.n_vertices), self.degrees)
        return np.flatnonzero(source < self.indices)

    @property
    def edges(self) -> np.ndarray:
        """Each edge once, as a row ``(smaller vertex, larger vertex)``."""
        source = np.repeat(np.arange(self.n_vertices), self.degrees)
        entries = np.flatnonzero(source < self.indices)
        return np.column_stack((source[entries], self.indices[entries].astype(np.int64)))

    def __repr__(self) -> str:
        parts = [
            _count(len(self), "graph"),
            _count(self.n_vertices, "vertex", "vertices"),
            _count(self.n_edges, "edge"),
            _count(count_distinct(self.label_codes), "vertex label")
            if self.labelled
            else "no labels",
        ]
        if self.edge_label_codes is not None:
            parts.append(_count(count_distinct(self.edge_label_codes), "edge label"))
        if self.vertex_attributes is not None:
            parts.append(_count(self.vertex_attributes.shape[1], "vertex attribute"))
        if self.edge_attributes is not None:
            parts.append(_count(self.edge_attributes.shape[1], "edge attribute"))
        return f"GraphBatch({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from .drawing.notebook import graphs_html

        return graphs_html(self)

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same graphs in the same order, numbering included."""
        if not isinstance(other, GraphBatch):
            return NotImplemented
        return (
            self.labelled == other.labelled
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.labels, other.labels)
            and same_arrays(self.edge_labels, other.edge_labels)
            and same_arrays(self.vertex_attributes, other.vertex_attributes)
            and same_arrays(self.edge_attributes, other.edge_attributes)
        )

    # ---------------------------------------------------------------- parts and sums

    def __getitem__(self, key: Any) -> GraphBatch:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn asks for X[rows, ...]
        return self._take(graph_numbers(key, len(self)))

    def __iter__(self) -> Iterator[GraphBatch]:
        return (self._take(np.array([number])) for number in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A one-dimensional array of objects, each a batch that holds one graph."""
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(f"Graphs are an array of objects; they cannot become {dtype!r}.")
        if copy is False:
            raise ValueError("A GraphBatch holds no array of objects: one has to be made.")
        array = np.empty(len(self), dtype=object)
        for number, graph in enumerate(self):
            array[number] = graph
        return array

    def __add__(self, other: GraphBatch) -> GraphBatch:
        if not isinstance(other, GraphBatch):
            return NotImplemented
        return GraphBatch.concatenate([self, other])

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, ({name: getattr(self, name) for name in self._FIELDS},)

    def _take(self, graphs: np.ndarray) -> GraphBatch:
        vertices, offsets = gathered_ranges(self.offsets, graphs)
        entries, indptr = gathered_ranges(self.indptr, vertices)
        shift = np.repeat(offsets[:-1] - self.offsets[graphs], np.diff(offsets))
        indices = self.indices[entries] + np.repeat(shift, np.diff(indptr))
        codes, attributes = self.edge_label_codes, self.edge_attributes
        return GraphBatch._of(
            offsets=offsets,
            indptr=indptr,
            indices=indices.astype(np.int32),
            label_codes=self.label_codes[vertices],
            label_table=self.label_table,
            labelled=self.labelled,
            edge_label_codes=None if codes is None else codes[entries],
            edge_label_table=self.edge_label_table,
            vertex_attributes=None
            if self.vertex_attributes is None
            else self.vertex_attributes[vertices],
            edge_attributes=None if attributes is None else attributes[entries],
        )

    @classmethod
    def concatenate(cls, batches: Sequence[GraphBatch]) -> GraphBatch:
        """One batch from several, in order."""
        batches = list(batches)
        if not batches:
            return cls.from_edges([], [])
        # Without vertices there is nothing that could have a label or an attribute.
        telling = [batch for batch in batches if batch.n_vertices] or batches[:1]
        labelled = all_or_none([batch.labelled for batch in telling], "vertex labels")
        table, maps = merge_tables([batch.label_table for batch in telling], "vertex")
        edge_codes, edge_table = joined_edge_labels(batches)
        vertex_base = np.cumsum([0] + [batch.n_vertices for batch in batches])
        entry_base = np.cumsum([0] + [len(batch.indices) for batch in batches])
        return cls._of(
            offsets=joined_offsets([batch.offsets for batch in batches], vertex_base),
            indptr=joined_offsets([batch.indptr for batch in batches], entry_base),
            indices=np.concatenate(
                [
                    batch.indices + int(base)
                    for batch, base in zip(batches, vertex_base, strict=False)
                ]
            ).astype(np.int32),
            label_codes=np.concatenate(
                [new[batch.label_codes] for batch, new in zip(telling, maps, strict=True)]
            ),
            label_table=table,
            labelled=labelled,
            edge_label_codes=edge_codes,
            edge_label_table=edge_table,
            vertex_attributes=joined_attributes(
                [batch.vertex_attributes for batch in telling], "vertex attributes"
            ),
            edge_attributes=joined_attributes(
                [batch.edge_attributes for batch in batches if batch.n_edges]
                or [batches[0].edge_attributes],
                "edge attributes",
            ),
        )

    def with_labels(self, labels: Any) -> GraphBatch:
        """The same graphs with other vertex labels (None: without labels)."""
        if labels is None:
            codes = np.zeros(self.n_vertices, dtype=np.int32)
            table = np.zeros(1, dtype=np.int64)
        else:
            codes, table = encode_labels(labels, "vertex")
            check_length(len(codes), self.n_vertices, "labels", "vertices")
        return self._replace(label_codes=codes, label_table=table, labelled=labels is not None)

    def with_degree_labels(self) -> GraphBatch:
        """The same graphs, each vertex labelled by its number of neighbours."""
        return self.with_labels(self.degrees)

    def _replace(self, **arrays: Any) -> GraphBatch:
        return GraphBatch._of(**({name: getattr(self, name) for name in self._FIELDS} | arrays))


def _restore(arrays: dict[str, Any]) -> GraphBatch:
    return GraphBatch._of(**arrays)


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
