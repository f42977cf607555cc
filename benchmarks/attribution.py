"""Atom attributions compared with ground truth.

    python -m benchmarks.attribution [--tasks benzene,logic7,logic8,crippen] [--validate]

The tables of the attribution benchmark of Sanchez-Lengeling et al. (NeurIPS 2020) are read from
``../shared/data/attribution`` or ``GRAPHGRAIN_DATA/attribution``.

Classification tasks:

1. ``GraphClassifier()`` with default parameters is fitted to the training molecules and explained
   by ``gg.explain`` with its defaults.
2. A model is selected for the task: atom labels and kernel depths are chosen by accuracy on a
   quarter of the training molecules. Then Tree++ with an L1 linear model is fitted to all training
   molecules, and the same linear model to ECFP bits (Morgan fingerprints, radius 2, 2048 bits).
3. Every method assigns values to the atoms of the positive test molecules. The score of a molecule
   is the AUROC of its atom values against the ground truth, the best one if there are several.
4. Null test: ``GraphClassifier()`` on shuffled classes, 20 times, on molecules with a single ground
   truth. The interval over these models should contain an AUROC of 0.5.

The regression task ``crippen``: ``GraphRegressor()`` on molecules with explicit hydrogens. The
score of a molecule is Kendall's tau of its atom values against the contributions of all atoms.

Intervals are bootstrap intervals over molecules. Faithfulness evaluates the explained model: the
fraction of its decision value (above that of an empty molecule) that is lost without the top 10,
20, 30, 40 and 50 % of the atoms (deletion), and the fraction that remains with these alone
(insertion), on average.

With ``--validate`` everything is measured on a held-out quarter of the training molecules. The
defaults of ``gg.explain`` were chosen this way.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import graphgrain as gg
from graphgrain.explaining.sharing import SHARES
from graphgrain.graphs.batch import subgraph

from .data import folder

TASKS = ("benzene", "logic7", "logic8", "crippen")
#: Null test: number of training molecules, and number of shuffles.
SHUFFLED, SHUFFLES = 300, 20
#: Number of molecules for methods that take hundreds of milliseconds per molecule.
SLOW = 100
FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5)
#: Candidate settings: atom labels, (path depth, tree depth).
SETTINGS = [
    (labels, depths) for labels in ({}, {"aromatic": True}) for depths in ((6, 3), (3, 1), (2, 0))
]


class Molecule(NamedTuple):
    smiles: str
    label: int
    split: str
    truths: list[np.ndarray]


def read(task: str) -> list[Molecule]:
    path = folder() / "attribution" / f"{task}.csv.gz"
    if not path.exists():
        raise SystemExit(f"There is no {path}; set GRAPHGRAIN_DATA to the folder that has it.")
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Molecule(
            row["smiles"],
            int(row["label"]),
            row["split"],
            [np.array(truth.split(), dtype=int) for truth in row["truths"].split("|") if truth],
        )
        for row in rows
    ]


def linear() -> LinearSVC:
    return LinearSVC(penalty="l1", dual=False, C=0.3, intercept_scaling=10.0, max_iter=3000)


def tree_plus_plus(depths: tuple[int, int]) -> Any:
    kernel = gg.TreePlusPlus(
        *depths, output="features", counts="binary", edge_labels=True, n_jobs=-1
    )
    return make_pipeline(kernel, linear())


def choose(train: list[Molecule], check: list[Molecule]) -> tuple[dict[str, bool], tuple[int, int]]:
    """Return the setting with the best accuracy on held-out molecules; the first one on ties."""
    best: tuple[float, Any] = (-1.0, None)
    for labels, depths in SETTINGS:
        model = tree_plus_plus(depths).fit(graphs(train, labels), classes(train))
        accuracy = model.score(graphs(check, labels), classes(check))
        print(f"    {labels or 'plain labels'}, depths {depths}: {accuracy:.4f}", flush=True)
        if accuracy > best[0]:
            best = (accuracy, (labels, depths))
    return best[1]


def graphs(molecules: list[Molecule], labels: dict[str, bool]) -> gg.GraphBatch:
    return gg.from_smiles([molecule.smiles for molecule in molecules], **labels)


def classes(molecules: list[Molecule]) -> np.ndarray:
    return np.array([molecule.label for molecule in molecules])


# -------------------------------------------------------------------- scores


def score(values: np.ndarray, molecule: Molecule) -> float:
    """Return the best AUROC over the ground truths; NaN if each contains all atoms."""
    found = []
    for truth in molecule.truths:
        part = np.zeros(len(values), dtype=int)
        part[truth] = 1
        if 0 < part.sum() < len(part):
            found.append(roc_auc_score(part, values))
    return max(found, default=np.nan)


def interval(scores: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    draws = rng.choice(scores, (2000, len(scores))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def faithfulness(
    values: list[np.ndarray], sizes: list[int], decide: Callable[[list[list[int]]], np.ndarray]
) -> tuple[float, float]:
    """Return the mean fractions of the decision lost by deletion and kept by insertion.

    ``decide(gone)`` returns the decision values of all molecules without the listed atoms.
    """
    whole = decide([[] for _ in sizes])
    empty = decide([list(range(size)) for size in sizes])
    span = whole - empty
    usable = span > 0
    lost, kept = [], []
    for fraction in FRACTIONS:
        best = [np.argsort(-v, kind="stable")[: max(1, round(fraction * len(v)))] for v in values]
        rest = [np.setdiff1d(np.arange(n), b) for n, b in zip(sizes, best, strict=True)]
        lost.append((whole - decide([b.tolist() for b in best]))[usable] / span[usable])
        kept.append((decide([r.tolist() for r in rest]) - empty)[usable] / span[usable])
    return float(np.mean(lost)), float(np.mean(kept))


def without_vertices(graph: gg.GraphBatch, gone: list[int]) -> gg.GraphBatch:
    return subgraph(graph, np.delete(np.arange(graph.n_vertices), gone))


# -------------------------------------------------------------------- ECFP


class Ecfp:
    """Morgan fingerprints with the same linear model."""

    def __init__(self, train: list[Molecule]) -> None:
        from rdkit.Chem import rdFingerprintGenerator

        self.generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
        rows = np.array([self.bits(self.parse(m.smiles)) for m in train])
        self.model = linear().fit(rows, classes(train))

    @staticmethod
    def parse(smiles: str) -> Any:
        from rdkit import Chem

        return Chem.MolFromSmiles(smiles)

    def bits(self, molecule: Any) -> np.ndarray:
        return self.generator.GetFingerprintAsNumPy(molecule)

    def bit_weights(self, molecule: Any) -> np.ndarray:
        """Distribute the weight of each bit over the atoms of the environments that set it."""
        from rdkit import Chem
        from rdkit.Chem import rdFingerprintGenerator

        extra = rdFingerprintGenerator.AdditionalOutput()
        extra.AllocateBitInfoMap()
        self.generator.GetFingerprint(molecule, additionalOutput=extra)
        values = np.zeros(molecule.GetNumAtoms())
        for bit, places in extra.GetBitInfoMap().items():
            for centre, radius in places:
                atoms = {centre}
                if radius:
                    for bond in Chem.FindAtomEnvironmentOfRadiusN(molecule, radius, centre):
                        ends = molecule.GetBondWithIdx(bond)
                        atoms |= {ends.GetBeginAtomIdx(), ends.GetEndAtomIdx()}
                values[list(atoms)] += self.model.coef_[0, bit] / len(places) / len(atoms)
        return values

    def similarity_map(self, molecule: Any) -> np.ndarray:
        """Return RDKit's atomic weights: the change of the decision without each atom's bits."""
        from rdkit import rdBase
        from rdkit.Chem.Draw import SimilarityMaps

        def fingerprint(mol: Any, atom: int = -1) -> Any:
            return SimilarityMaps.GetMorganFingerprint(mol, atom, radius=2, nBits=2048)

        def predict(bits: Any) -> float:
            return float(self.model.decision_function([list(bits)])[0])

        with rdBase.BlockLogs():
            return np.array(SimilarityMaps.GetAtomicWeightsForModel(molecule, fingerprint, predict))

    def decide(self, molecules: list[Any]) -> Callable[[list[list[int]]], np.ndarray]:
        from rdkit import Chem

        def without(molecule: Any, gone: list[int]) -> Any:
            edited = Chem.RWMol(molecule)
            for atom in sorted(gone, reverse=True):
                edited.RemoveAtom(atom)
            edited.UpdatePropertyCache(strict=False)
            Chem.FastFindRings(edited)
            return edited

        def decide(gone: list[list[int]]) -> np.ndarray:
            rows = [self.bits(without(m, g)) for m, g in zip(molecules, gone, strict=False)]
            return self.model.decision_function(np.array(rows))

        return decide


def similarity_map_of_ours(model: Any, smiles: str, graph: gg.GraphBatch) -> np.ndarray:
    """Apply RDKit's similarity maps to our model, with graphs in place of fingerprints."""
    from rdkit.Chem.Draw import SimilarityMaps

    def fingerprint(mol: Any, atom: int = -1) -> gg.GraphBatch:
        return graph if atom < 0 else without_vertices(graph, [atom])

    def predict(part: gg.GraphBatch) -> float:
        return float(model.decision_function(part)[0])

    mol = Ecfp.parse(smiles)
    return np.array(SimilarityMaps.GetAtomicWeightsForModel(mol, fingerprint, predict))


# -------------------------------------------------------------------- one task


def run(task: str, validate: bool) -> None:
    molecules = read(task)
    train = [m for m in molecules if m.split == "train"]
    order = np.random.default_rng(0).permutation(len(train))
    cut = 3 * len(train) // 4
    parts = [train[i] for i in order[:cut]], [train[i] for i in order[cut:]]
    print(f"\n{task}: accuracy on a quarter of the training molecules")
    labels, depths = choose(*parts)
    fitted, tested = parts if validate else (train, [m for m in molecules if m.split == "test"])
    run_default(fitted, tested)
    model = tree_plus_plus(depths).fit(graphs(fitted, labels), classes(fitted))
    ecfp = Ecfp(fitted)
    accuracy = model.score(graphs(tested, labels), classes(tested))
    bits = [ecfp.bits(ecfp.parse(m.smiles)) for m in tested]
    print(
        f"  chosen: {labels or 'plain labels'}, depths {depths}; accuracy of Tree++ "
        f"{accuracy:.4f}, of ECFP {ecfp.model.score(bits, classes(tested)):.4f}"
    )
    positive = [m for m in tested if m.label == 1]
    batch = graphs(positive, labels)
    parsed = [ecfp.parse(m.smiles) for m in positive]
    each = range(len(positive))

    def ours(gone: list[list[int]]) -> np.ndarray:
        parts = [without_vertices(batch[n], gone[n]) for n in range(len(gone))]
        return model.decision_function(gg.GraphBatch.concatenate(parts))

    theirs = ecfp.decide(parsed)
    rng = np.random.default_rng(0)
    methods: dict[str, tuple[Callable[[], list[np.ndarray]], Any]] = {
        f"Tree++, share={share!r}": (
            lambda share=share: [why.vertices for why in gg.explain(model, batch, share=share)],
            ours,
        )
        for share in SHARES
    }
    methods |= {
        "Tree++, RDKit similarity map": (
            lambda: [
                similarity_map_of_ours(model, positive[n].smiles, batch[n]) for n in each[:SLOW]
            ],
            ours,
        ),
        "ECFP, bit weights": (lambda: [ecfp.bit_weights(mol) for mol in parsed], theirs),
        "ECFP, RDKit similarity map": (
            lambda: [ecfp.similarity_map(mol) for mol in parsed[:SLOW]],
            theirs,
        ),
        "random": (lambda: [rng.random(mol.GetNumAtoms()) for mol in parsed], ours),
    }
    gg.explain(model, batch[:2])  # compile before timing
    print(f"  {len(positive)} positive molecules; methods that remove each atom in turn: the first")
    print(f"  {min(SLOW, len(positive))} of them")
    print(f"  {'method':32s} {'AUROC':>7s} {'95 % interval':>16s} deletion insertion ms/molecule")
    for name, (make, decide) in methods.items():
        begin = time.perf_counter()
        values = make()
        spent = time.perf_counter() - begin
        scores = np.array([score(v, m) for v, m in zip(values, positive, strict=False)])
        scores = scores[~np.isnan(scores)]
        low, high = interval(scores)
        lost, kept = faithfulness(values, [len(v) for v in values], decide)
        print(
            f"  {name:32s} {scores.mean():7.4f}  [{low:.4f}, {high:.4f}] {lost:8.3f} {kept:9.3f} "
            f"{1000 * spent / len(values):11.2f}",
            flush=True,
        )


def run_default(fitted: list[Molecule], tested: list[Molecule]) -> None:
    """Evaluate the classifier with default parameters, and the same on shuffled classes."""
    X, y = graphs(fitted, {}), classes(fitted)
    positive = [m for m in tested if m.label == 1]
    batch = graphs(positive, {})
    begin = time.perf_counter()
    model = gg.GraphClassifier(n_jobs=-1).fit(X, y)
    spent = time.perf_counter() - begin
    accuracy = float(np.mean(model.predict(graphs(tested, {})) == classes(tested)))
    print(f"  GraphClassifier(): accuracy {accuracy:.4f}, fitted in {spent:.0f} s")
    for share in SHARES:
        found = gg.explain(model, batch, share=share)
        scores = np.array([score(w.vertices, m) for w, m in zip(found, positive, strict=True)])
        tell(f"GraphClassifier(), share={share!r}", scores)
    tell_null(fitted, positive)


def tell_null(fitted: list[Molecule], positive: list[Molecule]) -> None:
    """Evaluate explanations of models trained on balanced samples with shuffled classes.

    A single such model may prefer certain atoms in all molecules by chance, so scores are averaged
    per model and the interval is over models.
    """
    y = classes(fitted)
    single = [m for m in positive if len(m.truths) == 1]
    batch = graphs(single, {})
    rng = np.random.default_rng(0)
    means = []
    for _ in range(SHUFFLES):
        some = np.concatenate(
            [rng.permutation(np.flatnonzero(y == c))[: SHUFFLED // 2] for c in (0, 1)]
        )
        X = graphs([fitted[n] for n in some], {})
        null = gg.GraphClassifier(n_jobs=-1).fit(X, rng.permutation(y[some]))
        pairs = zip(gg.explain(null, batch), single, strict=True)
        means.append(np.nanmean([score(w.vertices, m) for w, m in pairs]))
    tell("null test, shuffled classes", np.array(means), units="models")


def run_crippen(validate: bool) -> None:
    """Compare the default regressor with the known contribution of every atom."""
    from scipy.stats import kendalltau

    with gzip.open(folder() / "attribution" / "crippen.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    train = [row for row in rows if row["split"] == "train"]
    tested = [row for row in rows if row["split"] == "test"]
    if validate:
        order = np.random.default_rng(0).permutation(len(train))
        cut = 3 * len(train) // 4
        train, tested = [train[n] for n in order[:cut]], [train[n] for n in order[cut:]]

    def read_rows(some: list[dict[str, str]]) -> tuple[gg.GraphBatch, np.ndarray]:
        batch = gg.from_smiles([row["smiles"] for row in some], hydrogens=True)
        return batch, np.array([float(row["y"]) for row in some])

    X, y = read_rows(train)
    batch, numbers = read_rows(tested)
    begin = time.perf_counter()
    model = gg.GraphRegressor(n_jobs=-1).fit(X, y)
    spent = time.perf_counter() - begin
    error = float(np.sqrt(np.mean((model.predict(batch) - numbers) ** 2)))
    print(f"\ncrippen: GraphRegressor(), RMSE {error:.3f}, fitted in {spent:.0f} s")
    for share in SHARES:
        found = gg.explain(model, batch, share=share)
        pairs = zip(found, tested, strict=True)
        taus = [kendalltau(w.vertices, np.array(r["atoms"].split(), float))[0] for w, r in pairs]
        tell(f"GraphRegressor(), share={share!r}", np.array(taus), "Kendall's tau")


def tell(name: str, scores: np.ndarray, measure: str = "AUROC", units: str = "molecules") -> None:
    """Print the mean score and its interval."""
    scores = scores[np.isfinite(scores)]
    low, high = interval(scores)
    print(
        f"  {name:34s} {measure} {scores.mean():.4f} [{low:.4f}, {high:.4f}], "
        f"{len(scores)} {units}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", default=",".join(TASKS), help="comma-separated tasks")
    parser.add_argument(
        "--validate", action="store_true", help="measure on held-out training molecules"
    )
    arguments = parser.parse_args()
    for task in arguments.tasks.split(","):
        if task == "crippen":
            run_crippen(arguments.validate)
        else:
            run(task, arguments.validate)


if __name__ == "__main__":
    main()
