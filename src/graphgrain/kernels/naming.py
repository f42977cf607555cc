"""Names of patterns: SMARTS for molecules, arrows for other graphs, and a long form for both.

RDKit can parse the SMARTS and finds a match at every occurrence of the pattern. Details that SMARTS
cannot express follow after a space, where SMARTS parsers expect a title: the level, CIP descriptors
with the number of the atom in the name, such as ``(2R,5S)``, and rare bond types. If other patterns
can have the same SMARTS, the hash follows the level.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..graphs.batch import GraphBatch
from ..graphs.molecule_labels import ATOMIC_NUMBER, Atom, are_molecules, parse_atom


def label_name(label: Any) -> str:
    """Return the label, quoted if it is a string that could be misread."""
    if isinstance(label, str) and not (label and all(c.isalnum() or c in "_+#*." for c in label)):
        return json.dumps(label, ensure_ascii=False)
    return str(label)


def join_path(elements: Sequence[str], bonds: Sequence[Any]) -> str:
    """Join the elements of a path; of both directions, return the smaller string."""
    links = [" - " if bond is None else f" -[{label_name(bond)}]- " for bond in bonds]
    return min(_chain(elements, links), _chain(elements[::-1], links[::-1]))


def _chain(parts: Sequence[str], links: Sequence[str]) -> str:
    return parts[0] + "".join(link + part for link, part in zip(links, parts[1:], strict=True))


def at_least(name: str, times: int) -> str:
    """Return the name of "this pattern, at least ``times`` times"; the name itself for one."""
    return f"{name} (at least {times} times)" if times > 1 else name


def times_of_name(name: str) -> tuple[str, int]:
    """Invert :func:`at_least`."""
    found = re.fullmatch(r"(.*) \(at least (\d+) times\)", name, re.DOTALL)
    return (found[1], int(found[2])) if found else (name, 1)


# -------------------------------------------------------------------- short names

_BONDS = {"single": "-", "double": "=", "triple": "#", "aromatic": ":", "quadruple": "$"}
#: Longer conditions are replaced by a symbol and a hash.
_LONGEST_CONDITION = 200
#: Symbols that need no brackets.
_BARE = frozenset("B C N O P S F Cl Br I b c n o p s".split())  # noqa: SIM905
#: What :class:`~graphgrain.StructuralLabels` makes of a label: degree, and whether it is in a ring.
_STRUCTURE = re.compile(r"(.*)\|(\d+)\|([01])", re.DOTALL)
#: Elements that can be aromatic; all others are always written with a capital letter.
_MAY_BE_AROMATIC = frozenset(["B", "C", "N", "O", "P", "S", "Se", "Te", "As", "Si"])


class Branch(NamedTuple):
    """A vertex of a tree, the label of the edge that leads to it, and its children.

    ``bond`` is None if edge labels are not used; ``whole`` means all neighbours are in the tree.
    """

    label: Any
    bond: Any
    below: tuple[Branch, ...] = ()
    whole: bool = False


class Notation:
    """Names of the patterns of some graphs.

    Attributes
    ----------
    molecules : bool
        Whether the vertex and edge labels are those of a molecule reader, with or without
        structural labels, which become conditions of the SMARTS: ``[#6;D2;R]``.
    """

    def __init__(self, batch: GraphBatch) -> None:
        labels = [_without_structure(label)[0] for label in batch.label_table.tolist()]
        self.molecules = are_molecules(batch, labels)
        atoms = map(parse_atom, labels)
        self._marks_aromatic = any(atom is not None and atom.aromatic for atom in atoms)

    # ---------------------------------------------------------------- names of features

    def path(self, elements: Sequence[Sequence[Branch]], bonds: Sequence[Any], tail: str) -> str:
        """Return the name of a path of vertices or trees; of both directions, the smaller string.

        Each element is a list of alternative trees. ``bonds`` are the labels of the edges between
        the elements, None if edge labels are not used.
        """
        forth = self._path(elements, bonds, tail)
        return min(forth, self._path(elements[::-1], bonds[::-1], tail))

    def vertex(self, label: Any) -> str:
        """Return the name of a vertex."""
        return self.path([[Branch(label, None)]], [], "")

    def walk(self, first: Any, last: Any, bonds: Sequence[Any]) -> str:
        """Return the name of two atoms with any atoms between them, from first to last."""
        notes: list[str] = []
        self._written = 0
        text = self._atom(first, bonds[:1], False, notes)
        for place, bond in enumerate(bonds, start=1):
            text += self._bond(bond, notes)
            if place == len(bonds):
                text += self._atom(last, bonds[-1:], False, notes)
            else:
                self._written += 1
                text += "*"
        return text + (f" ({','.join(notes)})" if notes else "")

    def neighbourhood(
        self, batch: GraphBatch, vertex: int, steps: int, edge_labels: bool, code: int
    ) -> str:
        """Return the name of an atom with its neighbours, up to ``steps`` steps away.

        Each neighbourhood is a condition of its own, so an atom can appear more than once. Names
        that would be too long are replaced by the symbol and the hash.
        """
        table, codes = batch.edge_label_table, batch.edge_label_codes

        def around(v: int) -> list[tuple[int, Any]]:
            entries = range(int(batch.indptr[v]), int(batch.indptr[v + 1]))
            bonds = [
                table[codes[e]] if edge_labels and table is not None and codes is not None else None
                for e in entries
            ]
            return list(
                zip(batch.indices[entries.start : entries.stop].tolist(), bonds, strict=True)
            )

        def condition(v: int, left: int, notes: list[str]) -> str:
            label = batch.label_table[batch.label_codes[v]]
            near = around(v)
            if not left or not near:
                return self._atom(label, [], False, notes)
            text = self._atom(label, [bond for _, bond in near], True, notes)
            branches = sorted(
                (self._bond(bond, []) + condition(w, left - 1, []), bond, w) for w, bond in near
            )
            for place, (_, bond, w) in enumerate(branches, start=1):
                inside = self._bond(bond, notes) + condition(w, left - 1, notes)
                text += inside if place == len(near) else f"({inside})"
            return f"[$({text})]"

        tail = f" t={steps}" if steps else ""
        self._written = 0
        notes: list[str] = []
        text = condition(vertex, steps, notes) if steps < 4 else ""
        if steps >= 4 or len(text) > _LONGEST_CONDITION:
            self._written, notes = 0, []
            label = batch.label_table[batch.label_codes[vertex]]
            return f"{self._atom(label, [], False, notes)}{tail} ~{code:016x}"
        return text + tail + (f" ({','.join(notes)})" if notes else "")

    def _path(self, elements: Sequence[Sequence[Branch]], bonds: Sequence[Any], tail: str) -> str:
        if not self.molecules:
            parts = [arrow_tree(element[0]) for element in elements]
            links = [f" -{label_name(b)}-> " if b is not None else "->" for b in bonds]
            return _chain(parts, links) + tail
        notes: list[str] = []
        text = ""
        self._written = 0
        for place, element in enumerate(elements):
            if place:
                text += self._bond(bonds[place - 1], notes)
            near = [bonds[i] for i in (place - 1, place) if 0 <= i < len(bonds)]
            if len(element) == 1 and not element[0].below and not element[0].whole:
                text += self._atom(element[0].label, near, False, notes)
            else:
                trees = ",".join(f"$({self._tree(tree, notes)})" for tree in element)
                text += f"[{trees}]"
        return text + tail + (f" ({','.join(notes)})" if notes else "")

    # ---------------------------------------------------------------- SMARTS

    def _tree(self, tree: Branch, notes: list[str]) -> str:
        near = [tree.bond, *(branch.bond for branch in tree.below)]
        if tree.bond is None and tree.below and tree.below[0].bond is not None:
            near = near[1:]  # the root has no incoming edge
        text = self._atom(tree.label, near, tree.whole, notes)
        for branch in tree.below:
            inside = self._bond(branch.bond, notes) + self._tree(branch, notes)
            text += inside if branch is tree.below[-1] else f"({inside})"
        return text

    def _bond(self, label: Any, notes: list[str]) -> str:
        if label is None:
            return "~"
        kind, _, stereo = str(label).partition("@")
        if stereo or kind not in _BONDS:
            notes.append(f"{self._written + 1}{stereo or kind}")
        return _BONDS.get(kind, "~")

    def _atom(self, label: Any, bonds: Sequence[Any], whole: bool, notes: list[str]) -> str:
        self._written += 1
        atom, structure = _atom_of(label)
        extra = "." * atom.radicals + atom.stereo
        if extra:
            notes.append(f"{self._written}{extra}")
        kinds = {str(bond).partition("@")[0] for bond in bonds if bond is not None}
        symbol = self._symbol(atom, kinds, whole and None not in bonds)
        charge = f"{atom.charge:+d}".replace("+1", "+").replace("-1", "-") if atom.charge else ""
        inside = f"{atom.isotope or ''}{symbol}{charge}{structure}"
        return inside if inside in _BARE else f"[{inside}]"

    def _symbol(self, atom: Atom, kinds: set[str], whole: bool) -> str:
        """Return the symbol, lowercase if aromatic, or the atomic number if that is unknown."""
        symbol = atom.symbol
        if symbol in ("H", "*"):
            return f"#{ATOMIC_NUMBER[symbol]}"
        if symbol not in _MAY_BE_AROMATIC:
            return symbol
        if atom.aromatic or "aromatic" in kinds:
            return symbol.lower()
        aliphatic = "triple" in kinds or ("double" in kinds and symbol == "O")
        if self._marks_aromatic or whole or aliphatic:
            return symbol
        return f"#{ATOMIC_NUMBER[symbol]}"


@lru_cache(maxsize=4096)
def _atom_of(label: Any) -> tuple[Atom, str]:
    """Return the atom of a label and the conditions on its degree and ring in SMARTS."""
    plain, structure = _without_structure(label)
    atom = parse_atom(plain)
    assert atom is not None
    return atom, structure


def _without_structure(label: Any) -> tuple[Any, str]:
    found = _STRUCTURE.fullmatch(str(label))
    if found is None:
        return label, ""
    return found[1], f";D{found[2]};{'R' if found[3] == '1' else '!R'}"


def arrow_tree(tree: Branch) -> str:
    """Return ``root(first, second, ...)``, with labels in rank order and without level marks."""
    link = "" if tree.bond is None else f"[{label_name(tree.bond)}]"
    below = ",".join(map(arrow_tree, tree.below))
    return f"{link}{label_name(tree.label)}" + (f"({below})" if below else "")


def nested(
    labels: np.ndarray,
    vertices: Sequence[int],
    bonds: Sequence[Any],
    neighbours: Sequence[set[int]],
    depth: int,
) -> Branch:
    """Build the breadth-first tree from its vertices in search order."""
    depths = {vertices[0]: 0}
    children: dict[int, list[int]] = {vertex: [] for vertex in vertices}
    bond_of = dict(zip(vertices, bonds, strict=True))
    for vertex in vertices[1:]:
        parent = next(v for v in vertices if v in depths and v in neighbours[vertex])
        depths[vertex] = depths[parent] + 1
        children[parent].append(vertex)

    def grown(vertex: int) -> Branch:
        below = tuple(grown(child) for child in children[vertex])
        return Branch(labels[vertex], bond_of[vertex], below, depths[vertex] < depth)

    return grown(vertices[0])


def flat(labels: np.ndarray, vertices: Sequence[int], bonds: Sequence[Any]) -> Branch:
    """Return the same tree with all vertices directly below the root, in search order."""
    below = tuple(
        Branch(labels[vertex], bond) for vertex, bond in zip(vertices[1:], bonds[1:], strict=True)
    )
    return Branch(labels[vertices[0]], None, below)
