"""Times of the stages of a Tree++ Gram matrix, and of a plain breadth-first search."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import graphgrain as gg
from graphgrain.core.compiling import compiled
from graphgrain.core.patterns import Options, make_work, renumber, search_trees
from graphgrain.core.patterns import walk as walk_patterns
from graphgrain.core.threads import chunks, entry_point, run, stop_flag


@compiled
def _searches(graphs, classes, options, work, begin, end, walk):
    """Run the traversals of all roots with their tree hashes, optionally with pattern hashing."""
    depth = max(options.path_depth, options.tree_depth)
    graph, searches, patterns = work.graph, work.searches, work.patterns
    zero = np.int64(0)
    pairs = 0
    for g in range(begin, end):
        n = renumber(graphs, classes, options.edges, g, graph, searches)
        search_trees(graphs.edge_hashes, options, depth, zero, n, graph, searches)
        if walk:
            pairs += walk_patterns(
                graphs.edge_hashes, options, zero, zero, n, True, graph, searches, patterns
            )
    return pairs


@entry_point
def bare_searches(graphs, depth, begin, end):
    """Run only a truncated breadth-first search from every vertex, as a lower bound.

    Returns the number of (root, vertex) pairs found in the graphs ``begin`` to ``end``.
    """
    offsets, indptr, indices = graphs.offsets, graphs.indptr, graphs.indices
    most = 0
    for g in range(begin, end):
        most = max(most, offsets[g + 1] - offsets[g])
    seen = np.zeros(most, dtype=np.int32)
    queue = np.empty(most, dtype=np.int32)
    pairs = 0
    stamp = 0
    for g in range(begin, end):
        base = offsets[g]
        for root in range(offsets[g + 1] - base):
            stamp += 1
            queue[0] = root
            seen[root] = stamp
            head = 0
            tail = 1
            for _ in range(depth):
                stop = tail
                while head < stop:
                    v = base + queue[head]
                    head += 1
                    for entry in range(indptr[v], indptr[v + 1]):
                        w = indices[entry] - base
                        if seen[w] != stamp:
                            seen[w] = stamp
                            queue[tail] = w
                            tail += 1
            pairs += tail
    return pairs


def best_of(function: Callable[[], Any], repeats: int) -> float:
    """Return the time of the fastest run, which is least affected by other processes."""
    return best_of_each({"": function}, repeats)[""]


def clock(n_jobs: int) -> Callable[[], float]:
    """Return the timer: CPU time with one thread, else wall time."""
    return time.process_time if n_jobs == 1 else time.perf_counter


def best_of_each(
    functions: dict[str, Callable[[], Any]],
    repeats: int,
    now: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the best times of several functions that alternate, so that load affects all."""
    times = dict.fromkeys(functions, float("inf"))
    for _ in range(repeats):
        for name, function in functions.items():
            start = now()
            function()
            times[name] = min(times[name], now() - start)
    return times


def stage_times(graphs: gg.GraphBatch, n_jobs: int, repeats: int) -> dict[str, float]:
    """Return the seconds of each stage with default depths, and of the plain searches."""
    kernel = gg.TreePlusPlus(n_jobs=n_jobs)
    ranges = chunks(graphs.vertex_counts)
    classes = kernel._centrality_classes(graphs)
    options = Options(kernel.path_depth, kernel.tree_depth, kernel.edge_labels)

    def search(begin: int, end: int, walk: bool) -> int:
        work = make_work(graphs.arrays, options, stop_flag(), begin, end)
        return _searches(graphs.arrays, classes, options, work, begin, end, walk)

    def searches(walk: bool) -> None:
        run(lambda begin, end: search(begin, end, walk), ranges, n_jobs)

    def floor() -> None:
        run(lambda a, b: bare_searches(graphs.arrays, kernel.path_depth, a, b), ranges, n_jobs)

    kernel.fit_transform(graphs)  # compiles
    searches(False), searches(True), floor()
    times = best_of_each(
        {
            "floor": floor,
            "centrality": lambda: kernel._centrality_classes(graphs),
            "traversal": lambda: searches(False),
            "walk": lambda: searches(True),
            "extraction": lambda: kernel.count_features(graphs),
            "fit": lambda: kernel.fit(graphs),
            "gram": kernel._gram_of_fitted,
        },
        repeats,
        clock(n_jobs),
    )
    times["hashing"] = max(times.pop("walk") - times["traversal"], 0.0)
    own = times["centrality"] + times["traversal"] + times["hashing"]
    times["counting"] = max(times["extraction"] - own, 0.0)
    times["columns"] = max(times.pop("fit") - times["extraction"], 0.0)
    times["total"] = times["extraction"] + times["columns"] + times["gram"]
    return times
