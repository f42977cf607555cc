"""
Cluster and map
===============

A kernel matrix can be converted to distances, for use with any scikit-learn method that accepts
precomputed distances.
"""

# %%
# Distances from similarities
# ---------------------------
# In feature space, two graphs with similarity k have the distance ``sqrt(2 - 2 k)``.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score

import graphgrain as gg

graphs, family = gg.load_drugs()
K = gg.TreePlusPlus(edge_labels=True, counts="sqrt").fit_transform(graphs)
distances = np.sqrt(np.maximum(2 - 2 * K, 0))

# %%
# Clusters
# --------
# HDBSCAN determines the number of clusters.
clusters = HDBSCAN(metric="precomputed", min_cluster_size=6, copy=True).fit_predict(distances)
print("clusters:", clusters.max() + 1, " unassigned:", int((clusters < 0).sum()))
found = clusters >= 0
print("agreement with the families:", round(adjusted_rand_score(family[found], clusters[found]), 2))

# %%
# A map
# -----
places = TSNE(metric="precomputed", init="random", random_state=0).fit_transform(distances)
figure, axis = plt.subplots(figsize=(8, 6), layout="constrained")
for number, name in enumerate(np.unique(family)):
    here = places[family == name]
    axis.scatter(here[:, 0], here[:, 1], s=22, color=plt.get_cmap("tab20")(number), label=name)
axis.set_xticks([])
axis.set_yticks([])
axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
axis.set_title("292 drugs, placed by similarity alone")
plt.show()
