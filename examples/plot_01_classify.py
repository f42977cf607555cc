"""
Classify graphs
===============

Predict the pharmacological family of a drug. The bundled data set has 292 approved drugs in eleven
families. A self-tuned classifier is trained on half of them.
"""

# %%
# Graphs and classes
# ------------------
# A :class:`~graphgrain.GraphBatch` can be indexed like an array, so scikit-learn can split it.
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
# Neighbourhoods, paths of neighbourhoods and pairs of labels, on several alphabets, are weighed by
# marginal likelihood; the regularisation is chosen by leave-one-out.
model = gg.GraphClassifier().fit(train, y_train)
print("accuracy on the other half:", round(model.score(test, y_test), 3))
for term in model.terms_:
    print(term)

# %%
# Errors
# ------
# The few errors occur between families that share a scaffold.
figure, axis = plt.subplots(figsize=(7, 6), layout="constrained")
ConfusionMatrixDisplay.from_predictions(
    y_test, model.predict(test), ax=axis, xticks_rotation="vertical", colorbar=False, cmap="Blues"
)
axis.set_title(f"{len(np.unique(family))} families, {len(test)} test drugs")
plt.show()
