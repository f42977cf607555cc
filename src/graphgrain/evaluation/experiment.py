"""Run an evaluation, fold by fold, keeping every finished fold.

1. List the folds of a data set and a kernel that the results file does not hold yet.
2. If there are any, compute the kernel matrices and note what they cost.
3. Work on the folds with several threads; append each to the file as soon as it is done.

Whatever stops the program, the same call goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from typing import Protocol as Interface

import numpy as np

from ..core.threads import as_finished, thread_count
from ..graphs.batch import GraphBatch
from ..kernels.grid import KernelGrid, Setting
from .labelled_graphs import LabelledGraphs
from .measuring import measured
from .protocol import Protocol
from .records import FoldRecord, KernelRecord, identity_key


class Results(Interface):
    """Where finished work goes: a :class:`ResultsFile`, or what passes it on to one."""

    def __contains__(self, key: str) -> bool:
        """Whether a record with this identity is there."""

    def append(self, record: FoldRecord | KernelRecord) -> bool:
        """Keep a record; False if it is there already."""


@dataclass
class Progress:
    """What a run tells about itself; each may be replaced.

    Attributes
    ----------
    begin : callable(description, total)
        A data set and a kernel begin; so many folds are to do, already finished ones included.
    advance : callable(folds)
        So many folds are done.
    """

    begin: Callable[[str, int], None] = field(default=lambda description, total: None)
    advance: Callable[[int], None] = field(default=lambda folds: None)


def run(
    data: LabelledGraphs,
    grid: KernelGrid,
    protocol: Protocol,
    repeats: int,
    results: Results,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Evaluate a kernel on a data set; fill in what the results file lacks.

    Parameters
    ----------
    repeats : int
        Number of repetitions; 0 only measures the kernel.
    n_jobs : int, optional
        Number of threads; the results do not depend on it.

    Returns
    -------
    int
        The number of folds that had to be computed.
    """
    progress = progress or Progress()
    folds = [(r, f) for r in range(repeats) for f in range(protocol.folds)]
    progress.begin(f"{data.name} · {grid.label}", len(folds) * len(grid.settings))
    computed = 0
    for setting in grid.settings:
        common = {
            **identity_of(data),
            "kernel": grid.name,
            "variant": grid.variant,
            "settings": setting.as_dict(),
            "level_names": grid.levels(setting),
        }
        fixed = {**common, **rules_of(protocol)}
        kernel_key = identity_key("kernel", {**common, "n_jobs": thread_count(n_jobs)})

        def key(repetition: int, fold: int, fixed: dict[str, Any] = fixed) -> str:
            return identity_key("fold", {**fixed, "repetition": repetition, "fold": fold})

        missing = [place for place in folds if key(*place) not in results]
        progress.advance(len(folds) - len(missing))
        if not missing and (repeats or kernel_key in results):
            continue
        grams = _measured_grams(data, grid, setting, common, results, n_jobs)
        work = _Fold(data, protocol, grams, fixed, len(grid.settings))
        computed += compute_folds(work, missing, key, results, n_jobs, progress)
    return computed


def identity_of(data: LabelledGraphs) -> dict[str, Any]:
    """What records say of the data set."""
    return {
        "dataset": data.name,
        "fingerprint": data.fingerprint,
        "deduplicated": data.deduplicated,
    }


def rules_of(protocol: Protocol) -> dict[str, Any]:
    """What records say of the protocol."""
    return {**protocol.key._asdict(), "C": list(protocol.C)}


def setting_grams(
    grid: KernelGrid, setting: Setting, graphs: GraphBatch, n_jobs: int | None = None
) -> np.ndarray:
    """Kernel matrices of all levels of a setting, of shape (levels, graphs, graphs)."""
    [fitted] = grid.with_settings([setting]).fit_each(graphs, n_jobs)
    grams = np.empty((len(grid.levels(setting)), len(graphs), len(graphs)))
    for level, gram in enumerate(fitted.grams()):
        grams[level] = gram
    return grams


def _measured_grams(
    data: LabelledGraphs,
    grid: KernelGrid,
    setting: Setting,
    common: dict[str, Any],
    results: Results,
    n_jobs: int | None,
) -> np.ndarray:
    """Compute the kernel matrices and note their cost."""
    # A few graphs first: whatever has to be compiled or loaded is not the kernel's own cost.
    setting_grams(grid, setting, data.graphs[: min(len(data), 4)], n_jobs)
    with measured() as cost:
        grams = setting_grams(grid, setting, data.graphs, n_jobs)
    results.append(
        KernelRecord(
            **common,
            graphs=len(data),
            n_jobs=thread_count(n_jobs),
            seconds=round(cost.seconds, 4),
            processor_seconds=round(cost.processor_seconds, 4),
            memory=cost.memory,
        )
    )
    return grams


@dataclass(frozen=True)
class _Fold:
    """Computes the record of one fold."""

    data: LabelledGraphs
    protocol: Protocol
    grams: np.ndarray
    fixed: dict[str, Any]
    grid_size: int

    def __call__(self, place: tuple[int, int]) -> FoldRecord:
        repetition, fold = place
        start = time.perf_counter()
        codes, classes = self.data.codes, self.data.classes
        split = self.protocol.test_fold(codes, repetition, fold)
        levels, fits = self.protocol.evaluate(self.grams, codes, len(classes), split)
        return FoldRecord(
            **self.fixed,
            classes=classes,
            grid_size=self.grid_size,
            repetition=repetition,
            fold=fold,
            test=split.test.tolist(),
            truth=codes[split.test].tolist(),
            levels=levels,
            fits=fits,
            seconds=round(time.perf_counter() - start, 4),
        )


def compute_folds(
    work: Callable[[tuple[int, int]], FoldRecord],
    missing: list[tuple[int, int]],
    key: Callable[[int, int], Any],
    results: Results,
    n_jobs: int | None,
    progress: Progress,
) -> int:
    """Store the records of the missing folds as they are finished; how many there were."""

    def record(number: int) -> FoldRecord | None:
        place = missing[number]
        return None if key(*place) in results else work(place)  # somebody else may have done it

    computed = 0
    for _, found in as_finished(record, len(missing), n_jobs):
        if found is not None:
            computed += results.append(found)
        progress.advance(1)
    return computed
