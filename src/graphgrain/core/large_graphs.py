"""Tree++ patterns of one large graph, its roots divided among threads.

1. The graph is renumbered once; all threads read the same.
2. Trees: a search to ``tree_depth`` from every root.
3. Patterns: a search to ``path_depth`` from every root, a few roots at a time. Every thread counts
   in tables of its own, so that memory grows with the distinct patterns, not with the pairs.
4. The tables of all threads are joined.

Before 3 the number of distinct patterns is estimated: those of a sample of roots, and of a sample
twice as large, grow like a power of the number of roots, and so do those of all. Before 1 the whole
cost is estimated in the same way, with colours of colour refinement in place of the trees: they are
known in no time, and vertices of different colours have different trees, nearly always.
"""

from __future__ import annotations

from time import process_time

import numpy as np

from .hashing import mix
from .memory import require_memory
from .patterns import level_salt, search_trees, walk
from .refinement import refine
from .structures import Graphs
from .tables import Tables, count_into, make_tables, merge_into, read_out
from .threads import call, entry_point, run, stop_flag, thread_count
from .traversal import Options, Work, make_work, renumber

#: Most (root, vertex) pairs of a graph that are kept at once; a graph with more is large.
STORED_PAIRS = 1 << 20
#: Roots of the smaller sample.
_SAMPLE = 32
#: Bytes of one distinct pattern: in a hash table that grows, and in what is handed back.
_TABLE_BYTES, _OUTPUT_BYTES = 120, 16


def is_large(size: int) -> bool:
    """Whether the searches from all roots of a graph of this size are too many to be kept."""
    return size * size > STORED_PAIRS


@entry_point
def _tree_hashes(edge_hashes, options, first, last, work):
    """Hashes of the trees of some roots; one search is kept at a time."""
    for root in range(first, last):
        if work.stop[0]:
            return
        search_trees(
            edge_hashes, options, options.tree_depth, root, root + 1, work.graph, work.searches
        )


@entry_point
def _count_roots(edge_hashes, options, roots, work, tables):
    """Count the patterns of some roots, given the hashes of all trees; returns the tables."""
    graph, searches, patterns = work.graph, work.searches, work.patterns
    depth = max(options.path_depth, options.tree_depth)
    zero = np.int64(0)
    for root in roots:
        if work.stop[0]:
            return tables
        search_trees(edge_hashes, options, depth, root, root + 1, graph, searches)
        pairs = walk(edge_hashes, options, zero, root, root + 1, False, graph, searches, patterns)
        for level in range(options.tree_depth + 1):
            tables = count_into(tables, level, patterns.codes[level], pairs)
    return tables


@entry_point
def _read_level(tables, level):
    """The features of one level: hashes and counts. The table is emptied."""
    hashes = np.empty(tables.distinct[level], dtype=np.uint64)
    counts = np.empty(tables.distinct[level], dtype=np.int64)
    read_out(tables, level, hashes, counts, 0)
    salt = level_salt(level)
    for i in range(len(hashes)):
        hashes[i] = mix(hashes[i] + salt)
    return hashes, counts


class _LargeGraph:
    """The patterns of graph ``g``; each thread takes scratch arrays and tables of its own."""

    def __init__(
        self, graphs: Graphs, classes: np.ndarray, options: Options, g: int, n_jobs: int | None
    ) -> None:
        self.graphs, self.options, self.n_jobs = graphs, options, n_jobs
        self.work = make_work(graphs, options, stop_flag(), g, g + 1, one=True)
        self.n = call(
            renumber, graphs, classes, options.edges, g, self.work.graph, self.work.searches
        )
        self.g = g
        self.free: list[tuple[Work, Tables]] = []

    def _scratch(self) -> tuple[Work, Tables]:
        """Arrays that no other thread uses; the renumbered graph and the trees are shared."""
        if self.free:
            work, tables = self.free.pop()
            return work._replace(stop=stop_flag()), tables
        own = make_work(self.graphs, self.options, stop_flag(), self.g, self.g + 1, one=True)
        tables = call(make_tables, self.options.tree_depth + 1, 1024)
        return own._replace(graph=self.work.graph), tables

    def _ranges(self, roots: int) -> list[tuple[int, int]]:
        """Ranges of a number of roots, of at most some milliseconds each."""
        step = max(1, STORED_PAIRS // self.n)
        return [(begin, min(begin + step, roots)) for begin in range(0, roots, step)]

    def find_trees(self) -> None:
        def find(first: int, last: int) -> None:
            work, tables = self._scratch()
            _tree_hashes(self.graphs.edge_hashes, self.options, first, last, work)
            self.free.append((work, tables))

        run(find, self._ranges(self.n), self.n_jobs)

    def count(self, roots: np.ndarray) -> Tables:
        def add(first: int, last: int) -> None:
            work, tables = self._scratch()
            tables = _count_roots(
                self.graphs.edge_hashes, self.options, roots[first:last], work, tables
            )
            self.free.append((work, tables))

        run(add, self._ranges(len(roots)), self.n_jobs)
        work, tables = self.free.pop()
        while self.free:
            tables = call(merge_into, tables, self.free.pop()[1])
        self.free.append((work, call(make_tables, self.options.tree_depth + 1, 1024)))
        return tables

    def estimated_patterns(self, sample: np.ndarray) -> np.ndarray:
        """About how many different patterns there are at each level, by two samples of roots."""
        few = self.count(sample[: len(sample) // 2]).distinct.copy()
        twice = self.count(sample).distinct.copy()
        growth = np.log2(np.maximum(twice / np.maximum(few, 1), 1.0))
        return twice * (self.n / len(sample)) ** np.minimum(growth, 1.0)

    def sample(self) -> np.ndarray:
        return np.random.default_rng(0).permutation(self.n)[: 2 * _SAMPLE]

    def check_memory(self, threads: int) -> None:
        """Refuse graphs whose patterns will not fit."""
        if self.n <= 4 * _SAMPLE:
            return
        expected = self.estimated_patterns(self.sample())
        require_memory(
            _needed(expected, threads),
            f"About {expected.sum():.1e} different patterns of a graph with {self.n:,} vertices",
            "Use a smaller path_depth or tree_depth, or a kernel with fewer features such as "
            "WeisfeilerLehman",
        )


def _needed(patterns: np.ndarray, threads: int) -> float:
    """Bytes for so many different patterns at each level."""
    tables = threads * len(patterns) * patterns.max()  # those of all levels grow together
    return float(tables * _TABLE_BYTES + patterns.sum() * _OUTPUT_BYTES)


def estimate_large_graph(
    graphs: Graphs, classes: np.ndarray, options: Options, g: int, n_jobs: int | None
) -> tuple[float, float]:
    """Processor seconds and bytes that :func:`count_large_graph` will need, about."""
    graph = _LargeGraph(graphs, classes, options, g, 1)
    sample = graph.sample()
    work, tables = graph._scratch()
    graph.count(sample[:1])  # compiles
    trees_alone = options._replace(path_depth=0)
    start = process_time()
    _count_roots(graphs.edge_hashes, trees_alone, sample, work, tables)
    seconds = process_time() - start
    colours = refine(graphs, options.edges, options.tree_depth, g, g + 1)
    for level, colour in enumerate(colours[:, work.graph.vertex]):
        _spread_trees(work.graph.trees[:, level], colour, sample)
    start = process_time()
    graph.count(sample)
    seconds += process_time() - start
    patterns = graph.estimated_patterns(sample)
    return seconds / len(sample) * graph.n, _needed(patterns, thread_count(n_jobs))


def _spread_trees(trees: np.ndarray, colours: np.ndarray, roots: np.ndarray) -> None:
    """Give all vertices the tree of a root with their colour, or their colour itself."""
    known, first = np.unique(colours[roots], return_index=True)
    place = np.minimum(np.searchsorted(known, colours), len(known) - 1)
    of_roots = trees[roots[first]]
    trees[:] = np.where(known[place] == colours, of_roots[place], colours)


def count_large_graph(
    graphs: Graphs, classes: np.ndarray, options: Options, g: int, n_jobs: int | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Hashes and counts of the patterns of graph ``g``, one pair per level."""
    graph = _LargeGraph(graphs, classes, options, g, n_jobs)
    graph.find_trees()
    graph.check_memory(thread_count(n_jobs))
    tables = graph.count(np.arange(graph.n))
    return [_read_level(tables, level) for level in range(options.tree_depth + 1)]
