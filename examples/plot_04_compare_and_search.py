"""
Compare and search graphs
=========================

Which drugs are similar to morphine, and why? An on-disk index finds them, and a pairwise comparison
lists the patterns they share.
"""

# %%
# Build and search an index
# -------------------------
# An index is a folder. It stores graphs, not their features, and the search is exact.
import tempfile

import matplotlib.pyplot as plt

import graphgrain as gg

graphs, family, names = gg.load_drugs(names=True)
folder = tempfile.TemporaryDirectory()
index = gg.GraphIndex.build(f"{folder.name}/drugs.ggi", graphs, ids=names)
morphine = graphs[names == "morphine"]
ids, similarities = index.search(morphine, k=8)
for name, similarity in zip(ids[0], similarities[0]):
    print(f"{similarity:.2f}  {name}")

# %%
# Explain a similarity
# --------------------
# The similarity of two graphs is a sum over the patterns they share.
kernel = gg.TreePlusPlus(edge_labels=True)
pair = gg.compare(kernel, morphine, graphs[names == ids[0][1]])
print("similarity:", round(pair.similarity, 3))
for pattern in pair.shared()[:5]:
    print(f"{pattern.share:.3f}  {pattern.name}")

# %%
# Contributions of atoms
# ----------------------
# Contribution of each atom of morphine to its similarity with three other drugs.
others = ["codeine", "naloxone", "diazepam"]
figure, axes = plt.subplots(len(others), 1, figsize=(8, 5), layout="constrained", sharey=True)
symbols = [f"{label}{number}" for number, label in enumerate(morphine.labels)]
for axis, other in zip(axes, others):
    pair = gg.compare(kernel, morphine, graphs[names == other])
    axis.bar(symbols, pair.vertices[0], color="#0072B2")
    axis.set_title(f"{other}: similarity {pair.similarity:.2f}", fontsize=10)
    axis.tick_params(axis="x", labelsize=7)
plt.show()
