"""The multiscale Laplacian kernel: parts against closed forms, the whole against plain NumPy."""

import networkx as nx
import numpy as np
import pytest

import graphgrain as gg
from graphgrain.core.multiscale import Balls, anchor_kernel, summaries
from graphgrain.kernels.multiscale_laplacian import _codes

from .peers import data_set, matrices_for_grakel, random_graphs


def overlap(S, T):
    """k(S, T) by its closed form."""
    inverse = np.linalg.inv
    middle = inverse((inverse(S) + inverse(T)) / 2)
    det = np.linalg.det
    return np.sqrt(det(middle)) / (det(S) * det(T)) ** 0.25


def covariance(A, features, eta, gamma):
    L = np.diag(A.sum(axis=1)) - A
    inverse = np.linalg.inv(L + eta * np.eye(len(A))) if eta else truncated_inverse(L)
    return features.T @ inverse @ features + gamma * np.eye(features.shape[1])


def truncated_inverse(L):
    values, vectors = np.linalg.eigh(L)
    keep = values > 1e-4 * values.max(initial=0)
    return (vectors[:, keep] / values[keep]) @ vectors[:, keep].T


def balls(A, radius):
    """Vertices and distances of the ball around each vertex."""
    G = nx.from_numpy_array(A)
    return [nx.single_source_shortest_path_length(G, v, cutoff=radius) for v in G]


def ball_covariance(A, ball, features, eta, gamma):
    members = list(ball)
    scale = 1 / (1 + np.array([ball[v] for v in members]))
    U = features[members] * scale[:, None]
    return covariance(A[np.ix_(members, members)], U, eta, gamma)


def test_overlap_of_single_numbers():
    # One feature: k(s, t) = sqrt(2 s t / (s + t)) / (s t)^(1/4)
    s, t = 3.0, 0.5
    assert overlap(np.array([[s]]), np.array([[t]])) == pytest.approx(
        np.sqrt(2 * s * t / (s + t)) / (s * t) ** 0.25
    )


@pytest.mark.parametrize("radius", [1, 2])
def test_balls_have_the_closed_form_of_their_covariances(radius):
    batch = random_graphs(8, seed=4, labels=4, density=0.3)
    eta, gamma = 0.2, 0.05
    codes = _codes(batch)
    one_hot = (batch.label_codes[:, None] == np.arange(len(batch.label_table))).astype(float)
    vertices = np.arange(batch.n_vertices)
    features = np.empty((batch.n_vertices, 0))
    parts = summaries(
        batch.arrays,
        Balls(radius, eta, gamma, codes, features, 14),
        batch.graph_of_vertex,
        vertices,
    )
    covariances = []
    for g, (A, _) in enumerate(matrices_for_grakel(batch)):
        features = one_hot[batch.offsets[g] : batch.offsets[g + 1]]
        covariances += [ball_covariance(A, ball, features, eta, gamma) for ball in balls(A, radius)]
    expected = [[overlap(S, T) for T in covariances[:20]] for S in covariances[:20]]
    np.testing.assert_allclose(anchor_kernel(parts)[:20, :20], expected, rtol=1e-9)


def plain_numpy(batch, n_levels, radius, eta, gamma):
    """The whole kernel with every different ball as an anchor and all directions kept."""
    graphs = [A for A, _ in matrices_for_grakel(batch)]
    one_hot = (batch.label_codes[:, None] == np.arange(len(batch.label_table))).astype(float)
    features = np.split(one_hot, batch.offsets[1:-1])
    for level in range(n_levels):
        covariances = [
            ball_covariance(A, ball, F, eta, gamma)
            for A, F in zip(graphs, features, strict=True)
            for ball in balls(A, (level + 1) * radius)
        ]
        K = np.array([[overlap(S, T) for T in covariances] for S in covariances])
        anchors = []
        for i in range(len(K)):
            if not (K[i, anchors] > 1 - 1e-6).any():
                anchors.append(i)
        values, vectors = np.linalg.eigh(K[np.ix_(anchors, anchors)])
        keep = np.argsort(-values)[:10]
        keep = keep[values[keep] > 0.01 * values.max()]
        projected = K[:, anchors] @ vectors[:, keep] / np.sqrt(values[keep])
        features = np.split(projected, batch.offsets[1:-1])
    whole = [covariance(A, F, 0, gamma) for A, F in zip(graphs, features, strict=True)]
    return np.array([[overlap(S, T) for T in whole] for S in whole])


@pytest.mark.parametrize("n_levels", [1, 2])
def test_the_whole_equals_plain_numpy(n_levels):
    batch = random_graphs(7, seed=2, largest=8, labels=2, density=0.4)
    kernel = gg.MultiscaleLaplacian(n_levels, n_anchors=1000)
    expected = plain_numpy(batch, n_levels, 1, 0.1, 0.01)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-6, atol=1e-9)


def test_new_graphs_do_not_change_what_was_learned():
    batch = random_graphs(30, seed=7)
    kernel = gg.MultiscaleLaplacian().fit(batch[:15])
    together = kernel.transform(batch)
    np.testing.assert_array_equal(together[20:25], kernel.transform(batch[20:25]))
    np.testing.assert_allclose(together[:15], kernel._gram_of_fitted(), rtol=1e-10)


RENAMINGS = {
    "plus one": lambda labels: labels + 1,
    "negated": lambda labels: -labels,
    "scrambled": lambda labels: (labels + 3) * 7919 % 10007,
    "words": lambda labels: np.array([f"label {label}" for label in labels], dtype=object),
}


@pytest.mark.parametrize("renaming", RENAMINGS)
def test_labels_matter_only_by_which_are_equal(renaming):
    batch = random_graphs(25, seed=5, labels=5)
    renamed = batch.with_labels(RENAMINGS[renaming](batch.labels))
    for few in (3, 8, 50):
        kernel = gg.MultiscaleLaplacian(n_anchors=few)
        other = gg.MultiscaleLaplacian(n_anchors=few)
        expected = kernel.fit_transform(batch[:20])
        np.testing.assert_allclose(other.fit_transform(renamed[:20]), expected, atol=1e-7)
        new = kernel.transform(batch[20:])
        np.testing.assert_allclose(other.transform(renamed[20:]), new, atol=1e-7)


def test_labels_that_could_change_places_are_drawn_together():
    """Ten labels with the same role: any selection among them would depend on their values."""
    star = [(0, leaf) for leaf in range(1, 11)]
    graphs = [(star, [0, *range(1, 11)]), ([(0, 1)], [1, 2]), ([(0, 1)], [1, 0])]
    batch = gg.as_graphs(graphs[:1])
    renamed = batch.with_labels(batch.labels * -7)
    kernel, other = gg.MultiscaleLaplacian(n_anchors=2), gg.MultiscaleLaplacian(n_anchors=2)
    kernel.fit(batch)
    other.fit(renamed)
    new = gg.as_graphs(graphs[1:])
    np.testing.assert_allclose(
        other.transform(new.with_labels(new.labels * -7)), kernel.transform(new), atol=1e-7
    )


def test_real_labels_can_be_renamed():
    batch = data_set("MUTAG")[:80]
    expected = gg.MultiscaleLaplacian().fit_transform(batch)
    renamed = gg.MultiscaleLaplacian().fit_transform(batch.with_labels(batch.labels + 1))
    np.testing.assert_allclose(renamed, expected, atol=1e-7)


def test_without_labels_degrees_take_their_place():
    batch = random_graphs(12)
    bare = batch.with_labels(None)
    expected = gg.MultiscaleLaplacian().fit_transform(batch.with_degree_labels())
    np.testing.assert_array_equal(gg.MultiscaleLaplacian().fit_transform(bare), expected)
    star = gg.GraphBatch.from_edges(
        [26, 23], [(0, v) for v in range(1, 26)] + [(26, v) for v in range(27, 49)]
    )
    assert len(np.unique(_codes(star))) == 2


def test_the_seed_draws_the_anchors():
    batch = random_graphs(40, largest=20)
    few = {"n_anchors": 8}
    first = gg.MultiscaleLaplacian(random_state=1, **few).fit_transform(batch)
    again = gg.MultiscaleLaplacian(random_state=1, **few).fit_transform(batch)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(
        gg.MultiscaleLaplacian(random_state=2, **few).fit_transform(batch), first
    )


def test_gram_is_positive_semidefinite_on_real_graphs():
    K = gg.MultiscaleLaplacian().fit_transform(data_set("PTC_MM")[:150])
    assert np.linalg.eigvalsh(K)[0] > -1e-9
    assert K.min() >= 0
    assert K.max() <= 1
