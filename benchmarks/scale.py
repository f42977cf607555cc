"""From SMILES to features: throughput and peak memory at increasing sizes.

    python -m benchmarks.scale [--jobs 2] [--sizes zinc250k:25000,zinc250k,moses:250000,moses]

Each row is a separate process with the same number of workers. It reads the same file in chunks of
2,000 molecules and returns sparse features to the parent, which discards them. "us CPU" is the CPU
time of parent and workers per molecule, which hardly depends on the load of the machine; "per s" is
the throughput in wall time; "MiB" is the peak memory of the largest process. RDKit's Morgan
fingerprints and scikit-fingerprints' ECFP have radius 2 and 2,048 counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from benchmarks.data import molecule_file

PIECE = 2_000
SIZES = "zinc250k:25000,zinc250k,moses:250000,moses"


def smiles_of(name: str, count: int | None) -> Iterator[str]:
    from graphgrain.graphs.files.molecules import MoleculeFile

    records = MoleculeFile.opened(molecule_file(name)).records
    return (record.structure for record in islice(records, count))


def pieces(smiles: Iterator[str], size: int) -> Iterator[list[str]]:
    return iter(lambda: list(islice(smiles, size)), [])


def kernel_features(kernel: Any, smiles: list[str]) -> Any:
    import graphgrain as gg

    return kernel.transform(gg.from_smiles(smiles, errors="skip"))


def morgan_features(smiles: list[str]) -> Any:
    import numpy as np
    from rdkit import Chem, rdBase
    from rdkit.Chem import rdFingerprintGenerator
    from scipy.sparse import csr_array

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    indptr, indices, values = [0], [], []
    with rdBase.BlockLogs():
        for text in smiles:
            molecule = Chem.MolFromSmiles(text)
            elements = (
                {}
                if molecule is None
                else generator.GetCountFingerprint(molecule).GetNonzeroElements()
            )
            indices.extend(elements)
            values.extend(elements.values())
            indptr.append(len(indices))
    return csr_array((np.array(values), indices, indptr), shape=(len(smiles), 2048))


def in_processes(function: Callable[[list[str]], Any]) -> Callable[..., Iterator[Any]]:
    def run(smiles: Iterator[str], jobs: int) -> Iterator[Any]:
        from graphgrain.graphs.processes import map_processes

        return map_processes(function, pieces(smiles, PIECE), jobs)

    return run


def skfp_features(smiles: Iterator[str], jobs: int) -> Iterator[Any]:
    """Compute ECFP; the transformer distributes its input over its own processes."""
    from skfp.fingerprints import ECFPFingerprint

    transformer = ECFPFingerprint(count=True, sparse=True, n_jobs=jobs)
    for piece in pieces(smiles, PIECE * jobs):
        yield transformer.transform(piece)


def contenders() -> dict[str, Callable[..., Iterator[Any]]]:
    import graphgrain as gg

    hashed = {"output": "features", "n_features": 2**20}
    kernels = {
        "Tree++ (default)": gg.TreePlusPlus(**hashed),
        "Tree++ (4, 1)": gg.TreePlusPlus(path_depth=4, tree_depth=1, **hashed),
        "WL (2)": gg.WeisfeilerLehman(n_iter=2, **hashed),
    }
    return {
        **{name: in_processes(partial(kernel_features, k)) for name, k in kernels.items()},
        "ECFP, scikit-fingerprints": skfp_features,
        "Morgan, RDKit": in_processes(morgan_features),
    }


def measure(contender: str, name: str, count: int | None, jobs: int) -> dict[str, Any]:
    """Measure one method in this process."""
    run = contenders()[contender]
    for _ in run(smiles_of(name, 4 * jobs * PIECE), jobs):  # warm up
        pass
    warm, begin = _cpu(), time.perf_counter()
    rows = entries = 0
    for X in run(smiles_of(name, count), jobs):
        rows += X.shape[0]
        entries += X.nnz
    seconds, cpu = time.perf_counter() - begin, _cpu() - warm
    memory = max(_peak(process) for process in _processes())
    return {
        "data": name,
        "molecules": rows,
        "method": contender,
        "features": entries / max(rows, 1),
        "us_cpu": 1e6 * cpu / max(rows, 1),
        "per_second": rows / seconds,
        "mib": memory / 2**20,
    }


def _processes() -> list[psutil.Process]:
    here = psutil.Process()
    return [here, *here.children(recursive=True)]


def _cpu() -> float:
    """Return the CPU seconds of this process and its workers, which are all alive."""
    return sum(sum(process.cpu_times()[:2]) for process in _processes())


def _peak(process: psutil.Process) -> int:
    """Return the peak memory of a process in bytes (Linux; elsewhere the current memory)."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    return process.memory_info().rss


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--sizes", default=SIZES, help=f"NAME[:COUNT],... (default: {SIZES})")
    parser.add_argument("--only", default="", help="only methods whose name contains this")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        contender, name, count = json.loads(options.one)
        print(json.dumps(measure(contender, name, count, options.jobs)))
        return
    print("| data | molecules | method | features | us CPU | per s | MiB |")
    print("|---|---|---|---|---|---|---|")
    for size in options.sizes.split(","):
        name, _, count = size.partition(":")
        for contender in contenders():
            if options.only.lower() not in contender.lower():
                continue
            task = json.dumps([contender, name, int(count) if count else None])
            done = subprocess.run(
                [sys.executable, "-m", __spec__.name, "--one", task, "--jobs", str(options.jobs)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            row = json.loads(done.stdout.splitlines()[-1])
            print(
                f"| {row['data']} | {row['molecules']:,} | {row['method']} | {row['features']:.0f} "
                f"| {row['us_cpu']:.0f} | {row['per_second']:,.0f} | {row['mib']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
