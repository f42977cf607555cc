"""GraphBatch: many undirected graphs stored in a few flat arrays.

Vertices are numbered consecutively across all graphs; graph ``g`` has the vertices
``range(offsets[g], offsets[g + 1])``. The neighbours of vertex ``v`` are
``indices[indptr[v]:indptr[v + 1]]``, in ascending order, so every edge has two entries in
``indices``, one for each endpoint. Labels are stored as codes into a sorted table of distinct
values.

Input is validated once, in :meth:`GraphBatch.from_edges`; the rest of the library relies on it.
The arrays are read-only.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.structures import Graphs
from ..errors import GraphgrainWarning, InvalidGraphError
from .labels import PLURALS, encode_labels, label_kind, merge_tables


class GraphBatch:
    """A sequence of undirected graphs with optional labels and attributes.

    Create one with :meth:`from_edges`, :func:`graphgrain.as_graphs` or one of the ``from_*``
    and ``load_*`` functions. A batch behaves like a one-dimensional NumPy array of graphs:
    it supports ``len``, iteration, indexing with integers, slices, boolean masks and index
    arrays, and scikit-learn's splitters. Indexing with an integer returns a batch of one graph.
    ``np.asarray`` returns an object array of such batches. Estimators that require
    two-dimensional input, such as ``BaggingClassifier``, accept ``graphs.reshape(-1, 1)``.

    Attributes
    ----------
    offsets : int64 array of shape (n_graphs + 1,)
        Index of the first vertex of each graph, followed by the total number of vertices.
    indptr, indices : int64 and int32 arrays
        Neighbour lists of all vertices in CSR format.
    label_codes, label_table : int32 array of shape (n_vertices,) and array of distinct labels
        ``label_table[label_codes]`` are the labels (see :attr:`labels`).
    labelled : bool
        False if no labels were given; all vertices then have the label 0.
    edge_label_codes, edge_label_table : arrays or None
        The same for edges, with one code per entry of ``indices``.
    vertex_attributes, edge_attributes : two-dimensional float64 arrays or None
        One row per vertex and one row per entry of ``indices``, respectively.
    columns : dictionary of arrays
        What came with each graph, with one entry per graph: ``"id"``, ``"smiles"``, the other
        columns of a table, properties of an SDF file, attributes of a networkx graph. Columns
        stay with their graphs when a batch is sliced, joined, pickled or seen through a view; they
        play no part in comparisons of batches. :meth:`with_columns` sets them.

    Examples
    --------
    >>> import graphgrain as gg
    >>> batch = gg.GraphBatch.from_edges([3, 2], [(0, 1), (1, 2), (3, 4)], labels=list("CCOCN"))
    >>> batch
    GraphBatch(2 graphs, 5 vertices, 3 edges, 3 vertex labels)
    >>> batch[1].labels.tolist()
    ['C', 'N']
    """

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
    columns: dict[str, np.ndarray]

    _FIELDS = tuple(__annotations__)
    __slots__ = (*_FIELDS, "_arrays", "told")
    __hash__ = None  # type: ignore[assignment]
    _arrays: Graphs | None
    #: Kernels that have said that they ignore attributes; None if no attributes were asked for.
    told: set[str] | None

    def __init__(self) -> None:
        raise TypeError(
            "GraphBatch is not built directly. Use graphgrain.as_graphs(...) for graphs of other "
            "libraries, or GraphBatch.from_edges(sizes, edges, labels) for flat arrays."
        )

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
        """Build a batch from flat lists and validate it.

        Parameters
        ----------
        sizes : sequence of int
            Number of vertices of each graph.
        edges : sequence of pairs, or array of shape (m, 2)
            Vertex numbers, consecutive across all graphs. Edges are undirected: each may be
            listed once, or once per direction. Self-loops and further repetitions are dropped
            with a warning; if a repeated edge has several labels, the smallest is kept together
            with its attributes.
        labels : sequence of int or str, optional
            One label per vertex.
        edge_labels : sequence of int or str, optional
            One label per row of ``edges``.
        vertex_attributes, edge_attributes : array-like, optional
            Finite numbers, with one row per vertex and one row per row of ``edges``.

        Returns
        -------
        graphs : GraphBatch
        """
        offsets = checked_offsets(sizes)
        n_vertices = int(offsets[-1])
        pairs = checked_pairs(edges, offsets)

        label_codes, label_table = vertex_labels(labels, n_vertices)
        edge_codes = edge_table = None
        if edge_labels is not None:
            edge_codes, edge_table = encode_labels(edge_labels, "edge")
            check_length(len(edge_codes), len(pairs), "edge labels", "edges")
        vertex_attributes = checked_attributes(vertex_attributes, n_vertices, "vertex")
        edge_attributes = checked_attributes(edge_attributes, len(pairs), "edge")

        source, target, origin = both_directions(pairs, edge_codes, edge_attributes)
        return of_arrays(
            offsets=offsets,
            indptr=running_sum(np.bincount(source, minlength=n_vertices)),
            indices=target.astype(np.int32),
            label_codes=label_codes,
            label_table=label_table,
            labelled=labels is not None,
            edge_label_codes=None if edge_codes is None else edge_codes[origin],
            edge_label_table=edge_table,
            vertex_attributes=vertex_attributes,
            edge_attributes=None if edge_attributes is None else edge_attributes[origin],
        )

    # ---------------------------------------------------------------- properties

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def arrays(self) -> Graphs:
        """Arrays for the compiled functions, with labels as hashes (cached)."""
        if self._arrays is None:
            from ..core.hashing import hash_labels

            codes, table = self.edge_label_codes, self.edge_label_table
            if codes is None or table is None or not len(codes):
                codes, table = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
            hashes, edge_hashes = hash_labels(self.label_table), hash_labels(table, 1)
            structure = self.offsets, self.indptr, self.indices
            self._arrays = Graphs(*structure, self.label_codes, hashes, codes, edge_hashes)
            for array in self._arrays:  # for compiled functions, read-only is part of the type
                array.flags.writeable = False
        return self._arrays

    @property
    def shape(self) -> tuple[int]:
        """``(number of graphs,)``; lets scikit-learn index the batch like an array."""
        return (len(self),)

    @property
    def n_vertices(self) -> int:
        """Total number of vertices."""
        return int(self.offsets[-1])

    @property
    def n_edges(self) -> int:
        """Total number of undirected edges."""
        return len(self.indices) // 2

    @property
    def vertex_counts(self) -> np.ndarray:
        """Number of vertices of each graph."""
        return self.offsets[1:] - self.offsets[:-1]

    @property
    def edge_counts(self) -> np.ndarray:
        """Number of undirected edges of each graph."""
        ends = self.indptr[self.offsets]
        return (ends[1:] - ends[:-1]) // 2

    @property
    def degrees(self) -> np.ndarray:
        """Number of neighbours of each vertex."""
        return np.diff(self.indptr)

    @property
    def graph_of_vertex(self) -> np.ndarray:
        """Index of the graph that each vertex belongs to."""
        return np.repeat(np.arange(len(self)), self.vertex_counts)

    @property
    def labels(self) -> np.ndarray:
        """Label of each vertex."""
        return self.label_table[self.label_codes]

    @property
    def label_kind(self) -> str:
        """``"integer"``, ``"string"`` or ``"none"``."""
        return label_kind(self.label_table) if self.labelled else "none"

    @property
    def edge_label_kind(self) -> str | None:
        """``"integer"`` or ``"string"``, or None for graphs without edges or edge labels."""
        table = self.edge_label_table
        return None if table is None or not len(self.indices) else label_kind(table)

    @property
    def edge_labels(self) -> np.ndarray | None:
        """Label of each row of :attr:`edges`, or None."""
        if self.edge_label_table is None or self.edge_label_codes is None:
            return None
        return self.edge_label_table[self.edge_label_codes[self.edge_entries]]

    @property
    def sources(self) -> np.ndarray:
        """Vertex whose neighbour each entry of ``indices`` is."""
        return np.repeat(np.arange(self.n_vertices), self.degrees)

    @property
    def edge_entries(self) -> np.ndarray:
        """Position in ``indices`` of each edge, listed from its smaller endpoint."""
        return np.flatnonzero(self.sources < self.indices)

    @property
    def edges(self) -> np.ndarray:
        """Each edge once, as a row ``(smaller vertex, larger vertex)``."""
        sources = self.sources
        entries = np.flatnonzero(sources < self.indices)
        return np.column_stack((sources[entries], self.indices[entries]))

    def __repr__(self) -> str:
        vertices = counted(self.n_vertices, "vertex", "vertices")
        parts = [counted(len(self), "graph"), vertices, counted(self.n_edges, "edge")]
        if not self.labelled:
            parts.append("no labels")
        for codes, what in (
            (self.label_codes if self.labelled else None, "vertex label"),
            (self.edge_label_codes, "edge label"),
        ):
            if codes is not None:  # after slicing, the table may hold labels that do not occur
                parts.append(counted(int(np.count_nonzero(np.bincount(codes))), what))
        for table, what in (
            (self.vertex_attributes, "vertex attribute"),
            (self.edge_attributes, "edge attribute"),
        ):
            if table is not None:
                parts.append(counted(table.shape[1], what))
        return f"GraphBatch({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from .drawing.picture import graphs_html

        return graphs_html(self)

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same graphs in the same order with the same numbering."""
        if not isinstance(other, GraphBatch):
            return NotImplemented
        # Equal labels may have different codes, so compare the labels themselves.
        names = [name for name in self._FIELDS if "label_" not in name and name != "columns"]
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in (*names, "labels", "edge_labels")
        )

    # ---------------------------------------------------------------- indexing and joining

    def __getitem__(self, key: Any) -> GraphBatch:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes with X[rows, ...]
        return self._take(graph_numbers(key, len(self)))

    def __iter__(self) -> Iterator[GraphBatch]:
        return (self._take(np.array([number])) for number in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return a one-dimensional object array of batches with one graph each."""
        if dtype is not None and np.dtype(dtype) != object:
            raise TypeError(f"Graphs are an array of objects; they cannot become {dtype!r}.")
        if copy is False:
            raise ValueError("A GraphBatch cannot become an array of objects without a copy.")
        array = np.empty(len(self), dtype=object)
        for number, graph in enumerate(self):
            array[number] = graph
        return array

    def reshape(self, *shape: int) -> np.ndarray:
        """Return the graphs as an object array of the given shape.

        Examples
        --------
        >>> import graphgrain as gg
        >>> gg.as_graphs([([(0, 1)], ["C", "O"]), ([], ["C"])]).reshape(-1, 1).shape
        (2, 1)
        """
        return np.asarray(self).reshape(*shape)

    def __add__(self, other: GraphBatch) -> GraphBatch:
        if not isinstance(other, GraphBatch):
            return NotImplemented
        return GraphBatch.concatenate([self, other])

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(of_arrays, **{name: getattr(self, name) for name in self._FIELDS}), ()

    def _take(self, graphs: np.ndarray) -> GraphBatch:
        vertices, offsets = gathered_ranges(self.offsets, graphs)
        entries, indptr = gathered_ranges(self.indptr, vertices)
        shift = np.repeat(offsets[:-1] - self.offsets[graphs], np.diff(offsets))
        indices = self.indices[entries] + np.repeat(shift, np.diff(indptr))
        attributes = self.vertex_attributes
        batch = _with_entries(
            self,
            entries,
            offsets=offsets,
            indptr=indptr,
            indices=indices.astype(np.int32),
            label_codes=self.label_codes[vertices],
            vertex_attributes=None if attributes is None else attributes[vertices],
            columns={name: values[graphs] for name, values in self.columns.items()},
        )
        batch.told = self.told
        return batch

    @classmethod
    def concatenate(cls, batches: Sequence[GraphBatch]) -> GraphBatch:
        """Concatenate several batches, in order."""
        batches = list(batches)
        if not batches:
            return cls.from_edges([], [])
        if len(batches) == 1:
            return batches[0]
        # Batches without vertices need not agree on having labels or attributes.
        filled = [batch for batch in batches if batch.n_vertices] or batches[:1]
        labelled = all_or_none([batch.labelled for batch in filled], "vertex labels")
        with_edges = [batch for batch in batches if batch.n_edges] or batches[:1]
        codes, table = joined_labels([(b.label_codes, b.label_table) for b in filled], "vertex")
        edge_codes, edge_table = joined_labels(
            [(b.edge_label_codes, b.edge_label_table) for b in with_edges], "edge"
        )
        begins = np.cumsum([0, *(batch.n_vertices for batch in batches[:-1])]).tolist()
        moved = [batch.indices + begin for batch, begin in zip(batches, begins, strict=True)]
        batch = of_arrays(
            offsets=running_sum(np.concatenate([batch.vertex_counts for batch in batches])),
            indptr=running_sum(np.concatenate([batch.degrees for batch in batches])),
            indices=np.concatenate(moved).astype(np.int32),
            label_codes=codes,
            label_table=table,
            labelled=labelled,
            edge_label_codes=edge_codes,
            edge_label_table=edge_table,
            vertex_attributes=joined_attributes(
                [b.vertex_attributes for b in filled], "vertex attributes"
            ),
            edge_attributes=joined_attributes(
                [b.edge_attributes for b in with_edges], "edge attributes"
            ),
            columns=joined_columns([batch.columns for batch in batches], list(map(len, batches))),
        )
        batch.told = next((b.told for b in batches if b.told is not None), None)
        return batch

    def with_columns(self, columns: Mapping[str, Any]) -> GraphBatch:
        """Return the graphs with these columns beside those they have.

        Parameters
        ----------
        columns : dictionary of sequences
            One entry per graph. A column of a name that is there is replaced.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs = gg.as_graphs(["CCO", "CN"]).with_columns({"id": ["ethanol", "methylamine"]})
        >>> graphs[1].columns["id"], graphs[::-1].columns["smiles"]
        (array(['methylamine'], dtype=object), array(['CN', 'CCO'], dtype=object))
        """
        arrays = {str(name): column_array(values).view() for name, values in columns.items()}
        for name, values in arrays.items():
            check_length(len(values), len(self), f"entries of the column {name!r}", "graphs")
        return replaced(self, columns=self.columns | arrays)

    def with_labels(self, labels: Any) -> GraphBatch:
        """Return the graphs with other vertex labels, or without labels if None."""
        codes, table = vertex_labels(labels, self.n_vertices)
        return replaced(self, label_codes=codes, label_table=table, labelled=labels is not None)

    def with_degree_labels(self) -> GraphBatch:
        """Return the graphs with each vertex labelled by its number of neighbours."""
        return self.with_labels(self.degrees)


def of_arrays(**arrays: Any) -> GraphBatch:
    """Build a batch from arrays that are known to be valid."""
    batch = object.__new__(GraphBatch)
    batch._arrays = batch.told = None
    arrays.setdefault("columns", {})
    for name in GraphBatch._FIELDS:
        value = arrays[name]
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        setattr(batch, name, value)
    for values in batch.columns.values():
        values.flags.writeable = False
    return batch


def replaced(batch: GraphBatch, **arrays: Any) -> GraphBatch:
    """Return a batch with some arrays replaced by others that are known to be valid."""
    return of_arrays(**({name: getattr(batch, name) for name in GraphBatch._FIELDS} | arrays))


def _with_entries(batch: GraphBatch, entries: np.ndarray, **arrays: Any) -> GraphBatch:
    """Replace arrays, keeping the edge labels and attributes of the entries only."""
    codes, attributes = batch.edge_label_codes, batch.edge_attributes
    return replaced(
        batch,
        edge_label_codes=None if codes is None else codes[entries],
        edge_attributes=None if attributes is None else attributes[entries],
        **arrays,
    )


def subgraph(
    batch: GraphBatch, vertices: np.ndarray, edges: np.ndarray | None = None
) -> GraphBatch:
    """Return the graphs with some of their vertices, in this order, and the edges between them.

    ``vertices`` are grouped by graph; ``edges`` is a mask of the rows of :attr:`GraphBatch.edges`,
    by default all with both ends.
    """
    new_numbers = np.full(batch.n_vertices, -1)
    new_numbers[vertices] = np.arange(len(vertices))
    ends = new_numbers[batch.edges]
    inside = (ends >= 0).all(axis=1) if edges is None else edges
    labels, attributes, rows = batch.edge_labels, batch.edge_attributes, batch.vertex_attributes
    part = GraphBatch.from_edges(
        np.bincount(batch.graph_of_vertex[vertices], minlength=len(batch)),
        ends[inside],
        batch.labels[vertices] if batch.labelled else None,
        edge_labels=None if labels is None else labels[inside],
        vertex_attributes=None if rows is None else rows[vertices],
        edge_attributes=None if attributes is None else attributes[batch.edge_entries][inside],
    )
    return part.with_columns(batch.columns)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with a noun in singular or plural.

    >>> counted(1, "graph"), counted(1200, "graph"), counted(0, "vertex", "vertices")
    ('1 graph', '1,200 graphs', '0 vertices')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


# -------------------------------------------------------------------- checks


def checked_offsets(sizes: Iterable[int]) -> np.ndarray:
    sizes = np.asarray(list(sizes) if not isinstance(sizes, np.ndarray) else sizes)
    if sizes.size and (sizes.dtype.kind not in "iu" or sizes.min() < 0):
        wrong = next(s for s in sizes.tolist() if not isinstance(s, int) or s < 0)
        raise InvalidGraphError(
            f"The size of a graph must be an integer of 0 or more; got {wrong!r}."
        )
    offsets = running_sum(sizes)
    if offsets[-1] > np.iinfo(np.int32).max:
        raise InvalidGraphError(
            f"A batch holds at most 2**31 - 1 vertices; got {offsets[-1]}. Split it into several."
        )
    return offsets


def checked_pairs(edges: Any, offsets: np.ndarray, of: str = "") -> np.ndarray:
    """Return the edges as an int64 array of shape (m, 2); each must lie within one graph.

    ``of`` names the graph in messages if ``offsets`` are those of a single one.
    """
    edges = list(edges) if not isinstance(edges, np.ndarray) else edges
    try:
        array = np.asarray(edges)
    except ValueError:  # rows of different lengths
        array = np.asarray(edges, dtype=object)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InvalidGraphError(
            f"Edges must be pairs of vertex numbers; those{of} are an array of shape "
            f"{array.shape} and type {array.dtype}."
        )
    pairs = array.astype(np.int64)
    last = int(offsets[-1]) - 1
    if pairs.min() < 0 or pairs.max() > last:
        row = int(np.flatnonzero(((pairs < 0) | (pairs > last)).any(axis=1))[0])
        raise InvalidGraphError(
            f"An edge must join vertices of its graph; edge {tuple(array[row].tolist())}{of} (row "
            f"{row}) is outside the {last + 1} vertices, which are counted from 0."
        )
    if len(offsets) > 2:
        graph = np.searchsorted(offsets, pairs, side="right") - 1
        across = np.flatnonzero(graph[:, 0] != graph[:, 1])
        if across.size:
            row, ends = int(across[0]), graph[across[0]]
            raise InvalidGraphError(
                f"An edge must stay within one graph; edge {tuple(pairs[row].tolist())} (row "
                f"{row}) joins graph {ends[0]} to graph {ends[1]}. Check the sizes of the graphs."
            )
    return pairs


def vertex_labels(labels: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return label codes and table; all vertices share one label if None is given."""
    if labels is None:
        return np.zeros(count, dtype=np.int32), np.zeros(1, dtype=np.int64)
    codes, table = encode_labels(labels, "vertex")
    check_length(len(codes), count, "labels", "vertices")
    return codes, table


def check_length(got: int, wanted: int, what: str, of: str) -> None:
    if got != wanted:
        raise InvalidGraphError(
            f"There must be as many {what} as {of}; got {got} {what} for {wanted} {of}."
        )


def checked_attributes(values: Any, rows: int, what: str) -> np.ndarray | None:
    if values is None:
        return None
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidGraphError(
            f"The {what} attributes must be numbers, the same number in each row; {error}."
        ) from None
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    check_length(len(array), rows, f"rows of {what} attributes", PLURALS[what])
    if array.ndim != 2:
        raise InvalidGraphError(
            f"The {what} attributes must have one row per {what}; got {array.ndim} dimensions."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        raise InvalidGraphError(
            f"Attributes must be finite; {what} {row} has {array[row, column]} in column {column}. "
            "Replace it with a value, or remove the column."
        )
    return array


def both_directions(
    pairs: np.ndarray, codes: np.ndarray | None, attributes: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return source, target and row of ``pairs`` of each entry, without loops and repetitions."""
    origin = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
    loops = len(pairs) - len(origin)
    pairs = pairs[origin]
    source = np.concatenate((pairs[:, 0], pairs[:, 1]))
    target = np.concatenate((pairs[:, 1], pairs[:, 0]))
    origin = np.concatenate((origin, origin))
    keys: list[np.ndarray] = []
    if attributes is not None:
        keys += [attributes[origin, column] for column in range(attributes.shape[1])][::-1]
    if codes is not None:
        keys.append(codes[origin])
    order = np.lexsort((*keys, target, source))
    source, target, origin = source[order], target[order], origin[order]
    first = np.ones(len(source), dtype=bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    _warn_about_dropped_edges(loops, np.flatnonzero(first), order < len(pairs), origin, codes)
    return source[first], target[first], origin[first]


def _warn_about_dropped_edges(
    loops: int,
    begins: np.ndarray,
    forward: np.ndarray,
    origin: np.ndarray,
    codes: np.ndarray | None,
) -> None:
    """Warn about loops, repeated edges and conflicting labels, which simple graphs cannot hold.

    ``begins`` are the first entries of each (source, target) pair; ``forward`` marks the entries
    in the direction of their row. One row per direction is not a repetition.
    """
    repeated = conflicts = 0
    if len(begins) != len(forward):  # some (source, target) pair has several entries
        rows = np.add.reduceat(forward.astype(np.int64), begins)
        repeated = int(np.maximum(rows - 1, 0).sum())
        if codes is not None:
            lasts = np.append(begins[1:], len(origin)) - 1
            conflicts = int((codes[origin[begins]] != codes[origin[lasts]]).sum()) // 2
    dropped = [(loops, "self-loop", ""), (repeated, "repeated edge", "")]
    dropped.append((conflicts, "edge", " with several labels"))
    words = [counted(count, noun) + detail for count, noun, detail in dropped if count]
    if words:
        warnings.warn(
            f"The edges hold {' and '.join(words)}. Here a graph has at most one edge between two "
            "vertices, with one label (the smallest), and none from a vertex to itself: the rest "
            "is left out.",
            GraphgrainWarning,
            stacklevel=4,
        )


# -------------------------------------------------------------------- index arithmetic


def graph_numbers(key: Any, count: int) -> np.ndarray:
    """Return the graph numbers selected by an integer, slice, mask or index array."""
    rows = key
    if not isinstance(key, slice):
        rows = np.asarray(key)
        rows = rows if rows.size else np.empty(0, dtype=np.int64)
    try:
        numbers = np.atleast_1d(np.arange(count)[rows])
    except IndexError as error:
        reason = str(error)
    else:
        if numbers.ndim == 1:
            return numbers
        reason = f"it has {numbers.ndim} dimensions"
    raise IndexError(
        f"{counted(count, 'graph')} are indexed by an integer, a slice, a mask or a list of "
        f"integers; got {key!r}: {reason}."
    )


def running_sum(sizes: np.ndarray) -> np.ndarray:
    """Return the cumulative sum with a leading 0: offsets of consecutive ranges."""
    sums = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=sums[1:])
    return sums


def gathered_ranges(pointers: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all positions ``pointers[i]:pointers[i + 1]`` of the items and their new offsets."""
    lengths = pointers[items + 1] - pointers[items]
    begins = running_sum(lengths)
    positions = np.arange(begins[-1]) + np.repeat(pointers[items] - begins[:-1], lengths)
    return positions, begins


def joined_attributes(parts: list[np.ndarray | None], what: str) -> np.ndarray | None:
    tables = [part for part in parts if part is not None]
    if not all_or_none([part is not None for part in parts], what):
        return None
    widths = {table.shape[1] for table in tables}
    if len(widths) > 1:
        raise InvalidGraphError(
            f"All graphs must have the same number of {what}; got {sorted(widths)}."
        )
    return np.concatenate(tables)


def joined_labels(
    parts: list[tuple[np.ndarray | None, np.ndarray | None]], what: str
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Merge the label codes and tables of several batches; None if they have no labels."""
    tables = [table for _, table in parts if table is not None]
    if not all_or_none([table is not None for _, table in parts], f"{what} labels"):
        return None, None
    merged, maps = merge_tables(tables, what)
    return np.concatenate([new[codes] for (codes, _), new in zip(parts, maps, strict=True)]), merged


def all_or_none(present: Sequence[bool | None], what: str, part: str = "part") -> bool:
    """Return whether the parts have something; None stands for one that can do without."""
    if True in present and False in present:
        raise InvalidGraphError(
            f"Either all graphs have {what} or none has; {part} {present.index(True)} has them, "
            f"{part} {present.index(False)} does not. Add them, or remove them from the others."
        )
    return True in present


# -------------------------------------------------------------------- columns


def column_array(values: Any) -> np.ndarray:
    """Return a column as a one-dimensional array; texts and mixed values are objects."""
    if not isinstance(values, np.ndarray):
        values = list(values)
        kinds = set(map(type, values))
        if len(kinds) != 1 or not issubclass(kinds.pop(), bool | int | float | np.generic):
            column = np.empty(len(values), dtype=object)
            for row, value in enumerate(values):
                column[row] = value
            return column
        values = np.asarray(values)
    if values.ndim != 1:
        raise InvalidGraphError(f"A column has one entry per graph; got the shape {values.shape}.")
    return values.astype(object) if values.dtype.kind in "UST" else values


def joined_columns(
    parts: Sequence[Mapping[str, np.ndarray]], sizes: Sequence[int]
) -> dict[str, np.ndarray]:
    """Join the columns of several batches of these sizes.

    Missing columns are filled with empty strings if they are texts, else with None. Values of
    different types become objects, so that none is converted to the type of another.
    """
    columns = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        present = [part[name] for part in parts if name in part]
        kinds = {values.dtype.kind for values in present}
        texts = kinds <= set("UO") and all(
            isinstance(value, str) for values in present for value in values[:1]
        )
        blank = np.array("" if texts else None, dtype=None if kinds == {"U"} else object)
        columns[name] = np.concatenate(
            [part.get(name, np.repeat(blank, n)) for part, n in zip(parts, sizes, strict=True)],
            dtype=None if len(kinds) == 1 or kinds == {"i", "f"} else object,
        )
    return columns


# -------------------------------------------------------------------- changing edges
#
# These functions take one value per entry of ``indices``; each edge has two entries.


def keep_entries(batch: GraphBatch, stays: np.ndarray) -> GraphBatch:
    """Keep only the edges whose two entries are marked in ``stays``, and all vertices."""
    check_length(len(stays), len(batch.indices), "marks", "entries")
    positions = np.concatenate(([0], np.cumsum(stays)))
    return _with_entries(batch, stays, indptr=positions[batch.indptr], indices=batch.indices[stays])


def relabel_entries(batch: GraphBatch, labels: Any) -> GraphBatch:
    """Replace the edge labels, given one label per entry."""
    codes, table = encode_labels(labels, "edge")
    check_length(len(codes), len(batch.indices), "labels", "entries")
    return replaced(batch, edge_label_codes=codes, edge_label_table=table)


def replace_entry_attributes(batch: GraphBatch, values: np.ndarray) -> GraphBatch:
    """Replace the edge attributes, given one row per entry."""
    return replaced(batch, edge_attributes=checked_attributes(values, len(batch.indices), "edge"))
