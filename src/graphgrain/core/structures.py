"""Named tuples of arrays used by compiled functions, and lookups in them.

``GraphBatch.arrays`` creates :class:`Graphs` once per batch; compiled functions take it as one
argument.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined


class Graphs(NamedTuple):
    """Many graphs as flat arrays; graph g has the vertices ``offsets[g]:offsets[g + 1]``."""

    offsets: np.ndarray
    indptr: np.ndarray  # neighbours of v: indices[indptr[v]:indptr[v + 1]], ascending
    indices: np.ndarray
    labels: np.ndarray  # label code of each vertex; codes are in label order
    label_hashes: np.ndarray  # hash of each code
    edge_labels: np.ndarray  # edge label code of each neighbour; a single zero if there are none
    edge_hashes: np.ndarray


class Csc(NamedTuple):
    """A sparse matrix in CSC form: column c has ``values[i]`` in row ``rows[i]``.

    The entries of column c are those from ``indptr[c]`` to ``indptr[c + 1]``, with ascending rows.
    """

    indptr: np.ndarray
    rows: np.ndarray
    values: np.ndarray


#: Graphs compared with graph i: all, those up to i, or only i.
ALL, LOWER, OWN = 0, 1, 2


@compiled
def partners(which, i, count):
    """Return the range of graphs that graph i is compared with, of ``count`` graphs."""
    return i if which == OWN else 0, count if which == ALL else i + 1


@compiled
def most_vertices(offsets, begin, end):
    """Return the largest number of vertices of the graphs ``begin`` to ``end``."""
    most = 0
    for g in range(begin, end):
        most = max(most, offsets[g + 1] - offsets[g])
    return most


@inlined
def find_key(sorted_keys, key):
    """Return the index of a key, or -1."""
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
    """Return the index of v among the sorted neighbours of u, or -1."""
    low, high = indptr[u], indptr[u + 1]  # find_key on a slice would be a third slower
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low if low < indptr[u + 1] and indices[low] == v else -1
