"""
Large data in streams
=====================

A million graphs need not fit in memory. Chunks are read, turned into features whose columns need no
vocabulary (``n_features``), learned from, and forgotten.
"""

# %%
# A source of chunks
# ------------------
# Any iterable of graphs becomes chunks with :func:`graphgrain.as_chunks`; files of molecules come
# in chunks from :func:`graphgrain.iter_molecules`. Here chunks are made on the fly: rings with a
# chain attached, which are to be told from chains with a ring in the middle.
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize

import graphgrain as gg


def one_graph(rng, kind):
    """A ring of six with one chain, or with two chains at opposite ends."""
    ring = [(i, (i + 1) % 6) for i in range(6)]
    length = int(rng.integers(4, 9))
    chains = [(0, length)] if kind == 0 else [(0, length // 2), (3, length - length // 2)]
    edges, vertices = ring, 6
    for start, steps in chains:
        ends = [start, *range(vertices, vertices + steps)]
        edges = edges + list(pairwise(ends))
        vertices += steps
    return edges, rng.choice(["C", "N", "O"], vertices, p=[0.8, 0.1, 0.1]).tolist()


def stream(chunks, size=200, seed=0):
    """Chunks of graphs with their classes."""
    rng = np.random.default_rng(seed)
    for _ in range(chunks):
        y = rng.integers(0, 2, size)
        yield gg.as_graphs([one_graph(rng, kind) for kind in y]), y


# %%
# Learn chunk by chunk
# --------------------
# With ``n_features`` the kernel has nothing to learn: any chunk can be transformed anywhere.
kernel = gg.TreePlusPlus(4, 1, output="features", counts="log", n_features=2**16)
model = SGDClassifier(loss="log_loss", random_state=0)
seen, scores = [], []
for number, (graphs, y) in enumerate(stream(25)):
    X = normalize(kernel.transform(graphs))
    if number:
        scores.append(model.score(X, y))  # before it learns from them
        seen.append(200 * number)
    model.partial_fit(X, y, classes=[0, 1])
print("accuracy on the last chunks:", np.round(np.mean(scores[-5:]), 3))

# %%
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
axis.plot(seen, scores, marker="o", ms=4)
axis.axhline(0.5, color="0.5", ls="--", lw=1)
axis.set_xlabel("graphs learned from")
axis.set_ylabel("accuracy on the next chunk")
plt.show()
