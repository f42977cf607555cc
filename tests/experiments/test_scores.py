"""Scores from records against scikit-learn and against choosing by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, roc_auc_score

from experiments.kernels import entrant
from experiments.protocol import Protocol
from experiments.records import Records
from experiments.run import run
from experiments.scores import results

PROTOCOL = Protocol("paper", folds=4)


@pytest.fixture(scope="module")
def records(three_families, tmp_path_factory):
    file = Records(tmp_path_factory.mktemp("scores") / "records.jsonl")
    run(three_families, entrant("wl(n_iter=3)"), PROTOCOL, 3, file, n_jobs=2)
    return [record for record in file.records if record["kind"] == "fold"]


def pooled(records, choose):
    """Truth and predictions of each repetition, with a level chosen for each fold."""
    for repetition in range(3):
        folds = [r for r in records if r["repetition"] == repetition]
        truth = np.concatenate([r["truth"] for r in folds])
        yield truth, np.concatenate([r["levels"][choose(r)]["predictions"] for r in folds])


def validated(record):
    """The level with the best validation accuracy, then the larger C, then the first."""
    keys = [(max(level["validation"]), level["C"], -n) for n, level in enumerate(record["levels"])]
    return -max(keys)[2]


def test_validated(records):
    [result] = results(records, PROTOCOL).values()
    runs = list(pooled(records, validated))
    np.testing.assert_allclose(
        result.accuracies, [100 * np.mean(truth == said) for truth, said in runs]
    )
    np.testing.assert_allclose(
        result.balanced_accuracies,
        [100 * balanced_accuracy_score(truth, said) for truth, said in runs],
    )
    matrices = [confusion_matrix(truth, said) for truth, said in runs]
    np.testing.assert_allclose(result.confusion, np.mean(matrices, axis=0))
    wrong = sum(int((truth != said).sum()) for truth, said in runs)
    assert result.often_wrong.sum() == wrong
    assert (result.often_wrong <= 3).all()
    assert sum(result.chosen.values()) == 12
    truth = runs[0][0]
    assert result.majority == pytest.approx(100 * np.bincount(truth).max() / len(truth))


def test_reported_best_is_the_best_level_in_hindsight(records):
    [result] = results(records, PROTOCOL, "reported-best").values()
    by_level = [
        [100 * np.mean(truth == said) for truth, said in pooled(records, lambda r, k=k: k)]
        for k in range(4)
    ]
    means = np.round(np.mean(by_level, axis=1), 10)
    best = int(means.argmax())
    np.testing.assert_allclose(result.accuracies, by_level[best])
    assert list(result.chosen) == [f"n_iter={best}"]


def test_roc_auc_is_one_against_the_rest_by_fold(records):
    [result] = results(records, PROTOCOL).values()
    areas = {0: [], 1: [], 2: []}
    for record in records:
        scores = np.array(record["levels"][validated(record)]["scores"])
        for code, own in areas.items():
            positive = np.array(record["truth"]) == code
            own.append(roc_auc_score(positive, scores[:, code]))
    assert result.roc_auc == pytest.approx(np.mean([np.mean(own) for own in areas.values()]))


def test_unfinished_repetitions_and_other_protocols_do_not_count(records):
    last = max(n for n, record in enumerate(records) if record["repetition"] == 2)
    [result] = results(records[:last] + records[last + 1 :], PROTOCOL).values()
    assert result.accuracies.index.tolist() == [0, 1]
    assert results(records, Protocol("nested", folds=4)) == {}
    assert results(records[:2], PROTOCOL) == {}


def test_a_kernel_with_part_of_its_grid_is_not_complete(three_families, tmp_path):
    file = Records(tmp_path / "records.jsonl")
    whole = entrant("mlg")
    part = type(whole)(whole.name, type(whole.model)("MLG", whole.model.kernel, whole.settings[:1]))
    run(three_families, part, Protocol("paper", folds=3), 1, file)
    records = [{**r, "grid_size": 3} for r in file.records if r["kind"] == "fold"]
    [result] = results(records, Protocol("paper", folds=3)).values()
    assert not result.complete


def test_of_equal_validation_accuracies_the_larger_C_wins_then_the_first_level(records):
    def level(C, prediction):
        return {"validation": [0.5, 0.7], "C": C, "predictions": [prediction], "scores": [0.1]}

    base = {**records[0], "folds": 1, "repetition": 0, "fold": 0, "grid_size": 1, "settings": {}}
    names = [{"n_iter": number} for number in range(3)]
    one = {**base, "test": [0], "truth": [1], "classes": ["a", "b"], "level_names": names}
    protocol = Protocol.__new__(Protocol)  # one fold, which no protocol draws
    for name, value in {"mode": "paper", "folds": 1, "C": tuple(base["C"]), "seed": 0}.items():
        object.__setattr__(protocol, name, value)
    for costs, chosen in (((1, 10, 10), "n_iter=1"), ((1, 1, 1), "n_iter=0")):
        levels = [level(C, 1) for C in costs]
        [result] = results([{**one, "levels": levels}], protocol).values()
        assert list(result.chosen) == [chosen]
