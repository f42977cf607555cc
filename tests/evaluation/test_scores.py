"""Scores against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from graphgrain.evaluation.records import FoldRecord, Level
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from graphgrain.evaluation.statistics import Scores, all_scores, blind_score, roc_auc


def fold(truth, predictions, scores, classes) -> tuple[FoldRecord, Level]:
    level = Level(validation=[1.0], C=1.0, predictions=predictions, scores=scores)
    record = FoldRecord(
        dataset="toy",
        fingerprint="f",
        deduplicated=False,
        classes=[str(c) for c in range(classes)],
        kernel="tree++",
        variant="",
        settings={},
        grid_size=1,
        level_names=[{}],
        mode="paper",
        folds=2,
        inner_folds=1,
        C=[1.0],
        seed=0,
        repetition=0,
        fold=0,
        test=list(range(len(truth))),
        truth=truth,
        levels=[level],
        fits=1,
        seconds=0.0,
    )
    return record, level


@pytest.mark.parametrize("classes", [2, 4])
def test_one_repetition(classes):
    rng = np.random.default_rng(classes)
    folds, truths, guesses, areas = [], [], [], []
    for _ in range(3):
        truth = np.concatenate((np.arange(classes), rng.integers(0, classes, 20)))
        scores = rng.normal(size=(len(truth), classes)).round(1)
        guess = scores.argmax(axis=1)
        values = scores[:, 1] if classes == 2 else scores
        folds.append(fold(truth.tolist(), guess.tolist(), values.tolist(), classes))
        truths += truth.tolist()
        guesses += guess.tolist()
        areas.append(
            [
                roc_auc_score(truth == c, scores[:, c])
                for c in (range(1, 2) if classes == 2 else range(classes))
            ]
        )
    found = {name: scores.mean for name, scores in all_scores([folds]).items()}
    assert found["accuracy"] == pytest.approx(np.mean(np.array(truths) == guesses))
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truths, guesses))
    assert found["roc_auc"] == pytest.approx(np.mean(areas))
    if classes == 2:
        precision = [average_precision_score(record.truth, level.scores) for record, level in folds]
        assert found["average_precision"] == pytest.approx(np.mean(precision))
    else:
        assert found["average_precision"] is None


def test_scores_of_numbers():
    rng = np.random.default_rng(0)
    truth, predicted = rng.normal(size=30), rng.normal(size=30)
    folds = [
        fold(truth[part].tolist(), predicted[part].tolist(), [], 0)
        for part in (slice(0, 13), slice(13, 30))
    ]
    found = {name: scores.mean for name, scores in all_scores([folds]).items()}
    assert found == {
        "rmse": pytest.approx(mean_squared_error(truth, predicted) ** 0.5),
        "mae": pytest.approx(mean_absolute_error(truth, predicted)),
        "r2": pytest.approx(r2_score(truth, predicted)),
    }
    assert blind_score(folds) == pytest.approx(
        mean_squared_error(truth, np.full(30, truth.mean())) ** 0.5
    )


def test_multiclass_area_is_scikit_learns_one_versus_rest():
    rng = np.random.default_rng(0)
    truth = np.concatenate((np.arange(3), rng.integers(0, 3, 30)))
    scores = rng.dirichlet(np.ones(3), size=len(truth))
    one = fold(truth.tolist(), scores.argmax(axis=1).tolist(), scores.tolist(), 3)
    expected = roc_auc_score(truth, scores, multi_class="ovr")
    assert all_scores([[one]])["roc_auc"].mean == pytest.approx(expected)


def test_a_fold_of_one_class_has_no_area():
    alone = fold([1, 1], [1, 0], [0.3, -0.2], 2)
    both = fold([0, 1], [0, 1], [-0.3, 0.2], 2)
    assert all_scores([[alone]])["roc_auc"] == Scores(None, None, [None])
    assert all_scores([[alone, both]])["roc_auc"].mean == 1.0
    assert roc_auc(np.array([True, True]), np.array([1.0, 2.0])) is None


def test_spread_is_over_repetitions():
    right = fold([0, 1], [0, 1], [-1.0, 1.0], 2)
    wrong = fold([0, 1], [1, 0], [1.0, -1.0], 2)
    accuracy = all_scores([[right, right], [right, wrong]])["accuracy"]
    assert accuracy.each == [1.0, 0.5]
    assert accuracy.mean == 0.75
    assert accuracy.std == 0.25
