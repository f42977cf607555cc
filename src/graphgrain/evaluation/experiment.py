"""Run an evaluation fold by fold and store every finished fold.

1. List the folds of a data set and a kernel that are not yet in the results file.
2. If there are any, compute the kernel matrices and record their cost. Estimators that tune
   themselves are fitted to each training set instead.
3. Process the folds in several threads; append each to the file as soon as it is finished.

After an interruption the same call continues where it stopped.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from typing import Protocol as Interface

import numpy as np

from ..core.threads import as_finished, thread_count
from ..graphs.batch import GraphBatch
from ..kernels.grid import KernelGrid, Setting
from ..learning import GraphClassifier, GraphRegressor
from ..learning.inputs import GRAPH_COLUMN
from ..views.attribute_bins import AttributeBins
from ..views.base import view_name
from .labelled_graphs import LabelledGraphs
from .protocol import Protocol, TestFold, rounded
from .records import (
    AUTO,
    REFERENCE,
    SELF_TUNED,
    FoldRecord,
    KernelRecord,
    Level,
    identity_key,
    kernel_label,
)
from .splits import FOLDS, parts_of


class Results(Interface):
    """Interface of :class:`ResultsFile` used to store records."""

    def __contains__(self, key: str) -> bool:
        """Check for a record with this identity."""

    def append(self, record: FoldRecord | KernelRecord) -> bool:
        """Store a record; return False if it is a duplicate."""


@dataclass
class Progress:
    """Progress callbacks of a run; by default they do nothing."""

    #: Called for each data set and kernel: description, total number of folds.
    begin: Callable[[str, int], None] = field(default=lambda description, total: None)
    #: Called with the number of newly finished folds.
    advance: Callable[[int], None] = field(default=lambda folds: None)


@dataclass(frozen=True)
class TunedRow:
    """An estimator that tunes itself, listed like a kernel in tables and records."""

    name: str  # used as kernel name in records
    classifier: type[Any]
    regressor: type[Any]
    #: Parameters that differ from the defaults; part of the record's identity.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: Parameters that define the row itself, such as its kernels.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    detail: str = ""  # further description of the variant
    columns: tuple[str, ...] = ()  # columns of the file used in addition to the graphs

    @property
    def variant(self) -> str:
        """Variant name in records and tables."""
        words = [f"{name}={value}" for name, value in self.parameters.items()]
        words += [f"columns {' '.join(self.columns)}"] if self.columns else []
        return ", ".join([SELF_TUNED, *([self.detail] if self.detail else []), *words])

    @property
    def label(self) -> str:
        """Name in tables."""
        return kernel_label(self.name, self.variant)

    @property
    def offered(self) -> dict[str, str]:
        """Names of the candidate views, as settings of a record."""
        views = {**self.fixed, **self.parameters}.get("views")
        if views is None:
            return {}
        names = ["none" if view is None else view_name(view) for view in views]
        return {"view": " or ".join(names)}

    def estimator(self, data: LabelledGraphs, protocol: Protocol) -> Any:
        """Return the unfitted estimator, with the protocol's inner folds and seed."""
        made = (self.regressor if data.numeric else self.classifier)()
        known = made.get_params(deep=False)
        rules = {"cv": protocol.inner_folds, "random_state": protocol.seed}
        own: dict[str, Any] = {name: value for name, value in rules.items() if name in known}
        if self.columns:
            own["graphs"] = GRAPH_COLUMN
        return made.set_params(**{**own, **self.fixed, **self.parameters})

    def examples(self, data: LabelledGraphs, rows: np.ndarray) -> Any:
        """Return some graphs of a data set, with the columns the estimator uses."""
        graphs: Any = data.graphs[rows]
        if self.parameters.get("descriptors") is not None and data.smiles is not None:
            graphs = [data.smiles[row] for row in rows.tolist()]
        if not self.columns or data.columns is None:
            return graphs
        return {GRAPH_COLUMN: graphs, **{name: data.columns[name][rows] for name in self.columns}}


#: Self-tuned Tree++, and the self-tuned combination of all usual kernels.
TREE_ROW = TunedRow(REFERENCE, GraphClassifier, GraphRegressor, fixed={"kernels": "tree++"})
AUTO_ROW = TunedRow(AUTO, GraphClassifier, GraphRegressor, fixed={"kernels": "auto"})


def regression_row(grid: KernelGrid) -> TunedRow:
    """Return the row for regression with one kernel, which tunes its level and alpha."""
    kernels = [grid] if grid.variant else grid.name
    own = {"kernels": kernels}
    return TunedRow(grid.name, GraphClassifier, GraphRegressor, fixed=own, detail=grid.variant)


def run(
    data: LabelledGraphs,
    row: KernelGrid | TunedRow,
    protocol: Protocol,
    repeats: int,
    results: Results,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Evaluate a kernel or an estimator on a data set and store the missing results.

    With ``repeats=0`` only the cost of the kernel is measured. The results do not depend on
    ``n_jobs``, the number of threads. Returns the number of newly computed folds.
    """
    progress = progress or Progress()
    folds = [(r, f) for r in range(repeats) for f in range(protocol.folds)]
    settings: Sequence[Any] = [None] if isinstance(row, TunedRow) else row.settings
    progress.begin(f"{data.name} · {row.label}", len(folds) * len(settings))
    computed = 0
    for setting in settings:
        common = {**identity_of(data), "kernel": row.name, "variant": row.variant}
        if isinstance(row, TunedRow):
            common |= {"settings": row.offered, "level_names": [{}]}
        else:
            common |= {"settings": setting.as_dict(), "level_names": row.levels(setting)}
        fixed = {**common, **rules_of(protocol)}
        missing = [place for place in folds if _key(fixed, place) not in results]
        progress.advance(len(folds) - len(missing))
        if isinstance(row, TunedRow):
            evaluate = partial(_fitted, data, row, protocol)
        else:
            kernel_key = identity_key("kernel", {**common, "n_jobs": thread_count(n_jobs)})
            if not missing and (repeats or kernel_key in results):
                continue
            grams = _measured_grams(data, row, setting, common, results, n_jobs)
            evaluate = partial(_validated, data, protocol, grams)
        fixed |= {"classes": data.classes, "grid_size": len(settings)}
        record = partial(_record, data, protocol, fixed, results, missing, evaluate)
        for _, found in as_finished(record, len(missing), n_jobs):
            if found is not None:
                computed += results.append(found)
            progress.advance(1)
    return computed


def _key(fixed: dict[str, Any], place: tuple[int, int]) -> str:
    return identity_key("fold", {**fixed, "repetition": place[0], "fold": place[1]})


def _record(
    data: LabelledGraphs,
    protocol: Protocol,
    fixed: dict[str, Any],
    results: Results,
    missing: list[tuple[int, int]],
    evaluate: Callable[[TestFold], dict[str, Any]],
    number: int,
) -> FoldRecord | None:
    """Compute the record of a missing fold; None if another process has stored it meanwhile."""
    repetition, fold = missing[number]
    if _key(fixed, missing[number]) in results:
        return None
    start = time.perf_counter()
    split = test_fold(data, protocol, repetition, fold)
    return FoldRecord(
        **fixed,
        repetition=repetition,
        fold=fold,
        test=split.test.tolist(),
        truth=data.codes[split.test].tolist(),
        **evaluate(split),
        seconds=round(time.perf_counter() - start, 4),
    )


def _validated(
    data: LabelledGraphs, protocol: Protocol, grams: np.ndarray, split: TestFold
) -> dict[str, Any]:
    """Evaluate the levels of a kernel on a fold."""
    levels, fits = protocol.evaluate(grams, data.codes, len(data.classes), split)
    return {"levels": levels, "fits": fits}


def _fitted(
    data: LabelledGraphs, row: TunedRow, protocol: Protocol, split: TestFold
) -> dict[str, Any]:
    """Fit an estimator to the training graphs of a fold and evaluate it."""
    model = row.estimator(data, protocol)
    model.fit(row.examples(data, split.train), data.codes[split.train])
    predictions, scores = _answers(model, row.examples(data, split.test), len(data.classes))
    level = Level(validation=[], C=None, predictions=predictions, scores=scores)
    members = [_name(member) for member in getattr(model, "terms_", [])]
    return {"levels": [level], "fits": 1, "members": members}


def identity_of(data: LabelledGraphs) -> dict[str, Any]:
    """Return the fields of a record that identify the data set."""
    return {
        "dataset": data.name,
        "fingerprint": data.fingerprint,
        "deduplicated": data.deduplicated,
        "graphs_fingerprint": data.graphs_fingerprint,
    }


def rules_of(protocol: Protocol) -> dict[str, Any]:
    """Return the fields of a record that identify the protocol."""
    return {**protocol.key._asdict(), "C": list(protocol.C)}


def setting_grams(
    grid: KernelGrid, setting: Setting, graphs: GraphBatch, n_jobs: int | None = None
) -> np.ndarray:
    """Compute the kernel matrices of all levels, of shape (levels, graphs, graphs)."""
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
    """Compute the kernel matrices and record their cost."""
    # A few graphs first, so that compiling and loading are not measured.
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


def _answers(model: Any, graphs: Any, classes: int) -> tuple[list[Any], list[Any]]:
    """Return predictions and, for classes, their scores."""
    predicted = np.asarray(model.predict(graphs))
    if not classes:
        return rounded(predicted), []
    scores = np.asarray(model.decision_function(graphs), dtype=float)
    if classes > 2 and len(model.classes_) < classes:
        # Classes without training graphs rank last.
        known = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        scores = np.full((len(known), classes), known.min(initial=0.0) - 1.0)
        scores[:, model.classes_] = known
    return predicted.tolist(), rounded(scores)


def _name(member: Mapping[str, Any]) -> str:
    """Describe a setting without its levels."""
    words = [kernel_label(member["kernel"])] if "kernel" in member else []
    words += [member["counts"]] if "counts" in member else []
    words += ["edge labels"] if member.get("edge_labels") else []
    words += [_view_words(member["view"])] if member.get("view") is not None else []
    return " + ".join(words)


def _view_words(view: Any) -> str:
    names = view if isinstance(view, str) else view_name(view)
    words = ["bonds only"] if "EdgeFilter(drop=[1])" in names else []
    words += ["attributes"] if AttributeBins.__name__ in names else []
    return " + ".join(words) or names


def test_fold(data: LabelledGraphs, protocol: Protocol, repetition: int, fold: int) -> TestFold:
    """Return the training, validation and test graphs of a fold or of another split."""
    parts = None
    if protocol.split != FOLDS:
        parts = parts_of(data, protocol.split, protocol.seed + repetition)
    return protocol.test_fold(data.codes, repetition, fold, parts)


test_fold.__test__ = False  # type: ignore[attr-defined]  # keep pytest from collecting it


# ---------------------------------------------------------------- time and memory


@dataclass
class Measured:
    """Cost of a block; set when the block ends."""

    seconds: float = 0.0
    processor_seconds: float = 0.0  # of all threads of the process
    memory: int | None = None  # bytes; None if it cannot be measured


@contextmanager
def measured() -> Iterator[Measured]:
    """Measure the time of a block and the peak growth of the process in bytes.

    >>> from mmap import mmap
    >>> with measured() as cost:
    ...     block = mmap(-1, 50_000_000)  # pages that the process does not have yet
    ...     block[::1024] = bytes(len(block[::1024]))
    >>> cost.memory is None or cost.memory > 40_000_000
    True
    """
    cost = Measured()
    before = _begin()
    start, processor = time.perf_counter(), time.process_time()
    try:
        yield cost
    finally:
        cost.seconds = time.perf_counter() - start
        cost.processor_seconds = time.process_time() - processor
        peak = _status("VmHWM")
        if before is not None and peak is not None:
            cost.memory = max(0, peak - before)


def _begin() -> int | None:
    """Reset the peak memory of the process (Linux) and return its current size."""
    try:
        with open(f"/proc/{os.getpid()}/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return None
    return _status("VmRSS")


def _status(name: str) -> int | None:
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith(f"{name}:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None
