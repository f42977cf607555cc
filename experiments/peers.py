"""Methods compared on molecules: ours, and common methods of chemoinformatics.

Every method takes SMILES and numbers or classes 0 and 1, and selects its parameters on the training
molecules only. Features of molecules are computed once and cached in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import graphgrain as gg
from graphgrain.learning.folds import random_folds, train_and_test

#: Radius of ECFP4, and number of bits as in MoleculeACE and the baselines of molhiv.
RADIUS, BITS = 2, 1024


@dataclass(frozen=True)
class Method:
    """A named learning method.

    Attributes
    ----------
    name : str
        Name in tables and records.
    make : callable(classes, seed, n_jobs)
        Returns a classifier or regressor that takes lists of SMILES.
    seeded : bool
        Whether it is randomised, so that several seeds are run.
    variant : str
        Description of unusual parameters; each variant has its own records.
    """

    name: str
    make: Callable[[bool, int, int | None], Any]
    seeded: bool = False
    variant: str = ""


# ---------------------------------------------------------------- features of molecules


class Cached:
    """A function of one SMILES with cached results."""

    def __init__(self, function: Callable[[str], np.ndarray]) -> None:
        self.function = function
        self.kept: dict[str, np.ndarray] = {}

    def __call__(self, smiles: Sequence[str]) -> np.ndarray:
        """Return one row per molecule."""
        for text in smiles:
            if text not in self.kept:
                self.kept[text] = self.function(text)
        return np.array([self.kept[text] for text in smiles])


def _molecule(smiles: str) -> Any:
    from rdkit.Chem import MolFromSmiles

    molecule = MolFromSmiles(smiles)
    if molecule is None:
        raise ValueError(f"RDKit does not read {smiles!r}.")
    return molecule


def _morgan(bits: int) -> Any:
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    return GetMorganGenerator(radius=RADIUS, fpSize=bits)


@Cached
def ecfp4(smiles: str) -> np.ndarray:
    """Return the binary Morgan fingerprint of radius 2."""
    return _morgan(BITS).GetFingerprintAsNumPy(_molecule(smiles))


@Cached
def maplight_features(smiles: str) -> np.ndarray:
    """Return the features of MapLight.

    ECFP counts (1,024 columns), Avalon counts (1,024), ErG (315) and RDKit's 2-D descriptors.
    """
    from rdkit.Avalon.pyAvalonTools import GetAvalonCountFP
    from rdkit.Chem.Descriptors import CalcMolDescriptors
    from rdkit.Chem.rdReducedGraphs import GetErGFingerprint
    from rdkit.DataStructs import ConvertToNumpyArray

    # A new molecule for each part: RDKit's ErG fingerprint of a molecule object changes after the
    # descriptors have been computed from it, and not always in the same way.
    avalon = np.zeros(1024)
    ConvertToNumpyArray(GetAvalonCountFP(_molecule(smiles), nBits=1024), avalon)
    descriptors = np.array(list(CalcMolDescriptors(_molecule(smiles)).values()), dtype=float)
    parts = (
        _morgan(1024).GetCountFingerprintAsNumPy(_molecule(smiles)),
        avalon,
        GetErGFingerprint(_molecule(smiles)),
        np.clip(np.nan_to_num(descriptors, posinf=1e30, neginf=-1e30), -1e30, 1e30),
    )
    return np.concatenate(parts).astype(np.float32)


_COUNTS: dict[str, dict[int, int]] = {}


def ecfp4_counts(smiles: Sequence[str]) -> list[dict[int, int]]:
    """Count the atom environments up to radius 2, unfolded."""
    generator = _morgan(2048)
    for text in smiles:
        if text not in _COUNTS:
            found = generator.GetSparseCountFingerprint(_molecule(text))
            _COUNTS[text] = found.GetNonzeroElements()
    return [_COUNTS[text] for text in smiles]


class MinMaxCounts:
    """Count Tanimoto of unfolded ECFP4: the sum of minima over the sum of maxima.

    A count c of an environment is encoded as c columns of ones, so that the sum of minima is a
    product of sparse matrices.
    """

    def fit(self, smiles: Sequence[str]) -> MinMaxCounts:
        """Encode the training molecules."""
        self.columns_: dict[tuple[int, int], int] = {}
        self.X_ = self._units(smiles, grow=True)
        self.totals_ = self._totals(smiles)
        return self

    def gram(self, smiles: Sequence[str]) -> np.ndarray:
        """Return similarities of molecules (rows) to the training molecules."""
        minima = np.asarray((self._units(smiles, grow=False) @ self.X_.T).todense(), dtype=float)
        maxima = self._totals(smiles)[:, np.newaxis] + self.totals_ - minima
        return minima / np.maximum(maxima, 1e-12)

    def _totals(self, smiles: Sequence[str]) -> np.ndarray:
        return np.array([sum(counts.values()) for counts in ecfp4_counts(smiles)], dtype=float)

    def _units(self, smiles: Sequence[str], grow: bool) -> sparse.csr_matrix:
        rows, columns = [], []
        for row, counts in enumerate(ecfp4_counts(smiles)):
            for key, count in counts.items():
                for unit in range(count):
                    place = self.columns_.get((key, unit))
                    if place is None and grow:
                        place = self.columns_[key, unit] = len(self.columns_)
                    if place is not None:
                        rows.append(row)
                        columns.append(place)
        shape = (len(smiles), len(self.columns_))
        ones = np.ones(len(rows), dtype=np.float32)
        return sparse.csr_matrix((ones, (rows, columns)), shape=shape)


# ---------------------------------------------------------------- learners


class MinMaxRidge:
    """Kernel ridge regression on count Tanimoto; alpha by closed-form leave-one-out errors."""

    alphas = tuple(10.0**e for e in (-4, -3.5, -3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1))

    def fit(self, smiles: Sequence[str], y: np.ndarray) -> MinMaxRidge:
        """Fit with one eigendecomposition for all values of alpha."""
        self.kernel_ = MinMaxCounts().fit(smiles)
        self.mean_ = float(np.mean(y))
        values, vectors = np.linalg.eigh(self.kernel_.gram(smiles))
        turned = vectors.T @ (y - self.mean_)
        errors = {}
        for alpha in self.alphas:
            inverse = 1 / (np.maximum(values, 0) + alpha)
            weights = vectors @ (inverse * turned)
            errors[alpha] = float(np.mean((weights / ((vectors**2) @ inverse)) ** 2))
        alpha = min(errors, key=lambda a: errors[a])
        self.best_params_ = {"alpha": alpha}
        self.weights_ = vectors @ (turned / (np.maximum(values, 0) + alpha))
        return self

    def predict(self, smiles: Sequence[str]) -> np.ndarray:
        """Predict the value of each molecule."""
        return self.kernel_.gram(smiles) @ self.weights_ + self.mean_


class MinMaxClassifier:
    """Classifier on count Tanimoto: an SVM, or ridge regression to -1 and 1.

    The method and its C or alpha are selected by the ROC AUC of five folds.
    """

    costs = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
    alphas = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)

    def fit(self, smiles: Sequence[str], y: np.ndarray) -> MinMaxClassifier:
        """Select the parameters, then train on all molecules."""
        from sklearn.metrics import roc_auc_score
        from sklearn.model_selection import StratifiedKFold

        self.kernel_ = MinMaxCounts().fit(smiles)
        K = self.kernel_.gram(smiles)
        splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(K, y))
        tried = [("C", C) for C in self.costs] + [("alpha", alpha) for alpha in self.alphas]
        found = {}
        for choice in tried:
            areas = []
            for train, test in splits:
                weights, _ = self._trained(choice, K[np.ix_(train, train)], y[train])
                areas.append(roc_auc_score(y[test], K[np.ix_(test, train)] @ weights))
            found[choice] = float(np.mean(areas))
        best = max(found, key=lambda choice: found[choice])
        self.best_params_ = dict([best])
        self.weights_, self.intercept_ = self._trained(best, K, y)
        return self

    def _trained(
        self, choice: tuple[str, float], K: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Return weights of training molecules and an intercept."""
        from scipy.linalg import solve
        from sklearn.svm import SVC

        name, value = choice
        if name == "C":
            svm = SVC(C=value, kernel="precomputed").fit(K, y)
            weights = np.zeros(len(K))
            weights[svm.support_] = svm.dual_coef_[0]
            return weights, float(svm.intercept_[0])
        sides = np.column_stack([2.0 * y - 1, np.ones(len(y))])
        own, ones = solve(K + value * np.eye(len(K)), sides, assume_a="pos").T
        intercept = own.sum() / ones.sum()
        return own - intercept * ones, float(intercept)

    def decision_function(self, smiles: Sequence[str]) -> np.ndarray:
        """Return the score of class 1 for each molecule."""
        return self.kernel_.gram(smiles) @ self.weights_ + self.intercept_


class GaussianSvm:
    """SVM on ECFP4 bits with a Gaussian kernel, which has the best published mean on MoleculeACE.

    C and gamma are selected by five-fold cross-validation. All kernel matrices are computed from
    one product of the fingerprints, which dominates the cost.
    """

    C = (1.0, 10.0, 100.0)
    gamma = (0.003, 0.01, 0.03)

    def fit(self, smiles: Sequence[str], y: np.ndarray) -> GaussianSvm:
        """Select by five-fold cross-validation, then train on all molecules."""
        from sklearn.svm import SVR

        self.X_ = ecfp4(smiles).astype(np.float32)
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

    def predict(self, smiles: Sequence[str]) -> np.ndarray:
        """Predict the value of each molecule."""
        squares = self._squared_distances(ecfp4(smiles).astype(np.float32))
        return self.svr_.predict(np.exp(-self.best_params_["gamma"] * squares))

    def _squared_distances(self, X: np.ndarray) -> np.ndarray:
        """Return the number of bits in which molecules differ from the fitted ones."""
        products = X @ self.X_.T
        return (X.sum(axis=1)[:, np.newaxis] + self.X_.sum(axis=1) - 2 * products).astype(float)


class OnFeatures:
    """Estimator on features computed from SMILES."""

    def __init__(self, features: Callable[[Sequence[str]], np.ndarray], model: Any) -> None:
        self.features, self.model = features, model

    def fit(self, smiles: Sequence[str], y: np.ndarray) -> OnFeatures:
        """Train the estimator."""
        self.model.fit(self.features(smiles), y)
        self.best_params_ = getattr(self.model, "best_params_", {})
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("predict", "predict_proba", "decision_function"):
            answer = getattr(self.model, name)  # AttributeError if the estimator has none
            return lambda smiles: answer(self.features(smiles))
        raise AttributeError(name)


def logistic_regression(classes: bool, seed: int, n_jobs: int | None) -> OnFeatures:
    """Return logistic regression on ECFP4 with C selected by the ROC AUC."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    model = LogisticRegression(solver="liblinear", class_weight="balanced")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = {"C": [0.01, 0.1, 1.0]}
    return OnFeatures(ecfp4, GridSearchCV(model, grid, scoring="roc_auc", cv=folds, n_jobs=n_jobs))


def random_forest(classes: bool, seed: int, n_jobs: int | None) -> OnFeatures:
    """Return a random forest of 500 trees on ECFP4."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    about: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    if classes:
        about |= {"min_samples_leaf": 2, "class_weight": "balanced"}
        return OnFeatures(ecfp4, RandomForestClassifier(500, **about))
    return OnFeatures(ecfp4, LogWhereSkewed(RandomForestRegressor(500, max_features=0.3, **about)))


class LogWhereSkewed:
    """Regressor on the logarithm of targets that are all positive and skewed to the right.

    MapLight does the same for clearance and volume of distribution.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: np.ndarray) -> LogWhereSkewed:
        """Train the regressor."""
        from scipy.stats import skew

        self.log_ = bool((y > 0).all() and skew(y) > 1)
        self.model.fit(X, np.log(y) if self.log_ else y)
        self.best_params_ = {**getattr(self.model, "best_params_", {}), "log": self.log_}
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict in the unit of the targets."""
        found = np.asarray(self.model.predict(X))
        return np.exp(found) if self.log_ else found


def maplight(classes: bool, seed: int, n_jobs: int | None) -> OnFeatures:
    """Return MapLight: CatBoost on fingerprints and descriptors (Notwell and Wood, 2023)."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    about = {
        "random_strength": 2,
        "random_seed": seed,
        "verbose": 0,
        "allow_writing_files": False,
        "thread_count": n_jobs or 1,
    }
    if classes:
        return OnFeatures(maplight_features, CatBoostClassifier(loss_function="Logloss", **about))
    model = LogWhereSkewed(CatBoostRegressor(loss_function="MAE", **about))
    return OnFeatures(maplight_features, model)


def graphgrain_estimator(descriptors: bool) -> Callable[[bool, int, int | None], Any]:
    """Return our estimator with its defaults, optionally with RDKit's descriptors."""

    def make(classes: bool, seed: int, n_jobs: int | None) -> Any:
        made = gg.GraphClassifier() if classes else gg.GraphRegressor()
        own = {"random_state": seed, "n_jobs": n_jobs}
        return made.set_params(**own, **({"descriptors": "rdkit"} if descriptors else {}))

    return make


OURS = Method("graphgrain", graphgrain_estimator(descriptors=False), seeded=True)
OURS_WITH = Method("graphgrain + descriptors", graphgrain_estimator(descriptors=True), seeded=True)
MAPLIGHT = Method("MapLight", maplight, seeded=True)
COUNTS = Method(
    "ECFP4 counts min-max",
    lambda classes, seed, n_jobs: MinMaxClassifier() if classes else LogWhereSkewed(MinMaxRidge()),
    variant="ridge or SVM",
)
BITS_SVM = Method("ECFP4 bits SVM", lambda classes, seed, n_jobs: GaussianSvm())
LOGISTIC = Method("ECFP4 bits logistic", logistic_regression)
FOREST = Method("ECFP4 bits forest", random_forest, seeded=True)


def ours() -> list[Method]:
    """Return the methods of graphgrain, the best first."""
    return [OURS_WITH, OURS]
