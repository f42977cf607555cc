"""Molecules in the slowest, most obvious way: every atom and bond asked, every step RDKit's own."""

from __future__ import annotations

from typing import Any

import graphgrain as gg


def slow_molecule(smiles: str) -> Any:
    """The molecule as RDKit reads it by default, or None."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(smiles.strip())


def slow_batch(molecules: list[Any], charge: bool = False, aromatic: bool = False) -> gg.GraphBatch:
    """The graphs of RDKit molecules."""
    edges, labels, bonds, sizes = [], [], [], []
    for molecule in molecules:
        base = len(labels)
        for atom in molecule.GetAtoms():
            label = atom.GetSymbol()
            if aromatic and atom.GetIsAromatic():
                label = label.lower()
            if charge and atom.GetFormalCharge():
                number = f"{atom.GetFormalCharge():+d}"
                label += number[0] if number[1:] == "1" else number
            labels.append(label)
        for bond in molecule.GetBonds():
            edges.append((base + bond.GetBeginAtomIdx(), base + bond.GetEndAtomIdx()))
            bonds.append(bond.GetBondType().name.lower())
        sizes.append(molecule.GetNumAtoms())
    return gg.GraphBatch.from_edges(sizes, edges, labels, edge_labels=bonds)
