"""Reading records: what was validated, what would have been best, what is not finished."""

from __future__ import annotations

import numpy as np
import pytest
from graphgrain.evaluation.experiment import run
from graphgrain.evaluation.paper import varying_d, varying_k
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import ResultsFile, fold_records
from graphgrain.evaluation.summary import accuracy_against, experiments, summarise

from graphgrain.errors import InvalidParameterError
from graphgrain.kernels.registry import KERNELS, Setting

GRID = KERNELS["tree++"].with_settings(
    [Setting({"path_depth": 1, "tree_depth": 1}), Setting({"path_depth": 3, "tree_depth": 2})],
    "grid",
)
PAPER = Protocol("paper", folds=5)


@pytest.fixture(scope="module")
def records(families, tmp_path_factory):
    with ResultsFile(tmp_path_factory.mktemp("summary") / "r.jsonl") as results:
        run(families, GRID, PAPER, 3, results, n_jobs=2)
        return results.records


def by_hand(records, repetition):
    """For each fold all candidates: validation accuracy, C, correct answers, parameters."""
    folds = {}
    for record in fold_records(records):
        if record.repetition == repetition:
            for name, level in zip(record.level_names, record.levels, strict=True):
                right = np.array(level.predictions) == np.array(record.truth)
                entry = (max(level.validation), level.C, int(right.sum()))
                folds.setdefault(record.fold, []).append((entry, {**record.settings, **name}))
    return folds


def test_validated(records, families):
    [summary] = summarise(records)
    accuracies, chosen = [], []
    for repetition in range(3):
        right = 0
        for candidates in by_hand(records, repetition).values():
            best = max(candidates, key=lambda item: item[0][:2])  # the first of equals
            right += best[0][2]
            chosen.append(best[1])
        accuracies.append(right / len(families))
    assert summary.accuracy.each == pytest.approx(accuracies)
    assert summary.accuracy.std == pytest.approx(np.std(accuracies))
    assert sum(summary.chosen.values()) == 15
    assert summary.parameters in chosen
    assert summary.graphs == len(families)
    assert summary.complete
    assert summary.kernel_seconds > 0
    assert summary.fits == sum(record.fits for record in fold_records(records))


def test_reported_best_is_the_best_candidate_in_hindsight(records, families):
    [summary] = summarise(records, "reported-best")
    totals: dict[str, int] = {}
    for repetition in range(3):
        for candidates in by_hand(records, repetition).values():
            for entry, parameters in candidates:
                totals[str(parameters)] = totals.get(str(parameters), 0) + entry[2]
    assert summary.accuracy.mean == pytest.approx(max(totals.values()) / 3 / len(families))
    assert totals[str(summary.parameters)] == max(totals.values())
    assert summary.accuracy.mean >= summarise(records)[0].accuracy.mean


def test_unfinished_repetitions_do_not_count(records):
    folds = fold_records(records)
    some = [r for r in folds if (r.repetition, r.fold, r.settings["path_depth"]) != (2, 4, 3)]
    [experiment] = experiments(some)
    assert experiment.repetitions == [0, 1]
    assert summarise(some)[0].repetitions == 2
    one_setting = [r for r in folds if r.settings["path_depth"] == 1]
    assert not summarise(one_setting)[0].complete
    assert summarise([r for r in folds if r.fold == 0]) == []


def test_other_protocols_and_variants_stand_apart(records, families, tmp_path):
    with ResultsFile(tmp_path / "more.jsonl") as results:
        run(families, GRID.with_settings(GRID.settings[:1], "other"), PAPER, 1, results)
        run(families, GRID, Protocol("paper", folds=5, seed=1), 1, results)
        run(families, GRID, Protocol("nested", folds=5), 1, results)
        assert len(summarise([*records, *results.records])) == 4


def test_unknown_selection(records):
    with pytest.raises(InvalidParameterError, match="select must be one of"):
        summarise(records, "lucky")


@pytest.mark.parametrize("grid", [varying_k(), varying_d()], ids=lambda v: v.variant)
def test_curves_have_a_figure_for_each_depth(grid, families, tmp_path):
    with ResultsFile(tmp_path / "curve.jsonl") as results:
        run(families, grid, Protocol("paper", folds=3), 1, results, n_jobs=2)
        parameter = "tree_depth" if grid.variant == "figure-k" else "path_depth"
        [found] = accuracy_against(parameter, results.records)
        [experiment] = experiments(results.records)
    assert found.x == list(range(8))
    curve = dict(zip(found.x, found.accuracy, strict=True))
    for candidate, accuracy in zip(experiment.candidates, experiment.accuracies(), strict=True):
        if candidate["tree_depth"] == 1 or parameter == "tree_depth":
            assert curve[candidate[parameter]] == accuracy
