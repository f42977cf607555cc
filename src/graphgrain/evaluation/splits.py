"""Splits into training and test graphs: folds, groups, scaffolds, time, or a column.

In a scaffold split, no training molecule has the ring system of a test molecule. It estimates the
performance of a model on new chemistry. All splits depend on the seed alone, not on the version of
a library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidParameterError, needed
from ..graphs.batch import GraphBatch
from ..graphs.isomorphism import duplicates
from ..learning.folds import random_folds, stratified_folds

#: Splits by name, with one test part of a tenth of the graphs; the first two depend on the seed.
NAMED = ("random", "random-scaffold", "scaffold", "time")
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


def without_duplicates(graphs: GraphBatch, y: np.ndarray) -> np.ndarray:
    """Return the positions of one graph of each set of isomorphic graphs.

    It is the first graph of the most frequent target of the set.
    """
    kept = np.ones(len(graphs), dtype=bool)
    codes = np.unique(y, return_inverse=True)[1]
    for group in duplicates(graphs, attributes=False):
        members = np.array(group)
        majority = np.bincount(codes[members]).argmax()
        kept[members] = False
        kept[members[codes[members] == majority][0]] = True
    return np.flatnonzero(kept)


class Fold(NamedTuple):
    """Positions of training and test graphs of one fold."""

    repetition: int
    fold: int
    train: np.ndarray
    test: np.ndarray


def deal_folds(
    cv: Any,
    y: np.ndarray,
    *,
    classes: bool,
    groups: Any = None,
    times: Any = None,
    molecules: Sequence[Any] | None = None,
    repeats: int = 1,
    random_state: int = 0,
) -> list[Fold]:
    """Return all test folds of all repetitions; see :func:`graphgrain.evaluate` for ``cv``.

    >>> folds = deal_folds(2, np.array([0, 0, 1, 1]), classes=True)
    >>> [sorted(fold.test.tolist()) for fold in folds]
    [[0, 2], [1, 3]]
    """
    result = []
    for repetition in range(repeats):
        seed = random_state + repetition
        if isinstance(cv, str):
            splits = [_named_split(cv, len(y), seed, molecules, times)]
        elif isinstance(cv, int | np.integer):
            rng = np.random.default_rng([random_state, repetition])
            splits = _dealt(int(cv), y, classes, groups, rng)
        elif hasattr(cv, "split"):
            splits = list(cv.split(np.zeros(len(y)), y, groups))
        elif isinstance(cv, list) and cv and isinstance(cv[0], tuple):
            splits = cv
        else:
            splits = _by_column(np.asarray(cv), len(y))
        for fold, (train, test) in enumerate(splits):
            train, test = np.sort(np.asarray(train)), np.sort(np.asarray(test))
            if not len(train) or not len(test) or np.intersect1d(train, test).size:
                raise InvalidParameterError(
                    "Each fold must have training and test graphs, and none in both; fold "
                    f"{fold} of {cv!r} has {len(train)} and {len(test)}, "
                    f"{np.intersect1d(train, test).size} of them in both."
                )
            result.append(Fold(repetition, fold, train, test))
    return result


Split = tuple[np.ndarray, np.ndarray]


def _dealt(
    folds: int, y: np.ndarray, classes: bool, groups: Any, rng: np.random.Generator
) -> list[Split]:
    """Deal graphs, or whole groups of them, into folds; stratified if there are classes."""
    units = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    if len(units) != len(y):
        raise InvalidParameterError(
            f"groups must have one entry for each of the {len(y)} graphs; got {len(units)}."
        )
    count = int(units.max(initial=-1)) + 1
    if not 2 <= folds <= count:
        raise InvalidParameterError(
            f"The number of folds must be from 2 to the number of graphs or groups, {count}; got "
            f"{folds}."
        )
    if groups is None and classes:
        dealt = stratified_folds(np.unique(y, return_inverse=True)[1], folds, rng)
    else:
        dealt = random_folds(count, folds, rng)
    tests = [np.flatnonzero(np.isin(units, members)) for members in dealt]
    return [(np.setdiff1d(np.arange(len(y)), test), test) for test in tests]


def _named_split(
    name: str, graphs: int, seed: int, molecules: Sequence[Any] | None, times: Any
) -> Split:
    """Split 80 to 10 to 10; the part between training and test is not used."""
    if name not in NAMED:
        raise InvalidParameterError(
            f"A split is a number of folds, one of {', '.join(NAMED)}, a splitter of scikit-learn "
            f"or a column; got {name!r}."
        )
    if name == "time":
        if times is None:
            raise InvalidParameterError(
                "A split by time needs the time of each graph (times=, or --time COLUMN): the "
                "last tenth is tested."
            )
        order = np.argsort(np.asarray(times), kind="stable")
        return order[: -max(1, graphs // 10)], order[-max(1, graphs // 10) :]
    if name == "random":
        order = np.random.default_rng(seed).permutation(graphs)
        first, second = (np.cumsum(SHARES)[:2] * graphs).astype(int)
        return order[:first], order[second:]
    if molecules is None:
        raise InvalidParameterError(
            "A split by scaffold needs molecules as SMILES or RDKit molecules; these graphs have "
            "none. A random split works for all graphs."
        )
    train, _, test = scaffold_split(
        molecules, random_state=seed if name == "random-scaffold" else None
    )
    if not len(train) or not len(test):
        raise InvalidParameterError(
            f"A split by scaffold needs different scaffolds; these leave {len(train)} molecules "
            f"for training and {len(test)} for testing. A random split works for all graphs."
        )
    return train, test


def _by_column(column: np.ndarray, graphs: int) -> list[Split]:
    """Return one split of a column that says train and test, else one fold for each value."""
    if column.shape != (graphs,):
        raise InvalidParameterError(
            f"A column of folds has one entry for each of the {graphs} graphs; its shape is "
            f"{column.shape}."
        )
    values = np.unique(column)
    if column.dtype.kind in "OUST" and {"train", "test"} <= set(values.tolist()):
        return [(np.flatnonzero(column == "train"), np.flatnonzero(column == "test"))]
    if not 2 <= len(values) <= max(2, graphs // 2):
        raise InvalidParameterError(
            "A column of folds says train and test, or has the number of a fold for each graph; "
            f"it has {len(values)} values, {', '.join(map(repr, values.tolist()[:3]))}, ..."
        )
    return [(np.flatnonzero(column != value), np.flatnonzero(column == value)) for value in values]
