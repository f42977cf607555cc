"""Names on the command line: data sets, kernels and their parameters."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from ..evaluation.experiment import Variant
from ..graphs.batch import GraphBatch
from ..kernels.registry import KERNELS

BUNDLED = "drugs"
MOLECULE_FILES = (".smi", ".csv", ".tsv", ".sdf")


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint with the names that look like this one, or nothing."""
    by_lower = {item.lower(): item for item in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=3)
    return f"Did you mean {' or '.join(by_lower[item] for item in close)}? " if close else ""


def load(
    data: str, target: str | None = None
) -> tuple[str, GraphBatch, np.ndarray | None, np.ndarray | None]:
    """Name, graphs, targets (if any) and names of the graphs (if any) of a DATA argument."""
    import graphgrain as gg

    path = Path(data).expanduser()
    if data == BUNDLED:
        _no_target(target)
        graphs, y, names = gg.load_drugs(names=True)
        return data, graphs, y, names
    if path.exists():
        suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
        kind = suffixes[-1] if suffixes else ""
        if kind in MOLECULE_FILES and not path.is_dir():
            graphs, columns = gg.load_molecules(path)
            return path.name.split(".")[0], graphs, *_columns(columns, target, data)
        _no_target(target)
        loader = gg.load_mat if kind == ".mat" else gg.load_tu
        return path.stem, *loader(path), None
    _no_target(target)
    known = [item.name for item in gg.tu_datasets()]
    looks_like_path = "/" in data or "\\" in data or bool(path.suffix)
    if looks_like_path:
        raise InvalidParameterError(
            f"There is no file or folder {data!r}. DATA is a file, a folder, a name of the TU "
            "collection (`graphgrain datasets` lists them) or drugs."
        )
    try:
        return data, *gg.fetch_tu(data), None
    except InvalidParameterError:
        if data in known:
            raise
        raise InvalidParameterError(
            f"There is no file, folder or data set {data!r}. {nearest(data, [BUNDLED, *known])}"
            "`graphgrain datasets` lists all data sets that have a name."
        ) from None


def _no_target(target: str | None) -> None:
    if target is not None:
        raise InvalidParameterError(
            f"--target names a column of a table of molecules ({', '.join(MOLECULE_FILES)}); "
            f"other data has its classes inside. Leave out --target {target}."
        )


def _columns(
    columns: dict[str, np.ndarray], target: str | None, data: str
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The target that was asked for and the names, from the columns of a table of molecules."""
    if target is not None and target not in columns:
        raise InvalidParameterError(
            f"{data!r} has no column {target!r}. {nearest(target, columns)}Its columns are "
            f"{', '.join(columns)}."
        )
    return columns[target] if target is not None else None, columns.get("name")


def variant(kernel: str, parameters: Sequence[str] = ()) -> Variant:
    """A kernel by its name, with ``name=value`` parameters."""
    if kernel not in KERNELS:
        raise InvalidParameterError(
            f"There is no kernel {kernel!r}. {nearest(kernel, KERNELS)}The kernels are "
            f"{', '.join(KERNELS)}."
        )
    usual = Variant.usual(kernel)
    if not parameters:
        return usual
    changed = usual.changed(dict(_parameter(kernel, text) for text in parameters))
    for setting in changed.grid:
        changed.check(setting)
    return changed


def _parameter(kernel: str, text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    known = sorted(set(KERNELS[kernel].kernel().get_params()) - {"n_jobs", "output", "normalize"})
    if not equals or name not in known:
        raise InvalidParameterError(
            f"--set takes NAME=VALUE with a parameter of the kernel; got {text!r}. "
            f"{nearest(name, known)}The parameters of {kernel} are {', '.join(known)}."
        )
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a word, such as sqrt
