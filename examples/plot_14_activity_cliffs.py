"""
Activity cliffs
===============

An activity cliff is a pair of similar molecules with very different activities. Which pairs are
cliffs, and what changed? The data are inhibitors of the kinase ABL1, an excerpt of the set
CHEMBL1862_Ki of MoleculeACE (van Tilborg et al. 2022; the whole set has 794 molecules). y is the
decimal logarithm of the activity.
"""

# %%
# The molecules
# -------------
import matplotlib.pyplot as plt
import numpy as np

import graphgrain as gg

MEASURED = [
    ("Cc1ccc(F)cc1-c1ccc2cc(NC(=O)C3CCC3)ncc2c1", 0.00),
    ("Cc1ccc(F)cc1-c1ccc2cc(NC(=O)C3CCCCC3)ncc2c1", -1.59),
    ("Fc1ccc(C(Cl)Cn2ncc3c(NCc4ccccc4F)ncnc32)cc1", -1.30),
    ("Fc1ccccc1CNc1ncnc2c1cnn2CC(Cl)c1ccccc1", -2.86),
    ("Cc1ccc(F)cc1-c1ccc2cc(NC(=O)C3CCCC3)ncc2c1", -1.08),
    ("Cc1ccc(F)cc1-c1ccc2cc(NC(=O)C3CC3)ncc2c1", 0.94),
    ("Fc1cccc(CNc2ncnc3c2cnn3CC(Cl)c2ccccc2)c1", -1.60),
    ("Fc1ccc(CNc2ncnc3c2cnn3CC(Cl)c2ccccc2)cc1", -3.30),
    ("Cc1ccc(F)cc1-c1ccc2cc(NC(=O)C(C)C)ncc2c1", -0.95),
    ("CSc1nc(NCCc2ccccc2)c2cnn(CC(Cl)c3ccccc3)c2n1", -3.86),
    ("CSc1nc(NCCc2ccccc2)c2cnn(CC(Cl)c3ccc(Cl)cc3)c2n1", -2.04),
    ("CSc1nc(NCCc2ccccc2)c2cnn(CC(Cl)c3ccc(F)cc3)c2n1", -2.30),
    ("CCSc1nc(NCCc2ccccc2)c2cnn(CC(Cl)c3ccccc3)c2n1", -2.11),
    ("CSc1nc(NCCc2cccc(Cl)c2)c2cnn(CC(Cl)c3ccccc3)c2n1", -2.30),
    ("Cc1ccc(CO)cc1-c1ccc2cc(NC(=O)C3CC3)ncc2c1", 1.52),
    ("Cc1ccc(C)c(-c2ccc3cc(NC(=O)C4CC4)ncc3c2)c1", -0.30),
]
graphs = gg.from_smiles([smiles for smiles, _ in MEASURED])
y = np.array([value for _, value in MEASURED])

# %%
# Find cliffs
# -----------
# Cliffs are sorted by steepness: the difference in y divided by the distance.
cliffs = gg.pairs(graphs, min_similarity=0.7, y=y, min_difference=1.5)
print(len(cliffs), "cliffs")
for a, b, similarity, _, steepness in list(zip(*cliffs[:5]))[:5]:
    print(f"{MEASURED[a][0]}  {y[a]:.2f}")
    print(f"{MEASURED[b][0]}  {y[b]:.2f}")
    print(f"    similarity {similarity:.2f}, steepness {steepness:.1f}")

# %%
# What changed
# ------------
# The patterns that only one of the two molecules of the steepest cliff has.
kernel = gg.TreePlusPlus(4, 1, edge_labels=True, counts="binary", similarity="minmax")
pair = gg.compare(kernel, graphs[cliffs.first[:1]], graphs[cliffs.second[:1]])
for which in (0, 1):
    print("only in", which, [pattern.name for pattern in pair.only(which, 3)])
pair  # noqa: B018 - shown in the gallery

# %%
# Similarity and difference of all pairs. Cliffs are in the upper right corner.
every = gg.pairs(graphs, min_similarity=0.3)
differences = np.abs(y[every.second] - y[every.first])
steep = (every.similarities >= 0.7) & (differences >= 1.5)
fig, axes = plt.subplots(figsize=(5.2, 3.6))
axes.scatter(every.similarities[~steep], differences[~steep], color="0.6", label="other pairs")
axes.scatter(every.similarities[steep], differences[steep], color="C1", label="cliffs")
axes.set(xlabel="similarity (min-max)", ylabel="difference in y")
axes.legend(frameon=False)
fig.tight_layout()
plt.show()
