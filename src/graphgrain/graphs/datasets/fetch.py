"""Data sets by name: bundled with the package, or fetched from the TU collection."""

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
    """Load the bundled data set: 292 drugs in 11 pharmacological families.

    Each graph is a molecule without hydrogens; vertices are labelled by atom symbol, edges by
    bond type. The class is the family, such as ``"opioids"`` or ``"beta blockers"``.

    The set was compiled by hand from public chemical knowledge to have something real to try,
    to teach and to test with. It is small and most of its families share a scaffold, so it says
    little about how good a method is on hard data. Nor is it a source of medical facts: all
    drugs are or were approved somewhere, each stands in one family even if it belongs to
    several, and stereochemistry is not in the graphs.

    Parameters
    ----------
    names : bool
        Return the names of the drugs as well.

    Returns
    -------
    graphs : GraphBatch
    y : array of str
        The family of each drug.
    names : array of str, if ``names``

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
    if not names:
        return graphs, families
    table = csv.DictReader(data.joinpath("drugs.csv").read_text(encoding="utf-8").splitlines())
    return graphs, families, np.array([row["name"] for row in table])


def fetch_tu(
    name: str,
    *,
    cache: str | os.PathLike[str] | None = None,
    verbose: int = 1,
    refresh: bool = False,
    address: str = TU_ADDRESS,
    **options: Any,
) -> tuple[GraphBatch, np.ndarray | None]:
    """Load a data set of the TU Dortmund collection by name, downloading it once.

    The folder that the environment variable ``GRAPHGRAIN_DATA`` names is searched first, for
    ``NAME.zip`` and for a folder ``NAME``; then the cache; only then the network is used. The
    SHA-256 of a file is checked: against the known value, or against the one recorded beside
    the file when it was first downloaded.

    Parameters
    ----------
    name : str
        See :func:`tu_datasets`; ``"mutag"`` is ``"MUTAG"``.
    cache : path, optional
        Where downloads are kept; by default the user's cache folder.
    verbose : int
        1 shows a progress bar, 0 none.
    refresh : bool
        Download anew, and accept the file whatever its SHA-256.
    address : str
        The web address below which ``NAME.zip`` is found.
    **options
        Passed on to :func:`load_tu`.

    Returns
    -------
    graphs : GraphBatch
    y : array or None
        As from :func:`load_tu`.

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


def find_tu(name: str, *, cache: str | os.PathLike[str] | None = None) -> Path | None:
    """Where a data set of the TU collection lies on this machine; None if it would be downloaded.

    The places are those of :func:`fetch_tu`.
    """
    import pooch

    local = _in_data_folder(name)
    if local is None and isinstance(name, str) and Path(name).name == name:
        file = Path(cache or pooch.os_cache("graphgrain")) / f"{name}.zip"
        local = file if file.is_file() else None
    return local


def _in_data_folder(name: str) -> Path | None:
    """The data set in the folder that GRAPHGRAIN_DATA names, if it is there."""
    place = os.environ.get("GRAPHGRAIN_DATA")
    if not place:
        return None
    folder = Path(place).expanduser()
    if not folder.is_dir():
        raise InvalidParameterError(
            f"GRAPHGRAIN_DATA must name a folder; {place!r} is not one. Correct it, or unset it."
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
    """The file in the cache; downloaded if it is not there or is not what it was."""
    import pooch

    folder = Path(cache) if cache is not None else Path(pooch.os_cache("graphgrain"))
    file = folder / f"{name}.zip"
    record = folder / f"{name}.zip.sha256"
    known = None if refresh else known_data_set(name).sha256
    if record.exists() and not refresh:
        known = record.read_text(encoding="utf-8").strip()
    if not refresh and file.exists() and known in (None, pooch.file_hash(str(file))):
        if known is None:
            _remember(record, pooch.file_hash(str(file)))
        return file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Into a folder of its own first: the old file stays until the new one is complete.
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}-") as temporary:
            downloader = pooch.create(
                temporary, address, registry={file.name: known}, retry_if_failed=RETRIES
            )
            pooch.get_logger().setLevel("WARNING")
            path = downloader.fetch(file.name, downloader=partial(_download_zip, bool(verbose)))
            found = pooch.file_hash(path)
            put_in_place(path, file)
            _remember(record, found)
    except (OSError, ValueError) as error:
        raise _explained(error, name, address, folder) from None
    return file


def _remember(record: Path, found: str) -> None:
    """Keep the hash of a file beside it."""
    with atomic_write(record, "The hash of a data set") as stream:
        stream.write(f"{found}\n".encode())


def _download_zip(progressbar: bool, url: str, output: str, pooch_instance: Any) -> None:
    """Pooch's download by HTTP, followed by a look at whether a whole zip has arrived."""
    import pooch
    import requests

    try:
        pooch.HTTPDownloader(progressbar=progressbar, timeout=TIMEOUT)(url, output, pooch_instance)
    except requests.HTTPError as error:
        if error.response is not None and error.response.status_code == 404:
            raise FileNotFoundError(f"{url} does not exist") from None  # no use in trying again
        raise
    if not zipfile.is_zipfile(output):
        raise ValueError("what arrived is not a complete zip file")


def _explained(error: Exception, name: str, address: str, folder: Path) -> DownloadError:
    if "hash" in str(error):
        return DownloadError(
            f"The file downloaded for {name} is not the one that was expected and was thrown away: "
            f"{error} If the collection has published it anew, accept it with refresh=True."
        )
    return DownloadError(
        f"{name} could not be downloaded: {error}. Without a network, get {address}{name}.zip by "
        f"other means and put it into {str(folder)!r}, or into a folder that the environment "
        "variable GRAPHGRAIN_DATA names."
    )


# -------------------------------------------------------------------- the TU collection


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


def bundled_data_set() -> DataSet:
    """What :func:`load_drugs` loads, in the form of the collection."""
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
    """A data set by its name, in capitals or not."""
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
    found = {}
    for row in csv.DictReader(text.splitlines()):
        values: Any = {name: parsed[kinds[name]](t) if t else None for name, t in row.items()}
        found[row["name"]] = DataSet(**values)
    return found
