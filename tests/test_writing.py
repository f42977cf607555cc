"""Files that are either whole or not there."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from graphgrain.errors import UnwritableFileError
from graphgrain.writing import atomic_write


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with atomic_write(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_whatever_stops_it_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def stopped():
        with atomic_write(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        stopped()
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


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


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(UnwritableFileError, match="No space left on device"),
        atomic_write(tmp_path / "a.txt") as file,
    ):
        file.write(b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("graphgrain.writing.to_disk", full)
    with (
        pytest.raises(UnwritableFileError, match=r"Make room there, or choose another place\."),
        atomic_write(tmp_path / "a.txt") as file,
    ):
        file.write(b"x")
    assert list(tmp_path.iterdir()) == []
