"""Data sets by name: the bundled drugs, the registry, and downloads from a server of our own."""

import csv
import hashlib
import http.server
import importlib.util
import re
import threading
import time
from collections import Counter
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import DownloadError, InvalidFileError, InvalidParameterError
from graphgrain.graphs.datasets.fetch import RETRIES

DATA = resources.files("graphgrain.graphs.datasets") / "data"
ROOT = Path(__file__).resolve().parents[2]


# ---------------------------------------------------------------- drugs


@pytest.fixture(scope="module")
def table():
    return list(csv.DictReader((DATA / "drugs.csv").read_text().splitlines()))


def test_drugs_load_without_rdkit(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    graphs, y, names = gg.load_drugs(names=True)
    assert len(graphs) == len(y) == len(names) == 292
    assert y.dtype.kind == names.dtype.kind == "U"
    assert gg.load_drugs()[0] == graphs


def test_families_are_large_enough(table):
    _, y = gg.load_drugs()
    count = Counter(y.tolist())
    assert len(count) >= 8
    assert min(count.values()) >= 20
    assert y.tolist() == [row["family"] for row in table]
    assert len({row["name"] for row in table}) == len(table)


def test_every_smiles_gives_the_stated_formula(table):
    chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")
    from rdkit.Chem.rdMolDescriptors import CalcMolFormula

    canonical = set()
    for row in table:
        molecule = chem.MolFromSmiles(row["smiles"])
        assert molecule is not None, row["name"]
        assert CalcMolFormula(molecule) == row["formula"], row["name"]
        canonical.add(chem.MolToSmiles(molecule, isomericSmiles=False))
    assert len(canonical) == len(table)


def test_the_graphs_are_those_of_the_formulas(table):
    """Heavy atoms counted in the formula, without RDKit."""
    graphs, _ = gg.load_drugs()
    for graph, row in zip(graphs, table, strict=True):
        atoms = {s: int(n or 1) for s, n in re.findall(r"([A-Z][a-z]?)(\d*)", row["formula"])}
        atoms.pop("H")
        assert Counter(graph.labels.tolist()) == atoms, row["name"]
    assert gg.duplicates(graphs) == []


def test_the_bundled_file_is_what_the_script_makes(tmp_path):
    pytest.importorskip("rdkit", reason="RDKit is not installed")
    spec = importlib.util.spec_from_file_location("make_drugs", ROOT / "scripts" / "make_drugs.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.make_drugs(script.DATA / "drugs.csv", tmp_path / "drugs.zip")
    graphs, y = gg.load_tu(tmp_path / "drugs.zip")
    bundled, y_bundled = gg.load_drugs()
    assert graphs == bundled
    assert y.tolist() == y_bundled.tolist()


# ---------------------------------------------------------------- registry


def test_the_registry():
    entries = {entry.name: entry for entry in gg.tu_datasets()}
    assert len(entries) == len(gg.tu_datasets()) > 60
    assert entries["ENZYMES"].classes == 6
    assert entries["QM9"].classes is None
    assert entries["QM9"].targets == 19
    for entry in entries.values():
        assert (entry.classes is None) != (entry.targets is None)
        assert entry.graphs > 0
        assert entry.sha256 is None or re.fullmatch("[0-9a-f]{64}", entry.sha256)


def test_the_registry_agrees_with_the_real_files(shared_data):
    for entry in gg.tu_datasets():
        file = shared_data / f"{entry.name}.zip"
        if not file.exists():
            continue
        graphs, y = gg.load_tu(file)
        assert hashlib.sha256(file.read_bytes()).hexdigest() == entry.sha256
        assert len(graphs) == entry.graphs
        assert len(np.unique(y)) == entry.classes
        assert round(float(graphs.vertex_counts.mean()), 2) == entry.vertices
        assert round(float(graphs.edge_counts.mean()), 2) == entry.edges
        assert graphs.labelled == entry.vertex_labels
        assert (graphs.edge_labels is not None) == entry.edge_labels
        for found, wanted in (
            (graphs.vertex_attributes, entry.vertex_attributes),
            (graphs.edge_attributes, entry.edge_attributes),
        ):
            assert (0 if found is None else found.shape[1]) == wanted


# ---------------------------------------------------------------- fetching

NAME = "IMDB-MULTI"  # any name without a known SHA-256
GRAPHS = gg.as_graphs([([(0, 1), (1, 2)], [1, 2, 1]), ([(0, 1)], [1, 1])])


class Server(http.server.ThreadingHTTPServer):
    """Serves one file, in one of several ways."""

    content = b""
    way = "whole"
    requests = 0

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        if self.server.way == "missing" or self.path != f"/{NAME}.zip":
            self.send_error(404)
            return
        content = self.server.content
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content if self.server.way == "whole" else content[: len(content) // 2])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.delenv("GRAPHGRAIN_DATA", raising=False)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # pooch waits between attempts
    gg.save_tu(tmp_path / "served" / f"{NAME}.zip", GRAPHS, [1, 2])
    running = Server(("127.0.0.1", 0), Handler)
    running.content = (tmp_path / "served" / f"{NAME}.zip").read_bytes()
    thread = threading.Thread(target=running.serve_forever, args=(0.02,))
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def fetch(server, folder, **options):
    options = {"verbose": 0, "address": server.address, "cache": folder} | options
    return gg.fetch_tu(NAME, **options)


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_download_is_cached_with_its_hash(server, tmp_path, capfd, verbose):
    cache = tmp_path / "cache"
    graphs, y = fetch(server, cache, verbose=verbose)
    assert graphs == GRAPHS
    assert y.tolist() == [1, 2]
    assert sorted(file.name for file in cache.iterdir()) == [f"{NAME}.zip", f"{NAME}.zip.sha256"]
    recorded = (cache / f"{NAME}.zip.sha256").read_text().strip()
    assert recorded == hashlib.sha256(server.content).hexdigest()
    assert ("100%" in capfd.readouterr().err) == bool(verbose)


def test_the_cache_works_without_a_network(server, tmp_path):
    fetch(server, tmp_path / "cache")
    fetch(server, tmp_path / "cache")
    assert server.requests == 1
    graphs, _ = fetch(server, tmp_path / "cache", address="http://127.0.0.1:9/")
    assert graphs == GRAPHS


def test_options_are_passed_on(server, tmp_path):
    with pytest.raises(InvalidFileError, match="max_bytes"):
        fetch(server, tmp_path / "cache", max_bytes=5)


def test_an_interrupted_download_leaves_nothing(server, tmp_path):
    server.way = "half"
    with pytest.raises(DownloadError, match=f"{NAME} could not be downloaded"):
        fetch(server, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
    assert server.requests == 1 + RETRIES
    server.way = "whole"
    assert fetch(server, tmp_path / "cache")[0] == GRAPHS


def test_a_web_page_in_place_of_the_file(server, tmp_path):
    server.content = b"<html>The server moved.</html>"
    with pytest.raises(DownloadError, match="not a complete zip file"):
        fetch(server, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_missing_file_is_asked_for_once(server, tmp_path):
    server.way = "missing"
    with pytest.raises(DownloadError, match=rf"{NAME}.zip does not exist"):
        fetch(server, tmp_path / "cache")
    assert server.requests == 1


def test_no_network(tmp_path, monkeypatch):
    monkeypatch.delenv("GRAPHGRAIN_DATA", raising=False)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with pytest.raises(DownloadError, match=r"Without a network, get .*GRAPHGRAIN_DATA"):
        gg.fetch_tu(NAME, cache=tmp_path, address="http://127.0.0.1:9/", verbose=0)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_the_one_expected(server, tmp_path):
    cache = tmp_path / "cache"
    fetch(server, cache)
    before = (cache / f"{NAME}.zip").read_bytes()
    (cache / f"{NAME}.zip.sha256").write_text("0" * 64)
    with pytest.raises(DownloadError, match=r"not the one that was expected.*refresh=True"):
        fetch(server, cache)
    assert (cache / f"{NAME}.zip").read_bytes() == before
    assert fetch(server, cache, refresh=True)[0] == GRAPHS
    recorded = (cache / f"{NAME}.zip.sha256").read_text().strip()
    assert recorded == hashlib.sha256(server.content).hexdigest()


def test_a_damaged_cache_heals(server, tmp_path):
    cache = tmp_path / "cache"
    fetch(server, cache)
    (cache / f"{NAME}.zip").write_bytes(b"damaged")
    assert fetch(server, cache)[0] == GRAPHS
    assert server.requests == 2


def test_known_hashes_are_enforced(server, tmp_path):
    with pytest.raises(DownloadError, match="does not exist"):
        gg.fetch_tu("MUTAG", cache=tmp_path, address=server.address, verbose=0)
    (tmp_path / "MUTAG.zip").write_bytes(server.content)
    with pytest.raises(DownloadError):
        gg.fetch_tu("MUTAG", cache=tmp_path, address=server.address, verbose=0)


def test_a_folder_of_ones_own_comes_first(server, tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(folder))
    with pytest.raises(InvalidParameterError, match="GRAPHGRAIN_DATA must name a folder"):
        fetch(server, tmp_path / "cache")
    gg.save_tu(folder / "OWN", GRAPHS[:1])
    gg.save_tu(folder / f"{NAME}.zip", GRAPHS[1:])
    assert gg.fetch_tu("OWN")[0] == GRAPHS[:1]
    assert gg.fetch_tu(NAME)[0] == GRAPHS[1:]
    assert server.requests == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mutagg", "Did you mean MUTAG"),
        ("../MUTAG", "no data set '../MUTAG'"),
        ("", "no data set ''"),
        (5, "no data set 5"),
    ],
)
def test_unknown_names(name, message, monkeypatch):
    monkeypatch.delenv("GRAPHGRAIN_DATA", raising=False)
    with pytest.raises(InvalidParameterError, match=message):
        gg.fetch_tu(name)


def test_names_in_any_case(shared_data, monkeypatch):
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(shared_data))
    graphs, y = gg.fetch_tu("Mutag")
    wanted, targets = gg.load_tu(shared_data / "MUTAG.zip")
    assert graphs == wanted
    assert y.tolist() == targets.tolist()
