"""Windows and macOS, as far as they can be stood in for: what is not there, and what is refused."""

from __future__ import annotations

import ast
import builtins
import errno
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import joblib
import pytest
from packaging.requirements import Requirement

import graphgrain as gg
from graphgrain import writing
from graphgrain.cli import console
from graphgrain.core import memory, threads

SOURCE = Path(gg.__file__).parent
PROJECT = SOURCE.parents[1] / "pyproject.toml"


def test_everything_can_be_imported_without_modules_of_posix():
    script = (
        "import sys\n"
        "for name in ('fcntl', 'resource', 'pwd', 'grp', 'termios'):\n"
        "    sys.modules[name] = None\n"
        "import importlib, pkgutil, graphgrain as gg\n"
        "for module in pkgutil.walk_packages(gg.__path__, 'graphgrain.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# ---------------------------------------------------------------- files that somebody reads


def refuse_replacing(monkeypatch, times):
    """Make os.replace fail so often, as Windows does while somebody reads the file."""
    attempts = []
    replace = os.replace

    def refused(source, target):
        attempts.append(target)
        if len(attempts) <= times:
            raise PermissionError(errno.EACCES, "Access is denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refused)
    return attempts


def test_a_file_is_replaced_when_its_readers_have_finished(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_READERS_BLOCK", True)
    attempts = refuse_replacing(monkeypatch, 3)
    (tmp_path / "a").write_bytes(b"old")
    with writing.atomic_write(tmp_path / "a") as file:
        file.write(b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert len(attempts) == 4


def test_elsewhere_a_refusal_is_final(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_READERS_BLOCK", False)
    attempts = refuse_replacing(monkeypatch, 1)
    with (
        pytest.raises(gg.errors.UnwritableFileError, match="Access is denied"),
        writing.atomic_write(tmp_path / "a") as file,
    ):
        file.write(b"new")
    assert len(attempts) == 1
    assert not list(tmp_path.iterdir())


def test_segments_that_are_still_mapped_are_deleted_by_the_next_writer(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_READERS_BLOCK", True)
    graphs = gg.load_drugs()[0][:40]
    index = gg.GraphIndex.build(tmp_path / "drugs.ggi", graphs[:20])
    unlink = Path.unlink

    def refused(path, missing_ok=False):
        if path.suffix == ".npy":
            raise PermissionError(errno.EACCES, "It is being used by another process")
        unlink(path, missing_ok)

    def segments():
        return {path.name for path in index.path.glob("*.npy")}

    monkeypatch.setattr(Path, "unlink", refused)
    index.add(graphs[20:])
    index.compact()
    assert len(gg.GraphIndex.open(index.path)) == 40
    assert len(segments()) > 1
    monkeypatch.setattr(Path, "unlink", unlink)
    index.remove([0])
    assert len(segments()) == 1
    (index.path / "stray.npy").write_bytes(b"")
    gg.GraphIndex.open(index.path)
    assert len(segments()) == 1


def test_the_drive_too_has_it_on_macos(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    asked = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda *call: asked.append(call[1]))
    with writing.atomic_write(tmp_path / "a") as file:
        file.write(b"x")
    assert asked == [51]


def test_a_data_set_is_the_same_file_whoever_writes_it(tmp_path, monkeypatch):
    graphs, y = gg.load_drugs()
    gg.save_tu(tmp_path / "HERE.zip", graphs[:5], y[:5])
    monkeypatch.setattr(sys, "platform", "win32")
    assert zipfile.ZipInfo("x").create_system == 0
    (tmp_path / "there").mkdir()
    gg.save_tu(tmp_path / "there" / "HERE.zip", graphs[:5], y[:5])
    first, second = (tmp_path / "HERE.zip", tmp_path / "there" / "HERE.zip")
    assert first.read_bytes() == second.read_bytes()


# ---------------------------------------------------------------- what a system does not tell


def test_memory_where_the_system_does_not_tell(monkeypatch):
    def absent(path, *rest, **more):
        raise FileNotFoundError(path)

    monkeypatch.setattr(builtins, "open", absent)
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert memory.available_memory() is None
    memory.require_memory(1e18, "A matrix", "Use less")  # nothing is known: nothing is refused


def test_cores_are_those_that_joblib_counts(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 6)
    assert [threads.thread_count(n) for n in (None, 1, -1, -2, -9)] == [1, 1, 6, 5, 1]


@pytest.mark.skipif(not PROJECT.exists(), reason="not part of an installed package")
def test_numpy_on_windows_has_long_integers():
    """Before version 2 its integers had 32 bits there: sums and products of them overflow."""
    import tomllib

    needed = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    numpy = [Requirement(line) for line in needed if Requirement(line).name == "numpy"]
    there = [
        line for line in numpy if not line.marker or line.marker.evaluate({"sys_platform": "win32"})
    ]
    assert not all("1.26.4" in line.specifier for line in there)
    here = [
        line for line in numpy if not line.marker or line.marker.evaluate({"sys_platform": "linux"})
    ]
    assert all("1.26.4" in line.specifier for line in here)


# ---------------------------------------------------------------- text


def test_a_console_with_few_characters():
    """The command itself; the next test has what it does, in the encoding of Windows."""
    done = subprocess.run(
        [sys.executable, "-m", "graphgrain", "info", "drugs"],
        env={**os.environ, "PYTHONPATH": str(SOURCE.parent), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "######" in done.stdout.decode("ascii")


def test_no_character_ends_the_program(monkeypatch):
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="cp1252") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    console.prepare_streams()
    print("75 ± 2 ██ 中 caf\u00e9 \udcff", flush=True)
    assert streams[0].buffer.getvalue().decode("cp1252").split() == [
        *("75", "±", "2", "##", "\\u4e2d", "café", "\\udcff")
    ]


def test_a_closed_pipe_by_its_name_on_windows(monkeypatch):
    error = OSError(errno.EINVAL, "Invalid argument")
    assert not console.is_of_output(error)
    monkeypatch.setattr(console, "_CLOSED", (errno.EPIPE, errno.EINVAL))
    monkeypatch.setattr(console.os, "dup2", lambda *_: None)  # the output of this process is needed
    assert console.is_of_output(error)
    assert console.report_unwritable_output(error) == 0


def test_text_files_have_the_same_encoding_everywhere():
    """Whatever opens text says in which encoding; Windows would take another one."""
    silent = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            opened = isinstance(node.func, ast.Name) and name == "open"
            if not opened and name not in ("read_text", "write_text"):
                continue
            given = ast.unparse(node)
            if "encoding=" not in given and not (opened and "b'" in given):
                silent.append(f"{path.relative_to(SOURCE)}:{node.lineno}: {given}")
    assert [line for line in silent if "/proc/" not in line and "core/memory" not in line] == []
