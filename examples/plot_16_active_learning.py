"""
Active learning
===============

Measurements are expensive, predictions are not. A model with uncertainty estimates can select the
next molecules to measure: the most uncertain ones, to improve the model overall, or those with the
largest expected improvement, to find the best molecule. Both are compared with random selection.

Here the "measurement" is Crippen's logP as computed by RDKit. The pool is 600 molecules of ZINC if
the environment variable ``GRAPHGRAIN_DATA`` names a folder that contains them
(``molecules/zinc250k.smi.gz``), and otherwise a small combinatorial library.
"""

# %%
# The pool
# --------
import gzip
import os
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.Crippen import MolLogP
from scipy.stats import norm

import graphgrain as gg

rng = np.random.default_rng(0)
zinc = Path(os.environ.get("GRAPHGRAIN_DATA", ".")) / "molecules" / "zinc250k.smi.gz"
if zinc.exists():
    with gzip.open(zinc, "rt") as file:
        molecules = [line.split()[0] for line in file if MolFromSmiles(line.split()[0])]
else:
    cores = ["c1cc(X)ccc1Y", "c1nc(X)ccc1Y", "C1CC(X)CCN1Y", "c1cc(X)sc1Y", "C1CN(X)CCN1Y"]
    parts = ["C", "CC", "C(C)C", "c2ccccc2", "C(=O)C", "C(=O)N", "S(=O)(=O)C", "CCO", "CC(=O)O"]
    parts += ["CCN(C)C", "C2CCCCC2", "c2ccncc2", "CC(F)(F)F", "Cc2ccc(Cl)cc2"]
    triples = product(cores, parts, parts)
    molecules = [core.replace("X", a).replace("Y", b) for core, a, b in triples]
molecules = [molecules[n] for n in rng.permutation(len(molecules))[:600]]
graphs = gg.from_smiles(molecules)
logp = np.array([MolLogP(MolFromSmiles(text)) for text in molecules])
print(f"{len(graphs)} molecules, logP from {logp.min():.1f} to {logp.max():.1f}")


# %%
# Three strategies
# ----------------
# ``return_std`` returns the standard deviation of each prediction. The model is refitted after
# every ten measurements.
def by_chance(mean, std, best, rng):
    return rng.random(len(mean))


def by_uncertainty(mean, std, best, rng):
    return std


def by_expected_improvement(mean, std, best, rng):
    z = (mean - best) / std
    return std * (z * norm.cdf(z) + norm.pdf(z))


def campaign(choose, seed, rounds=9):
    rng = np.random.default_rng(seed)
    known = rng.permutation(len(graphs))[:20].tolist()
    errors, found = [], []
    for _ in range(rounds):
        rest = np.setdiff1d(np.arange(len(graphs)), known)
        model = gg.GraphRegressor()
        mean, std = model.fit(graphs[known], logp[known]).predict(graphs[rest], return_std=True)
        errors.append(np.sqrt(np.mean((mean - logp[rest]) ** 2)))
        found.append(logp[known].max())
        worth = choose(mean, std, logp[known].max(), rng)
        known += rest[np.argsort(-worth)[:10]].tolist()
    return errors, found


strategies = {
    "random": by_chance,
    "most uncertain": by_uncertainty,
    "expected improvement": by_expected_improvement,
}
results = {
    name: np.array([campaign(choose, seed) for seed in range(3)])
    for name, choose in strategies.items()
}
for name, runs in results.items():
    error, best = runs[:, 0, -1].mean(), runs[:, 1, -1].mean()
    print(f"{name:22s} after 100 molecules: RMSE {error:.2f}, best logP {best:.2f}")

# %%
# Selecting by uncertainty gives a better model for the same number of measurements; selecting by
# expected improvement finds the best molecule earlier. The dashed line is the largest logP in the
# pool. Curves are means over three random starts, with standard errors.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
measured = 20 + 10 * np.arange(9)
for name, runs in results.items():
    for axis, values in zip(axes, np.moveaxis(runs, 1, 0), strict=True):
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        axis.plot(measured, mean, marker="o", markersize=4, label=name)
        axis.fill_between(measured, mean - error, mean + error, alpha=0.2)
axes[0].set_ylabel("RMSE on the rest of the pool")
axes[1].set_ylabel("largest logP found")
axes[1].axhline(logp.max(), color="0.5", linestyle="--")
for axis in axes:
    axis.set_xlabel("molecules measured")
axes[0].legend()
plt.show()
