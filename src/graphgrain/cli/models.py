"""Inputs of models: graphs of a data set with its columns, in training and for predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from ..graphs.convert.rdkit import LabelOptions
from ..graphs.files.molecules import missing_values, stray_text, typed
from ..learning.inputs import GRAPH_COLUMN
from .loading import Loaded
from .options import Reading


def training_table(
    loaded: Loaded, names: list[str], descriptors: str | None, reading: Reading
) -> Any:
    """Return the graphs, or a table of graphs and columns."""
    missing = [name for name in names if name not in loaded.columns]
    if missing:
        raise InvalidParameterError(
            f"{loaded.name} has no column {missing[0]!r}; its columns are "
            f"{', '.join(loaded.columns) or 'none'}."
        )
    if reading.target in names:
        raise InvalidParameterError(f"--columns must not name the target; got {reading.target!r}.")
    molecules = molecules_of(loaded, descriptors, reading)
    if not names:
        return molecules
    table = {GRAPH_COLUMN: molecules}
    for name in names:
        values = loaded.table[name]
        if missing_values(values).all():
            raise InvalidParameterError(
                f"A column must have a value in some row; {name!r} has none. Leave it out."
            )
        check_numbers(loaded, f"The column {name!r}", values)
        table[name] = typed(values)
    return table


def molecules_of(loaded: Loaded, descriptors: str | None, reading: Reading) -> Any:
    """Return the graphs, or SMILES if descriptors are computed from them."""
    if descriptors is None:
        return loaded.graphs
    if loaded.smiles is None or reading.labels:
        raise InvalidParameterError(
            "--descriptors rdkit needs molecules with SMILES and without label options."
        )
    if loaded.view:
        raise InvalidParameterError(
            "--descriptors rdkit needs the molecules of the file; --view changes them. Leave out "
            "one of the two."
        )
    return loaded.smiles


def check_numbers(loaded: Loaded, what: str, values: np.ndarray) -> None:
    """Raise an error if one of many numbers is something else."""
    position = stray_text(values)
    if position is not None:
        raise InvalidParameterError(
            f"{what} must hold numbers or categories; it has numbers and {str(values[position])!r} "
            f"(row {loaded.row(position)}). Correct it, or leave it empty."
        )


def labels_of(model: Any) -> list[str]:
    """Return the ``--labels`` that a model was trained with; none if it was fitted in Python."""
    flags = getattr(model, "reading_", {}).get("labels", ())
    return [name for name, used in zip(LabelOptions._fields, flags, strict=False) if used]


def model_input(
    model: Any, molecules: Any, columns: Mapping[str, np.ndarray], rows: Sequence[int]
) -> Any:
    """Return the molecules, or a table with the columns that the model was trained with."""
    if not model.columns_:
        return molecules
    table = {model.graphs or GRAPH_COLUMN: molecules}
    for name, kind in model.columns_.items():
        if name not in columns:
            raise InvalidParameterError(
                f"The model was trained with the column {name!r}; the file has none of that name."
            )
        values = columns[name]
        missing = missing_values(values)
        if kind == "number":
            table[name] = _numbers(name, np.where(missing, "", values), rows)
        else:
            table[name] = np.where(missing, "", values)
    return table


def _numbers(name: str, texts: np.ndarray, rows: Sequence[int]) -> np.ndarray:
    """Return a column of text as numbers; empty texts are missing values."""
    numbers = np.full(len(texts), np.nan)
    for position in np.flatnonzero(texts != "").tolist():
        with suppress(ValueError):
            numbers[position] = float(texts[position])
        if not np.isfinite(numbers[position]):
            raise InvalidParameterError(
                f"The column {name!r} held numbers in training; row {rows[position]} has "
                f"{str(texts[position])!r}. Correct it, or leave it empty."
            )
    return numbers
