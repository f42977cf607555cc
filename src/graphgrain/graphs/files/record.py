"""One molecule of a file, before anybody has looked at its chemistry."""

from __future__ import annotations

from typing import NamedTuple


class Record(NamedTuple):
    """Where a molecule stands, its structure as text, and all else that the file says."""

    line: int
    structure: str
    fields: dict[str, str]
