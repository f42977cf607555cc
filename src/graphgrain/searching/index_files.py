"""The files of an index: manifest, lock, and segments with the graphs.

The manifest lists the files that belong to the index and records how graphs are compared. It is
the only file that changes, and it is replaced atomically. All other files are written once, under
unique names; files that are not listed in the manifest do not belong to the index. An interrupted
writer therefore leaves the index either in its old or in its new state.

A segment holds up to 65,536 graphs with sketches, ids and columns. It is written once
(:func:`write_segment`) and read in parts (:class:`Segment`). A :class:`Snapshot` consists of all
segments of an index at one moment. Only sketches of the features are stored
(``core/sketches.py``); where exact similarities are needed, features are counted again from the
stored graphs.

Files are not trusted: everything that compiled code uses for indexing is checked when a part is
first used, and :meth:`Segment.verify` recomputes and compares all derived data.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..archives import Archive, Format, document, parsed_json, read_document, write_archive
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
from ..errors import InvalidFileError, InvalidParameterError, UnwritableFileError
from ..graphs.batch import GraphBatch, gathered_ranges
from ..graphs.convert.rdkit import LabelOptions
from ..graphs.streams import Chunk, join_chunks
from ..graphs.tables import is_missing
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import SIMILARITIES, Counts, squared_norms, total_counts
from ..locking import locked
from ..writing import atomic_write, delete_if_free, to_disk, unwritable

# -------------------------------------------------------------------- the manifest

FORMAT = Format("graphgrain index", b"GGINDEX\0", 1, "Build the index again")
MANIFEST = "manifest.json"
JOURNAL = "building.json"
#: Similarities of an index: those of kernels, and the fraction of a query that a graph contains.
KINDS = {**SIMILARITIES, "containment": CONTAINMENT}
_LABEL_KINDS = ("integer", "string", "none", "")
#: Suffixes of the files that a manifest lists.
OWN_SUFFIXES = (".segment", ".removed")
_FILE = re.compile(r"[0-9a-f]{16}\.(segment|removed)")


@dataclass(frozen=True)
class SegmentEntry:
    """A segment in the manifest."""

    file: str
    graphs: int
    bytes: int


@dataclass(frozen=True)
class Manifest:
    """The contents of an index.

    ``kernel`` is ``{"class": name, "parameters": {...}}``, ``similarity`` the default of
    ``search``, ``label_kind`` the type of the vertex labels, ``molecules`` the options of
    ``from_smiles`` (None if the graphs are not molecules), ``removed`` the file that lists removed
    graphs, and ``next_id`` the id of the next graph that has none.
    """

    kernel: dict[str, Any]
    similarity: str = "cosine"
    label_kind: str = "none"
    molecules: dict[str, bool] | None = None
    segments: tuple[SegmentEntry, ...] = ()
    removed: str | None = None
    next_id: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def files(self) -> set[str]:
        """Names of all files that belong to the index."""
        files = {entry.file for entry in self.segments}
        return files if self.removed is None else files | {self.removed}


def write_manifest(folder: Path, manifest: Manifest, name: str = MANIFEST) -> None:
    """Replace the manifest atomically."""
    path = folder / name
    with atomic_write(path, "The index") as file:
        file.write(document(FORMAT, asdict(manifest)))
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:  # directory entries must be on disk, too
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise unwritable("The index", path, error) from None


def read_manifest(folder: Path, name: str = MANIFEST) -> Manifest:
    """Read and validate the manifest of an index."""
    path = folder / name
    if not path.is_file():
        reason = f"it has no {MANIFEST}. Build one with GraphIndex.build or `graphgrain index`."
        if (folder / JOURNAL).is_file():
            reason = (
                "its building was interrupted. Build it again with the same arguments to go on."
            )
        raise InvalidFileError(f"{str(folder)!r} is not a graphgrain index: {reason}")
    fields = read_document(path, FORMAT)
    try:
        if set(fields) != {each.name for each in dataclass_fields(Manifest)}:
            raise KeyError
        if not isinstance(fields["segments"], list):
            raise TypeError
        fields["segments"] = tuple(SegmentEntry(**entry) for entry in fields["segments"])
        manifest = Manifest(**fields)
    except (TypeError, KeyError):
        raise FORMAT.damaged(path, "manifest", "its entries are not those of an index") from None
    if (why := _wrong(manifest)) is not None:
        raise FORMAT.damaged(path, "manifest", why)
    return manifest


def _wrong(manifest: Manifest) -> str | None:
    """Return what is wrong with a manifest whose checksum is correct, or None."""
    names = [entry.file for entry in manifest.segments]
    for name in names if manifest.removed is None else [*names, manifest.removed]:
        if not isinstance(name, str) or not _FILE.fullmatch(name):
            return f"{str(name)[:60]!r} is not a file of an index"
    if len(set(names)) != len(names):
        return "a segment is named twice"
    sizes = (number for entry in manifest.segments for number in (entry.graphs, entry.bytes))
    numbers = [manifest.next_id, *sizes]
    if not all(type(number) is int and number >= 0 for number in numbers):
        return "a number of graphs or bytes is not a number"
    if str(manifest.similarity) not in KINDS or str(manifest.label_kind) not in _LABEL_KINDS:
        return "its similarity or its kind of labels is unknown"
    if not isinstance(manifest.extra, dict):
        return "its extra entries are not a dictionary"
    kernel = manifest.kernel
    if not (isinstance(kernel, dict) and isinstance(kernel.get("parameters"), dict)):
        return "its kernel has no parameters"
    options = manifest.molecules
    if options is not None and not (
        isinstance(options, dict)
        and set(options) <= set(LabelOptions._fields)
        and all(type(value) is bool for value in options.values())
    ):
        return "the options of its molecules are unknown"
    return None


# -------------------------------------------------------------------- files


def write_new(
    folder: Path, kind: str, about: dict[str, Any], parts: dict[str, np.ndarray]
) -> tuple[str, int]:
    """Write arrays to a file with a unique name; return its name and size in bytes.

    The file is flushed to disk on return; on failure it is removed.
    """
    path = folder / f"{secrets.token_hex(8)}.{kind}"
    try:
        with open(path, "xb") as file:
            size = write_archive(file, FORMAT, about, parts)
            file.flush()
            to_disk(file.fileno())
            return path.name, size
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable("The index", path, error) from None
        raise


def delete_leftovers(folder: Path, keep: set[str]) -> None:
    """Delete files that do not belong to the index; the caller must hold the lock."""
    for path in folder.iterdir():
        if (path.suffix in OWN_SUFFIXES and path.name not in keep) or path.suffix == ".part":
            delete_if_free(path)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the write lock of an index; the system releases it if the process dies."""
    path = folder / "lock"
    try:
        file = open(path, "a+b")  # noqa: SIM115 - closed below
    except OSError as error:
        raise unwritable("The index", path, error) from None
    with file, locked(file.fileno(), wait=False) as alone:
        if not alone:
            raise UnwritableFileError(
                f"Another process is writing to the index {str(folder)!r}. Wait until it has "
                "finished."
            )
        yield


# -------------------------------------------------------------------- segments

#: Number of graphs sketched together, and maximum number of graphs of a segment.
CHUNK = 4096
LARGEST = 65_536
#: A feature gets its own bit if at least this fraction of the graphs has it, and maximum number of
#: such features.
_COMMON_SHARE = 1 / 16
_MOST_COMMON = 512
#: Maximum number of distinct values in the lists of a sketch.
_CODES = 256
#: Count maps that set every value to 1.
_ONES = ("binary", "intersection")
#: Values per page of a column, maximum size of a page in bytes, and number of cached pages.
_PAGE = 256
_LARGEST_PAGE = 1 << 28
_CACHED_PAGES = 64
_COLUMN_KINDS = ("numbers", "booleans", "pages")
#: Ids are stored as the column "id"; a column with that name is stored under another one.
_ID, _COLUMN_CALLED_ID = "id", "column called id"
#: Number of times that a reader retries while a writer replaces files.
_ATTEMPTS = 5


# -------------------------------------------------------------------- features of graphs

#: Key of graphs without features.
FEATURELESS = np.uint64(0x9AE16A3B2F90404F)


def values_differ(kernel: FeatureKernel) -> bool:
    """Return whether features can have values other than 1."""
    return kernel.counts not in _ONES or bool(np.any(kernel.level_scales != 1.0))


def keyed_features(kernel: FeatureKernel, batch: GraphBatch) -> Counts:
    """Compute the features of all levels of a kernel, with keys and values.

    A graph without features has the key ``FEATURELESS``, so that such graphs equal each other as in
    the kernel.
    """
    features = kernel.count(batch).mapped(kernel.counts).scaled(kernel.level_scales).keyed()
    bare = features.lengths == 0
    places = features.starts[:-1][bare]
    return Counts(
        features.lengths + bare,
        np.insert(features.hashes, places, FEATURELESS),
        np.insert(features.counts, places, 1.0),
    )


# -------------------------------------------------------------------- sketches


class Sketches(NamedTuple):
    """Sketches of the features of a chunk of graphs."""

    totals: np.ndarray  # sums of values
    squares: np.ndarray  # sums of squared values
    bits: np.ndarray  # one bit per common feature
    lengths: np.ndarray  # number of buckets of each graph
    buckets: np.ndarray
    sums: np.ndarray


def choose_common(features: Counts, kernel: FeatureKernel) -> np.ndarray:
    """Choose the features that get their own bit, based on a sample of the graphs."""
    if values_differ(kernel):
        return np.empty(0, dtype=np.uint64)
    keys, counts = np.unique(features.hashes, return_counts=True)
    enough = np.flatnonzero(counts >= max(2, _COMMON_SHARE * len(features.lengths)))
    order = np.argsort(-counts[enough], kind="stable")[:_MOST_COMMON]
    return np.sort(keys[enough[order]])


def make_sketches(features: Counts, kernel: FeatureKernel, common: np.ndarray) -> Sketches:
    """Compute the sketches of graphs from their features."""
    differ = values_differ(kernel)
    parts = sketch(features.starts, features.hashes, features.counts, common, differ)
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


def _sketch_parts(sketches: Sequence[Sketches], common: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sketches of all graphs of a segment as they are stored."""
    whole, bits = _joined(sketches)
    values, codes = _coded(whole.sums)
    starts, gaps = make_lists(whole.lengths, whole.buckets, codes, bits)
    parts = {
        "totals": whole.totals.astype(np.float32),
        "common": common,
        "bits": whole.bits,
        "starts": starts.astype(np.uint32),
        "gaps": gaps,
        "values": values,
    }
    if len(values):
        parts["squares"] = whole.squares.astype(np.float32)
    return parts


def _coded(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at most 256 values, and for each sum the code of the smallest value >= the sum."""
    if not len(sums):
        return np.empty(0, dtype=np.float32), np.empty(0, dtype=np.uint8)
    values = np.unique(sums)
    if len(values) > _CODES:
        steps = np.geomspace(values[0], values[-1], _CODES)[1:-1].astype(np.float32)
        values = np.unique(np.concatenate((values[:1], steps, values[-1:])))
    return values, np.searchsorted(values, sums).astype(np.uint8)


# -------------------------------------------------------------------- writing


def write_segment(
    folder: Path,
    chunks: Sequence[Chunk],
    sketches: Sequence[Sketches],
    common: np.ndarray,
    ids: Sequence[Any],
) -> SegmentEntry:
    """Write a segment and flush it to disk."""
    graphs, columns = join_chunks(list(chunks))
    parts, about = _graph_parts(graphs)
    parts |= _sketch_parts(sketches, common)
    parts["keys"] = id_keys(ids)
    kinds = {}
    named: dict[str, Any] = {_ID: ids}
    named |= {_stored_name(column): values for column, values in columns.items()}
    for column, values in named.items():
        kinds[column], encoded = _encode_column(column, values)
        parts |= {f"column.{column}{suffix}": array for suffix, array in encoded.items()}
    about |= {"graphs": len(graphs), "columns": kinds}
    name, size = write_new(folder, "segment", about, parts)
    return SegmentEntry(name, len(graphs), size)


def _stored_name(column: str) -> str:
    return _COLUMN_CALLED_ID if column == _ID else column


def _graph_parts(graphs: GraphBatch) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
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
    parts = {"graphs": stream, "graphs.starts": starts.astype(np.uint32)}
    if len(stream) >= 2**32:
        raise InvalidParameterError(
            f"{len(graphs):,} graphs of an index take at most 4 GiB; these take "
            f"{len(stream) / 2**30:.1f} GiB. They are too large for an index."
        )
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


def _widths(table: np.ndarray | None, least: int = 0) -> tuple[int, int]:
    """Return the number of bits per label code and the number of labels; 0 without a table."""
    if table is None:
        return 0, 0
    return max(least, max(0, len(table) - 1).bit_length()), len(table)


def _encode_column(name: str, values: Sequence[Any]) -> tuple[str, dict[str, np.ndarray]]:
    """Return the kind of a column ("numbers", "booleans" or "pages") and its parts.

    Floats are stored as float64 and integers in the smallest type that holds them all. Everything
    else is stored in pages of 256 values, each a JSON list compressed with zlib.
    """
    array: np.ndarray = np.empty(0, dtype=object)  # unless they are numbers
    if isinstance(values, np.ndarray) and values.ndim == 1:
        array = values
    elif not isinstance(values, np.ndarray) and values and all(map(_is_int64, values)):
        array = np.array(values, dtype=np.int64)
    kind = array.dtype.kind
    if kind in "iu" and len(array):
        narrow = np.min_scalar_type(int(array.min()))
        narrow = np.promote_types(narrow, np.min_scalar_type(int(array.max())))
        return "numbers", {"": array.astype(narrow if narrow.kind in "iu" else array.dtype)}
    if kind == "f":
        return "numbers", {"": array.astype(np.float64)}
    if kind == "b":
        return "booleans", {"": array.astype(np.uint8)}
    items = [plain(value) for value in values]
    pages, starts = [], [0]
    for begin in range(0, len(items), _PAGE):
        try:
            text = json.dumps(items[begin : begin + _PAGE], separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(
                f"A column of an index holds numbers, strings, or lists of them; {name!r} holds "
                f"something else ({error}). Convert it with str()."
            ) from None
        pages.append(zlib.compress(text, 9))
        starts.append(starts[-1] + len(pages[-1]))
        if len(text) > _LARGEST_PAGE or starts[-1] >= 2**32:
            raise InvalidParameterError(
                f"{_PAGE} values of a column take at most {_LARGEST_PAGE >> 20} MiB; those of "
                f"{name!r} take more. Choose the columns to keep (columns=[...])."
            )
    data = np.frombuffer(b"".join(pages), dtype=np.uint8)
    return "pages", {"": data, ".starts": np.array(starts, dtype=np.uint32)}


# -------------------------------------------------------------------- ids and values


def plain(value: Any) -> Any:
    """Convert a NumPy scalar to a Python value, and pandas' NA to None."""
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


def checked_ids(ids: Iterable[Any]) -> list[Any]:
    """Check that ids can be stored: integers, strings, or tuples of them."""
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise InvalidParameterError(f"ids must be a list of ids; got {ids!r}. Write [{ids!r}].")
    values = [plain(value) for value in ids]
    for value in values:
        if not _is_id(value):
            raise InvalidParameterError(
                f"An id is an integer, a string, or a tuple of them; got {value!r} "
                f"({type(value).__name__}). Convert it with str()."
            )
    return values


def _is_id(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_id, value))
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
    for place, value in enumerate(ids):
        if not _is_int64(value):
            text = json.dumps(value).encode()
            keys[place] = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    return keys


# -------------------------------------------------------------------- reading


class Segment:
    """An open segment; parts are checked when they are first used."""

    def __init__(self, path: Path, entry: SegmentEntry, removed: np.ndarray, kind: str) -> None:
        self.archive = Archive(path, FORMAT)
        self.entry = entry
        self.removed = removed  # int64, ascending
        self._pages: dict[tuple[str, int], list[Any]] = {}
        self._measures: dict[bool, tuple[np.ndarray, np.ndarray]] = {}
        about = self.archive.about
        graphs = about.get("graphs")
        same = type(graphs) is int and graphs == entry.graphs
        self._require(same, "header", f"it states {str(graphs)[:40]} graphs")
        self._labels = self._table("labels")
        edges = about.get("edge labels") is not None
        self._edge_labels = self._table("edge labels") if edges else None
        self._labelled: Any = about.get("labelled")
        own = "string" if self._labels.dtype == object else "integer"
        fits = not len(self._labels) or kind == (own if self._labelled else "none")
        fits &= type(self._labelled) is bool
        self._require(fits, "header", f"its labels are not of the kind {kind!r}")
        self._columns = about.get("columns") or {}
        named = isinstance(self._columns, dict) and _ID in self._columns
        self._require(named, "header", "it does not name its columns")
        known = all(str(column) in _COLUMN_KINDS for column in self._columns.values())
        self._require(known, "header", "it has columns of an unknown kind")

    def __len__(self) -> int:
        return self.entry.graphs

    def _require(self, right: Any, part: str, why: str) -> None:
        if not right:
            raise self.archive.damaged(part, why)

    def _table(self, name: str) -> np.ndarray:
        """Return a sorted table of labels, all strings or all integers."""
        values = self.archive.about.get(name)
        if isinstance(values, list) and all(isinstance(value, str) for value in values):
            table = np.empty(len(values), dtype=object if values else np.int64)
            table[:] = values
        elif isinstance(values, list) and all(map(_is_int64, values)):
            table = np.array(values, dtype=np.int64)
        else:
            raise self.archive.damaged("header", f"{name} are neither strings nor integers")
        self._require((table[1:] > table[:-1]).all(), "header", f"{name} are not sorted")
        return table

    @cached_property
    def live(self) -> np.ndarray:
        """Rows that are not removed."""
        rows = np.ones(len(self), dtype=bool)
        rows[self.removed] = False
        return np.flatnonzero(rows)

    # ---------------------------------------------------------------- sketches

    @cached_property
    def lists(self) -> Lists:
        """The sketches."""
        array = self.archive.array
        common = array("common", "u8", (None,))
        bits = array("bits", "u8", (len(self), (len(common) + 63) >> 6))
        values = array("values", "f4", (None,))
        gaps = array("gaps", "u1", (None,))
        starts = array("starts", "u4", (None,))
        buckets, require = len(starts) - 1, self._require
        width = buckets.bit_length() - 1
        whole = 1 <= width <= MOST_BITS and buckets == 1 << width
        require(whole, "starts", f"the number of buckets cannot be {buckets:,}")
        require((common[1:] > common[:-1]).all(), "common", "it is not sorted")
        finite = (np.isfinite(values) & (values >= 0)).all()
        valid = len(values) <= _CODES and finite
        require(valid, "values", "there are too many, or they are negative or not finite")
        fit = lists_fit(starts, gaps, len(values), len(self))
        require(fit, "gaps", "a list names graphs or codes that do not exist")
        return Lists(common, bits, np.uint64(64 - width), starts, gaps, values)

    @cached_property
    def commons(self) -> np.ndarray:
        """Number of common features of each graph."""
        return count_bits(self.lists.bits)

    def measures(self, kind: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of each graph (of squares, for the cosine) and the sizes from them."""
        cosine = kind == COSINE
        if cosine not in self._measures:
            values = self._measure("squares" if cosine and "squares" in self.archive else "totals")
            self._measures[cosine] = values, np.sqrt(values) if cosine else values
        return self._measures[cosine]

    def _measure(self, name: str) -> np.ndarray:
        values = self.archive.array(name, "f4", (len(self),))
        finite = (np.isfinite(values) & (values >= 0)).all()
        self._require(finite, name, "a sum of features is negative or not finite")
        return values

    # ---------------------------------------------------------------- columns

    @property
    def column_names(self) -> list[str]:
        """Names of the columns other than the id."""
        names = [name for name in self._columns if name != _ID]
        return [_ID if name == _COLUMN_CALLED_ID else name for name in names]

    def column(self, name: str, rows: Sequence[int]) -> list[Any]:
        """Return a column of some graphs; None if the segment does not have it."""
        stored = _stored_name(name)
        return self._read(stored, rows) if stored in self._columns else [None] * len(rows)

    def _read(self, name: str, rows: Sequence[int]) -> list[Any]:
        kind = self._columns[name]
        if kind == "pages":
            return [self._page(name, row // _PAGE)[row % _PAGE] for row in rows]
        part, values = f"column.{name}", self.archive[f"column.{name}"]
        self._require(
            values.shape == (len(self),), part, f"it holds values of shape {values.shape}"
        )
        chosen = values[np.asarray(rows, dtype=np.int64)]
        return (chosen.astype(bool) if kind == "booleans" else chosen).tolist()

    def _page(self, name: str, number: int) -> list[Any]:
        known = self._pages.get((name, number))
        if known is None:
            part = f"column.{name}"
            starts = self.archive.array(f"{part}.starts", "u4", (-(-len(self) // _PAGE) + 1,))
            data = self.archive.array(part, "u1", (None,))
            begin, end = int(starts[number]), int(starts[number + 1])
            inside = begin <= end <= len(data)
            self._require(inside, f"{part}.starts", "a page is not inside its column")
            known = _unpacked(data[begin:end].tobytes())
            wanted = min(_PAGE, len(self) - number * _PAGE)
            full = isinstance(known, list) and len(known) == wanted
            self._require(full, part, f"a page does not hold {wanted} values")
            if len(self._pages) >= _CACHED_PAGES:
                self._pages.pop(next(iter(self._pages)), None)  # another thread may do the same
            self._pages[name, number] = known
        return known

    def ids(self, rows: Sequence[int]) -> list[Any]:
        """Return the ids of some graphs."""
        ids = [_as_id(value) for value in self._read(_ID, rows)]
        right = all(map(_is_id, ids))
        self._require(right, "column.id", "ids must be integers, strings or tuples of them")
        return ids

    @property
    def keys(self) -> np.ndarray:
        """Hash of each id."""
        return self.archive.array("keys", "u8", (len(self),))

    # ---------------------------------------------------------------- graphs

    def graphs(self, rows: np.ndarray) -> GraphBatch:
        """Return some of the graphs."""
        rows = np.asarray(rows, dtype=np.int64)
        edge_table = self._edge_labels
        offsets, indptr, indices, labels, edge_labels, wrong = unpack_graphs(
            self.archive.array("graphs", "u1", (None,)),
            self.archive.array("graphs.starts", "u4", (len(self) + 1,)),
            rows,
            *_widths(self._labels),
            *_widths(edge_table, 1),
        )
        self._require(wrong < 0, "graphs", f"graph {wrong} cannot be read")
        return GraphBatch._of(
            offsets=offsets,
            indptr=indptr,
            indices=indices,
            label_codes=labels,
            label_table=self._labels,
            labelled=self._labelled,
            edge_label_codes=None if edge_table is None else edge_labels,
            edge_label_table=edge_table,
            vertex_attributes=self._attributes("vertex attributes", rows, len(labels)),
            edge_attributes=self._attributes("edge attributes", rows, len(indices)),
        )

    def _attributes(self, name: str, rows: np.ndarray, count: int) -> np.ndarray | None:
        if name not in self.archive:
            return None
        values = self.archive.array(name, "f8", (None, None))
        starts = self.archive.array(f"{name}.starts", "i8", (len(self) + 1,))
        begins, ends = starts[rows], starts[rows + 1]
        inside = (begins >= 0) & (begins <= ends) & (ends <= len(values))
        fits = inside.all() and (ends - begins).sum() == count
        self._require(fits, f"{name}.starts", "they do not belong to the graphs")
        chosen = values[gathered_ranges(starts, rows)[0]]
        self._require(np.isfinite(chosen).all(), name, "attributes must be finite")
        return chosen

    def chunk(self, rows: np.ndarray) -> tuple[Chunk, list[Any]]:
        """Return some of the graphs with their columns, and their ids."""
        columns = {name: as_array(self.column(name, rows.tolist())) for name in self.column_names}
        return Chunk(self.graphs(rows), columns), self.ids(rows.tolist())

    # ---------------------------------------------------------------- verification

    def verify(self, kernel: FeatureKernel) -> None:
        """Check all parts and recompute all derived data; raise an error if anything differs."""
        for part in self.archive.parts:
            self.archive[part]  # reading verifies the checksum
        lists = self.lists
        made = []
        for begin in range(0, len(self), CHUNK):
            rows = np.arange(begin, min(begin + CHUNK, len(self)))
            _, ids = self.chunk(rows)
            same = np.array_equal(id_keys(ids), self.keys[rows])
            self._require(same, "keys", "they are not those of the ids")
            features = keyed_features(kernel, self.graphs(rows))
            made.append(make_sketches(features, kernel, lists.common))
        expected = _sketch_parts(made, lists.common) if made else {}
        weighted = len(lists.values) > 0
        same = weighted == ("squares" in expected)
        self._require(same, "values", "they are not those of the features")
        for name in ("totals", "squares"):
            same = name not in expected or np.allclose(expected[name], self._measure(name), 1e-6)
            self._require(same, name, "they are not those of the graphs")
        for name in ("bits", "starts") if weighted else ("bits", "starts", "gaps"):
            same = name not in expected or np.array_equal(expected[name], self.archive[name])
            self._require(same, name, "sketches are not those of the graphs")
        if weighted:  # rounding of the codes may depend on the machine
            whole, _ = _joined(made)
            order = np.argsort(whole.buckets, kind="stable")
            graphs, codes = read_lists(lists.starts, lists.gaps)
            owners = np.repeat(np.arange(len(self)), whole.lengths)[order]
            bounds = lists.values[codes] * (1 + 1e-6)
            same = np.array_equal(graphs, owners) and not (bounds < whole.sums[order]).any()
            self._require(same, "gaps", "sketches are not those of the graphs")


def _unpacked(data: bytes) -> Any:
    """Return the JSON value of a page; None if it is invalid or too large."""
    unpack = zlib.decompressobj()
    try:
        text = unpack.decompress(data, _LARGEST_PAGE + 1)
    except zlib.error:
        return None
    return parsed_json(text) if len(text) <= _LARGEST_PAGE and unpack.eof else None


# -------------------------------------------------------------------- all segments


class Snapshot:
    """The segments of an index at one moment; not affected by later changes."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        name = manifest.removed
        removed = None if name is None else Archive(folder / name, FORMAT)
        self.segments = [
            Segment(folder / entry.file, entry, _removed_rows(removed, entry), manifest.label_kind)
            for entry in manifest.segments
        ]
        self.bases = np.cumsum([0] + [len(segment) for segment in self.segments])

    @classmethod
    def of(cls, folder: Path) -> Snapshot:
        """Open the current state of an index."""
        attempts = 0
        while True:
            manifest = read_manifest(folder)
            attempts += 1
            try:
                return cls(folder, manifest)
            except InvalidFileError:
                # A writer may have replaced the manifest and deleted files of the old one.
                if attempts == _ATTEMPTS or read_manifest(folder) == manifest:
                    raise

    def __reduce__(self) -> Any:
        return Snapshot, (self.folder, self.manifest)

    def __len__(self) -> int:
        return int(self.bases[-1]) - sum(len(segment.removed) for segment in self.segments)

    @cached_property
    def live(self) -> np.ndarray:
        """Places of all graphs that are not removed, in order."""
        parts = [segment.live + base for segment, base in self._based]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    @property
    def _based(self) -> Iterator[tuple[Segment, int]]:
        """Pairs of a segment and the place of its first graph."""
        return zip(self.segments, self.bases[:-1].tolist(), strict=True)

    def _owners(self, places: np.ndarray) -> Iterator[tuple[Segment, np.ndarray, np.ndarray]]:
        """Yield each segment that holds some of the places, their positions, and their rows."""
        owner = np.searchsorted(self.bases, places, side="right") - 1
        for number in np.unique(owner).tolist():
            mine = np.flatnonzero(owner == number)
            yield self.segments[number], mine, places[mine] - self.bases[number]

    def _gathered(
        self, places: Sequence[int] | np.ndarray, read: Callable[[Segment, list[int]], list[Any]]
    ) -> list[Any]:
        """Read values from the segments and return them in the order of the places."""
        places = np.asarray(places, dtype=np.int64)
        result: list[Any] = [None] * len(places)
        for segment, mine, rows in self._owners(places):
            for place, value in zip(mine.tolist(), read(segment, rows.tolist()), strict=True):
                result[place] = value
        return result

    def graphs(self, places: np.ndarray) -> GraphBatch:
        """Return the graphs at some places, in the given order."""
        parts, order = [], []
        for segment, mine, rows in self._owners(places):
            parts.append(segment.graphs(rows))
            order.append(mine)
        if not parts:
            return GraphBatch.from_edges([], [])
        whole = GraphBatch.concatenate(parts)
        back = np.argsort(np.concatenate(order), kind="stable")
        return whole if np.array_equal(back, np.arange(len(back))) else whole[back]

    def __getitem__(self, numbers: Any) -> GraphBatch:
        """Return graphs by their numbers, counted from 0 without removed graphs."""
        return self.graphs(self.live[numbers])

    def ids(self, places: Sequence[int] | np.ndarray) -> list[Any]:
        """Return the ids of the graphs at some places."""
        return self._gathered(places, lambda segment, rows: segment.ids(rows))

    @property
    def column_names(self) -> list[str]:
        """Names of all columns other than the id."""
        return list(dict.fromkeys(name for part in self.segments for name in part.column_names))

    def column(self, name: str, places: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return a column of some graphs, with None for missing values."""
        return as_array(self._gathered(places, lambda segment, rows: segment.column(name, rows)))

    def columns(self, places: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
        """Return all columns of some graphs."""
        return {name: self.column(name, places) for name in self.column_names}

    def places(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the places of the graphs with the given ids; raise an error for unknown ids."""
        ids = checked_ids(ids)
        wanted = id_keys(ids)
        found: dict[Any, int] = {}  # by id, as different ids can have the same key, if rarely
        for segment, base in self._based:
            rows = segment.live[np.isin(segment.keys[segment.live], wanted)]
            found.update(zip(segment.ids(rows.tolist()), (base + rows).tolist(), strict=True))
        for value in ids:
            if value not in found:
                raise InvalidParameterError(f"The index has no graph with the id {value!r}.")
        return np.array([found[value] for value in ids], dtype=np.int64)

    def keys(self) -> np.ndarray:
        """Return the sorted keys of the ids of all graphs that are not removed."""
        parts = [part.keys[part.live] for part in self.segments]
        return np.sort(np.concatenate([np.empty(0, dtype=np.uint64), *parts]))

    def pieces(self, first_segment: int = 0) -> Iterator[tuple[Chunk, list[Any]]]:
        """Yield all graphs with their columns and ids, in chunks."""
        for segment in self.segments[first_segment:]:
            for begin in range(0, len(segment.live), CHUNK):
                yield segment.chunk(segment.live[begin : begin + CHUNK])

    def without(self, places: np.ndarray) -> Manifest:
        """Write a new list of removed graphs and return a manifest that refers to it."""
        parts = {}
        for segment, base in self._based:
            mine = places[(places >= base) & (places < base + len(segment))] - base
            rows = np.union1d(segment.removed, mine)
            if len(rows):
                parts[segment.entry.file] = rows.astype(np.uint32)
        about = {"removed": sum(map(len, parts.values()))}
        name, _ = write_new(self.folder, "removed", about, parts)
        return replace(self.manifest, removed=name)


def _removed_rows(removed: Archive | None, entry: SegmentEntry) -> np.ndarray:
    """Return the removed rows of a segment in ascending order."""
    if removed is None or entry.file not in removed:
        return np.empty(0, dtype=np.int64)
    rows = removed.array(entry.file, "u4", (None,)).astype(np.int64)
    if not (rows[1:] > rows[:-1]).all() or (len(rows) and rows[-1] >= entry.graphs):
        raise removed.damaged(entry.file, "it names graphs that do not exist")
    return rows
