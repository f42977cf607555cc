"""Where the benchmarks find their data sets."""

from __future__ import annotations

import os
from pathlib import Path

import graphgrain as gg


def load(name: str) -> gg.GraphBatch:
    """A TU data set from GRAPHGRAIN_DATA, from the folder next to the checkout, or by download."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    if beside.is_dir():
        os.environ.setdefault("GRAPHGRAIN_DATA", str(beside))
    graphs, _ = gg.fetch_tu(name)
    return graphs
