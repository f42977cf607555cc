"""Is Dask's scheduler the bottleneck? Many tasks that do nothing, then many small real ones.

    python -m benchmarks.scheduler [--tasks 20000] [--blocks 400]

1. Tasks that do nothing: how many a second the scheduler hands out, on a cluster of processes.
2. The same small file of molecules as if it were many files: what a block costs on the cluster,
   against what its molecules cost in this process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.data import molecules


def nothing(number: int) -> int:
    return number


def main() -> None:
    import distributed

    import graphgrain as gg

    parser = argparse.ArgumentParser(prog="python -m benchmarks.scheduler", description=__doc__)
    parser.add_argument("--tasks", type=int, default=20_000, help="tasks that do nothing")
    parser.add_argument("--blocks", type=int, default=400, help="copies of the file")
    parser.add_argument("--molecules", type=int, default=50, help="molecules of the file")
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
        begin = time.perf_counter()
        client.gather(client.map(nothing, range(options.tasks)))
        rate = options.tasks / (time.perf_counter() - begin)
        print(f"{options.tasks:,} tasks that do nothing: {rate:,.0f} tasks/s")

        smiles = molecules("zinc250k", options.molecules)
        files = []
        for number in range(options.blocks):
            files.append(Path(folder, f"{number}.smi"))
            files[-1].write_text("\n".join(smiles) + "\n")
        kernel = gg.TreePlusPlus(output="features", n_features=2**20)
        kernel.transform(gg.from_smiles(smiles))
        begin = time.perf_counter()
        for _ in range(20):
            kernel.transform(gg.from_smiles(smiles))
        alone = (time.perf_counter() - begin) / 20
        X = gg.dask_features(files, gg.TreePlusPlus())
        sums = [(block.sum)() for block in X.to_delayed().ravel().tolist()]
        client.gather(client.compute(sums[: 2 * options.workers]))
        begin = time.perf_counter()
        client.gather(client.compute(sums))
        block = (time.perf_counter() - begin) * options.workers / options.blocks
        print(
            f"{options.blocks} blocks of {options.molecules} molecules: {1e3 * block:.1f} ms each "
            f"per worker, {1e3 * alone:.1f} ms in one process without Dask"
        )
        large = alone / options.molecules * 20_000
        print(
            f"a block of 20,000 molecules: {large:.1f} s, so {rate * large:,.0f} cores can be fed"
        )


if __name__ == "__main__":
    main()
