"""Molecules that cannot be read: an error or a warning, never silence."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from ...errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError

#: How many a warning names.
_NAMED = 20


class Unreadable:
    """Collects what could not be read.

    Parameters
    ----------
    errors : {"raise", "skip"}
        Whether the first is an error, or all together are a warning at the end.
    """

    def __init__(self, errors: str) -> None:
        if errors not in ("raise", "skip"):
            raise InvalidParameterError(f"errors must be 'raise' or 'skip'; got {errors!r}.")
        self.errors = errors
        self.count = 0
        self.first: list[str] = []

    def add(self, problems: Sequence[str]) -> None:
        """Where each is, and why it cannot be read."""
        if problems and self.errors == "raise":
            several = f" (and at least {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise InvalidGraphError(
                f"Every molecule must be readable; {problems[0]}{several}. Correct it, or say "
                "errors='skip' (--errors skip) to go on without."
            )
        self.count += len(problems)
        self.first += problems[: _NAMED - len(self.first)]

    def warn(self, total: int, stacklevel: int = 3) -> None:
        """Tell what was left out, if anything."""
        if self.count:
            warnings.warn(
                f"{self.count} of {total} molecules could not be read and are left out: "
                + "; ".join(self.first)
                + ("; ..." if self.count > len(self.first) else ""),
                GraphgrainWarning,
                stacklevel=stacklevel,
            )
