"""Data sets and records made by hand, quickly and the same each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.records import FoldRecord, KernelRecord, Level, Record, to_line

import graphgrain as gg

#: A name that would end the script element, run a script, and look like a place of the template.
HOSTILE = "</script><img src=x onerror=alert(1)>{{data}}&amp;"
FOLDS = 5


def made_up_fold(
    data: Any,
    kernel: str,
    skill: list[float],
    repetition: int,
    fold: int,
    *,
    level_names: list[dict[str, Any]] | None = None,
    **changes: Any,
) -> FoldRecord:
    """A fold whose predictions are right with a probability for each level: ``skill``."""
    seed = [repetition, fold, sum(map(ord, kernel + data.name))]
    rng = np.random.default_rng(seed)
    order = np.random.default_rng(repetition).permutation(len(data))
    test = np.array_split(order, FOLDS)[fold]
    truth = data.codes[test]
    classes = len(data.classes)
    levels = []
    for share in skill:
        wrong = (truth + rng.integers(1, classes, len(test))) % classes
        predictions = np.where(rng.random(len(test)) < share, truth, wrong)
        scores = rng.normal(size=len(test) if classes == 2 else (len(test), classes)).round(4)
        validation = rng.integers(5, 9, 2) / 10
        levels.append(
            Level(
                validation=validation.tolist(),
                C=[1.0, 100.0][int(validation[1] >= validation[0])],
                predictions=predictions.tolist(),
                scores=scores.tolist(),
            )
        )
    settings = {"path_depth": 6, "tree_depth": len(skill) - 1} if kernel == "tree++" else {}
    values: dict[str, Any] = {
        "dataset": data.name,
        "fingerprint": data.fingerprint,
        "deduplicated": False,
        "classes": data.classes,
        "kernel": kernel,
        "variant": "",
        "settings": settings,
        "grid_size": 1,
        "level_names": level_names
        or ([{"tree_depth": k} for k in range(len(skill))] if kernel == "tree++" else [{}]),
        "mode": "paper",
        "folds": FOLDS,
        "inner_folds": 1,
        "C": [1.0, 100.0],
        "seed": 0,
        "repetition": repetition,
        "fold": fold,
        "test": test.tolist(),
        "truth": truth.tolist(),
        "levels": levels,
        "fits": 4,
        "seconds": 0.1,
    }
    return FoldRecord(**{**values, **changes})


def made_up_kernel(data: Any, kernel: str, seconds: float, **changes: Any) -> KernelRecord:
    """What computing a kernel took."""
    values: dict[str, Any] = {
        "dataset": data.name,
        "fingerprint": data.fingerprint,
        "deduplicated": False,
        "kernel": kernel,
        "variant": "",
        "settings": {},
        "level_names": [{}],
        "graphs": len(data),
        "n_jobs": 1,
        "seconds": seconds,
        "memory": 3_000_000,
    }
    return KernelRecord(**{**values, **changes})


def small_set(name: str, graphs: int = 40) -> Any:
    """Random rings with labels; the two classes differ in size."""
    rng = np.random.default_rng(sum(map(ord, name)))
    rings = []
    for number in range(graphs):
        n = 4 + 3 * (number % 2) + int(rng.integers(3))
        edges = [(v, (v + 1) % n) for v in range(n)]
        rings.append((edges, rng.choice(["C", "N", "O"], n).tolist()))
    return prepare(name, gg.as_graphs(rings), np.arange(graphs) % 2)


def save(records: list[Record], path: Path) -> Path:
    """A results file."""
    path.write_text("".join(map(to_line, records)))
    return path
