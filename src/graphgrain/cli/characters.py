"""Consoles that know few characters: what they cannot show is shown as well as they can.

Output that Windows sends to a file or a pipe is in an old encoding such as cp1252, and so is every
console under ``LC_ALL=C``. There a bar of a chart would otherwise end the program.
"""

from __future__ import annotations

import codecs
import io
import sys

#: What our tables and charts use, nearly; one letter each, so that columns stay in line.
_PLAIN = {"█": "#", "━": "-", "╸": "-", "╺": "-", "·": "-", "±": "~", "²": "2", "…": "."}
_NAME = "graphgrain.plain"


def show_what_can_be_shown() -> None:
    """From now on no character makes writing to standard output or standard error fail."""
    codecs.register_error(_NAME, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NAME)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    shown = (
        _PLAIN.get(letter) or codecs.encode(letter, "ascii", "backslashreplace").decode()
        for letter in wrong
    )
    return "".join(shown), error.end
