"""ADMET: absorption, distribution, metabolism, excretion and toxicity, with peers in the same run.

    python -m benchmarks.admet
    python -m benchmarks.admet -d herg,caco2_wang --seeds 2
    python -m benchmarks.admet --show --page docs/molecules-benchmarks.md

Sets of the ADMET group of the Therapeutics Data Commons with its training and test parts (by
scaffold) and its measures. Every method is trained on the same molecules and chooses whatever it
chooses there.

Huang et al.: Therapeutics Data Commons: Machine Learning Datasets and Tasks for Drug Discovery
and Development. NeurIPS Datasets and Benchmarks, 2021.
"""

from __future__ import annotations

import csv

from .molecules import Task, chosen, execute, given_task, molecules_folder, parser, read_set
from .peers import COUNTS, FOREST, MAPLIGHT, Method, ours
from .tables import records_file


def measures() -> dict[str, str]:
    """By set the measure that the group prescribes."""
    with open(molecules_folder("admet") / "tasks.csv", newline="", encoding="utf-8") as file:
        return {row["name"]: row["metric"] for row in csv.DictReader(file)}


def task_of(name: str, measure: str) -> Task:
    """One of the sets."""
    return given_task(read_set(molecules_folder("admet") / f"{name}.csv.gz", "y"), measure)


def methods() -> list[Method]:
    """Ours first; peers after it."""
    return [*ours(), MAPLIGHT, COUNTS, FOREST]


def main(arguments: list[str] | None = None) -> str:
    """Run what the records lack, then show the tables."""
    options = parser("admet", __doc__, records_file("admet")).parse_args(arguments)
    known = measures()
    tasks = [task_of(name, known[name]) for name in chosen(options.datasets, list(known))]
    return execute(options, tasks, methods(), "admet")


if __name__ == "__main__":
    main()
