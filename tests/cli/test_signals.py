"""Signals end a command and all of its processes; what is finished is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import graphgrain as gg

from .running import SOURCE, call

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="looks for processes as Linux shows them"
)
pytest.importorskip("rdkit")

COMMANDS = {
    "features": ("--shard-size", "200"),
    "index": (),
}


@pytest.fixture(scope="module")
def molecules(tmp_path_factory):
    data = Path(gg.__file__).parent / "graphs" / "datasets" / "data" / "drugs.csv"
    header, *lines = data.read_text().splitlines()
    path = tmp_path_factory.mktemp("signals") / "many.csv"
    path.write_text("\n".join([header, *(lines * 100)]) + "\n")
    return path


def children(parent: int) -> set[int]:
    """The processes below a process, at any depth."""
    above = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except OSError:
                continue
            fields = text.rpartition(")")[2].split()
            if fields[0] != "Z":
                above[int(entry.name)] = int(fields[1])
    found, more = set(), {parent}
    while more:
        more = {child for child, its_parent in above.items() if its_parent in more} - found
        found |= more
    return found


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("features", signal.SIGTERM),  # Ctrl-C has the same handler
        # both have the same workers
        pytest.param("index", signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_no_process_is_left(molecules, tmp_path, name, number):
    target = tmp_path / "made"
    process = subprocess.Popen(
        [sys.executable, "-m", "graphgrain", name, molecules, "-o", target, "-j2", *COMMANDS[name]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    try:
        # Workers are at work: two of them, and the process that tracks their semaphores.
        wait_until(lambda: len(children(process.pid)) >= 3 or process.poll() is not None)
        if name == "features":
            wait_until(lambda: any(target.glob("shard-*.parquet")) or process.poll() is not None)
        assert process.poll() is None
        below = children(process.pid)
        process.send_signal(number)
        # Ends only when nobody holds the other end of these pipes any more.
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    wait_until(lambda: not any(map(alive, below)))
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 128 + number
        assert b"Interrupted." in errors
        assert b"Traceback" not in errors
    if name == "features":
        kept = {path.name: path.stat().st_mtime_ns for path in target.glob("shard-*.parquet")}
        assert kept
        few = molecules.with_name("few.csv")
        few.write_text("".join(molecules.read_text().splitlines(keepends=True)[:401]))
        call("features", few, "-o", target, "--shard-size", 200, "-j", 1)
        first = target / "shard-00000.parquet"
        assert first.stat().st_mtime_ns == kept.get(first.name, first.stat().st_mtime_ns)


def test_sigterm_during_an_import_ends_at_once(tmp_path):
    script = (
        "import os, signal, sys\n"
        "class Watch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.meta_path.insert(0, Watch())\n"
        "from graphgrain.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "--help"],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 143
    assert "Traceback" not in done.stderr


def test_an_interrupt_that_is_swallowed_ends_the_command_all_the_same():
    script = (
        "import os, signal, time\n"
        "from graphgrain.cli import interrupts\n"
        "interrupts._PATIENCE = 0.3\n"
        "class Deaf:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        time.sleep(0.01)\n"
        "with interrupts.leave_at_once():\n"
        "    interrupts.raise_from_now_on()\n"
        "    Deaf()\n"
        "    time.sleep(60)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert done.returncode == 143
    assert "Exception ignored" in done.stderr  # it was swallowed
    assert "Interrupted." in done.stderr


@pytest.mark.parametrize("stream", ["1", "2", "0"])
def test_streams_that_are_closed_from_the_start(stream):
    done = subprocess.run(
        f"{sys.executable} -m graphgrain info drugs {stream}>&-",
        shell=True,
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if stream == "1":
        assert "Standard output is closed" in done.stderr
    else:
        assert "vertices per graph" in done.stdout
