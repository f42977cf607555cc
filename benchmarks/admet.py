"""ADMET (absorption, distribution, metabolism, excretion, toxicity), with other methods in one run.

    python -m benchmarks.admet
    python -m benchmarks.admet -d herg,caco2_wang --seeds 2
    python -m benchmarks.admet --show --page docs/molecules-benchmarks.md

Data sets of the ADMET group of the Therapeutics Data Commons with its scaffold splits and its
metrics. Every method is trained on the same molecules and selects its parameters on them.

Huang et al.: Therapeutics Data Commons: Machine Learning Datasets and Tasks for Drug Discovery
and Development. NeurIPS Datasets and Benchmarks, 2021.
"""

from __future__ import annotations

import csv

from experiments.markdown import records_file
from experiments.peers import COUNTS, FOREST, MAPLIGHT, Method, ours

from .molecules import Task, chosen, execute, given_task, molecules_folder, parser, read_set


def measures() -> dict[str, str]:
    """Return the metric that the ADMET group prescribes for each data set."""
    with open(molecules_folder("admet") / "tasks.csv", newline="", encoding="utf-8") as file:
        return {row["name"]: row["metric"] for row in csv.DictReader(file)}


def task_of(name: str, measure: str) -> Task:
    """Load a data set."""
    return given_task(read_set(molecules_folder("admet") / f"{name}.csv.gz", "y"), measure)


def methods() -> list[Method]:
    """Return our methods, then the others."""
    return [*ours(), MAPLIGHT, COUNTS, FOREST]


def main(arguments: list[str] | None = None) -> str:
    """Run missing experiments, then print the tables."""
    options = parser("admet", __doc__, records_file("admet")).parse_args(arguments)
    known = measures()
    tasks = [task_of(name, known[name]) for name in chosen(options.datasets, list(known))]
    return execute(options, tasks, methods(), "admet")


if __name__ == "__main__":
    main()
