"""
Write a custom kernel in 20 lines
=================================

A kernel with explicit features only needs to count the features of each graph. The base class
provides Gram matrices, sparse features, names, count maps, similarities, threads and the
scikit-learn interface.
"""

# %%
# Count triangles by their labels
# -------------------------------
# A feature is a 64-bit hash; :func:`graphgrain.hash_labels` returns one for each label.
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import graphgrain as gg


class Triangles(gg.FeatureKernel):
    """Count triangles by the labels of their vertices."""

    def _triangles(self, graph):
        neighbours = [set() for _ in range(graph.n_vertices)]
        for u, v in graph.edges.tolist():
            neighbours[u].add(v)
        return [(u, v, w) for u, v in graph.edges.tolist() for w in neighbours[u] & neighbours[v]]

    def count_features(self, batch):
        codes = gg.hash_labels(batch.label_table)
        found = [
            codes[one.label_codes[np.array(self._triangles(one), dtype=int).reshape(-1, 3)]]
            for one in batch
        ]
        pointers = np.cumsum([0] + [len(part) for part in found])
        with np.errstate(over="ignore"):
            hashes = np.concatenate(found).sum(axis=1, dtype=np.uint64)  # independent of the order
        return [gg.count_hashes(pointers, hashes)]


# %%
# Use the kernel
# --------------
rng = np.random.default_rng(0)
kinds = ["clustered", "random"] * 15
made = [
    nx.powerlaw_cluster_graph(20, 3, 0.9 if kind == "clustered" else 0.0, seed=seed)
    for seed, kind in enumerate(kinds)
]
graphs = gg.as_graphs([(list(g.edges), rng.choice(["a", "b"], 20).tolist()) for g in made])
kernel = Triangles(output="features")
X = kernel.fit_transform(graphs)
print("kinds of triangles:", X.shape[1])

# %%
K = Triangles(counts="sqrt").fit_transform(graphs)
order = np.argsort(kinds, kind="stable")
totals = np.asarray(X.sum(axis=1)).ravel()
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.imshow(K[np.ix_(order, order)], cmap="magma")
left.set_title("similarity, clustered graphs first")
right.hist([totals[::2], totals[1::2]], label=["clustered", "random"])
right.set_xlabel("triangles in a graph")
right.legend()
plt.show()
