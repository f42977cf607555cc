"""Peak memory of a fresh process that computes one Gram matrix.

``python -m benchmarks.memory tree++ NCI1`` prints it in MiB.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path


def peak_memory(kernel: str, data_set: str, n_jobs: int) -> float:
    """Return the peak MiB of a new process that computes the Gram matrix of a data set."""
    arguments = [sys.executable, "-m", "benchmarks.memory", kernel, data_set, str(n_jobs)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return float(done.stdout)


def own_peak() -> float:
    """Return the peak memory of this process in MiB.

    Uses VmHWM on Linux, because ru_maxrss of a new process starts with that of its parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(lines["VmHWM"].split()[0]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def reset_peak() -> float:
    """Reset the peak memory of this process on Linux; return the current MiB."""
    forget = Path("/proc/self/clear_refs")
    if forget.exists():
        forget.write_text("5")
    return own_peak()


def main(kernel: str, data_set: str, n_jobs: str = "2") -> None:
    """Compute one Gram matrix and print the peak."""
    from graphgrain.kernels.registry import KERNELS

    from .data import load

    KERNELS[kernel].kernel(n_jobs=int(n_jobs)).fit_transform(load(data_set))
    print(own_peak())


if __name__ == "__main__":
    main(*sys.argv[1:])
