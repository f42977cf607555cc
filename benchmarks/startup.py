"""How long until the first kernel value: on a fresh machine (compiling) and in a later process.

``python -m benchmarks.startup`` runs a new interpreter that imports graphgrain, loads MUTAG and
computes its Gram matrix: once with an empty cache of compiled code, then again. Unlike the other
benchmarks these are absolute times, of the processor and of the clock on the wall; they say
something about this machine only.
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
    """What a process took."""

    processor: float
    wall: float


def seconds(cache: str) -> Seconds:
    """Time of a new process that gets to its first kernel value."""
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
    print("                       processor   wall")
    print(f"first call, compiling: {first.processor:7.1f} s {first.wall:6.1f} s")
    print(f"later process:         {later.processor:7.2f} s {later.wall:6.2f} s")


if __name__ == "__main__":
    main()
