"""Loading the data sets of the benchmarks."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path

import graphgrain as gg
from experiments.data import folder, load_with_classes


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


def load(name: str) -> gg.GraphBatch:
    """Load the graphs of a TU data set."""
    return load_with_classes(name)[0]
