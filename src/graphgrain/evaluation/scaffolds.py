"""Splits by scaffold: test molecules have ring systems that no training molecule has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidParameterError

#: Shares of training, validation and test part.
SHARES = (0.8, 0.1, 0.1)


def scaffolds(smiles: Sequence[str]) -> list[str]:
    """The Murcko scaffold of each molecule, without chirality; empty for chains.

    Examples
    --------
    >>> from graphgrain.evaluation.scaffolds import scaffolds
    >>> scaffolds(["Cc1ccccc1", "CCO"])
    ['c1ccccc1', '']
    """
    try:
        from rdkit.Chem import MolFromSmiles
        from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles
    except ImportError:
        raise InvalidParameterError("Scaffolds need RDKit: pip install graphgrain[chem].") from None
    scaffold: Any = MurckoScaffoldSmiles  # RDKit says nothing of types here
    return [scaffold(mol=MolFromSmiles(text), includeChirality=False) for text in smiles]


def scaffold_split(
    groups: Sequence[str], shares: Sequence[float] = SHARES
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training, validation and test part as the Open Graph Benchmark makes them.

    Molecules with the same scaffold stay together. The sets are taken by size, of equal ones the
    one with the later first molecule before; each goes to the first part that has room for it.

    Parameters
    ----------
    groups : sequence of str
        The scaffold of each molecule.
    shares : sequence of float
        How large the parts are; the last takes what is left.

    Examples
    --------
    >>> from graphgrain.evaluation.scaffolds import scaffold_split
    >>> parts = scaffold_split(["a"] * 5 + ["b"] * 3 + ["c", "d"])
    >>> [part.tolist() for part in parts]
    [[0, 1, 2, 3, 4, 5, 6, 7], [9], [8]]
    """
    members: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    ordered = sorted(members.values(), key=lambda places: (len(places), places[0]), reverse=True)
    first, second = shares[0] * len(groups), (shares[0] + shares[1]) * len(groups)
    train: list[int] = []
    validation: list[int] = []
    test: list[int] = []
    for places in ordered:
        if len(train) + len(places) <= first:
            train += places
        elif len(train) + len(validation) + len(places) <= second:
            validation += places
        else:
            test += places
    return np.array(train, dtype=int), np.array(validation, dtype=int), np.array(test, dtype=int)
