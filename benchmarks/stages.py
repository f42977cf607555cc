"""The stages of a Tree++ Gram matrix, timed one by one, and the floor below them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import graphgrain as gg
from graphgrain.core.compiling import compiled
from graphgrain.core.patterns import STORED_PAIRS, _search, _walk
from graphgrain.core.threads import chunks, run
from graphgrain.core.traversal import bare_searches, renumber


@compiled
def _searches(
    offsets, indptr, indices, labels, label_hashes, classes, edge_codes, edge_hashes, edges,
    weights, path_depth, tree_depth, work, begin, end, walk,
):  # fmt: skip
    """Traversals of all roots with their tree hashes, and the walks over them if asked for."""
    levels = tree_depth + 1
    most = len(work.vertex)
    hashes = np.empty(most, dtype=np.uint64)
    trees = np.empty((most, levels), dtype=np.uint64)
    scratch = np.empty((3, most * levels), dtype=np.uint64)
    codes = np.empty((levels, len(work.order)), dtype=np.uint64)
    depth = max(path_depth, tree_depth)
    stamp = np.int64(1)
    pairs = 0
    for g in range(begin, end):
        base = offsets[g]
        n = offsets[g + 1] - base
        renumber(indptr, indices, base, n, labels, classes, edge_codes, edges, work)
        for v in range(n):
            hashes[v] = label_hashes[labels[base + work.vertex[v]]]
        block = len(work.order) // n if n else 1
        for first in range(0, n, block):
            last = min(first + block, n)
            _search(
                first, last, stamp, depth, tree_depth, edges, hashes, edge_hashes, weights, work,
                trees,
            )  # fmt: skip
            if walk:
                pairs += _walk(
                    first, last, path_depth, edges, edge_hashes, trees, False, work, scratch, codes
                )
        stamp += n
    return pairs


def best_of(function: Callable[[], Any], repeats: int) -> float:
    """Shortest of several runs, in seconds: the one least disturbed by other processes."""
    return best_of_each({"": function}, repeats)[""]


def best_of_each(functions: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The same for several functions that take turns, so that a busy moment hits them all."""
    times = dict.fromkeys(functions, float("inf"))
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def stage_times(graphs: gg.GraphBatch, n_jobs: int, repeats: int) -> dict[str, float]:
    """Seconds of each stage with the default depths, and of the bare searches."""
    kernel = gg.TreePlusPlus(n_jobs=n_jobs)
    ranges = chunks(graphs.vertex_counts)
    arguments = kernel._core_arguments(graphs)
    depth = max(kernel.path_depth, kernel.tree_depth)

    def searches(walk: bool) -> None:
        run(
            lambda begin, end: _searches(
                *arguments,
                kernel.path_depth,
                kernel.tree_depth,
                kernel._work(graphs, begin, end, depth, STORED_PAIRS),
                begin,
                end,
                walk,
            ),
            ranges,
            n_jobs,
        )

    def floor() -> None:
        run(
            lambda begin, end: bare_searches(
                graphs.offsets, graphs.indptr, graphs.indices, kernel.path_depth, begin, end
            ),
            ranges,
            n_jobs,
        )

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
    )
    times["hashing"] = max(times.pop("walk") - times["traversal"], 0.0)
    own = times["centrality"] + times["traversal"] + times["hashing"]
    times["counting"] = max(times["extraction"] - own, 0.0)
    times["columns"] = max(times.pop("fit") - times["extraction"], 0.0)
    times["total"] = times["extraction"] + times["columns"] + times["gram"]
    return times
