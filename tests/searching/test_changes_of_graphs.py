"""Changes at one place against a search through all places, graph isomorphism by networkx."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidParameterError
from graphgrain.searching.matched_pairs import list_places, match

nx = pytest.importorskip("networkx")


def as_networkx(graph):
    made = nx.Graph()
    for v, label in enumerate(graph.labels.tolist()):
        made.add_node(v, label=label, mark=0)
    for (u, v), label in zip(graph.edges.tolist(), graph.edge_labels.tolist(), strict=True):
        made.add_edge(u, v, label=label)
    return made


def same(a, b):
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
        if graph.degree(u) > 1:
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


@given(small_sets())
@settings(max_examples=80, deadline=None)
def test_matched_pairs_are_those_of_all_places(graphs):
    batch = gg.as_graphs(graphs)
    if batch.edge_label_table is None:
        return
    places = list_places(batch, 3, 1, None)
    found = match(places)
    told = {
        (a, b): int(places.sizes[row])
        for a, b, row in zip(
            found.first.tolist(), found.second.tolist(), found.first_places, strict=True
        )
    }
    assert told == brute([batch[i] for i in range(len(batch))], 3)


def test_rests_are_common_connected_subgraphs(drugs):
    """For drugs: what is left of both graphs is the same graph, and no larger than their MCS."""
    graphs = drugs[0][:60]
    places = list_places(graphs, 10, 1, 2)
    found = match(places)
    assert len(found.first) > 20
    listed = {}
    for a, b, left, right in list(zip(*(values.tolist() for values in found), strict=True))[:40]:
        for graph in (a, b):
            if graph not in listed:
                listed[graph] = all_places(as_networkx(graphs[graph]), 10)
        kind = ("branch", "vertex", "edge")[places.kinds[left]]
        size = places.sizes[left]
        assert size == places.sizes[right]
        fitting = [
            (p, q)
            for p in listed[a]
            for q in listed[b]
            if p[0] == q[0] == kind and p[3] == q[3] == size and other_part(p[2], q[2])
        ]
        assert any(same(p[1], q[1]) for p, q in fitting)


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
        ({"coverage": 1.0}, "coverage must be between 0 and 1"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        gg.changes(chains("CO", "CN", "CF"), options.pop("y", [1.0, 2.0, 3.0]), **options)


def test_duplicates_with_other_values_are_no_change():
    graphs = chains("CCCO", "CCCO", "CCCN")
    found = gg.changes(graphs, [1.0, 9.0, 3.0], min_pairs=1, max_size=1)
    assert [change.pairs for change in found] == [2]
