"""Cost per molecule of each stage, extrapolated to 10^6 to 10^9 molecules.

    python -m benchmarks.stage_costs [--data zinc250k] [--molecules 10000]

CPU time of one process, best of three runs, and size of the files.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import molecule_file

RUNS = 3


def cpu_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    best, result = np.inf, None
    for _ in range(RUNS):
        begin = time.process_time()
        result = call()
        best = min(best, time.process_time() - begin)
    return best, result


def _span(hours: float) -> str:
    return f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:,.1f} min"


def main() -> None:
    from sklearn.linear_model import SGDClassifier

    import graphgrain as gg
    from graphgrain.graphs.files.molecules import MoleculeFile
    from graphgrain.scaling.feature_shards import (
        feature_matrix,
        hashing_kernel,
        read_shard,
        write_shard,
    )

    parser = argparse.ArgumentParser(prog="python -m benchmarks.stage_costs", description=__doc__)
    parser.add_argument("--data", default="zinc250k", help="file of molecules")
    parser.add_argument("--molecules", type=int, default=10_000)
    options = parser.parse_args()
    file = molecule_file(options.data)

    def lines() -> list[str]:
        records = MoleculeFile.opened(file).records
        return [record.structure for record in islice(records, options.molecules)]

    seconds: dict[str, float] = {}
    seconds["read the text"], smiles = cpu_seconds(lines)
    seconds["parse, sanitise, convert to graphs"], graphs = cpu_seconds(
        lambda: gg.from_smiles(smiles, errors="skip")
    )
    kernel = hashing_kernel(gg.TreePlusPlus(), 2**20)
    feature_matrix(kernel, graphs[:10])
    seconds["Tree++ features (6, 3)"], X = cpu_seconds(lambda: feature_matrix(kernel, graphs))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "shard.parquet")
        seconds["write the shard, with checksums"], _ = cpu_seconds(
            lambda: write_shard(path, {}, X, {})
        )
        size = path.stat().st_size
        seconds["read the shard"], _ = cpu_seconds(lambda: read_shard(path, X.shape[1]))
    y = np.arange(X.shape[0]) % 2
    model = SGDClassifier(random_state=0).partial_fit(X, y, classes=[0, 1])
    seconds["train on it (SGD, one pass)"], _ = cpu_seconds(lambda: model.partial_fit(X, y))

    count = X.shape[0]
    print("| stage | us CPU per molecule |\n|---|---|")
    for stage, value in seconds.items():
        print(f"| {stage} | {1e6 * value / count:.1f} |")
    made = sum(list(seconds.values())[:4]) / count
    per = size / count
    print(f"\nfrom text to shards: {1e6 * made:.0f} us and {per:,.0f} bytes per molecule\n")
    print("| molecules | core hours | on 2 cores | on 64 cores | on 1,024 cores | disk |")
    print("|---|---|---|---|---|---|")
    for molecules in (10**6, 10**7, 10**8, 10**9):
        hours = molecules * made / 3600
        spans = [_span(hours / cores) for cores in (2, 64, 1024)]
        print(
            f"| {molecules:,} | {hours:,.1f} | {' | '.join(spans)} | "
            f"{molecules * per / 1e9:,.0f} GB |"
        )


if __name__ == "__main__":
    main()
