"""Divide graphs into named parts, over which decisions are sums.

Parts are connected and each vertex belongs to exactly one, so the sum over parts equals the sum
over vertices.

Molecules are divided by rules that use only the labels set by the molecule readers:

1. Aromatic ring systems: atoms connected by aromatic bonds.
2. Functional groups: connected non-aromatic heteroatoms, together with carbon atoms that have a
   multiple bond to one of them; carbon atoms with multiple bonds to each other; carbon with three
   halogens.
3. The remaining carbon atoms: rings and chains.

Other graphs are divided into regions around the vertices with the largest values.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..graphs.batch import GraphBatch
from ..graphs.molecule_labels import with_atom_labels
from .molecule import Molecule, read_molecule

#: Maximum number of regions with the largest values in a graph that is not a molecule.
_MOST_REGIONS = 6


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
        Name of the ring or functional group for molecules; for other graphs ``"around"`` and the
        label of the strongest vertex. ``"bias"`` is the value of the model without any pattern,
        ``"other columns"`` the contribution of table columns other than the graph.
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
    named = with_atom_labels(graph)
    molecule = read_molecule(named) if named.edge_labels is not None else None
    if molecule is not None:
        return _FragmentFinder(molecule).parts()
    strength = np.zeros(graph.n_vertices) if values is None else np.asarray(values, dtype=float)
    return _regions(graph, strength)


# -------------------------------------------------------------------- any graph


def _components(
    vertices: Iterable[int],
    near: Sequence[Iterable[int]],
    linked: Callable[[int, int], bool] = lambda vertex, other: True,
) -> list[list[int]]:
    """Return the sorted connected components among ``vertices``, by their first vertex."""
    left = set(vertices)
    found = []
    for start in sorted(left):
        if start not in left:
            continue
        left.discard(start)
        part = [start]
        for vertex in part:
            for other in near[vertex]:
                if other in left and linked(vertex, other):
                    left.discard(other)
                    part.append(other)
        found.append(sorted(part))
    return found


def _regions(graph: GraphBatch, values: np.ndarray) -> list[Part]:
    """Grow regions around the vertices with the largest values, strongest neighbours first."""
    near = [graph.indices[a:b].tolist() for a, b in pairwise(graph.indptr.tolist())]
    strength = np.abs(values)
    order = sorted(range(graph.n_vertices), key=lambda v: (-strength[v], v))
    owner = np.full(graph.n_vertices, -1)
    seeds: list[int] = []
    for vertex in order:
        # A seed is a local maximum.
        if len(seeds) < _MOST_REGIONS and not any(
            (strength[n], -n) > (strength[vertex], -vertex) for n in near[vertex]
        ):
            seeds.append(vertex)
    for part in _components(range(graph.n_vertices), near):  # at least one seed in each
        if not any(seed in part for seed in seeds):
            seeds.append(max(part, key=lambda v: (strength[v], -v)))
    queue = [(-strength[seed], seed, number) for number, seed in enumerate(seeds)]
    heapq.heapify(queue)
    while queue:
        _, vertex, number = heapq.heappop(queue)
        if owner[vertex] < 0:
            owner[vertex] = number
            for other in near[vertex]:
                if owner[other] < 0:
                    heapq.heappush(queue, (-strength[other], other, number))
    labels = graph.labels
    return [
        Part(f"around {labels[seed]}", tuple(np.flatnonzero(owner == number).tolist()))
        for number, seed in enumerate(seeds)
    ]


# -------------------------------------------------------------------- molecules

_HALOGENS = {"F": "fluor", "Cl": "chlor", "Br": "brom", "I": "iod"}
_FIVE = {
    "N": "pyrrole", "O": "furan", "S": "thiophene", "Se": "selenophene", "N2": "imidazole",
    "NO": "oxazole", "NS": "thiazole", "N3": "triazole", "N4": "tetrazole", "N2O": "oxadiazole",
    "N2S": "thiadiazole",
}  # fmt: skip
_FIVE_ADJACENT = {"N2": "pyrazole", "NO": "isoxazole", "NS": "isothiazole"}
_SIX = {"": "benzene", "N": "pyridine", "N3": "triazine", "N4": "tetrazine"}
_SIX_TWO = {1: "pyridazine", 2: "pyrimidine", 3: "pyrazine"}
_FUSED = {
    (5, 6): {
        "N": "indole", "O": "benzofuran", "S": "benzothiophene", "N2": "benzimidazole",
        "NO": "benzoxazole", "NS": "benzothiazole", "N3": "benzotriazole", "N4": "purine",
    },
    (6, 6): {"": "naphthalene", "N": "quinoline"},
    (5, 6, 6): {"N": "carbazole"},
    (6, 6, 6): {"N": "acridine"},
}  # fmt: skip
_FUSED_ADJACENT = {
    "benzimidazole": "indazole", "benzoxazole": "benzisoxazole",
    "benzothiazole": "benzisothiazole",
}  # fmt: skip
_CYCLOALKANES = {3: "cyclopropane", 4: "cyclobutane", 5: "cyclopentane", 6: "cyclohexane"}


class _FragmentFinder:
    """Find and name the parts of a molecule."""

    def __init__(self, molecule: Molecule) -> None:
        self.molecule = molecule
        self.symbols = [atom.symbol for atom in molecule.atoms]
        self.near = [sorted(own) for own in molecule.neighbours]
        self.rings = molecule.rings(longest=20)
        self.in_ring = {vertex for ring in self.rings for vertex in ring}
        self.heavy = [v for v, symbol in enumerate(self.symbols) if symbol != "H"]
        self.aromatic = {v for v in self.heavy if molecule.atoms[v].aromatic}
        self.hetero = {v for v in self.heavy if self.symbols[v] != "C" and v not in self.aromatic}

    def kind(self, first: int, second: int) -> str:
        return self.molecule.kinds[self.molecule.neighbours[first][second]]

    def hydrogens(self, vertex: int) -> int:
        """Count the hydrogens of an atom, both implicit ones and those that are vertices."""
        vertices = sum(self.symbols[other] == "H" for other in self.near[vertex])
        return self.molecule.atoms[vertex].hydrogens + vertices

    def parts(self) -> list[Part]:
        found: list[Part] = []

        def cut_out(
            vertices: Iterable[int],
            name: Callable[[list[int]], str],
            linked: Callable[[int, int], bool] = lambda vertex, other: True,
        ) -> None:
            groups = _components(vertices, self.near, linked)
            found.extend(Part(name(group), tuple(group)) for group in groups)

        cut_out(self.aromatic, self._aromatic_name, lambda v, o: self.kind(v, o) == "aromatic")
        carbons = {v for v in self.heavy if v not in self.aromatic | self.hetero}
        functional = {v for v in carbons if self._holds_hetero(v)}
        cut_out(self.hetero | functional, self._group_name, lambda v, o: not {v, o} <= functional)
        carbons -= functional
        unsaturated = {
            v for v in carbons if any(o in carbons and self._multiple(v, o) for o in self.near[v])
        }
        cut_out(unsaturated, self._unsaturated_name, self._multiple)
        left = carbons - unsaturated
        cut_out(left & self.in_ring, self._ring_name, self._one_ring)
        cut_out(left - self.in_ring, self._chain_name)
        return self._with_hydrogens(found)

    def _with_hydrogens(self, parts: list[Part]) -> list[Part]:
        """Add explicit hydrogens to the part of their atom; without one, as separate parts."""
        owner = {vertex: number for number, part in enumerate(parts) for vertex in part.vertices}
        members = [list(part.vertices) for part in parts]
        alone: list[int] = []
        for vertex in set(range(len(self.symbols))) - set(self.heavy):
            held = [owner[other] for other in self.near[vertex] if other in owner]
            (members[held[0]] if held else alone).append(vertex)
        grown = [Part(p.name, tuple(sorted(own))) for p, own in zip(parts, members, strict=True)]
        return grown + [Part("hydrogen", tuple(own)) for own in _components(alone, self.near)]

    # ---------------------------------------------------------------- membership

    def _multiple(self, first: int, second: int) -> bool:
        return self.kind(first, second) in ("double", "triple")

    def _one_ring(self, first: int, second: int) -> bool:
        return any(first in ring and second in ring for ring in self.rings)

    def _holds_hetero(self, carbon: int) -> bool:
        """Check for a multiple bond to a heteroatom or three halogens."""
        near = self.near[carbon]
        return sum(self.symbols[other] in _HALOGENS for other in near) >= 3 or any(
            other in self.hetero and self._multiple(carbon, other) for other in near
        )

    # ---------------------------------------------------------------- names of rings and chains

    def _aromatic_name(self, system: list[int]) -> str:
        rings = [ring for ring in self.molecule.aromatic_rings if set(ring) <= set(system)]
        hetero = [v for v in system if self.symbols[v] != "C"]
        formula = _formula(self.symbols[v] for v in hetero)
        contents = f" with {formula}" if formula else ""
        if not rings:  # larger ones than those above, or a ring that was cut open
            bonds = sum(self.kind(v, o) == "aromatic" for v in system for o in self.near[v]) / 2
            shape = "ring" if bonds >= len(system) else "chain"
            return f"aromatic {shape} of {len(system)}{contents}"
        sizes = tuple(sorted(len(ring) for ring in rings))
        name = None
        if sizes == (5,):
            name = _FIVE.get(formula)
            if len(hetero) == 2 and hetero[1] in self.near[hetero[0]]:
                name = _FIVE_ADJACENT.get(formula, name)
        elif sizes == (6,):
            name = _SIX_TWO[_steps(rings[0], *hetero)] if formula == "N2" else _SIX.get(formula)
        elif formula in _FUSED.get(sizes, ()):
            name = self._fused_name(rings, hetero, _FUSED[sizes][formula])
        if name is not None:
            return f"{name} ring" if len(sizes) == 1 else f"{name} rings"
        listed = ",".join(map(str, sizes))
        name = (
            f"aromatic ring of {listed}" if len(sizes) == 1 else f"fused aromatic rings ({listed})"
        )
        return name + contents

    def _fused_name(self, rings: list[tuple[int, ...]], hetero: list[int], name: str) -> str | None:
        """Return the name of fused rings, or that of an isomer; None if the isomer has none."""
        shared = {v for ring in rings for v in ring if sum(v in other for other in rings) > 1}
        if shared & set(hetero):
            return None
        beside = [len(shared & set(self.near[v])) for v in hetero]
        if name == "naphthalene":
            return name
        if name in ("carbazole", "acridine"):  # the heteroatom links the outer rings
            return name if beside == [2] else None
        if name == "quinoline":
            return name if beside == [1] else "isoquinoline"
        five, six = sorted(rings, key=len)
        inside = [v for v in hetero if v in five]
        if name == "purine":
            outside = [v for v in hetero if v in six]
            apart = len(inside) == 2 and _steps(five, *inside) == _steps(six, *outside) == 2
            return name if apart else None
        if len(inside) < len(hetero):
            return None
        if len(hetero) == 1:
            return name if beside == [1] else f"iso{name}"
        return _FUSED_ADJACENT.get(name, name) if _steps(five, *hetero[:2]) == 1 else name

    def _unsaturated_name(self, group: list[int]) -> str:
        if any(o in group and self.kind(v, o) == "triple" for v in group for o in self.near[v]):
            return "alkyne"
        return "alkene" if len(group) == 2 else "allene"

    def _ring_name(self, group: list[int]) -> str:
        inside = set(group)
        rings = [ring for ring in self.rings if inside & set(ring)]
        whole = [ring for ring in rings if set(ring) <= inside]
        if len(rings) == 1 and whole and len(group) == len(rings[0]):
            return f"{_CYCLOALKANES.get(len(group), f'cycloalkane of {len(group)}')} ring"
        sizes = ",".join(str(len(ring)) for ring in sorted(rings, key=len))
        if len(rings) == 1:
            return f"carbons of a ring of {sizes}"
        return f"carbons of fused rings ({sizes})"

    def _chain_name(self, group: list[int]) -> str:
        carbons = len(group)
        outside = sum(other not in group for v in group for other in self._heavy_near(v))
        if carbons == 1:
            names = "methane", "methyl", "methylene", "methine", "quaternary carbon"
            return names[min(outside, 4)]
        if outside == 1:
            inner = {v: sum(o in group for o in self.near[v]) for v in group}
            [root] = [v for v in group if len(self._heavy_near(v)) > inner[v]]
            if carbons == 2:
                return "ethyl"
            if carbons == 3:
                return "isopropyl" if inner[root] == 2 else "propyl"
            if carbons == 4 and inner[root] == 3:
                return "tert-butyl"
            if carbons == 4 and inner[root] == 1 and list(inner.values()).count(1) == 3:
                return "isobutyl"
        return f"C{carbons} chain"

    # ---------------------------------------------------------------- names of functional groups

    def _group_name(self, group: list[int]) -> str:
        if len(group) == 1:
            return self._atom_name(group[0])
        inside = set(group)
        count = Counter(self.symbols[v] for v in group)
        for element, name in (("P", self._phosphorus_name), ("S", self._sulfur_name)):
            centres = [v for v in group if self.symbols[v] == element and self._oxo(v, inside)]
            if centres:
                return name(centres[0], group)
        carbons = [v for v in group if self.symbols[v] == "C"]
        if not carbons:
            return self._heteroatom_name(group, count)
        if len(carbons) == 1:
            return self._carbon_name(carbons[0], group)
        return self._joined_name(carbons, group, count)

    def _oxo(self, vertex: int, inside: set[int]) -> list[int]:
        """Return the terminal oxygen atoms with a double bond to ``vertex``."""
        return [
            other
            for other in self.near[vertex]
            if other in inside
            and self.symbols[other] == "O"
            and len(self._heavy_near(other)) == 1
            and self.kind(vertex, other) == "double"
        ]

    def _heavy_near(self, vertex: int) -> list[int]:
        return [other for other in self.near[vertex] if self.symbols[other] != "H"]

    def _atom_name(self, vertex: int) -> str:
        atom, near = self.molecule.atoms[vertex], self._heavy_near(vertex)
        symbol, hydrogens = atom.symbol, self.hydrogens(vertex)
        if symbol in _HALOGENS:
            return _HALOGENS[symbol] + ("ine" if near else "ide")
        if not near:
            return {"O": "water", "N": "ammonia"}.get(symbol, f"{symbol} alone")
        aryl = " aromatic" if self.aromatic & set(near) else ""
        double = any(self.kind(vertex, other) == "double" for other in near)
        if symbol == "N":
            if double:
                return "imine of an aromatic ring"
            if atom.charge > 0 and len(near) == 4:
                return "quaternary ammonium"
            degree = {1: "primary", 2: "secondary", 3: "tertiary"}.get(len(near), "quaternary")
            return f"{degree}{aryl} amine"
        if symbol == "O":
            if double:
                return "carbonyl of an aromatic ring"
            if hydrogens or len(near) == 1:
                if aryl and self.symbols[near[0]] == "N":
                    return "N-oxide" if atom.charge < 0 else "N-oxide or N-hydroxy"
                return "phenol" if aryl else "alcohol"
            return "aromatic ether" if aryl else "ether"
        if symbol == "S":
            if double:
                return "thiocarbonyl of an aromatic ring"
            return "thiol" if hydrogens or len(near) == 1 else "thioether"
        names = {"B": "borane", "Si": "silane", "P": "phosphine", "Se": "selenide", "*": "any atom"}
        return names.get(symbol, symbol)

    def _sulfur_name(self, centre: int, group: list[int]) -> str:
        inside = set(group)
        oxo = self._oxo(centre, inside)
        others = [v for v in self.near[centre] if v in inside and v not in oxo]
        symbols = Counter(self.symbols[v] for v in others)
        if len(oxo) >= 2:
            if symbols["N"]:
                if any(self.symbols[v] == "C" for v in group):
                    return "sulfonylurea or acylsulfonamide"
                if symbols["O"]:
                    return "sulfamate"
                return "sulfamide" if symbols["N"] > 1 else "sulfonamide"
            if symbols["O"] > 1:
                return "sulfate"
            if symbols["O"]:
                acid = any(self.hydrogens(v) or self._is_anion(v) for v in others)
                return "sulfonic acid" if acid else "sulfonate"
            if any(symbols[halogen] for halogen in _HALOGENS):
                return "sulfonyl halide"
            return "sulfone"
        return "sulfoxide" if not others else "sulfinic group"

    def _phosphorus_name(self, centre: int, group: list[int]) -> str:
        names = "phosphine oxide", "phosphinate", "phosphonate", "phosphate"
        oxygens = sum(self.symbols[v] == "O" for v in self.near[centre])
        return names[max(1, min(4, oxygens)) - 1]

    def _is_anion(self, vertex: int) -> bool:
        return self.molecule.atoms[vertex].charge < 0

    def _heteroatom_name(self, group: list[int], count: Counter[str]) -> str:
        """Name a group without carbon."""
        if count == {"N": 1, "O": 2}:
            ends = [v for v in group if self.symbols[v] == "O" and len(self._heavy_near(v)) == 1]
            if len(ends) == 2:
                return "nitro"
        if count == {"N": 1, "O": 1}:
            nitrogen, oxygen = sorted(group, key=self.symbols.__getitem__)
            if self.kind(nitrogen, oxygen) == "double":
                return "nitroso"
            return "N-oxide" if self._is_anion(oxygen) else "hydroxylamine"
        if set(count) == {"N"}:
            near = [(v, o) for v in group for o in self.near[v] if o in group]
            double = any(self.kind(v, o) == "double" for v, o in near)
            return {2: "azo" if double else "hydrazine", 3: "azide"}.get(len(group), "N chain")
        if count == {"O": 2}:
            return "peroxide"
        if count == {"S": 2}:
            return "disulfide"
        if count["B"] == 1 and count["O"]:
            acid = any(self.hydrogens(v) for v in group if self.symbols[v] == "O")
            return "boronic acid" if acid else "boronate"
        if count["Si"]:
            return "silyl ether"
        return f"group {_formula(self.symbols[v] for v in group)}"

    def _carbon_name(self, carbon: int, group: list[int]) -> str:
        """Name a group around one carbon atom with multiple bonds to heteroatoms."""
        near = self._heavy_near(carbon)
        halogens = [v for v in near if self.symbols[v] in _HALOGENS]
        if len(halogens) >= 3:
            kinds = {self.symbols[v] for v in halogens}
            return f"tri{_HALOGENS[kinds.pop()]}omethyl" if len(kinds) == 1 else "trihalomethyl"
        for v in near:
            if self.kind(carbon, v) == "triple":
                nitrogen = "nitrile" if len(self._heavy_near(v)) == 1 else "isonitrile"
                names = {"N": nitrogen, "O": "carbon monoxide"}
                return names.get(self.symbols[v], "C triple")
        double = [self.symbols[v] for v in near if self.kind(carbon, v) == "double"]
        single = [v for v in near if v in group and self.kind(carbon, v) == "single"]
        if len(double) == 2:
            names = {"NO": "isocyanate", "NS": "isothiocyanate", "O2": "carbon dioxide"}
            return names.get(_formula(double), "cumulated group")
        return self._by_double(double[0], carbon, single, group)

    def _by_double(self, element: str, carbon: int, single: list[int], group: list[int]) -> str:
        beside = Counter(self.symbols[v] for v in single)
        formula = _formula(beside.elements())
        further = set(group) - set(single) - {carbon}
        linked = {self.symbols[v] for v in further if any(o in self.near[v] for o in single)}
        if element == "O":
            if not single:
                return "aldehyde" if self.hydrogens(carbon) else "ketone"
            if beside["O"] == 1 and len(single) == 1:
                [oxygen] = single
                if self._is_anion(oxygen):
                    return "carboxylate"
                if self.hydrogens(oxygen) or len(self._heavy_near(oxygen)) == 1:
                    return "carboxylic acid"
                return "lactone" if self._one_ring(carbon, oxygen) else "ester"
            if beside["N"] == 1 and len(single) == 1:
                return self._amide_name(carbon, single[0], linked)
            names = {"N2": "urea", "NO": "carbamate", "O2": "carbonate", "S": "thioester"}
            halide = any(beside[halogen] for halogen in _HALOGENS)
            return names.get(formula, "acyl halide" if halide else "acyl group")
        if element == "S":
            return {"N": "thioamide", "N2": "thiourea"}.get(formula, "thione")
        if element == "N":
            [nitrogen] = [v for v in self.near[carbon] if self.kind(carbon, v) == "double"]
            behind = {self.symbols[v] for v in self.near[nitrogen] if v in group and v != carbon}
            if behind:
                return {"O": "oxime", "N": "hydrazone"}.get("".join(sorted(behind)), "imine")
            return {"N": "amidine", "N2": "guanidine", "O": "imidate"}.get(formula, "imine")
        return f"C={element} group"

    def _amide_name(self, carbon: int, nitrogen: int, linked: set[str]) -> str:
        if "N" in linked:
            return "hydrazide"
        if "O" in linked:
            return "hydroxamic acid"
        sizes = [len(ring) for ring in self.rings if carbon in ring and nitrogen in ring]
        if sizes:
            return "beta-lactam" if 4 in sizes else "lactam"
        degree = {2: "primary", 1: "secondary", 0: "tertiary"}.get(self.hydrogens(nitrogen), "")
        return f"{degree} amide".strip()

    def _joined_name(self, carbons: list[int], group: list[int], count: Counter[str]) -> str:
        """Name a group in which heteroatoms link several such carbon atoms."""
        oxo = [v for v in carbons if self._oxo(v, set(group))]
        if len(oxo) == len(carbons) == 2:
            if count["N"] == 1 and count["O"] == 2:
                return "imide"
            if count["O"] == 3 and not count["N"]:
                return "anhydride"
            if count["N"] == 2 and count["O"] == 2:
                return "acylurea or diacylhydrazine"
        if len(oxo) == len(carbons) == 3 and count["N"] == 2 and count["O"] == 3:
            return "barbiturate"
        if not oxo and count["N"] >= 2 and set(count) == {"C", "N"}:
            return "biguanide" if count["N"] >= 5 else "linked amidines"
        return f"group {_formula(self.symbols[v] for v in group)}"


def _steps(ring: Sequence[int], first: int, second: int) -> int:
    """Return the number of bonds between two atoms of a ring."""
    steps = abs(ring.index(first) - ring.index(second))
    return min(steps, len(ring) - steps)


def _formula(symbols: Iterable[str]) -> str:
    """Return elements with their counts, carbon first, such as ``C2NO2``."""
    count = Counter(symbols)
    order = sorted(count, key=lambda symbol: (symbol != "C", symbol))
    return "".join(symbol + (str(count[symbol]) if count[symbol] > 1 else "") for symbol in order)
