"""Atoms and bonds out of RDKit in bulk.

1. Bonds leave as the matrix of bond orders, one call per molecule. Many small matrices laid end
   to end become neighbour lists with a few NumPy operations.
2. Symbols of atoms come from the SMILES where there is one: RDKit has just checked it, and
   numbers atoms in its order. What ``[nH+]`` is, RDKit itself says, once per kind.
3. Whatever this cannot tell (metals, labels with more than the symbol, very large molecules) is
   asked of RDKit's objects, one by one.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

import numpy as np

from ..batch import GraphBatch
from ..labels import encode_labels
from .rdkit_labels import LabelOptions, atom_labels, bond_label, prepared

#: The atoms of a SMILES; everything else in it is bonds, branches and rings.
_ATOMS = re.compile(r"\[[^\]]+\]|Br|Cl|[BCNOPSFIbcnops*]")
#: Bonds of other types than the usual four, or text after the SMILES.
_UNUSUAL = re.compile(r"[~$<>\s]")
#: Elements that stay in the graph, and among which no bond becomes a rare one: hydrogens mostly
#: leave it, metals get dative bonds.
_NONMETALS = frozenset(
    ["*", "B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "As", "Se", "Br", "Te", "I"]
)
#: Above this many atoms a matrix costs more than objects.
_LARGEST_MATRIX = 250
#: Entries of matrices that wait together (8 bytes each).
_WAITING = 2**18
#: Types by the double of their order.
_COMMON = {2: "single", 3: "aromatic", 4: "double", 6: "triple"}


class MoleculeCollector:
    """Molecules on their way into a batch.

    Parameters
    ----------
    chem : module
        ``rdkit.Chem``
    options : LabelOptions
    """

    def __init__(self, chem: Any, options: LabelOptions) -> None:
        self.chem, self.options = chem, options
        self._rare_bond = chem.MolFromSmarts("*!-!=!#!:*")
        self._codes: dict[str, int] = {}  # of labels, in the order of their appearance
        self._symbols = _SymbolCodes(chem, self._codes)
        self._prepare = options.stereo or options.hydrogens
        self._symbols_only = options == LabelOptions()
        self._bond_codes = {name: code for code, name in _COMMON.items()}
        self._sizes: list[int] = []
        self._atoms = array("i")
        self._matrices: list[np.ndarray] = []
        self._waiting = 0  # entries of the matrices
        self._flushed = 0  # vertices whose bonds are in the blocks
        self._blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def codes(self, smiles: str) -> list[int] | None:
        """The code of the symbol of each atom of a SMILES; None if it takes RDKit's objects.

        An atom of hydrogen usually leaves the graph, and a metal may get bonds that are rare.
        """
        if _UNUSUAL.search(smiles):
            return None
        codes = [self._symbols[atom] for atom in _ATOMS.findall(smiles)]
        return codes if self._symbols.special.isdisjoint(codes) else None

    def add(self, molecule: Any, codes: list[int] | None = None) -> None:
        """Append a molecule; ``codes`` are those of its SMILES, if it has just been read."""
        chem = self.chem
        if self._prepare:
            molecule = prepared(chem, molecule, self.options)
        size = molecule.GetNumAtoms()
        fresh = codes is not None and len(codes) == size
        if not (fresh and self._symbols_only):
            known = self._codes
            labels = atom_labels(molecule, self.options)
            codes = [known.setdefault(label, len(known)) for label in labels]
        self._atoms.extend(codes or ())
        self._sizes.append(size)
        if (
            size > _LARGEST_MATRIX
            or self.options.stereo
            or (not fresh and molecule.HasSubstructMatch(self._rare_bond))
        ):
            self._add_bonds(molecule, size)
            return
        # Unless it is fresh, the molecule may have changed since RDKit kept its matrix.
        self._matrices.append(chem.GetAdjacencyMatrix(molecule, True, 0, not fresh))
        self._waiting += size * size
        if self._waiting > _WAITING:
            self._flush()

    def batch(self) -> GraphBatch:
        """All molecules as one batch."""
        if not self._sizes:
            return GraphBatch.from_edges([], [])
        self._flush()
        degrees, indices, bonds = (
            np.concatenate(parts) for parts in zip(*self._blocks, strict=True)
        )
        atoms = np.array(self._atoms, dtype=np.int32)
        used = set(np.unique(atoms).tolist())
        names = {label: code for label, code in self._codes.items() if code in used}
        label_codes, label_table = _encoded(atoms, names, "vertex")
        used = set(np.unique(bonds).tolist())
        names = {name: code for name, code in self._bond_codes.items() if code in used}
        edge_codes, edge_table = _encoded(bonds, names, "edge")
        return GraphBatch._of(
            offsets=_running_sum(np.array(self._sizes)),
            indptr=_running_sum(degrees),
            indices=indices,
            label_codes=label_codes,
            label_table=label_table,
            labelled=True,
            edge_label_codes=edge_codes,
            edge_label_table=edge_table,
            vertex_attributes=None,
            edge_attributes=None,
        )

    def _flush(self) -> None:
        """The waiting matrices as neighbour lists."""
        if not self._matrices:
            return
        sizes = np.array([len(matrix) for matrix in self._matrices])
        orders = np.concatenate([matrix.reshape(-1) for matrix in self._matrices])
        bonds = (2 * orders).astype(np.int32)
        entries = np.flatnonzero(bonds)
        begins = _running_sum(sizes * sizes)
        owner = np.searchsorted(begins, entries, side="right") - 1
        row, column = np.divmod(entries - begins[owner], sizes[owner])
        vertices = _running_sum(sizes)
        degrees = np.bincount(row + vertices[owner], minlength=vertices[-1])
        indices = (column + vertices[owner] + self._flushed).astype(np.int32)
        self._blocks.append((degrees, indices, bonds[entries]))
        self._flushed += int(vertices[-1])
        self._matrices, self._waiting = [], 0

    def _add_bonds(self, molecule: Any, size: int) -> None:
        """The bonds of one molecule, from RDKit's objects."""
        self._flush()
        codes, stereo = self._bond_codes, self.options.stereo
        bonds = [
            (
                bond.GetBeginAtomIdx(),
                bond.GetEndAtomIdx(),
                codes.setdefault(bond_label(bond, stereo), 100 + len(codes)),
            )
            for bond in molecule.GetBonds()
        ]
        first, second, kinds = np.array(bonds, dtype=np.int64).reshape(-1, 3).T
        source, target = np.concatenate((first, second)), np.concatenate((second, first))
        order = np.lexsort((target, source))
        indices = (target[order] + self._flushed).astype(np.int32)
        degrees = np.bincount(source, minlength=size)
        self._blocks.append((degrees, indices, np.tile(kinds, 2)[order].astype(np.int32)))
        self._flushed += size


class _SymbolCodes(dict[str, int]):
    """The code of an atom as SMILES write it, such as ``"[nH+]"``; RDKit is asked once for each.

    Attributes
    ----------
    special : set of int
        Codes of atoms that take RDKit's objects.
    """

    def __init__(self, chem: Any, codes: dict[str, int]) -> None:
        self.chem, self.codes = chem, codes
        self.special: set[int] = set()

    def __missing__(self, text: str) -> int:
        molecule = self.chem.MolFromSmiles(text, sanitize=False)
        code = -1
        if molecule is not None and molecule.GetNumAtoms() == 1:
            symbol = molecule.GetAtomWithIdx(0).GetSymbol()
            code = self.codes.setdefault(symbol, len(self.codes))
        if code == -1 or symbol not in _NONMETALS:
            self.special.add(code)
        self[text] = code
        return code


def _running_sum(sizes: np.ndarray) -> np.ndarray:
    sums = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=sums[1:])
    return sums


def _encoded(codes: np.ndarray, names: dict[str, int], what: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes in the order of the names, and the table of names."""
    place, table = encode_labels(list(names), what)
    new = np.zeros(max(names.values(), default=0) + 1, dtype=np.int32)
    new[list(names.values())] = place
    return new[codes], table
