"""Take the ids, SMILES and other columns out of an index of graphgrain 0.3, as a CSV file.

    python scripts/export_index.py library.ggi library.csv

Later versions do not read these indexes, but build new ones from the table:

    graphgrain index library.csv -o new.ggi --ids id

Only the standard library and NumPy are needed.
"""

from __future__ import annotations

import argparse
import csv
import json
import struct
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

#: Magic number, version, length and checksum of the header of an archive.
_FIXED = struct.Struct("<8sIII")


class Archive:
    """The arrays of a file of version 0.3."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        *_, length, _ = _FIXED.unpack_from(self.content)
        header = json.loads(self.content[_FIXED.size : _FIXED.size + length])
        self.about, self.parts, self.base = header["about"], header["parts"], _FIXED.size + length

    def array(self, name: str) -> np.ndarray:
        """Return an array, after comparing its checksum."""
        part = self.parts[name]
        dtype = np.dtype(part["dtype"])
        begin = self.base + part["offset"]
        data = self.content[begin : begin + dtype.itemsize * int(np.prod(part["shape"]))]
        if zlib.crc32(data) != part["crc32"]:
            raise SystemExit(f"The part {name!r} is damaged: its checksum does not match.")
        return np.frombuffer(data, dtype)

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        kind, values = self.about["columns"][name], self.array(f"column.{name}")
        if kind != "pages":
            return (values.astype(bool) if kind == "booleans" else values).tolist()
        starts = self.array(f"column.{name}.starts").tolist()
        pages = pairwise(starts)
        return [value for a, b in pages for value in json.loads(zlib.decompress(values[a:b]))]


def table(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of all graphs that were not removed."""
    _, _, manifest = (folder / "manifest.json").read_bytes().partition(b"\n")
    state = json.loads(manifest)
    removed = Archive(folder / state["removed"]) if state["removed"] else None
    rows: list[dict[str, Any]] = []
    for entry in state["segments"]:
        segment = Archive(folder / entry["file"])
        columns = {name: segment.column(name) for name in segment.about["columns"]}
        gone = set()
        if removed is not None and entry["file"] in removed.parts:
            gone = set(removed.array(entry["file"]).tolist())
        for row in range(entry["graphs"]):
            if row not in gone:
                rows.append({name: values[row] for name, values in columns.items()})
    return rows


def main() -> None:
    """Parse the arguments and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("index", type=Path, help="folder of an index of graphgrain 0.3")
    parser.add_argument("table", type=Path, help="CSV file to write")
    options = parser.parse_args()
    rows = table(options.index)
    names = list(dict.fromkeys(name for row in rows for name in row))
    with options.table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows):,} rows written to {options.table}.")


if __name__ == "__main__":
    main()
