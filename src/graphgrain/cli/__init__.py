"""Command line interface of graphgrain."""

from __future__ import annotations


def main() -> None:
    """Entry point of the program ``graphgrain``."""
    from .interrupts import leave_at_once

    with leave_at_once():
        from .app import run

        run()
