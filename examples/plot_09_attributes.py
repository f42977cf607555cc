"""
Continuous attributes
=====================

Kernels such as Tree++ compare labels. Continuous attributes can be converted to labels by a view,
with bins that are fitted to the training graphs only.
"""

# %%
# Drawn letters
# -------------
# A letter is a graph of strokes: vertices are the end points of strokes, with noisy coordinates.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import graphgrain as gg

LETTERS = {
    "N": ([(0, 0), (0, 2), (1, 0), (1, 2)], [(0, 1), (1, 2), (2, 3)]),
    "Z": ([(0, 2), (1, 2), (0, 0), (1, 0)], [(0, 1), (1, 2), (2, 3)]),
    "L": ([(0, 2), (0, 1), (0, 0), (1, 0)], [(0, 1), (1, 2), (2, 3)]),
    "V": ([(0, 2), (0.25, 1), (0.5, 0), (1, 2)], [(0, 1), (1, 2), (2, 3)]),
}
rng = np.random.default_rng(0)
letters = np.array(list(LETTERS) * 40)
sizes, edges, points = [], [], []
for number, letter in enumerate(letters):
    places, strokes = LETTERS[letter]
    sizes.append(4)
    edges += [(4 * number + u, 4 * number + v) for u, v in strokes]
    points += (np.array(places) + rng.normal(0, 0.18, (4, 2))).tolist()
graphs = gg.GraphBatch.from_edges(sizes, edges, vertex_attributes=points)
print(graphs)

# %%
figure, axes = plt.subplots(1, 8, figsize=(11, 2), layout="constrained")
for axis, number in zip(axes, range(8)):
    one = graphs[number]
    for u, v in one.edges:
        axis.plot(*one.vertex_attributes[[u, v]].T, color="#0072B2", lw=3)
    axis.set_title(letters[number])
    axis.set_aspect("equal")
    axis.axis("off")
plt.show()

# %%
# Without attributes, all letters are the same path of four vertices. Binned coordinates distinguish
# them; so do random hashings, which need no fixed bin edges.
views = {
    "labels only": gg.TreePlusPlus(3, 1),
    "4 bins per axis": make_pipeline(gg.AttributeBins(n_bins=4), gg.TreePlusPlus(3, 1)),
    "hashed": gg.HashedAttributes(gg.TreePlusPlus(3, 1), width=1.0),
    "propagation": gg.Propagation(bin_width=0.3, attributes=True),
}
for name, view in views.items():
    scores = cross_val_score(make_pipeline(view, SVC(kernel="precomputed")), graphs, letters, cv=5)
    print(f"{name:18} {scores.mean():.2f}")
