"""The command line: arguments in, calls to the other packages, answers out."""

from __future__ import annotations


def main() -> None:
    """Entry point of the program ``graphgrain``."""
    from .interrupts import leave_at_once

    with leave_at_once():
        from .app import run

        run()
