"""All pairs of similar molecules, compared with FPSim2's symmetric matrix.

    python -m benchmarks.pairs [NAME] [--min-similarity 0.8] [--count N] [--folder FOLDER] [--alone]

graphgrain: exact min-max similarity of Tree++ (the default kernel of an index). FPSim2: Tanimoto
similarity of ECFP4 folded to 2,048 bits, ``symmetric_distance_matrix``. The similarities differ, so
the numbers of pairs differ; times and memory are those of finding all pairs above the same
threshold. Every measurement runs in a separate process with two threads, and excludes building the
files. With ``--check N`` the pairs of the first N molecules are compared with the full matrix.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .data import molecules
from .process_tree import watched
from .search import build_fpsim2, build_graphgrain

JOBS = 2


def pairs_graphgrain(target: str, least: float) -> dict[str, float]:
    import graphgrain as gg

    index = gg.GraphIndex(target, n_jobs=JOBS)
    gg.pairs(index.graphs(index.ids[:10].tolist()), least)  # compile before timing
    begin, cpu = time.perf_counter(), time.process_time()
    count = sum(len(block) for block in index.pairs(least))
    return _costs(count, begin, cpu)


def pairs_fpsim2(target: str, least: float) -> dict[str, float]:
    from FPSim2 import FPSim2Engine

    engine = FPSim2Engine(target)
    begin, cpu = time.perf_counter(), time.process_time()
    matrix = engine.symmetric_distance_matrix(threshold=least, n_workers=JOBS)
    return _costs(int(matrix.nnz) // 2, begin, cpu)


def _costs(pairs: int, begin: float, cpu: float) -> dict[str, float]:
    return {
        "pairs": pairs,
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
    }


def check(source: Path, least: float, count: int) -> None:
    """Compare the pairs of some molecules with those of the full similarity matrix."""
    import graphgrain as gg

    graphs, _ = gg.load_molecules(source, errors="skip")
    graphs = graphs[:count]
    kernel = gg.TreePlusPlus(4, 1, edge_labels=True, counts="binary", similarity="minmax")
    K = kernel.fit_transform(graphs)
    expected = np.argwhere(np.triu(least <= K, 1))
    found = gg.pairs(graphs, least)
    same = np.array_equal(np.column_stack(found[:2]), expected)
    print(f"{len(found):,} pairs of {len(graphs):,} molecules, equal to all comparisons: {same}")
    if not same:
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("name", nargs="?", default="hiv")
    parser.add_argument("--min-similarity", type=float, default=0.8)
    parser.add_argument("--count", type=int)
    parser.add_argument("--folder", help="folder in which to keep and reuse files")
    parser.add_argument("--alone", action="store_true", help="without FPSim2")
    parser.add_argument("--check", type=int, metavar="N")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, target = options.child
        print(json.dumps(globals()[f"pairs_{kind}"](target, options.min_similarity)))
        return
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(options.folder or passing)
        smiles = molecules(options.name, options.count)
        source = folder / f"{options.name}-{len(smiles)}.smi"
        source.write_text("".join(f"{text} {number}\n" for number, text in enumerate(smiles)))
        if options.check:
            check(source, options.min_similarity, options.check)
        for kind, ending, build in (
            ("graphgrain", "ggi", build_graphgrain),
            ("fpsim2", "h5", build_fpsim2),
        )[: 1 if options.alone else 2]:
            target = source.with_suffix(f".{ending}")
            if not target.exists():
                build(str(source), str(target))
            cost = watched(
                [sys.executable, "-m", "benchmarks.pairs", "--min-similarity",
                 str(options.min_similarity), "--child", kind, str(target)]
            )  # fmt: skip
            found = json.loads(cost.output)
            print(
                f"{kind}: {found['pairs']:,} pairs at {options.min_similarity:g}, "
                f"{found['seconds']:.1f} s, CPU {found['cpu']:.1f} s, peak memory "
                f"{cost.peak_bytes / 2**20:,.0f} MiB",
                flush=True,
            )


if __name__ == "__main__":
    main()
