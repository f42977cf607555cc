"""Scaffold splits inside the ADMET training parts: the basis of defaults, without any test part.

    python -m benchmarks.training_parts
    python -m benchmarks.training_parts -d herg,caco2_wang --draws 3
    python -m benchmarks.training_parts --show --page docs/molecules-benchmarks.md

The training part of each ADMET set is split by scaffold several times; every method trains on four
fifths and predicts the rest. By default sets of up to 2,500 training molecules are run.
"""

from __future__ import annotations

import numpy as np

from experiments.markdown import records_file
from experiments.peers import MAPLIGHT, OURS_WITH
from graphgrain.evaluation.splits import scaffold_split

from .admet import measures, task_of
from .molecules import Task, chosen, execute, parser

#: Largest training part that is run by default.
MOST = 2500


def tasks_of(name: str, measure: str, draws: int) -> list[Task]:
    """Return the scaffold splits of the training part of a set."""
    whole = task_of(name, measure)
    smiles = [whole.data.smiles[place] for place in whole.train]
    tasks = []
    for draw in range(draws):
        train, validation, test = scaffold_split(smiles, random_state=draw)
        rest = np.concatenate([validation, test])
        parts = (whole.train[train], whole.train[rest])
        tasks.append(Task(whole.data, f"training part {draw}", *parts, measure, name))
    return tasks


def main(arguments: list[str] | None = None) -> str:
    """Run missing experiments, then print the tables."""
    made = parser("training_parts", __doc__, records_file("training-parts"), seeds=1)
    made.add_argument("--draws", type=int, default=6, help="number of splits of each set")
    options = made.parse_args(arguments)
    known = measures()
    small = [name for name in known if len(task_of(name, known[name]).train) <= MOST]
    wanted = chosen(options.datasets, list(known)) if options.datasets else small
    tasks = [task for name in wanted for task in tasks_of(name, known[name], options.draws)]
    return execute(options, tasks, [OURS_WITH, MAPLIGHT], "training-parts")


if __name__ == "__main__":
    main()
