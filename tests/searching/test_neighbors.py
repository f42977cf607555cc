"""Neighbours, clusters and diverse picks against their definitions on the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.manifold import TSNE, trustworthiness
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import graphgrain as gg

from .oracle import similarity_matrix


@pytest.fixture(scope="module")
def matrix(drug_index, drugs):
    return similarity_matrix(drug_index.kernel, drugs[0], drugs[0], "minmax")


def test_kneighbors_of_new_graphs(drug_index, drugs, matrix):
    distances, numbers = drug_index.kneighbors(drugs[0][:20], 4)
    np.testing.assert_array_equal(numbers, np.argsort(-matrix[:20], axis=1, kind="stable")[:, :4])
    np.testing.assert_allclose(distances, 1 - np.take_along_axis(matrix[:20], numbers, 1))
    alone = drug_index.kneighbors(drugs[0][:20], 4, return_distance=False)
    np.testing.assert_array_equal(alone, numbers)


def test_kneighbors_of_the_index_itself(drug_index, matrix):
    others = matrix.copy()
    np.fill_diagonal(others, -1)
    numbers = drug_index.kneighbors(n_neighbors=3, return_distance=False)
    np.testing.assert_array_equal(numbers, np.argsort(-others, axis=1, kind="stable")[:, :3])


def test_radius_neighbors(drug_index, drugs, matrix):
    distances, numbers = drug_index.radius_neighbors(radius=0.5)
    for place, row in enumerate(matrix):
        near = np.setdiff1d(np.flatnonzero(1 - row <= 0.5), [place])
        assert np.sort(numbers[place]).tolist() == near.tolist()
        np.testing.assert_allclose(distances[place], 1 - row[numbers[place]])
        assert (np.diff(distances[place]) >= 0).all()


def test_scikit_learn_takes_the_neighbour_graphs(drug_index, drugs, matrix):
    y = drugs[1]
    graph = drug_index.radius_neighbors_graph(radius=0.5, mode="distance")
    found = DBSCAN(eps=0.5, min_samples=3, metric="precomputed").fit_predict(graph)
    expected = DBSCAN(eps=0.5, min_samples=3, metric="precomputed").fit_predict(1 - matrix)
    assert found.tolist() == expected.tolist()
    classifier = KNeighborsClassifier(3, metric="precomputed")
    classifier.fit(drug_index.kneighbors_graph(n_neighbors=3, mode="distance"), y)
    test = drug_index.kneighbors_graph(drugs[0][:50], 3, mode="distance")
    whole = KNeighborsClassifier(3, metric="precomputed").fit(1 - matrix, y)
    assert classifier.predict(test).tolist() == whole.predict(1 - matrix[:50]).tolist()


def test_hierarchical_density_takes_a_radius_graph(drug_index, matrix):
    """In a dense matrix each graph counts among its own neighbours; ties leave a little room."""
    near = drug_index.radius_neighbors_graph(radius=0.999, mode="distance")
    found, expected = (
        HDBSCAN(4, min_samples, metric="precomputed", copy=True).fit_predict(distances)
        for distances, min_samples in ((near, 4), (1 - matrix, 5))
    )
    assert len(set(expected)) > 5
    assert adjusted_rand_score(found, expected) > 0.9


@pytest.mark.filterwarnings("error")  # scikit-learn warns where rows are not sorted by distance
def test_a_map_keeps_the_neighbours_that_it_was_given(drug_index, matrix):
    near = drug_index.kneighbors_graph(n_neighbors=32, mode="distance")
    drawn = TSNE(metric="precomputed", init="random", perplexity=10, max_iter=350, random_state=0)
    with threadpool_limits(1):  # threads that wait for each other in vain
        points = drawn.fit_transform(near)
    assert trustworthiness(1 - matrix, points, n_neighbors=5, metric="precomputed") > 0.9


def test_neighbours_after_removal(drugs, tmp_path, matrix):
    graphs, _, names = drugs
    index = gg.GraphIndex.build(tmp_path / "r.ggi", graphs, ids=names)
    index.remove(names[[0, 3, 50]])
    keep = np.setdiff1d(np.arange(len(graphs)), [0, 3, 50])
    others = matrix[np.ix_(keep, keep)].copy()
    np.fill_diagonal(others, -1)
    numbers = index.kneighbors(n_neighbors=2, return_distance=False)
    np.testing.assert_array_equal(numbers, np.argsort(-others, axis=1, kind="stable")[:, :2])


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.9])
def test_sphere_exclusion(drug_index, matrix, threshold):
    near = matrix >= threshold - 1e-12
    labels = np.full(len(matrix), -1)
    groups = []
    for center in sorted(range(len(matrix)), key=lambda place: (-near[place].sum(), place)):
        if labels[center] < 0:
            members = [m for m in np.flatnonzero(near[center]) if labels[m] < 0]
            labels[members] = len(groups)
            groups.append((center, members))
    groups.sort(key=lambda group: -len(group[1]))
    found = gg.sphere_exclusion(drug_index, threshold)
    assert found.centers.tolist() == [center for center, _ in groups]
    for number, (_, members) in enumerate(groups):
        assert np.flatnonzero(found.labels == number).tolist() == sorted(members)
    assert found.sizes.tolist() == [len(members) for _, members in groups]


@pytest.mark.parametrize("counts", ["binary", "raw"])
def test_diverse_picks(drugs, tmp_path, counts):
    graphs = drugs[0][:100]
    kernel = gg.TreePlusPlus(3, 1, edge_labels=True, counts=counts)
    index = gg.GraphIndex.build(tmp_path / "p.ggi", graphs, kernel, similarity="minmax")
    matrix = similarity_matrix(kernel, graphs, graphs, "minmax")
    picks = [7]
    while len(picks) < 12:
        nearest = matrix[:, picks].max(axis=1)
        nearest[picks] = np.inf
        picks.append(int(np.argmin(nearest)))
    assert gg.pick_diverse(index, 12, first=7).tolist() == picks


def test_all_graphs_can_be_picked(drugs, tmp_path):
    index = gg.GraphIndex.build(tmp_path / "a.ggi", drugs[0][:5])
    assert sorted(gg.pick_diverse(index, 5).tolist()) == [0, 1, 2, 3, 4]


def test_near_duplicates(drugs, tmp_path):
    graphs = drugs[0][:100]
    train, test = graphs[::2], graphs[1::2]
    index = gg.GraphIndex.build(tmp_path / "n.ggi", train)
    matrix = similarity_matrix(index.kernel, test, train, "minmax")
    found = gg.near_duplicates(index, test, min_similarity=0.7)
    nearest = matrix.max(axis=1)
    order = np.argsort(-nearest, kind="stable")
    order = order[nearest[order] >= 0.7]
    assert found.queries.tolist() == order.tolist()
    assert found.ids.tolist() == matrix[order].argmax(axis=1).tolist()
    np.testing.assert_allclose(found.similarities, nearest[order])
