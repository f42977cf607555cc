"""A segment of an index: up to 65,536 graphs with their sketches, ids and columns, in one file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.graph_bits import pack_graphs, unpack_graphs
from ..core.posting_scan import COSINE, count_bits
from ..core.sketches import FEWEST_BITS, MOST_BITS, Lists, coarser, make_lists, sketch
from ..graphs.batch import GraphBatch, gathered_ranges
from ..graphs.streams import Chunk, join_chunks
from ..kernels.bases.feature_kernel import FeatureKernel
from .columns import ColumnReader, as_array, as_id, encode_column, id_keys
from .container import Container, write_container
from .keyed_features import KeyedFeatures, keyed_features, values_differ
from .manifest import SegmentEntry

#: Graphs that are sketched together, and graphs of a segment at most.
CHUNK = 4096
LARGEST = 65_536
#: A feature has a bit of its own if so many graphs have it, the most common ones at most.
_COMMON_SHARE = 1 / 16
_MOST_COMMON = 512
_CODES = 256


class Sketches(NamedTuple):
    """What is kept of the features of a chunk of graphs."""

    totals: np.ndarray  # sums of values
    squares: np.ndarray  # sums of squared values
    bits: np.ndarray
    lengths: np.ndarray
    buckets: np.ndarray
    sums: np.ndarray


def choose_common(features: KeyedFeatures, kernel: FeatureKernel) -> np.ndarray:
    """The features that get a bit of their own, judged by some of the graphs."""
    if values_differ(kernel):
        return np.empty(0, dtype=np.uint64)
    keys, counts = np.unique(features.keys, return_counts=True)
    enough = np.flatnonzero(counts >= max(2, _COMMON_SHARE * (len(features.pointers) - 1)))
    order = np.argsort(-counts[enough], kind="stable")[:_MOST_COMMON]
    return np.sort(keys[enough[order]])


def make_sketches(features: KeyedFeatures, kernel: FeatureKernel, common: np.ndarray) -> Sketches:
    """Sketches of graphs from their features."""
    differ = values_differ(kernel)
    parts = sketch(features.pointers, features.keys, features.values, common, differ)
    return Sketches(features.sums(), features.sums(np.square), *parts)


def write_segment(
    path: Path,
    chunks: Sequence[Chunk],
    sketches: Sequence[Sketches],
    common: np.ndarray,
    ids: Sequence[Any],
) -> SegmentEntry:
    """Write a segment; safely on disk when this returns."""
    graphs, columns = join_chunks(list(chunks))
    joined = Sketches(*(np.concatenate(arrays) for arrays in zip(*sketches, strict=True)))
    parts, about = _graph_parts(graphs)
    bits = _bucket_bits(len(graphs))
    lengths, buckets, sums = joined.lengths, joined.buckets, joined.sums
    if bits < MOST_BITS:
        lengths, buckets, sums = coarser(lengths, buckets, sums, bits)
    values, codes = _coded(sums)
    starts, gaps = make_lists(lengths, buckets, codes, bits)
    parts |= {
        "totals": joined.totals.astype(np.float32),
        "common": common,
        "bits": joined.bits,
        "starts": starts.astype(np.uint32),
        "gaps": gaps,
        "values": values,
        "keys": id_keys(ids),
    }
    if len(values):
        parts["squares"] = joined.squares.astype(np.float32)
    kinds = {}
    named: dict[str, Sequence[Any]] = {"id": ids, **columns}  # type: ignore[dict-item]
    for name, column in named.items():
        kinds[name], encoded = encode_column(name, column)
        parts |= {f"column.{name}{suffix}": array for suffix, array in encoded.items()}
    about |= {"graphs": len(graphs), "columns": kinds}
    size = write_container(path, about, parts)
    return SegmentEntry(path.name, len(graphs), size)


def _bucket_bits(graphs: int) -> int:
    """Fewer buckets for small segments, whose lists would take less room than their starts."""
    return min(max(graphs.bit_length() + 1, FEWEST_BITS), MOST_BITS)


def _coded(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most 256 values, and for each sum the code of the smallest that is not below it."""
    if not len(sums):
        return np.empty(0, dtype=np.float32), np.empty(0, dtype=np.uint8)
    values = np.unique(sums)
    if len(values) > _CODES:
        top = values[-1]
        steps = np.geomspace(values[0], top, _CODES)[1:-1].astype(np.float32)
        values = np.unique(np.concatenate((values[:1], steps, [top])))
    return values, np.searchsorted(values, sums).astype(np.uint8)


def _graph_parts(graphs: GraphBatch) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    edge_table = graphs.edge_label_table
    label_bits = _width(graphs.label_table)
    edge_bits = 0 if edge_table is None else max(1, _width(edge_table))
    codes = graphs.edge_label_codes
    stream, starts = pack_graphs(
        graphs.offsets,
        graphs.indptr,
        graphs.indices,
        graphs.label_codes,
        np.empty(0, dtype=np.int32) if codes is None else codes,
        label_bits,
        edge_bits,
    )
    parts = {"graphs": stream, "graphs.starts": starts.astype(np.uint32)}
    if graphs.vertex_attributes is not None:
        parts["vertex attributes"] = graphs.vertex_attributes
        parts["vertex attributes.starts"] = graphs.offsets
    if graphs.edge_attributes is not None:
        parts["edge attributes"] = graphs.edge_attributes
        parts["edge attributes.starts"] = graphs.indptr[graphs.offsets]
    about = {
        "labelled": graphs.labelled,
        "labels": graphs.label_table.tolist(),
        "edge labels": None if edge_table is None else edge_table.tolist(),
    }
    return parts, about


def _width(table: np.ndarray) -> int:
    return max(0, len(table) - 1).bit_length()


def _table(values: list[Any]) -> np.ndarray:
    if values and isinstance(values[0], str):
        table = np.empty(len(values), dtype=object)
        table[:] = values
        return table
    return np.array(values, dtype=np.int64)


class Segment:
    """An open segment."""

    def __init__(self, path: Path, entry: SegmentEntry, removed: np.ndarray) -> None:
        self.container = Container(path)
        self.entry = entry
        self.removed = removed  # int64, ascending
        self.columns = ColumnReader(self.container)
        about = self.container.about
        if about["graphs"] != entry.graphs:
            raise self.container.damaged("header", f"it tells of {about['graphs']} graphs")
        self._label_table = _table(about["labels"])
        edge_labels = about["edge labels"]
        self._edge_table = None if edge_labels is None else _table(edge_labels)

    def __len__(self) -> int:
        return self.entry.graphs

    @cached_property
    def live(self) -> np.ndarray:
        """The rows that are not removed."""
        rows = np.ones(len(self), dtype=bool)
        rows[self.removed] = False
        return np.flatnonzero(rows)

    @cached_property
    def lists(self) -> Lists:
        """The sketches."""
        names = ("common", "bits", "starts", "gaps", "values")
        common, bits, starts, gaps, values = (self.container[name] for name in names)
        shift = np.uint64(64 - (len(starts) - 1).bit_length() + 1)
        return Lists(common, bits, shift, starts, gaps, values)

    @cached_property
    def commons(self) -> np.ndarray:
        """How many of the common features each graph has."""
        return count_bits(self.lists.bits)

    def measures(self, kind: int) -> tuple[np.ndarray, np.ndarray]:
        """Sums (of squares, for the cosine) of each graph, and the sizes that go with them."""
        return self._squares if kind == COSINE else self._totals

    @cached_property
    def _totals(self) -> tuple[np.ndarray, np.ndarray]:
        totals = self.container["totals"]
        return totals, totals

    @cached_property
    def _squares(self) -> tuple[np.ndarray, np.ndarray]:
        squares = self.container["squares" if "squares" in self.container else "totals"]
        return squares, np.sqrt(squares)

    def ids(self, rows: Sequence[int]) -> list[Any]:
        """The ids of some graphs."""
        return [as_id(value) for value in self.columns.read("id", rows)]

    def column(self, name: str, rows: Sequence[int]) -> list[Any]:
        """A column of some graphs; None if they came without it."""
        return self.columns.read(name, rows) if name in self.columns.names else [None] * len(rows)

    def graphs(self, rows: np.ndarray) -> GraphBatch:
        """Some of the graphs."""
        rows = np.asarray(rows, dtype=np.int64)
        edge_bits = 0 if self._edge_table is None else max(1, _width(self._edge_table))
        offsets, indptr, indices, labels, edge_labels = unpack_graphs(
            self.container["graphs"],
            self.container["graphs.starts"],
            rows,
            _width(self._label_table),
            edge_bits,
        )
        return GraphBatch._of(
            offsets=offsets,
            indptr=indptr,
            indices=indices,
            label_codes=labels,
            label_table=self._label_table,
            labelled=self.container.about["labelled"],
            edge_label_codes=None if self._edge_table is None else edge_labels,
            edge_label_table=self._edge_table,
            vertex_attributes=self._attributes("vertex attributes", rows),
            edge_attributes=self._attributes("edge attributes", rows),
        )

    def _attributes(self, name: str, rows: np.ndarray) -> np.ndarray | None:
        if name not in self.container:
            return None
        places, _ = gathered_ranges(self.container[f"{name}.starts"], rows)
        return self.container[name][places]

    def chunk(self, rows: np.ndarray) -> tuple[Chunk, list[Any]]:
        """Some of the graphs with their columns, and their ids."""
        columns = {
            name: as_array(self.columns.read(name, rows.tolist())) for name in self.columns.names
        }
        return Chunk(self.graphs(rows), columns), self.ids(rows.tolist())

    def features(self, kernel: FeatureKernel, rows: np.ndarray) -> KeyedFeatures:
        """The features of some graphs, counted anew."""
        return keyed_features(kernel, self.graphs(rows))
