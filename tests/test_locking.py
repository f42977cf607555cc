"""One writer at a time, on every system; Windows by a stand-in for its module."""

from __future__ import annotations

import errno
import os
import sys
import threading
from types import SimpleNamespace

import pytest

from graphgrain import locking
from graphgrain.errors import UnwritableFileError
from graphgrain.locking import FAR, locked


class Msvcrt(SimpleNamespace):
    """Locks bytes as Windows does: at the position of the file, against everybody else's."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self):
        super().__init__(taken={}, mutex=threading.Lock())

    def locking(self, descriptor, mode, count):
        assert count == 1
        place = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR))
        assert place[1] == FAR
        with self.mutex:
            if mode == self.LK_NBLCK:
                if place in self.taken:
                    raise OSError(errno.EACCES, "Permission denied")
                self.taken[place] = descriptor
            elif self.taken.pop(place, None) != descriptor:
                raise OSError(errno.EACCES, "Permission denied")


@pytest.fixture(params=["this system", "Windows"])
def system(request, monkeypatch):
    if request.param == "Windows":
        monkeypatch.setattr(locking, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", Msvcrt())
    return request.param


def test_one_at_a_time(system, tmp_path):
    with open(tmp_path / "lock", "a+b") as one, open(tmp_path / "lock", "a+b") as two:
        with locked(one.fileno(), wait=False) as first:
            assert first
            with locked(two.fileno(), wait=False) as second:
                assert not second
        with locked(two.fileno(), wait=False) as second:
            assert second


def test_waiting_for_the_other(system, tmp_path):
    order = []
    with open(tmp_path / "lock", "a+b") as one, open(tmp_path / "lock", "a+b") as two:

        def wait():
            with locked(two.fileno()) as held:
                order.append(held)

        with locked(one.fileno()):
            thread = threading.Thread(target=wait)
            thread.start()
            thread.join(0.2)
            order.append("first")
        thread.join(30)
    assert order == ["first", True]


def test_an_exception_gives_the_lock_back(system, tmp_path):
    with open(tmp_path / "lock", "a+b") as file:
        with pytest.raises(RuntimeError), locked(file.fileno()):
            raise RuntimeError
        with locked(file.fileno(), wait=False) as held:
            assert held


def test_a_file_system_without_locks(monkeypatch, tmp_path):
    def refuse(*arguments):
        raise OSError(errno.ENOLCK, "No locks available")

    windows = Msvcrt()
    windows.locking = refuse
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    posix = SimpleNamespace(flock=refuse, LOCK_EX=2, LOCK_NB=4, LOCK_UN=8)
    for module in (posix, None):
        monkeypatch.setattr(locking, "fcntl", module)
        with (
            open(tmp_path / "lock", "a+b") as file,
            pytest.raises(UnwritableFileError, match="No locks available"),
            locked(file.fileno()),
        ):
            raise AssertionError("not locked")
