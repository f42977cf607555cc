"""Compiling: with a cache on disk where there can be one, and without where there cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from filelock import FileLock, Timeout

from graphgrain.core import compiling

#: As root every folder can be written, so the refusal of the system is played.
UNWRITABLE = """
from numba.core import caching
def refuse(self):
    raise PermissionError(13, "Permission denied", self.get_cache_path())
caching._CacheLocator.ensure_cache_path = refuse
"""


def output(script: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.slow
def test_read_only_installation_without_a_home():
    use = """
import numpy as np, graphgrain as gg
from graphgrain.core import attribution, counting, gram, multiscale
from graphgrain.core.counting import find_columns
hashes = np.array([3, 1, 2], dtype=np.uint64)
print(find_columns(hashes, np.array([1, 3], dtype=np.uint64)).tolist(), gg.TreePlusPlus())
"""
    assert output(UNWRITABLE + use) == "[1, 0, -1] TreePlusPlus()\n"
    version = "from graphgrain.cli import main; import sys; sys.argv[1:] = ['--version']; main()"
    assert output(UNWRITABLE + version) == output(version)


COUNTING = """
import os, sys, time
from numba.core import event
class Listener(event.Listener):
    seen = 0
    def on_start(self, event):
        self.seen += event.data["dispatcher"].py_func.__module__.startswith("graphgrain.")
    def on_end(self, event):
        pass
listener = Listener()
event.register("numba:compile", listener)
import numpy as np
from graphgrain.core.counting import count_hashes, find_columns
print("ready", flush=True)
sys.stdin.readline()
hashes = np.array([3, 1, 2], dtype=np.uint64)
assert find_columns(hashes, np.array([1, 3], dtype=np.uint64)).tolist() == [1, 0, -1]
counted = count_hashes(np.array([0, 3]), np.array([5, 7, 5], dtype=np.uint64))
assert sorted(counted.counts.tolist()) == [1, 2]
print(listener.seen, flush=True)
"""


@pytest.mark.slow
def test_processes_that_start_together_compile_once(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", COUNTING],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:  # and now all at once
        process.stdin.write("go\n")
        process.stdin.flush()
    counts = [int(process.communicate(timeout=300)[0]) for process in running]
    assert all(process.returncode == 0 for process in running)
    assert sum(counts) == len(list(tmp_path.rglob("*.nbc"))) > 0


def test_the_lock_of_a_module(tmp_path):
    path = tmp_path / "module.lock"

    def is_free() -> bool:
        try:
            with FileLock(path, timeout=0):
                return True
        except Timeout:
            return False

    def interrupted() -> None:
        with compiling._held(str(path)):
            with compiling._held(str(path)):  # a function that calls one of its module
                assert not is_free()
            assert not is_free()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert is_free()
    assert compiling._holding == set()
    with compiling._held(str(tmp_path / "nowhere" / "module.lock")):
        pass  # without a lock, as Numba does


def test_notice_of_a_compilation_that_takes_a_while(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "_PATIENCE", 0.2)
    notice = compiling._Notice()

    def said(module: str, seconds: float) -> str:
        function = SimpleNamespace(__module__=module)
        event = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})
        notice.on_start(event), notice.on_start(event)
        time.sleep(seconds)
        notice.on_end(event), notice.on_end(event)
        return capsys.readouterr().err

    assert said("somebody.else", 0.5) == ""
    assert said("graphgrain.core.gram", 0.0) == ""
    assert said("graphgrain.core.gram", 0.6).startswith("graphgrain: compiling")
    assert said("graphgrain.core.gram", 0.6) == ""  # once is enough
