"""Each kind of wrong target has one clear message."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.learning.inputs import check_classes, check_values


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
    model = gg.GraphClassifier("vertex-histogram").fit(graphs, y)
    assert model.predict(graphs[:2]).tolist() == ["ccc", "n"]
    gap = np.array(["a", "b", None, "b"], np.dtypes.StringDType(na_object=None))
    with pytest.raises(InvalidParameterError, match="graph 2 has None"):
        check_classes(gap, 4)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.5, 2.5, 1.5, 2.5], r"continuous values such as 1.5.*GraphRegressor"),
        ([1, 1, 1, 1], r"at least two classes.*got \[1\] in 4 graphs"),
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


def test_a_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        classes, codes = check_classes(np.array([["b"], ["a"], ["b"], ["a"]]), 4)
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1, 0]
