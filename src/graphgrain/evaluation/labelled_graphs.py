"""Prepare a data set for evaluation: check targets, remove duplicates, compute a fingerprint."""

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
    """Graphs with their classes or regression targets.

    Attributes
    ----------
    name : str
        Name for tables and records.
    graphs : GraphBatch
    classes : list of str
        In sorted order; empty for regression.
    codes : array
        Class of each graph as index into ``classes``, or its target value.
    deduplicated : bool
        True if isomorphic duplicates were removed.
    removed : int
        Number of removed duplicates.
    fingerprint : str
        Hash of graphs, targets and the columns that results depend on.
    graphs_fingerprint : str
        Hash of graphs and targets only.
    smiles : list of str, optional
        SMILES of molecules, for scaffold splits.
    columns : dict, optional
        Columns of the file, for splits given by a column and for estimators that use columns.
    """

    name: str
    graphs: GraphBatch
    classes: list[str]
    codes: np.ndarray
    deduplicated: bool
    removed: int
    fingerprint: str
    graphs_fingerprint: str
    smiles: Sequence[str] | None = None
    columns: Mapping[str, Any] | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Name and fingerprint, as in records."""
        return self.name, self.fingerprint

    @property
    def numeric(self) -> bool:
        """True for regression targets, False for classes."""
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
    used: Sequence[Any] = (),
) -> LabelledGraphs:
    """Check graphs and targets, and optionally remove duplicates.

    Parameters
    ----------
    name : str
        Name for tables and records.
    graphs : GraphBatch or anything that :func:`graphgrain.as_graphs` accepts
    y : array-like
        Class (integer or string) or target value of each graph.
    remove_duplicates : bool, default=False
        Keep one graph of each set of isomorphic graphs with equal labels: the first of the
        majority class; for regression the first.
    folds : int, default=2
        Minimum number of graphs.
    numeric : bool, default=False
        True if ``y`` holds regression targets.
    smiles, columns : optional
        See :class:`LabelledGraphs`.
    used : sequence of arrays, optional
        Columns and SMILES that results depend on, besides graphs and targets.

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
    y = codes if numeric else classes[codes]
    return LabelledGraphs(
        name=name,
        graphs=batch,
        classes=[str(item) for item in classes.tolist()],
        codes=codes,
        deduplicated=remove_duplicates,
        removed=removed,
        fingerprint=fingerprint(batch, y, *(np.asarray(own)[keep] for own in used)),
        graphs_fingerprint=fingerprint(batch, y),
        smiles=None if smiles is None else [str(smiles[place]) for place in keep.tolist()],
        columns=None if columns is None else {n: np.asarray(c)[keep] for n, c in columns.items()},
    )


def _without_duplicates(batch: GraphBatch, codes: np.ndarray) -> np.ndarray:
    keep = np.ones(len(batch), dtype=bool)
    for group in duplicates(batch):
        members = np.array(group)
        majority = np.bincount(codes[members]).argmax()
        keep[members] = False
        keep[members[codes[members] == majority][0]] = True
    return np.flatnonzero(keep)


def fingerprint(batch: GraphBatch, y: np.ndarray, *used: np.ndarray) -> str:
    """Return a hash of graphs, labels, attributes and targets as 16 hexadecimal digits.

    ``used`` are further arrays that results depend on.
    """
    digest = hashlib.sha256()
    parts = (batch.offsets, batch.indptr, batch.indices, batch.labels, batch.edge_labels)
    for array in (*parts, batch.vertex_attributes, batch.edge_attributes, y, *used):
        if array is None:
            digest.update(b"none;")
            continue
        # The hash must not depend on the width of integers and strings or on the byte order.
        if array.dtype.kind in "iu":
            array = array.astype("<i8")
        elif array.dtype.kind == "f":
            array = array.astype("<f8")
        content = (
            array.tobytes() if array.dtype.kind in "if" else "\0".join(map(str, array)).encode()
        )
        digest.update(f"{array.shape};{len(content)};".encode() + content)
    return digest.hexdigest()[:16]
