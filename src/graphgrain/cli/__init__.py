"""The command line: arguments in, calls to the other rooms, answers out."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the program ``graphgrain``."""
    from . import demo, evaluate, inspect, report, reproduce  # noqa: F401 - they add commands
    from .app import app, options

    # Wherever it stands: an error is often the moment to add it at the end.
    if "--debug" in sys.argv[1:]:
        sys.argv.remove("--debug")
        options.debug = True
    app()
