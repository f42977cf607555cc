"""Twenty folds of an evaluation on a results file, in a test or in a process of its own."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from graphgrain.evaluation.experiment import run
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import Record, ResultsFile

import graphgrain as gg
from graphgrain.kernels.registry import KERNELS, Setting


class SlowFile(ResultsFile):
    """Takes its time, so that others can do something meanwhile."""

    def append(self, record: Record) -> bool:
        time.sleep(0.05)
        return super().append(record)


def evaluate(path: Path | str, kind: type[ResultsFile] = ResultsFile) -> int:
    """The number of folds that were computed."""
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["antihistamines", "tricyclics"]))
    setting = Setting({"path_depth": 2, "tree_depth": 1})
    grid = KERNELS["tree++"].with_settings([setting], "test")
    with kind(path) as results:
        data = prepare("drugs", graphs[pick], y[pick])
        return run(data, grid, Protocol("paper"), 2, results, n_jobs=2)


if __name__ == "__main__":
    print("ready", flush=True)
    print(evaluate(sys.argv[1], SlowFile))
