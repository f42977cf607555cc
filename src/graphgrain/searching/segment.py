"""Segments: up to 65,536 graphs as arrays, with sketches of their features.

1. :class:`SegmentBuilder` collects chunks of graphs, and sketches their features
   (``core/sketches.py``). Only sketches are stored; where exact similarities are needed, features
   are counted again from the stored graphs.
2. :func:`laid_out` puts all arrays of a segment one after the other into a single one, which is a
   file on disk or stays in memory. A table records type, shape, offset and checksum of each.
3. :class:`Segment` reads them. Nothing that was stored is trusted: what compiled code uses as an
   index is checked when it is first used, and :meth:`Segment.verify` computes all derived data
   again.

Ids and columns are pages of 256 values, each a JSON list compressed with zlib.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from ..core.graph_bits import pack_graphs, unpack_graphs
from ..core.hashing import mix_array
from ..core.similarity import CONTAINMENT, COSINE
from ..core.sketches import (
    FEWEST_BITS,
    MOST_BITS,
    Lists,
    coarser,
    count_bits,
    lists_fit,
    make_lists,
    read_lists,
    sketch,
)
from ..errors import InvalidFileError, InvalidParameterError
from ..graphs.batch import GraphBatch, gathered_ranges, of_arrays
from ..graphs.tables import is_missing
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import SIMILARITIES, Counts, Features, squared_norms, total_counts

#: Similarities of searches: those of kernels, and the fraction of a query that a graph contains.
KINDS = {**SIMILARITIES, "containment": CONTAINMENT}
#: Number of graphs sketched together, and maximum number of graphs of a segment.
CHUNK = 4096
LARGEST = 65_536
#: A feature gets its own bit if at least this fraction of the graphs has it, and maximum number of
#: such features.
_COMMON_SHARE = 1 / 16
_MOST_COMMON = 512
#: Maximum number of distinct values in the lists of a sketch.
_CODES = 256
#: Values per page of a column, maximum size of a page in bytes, and number of cached pages.
_PAGE = 256
_LARGEST_PAGE = 1 << 28
_CACHED_PAGES = 64
#: Maximum size of a column of a segment in bytes, that of a value in SQLite.
_LARGEST_COLUMN = 10**9
#: Name of the column of ids; a column with that name is stored under another one.
_ID, _COLUMN_CALLED_ID = "id", "column called id"
#: Arrays begin at multiples of this number of bytes.
_ALIGN = 64

# -------------------------------------------------------------------- features of graphs

#: Key of graphs without features.
FEATURELESS = np.uint64(0x9AE16A3B2F90404F)


def keyed(features: Features) -> Counts:
    """Return the features of all levels with keys and values.

    A graph without features has the key ``FEATURELESS``, so that such graphs equal each other as in
    the kernel.
    """
    counts = features.keyed()
    bare = counts.lengths == 0
    positions = counts.starts[:-1][bare]
    return Counts(
        counts.lengths + bare,
        np.insert(counts.hashes, positions, FEATURELESS),
        np.insert(counts.counts, positions, 1.0),
    )


def keyed_features(kernel: FeatureKernel | None, graphs: GraphBatch | Features) -> Counts:
    """Count the features of graphs, with keys and values; features are taken as they are."""
    if isinstance(graphs, Features):
        return keyed(graphs)
    assert kernel is not None
    return keyed(kernel.count(graphs).mapped(kernel.counts).scaled(kernel.level_scales))


def values_differ(kernel: FeatureKernel) -> bool:
    """Return whether features can have values other than 1."""
    ones = kernel.counts in ("binary", "intersection")
    return not ones or bool(np.any(kernel.level_scales != 1.0))


# -------------------------------------------------------------------- building


class Sketches(NamedTuple):
    """Sketches of the features of a chunk of graphs."""

    totals: np.ndarray  # sums of values
    squares: np.ndarray  # sums of squared values
    bits: np.ndarray  # one bit per common feature
    lengths: np.ndarray  # number of buckets of each graph
    buckets: np.ndarray
    sums: np.ndarray


class Column(NamedTuple):
    """A column as compressed pages; page p is ``pages[starts[p]:starts[p + 1]]``."""

    starts: np.ndarray  # uint32
    pages: bytes


class Stored(NamedTuple):
    """Everything of a segment that is stored."""

    about: dict[str, Any]
    data: np.ndarray  # uint8
    columns: dict[str, Column]


class SegmentBuilder:
    """Collect chunks of graphs, their features and their ids, and make a segment of them."""

    def __init__(self, weighted: bool) -> None:
        self.weighted = weighted
        self.ids: list[Any] = []
        self._batches: list[GraphBatch] = []
        self._sketches: list[Sketches] = []
        self._common = np.empty(0, dtype=np.uint64)

    def add(self, graphs: GraphBatch, features: Counts, ids: Sequence[Any]) -> None:
        """Add some graphs."""
        if not self.ids and not self.weighted:
            self._common = _common_features(features)
        self._sketches.append(_sketched(features, self._common, self.weighted))
        self._batches.append(graphs)
        self.ids += ids

    def build(self) -> Stored:
        """Return the segment of all graphs added so far."""
        graphs = GraphBatch.concatenate(self._batches)
        arrays, about = _graph_arrays(graphs)
        arrays |= _sketch_arrays(self._sketches, self._common)
        arrays["keys"] = id_keys(self.ids)
        data, about["arrays"] = laid_out(arrays)
        about["graphs"] = len(graphs)
        stored = {_ID: _column(_ID, self.ids)}
        for name, values in graphs.columns.items():
            stored[_COLUMN_CALLED_ID if name == _ID else name] = _column(name, values)
        return Stored(about, data, stored)


def _common_features(features: Counts) -> np.ndarray:
    """Choose the features that get their own bit, based on a sample of the graphs."""
    keys, counts = np.unique(features.hashes, return_counts=True)
    enough = np.flatnonzero(counts >= max(2, _COMMON_SHARE * len(features.lengths)))
    order = np.argsort(-counts[enough], kind="stable")[:_MOST_COMMON]
    return np.sort(keys[enough[order]])


def _sketched(features: Counts, common: np.ndarray, weighted: bool) -> Sketches:
    parts = sketch(features.starts, features.hashes, features.counts, common, weighted)
    return Sketches(total_counts(features), squared_norms(features), *parts)


def _bucket_bits(graphs: int) -> int:
    # Small segments have fewer buckets, as otherwise the starts would be larger than the lists.
    return min(max(graphs.bit_length() + 1, FEWEST_BITS), MOST_BITS)


def _joined(sketches: Sequence[Sketches]) -> tuple[Sketches, int]:
    """Join the sketches of a segment; return them and the number of bits of their buckets."""
    whole = Sketches(*(np.concatenate(arrays) for arrays in zip(*sketches, strict=True)))
    bits = _bucket_bits(len(whole.lengths))
    if bits < MOST_BITS:
        lengths, buckets, sums = coarser(whole.lengths, whole.buckets, whole.sums, bits)
        whole = whole._replace(lengths=lengths, buckets=buckets, sums=sums)
    return whole, bits


def _sketch_arrays(sketches: Sequence[Sketches], common: np.ndarray) -> dict[str, np.ndarray]:
    whole, bits = _joined(sketches)
    values, codes = _coded(whole.sums)
    starts, gaps = make_lists(whole.lengths, whole.buckets, codes, bits)
    arrays = {
        "totals": whole.totals.astype(np.float32),
        "common": common,
        "bits": whole.bits,
        "starts": starts.astype(np.uint32),
        "gaps": gaps,
        "values": values,
    }
    if len(values):
        arrays["squares"] = whole.squares.astype(np.float32)
    return arrays


def _coded(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at most 256 values, and for each sum the code of the smallest value >= the sum."""
    if not len(sums):
        return np.empty(0, dtype=np.float32), np.empty(0, dtype=np.uint8)
    values = np.unique(sums)
    if len(values) > _CODES:
        steps = np.geomspace(values[0], values[-1], _CODES)[1:-1].astype(np.float32)
        values = np.unique(np.concatenate((values[:1], steps, values[-1:])))
    return values, np.searchsorted(values, sums).astype(np.uint8)


def _graph_arrays(graphs: GraphBatch) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    edge_table, codes = graphs.edge_label_table, graphs.edge_label_codes
    stream, starts = pack_graphs(
        graphs.offsets,
        graphs.indptr,
        graphs.indices,
        graphs.label_codes,
        np.empty(0, dtype=np.int32) if codes is None else codes,
        _widths(graphs.label_table)[0],
        _widths(edge_table, 1)[0],
    )
    if len(stream) >= 2**32:
        raise InvalidParameterError(
            f"{len(graphs):,} graphs of an index take at most 4 GiB; these take "
            f"{len(stream) / 2**30:.1f} GiB. They are too large for an index."
        )
    arrays = {"graphs": stream, "graphs.starts": starts.astype(np.uint32)}
    if graphs.vertex_attributes is not None:
        arrays["vertex attributes"] = graphs.vertex_attributes
        arrays["vertex attributes.starts"] = graphs.offsets
    if graphs.edge_attributes is not None:
        arrays["edge attributes"] = graphs.edge_attributes
        arrays["edge attributes.starts"] = graphs.indptr[graphs.offsets]
    about = {
        "labelled": graphs.labelled,
        "labels": graphs.label_table.tolist(),
        "edge labels": None if edge_table is None else edge_table.tolist(),
    }
    return arrays, about


def _widths(table: np.ndarray | None, least: int = 0) -> tuple[int, int]:
    """Return the number of bits per label code and the number of labels; 0 without a table."""
    if table is None:
        return 0, 0
    return max(least, max(0, len(table) - 1).bit_length()), len(table)


def laid_out(arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, Any]]:
    """Return arrays in a single array of bytes, with the table of their places."""
    table: dict[str, Any] = {}
    size = 0
    for name, array in arrays.items():
        arrays[name] = array = np.ascontiguousarray(array)
        table[name] = [array.dtype.str, list(array.shape), size, zlib.crc32(_bytes_of(array).data)]
        size += -(-array.nbytes // _ALIGN) * _ALIGN
    data: np.ndarray = np.zeros(size, dtype=np.uint8)
    for name, array in arrays.items():
        offset = table[name][2]
        data[offset : offset + array.nbytes] = _bytes_of(array)
    return data, table


def _bytes_of(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


def _column(name: str, values: Sequence[Any] | np.ndarray) -> Column:
    items = values.tolist() if isinstance(values, np.ndarray) else values
    plain = [plain_value(value) for value in items]
    pages, starts = [], [0]
    for begin in range(0, len(plain), _PAGE):
        try:
            text = json.dumps(plain[begin : begin + _PAGE], separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(
                f"A column of an index holds numbers, strings, or lists of them; {name!r} holds "
                f"something else ({error}). Convert it with str()."
            ) from None
        pages.append(zlib.compress(text, 9))
        starts.append(starts[-1] + len(pages[-1]))
        if len(text) > _LARGEST_PAGE or starts[-1] > _LARGEST_COLUMN:
            raise InvalidParameterError(
                f"{_PAGE} values of a column take at most {_LARGEST_PAGE >> 20} MiB, and those of "
                f"{len(plain):,} graphs 1 GB; those of {name!r} take more. Choose the columns to "
                "keep (columns=[...])."
            )
    return Column(np.array(starts, dtype=np.uint32), b"".join(pages))


# -------------------------------------------------------------------- ids and values


def plain_value(value: Any) -> Any:
    """Convert a NumPy scalar to a Python value, and pandas' NA to None."""
    if type(value) in (int, float, str, bool):
        return value
    if isinstance(value, np.generic):
        return value.item()
    return None if is_missing(value) and not isinstance(value, float) else value


def as_array(values: list[Any]) -> np.ndarray:
    """Return an array of numbers, strings or bools if possible, otherwise of objects."""
    kinds = {type(value) for value in values}
    if kinds in ({float}, {int, float}, {str}, {bool}) or (kinds and all(map(_is_int64, values))):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_id(value: Any) -> bool:
    """Return whether a value is an integer, a string or a tuple of them."""
    if isinstance(value, tuple):
        return all(map(is_id, value))
    return isinstance(value, int | str) and not isinstance(value, bool)


def _as_id(value: Any) -> Any:
    """Convert JSON lists back to tuples."""
    return tuple(map(_as_id, value)) if isinstance(value, list) else value


def _is_int64(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def id_keys(ids: Sequence[Any]) -> np.ndarray:
    """Return a 64-bit hash of each id, the same on all machines."""
    whole = np.array([value if _is_int64(value) else 0 for value in ids], dtype=np.int64)
    keys = mix_array(whole.view(np.uint64))
    for row, value in enumerate(ids):
        if not _is_int64(value):
            text = json.dumps(value).encode()
            keys[row] = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    return keys


# -------------------------------------------------------------------- reading


class Segment:
    """The graphs of a segment; its arrays are checked when they are first used.

    Parameters
    ----------
    stored : Stored
    removed : int64 array
        Rows of removed graphs, ascending.
    name : str
        Name in error messages.
    features : Features, optional
        Features that are indexed without graphs.
    """

    def __init__(
        self, stored: Stored, removed: np.ndarray, name: str, features: Features | None = None
    ) -> None:
        self.about, self._data, self._columns = stored
        self.removed, self.name, self.features = removed, name, features
        self._arrays: dict[str, np.ndarray] = {}
        self._pages: dict[tuple[str, int], list[Any]] = {}
        self._measures: dict[bool, tuple[np.ndarray, np.ndarray]] = {}
        self._graphs = self.about["graphs"]
        self._labels = self._table("labels")
        edges = self.about["edge labels"] is not None
        self._edge_labels = self._table("edge labels") if edges else None
        ascending = not len(removed) or (
            removed[0] >= 0 and removed[-1] < self._graphs and (np.diff(removed) > 0).all()
        )
        self._require(ascending, "removed graphs do not exist")
        self._require(_ID in self._columns, "there are no ids")
        pages = -(-self._graphs // _PAGE) + 1
        full = all(len(column.starts) == pages for column in self._columns.values())
        self._require(full, f"a column has not {pages - 1} pages")

    def __len__(self) -> int:
        return self._graphs

    def _require(self, right: Any, why: str) -> None:
        if not right:
            raise damaged(self.name, why)

    def _table(self, name: str) -> np.ndarray:
        """Return a sorted table of labels, all strings or all integers."""
        values = self.about[name]
        if all(isinstance(value, str) for value in values):
            table = np.empty(len(values), dtype=object if values else np.int64)
            table[:] = values
        else:
            self._require(all(map(_is_int64, values)), f"{name} are neither strings nor integers")
            table = np.array(values, dtype=np.int64)
        self._require((table[1:] > table[:-1]).all(), f"{name} are not sorted")
        return table

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return len(self._data) + sum(len(column.pages) for column in self._columns.values())

    def array(self, name: str, dtype: str, *shape: int | None) -> np.ndarray:
        """Return an array; its type, shape (None is any), place and checksum must be right."""
        if name not in self._arrays:
            self._require(name in self.about["arrays"], f"there are no {name}")
            typed, sides, offset, crc = self.about["arrays"][name]
            right = typed == np.dtype(dtype).str and len(sides) == len(shape)
            for side, wanted in zip(sides, shape, strict=False):
                right &= type(side) is int and side >= 0 and wanted in (None, side)
            self._require(right, f"{name} are of type {typed} and shape {sides}")
            size = np.dtype(dtype).itemsize * int(np.prod(sides, dtype=object))
            inside = type(offset) is int and offset >= 0 and offset + size <= len(self._data)
            self._require(inside, f"{name} are not inside the file")
            part = self._data[offset : offset + size]
            self._require(zlib.crc32(part.data) == crc, f"the checksum of {name} does not match")
            self._arrays[name] = part.view(dtype).reshape(sides)
        return self._arrays[name]

    @cached_property
    def live(self) -> np.ndarray:
        """Rows that are not removed."""
        return np.delete(np.arange(len(self)), self.removed)

    # ---------------------------------------------------------------- sketches

    @cached_property
    def lists(self) -> Lists:
        """The sketches."""
        common = self.array("common", "u8", None)
        bits = self.array("bits", "u8", len(self), (len(common) + 63) >> 6)
        values = self.array("values", "f4", None)
        gaps = self.array("gaps", "u1", None)
        starts = self.array("starts", "u4", None)
        buckets = len(starts) - 1
        width = buckets.bit_length() - 1
        right = 1 <= width <= MOST_BITS and buckets == 1 << width
        self._require(right, f"the number of buckets cannot be {buckets:,}")
        self._require((common[1:] > common[:-1]).all(), "common features are not sorted")
        self._require(len(values) <= _CODES, "there are too many values")
        self._check_numbers(values, "values")
        fit = lists_fit(starts, gaps, len(values), len(self))
        self._require(fit, "a list of gaps names graphs or codes that do not exist")
        return Lists(common, bits, np.uint64(64 - width), starts, gaps, values)

    @cached_property
    def commons(self) -> np.ndarray:
        """Number of common features of each graph."""
        return count_bits(self.lists.bits)

    def measures(self, kind: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of each graph (of squares, for the cosine) and the sizes from them."""
        cosine = kind == COSINE
        if cosine not in self._measures:
            squares = cosine and "squares" in self.about["arrays"]
            values = self.array("squares" if squares else "totals", "f4", len(self))
            self._check_numbers(values, "sums of features")
            self._measures[cosine] = values, np.sqrt(values) if cosine else values
        return self._measures[cosine]

    def _check_numbers(self, values: np.ndarray, name: str) -> None:
        finite = (np.isfinite(values) & (values >= 0)).all()
        self._require(finite, f"{name} are negative or not finite")

    # ---------------------------------------------------------------- columns

    @property
    def column_names(self) -> list[str]:
        """Names of the columns other than the id."""
        names = [name for name in self._columns if name != _ID]
        return [_ID if name == _COLUMN_CALLED_ID else name for name in names]

    def column(self, name: str, rows: Sequence[int]) -> list[Any]:
        """Return a column of some graphs; None if the segment does not have it."""
        stored = _COLUMN_CALLED_ID if name == _ID else name
        return self._read(stored, rows) if stored in self._columns else [None] * len(rows)

    def ids(self, rows: Sequence[int]) -> list[Any]:
        """Return the ids of some graphs."""
        ids = [_as_id(value) for value in self._read(_ID, rows)]
        self._require(all(map(is_id, ids)), "ids are not integers, strings or tuples of them")
        return ids

    def _read(self, name: str, rows: Sequence[int]) -> list[Any]:
        return [self._page(name, row // _PAGE)[row % _PAGE] for row in rows]

    def _page(self, name: str, number: int) -> list[Any]:
        page = self._pages.get((name, number))
        if page is None:
            starts, pages = self._columns[name]
            begin, end = starts[number : number + 2].tolist()
            page = _unpacked(pages[begin:end])
            wanted = min(_PAGE, len(self) - number * _PAGE)
            full = isinstance(page, list) and len(page) == wanted
            self._require(full, f"a page of the column {name!r} does not hold {wanted} values")
            if len(self._pages) >= _CACHED_PAGES:
                self._pages.pop(next(iter(self._pages)), None)  # another thread may do the same
            self._pages[name, number] = page
        return page

    @property
    def keys(self) -> np.ndarray:
        """Hash of each id."""
        return self.array("keys", "u8", len(self))

    # ---------------------------------------------------------------- graphs

    def graphs(self, rows: np.ndarray) -> GraphBatch:
        """Return some of the graphs."""
        rows = np.asarray(rows, dtype=np.int64)
        edge_table = self._edge_labels
        offsets, indptr, indices, labels, edge_labels, wrong = unpack_graphs(
            self.array("graphs", "u1", None),
            self.array("graphs.starts", "u4", len(self) + 1),
            rows,
            *_widths(self._labels),
            *_widths(edge_table, 1),
        )
        self._require(wrong < 0, f"graph {wrong} cannot be read")
        return of_arrays(
            offsets=offsets,
            indptr=indptr,
            indices=indices,
            label_codes=labels,
            label_table=self._labels,
            labelled=bool(self.about["labelled"]),
            edge_label_codes=None if edge_table is None else edge_labels,
            edge_label_table=edge_table,
            vertex_attributes=self._attributes("vertex attributes", rows, len(labels)),
            edge_attributes=self._attributes("edge attributes", rows, len(indices)),
        )

    def _attributes(self, name: str, rows: np.ndarray, count: int) -> np.ndarray | None:
        if name not in self.about["arrays"]:
            return None
        values = self.array(name, "f8", None, None)
        starts = self.array(f"{name}.starts", "i8", len(self) + 1)
        begins, ends = starts[rows], starts[rows + 1]
        inside = (begins >= 0) & (begins <= ends) & (ends <= len(values))
        fits = inside.all() and (ends - begins).sum() == count
        self._require(fits, f"{name} do not belong to the graphs")
        chosen = values[gathered_ranges(starts, rows)[0]]
        self._require(np.isfinite(chosen).all(), f"{name} are not finite")
        return chosen

    def chunk(self, rows: np.ndarray) -> tuple[GraphBatch, list[Any]]:
        """Return some of the graphs with their columns, and their ids."""
        columns = {name: as_array(self.column(name, rows.tolist())) for name in self.column_names}
        return self.graphs(rows).with_columns(columns), self.ids(rows.tolist())

    # ---------------------------------------------------------------- verification

    def verify(self, kernel: FeatureKernel) -> None:
        """Check all arrays and compute all derived data again; raise an error if any differ."""
        lists = self.lists
        weighted = len(lists.values) > 0
        sketches = []
        for begin in range(0, len(self), CHUNK):
            graphs, ids = self.chunk(np.arange(begin, min(begin + CHUNK, len(self))))
            same = np.array_equal(id_keys(ids), self.keys[begin : begin + CHUNK])
            self._require(same, "keys are not those of the ids")
            features = keyed_features(kernel, graphs)
            sketches.append(_sketched(features, lists.common, values_differ(kernel)))
        for name, array in _sketch_arrays(sketches, lists.common).items():
            entry = self.array(name, array.dtype.str, *([None] * array.ndim))
            if name in ("totals", "squares"):
                same = entry.shape == array.shape and np.allclose(entry, array, 1e-6)
            else:  # rounding of the codes of values may depend on the machine
                same = (weighted and name in ("gaps", "values")) or np.array_equal(entry, array)
            self._require(same, f"{name} are not those of the graphs")
        if weighted:
            sketched, _ = _joined(sketches)
            order = np.argsort(sketched.buckets, kind="stable")
            graphs, codes = read_lists(lists.starts, lists.gaps)
            owners = np.repeat(np.arange(len(self)), sketched.lengths)[order]
            bounds = lists.values[codes] * (1 + 1e-6)
            same = np.array_equal(graphs, owners) and not (bounds < sketched.sums[order]).any()
            self._require(same, "gaps are not those of the graphs")


def damaged(name: str, why: object) -> InvalidFileError:
    """Return the error for an index whose files are damaged."""
    return InvalidFileError(
        f"The index {name!r} is damaged: {why}. Restore it from a copy, or build the index again."
    )


def _unpacked(data: bytes) -> Any:
    """Return the JSON value of a page; None if it is invalid or too large."""
    unpack = zlib.decompressobj()
    try:
        text = unpack.decompress(data, _LARGEST_PAGE + 1)
        return json.loads(text) if len(text) <= _LARGEST_PAGE and unpack.eof else None
    except (zlib.error, ValueError, RecursionError):
        return None
