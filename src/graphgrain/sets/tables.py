"""The counts of patterns and fragments in both sets, as tables to be tested.

1. Patterns are those of the graphs in the Gram matrix; other graphs are counted in these columns.
2. Above a number of graphs, they are dealt at random into rows of equally many: the means of such
   rows are exchangeable, too, and memory does not grow with the number of graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, vstack

from ..explaining.fragments import cut
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from .patterns import PatternTable
from .permutations import signed_sets

if TYPE_CHECKING:
    from .comparison import SetComparison

#: Up to this number of graphs, each is a row of the table.
_MOST_ROWS = 25_000
#: Rows of each set for more graphs.
_ROWS = 250


def pattern_table(test: SetComparison) -> PatternTable:
    """Return the table of the patterns of all kernels that have them."""
    terms = [term for term in test.total.terms if isinstance(term.kernel, FeatureKernel)]
    widths = [term.matrix.shape[1] for term in terms]
    ends = np.cumsum([0, *widths])

    def count(batch: GraphBatch) -> csr_array:
        return csr_array(hstack([term.columns_of(batch) for term in terms], format="csr"))

    def name(column: int) -> str:
        number = int(np.searchsorted(ends, column, side="right") - 1)
        return terms[number].name(column - int(ends[number]))

    return _table(test, count, name)


def fragment_table(test: SetComparison) -> PatternTable:
    """Return the table of the rings and functional groups of molecules."""
    columns: dict[str, int] = {}

    def count(batch: GraphBatch) -> csr_array:
        counted = [[part.name for part in cut(graph)] for graph in batch]
        numbers = [columns.setdefault(name, len(columns)) for names in counted for name in names]
        indptr = np.cumsum([0, *(len(names) for names in counted)])
        ones = np.ones(len(numbers))
        matrix = csr_array((ones, numbers, indptr), shape=(len(batch), len(columns)))
        matrix.sum_duplicates()
        return matrix

    return _table(test, count, lambda column: list(columns)[column])


def _table(
    test: SetComparison,
    count: Callable[[GraphBatch], csr_array],
    name: Callable[[int], str],
) -> PatternTable:
    sizes = len(test.graphs[0]), len(test.graphs[1])
    second = np.arange(sum(sizes)) >= sizes[0]
    units = np.concatenate(test.groups)
    if sum(sizes) <= _MOST_ROWS:
        values = _stacked([count(graphs) for graphs in test.graphs])
        presence = csr_array(values.sign())
        support = np.bincount(presence.indices, minlength=presence.shape[1])
    else:
        rows = [_deal(group, test.settings.random_state) for group in test.groups]
        parts = [
            _row_means(graphs, row, count) for graphs, row in zip(test.graphs, rows, strict=True)
        ]
        values, presence = (_stacked([part[kind] for part in parts]) for kind in (0, 1))
        counts = np.concatenate([np.bincount(row) for row in rows])
        support = np.asarray(presence.T @ counts).round().astype(np.int64)
        second = np.repeat([False, True], [len(part[0].indptr) - 1 for part in parts])
        units = np.arange(len(second))
    settings = test.settings
    signs = signed_sets(second, units, settings.permutations, settings.random_state)
    tables = csc_array(presence), csc_array(values)
    return PatternTable(*tables, support, sizes, signs, units, name)


def _stacked(parts: list[csr_array]) -> csr_array:
    """Stack matrices, of which the later may have more columns."""
    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize(part.shape[0], width)
    return csr_array(vstack(parts, format="csr"))


def _deal(groups: np.ndarray, seed: int | None) -> np.ndarray:
    """Deal whole groups at random to rows."""
    _, group = np.unique(groups, return_inverse=True)
    row = np.random.default_rng(seed).permutation(group.max() + 1) % min(_ROWS, group.max() + 1)
    return row[group]


def _row_means(
    graphs: GraphBatch, rows: np.ndarray, count: Callable[[GraphBatch], csr_array]
) -> tuple[csr_array, csr_array]:
    """Return the mean counts, and the shares, of the graphs of each row."""
    counts: list[csr_array] = []
    shares: list[csr_array] = []
    for row in range(rows.max() + 1):
        members = np.flatnonzero(rows == row)
        matrix = count(graphs[members])
        for means, part in ((counts, matrix), (shares, matrix.sign())):
            means.append(csr_array(part.sum(axis=0)[np.newaxis] / len(members)))
    return _stacked(counts), _stacked(shares)
