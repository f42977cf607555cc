"""
Classify graphs
===============

Which family does a drug belong to? The bundled set has 292 approved drugs in eleven
pharmacological families. A classifier that chooses its own parameters is trained on half of them.
"""

# %%
# Graphs and classes
# ------------------
# A :class:`~graphgrain.GraphBatch` can be indexed like an array, so scikit-learn splits it.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split

import graphgrain as gg

graphs, family = gg.load_drugs()
train, test, y_train, y_test = train_test_split(
    graphs, family, test_size=0.5, stratify=family, random_state=0
)
print(train)

# %%
# Fit
# ---
# Path and tree depths, similarities, edge labels and C are judged inside the training graphs; the
# kernels that help are added up.
model = gg.GraphClassifier(max_level=3).fit(train, y_train)
print("accuracy on the other half:", round(model.score(test, y_test), 3))
for term in model.terms_:
    print(term)

# %%
# Where it errs
# -------------
# The few errors lie between families that share a scaffold.
figure, axis = plt.subplots(figsize=(7, 6), layout="constrained")
ConfusionMatrixDisplay.from_predictions(
    y_test, model.predict(test), ax=axis, xticks_rotation="vertical", colorbar=False, cmap="Blues"
)
axis.set_title(f"{len(np.unique(family))} families, {len(test)} drugs not seen in training")
plt.show()
