"""scikit-learn's own checks of estimators.

Its checks make tables, and ours take graphs. So what needs no data is checked for every estimator
there is, and everything else where each row of a table becomes a graph (:mod:`.table_rows`).
"""

from __future__ import annotations

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import graphgrain as gg

from .table_rows import for_tables

ESTIMATORS = sorted(
    (
        value
        for value in (getattr(gg, name) for name in gg.__all__)
        if inspect.isclass(value)
        and issubclass(value, BaseEstimator)
        and value not in (gg.GraphKernel, gg.FeatureKernel)
    ),
    key=lambda estimator: estimator.__name__,
)
#: What needs no data.
WITHOUT_DATA = [
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
]


def test_there_are_estimators():
    assert {gg.TreePlusPlus, gg.EdgeFilter, gg.GraphClassifier} <= set(ESTIMATORS)


@pytest.mark.parametrize("Estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
@pytest.mark.parametrize("name", WITHOUT_DATA)
def test_checks_without_data(Estimator, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(Estimator.__name__, Estimator())


# ---------------------------------------------------------------- all checks, on tables

ONE = gg.VertexHistogram()
#: A kernel with a matrix, with named and with hashed columns, one without features, three learners.
ON_TABLES = [
    for_tables(gg.TreePlusPlus)(path_depth=2, tree_depth=1),
    for_tables(gg.WeisfeilerLehman)(output="features"),
    for_tables(gg.VertexHistogram)(output="features", n_features=64),
    for_tables(gg.PyramidMatch)(depth=1),
    for_tables(gg.GraphClassifier)(ONE, alpha=1.0),
    for_tables(gg.GraphRegressor)(ONE, alpha=[0.01, 0.1]),
    for_tables(gg.GraphRegressor)(["wl", "sp"]),
]


def cannot_pass(estimator: BaseEstimator) -> dict[str, str]:
    """The checks that an estimator for graphs cannot pass, and why."""
    failed = {}
    if isinstance(estimator, gg.GraphClassifier):
        failed["check_fit2d_1sample"] = "one graph is one class, and the error speaks of graphs"
    if isinstance(getattr(estimator, "kernels", None), list):
        failed["check_sample_weight_equivalence_on_dense_data"] = "the evidence counts graphs"
    return failed


@parametrize_with_checks(ON_TABLES, expected_failed_checks=cannot_pass)
def test_checks_on_tables(estimator, check):
    check(estimator)
