"""Structure-data files (``.sdf``, ``.mol``): mol blocks with properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...errors import InvalidFileError
from .archive import MIB
from .record import Record

#: No record is longer than this: a file that never says ``$$$$`` must not fill the memory.
MAX_RECORD = 64 * MIB


def sdf_records(name: str, lines: Iterable[str]) -> Iterator[Record]:
    """The molecules of an SDF file.

    Records end with a line ``$$$$``; after the structure come ``> <property>`` blocks.
    """
    record: list[str] = []
    start, size, number = 1, 0, 0
    for number, line in enumerate(lines, start=1):
        if line.startswith("$$$$"):
            if any(part.strip() for part in record):
                yield _record(start, record)
            record, start, size = [], number + 1, 0
            continue
        record.append(line)
        size += len(line)
        if size > MAX_RECORD:
            raise InvalidFileError(
                f"{name}, line {start}: a record must not be longer than {MAX_RECORD:,} "
                "characters. Records end with a line $$$$."
            )
    if any(part.strip() for part in record):
        yield _record(start, record)


def _record(start: int, lines: list[str]) -> Record:
    end = next((n for n, line in enumerate(lines) if line.startswith("M  END")), len(lines) - 1)
    properties = {"name": lines[0].strip()}
    key: str | None = None
    values: list[str] = []
    for line in [*lines[end + 1 :], "> <>"]:
        if line.startswith(">") and "<" in line:
            if key:
                properties[key] = "".join(values).strip()
            key, values = line[line.index("<") + 1 :].partition(">")[0], []
        else:
            values.append(line)
    return Record(start, "".join(lines[: end + 1]), properties)
