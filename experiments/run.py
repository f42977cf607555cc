"""Evaluate a kernel on a data set fold by fold, and store every finished fold.

1. List the folds that have no record yet.
2. If there are any, compute the kernel matrices of a setting and record their cost. Estimators
   are fitted to each training set instead.
3. Process the folds in several threads; append each record as soon as it is finished.

After an interruption the same call continues where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

import graphgrain as gg
from graphgrain.core.threads import as_finished, thread_count
from graphgrain.evaluation.candidates import KernelCandidates

from .data import LabelledGraphs
from .measuring import measured
from .protocol import Fold, rounded
from .protocol import Protocol as FoldProtocol
from .records import Record, identity


class Store(Protocol):
    """Where records go: a file, or the process that has it open."""

    def __contains__(self, key: str) -> bool:
        """Return whether there is a record with this identity."""

    def append(self, record: Record) -> bool:
        """Store a record; return False if there is one with its identity."""


@dataclass(frozen=True)
class Entrant:
    """A row of a table: a kernel with its candidates, or an estimator that tunes itself."""

    name: str
    model: Any

    @property
    def settings(self) -> tuple[Any, ...]:
        """Settings that are computed one after the other."""
        return self.model.settings if isinstance(self.model, KernelCandidates) else ({},)

    def levels(self, setting: Any) -> list[dict[str, Any]]:
        """Return the parameters of each level of a setting."""
        kernel = isinstance(self.model, KernelCandidates)
        return self.model.levels(setting) if kernel else [{}]


def fields(data: LabelledGraphs, entrant: Entrant, protocol: FoldProtocol) -> Record:
    """Return the fields that all records of a kernel on a data set have in common."""
    return {
        "dataset": data.name,
        "fingerprint": data.fingerprint,
        "kernel": entrant.name,
        "mode": protocol.mode,
        "folds": protocol.folds,
        "C": list(protocol.C),
        "seed": protocol.seed,
    }


def run(
    data: LabelledGraphs,
    entrant: Entrant,
    protocol: FoldProtocol,
    repeats: int,
    records: Store,
    *,
    n_jobs: int | None = None,
    advance: Callable[[int], None] = lambda folds: None,
) -> int:
    """Compute and store the missing folds; return their number.

    With ``repeats=0`` only the cost of the kernel is measured. Results do not depend on
    ``n_jobs``, the number of threads.
    """
    computed = 0
    for setting in entrant.settings:
        common = fields(data, entrant, protocol) | {"settings": dict(setting)}
        folds = [
            {"kind": "fold", **common, "repetition": repetition, "fold": fold}
            for repetition in range(repeats)
            for fold in range(protocol.folds)
        ]
        missing = [record for record in folds if identity(record) not in records]
        advance(len(folds) - len(missing))
        cost = {"kind": "kernel", **common, "n_jobs": thread_count(n_jobs)}
        grams: list[np.ndarray] = []
        if isinstance(entrant.model, KernelCandidates):
            if not missing and (repeats or identity(cost) in records):
                continue
            grams = _measured_grams(data, entrant, setting, cost, records, n_jobs)
        about = {
            "classes": data.classes,
            "grid_size": len(entrant.settings),
            "level_names": entrant.levels(setting),
        }

        finished = partial(_finished, data, entrant, protocol, records, missing, grams, about)
        for _, record in as_finished(finished, len(missing), n_jobs):
            if record is not None:
                computed += records.append(record)
            advance(1)
    return computed


def _finished(
    data: LabelledGraphs,
    entrant: Entrant,
    protocol: FoldProtocol,
    records: Store,
    missing: list[Record],
    grams: list[np.ndarray],
    about: Record,
    number: int,
) -> Record | None:
    """Return the record of a missing fold; None if it has been stored meanwhile."""
    record = missing[number]
    if identity(record) in records:
        return None
    start = time.perf_counter()
    fold = protocol.fold(data.codes, record["repetition"], record["fold"])
    levels = _levels(data, entrant, protocol, grams, fold)
    truth, spent = data.codes[fold.test].tolist(), round(time.perf_counter() - start, 4)
    more = {"test": fold.test.tolist(), "truth": truth, "levels": levels}
    return {**record, **about, **more, "seconds": spent}


def _levels(
    data: LabelledGraphs,
    entrant: Entrant,
    protocol: FoldProtocol,
    grams: list[np.ndarray],
    fold: Fold,
) -> list[Record]:
    """Return the results of each kernel matrix, or of the estimator, on a fold."""
    if grams:
        n_classes = len(data.classes)
        return [protocol.evaluate(gram, data.codes, n_classes, fold) for gram in grams]
    model = clone(entrant.model).fit(data.graphs[fold.train], data.codes[fold.train])
    values = np.asarray(model.decision_function(data.graphs[fold.test]), dtype=float)
    predicted = np.asarray(model.predict(data.graphs[fold.test])).tolist()
    if values.ndim == 2 and values.shape[1] < len(data.classes):
        # Classes without training graphs rank last.
        known = values
        values = np.full((len(known), len(data.classes)), known.min(initial=0.0) - 1.0)
        values[:, model.classes_] = known
    return [{"validation": [], "C": None, "predictions": predicted, "scores": rounded(values)}]


def _measured_grams(
    data: LabelledGraphs,
    entrant: Entrant,
    setting: Any,
    cost: Record,
    records: Store,
    n_jobs: int | None,
) -> list[np.ndarray]:
    """Compute the kernel matrices of all levels and record their cost."""
    warm_up(data, entrant, setting, n_jobs)
    with measured() as spent:
        grams = list(entrant.model.grams(setting, data.graphs, n_jobs))
    records.append(
        {
            **cost,
            "graphs": len(data),
            "seconds": round(spent.seconds, 4),
            "processor_seconds": round(spent.processor_seconds, 4),
            "memory": spent.memory,
        }
    )
    return grams


def warm_up(data: LabelledGraphs, entrant: Entrant, setting: Any, n_jobs: int | None) -> None:
    """Compute a few graphs, so that compiling and loading are not part of the cost."""
    for _ in entrant.model.grams(setting, data.graphs[: min(len(data), 4)], n_jobs):
        pass


def self_tuned() -> Entrant:
    """Return the classifier of graphgrain with its defaults."""
    return Entrant("GraphClassifier", gg.GraphClassifier(random_state=0))
