"""Large individual graphs: the cost of counting features.

``python -m benchmarks.large_graphs`` generates a path, a star, a random and a scale-free graph
(Barabasi and Albert), the last two with a given mean degree, of 10^4 and 10^5 vertices. In a
separate process it counts the features, for at most ``--seconds`` and if the memory is available.
Times are CPU seconds with precompiled code, "elapsed" is wall time; memory is the increase of the
process during counting.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from contextlib import suppress
from time import perf_counter, process_time

import numpy as np
from rich.console import Console
from rich.table import Table

import graphgrain as gg
from graphgrain.errors import NotEnoughMemoryError
from graphgrain.kernels.bases.feature_kernel import FeatureKernel
from graphgrain.kernels.registry import KERNELS

from .memory import own_peak, reset_peak

SHAPES = ["path", "star", "random", "scale-free"]
NAMES = ["tree++", "path-pattern", "wl", "wl-edge", "sp", "wl-sp", "nspdk", "graph-hopper"]


def make(shape: str, size: int, degree: int) -> gg.GraphBatch:
    """Generate a graph without labels."""
    rng = np.random.default_rng(0)
    later = np.arange(1, size)
    if shape == "path":
        edges = np.stack([later - 1, later], axis=1)
    elif shape == "star":
        edges = np.stack([np.zeros_like(later), later], axis=1)
    elif shape == "random":
        edges = rng.integers(0, size, (degree * size // 2, 2))
        edges = edges[edges[:, 0] != edges[:, 1]]
    else:  # a random end of a random edge is a vertex drawn in proportion to its degree
        each = degree // 2
        ends = np.zeros(2 * each * size, dtype=np.int64)
        for vertex in range(1, size):
            first = 2 * each * (vertex - 1)
            drawn = ends[rng.integers(0, max(1, first), each)]
            ends[first : first + 2 * each : 2] = vertex
            ends[first + 1 : first + 2 * each : 2] = drawn
        edges = ends[: 2 * each * (size - 1)].reshape(-1, 2)
    return gg.as_graphs([(np.unique(np.sort(edges, axis=1), axis=0), [0] * size)])


def kernel_of(options: argparse.Namespace) -> FeatureKernel:
    """Return the kernel selected by the options."""
    own: dict[str, object] = {"output": "features", "n_jobs": options.jobs}
    path_depth, tree_depth = options.depths
    if options.kernel in ("tree++", "path-pattern"):
        own["path_depth"] = path_depth
    if options.kernel == "tree++":
        own["tree_depth"] = tree_depth
    kernel = KERNELS[options.kernel].kernel(**own)
    assert isinstance(kernel, FeatureKernel)
    return kernel


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Return the measurement."""
    [shape], [size] = options.shapes, options.sizes
    graph = make(shape, size, options.degree)
    kernel = kernel_of(options)
    kernel.count_features(make(shape, 1200, options.degree))  # compiles
    row: dict[str, object] = {}
    before = reset_peak()
    start, clock = process_time(), perf_counter()
    try:
        counted = kernel.count_features(graph)
    except NotEnoughMemoryError:
        row["outcome"] = "refused"
    else:
        row["outcome"] = f"{sum(len(level.hashes) for level in counted):,} features"
        row["memory"] = (own_peak() - before) * 2**20
        row["elapsed"] = perf_counter() - clock
    row["measured"] = process_time() - start
    return row


def main() -> None:
    """Parse the arguments and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_graphs", description=__doc__)
    parser.add_argument("--kernel", choices=NAMES, default="tree++")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**4, 10**5])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--degree", type=int, default=4, help="mean degree, at least 2")
    parser.add_argument(
        "--depths",
        type=int,
        nargs=2,
        default=(6, 3),
        help="path and tree depth of Tree++ and path patterns",
    )
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="give up after this many seconds"
    )
    parser.add_argument("--one", action="store_true", help="print JSON for a single graph")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options)))
        return
    depths = f" {tuple(options.depths)}" if options.kernel in ("tree++", "path-pattern") else ""
    table = Table(
        title=f"{options.kernel}{depths}, mean degree {options.degree}, {options.jobs} thread(s)"
    )
    columns = {"measured": 1.0, "elapsed": 1.0, "memory": 2.0**30}
    heads = ["seconds", "elapsed s", "GiB"]
    for head in ["graph", "vertices", *heads, ""]:
        table.add_column(head, justify="right")
    for size in options.sizes:
        for shape in options.shapes:
            arguments = ["--one", "--kernel", options.kernel, "--shapes", shape]
            arguments += ["--sizes", str(size)]
            arguments += ["--depths", *map(str, options.depths), "--jobs", str(options.jobs)]
            arguments += ["--degree", str(options.degree)]
            command = [sys.executable, "-m", "benchmarks.large_graphs", *arguments]
            row = {"outcome": "not finished"}
            with suppress(subprocess.TimeoutExpired):
                done = subprocess.run(
                    command, stdout=subprocess.PIPE, text=True, check=True, timeout=options.seconds
                )
                row = json.loads(done.stdout)
            cells = [f"{row[n] / unit:,.3f}" if n in row else "" for n, unit in columns.items()]
            table.add_row(shape, f"{size:,}", *cells, row["outcome"])
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
