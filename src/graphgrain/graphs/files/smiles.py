"""SMILES files (``.smi``): a SMILES on each line, then white space and a name, if there is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .record import Record


def smiles_records(lines: Iterable[str]) -> Iterator[Record]:
    """The molecules of a SMILES file; blank lines count as lines, not as molecules."""
    for number, line in enumerate(lines, start=1):
        fields = line.split(None, 1)
        if fields:
            name = fields[1].strip() if len(fields) > 1 else ""
            yield Record(number, fields[0], {"smiles": fields[0], "name": name})
