"""The paper's experiments: which kernels with which parameters stand behind each table and figure.

- Tables 2 and 3: every kernel with its usual grid; for Tree++ d = 6 and k from 0 to 7.
- Figure "varying k": Tree++ with d = 7 and k from 0 to 7.
- Figure "varying d": Tree++ with k = 1 and d from 0 to 7.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..kernels.registry import KERNELS
from . import published
from .experiment import Variant
from .metrics import Figures
from .records import Record
from .summary import Experiment, experiments

FIGURE_K = "figure-k"
FIGURE_D = "figure-d"


def table_kernels() -> list[str]:
    """The kernels of the paper's tables, in their order, by name."""
    return [name for name in published.KERNELS if name in KERNELS]


def varying_k() -> Variant:
    """Tree++ as in the paper's figure for k."""
    return Variant("tree++", ({"path_depth": 7, "tree_depth": 7},), FIGURE_K)


def varying_d() -> Variant:
    """Tree++ as in the paper's figure for d."""
    grid = tuple({"path_depth": depth, "tree_depth": 1} for depth in range(8))
    return Variant("tree++", grid, FIGURE_D)


def curve(experiment: Experiment) -> dict[int, Figures]:
    """Accuracy for each k (``figure-k``) or each d (``figure-d``), with C validated."""
    wanted = "tree_depth" if experiment.first.variant == FIGURE_K else "path_depth"
    return {
        candidate[wanted]: accuracy
        for candidate, accuracy in zip(experiment.candidates, experiment.accuracies(), strict=True)
        if wanted == "tree_depth" or candidate["tree_depth"] == 1
    }


def curves(records: Iterable[Record], variant: str) -> list[tuple[Experiment, dict[int, Figures]]]:
    """The curves of a figure for all data sets that have results for it."""
    found = [e for e in experiments(records) if e.first.variant == variant and e.repetitions]
    return [(experiment, curve(experiment)) for experiment in found]
