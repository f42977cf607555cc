"""Sums of exp(-||x - y|| / sigma) over the points of pairs of graphs.

The points of one side are stored in tiles of ``WIDTH``, coordinates first, so that the inner loop
over the points of a tile is vectorised. A tile stays in the cache while all points of the other
side are processed.
"""

from __future__ import annotations

import numpy as np

from .threads import entry_point

WIDTH = 64


def tiled(points: np.ndarray) -> np.ndarray:
    """Return points (rows) as tiles: array (tiles, coordinates, ``WIDTH``), padded with zeros."""
    count, dimension = points.shape
    tiles = -(-count // WIDTH)
    padded = np.zeros((tiles * WIDTH, dimension))
    padded[:count] = points
    return np.ascontiguousarray(padded.reshape(tiles, WIDTH, dimension).transpose(0, 2, 1))


@entry_point
def add_similarities(points, owners, tiles, tile_owners, sigma, lower, K, begin, end, stop):
    """Add to ``K[g, h]`` the sum over the points of g (from ``begin`` to ``end``) and of h.

    ``owners`` and ``tile_owners`` are the graphs of the points, ascending. With ``lower`` only
    h <= g is filled.
    """
    dimension = points.shape[1]
    squares = np.empty(WIDTH)
    for t in range(len(tiles)):
        first = t * WIDTH
        count = min(WIDTH, len(tile_owners) - first)
        tile = tiles[t]
        for i in range(begin, end):
            if stop[0]:
                return
            g = owners[i]
            if lower and tile_owners[first] > g:
                continue
            for j in range(WIDTH):
                squares[j] = 0.0
            for d in range(dimension):
                x = points[i, d]
                for j in range(WIDTH):
                    gap = x - tile[d, j]
                    squares[j] += gap * gap
            for j in range(count):
                h = tile_owners[first + j]
                if lower and h > g:
                    break
                K[g, h] += np.exp(-np.sqrt(squares[j]) / sigma)


@entry_point
def own_similarities(points, owners, sigma, sums, stop):
    """Add to ``sums[g]`` the sum over all ordered pairs of points of g; owners ascend."""
    count, dimension = points.shape
    first = 0
    while first < count:
        last = first
        while last < count and owners[last] == owners[first]:
            last += 1
        total = 0.0
        for i in range(first, last):
            if stop[0]:
                return
            for j in range(first, i):
                square = 0.0
                for d in range(dimension):
                    gap = points[i, d] - points[j, d]
                    square += gap * gap
                total += np.exp(-np.sqrt(square) / sigma)
        sums[owners[first]] += 2.0 * total + (last - first)
        first = last
