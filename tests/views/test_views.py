"""Views against networkx and NumPy; learning from the fitted graphs alone; combinations."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError
from graphgrain.graphs.batch import replaced

from ..kernels.test_tree_plus_plus import often
from ..strategies import graphs, to_tuple

RNG = np.random.default_rng(0)


def attributed(count: int = 12, seed: int = 0) -> gg.GraphBatch:
    rng = np.random.default_rng(seed)
    made = [nx.gnp_random_graph(8, 0.4, seed=seed + number) for number in range(count)]
    edges = [np.array(graph.edges).reshape(-1, 2) + 8 * i for i, graph in enumerate(made)]
    flat = np.concatenate(edges)
    return gg.GraphBatch.from_edges(
        [8] * count,
        flat,
        rng.integers(0, 2, 8 * count),
        edge_labels=rng.integers(1, 4, len(flat)),
        vertex_attributes=rng.normal(size=(8 * count, 3)),
        edge_attributes=rng.random((len(flat), 1)),
    )


BATCH = attributed()


@often
@given(graphs(max_size=8), st.sets(st.sampled_from([0, 1, 7, -3])), st.booleans())
def test_filter_by_label_equals_building_without_those_edges(graph, labels, keep):
    if not graph.edges:
        return
    view = gg.EdgeFilter(keep=labels) if keep else gg.EdgeFilter(drop=labels)
    seen = view.fit_transform([to_tuple(graph)])
    graph.edges = {edge: label for edge, label in graph.edges.items() if (label in labels) == keep}
    wanted = gg.as_graphs([to_tuple(graph)])
    assert seen.labels.tolist() == wanted.labels.tolist()
    assert seen.edges.tolist() == wanted.edges.tolist()
    assert seen.edge_labels.tolist() == (
        [] if wanted.edge_labels is None else wanted.edge_labels.tolist()
    )


def test_filter_by_attribute():
    seen = gg.EdgeFilter(above=0.2, below=0.7).fit_transform(BATCH)
    values = BATCH.edge_attributes[BATCH.edge_entries][:, 0]
    inside = (values >= 0.2) & (values <= 0.7)
    assert 0 < inside.sum() < len(inside)
    np.testing.assert_array_equal(seen.edges, BATCH.edges[inside])
    np.testing.assert_array_equal(seen.edge_attributes[seen.edge_entries][:, 0], values[inside])


def test_lengths_are_distances_and_do_not_turn():
    lengths = gg.EdgeLengths().fit_transform(BATCH)
    ends = BATCH.vertex_attributes[BATCH.edges]
    expected = np.sqrt(((ends[:, 0] - ends[:, 1]) ** 2).sum(axis=1))
    np.testing.assert_allclose(lengths.edge_attributes[lengths.edge_entries][:, 0], expected)
    turn = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    turned = replaced(BATCH, vertex_attributes=BATCH.vertex_attributes @ turn + 5.0)
    again = gg.EdgeLengths().fit_transform(turned)
    np.testing.assert_allclose(again.edge_attributes, lengths.edge_attributes)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_bins_are_those_of_scikit_learn(strategy):
    one = replaced(BATCH, vertex_attributes=BATCH.vertex_attributes[:, :1].copy())
    peer = KBinsDiscretizer(7, encode="ordinal", strategy=strategy, subsample=None)
    options = {"quantile_method": "linear"} if "quantile_method" in peer.get_params() else {}
    peer.set_params(**options)
    expected = peer.fit_transform(one.vertex_attributes)[:, 0].astype(int)
    view = gg.AttributeBins(n_bins=7, strategy=strategy, keep_labels=False)
    assert view.fit_transform(one).labels.tolist() == [str(value) for value in expected]


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_nearest_centres(offset):
    """Also far from the origin, where differences of squares would lose all digits."""
    batch = replaced(BATCH, vertex_attributes=BATCH.vertex_attributes + offset)
    view = gg.AttributeBins(n_bins=6, strategy="kmeans", keep_labels=False)
    labels = view.fit_transform(batch).labels
    distances = np.linalg.norm(
        (batch.vertex_attributes / view.scale_)[:, None] - view.centres_[None], axis=2
    )
    assert labels.tolist() == [str(value) for value in distances.argmin(axis=1)]
    assert len(set(labels.tolist())) == 6


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
@pytest.mark.parametrize("on", ["vertex", "edge"])
def test_bins_learn_from_the_fitted_graphs_alone(strategy, on):
    view = gg.AttributeBins(on=on, strategy=strategy).fit(BATCH[:6])
    extreme = attributed(seed=9)
    extreme = replaced(extreme, vertex_attributes=extreme.vertex_attributes * 1000)
    before = view.transform(BATCH[6:])
    view.transform(extreme)
    assert view.transform(BATCH[6:]) == before
    assert view.transform(BATCH[8]) == before[2]


@pytest.mark.parametrize("on", ["vertex", "edge"])
@pytest.mark.parametrize(
    ("method", "peer"), [("standard", StandardScaler()), ("range", MinMaxScaler())]
)
def test_scales_are_those_of_scikit_learn(method, peer, on):
    name = f"{on}_attributes"
    view = gg.AttributeScaler(on, method).fit(BATCH[:6])
    peer.fit(getattr(BATCH[:6], name))
    seen = view.transform(BATCH)
    np.testing.assert_allclose(getattr(seen, name), peer.transform(getattr(BATCH, name)))
    assert replaced(seen, **{name: getattr(BATCH, name)}) == BATCH  # the rest is as it was
    assert view.transform(BATCH[8]) == seen[8]


@pytest.mark.parametrize("method", ["standard", "range"])
def test_scaling_columns_that_are_constant_huge_or_tiny(method):
    values = np.array([[7.0, 1e200, 3e-200], [7.0, 3e200, 1e-200], [7.0, 2e200, 2e-200]])
    graphs = gg.GraphBatch.from_edges([3], [], vertex_attributes=values)
    seen = gg.AttributeScaler(method=method).fit_transform(graphs).vertex_attributes
    low, middle, high = [0.0, 0.5, 1.0] if method == "range" else [-(1.5**0.5), 0.0, 1.5**0.5]
    expected = [[0.0, low, high], [0.0, high, low], [0.0, middle, middle]]
    np.testing.assert_allclose(seen, expected, atol=1e-12)
    empty = gg.GraphBatch.from_edges([0], [])
    assert gg.AttributeScaler(method=method).fit(graphs).transform(empty).n_vertices == 0
    assert gg.AttributeScaler(method=method).fit_transform(empty).n_vertices == 0


VIEWED_KERNELS = [
    make_pipeline(gg.AttributeScaler(), gg.Propagation(attributes=True)),
    make_pipeline(gg.AttributeBins(), gg.TreePlusPlus()),
    make_pipeline(gg.EdgeLengths(), gg.AttributeBins("edge"), gg.TreePlusPlus(edge_labels=True)),
    make_pipeline(gg.AttributeBins("edge", strategy="kmeans"), gg.TreePlusPlus(edge_labels=True)),
    gg.HashedAttributes(gg.TreePlusPlus(2, 1)),
    gg.HashedAttributes(gg.TreePlusPlus(2, 1, edge_labels=True), on="edge", width=0.5),
]


@pytest.mark.parametrize("model", VIEWED_KERNELS, ids=str)
def test_kernels_with_attributes_are_inductive_and_repeatable(model):
    model = clone(model)
    K = model.fit_transform(BATCH)
    np.testing.assert_allclose(model.transform(BATCH), K, atol=1e-12)
    np.testing.assert_allclose(model.transform(BATCH[3:5]), K[3:5], atol=1e-12)
    np.testing.assert_array_equal(clone(model).fit_transform(BATCH), K)
    assert np.linalg.eigvalsh(K)[0] > -1e-10


@pytest.mark.parametrize("model", VIEWED_KERNELS, ids=str)
def test_renumbering_with_attributes_changes_nothing(model):
    rng = np.random.default_rng(4)
    places = np.concatenate([8 * g + rng.permutation(8) for g in range(len(BATCH))])
    back = np.argsort(places)
    moved = gg.GraphBatch.from_edges(
        BATCH.vertex_counts,
        places[BATCH.edges],
        BATCH.labels[back],
        edge_labels=BATCH.edge_labels,
        vertex_attributes=BATCH.vertex_attributes[back],
        edge_attributes=BATCH.edge_attributes[BATCH.edge_entries],
    )
    np.testing.assert_allclose(
        clone(model).fit_transform(moved), clone(model).fit_transform(BATCH), atol=1e-12
    )


def test_hashing_tends_to_the_closeness_of_attributes():
    """Two vertices share a bin with a probability that falls with their distance."""
    points = np.array([0.0, 0.5, 1.0, 2.0, 8.0])
    batch = gg.GraphBatch.from_edges([1] * 5, [], vertex_attributes=points)
    kernel = gg.HashedAttributes(gg.TreePlusPlus(0, 0), n_draws=1500, width=2.0)
    K = kernel.fit_transform(batch)
    rng = np.random.default_rng(1)
    slope = np.abs(rng.normal(size=200_000))[:, None] / points.std() / 2.0
    expected = np.maximum(0, 1 - slope * points[None, :]).mean(axis=0)
    np.testing.assert_allclose(K[0], expected, atol=0.04)  # three standard errors


def test_the_kernel_on_hashed_attributes_keeps_its_parameters():
    model = gg.HashedAttributes(gg.TreePlusPlus(2, 1), n_draws=2).fit(BATCH)
    model.set_params(kernel__n_jobs=2).transform(BATCH[:2])
    model.set_params(kernel__tree_depth=0)
    with pytest.raises(InvalidParameterError, match="kernel__tree_depth was 1 at fit and is 0"):
        model.transform(BATCH[:2])
    expected = clone(model).fit_transform(BATCH)
    np.testing.assert_array_equal(model.fit(BATCH).gram(), expected)


def test_hashed_attributes_beyond_64_bits_are_far_from_each_other():
    far = gg.GraphBatch.from_edges([1] * 4, [], vertex_attributes=[0.0, 1.0, 1e30, -1e30])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        K = gg.HashedAttributes(gg.VertexHistogram()).fit(far[:2]).transform(far[2:])
    np.testing.assert_array_equal(K, 0.0)
    kernel = gg.HashedAttributes(gg.VertexHistogram(), width=1e-30).fit(far)
    assert kernel.gram()[2, 3] == 0.0


def test_feature_union_adds_the_kernels():
    views = [
        gg.TreePlusPlus(3, 1, output="features"),
        make_pipeline(gg.EdgeFilter(drop=[1]), gg.TreePlusPlus(3, 1, output="features")),
    ]
    union = FeatureUnion([("all", views[0]), ("some", views[1])])
    X = union.fit_transform(BATCH)
    parts = [clone(view).fit_transform(BATCH) for view in views]
    expected = sum((part @ part.T).toarray() for part in parts)
    np.testing.assert_allclose((X @ X.T).toarray(), expected)
    y = np.arange(len(BATCH)) % 2
    assert np.isfinite(cross_val_score(make_pipeline(union, LinearSVC()), BATCH, y, cv=2)).all()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: gg.EdgeFilter(drop=1).fit(BATCH), InvalidParameterError, r"drop=\[1\]"),
        (lambda: gg.EdgeFilter(keep="C").fit(BATCH), InvalidParameterError, "list of edge labels"),
        (
            lambda: gg.EdgeFilter(drop=[1]).fit([([(0, 1)], [1, 2])]),
            InvalidGraphError,
            "needs graphs with edge labels",
        ),
        (
            lambda: gg.EdgeFilter(above=0.1, attribute=4).fit(BATCH),
            InvalidParameterError,
            "0 to 0",
        ),
        (
            lambda: gg.AttributeBins().fit([([(0, 1)], [1, 2])]),
            InvalidGraphError,
            "needs vertex attributes",
        ),
        (lambda: gg.AttributeBins(n_bins=0).fit(BATCH), InvalidParameterError, "1 or more; got 0"),
        *(
            (
                lambda how=how: (
                    gg.AttributeBins(strategy=how)
                    .fit(BATCH)
                    .transform(gg.GraphBatch.from_edges([1], [], vertex_attributes=[[1.0] * 9]))
                ),
                InvalidGraphError,
                "as many vertex attributes as at fit .*; got 9",
            )
            for how in ("quantile", "kmeans")
        ),
        (
            lambda: gg.AttributeScaler(method="log").fit(BATCH),
            InvalidParameterError,
            "'standard', 'range'; got 'log'",
        ),
        (
            lambda: (
                gg.AttributeScaler()
                .fit(BATCH)
                .transform(gg.GraphBatch.from_edges([1], [], vertex_attributes=[[1.0] * 9]))
            ),
            InvalidGraphError,
            r"as at fit \(3\); got 9",
        ),
        (lambda: gg.EdgeLengths(columns=[7]).fit_transform(BATCH), InvalidParameterError, "0 to 2"),
        (lambda: gg.HashedAttributes("wl").fit(BATCH), InvalidParameterError, "got 'wl'"),
        (
            lambda: gg.HashedAttributes(gg.TreePlusPlus(), on="edge").fit(BATCH),
            InvalidParameterError,
            "kernel must be one that uses them",
        ),
        (
            lambda: (
                gg.HashedAttributes()
                .fit(BATCH)
                .transform(gg.GraphBatch.from_edges([1], [], [0], vertex_attributes=[1.0]))
            ),
            InvalidGraphError,
            "as many vertex attributes as at fit",
        ),
        (lambda: gg.HashedAttributes(width=0).fit(BATCH), InvalidParameterError, "above 0; got 0"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_edges_are_filtered_by_labels_of_their_kind():
    texts = gg.as_graphs([([(0, 1), (1, 2)], ["C", "C", "O"], ["-", "="])])
    numbers = gg.as_graphs([([(0, 1), (1, 2)], ["C", "C", "O"], [1, 2])])
    for batch, wrong in ((texts, 1), (numbers, "1")):
        for name in ("keep", "drop"):
            with pytest.raises(InvalidParameterError, match=f"got {wrong!r}"):
                gg.EdgeFilter(**{name: [wrong]}).fit(batch)
    assert gg.EdgeFilter(drop=["="]).fit_transform(texts).n_edges == 1
    assert gg.EdgeFilter(keep=np.array([2, 3])).fit_transform(numbers).n_edges == 1


@pytest.mark.parametrize("strategy", ["quantile", "kmeans"])
def test_bins_need_attributes_at_fit(strategy):
    some = gg.GraphBatch.from_edges([2], [(0, 1)], vertex_attributes=np.array([[0.5], [1.0]]))
    view = gg.AttributeBins(strategy=strategy).fit(some[:0])
    with pytest.raises(InvalidGraphError, match="has seen no vertex attributes at fit"):
        view.transform(some)


@pytest.mark.parametrize(
    "view",
    [
        gg.EdgeFilter(attribute=1, above=0.0),
        gg.AttributeBins("edge"),
        gg.AttributeBins("edge", n_bins=2, strategy="kmeans"),
        gg.AttributeScaler("edge"),
        gg.EdgeLengths(columns=[0, 2]),
    ],
)
def test_graphs_without_edges_need_no_attributes(view):
    """As converters read them: without attributes, or with a table that has no columns."""
    some = gg.GraphBatch.from_edges(
        [3], [(0, 1), (1, 2)], vertex_attributes=np.eye(3), edge_attributes=[[1, 2], [3, 4]]
    )
    fitted = clone(view).fit(some)
    bare = [gg.as_graphs([([], [])])]
    if not isinstance(view, gg.EdgeLengths):
        bare.append(gg.as_graphs([([], ["C"])]))
        bare.append(gg.from_networkx([nx.empty_graph(2)], edge_attributes="weight"))
    for batch in bare:
        assert fitted.transform(batch).n_vertices == batch.n_vertices
        assert clone(view).fit_transform(batch).n_edges == 0


def test_a_fit_that_fails_leaves_the_earlier_one(monkeypatch):
    near, far = (
        gg.GraphBatch.from_edges([3], [], vertex_attributes=factor * np.arange(3.0)[:, np.newaxis])
        for factor in (1.0, 100.0)
    )
    view = gg.AttributeBins(n_bins=2, strategy="kmeans").fit(near)
    before = view.transform(near).labels.tolist()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn.cluster.KMeans.fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        view.fit(far)
    assert view.transform(near).labels.tolist() == before


def test_features_behind_views_have_names():
    batch = gg.GraphBatch.concatenate([attributed(6, seed=0), attributed(6, seed=9)])
    views = (gg.EdgeFilter(drop=[1]), gg.AttributeBins())
    kernel = gg.WeisfeilerLehman(1, output="features")
    seen = batch
    for view in views:
        seen = view.fit_transform(seen)
    names = clone(kernel).fit(seen).get_feature_names_out()
    pipeline = make_pipeline(*map(clone, views), clone(kernel)).fit(batch)
    assert pipeline.get_feature_names_out().tolist() == names.tolist()
    assert len(names) > 10
