"""Time and memory of a block of code."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Measured:
    """Cost of a block; set when the block ends."""

    seconds: float = 0.0
    processor_seconds: float = 0.0  # of all threads of the process
    memory: int | None = None  # bytes; None if it cannot be measured


@contextmanager
def measured() -> Iterator[Measured]:
    """Measure the time of a block and the peak growth of the process in bytes.

    >>> from mmap import mmap
    >>> with measured() as cost:
    ...     block = mmap(-1, 50_000_000)  # pages that the process does not have yet
    ...     block[::1024] = bytes(len(block[::1024]))
    >>> cost.memory is None or cost.memory > 40_000_000
    True
    """
    cost = Measured()
    before = _begin()
    start, processor = time.perf_counter(), time.process_time()
    try:
        yield cost
    finally:
        cost.seconds = time.perf_counter() - start
        cost.processor_seconds = time.process_time() - processor
        peak = _status("VmHWM")
        if before is not None and peak is not None:
            cost.memory = max(0, peak - before)


def _begin() -> int | None:
    """Reset the peak memory of the process (Linux) and return its current size."""
    try:
        with open(f"/proc/{os.getpid()}/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return None
    return _status("VmRSS")


def _status(name: str) -> int | None:
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith(f"{name}:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None
