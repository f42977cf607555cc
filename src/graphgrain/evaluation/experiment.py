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

import numpy as np

from ..core.threads import as_finished, thread_count
from ..kernels.base import GraphKernel
from ..kernels.features import FeatureKernel
from ..kernels.registry import KERNELS
from ..parameters import check_parameters
from ..views.edge_filter import EdgeFilter
from .labelled_graphs import LabelledGraphs
from .measuring import measured
from .protocol import Protocol
from .records import FoldRecord, KernelRecord, identity_key
from .results_file import ResultsFile

#: The name in a setting that is no parameter of the kernel.
EDGE_FILTER = "edge_filter"


@dataclass(frozen=True)
class Variant:
    """A kernel with the settings that validation chooses from.

    Attributes
    ----------
    kernel : str
        Name in the registry.
    grid : tuple of dict
        The settings; for a kernel with levels each holds the highest level. Beside the kernel's
        parameters a setting may hold ``edge_filter``, the parameters of an :class:`EdgeFilter`
        through which the kernel then sees the graphs.
    name : str
        Empty for the kernel's usual grid; see :class:`FoldRecord`.
    """

    kernel: str
    grid: tuple[dict[str, Any], ...]
    name: str = ""

    @classmethod
    def usual(cls, kernel: str) -> Variant:
        """The kernel with the grid that the registry has for it."""
        return cls(kernel, tuple(dict(s.parameters) for s in KERNELS[kernel].settings))

    def changed(self, parameters: dict[str, Any]) -> Variant:
        """The same with some parameters fixed."""
        unique: list[dict[str, Any]] = []
        for setting in self.grid:
            if (new := {**setting, **parameters}) not in unique:
                unique.append(new)
        name = ", ".join(f"{key}={value}" for key, value in sorted(parameters.items()))
        return Variant(self.kernel, tuple(unique), name)

    def level_names(self, setting: dict[str, Any]) -> list[dict[str, Any]]:
        """The parameter that each kernel matrix of a setting stands for."""
        entry = KERNELS[self.kernel]
        name = entry.level_parameter
        if name is None:
            return [{}]
        return [{name: level} for level in range(setting[name] + 1)]

    def check(self, setting: dict[str, Any]) -> None:
        """Raise an error if a parameter has a value that it may not have."""
        kernel = self.estimator(setting)
        check_parameters(kernel, kernel.parameter_rules)

    def estimator(self, setting: dict[str, Any], n_jobs: int | None = None) -> GraphKernel:
        """The kernel itself."""
        own = {name: value for name, value in setting.items() if name != EDGE_FILTER}
        return KERNELS[self.kernel].kernel(**own, n_jobs=n_jobs)

    def grams(
        self, data: LabelledGraphs, setting: dict[str, Any], n_jobs: int | None
    ) -> np.ndarray:
        """Normalised kernel matrices of all levels, of shape (levels, graphs, graphs)."""
        kernel, graphs = self.estimator(setting, n_jobs), data.graphs
        if EDGE_FILTER in setting:
            graphs = EdgeFilter(**setting[EDGE_FILTER]).fit_transform(graphs)
        if KERNELS[self.kernel].level_parameter is not None and isinstance(kernel, FeatureKernel):
            kernel.fit(graphs)
            return kernel.gram_levels()
        return kernel.fit_transform(graphs)[np.newaxis]


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
    variant: Variant,
    protocol: Protocol,
    repeats: int,
    results: ResultsFile,
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
    label = f"{variant.kernel} ({variant.name})" if variant.name else variant.kernel
    folds = [(r, f) for r in range(repeats) for f in range(protocol.folds)]
    progress.begin(f"{data.name} · {label}", len(folds) * len(variant.grid))
    computed = 0
    for setting in variant.grid:
        common = _common(data, variant, setting)
        fixed = {**common, **protocol.key._asdict(), "C": list(protocol.C)}
        kernel_key = identity_key("kernel", {**common, "n_jobs": thread_count(n_jobs)})

        def key(repetition: int, fold: int, fixed: dict[str, Any] = fixed) -> str:
            return identity_key("fold", {**fixed, "repetition": repetition, "fold": fold})

        missing = [place for place in folds if key(*place) not in results]
        progress.advance(len(folds) - len(missing))
        if not missing and (repeats or kernel_key in results):
            continue
        grams = _measured_grams(data, variant, setting, common, results, n_jobs)
        work = _Fold(data, protocol, grams, fixed, len(variant.grid))
        computed += _compute(work, missing, key, results, n_jobs, progress)
    return computed


def _common(data: LabelledGraphs, variant: Variant, setting: dict[str, Any]) -> dict[str, Any]:
    return {
        "dataset": data.name,
        "fingerprint": data.fingerprint,
        "deduplicated": data.deduplicated,
        "kernel": variant.kernel,
        "variant": variant.name,
        "settings": setting,
        "level_names": variant.level_names(setting),
    }


def _measured_grams(
    data: LabelledGraphs,
    variant: Variant,
    setting: dict[str, Any],
    common: dict[str, Any],
    results: ResultsFile,
    n_jobs: int | None,
) -> np.ndarray:
    """Compute the kernel matrices and note their cost."""
    # A few graphs first: whatever has to be compiled or loaded is not the kernel's own cost.
    variant.estimator(setting, n_jobs).fit_transform(data.graphs[: min(len(data), 4)])
    with measured() as cost:
        grams = variant.grams(data, setting, n_jobs)
    results.append(
        KernelRecord(
            **common,
            graphs=len(data),
            n_jobs=thread_count(n_jobs),
            seconds=round(cost.seconds, 4),
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


def _compute(
    work: _Fold,
    missing: list[tuple[int, int]],
    key: Callable[[int, int], Any],
    results: ResultsFile,
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
