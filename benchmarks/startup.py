"""Time to the first kernel value: with compilation, and in a later process.

``python -m benchmarks.startup`` runs a new interpreter that imports graphgrain, loads MUTAG and
computes its Gram matrix: once with an empty cache of compiled code, then again. Unlike in the other
benchmarks, these are absolute CPU and wall times of this machine.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

SCRIPT = """
from benchmarks.data import load
import graphgrain as gg
gg.TreePlusPlus().fit_transform(load("MUTAG"))
"""


class Seconds(NamedTuple):
    """CPU and wall time of a process."""

    processor: float
    wall: float


def seconds(cache: str) -> Seconds:
    """Measure a new process up to its first kernel value."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        stderr=subprocess.DEVNULL,
        check=True,
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seconds(used, wall)


def main() -> None:
    """Print both times."""
    with tempfile.TemporaryDirectory() as cache:
        first, later = seconds(cache), min(seconds(cache) for _ in range(3))
    print("                             CPU   wall")
    print(f"first call, compiling: {first.processor:7.1f} s {first.wall:6.1f} s")
    print(f"later process:         {later.processor:7.2f} s {later.wall:6.2f} s")


if __name__ == "__main__":
    main()
