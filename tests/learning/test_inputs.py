"""Each kind of wrong target has one clear message."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.learning.inputs import check_classes, check_folds, check_values
from graphgrain.learning.regressor import TargetScale


@pytest.mark.parametrize(
    "y",
    [
        [1, 2, 1, 2],
        np.array([1.0, 2.0, 1.0, 2.0]),
        ["a", "b", "a", "b"],
        np.array(["a", "b", "a", "b"], dtype=object),
        np.array([True, False, True, False]),
    ],
    ids=["int", "whole floats", "str", "object str", "bool"],
)
def test_classes_of_any_kind(y):
    classes, codes = check_classes(y, 4)
    assert classes[codes].tolist() == list(y)
    assert sorted(classes.tolist()) == classes.tolist()


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_strings_of_any_length():
    classes, codes = check_classes(np.array(["a", "b", "a", "b"], np.dtypes.StringDType()), 4)
    assert (classes.tolist(), codes.tolist()) == (["a", "b"], [0, 1, 0, 1])
    graphs = [([(0, 1)], [label, label]) for label in "CNCN"] * 3
    y = np.array(["ccc", "n"] * 6, np.dtypes.StringDType())
    model = gg.GraphClassifier("vertex-histogram", cv=2).fit(graphs, y)
    assert model.predict_set(graphs[:2], coverage=0.5) == [["ccc"], ["n"]]
    gap = np.array(["a", "b", None, "b"], np.dtypes.StringDType(na_object=None))
    with pytest.raises(InvalidParameterError, match="graph 2 has None"):
        check_classes(gap, 4)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.5, 2.5, 1.5, 2.5], r"continuous values such as 1.5.*GraphRegressor"),
        ([1, 1, 1, 1], r"at least two classes.*all 4 graphs have the class"),
        ([1, 1, 1, 2], r"at least 2 graphs.*class 2 has 1"),
        ([1, np.nan, 1, 2], r"graph 1 has nan \(1 in all\)"),
        (np.array(["a", None, "a", "b"], dtype=object), r"graph 1 has None"),
        ([1, 2, 1], r"each of the 4 graphs; its shape is \(3,\)"),
        ([[1, 2], [1, 2], [2, 1], [2, 1]], r"one class per graph; y has the shape \(4, 2\)"),
        (np.array([1, "a", 1, "a"], dtype=object), r"all numbers or all strings; got .*int, str"),
        (None, r"must be classes to learn; got y=None"),
        (np.array([b"a", b"b", b"a", b"b"]), r"integers or strings; got an array of \|S1"),
    ],
)
def test_wrong_classes(y, message):
    with pytest.raises(InvalidParameterError, match=message):
        check_classes(y, 4)


def test_regression_values():
    assert check_values([1, 2, 3], 3).dtype == np.float64
    with pytest.raises(InvalidParameterError, match="must be numbers; got 'a'"):
        check_values(["a", "b"], 2)
    with pytest.raises(InvalidParameterError, match="must be finite"):
        check_values([1.0, np.inf], 2)
    with pytest.raises(InvalidParameterError, match="graph 1 has nan"):
        check_values([1.0, np.nan], 2)


def test_fewer_graphs_than_folds():
    check_folds(10, 10)
    with pytest.raises(InvalidParameterError, match="got 9 graphs for 10 folds"):
        check_folds(10, 9)


def test_a_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        classes, codes = check_classes(np.array([["b"], ["a"], ["b"], ["a"]]), 4)
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1, 0]


def skewed(shape: str) -> np.ndarray:
    """Targets such as assays give: percentages close to 100, concentrations over five decades."""
    rng = np.random.default_rng(0)
    if shape == "percent":
        return 100.0 * (1 - rng.beta(0.5, 6.0, 300))
    return np.exp(rng.normal(0, 2.5, 300))


@pytest.mark.parametrize("shape", ["percent", "decades"])
@pytest.mark.parametrize("kind", ["log", "yeo-johnson"])
@given(beyond=st.floats(0.0, 10.0))
def test_beyond_the_targets_nothing_explodes(shape, kind, beyond):
    y = skewed(shape)
    scale = TargetScale(kind, y[:, np.newaxis])
    scaled = scale.scaled(y[:, np.newaxis])
    np.testing.assert_allclose(scale.original(scaled).ravel(), y, rtol=1e-6)
    range_ = scaled.max() - scaled.min()
    asked = np.array([scaled.min() - beyond, scaled.min(), scaled.max(), scaled.max() + beyond])
    low, least, most, high = scale.original(asked[:, np.newaxis]).ravel()
    furthest = beyond * (y.max() - y.min()) / range_  # the line from the least to the greatest
    slack = 1e-9 * (y.max() - y.min())
    assert least - furthest - slack <= low <= least + slack
    assert most - slack <= high <= most + furthest + slack
    if kind == "log":
        assert low > 0
    spread = scale.deviation(asked[:, np.newaxis], np.full((4, 1), 0.1))
    assert (spread > 0).all()  # nowhere is it sure


def test_deviations_in_the_units_of_the_target():
    """Against the log-normal distribution, and against integrals on a fine grid."""
    y = np.exp(np.linspace(-20, 20, 101))[:, np.newaxis]
    scale = TargetScale("log", y)
    for std in (0.01, 0.3, 0.8):
        p = float(scale.original(np.zeros((1, 1)))[0, 0])
        expected = p * np.sqrt(np.exp(2 * std**2) - 2 * np.exp(std**2 / 2) + 1)
        found = scale.deviation(np.zeros((1, 1)), np.full((1, 1), std / scale.spread))
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    z = np.linspace(-8, 8, 100_001)[:, np.newaxis]
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    for kind in ("none", "yeo-johnson", "log"):
        scale = TargetScale(kind, skewed("chi2")[:, np.newaxis])
        for center in (-0.5, 0.0, 1.0):
            away = scale.original(center + 0.4 * z) - scale.original(np.full((1, 1), center))
            expected = np.sqrt(np.trapezoid((density * away**2)[:, 0], z[:, 0]))
            found = scale.deviation(np.full((1, 1), center), np.full((1, 1), 0.4))
            np.testing.assert_allclose(found, expected, rtol=0.02)
