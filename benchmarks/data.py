"""Loading the data sets of the benchmarks."""

from __future__ import annotations

import gzip
import os
from itertools import islice
from pathlib import Path

import numpy as np

import graphgrain as gg


def folder() -> Path:
    """Return the data folder: GRAPHGRAIN_DATA, or the one next to the checkout."""
    return Path(os.environ.get("GRAPHGRAIN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def molecule_file(name: str) -> Path:
    """Return the path of a file of molecules such as ``hiv`` (.csv.gz) or ``moses`` (.smi.gz)."""
    found = sorted((folder() / "molecules").glob(f"{name}.*"))
    if not found:
        raise SystemExit(f"There is no {name} in {folder() / 'molecules'}; set GRAPHGRAIN_DATA.")
    return found[0]


def molecules(name: str, count: int | None = None) -> list[str]:
    """Return the SMILES of a file of molecules, at most ``count``."""
    path = molecule_file(name)
    header = ".csv" in path.suffixes
    with gzip.open(path, "rt") as lines:
        wanted = islice(lines, int(header), None if count is None else count + int(header))
        return [line.split(",")[0].split()[0] for line in wanted]


def load_with_classes(name: str) -> tuple[gg.GraphBatch, np.ndarray]:
    """Load a TU data set from a file or the data folder, or download it."""
    if name == "drugs":
        return gg.load_drugs()
    if Path(name).exists():
        return gg.load_tu(name)
    if folder().is_dir():
        os.environ.setdefault("GRAPHGRAIN_DATA", str(folder()))
    return gg.fetch_tu(name)


def load(name: str) -> gg.GraphBatch:
    """Load the graphs of a TU data set."""
    return load_with_classes(name)[0]
