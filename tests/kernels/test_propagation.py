"""The propagation kernel against GraKeL with its own random draws, and against matrix powers."""

import grakel
import numpy as np
import pytest

import graphgrain as gg
from graphgrain.core.hashing import hash_labels
from graphgrain.kernels.propagation import Propagation

from .peers import data_set, matrices_for_grakel, random_graphs


class WithDrawsOf(Propagation):
    """Our kernel with the random numbers that a fitted GraKeL kernel has drawn."""

    def take(self, peer, table):
        order = [peer._enum_labels[label] for label in table.tolist()]
        self.known = hash_labels(table).tolist()
        self.drawn = np.array(peer._u)[:, order], np.array(peer._b)
        return self

    def _draws(self, hashes):
        assert hashes.tolist() == self.known
        return self.drawn


@pytest.mark.parametrize("metric", ["TV", "H"])
@pytest.mark.parametrize("width", [0.01, 1e-5])
def test_equals_grakel_given_its_draws(metric, width):
    batch = random_graphs(40, seed=2, labels=4)
    batch = batch[np.arange(len(batch))]
    peer = grakel.Propagation(t_max=5, w=width, M=metric, random_state=1)
    expected = peer.fit(matrices_for_grakel(batch)).transform(matrices_for_grakel(batch))
    ours = WithDrawsOf(
        n_iter=4, bin_width=width, metric={"TV": "tv", "H": "hellinger"}[metric], similarity="dot"
    )
    np.testing.assert_array_equal(ours.take(peer, batch.label_table).fit_transform(batch), expected)


def test_equals_grakel_on_real_graphs():
    batch = data_set("MUTAG")
    peer = grakel.Propagation(t_max=4, w=0.01, random_state=3)
    expected = peer.fit_transform(matrices_for_grakel(batch))
    ours = WithDrawsOf(n_iter=3, bin_width=0.01, similarity="dot")
    np.testing.assert_array_equal(ours.take(peer, batch.label_table).fit_transform(batch), expected)


def test_attributes_are_propagated_like_label_distributions():
    batch = random_graphs(20, labels=3)
    one_hot = (batch.label_codes[:, None] == np.arange(3)).astype(float)
    with_attributes = gg.GraphBatch.from_edges(
        batch.vertex_counts, batch.edges, vertex_attributes=one_hot
    )
    kernel = gg.Propagation(2, 1e-5, attributes=True, similarity="dot", random_state=4)
    ours = kernel.fit_transform(with_attributes)
    as_labels = gg.Propagation(2, similarity="dot", random_state=4)
    as_labels._draws = lambda hashes: kernel._draws(hash_labels(np.arange(3), 2))
    np.testing.assert_array_equal(ours, as_labels.fit_transform(batch))


def test_the_usual_bin_width_depends_on_what_is_propagated():
    batch = random_graphs(10)
    rng = np.random.default_rng(0)
    attributed = gg.GraphBatch.from_edges(
        batch.vertex_counts, batch.edges, vertex_attributes=rng.normal(size=(batch.n_vertices, 2))
    )
    for graphs, attributes, width in ((batch, False, 1e-5), (attributed, True, 1.0)):
        usual = gg.Propagation(attributes=attributes).fit_transform(graphs)
        told = gg.Propagation(bin_width=width, attributes=attributes).fit_transform(graphs)
        np.testing.assert_array_equal(usual, told)


def test_bins_are_those_of_matrix_powers():
    batch = random_graphs(1, seed=8, largest=12, density=0.3)
    A = matrices_for_grakel(batch)[0][0]
    T = A / np.maximum(A.sum(axis=1, keepdims=True), 1)
    P = (batch.label_codes[:, None] == np.arange(len(batch.label_table))).astype(float)
    kernel = gg.Propagation(n_iter=2, bin_width=0.1, metric="l2", output="features")
    X = kernel.fit_transform(batch).toarray()[0]
    directions, shifts = kernel._draws(hash_labels(batch.label_table))
    expected = {}
    for t in range(3):
        values = np.floor((np.linalg.matrix_power(T, t) @ P @ directions[t] + shifts[t]) / 0.1)
        for value in values.astype(int).tolist():
            name = f"t={t}: bin {value}"
            expected[name] = expected.get(name, 0) + 1
    assert dict(zip(kernel.feature_names(), X, strict=True)) == expected


def test_draws_follow_their_distributions():
    labels = hash_labels(np.arange(20_000))
    kernel = gg.Propagation(n_iter=0).fit([([], [1])])
    cauchy = kernel._draws(labels)[0][0]
    assert abs(np.median(cauchy)) < 0.05
    assert np.median(np.abs(cauchy)) == pytest.approx(1, abs=0.05)
    normal = kernel.set_params(metric="l2")._draws(labels)[0][0]
    assert normal.mean() == pytest.approx(0, abs=0.03)
    assert normal.std() == pytest.approx(1, abs=0.03)
    assert np.mean(np.abs(normal) < 1.96) == pytest.approx(0.95, abs=0.01)


def test_the_seed_decides():
    batch = random_graphs(10, labels=4)
    first = gg.Propagation(random_state=1).fit_transform(batch)
    np.testing.assert_array_equal(gg.Propagation(random_state=1).fit_transform(batch), first)
    widths = {"bin_width": 0.5}
    draws = [gg.Propagation(random_state=s, **widths).fit_transform(batch) for s in (1, 2, None)]
    assert not np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_other_fitted_graphs_change_nothing():
    batch = random_graphs(12, labels=5)
    full = gg.Propagation().fit_transform(batch)
    half = gg.Propagation().fit(batch[:6])
    np.testing.assert_allclose(half.transform(batch[6:]), full[6:, :6], rtol=1e-12)
