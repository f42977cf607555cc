"""Time and memory of ``gg.changes`` for increasing numbers of molecules.

    python -m benchmarks.changes [NAME] [--counts 2000 40000] [--folder FOLDER]

The molecules are in an index; y is Crippen's logP. Every measurement runs in a separate process,
with precompiled functions. Memory is that of the whole process; the row with 50 molecules shows the
memory of Python and the libraries.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

from .data import molecules
from .process_tree import watched

_SMALL = 50


def build(smiles: list[str], target: Path) -> None:
    """Build an index of molecules with the column y."""
    from rdkit import Chem, RDLogger
    from rdkit.Chem import Crippen

    import graphgrain as gg

    RDLogger.DisableLog("rdApp.*")
    source = target.with_suffix(".csv")
    with source.open("w") as file:
        file.write("smiles,name,y\n")
        for number, text in enumerate(smiles):
            molecule = Chem.MolFromSmiles(text)
            if molecule is not None:
                file.write(f"{text},{number},{Crippen.MolLogP(molecule)}\n")
    gg.GraphIndex.build(target, source, ids="name", columns=["y"], errors="skip")


def measured(target: str) -> dict[str, float]:
    """Measure ``gg.changes`` on an index."""
    import graphgrain as gg

    index = gg.GraphIndex(target)
    begin, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = gg.changes(index, "y")
    return {
        "graphs": len(index),
        "changes": len(found),
        "pairs": sum(change.pairs for change in found),
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.changes", description=__doc__)
    parser.add_argument("name", nargs="?", default="hiv")
    parser.add_argument("--counts", type=int, nargs="+", default=[2000, 40_000])
    parser.add_argument("--folder", help="folder in which to keep and reuse files")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measured(options.child)))
        return
    print("| molecules | changes in 3 pairs or more | pairs | s | CPU s | peak memory, MiB |")
    print("|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as passing:
        for count in [_SMALL, *options.counts]:
            target = Path(options.folder or passing) / f"changes-{options.name}-{count}.ggi"
            if not target.exists():
                build(molecules(options.name, count), target)
            cost = watched([sys.executable, "-m", "benchmarks.changes", "--child", str(target)])
            found = json.loads(cost.output)
            print(
                f"| {found['graphs']:,} | {found['changes']:,} | {found['pairs']:,} | "
                f"{found['seconds']:.1f} | {found['cpu']:.1f} | {cost.peak_bytes / 2**20:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
