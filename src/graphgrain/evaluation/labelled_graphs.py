"""A data set made ready for evaluation: targets checked, duplicates removed, a fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..graphs.isomorphism import duplicates
from ..learning.inputs import check_classes, check_folds, check_values


@dataclass(frozen=True)
class LabelledGraphs:
    """Graphs with their classes, or with the numbers that are to be predicted.

    Attributes
    ----------
    name : str
    graphs : GraphBatch
    classes : list of str
        In sorted order; empty for numbers.
    codes : array
        The class of each graph as a position in ``classes``, or its number.
    deduplicated : bool
        Whether isomorphic duplicates were removed.
    removed : int
        How many.
    fingerprint : str
        Hash of graphs and targets.
    smiles : list of str, optional
        Of molecules, for splits by scaffold.
    columns : dict, optional
        Columns of the file, for splits that one of them gives.
    """

    name: str
    graphs: GraphBatch
    classes: list[str]
    codes: np.ndarray
    deduplicated: bool
    removed: int
    fingerprint: str
    smiles: Sequence[str] | None = None
    columns: Mapping[str, Any] | None = None

    @property
    def numeric(self) -> bool:
        """Whether numbers are to be predicted, not classes."""
        return not self.classes

    def __len__(self) -> int:
        return len(self.graphs)


def prepare(
    name: str,
    graphs: Any,
    y: Any,
    *,
    remove_duplicates: bool = False,
    folds: int = 2,
    numeric: bool = False,
    smiles: Sequence[str] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> LabelledGraphs:
    """Check graphs and targets; remove duplicates if asked to.

    Parameters
    ----------
    name : str
        For tables and records.
    graphs : GraphBatch or anything that :func:`graphgrain.as_graphs` accepts
    y : array-like
        The class of each graph: integers or strings; or numbers.
    remove_duplicates : bool
        Keep one graph of each set of isomorphic ones, labels included: the first of the class
        that most of them have; of numbers the first.
    folds : int
        There must be at least as many graphs as this.
    numeric : bool
        Whether ``y`` holds numbers to predict, not classes.
    smiles, columns : optional
        See :class:`LabelledGraphs`.

    Examples
    --------
    >>> from graphgrain.evaluation.labelled_graphs import prepare
    >>> edge, path = ([(0, 1)], [1, 2]), ([(0, 1), (1, 2)], [1, 2, 1])
    >>> data = prepare("toy", [edge, path, edge, path, path], [1, 2, 1, 2, 2])
    >>> len(data), data.classes, data.codes.tolist()
    (5, ['1', '2'], [0, 1, 0, 1, 1])
    """
    batch = as_graphs(graphs)
    check_folds(folds, len(batch))
    values = check_values(y, len(batch)) if numeric else None
    classes, codes = (np.array([]), values) if values is not None else check_classes(y, len(batch))
    keep = np.arange(len(batch))
    if remove_duplicates:
        keep = _without_duplicates(batch, np.zeros(len(batch), dtype=int) if numeric else codes)
    removed = len(batch) - len(keep)
    if removed:
        batch, codes = batch[keep], codes[keep]
        check_folds(folds, len(batch))
        if not numeric:
            classes, codes = check_classes(classes[codes], len(batch))
    return LabelledGraphs(
        name=name,
        graphs=batch,
        classes=[str(item) for item in classes.tolist()],
        codes=codes,
        deduplicated=remove_duplicates,
        removed=removed,
        fingerprint=fingerprint(batch, codes if numeric else classes[codes]),
        smiles=None if smiles is None else [str(smiles[place]) for place in keep.tolist()],
        columns=None if columns is None else {n: np.asarray(c)[keep] for n, c in columns.items()},
    )


def _without_duplicates(batch: GraphBatch, codes: np.ndarray) -> np.ndarray:
    keep = np.ones(len(batch), dtype=bool)
    # Most kernels do not look at attributes: to them these graphs are copies.
    for group in duplicates(batch, attributes=False):
        members = np.array(group)
        majority = np.bincount(codes[members]).argmax()
        keep[members] = False
        keep[members[codes[members] == majority][0]] = True
    return np.flatnonzero(keep)


def fingerprint(batch: GraphBatch, y: np.ndarray) -> str:
    """Sixteen hexadecimal digits that change with any graph, label, attribute or class."""
    digest = hashlib.sha256()
    parts = (batch.offsets, batch.indptr, batch.indices, batch.labels, batch.edge_labels)
    for array in (*parts, batch.vertex_attributes, batch.edge_attributes, y):
        if array is None:
            digest.update(b"none;")
            continue
        # Integers of any width and strings of any width count the same on all machines.
        if array.dtype.kind in "iu":
            array = array.astype("<i8")
        elif array.dtype.kind == "f":
            array = array.astype("<f8")
        content = (
            array.tobytes() if array.dtype.kind in "if" else "\0".join(map(str, array)).encode()
        )
        digest.update(f"{array.shape};{len(content)};".encode() + content)
    return digest.hexdigest()[:16]
