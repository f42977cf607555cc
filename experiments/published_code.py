"""Tree++ side by side with the code published by its authors.

    git clone https://github.com/yeweiysh/TreePlusPlus
    python -m experiments.published_code TreePlusPlus [DATASET ...]

Both compute the Gram matrix of the same graphs at the same depths, in one process and on one
thread; CPU time is compared. The published code is not modified: renamed functions of NetworkX are
provided under their old names, and unused imports are replaced by empty modules. It needs NetworkX
and gensim.

Then the vertices of all graphs are renumbered at random, and the changed entries of both Gram
matrices are counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import graphgrain as gg
from graphgrain.core.threads import blas_threads

from .data import load_with_classes

SETS = ["MUTAG", "PTC_MM", "COX2_MD", "NCI1"]
#: The published code counts tree levels from 1.
PATH_DEPTH, TREE_DEPTH = 6, 3


def published(checkout: Path) -> ModuleType:
    """Import the module ``tree++`` of a checkout."""
    import networkx

    file = checkout / "code" / "tree++.py"
    if not file.is_file():
        raise SystemExit(f"There is no {file}; clone https://github.com/yeweiysh/TreePlusPlus.")
    if not hasattr(networkx, "from_numpy_matrix"):
        vars(networkx)["from_numpy_matrix"] = networkx.from_numpy_array
    for unused in ("sympy", "hdf5storage"):
        sys.modules.setdefault(unused, ModuleType(unused))
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location("published_tree_plus_plus", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_published(graphs: gg.GraphBatch) -> list[list[dict[str, np.ndarray]]]:
    """Convert graphs to the format of the published code: dense matrices and label columns."""
    made = []
    for graph in graphs:
        adjacency = np.zeros((graph.n_vertices, graph.n_vertices))
        adjacency[tuple(graph.edges.T)] = adjacency[tuple(graph.edges.T[::-1])] = 1.0
        made.append({"am": adjacency, "nl": graph.labels[:, np.newaxis]})
    return [made]


def renumbered(graphs: gg.GraphBatch, rng: np.random.Generator) -> gg.GraphBatch:
    """Return the graphs with their vertices in random order."""
    parts = []
    for graph in graphs:
        new = rng.permutation(graph.n_vertices)
        labels = np.empty_like(graph.labels)
        labels[new] = graph.labels
        parts.append((new[graph.edges], labels))
    return gg.as_graphs(parts)


def timed(function: Callable[[Any], Any], graphs: Any) -> tuple[float, Any]:
    """Return CPU seconds and the result."""
    start = time.process_time()
    result = function(graphs)
    return time.process_time() - start, result


def measure(name: str, module: ModuleType) -> list[str]:
    """Measure one row of the table."""
    kernel = gg.TreePlusPlus(PATH_DEPTH, TREE_DEPTH, similarity="dot", n_jobs=1)

    def theirs(graphs: Any) -> np.ndarray:
        levels = module.build_multiset(graphs, TREE_DEPTH + 1, PATH_DEPTH)
        return np.asarray(sum(level.T @ level for level in levels.values()).todense())

    graphs = load_with_classes(name)[0]
    other = renumbered(graphs, np.random.default_rng(0))
    kernel.fit_transform(graphs[:2])  # compiles
    with blas_threads(1):
        slow, before = timed(theirs, as_published(graphs))
        runs = [timed(kernel.fit_transform, graphs) for _ in range(5)]
        after = theirs(as_published(other))
    fast, ours = min(runs, key=lambda run: run[0])
    changed = [np.mean(before != after), np.mean(ours != kernel.fit_transform(other))]
    return [
        *(name, f"{len(graphs):,}", f"{slow:.1f}", f"{fast:.3f}", f"{slow / fast:,.0f}"),
        *(f"{100 * share:.1f} %" for share in changed),
    ]


def main() -> None:
    """Parse the arguments and print the table."""
    prog = "python -m experiments.published_code"
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    parser.add_argument("checkout", type=Path, help="folder of the published code")
    parser.add_argument("datasets", nargs="*", default=SETS, help="names of TU data sets")
    options = parser.parse_args()
    module = published(options.checkout)
    heads = ["set", "graphs", "published, s", "graphgrain, s", "times as fast"]
    heads += ["changed by renumbering: published", "graphgrain"]
    table = Table(*heads, title=f"Tree++, path_depth {PATH_DEPTH}, tree_depth {TREE_DEPTH}")
    for name in options.datasets:
        table.add_row(*measure(name, module))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
