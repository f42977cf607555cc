"""Activity cliffs by the definition of MoleculeACE, compared with its labels.

    python -m benchmarks.cliffs [SET ...] [--explain]

MoleculeACE considers two molecules similar if one of three similarities is at least 0.9: Tanimoto
of ECFP4 (1,024 bits), Tanimoto of ECFP4 of their generic scaffolds, or 1 minus the Levenshtein
distance of their SMILES divided by the length of the longer one. Similar molecules are a cliff if
their activities (the ratio of the larger to the smaller concentration, as floating-point numbers)
differ more than tenfold. The molecules of such pairs, duplicates apart, are
compared with the labels ``cliff_mol`` of the data sets. The last column uses pairs by the min-max
similarity of Tree++ instead. ``--explain`` lists each molecule that only one of the two labels,
with the pairs closest to both thresholds.

van Tilborg, Alenicheva, Grisoni: Exposing the Limitations of Molecular Machine Learning with
Activity Cliffs. Journal of Chemical Information and Modeling 62 (23), 2022.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import graphgrain as gg
from graphgrain.searching.activity_cliffs import Cliffs, cliffs_among, numbers_of
from graphgrain.searching.similar_pairs import Pairs

from .moleculeace import set_names
from .molecules import molecules_folder

LEAST = 0.9
TENFOLD = 10.0
#: The same on the logarithmic scale, with a tolerance for rounding.
TENFOLD_LOG = 1.0 - 1e-9


def bits_of(molecules: list[object]) -> np.ndarray:
    """Return ECFP4 fingerprints of 1,024 bits, one row per molecule."""
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024)
    return np.array([generator.GetFingerprintAsNumPy(mol) for mol in molecules], dtype=np.float32)


def tanimoto_pairs(bits: np.ndarray) -> np.ndarray:
    """Return pairs of molecules with a Tanimoto similarity of at least 0.9, as two columns."""
    common = bits @ bits.T
    sizes = bits.sum(axis=1)
    union = sizes[:, None] + sizes[None, :] - common
    return np.argwhere(np.triu(common >= LEAST * union - 1e-6, 1))


def skeleton(molecule: Any) -> Any:
    """Return the generic scaffold: all atoms carbon and all bonds single, with isotopes.

    Later versions of RDKit drop isotopes; the labels are from a version that kept them.
    """
    from rdkit.Chem.Scaffolds.MurckoScaffold import GetScaffoldForMol, MakeScaffoldGeneric

    try:
        found = MakeScaffoldGeneric(molecule)
    except Exception:  # atoms with more bonds than carbon allows
        return GetScaffoldForMol(molecule)
    if found.GetNumAtoms() == molecule.GetNumAtoms():  # explicit hydrogens are dropped
        for own, atom in zip(found.GetAtoms(), molecule.GetAtoms(), strict=True):
            own.SetIsotope(atom.GetIsotope())
    return found


def edit_distance(a: str, b: str, most: int) -> int:
    """Return the Levenshtein distance, or a value above ``most``, from a band of the matrix."""
    before = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        now = [i] + [most + 1] * len(b)
        for j in range(max(1, i - most), min(len(b), i + most) + 1):
            now[j] = min(before[j] + 1, now[j - 1] + 1, before[j - 1] + (letter != b[j - 1]))
        before = now
        if min(before) > most:
            return most + 1
    return before[-1]


def fold(one: np.ndarray | float, other: np.ndarray | float) -> np.ndarray:
    """Return the ratio of the larger to the smaller value."""
    return np.maximum(one, other) / np.minimum(one, other)


def smiles_pairs(smiles: list[str], amounts: np.ndarray) -> np.ndarray:
    """Return pairs with a SMILES similarity of at least 0.9 and different activities."""
    letters = {letter: n for n, letter in enumerate(sorted(set("".join(smiles))))}
    counts = np.zeros((len(smiles), len(letters)), dtype=np.int32)
    for row, text in enumerate(smiles):
        for letter in text:
            counts[row, letters[letter]] += 1
    lengths = np.array([len(text) for text in smiles])
    found = []
    for a in range(len(smiles)):
        rest = np.arange(a + 1, len(smiles))
        longer = np.maximum(lengths[a], lengths[rest])
        room = np.floor((1 - LEAST) * longer + 1e-9).astype(int)
        # Lower bound of the distance: letters that one has more often than the other.
        surplus = counts[rest] - counts[a]
        needed = np.maximum(np.maximum(surplus, 0).sum(1), np.maximum(-surplus, 0).sum(1))
        near = (needed <= room) & (fold(amounts[rest], amounts[a]) > TENFOLD)
        for b, most in zip(rest[near].tolist(), room[near].tolist(), strict=True):
            if edit_distance(smiles[a], smiles[b], most) <= most:
                found.append((a, b))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def members(cliffs: Cliffs, count: int) -> np.ndarray:
    """Return whether each molecule is part of a cliff."""
    return np.isin(np.arange(count), np.concatenate(cliffs[:2]))


def marks(path: Path, explain: bool) -> tuple[int, int, int, int, int, int]:
    """Count molecules, their labels, ours, agreement, and ours with Tree++ similarities."""
    from rdkit import Chem

    graphs, columns = gg.load_molecules(path)
    smiles, y, amounts = columns["smiles"].tolist(), columns["y"], columns["exp_mean [nM]"]
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    both = [bits_of(molecules), bits_of([skeleton(molecule) for molecule in molecules])]
    alike = np.concatenate([*map(tanimoto_pairs, both), smiles_pairs(smiles, amounts)])
    pairs = np.unique(alike, axis=0)
    pairs = pairs[fold(*amounts[pairs.T]) > TENFOLD]
    similar = Pairs(pairs[:, 0], pairs[:, 1], np.full(len(pairs), LEAST))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = numbers_of(graphs, y)
        ours = members(cliffs_among(similar, graphs, values, TENFOLD_LOG), len(graphs))
        tree = members(gg.pairs(graphs, LEAST, y=y, min_difference=TENFOLD_LOG), len(graphs))
    theirs = columns["cliff_mol"] == 1
    if explain:
        for molecule in np.flatnonzero(theirs != ours).tolist():
            print(f"{path.name.split('.')[0]}, row {molecule + 1}: labelled", end=" ")
            print("by MoleculeACE only" if theirs[molecule] else "by graphgrain only")
            for line in nearest(molecule, smiles, amounts, both):
                print(f"  {line}")
    return (
        len(graphs), int(theirs.sum()), int(ours.sum()), int((theirs & ours).sum()),
        int((theirs == ours).sum()), int((theirs & tree).sum()),
    )  # fmt: skip


def nearest(
    molecule: int, smiles: list[str], amounts: np.ndarray, both: list[np.ndarray]
) -> list[str]:
    """Describe the pairs of a molecule that come closest to both thresholds."""
    found = []
    folds = fold(amounts, amounts[molecule])
    for other in np.flatnonzero((folds >= 9) & (np.arange(len(smiles)) != molecule)).tolist():
        values = []
        for bits in both:
            common = float(bits[molecule] @ bits[other])
            values.append(common / float(bits[molecule].sum() + bits[other].sum() - common))
        longest = max(len(smiles[molecule]), len(smiles[other]))
        distance = edit_distance(smiles[molecule], smiles[other], longest // 6)
        values.append(1 - distance / longest)
        short = max(0.0, LEAST - max(values)) + max(0.0, 1 - folds[other] / TENFOLD)
        told = ", ".join(f"{value:.6f}" for value in values)
        found.append(
            (short, f"row {other + 1}: ECFP4, scaffolds, SMILES {told}; {folds[other]:.16g}-fold")
        )
    return [line for _, line in sorted(found)[:3]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cliffs", description=__doc__)
    parser.add_argument("sets", nargs="*", help="names of data sets (default: all)")
    parser.add_argument("--explain", action="store_true")
    options = parser.parse_args()
    folder = molecules_folder() / "moleculeace"
    print("| set | molecules | MoleculeACE | graphgrain | both | agreement | by Tree++ |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    total = np.zeros(6, dtype=int)
    for name in options.sets or set_names(folder):
        [path] = folder.glob(f"{name}.csv*")
        row = marks(path, options.explain)
        total += row
        print(_line(name, row), flush=True)
    print(_line("all", tuple(total.tolist())))


def _line(name: str, row: tuple[int, ...]) -> str:
    count, theirs, ours, both, equal, tree = row
    cells = (f"{count:,}", f"{theirs:,}", f"{ours:,}", f"{both:,}", f"{equal / count:.4f}")
    return f"| {name} | {' | '.join(cells)} | {tree:,} |"


if __name__ == "__main__":
    main()
