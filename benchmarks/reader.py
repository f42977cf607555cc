"""Cost of the molecule reader compared with RDKit parsing: CPU time and memory.

    python -m benchmarks.reader [--all]

``MolFromSmiles`` parses and sanitises without conversion to graphs. The slow reader queries every
atom and bond (tests/graphs/slow_molecules.py); with ``--all`` all molecules of the HIV set are
compared with it, graph by graph.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import graphgrain as gg
from benchmarks.data import molecules
from tests.graphs.slow_molecules import slow_batch, slow_molecule

ROUNDS = 5


def cpu_seconds(call: Callable[[], Any]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def array_bytes(graphs: gg.GraphBatch) -> int:
    arrays = (graphs.offsets, graphs.indptr, graphs.indices, graphs.label_codes)
    return sum(array.nbytes for array in (*arrays, graphs.edge_label_codes))


def compare(name: str, count: int) -> None:
    from rdkit import Chem, rdBase

    smiles = molecules(name, count)
    calls = {
        "MolFromSmiles": lambda: [Chem.MolFromSmiles(text) for text in smiles],
        "from_smiles": lambda: gg.from_smiles(smiles, errors="skip"),
        "slow reader": lambda: slow_batch(
            [molecule for text in smiles if (molecule := slow_molecule(text))]
        ),
    }
    times: dict[str, list[float]] = {key: [] for key in calls}
    with rdBase.BlockLogs(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(ROUNDS):  # alternating, so that noise affects all of them
            for key, call in calls.items():
                times[key].append(cpu_seconds(call))
    alone = np.array(times["MolFromSmiles"])
    for key, values in times.items():
        per = 1e6 * min(values) / len(smiles)
        ratio = np.median(np.array(values) / alone)
        print(f"{name:10s} {key:14s} {per:7.1f} us/molecule   {ratio:5.2f} x MolFromSmiles")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graphs = gg.from_smiles(smiles, errors="skip")
    print(f"{name:10s} arrays         {array_bytes(graphs) / len(graphs):7.0f} bytes/molecule")


def compare_sdf(count: int) -> None:
    """Compare the parsing of mol blocks."""
    from rdkit import Chem

    from graphgrain.graphs.convert.rdkit import LabelOptions, parse_molecules

    blocks = [Chem.MolToMolBlock(Chem.MolFromSmiles(text)) for text in molecules("zinc250k", count)]
    pairs = [
        (
            cpu_seconds(lambda: [Chem.MolFromMolBlock(block) for block in blocks]),
            cpu_seconds(lambda: parse_molecules(blocks, LabelOptions(), blocks=True)),
        )
        for _ in range(ROUNDS)
    ]
    alone, ours = np.array(pairs).T
    per, ratio = 1e6 * ours.min() / count, np.median(ours / alone)
    print(f"zinc, SDF  parse          {per:7.1f} us/molecule   {ratio:5.2f} x MolFromMolBlock")


def processes(count: int) -> None:
    """Compare wall time in one and in two processes, started beforehand."""
    smiles = molecules("zinc250k", count)
    seconds = {}
    for jobs in (1, 2):
        gg.from_smiles(smiles[:8_000], n_jobs=jobs)
        begin = time.perf_counter()
        gg.from_smiles(smiles, n_jobs=jobs)
        seconds[jobs] = time.perf_counter() - begin
    print(f"zinc       two processes  {seconds[1] / seconds[2]:7.2f} times as fast as one")


def all_of_hiv() -> None:
    """Check that both readers accept the same molecules of HIV and give the same graphs."""
    smiles = molecules("hiv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fast, index = gg.from_smiles(smiles, errors="skip", return_index=True)
    slow = [slow_molecule(text) for text in smiles]
    expected = [at for at, molecule in enumerate(slow) if molecule is not None]
    if expected != index.tolist():
        raise SystemExit(f"different molecules are read: {set(expected) ^ set(index.tolist())}")
    same = fast == slow_batch([slow[at] for at in expected])
    print(f"hiv        {len(smiles):,} SMILES, {len(fast):,} graphs, all the same: {same}")
    if not same:
        wrong = [
            at for at, graph in zip(expected, fast, strict=True) if graph != slow_batch([slow[at]])
        ]
        raise SystemExit(f"different graphs: {wrong[:20]}")


if __name__ == "__main__":
    for name, count in (("hiv", 5_000), ("zinc250k", 5_000), ("moses", 5_000)):
        compare(name, count)
    compare_sdf(1_000)
    processes(20_000)
    if "--all" in sys.argv[1:]:
        all_of_hiv()
