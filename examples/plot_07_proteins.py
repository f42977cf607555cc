"""
Proteins as graphs
==================

A protein is a folded chain. Vertices are its secondary structure elements (helices, strands,
turns), labelled by type; edges join elements that are adjacent in the chain or in contact in the
fold. The proteins here are synthetic, with two folds that differ only in their contacts.
"""

# %%
# Two folds with the same elements
# --------------------------------
# In a *barrel* each strand pairs with the next one, in a *sandwich* with a strand of the other
# sheet. The numbers of helices and strands are the same on average, so a histogram of labels cannot
# distinguish the folds.
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import graphgrain as gg


def protein(rng, fold):
    """Return a chain of strands (E), helices (H) and turns (T) with the contacts of its fold."""
    labels, edges, strands = [], [], []
    for _ in range(int(rng.integers(6, 10))):
        for kind in ("E", "T", "H" if rng.random() < 0.5 else "E", "T"):
            if labels:
                edges.append((len(labels) - 1, len(labels)))
            if kind == "E":
                strands.append(len(labels))
            labels.append(kind)
    half = len(strands) // 2
    for place, strand in enumerate(strands):
        partner = place + 1 if fold == "barrel" else (place + half) % len(strands)
        if partner < len(strands) and rng.random() < 0.85:
            edges.append((strand, strands[partner]))
    return edges, labels


rng = np.random.default_rng(0)
folds = np.array(["barrel", "sandwich"] * 40)
graphs = gg.as_graphs([protein(rng, fold) for fold in folds])
print(graphs)

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
colour = {"E": "#E69F00", "H": "#56B4E9", "T": "0.75"}
for axis, number in zip(axes, (0, 1)):
    graph = gg.to_networkx(graphs[number])[0]
    kinds = [str(label) for label in graphs[number].labels]
    nx.draw_networkx(
        graph,
        nx.kamada_kawai_layout(graph),
        ax=axis,
        node_color=[colour[kind] for kind in kinds],
        labels=dict(enumerate(kinds)),
        node_size=160,
        font_size=8,
    )
    axis.set_title(folds[number])
    axis.axis("off")
plt.show()

# %%
# Which kernels distinguish them?
# -------------------------------
results = {}
for name, kernel in {
    "vertex histogram": gg.VertexHistogram(),
    "edge histogram": gg.EdgeHistogram(),
    "WL": gg.WeisfeilerLehman(n_iter=3),
    "Tree++": gg.TreePlusPlus(path_depth=4, tree_depth=2),
}.items():
    model = make_pipeline(kernel, SVC(kernel="precomputed", C=10))
    results[name] = cross_val_score(model, graphs, folds, cv=5)
    print(f"{name:18} {results[name].mean():.2f}")

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.barh(list(results), [scores.mean() for scores in results.values()], color="#0072B2")
axis.axvline(0.5, color="0.4", ls="--", lw=1)
axis.text(0.5, -0.45, " chance", fontsize=8, va="bottom")
axis.set_xlim(0, 1)
axis.set_xlabel("accuracy, five folds")
plt.show()
