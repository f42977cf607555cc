"""
Predict a number
================

Predict a continuous target. Here it is computed from the graphs, so that the ground truth is known:
a mass that grows with size, a term that depends on the number of polar atoms, and some noise.
"""

# %%
# A synthetic target
# ------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_predict

import graphgrain as gg

graphs, _ = gg.load_drugs()
mass_of = {"C": 12.0, "N": 14.0, "O": 16.0, "S": 32.1, "F": 19.0, "Cl": 35.5, "Br": 79.9}
mass = np.array([sum(mass_of.get(label, 20.0) for label in one.labels) for one in graphs])
rng = np.random.default_rng(0)
polar = np.array([sum(label in ("N", "O") for label in one.labels) for one in graphs])
target = mass / 100 - 0.5 * polar + rng.normal(0, 0.1, len(graphs))

# %%
# Out-of-fold predictions
# -----------------------
# The regressor weighs its kernels within the training graphs of each fold.
model = gg.GraphRegressor()
predicted = cross_val_predict(model, graphs, target, cv=3)
r2 = 1 - ((target - predicted) ** 2).sum() / ((target - target.mean()) ** 2).sum()
print("R2:", round(float(r2), 3))

# %%
figure, axis = plt.subplots(figsize=(5, 5), layout="constrained")
axis.plot([target.min(), target.max()], [target.min(), target.max()], color="0.7", zorder=0)
axis.scatter(target, predicted, s=14, alpha=0.7)
axis.set_xlabel("true value")
axis.set_ylabel("predicted, out of fold")
axis.set_title(f"R2 = {r2:.2f}")
plt.show()
