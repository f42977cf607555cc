"""Labels of molecular graphs, as written by :func:`graphgrain.from_rdkit` with any options."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from .batch import GraphBatch

_ELEMENTS = (  # noqa: SIM905
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb "
    "Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm "
    "Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"
).split()
ATOMIC_NUMBER = {"*": 0} | {symbol: number for number, symbol in enumerate(_ELEMENTS, 1)}
#: Elements that are written in lower case if aromatic.
_AROMATIC = frozenset(["B", "C", "N", "O", "P", "S", "Se", "Te", "As", "Si"])
#: mass number, symbol, charge, unpaired electrons, CIP descriptor
_ATOM = re.compile(r"(\d+)?([A-Z][a-z]?|[a-z]{1,2}|\*)([+-]\d*)?(\.*)(?:@(\w+))?")
#: Bond orders; 0 for dative bonds, whose direction graphs do not record, and for unusual types.
BOND_ORDERS = {
    "single": 1.0,
    "aromatic": 1.5,
    "oneandahalf": 1.5,
    "double": 2.0,
    "twoandahalf": 2.5,
    "triple": 3.0,
    "threeandahalf": 3.5,
    "quadruple": 4.0,
    "fourandahalf": 4.5,
    "quintuple": 5.0,
    "fiveandahalf": 5.5,
    "hextuple": 6.0,
} | dict.fromkeys(("dative", "dativeone", "dativel", "dativer", "ionic", "hydrogen"), 0.0)
BOND_ORDERS |= dict.fromkeys(("zero", "threecenter", "unspecified", "other"), 0.0)

#: A code and its meaning in the description of a data set, and bonds by their valence.
_CODE = re.compile(r"(?<!\S)(\d+)[ \t]+([A-Za-z]+|[123])(?=\s|$)")
_ALPHABET = re.compile(r"(\d+=\w+ ?)+;(\d+=\w+ ?)+")
_BOND_OF_VALENCE = {"1": "single", "2": "double", "3": "triple"}


class Atom(NamedTuple):
    """An atom, from the label of its vertex."""

    symbol: str  # "*" for any element
    charge: int
    radicals: int  # number of unpaired electrons
    hydrogens: int  # number of hydrogens that are not vertices of the graph
    isotope: int  # mass number, or 0
    aromatic: bool
    stereo: str  # CIP descriptor, or ""


def read_alphabet(readme: str) -> str | None:
    """Return which atoms and bonds the codes of a data set mean, from its description.

    None if it does not tell, or if labels are not atoms and bonds.

    >>> read_alphabet("Node labels:  0 C  1 N   Edge labels:  0 aromatic  1 single")
    '0=C 1=N;0=aromatic 1=single'
    """
    head, edges, tail = readme.rpartition("Edge labels")
    nodes = head.rpartition("Node labels")[2] if edges else ""
    atoms = dict(_CODE.findall(nodes))
    listed = _CODE.findall(tail.partition("==")[0])
    bonds = {code: _BOND_OF_VALENCE.get(name, name) for code, name in listed}
    if not (
        atoms
        and bonds
        and all(map(parse_atom, atoms.values()))
        and BOND_ORDERS.keys() >= {*bonds.values()}
    ):
        return None
    return ";".join(" ".join(f"{c}={name}" for c, name in part.items()) for part in (atoms, bonds))


def with_atom_labels(graph: GraphBatch) -> GraphBatch:
    """Return one graph with atoms and bonds as labels if the column ``alphabet`` has its codes."""
    alphabet = graph.columns["alphabet"][0] if "alphabet" in graph.columns else None
    if graph.edge_labels is None or not _ALPHABET.fullmatch(str(alphabet)):
        return graph
    atoms, bonds = (
        dict(pair.split("=") for pair in part.split()) for part in str(alphabet).split(";")
    )
    labels = [atoms.get(str(label)) for label in graph.labels.tolist()]
    edge_labels = [bonds.get(str(label)) for label in graph.edge_labels.tolist()]
    if None in labels or None in edge_labels:
        return graph
    return GraphBatch.from_edges([len(labels)], graph.edges, labels, edge_labels=edge_labels)


def are_molecules(batch: GraphBatch, atoms: Iterable[Any] | None = None) -> bool:
    """Return whether vertex and edge labels are atoms and bonds.

    ``atoms`` are the labels to check instead of those in the table of vertex labels.
    """
    bonds = batch.edge_label_table
    return (
        batch.label_kind == "string"
        and bonds is not None
        and all(map(parse_atom, batch.label_table.tolist() if atoms is None else atoms))
        and all(str(label).partition("@")[0] in BOND_ORDERS for label in bonds.tolist())
    )


@lru_cache(4096)
def parse_atom(label: Any) -> Atom | None:
    """Parse a vertex label as an atom without hydrogens; None if it is not an atom."""
    found = _ATOM.fullmatch(str(label))
    if found is None:
        return None
    mass, written, sign, dots, stereo = found.groups()
    symbol = written.capitalize()
    if symbol not in ATOMIC_NUMBER or (written.islower() and symbol not in _AROMATIC):
        return None
    charge = int(sign[0] + (sign[1:] or "1")) if sign else 0
    return Atom(symbol, charge, len(dots), 0, int(mass or 0), written.islower(), stereo or "")
