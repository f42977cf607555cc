"""Find isomorphic graphs within a set.

1. Colour refinement: every vertex gets a colour from its label, and then repeatedly a new one
   from its own colour and those of its neighbours (64-bit hashes), until no colour class splits
   any more. Graphs with different colours are not isomorphic, which settles nearly all pairs.
2. For the others, search for an isomorphism: mark a vertex of the first graph, try each vertex
   of the same colour in the second, refine both and repeat until all colours are distinct. The
   mapping given by the colours is then checked edge by edge.
3. If the search finds a pair of different graphs with equal colours (regular graphs, for
   example), split the remaining candidates by a stronger invariant before trying more pairs: the
   refinements that start with one marked vertex, for all vertices.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..core.hashing import GOLDEN, mix_array, segment_sums
from ..core.refinement import refine_colours
from ..errors import GraphgrainWarning
from .batch import GraphBatch, replaced
from .convert.dispatch import as_graphs

_MARKED_ROUNDS = 12  # fixed: an invariant must not depend on when refinement becomes stable
_MARKED_CHUNK = 500_000  # vertices refined at a time in step 3
_FIRST_ROUNDS = 3  # enough to distinguish nearly all graphs
#: Budget for refining a set or a pair, in vertices times rounds (some seconds). Long paths need
#: as many rounds as they have vertices.
_WORK = 50_000_000


def duplicates(
    graphs: Any,
    *,
    vertex_labels: bool = True,
    edge_labels: bool = True,
    attributes: bool = False,
    decimals: int | None = None,
    max_steps: int = 10_000,
) -> list[list[int]]:
    """Group the duplicates: graphs that are isomorphic, with equal labels.

    Duplicates inflate accuracies if copies are in both the training and the test set. Graphs
    whose attributes are equal, too, are called identical: no method can tell them apart, so
    identical graphs of different classes limit the accuracy that can be reached. ``describe`` and
    ``graphgrain info`` count both; ``graphgrain evaluate --remove-duplicates`` removes duplicates.

    Parameters
    ----------
    graphs : GraphBatch or anything that :func:`as_graphs` accepts
    vertex_labels, edge_labels : bool, default=True
        Whether labels must agree.
    attributes : bool, default=False
        Group identical graphs: the attributes of vertices and edges, if any, must agree as well.
    decimals : int, optional
        Compare attributes after rounding them to this number of decimals.
    max_steps : int, default=10000
        Maximum number of search steps for a pair of graphs. Only specially constructed graphs
        need more; such a pair counts as different, with a warning.

    Returns
    -------
    groups : list of lists of int
        Indices of isomorphic graphs, one list per graph that occurs more than once, in order of
        first occurrence.

    Examples
    --------
    >>> import graphgrain as gg
    >>> path, same_path = ([(0, 1), (1, 2)], list("CCO")), ([(1, 0), (0, 2)], list("COC"))
    >>> gg.duplicates([path, ([(0, 1)], list("CO")), same_path])
    [[0, 2]]
    >>> cold, warm = (gg.GraphBatch.from_edges([1], [], vertex_attributes=[[t]]) for t in (5, 30))
    >>> gg.duplicates(cold + warm), gg.duplicates(cold + warm, attributes=True)
    ([[0, 1]], [])
    """
    batch = as_graphs(graphs)
    if not vertex_labels:
        batch = batch.with_labels(None)
    if not edge_labels:
        batch = replaced(batch, edge_label_codes=None, edge_label_table=None)
    if attributes or decimals is not None:
        batch = _with_attributes_in_labels(batch, decimals)
    batch = replaced(batch, vertex_attributes=None, edge_attributes=None)
    # A few rounds distinguish nearly all graphs; only the remaining ones are refined further.
    buckets = _coloured(batch, range(len(batch)), _FIRST_ROUNDS)
    similar = [number for bucket in buckets if len(bucket) > 1 for number in bucket]
    groups = []
    for bucket in _coloured(batch[similar], similar):
        groups += _grouped(batch, bucket, max_steps)
    return sorted(group for group in groups if len(group) > 1)


def differ_only_in_edge_labels(batch: GraphBatch) -> bool:
    """Return whether all graphs are duplicates of each other but for their edge labels."""
    if batch.edge_label_codes is None or len(batch) < 2 or not batch.n_edges:
        return False
    for sizes, codes in (
        (batch.vertex_counts, batch.label_codes),
        (batch.edge_counts, np.zeros(batch.n_edges)),
    ):
        if sizes.min() < sizes.max():
            return False
        rows = np.sort(codes.reshape(len(batch), -1), axis=1)
        if (rows != rows[0]).any():
            return False
    whole = [list(range(len(batch)))]
    alike = duplicates(batch, edge_labels=False, attributes=True)
    return alike == whole != duplicates(batch, attributes=True)


def _coloured(
    batch: GraphBatch, numbers: Iterable[int], rounds: int | None = None
) -> list[list[int]]:
    """Group the numbers of the graphs of a batch by size and colours."""
    colours = _refined(batch, _mixed(batch.label_codes), rounds)
    sums = segment_sums(_mixed(colours), batch.offsets)
    keys = zip(batch.vertex_counts.tolist(), batch.edge_counts.tolist(), sums.tolist(), strict=True)
    return _split(numbers, keys)


def _with_attributes_in_labels(batch: GraphBatch, decimals: int | None) -> GraphBatch:
    """Replace labels by codes that are equal if and only if labels and attributes are."""
    vertices, edges = batch.vertex_attributes, batch.edge_attributes
    if vertices is not None and vertices.size:
        codes = _joint_codes(batch.label_codes, vertices, decimals)
        batch = replaced(batch, label_codes=codes, label_table=np.arange(codes.max() + 1))
    if edges is not None and edges.size:
        old = batch.edge_label_codes
        codes = _joint_codes(np.zeros(len(edges)) if old is None else old, edges, decimals)
        table = np.arange(codes.max() + 1)
        batch = replaced(batch, edge_label_codes=codes, edge_label_table=table)
    return batch


def _joint_codes(codes: np.ndarray, values: np.ndarray, decimals: int | None) -> np.ndarray:
    if decimals is not None:
        values = np.round(values, decimals)
    rows = np.column_stack((codes, values + 0.0))  # -0.0 becomes 0.0
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _split(items: Iterable[int], keys: Iterable[Any]) -> list[list[int]]:
    buckets: dict[Any, list[int]] = {}
    for item, key in zip(items, keys, strict=True):
        buckets.setdefault(key, []).append(item)
    return list(buckets.values())


def _grouped(
    batch: GraphBatch, bucket: list[int], max_steps: int, marked: bool = False
) -> list[list[int]]:
    """Group isomorphic graphs among graphs whose colours agree."""
    groups: list[list[int]] = []
    for number in bucket:
        group = next((g for g in groups if _isomorphic(batch, g[0], number, max_steps)), None)
        if group is not None:
            group.append(number)
        elif groups and not marked and len(bucket) > 2:
            parts = _split(bucket, (_marked_invariant(batch, number) for number in bucket))
            return [group for part in parts for group in _grouped(batch, part, max_steps, True)]
        else:
            groups.append([number])
    return groups


# -------------------------------------------------------------------- colours


def _mixed(values: np.ndarray) -> np.ndarray:
    """Hash integers to 64 bits."""
    return mix_array(values.astype(np.uint64) + GOLDEN)


class _Work:
    """Remaining budget for refinement; stopping early gives coarser but valid colours."""

    def __init__(self) -> None:
        self.left = _WORK


def _refined(
    batch: GraphBatch, colours: np.ndarray, rounds: int | None = None, work: _Work | None = None
) -> np.ndarray:
    """Refine a colouring for some rounds, or until it is stable or the budget is used up."""
    edges = batch.edge_label_codes is not None
    for _ in range(rounds or 0):
        colours = refine_colours(batch.arrays, edges, colours)
    before, classes = -1, 0
    work = work or _Work()
    while rounds is None and before < classes < len(colours):
        work.left -= len(colours)
        if work.left < 0:
            break
        colours = refine_colours(batch.arrays, edges, colours)
        before, classes = classes, len(np.unique(colours))
    return colours


def _marked_invariant(batch: GraphBatch, number: int) -> int:
    """Combine the refinements that start with one marked vertex, for all vertices."""
    graph = batch[number]
    size, start = graph.n_vertices, _mixed(graph.label_codes)
    total = 0
    step = max(1, _MARKED_CHUNK // max(size, 1))
    for begin in range(0, size, step):
        marked = np.arange(begin, min(begin + step, size))
        copies = graph[np.zeros(len(marked), dtype=np.int64)]
        colours = np.tile(start, len(marked))
        chosen = np.arange(len(marked)) * size + marked
        colours[chosen] = _mixed(colours[chosen])
        colours = _refined(copies, colours, _MARKED_ROUNDS)
        total += sum(_mixed(segment_sums(_mixed(colours), copies.offsets)).tolist())
    return total % 2**64


# -------------------------------------------------------------------- search


def _isomorphic(batch: GraphBatch, first: int, second: int, max_steps: int) -> bool:
    """Return whether two graphs of a batch are isomorphic."""
    pair = batch[[first, second]]
    if pair[0] == pair[1]:
        return True
    work = _Work()
    colours = _refined(pair, _mixed(pair.label_codes), work=work)
    if not _agree(colours):
        return False
    steps = 0
    stack = [iter([colours])]
    while stack:
        colours_now = next(stack[-1], None)
        if colours_now is None:
            stack.pop()
            continue
        steps += 1
        if steps > max_steps or work.left < 0:
            limit = (
                f"{max_steps} steps; they count as different. Raise max_steps to search on."
                if steps > max_steps
                else "reasonable time: they are large. They count as different."
            )
            warnings.warn(
                f"Whether the graphs {first} and {second} are isomorphic could not be decided in "
                f"{limit}",
                GraphgrainWarning,
                stacklevel=4,
            )
            return False
        colours_now = _numbered_twins(pair, colours_now, work)
        left = colours_now[: len(colours_now) // 2]
        if len(np.unique(left)) == len(left):
            if _is_isomorphism(pair, colours_now):
                return True
        else:
            stack.append(_branches(pair, colours_now, work))
    return False


def _agree(colours: np.ndarray) -> bool:
    """Return whether both halves have the same multiset of colours."""
    left, right = np.split(colours, 2)
    return np.array_equal(np.sort(left), np.sort(right))


def _branches(pair: GraphBatch, colours: np.ndarray, work: _Work) -> Iterator[np.ndarray]:
    """Mark a vertex of the first graph and, in turn, each candidate for its image."""
    left, right = np.split(colours, 2)
    values, counts = np.unique(left, return_counts=True)
    several = counts > 1
    colour = values[several][np.argmin(counts[several])]
    vertex = np.flatnonzero(left == colour)[0]
    mark = _mixed(np.array([colour]))[0]
    for image in np.flatnonzero(right == colour) + len(left):
        marked = colours.copy()
        marked[[vertex, image]] = mark
        refined = _refined(pair, marked, work=work)
        if _agree(refined):
            yield refined


def _numbered_twins(pair: GraphBatch, colours: np.ndarray, work: _Work) -> np.ndarray:
    """Give twins, vertices of one colour with the same neighbours, different colours at once.

    Twins are recognised by their neighbours' colours being unique. Any matching between twins is
    valid, so no alternatives need to be tried; without this, stars would take very long.
    """
    half = len(colours) // 2
    side = np.repeat(np.array([0, 1], dtype=np.uint64), half)
    _, inverse, counts = np.unique(_mixed(colours) + side, return_inverse=True, return_counts=True)
    alone = counts[inverse.reshape(-1)] == 1
    others = segment_sums((~alone[pair.indices]).astype(np.uint64), pair.indptr)
    twins = np.flatnonzero(~alone & (others == 0))
    if not twins.size:
        return colours
    order = twins[np.lexsort((twins, colours[twins], side[twins]))]
    kind = inverse.reshape(-1)[order]
    begins = np.flatnonzero(np.r_[True, kind[1:] != kind[:-1]])
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)]))
    numbered = colours.copy()
    numbered[order] = _mixed(numbered[order] + _mixed(rank))
    return _refined(pair, numbered, work=work)


def _is_isomorphism(pair: GraphBatch, colours: np.ndarray) -> bool:
    """Return whether mapping vertices by colour preserves labels, edges and edge labels."""
    half = len(colours) // 2
    left, right = np.argsort(colours[:half]), np.argsort(colours[half:])
    image = np.empty(half, dtype=np.int64)
    image[left] = right + half
    if not np.array_equal(pair.label_codes[:half], pair.label_codes[image]):
        return False
    entries = len(pair.indices) // 2
    source = pair.sources
    mapped = np.column_stack((image[source[:entries]], image[pair.indices[:entries]]))
    second_edges = np.column_stack((source[entries:], pair.indices[entries:]))
    order = np.lexsort((mapped[:, 1], mapped[:, 0]))
    if not np.array_equal(mapped[order], second_edges):
        return False
    codes = pair.edge_label_codes
    return codes is None or np.array_equal(codes[:entries][order], codes[entries:])
