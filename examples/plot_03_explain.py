"""
Explain one prediction
======================

Why does the model classify benzylpenicillin as a beta-lactam? The decision value is a sum over
patterns, and every pattern covers certain atoms, so exact contributions of atoms can be computed.
"""

# %%
# Fit and explain a model
# -----------------------
import io

import matplotlib.pyplot as plt

import graphgrain as gg

graphs, family, names = gg.load_drugs(names=True)
model = gg.GraphClassifier().fit(graphs, family == "beta-lactams")
[why] = gg.explain(model, graphs[names == "benzylpenicillin"])
print("decision:", round(why.decision, 3), " bias:", round(why.bias, 3))
print("bias plus vertices:", round(why.bias + why.vertices.sum(), 3))

# %%
# Rings and functional groups
# ---------------------------
for fragment in why.fragments():
    print(f"{fragment.contribution:+.3f}  {fragment.name}")

# %%
# The strongest patterns
# ----------------------
# Patterns are named by SMARTS strings, which RDKit can parse.
for pattern in why.top(5):
    print(f"{pattern.contribution:+.3f}  {pattern.name}")

# %%
# Contributions of the atoms
# --------------------------
# ``why.to_svg("why.svg", fragments=3)`` and ``why.to_png("why.png", fragments=3)`` save the
# picture; notebooks display it automatically.
picture = plt.imread(io.BytesIO(why.to_png(fragments=3)))
figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
axis.imshow(picture)
axis.axis("off")
plt.show()
