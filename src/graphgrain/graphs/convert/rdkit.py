"""Molecules as labelled graphs, through RDKit (``pip install graphgrain[chem]``)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import (
    GraphgrainWarning,
    InvalidGraphError,
    InvalidParameterError,
    MissingDependencyError,
)
from ..batch import GraphBatch
from .parts import Part, check_items, is_from, joined


def is_rdkit(x: Any) -> bool:
    """Whether this is an RDKit molecule."""
    return is_from(x, "rdkit") and hasattr(x, "GetAtoms")


def from_rdkit(
    molecules: Iterable[Any],
    *,
    charge: bool = False,
    aromatic: bool = False,
    hydrogens: bool = False,
) -> GraphBatch:
    """Turn RDKit molecules into a :class:`GraphBatch`: atoms with symbols, bonds with types.

    Parameters
    ----------
    molecules : iterable of RDKit molecules
    charge : bool
        Add the formal charge to the symbol: ``"N+"``, ``"O-"``, ``"Ca+2"``.
    aromatic : bool
        Write aromatic atoms in lower case, as SMILES do: ``"c"``, ``"n"``.
    hydrogens : bool
        Make every hydrogen a vertex. By default they are where RDKit keeps them as atoms,
        which for molecules from SMILES means: nearly never.

    Returns
    -------
    graphs : GraphBatch
        Vertex labels are atom symbols; edge labels are ``"single"``, ``"double"``,
        ``"triple"``, ``"aromatic"`` and RDKit's rarer bond types.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from rdkit import Chem
    >>> gg.from_rdkit([Chem.MolFromSmiles("C[NH3+]")], charge=True).labels.tolist()
    ['C', 'N+']
    """
    molecules = list(molecules)
    check_items(molecules, is_rdkit, "an RDKit molecule")
    return joined([_part(molecule, charge, aromatic, hydrogens) for molecule in molecules])


def from_smiles(
    smiles: Iterable[str],
    *,
    charge: bool = False,
    aromatic: bool = False,
    hydrogens: bool = False,
    errors: str = "raise",
    return_index: bool = False,
) -> Any:
    """Turn SMILES into a :class:`GraphBatch`: atoms with symbols, bonds with types.

    Parameters
    ----------
    smiles : iterable of str
    charge, aromatic, hydrogens : bool
        What the vertex labels tell; see :func:`from_rdkit`.
    errors : {"raise", "skip"}
        What happens with SMILES that do not parse: an error, or a warning that names them and
        graphs for the rest.
    return_index : bool
        Return also the positions of the SMILES that became graphs, so that other columns can
        be brought in line: ``y = y[index]``.

    Returns
    -------
    graphs : GraphBatch
    index : int array, if ``return_index``

    Examples
    --------
    >>> import graphgrain as gg
    >>> gg.from_smiles(["CCO", "c1ccccc1"])
    GraphBatch(2 graphs, 9 vertices, 8 edges, 2 vertex labels, 2 edge labels)
    """
    if isinstance(smiles, str):
        raise InvalidGraphError(
            f"A list of SMILES is expected; got the string {smiles!r}. Put it in a list."
        )
    chem = rdkit()
    items = list(smiles)
    molecules, problems = [], []
    for number, text in enumerate(items):
        molecule = parse_smiles(chem, text)
        molecules.append(molecule)
        if isinstance(molecule, str):
            problems.append(f"number {number}, {text!r}: {molecule}")
    index = settle(molecules, problems, errors)
    graphs = from_rdkit(
        [molecules[number] for number in index],
        charge=charge,
        aromatic=aromatic,
        hydrogens=hydrogens,
    )
    return (graphs, index) if return_index else graphs


def settle(molecules: Sequence[Any], problems: Sequence[str], errors: str) -> np.ndarray:
    """Which molecules are good; the others are an error or a warning, never silence."""
    if errors not in ("raise", "skip"):
        raise InvalidParameterError(f"errors must be 'raise' or 'skip'; got {errors!r}.")
    if problems:
        several = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        if errors == "raise":
            raise InvalidGraphError(
                f"Every molecule must be readable; {problems[0]}{several}. Correct it, or say "
                "errors='skip' to go on without."
            )
        warnings.warn(
            f"{len(problems)} of {len(molecules)} molecules could not be read and are left out: "
            + "; ".join(problems[:20])
            + ("; ..." if len(problems) > 20 else ""),
            GraphgrainWarning,
            stacklevel=3,
        )
    good = [number for number, molecule in enumerate(molecules) if not isinstance(molecule, str)]
    return np.array(good, dtype=np.int64)


def rdkit() -> Any:
    """RDKit's module for molecules."""
    try:
        from rdkit import Chem
    except ImportError:
        raise MissingDependencyError(
            "Molecules are read with RDKit, which is not installed. Install it with: "
            "pip install 'graphgrain[chem]'"
        ) from None
    return Chem


def parse_smiles(chem: Any, text: Any) -> Any:
    """The molecule, or a string that says what is wrong."""
    if not isinstance(text, str):
        return f"SMILES are strings, not {type(text).__name__}"
    if not text.strip():
        return "the SMILES is empty"
    if "\0" in text:
        return "the SMILES holds a zero byte"
    return _checked(chem, lambda: chem.MolFromSmiles(text.strip(), sanitize=False), "SMILES")


def parse_mol_block(chem: Any, block: str) -> Any:
    """The molecule of a mol block (one record of an SDF file), or what is wrong with it."""
    return _checked(
        chem, lambda: chem.MolFromMolBlock(block, sanitize=False, removeHs=False), "mol block"
    )


def _checked(chem: Any, parse: Any, what: str) -> Any:
    from rdkit import rdBase

    with rdBase.BlockLogs():
        try:
            molecule = parse()
            if molecule is None:
                return f"it is no valid {what}"
            problems = chem.DetectChemistryProblems(molecule)
            if problems:
                return problems[0].Message()
            chem.SanitizeMol(molecule)
            return chem.RemoveHs(molecule)
        except (ValueError, RuntimeError) as error:
            return str(error).strip().split("\n")[0] or f"it is no valid {what}"


def _part(molecule: Any, charge: bool, aromatic: bool, hydrogens: bool) -> Part:
    if hydrogens:
        molecule = rdkit().AddHs(molecule)
    return Part(
        molecule.GetNumAtoms(),
        [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()],
        [_atom_label(atom, charge, aromatic) for atom in molecule.GetAtoms()],
        [bond.GetBondType().name.lower() for bond in molecule.GetBonds()],
    )


def _atom_label(atom: Any, charge: bool, aromatic: bool) -> str:
    label = atom.GetSymbol()
    if aromatic and atom.GetIsAromatic():
        label = label.lower()
    amount = atom.GetFormalCharge() if charge else 0
    if amount:
        label += ("+" if amount > 0 else "-") + (str(abs(amount)) if abs(amount) > 1 else "")
    return label
