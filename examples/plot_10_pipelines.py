"""
Pipelines and grid search
=========================

Kernels and views can be combined with scikit-learn's transformers: here the features of two kernels
are concatenated, selected, normalised and passed to a linear model, with a grid search over
parameters.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import Normalizer

import graphgrain as gg

graphs, family = gg.load_drugs()

# %%
# Features of two kernels
# -----------------------
pipeline = Pipeline(
    [
        (
            "features",
            FeatureUnion(
                [
                    ("paths", gg.TreePlusPlus(4, 1, output="features", edge_labels=True)),
                    ("balls", gg.WeisfeilerLehman(2, output="features", edge_labels=True)),
                ]
            ),
        ),
        ("select", SelectKBest(chi2)),
        ("scale", Normalizer()),
        ("model", RidgeClassifier(solver="sparse_cg")),
    ]
)
search = GridSearchCV(
    pipeline,
    {
        "features__paths__counts": ["raw", "log"],
        "select__k": [100, 1000, "all"],
        "model__alpha": [0.01, 1.0],
    },
    cv=3,
).fit(graphs, family)
print("best:", search.best_params_)
print("validation accuracy:", round(search.best_score_, 3))

# %%
# Effect of the parameters
# ------------------------
figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
results = search.cv_results_
for counts, marker in (("raw", "o"), ("log", "s")):
    for alpha, shade in ((0.01, "#56B4E9"), (1.0, "#0072B2")):
        here = (results["param_features__paths__counts"] == counts) & (
            results["param_model__alpha"] == alpha
        )
        label = f"{counts} counts, alpha = {alpha:g}"
        axis.plot(results["mean_test_score"][here], marker=marker, color=shade, label=label)
axis.set_xticks(np.arange(3), ["100 features", "1000", "all"])
axis.set_ylabel("accuracy")
axis.legend(fontsize=8)
plt.show()
