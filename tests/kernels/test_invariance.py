"""Features are a function of the graph alone: of no numbering, order, batch, thread or process."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphgrain as gg
from graphgrain.graphs.batch import replaced

from .. import real_data
from ..oracle import Graph
from ..strategies import graphs, renumbered, to_tuple
from .peers import renumbered as renumbered_batch
from .test_tree_plus_plus import often


def features(kernel: gg.TreePlusPlus, batch: object) -> list[list[tuple[int, int]]]:
    """For each graph, the sorted (hash, count) pairs of all levels."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(batch))]  # type: ignore[arg-type]
    for level in kernel.count_features(gg.as_graphs(batch)):
        ends = np.cumsum(level.lengths)
        for number, (begin, end) in enumerate(zip(ends - level.lengths, ends, strict=True)):
            codes = level.hashes[begin:end].tolist()
            found[number] += sorted(zip(codes, level.counts[begin:end].tolist(), strict=True))
    return found


def sorted_features(kernel: gg.TreePlusPlus, batch: gg.GraphBatch) -> list[np.ndarray]:
    """The same for many graphs: at each level graph, hash and count, in the order of the first."""
    found = []
    for level in kernel.count_features(batch):
        owners = np.repeat(np.arange(len(batch)), level.lengths)
        order = np.lexsort((level.hashes, owners))
        counts = level.counts[order].astype(np.uint64)
        found.append(np.array([owners[order], level.hashes[order], counts], dtype=np.uint64))
    return found


def cayley(modulus: tuple[int, ...], generators: list[tuple[int, ...]]) -> nx.Graph:
    graph = nx.Graph()
    for element in product(*map(range, modulus)):
        for generator in generators:
            other = tuple((a + g) % m for a, g, m in zip(element, generator, modulus, strict=True))
            graph.add_edge(element, other)
    return nx.convert_node_labels_to_integers(graph)


SYMMETRIC = {
    "Petersen": nx.petersen_graph(),
    "Shrikhande": cayley((4, 4), [(0, 1), (1, 0), (1, 1)]),
    "4x4 rook": nx.line_graph(nx.complete_bipartite_graph(4, 4)),
    "circulant": nx.circulant_graph(13, [1, 3, 4]),
    "Paley-like": nx.circulant_graph(17, [1, 2, 4, 8]),
    "hypercube": nx.hypercube_graph(4),
    "Cayley Z3xZ5": cayley((3, 5), [(1, 0), (0, 1), (1, 2)]),
    "dodecahedron": nx.dodecahedral_graph(),
    "Desargues": nx.desargues_graph(),
    "barbell": nx.barbell_graph(6, 12),
    "two lollipops": nx.disjoint_union(nx.lollipop_graph(5, 9), nx.lollipop_graph(5, 9)),
    "binary tree": nx.balanced_tree(2, 4),
    "caterpillar with a long body": nx.caterpillar_graph(30)
    if hasattr(nx, "caterpillar_graph")
    else nx.ladder_graph(30),
}


@often
@given(graphs(max_size=14), st.data(), st.booleans())
def test_renumbering_random_graphs(graph, data, edge_labels):
    permutation = data.draw(st.permutations(range(len(graph.labels))))
    kernel = gg.TreePlusPlus(edge_labels=edge_labels)
    before, after = features(
        kernel, [to_tuple(graph), to_tuple(renumbered(graph, list(permutation)))]
    )
    assert before == after


def relabelled(graph: Graph, vertices: dict, edges: dict) -> Graph:
    return Graph(
        [vertices[label] for label in graph.labels],
        {pair: edges[label] for pair, label in graph.edges.items()},
    )


RENAMINGS = {
    "integers": lambda place: 10 * place - 7,
    "strings": lambda place: f"label {place}",
    "prefixes": lambda place: "a" * place,
}


@often
@given(
    st.lists(graphs(max_size=9), min_size=2, max_size=4),
    st.sampled_from(sorted(RENAMINGS)),
    st.sampled_from(["eigenvector", "degree", None]),
    st.booleans(),
)
def test_renaming_that_keeps_the_order_of_labels_changes_nothing(
    made, renaming, centrality, edge_labels
):
    in_order = {label: RENAMINGS[renaming](place) for place, label in enumerate([-3, 0, 1, 7])}
    renamed = [relabelled(graph, in_order, in_order) for graph in made]
    kernel = gg.TreePlusPlus(3, 3, centrality=centrality, edge_labels=edge_labels)
    before, after = (
        kernel.fit([to_tuple(graph) for graph in which]).gram_levels() for which in (made, renamed)
    )
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", ["MUTAG", "COX2_MD"])
def test_renaming_real_data(name):
    batch, _ = real_data.load(name)
    for edge_labels in {False, batch.edge_label_table is not None}:
        kernel = gg.TreePlusPlus(edge_labels=edge_labels)
        renamed = replaced(batch, label_table=np.array([f"{x:04d}" for x in batch.label_table + 9]))
        renamed = renamed.with_labels(renamed.labels.tolist())
        if renamed.edge_label_table is not None:
            renamed = replaced(renamed, edge_label_table=3 * batch.edge_label_table + 1)
        before, after = (kernel.fit_transform(graphs) for graphs in (batch, renamed))
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("centrality", ["eigenvector", "closeness", "betweenness", "degree", None])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_renumbering_symmetric_graphs(name, centrality):
    graph = nx.convert_node_labels_to_integers(SYMMETRIC[name])
    rng = np.random.default_rng(0)
    for colours in (1, 2):
        labels = rng.integers(0, colours, len(graph))
        batch = gg.as_graphs([(np.array(graph.edges), labels)])
        kernel = gg.TreePlusPlus(tree_depth=4, centrality=centrality)
        expected = features(kernel, batch)
        for seed in range(5):
            assert features(kernel, renumbered_batch(batch, seed)) == expected


def test_strongly_regular_twins_without_labels_look_alike():
    """Shrikhande and rook share all parameters, so all sequences of (equal) labels are the same."""
    twins = [SYMMETRIC["Shrikhande"], SYMMETRIC["4x4 rook"]]
    one, other = features(gg.TreePlusPlus(2, 1), [nx.Graph(graph.edges) for graph in twins])
    assert one == other


@pytest.mark.parametrize("name", ["PTC_MM", "KKI", "BZR_MD", "PROTEINS"])
def test_renumbering_real_data(name):
    batch, _ = real_data.load(name)
    for edge_labels in {False, batch.edge_label_table is not None}:
        kernel = gg.TreePlusPlus(edge_labels=edge_labels)
        before, after = (
            sorted_features(kernel, each) for each in (batch, renumbered_batch(batch, 1))
        )
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, other)


def random_batch() -> gg.GraphBatch:
    rng = np.random.default_rng(5)
    made = []
    for seed in range(60):
        graph = nx.gnp_random_graph(int(rng.integers(0, 25)), 0.12, seed=seed)
        made.append((list(graph.edges), rng.integers(0, 3, len(graph)).tolist()))
    return gg.as_graphs(made)


def test_any_split_order_and_number_of_threads(monkeypatch):
    batch = random_batch()
    kernel = gg.TreePlusPlus()
    whole = features(kernel, batch)
    assert [features(kernel, graph)[0] for graph in batch] == whole
    order = np.random.default_rng(1).permutation(len(batch))
    assert features(kernel, batch[order]) == [whole[i] for i in order]
    assert features(kernel, batch[:13]) + features(kernel, batch[13:]) == whole
    monkeypatch.setattr("graphgrain.core.threads.CHUNK_VERTICES", 10)
    for n_jobs in (1, 2, 3, -1):
        assert features(gg.TreePlusPlus(n_jobs=n_jobs), batch) == whole


def test_hashes_are_the_same_in_another_process():
    script = (
        "import graphgrain as gg;"
        "k = gg.TreePlusPlus(3, 2).fit([([(0, 1), (1, 2)], ['C', 'N', 'ö'])]);"
        "print([v.tolist() for v in k.vocabulary_])"
    )
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    elsewhere = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    ).stdout
    here = gg.TreePlusPlus(3, 2).fit([([(0, 1), (1, 2)], ["C", "N", "ö"])])
    assert elsewhere == f"{[v.tolist() for v in here.vocabulary_]}\n"


def test_no_two_patterns_of_a_real_data_set_share_a_hash():
    """Exact patterns, by their readable names, are as many as hashes."""
    batch = real_data.load("PTC_MM")[0][::3]
    kernel = gg.TreePlusPlus(6, 2, edge_labels=True).fit(batch)
    names: set[str] = set()
    for graph in batch:
        own = gg.TreePlusPlus(6, 2, edge_labels=True).fit(graph)
        names.update(own.feature_names())
    assert len(names) == kernel.level_offsets_[-1]
