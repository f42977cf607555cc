"""Read the features that :func:`graphgrain.save_features` has written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InvalidFileError
from .shard_files import read_receipt, read_shard, shard_name
from .sharding import read_manifest

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Shard(NamedTuple):
    """Some rows of the features, and what is known about each of them.

    Attributes
    ----------
    X : sparse array
        One row per graph.
    columns : dictionary of arrays
        The other columns of the input, as text: ``columns["active"].astype(float)``.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> graphs = gg.load_drugs()[0][:30]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = gg.save_features(graphs, folder, n_features=512, shard_size=20)
    ...     [shard.X.shape for shard in gg.FeatureShards(folder)]
    [(20, 512), (10, 512)]
    """

    X: csr_array
    columns: dict[str, np.ndarray]


class FeatureShards:
    """The features in a folder that :func:`save_features` has written, shard by shard.

    Parameters
    ----------
    folder : path

    Attributes
    ----------
    manifest : dictionary
        How the features were made, and the receipts of all shards.

    Examples
    --------
    Train on more molecules than memory holds:

    >>> import graphgrain as gg, pathlib, tempfile
    >>> from sklearn.linear_model import SGDClassifier
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder, "alcohols.csv")
    ...     rows = [f"{'C' * n}O,1" for n in range(1, 40)] + [f"{'C' * n}N,0" for n in range(1, 40)]
    ...     _ = table.write_text("\\n".join(["smiles,alcohol", *rows]))
    ...     _ = gg.save_features(table, f"{folder}/features", n_features=512, shard_size=30)
    ...     shards = gg.FeatureShards(f"{folder}/features")
    ...     model = SGDClassifier(random_state=0)
    ...     for X, columns in shards:
    ...         model = model.partial_fit(X, columns["alcohol"], classes=["0", "1"])
    >>> shards
    FeatureShards(3 shards, 78 rows, 512 columns, TreePlusPlus)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        manifest = read_manifest(self.folder)
        if manifest is None:
            raise InvalidFileError(
                f"{str(self.folder)!r} holds no features: there is no manifest.json in it."
            )
        if not manifest["complete"]:
            raise InvalidFileError(
                f"The features in {str(self.folder)!r} are not complete. Call what made them "
                "again: it goes on with what is missing."
            )
        self.manifest: dict[str, Any] = manifest

    def __len__(self) -> int:
        return len(self.manifest["shards"])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows of all shards together, and columns."""
        return self.manifest["rows"], self.manifest["n_features"]

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"FeatureShards({len(self):,} shards, {rows:,} rows, {columns:,} columns, "
            f"{self.manifest['kernel']})"
        )

    def __getitem__(self, number: int) -> Shard:
        if not -len(self) <= number < len(self):
            raise IndexError(f"Shard {number} is out of range: there are {len(self)}.")
        return Shard(
            *read_shard(self.folder, number % len(self), self.manifest["format"], self.shape[1])
        )

    def __iter__(self) -> Iterator[Shard]:
        return (self[number] for number in range(len(self)))

    def check(self) -> None:
        """Compare all files with their checksums; an error names the first that differs."""
        for number, said in enumerate(self.manifest["shards"]):
            if read_receipt(self.folder, number) != said:
                raise InvalidFileError(
                    f"{self.folder.name}/{shard_name(number)} is missing or not what was written. "
                    "Call what made the features again: it makes what is missing."
                )
