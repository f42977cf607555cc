"""What every kernel must do, for every kernel class there is: found, not listed."""

from __future__ import annotations

import inspect
import pickle
import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import graphgrain as gg
from graphgrain.parameters import Whole

from .found_kernels import (
    EXPLICIT,
    GRAPHS,
    KERNELS,
    LABELLED,
    ODD_GRAPHS,
    Y,
    every_explicit,
    every_kernel,
    of,
    with_attributes,
)
from .peers import renumbered


@every_kernel
def test_every_kernel_documents_each_parameter_with_its_default(Kernel):
    text = inspect.cleandoc(Kernel.__doc__)
    section = re.search(r"^Parameters\n-+\n(.*?)\n\n[\w ]+\n-+$", text, re.DOTALL | re.MULTILINE)
    entries = re.findall(r"^(\w[\w, ]*?)(?: : (.*))?$", section[1], re.MULTILINE)
    own = inspect.signature(Kernel).parameters
    names = [name for together, _ in entries for name in together.split(", ")]
    assert sorted(names) == sorted(own)
    in_order = [name for name in own if own[name].kind is not inspect.Parameter.KEYWORD_ONLY]
    assert names[: len(in_order)] == in_order
    for name, kind in entries:
        if not kind:  # documented elsewhere
            assert f"{name}\n    As in :class:`" in section[1]
            continue
        default = own[name].default
        shown = f'"{default}"' if isinstance(default, str) else str(default)
        assert f"default={shown}" in kind or (default is None and "optional" in kind), name
    assert "Examples\n--------\n>>> " in text
    assert "See Also\n--------\n" in text


@every_kernel
def test_gram_is_symmetric_positive_semidefinite_with_unit_diagonal(Kernel):
    K = Kernel().fit_transform(GRAPHS)
    assert K.shape == (len(GRAPHS), len(GRAPHS))
    assert K.dtype == np.float64
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(np.diag(K), 1.0, atol=1e-12)
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-8 * values[-1]


@every_kernel
def test_transform_of_the_fitted_graphs_is_fit_transform(Kernel):
    kernel = Kernel()
    expected = kernel.fit_transform(GRAPHS)
    np.testing.assert_allclose(kernel.transform(GRAPHS), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        clone(kernel).fit(GRAPHS).transform(GRAPHS[3:7]), expected[3:7], rtol=1e-10, atol=1e-12
    )
    assert kernel.transform(GRAPHS[5]).shape == (1, len(GRAPHS))


@every_kernel
def test_never_nan_on_odd_graphs(Kernel):
    for similarity in Kernel.parameter_rules["similarity"].values:
        kernel = Kernel(similarity=similarity)
        K = kernel.fit_transform(ODD_GRAPHS)
        assert np.isfinite(K).all()
        assert np.isfinite(kernel.transform(GRAPHS)).all()
        assert np.isfinite(kernel.transform(ODD_GRAPHS[0])).all()
        again = kernel.transform(ODD_GRAPHS)
        np.testing.assert_allclose(again, K, rtol=1e-10, atol=1e-12)
        values = np.linalg.eigvalsh(K)
        assert values[0] > -1e-8 * max(values[-1], 1.0)
        if similarity != "dot":
            np.testing.assert_allclose(np.diag(K), 1.0, atol=1e-12)
    for single in ODD_GRAPHS:
        assert np.isfinite(Kernel().fit_transform(single)).all()


@every_kernel
def test_graphs_without_features_are_equal_and_apart_from_all_others(Kernel):
    nothing = gg.GraphBatch.from_edges([0, 0], [])
    fitted = gg.GraphBatch.concatenate([nothing, GRAPHS[:4]])
    kernel = Kernel()
    K = kernel.fit_transform(fitted)
    blank = np.array([1, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(K[blank == 1], np.outer([1, 1], blank))
    new = gg.GraphBatch.concatenate([GRAPHS[4:6], nothing[0]])
    np.testing.assert_array_equal(kernel.transform(new)[:2, :2], 0.0)
    np.testing.assert_array_equal(kernel.transform(new)[2], blank)
    np.testing.assert_array_equal(Kernel().fit(GRAPHS[:3]).transform(nothing), 0.0)
    assert np.linalg.eigvalsh(K)[0] > -1e-8


@every_explicit
def test_graphs_without_features_at_a_level(Kernel):
    """Edgeless graphs have no pairs, no edges: whatever a kernel finds nothing in."""
    kernel = Kernel()
    K = kernel.fit_transform(ODD_GRAPHS)
    empty = np.asarray(Kernel(output="features").fit_transform(ODD_GRAPHS).sum(axis=1)).ravel() == 0
    np.testing.assert_array_equal(K[np.ix_(empty, empty)], 1.0)
    np.testing.assert_array_equal(K[np.ix_(empty, ~empty)], 0.0)
    np.testing.assert_array_equal(kernel.transform(ODD_GRAPHS[empty]), K[empty])


@every_kernel
def test_names_of_output_columns_and_tables(Kernel):
    pandas = pytest.importorskip("pandas")
    kernel = Kernel().set_output(transform="pandas")
    table = kernel.fit_transform(GRAPHS[:5])
    prefix = Kernel.__name__.lower()
    assert isinstance(table, pandas.DataFrame)
    assert table.columns.tolist() == [f"{prefix}{number}" for number in range(5)]
    assert kernel.transform(GRAPHS[:2]).shape == (2, 5)
    plain = Kernel().fit(GRAPHS[:5])
    assert isinstance(plain.transform(GRAPHS), np.ndarray)
    assert plain.get_feature_names_out().tolist() == table.columns.tolist()
    with config_context(transform_output="pandas"):  # must not reach what a kernel uses inside
        assert isinstance(Kernel().fit(GRAPHS[:5]).transform(GRAPHS[:2]), pandas.DataFrame)


@every_explicit
def test_sparse_features_refuse_to_become_a_table(Kernel):
    kernel = Kernel(output="features").set_output(transform="pandas")
    with pytest.raises(ValueError, match="sparse"):
        kernel.fit_transform(GRAPHS[:5])


@every_kernel
def test_unseen_labels_at_transform(Kernel):
    strange = GRAPHS.with_labels(np.array(["strange"] * GRAPHS.n_vertices, dtype=object))
    K = Kernel().fit(GRAPHS).transform(strange[:4])
    assert np.isfinite(K).all()
    assert (K <= 1 + 1e-12).all()


@of(LABELLED)
def test_labels_of_another_kind_are_an_error(Kernel):
    with pytest.raises(gg.errors.InvalidGraphError, match="kind seen at fit"):
        Kernel().fit(GRAPHS).transform(GRAPHS.with_degree_labels())


@of([kernel for kernel in KERNELS if "edge_labels" in kernel.parameter_rules])
def test_edge_labels_of_another_kind_are_an_error(Kernel):
    words = np.array(["zero", "single", "double"])[GRAPHS.edge_labels]
    other = with_attributes(
        gg.GraphBatch.from_edges(
            GRAPHS.vertex_counts, GRAPHS.edges, GRAPHS.labels, edge_labels=words
        )
    )
    kernel = Kernel(edge_labels=True).fit(GRAPHS)
    with pytest.raises(gg.errors.InvalidGraphError, match=r"kind seen at fit \(integer\); got str"):
        kernel.transform(other)
    edgeless = with_attributes(gg.GraphBatch.from_edges([2], [], ["C", "N"]))
    assert kernel.transform(edgeless).shape == (1, len(GRAPHS))
    ignored = Kernel().fit(GRAPHS)
    np.testing.assert_array_equal(ignored.transform(other), ignored.transform(GRAPHS))


def test_labels_that_are_replaced_may_be_of_another_kind():
    kernel = gg.HashedAttributes(keep_labels=False, n_draws=2).fit(GRAPHS)
    assert kernel.sees == ("attributes",)
    expected = kernel.transform(GRAPHS[:3])
    found = kernel.transform(GRAPHS[:3].with_degree_labels())
    np.testing.assert_array_equal(found, expected)


@every_kernel
def test_refit_forgets(Kernel):
    kernel = Kernel()
    kernel.fit(ODD_GRAPHS)
    kernel.transform(GRAPHS[:2])
    again = kernel.fit(GRAPHS[:9]).transform(GRAPHS[9:12])
    fresh = Kernel().fit(GRAPHS[:9]).transform(GRAPHS[9:12])
    np.testing.assert_array_equal(again, fresh)


@pytest.mark.parametrize(
    ("kernel", "other"),
    [
        (gg.ReturnProbability(), {"approximate": True}),
        (gg.Propagation(attributes=True), {"attributes": False}),
        (gg.WassersteinWL(attributes=True), {"attributes": False}),
        (gg.DeepGraphKernel(), {"word_similarity": "identity"}),
        (gg.TreePlusPlus(output="features"), {"n_features": 8}),
    ],
    ids=str,
)
def test_refit_with_other_parameters_leaves_nothing_of_the_earlier_fit(kernel, other):
    again = clone(kernel).fit(GRAPHS[:5]).set_params(**other).fit(GRAPHS)
    fresh = clone(kernel).set_params(**other).fit(GRAPHS)
    learned = [{name for name in vars(one) if name.endswith("_")} for one in (again, fresh)]
    assert learned[0] == learned[1]


@every_kernel
def test_a_fit_that_fails_leaves_the_earlier_one(Kernel, monkeypatch):
    kernel = Kernel().fit(GRAPHS[:5])
    expected = kernel.transform(GRAPHS[5:8])
    fit = Kernel._fit

    def interrupted(self, batch):
        fit(self, batch)
        raise KeyboardInterrupt

    monkeypatch.setattr(Kernel, "_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kernel.fit(GRAPHS[8:15].with_degree_labels())
    np.testing.assert_array_equal(kernel.transform(GRAPHS[5:8]), expected)
    assert len(kernel.get_feature_names_out()) == 5


@every_kernel
def test_transform_leaves_the_kernel_as_it_was(Kernel):
    kernel = Kernel().fit(GRAPHS[:9])
    first = kernel.transform(GRAPHS[9:12])
    kernel.transform(GRAPHS[12:])
    np.testing.assert_array_equal(kernel.transform(GRAPHS[9:12]), first)


@every_kernel
def test_pickle_then_transform(Kernel):
    kernel = Kernel().fit(GRAPHS[:9])
    copy = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(copy.transform(GRAPHS[9:]), kernel.transform(GRAPHS[9:]))


@every_kernel
def test_every_parameter_has_a_rule_that_names_value_and_way_out(Kernel):
    assert set(Kernel.parameter_rules) == set(Kernel().get_params())
    for name in Kernel.parameter_rules:
        wrong = Kernel().set_params(**{name: "nonsense"})
        with pytest.raises(gg.errors.InvalidParameterError) as caught:
            wrong.fit(GRAPHS)
        message = str(caught.value)
        assert name in message
        assert "'nonsense'" in message
        assert "set_params" in message


@every_kernel
def test_parameters_changed_after_fit_are_not_mixed_with_what_was_learned(Kernel):
    kernel = Kernel().fit(GRAPHS[:5])
    kernel.set_params(n_jobs=2).transform(GRAPHS[:2])
    whole = [
        name
        for name, rule in Kernel.parameter_rules.items()
        if isinstance(rule, Whole) and isinstance(getattr(kernel, name), int)
    ]
    for name in whole:
        changed = Kernel().fit(GRAPHS[:5]).set_params(**{name: getattr(kernel, name) + 1})
        with pytest.raises(gg.errors.InvalidParameterError, match=f"{name} was .* Call fit again"):
            changed.transform(GRAPHS[:2])
        assert changed.fit(GRAPHS[:5]).transform(GRAPHS[:2]).shape == (2, 5)


@every_kernel
def test_transform_before_fit(Kernel):
    with pytest.raises(NotFittedError, match="not fitted"):
        Kernel().transform(GRAPHS)


@every_kernel
@pytest.mark.parametrize("nothing", [[], ()])
def test_empty_list(Kernel, nothing):
    with pytest.raises(gg.errors.InvalidGraphError, match="at least one graph"):
        Kernel().fit(nothing)
    assert Kernel().fit(GRAPHS[:3]).transform(nothing).shape == (0, 3)


@every_kernel
def test_threads_do_not_change_the_result(Kernel):
    one = Kernel(n_jobs=1).fit(GRAPHS[:12])
    two = Kernel(n_jobs=2).fit(GRAPHS[:12])
    np.testing.assert_allclose(one.transform(GRAPHS), two.transform(GRAPHS), rtol=1e-12, atol=0)


@every_kernel
@pytest.mark.parametrize("edge_labels", [False, True])
def test_renumbering_vertices_changes_nothing(Kernel, edge_labels):
    if edge_labels and "edge_labels" not in Kernel().get_params():
        pytest.skip("has no edge labels")
    kernel = Kernel(edge_labels=True) if edge_labels else Kernel()
    error = 1e-12 if Kernel in EXPLICIT else 1e-6
    for batch in [GRAPHS] if Kernel.needs_attributes else [GRAPHS, gg.load_drugs()[0][::5]]:
        expected = kernel.fit_transform(batch)
        K = kernel.fit_transform(renumbered(batch, 3))
        np.testing.assert_allclose(K, expected, rtol=error, atol=error)


@every_kernel
def test_pipeline_cross_validation_and_lists(Kernel):
    pipeline = make_pipeline(Kernel(), SVC(kernel="precomputed"))
    folds = StratifiedKFold(3)
    scores = cross_val_score(pipeline, GRAPHS, Y, cv=folds)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    listed = cross_val_score(pipeline, list(GRAPHS), Y, cv=folds)
    np.testing.assert_array_equal(scores, listed)
