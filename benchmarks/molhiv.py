"""ogbg-molhiv: HIV inhibition of 41,127 molecules, with a scaffold split.

    python -m benchmarks.molhiv --seeds 3

The data set, its split and its metric are those of ogbg-molhiv.

Hu, Fey, Zitnik, Dong, Ren, Liu, Catasta, Leskovec: Open Graph Benchmark: Datasets for Machine
Learning on Graphs. Advances in Neural Information Processing Systems 33, 2020.

Molecules are split by scaffold, 80 to 10 to 10. Methods select their parameters on the training
molecules; the validation part shows how well they generalise to new scaffolds; the test part is
predicted once. The metric is the ROC AUC.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.markdown import markdown, records_file, write_between
from experiments.peers import FOREST, LOGISTIC, Method, ours
from experiments.records import Records
from graphgrain.evaluation.splits import scaffold_split

from .data import molecule_file
from .molecules import (
    MoleculeSet,
    PredictionRecord,
    Result,
    Task,
    collected,
    parser,
    read_set,
    result_of,
    run,
    wanted_methods,
)

#: Test ROC AUC from the Open Graph Benchmark's table, and of the best published kernel.
PUBLISHED = {
    "GIN with virtual node": 0.771,
    "P-WL, the best published kernel": 0.804,
    "Graphormer": 0.805,
    "ECFP + random forest": 0.806,
}


@dataclass(frozen=True)
class Parts:
    """Positions of the molecules of each part."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    @classmethod
    def of(cls, data: MoleculeSet) -> Parts:
        """Split by scaffold as the Open Graph Benchmark does."""
        return cls(*scaffold_split(data.smiles))


def task_of(data: MoleculeSet, parts: Parts) -> Task:
    """Return a task whose test part is the validation part followed by the test part."""
    both = np.concatenate([parts.validation, parts.test])
    return Task(data, "scaffold", parts.train, both, "roc_auc")


def methods() -> list[Method]:
    """Return our methods, then the others."""
    return [*ours(), LOGISTIC, FOREST]


def areas_of(records: list[PredictionRecord], parts: Parts) -> tuple[Result, Result]:
    """Return the ROC AUC on the validation and on the test part."""
    cut = len(parts.validation)
    everything = np.arange(len(records[0].truth))
    return (
        result_of(records, "roc_auc", everything[:cut]),
        result_of(records, "roc_auc", everything[cut:]),
    )


def table(task: Task, parts: Parts, wanted: list[Method], file: Records) -> str:
    """Return a table of all methods on both parts, with the best of each part in bold."""
    found = {
        name: areas_of(own[task.name], parts)
        for name, own in collected([task], wanted, file).items()
    }
    if not found:
        return "There is no result yet.\n"
    best = [max(areas[part].mean for areas in found.values()) for part in (0, 1)]
    best[1] = max(best[1], *PUBLISHED.values())
    rows = []
    for name, areas in found.items():
        cells = []
        for part, area in enumerate(areas):
            spread = f" ± {area.spread:.3f}" if area.seeds > 1 else ""
            bold = "**" if area.mean == best[part] else ""
            cells.append(f"{bold}{area.mean:.3f}{bold}{spread}")
        interval = f"{areas[1].low:.3f} to {areas[1].high:.3f}"
        rows.append([name, *cells, interval, str(areas[1].seeds)])
    for name, area in PUBLISHED.items():
        shown = f"**{area:.3f}**" if area == best[1] else f"{area:.3f}"
        rows.append([f"{name} (published)", "", shown, "", ""])
    sizes = (len(parts.train), len(parts.validation), len(parts.test))
    words = "{:,} training, {:,} validation, {:,} test molecules. ".format(*sizes)
    words += (
        "±: standard deviation over the seeds. Interval: 95 % bootstrap interval over the test "
    )
    words += "molecules (1,000 samples). Bold: the best of each column.\n"
    heads = ["method", "validation", "test", "interval of the test result", "seeds"]
    return f"{markdown(heads, rows)}\n{words}"


def main(arguments: list[str] | None = None) -> str:
    """Run missing experiments, then print the table."""
    options = parser("molhiv", __doc__, records_file("molhiv"), seeds=10).parse_args(arguments)
    data = read_set(molecule_file("hiv"), "active")
    parts = Parts.of(data)
    task = task_of(data, parts)
    wanted = wanted_methods(options.methods, methods())
    file = Records(options.results)
    if not options.show:
        run([task], wanted, options.seeds, file, options.n_jobs)
    text = table(task, parts, wanted, file)
    if options.page is not None:
        write_between(options.page, "molhiv", text)
    print(text)
    return text


if __name__ == "__main__":
    main()
