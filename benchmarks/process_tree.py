"""Time, CPU time and peak memory of a command with all its processes (Linux)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from typing import NamedTuple


class Cost(NamedTuple):
    """Cost of a command and of the processes it starts."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int  # shared memory counted once
    output: str


def watched(command: Sequence[str]) -> Cost:
    """Run a command and sample its processes ten times a second."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    cpu: dict[int, float] = {}
    peak = 0
    while process.poll() is None:
        now = 0
        for pid in _tree(process.pid):
            cpu[pid] = max(cpu.get(pid, 0.0), _cpu_seconds(pid))
            now += _memory(pid)
        peak = max(peak, now)
        time.sleep(0.1)
    assert process.stdout is not None
    output = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(time.perf_counter() - begin, sum(cpu.values()), peak, output)


def _tree(pid: int) -> list[int]:
    found = [pid]
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                for child in file.read().split():
                    found += _tree(int(child))
    except OSError:
        pass
    return found


def _cpu_seconds(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def _memory(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except OSError:
        return 0
