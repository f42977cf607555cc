"""Interpret the labels of molecular graphs as atoms and bonds, without RDKit.

Labels are parsed as written by :func:`graphgrain.from_rdkit` with any of its options. Properties
that labels do not contain are inferred from valence rules, as in SMILES:

1. An atom without a charge in its label that has one bond too many is a cation (nitro groups,
   quaternary nitrogen); a terminal neighbour that lacks one bond is the anion.
2. Aromatic bonds need alternating double bonds. In the solution with the fewest atoms without a
   double bond, such a nitrogen has a hydrogen (pyrrole), or a charge if it already has three
   neighbours.
3. Every atom gets hydrogens up to the smallest of its usual valences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..graphs.batch import GraphBatch
from ..graphs.molecule_labels import ATOMIC_NUMBER, BOND_ORDERS, Atom, parse_atom

#: Usual valences by element; other elements get no implicit hydrogens.
_VALENCES = {
    ATOMIC_NUMBER[symbol]: valences
    for symbols, valences in (
        (("H", "F", "Cl", "Br", "I"), (1,)),
        (("O",), (2,)),
        (("B", "N"), (3,)),
        (("C", "Si", "Ge"), (4,)),
        (("P", "As"), (3, 5)),
        (("S", "Se", "Te"), (2, 4, 6)),
    )
    for symbol in symbols
}
#: Maximum number of steps of the search for alternating double bonds.
_MOST_STEPS = 20_000


@dataclass(frozen=True)
class Molecule:
    """A graph as atoms and bonds, one per vertex and one per row of ``graph.edges``."""

    atoms: list[Atom]
    pairs: list[tuple[int, int]]
    kinds: list[str]  # type of each bond, as in the edge labels
    stereo: list[str]  # CIP descriptor of each bond, or ""
    typed: bool  # whether bond types are known; otherwise hydrogens are unknown, too

    @cached_property
    def neighbours(self) -> list[dict[int, int]]:
        """For each atom, a dictionary from neighbour to bond number."""
        found: list[dict[int, int]] = [{} for _ in self.atoms]
        for bond, (first, second) in enumerate(self.pairs):
            found[first][second] = found[second][first] = bond
        return found

    def rings(self, bonds: Iterable[int] | None = None, longest: int = 8) -> list[tuple[int, ...]]:
        """Return the smallest rings through each bond; if some are given, of these alone."""
        allowed = set(range(len(self.pairs)) if bonds is None else bonds)
        links: list[list[int]] = [
            [other for other, bond in own.items() if bond in allowed] for own in self.neighbours
        ]
        found: dict[frozenset[int], tuple[int, ...]] = {}
        for bond in sorted(allowed):
            for ring in _shortest_rings(links, *self.pairs[bond], longest):
                found.setdefault(frozenset(ring), ring)
        return list(found.values())

    @cached_property
    def aromatic_rings(self) -> list[tuple[int, ...]]:
        """Rings of aromatic bonds, of up to eight atoms."""
        return self.rings(bond for bond, kind in enumerate(self.kinds) if kind == "aromatic")


def read_molecule(graph: GraphBatch) -> Molecule | None:
    """Return the atoms and bonds of one graph; None if its labels are not atoms and bonds."""
    if graph.label_kind != "string" or not graph.n_vertices:
        return None
    atoms = []
    for label in graph.labels.tolist():
        atom = parse_atom(label)
        if atom is None:
            return None
        atoms.append(atom)
    pairs = [(first, second) for first, second in graph.edges.tolist()]
    labels = graph.edge_labels
    typed = labels is not None or not pairs
    if labels is None and (any(atom.aromatic for atom in atoms) or graph.degrees.max() > 4):
        return None
    bonds = ["single"] * len(pairs) if labels is None else map(str, labels.tolist())
    parts = [label.partition("@") for label in bonds]
    kinds, stereo = [part[0] for part in parts], [part[2] for part in parts]
    if any(kind not in BOND_ORDERS for kind in kinds):
        return None
    molecule = Molecule(atoms, pairs, kinds, stereo, typed)
    return _completed(molecule) if typed else molecule


def _shortest_rings(
    links: list[list[int]], start: int, end: int, longest: int
) -> list[tuple[int, ...]]:
    """Return all shortest paths from one end of a bond to the other that do not use it."""
    distance = {start: 0}
    front = [start]
    while front and end not in distance and distance[front[0]] + 2 <= longest:
        following = []
        for vertex in front:
            for other in links[vertex]:
                if other not in distance and {vertex, other} != {start, end}:
                    distance[other] = distance[vertex] + 1
                    following.append(other)
        front = following
    if end not in distance:
        return []
    ways: list[tuple[int, ...]] = [(end,)]
    for step in range(distance[end] - 1, -1, -1):
        ways = [
            (other, *way)
            for way in ways
            for other in links[way[0]]
            if distance.get(other) == step and {other, way[0]} != {start, end}
        ]
    return ways


# -------------------------------------------------------------------- charges and hydrogens


def _completed(molecule: Molecule) -> Molecule:
    """Add the charges implied by the bonds, and hydrogens."""
    atoms = list(molecule.atoms)
    for bond, kind in enumerate(molecule.kinds):
        if kind == "aromatic":
            for end in molecule.pairs[bond]:
                atoms[end] = atoms[end]._replace(aromatic=True)
    sums = [
        sum(BOND_ORDERS[molecule.kinds[b]] for b in own.values()) for own in molecule.neighbours
    ]
    for vertex, atom in enumerate(atoms):
        if not atom.aromatic and not atom.charge and _is_onium(molecule, vertex, sums[vertex]):
            _ionise(molecule, atoms, sums, vertex)
    explicit = _hydrogens_are_vertices(molecule, atoms, sums)
    alternating = _alternating(molecule, atoms, explicit)
    salt = any(
        not own and ATOMIC_NUMBER[atom.symbol] not in _VALENCES and atom.symbol != "*"
        for own, atom in zip(molecule.neighbours, atoms, strict=True)
    )
    for vertex, (_, charged) in alternating.items():
        if charged:
            _ionise(molecule, atoms, sums, vertex)
    for vertex, atom in enumerate(atoms):
        own = molecule.neighbours[vertex]
        if vertex in alternating:
            kinds = [molecule.kinds[bond] for bond in own.values()]
            used = alternating[vertex][0] + sum(
                1 if kind == "aromatic" else int(np.ceil(BOND_ORDERS[kind])) for kind in kinds
            )
        elif atom.aromatic:
            continue  # no alternating bonds were found
        else:
            used = int(np.ceil(sums[vertex] - 1e-9))
        lone_ion = salt and not own and atom.symbol in ("F", "Cl", "Br", "I")
        if not explicit and not lone_ion:
            atoms[vertex] = atom._replace(hydrogens=_missing(atom, used))
    return replace(molecule, atoms=atoms)


def _is_onium(molecule: Molecule, vertex: int, total: float) -> bool:
    """Return whether a neutral atom has one bond too many."""
    symbol, own = molecule.atoms[vertex].symbol, molecule.neighbours[vertex]
    if symbol == "N":
        return total == 4
    if symbol == "P":
        return total == 4 and all(molecule.kinds[bond] != "double" for bond in own.values())
    return total == 3 and (symbol == "O" or (symbol in ("S", "Se") and len(own) >= 2))


def _ionise(molecule: Molecule, atoms: list[Atom], sums: list[float], vertex: int) -> None:
    """Make an atom a cation, and a terminal neighbour that lacks a bond the anion."""
    atoms[vertex] = atoms[vertex]._replace(charge=1)
    ends = [
        other
        for other in molecule.neighbours[vertex]
        if len(molecule.neighbours[other]) == 1
        and not atoms[other].charge
        and atoms[other].symbol in ("O", "S", "N", "C")
        and _missing(atoms[other], int(sums[other])) == 1
    ]
    # Terminal N=, C# and O- qualify; a methyl group, which lacks three hydrogens, does not.
    if ends:
        best = min(ends, key=lambda other: ("OSNC".index(atoms[other].symbol), other))
        atoms[best] = atoms[best]._replace(charge=-1)


def _missing(atom: Atom, used: int) -> int:
    """Return the number of hydrogens up to the smallest of the usual valences."""
    number = ATOMIC_NUMBER[atom.symbol]
    if number not in _VALENCES:
        return 0
    # An ion has the valences of the neutral atom with the same number of electrons.
    valences = _VALENCES.get(number - (atom.charge if atom.symbol != "H" else 0), ())
    used += atom.radicals
    return next((valence - used for valence in valences if valence >= used), 0)


def _hydrogens_are_vertices(molecule: Molecule, atoms: list[Atom], sums: list[float]) -> bool:
    """Return whether all hydrogens are vertices: some are, and no carbon atom lacks one."""
    if not any(atom.symbol == "H" for atom in atoms):
        return False
    return not any(
        atom.symbol == "C" and not atom.charge and not atom.radicals and total < 4
        for atom, total in zip(atoms, sums, strict=True)
    )


# -------------------------------------------------------------------- aromatic bonds


def _alternating(
    molecule: Molecule, atoms: list[Atom], explicit: bool
) -> dict[int, tuple[bool, bool]]:
    """Return for each aromatic atom whether it has a double bond and whether that needs a charge.

    Ring systems without a solution, or whose search exceeds the limit, are omitted.
    """
    links: dict[int, list[int]] = {}
    for (first, second), kind in zip(molecule.pairs, molecule.kinds, strict=True):
        if kind == "aromatic":
            links.setdefault(first, []).append(second)
            links.setdefault(second, []).append(first)
    result: dict[int, tuple[bool, bool]] = {}
    for system in _systems(links):
        # Costs of an atom with and without a double bond; None if impossible.
        costs = {v: _costs(molecule, atoms[v], v, explicit) for v in system}
        solution = _matched(links, costs)
        if solution is None:
            continue
        for vertex in system:
            doubled = vertex in solution
            most = _VALENCES_OF_RINGS.get(atoms[vertex].symbol, 9)
            full = len(molecule.neighbours[vertex]) >= most
            result[vertex] = doubled, doubled and full and not atoms[vertex].charge
    return result


def _systems(links: dict[int, list[int]]) -> list[list[int]]:
    """Return the atoms of each ring system."""
    seen: set[int] = set()
    systems = []
    for start in sorted(links):
        system = [start] if start not in seen else []
        seen.add(start)
        for vertex in system:
            new = [other for other in links[vertex] if other not in seen]
            system += new
            seen.update(new)
        if system:
            systems.append(system)
    return systems


_COST_OF_CHARGE = 100
#: Number of neighbours from which a double bond in the ring makes a cation.
_VALENCES_OF_RINGS = {"N": 3, "P": 3, "O": 2, "S": 2, "Se": 2, "Te": 2, "As": 3}


def _costs(
    molecule: Molecule, atom: Atom, vertex: int, explicit: bool
) -> tuple[int | None, int | None]:
    own = molecule.neighbours[vertex]
    doubles = sum(molecule.kinds[b] in ("double", "triple") for b in own.values())
    if doubles:
        return None, 0
    if atom.symbol == "*":
        return 0, 0
    valence = _VALENCES.get(ATOMIC_NUMBER[atom.symbol] - atom.charge, ())
    free = (valence[0] if valence else 0) - len(own) - atom.radicals
    if atom.symbol in ("C", "Si") and not atom.charge:
        return 0, None
    if atom.charge:
        return (None, 0) if free <= 0 else (0, None) if free == 1 else (0, 1)
    if atom.symbol == "B":
        return (0, 1) if free else (None, 0)
    if free == 1:  # pyridine or pyrrole
        return 0, (None if explicit else 2)
    if atom.symbol == "N" and any(
        len(molecule.neighbours[other]) == 1 and molecule.atoms[other].symbol == "O"
        for other in own
    ):
        return 0, 1  # N-oxide, rather than N-hydroxypyrrole
    return _COST_OF_CHARGE, 0  # furan, thiophene, substituted pyrrole; or their cations


def _matched(
    links: dict[int, list[int]], costs: dict[int, tuple[int | None, int | None]]
) -> frozenset[int] | None:
    """Return the atoms with a double bond in a matching of minimum cost.

    Branch and bound; the atom with the fewest options is decided first, so that forced choices
    never branch.
    """
    best: frozenset[int] | None = None
    least, steps = np.inf, 0

    def extend(open_: set[int], matched: set[int], cost: int) -> None:
        nonlocal best, least, steps
        steps += 1
        if steps > _MOST_STEPS or cost >= least:
            return
        if not open_:
            least, best = cost, frozenset(matched)
            return
        choices = []
        for vertex in open_:
            doubled, alone = costs[vertex]
            partners = [
                other
                for other in links[vertex]
                if doubled is not None and other in open_ and costs[other][0] is not None
            ]
            number = len(partners) + (alone is not None)
            if not number:
                return
            choices.append((number, alone is not None, vertex, partners))
            if number == 1:
                break
        _, _, vertex, partners = min(choices)
        doubled, alone = costs[vertex]
        ways = [((doubled or 0) + (costs[other][0] or 0), {vertex, other}) for other in partners]
        for added, pair in sorted(ways, key=lambda way: (way[0], sorted(way[1]))):
            extend(open_ - pair, matched | pair, cost + added)
        if alone is not None:
            extend(open_ - {vertex}, matched, cost + alone)

    extend(set(costs), set(), 0)
    return best
