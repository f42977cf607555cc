"""
Brain networks
==============

Each vertex is a brain region with a unique label, each edge a strong correlation of activity. The
networks here are simulated: in one group the connections within one system are weaker. With unique
labels, a kernel with explicit features shows *which* connections differ.
"""

# %%
# Two groups that differ in one system
# ------------------------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import graphgrain as gg

SYSTEMS = ["visual", "motor", "default", "control"]
REGIONS = [f"{system}.{number}" for system in SYSTEMS for number in range(8)]


def network(rng, weak):
    """Return edges between regions whose simulated correlation is above a threshold."""
    edges = []
    for i, first in enumerate(REGIONS):
        for j in range(i):
            same = first.split(".")[0] == REGIONS[j].split(".")[0]
            strength = 0.55 if same else 0.08
            if same and weak and first.startswith("default"):
                strength = 0.35
            if rng.random() < strength:
                edges.append((j, i))
    return edges, REGIONS


rng = np.random.default_rng(0)
group = np.array([0, 1] * 60)
graphs = gg.as_graphs([network(rng, weak) for weak in group])
print(graphs)

# %%
# A linear model on path patterns
# -------------------------------
kernel = gg.PathPattern(path_depth=1, output="features", counts="binary")
model = make_pipeline(kernel, LogisticRegression(C=0.1, max_iter=1000))
print("accuracy:", round(cross_val_score(model, graphs, group, cv=5).mean(), 2))

# %%
# Which connections differ?
# -------------------------
model.fit(graphs, group)
names = model[0].get_feature_names_out()
weights = model[1].coef_[0]
matrix = np.zeros((len(SYSTEMS), len(SYSTEMS)))
for name, weight in zip(names, weights):
    ends = [part.split(".")[0] for part in name.split("->")]  # for example visual.3->motor.1
    if len(ends) == 2:
        a, b = sorted(SYSTEMS.index(end) for end in ends)
        matrix[b, a] += weight
figure, axis = plt.subplots(figsize=(5, 4.2), layout="constrained")
limit = np.abs(matrix).max()
image = axis.imshow(matrix, cmap="RdBu_r", vmin=-limit, vmax=limit)
axis.set_xticks(range(4), SYSTEMS)
axis.set_yticks(range(4), SYSTEMS)
figure.colorbar(image, label="summed weight of connections")
axis.set_title("Connections for (red)\nand against (blue) the second group")
plt.show()
