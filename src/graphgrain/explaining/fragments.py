"""Divide graphs into named parts, over which decisions are sums.

Parts are connected and each vertex belongs to exactly one, so the sum over parts equals the sum
over vertices.

Molecules are divided by the ordered table ``fragments.smarts``, with RDKit:

1. Rings of at most eight atoms, with the atoms that they share and the =O on them, are named as a
   whole: by the ring system, its function (lactam), or the sizes of its rings.
2. Functional groups take the atoms that are left, in the order of the table.
3. The remaining carbon atoms are chains, or ``macrocycle`` in larger rings.

Other graphs are divided into regions around the vertices with the largest values.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from ..graphs.batch import GraphBatch
from ..graphs.convert.rdkit import quiet_log
from ..graphs.convert.to_rdkit import SourceMolecule, source_molecule
from ..graphs.molecule_labels import with_atom_labels
from .molecule import read_molecule

#: Maximum number of regions that grow at a time in a graph that is not a molecule.
_MOST_REGIONS = 6
#: Graphs of up to this size may be a single region; in others regions have at most a third.
_SMALL = 6
#: Number of labels around the centre in a region's name.
_MOST_LABELS = 3


class Part(NamedTuple):
    """A connected part of a graph."""

    name: str
    vertices: tuple[int, ...]


@dataclass(frozen=True)
class Fragment:
    """A part of a graph and its contribution to a decision.

    Attributes
    ----------
    name : str
        Name of the ring system or functional group for molecules; for other graphs ``"around"``,
        the label of the strongest vertex and the labels that surround it. ``"bias"`` is the value
        of the model without any pattern, ``"other columns"`` the contribution of table columns
        other than the graph.
    contribution : float
        Sum of the contributions of its vertices.
    vertices : tuple of int
        Vertices of the part; empty for the bias and for other columns.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.explaining import Fragment
    >>> Fragment("tertiary amine", 0.41, (3,)).name
    'tertiary amine'
    """

    name: str
    contribution: float
    vertices: tuple[int, ...]


def cut(graph: GraphBatch, values: np.ndarray | None = None) -> list[Part]:
    """Divide one graph into connected parts; without molecules, around the largest values."""
    near = [graph.indices[a:b].tolist() for a, b in pairwise(graph.indptr.tolist())]
    read_from_text = {"smiles", "molecule"} & set(graph.columns)
    source = source_molecule(graph) if read_from_text else _from_labels(with_atom_labels(graph))
    if source is None:
        strength = np.zeros(graph.n_vertices) if values is None else np.abs(values)
        return _regions(graph, near, strength)
    vertices = {atom: vertex for vertex, atom in enumerate(source.atoms.tolist())}
    members = [
        (name, [vertices[atom] for atom in atoms if atom in vertices])
        for name, atoms in _name_atoms(source.molecule)
    ]
    owner = {vertex: number for number, part in enumerate(members) for vertex in part[1]}
    hydrogens = [vertex for vertex in range(graph.n_vertices) if vertex not in owner]
    members.append(("hydrogen", []))
    for vertex in hydrogens:
        numbers = [owner[atom] for atom in near[vertex] if atom in owner]
        members[min(numbers, default=-1)][1].append(vertex)
    parts = [
        Part(name, tuple(group)) for name, part in members for group in _components(part, near)
    ]
    return sorted(parts, key=lambda part: part.vertices)


def _components(vertices: Iterable[int], near: Sequence[Iterable[int]]) -> list[list[int]]:
    """Return the sorted connected components among ``vertices``, by their first vertex."""
    left = set(vertices)
    components = []
    for start in sorted(left):
        if start not in left:
            continue
        left.discard(start)
        component = [start]
        for vertex in component:
            following = left.intersection(near[vertex])
            left -= following
            component += following
        components.append(sorted(component))
    return components


# -------------------------------------------------------------------- any graph


def _regions(graph: GraphBatch, near: list[list[int]], strength: np.ndarray) -> list[Part]:
    """Grow regions around the strongest vertices, until each vertex belongs to one."""
    largest = graph.n_vertices // 3 if graph.n_vertices > _SMALL else _SMALL
    left = set(range(graph.n_vertices))
    parts = []
    while left:
        for seed, region in _grow(left, near, strength, largest):
            parts.append(Part(_region_name(graph, near, seed, region), tuple(sorted(region))))
            left -= region
    return parts


def _grow(
    left: set[int], near: list[list[int]], strength: np.ndarray, largest: int
) -> list[tuple[int, set[int]]]:
    """Grow regions of limited size around local maxima, strongest neighbours first."""
    order = sorted(left, key=lambda vertex: (-strength[vertex], vertex))
    place = {vertex: number for number, vertex in enumerate(order)}
    maxima = [v for v in order if all(place.get(n, len(order)) > place[v] for n in near[v])]
    regions: list[tuple[int, set[int]]] = [(seed, set()) for seed in maxima[:_MOST_REGIONS]]
    queue = [(place[seed], seed, number) for number, (seed, _) in enumerate(regions)]
    taken: set[int] = set()
    while queue:
        _, vertex, number = heapq.heappop(queue)
        region = regions[number][1]
        if vertex in taken or len(region) >= largest:
            continue
        region.add(vertex)
        taken.add(vertex)
        for neighbour in near[vertex]:
            if neighbour in left and neighbour not in taken:
                heapq.heappush(queue, (place[neighbour], neighbour, number))
    return regions


def _region_name(graph: GraphBatch, near: list[list[int]], seed: int, region: set[int]) -> str:
    """Name a region by the label of its centre and the commonest labels beside it."""
    if not graph.labelled:
        degree = len(near[seed])
        return f"around a vertex with {degree} neighbour{'s' * (degree != 1)}"
    labels = graph.labels
    count = Counter(str(labels[vertex]) for vertex in near[seed] if vertex in region)
    common = sorted(count, key=lambda label: (-count[label], label))
    words = [f"{count[label]} {label}" if count[label] > 1 else label for label in common]
    if len(words) > _MOST_LABELS:
        words[_MOST_LABELS - 1 :] = ["..."]
    return f"around {labels[seed]}" + f": {', '.join(words)}" * bool(words)


# -------------------------------------------------------------------- molecules


def _from_labels(graph: GraphBatch) -> SourceMolecule | None:
    """Build an RDKit molecule from atoms and bonds in labels, with the hydrogens they imply."""
    read = read_molecule(graph) if graph.edge_labels is not None else None
    if read is None:
        return None
    try:
        from rdkit import Chem
    except ImportError:
        return None
    molecule = Chem.RWMol()
    for label in read.atoms:
        atom = Chem.Atom(label.symbol)
        atom.SetFormalCharge(label.charge)
        atom.SetNumExplicitHs(label.hydrogens)
        atom.SetNumRadicalElectrons(label.radicals)
        atom.SetNoImplicit(True)
        atom.SetIsAromatic(label.aromatic)
        molecule.AddAtom(atom)
    kinds = {str(kind).lower(): kind for kind in Chem.BondType.values.values()}
    for (first, second), kind in zip(read.pairs, read.kinds, strict=True):
        molecule.AddBond(first, second, kinds[kind])
        molecule.GetBondBetweenAtoms(first, second).SetIsAromatic(kind == "aromatic")
    try:
        with quiet_log():
            Chem.SanitizeMol(molecule)
    except ValueError:
        return None
    return SourceMolecule(molecule, np.arange(graph.n_vertices))


class Rule(NamedTuple):
    """A line of the table."""

    name: str
    query: Any  # RDKit's form of the SMARTS
    core: list[int]  # atoms of the SMARTS that belong to the group
    example: str


#: Sections of the table.
SYSTEMS, SINGLE, SKELETONS = "ring systems", "single rings", "skeletons"
COMPLEXES, GROUPS, CHAINS = "complexes", "groups", "chains"


@cache
def rules() -> dict[str, list[Rule]]:
    """Read the table of fragments: the rules of each section, in order."""
    from rdkit import Chem

    table: dict[str, list[Rule]] = {}
    text = files("graphgrain.explaining").joinpath("fragments.smarts").read_text("utf-8")
    for line in text.splitlines():
        if line.startswith("== "):
            section = table.setdefault(line.removeprefix("== "), [])
        elif line and not line.startswith("#"):
            name, smarts, example, _ = line.split("\t")
            query = Chem.MolFromSmarts(smarts)
            core = [a.GetIdx() for a in query.GetAtoms() if a.GetSmarts() not in ("[#6]", "c")]
            section.append(Rule(name, query, core, example))
    return table


@cache
def _rules_of_size(section: str, atoms: int, bonds: int) -> list[Rule]:
    """Return the rules of a section for parts of this size."""
    size = atoms, bonds
    return [
        rule
        for rule in rules()[section]
        if (rule.query.GetNumAtoms(), rule.query.GetNumBonds()) == size
    ]


@cache
def _generic_rules(atoms: int, bonds: int) -> list[Rule]:
    """Return ring systems as rules for the same elements with any bonds between them."""
    from rdkit import Chem

    generic = []
    for rule in _rules_of_size(SYSTEMS, atoms, bonds):
        query = Chem.RWMol(rule.query)
        saturated = True
        for atom in rule.query.GetAtoms():
            saturated &= not atom.GetIsAromatic()
            query.ReplaceAtom(atom.GetIdx(), Chem.AtomFromSmarts(f"[#{atom.GetAtomicNum()}]"))
        for bond in rule.query.GetBonds():
            query.ReplaceBond(bond.GetIdx(), Chem.BondFromSmarts("~"))
        word = "unsaturated" if saturated else "hydrogenated"
        generic.append(rule._replace(name=f"{word} {rule.name}", query=query.GetMol()))
    return generic


#: Atoms of larger rings belong to groups and chains.
_LARGEST_RING = 8
#: Elements that are not metals, whose rings are ring systems.
_NONMETALS = frozenset([0, 1, 5, 6, 7, 8, 9, 14, 15, 16, 17, 32, 33, 34, 35, 52, 53])
_MOST_MATCHES = 100_000


def _name_atoms(molecule: Any) -> Iterator[tuple[str, list[int]]]:
    """Divide the heavy atoms of a molecule into named parts."""
    from rdkit import Chem

    molecule.UpdatePropertyCache(strict=False)
    Chem.GetSymmSSSR(molecule)
    heavy = [atom.GetIdx() for atom in molecule.GetAtoms() if atom.GetAtomicNum() != 1]
    if len(heavy) < molecule.GetNumAtoms():
        molecule = Chem.RemoveAllHs(molecule)
    for name, atoms in _Division(molecule).parts():
        yield name, [heavy[atom] for atom in atoms]


class _Division:
    """Divide a molecule without hydrogen atoms."""

    def __init__(self, molecule: Any) -> None:
        self.molecule = molecule
        self.atoms = list(molecule.GetAtoms())
        self.near = [[other.GetIdx() for other in atom.GetNeighbors()] for atom in self.atoms]
        self.free = set(range(len(self.atoms)))

    def parts(self) -> Iterator[tuple[str, Iterable[int]]]:
        for system, rings in self._ring_systems():
            yield self._take(self._ring_name(system, rings), system | self._oxo(system))
        yield from self._complexes()
        yield from self._groups()
        yield from self._chains()

    def _take(self, name: str, atoms: set[int]) -> tuple[str, set[int]]:
        self.free -= atoms
        return name, atoms

    def _matches(self, query: Any) -> Sequence[tuple[int, ...]]:
        matches: Sequence[tuple[int, ...]] = self.molecule.GetSubstructMatches(
            query, maxMatches=_MOST_MATCHES
        )
        return matches

    def _size(self, atoms: set[int]) -> tuple[int, int]:
        """Count atoms, and bonds between them."""
        return len(atoms), sum(len(atoms.intersection(self.near[atom])) for atom in atoms) // 2

    # ---------------------------------------------------------------- rings

    def _ring_systems(self) -> list[tuple[set[int], list[set[int]]]]:
        """Return small rings, joined where they share atoms."""
        metals = {atom.GetIdx() for atom in self.atoms if atom.GetAtomicNum() not in _NONMETALS}
        systems: list[tuple[set[int], list[set[int]]]] = []
        for ring in map(set, self.molecule.GetRingInfo().AtomRings()):
            bound = all(metals.intersection(self.near[atom]) for atom in ring)
            if len(ring) > _LARGEST_RING or ring & metals or bound:
                continue
            joined = [system for system in systems if system[0] & ring]
            systems = [system for system in systems if not system[0] & ring]
            rings = [part for _, parts in joined for part in parts]
            systems.append((ring.union(*rings), [ring, *rings]))
        return systems

    def _oxo(self, system: set[int]) -> set[int]:
        """Return the =O and =S on a ring system, also as [S+][O-]."""
        oxo = set()
        for atom in system:
            for bond in self.atoms[atom].GetBonds():
                end = bond.GetOtherAtom(self.atoms[atom])
                double = bond.GetBondTypeAsDouble() == 2
                charged = self.atoms[atom].GetSymbol() in "PS" and end.GetFormalCharge() < 0
                if end.GetDegree() == 1 and end.GetSymbol() in "OS" and (double or charged):
                    oxo.add(end.GetIdx())
        return oxo - system

    def _ring_name(self, system: set[int], rings: list[set[int]]) -> str:
        """Name a ring system: with its =O, by its function, without =O, by a part or its sizes."""
        oxo = self._oxo(system)
        whole = system | oxo
        name = self._name_of_whole(_rules_of_size(SYSTEMS, *self._size(whole)), whole)
        if name is None and len(rings) == 1:
            name = self._name_of_part(rules()[SINGLE], whole)
        if name is not None:
            return name
        name = self._name_of_whole(_rules_of_size(SYSTEMS, *self._size(system)), system)
        if name is None and len(rings) > 1:
            skeleton = self._name_of_part(rules()[SKELETONS], system)
            if skeleton is not None:
                return skeleton
        name = name or self._name_of_whole(_generic_rules(*self._size(system)), system)
        return self._with_oxo(name, oxo) if name else self._sizes_name(system, rings)

    def _name_of_whole(self, candidates: list[Rule], atoms: set[int]) -> str | None:
        for rule in candidates:
            if any(set(match) == atoms for match in self._matches(rule.query)):
                return rule.name
        return None

    def _name_of_part(self, candidates: list[Rule], atoms: set[int]) -> str | None:
        for rule in candidates:
            if any(atoms.issuperset(match) for match in self._matches(rule.query)):
                return rule.name
        return None

    def _with_oxo(self, name: str, oxo: set[int]) -> str:
        """Add the endings of ketones, thioketones and oxides to the name of rings."""
        count: Counter[str] = Counter()
        for end in oxo:
            [atom] = self.near[end]
            carbon = self.atoms[atom].GetSymbol() == "C"
            oxygen = self.atoms[end].GetSymbol() == "O"
            count[("one" if oxygen else "thione") if carbon else "oxide"] += 1
        times = {1: "", 2: "di", 3: "tri"}
        for ending in ("one", "thione"):
            if count[ending] and name[-1] in "en":
                stem = name.removesuffix("e") if ending == "one" and count[ending] == 1 else name
                name = stem + times.get(count[ending], "poly") + ending
        if count["oxide"]:
            name += f" {times.get(count['oxide'], 'poly')}oxide"
        return name

    def _sizes_name(self, system: set[int], rings: list[set[int]]) -> str:
        """Name a ring system by the sizes of its rings and its heteroatoms."""
        symbols = Counter(self.atoms[atom].GetSymbol() for atom in system)
        atoms, bonds = self._size(system)
        number = bonds - atoms + 1
        shared = max((len(a & b) for a, b in combinations(rings, 2)), default=0)
        kind = {1: "spiro", 2: "fused"}.get(shared, "bridged")
        sizes = sorted(len(ring) for ring in rings)
        if number == 1:
            name = f"ring of {sizes[0]}"
        elif number == len(rings) == 2:
            name = f"{kind} rings of {sizes[0]} and {sizes[1]}"
        else:
            name = f"{kind} ring system of {number} rings"
        hetero = [s + str(symbols[s]) * (symbols[s] > 1) for s in sorted(symbols) if s != "C"]
        return name + f" with {''.join(hetero)}" * bool(hetero)

    # ---------------------------------------------------------------- groups

    def _complexes(self) -> Iterator[tuple[str, set[int]]]:
        if all(atom.GetAtomicNum() in _NONMETALS for atom in self.atoms):
            return
        for rule in rules()[COMPLEXES]:
            centres = {match[0] for match in self._matches(rule.query)} & self.free
            atoms = {atom for match in self._matches(rule.query) for atom in match}
            for component in _components(atoms & self.free, self.near):
                if centres.intersection(component):
                    yield self._take(rule.name, set(component))

    def _groups(self) -> Iterator[tuple[str, set[int]]]:
        from rdkit import Chem

        ranks = list(Chem.CanonicalRankAtoms(self.molecule))
        for rule in rules()[GROUPS]:
            matches = [match for match in self._matches(rule.query) if match[0] in self.free]
            # The order must not depend on how atoms are numbered.
            for match in sorted(matches, key=lambda match: [ranks[atom] for atom in match]):
                if match[0] in self.free:
                    core = [match[place] for place in rule.core]
                    components = _components(self.free.intersection(core), self.near)
                    group = next(part for part in components if match[0] in part)
                    yield self._take(rule.name, set(group))

    def _chains(self) -> Iterator[tuple[str, list[int]]]:
        ring = {atom for atom in self.free if self.atoms[atom].IsInRing()}
        carbon = {atom for atom in self.free if self.atoms[atom].GetAtomicNum() == 6}
        for component in _components(carbon & ring, self.near):
            yield "macrocycle", component
        for component in _components(carbon - ring, self.near):
            chain = set(component)
            name = self._name_of_whole(_rules_of_size(CHAINS, *self._size(chain)), chain)
            branched = any(len(chain.intersection(self.near[atom])) > 2 for atom in chain)
            yield name or f"{'branched ' * branched}C{len(chain)} chain", component
        for atom in self.free - carbon:
            yield f"{self.atoms[atom].GetSymbol()} atom", [atom]
