"""Stages of Tree++, compared with GraKeL's Weisfeiler-Lehman kernel and a plain search."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table

import graphgrain as gg

from .data import load
from .memory import peak_memory
from .stages import best_of_each, clock, stage_times

STAGES = ["centrality", "traversal", "hashing", "counting", "columns", "gram"]


def grakel_ratio(graphs: gg.GraphBatch, n_jobs: int, repeats: int) -> float:
    """Return the time of GraKeL's WL subtree kernel (n_iter=5) divided by that of Tree++.

    Both compute the Gram matrix from graphs, alternating and equally often; the best time of each
    is used. GraKeL's kernel has one thread only; ours has ``n_jobs``.
    """
    from grakel import Graph
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    made = []
    for graph in graphs:
        edges = [tuple(edge) for edge in graph.edges.tolist()]
        both = dict.fromkeys(edges + [edge[::-1] for edge in edges], 1)
        made.append(Graph(both, dict(enumerate(graph.labels.tolist()))))
    peer = WeisfeilerLehman(n_iter=5, normalize=True, base_graph_kernel=VertexHistogram)
    times = best_of_each(
        {
            "ours": lambda: gg.TreePlusPlus(n_jobs=n_jobs).fit_transform(graphs),
            "GraKeL": lambda: peer.fit_transform(made),
        },
        repeats,
        clock(n_jobs),
    )
    return times["GraKeL"] / times["ours"]


def measure(name: str, n_jobs: int, repeats: int, with_grakel: bool) -> dict[str, object]:
    """Measure one row of the table."""
    graphs = load(name)
    times = stage_times(graphs, n_jobs, repeats)
    row: dict[str, object] = {"set": name, "graphs": len(graphs), "n_jobs": n_jobs}
    row |= {f"{stage} (ms)": round(1000 * times[stage], 1) for stage in [*STAGES, "total"]}
    row["extraction / floor"] = round(times["extraction"] / times["floor"], 2)
    row["traversal / floor"] = round(times["traversal"] / times["floor"], 2)
    row["peak memory (MiB)"] = round(peak_memory("tree++", name, n_jobs))
    if with_grakel:
        row["GraKeL WL / Tree++"] = round(grakel_ratio(graphs, n_jobs, repeats), 1)
    return row


def main(names: list[str], n_jobs: int, repeats: int, with_grakel: bool, as_json: bool) -> None:
    """Print the table."""
    rows = [measure(name, n_jobs, repeats, with_grakel) for name in names]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = Table(title=f"Tree++ (path_depth 6, tree_depth 3, {n_jobs} threads), best of {repeats}")
    for column in rows[0]:
        table.add_column(column, justify="left" if column == "set" else "right")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=200).print(table)
    print(
        "extraction: centrality, traversal, hashing and counting; floor: a plain truncated BFS "
        "from the same roots, also compiled, with the same number of threads. With one thread all "
        "times are CPU times, which hardly depend on the load of the machine."
    )
