"""Balls: the vertices within a distance of a vertex."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled
from .structures import most_vertices
from .threads import entry_point


class Ball(NamedTuple):
    """Scratch arrays for one ball: its vertices, nearest first."""

    members: np.ndarray
    distance: np.ndarray  # distance of each member from the centre
    place: np.ndarray  # index of each vertex among the members, -1 for all others


@compiled
def make_ball(graphs, begin, end):
    """Allocate arrays for any ball of the graphs ``begin`` to ``end``."""
    most = max(1, most_vertices(graphs.offsets, begin, end))
    members, distance = np.empty((2, most), dtype=np.int64)
    return Ball(members, distance, np.full(most, -1, dtype=np.int64))


@compiled
def fill_ball(graphs, base, centre, radius, ball):
    """Collect the vertices within ``radius`` of the centre; return their number.

    Vertices are numbered from ``base``, the first of the graph. The ball must be empty.
    """
    indptr, indices = graphs.indptr, graphs.indices
    place, distance, members = ball.place, ball.distance, ball.members
    members[0] = centre
    distance[0] = 0
    place[centre] = 0
    count = 1
    head = 0
    while head < count and distance[head] < radius:
        v = base + members[head]
        for entry in range(indptr[v], indptr[v + 1]):
            w = indices[entry] - base
            if place[w] < 0:
                place[w] = count
                members[count] = w
                distance[count] = distance[head] + 1
                count += 1
        head += 1
    return count


@compiled
def empty_ball(ball, count):
    """Reset the ball for reuse."""
    for i in range(count):
        ball.place[ball.members[i]] = -1


@entry_point
def largest_ball(graphs, radius, begin, end):
    """Return the size of the largest ball of the graphs ``begin`` to ``end``."""
    ball = make_ball(graphs, begin, end)
    largest = 1
    for g in range(begin, end):
        base = graphs.offsets[g]
        for centre in range(graphs.offsets[g + 1] - base):
            count = fill_ball(graphs, base, centre, radius, ball)
            empty_ball(ball, count)
            largest = max(largest, count)
    return largest


@entry_point
def balls_of(graphs, g, radius):
    """Return the vertices within ``radius`` of each vertex of graph g.

    Row v starts with v and is padded with -1.
    """
    base = graphs.offsets[g]
    n = graphs.offsets[g + 1] - base
    ball = make_ball(graphs, g, g + 1)
    width = 1
    rows = np.empty((n, 1), dtype=np.int32)
    for sweep in range(2):  # count first, then fill
        if sweep:
            rows = np.full((n, width), -1, dtype=np.int32)
        for centre in range(n):
            count = fill_ball(graphs, base, centre, radius, ball)
            width = max(width, count)
            if sweep:
                rows[centre, :count] = ball.members[:count]
            empty_ball(ball, count)
    return rows


@entry_point
def pairs_within(graphs, radius, most, stop):
    """Count the pairs of vertices within a distance, -1 for any; stop above ``most``."""
    ball = make_ball(graphs, 0, len(graphs.offsets) - 1)
    pairs = 0
    for g in range(len(graphs.offsets) - 1):
        base, end = graphs.offsets[g], graphs.offsets[g + 1]
        for centre in range(end - base):
            if pairs > most or stop[0]:
                return pairs
            count = fill_ball(graphs, base, centre, radius if radius >= 0 else end - base, ball)
            empty_ball(ball, count)
            pairs += count
    return pairs
