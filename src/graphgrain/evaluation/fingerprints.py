"""ECFP4 and the learners that chemists put on it, to stand beside Tree++."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from ..errors import InvalidParameterError
from ..learning.splits import random_folds, train_and_test

#: The radius of ECFP4; its bits as in MoleculeACE and in the baselines of molhiv.
RADIUS, BITS = 2, 1024


def ecfp4(smiles: Sequence[str], bits: int = BITS) -> np.ndarray:
    """Morgan fingerprints of radius 2 as an array of zeros and ones, a row for each molecule.

    Examples
    --------
    >>> from graphgrain.evaluation.fingerprints import ecfp4
    >>> ecfp4(["CCO", "CCO", "c1ccccc1"]).sum(axis=1).tolist()
    [6, 6, 3]
    """
    try:
        from rdkit.Chem import MolFromSmiles
        from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    except ImportError:
        raise InvalidParameterError(
            "Fingerprints need RDKit: pip install graphgrain[chem]."
        ) from None
    generator = GetMorganGenerator(radius=RADIUS, fpSize=bits)
    rows = [generator.GetFingerprintAsNumPy(MolFromSmiles(text)) for text in smiles]
    return np.array(rows, dtype=np.uint8).reshape(len(smiles), bits)


class GaussianRegression(RegressorMixin, BaseEstimator):
    """A support vector machine with a Gaussian kernel that chooses C and gamma inside.

    All matrices come from one product of the fingerprints, which is most of the work.
    """

    C = (1.0, 10.0, 100.0)
    gamma = (0.003, 0.01, 0.03)

    def fit(self, X: np.ndarray, y: np.ndarray) -> GaussianRegression:
        """Choose by five-fold cross-validation, then train on all."""
        from sklearn.svm import SVR

        self.X_ = X.astype(np.float32)
        squares = self._squared_distances(self.X_)
        folds = random_folds(len(y), 5, np.random.default_rng(0))
        splits = [train_and_test(folds, fold) for fold in range(5)]
        found = {}
        for gamma in self.gamma:
            K = np.exp(-gamma * squares)
            for C in self.C:
                errors = []
                for train, test in splits:
                    svr = SVR(C=C, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
                    predicted = svr.predict(K[np.ix_(test, train)])
                    errors.append(np.mean((predicted - y[test]) ** 2))
                found[C, gamma] = float(np.mean(errors))
        C, gamma = min(found, key=lambda choice: found[choice])
        self.best_params_ = {"C": C, "gamma": gamma}
        self.svr_ = SVR(C=C, kernel="precomputed").fit(np.exp(-gamma * squares), y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The value of each molecule."""
        squares = self._squared_distances(X.astype(np.float32))
        return self.svr_.predict(np.exp(-self.best_params_["gamma"] * squares))

    def _squared_distances(self, X: np.ndarray) -> np.ndarray:
        """The number of bits in which molecules differ from the fitted ones."""
        products = X @ self.X_.T
        return (X.sum(axis=1)[:, np.newaxis] + self.X_.sum(axis=1) - 2 * products).astype(float)


def logistic_regression(n_jobs: int | None = None) -> Any:
    """Logistic regression that chooses C inside by the ROC AUC."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    model = LogisticRegression(solver="liblinear", class_weight="balanced")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(model, {"C": [0.01, 0.1, 1.0]}, scoring="roc_auc", cv=folds, n_jobs=n_jobs)


def random_forest(kind: str, seed: int, n_jobs: int | None = None) -> Any:
    """A random forest of 500 trees for classes or numbers."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if kind == "regression":
        return RandomForestRegressor(500, max_features=0.3, random_state=seed, n_jobs=n_jobs)
    return RandomForestClassifier(
        500, min_samples_leaf=2, class_weight="balanced", random_state=seed, n_jobs=n_jobs
    )
