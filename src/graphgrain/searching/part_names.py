"""What is at a place where a graph changes, in words: branches are written like SMILES."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.change_places import EDGE, VERTEX
from ..graphs.batch import GraphBatch

#: Branches with more vertices are not written out.
_WRITTEN = 60
_BONDS = {"single": "-", "double": "=", "triple": "#", "aromatic": ":"}


class Place(NamedTuple):
    """A place of a graph, vertices counted in the batch."""

    batch: GraphBatch
    kind: int
    anchor: int  # the vertex of the rest where it is
    other: int  # the first vertex of a branch, the other end of an edge, or -1


def part_name(place: Place) -> str:
    """What is at a place, the same however the vertices are numbered.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.core.change_places import BRANCH
    >>> from graphgrain.searching.part_names import Place, part_name
    >>> graph = gg.as_graphs([([(0, 1), (1, 2), (1, 3)], list("CCOF"))])
    >>> part_name(Place(graph, BRANCH, 0, 1)), part_name(Place(graph, BRANCH, 0, -1))
    ('-C(F)O', 'nothing')
    """
    batch, kind, anchor, other = place
    if kind == VERTEX:
        return _vertex(batch, anchor)
    if kind == EDGE:
        return _bond(batch, anchor, other).strip("-") or "-"
    if other < 0:
        return "nothing"
    bond = _bond(batch, anchor, other)
    inside = _side(batch, anchor, other)
    if len(inside) > _WRITTEN:
        return f"{bond}{_vertex(batch, other)} and {len(inside) - 1:,} more vertices"
    return bond + _Writer(batch, anchor, other, inside).text()


def surroundings_name(place: Place, radius: int = 1) -> str:
    """The vertex of a place with its neighbours in the rest, or alone; of an edge both ends.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.core.change_places import BRANCH, EDGE
    >>> from graphgrain.searching.part_names import Place, surroundings_name
    >>> graph = gg.as_graphs([([(0, 1), (1, 2), (1, 3)], list("CCOF"))])
    >>> surroundings_name(Place(graph, BRANCH, 1, 3)), surroundings_name(Place(graph, EDGE, 0, 1))
    ('C(C, O)', 'C*C(F, O)')
    """
    batch, kind, anchor, other = place
    ends = [(anchor, other), (other, anchor)] if kind == EDGE else [(anchor, other)]
    told = []
    for v, without in ends:
        names = sorted(
            _plain(_bond(batch, v, w)) + _vertex(batch, w)
            for w in _neighbours(batch, v)
            if w != without and radius > 0
        )
        centre = "*" if kind == VERTEX else _vertex(batch, v)
        told.append(f"{centre}({', '.join(names)})" if names else centre)
    return "*".join(sorted(told))


def _bond(batch: GraphBatch, u: int, v: int) -> str:
    if batch.edge_label_codes is None or batch.edge_label_table is None:
        return "-"
    for e in range(batch.indptr[u], batch.indptr[u + 1]):
        if batch.indices[e] == v:
            label = str(batch.edge_label_table[batch.edge_label_codes[e]])
            return _BONDS.get(label, f"-{label}-")
    return "-"


def _neighbours(batch: GraphBatch, v: int) -> list[int]:
    return batch.indices[batch.indptr[v] : batch.indptr[v + 1]].tolist()


def _vertex(batch: GraphBatch, v: int) -> str:
    return str(batch.label_table[batch.label_codes[v]]) if batch.labelled else "*"


def _plain(bond: str) -> str:
    return "" if bond == "-" else bond


def _side(batch: GraphBatch, anchor: int, begin: int) -> list[int]:
    """The vertices behind a bridge."""
    found, seen = [begin], {anchor, begin}
    for v in found:
        for w in _neighbours(batch, v):
            if w not in seen:
                seen.add(w)
                found.append(w)
    return found


class _Writer:
    """Writes a branch from its first vertex on; neighbours in an order of their own colours."""

    def __init__(self, batch: GraphBatch, anchor: int, begin: int, inside: list[int]) -> None:
        self.batch, self.begin = batch, begin
        self.links = {
            v: {w: _bond(batch, v, w) for w in _neighbours(batch, v) if w != anchor or v != begin}
            for v in inside
        }
        colours = self._colours()
        self.order = {
            v: sorted(near, key=lambda w, near=near: (colours[w], near[w]))  # type: ignore[misc]
            for v, near in self.links.items()
        }
        self.parents: dict[int, int] = {begin: -1}
        self.closures: dict[frozenset[int], int] = {}
        self._walk(begin)

    def _colours(self) -> dict[int, int]:
        """Ranks of vertices by refinement from the first on."""
        keys: dict[int, Any] = {v: (v != self.begin, _vertex(self.batch, v)) for v in self.links}
        classes = 0
        while True:
            ranks = {key: rank for rank, key in enumerate(sorted(set(keys.values())))}
            colours = {v: ranks[key] for v, key in keys.items()}
            if len(ranks) == classes:
                return colours
            classes = len(ranks)
            keys = {
                v: (colours[v], tuple(sorted((colours[w], bond) for w, bond in near.items())))
                for v, near in self.links.items()
            }

    def _walk(self, v: int) -> None:
        """Choose a tree and number the edges that close a ring, depth first."""
        for w in self.order[v]:
            if w == self.parents[v]:
                continue
            if w in self.parents:
                self.closures.setdefault(frozenset((v, w)), len(self.closures) + 1)
            else:
                self.parents[w] = v
                self._walk(w)

    def text(self) -> str:
        return self._written(self.begin)

    def _written(self, v: int) -> str:
        text = _vertex(self.batch, v)
        branches = []
        for w in self.order[v]:
            bond = self.links[v][w]
            number = self.closures.get(frozenset((v, w)))
            if number is not None:
                text += f"{_plain(bond)}{number if number < 10 else f'%{number}'}"
            elif self.parents[w] == v:
                words = max(len(_vertex(self.batch, u)) for u in (v, w)) > 2  # no symbols of atoms
                branches.append((bond if words else _plain(bond)) + self._written(w))
        branches.sort(key=lambda branch: (len(branch), branch))
        return text + "".join(f"({branch})" for branch in branches[:-1]) + "".join(branches[-1:])
