"""Changes at one place against a search through all places, graph isomorphism by networkx."""

from __future__ import annotations

import itertools
import warnings
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

import graphgrain as gg
from graphgrain.core.change_places import BRANCH, EDGE
from graphgrain.errors import GraphgrainWarning, InvalidParameterError
from graphgrain.searching.matched_pairs import (
    Place,
    matched_rows,
    new_database,
    part_name,
    store_places,
    surroundings_name,
)

nx = pytest.importorskip("networkx")


def as_networkx(graph):
    made = nx.Graph()
    for v, label in enumerate(graph.labels.tolist()):
        made.add_node(v, label=label, mark=0)
    for (u, v), label in zip(graph.edges.tolist(), graph.edge_labels.tolist(), strict=True):
        made.add_edge(u, v, label=label)
    return made


def kinds_of(graph):
    return sorted(str(sorted(about.items())) for _, about in graph.nodes(data=True))


def same(a, b):
    if a.size() != b.size() or kinds_of(a) != kinds_of(b):
        return False
    return nx.is_isomorphic(
        a,
        b,
        node_match=lambda x, y: x == y,
        edge_match=lambda x, y: x["label"] == y["label"],
    )


def all_places(graph, most):
    """Kind, rest with its mark, part, and size of the rest: every place, one by one."""
    found = []
    for u in graph:
        rest = graph.copy()
        rest.nodes[u]["mark"] = 1
        found.append(("branch", rest, None, len(graph)))
        if graph.degree(u) != 1 and len(graph) > 1:
            rest = rest.copy()
            rest.nodes[u]["label"] = "wild"
            found.append(("vertex", rest, graph.nodes[u]["label"], len(graph) - 1))
    for u, v in graph.edges:
        rest = graph.copy()
        rest.edges[u, v]["label"] = "wild"
        rest.nodes[u]["mark"] = rest.nodes[v]["mark"] = 1
        found.append(("edge", rest, graph.edges[u, v]["label"], len(graph)))
        cut = graph.copy()
        cut.remove_edge(u, v)
        for a, b in ((u, v), (v, u)):
            side = nx.node_connected_component(cut, b)
            if a in side or len(side) > most or 2 * len(side) > len(graph):
                continue
            rest = cut.subgraph(set(cut) - side).copy()
            rest.nodes[a]["mark"] = 1
            part = cut.subgraph(side).copy()
            part.nodes[b]["mark"] = 1
            part = nx.relabel_nodes(part, {n: ("v", n) for n in part})
            part.graph["bond"] = graph.edges[u, v]["label"]
            found.append(("branch", rest, part, len(rest)))
    return found


def other_part(a, b):
    if isinstance(a, nx.Graph) and isinstance(b, nx.Graph):
        return a.graph["bond"] != b.graph["bond"] or not same(a, b)
    return not (a is b if a is None or b is None else a == b)


def brute(graphs, most):
    """By pair of graphs the size of the largest common rest."""
    listed = [all_places(as_networkx(graph), most) for graph in graphs]
    found = {}
    for i, j in itertools.combinations(range(len(listed)), 2):
        sizes = [
            p[3]
            for p in listed[i]
            for q in listed[j]
            if p[0] == q[0] and p[3] == q[3] and other_part(p[2], q[2]) and same(p[1], q[1])
        ]
        if sizes:
            found[i, j] = max(sizes)
    return found


@st.composite
def small_sets(draw):
    graphs = []
    for _ in range(draw(st.integers(2, 6))):
        n = draw(st.integers(1, 6))
        every = list(itertools.combinations(range(n), 2))
        edges = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
        labels = draw(st.lists(st.sampled_from("CN"), min_size=n, max_size=n))
        kinds = draw(st.lists(st.sampled_from("ab"), min_size=len(edges), max_size=len(edges)))
        graphs.append((edges, labels, kinds))
    return graphs


def matched(batch, most, n_jobs=None):
    """All matched pairs of graphs, as rows."""
    with closing(new_database()) as connection:
        store_places(connection, batch, 0, np.zeros(len(batch)), most, 1, n_jobs)
        return list(matched_rows(connection))


def sizes(batch, most):
    """By pair of graphs the size of the common rest."""
    return {tuple(sorted((row.first, row.second))): row.size for row in matched(batch, most)}


@given(small_sets())
@settings(max_examples=40)
def test_matched_pairs_are_those_of_all_places(graphs):
    batch = gg.as_graphs(graphs)
    if batch.edge_label_table is None:
        return
    told = sizes(batch, 3)
    expected = brute([batch[i] for i in range(len(batch))], 3)
    same_graphs = {
        (i, j) for i, j in expected if same(as_networkx(batch[i]), as_networkx(batch[j]))
    }
    assert told == {pair: size for pair, size in expected.items() if pair not in same_graphs}


def test_rests_are_the_same_graph_for_drugs(drugs):
    graphs = drugs[0][:60]
    found = matched(graphs, 10, 2)
    assert len(found) > 20
    listed = {}
    for row in found[:40]:
        a, b = row.first, row.second
        for graph in (a, b):
            if graph not in listed:
                listed[graph] = all_places(as_networkx(graphs[graph]), 10)
        kind = ("branch", "vertex", "edge")[row.kind]
        fitting = [
            (p, q)
            for p in listed[a]
            for q in listed[b]
            if p[0] == q[0] == kind and p[3] == q[3] == row.size and other_part(p[2], q[2])
        ]
        assert any(same(p[1], q[1]) for p, q in fitting)


def test_rings_that_refinement_alone_takes_for_the_same():
    """Two fused rings of six and two joined rings of five, beside what changes."""
    fused = [*itertools.pairwise(range(10)), (9, 0), (0, 5)]
    five = [*itertools.pairwise(range(5)), (4, 0)]
    joined = [*five, *((u + 5, v + 5) for u, v in five), (0, 5)]
    ends = [(10, 11), (11, 12)]
    for rings, expected in (((fused, fused), 1), ((fused, joined), 0)):
        graphs = [
            (ring + ends, list("C" * 12 + end)) for ring, end in zip(rings, "ON", strict=True)
        ]
        assert len(gg.changes(graphs, [0.0, 1.0], min_pairs=1)) == expected


def test_long_chains_are_compared_to_their_end():
    """A label far from both ends and from the change, in two places."""
    for other, expected in ((60, 1), (61, 0)):
        graphs = []
        for end, at in (("O", 60), ("N", other)):
            labels = ["C"] * 120 + [end]
            labels[at] = "X"
            graphs.append(([(i, i + 1) for i in range(120)], labels))
        assert len(gg.changes(graphs, [0.0, 1.0], min_pairs=1)) == expected


@pytest.mark.parametrize("radius", [0, 1, 9])
def test_nothing_depends_on_how_graphs_and_vertices_are_numbered(drugs, radius):
    graphs = drugs[0][:120]
    y = np.random.default_rng(0).normal(size=120)
    rng = np.random.default_rng(1)
    turned = []
    order = rng.permutation(120)
    for number in order:
        graph = graphs[int(number)]
        places = rng.permutation(graph.n_vertices)
        labels = np.empty(graph.n_vertices, dtype=object)
        labels[places] = graph.labels
        turned.append((places[graph.edges].tolist(), labels.tolist(), graph.edge_labels.tolist()))

    def told(changes):
        return [
            (
                *change[:4],
                *np.nan_to_num(change[4:7]).round(9).tolist(),
                [(name, pairs, round(mean, 9)) for name, pairs, mean in change.surroundings],
            )
            for change in changes
        ]

    expected = told(gg.changes(graphs, y, min_pairs=1, radius=radius))
    found = told(gg.changes(turned, y[order], min_pairs=1, radius=radius))
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert len(found) > 20


def test_on_disk_it_is_the_same(drugs, monkeypatch):
    graphs = drugs[0]
    y = np.random.default_rng(0).normal(size=len(graphs))
    expected = gg.changes(graphs, y, min_pairs=2)
    monkeypatch.setattr("graphgrain.searching.matched_pairs._MEMORY", 64)
    monkeypatch.setattr("graphgrain.searching.matched_pairs._TOGETHER", 100)
    monkeypatch.setattr("graphgrain.searching.matched_pairs._NAMED", 7)
    assert gg.changes(graphs, y, min_pairs=2) == expected


def test_of_an_index(drugs, tmp_path):
    graphs = drugs[0][:100]
    y = np.random.default_rng(0).normal(size=100)
    y[7] = np.nan
    index = gg.GraphIndex.build(tmp_path / "d.ggi", graphs[:60], columns={"y": y[:60]})
    index.add(graphs[60:], columns={"y": y[60:]})
    index.remove([3])
    keep = np.delete(np.arange(100), 3)
    with pytest.warns(GraphgrainWarning, match="y is missing for 1 of 99"):
        expected = gg.changes(graphs[keep], y[keep], min_pairs=2)
    with pytest.warns(GraphgrainWarning, match="y is missing for 1 of 99"):
        assert gg.changes(index, "y", min_pairs=2) == expected
    with pytest.warns(GraphgrainWarning, match="y is missing for 1 of 99"):
        assert gg.changes(index, y[keep], min_pairs=2) == expected
    with pytest.raises(InvalidParameterError, match="no column 'z'; it has "):
        gg.changes(index, "z")


def chains(*texts):
    return [([(i, i + 1) for i in range(len(text) - 1)], list(text)) for text in texts]


def test_statistics():
    graphs = chains("CCCO", "CCCN", "CCCCO", "CCCCN", "CCCCCO", "CCCCCN", "FFFF")
    y = [1.0, 3.0, 2.0, 4.5, 3.0, 4.5, 0.0]
    found = gg.changes(graphs, y, max_size=1)
    [change] = [change for change in found if "-O" in (change.before, change.after)]
    assert (change.before, change.after, change.kind, change.pairs) == ("-N", "-O", "branch", 3)
    steps = np.array([2.0, 2.5, 1.5])
    half = t.ppf(0.975, 2) * steps.std(ddof=1) / 3**0.5
    assert (change.low, change.high) == pytest.approx((-2 - half, -2 + half))
    assert change.mean == -2.0
    assert change.examples == [(1, 0), (3, 2), (5, 4)]
    where = [(each.name, each.pairs, each.mean) for each in change.surroundings]
    assert where == [("C(C)", 3, -2.0)]
    every = gg.changes(graphs, y, min_pairs=1)
    grown = [change for change in every if "nothing" in (change.before, change.after)]
    assert grown
    assert all(change.kind == "branch" for change in grown)


def test_labels_of_vertices_and_edges_in_rings():
    ring = [(0, 1), (1, 2), (2, 0), (2, 3)]
    graphs = [
        (ring, list("CCCO"), list("aaab")),
        (ring, list("NCCO"), list("aaab")),
        (ring, list("CCCO"), list("baab")),
    ]
    found = gg.changes(graphs, [0.0, 1.0, 5.0], min_pairs=1)
    kinds = {(change.kind, change.before, change.after): change.mean for change in found}
    assert kinds["vertex", "C", "N"] == 1.0
    assert kinds["edge", "a", "b"] == 5.0
    assert all(not np.isfinite(change.low) for change in found if change.pairs == 1)


def test_missing_y_and_nothing_found():
    graphs = chains("CCCO", "CCCN", "CCCF")
    with pytest.warns(GraphgrainWarning, match="y is missing for 1 of 3"):
        found = gg.changes(graphs, [1.0, np.nan, 3.0], min_pairs=1, max_size=1)
    assert [change.examples for change in found] in ([[(0, 2)]], [[(2, 0)]])
    assert gg.changes(chains("CO", "NNNNNN"), [1.0, 2.0]) == []
    assert gg.changes(graphs[:1], [1.0]) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [1.0]}, "1 for 3 graphs"),
        ({"min_pairs": 0}, "min_pairs must be"),
        ({"max_size": 0}, "max_size must be"),
        ({"radius": -1}, "radius must be"),
        ({"n_jobs": "all"}, "n_jobs must be"),
        ({"coverage": 1.0}, "coverage must be between 0 and 1"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        gg.changes(chains("CO", "CN", "CF"), options.pop("y", [1.0, 2.0, 3.0]), **options)


def test_duplicates_with_other_values_are_no_change():
    graphs = chains("CCCO", "CCCO", "CCCN")
    with pytest.warns(GraphgrainWarning, match="2 graphs are equal to others .* measured twice"):
        found = gg.changes(graphs, [1.0, 9.0, 3.0], min_pairs=1, max_size=1)
    assert [change.pairs for change in found] == [2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gg.changes(graphs, [1.0, 1.0, 3.0], min_pairs=1)


def test_large_branches_have_a_name():
    graphs = [(*chains("C" * 400)[0][:1], [*"C" * 399, "O"]), *chains("C" * 220)]
    [change] = gg.changes(graphs, [0.0, 1.0], min_pairs=1, max_size=10_000)
    assert change.before == "nothing"
    assert change.after == "-C and 179 more vertices"


def test_names_of_places():
    graph = gg.as_graphs([([(0, 1), (1, 2), (1, 3)], list("CCOF"))])
    assert part_name(Place(graph, BRANCH, 0, 1)) == "-C(F)O"
    assert part_name(Place(graph, BRANCH, 0, -1)) == "nothing"
    assert surroundings_name(Place(graph, BRANCH, 1, 3)) == "C(C, O)"
    assert surroundings_name(Place(graph, EDGE, 0, 1)) == "C*C(F, O)"
