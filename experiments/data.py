"""Data sets of the experiments: loading, duplicates, fingerprints."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import graphgrain as gg
from graphgrain.evaluation.splits import without_duplicates

#: Arrays of a batch that results depend on.
ARRAYS = (
    "offsets", "indptr", "indices", "labels", "edge_labels", "vertex_attributes",
    "edge_attributes",
)  # fmt: skip


def folder() -> Path:
    """Return the data folder: GRAPHGRAIN_DATA, or the one next to the checkout."""
    return Path(os.environ.get("GRAPHGRAIN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load_with_classes(name: str, data: Path | None = None) -> tuple[gg.GraphBatch, np.ndarray]:
    """Load a TU data set from a file, from NAME.zip or NAME in a folder, or download it."""
    if name == "drugs":
        return gg.load_drugs()
    place = data or folder()
    for path in (Path(name), place / f"{name}.zip", place / name):
        if path.exists():
            return gg.load_tu(path)
    if data is not None:
        raise SystemExit(f"--data is a folder with NAME.zip or NAME; {data} has no {name}.")
    return gg.fetch_tu(name)


@dataclass(frozen=True)
class LabelledGraphs:
    """Graphs with their classes.

    Attributes
    ----------
    name : str
    graphs : GraphBatch
    classes : list of str
    codes : array
        Class of each graph as an index into ``classes``.
    removed : int
        Number of removed duplicates.
    fingerprint : str
        Hash of graphs and classes, so that records of changed data are never used.
    """

    name: str
    graphs: gg.GraphBatch
    classes: list[str]
    codes: np.ndarray
    removed: int
    fingerprint: str

    def __len__(self) -> int:
        return len(self.graphs)


def prepare(
    name: str, graphs: gg.GraphBatch, y: np.ndarray, *, remove_duplicates: bool = False
) -> LabelledGraphs:
    """Check classes, and optionally keep one graph of each set of isomorphic graphs.

    It is the first of the majority class of the set.

    >>> edge, path = ([(0, 1)], [1, 2]), ([(0, 1), (1, 2)], [1, 2, 1])
    >>> graphs = gg.as_graphs([edge, path, edge, path, path])
    >>> data = prepare("toy", graphs, np.array([1, 2, 1, 2, 2]), remove_duplicates=True)
    >>> len(data), data.removed, data.codes.tolist()
    (2, 3, [0, 1])
    """
    kept = without_duplicates(graphs, y) if remove_duplicates else np.arange(len(graphs))
    removed = len(graphs) - len(kept)
    graphs, y = graphs[kept], np.asarray(y)[kept]
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise SystemExit(f"{name} must have at least two classes; it has {len(classes)}.")
    names = [str(item) for item in classes.tolist()]
    return LabelledGraphs(name, graphs, names, codes, removed, fingerprint(graphs, y))


def load(name: str, data: Path | None = None, remove_duplicates: bool = False) -> LabelledGraphs:
    """Load and prepare a data set."""
    graphs, y = load_with_classes(name, data)
    return prepare(Path(name).stem, graphs, y, remove_duplicates=remove_duplicates)


def fingerprint(batch: gg.GraphBatch, y: np.ndarray) -> str:
    """Return a hash of graphs and classes, sixteen hexadecimal digits."""
    digest = hashlib.sha256()
    for array in (*(getattr(batch, name) for name in ARRAYS), y):
        if array is None:
            digest.update(b"none;")
            continue
        # Neither the width of integers nor the byte order matters.
        kind = {"i": "<i8", "u": "<i8", "f": "<f8"}.get(array.dtype.kind)
        content = array.astype(kind).tobytes() if kind else "\0".join(map(str, array)).encode()
        digest.update(f"{array.shape};{len(content)};".encode() + content)
    return digest.hexdigest()[:16]
