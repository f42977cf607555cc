"""How long until the first kernel value: on a fresh machine (compiling) and in a later process.

``python -m benchmarks.startup`` runs a new interpreter that imports graphgrain, loads MUTAG and
computes its Gram matrix: once with an empty cache of compiled code, then again. Unlike the other
benchmarks these are absolute times; they say something about this machine only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

SCRIPT = """
from benchmarks.data import load
import graphgrain as gg
gg.TreePlusPlus().fit_transform(load("MUTAG"))
"""


def seconds(cache: str) -> float:
    """Wall time of a new process that gets to its first kernel value."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start


def main() -> None:
    """Print both times."""
    with tempfile.TemporaryDirectory() as cache:
        print(f"first call, compiling: {seconds(cache):5.1f} s")
        print(f"later process:         {min(seconds(cache) for _ in range(3)):5.2f} s")


if __name__ == "__main__":
    main()
