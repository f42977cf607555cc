"""Files that are either whole or not there."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import zipfile

import pytest

from graphgrain.errors import UnwritableFileError
from graphgrain.writing import atomic_write, check_output


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with atomic_write(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_whatever_stops_it_leaves_the_old_file(tmp_path, capfdbinary, error):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def stopped(target):
        with atomic_write(target) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        stopped(path)
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(error):
        stopped("-")
    assert capfdbinary.readouterr().out == b""


@pytest.mark.skipif(os.name == "nt", reason="needs the rights of POSIX")
def test_rights_are_those_of_any_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "a.txt") as file:
            file.write(b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def test_what_cannot_be_written_is_said(tmp_path):
    for path in (tmp_path, tmp_path / "absent" / "a.txt"):
        with (
            pytest.raises(UnwritableFileError, match="The page cannot be written to"),
            atomic_write(path, "The page") as file,
        ):
            file.write(b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(
            UnwritableFileError,
            match=r"No space left on device\. Make room",
        ),
        atomic_write(tmp_path / "a.txt") as file,
    ):
        file.write(b"x")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- what is at the path already

posix = pytest.mark.skipif(os.name == "nt", reason="needs links, pipes and devices of POSIX")


def write(path, content=b"new"):
    with atomic_write(path, "The page") as file:
        file.write(content)


@posix
def test_links_stay_and_their_targets_are_written(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "chain").symlink_to(tmp_path / "link")
    write(tmp_path / "chain")
    assert (tmp_path / "target").read_text() == "new"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "chain").is_symlink()
    (tmp_path / "dangling").symlink_to("absent")
    write(tmp_path / "dangling")
    assert (tmp_path / "absent").read_text() == "new"


@posix
def test_hard_links_stay_one_file(tmp_path):
    (tmp_path / "one").write_text("a long old text")
    os.link(tmp_path / "one", tmp_path / "two")
    write(tmp_path / "one")
    assert (tmp_path / "two").read_text() == "new"
    assert (tmp_path / "one").stat().st_nlink == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


@posix
def test_permissions_stay(tmp_path):
    (tmp_path / "secret").write_text("old")
    (tmp_path / "secret").chmod(0o600)
    write(tmp_path / "secret")
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


@posix
def test_read_only_files_are_refused_even_for_root(tmp_path):
    (tmp_path / "kept").write_text("old")
    (tmp_path / "kept").chmod(0o444)
    (tmp_path / "link").symlink_to("kept")
    for name in ("kept", "link"):
        with pytest.raises(UnwritableFileError, match=r"The page cannot be .*read-only"):
            write(tmp_path / name)
        with pytest.raises(UnwritableFileError, match="read-only"):
            check_output(tmp_path / name)
    assert (tmp_path / "kept").read_text() == "old"


@posix
def test_a_pipe_gets_a_stream(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    # An archive is written by seeking back, which a pipe cannot do.
    with atomic_write(pipe) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", "x" * 100_000)
    reader.join(30)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    (tmp_path / "got.zip").write_bytes(got[0])
    assert zipfile.ZipFile(tmp_path / "got.zip").read("a") == b"x" * 100_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["got.zip", "pipe"]


@posix
def test_devices_get_a_stream():
    before = os.stat("/dev/null")
    write("/dev/null")
    assert os.stat("/dev/null").st_ino == before.st_ino
    if os.path.exists("/dev/full"):
        with pytest.raises(UnwritableFileError, match="No space left"):
            write("/dev/full")
        assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@posix
def test_a_socket_is_refused(tmp_path, monkeypatch):
    import socket

    monkeypatch.chdir(tmp_path)  # names of sockets must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(UnwritableFileError, match="neither a file nor a pipe"):
            write("socket")


@posix
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
@pytest.mark.parametrize("into", ["pipe", "file"])
def test_standard_output(tmp_path, name, into):
    script = (
        "import sys\n"
        "from graphgrain.writing import atomic_write\n"
        "print('before')\n"
        "with atomic_write(sys.argv[1]) as file:\n"
        "    file.write(b'content\\n')\n"
        "print('after')\n"
    )
    with open(tmp_path / "out", "wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", script, name],
            stdout=out if into == "file" else subprocess.PIPE,
            cwd=tmp_path,
            check=True,
        )
    got = (tmp_path / "out").read_bytes() if into == "file" else done.stdout
    assert got == b"before\ncontent\nafter\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
