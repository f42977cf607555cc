"""The named structures of arrays that compiled functions read, and what is often asked of them.

``GraphBatch.arrays`` makes :class:`Graphs` once for a batch; every compiled function that looks
at graphs takes it whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined


class Graphs(NamedTuple):
    """Many graphs as flat arrays; graph g owns the vertices ``offsets[g]:offsets[g + 1]``."""

    offsets: np.ndarray
    indptr: np.ndarray  # neighbours of v: indices[indptr[v]:indptr[v + 1]], ascending
    indices: np.ndarray
    labels: np.ndarray  # label code of each vertex; codes are in the order of the labels
    label_hashes: np.ndarray  # hash of each code
    edge_labels: np.ndarray  # edge label code of each neighbour; one zero if there are none
    edge_hashes: np.ndarray


class Csc(NamedTuple):
    """A sparse matrix by columns: column c has ``values[i]`` in row ``rows[i]``.

    Its entries are those from ``indptr[c]`` to ``indptr[c + 1]``, rows ascending.
    """

    indptr: np.ndarray
    rows: np.ndarray
    values: np.ndarray


#: Which graphs are compared with graph i of a row: all, those up to i, or i alone.
ALL, LOWER, OWN = 0, 1, 2


@compiled
def partners(which, i, count):
    """The first graph that graph i is compared with, and the end; ``count`` are there."""
    return i if which == OWN else 0, count if which == ALL else i + 1


@compiled
def most_vertices(offsets, begin, end):
    """Most vertices that one of the graphs ``begin`` to ``end`` has."""
    most = 0
    for g in range(begin, end):
        most = max(most, offsets[g + 1] - offsets[g])
    return most


@inlined
def find_key(sorted_keys, key):
    """The place of a key, or -1."""
    low, high = 0, len(sorted_keys)
    while low < high:
        middle = (low + high) >> 1
        if sorted_keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(sorted_keys) and sorted_keys[low] == key else -1


@compiled
def entry_between(indptr, indices, u, v):
    """Where v stands among the sorted neighbours of u, or -1."""
    low, high = indptr[u], indptr[u + 1]  # no slice for find_key: it takes a third longer
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low if low < indptr[u + 1] and indices[low] == v else -1
