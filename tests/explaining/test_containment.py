"""Containment against networkx and RDKit."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from networkx.algorithms.isomorphism import GraphMatcher, categorical_edge_match

import graphgrain as gg
from graphgrain.explaining.containment import contains
from tests.strategies import graphs, to_tuple


def as_networkx(graph):
    made = nx.Graph()
    for vertex, label in enumerate(graph.labels):
        made.add_node(vertex, label=label)
    for edge, label in graph.edges.items():
        made.add_edge(*edge, bond=label)
    return made


@settings(max_examples=150, deadline=None)
@given(graphs(max_size=8), graphs(max_size=5))
def test_any_two_graphs(whole, part):
    matcher = GraphMatcher(
        as_networkx(whole),
        as_networkx(part),
        lambda a, b: a["label"] == b["label"],
        categorical_edge_match("bond", None),
    )
    found = contains(gg.as_graphs([to_tuple(whole)]), gg.as_graphs([to_tuple(part)]))
    assert found == matcher.subgraph_is_monomorphic()


def test_undecided_within_the_limit():
    """A part with one ring too many for the whole, in graphs that look alike everywhere."""
    whole = nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 9))
    part = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 5))
    part.add_edge(0, 24)
    batch = gg.from_networkx([whole, part], vertex_label=None)
    assert contains(batch[0], batch[1]) is None


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        ("CC1CCOCC1", "CC1CCCCC1", False),  # an oxane has no cyclohexane
        ("CCCCCCO", "C1CCCCC1", False),  # all atoms of a ring, but not its last bond
        ("CCc1ccccc1O", "c1ccccc1", True),
        ("CC(=O)Nc1ccc(O)cc1", "Nc1ccc(O)cc1", True),
        ("CC(=O)O", "CCO", True),
        ("CCO", "CC=O", False),
    ],
)
def test_molecules_as_rdkit_says(whole, part, expected):
    chem = pytest.importorskip("rdkit.Chem")
    graphs = gg.from_smiles([whole, part])
    molecules = [chem.MolFromSmiles(smiles) for smiles in (whole, part)]
    assert molecules[0].HasSubstructMatch(molecules[1]) == expected
    assert contains(graphs[0], graphs[1]) == expected
