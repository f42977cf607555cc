"""Columns beside the graphs: doses, assays, temperatures, molecular descriptors.

1. A table has one column of graphs; the others are numbers or categories.
   ``descriptors="rdkit"`` adds RDKit's molecular descriptors as such columns.
2. Numbers are mapped to a normal distribution by their quantiles, missing values are imputed by the
   median and marked, categories are one-hot encoded; all fitted to the training rows only.
3. Columns are compared by a Gaussian kernel whose width is the median distance: one term for those
   of the table, one for descriptors, weighed as the other terms of the model are.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..core.gram import GramSum
from ..errors import GraphgrainWarning, InvalidParameterError, needed
from ..graphs.convert.rdkit import standardized
from ..graphs.processes import progress_bar
from .inputs import category_name, is_float

#: Transformed numbers are clipped to this absolute value, to limit extrapolation.
FAR = 3.0
#: Maximum number of quantiles of a numeric column.
MOST_QUANTILES = 1000
#: Number of rows whose distances determine the width of the Gaussian kernel.
MOST_COMPARED = 1000
#: From this number of rows on, categories that are nearly all different are noted.
MANY_ROWS = 20
#: Zeros and ones as booleans.
_TRUTH = {"0": "False", "1": "True"}
#: Seconds after which the progress bar for descriptors is shown.
_PATIENCE = 2.0


# -------------------------------------------------------------------- descriptors


def molecule_descriptors(
    molecules: Any, verbose: int = 0, standardize: str | None = None
) -> dict[str, np.ndarray]:
    """Compute RDKit's 2-D descriptors, one column each; results are cached per molecule.

    Parameters
    ----------
    molecules : sequence of SMILES strings or RDKit molecules
    verbose : int
        1 shows a progress bar on standard error after two seconds.
    standardize : str, optional
        As in :func:`graphgrain.from_rdkit`.
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
            rows.append(_descriptors(text, standardize))
            bar.update(1)
    names = [name for name, _ in Descriptors.descList]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return {name: table[:, number] for number, name in enumerate(names)}


@lru_cache(maxsize=200_000)
def _descriptors(smiles: str, standardize: str | None) -> tuple[float, ...]:
    from rdkit.Chem import Descriptors, MolFromSmiles
    from rdkit.rdBase import BlockLogs

    with BlockLogs():
        molecule = MolFromSmiles(smiles)
        if molecule is None:
            raise InvalidParameterError(f"RDKit cannot read the SMILES {smiles!r}.")
        if standardize is not None:
            molecule, _ = standardized(molecule, standardize)
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

    @property
    def kinds(self) -> dict[str, str]:
        """Kind ("number" or "category") of each column."""
        return dict.fromkeys(self.numbers, "number") | dict.fromkeys(self.categories, "category")

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
            parts += [self._normal(filled), np.isnan(table[:, self.marked])]
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

    def _normal(self, table: np.ndarray) -> np.ndarray:
        """Map numbers to a normal distribution by their quantiles in training.

        As in scikit-learn's ``QuantileTransformer``, the mean of interpolating up and down.
        """
        from scipy.special import ndtri

        found = np.empty_like(table)
        shares = np.linspace(0, 1, len(self.quantiles))
        for number, (values, own) in enumerate(zip(table.T, self.quantiles.T, strict=True)):
            rising = np.interp(values, own, shares)
            falling = np.interp(-values, -own[::-1], -shares[::-1])
            share = 0.5 * (rising - falling)
            share[values <= own[0]], share[values >= own[-1]] = 0.0, 1.0
            share[(values == own[0]) & (values == own[-1])] = 0.5
            with np.errstate(divide="ignore"):
                found[:, number] = np.clip(ndtri(share), -FAR, FAR)
        return found


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


# -------------------------------------------------------------------- terms of columns


@dataclass(frozen=True, eq=False)
class ColumnSource:
    """Encoded columns in the place of counted features.

    Attributes
    ----------
    name : str
        "columns" for those of the table, "descriptors" for computed ones.
    encoder : ColumnEncoder
    """

    name: str
    encoder: ColumnEncoder


@dataclass(frozen=True, eq=False)
class ColumnSimilarity:
    """A Gaussian kernel on columns, as the term of a sum.

    Attributes
    ----------
    source : ColumnSource
    gamma : float
        Inverse of the median squared distance between training rows.
    """

    source: ColumnSource
    gamma: float
    prior: ClassVar[float] = 0.0

    def parameters(self) -> dict[str, Any]:
        """Return the name of the term and the columns it compares."""
        names = [*self.source.encoder.numbers, *self.source.encoder.categories]
        return {"kernel": "gaussian", "similarity": self.source.name, "columns": names}


@dataclass(frozen=True, eq=False)
class ColumnTerm:
    """A Gaussian kernel with the rows of the training graphs.

    Attributes
    ----------
    term : ColumnSimilarity
    features : array
        Encoded rows of the training graphs.
    scale : float
        Factor of the similarities.
    """

    term: ColumnSimilarity
    features: np.ndarray
    scale: float = 1.0
    bounded: ClassVar[bool] = True

    def compare(self, rows: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Return scaled similarities of encoded rows to the training rows."""
        from scipy.spatial.distance import cdist

        squares = cdist(rows, self.features, "sqeuclidean")
        return self.scale * np.exp(-self.term.gamma * squares)

    def own_similarity(self, rows: np.ndarray) -> np.ndarray:
        """Return the scaled similarity of each row with itself."""
        return np.full(len(rows), self.scale)

    def add_gram(self, total: GramSum, n_jobs: int | None) -> None:
        """Add the scaled similarities among the training rows to a sum."""
        total.matrix += self.compare(self.features, n_jobs)


def column_terms(
    table: dict[str, np.ndarray], descriptors: Collection[str], rng: np.random.Generator
) -> list[tuple[ColumnSimilarity, np.ndarray]]:
    """Return a term for the columns of a table, and one for descriptors, with encoded rows."""
    from scipy.spatial.distance import pdist

    parts = {
        "columns": {name: table[name] for name in table if name not in descriptors},
        "descriptors": {name: table[name] for name in table if name in descriptors},
    }
    found = []
    for name, columns in parts.items():
        if not columns:
            continue
        encoder = ColumnEncoder.fit(columns)
        rows = encoder.transform(columns)
        squares = pdist(rows[rng.permutation(len(rows))[:MOST_COMPARED]], "sqeuclidean")
        apart = squares[squares > 1e-12]
        gamma = 1.0 / float(np.median(apart)) if len(apart) else 1.0
        found.append((ColumnSimilarity(ColumnSource(name, encoder), gamma), rows))
    return found
