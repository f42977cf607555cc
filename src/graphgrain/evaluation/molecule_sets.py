"""The sets of molecules that benchmarks of chemistry use, read from the data folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.files.molecules import load_molecules
from .labelled_graphs import fingerprint


@dataclass(frozen=True)
class MoleculeSet:
    """Molecules with a target.

    Attributes
    ----------
    name : str
    smiles : list of str
    graphs : GraphBatch
    y : array
        Numbers, or classes 0 and 1.
    columns : dict
        All columns of the file, such as a given split.
    fingerprint : str
        Hash of graphs and targets.
    """

    name: str
    smiles: list[str]
    graphs: GraphBatch
    y: np.ndarray
    columns: dict[str, Any]
    fingerprint: str


def read_molecules(
    path: Path, target: str | None, n_jobs: int | None = None, **options: Any
) -> MoleculeSet:
    """A table of molecules; lines that RDKit cannot read are left out, unless told otherwise.

    Parameters
    ----------
    path : Path
    target : str
        The column with numbers, or with the classes 0 and 1.
    options
        Of :func:`graphgrain.load_molecules`.
    """
    graphs, columns = load_molecules(path, **{"errors": "skip", **options}, n_jobs=n_jobs)
    name = path.name.split(".")[0]
    if target not in columns:
        raise InvalidParameterError(
            f"There must be a column to predict: name it with --target; got {target!r}. The "
            f"columns of {name} are {', '.join(columns)}."
        )
    try:
        y = np.asarray(columns[target], dtype=np.float64)
    except ValueError:
        raise InvalidParameterError(
            f"The column {target!r} of {name} must hold numbers, or the classes 0 and 1; it begins "
            f"with {columns[target][0]!r}."
        ) from None
    if not np.isfinite(y).all():
        raise InvalidParameterError(
            f"Every molecule must have its target; {int((~np.isfinite(y)).sum())} of {name} have "
            f"none in the column {target!r}. Remove them."
        )
    column = options.get("smiles") or next((c for c in columns if "smiles" in c.lower()), None)
    if column is None:
        raise InvalidParameterError(
            f"Splits of molecules need a column with SMILES; {name} has {', '.join(columns)}."
        )
    smiles = [str(text) for text in columns[column]]
    return MoleculeSet(name, smiles, graphs, y, columns, fingerprint(graphs, y))


def molecules_folder(data: Path | None = None) -> Path:
    """The folder ``molecules`` of the data folder: an argument, or what GRAPHGRAIN_DATA names."""
    place = data or Path(os.environ.get("GRAPHGRAIN_DATA", "."))
    folder = place / "molecules"
    if not folder.is_dir():
        raise InvalidParameterError(
            f"There is no folder {str(folder)!r}. Benchmarks of molecules read their sets from "
            "the folder molecules in the folder that --data or the environment variable "
            "GRAPHGRAIN_DATA names (docs/molecules-benchmarks.md says where they come from)."
        )
    return folder
