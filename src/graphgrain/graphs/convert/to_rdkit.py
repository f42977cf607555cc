"""The RDKit molecule behind a graph: the one that was read, else one made of its labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..batch import GraphBatch
from ..molecule_labels import ATOMIC_NUMBER, are_molecules, parse_atom, with_atom_labels


class SourceMolecule(NamedTuple):
    """An RDKit molecule and, for each vertex of the graph, the number of its atom."""

    molecule: Any
    atoms: np.ndarray


def source_molecule(graph: GraphBatch) -> SourceMolecule | None:
    """Return the molecule of one graph; None if it is no molecule, or without RDKit.

    This is the molecule that was read (columns ``"smiles"``, ``"molecule"`` and ``"atoms"``), with
    all atoms, if its bonds are the edges of the graph. Otherwise labels that are atoms and bonds,
    or codes of them (column ``"alphabet"``), are taken as they are.
    """
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        return None
    columns = {name: values[0] for name, values in graph.columns.items()}
    with rdBase.BlockLogs():
        molecule = None
        if isinstance(columns.get("molecule"), bytes | Chem.Mol):
            molecule = Chem.Mol(columns["molecule"])
        elif isinstance(columns.get("smiles"), str):
            molecule = Chem.MolFromSmiles(columns["smiles"])
        if molecule is not None:
            atoms = np.asarray(columns.get("atoms"))
            if atoms.ndim != 1 or atoms.dtype.kind not in "iu":
                if graph.n_vertices > molecule.GetNumAtoms():
                    molecule = Chem.AddHs(molecule)
                atoms = np.arange(molecule.GetNumAtoms())
            if _fits(graph, molecule, atoms):
                return SourceMolecule(molecule, atoms)
        graph = with_atom_labels(graph)
        if graph.n_vertices and are_molecules(graph):
            return SourceMolecule(labelled_molecule(graph), np.arange(graph.n_vertices))
    return None


def _fits(graph: GraphBatch, molecule: Any, atoms: np.ndarray) -> bool:
    """Return whether the vertices are these atoms, and the edges the bonds between them."""
    if len(atoms) != graph.n_vertices or atoms.max(initial=-1) >= molecule.GetNumAtoms():
        return False
    vertex = {atom: number for number, atom in enumerate(atoms.tolist())}
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
    edges = [sorted((vertex[u], vertex[v])) for u, v in ends if u in vertex and v in vertex]
    return sorted(edges) == graph.edges.tolist()


def labelled_molecule(graph: GraphBatch) -> Any:
    """Return a molecule of the atoms and bonds that the labels of one graph name.

    RDKit adds hydrogens where the labels make a molecule, and none where they do not, such as
    aromatic rings whose hydrogens are unknown. CIP descriptors in labels are ignored.
    """
    from rdkit import Chem

    types = {name.lower(): kind for name, kind in Chem.BondType.names.items()}
    editable = Chem.RWMol()
    for label in graph.labels.tolist():
        parsed = parse_atom(label)
        assert parsed is not None
        atom = Chem.Atom(ATOMIC_NUMBER[parsed.symbol])
        atom.SetFormalCharge(parsed.charge)
        atom.SetIsotope(parsed.isotope)
        atom.SetIsAromatic(parsed.aromatic)
        if parsed.radicals:
            atom.SetNumRadicalElectrons(parsed.radicals)
        editable.AddAtom(atom)
    bonds = [] if graph.edge_labels is None else graph.edge_labels.tolist()
    for (first, second), label in zip(graph.edges.tolist(), bonds, strict=True):
        kind = types[str(label).partition("@")[0]]
        editable.AddBond(first, second, kind)
        if kind == Chem.BondType.AROMATIC:
            editable.GetBondBetweenAtoms(first, second).SetIsAromatic(True)
            for end in (first, second):
                editable.GetAtomWithIdx(end).SetIsAromatic(True)
    sanitized = Chem.RWMol(editable)
    if Chem.SanitizeMol(sanitized, catchErrors=True) == Chem.SanitizeFlags.SANITIZE_NONE:
        return sanitized.GetMol()
    for atom in editable.GetAtoms():
        atom.SetNoImplicit(True)
    editable.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(editable)
    return editable.GetMol()
