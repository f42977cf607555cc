"""Readable names of features: labels, trees and paths as text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np


def label_name(label: Any) -> str:
    """The label itself; quoted if it is a string that could be misread."""
    if isinstance(label, str) and not (label and all(c.isalnum() or c in "_+#*." for c in label)):
        return json.dumps(label, ensure_ascii=False)
    return str(label)


def tree_name(
    labels: np.ndarray, vertices: np.ndarray, edges: np.ndarray, edge_table: np.ndarray | None
) -> str:
    """A tree as ``root(first, second, ...)``, labels in rank order without level marks."""
    root, *rest = [vertex for vertex in vertices.tolist() if vertex >= 0]
    parts = []
    for position, vertex in enumerate(rest, start=1):
        bond = "" if edge_table is None else f"[{label_name(edge_table[edges[position]])}]"
        parts.append(bond + label_name(labels[vertex]))
    return label_name(labels[root]) + (f"({','.join(parts)})" if parts else "")


def join_path(elements: Sequence[str], bonds: np.ndarray, edge_table: np.ndarray | None) -> str:
    """Elements of a path in a line; of both reading directions the smaller text."""
    if edge_table is None:
        links = [" - "] * (len(elements) - 1)
    else:
        links = [f" -[{label_name(edge_table[bond])}]- " for bond in bonds.tolist()]

    def text(names: Sequence[str], between: Sequence[str]) -> str:
        return names[0] + "".join(
            link + name for link, name in zip(between, names[1:], strict=True)
        )

    return min(text(elements, links), text(elements[::-1], links[::-1]))


def at_least(name: str, times: int) -> str:
    """The name of "this pattern, at least so often"; once is the pattern itself."""
    return f"{name} (at least {times} times)" if times > 1 else name


def times_of_name(name: str) -> tuple[str, int]:
    """The reverse of :func:`at_least`."""
    found = re.fullmatch(r"(.*) \(at least (\d+) times\)", name, re.DOTALL)
    return (found[1], int(found[2])) if found else (name, 1)
