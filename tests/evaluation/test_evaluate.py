"""gg.evaluate against scikit-learn's own loops."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GridSearchCV, LeaveOneOut, PredefinedSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.evaluation.statistics import corrected_t_test, holm
from graphgrain.learning.folds import stratified_folds


@pytest.fixture(scope="module")
def drugs():
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["antihistamines", "tricyclics", "opioids"]))
    return graphs[pick], y[pick]


FOLDS = np.arange(1000) % 4


def test_a_kernel_is_a_support_vector_machine_chosen_inside_the_training_graphs(drugs):
    """The same choice by scikit-learn's grid search over matrices and C."""
    graphs, y = drugs
    kernel = gg.WeisfeilerLehman(2)
    folds = FOLDS[: len(y)]
    result = gg.evaluate(kernel, graphs, y, cv=folds, random_state=3)
    grams = kernel.fit(graphs).gram_levels()
    for number in range(4):
        train, test = np.flatnonzero(folds != number), np.flatnonzero(folds == number)
        codes = np.unique(y[train], return_inverse=True)[1]
        rng = np.random.default_rng([3, 0, number + 1])
        inner = np.empty(len(train), int)
        for part, members in enumerate(stratified_folds(codes, 5, rng)):
            inner[members] = part
        best = (0.0,)
        for level, K in enumerate(grams):
            search = GridSearchCV(
                SVC(kernel="precomputed"), {"C": [1, 10, 100, 1000]}, cv=PredefinedSplit(inner)
            ).fit(K[np.ix_(train, train)], y[train])
            for mean, C in zip(
                search.cv_results_["mean_test_score"], (1, 10, 100, 1000), strict=True
            ):
                best = max(best, (round(mean, 9), C, -level))
        _, C, level = best
        machine = SVC(C=C, kernel="precomputed").fit(grams[-level][np.ix_(train, train)], y[train])
        expected = machine.score(grams[-level][np.ix_(test, train)], y[test])
        fold = result.folds[number]
        assert fold.scores["accuracy"] == pytest.approx(expected)
        assert fold.chosen == f"n_iter={-level}, C={C}"


def test_estimators_and_the_majority_are_those_of_scikit_learn(drugs):
    graphs, y = drugs
    model = make_pipeline(gg.TreePlusPlus(2, 1, output="features"), LinearSVC(random_state=0))
    folds = PredefinedSplit(FOLDS[: len(y)])
    result = gg.evaluate({"linear": model}, graphs, y, cv=folds, scoring="balanced_accuracy")
    for name, estimator, X in (
        ("linear", model, graphs),
        ("majority class", DummyClassifier(), np.zeros((len(y), 1))),
    ):
        expected = cross_val_score(estimator, X, y, cv=folds, scoring="balanced_accuracy")
        np.testing.assert_allclose(result.values(name), expected)
        row = next(row for row in result.table() if row.model == name)
        assert (row.mean, row.std) == pytest.approx((expected.mean(), expected.std()))


def test_numbers_are_predicted_by_ridge_regression_with_leave_one_out(drugs):
    """The closed form picks the alpha that leaving out by hand prefers."""
    graphs = drugs[0][:40]
    y = graphs.vertex_counts * 1.5 + np.random.default_rng(0).normal(size=40) + 0.25
    kernel = gg.VertexHistogram(similarity="minmax")
    parts = np.where(np.arange(40) < 30, "train", "test")
    result = gg.evaluate(kernel, graphs, y, cv=parts)
    K = kernel.fit_transform(graphs)
    # Kernel ridge is ridge on a factor of the matrix, and the mean is taken before.
    values, vectors = np.linalg.eigh(K)
    X = vectors * np.sqrt(np.maximum(values, 0))
    centred = y - y[:30].mean()
    errors = {}
    for alpha in 10.0 ** np.arange(-4, 1.5, 0.5):
        ridge = Ridge(alpha, fit_intercept=False)
        scores = cross_val_score(
            ridge, X[:30], centred[:30], cv=LeaveOneOut(), scoring="neg_mean_squared_error"
        )
        errors[alpha] = -scores.mean()
    alpha = min(errors, key=errors.get)
    said = Ridge(alpha, fit_intercept=False).fit(X[:30], centred[:30]).predict(X[30:])
    fold = result.folds[0]
    assert fold.chosen == f"alpha={alpha:g}" or fold.chosen.endswith(f"alpha={alpha:g}")
    assert fold.scores["rmse"] == pytest.approx(
        root_mean_squared_error(centred[30:], said), rel=1e-4
    )
    blind = result.values("mean of the targets")[0]
    assert blind == pytest.approx(root_mean_squared_error(y[30:], np.full(10, y[:30].mean())))
    assert "rmse of" in result.verdict


def test_comparisons_are_paired_corrected_and_adjusted(drugs):
    graphs, y = drugs
    names = [gg.VertexHistogram(), "wl", gg.EdgeHistogram()]
    result = gg.evaluate(names, graphs, y, cv=5, repeats=2)
    first, *rest = result.table()
    lead = [result.values(first.model) - result.values(row.model) for row in rest[:2]]
    share = np.mean([fold.test / fold.train for fold in result.folds])
    expected = holm([corrected_t_test(values, share) for values in lead])
    assert [row.p for row in rest[:2]] == pytest.approx(expected)
    assert [row.difference for row in rest[:2]] == pytest.approx([v.mean() for v in lead])
    assert np.isnan(rest[2].p)
    assert rest[2].model == "majority class"
    assert f"{abs(lead[0].mean()):.3f} worse than WL" in result.verdict
    again = gg.evaluate(names, graphs, y, cv=5, repeats=2, n_jobs=2)
    assert [fold.scores for fold in again.folds] == [fold.scores for fold in result.folds]


def test_every_fold_is_written_when_it_is_finished(drugs, tmp_path):
    graphs, y = drugs
    path, lines = tmp_path / "folds.csv", []

    def look(model, folds):
        lines.append(path.read_text().count("\n"))

    result = gg.evaluate("vertex-histogram", graphs, y, cv=3, file=path, progress=look)
    assert lines == list(range(2, 8))
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row, fold in zip(rows, result.folds, strict=True):
        assert float(row["accuracy"]) == fold.scores["accuracy"]
        assert (row["model"], int(row["fold"])) == (fold.model, fold.fold)


def test_tables_and_molecules(drugs):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("rdkit")
    smiles = [("C" * (n % 9 + 1)) + ("O" if n % 2 else "N") for n in range(40)]
    y = np.arange(40) % 2
    folds = np.arange(40) // 10
    by_list = gg.evaluate("vertex-histogram", smiles, y, cv=folds)
    frame = pd.DataFrame({"smiles": smiles})
    by_frame = gg.evaluate("vertex-histogram", frame, y, cv=folds)
    assert by_list.values("Vertex histogram").tolist() == [1.0] * 4
    assert by_frame.values("Vertex histogram").tolist() == [1.0] * 4


def test_the_grid_of_a_kernel_by_name_and_equal_models(drugs):
    graphs, y = drugs
    result = gg.evaluate(["mlg", "sp", "sp"], graphs[:60], y[:60], cv=2)
    assert [row.model for row in result.table()] == ["MLG", "SP", "SP #2", "majority class"]
    assert {fold.chosen.split(",")[0] for fold in result.folds if fold.model == "MLG"} <= {
        "n_levels=1", "n_levels=2", "n_levels=3"
    }  # fmt: skip
    assert result.table()[2].difference != 0 or "has the same" in result.verdict


@pytest.mark.parametrize(
    ("models", "more", "message"),
    [
        ("treepp", {}, "one of tree"),
        ([], {}, "must be a model"),
        (3, {}, "Models are names of kernels"),
        ("wl", {"repeats": 0}, "repeats must be 1 or more"),
        ("wl", {"scoring": "acuracy"}, "scoring is one of accuracy"),
    ],
)
def test_mistakes(models, more, message, drugs):
    graphs, y = drugs
    with pytest.raises(InvalidParameterError, match=message):
        gg.evaluate(models, graphs, y, cv=2, **more)
