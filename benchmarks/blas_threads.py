"""CPU time of a fit for different numbers of BLAS threads.

``python -m benchmarks.blas_threads [--molecules N]``. Each fit runs in a separate process
with 1, 2 and 8 visible BLAS threads, on an idle machine and next to a process that keeps a core
busy. The best CPU time of three runs is reported. BLAS threads that wait for cores spin, so the
time would grow with their number if a fit with one job let BLAS start them. The ratio of the
largest to the smallest time should stay below 1.3 for each fit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

VISIBLE = (1, 2, 8)

SCRIPT = """
import sys, time, warnings
import scipy.linalg, threadpoolctl
warnings.simplefilter("ignore")
threadpoolctl.threadpool_limits(int(sys.argv[1]))
import graphgrain as gg
from benchmarks.data import molecule_file
molecules, columns = gg.load_molecules(molecule_file("logs"))
y = columns["logs"]
chosen = slice(0, int(sys.argv[2]))
fits = {
    "GraphRegressor": lambda: gg.GraphRegressor(n_jobs=1).fit(molecules[chosen], y[chosen]),
    "MultiscaleLaplacian": lambda: gg.MultiscaleLaplacian(n_jobs=1).fit(molecules[chosen]),
}
fit = fits[sys.argv[3]]
gg.TreePlusPlus().fit_transform(molecules[:10])
best = float("inf")
for _ in range(int(sys.argv[4])):
    start = time.process_time()
    fit()
    best = min(best, time.process_time() - start)
print(best)
"""


def seconds(fit: str, visible: int, molecules: int, repeats: int) -> float:
    """Return the best CPU time of a fit."""
    command = [sys.executable, "-c", SCRIPT, str(visible), str(molecules), fit, str(repeats)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@contextmanager
def neighbour(busy: bool) -> Iterator[None]:
    """Keep a core busy with another process if requested."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if busy else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--molecules", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    table = Table(title=f"CPU time of fits to {given.molecules} molecules, seconds")
    headings = [f"{number} threads {where}" for where in ("idle", "busy") for number in VISIBLE]
    for heading in ("fit", *headings, "largest / smallest"):
        table.add_column(heading)
    for fit in ("GraphRegressor", "MultiscaleLaplacian"):
        times = []
        for busy in (False, True):
            with neighbour(busy):
                times += [seconds(fit, n, given.molecules, given.repeats) for n in VISIBLE]
        table.add_row(fit, *(f"{t:.2f}" for t in times), f"{max(times) / min(times):.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
