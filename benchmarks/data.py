"""Where the benchmarks find their data sets."""

from __future__ import annotations

import gzip
import os
from itertools import islice
from pathlib import Path

import numpy as np

import graphgrain as gg


def folder() -> Path:
    """The folder of data sets: GRAPHGRAIN_DATA, or the one next to the checkout."""
    return Path(os.environ.get("GRAPHGRAIN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def molecule_file(name: str) -> Path:
    """A file of molecules such as ``hiv`` (.csv.gz) or ``moses`` (.smi.gz)."""
    found = sorted((folder() / "molecules").glob(f"{name}.*"))
    if not found:
        raise SystemExit(f"There is no {name} in {folder() / 'molecules'}; set GRAPHGRAIN_DATA.")
    return found[0]


def molecules(name: str, count: int | None = None) -> list[str]:
    """The SMILES of a file of molecules, or the first of them."""
    path = molecule_file(name)
    header = ".csv" in path.suffixes
    with gzip.open(path, "rt") as lines:
        wanted = islice(lines, int(header), None if count is None else count + int(header))
        return [line.split(",")[0].split()[0] for line in wanted]


def load_with_classes(name: str) -> tuple[gg.GraphBatch, np.ndarray]:
    """A TU data set: a file, from GRAPHGRAIN_DATA, from beside the checkout, or by download."""
    if name == "drugs":
        return gg.load_drugs()
    if Path(name).exists():
        return gg.load_tu(name)
    if folder().is_dir():
        os.environ.setdefault("GRAPHGRAIN_DATA", str(folder()))
    return gg.fetch_tu(name)


def load(name: str) -> gg.GraphBatch:
    """The graphs alone."""
    return load_with_classes(name)[0]
