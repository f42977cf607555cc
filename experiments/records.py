"""Records of finished work in a file of JSON lines, so that an interrupted run continues.

Each line is one record. Its ``kind`` names the fields that identify it (:data:`IDENTITY`); a second
record of the same identity is not stored. A line is written in one piece and synchronised to disk;
an incomplete last line, as after a power cut, is removed when the file is opened for writing.

``fold``
    A finished test fold of one repetition: for each level of the kernel the validation accuracies
    for all values of C, the chosen C, predictions and decision values. Settings and levels are
    chosen when records are read (:mod:`experiments.scores`), so a grid can grow without computing
    anything twice.
``kernel``
    Time and memory for the kernel matrices of one setting.
``limit``
    A kernel was stopped on a data set because it exceeded a limit on time or memory.
``prediction``
    Predictions of a method for molecules (:mod:`benchmarks.molecules`).
"""

from __future__ import annotations

import json
import os
import platform
import threading
import warnings
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from graphgrain import __version__

Record = dict[str, Any]

_KERNEL = ("dataset", "fingerprint", "kernel")
_PROTOCOL = ("mode", "folds", "C", "seed")
#: Fields that identify a record, by kind.
IDENTITY = {
    "fold": (*_KERNEL, "settings", *_PROTOCOL, "repetition", "fold"),
    "kernel": (*_KERNEL, "settings", "n_jobs"),
    "limit": (*_KERNEL, *_PROTOCOL, "reason", "limit", "repetitions"),
    "prediction": ("dataset", "fingerprint", "split", "method", "variant", "seed"),
}


@cache
def versions() -> dict[str, str]:
    """Return the versions of the software that results depend on."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"graphgrain": __version__, "python": platform.python_version(), **packages}


def identity(record: Record) -> str:
    """Return the identity of a record as text.

    >>> identity({"kind": "kernel", "dataset": "MUTAG", "fingerprint": "f00d", "kernel": "WL",
    ...     "settings": {}, "n_jobs": 1, "seconds": 0.5})
    '["kernel", "MUTAG", "f00d", "WL", {}, 1]'
    """
    kind = record["kind"]
    values = [record[name] for name in IDENTITY[kind]]
    return json.dumps([kind, *values], sort_keys=True)


def read_records(path: Path) -> list[Record]:
    """Return the records of a file without changing it; damaged lines are left out, and named."""
    records: dict[str, Record] = {}
    damaged = []
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            record = json.loads(line)
            records.setdefault(identity(record), record)
        except (ValueError, KeyError, TypeError):
            damaged.append(number)
    if damaged:
        warnings.warn(
            f"{path} has {len(damaged)} lines that are no records of experiments, such as line "
            f"{damaged[0]}; they are left out.",
            stacklevel=2,
        )
    return list(records.values())


class Records:
    """A file of records, open for reading and appending.

    >>> import tempfile
    >>> record = {"kind": "kernel", "dataset": "MUTAG", "fingerprint": "f00d", "kernel": "WL",
    ...     "settings": {}, "n_jobs": 1, "seconds": 0.5}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Records(Path(folder) / "records.jsonl")
    ...     first, second = file.append(record), file.append(record)
    >>> first, second, len(file.records)
    (True, False, 1)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        content = self.path.read_bytes()
        complete = content.rfind(b"\n") + 1
        if content and not content.startswith(b'{"'):
            raise SystemExit(f"{self.path} is no file of records; choose another one.")
        if complete < len(content):
            os.truncate(self.path, complete)
            torn = len(content) - complete
            warnings.warn(
                f"{self.path} ended within a record, as after a power cut; its {torn} bytes were "
                "removed, and it is computed again.",
                stacklevel=2,
            )
        self._records = {identity(record): record for record in read_records(self.path)}
        self._lock = threading.Lock()

    @property
    def records(self) -> list[Record]:
        """All records, in the order of the file."""
        return list(self._records.values())

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def append(self, record: Record) -> bool:
        """Write a record to disk; return False if there is one with its identity."""
        key = identity(record)
        about = {"versions": versions(), "time": datetime.now(UTC).isoformat(timespec="seconds")}
        line = json.dumps({**about, **record}, allow_nan=False) + "\n"
        with self._lock:
            if key in self._records:
                return False
            with open(self.path, "ab", buffering=0) as file:
                file.write(line.encode())
                os.fsync(file.fileno())
            self._records[key] = record
        return True
