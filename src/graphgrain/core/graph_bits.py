"""Graphs as short strings of bits, about one byte per vertex for molecules.

A graph is written vertex by vertex, so that an edge to a vertex shortly before, which is what
most edges of most graphs are, takes a bit or two:

1. the number of vertices (plus one), then a label code of fixed width for each of them;
2. for every vertex, how many of its neighbours come before it (plus one);
3. for each of these neighbours, the nearest first, the step down to it, and the code of the
   edge's label in fixed width.

Numbers without a fixed width are in Elias' gamma code: as many zeros as the number has bits
after its first, then the number. Every graph begins at a byte of its own.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled

#: Binary digits of the largest number that is read, without the first.
_LONGEST = 30


@compiled
def _put(stream, at, value, width):
    """Write the lowest ``width`` bits of a number, the highest of them first."""
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
    """A number and where it ends; 0, which the code does not have, if it ends behind ``end``."""
    zeros = 0
    while at < end and not (stream[at >> 3] >> (7 - (at & 7))) & 1:
        zeros += 1
        at += 1
    if zeros > _LONGEST or at + zeros >= end:
        return 0, at
    return _get(stream, at, zeros + 1)


@compiled
def pack_graphs(offsets, indptr, indices, labels, edge_labels, label_bits, edge_bits):
    """The bits of every graph of a batch: ``(bytes, starts)``.

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
    """The chosen graphs: ``(offsets, indptr, indices, labels, edge_labels, wrong)`` of a batch.

    Nothing in the stream is taken on trust: numbers end where their graph does, vertices and
    codes of labels are in range. Otherwise ``wrong`` is the number of a graph that is damaged, and
    the rest is of no use; else it is -1.
    """
    count = len(chosen)
    nothing = np.zeros(0, dtype=np.int32)
    offsets = np.zeros(count + 1, dtype=np.int64)
    for i in range(count):
        begin, end = np.int64(starts[chosen[i]]) << 3, np.int64(starts[chosen[i] + 1]) << 3
        if begin > end or end > len(stream) << 3:
            return offsets, offsets, nothing, nothing, nothing, chosen[i]
        vertices, at = _get_gamma(stream, begin, end)
        # Every vertex takes its label and at least one bit more.
        if vertices == 0 or (vertices - 1) * (label_bits + 1) > end - at:
            return offsets, offsets, nothing, nothing, nothing, chosen[i]
        offsets[i + 1] = offsets[i] + vertices - 1
    total = offsets[count]
    labels = np.empty(total, dtype=np.int32)
    indptr = np.zeros(total + 1, dtype=np.int64)

    # Once for the degrees, with all checks; once for the neighbours.
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
            # Nearest first on the way in, ascending in the list; later vertices then follow.
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
    """Read the labels of a graph; where its edges begin."""
    vertices, at = _get_gamma(stream, np.int64(start) << 3, end)
    for v in range(base, base + vertices - 1):
        labels[v], at = _get(stream, at, label_bits)
    return at
