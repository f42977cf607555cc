"""How the program starts: help, versions, imports, where its output goes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphgrain as gg
from graphgrain.cli.app import COMMANDS

from .running import SOURCE, call, program, started, words


def test_every_command_has_help_with_examples():
    assert all(name in call("--help").output for name in COMMANDS)
    for name in COMMANDS:
        text = call(name, "--help").output
        assert "Examples" in text
        assert f"$ graphgrain {name}" in words(text)


def test_version():
    assert call("--version").output == f"graphgrain {gg.__version__}\n"


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["evaluate", "--seed", "x"]])
def test_what_needs_no_computation_imports_none_of_it(arguments):
    script = (
        "import atexit\natexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"
    )
    done = program(*arguments, script=script, capture_output=True)
    assert done.returncode == (2 if len(arguments) > 1 else 0)
    assert "graphgrain" in done.stdout or "Invalid value for '--seed'" in done.stderr
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "typer" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "numba", "jinja2", "pooch"}


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
@pytest.mark.parametrize("module", ["typer", "numpy", "sklearn", "numba"])
def test_ctrl_c_during_an_import_ends_quietly(module, here):
    script = (
        "import os, signal\n"
        "class Watch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Watch())\n"
    )
    done = program("evaluate", "drugs", script=script, capture_output=True, cwd=here)
    assert done.returncode == 130
    assert done.stderr.strip() == "Interrupted."
    assert not list(here.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["info"], ["info", "--json"]])
def test_standard_output_that_takes_nothing(arguments):
    expected = "Error: The answer cannot be written to standard output: No space left on device."
    with open("/dev/full", "w") as full:
        code, errors = started(*arguments, stdout=full)
        assert (code, words(errors)) == (2, expected)
    if arguments == ["info"]:  # nor does the interpreter say more at its end
        with open("/dev/full", "w") as full:
            done = program(*arguments, stdout=full, stderr=subprocess.PIPE)
        assert (done.returncode, words(done.stderr)) == (2, expected)


@pytest.mark.skipif(os.name == "nt", reason="needs a pipe")
@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"]])
def test_a_reader_that_has_seen_enough(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    if arguments == ["info"]:
        done = program(*arguments, stdout=writing, stderr=subprocess.PIPE)
        assert (done.returncode, done.stderr) == (0, "")
    with open(writing, "w") as stream:
        assert started(*arguments, stdout=stream) == (0, "")


def test_the_installed_program_answers():
    done = subprocess.run(
        [sys.executable, "-m", "graphgrain", "info", "nowhere", "--debug"],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "InvalidParameterError" in done.stderr
    assert "Traceback" in done.stderr  # --debug, at the end of the line
