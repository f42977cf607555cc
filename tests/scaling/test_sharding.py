"""Features to files: what is in them; nothing is lost, and no half taken for a whole."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli.app import app
from graphgrain.errors import (
    GraphgrainWarning,
    InvalidFileError,
    InvalidGraphError,
    InvalidParameterError,
    MissingDependencyError,
    UnwritableFileError,
)

from ..systems import KILL

pytest.importorskip("rdkit", reason="RDKit is not installed")

KERNEL = gg.TreePlusPlus(path_depth=2, tree_depth=1)


def write_table(path: Path, count: int) -> Path:
    rows = [f"m{n},{'C' * (n % 17)}OC{'N' * (n % 5)},{n % 2}" for n in range(count)]
    path.write_text("\n".join(["id,smiles,active", *rows]) + "\n")
    return path


def contents(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "x.csv", 95)


def test_rows_and_columns(table, tmp_path):
    folder = tmp_path / "features"
    manifest = gg.save_features(table, folder, KERNEL, n_features=256, shard_size=40)
    graphs, columns = gg.load_molecules(table)
    hashed = gg.TreePlusPlus(path_depth=2, tree_depth=1, output="features", n_features=256)
    expected = hashed.transform(graphs).toarray()
    shards = gg.load_features(folder)
    assert [X.shape for X, _ in shards] == [(40, 256), (40, 256), (15, 256)]
    assert shards.shape == (95, 256)
    assert manifest == shards.manifest
    np.testing.assert_array_equal(np.vstack([X.toarray() for X, _ in shards]), expected)
    for name in ("id", "active", "line"):
        values = np.concatenate([shard.columns[name] for shard in shards])
        assert values.dtype.kind == columns[name].dtype.kind
        assert values.tolist() == columns[name].tolist()
    assert (shards[-1].X != shards[2].X).nnz == 0
    with pytest.raises(IndexError, match="there are 3"):
        shards[3]


def test_other_programs_can_read_the_folder(table, tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    gg.save_features(table, tmp_path / "f", KERNEL, n_features=64, shard_size=40)
    rows = dataset.dataset(tmp_path / "f").to_table().to_pylist()
    assert [row["id"] for row in rows] == [f"m{n}" for n in range(95)]
    dense = np.zeros(64)
    dense[rows[47]["feature_columns"]] = rows[47]["feature_values"]
    np.testing.assert_array_equal(dense, gg.load_features(tmp_path / "f")[1].X[[7]].toarray()[0])


@pytest.mark.parametrize("Kernel", [gg.WeisfeilerLehman, gg.NeighbourhoodPairs])
def test_graphs_that_are_no_molecules(tmp_path, monkeypatch, Kernel):
    """Values that are no counts (of pairs of neighbourhoods) keep their precision."""
    graphs, y = gg.load_drugs()
    graphs, y = graphs[:90], y[:90]
    monkeypatch.chdir(tmp_path)  # worker processes stay where they were started
    gg.save_features(
        [graphs.with_columns({"y": y})], "f", Kernel(), n_features=99, shard_size=50, n_jobs=2
    )
    shards = gg.load_features("f")
    expected = Kernel(output="features", n_features=99).transform(graphs).toarray()
    np.testing.assert_array_equal(np.vstack([X.toarray() for X, _ in shards]), expected)
    assert np.concatenate([columns["y"] for _, columns in shards]).tolist() == y.tolist()


def test_molecules_of_rdkit_are_written_in_binary_form(tmp_path):
    """The same bytes from other objects of the same molecules."""
    parquet = pytest.importorskip("pyarrow.parquet")
    from rdkit import Chem

    for folder in ("a", "b"):
        molecules = list(map(Chem.MolFromSmiles, ("CCO", "CN")))
        gg.save_features(molecules, tmp_path / folder, KERNEL, n_features=64)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    column = parquet.read_table(tmp_path / "a" / "shard-00000.parquet")["molecule"].to_pylist()
    assert [Chem.MolToSmiles(Chem.Mol(item)) for item in column] == ["CCO", "CN"]


# ---------------------------------------------------------------- going on


def test_a_shard_that_is_gone_or_damaged_is_made_again_and_no_other(table, tmp_path):
    folder = tmp_path / "features"
    arguments = (table, folder, KERNEL)
    gg.save_features(*arguments, shard_size=20)
    before = contents(folder)
    times = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (folder / "shard-00001.parquet").unlink()
    with open(folder / "shard-00003.parquet", "r+b") as file:
        file.seek(200)
        file.write(b"X")
    for number in (1, 3):
        with pytest.raises(InvalidFileError, match=f"shard-0000{number}.* cannot be read.*again"):
            gg.load_features(folder)[number]
    gg.save_features(*arguments, shard_size=20)
    assert contents(folder) == before
    same = {name for name, at in times.items() if (folder / name).stat().st_mtime_ns == at}
    assert same == {f"shard-0000{number}.parquet" for number in (0, 2, 4)}


def test_an_input_that_has_changed(table, tmp_path):
    folder = tmp_path / "features"
    gg.save_features(table, folder, KERNEL, shard_size=20)
    table.write_text(table.read_text().replace("m25,", "other,"))
    gg.save_features(table, folder, KERNEL, shard_size=20)
    assert gg.load_features(folder)[1].columns["id"][5] == "other"
    write_table(table, 35)
    gg.save_features(table, folder, KERNEL, shard_size=20)
    assert len(gg.load_features(folder)) == 2
    assert not list(folder.glob("shard-00002*"))
    gg.save_features(write_table(tmp_path / "x.csv", 35), tmp_path / "anew", KERNEL, shard_size=20)
    assert contents(folder) == contents(tmp_path / "anew")


def arguments(table: Path, folder: Path, *more: str) -> list[str]:
    return [
        *("features", str(table), "-o", str(folder)),
        *("--set", "path_depth=2,tree_depth=1", "--shard-size", "20", *more),
    ]


def command(table: Path, folder: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "graphgrain", *arguments(table, folder, *more)]


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(gg.__file__).parents[1])}


def test_kill_9_loses_the_shards_in_work_alone(tmp_path):
    table = write_table(tmp_path / "x.csv", 1_200)
    folder = tmp_path / "features"
    process = subprocess.Popen(command(table, folder, "-j", "1"), env=ENVIRONMENT)
    while len(list(folder.glob("shard-*.parquet"))) < 3:
        assert process.poll() is None
        time.sleep(0.005)
    process.kill()
    process.wait()
    done = len(list(folder.glob("shard-*.parquet")))
    assert done < 60
    with pytest.raises(InvalidFileError, match="not complete"):
        gg.load_features(folder)
    times = {path.name: path.stat().st_mtime_ns for path in folder.glob("shard-*.parquet")}
    gg.save_features(table, folder, KERNEL, shard_size=20)
    assert all((folder / name).stat().st_mtime_ns == at for name, at in times.items())
    gg.save_features(table, tmp_path / "whole", KERNEL, shard_size=20)
    assert contents(folder) == contents(tmp_path / "whole")


@pytest.mark.slow
def test_a_worker_that_is_killed(tmp_path):
    from graphgrain.graphs.processes import _executor

    table = write_table(tmp_path / "x.csv", 800)
    folder = tmp_path / "features"
    killed = []

    def kill() -> None:
        while not list(folder.glob("shard-*.parquet")):
            time.sleep(0.005)
        pid = next(iter(_executor(2)._processes))
        os.kill(pid, KILL)
        killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    gg.save_features(table, folder, KERNEL, shard_size=20, n_jobs=2)
    thread.join()
    assert killed
    gg.save_features(table, tmp_path / "whole", KERNEL, shard_size=20)
    assert contents(folder) == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2**64 - 1, 7], dtype=np.uint64),
        np.array([True, False, True]),
        np.array([1, "a", 2.5], dtype=object),
        np.array(["a\rb", "c\r\nd", "e\nf"]),
        np.array([[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]]),
    ],
    ids=["unsigned", "bools", "mixed", "lines", "several"],
)
def test_columns_that_are_neither_integers_nor_floats_are_text(tmp_path, values):
    graphs = gg.load_drugs()[0][:3]
    stream = iter([graphs.with_columns({"y": list(values)})])
    manifest = gg.save_features(stream, tmp_path / "f", n_features=64)
    assert manifest["columns"]["y"] == "U"
    [shard] = gg.load_features(tmp_path / "f")
    assert shard.columns["y"].tolist() == [str(value) for value in values.tolist()]


# ---------------------------------------------------------------- bad input


def test_a_bad_line(table, tmp_path):
    table.write_text(table.read_text() + "bad,C1CC,1\nlast,CCO,0\n")
    folder = tmp_path / "features"
    with pytest.raises(InvalidGraphError, match=r"x.csv, line 97 .row 96., 'C1CC': unclosed ring"):
        gg.save_features(table, folder, KERNEL, shard_size=40)
    assert len(list(folder.glob("shard-0000[01].parquet"))) == 2  # nothing before it is lost
    with pytest.warns(GraphgrainWarning, match=r"1 of 97 .*line 97"):
        manifest = gg.save_features(table, folder, KERNEL, shard_size=40, errors="skip")
    assert manifest["rows"] == 96
    assert manifest["skipped"] == 1
    assert gg.load_features(folder)[2].columns["id"].tolist()[-2:] == ["m94", "last"]


def test_a_gzip_that_is_cut_short(tmp_path):
    rng = np.random.default_rng(0)
    lines = "".join("C" * n + "O\n" for n in rng.integers(1, 60, size=2_000))
    file = tmp_path / "x.smi.gz"
    file.write_bytes(gzip.compress(lines.encode())[:-500])
    folder = tmp_path / "features"
    with pytest.raises(InvalidFileError, match=r"x.smi.gz cannot be read past line \d+.*cut short"):
        gg.save_features(file, folder, KERNEL, shard_size=100)
    finished = len(list(folder.glob("shard-*.parquet")))
    assert finished > 0
    file.write_bytes(gzip.compress(lines.encode()))
    gg.save_features(file, folder, KERNEL, shard_size=100)
    assert gg.load_features(folder).shape[0] == 2_000


@pytest.mark.parametrize(
    ("name", "text"), [("x.smi", ""), ("x.smi", "\n\n"), ("x.csv", "smiles\n")]
)
def test_an_empty_file(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidFileError, match=f"{name} holds no molecule"):
        gg.save_features(tmp_path / name, tmp_path / "features", KERNEL)
    assert not (tmp_path / "features").exists()


@pytest.mark.slow
def test_a_full_disk(table, tmp_path):
    """A limit on the size of files stands for the disk: the same error of the same call."""
    resource = pytest.importorskip("resource", reason="needs limits as POSIX has them")
    folder = tmp_path / "features"

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))

    done = subprocess.run(
        [*command(table, folder, "-j", "1"), "--n-features", "4096"],
        env={**ENVIRONMENT, "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", "")},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "cannot be written" in " ".join(done.stderr.split())
    assert not list(folder.glob("shard-*"))
    assert not list(folder.glob(".*"))
    gg.save_features(table, folder, KERNEL, shard_size=20, n_features=4096)
    assert sum(X.shape[0] for X, _ in gg.load_features(folder)) == 95


def test_folders_that_are_refused(table, tmp_path):
    gg.save_features(table, tmp_path / "a", KERNEL, shard_size=40)
    with pytest.raises(InvalidParameterError, match=r"with shard_size=40; requested is 41"):
        gg.save_features(table, tmp_path / "a", KERNEL, shard_size=41)
    with pytest.raises(InvalidParameterError, match="path_depth=2; requested is 6"):
        gg.save_features(table, tmp_path / "a", gg.TreePlusPlus(), shard_size=40)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.tex").write_text("")
    with pytest.raises(InvalidParameterError, match=r"holds 'thesis.tex' and no features"):
        gg.save_features(table, tmp_path / "b", KERNEL)
    with pytest.raises(UnwritableFileError, match="cannot be written"):
        gg.save_features(table, table / "folder", KERNEL)
    with pytest.raises(InvalidFileError, match="holds no features"):
        gg.load_features(tmp_path / "b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shard_size": 0}, "shard_size must be an integer of 1 or more; got 0"),
        ({"n_features": 0}, "n_features must be"),
        ({"kernel": gg.ReturnProbability()}, "a kernel that has n_features"),
        ({"errors": "ignore"}, "errors must be"),
    ],
)
def test_parameters_that_are_refused(table, tmp_path, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        gg.save_features(table, tmp_path / "features", **options)
    assert not (tmp_path / "features").exists()


def test_the_command(tmp_path, table):
    def run(*more: str) -> Any:
        return CliRunner().invoke(app, arguments(table, tmp_path / "features", *more))

    done = run("--json", "-j", "1", "--n-features", "128")
    assert json.loads(done.stdout)["rows"] == 95, done.stderr
    gg.save_features(table, tmp_path / "same", KERNEL, shard_size=20, n_features=128)
    assert contents(tmp_path / "features") == contents(tmp_path / "same")
    refused = run("--n-features", "64")
    assert refused.exit_code == 2
    assert "n_features=128" in " ".join(refused.stderr.split())
    table.write_text(table.read_text() + "bad,C1CC,1\n")
    broken = run("-j", "1", "--n-features", "128")
    assert broken.exit_code == 2
    words = " ".join(broken.stderr.split())
    assert "line 97 (row 96), 'C1CC'" in words
    assert "Finished shards are saved" in words
    assert "Finished shards" not in " ".join(refused.stderr.split())


def test_pyarrow_is_asked_for_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    def graphs():
        raise AssertionError("the work has begun")
        yield

    with pytest.raises(MissingDependencyError, match="PyArrow"):
        gg.save_features(graphs(), tmp_path / "features", KERNEL)
    assert not (tmp_path / "features").exists()


def test_shards_of_other_places_or_settings_are_not_read(table, tmp_path):
    folder = tmp_path / "features"
    gg.save_features(table, folder, KERNEL, n_features=64, shard_size=40)
    gg.save_features(table, tmp_path / "wl", gg.WeisfeilerLehman(), n_features=64, shard_size=40)
    (tmp_path / "wl" / "shard-00001.parquet").replace(folder / "shard-00001.parquet")
    shutil.copy(folder / "shard-00002.parquet", folder / "shard-00000.parquet")
    shards = gg.load_features(folder)
    for number in (0, 1):
        with pytest.raises(InvalidFileError, match="is not the shard that was written"):
            shards[number]
    assert shards[2].X.shape == (15, 64)


def test_any_damaged_byte_is_an_error_or_changes_nothing(table, tmp_path):
    folder = tmp_path / "features"
    gg.save_features(table, folder, KERNEL, n_features=64)
    X, columns = gg.load_features(folder)[0]
    path = folder / "shard-00000.parquet"
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for at in rng.integers(len(content), size=300).tolist():
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            shard = gg.load_features(folder)[0]
        except InvalidFileError:
            refused += 1
            continue
        assert (shard.X != X).nnz == 0
        for name, values in columns.items():
            np.testing.assert_array_equal(shard.columns[name], values)
    assert refused > 100


@pytest.mark.parametrize(
    "change",
    [
        lambda columns, values: ([[64], [1]], values),
        lambda columns, values: ([[-1], [1]], values),
        lambda columns, values: (columns, [[1.0, 2.0], []]),
        lambda columns, values: (columns, [[1.0], [2.0, 3.0]]),
        lambda columns, values: (columns, [["a"], ["b"]]),
        lambda columns, values: ([0, 1], [1.0, 2.0]),
        lambda columns, values: ([[0.5], [1.5]], values),
        lambda columns, values: ([[None], [1]], values),
    ],
)
def test_crafted_shards(tmp_path, change):
    """SciPy follows pointers in compiled code: whatever a file says, it is checked before."""
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    gg.save_features(["CC", "O"], tmp_path / "f", KERNEL, n_features=64)
    path = tmp_path / "f" / "shard-00000.parquet"
    receipt = parquet.read_table(path).schema.metadata
    for function, readable in ((change, False), (lambda *lists: lists, True)):
        columns, values = function([[0], [1]], [[1.0], [2.0]])
        table = pyarrow.table({"feature_columns": columns, "feature_values": values})
        parquet.write_table(table.replace_schema_metadata(receipt), path)
        if readable:
            assert gg.load_features(tmp_path / "f")[0].X.toarray()[:, :2].tolist() == [
                [1, 0],
                [0, 2],
            ]
        else:
            with pytest.raises(InvalidFileError, match=r"shard-00000.* cannot be read"):
                gg.load_features(tmp_path / "f")[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *(
            ("_features.json", text, "_features.json' is damaged")
            for text in ("[]", "{}", '{"version": 3, "complete": true}', "[" * 2000, "{")
        ),
        ("_features.json", '{"version": 7, "complete": true}', "version 7"),
        ("manifest.json", '{"version": 2}', "graphgrain 0.3"),
    ],
)
def test_folders_of_another_form(table, tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InvalidFileError, match=message):
        gg.load_features(tmp_path)
    with pytest.raises(InvalidFileError, match=message):
        gg.save_features(table, tmp_path, KERNEL)


def test_columns_are_numbers_only_if_they_are_in_all_shards(tmp_path):
    rows = [
        ("CCO", "1", "2", "", "a", "NA", "N/A"),
        ("CCN", "2", "2.5", "", "", "1.5", "b"),
        ("CCC", "", "x", "", "3", "null", "c"),
    ]
    text = "smiles,some,mixed,blank,word,marked,texts\n"
    text += "".join(",".join(row) + "\n" for row in rows)
    (tmp_path / "x.csv").write_text(text)
    gg.save_features(tmp_path / "x.csv", tmp_path / "f", KERNEL, n_features=64, shard_size=1)
    _, expected = gg.load_molecules(tmp_path / "x.csv")
    shards = list(gg.load_features(tmp_path / "f"))
    for name, values in expected.items():
        found = np.concatenate([shard.columns[name] for shard in shards])
        assert found.dtype.kind == values.dtype.kind, name
        np.testing.assert_array_equal(found, values)


def test_columns_that_some_chunks_do_not_have(tmp_path):
    graphs = gg.load_drugs()[0][:4]
    chunks = [graphs[:2].with_columns({"y": [1.5, 2.5]}), graphs[2:]]
    gg.save_features(chunks, tmp_path / "shards", n_features=64)
    [(_, columns)] = gg.load_features(tmp_path / "shards")
    np.testing.assert_array_equal(columns["y"], [1.5, 2.5, np.nan, np.nan])


def test_shards_without_rows_have_all_columns(tmp_path):
    (tmp_path / "x.csv").write_text("smiles,y,name\nC1C,1,a\nC1C,2,b\nCCO,3,c\nCCN,4,d\n")
    with pytest.warns(GraphgrainWarning, match="2 of 4"):
        gg.save_features(
            tmp_path / "x.csv", tmp_path / "f", KERNEL, n_features=np.int64(64), shard_size=2,
            errors="skip",
        )  # fmt: skip
    shards = list(gg.load_features(tmp_path / "f"))
    assert [shard.X.shape for shard in shards] == [(0, 64), (2, 64)]
    for name, values in {"y": [3, 4], "name": ["c", "d"], "line": [4, 5]}.items():
        assert [shard.columns[name].tolist() for shard in shards] == [[], values]
        assert len({shard.columns[name].dtype.kind for shard in shards}) == 1
