"""
Out-of-core learning
====================

Data sets larger than memory can be processed in chunks: each chunk is read, converted to hashed
features, which need no vocabulary (``n_features``), used for training, and discarded.
"""

# %%
# A stream of chunks
# ------------------
# :func:`graphgrain.as_chunks` splits any iterable of graphs into chunks;
# :func:`graphgrain.iter_molecules` reads files of molecules in chunks. Here chunks are generated.
# The task is to distinguish rings with one chain from rings in the middle of a chain.
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize

import graphgrain as gg


def one_graph(rng, kind):
    """Return a ring of six with one chain, or with two chains at opposite vertices."""
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
    """Yield chunks of graphs with their classes."""
    rng = np.random.default_rng(seed)
    for _ in range(chunks):
        y = rng.integers(0, 2, size)
        yield gg.as_graphs([one_graph(rng, kind) for kind in y]), y


# %%
# Train chunk by chunk
# --------------------
# With ``n_features`` the kernel has no fitted state, so chunks can be transformed independently.
kernel = gg.TreePlusPlus(4, 1, output="features", counts="log", n_features=2**16)
model = SGDClassifier(loss="log_loss", random_state=0)
seen, scores = [], []
for number, (graphs, y) in enumerate(stream(25)):
    X = normalize(kernel.transform(graphs))
    if number:
        scores.append(model.score(X, y))  # evaluate before training on the chunk
        seen.append(200 * number)
    model.partial_fit(X, y, classes=[0, 1])
print("accuracy on the last chunks:", np.round(np.mean(scores[-5:]), 3))

# %%
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
axis.plot(seen, scores, marker="o", ms=4)
axis.axhline(0.5, color="0.5", ls="--", lw=1)
axis.set_xlabel("training graphs")
axis.set_ylabel("accuracy on the next chunk")
plt.show()
