"""Columns beside the graphs: doses, assays, temperatures, molecular descriptors.

1. A table has one column of graphs; the others are numbers or categories.
   ``descriptors="rdkit"`` adds RDKit's molecular descriptors as such columns.
2. Numbers are mapped to a normal distribution by their quantiles, missing values are imputed by the
   median and marked, categories are one-hot encoded; all fitted to the training rows only.
3. The columns contribute to a prediction as a Gaussian kernel in the same machine, as extremely
   randomised trees, or as both.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

from ..errors import GraphgrainWarning, InvalidParameterError, needed
from ..graphs.processes import progress_bar
from .inputs import category_name, is_float

#: Transformed numbers are clipped to this absolute value, to limit extrapolation.
FAR = 3.0
#: Maximum number of quantiles of a numeric column.
MOST_QUANTILES = 1000
#: Number of trees in cross-validation and in the final forest.
TREES_TO_VALIDATE, TREES = 100, 300
#: Forest probabilities are clipped to at least this distance from 0 and 1.
SURE = 0.005
#: From this number of rows on, categories that are nearly all different are noted.
MANY_ROWS = 20
#: Zeros and ones as booleans.
_TRUTH = {"0": "False", "1": "True"}
#: Seconds after which the progress bar for descriptors is shown.
_PATIENCE = 2.0


# -------------------------------------------------------------------- descriptors


def molecule_descriptors(molecules: Any, verbose: int = 0) -> dict[str, np.ndarray]:
    """Compute RDKit's 2-D descriptors, one column each; results are cached per molecule.

    Parameters
    ----------
    molecules : sequence of SMILES strings or RDKit molecules
    verbose : int
        1 shows a progress bar on standard error after two seconds.
    """
    with needed("Descriptors are computed by RDKit", "'graphgrain[chem]'"):
        from rdkit.Chem import Descriptors, Mol, MolToSmiles
    texts = []
    for place, item in enumerate(molecules):
        if not isinstance(item, str | Mol):
            raise InvalidParameterError(
                "descriptors='rdkit' needs molecules, as SMILES strings or RDKit molecules; item "
                f"{place} is a {type(item).__name__}. Give these instead of graphs, or leave "
                "descriptors out."
            )
        texts.append(item if isinstance(item, str) else MolToSmiles(item))
    rows = []
    with progress_bar(bool(verbose), len(texts), "molecules", "descriptors", _PATIENCE) as bar:
        for text in texts:
            rows.append(_descriptors(text))
            bar.update(1)
    names = [name for name, _ in Descriptors.descList]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return {name: table[:, number] for number, name in enumerate(names)}


@lru_cache(maxsize=200_000)
def _descriptors(smiles: str) -> tuple[float, ...]:
    from rdkit.Chem import Descriptors, MolFromSmiles
    from rdkit.rdBase import BlockLogs

    with BlockLogs():
        molecule = MolFromSmiles(smiles)
        if molecule is None:
            raise InvalidParameterError(f"RDKit cannot read the SMILES {smiles!r}.")
        found = []
        for _, function in Descriptors.descList:
            try:
                value = float(function(molecule))
            except (ValueError, ZeroDivisionError, RuntimeError):
                value = float("nan")
            found.append(value if abs(value) < 1e30 else float("nan"))
    return tuple(found)


# -------------------------------------------------------------------- encoding


@dataclass(eq=False)
class ColumnEncoder:
    """Encoder of columns as a numeric matrix with entries of order one.

    Attributes
    ----------
    numbers, categories : list of str
        Names of numeric and categorical columns.
    medians : array
        Values imputed in numeric columns.
    marked : array
        Indices of numeric columns with missing values in training; each gets an indicator column.
    quantiles : array of shape (quantiles, numbers)
    values : list of lists of str
        Categories of each categorical column.
    """

    numbers: list[str]
    categories: list[str]
    medians: np.ndarray
    marked: np.ndarray
    quantiles: np.ndarray
    values: list[list[str]]

    @classmethod
    def fit(cls, columns: dict[str, np.ndarray]) -> ColumnEncoder:
        """Fit quantiles, medians and categories to the training rows."""
        from sklearn.preprocessing import QuantileTransformer

        numbers = [name for name, values in columns.items() if _is_number(name, values)]
        categories = [name for name in columns if name not in numbers]
        medians, marked, quantiles = np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros((0, 0))
        if numbers:
            table = np.column_stack([_as_numbers(name, columns[name]) for name in numbers])
            medians = np.nanmedian(table, axis=0)
            marked = np.flatnonzero(np.isnan(table).any(axis=0))
            filled = np.where(np.isnan(table), medians, table)
            quantiles = (
                QuantileTransformer(n_quantiles=min(len(table), MOST_QUANTILES), random_state=0)
                .fit(filled)
                .quantiles_
            )
        values = [sorted(set(_texts(columns[name]).tolist())) for name in categories]
        for name, own in zip(categories, values, strict=True):
            rows = len(columns[name])
            if rows >= MANY_ROWS and len(own) > rows / 2:
                warnings.warn(
                    f"The column {name!r} has {len(own):,} different categories in {rows:,} rows. "
                    "If these are names of the graphs, leave it out.",
                    GraphgrainWarning,
                    stacklevel=2,
                )
        return cls(numbers, categories, medians, marked, quantiles, values)

    def transform(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Encode the columns of new rows; unknown categories are encoded as zeros."""
        missing = [n for n in (*self.numbers, *self.categories) if n not in columns]
        if missing:
            raise InvalidParameterError(
                f"The table must have the columns of the training table; {missing[0]!r} is missing"
                + (f" ({len(missing)} in all)." if len(missing) > 1 else ".")
            )
        parts = []
        if self.numbers:
            table = np.column_stack([_as_numbers(name, columns[name]) for name in self.numbers])
            filled = np.where(np.isnan(table), self.medians, table)
            moved = self._normal().transform(filled) if len(filled) else filled
            parts += [np.clip(moved, -FAR, FAR), np.isnan(table[:, self.marked])]
        for name, known in zip(self.categories, self.values, strict=True):
            own = _texts(columns[name])
            if set(known) <= {*_TRUTH.values(), ""}:  # trained on booleans
                own = np.array([_TRUTH.get(v, v) for v in own], dtype=object)
            found = own[:, np.newaxis] == np.array(known, dtype=object)
            numbers = columns[name].dtype.kind in "fiu" and not any(map(is_float, known))
            if numbers and any(own) and not found.any():
                raise InvalidParameterError(
                    f"The column {name!r} held categories in training, such as {known[-1]!r}; "
                    f"got numbers, such as {next(filter(None, own))}. Convert it."
                )
            parts.append(found)
        return np.hstack(parts).astype(np.float64)

    def _normal(self) -> Any:
        """Return scikit-learn's transformer with the fitted quantiles."""
        from sklearn.preprocessing import QuantileTransformer

        number = len(self.quantiles)
        transformer = QuantileTransformer(n_quantiles=number, output_distribution="normal")
        transformer.quantiles_, transformer.n_quantiles_ = self.quantiles, number
        transformer.references_ = np.linspace(0, 1, number)
        transformer.n_features_in_ = len(self.numbers)
        return transformer


def _texts(values: np.ndarray) -> np.ndarray:
    """Return the categories of a column as texts, empty where they are missing."""
    texts = ["" if v is None or v != v else category_name(v) for v in values.tolist()]
    return np.array(texts, dtype=object)


def _check_no_dates(name: str, values: np.ndarray) -> None:
    first = next((v for v in values.tolist() if v is not None), None)
    if values.dtype.kind in "mM" or isinstance(first, date | timedelta | np.datetime64):
        raise InvalidParameterError(
            f"A column must hold numbers or categories; {name!r} holds dates or times. Convert it "
            "to a number, such as the days since the first."
        )


def _is_number(name: str, values: np.ndarray) -> bool:
    _check_no_dates(name, values)
    if values.dtype.kind in "fiu":
        _require_some(name, int(np.isfinite(values).sum()))
        return True
    if values.dtype.kind == "b":
        return False
    present = [v for v in values.tolist() if v is not None]
    _require_some(name, len(present))
    numbers = [isinstance(v, Real | Decimal) and not isinstance(v, bool) for v in present]
    if any(numbers) and not all(numbers):
        text = next(v for v, own in zip(present, numbers, strict=True) if not own)
        raise InvalidParameterError(
            f"A column must hold numbers or categories; {name!r} has numbers and {text!r}. Convert "
            "it, or leave such rows out."
        )
    return all(numbers)


def _require_some(name: str, known: int) -> None:
    if not known:
        raise InvalidParameterError(
            f"A column must have a value in some row; {name!r} has none. Leave it out."
        )


def _as_numbers(name: str, values: np.ndarray) -> np.ndarray:
    _check_no_dates(name, values)
    try:
        numbers = np.array([np.nan if v is None else v for v in values.tolist()], dtype=np.float64)
    except OverflowError:
        numbers = np.array([np.inf])
    except (TypeError, ValueError):
        known = (v for v in values.tolist() if v is not None)
        text = next(v for v in known if not isinstance(v, Real | Decimal))
        raise InvalidParameterError(
            f"The column {name!r} held numbers in training; got {text!r}. Convert it."
        ) from None
    if np.isinf(numbers).any():
        raise InvalidParameterError(
            f"Numbers of a column must be finite; {name!r} has an infinite one in row "
            f"{int(np.flatnonzero(np.isinf(numbers))[0])}. Leave such rows out, or mark them as "
            "missing."
        )
    return numbers


# -------------------------------------------------------------------- contribution to predictions


@dataclass(frozen=True, eq=False)
class ColumnKernel:
    """A Gaussian kernel on columns.

    Attributes
    ----------
    rows : array
        Encoded training rows.
    gamma : float
        Inverse of the median squared distance between training rows.
    """

    rows: np.ndarray
    gamma: float

    @classmethod
    def of(cls, rows: np.ndarray, rng: np.random.Generator) -> ColumnKernel:
        """Return the kernel for training rows; gamma is estimated from at most 1,000 of them."""
        from sklearn.metrics.pairwise import euclidean_distances

        distances = euclidean_distances(rows[rng.permutation(len(rows))[:1000]], squared=True)
        apart = distances[distances > 1e-12]
        return cls(rows, 1.0 / float(np.median(apart)) if len(apart) else 1.0)

    def compare(self, rows: np.ndarray) -> np.ndarray:
        """Return similarities of encoded rows to the training rows."""
        from sklearn.metrics.pairwise import rbf_kernel

        if not len(rows):  # which scikit-learn refuses
            return np.empty((0, len(self.rows)))
        return rbf_kernel(rows, self.rows, self.gamma)


@dataclass(frozen=True, eq=False)
class ColumnForest:
    """Extremely randomised trees on columns.

    Attributes
    ----------
    trees : list
        Arrays (left, right, feature, threshold, value) of each tree; ``value`` has the shape
        (nodes, outputs).
    classes : bool
        Whether the trees predict class probabilities, which are converted to log-odds.
    """

    trees: list[tuple[np.ndarray, ...]]
    classes: bool

    @classmethod
    def fit(
        cls,
        rows: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        number: int,
        n_classes: int | None,
        n_jobs: int | None,
    ) -> ColumnForest:
        """Train on encoded rows; ``n_classes`` is None for regression."""
        from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

        shared = {"n_estimators": number, "random_state": 0, "n_jobs": n_jobs, "bootstrap": False}
        if n_classes is None:
            model: Any = ExtraTreesRegressor(max_features=1 / 3, min_samples_leaf=2, **shared)
            model.fit(rows, targets if targets.shape[1] > 1 else targets[:, 0], weights)
        else:
            model = ExtraTreesClassifier(max_features="sqrt", min_samples_leaf=2, **shared)
            model.fit(rows, targets, weights)
        trees: list[tuple[np.ndarray, ...]] = []
        for estimator in model.estimators_:
            tree = estimator.tree_
            values = tree.value[:, 0, :] if n_classes is not None else tree.value[:, :, 0]
            if n_classes is not None:
                own = values / values.sum(axis=1, keepdims=True)
                values = np.zeros((len(own), n_classes))
                values[:, model.classes_.astype(int)] = own
            trees.append(
                (
                    tree.children_left.astype(np.int32),
                    tree.children_right.astype(np.int32),
                    tree.feature.astype(np.int16 if rows.shape[1] < 2**15 else np.int32),
                    tree.threshold.astype(np.float32),
                    values.astype(np.float32),
                )
            )
        return cls(trees, n_classes is not None)

    def values(self, rows: np.ndarray) -> np.ndarray:
        """Predict numbers, or log-odds of classes, for encoded rows."""
        rows = rows.astype(np.float32)
        total = np.zeros((len(rows), self.trees[0][4].shape[1]))
        everyone = np.arange(len(rows))
        for left, right, feature, threshold, value in self.trees:
            node = np.zeros(len(rows), dtype=np.int64)
            inner = everyone[left[node] >= 0]
            while len(inner):
                at = node[inner]
                down = rows[inner, feature[at]] <= threshold[at]
                node[inner] = np.where(down, left[at], right[at])
                inner = inner[left[node[inner]] >= 0]
            total += value[node]
        total /= len(self.trees)
        if not self.classes:
            return total
        sure = np.clip(total, SURE, 1 - SURE)
        odds = np.log(sure / (1 - sure))
        return odds[:, 1:] if odds.shape[1] == 2 else odds


@dataclass(frozen=True, eq=False)
class ColumnPart:
    """Contribution of the columns to the outputs of a machine.

    Attributes
    ----------
    encoder : ColumnEncoder
    kernel : ColumnKernel or None
    coefficients : array of shape (outputs, training rows), or None
        Coefficients of the training rows, multiplied by the share of the kernel.
    forest : ColumnForest or None
    share : array of shape (outputs,)
        Factors of the forest outputs.
    """

    encoder: ColumnEncoder
    kernel: ColumnKernel | None = None
    coefficients: np.ndarray | None = None
    forest: ColumnForest | None = None
    share: np.ndarray | None = None

    def values(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Return the contribution of the columns of new rows, (rows, outputs)."""
        rows = self.encoder.transform(columns)
        total: Any = 0.0
        if self.kernel is not None and self.coefficients is not None:
            total = total + self.kernel.compare(rows) @ self.coefficients.T
        if self.forest is not None:
            total = total + self.forest.values(rows) * self.share
        return np.asarray(total)

    def rescaled(self, factors: np.ndarray) -> ColumnPart:
        """Return a copy with each output multiplied by its factor."""
        coefficients, share = self.coefficients, self.share
        if coefficients is not None:
            coefficients = coefficients * np.reshape(factors, (-1, 1))
        if share is not None:
            share = share * factors
        return replace(self, coefficients=coefficients, share=share)
