"""How training and test part are made where not by folds: at random, by scaffold, by a column.

Test molecules of a scaffold split have ring systems that no training molecule has: what a model
is worth on new chemistry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidParameterError, MissingDependencyError

if TYPE_CHECKING:
    from .labelled_graphs import LabelledGraphs

#: Cross-validation, and the splits that have a name.
FOLDS = "folds"
NAMED = (FOLDS, "random", "scaffold", "random-scaffold")
#: Splits that another seed changes.
DRAWN = (FOLDS, "random", "random-scaffold")
#: Shares of training, validation and test part, as is the custom of the field.
SHARES = (0.8, 0.1, 0.1)


def scaffolds(molecules: Sequence[Any]) -> list[str]:
    """The Murcko scaffold of each molecule (SMILES or RDKit's), without chirality.

    >>> scaffolds(["Cc1ccccc1", "CCO"])
    ['c1ccccc1', '']
    """
    try:
        from rdkit.Chem import MolFromSmiles
        from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles
    except ImportError:
        raise MissingDependencyError(
            "Scaffolds need RDKit: pip install 'graphgrain[chem]'."
        ) from None
    scaffold: Any = MurckoScaffoldSmiles  # RDKit says nothing of types here
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
    """Split molecules so that no scaffold is in two parts.

    Parameters
    ----------
    molecules : sequence of SMILES or RDKit molecules
    shares : three numbers that sum to 1
        How large training, validation and test part are; the last takes what is left.
    random_state : int, optional
        By default scaffolds are taken by the number of their molecules, as the Open Graph
        Benchmark and MoleculeNet do: rare scaffolds are tested. With a number, those that would
        fill more than half of the test part train, and the others are put in random order: another
        number gives another split.

    Returns
    -------
    train, validation, test : arrays
        Positions of the molecules of each part.

    Examples
    --------
    >>> import graphgrain as gg
    >>> molecules = ["c1ccccc1" + "C" * n for n in range(7)] + ["C1CCCCC1", "C1CCCC1", "C1CCC1"]
    >>> [part.tolist() for part in gg.scaffold_split(molecules)]
    [[0, 1, 2, 3, 4, 5, 6, 9], [8], [7]]
    """
    if len(shares) != 3 or min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise InvalidParameterError(
            f"shares must be three numbers of 0 or more that sum to 1; got {tuple(shares)}."
        )
    return split_groups(scaffolds(molecules), shares, random_state)


def split_groups(
    groups: Sequence[str], shares: Sequence[float] = SHARES, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for molecules whose scaffolds are known.

    Sets of equal size are taken by their first molecule, the later one before; each set goes to
    the first part that has room for it.

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


def parts_of(data: LabelledGraphs, split: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of training and test graphs.

    ``"random"``, ``"scaffold"`` and ``"random-scaffold"``: 80 per cent train, the last 10 test, as
    is the custom of the field; the 10 between them, by which others tune, are left out, since
    everything here is chosen on training graphs. Otherwise ``split`` is a column of the file with
    the words train and test.
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
        return np.sort(train), np.sort(test)
    columns = data.columns or {}
    if split not in columns:
        known = f" The columns of {data.name} are {', '.join(columns)}." if columns else ""
        raise InvalidParameterError(
            f"A split is one of {', '.join(NAMED)}, or a column of the file; got {split!r}.{known}"
        )
    words = np.asarray(columns[split])
    train, test = np.flatnonzero(words == "train"), np.flatnonzero(words == "test")
    if not len(train) or not len(test):
        raise InvalidParameterError(
            f"The column {split!r} must say train or test for molecules; it has "
            f"{', '.join(sorted({str(word) for word in words})[:5])}."
        )
    return train, test
