"""Fit times of the estimators, compared with a random forest on ECFP counts, one core.

    python -m benchmarks.fit_times

CPU seconds for 1,000 molecules of the logP set (regressor) and 10,000 of HIV (classifier), both
with default parameters. The forest, with 500 trees on counts of 2,048 columns, is fitted in the
same run, so that the ratio can be compared between machines. The last columns are the size of the
saved model and the time to load it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import graphgrain as gg

from .data import molecule_file


def seconds(fit: Callable[[], Any]) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    fit()
    return time.process_time() - start


def counts(smiles: list[str]) -> np.ndarray:
    """Return ECFP4 counts in 2,048 columns."""
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    generator = GetMorganGenerator(radius=2, fpSize=2048)
    return np.array([generator.GetCountFingerprintAsNumPy(MolFromSmiles(s)) for s in smiles])


def main() -> None:
    """Print the table."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes",
        default="1000,10000",
        help="number of molecules for the regressor, the classifier",
    )
    options = parser.parse_args()
    few, many = map(int, options.sizes.split(","))
    jobs: list[tuple[str, str, int, Any, Any]] = [
        ("logp", "logp", few, gg.GraphRegressor(), RandomForestRegressor(500, random_state=0)),
        ("hiv", "active", many, gg.GraphClassifier(), RandomForestClassifier(500, random_state=0)),
    ]
    drugs, atoms = gg.load_drugs()[0], gg.load_drugs()[0].vertex_counts
    gg.GraphRegressor().fit(drugs[:60], atoms[:60])  # compiles
    gg.GraphClassifier().fit(drugs[:60], atoms[:60] > np.median(atoms[:60]))
    print("| set | molecules | graphgrain, s | forest on ECFP counts, s | ratio | MB | load, s |")
    print("|---|---|---|---|---|---|---|")
    for name, target, size, model, forest in jobs:
        graphs, columns = gg.load_molecules(molecule_file(name), errors="skip")
        some = np.sort(np.random.default_rng(0).permutation(len(graphs))[:size])
        y, smiles = columns[target][some], columns["smiles"][some].tolist()
        own = seconds(lambda model=model, some=some, y=y, g=graphs: model.fit(g[some], y))
        other = seconds(lambda forest=forest, smiles=smiles, y=y: forest.fit(counts(smiles), y))
        with TemporaryDirectory() as folder:
            file = Path(folder) / "model.ggm"
            model.save(file)
            loading = seconds(lambda file=file: gg.load_model(file))
            print(
                f"| {name} | {size:,} | {own:.1f} | {other:.1f} | {own / other:.1f} | "
                f"{file.stat().st_size / 1e6:.1f} | {loading:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
