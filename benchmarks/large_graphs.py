"""Big single graphs: what an estimate says, and what counting the patterns then takes.

``python -m benchmarks.large_graphs`` makes a path, a star, a random graph (mean degree 4) and a
scale-free one (Barabasi and Albert, two edges for each new vertex) of 10^4 and 10^5 vertices, asks
``TreePlusPlus(...).estimate``, and then, in a process of its own, counts the features if the
estimate is below ``--seconds`` and the memory is there. Times are processor seconds with compiled
code at hand; memory is what the process holds beyond what it held before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table

import graphgrain as gg
from graphgrain.errors import NotEnoughMemoryError

from .memory import own_peak

SHAPES = ["path", "star", "random", "scale-free"]


def make(shape: str, size: int) -> gg.GraphBatch:
    """One graph without labels."""
    rng = np.random.default_rng(0)
    later = np.arange(1, size)
    if shape == "path":
        edges = np.stack([later - 1, later], axis=1)
    elif shape == "star":
        edges = np.stack([np.zeros_like(later), later], axis=1)
    elif shape == "random":
        edges = rng.integers(0, size, (2 * size, 2))
        edges = edges[edges[:, 0] != edges[:, 1]]
    else:  # an end of an edge drawn at random is a vertex drawn by its degree
        ends = np.zeros(4 * size, dtype=np.int64)
        for vertex in range(1, size):
            drawn = ends[rng.integers(0, max(1, 4 * (vertex - 1)), 2)]
            ends[4 * (vertex - 1) : 4 * vertex] = [vertex, drawn[0], vertex, drawn[1]]
        edges = ends[: 4 * (size - 1)].reshape(-1, 2)
    return gg.as_graphs([(np.unique(np.sort(edges, axis=1), axis=0), [0] * size)])


def kernel_of(name: str, path_depth: int, tree_depth: int) -> gg.GraphKernel:
    """The kernel that is asked."""
    if name == "tree++":
        return gg.TreePlusPlus(path_depth, tree_depth, output="features")
    return {"wl": gg.WeisfeilerLehman, "sp": gg.ShortestPath}[name](output="features")


def measure(shape: str, size: int, name: str, depths: tuple[int, int], limit: float) -> None:
    """Print the estimate and what was measured, as JSON."""
    graph = make(shape, size)
    kernel = kernel_of(name, *depths)
    kernel.count_features(make(shape, 1200))  # compiles
    row: dict[str, object] = {}
    if isinstance(kernel, gg.TreePlusPlus):
        start = process_time()
        estimate = kernel.estimate(graph)
        row = {"asking": process_time() - start, **estimate._asdict()}
        if estimate.seconds > limit:
            print(json.dumps({**row, "outcome": "not run"}))
            return
    before = own_peak()
    start = process_time()
    try:
        counted = kernel.count_features(graph)
    except NotEnoughMemoryError:
        row["outcome"] = "refused"
    else:
        row["outcome"] = f"{sum(len(level.hashes) for level in counted):,} features"
        row["memory"] = (own_peak() - before) * 2**20
    row["measured"] = process_time() - start
    print(json.dumps(row))


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_graphs", description=__doc__)
    parser.add_argument("--kernel", choices=["tree++", "wl", "sp"], default="tree++")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**4, 10**5])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--depths", type=int, nargs=2, default=(6, 3), help="of Tree++")
    parser.add_argument("--seconds", type=float, default=120.0, help="longest work to begin")
    parser.add_argument(
        "--one", action="store_true", help="print JSON for the first shape and size"
    )
    options = parser.parse_args()
    depths = tuple(options.depths)
    if options.one:
        measure(options.shapes[0], options.sizes[0], options.kernel, depths, options.seconds)
        return
    table = Table(title=f"{options.kernel}, one thread, processor seconds and GiB")
    for column in [
        "graph",
        "vertices",
        "asking",
        "estimate",
        "measured",
        "GiB",
        "GiB measured",
        "",
    ]:
        table.add_column(column, justify="right")
    for size in options.sizes:
        for shape in options.shapes:
            arguments = ["--one", "--kernel", options.kernel, "--shapes", shape]
            arguments += ["--sizes", str(size), "--seconds", str(options.seconds)]
            arguments += ["--depths", *map(str, depths)]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.large_graphs", *arguments],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            row = json.loads(done.stdout)

            def cell(name: str, unit: float = 1.0, row: dict[str, float] = row) -> str:
                return f"{row[name] / unit:,.2f}" if name in row else ""

            table.add_row(
                shape,
                f"{size:,}",
                cell("asking"),
                cell("seconds"),
                cell("measured"),
                cell("bytes", 2**30),
                cell("memory", 2**30),
                row["outcome"],
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
