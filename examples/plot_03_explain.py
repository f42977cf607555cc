"""
Explain one prediction
======================

Why does the model call diazepam a benzodiazepine? Every pattern adds its weight to the decision,
and every pattern sits on atoms: the decision is shared out exactly.
"""

# %%
# A model and its reasons
# -----------------------
import matplotlib.pyplot as plt
import numpy as np

import graphgrain as gg

graphs, family, names = gg.load_drugs(names=True)
model = gg.GraphClassifier(max_level=2).fit(graphs, family == "benzodiazepines")
[why] = gg.explain(model, graphs[names == "diazepam"])
print("decision:", round(why.decision, 3), " bias:", round(why.bias, 3))
print("bias and vertices together:", round(why.bias + why.vertices.sum(), 3))

# %%
# The strongest patterns
# ----------------------
for pattern in why.top(5):
    print(f"{pattern.contribution:+.3f}  {pattern.name}")

# %%
# The atoms behind it
# -------------------
# ``why.to_svg("why.svg")`` draws the molecule as chemists do, and notebooks show it by
# themselves. Here the values are drawn as bars, atom by atom.
symbols = [f"{label}{number}" for number, label in enumerate(why.graph.labels)]
order = np.argsort(why.vertices)
figure, axis = plt.subplots(figsize=(6, 4.4), layout="constrained")
colours = np.where(why.vertices[order] > 0, "#B2182B", "#2166AC")
axis.barh(np.array(symbols)[order], why.vertices[order], color=colours)
axis.set_xlabel("contribution to the decision")
axis.set_title("diazepam: which atoms speak for a benzodiazepine")
axis.tick_params(axis="y", labelsize=8)
plt.show()
