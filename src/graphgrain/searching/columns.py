"""Columns of a segment: ids and whatever else is known about each graph.

Numbers are stored as they are, integers in the narrowest type that holds them all. Everything
else is stored in pages of 256 values, each a packed (zlib) JSON list.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from ..core.hashing import mix_array
from ..errors import InvalidParameterError
from .container import Container

PAGE = 256
_CACHED_PAGES = 64


def encode_column(name: str, values: Sequence[Any]) -> tuple[str, dict[str, np.ndarray]]:
    """The kind of a column ("numbers", "booleans" or "pages") and its parts."""
    array = values if isinstance(values, np.ndarray) else None
    if array is None and values and all(type(value) is int for value in values):
        low, high = min(values), max(values)
        if low >= -(2**63) and high < 2**63:
            array = np.array(values, dtype=np.int64)
    if array is not None and array.ndim == 1 and array.dtype.kind in "iu" and len(array):
        narrow = np.min_scalar_type(int(array.min()))
        narrow = np.promote_types(narrow, np.min_scalar_type(int(array.max())))
        return "numbers", {"": array.astype(narrow if narrow.kind in "iu" else array.dtype)}
    if array is not None and array.ndim == 1 and array.dtype.kind == "f":
        return "numbers", {"": array.astype(np.float64)}
    if array is not None and array.ndim == 1 and array.dtype.kind == "b":
        return "booleans", {"": array.astype(np.uint8)}
    items = [plain(value) for value in values]
    pages, starts = [], [0]
    for begin in range(0, len(items), PAGE):
        try:
            text = json.dumps(items[begin : begin + PAGE], separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(
                f"A column of an index holds numbers, strings, or lists of them; {name!r} holds "
                f"something else ({error}). Convert it with str()."
            ) from None
        pages.append(zlib.compress(text.encode(), 9))
        starts.append(starts[-1] + len(pages[-1]))
    data = np.frombuffer(b"".join(pages), dtype=np.uint8)
    return "pages", {"": data, ".starts": np.array(starts, dtype=np.uint32)}


def plain(value: Any) -> Any:
    """A value without NumPy's types."""
    return value.item() if isinstance(value, np.generic) else value


class ColumnReader:
    """The columns of one segment, read row by row."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._pages: dict[tuple[str, int], list[Any]] = {}

    @property
    def names(self) -> list[str]:
        """The columns other than the id."""
        return [name for name in self._container.about["columns"] if name != "id"]

    def read(self, name: str, rows: Iterable[int]) -> list[Any]:
        """The values of some rows."""
        kind = self._container.about["columns"][name]
        if kind == "pages":
            return [self._page(name, row // PAGE)[row % PAGE] for row in rows]
        values = self._container[f"column.{name}"][np.asarray(list(rows), dtype=np.int64)]
        return (values.astype(bool) if kind == "booleans" else values).tolist()

    def _page(self, name: str, number: int) -> list[Any]:
        known = self._pages.get((name, number))
        if known is None:
            starts = self._container[f"column.{name}.starts"]
            data = self._container[f"column.{name}"][starts[number] : starts[number + 1]]
            known = json.loads(zlib.decompress(data.tobytes()))
            if len(self._pages) >= _CACHED_PAGES:
                del self._pages[next(iter(self._pages))]
            self._pages[name, number] = known
        return known


def as_id(value: Any) -> Any:
    """An id as it is handed out: lists of JSON are tuples again."""
    return tuple(map(as_id, value)) if isinstance(value, list) else value


def as_array(values: list[Any]) -> np.ndarray:
    """An array of numbers or strings if that is what they are, else of objects."""
    kinds = {type(value) for value in values}
    if kinds and (kinds <= {int} or kinds <= {float, int} or kinds <= {str} or kinds <= {bool}):
        try:
            return np.array(values)
        except OverflowError:
            pass
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def checked_ids(ids: Iterable[Any]) -> list[Any]:
    """Ids that can be stored: integers, strings, or tuples of them."""
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


def id_keys(ids: Sequence[Any]) -> np.ndarray:
    """A 64-bit number for each id, the same wherever it is computed."""
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in ids):
        return mix_array(np.array(ids, dtype=np.int64).view(np.uint64))
    keys = np.empty(len(ids), dtype=np.uint64)
    for place, value in enumerate(ids):
        if type(value) is int and -(2**63) <= value < 2**63:
            keys[place] = mix_array(np.array([value], dtype=np.int64).view(np.uint64))[0]
        else:
            text = json.dumps(value).encode()
            keys[place] = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    return keys
