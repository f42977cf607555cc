"""The data sets of the TU Dortmund collection: what there is to fetch.

The figures are those of the collection's own table (Morris, Kriege, Bause, Kersting, Mutzel and
Neumann, "TUDataset: A collection of benchmark datasets for learning with graphs", 2020,
www.graphlearning.io), with one correction: DHFR has 756 graphs. Sets whose labels change over
time are left out, since a graph here has one label per vertex.
"""

from __future__ import annotations

import csv
import difflib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ...errors import InvalidParameterError


@dataclass(frozen=True)
class DataSet:
    """What is known of a data set before it is downloaded.

    Attributes
    ----------
    name, domain : str
    graphs : int
    classes : int or None
        Number of classes; None for regression.
    targets : int or None
        Number of regression values of each graph; None for classification.
    vertices, edges : float or None
        Averages per graph; None where no reliable figure is known.
    vertex_labels, edge_labels : bool
    vertex_attributes, edge_attributes : int
        Number of attributes.
    sha256 : str or None
        Hash of the zip file, where known.
    """

    name: str
    domain: str
    graphs: int
    classes: int | None
    targets: int | None
    vertices: float | None
    edges: float | None
    vertex_labels: bool
    edge_labels: bool
    vertex_attributes: int
    edge_attributes: int
    sha256: str | None


def tu_datasets() -> list[DataSet]:
    """The data sets that :func:`fetch_tu` can fetch, grouped by domain.

    Examples
    --------
    >>> import graphgrain as gg
    >>> [item.name for item in gg.tu_datasets() if item.classes == 6]
    ['ENZYMES']
    """
    return list(_registry().values())


def known_data_set(name: str) -> DataSet:
    """A data set by its name."""
    if not isinstance(name, str) or name not in _registry():
        near = {entry.lower(): entry for entry in _registry()}
        close = difflib.get_close_matches(str(name).lower(), near, n=3)
        hint = f"Did you mean {' or '.join(near[entry] for entry in close)}? " if close else ""
        raise InvalidParameterError(
            f"The TU collection has no data set {name!r}. {hint}graphgrain.tu_datasets() lists "
            "all; files of your own are read with graphgrain.load_tu(path)."
        )
    return _registry()[name]


@cache
def _registry() -> dict[str, DataSet]:
    text = resources.files(__package__).joinpath("data", "tu.csv").read_text(encoding="utf-8")
    return {row["name"]: _data_set(row) for row in csv.DictReader(text.splitlines())}


def _data_set(row: dict[str, str]) -> DataSet:
    return DataSet(
        name=row["name"],
        domain=row["domain"],
        graphs=int(row["graphs"]),
        classes=int(row["classes"]) if row["classes"] else None,
        targets=int(row["targets"]) if row["targets"] else None,
        vertices=float(row["vertices"]) if row["vertices"] else None,
        edges=float(row["edges"]) if row["edges"] else None,
        vertex_labels=row["vertex_labels"] == "1",
        edge_labels=row["edge_labels"] == "1",
        vertex_attributes=int(row["vertex_attributes"]),
        edge_attributes=int(row["edge_attributes"]),
        sha256=row["sha256"] or None,
    )
