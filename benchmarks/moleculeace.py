"""MoleculeACE: activity of molecules on 30 targets, overall and on activity cliffs.

    python -m benchmarks.moleculeace
    python -m benchmarks.moleculeace --show --page docs/molecules-benchmarks.md

van Tilborg, Alenicheva, Grisoni: Exposing the Limitations of Molecular Machine Learning with
Activity Cliffs. Journal of Chemical Information and Modeling 62 (23), 2022.

The splits are given. Each method is trained on the training molecules of a data set, selects its
parameters on them, and predicts the test molecules once. Errors are root mean squared errors of the
logarithm of the activity, on all test molecules and on those that belong to an activity cliff: a
pair of similar molecules with very different activities.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from experiments.markdown import better_on, comparison_words, markdown, records_file
from experiments.peers import BITS_SVM, COUNTS, FOREST, MAPLIGHT, Method, ours
from experiments.records import Records

from .molecules import (
    MoleculeSet,
    PredictionRecord,
    Task,
    chosen,
    collected,
    execute,
    given_task,
    molecules_folder,
    parser,
    read_set,
    wanted_methods,
)

PUBLISHED_BEST = ("SVM", "ECFP")
#: Mean RMSE over the 30 sets as reported by newer publications.
NEWER = {"CheMeleon": 0.666, "MiniMol": 0.700}


def set_names(folder: Path) -> list[str]:
    """Return the names of the data sets in a folder of MoleculeACE."""
    return sorted(path.name.split(".")[0] for path in folder.glob("CHEMBL*.csv*"))


def task_of(folder: Path, name: str) -> Task:
    """Load a data set."""
    [path] = folder.glob(f"{name}.csv*")
    return given_task(read_set(path, "y"), "rmse")


def methods() -> list[Method]:
    """Return our methods, other methods, and the method with the best published mean."""
    return [*ours(), COUNTS, MAPLIGHT, FOREST, BITS_SVM]


def errors_of(record: PredictionRecord, data: MoleculeSet) -> tuple[float, float]:
    """Return the RMSE on all test molecules and on those of activity cliffs."""
    squares = (np.array(record.truth) - np.array(record.predictions)) ** 2
    cliff = np.array(data.columns["cliff_mol"])[record.test].astype(float) == 1
    return float(np.sqrt(squares.mean())), float(np.sqrt(squares[cliff].mean()))


def published(folder: Path) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the published errors by method and data set."""
    table: dict[str, dict[str, tuple[float, float]]] = {}
    with open(folder / "published.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            words = (row["algorithm"], row["descriptor"], row["augmentation"])
            name = " ".join(word for word in words if word not in ("", "0"))
            errors = (float(row["rmse"]), float(row["cliff_rmse"]))
            table.setdefault(name, {})[row["dataset"]] = errors
    return table


def cliffs_report(folder: Path, tasks: list[Task], wanted: list[Method], file: Records) -> str:
    """Return a table of means over the data sets, with published results."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for method, own in collected(tasks, wanted, file).items():
        for task in tasks:
            if task.name in own:
                each = [errors_of(record, task.data) for record in own[task.name]]
                means = np.mean(each, axis=0).tolist()
                found.setdefault(method, {})[task.name] = (means[0], means[1])
    if not found:
        return ""
    from_paper = published(folder)
    best = {
        task.name: min(
            (errors[task.name] for errors in from_paper.values() if task.name in errors),
        )
        for task in tasks
    }
    rows = [[name, *_means(errors, tasks), f"{len(errors)}"] for name, errors in found.items()]
    svm = {name: e for name, e in from_paper[" ".join(PUBLISHED_BEST)].items() if name in best}
    rows += [
        ["ECFP + SVM (published, the best mean of its 24)", *_means(svm, tasks), f"{len(svm)}"],
        ["the best of the 24 published, picked for each set", *_means(best, tasks), f"{len(best)}"],
        *([f"{name} (published)", f"{value:.3f}", "", "30"] for name, value in NEWER.items()),
    ]
    first = next(iter(found))
    mine = _merits(found[first])
    words = [
        f"- {comparison_words(first, other, better_on(mine, _merits(theirs)))}\n"
        for other, theirs in (
            ("the published ECFP + SVM", svm),
            ("the best of the 24 published methods, picked for each set", best),
        )
    ]
    heads = ["mean over the sets", "RMSE", "RMSE of cliffs", "sets"]
    return f"\n{markdown(heads, rows)}\n{''.join(words)}"


def _merits(errors: dict[str, tuple[float, float]]) -> dict[str, float]:
    """Return negated errors on all molecules of each data set, so that larger is better."""
    return {name: -error for name, (error, _) in errors.items()}


def _means(errors: dict[str, tuple[float, float]], tasks: list[Task]) -> list[str]:
    own = [errors[task.name] for task in tasks if task.name in errors]
    return [f"{value:.3f}" for value in np.mean(own, axis=0).tolist()]


def main(arguments: list[str] | None = None) -> str:
    """Run missing experiments, then print the tables."""
    options = parser("moleculeace", __doc__, records_file("moleculeace")).parse_args(arguments)
    folder = molecules_folder() / "moleculeace"
    tasks = [task_of(folder, name) for name in chosen(options.datasets, set_names(folder))]
    wanted = wanted_methods(options.methods, methods())
    return execute(
        options,
        tasks,
        methods(),
        "moleculeace",
        lambda file: cliffs_report(folder, tasks, wanted, file),
    )


if __name__ == "__main__":
    main()
