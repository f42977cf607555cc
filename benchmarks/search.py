"""Index of graphs compared with FPSim2 on the same molecules.

    python -m benchmarks.search [NAME ...] [--count N] [--queries N] [--folder FOLDER]

Both read the same SMILES file with two processes, then answer the same queries: FPSim2 by the
Tanimoto similarity of ECFP4 folded to 2,048 bits, graphgrain by the min-max similarity of unfolded
Tree++ features. Every measurement runs in a separate process; queries are SMILES, and times include
parsing. CPU time hardly depends on the load of the machine. With ``--folder`` indexes are kept and
reused.

    python -m benchmarks.search --quality

prints the mean average precision of retrieval: drugs of the same family for each of the bundled
drugs, and actives of the HIV set for 200 of its actives.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np

from .data import molecules
from .process_tree import Cost, watched

SINGLE = 100
JOBS = 2


# -------------------------------------------------------------------- children


def build_graphgrain(source: str, target: str) -> None:
    import graphgrain as gg

    gg.GraphIndex.build(target, source, ids="name", n_jobs=JOBS, errors="skip")


def build_fpsim2(source: str, target: str) -> None:
    from FPSim2.scripts.create_fpsim2_fp_db import create_db_file_parallel

    parameters = {"radius": 2, "fpSize": 2048}
    files = [str(Path(name).resolve()) for name in (source, target)]
    with chdir(Path(target).parent):  # leaves chunks in the current folder if killed
        create_db_file_parallel(*files, "Morgan", parameters, True, JOBS)


def query_graphgrain(target: str, queries: list[str], threads: int) -> dict[str, float]:
    import graphgrain as gg

    index = gg.GraphIndex.open(target, n_jobs=threads)
    single = min(SINGLE, len(queries))
    times = {
        "one": timed(lambda: [index.search([q]) for q in queries[:SINGLE]], single),
        "many": timed(lambda: index.search(queries), len(queries)),
    }
    return times


def query_fpsim2(target: str, queries: list[str], threads: int) -> dict[str, float]:
    from FPSim2 import FPSim2Engine

    engine = FPSim2Engine(target)
    single = min(SINGLE, len(queries))

    def top(query: str) -> Any:
        return engine.top_k(query, k=10, threshold=0.0, n_workers=threads)

    return {
        "one": timed(lambda: [top(q) for q in queries[:SINGLE]], single),
        "many": timed(lambda: [top(q) for q in queries], len(queries)),
    }


def timed(call: Any, count: int) -> dict[str, float]:
    """Return milliseconds per query after a warm-up run: wall time and CPU time."""
    call()
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return {
        "ms": 1e3 * (time.perf_counter() - wall) / count,
        "cpu_ms": 1e3 * (time.process_time() - cpu) / count,
    }


def child(task: str, *arguments: str) -> Cost:
    return watched([sys.executable, "-m", "benchmarks.search", "--child", task, *arguments])


# -------------------------------------------------------------------- the comparison


def compare(name: str, count: int | None, folder: Path, asked: int) -> None:
    smiles = molecules(name, count)
    label = f"{name}-{len(smiles)}"
    source = folder / f"{label}.smi"
    source.write_text("".join(f"{text} {number}\n" for number, text in enumerate(smiles)))
    rng = np.random.default_rng(0)
    chosen = rng.choice(len(smiles), min(asked, len(smiles)), replace=False)
    queries = folder / f"{label}.queries"
    queries.write_text("\n".join(smiles[number] for number in chosen))
    targets = {"FPSim2": folder / f"{label}.h5", "graphgrain": folder / f"{label}.ggi"}
    print(f"\n## {name}, {len(smiles):,} molecules\n")
    print("| | " + " | ".join(targets) + " |\n|---|---:|---:|")
    rows: dict[str, list[str]] = {}
    for library, target in targets.items():
        record = folder / f"{label}.{library}.json"
        if not record.exists():
            cost = child(f"build_{library.lower()}", str(source), str(target))
            size = sum(
                file.stat().st_size for file in ([target] if target.is_file() else target.iterdir())
            )
            record.write_text(json.dumps([*cost[:3], size]))
        seconds, cpu, peak, size = json.loads(record.read_text())
        n = len(smiles)
        add(rows, f"creation, {JOBS} processes, s", f"{seconds:,.0f}")
        add(rows, "creation, CPU microseconds per molecule", f"{1e6 * cpu / n:,.0f}")
        add(rows, "creation, peak memory, MiB", f"{peak / 2**20:,.0f}")
        add(rows, "disk, bytes per molecule", f"{size / n:,.0f}")
        for threads in (1, 2):
            cost = child(f"query_{library.lower()}", str(target), str(queries), str(threads))
            found = json.loads(cost.output)
            words = f"{threads} thread{'s' * (threads > 1)}"
            for kind, title in (("one", "one query"), ("many", f"{asked:,} queries, per query")):
                value = found[kind]
                add(
                    rows,
                    f"{title}, {words}, ms (CPU)",
                    f"{value['ms']:.2f} ({value['cpu_ms']:.2f})",
                )
            add(rows, f"searching, peak memory, {words}, MiB", f"{cost.peak_bytes / 2**20:,.0f}")
    for title, values in rows.items():
        print(f"| {title} | {' | '.join(values)} |", flush=True)


def add(rows: dict[str, list[str]], title: str, value: str) -> None:
    rows.setdefault(title, []).append(value)


def main() -> None:
    """Parse the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=["zinc250k", "moses"])
    parser.add_argument("--count", type=int, help="only the first molecules of each file")
    parser.add_argument("--queries", type=int, default=1000, help="number of queries per batch")
    parser.add_argument("--folder", type=Path, help="folder in which to keep indexes")
    parser.add_argument(
        "--quality", action="store_true", help="measure retrieval precision instead"
    )
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        task, *arguments = options.child
        if task.startswith("query"):
            target, queries, threads = arguments
            texts = Path(queries).read_text().split()
            print(json.dumps(globals()[task](target, texts, int(threads))))
        else:
            globals()[task](*arguments)
    elif options.quality:
        from .retrieval import print_quality

        print_quality()
    else:
        with tempfile.TemporaryDirectory() as passing:
            folder = options.folder or Path(passing)
            folder.mkdir(exist_ok=True)
            for name in options.names:
                compare(name, options.count, folder, options.queries)


if __name__ == "__main__":
    main()
