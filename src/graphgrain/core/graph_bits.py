"""Graphs as compact bit strings, about one byte per vertex for molecules.

A graph is written vertex by vertex, so that an edge to a recent vertex, the most common case, takes
a bit or two:

1. the number of vertices plus one, then a label code of fixed width for each vertex;
2. for every vertex, the number of its neighbours that precede it, plus one;
3. for each of these neighbours, nearest first, the difference to the previous number, and the code
   of the edge's label in fixed width.

Numbers without a fixed width are in Elias gamma code: as many zeros as the number has bits after
its first, then the number. Every graph starts at a byte boundary.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled

#: Number of bits after the first of the largest number that is read.
_LONGEST = 30


@compiled
def _put(stream, at, value, width):
    """Write the lowest ``width`` bits of a number, most significant first."""
    for bit in range(width - 1, -1, -1):
        if (value >> bit) & 1:
            stream[at >> 3] |= np.uint8(128 >> (at & 7))
        at += 1
    return at


@compiled
def _gamma_bits(value):
    width = 1
    while value >> width:
        width += 1
    return 2 * width - 1


@compiled
def _put_gamma(stream, at, value):
    width = (_gamma_bits(value) + 1) >> 1
    return _put(stream, at + width - 1, value, width)


@compiled
def _get(stream, at, width):
    value = 0
    for _ in range(width):
        value = (value << 1) | ((stream[at >> 3] >> (7 - (at & 7))) & 1)
        at += 1
    return value, at


@compiled
def _get_gamma(stream, at, end):
    """Return a number and its end; 0, which is not a valid code, if it exceeds ``end``."""
    zeros = 0
    while at < end and not (stream[at >> 3] >> (7 - (at & 7))) & 1:
        zeros += 1
        at += 1
    if zeros > _LONGEST or at + zeros >= end:
        return 0, at
    return _get(stream, at, zeros + 1)


@compiled
def pack_graphs(offsets, indptr, indices, labels, edge_labels, label_bits, edge_bits):
    """Encode every graph of a batch as bits: ``(bytes, starts)``.

    ``edge_labels`` has a code per entry of ``indices`` (any array if ``edge_bits`` is 0).
    """
    count = len(offsets) - 1
    starts = np.zeros(count + 1, dtype=np.int64)
    for g in range(count):
        base, end = offsets[g], offsets[g + 1]
        bits = _gamma_bits(end - base + 1) + (end - base) * label_bits
        for v in range(base, end):
            before, last = 0, v
            entry = indptr[v + 1] - 1
            while entry >= indptr[v]:
                if indices[entry] < v:
                    bits += _gamma_bits(last - indices[entry]) + edge_bits
                    last = indices[entry]
                    before += 1
                entry -= 1
            bits += _gamma_bits(before + 1)
        starts[g + 1] = starts[g] + ((bits + 7) >> 3)
    stream = np.zeros(starts[count], dtype=np.uint8)
    for g in range(count):
        base, end = offsets[g], offsets[g + 1]
        at = _put_gamma(stream, starts[g] << 3, end - base + 1)
        for v in range(base, end):
            at = _put(stream, at, labels[v], label_bits)
        for v in range(base, end):
            before = 0
            while indptr[v] + before < indptr[v + 1] and indices[indptr[v] + before] < v:
                before += 1
            at = _put_gamma(stream, at, before + 1)
            last = v
            for entry in range(indptr[v] + before - 1, indptr[v] - 1, -1):
                at = _put_gamma(stream, at, last - indices[entry])
                if edge_bits:
                    at = _put(stream, at, edge_labels[entry], edge_bits)
                last = indices[entry]
    return stream, starts


@compiled
def unpack_graphs(stream, starts, chosen, label_bits, labels_known, edge_bits, edge_labels_known):
    """Decode some graphs: ``(offsets, indptr, indices, labels, edge_labels, wrong)`` of a batch.

    The stream is validated: numbers must end within their graph, and vertices and label codes must
    be in range. ``wrong`` is -1, or the number of a damaged graph; the other results are then
    invalid.
    """
    count = len(chosen)
    nothing = np.zeros(0, dtype=np.int32)
    offsets = np.zeros(count + 1, dtype=np.int64)
    for i in range(count):
        begin, end = np.int64(starts[chosen[i]]) << 3, np.int64(starts[chosen[i] + 1]) << 3
        if begin > end or end > len(stream) << 3:
            return offsets, offsets, nothing, nothing, nothing, chosen[i]
        vertices, at = _get_gamma(stream, begin, end)
        # Every vertex takes its label and at least one more bit.
        if vertices == 0 or (vertices - 1) * (label_bits + 1) > end - at:
            return offsets, offsets, nothing, nothing, nothing, chosen[i]
        offsets[i + 1] = offsets[i] + vertices - 1
    total = offsets[count]
    labels = np.empty(total, dtype=np.int32)
    indptr = np.zeros(total + 1, dtype=np.int64)

    # The first pass validates and computes the degrees, the second fills in the neighbours.
    for i in range(count):
        end = np.int64(starts[chosen[i] + 1]) << 3
        at = _after_labels(stream, starts[chosen[i]], end, label_bits, labels, offsets[i])
        for v in range(offsets[i], offsets[i + 1]):
            before, at = _get_gamma(stream, at, end)
            if before == 0 or before - 1 > v - offsets[i] or labels[v] >= labels_known:
                return offsets, indptr, nothing, labels, nothing, chosen[i]
            last = v
            for _ in range(before - 1):
                step, at = _get_gamma(stream, at, end)
                at += edge_bits
                last -= step
                if step == 0 or last < offsets[i] or at > end:
                    return offsets, indptr, nothing, labels, nothing, chosen[i]
                indptr[last + 1] += 1
            indptr[v + 1] += before - 1
    for v in range(total):
        indptr[v + 1] += indptr[v]
    indices = np.empty(indptr[total], dtype=np.int32)
    edge_labels = np.empty(indptr[total] if edge_bits else 0, dtype=np.int32)
    fill = indptr[:-1].copy()
    for i in range(count):
        end = np.int64(starts[chosen[i] + 1]) << 3
        at = _after_labels(stream, starts[chosen[i]], end, label_bits, labels, offsets[i])
        for v in range(offsets[i], offsets[i + 1]):
            before, at = _get_gamma(stream, at, end)
            last = v
            # Stored nearest first, but ascending in the list; later vertices follow.
            for place in range(fill[v] + before - 2, fill[v] - 1, -1):
                step, at = _get_gamma(stream, at, end)
                last -= step
                indices[place], indices[fill[last]] = last, v
                if edge_bits:
                    code, at = _get(stream, at, edge_bits)
                    if code >= edge_labels_known:
                        return offsets, indptr, indices, labels, edge_labels, chosen[i]
                    edge_labels[place], edge_labels[fill[last]] = code, code
                fill[last] += 1
            fill[v] += before - 1
    return offsets, indptr, indices, labels, edge_labels, np.int64(-1)


@compiled
def _after_labels(stream, start, end, label_bits, labels, base):
    """Read the labels of a graph; return the position of its edges."""
    vertices, at = _get_gamma(stream, np.int64(start) << 3, end)
    for v in range(base, base + vertices - 1):
        labels[v], at = _get(stream, at, label_bits)
    return at
