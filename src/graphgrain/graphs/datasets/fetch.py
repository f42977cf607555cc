"""The bundled data set, and data sets of the TU collection fetched by name."""

from __future__ import annotations

import csv
import difflib
import os
import tempfile
import zipfile
from dataclasses import dataclass, fields
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from ...errors import DownloadError, InvalidParameterError
from ...writing import atomic_write, put_in_place
from ..batch import GraphBatch
from ..files.tu import load_tu
from ..processes import ProgressBar, progress_bar

TU_ADDRESS = "https://www.chrsmrrs.com/graphkerneldatasets/"
RETRIES = 2
TIMEOUT = 30  # seconds without a byte


@overload
def load_drugs(*, names: Literal[False] = False) -> tuple[GraphBatch, np.ndarray]: ...


@overload
def load_drugs(*, names: Literal[True]) -> tuple[GraphBatch, np.ndarray, np.ndarray]: ...


def load_drugs(
    *, names: bool = False
) -> tuple[GraphBatch, np.ndarray] | tuple[GraphBatch, np.ndarray, np.ndarray]:
    """Load the bundled data set of 292 drugs in 11 pharmacological families.

    Each graph is a molecule without hydrogens; vertices are labelled with atom symbols, edges
    with bond types. The class is the family, such as ``"opioids"`` or ``"beta blockers"``.

    The data set was compiled by hand from public chemical knowledge for examples, teaching and
    tests. It is small and most of its families share a scaffold, so results do not carry over to
    harder data. It is not a source of medical facts: all drugs are or were approved somewhere,
    each is assigned to one family even if it belongs to several, and the graphs do not contain
    stereochemistry.

    Parameters
    ----------
    names : bool, default=False
        Whether to return the names of the drugs as well.

    Returns
    -------
    graphs : GraphBatch
        With the columns ``"id"``, the names, and ``"smiles"``.
    y : array of str
        Family of each drug.
    names : array of str
        Name of each drug; only if ``names`` is True.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y, names = gg.load_drugs(names=True)
    >>> y[names == "diazepam"].tolist()
    ['benzodiazepines']
    """
    data = resources.files(__package__).joinpath("data")
    with resources.as_file(data.joinpath("drugs.zip")) as file:
        graphs, families = load_tu(file)
    assert families is not None
    text = data.joinpath("drugs.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    graphs = graphs.with_columns({"id": [row["name"] for row in rows]})
    graphs = graphs.with_columns({"smiles": [row["smiles"] for row in rows]})
    return (graphs, families, graphs.columns["id"].astype(str)) if names else (graphs, families)


def fetch_tu(
    name: str,
    *,
    cache: str | os.PathLike[str] | None = None,
    verbose: int = 1,
    refresh: bool = False,
    address: str = TU_ADDRESS,
    **options: Any,
) -> tuple[GraphBatch, np.ndarray | None]:
    """Load a data set of the TU Dortmund collection by name, downloading it if needed.

    The folder given by the environment variable ``GRAPHGRAIN_DATA`` is searched first, for
    ``NAME.zip`` and for a folder ``NAME``, and then the cache. Otherwise the file is downloaded.
    Its SHA-256 is compared with the known value, or with the value recorded next to the file when
    it was first downloaded.

    Parameters
    ----------
    name : str
        Name as listed by :func:`tu_datasets`, in upper or lower case.
    cache : path, optional
        Folder for downloads; by default the user's cache folder.
    verbose : int, default=1
        Show a progress bar if positive.
    refresh : bool, default=False
        Download the file again, and accept it without checking its SHA-256.
    address : str
        Base URL of ``NAME.zip``; by default that of the collection.
    **options
        Passed on to :func:`load_tu`.

    Returns
    -------
    graphs : GraphBatch
    y : array or None
        Classes or regression values, as returned by :func:`load_tu`.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.fetch_tu("MUTAG")  # doctest: +SKIP
    """
    local = _in_data_folder(name)
    if local is None:
        name = known_data_set(name).name
        local = _in_data_folder(name) or _downloaded(name, cache, verbose, refresh, address)
    return load_tu(local, **options)


def _in_data_folder(name: str) -> Path | None:
    """Return the path of the data set in the folder GRAPHGRAIN_DATA, if it exists."""
    variable = os.environ.get("GRAPHGRAIN_DATA")
    if not variable:
        return None
    folder = Path(variable).expanduser()
    if not folder.is_dir():
        raise InvalidParameterError(
            f"GRAPHGRAIN_DATA must name a folder; {variable!r} is not one. Correct it, or unset it."
        )
    if not isinstance(name, str) or Path(name).name != name:
        return None
    return next((path for path in (folder / f"{name}.zip", folder / name) if path.exists()), None)


def _downloaded(
    name: str,
    cache: str | os.PathLike[str] | None,
    verbose: int,
    refresh: bool,
    address: str,
) -> Path:
    """Return the file in the cache; download it if it is missing or its hash has changed."""
    import pooch

    folder = Path(cache) if cache is not None else Path(pooch.os_cache("graphgrain"))
    file = folder / f"{name}.zip"
    record = folder / f"{name}.zip.sha256"
    expected = None if refresh else known_data_set(name).sha256
    if record.exists() and not refresh:
        expected = record.read_text(encoding="utf-8").strip()
    if not refresh and file.exists() and expected in (None, pooch.file_hash(str(file))):
        if expected is None:
            _remember(record, pooch.file_hash(str(file)))
        return file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Download to a temporary folder: the old file stays until the new one is complete.
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}-") as temporary:
            downloader = pooch.create(
                temporary, address, registry={file.name: expected}, retry_if_failed=RETRIES
            )
            pooch.get_logger().setLevel("WARNING")
            with progress_bar(verbose, None, "bytes", file.name) as bar:
                path = downloader.fetch(file.name, downloader=partial(_download_zip, bar))
            sha256 = pooch.file_hash(path)
            put_in_place(path, file)
            _remember(record, sha256)
    except (OSError, ValueError) as error:
        raise _explained(error, name, address, folder) from None
    return file


def _remember(record: Path, sha256: str) -> None:
    """Write the hash of a file to ``record``."""
    with atomic_write(record, "The hash of a data set") as stream:
        stream.write(f"{sha256}\n".encode())


def _download_zip(bar: ProgressBar, url: str, output: str, pooch_instance: Any) -> None:
    """Download with pooch, and check that the result is a complete zip."""
    import pooch
    import requests

    try:
        pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT)(url, output, pooch_instance)
    except requests.HTTPError as error:
        if error.response is not None and error.response.status_code == 404:
            raise FileNotFoundError(f"{url} does not exist") from None  # do not retry
        raise
    if not zipfile.is_zipfile(output):
        raise ValueError("what arrived is not a complete zip file")


def _explained(error: Exception, name: str, address: str, folder: Path) -> DownloadError:
    if "hash" in str(error):
        return DownloadError(
            f"The file downloaded for {name} is not the one that was expected and was thrown away: "
            f"{error} If the collection has published a new version, accept it with refresh=True."
        )
    return DownloadError(
        f"{name} could not be downloaded: {error}. Without a network, get {address}{name}.zip by "
        f"other means and put it into {str(folder)!r}, or into a folder that the environment "
        "variable GRAPHGRAIN_DATA names."
    )


# -------------------------------------------------------------------- the TU collection


@dataclass(frozen=True)
class DataSet:
    """Description of a data set of the TU collection.

    Attributes
    ----------
    name, domain : str
        Name of the data set, and its field, such as small molecules.
    graphs : int
        Number of graphs.
    classes : int or None
        Number of classes; None for regression.
    targets : int or None
        Number of regression values per graph; None for classification.
    vertices, edges : float or None
        Average number per graph; None if no reliable figure is known.
    vertex_labels, edge_labels : bool
        Whether the graphs have such labels.
    vertex_attributes, edge_attributes : int
        Number of attributes per vertex and per edge.
    sha256 : str or None
        SHA-256 of the zip file, if known.

    See Also
    --------
    tu_datasets : List the data sets of the TU collection.

    Examples
    --------
    >>> import graphgrain as gg
    >>> [mutag] = [known for known in gg.tu_datasets() if known.name == "MUTAG"]
    >>> mutag.graphs, mutag.classes
    (188, 2)
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
    """List the data sets that :func:`fetch_tu` can fetch, grouped by domain.

    Examples
    --------
    >>> import graphgrain as gg
    >>> [item.name for item in gg.tu_datasets() if item.classes == 6]
    ['ENZYMES']
    """
    return list(_registry().values())


def bundled_data_set() -> DataSet:
    """Describe the data set of :func:`load_drugs`."""
    graphs, families = load_drugs()
    return DataSet(
        name="drugs",
        domain="small molecules",
        graphs=len(graphs),
        classes=len(np.unique(families)),
        targets=None,
        vertices=round(graphs.n_vertices / len(graphs), 2),
        edges=round(graphs.n_edges / len(graphs), 2),
        vertex_labels=True,
        edge_labels=True,
        vertex_attributes=0,
        edge_attributes=0,
        sha256=None,
    )


def known_data_set(name: str) -> DataSet:
    """Return the description of a data set by its name, ignoring case."""
    by_lower = {entry.lower(): entry for entry in _registry()}
    wanted = str(name).lower()
    if wanted not in by_lower:
        close = difflib.get_close_matches(wanted, by_lower, n=3)
        hint = f"Did you mean {' or '.join(by_lower[entry] for entry in close)}? " if close else ""
        raise InvalidParameterError(
            f"The TU collection has no data set {name!r}. {hint}graphgrain.tu_datasets() lists "
            "all; files of your own are read with graphgrain.load_tu(path)."
        )
    return _registry()[by_lower[wanted]]


@cache
def _registry() -> dict[str, DataSet]:
    text = resources.files(__package__).joinpath("data", "tu.csv").read_text(encoding="utf-8")
    kinds = {field.name: str(field.type).partition(" ")[0] for field in fields(DataSet)}
    parsed: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": "1".__eq__}
    data_sets = {}
    for row in csv.DictReader(text.splitlines()):
        values: Any = {name: parsed[kinds[name]](t) if t else None for name, t in row.items()}
        data_sets[row["name"]] = DataSet(**values)
    return data_sets
