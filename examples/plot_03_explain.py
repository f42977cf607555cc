"""
Explain one prediction
======================

Why does the model call benzylpenicillin a beta-lactam? Every pattern adds its weight to the
decision, and every pattern sits on atoms: the decision is shared out exactly.
"""

# %%
# A model and its reasons
# -----------------------
import io

import matplotlib.pyplot as plt

import graphgrain as gg

graphs, family, names = gg.load_drugs(names=True)
model = gg.GraphClassifier(max_level=2).fit(graphs, family == "beta-lactams")
[why] = gg.explain(model, graphs[names == "benzylpenicillin"])
print("decision:", round(why.decision, 3), " bias:", round(why.bias, 3))
print("bias and vertices together:", round(why.bias + why.vertices.sum(), 3))

# %%
# Rings and functional groups
# ---------------------------
for fragment in why.fragments():
    print(f"{fragment.contribution:+.3f}  {fragment.name}")

# %%
# The strongest patterns
# ----------------------
# Their names are SMARTS, which RDKit reads.
for pattern in why.top(5):
    print(f"{pattern.contribution:+.3f}  {pattern.name}")

# %%
# The atoms behind it
# -------------------
# ``why.to_svg("why.svg", fragments=3)`` and ``why.to_png("why.png", fragments=3)`` write the
# picture; notebooks show it by themselves.
picture = plt.imread(io.BytesIO(why.to_png(fragments=3)))
figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
axis.imshow(picture)
axis.axis("off")
plt.show()
