"""The numbers of a report once more, the obvious way, from the records alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from graphgrain.evaluation.records import FoldRecord
from scipy import stats


def folds_of(records: Iterable[Any], dataset: str, kernel: str) -> list[FoldRecord]:
    return [
        r
        for r in records
        if isinstance(r, FoldRecord) and (r.dataset, r.kernel, r.variant) == (dataset, kernel, "")
    ]


def share_right(record: FoldRecord, level: int) -> tuple[int, int]:
    pairs = list(zip(record.truth, record.levels[level].predictions, strict=True))
    return sum(a == b for a, b in pairs), len(pairs)


def chosen_level(record: FoldRecord) -> int:
    """The best validation accuracy, then the larger C, then the first."""
    best = 0
    for number, level in enumerate(record.levels):
        now = record.levels[best]
        mine, its = max(level.validation), max(now.validation)
        if mine > its or (mine == its and level.C > now.C):
            best = number
    return best


def accuracies(records: Iterable[Any], dataset: str, kernel: str, level: Any = None) -> list[float]:
    """Per cent in each repetition, with the validated level or a fixed one."""
    found: dict[int, list[int]] = {}
    for record in folds_of(records, dataset, kernel):
        right, all_ = share_right(record, chosen_level(record) if level is None else level)
        sums = found.setdefault(record.repetition, [0, 0])
        sums[0] += right
        sums[1] += all_
    return [100 * right / all_ for right, all_ in found.values()]


def best_level(records: Iterable[Any], dataset: str, kernel: str) -> int:
    levels = range(len(folds_of(records, dataset, kernel)[0].levels))
    return max(levels, key=lambda level: np.mean(accuracies(records, dataset, kernel, level)))


def p_against_tree(records: Iterable[Any], dataset: str, kernel: str) -> float:
    """Corrected resampled t-test over the folds, through SciPy's plain one."""
    each = {}
    for name in ("tree++", kernel):
        each[name] = {
            (r.repetition, r.fold): np.divide(*share_right(r, chosen_level(r)))
            for r in folds_of(records, dataset, name)
        }
    differences = [each[kernel][place] - each["tree++"][place] for place in each[kernel]]
    count, folds = len(differences), folds_of(records, dataset, kernel)[0].folds
    t = stats.ttest_1samp(differences, 0).statistic
    t *= np.sqrt((1 / count) / (1 / count + 1 / (folds - 1)))
    return float(2 * stats.t.sf(abs(t), count - 1))
