"""The hash of a pattern with Python's integers, written from the description in core/hashing.py.

It serves as the order of patterns that the fast code uses, and to tell which column is which.
"""

from __future__ import annotations

from hashlib import blake2b

M = 2**64
GOLDEN = 0x9E3779B97F4A7C15
BASE = 0xD1342543DE82EF95


def mix(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % M
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % M
    return x ^ (x >> 31)


def label(value: int | str, purpose: int = 0) -> int:
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        digest = blake2b(data, digest_size=8, key=bytes([purpose])).digest()
        return int.from_bytes(digest, "little")
    salt = GOLDEN * (2 * purpose + 1) % M
    return mix((mix((value + salt) % M) + salt) % M)


def tree(sequence: tuple, edge_labels: bool) -> int:
    """Labels in order; with edge labels each label but the first has its edge before it."""
    items = [label(sequence[0])]
    rest = sequence[1:]
    if edge_labels:
        items += [
            mix((label(vertex) + label(edge, 1)) % M)
            for edge, vertex in zip(rest[::2], rest[1::2], strict=True)
        ]
    else:
        items += [label(vertex) for vertex in rest]
    total = 0
    for position, item in enumerate(items, start=1):
        total += item * (mix(position * GOLDEN % M) | 1)
    return mix(total % M)


def forward(pattern: tuple, edge_labels: bool) -> int:
    """The polynomial over (tree, edge, tree, ...), zeros for edges without labels."""
    total = tree(pattern[0], edge_labels)
    rest = pattern[1:]
    steps = zip(rest[::2], rest[1::2], strict=True) if edge_labels else ((None, t) for t in rest)
    for edge, element in steps:
        total = (total * BASE + (label(edge, 1) if edge_labels else 0)) % M
        total = (total * BASE + tree(element, edge_labels)) % M
    return total


def feature(pattern: tuple, level: int, edge_labels: bool) -> int:
    both = min(forward(pattern, edge_labels), forward(pattern[::-1], edge_labels))
    return mix((both + mix(GOLDEN * (level + 1) % M)) % M)
