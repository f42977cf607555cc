"""Standard output and standard error of all commands.

Names in files are untrusted: an escape code could move the cursor, change the title of the window
or hide a line. Control characters are therefore replaced, except those of the console itself.

On Windows, files and pipes use an old encoding such as cp1252, and ``LC_ALL=C`` limits consoles to
ASCII. Characters that cannot be encoded are replaced instead of raising an error.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.segment import Segment

if TYPE_CHECKING:
    from pathlib import Path

#: Console width for files and pipes, so that lines are not wrapped.
UNFOLDED = 10_000
#: Error numbers of a closed pipe; Windows reports an invalid argument.
_CLOSED = (errno.EPIPE, errno.EINVAL) if sys.platform == "win32" else (errno.EPIPE,)
#: ASCII replacements for tables and charts; one character each, to keep columns aligned.
_PLAIN = str.maketrans("█━╸╺·±²…", "#----~2.")
_HANDLER = "graphgrain.plain"
#: Control characters, and characters that change the text direction.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class SafeConsole(Console):
    """A console that replaces control characters in text.

    >>> SafeConsole().print("\\x1b[2J is shown")
    �[2J is shown
    """

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Render, replacing control characters other than the console's own."""
        for segment in super().render(renderable, options):
            if segment.control or not _CONTROL.search(segment.text):
                yield segment
            else:
                yield Segment(_CONTROL.sub("\ufffd", segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Raise the error of a closed pipe, which ends the program."""
        raise


def out() -> Console:
    """Return the console for answers: standard output, not wrapped in files and pipes."""
    return SafeConsole(width=None if sys.stdout.isatty() else UNFOLDED, highlight=False)


def err() -> Console:
    """Return the console for messages: standard error."""
    return SafeConsole(stderr=True, highlight=False)


def answer(value: Any) -> None:
    """Print JSON to standard output."""
    print(json.dumps(value, indent=2, allow_nan=False))


def note(text: str) -> None:
    """Print a note to standard error."""
    err().print(f"[yellow]Note:[/yellow] {escape(text)}")


def written(what: str, output: Path) -> None:
    """Print where a file was written, to standard error."""
    err().print(f"{what} written to [bold]{escape(str(output))}[/bold].")


def prepare_streams() -> None:
    """Make standard streams that are closed, or cannot encode all characters, usable.

    A stream that was closed before the start (``>&-``) becomes the null device. Otherwise the next
    opened file would get its descriptor, and anything a library prints.
    """
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:
        stream = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: SIM115
        setattr(sys, name, stream)
    codecs.register_error(_HANDLER, _plain)
    for standard in (sys.stdout, sys.stderr):
        if isinstance(standard, io.TextIOWrapper):
            standard.reconfigure(errors=_HANDLER)
    if "stdout" in closed:
        note("Standard output is closed: no answer is shown.")


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace characters that a stream cannot encode."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end].translate(_PLAIN)
    return wrong.encode("ascii", "backslashreplace").decode(), error.end


def is_of_output(error: Exception) -> bool:
    """Return whether writing to standard output failed; such errors have no file name."""
    codes = (*_CLOSED, errno.ENOSPC, errno.EIO)
    return isinstance(error, OSError) and error.errno in codes and error.filename is None


def report_unwritable_output(error: OSError) -> int:
    """Report that standard output cannot be written; return the exit code."""
    with suppress(OSError, ValueError):  # no other attempt at exit; in tests it is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno in _CLOSED:
        return 0  # the reader closed the pipe, as in `graphgrain ... | head`
    reason = escape(error.strerror or str(error))
    err().print(f"[red]Error:[/red] The answer cannot be written to standard output: {reason}.")
    return 2
