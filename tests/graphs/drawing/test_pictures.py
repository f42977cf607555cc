"""Pictures: every graph, well-formed, with the right colours in the right places."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError
from graphgrain.graphs.drawing.colours import Palette
from graphgrain.graphs.drawing.layout import layout
from graphgrain.graphs.drawing.molecule import as_molecule
from tests.strategies import graphs, to_tuple

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</svg><script>alert(1)</script>"&'


def parsed(text):
    return ElementTree.fromstring(text)


@settings(max_examples=40, deadline=None)
@given(graphs(max_size=12))
def test_any_graph_is_drawn_inside_its_picture(graph):
    svg = parsed(gg.draw([to_tuple(graph)], width=300, height=200))
    circles = svg.findall(f"{SVG}circle")
    assert len(circles) == len(graph.labels)
    assert len(svg.findall(f"{SVG}line")) == len(graph.edges)
    for circle in circles:
        assert 0 <= float(circle.get("cx")) <= 300
        assert 0 <= float(circle.get("cy")) <= 200


@settings(max_examples=30, deadline=None)
@given(graphs(max_size=14))
def test_layouts_keep_vertices_apart_and_components_side_by_side(graph):
    batch = gg.as_graphs([to_tuple(graph)])
    points = layout(batch)
    assert np.isfinite(points).all()
    gaps = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(len(points))
    assert gaps.min(initial=9) > 0.05
    np.testing.assert_array_equal(points, layout(batch))


def test_a_path_is_laid_out_as_a_line():
    points = layout(gg.as_graphs([nx.path_graph(8)]))
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=0.1)
    assert np.ptp(points[:, 0]) > 5 * np.ptp(points[:, 1])


def test_colours_follow_values():
    svg = parsed(gg.draw([([(0, 1), (1, 2)], [0, 0, 0])], vertices=[2.0, -2.0, 0.0]))
    fills = [circle.get("fill") for circle in svg.findall(f"{SVG}circle")]
    assert fills == ["#d95f02", "#2166ac", "#ffffff"]
    half = parsed(gg.draw([([(0, 1)], [0, 0])], vertices=[1.0, 0.5], theme="dark"))
    strong, weak = [circle.get("fill") for circle in half.findall(f"{SVG}circle")]
    assert strong == "#f58518"
    assert weak == "#844e1a"  # half way from the background #12161c
    same = parsed(gg.draw([([], [0])], vertices=[1.0], limit=2.0))
    assert same.find(f"{SVG}circle").get("fill") == Palette("light").of(0.5)


def test_the_two_ends_of_the_scale_differ_for_colour_blind_readers():
    """Simulated deuteranopia and protanopia (Vienot, Brettel, Mollon 1999), in linear light."""
    simulate = {
        "deuteranopia": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1]],
        "protanopia": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1]],
    }
    for theme in ("light", "dark"):
        ends = [Palette(theme).of(value) for value in (-1.0, 1.0)]
        rgb = [np.array([int(end[i : i + 2], 16) / 255 for i in (1, 3, 5)]) ** 2.2 for end in ends]
        for matrix in simulate.values():
            low, high = (np.clip(np.array(matrix) @ colour, 0, 1) ** (1 / 2.2) for colour in rgb)
            assert np.linalg.norm(low - high) > 0.4


def test_legend_and_words():
    graph = [([(0, 1)], ["C", "O"])]
    text = gg.draw(graph, vertices=[1, -0.5], positive="toxic", negative=HOSTILE)
    svg = parsed(text)
    words = [node.text for node in svg.findall(f"{SVG}text")]
    assert "for toxic +1" in words
    assert f"for {HOSTILE} -1" in words
    assert "script" not in [node.tag for node in svg.iter()]
    assert "C (vertex 0): +1" in svg.get("aria-label")
    assert "toxic" not in gg.draw(graph, vertices=[1, 0], positive="toxic", legend=False)
    assert svg.get("role") == "img"


@pytest.mark.parametrize("theme", ["light", "dark", "auto", "page"])
def test_themes(theme):
    text = gg.draw([([(0, 1)], [1, 2])], vertices=[1, 2], theme=theme)
    assert ("light-dark(" in text) == (theme in ("auto", "page"))
    assert ("color-scheme" in text) == (theme == "auto")


def test_labels_are_escaped():
    text = gg.draw([([(0, 1)], [HOSTILE, "C"], [HOSTILE])])
    svg = parsed(text)
    titles = [node.text for node in svg.iter(f"{SVG}title")]
    assert f"{HOSTILE} (vertex 0)" in titles
    assert "<script" not in text
    assert "<script" not in gg.as_graphs([([(0, 1)], [HOSTILE, "C"])])._repr_html_()


class TestMolecules:
    SMILES = (
        "CC(=O)Oc1ccccc1C(=O)O",
        "C[N+](C)(C)CC([O-])=O",
        "O=[N+]([O-])c1cc[nH]c1",
        "[Na+].[Cl-]",
    )

    @pytest.fixture(autouse=True)
    def needs_rdkit(self):
        pytest.importorskip("rdkit")

    @pytest.mark.parametrize("smiles", SMILES)
    @pytest.mark.parametrize("options", [{}, {"charge": True}, {"charge": True, "aromatic": True}])
    def test_atoms_and_bonds_are_those_of_the_molecule(self, smiles, options):
        from rdkit import Chem

        graph = gg.from_smiles([smiles], **options)
        molecule = as_molecule(graph)
        original = Chem.MolFromSmiles(smiles)
        symbols = [atom.GetSymbol() for atom in molecule.GetAtoms()]
        assert symbols == [atom.GetSymbol() for atom in original.GetAtoms()]
        assert molecule.GetNumBonds() == original.GetNumBonds()
        if options.get("charge"):
            charges = [atom.GetFormalCharge() for atom in molecule.GetAtoms()]
            assert charges == [atom.GetFormalCharge() for atom in original.GetAtoms()]
            if "[nH]" not in smiles:
                assert Chem.MolToSmiles(molecule) == Chem.MolToSmiles(original)
        values = np.linspace(-1, 1, graph.n_vertices)
        svg = parsed(gg.draw(graph, vertices=values, edges=np.ones(graph.n_edges)))
        assert svg.findall(f"{SVG}path")

    def test_each_atom_has_its_own_colour(self):
        graph = gg.from_smiles(["OCCN"])
        values = [1.0, 0.5, 0.0, -1.0]
        svg = parsed(gg.draw(graph, vertices=values, legend=False))
        found = {}
        for node in svg.iter(f"{SVG}ellipse"):
            atom = int(re.search(r"atom-(\d+)", node.get("class"))[1])
            found[atom] = re.search(r"fill:(#\w+)", node.get("style"))[1]
        palette = Palette("light")
        assert found == {v: palette.of(x) for v, x in enumerate(values) if x}

    def test_what_is_no_molecule(self):
        assert as_molecule(gg.as_graphs([([(0, 1)], ["Qq", "C"])])) is None
        assert as_molecule(gg.as_graphs([([(0, 1)], [6, 8])])) is None
        assert as_molecule(gg.as_graphs([([(0, 1)], ["C", "O"], ["strong"])])) is None
        assert as_molecule(gg.as_graphs([([(0, 1)], ["C", "O"])])) is not None

    def test_without_rdkit_molecules_are_dots_and_lines(self):
        script = (
            "import sys; sys.modules['rdkit'] = None\n"
            "import graphgrain as gg\n"
            "graphs, _ = gg.load_drugs()\n"
            "assert '<circle' in gg.draw(graphs[0]) and '<circle' in graphs._repr_html_()\n"
        )
        subprocess.run([sys.executable, "-c", script], check=True)


def test_bad_input():
    graph = gg.as_graphs([([(0, 1)], [0, 1])])
    with pytest.raises(InvalidGraphError, match=r"one graph; got 2. Use graphs\[i\]"):
        gg.draw(graph + graph)
    with pytest.raises(InvalidGraphError, match="up to 600 vertices; this one has 5,000"):
        gg.draw([nx.path_graph(5000)])
    with pytest.raises(InvalidParameterError, match=r"theme must be one of .* got 'pink'"):
        gg.draw(graph, theme="pink")
    with pytest.raises(InvalidParameterError, match=r"vertices must be 2 finite numbers.*\(3,\)"):
        gg.draw(graph, vertices=[1, 2, 3])
    with pytest.raises(InvalidParameterError, match="not finite"):
        gg.draw(graph, edges=[np.nan])


def test_notebooks_show_the_first_graphs():
    batch = gg.as_graphs([([(0, 1)], ["a", "b"])] * 11)
    text = batch._repr_html_()
    assert text.count("<svg") == 8
    assert "and 3 more" in text
    assert "11 graphs" in text
    large = gg.as_graphs([nx.path_graph(700)])._repr_html_()
    assert "up to 600 vertices" in large
    assert "no vertices" in gg.as_graphs([([], [])])._repr_html_()
