"""Every kernel with explicit features can point: names, occurrences, all of them at once."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import graphgrain as gg
from graphgrain.core.counting import count_hashes
from graphgrain.errors import InvalidParameterError
from graphgrain.kernels.bases.feature_kernel import FeatureKernel
from tests import real_data
from tests.kernels.found_kernels import COUNTED, EXPLICIT, GRAPHS, ODD_GRAPHS, every_explicit, plain
from tests.strategies import graphs, to_tuple


def fitted(Kernel, **parameters):
    return Kernel(output="features", **parameters).fit(GRAPHS)


@every_explicit
@pytest.mark.parametrize("batch", [GRAPHS[:6], ODD_GRAPHS], ids=["usual", "odd"])
def test_located_occurrences_are_those_that_are_counted(Kernel, batch):
    kernel = fitted(Kernel)
    for number in range(len(batch)):
        counted = kernel.count_features(batch[number])
        located = kernel.locate(batch[number])
        assert len(located) == len(counted)
        for counts, level in zip(counted, located, strict=True):
            found = level.tally()
            order = np.argsort(counts.hashes)
            np.testing.assert_array_equal(found.hashes, counts.hashes[order])
            np.testing.assert_allclose(found.values, counts.counts[order], rtol=1e-12)
            if level.weights is None:
                np.testing.assert_array_equal(found.times, counts.counts[order])
            n = batch[number].n_vertices
            assert level.paths.shape[0] == len(level.hashes)
            assert level.trees.shape[0] == n
            assert level.paths.max(initial=-1) < n
            assert level.trees[:, :1].ravel().tolist() == list(range(n))
            assert (level.paths[:, :1] >= 0).all()


@pytest.mark.parametrize(
    ("Kernel", "options"),
    [
        *((Kernel, {"counts": how}) for Kernel in COUNTED for how in ("raw", "intersection")),
        *((Kernel, {}) for Kernel in EXPLICIT if Kernel not in COUNTED),
    ],
)
def test_a_feature_occurs_as_often_as_it_counts_by_number_and_by_name(Kernel, options):
    kernel = fitted(Kernel, **options)
    names = kernel.feature_names()
    reader = gg_count_reader(kernel)
    rng = np.random.default_rng(0)
    for number in (0, 3):
        row = reader(number)
        for column in rng.permutation(len(names))[:15].tolist() + np.flatnonzero(row)[:15].tolist():
            found = kernel.occurrences(GRAPHS[number], column)
            assert found == kernel.occurrences(GRAPHS[number], names[column])
            if kernel.locate(GRAPHS[number])[0].weights is None:
                assert len(found) == row[column], names[column]
            assert bool(found) == bool(row[column])


def dict_of(level, vocabulary):
    """How often each feature of a vocabulary is counted in the only graph of a level."""
    counts = dict(zip(level.hashes.tolist(), level.counts.tolist(), strict=True))
    return np.array([counts.get(code, 0) for code in vocabulary.tolist()])


def gg_count_reader(kernel):
    """How often the pattern behind each column occurs in a graph, if at least as often as asked."""
    names = kernel.feature_names()
    if kernel.counts != "intersection":
        return lambda number: np.concatenate(
            [
                dict_of(level, vocabulary)
                for level, vocabulary in zip(
                    kernel.count_features(GRAPHS[number]), kernel.vocabulary_, strict=True
                )
            ]
        )
    base = [name.partition(" (at least ")[0] for name in names]

    def row(number):
        present = plain(kernel.transform(GRAPHS))[number] > 0
        totals = {}
        for name, there in zip(base, present, strict=True):
            totals[name] = totals.get(name, 0) + int(there)
        return np.array([totals[name] * there for name, there in zip(base, present, strict=True)])

    return row


@pytest.mark.parametrize("counts", ["raw", "intersection"])
def test_a_long_name_that_only_other_graphs_have(counts):
    chain, ring = [([(0, 1)], ["C", "O"])], [([(0, 1), (1, 2), (0, 2)], ["C", "C", "N"])]
    kernel = gg.EdgeHistogram(counts=counts).fit(chain + ring)
    assert kernel.occurrences(chain, "C - N") == []
    assert kernel.occurrences(ring, "C - N") == [(0, 2), (1, 2)]
    with pytest.raises(KeyError, match="No feature has the name 'N - O'"):
        kernel.occurrences(chain, "N - O")


@every_explicit
def test_unknown_features_are_refused(Kernel):
    kernel = fitted(Kernel)
    with pytest.raises(KeyError, match="No feature has the name 'nonsense'"):
        kernel.occurrences(GRAPHS[0], "nonsense")
    with pytest.raises(IndexError, match="out of range"):
        kernel.occurrences(GRAPHS[0], 10**9)
    with pytest.raises(gg.errors.InvalidGraphError, match=r"one graph; got 2. Use graphs\[i\]"):
        kernel.occurrences(GRAPHS[:2], 0)
    with pytest.raises(gg.errors.InvalidGraphError, match="locate looks at one graph; got 2"):
        kernel.locate(GRAPHS[:2])


@pytest.mark.parametrize("edge_labels", [False, True])
def test_shortest_paths_are_shortest_paths_with_those_labels(edge_labels):
    kernel = gg.ShortestPath(edge_labels=edge_labels).fit(GRAPHS)
    for number in range(4):
        graph = GRAPHS[number]
        peer = nx.Graph(graph.edges.tolist())
        bonds = dict(zip(map(tuple, graph.edges.tolist()), graph.edge_labels, strict=True))
        [found] = kernel.locate(graph)
        names = dict(
            zip(
                np.unique(found.hashes).tolist(),
                kernel.descriptions_of(graph, 0, np.unique(found.hashes)),
                strict=True,
            )
        )
        for code, row in zip(found.hashes.tolist(), found.paths.tolist(), strict=True):
            path = [v for v in row if v >= 0]
            u, v = path[0], path[-1]
            distance = nx.shortest_path_length(peer, u, v)
            link = str(distance)
            if edge_labels:
                assert len(path) == distance + 1
                labels = [bonds[tuple(sorted(pair))] for pair in pairwise(path)]
                link = f"[{','.join(map(str, labels))}]"
            assert names[code] == f"{graph.labels[u]} {link} {graph.labels[v]}"


@settings(max_examples=40)
@given(graphs(max_size=9))
def test_trees_are_the_vertices_within_the_level(graph):
    item = to_tuple(graph)
    peer = nx.Graph()
    peer.add_nodes_from(range(len(graph.labels)))
    peer.add_edges_from(tuple(edge) for edge in graph.edges)
    near = dict(nx.all_pairs_shortest_path_length(peer))
    for kernel in (gg.TreePlusPlus(2, 2), gg.WeisfeilerLehman(2)):
        for level, found in enumerate(kernel.locate([item])):
            for v, row in enumerate(found.trees.tolist()):
                expected = {w for w, distance in near[v].items() if distance <= level}
                assert {w for w in row if w >= 0} == expected
                assert len([w for w in row if w >= 0]) == len(expected)


def test_a_name_of_a_real_data_set_is_found_without_reading_the_others():
    batch, _ = real_data.load("MUTAG")
    kernel = gg.TreePlusPlus().fit(batch)
    graph = batch[17]
    level = kernel.locate(graph)[2]
    [name] = kernel.descriptions_of(graph, 2, level.hashes[:1])
    assert len(kernel.occurrences(graph, name)) == int((level.hashes == level.hashes[0]).sum())


@every_explicit
def test_shared_columns_point_to_all_patterns_that_meet_in_them(Kernel):
    kernel = Kernel(output="features", n_features=7).fit(GRAPHS)
    X = plain(kernel.transform(GRAPHS[:3]))
    scale = kernel.level_scales[0]
    for number in range(3):
        for column in range(7):
            found = kernel.occurrences(GRAPHS[number], column)
            if (
                (kernel.level_scales == scale).all()
                and kernel.counts == "raw"
                and kernel._whole_counts
            ):
                assert len(found) == X[number, column]
            assert bool(found) == bool(X[number, column])
    with pytest.raises(IndexError, match="there are 7"):
        kernel.occurrences(GRAPHS[0], 7)


def test_a_kernel_need_not_know_where_its_features_are():
    """A kernel of one's own: counts are enough for everything but pointing."""

    class Sizes(FeatureKernel):
        def __init__(self, *, similarity="cosine", output="gram", counts="raw", n_features=None):
            self.similarity, self.output = similarity, output
            self.counts, self.n_features, self.n_jobs = counts, n_features, None

        def count_features(self, batch):
            return [count_hashes(np.arange(len(batch) + 1), batch.vertex_counts.astype(np.uint64))]

    graphs = gg.as_graphs([([(0, 1)], ["C", "O"]), ([], ["C", "N"]), ([], ["C"])])
    assert Sizes().fit_transform(graphs).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert len(Sizes().fit(graphs).feature_names()) == 2
    with pytest.raises(InvalidParameterError, match="Sizes does not say where"):
        Sizes().fit(graphs).occurrences(graphs[0], 0)
