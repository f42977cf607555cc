"""BACE, BBBP, logP and logS with five random splits and five random scaffold splits.

    python -m benchmarks.splits
    python -m benchmarks.splits -d logs --splits scaffold
    python -m benchmarks.splits --show --page docs/molecules-benchmarks.md

Each split trains on four fifths of the molecules and tests on a tenth; the remaining tenth, which
others use for tuning, is not used. A single split with some 150 to 400 test molecules is not
conclusive, so results are averaged over five splits, each with its own training, and intervals are
over the test molecules of all.
"""

from __future__ import annotations

import numpy as np

from experiments.markdown import records_file
from experiments.peers import COUNTS, FOREST, MAPLIGHT, Method, ours
from graphgrain.evaluation.splits import SHARES, scaffold_split

from .data import molecule_file
from .molecules import (
    MoleculeSet,
    Task,
    chosen,
    execute,
    parser,
    read_set,
)

#: Target and metric of each data set.
SETS = {
    "bace": ("inhibits", "roc_auc"),
    "bbbp": ("penetrates", "roc_auc"),
    "logp": ("logp", "rmse"),
    "logs": ("logs", "rmse"),
}
SPLITS = ("random", "scaffold")


def parts(data: MoleculeSet, split: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of training and test molecules."""
    if split == "scaffold":
        train, _, test = scaffold_split(data.smiles, random_state=seed)
        return train, test
    order = np.random.default_rng(seed).permutation(len(data.y))
    first, second = (np.cumsum(SHARES)[:2] * len(order)).astype(int)
    return order[:first], order[second:]


def tasks_of(name: str, splits: list[str], seeds: int) -> list[Task]:
    """Return the tasks of a data set."""
    target, measure = SETS[name]
    data = read_set(molecule_file(name), target)
    return [
        Task(data, f"{split} {seed}", *parts(data, split, seed), measure, f"{name}, {split}")
        for split in splits
        for seed in range(seeds)
    ]


def methods() -> list[Method]:
    """Return our methods, then the others."""
    return [*ours(), COUNTS, MAPLIGHT, FOREST]


def main(arguments: list[str] | None = None) -> str:
    """Run missing experiments, then print the tables."""
    made = parser("splits", __doc__, records_file("splits"), seeds=1)
    made.add_argument("--splits", default="", help="random, scaffold (default: both)")
    made.add_argument("--draws", type=int, default=5, help="number of splits of each kind")
    options = made.parse_args(arguments)
    wanted = chosen(options.splits, SPLITS)
    tasks = [
        task
        for name in chosen(options.datasets, list(SETS))
        for task in tasks_of(name, wanted, options.draws)
    ]
    return execute(options, tasks, methods(), "splits")


if __name__ == "__main__":
    main()
