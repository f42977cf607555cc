"""What every kernel must do, for every kernel class there is: found, not listed."""

from __future__ import annotations

import inspect
import pickle

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array, issparse, vstack
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

import graphgrain as gg
from graphgrain.kernels.base import GraphKernel
from graphgrain.kernels.features import FeatureKernel
from graphgrain.parameters import Whole

KERNELS = sorted(
    (
        value
        for value in (getattr(gg, name) for name in gg.__all__)
        if inspect.isclass(value)
        and issubclass(value, GraphKernel)
        and not value.needs_attributes  # these have tests of their own
    ),
    key=lambda kernel: kernel.__name__,
)
EXPLICIT = [kernel for kernel in KERNELS if issubclass(kernel, FeatureKernel)]

every_kernel = pytest.mark.parametrize("Kernel", KERNELS, ids=lambda kernel: kernel.__name__)
every_explicit = pytest.mark.parametrize("Kernel", EXPLICIT, ids=lambda kernel: kernel.__name__)


def make_graphs(count: int = 24, seed: int = 0) -> tuple[gg.GraphBatch, np.ndarray]:
    """Rings and trees with labels and edge labels; the two shapes are the classes."""
    rng = np.random.default_rng(seed)
    made, y = [], []
    for number in range(count):
        size = int(rng.integers(5, 12))
        ring = number % 2 == 0
        graph = nx.cycle_graph(size) if ring else nx.random_labeled_tree(size, seed=number)
        labels = rng.choice(["C", "N", "O"], size, p=[0.6, 0.2, 0.2]).tolist()
        bonds = rng.integers(1, 3, graph.number_of_edges()).tolist()
        made.append((list(graph.edges), labels, bonds))
        y.append(int(ring))
    return gg.as_graphs(made), np.array(y)


GRAPHS, Y = make_graphs()
ODD_GRAPHS = gg.as_graphs(
    [
        ([], []),
        ([], ["C"]),
        ([], ["C", "N"]),
        ([(0, 1)], ["C", "C"]),
        ([(0, 1), (2, 3)], ["C", "C", "N", "N"]),
        ([(0, 1), (1, 2), (0, 2)], ["C", "C", "C"]),
        ([(0, 1)], ["new", "labels"]),
    ]
)


def plain(X: object) -> np.ndarray:
    return X.toarray() if issparse(X) else np.asarray(X)


def test_there_are_kernels():
    assert {gg.TreePlusPlus, gg.PathPattern} <= set(KERNELS)


@every_kernel
def test_every_public_kernel_documents_its_parameters(Kernel):
    assert Kernel.__doc__
    own = inspect.signature(Kernel).parameters
    text = "".join(parent.__doc__ or "" for parent in Kernel.__mro__)
    undocumented = [name for name in own if name not in text]
    assert not undocumented or "parameters mean the same there" in text
    assert ">>>" in Kernel.__doc__


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
    for normalize in (True, False):
        kernel = Kernel(normalize=normalize)
        K = kernel.fit_transform(ODD_GRAPHS)
        assert np.isfinite(K).all()
        assert np.isfinite(kernel.transform(GRAPHS)).all()
        assert np.isfinite(kernel.transform(ODD_GRAPHS[0])).all()
        again = kernel.transform(ODD_GRAPHS)
        np.testing.assert_allclose(again, K, rtol=1e-10, atol=1e-12)
        values = np.linalg.eigvalsh(K)
        assert values[0] > -1e-8 * max(values[-1], 1.0)
        if normalize:
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


@every_kernel
def test_labels_of_another_kind_are_an_error(Kernel):
    if not Kernel._uses_labels:
        pytest.skip(f"{Kernel.__name__} does not look at labels")
    with pytest.raises(gg.errors.InvalidGraphError, match="kind seen at fit"):
        Kernel().fit(GRAPHS).transform(GRAPHS.with_degree_labels())


@every_kernel
def test_refit_forgets(Kernel):
    kernel = Kernel()
    kernel.fit(ODD_GRAPHS)
    kernel.transform(GRAPHS[:2])
    again = kernel.fit(GRAPHS[:9]).transform(GRAPHS[9:12])
    fresh = Kernel().fit(GRAPHS[:9]).transform(GRAPHS[9:12])
    np.testing.assert_array_equal(again, fresh)


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
def test_clone_and_parameters_round_trip(Kernel):
    kernel = Kernel()
    parameters = kernel.get_params()
    assert clone(kernel).get_params() == parameters
    assert Kernel().set_params(**parameters).get_params() == parameters
    assert set(Kernel.parameter_rules) <= set(parameters)


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
def test_parameters_changed_after_fit_are_not_mixed_with_what_was_learnt(Kernel):
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
def test_renumbering_vertices_changes_nothing(Kernel):
    from .test_invariance import shuffled

    expected = Kernel().fit_transform(GRAPHS)
    np.testing.assert_allclose(Kernel().fit_transform(shuffled(GRAPHS, 3)), expected, atol=1e-6)


@every_kernel
def test_pipeline_cross_validation_and_lists(Kernel):
    pipeline = make_pipeline(Kernel(), SVC(kernel="precomputed"))
    folds = StratifiedKFold(3)
    scores = cross_val_score(pipeline, GRAPHS, Y, cv=folds)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    listed = cross_val_score(pipeline, list(GRAPHS), Y, cv=folds)
    np.testing.assert_array_equal(scores, listed)


@every_explicit
def test_features_multiply_to_the_gram(Kernel):
    kernel = Kernel(output="features")
    X = kernel.fit_transform(GRAPHS)
    assert issparse(X)
    assert X.has_canonical_format
    K = Kernel(normalize=False).fit_transform(GRAPHS)
    np.testing.assert_allclose((X @ X.T).toarray(), K, rtol=1e-12)
    new = kernel.transform(GRAPHS[4:9])
    np.testing.assert_array_equal(new.toarray(), X[4:9].toarray())


@every_explicit
def test_hashed_columns_are_the_features_in_fewer_columns(Kernel):
    """With room for all features nothing meets; with little room entries add up, none is lost."""
    X = Kernel(output="features").fit_transform(GRAPHS)
    wide = Kernel(output="features", n_features=2**31 - 1).transform(GRAPHS)  # without fit
    assert wide.has_canonical_format
    used, columns = np.unique(wide.indices, return_inverse=True)  # a product over 2^31 is large
    wide = csr_array((wide.data, columns, wide.indptr), shape=(len(GRAPHS), len(used)))
    np.testing.assert_allclose((wide @ wide.T).toarray(), (X @ X.T).toarray(), rtol=1e-12)
    narrow = Kernel(output="features", n_features=7).fit_transform(GRAPHS)
    assert narrow.shape == (len(GRAPHS), 7)
    np.testing.assert_allclose(narrow.sum(axis=1), X.sum(axis=1), rtol=1e-12)
    folded = np.zeros((len(GRAPHS), 7))  # 7 divides 7 * 2^20: the same columns, folded again
    entries = Kernel(output="features", n_features=7 << 20).transform(GRAPHS).tocoo()
    np.add.at(folded, (entries.row, entries.col % 7), entries.data)
    np.testing.assert_allclose(narrow.toarray(), folded, rtol=1e-12)


@every_explicit
def test_hashed_columns_need_no_fit_and_any_chunk_gives_the_same(Kernel):
    kernel = Kernel(output="features", n_features=2**12)
    whole = kernel.transform(GRAPHS)
    parts = [clone(kernel).transform(GRAPHS[a : a + 5]) for a in range(0, len(GRAPHS), 5)]
    np.testing.assert_array_equal(vstack(parts).toarray(), whole.toarray())
    two = clone(kernel).set_params(n_jobs=2).fit(GRAPHS[:1])
    np.testing.assert_array_equal(two.transform(GRAPHS).toarray(), whole.toarray())
    assert not hasattr(two, "graphs_")
    assert len(pickle.dumps(two)) < 2000
    assert kernel.transform([]).shape == (0, 2**12)
    assert len(Kernel(output="features", n_features=5).get_feature_names_out()) == 5
    with pytest.raises(gg.errors.InvalidParameterError, match="n_features=None"):
        two.feature_names()
    model = SGDClassifier(random_state=0)
    for part, y in zip(parts, np.split(Y, range(5, len(Y), 5)), strict=True):
        model.partial_fit(part, y, classes=[0, 1])
    assert model.predict(whole).shape == Y.shape


@every_explicit
def test_a_kernel_with_hashed_columns_still_has_an_exact_gram(Kernel):
    kernel = Kernel(n_features=3)
    np.testing.assert_array_equal(kernel.fit_transform(GRAPHS), Kernel().fit_transform(GRAPHS))
    assert kernel.set_params(output="features").transform(GRAPHS).shape == (len(GRAPHS), 3)
    kernel.fit(GRAPHS)  # learns nothing, and forgets
    with pytest.raises(NotFittedError):
        kernel.set_params(output="gram").transform(GRAPHS)


@every_explicit
def test_feature_names_are_distinct_and_readable(Kernel):
    kernel = Kernel(output="features")
    X = kernel.fit_transform(GRAPHS)
    names = kernel.get_feature_names_out()
    assert len(names) == X.shape[1] == len(set(names))
    assert all(isinstance(name, str) and name.strip() for name in names)


@every_explicit
@pytest.mark.parametrize("counts", ["raw", "sqrt", "log", "binary", "intersection"])
def test_count_maps(Kernel, counts):
    if "counts" not in Kernel().get_params():
        pytest.skip(f"{Kernel.__name__} has no choice of counts")
    X = plain(Kernel(output="features").fit_transform(GRAPHS))
    kernel = Kernel(normalize=False, counts=counts)
    K = kernel.fit_transform(GRAPHS)
    maps = {"raw": lambda c: c, "sqrt": np.sqrt, "log": np.log1p, "binary": lambda c: c > 0}
    if counts == "intersection":
        expected = np.minimum(X[:, None, :], X[None, :, :]).sum(axis=2)
    else:
        mapped = maps[counts](X).astype(float)
        expected = mapped @ mapped.T
    np.testing.assert_allclose(K, expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.transform(GRAPHS[:3]), expected[:3], rtol=1e-12)
    named = Kernel(output="features", counts=counts).fit(GRAPHS[:4])
    names = named.get_feature_names_out()
    assert len(set(names)) == len(names) == named.transform(GRAPHS[:1]).shape[1]


@every_explicit
def test_features_in_a_linear_model(Kernel):
    model = make_pipeline(Kernel(output="features"), LinearSVC())
    scores = cross_val_score(model, GRAPHS, Y, cv=StratifiedKFold(3))
    assert np.isfinite(scores).all()


@every_explicit
def test_gram_levels_are_what_fewer_levels_give(Kernel):
    depth = Kernel.level_parameter
    levels = Kernel().fit(GRAPHS).gram_levels()
    np.testing.assert_allclose(levels[-1], Kernel().fit_transform(GRAPHS), rtol=1e-12)
    new = Kernel().fit(GRAPHS).gram_levels(GRAPHS[:2])
    np.testing.assert_allclose(new, levels[:, :2], rtol=1e-12, atol=1e-12)
    if depth is not None:
        for level, K in enumerate(levels):
            expected = Kernel(**{depth: level}).fit(GRAPHS)
            np.testing.assert_allclose(K, expected.gram(), rtol=1e-12)
            lower = Kernel().fit(GRAPHS).at_level(level)
            assert lower.get_params() == expected.get_params()
            new = lower.transform(GRAPHS[:2])
            np.testing.assert_allclose(new, expected.transform(GRAPHS[:2]), rtol=1e-12)
        with pytest.raises(gg.errors.InvalidParameterError, match=f"{depth} must be"):
            lower.at_level(level + 1)


def test_grid_search_over_tree_depth():
    pipeline = make_pipeline(gg.TreePlusPlus(), SVC(kernel="precomputed"))
    search = GridSearchCV(pipeline, {"treeplusplus__tree_depth": [0, 1, 2]}, cv=3)
    search.fit(GRAPHS, Y)
    assert search.best_params_["treeplusplus__tree_depth"] in (0, 1, 2)
    assert search.best_score_ > 0.6
