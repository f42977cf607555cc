"""Overhead of Dask's scheduler, with empty tasks and with small blocks of molecules.

    python -m benchmarks.scheduler [--tasks 20000] [--blocks 400]

1. Empty tasks: number of tasks per second on a cluster of processes.
2. A small file of molecules, treated as many files: cost of a block on the cluster, compared with
   the cost of its molecules in this process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.data import molecules


def nothing(number: int) -> int:
    return number


def cluster_cpu() -> float:
    """Return the CPU time of this process (scheduler and client) and of all workers."""
    here = psutil.Process()
    return sum(sum(p.cpu_times()[:2]) for p in [here, *here.children(recursive=True)])


def main() -> None:
    import distributed

    import graphgrain as gg

    parser = argparse.ArgumentParser(prog="python -m benchmarks.scheduler", description=__doc__)
    parser.add_argument("--tasks", type=int, default=20_000, help="number of empty tasks")
    parser.add_argument("--blocks", type=int, default=400, help="number of copies of the file")
    parser.add_argument("--molecules", type=int, default=50, help="number of molecules in the file")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        distributed.LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.gather(client.map(nothing, range(-100, 0)))
        begin, cpu = time.perf_counter(), time.process_time()
        client.gather(client.map(nothing, range(options.tasks)))
        wall = options.tasks / (time.perf_counter() - begin)
        rate = options.tasks / (time.process_time() - cpu)
        print(
            f"{options.tasks:,} empty tasks: {wall:,.0f} tasks/s in wall time, "
            f"{rate:,.0f} per second of CPU time of scheduler and client together"
        )

        smiles = molecules("zinc250k", options.molecules)
        files = []
        for number in range(options.blocks):
            files.append(Path(folder, f"{number}.smi"))
            files[-1].write_text("\n".join(smiles) + "\n")
        kernel = gg.TreePlusPlus(output="features", n_features=2**20)
        kernel.transform(gg.from_smiles(smiles))
        cpu = time.process_time()
        for _ in range(20):
            kernel.transform(gg.from_smiles(smiles))
        work = (time.process_time() - cpu) / 20
        X = gg.dask_features(files, gg.TreePlusPlus())
        sums = [block.sum() for block in X.to_delayed().ravel().tolist()]
        client.gather(client.compute(sums[: 2 * options.workers]))
        before = cluster_cpu()
        client.gather(client.compute(sums))
        block = (cluster_cpu() - before) / options.blocks
        print(
            f"{options.blocks} blocks of {options.molecules} molecules: {1e3 * block:.1f} ms of "
            f"CPU time each, scheduler included; {1e3 * work:.1f} ms without Dask"
        )
        large = work / options.molecules * 20_000
        print(
            f"a block of 20,000 molecules is {large:.1f} s of work: the scheduler serves "
            f"{wall * large:,.0f} cores at the current load, {rate * large:,.0f} with a "
            "dedicated core"
        )


if __name__ == "__main__":
    main()
