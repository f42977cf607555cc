"""How the tests run the program."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli import app as shared
from graphgrain.cli.app import app

SOURCE = str(Path(gg.__file__).parents[1])


def call(*arguments: object, code: int = 0):
    shared._debug = False
    result = CliRunner().invoke(app, [str(word) for word in arguments])
    if result.exit_code != code:
        raise AssertionError(f"exit code {result.exit_code}\n{result.output}") from result.exception
    return result


def words(text: str) -> str:
    """Text as one line, however it was folded and framed."""
    return " ".join(text.replace("│", " ").split())


def fails(*arguments: object) -> str:
    """The message of a call with bad input."""
    result = call(*arguments, code=2)
    assert "Traceback" not in result.output
    return words(result.stderr)


def started(*arguments: str, stdout: Any) -> tuple[int, str]:
    """The exit code and standard error of the whole program, run here, with this output."""
    errors = io.StringIO()
    with (
        patch.object(sys, "argv", ["graphgrain", *arguments]),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(errors),
    ):
        try:
            shared.run()
        except SystemExit as end:
            return int(end.code or 0), errors.getvalue()
    return 0, errors.getvalue()


def program(*arguments: str, script: str = "", **settings):
    """Run the program in a process of its own, after a script if there is one."""
    start = f"import sys\n{script}\nfrom graphgrain.cli import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        **{"env": {**os.environ, "PYTHONPATH": SOURCE}, "text": True, "check": False, **settings},
    )
