"""Splits into training and test set other than folds: random, by scaffold, or by a column.

In a scaffold split, no training molecule has the ring system of a test molecule. It estimates the
performance of a model on new chemistry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidParameterError, needed

if TYPE_CHECKING:
    from .labelled_graphs import LabelledGraphs

#: Cross-validation and the named splits.
FOLDS = "folds"
NAMED = (FOLDS, "random", "scaffold", "random-scaffold")
#: Splits that depend on the seed.
DRAWN = (FOLDS, "random", "random-scaffold")
#: Usual fractions of the training, validation and test set.
SHARES = (0.8, 0.1, 0.1)


def scaffolds(molecules: Sequence[Any]) -> list[str]:
    """Return the Murcko scaffold of each molecule (SMILES or RDKit), without chirality.

    >>> scaffolds(["Cc1ccccc1", "CCO"])
    ['c1ccccc1', '']
    """
    with needed("Scaffolds are found by RDKit", "'graphgrain[chem]'"):
        from rdkit.Chem import MolFromSmiles
        from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles
    scaffold: Any = MurckoScaffoldSmiles  # untyped in RDKit
    found = []
    for place, item in enumerate(molecules):
        molecule = MolFromSmiles(item) if isinstance(item, str) else item
        if molecule is None or not hasattr(molecule, "GetAtoms"):
            raise InvalidParameterError(
                f"A scaffold needs a SMILES or an RDKit molecule; got {item!r} at place {place}."
            )
        found.append(scaffold(mol=molecule, includeChirality=False))
    return found


def scaffold_split(
    molecules: Sequence[Any],
    shares: Sequence[float] = SHARES,
    random_state: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split molecules so that all molecules with the same scaffold are in the same part.

    Parameters
    ----------
    molecules : sequence of SMILES or RDKit molecules
    shares : three numbers that sum to 1, default=(0.8, 0.1, 0.1)
        Fractions of the training, validation and test set; the test set gets the remainder.
    random_state : int, optional
        Seed for a random order of scaffolds, except that scaffolds with more molecules than half
        of the test set come first. By default scaffolds are ordered by decreasing number of
        molecules, as in the Open Graph Benchmark and MoleculeNet, so that the rarest are tested.

    Returns
    -------
    train, validation, test : arrays
        Positions of the molecules in each part.

    Examples
    --------
    >>> import graphgrain as gg
    >>> molecules = ["c1ccccc1" + "C" * n for n in range(7)] + ["C1CCCCC1", "C1CCCC1", "C1CCC1"]
    >>> [part.tolist() for part in gg.scaffold_split(molecules)]
    [[0, 1, 2, 3, 4, 5, 6, 9], [8], [7]]
    """
    if len(shares) != 3 or min(shares) < 0 or not abs(sum(shares) - 1) <= 1e-9:
        raise InvalidParameterError(
            f"shares must be three numbers of 0 or more that sum to 1; got {tuple(shares)}."
        )
    return split_groups(scaffolds(molecules), shares, random_state)


def split_groups(
    groups: Sequence[str], shares: Sequence[float] = SHARES, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split molecules whose scaffolds are known; see :func:`scaffold_split`.

    Groups of equal size are ordered by decreasing position of their first molecule. Each group is
    assigned to the first part with enough space left.

    >>> [part.tolist() for part in split_groups(["a"] * 5 + ["b"] * 3 + ["c", "d"])]
    [[0, 1, 2, 3, 4, 5, 6, 7], [9], [8]]
    """
    members: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    ordered = sorted(members.values(), key=lambda places: (len(places), places[0]), reverse=True)
    if random_state is not None:
        rng = np.random.default_rng(random_state)
        most = shares[2] * len(groups) / 2
        large = [places for places in ordered if len(places) > most]
        small = ordered[len(large) :]
        ordered = large + [small[number] for number in rng.permutation(len(small))]
    # The sum of 0.7 and 0.2 is below 0.9.
    first = shares[0] * len(groups) + 1e-9
    second = (shares[0] + shares[1]) * len(groups) + 1e-9
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


def parts_of(data: LabelledGraphs, split: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of training and test graphs.

    ``"random"``, ``"scaffold"`` and ``"random-scaffold"`` use 80 % for training and the last 10 %
    for testing, as is common. The 10 % between them, usually the validation set, are not used,
    because all tuning is done on the training graphs. Any other ``split`` is a column of the file
    that contains the words train and test.
    """
    if split == "random":
        order = np.random.default_rng(seed).permutation(len(data))
        first, second = (np.cumsum(SHARES)[:2] * len(order)).astype(int)
        return np.sort(order[:first]), np.sort(order[second:])
    if split in NAMED:
        if data.smiles is None:
            raise InvalidParameterError(
                f"A split by scaffold needs molecules with their SMILES; {data.name} has none. "
                "Files of molecules with a column of SMILES, and drugs, have them; random works "
                "for all graphs."
            )
        drawn = seed if split == "random-scaffold" else None
        train, _, test = scaffold_split(data.smiles, random_state=drawn)
        if not len(train) or not len(test):
            raise InvalidParameterError(
                f"A split by scaffold needs different scaffolds; those of {data.name} leave "
                f"{len(train)} for training and {len(test)} for testing. random works for all "
                "graphs."
            )
        return np.sort(train), np.sort(test)
    columns = data.columns or {}
    if split not in columns:
        known = f" The columns of {data.name} are {', '.join(columns)}." if columns else ""
        raise InvalidParameterError(
            f"split must be {', '.join(NAMED)}, or a column of the file with train and test; got "
            f"{split!r}.{known}"
        )
    words = np.asarray(columns[split])
    train, test = np.flatnonzero(words == "train"), np.flatnonzero(words == "test")
    if not len(train) or not len(test):
        raise InvalidParameterError(
            f"The column {split!r} must say train or test for molecules; it has "
            f"{', '.join(sorted({str(word) for word in words})[:5])}."
        )
    return train, test
