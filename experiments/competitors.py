"""Speed of other kernels, side by side with GraKeL where it has them.

``python -m experiments.competitors [DATASET ...]``. Both libraries compute the same normalised
Gram matrix of the same graphs with the same parameters in one process, equally often, and the best
time of each is used: CPU time with one thread, which hardly depends on the load of the machine, and
wall time otherwise. Input graphs of both are prepared beforehand. BLAS has one thread. Kernels
without a counterpart that finishes are listed with their time only. Memory is the peak of a fresh
process. Each row is also printed as soon as it is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import graphgrain as gg
from benchmarks.memory import peak_memory
from benchmarks.stages import clock
from graphgrain.core.threads import blas_threads
from graphgrain.kernels.registry import KERNELS

from .data import load_with_classes

SETS = ["PTC_MM", "PROTEINS", "NCI1"]

#: Our parameters, and the class and parameters of the same kernel in GraKeL.
PEERS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "wl": ({"n_iter": 5}, "WeisfeilerLehman", {"n_iter": 5}),
    "sp": ({}, "ShortestPath", {}),
    "pm": ({"dimension": 6, "depth": 3, "form": "grakel"}, "PyramidMatch", {"d": 6, "L": 4}),
    "propa": (
        {"n_iter": 4, "bin_width": 0.01},
        "Propagation",
        {"t_max": 5, "w": 0.01, "random_state": 0},
    ),
    "vertex-histogram": ({}, "VertexHistogram", {}),
    "edge-histogram": ({"vertex_labels": False}, "EdgeHistogram", {}),  # edges have one label
    "mlg": ({"n_levels": 2}, "MultiscaleLaplacian", {"L": 2, "random_state": 0}),
    "wl-oa": ({"n_iter": 5}, "WeisfeilerLehmanOptimalAssignment", {"n_iter": 5}),
    "wl-sp": (
        {"n_iter": 2},
        "WeisfeilerLehman",
        {"n_iter": 2, "base_graph_kernel": "ShortestPath"},
    ),
    "random-walk": ({"decay": 0.001}, "RandomWalkLabeled", {"lamda": 0.001}),
    "nspdk": (
        {"radius": 3, "distance": 4},
        "NeighborhoodSubgraphPairwiseDistance",
        {"r": 3, "d": 4},
    ),
    "graph-hopper": ({}, "GraphHopper", {"kernel_type": "linear"}),
}
#: GraKeL would take hours for these, so both use the first graphs only.
PART = {"mlg": 20, "random-walk": 100, "graph-hopper": 60, "nspdk": 200, "wl-sp": 300, "wl-oa": 500}
NAMES = ["wl", "sp", "pm", "propa", "mlg", "dgk", "retgk", "fgsd"]
NAMES += ["wl-oa", "wl-sp", "wl-edge", "wwl", "graphlet", "nspdk", "graph-hopper", "random-walk"]
NAMES += ["marginalized", "subtree-patterns", "tree-patterns", "netlsd", "gik", "dm"]
NAMES += ["vertex-histogram", "edge-histogram"]
#: Kernels of ours that are expensive for each pair of graphs.
PAIRWISE = {"random-walk", "marginalized", "subtree-patterns", "tree-patterns"}
MOST_PAIRWISE = 300


def grakel_graphs(graphs: gg.GraphBatch, kind: str) -> list[Any]:
    """Convert graphs to GraKeL's format, with both directions of every edge."""
    from grakel import Graph

    one_hot = np.eye(len(graphs.label_table))
    made = []
    for graph in graphs:
        edges = [tuple(edge) for edge in graph.edges.tolist()]
        both = dict.fromkeys(edges + [edge[::-1] for edge in edges], 1)
        labels = dict(enumerate(graph.labels.tolist()))
        if kind in ("MultiscaleLaplacian", "GraphHopper"):  # require vectors
            labels = dict(enumerate(one_hot[graph.label_codes].tolist()))
        made.append(Graph(both, labels, dict.fromkeys(both, 0)))
    return made


def grakel_seconds(
    graphs: gg.GraphBatch, kind: str, parameters: dict[str, Any], n_jobs: int, repeats: int
) -> float:
    """Return the best time of GraKeL's kernel, with new graph objects in every run."""
    import grakel.kernels

    best = float("inf")
    parameters = {
        name: getattr(grakel.kernels, value) if name == "base_graph_kernel" else value
        for name, value in parameters.items()
    }
    for _ in range(repeats):
        made = grakel_graphs(graphs, kind)
        kernel = getattr(grakel.kernels, kind)(normalize=True, **parameters)
        with warnings.catch_warnings(), blas_threads(1):
            warnings.simplefilter("ignore")  # complex eigenvectors and similar
            start = clock(n_jobs)()
            kernel.fit_transform(made)
            best = min(best, clock(n_jobs)() - start)
    return best


def our_seconds(kernel: Any, graphs: gg.GraphBatch, repeats: int) -> float:
    """Return the best time of our kernel, compiled beforehand."""
    kernel.fit_transform(graphs[:8])
    best = float("inf")
    for _ in range(repeats):
        start = clock(kernel.n_jobs)()
        kernel.fit_transform(graphs)
        best = min(best, clock(kernel.n_jobs)() - start)
    return best


def measure(
    name: str, data_set: str, n_jobs: int, repeats: int, with_grakel: bool, with_memory: bool
) -> dict[str, Any]:
    """Measure one row of the table."""
    graphs = load_with_classes(data_set)[0]
    if name in PAIRWISE:
        graphs, with_memory = graphs[:MOST_PAIRWISE], False
    entry = KERNELS[name]
    row: dict[str, Any] = {"set": data_set, "kernel": entry.title, "graphs": len(graphs)}
    row |= dict.fromkeys(("seconds", "MiB", "GraKeL / ours", "compared on"))
    try:
        row["seconds"] = our_seconds(entry.kernel(n_jobs=n_jobs), graphs, repeats)
    except gg.errors.InvalidGraphError:  # degrees too high for tree patterns
        row["seconds"] = "refused"
        return row
    row["MiB"] = round(peak_memory(name, data_set, n_jobs)) if with_memory else None
    if with_grakel and name in PEERS:
        ours, kind, theirs = PEERS[name]
        part = graphs[: PART.get(name, len(graphs))]
        seconds = our_seconds(entry.kernel(n_jobs=n_jobs, **ours), part, repeats)
        row["GraKeL / ours"] = grakel_seconds(part, kind, theirs, n_jobs, repeats) / seconds
        row["compared on"] = len(part)
    return row


def texts(row: dict[str, Any]) -> list[str]:
    """Format the values of a row."""
    return [
        "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)
        for value in row.values()
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Parse the arguments and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.competitors", description=__doc__)
    parser.add_argument("datasets", nargs="*", default=SETS, help="names of TU data sets")
    parser.add_argument("--kernels", nargs="+", default=NAMES, choices=sorted(KERNELS))
    parser.add_argument("--jobs", type=int, default=1, help="our threads (default: 1)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each; the best counts")
    parser.add_argument("--without-grakel", action="store_true", help="skip the slow comparison")
    parser.add_argument(
        "--without-memory", action="store_true", help="skip the memory measurements"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(argv)
    rows = []
    for data_set in options.datasets:
        for name in options.kernels:
            row = measure(
                name,
                data_set,
                options.jobs,
                options.repeats,
                not options.without_grakel,
                not options.without_memory,
            )
            print(" ".join(texts(row)), file=sys.stderr, flush=True)
            rows.append(row)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    table = Table(title=f"Gram matrices, default parameters, {options.jobs} thread(s)")
    for column in rows[0]:
        table.add_column(column, justify="left" if column in ("set", "kernel") else "right")
    for row in rows:
        table.add_row(*texts(row))
    Console(width=120).print(table)
    print("GraKeL / ours: ratio of times with equal parameters, on the number of graphs shown.")


if __name__ == "__main__":
    main()
