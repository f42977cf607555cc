"""The real data sets that tests read where they are there: ../shared/data, or GRAPHGRAIN_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import graphgrain as gg

FOLDER = Path(os.environ.get("GRAPHGRAIN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def tu_file(name: str) -> Path:
    """The file of a TU data set, or a skipped test that says what is missing."""
    path = FOLDER / f"{name}.zip"
    if not path.exists():
        pytest.skip(f"needs the data set {name}: {path.name} is not in the data folder")
    return path


def load(name: str) -> tuple[gg.GraphBatch, object]:
    """A TU data set, or a skipped test that says what is missing."""
    return gg.load_tu(tu_file(name))


def molecule_file(name: str) -> Path:
    """A file of molecules such as ``hiv.csv.gz``, or a skipped test that says what is missing."""
    path = FOLDER / "molecules" / name
    if not path.exists():
        pytest.skip(f"needs the molecules {name}: they are not in the data folder")
    return path
