"""The progress bar of long work, on standard error."""

from __future__ import annotations

from typing import Any


def progress_bar(
    verbose: int,
    total: int | None,
    unit: str = "molecules",
    description: str | None = None,
    delay: float = 0.0,
) -> Any:
    """A bar that counts something, or nothing; it appears after ``delay`` seconds."""
    from tqdm import tqdm

    return tqdm(
        desc=description,
        total=total,
        unit=f" {unit}",
        unit_scale=True,
        delay=delay,
        disable=not verbose,
    )
