"""What consoles show: nothing that commands them, and of the rest as much as they can.

Names in files come from anywhere; one that holds an escape code could move the cursor, change the
title of the window or hide a line. Only the program itself may do such things.

Output that Windows sends to a file or a pipe is in an old encoding such as cp1252, and so is every
console under ``LC_ALL=C``. There a bar of a chart would otherwise end the program.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

#: What our tables and charts use, nearly; one letter each, so that columns stay in line.
_PLAIN = {"█": "#", "━": "-", "╸": "-", "╺": "-", "·": "-", "±": "~", "²": "2", "…": "."}
_NAME = "graphgrain.plain"
#: Characters that are commands to a terminal, and those that turn the direction of what follows.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class SafeConsole(Console):
    """A console on which the texts that it is given are letters, never commands.

    Examples
    --------
    >>> from graphgrain.cli.characters import SafeConsole
    >>> SafeConsole().print("\\x1b[2J is shown")
    �[2J is shown
    """

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """The pieces of what is shown, commands other than the console's own replaced."""
        for segment in super().render(renderable, options):
            if segment.control or not _COMMANDS.search(segment.text):
                yield segment
            else:
                yield Segment(_COMMANDS.sub("\ufffd", segment.text), segment.style)


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
