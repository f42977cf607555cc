"""The command line: arguments in, calls to the other rooms, answers out."""

from __future__ import annotations

import sys
from typing import Any


def application() -> Any:
    """The Typer application with all its commands."""
    from . import data, demo, evaluate, report, reproduce  # noqa: F401 - they add themselves
    from .app import app

    return app


def main() -> None:
    """Entry point of the program ``graphgrain``."""
    app = application()
    # Wherever it stands: an error is often the moment to add it at the end.
    if "--debug" in sys.argv[1:]:
        from .app import options

        sys.argv.remove("--debug")
        options.debug = True
    app()
