"""Pictures: every graph, well-formed, with the right colours in the right places."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError, MissingDependencyError
from graphgrain.graphs.drawing.common_part import shared_part
from graphgrain.graphs.drawing.layouts import root_of, scaled_layout, tree_layout
from graphgrain.graphs.drawing.shapes import Palette
from graphgrain.graphs.drawing.sketches import graph_points
from tests.strategies import graphs, to_tuple

SVG = "{http://www.w3.org/2000/svg}"
INK = Palette("light").ink
HOSTILE = '</svg><script>alert(1)</script>"&'


@st.composite
def trees(draw):
    """Parents of the vertices 1, 2, ... of a tree."""
    size = draw(st.integers(3, 60))
    return [draw(st.integers(0, child - 1)) for child in range(1, size)]


def parsed(text):
    return ElementTree.fromstring(text)


@settings(max_examples=40)
@given(graphs(max_size=12))
def test_any_graph_is_drawn_inside_its_picture(graph):
    svg = parsed(gg.draw([to_tuple(graph)], width=300, height=200, legend=False))
    circles = svg.findall(f"{SVG}circle")
    assert len(circles) == len(graph.labels)
    assert len(svg.findall(f"{SVG}path")) == len(graph.edges)
    words = sorted(node.text for node in svg.findall(f"{SVG}text") if node.get("fill") == INK)
    assert words == sorted(map(str, graph.labels))  # whole, each once
    for circle in circles:
        assert 0 <= float(circle.get("cx")) <= 300
        assert 0 <= float(circle.get("cy")) <= 200


@settings(max_examples=30)
@given(graphs(max_size=14))
def test_layouts_keep_vertices_apart_and_components_side_by_side(graph):
    batch = gg.as_graphs([to_tuple(graph)])
    points = scaled_layout(batch)
    assert np.isfinite(points).all()
    gaps = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(len(points))
    assert gaps.min(initial=9) > 0.05
    np.testing.assert_array_equal(points, scaled_layout(batch))


def test_vertices_of_large_graphs_do_not_overlap():
    """As circles of the size that they are drawn with."""
    for seed in range(3):
        graph = nx.random_geometric_graph(120, 0.14, seed=seed)
        svg = parsed(gg.draw([graph], width=900, height=700, legend=False))
        circles = svg.findall(f"{SVG}circle")
        centres = np.array([[float(c.get("cx")), float(c.get("cy"))] for c in circles])
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + 1e9 * np.eye(len(centres))
        assert gaps.min() >= 2 * float(circles[0].get("r")) * 0.85


@pytest.mark.filterwarnings("error")
def test_a_single_vertex_has_no_nearest_one():
    [circle] = parsed(gg.draw([([], ["x"])], legend=False)).findall(f"{SVG}circle")
    assert float(circle.get("r")) == 14.0  # the largest radius


def test_a_path_is_laid_out_as_a_line():
    points = scaled_layout(gg.as_graphs([nx.path_graph(8)]))
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=0.1)
    assert np.ptp(points[:, 0]) > 5 * np.ptp(points[:, 1])


def test_colours_follow_values():
    svg = parsed(gg.draw([([(0, 1), (1, 2)], [0, 0, 0])], vertices=[2.0, -2.0, 0.0]))
    fills = [circle.get("fill") for circle in svg.findall(f"{SVG}circle")]
    assert fills == ["#e06910", "#488ed4", "#ffffff"]
    half = parsed(gg.draw([([(0, 1)], [0, 0])], vertices=[1.0, 0.5], theme="dark"))
    strong, weak = [circle.get("fill") for circle in half.findall(f"{SVG}circle")]
    assert strong == "#a64e0a"
    assert weak == "#5c3213"  # half way from the background #12161c
    same = parsed(gg.draw([([], [0])], vertices=[1.0], limit=2.0))
    assert same.find(f"{SVG}circle").get("fill") == Palette("light").of(0.5)


def luminance(colour):
    """Relative luminance as defined by WCAG 2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_are_legible_on_every_colour(theme):
    palette = Palette(theme)
    colours = [palette.of(value) for value in np.linspace(-1, 1, 41)]
    colours += [palette.category(number) for number in range(8)]
    for colour in colours:
        dark, bright = sorted((luminance(colour), luminance(palette.ink)))
        assert (bright + 0.05) / (dark + 0.05) >= 4.5


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
    text = gg.draw(graph, vertices=[1, -0.5], positive="toxic", negative=HOSTILE, width=900)
    svg = parsed(text)
    words = [node.text for node in svg.findall(f"{SVG}text")]
    assert "for toxic +1" in words
    assert f"for {HOSTILE} -1" in words
    assert "script" not in [node.tag for node in svg.iter()]
    assert "C (vertex 0): +1" in svg.find(f"{SVG}title").text
    assert "toxic" not in gg.draw(graph, vertices=[1, 0], positive="toxic", legend=False)
    assert svg.get("role") == "img"


@pytest.mark.parametrize("width", [220, 420, 900])
def test_long_names_in_the_legend_do_not_overlap(width):
    """Arial is about half as wide as high, so a name of 11 pixels has 5.5 pixels a letter."""
    long = "classes with a very long name indeed, " * 3
    graph = [([(0, 1)], ["C", "O"])]
    svg = gg.draw(graph, vertices=[1, -0.123], positive=long, negative=long, width=width)
    low, _, high = parsed(svg).findall(f"{SVG}text")[-3:]
    assert low.text.startswith("for ")
    assert high.text.startswith("for ")
    for node in (low, high):
        assert 16 + 5.5 * len(node.text) < width / 2
        assert node.text.rpartition(" ")[0].endswith("…")


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


def test_edge_labels_are_whole_or_absent():
    """A name is written where it fits beside its edge, and never cut."""
    names = ["a", "reads from the archive of the archive"]
    svg = parsed(gg.draw([([(0, 1), (1, 2)], ["x", "y", "z"], names)]))
    words = [node.text for node in svg.iter(f"{SVG}text")]
    assert "a" in words
    assert not any(word.startswith("reads") for word in words)


class TestFiles:
    @pytest.fixture
    def why(self):
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        graphs = gg.as_graphs([([(0, 1)], ["C", end], ["single"]) for end in "OONN"])
        kernel = gg.VertexHistogram(output="features")
        model = make_pipeline(kernel, LogisticRegression()).fit(graphs, [1, 1, 0, 0])
        return gg.explain(model, graphs[0])[0]

    @pytest.fixture
    def pair(self):
        one, two = ([(0, 1)], ["C", "O"], ["single"]), ([(0, 1)], ["C", "N"], ["single"])
        return gg.compare(gg.VertexHistogram(), [one], [two])

    @pytest.mark.parametrize("made", ["why", "pair"])
    def test_the_ending_says_what_is_written(self, made, request, tmp_path):
        shown = request.getfixturevalue(made)
        assert shown.to_svg(tmp_path / "a.svg") == (tmp_path / "a.svg").read_text()
        content = shown.to_png(tmp_path / "a.PNG", theme="auto", width=200, scale=3)
        assert (tmp_path / "a.PNG").read_bytes() == content
        assert content.startswith(b"\x89PNG\r\n")
        wide = int.from_bytes(content[16:20], "big")  # of the header of the PNG
        assert wide == 3 * 200 * (2 if made == "pair" else 1)
        for method, name, way_out in (
            (shown.to_svg, "b.png", "Use to_png for .png"),
            (shown.to_png, "b.svg", "Use to_svg for .svg"),
            (shown.to_svg, "a.pdf", r"Name it \*.svg"),
            (shown.to_png, "picture", r"Name it \*.png"),
        ):
            with pytest.raises(InvalidParameterError, match=f"{name}.*{way_out}"):
                method(tmp_path / name)
            assert not (tmp_path / name).exists()
        for method in (shown.to_svg, shown.to_png):
            with pytest.raises(InvalidParameterError, match=r"theme must be one of .* got 'pink'"):
                method(theme="pink")

    def test_both_graphs_of_a_pair_or_one(self, pair):
        both = parsed(pair.to_svg(width=200, height=100))
        assert both.get("width") == "400"
        assert len(list(both.iter(f"{SVG}circle"))) == 4
        assert len(list(parsed(pair.to_svg(which=1)).iter(f"{SVG}circle"))) == 2
        with pytest.raises(InvalidParameterError, match="which must be 0, 1 or None; got 2"):
            pair.to_svg(which=2)

    def test_png_names_its_extra(self, why, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(MissingDependencyError, match=r"graphgrain\[plot\].*to_svg"):
            why.to_png()


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


def test_the_limit_holds_for_edges_alone():
    def strokes(**options):
        svg = parsed(gg.draw([([(0, 1), (1, 2)], [0, 0, 0])], **options))
        return [line.get("stroke") for line in svg.findall(f"{SVG}path") if line.get("data-e")]

    half = strokes(edges=[1.0, -0.5], limit=2.0)
    assert half == [Palette("light").of(share) for share in (0.5, -0.25)]
    assert strokes(edges=[2.0, -1.0]) == strokes(edges=[2.0, -1.0], limit=2.0)
    words = parsed(gg.draw([([(0, 1)], [0, 0])], edges=[1.0])).find(f"{SVG}title").text
    assert words == "A graph of 2 vertices and 1 edge"  # vertices have no values


# -------------------------------------------------------------------- trees, positions, arrows


def centres(svg):
    drawn = [circle for circle in svg.findall(f"{SVG}circle") if circle.get("data-v")]
    return np.array([(float(c.get("cx")), float(c.get("cy"))) for c in drawn])


@settings(max_examples=30, deadline=None)
@given(trees())
def test_trees_grow_from_left_to_right(parents):
    """A child is right of its parent, and vertices of one level are a row apart."""
    edges = [(parent, child) for child, parent in enumerate(parents, start=1)]
    batch = gg.as_graphs([(edges, [f"a label {v}" for v in range(len(parents) + 1)])])
    root = root_of(batch, np.empty((0, 2), dtype=int))
    assert root == 0
    level, rows = tree_layout(batch, root)
    points = centres(parsed(gg.draw(batch)))
    for parent, child in edges:
        assert level[child] == level[parent] + 1
        assert points[child, 0] > points[parent, 0]
    for depth in range(level.max() + 1):
        assert (np.diff(np.sort(rows[level == depth])) >= 1 - 1e-9).all()


def test_arcs_are_arrows_and_say_where_the_root_is():
    batch = gg.as_graphs([([(0, 1), (1, 2), (1, 3)], list("abcd"))])
    arcs = np.array([(3, 1), (1, 0), (1, 2), (2, 1), (0, 3)])  # the last is no edge
    directed = batch.with_columns({"arcs": [arcs]})

    def heads(svg):
        return [path for path in svg.findall(f"{SVG}path") if path.get("d").endswith("Z")]

    assert not heads(parsed(gg.draw(batch)))
    assert len(heads(parsed(gg.draw(directed)))) == 4
    one_way = batch.with_columns({"arcs": [np.array([(3, 1), (1, 0), (1, 2)])]})
    points = centres(parsed(gg.draw(one_way)))
    assert points[3, 0] < points[1, 0] < min(points[0, 0], points[2, 0])


@pytest.mark.parametrize("value", ["gothic", 3, None, [1, 2, 3], [(0.5, 1.0)]])
def test_columns_of_a_table_that_mean_something_else(value):
    batch = gg.as_graphs([([(0, 1)], [0, 1], [0])])
    columns = {name: [value] for name in ("arcs", "alphabet", "smiles", "molecule", "atoms")}
    assert centres(parsed(gg.draw(batch.with_columns(columns)))).shape == (2, 2)
    ethane = gg.as_graphs(["CC"]).with_columns({"atoms": [value], "arcs": [value]})
    assert centres(parsed(gg.draw(ethane))).shape == (2, 2)


def test_two_or_three_attributes_are_positions():
    corners = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)])
    graph = gg.GraphBatch.from_edges([4], [(0, 1), (1, 2), (2, 3)], vertex_attributes=corners)
    points = centres(parsed(gg.draw(graph)))
    scale = (points[1, 0] - points[0, 0]) / 2
    expected = points[0] + scale * (corners - corners[0]) * [1, -1]  # upwards
    np.testing.assert_allclose(points, expected, atol=0.15)
    flat = np.column_stack((corners, np.zeros(4)))
    space = gg.GraphBatch.from_edges([4], [(0, 1), (1, 2), (2, 3)], vertex_attributes=flat)
    drawn = centres(parsed(gg.draw(space)))
    gaps = [np.linalg.norm(p[:, None] - p, axis=2) for p in (points, drawn)]
    np.testing.assert_allclose(gaps[0] / gaps[0].max(), gaps[1] / gaps[1].max(), atol=0.01)


def test_colours_of_labels_are_in_the_legend():
    graph = [([(0, 1), (1, 2), (2, 3)], ["noun", "verb", "noun", "a very long adjective"])]
    svg = parsed(gg.draw(graph))
    fills = [c.get("fill") for c in svg.findall(f"{SVG}circle")]
    assert fills[0] == fills[2]
    assert len(set(fills[:4])) == 3
    assert sorted(fills[4:]) == sorted(set(fills[:4]))
    words = [node.text for node in svg.findall(f"{SVG}text")]
    assert words.count("noun") == 3  # two vertices and the legend
    assert words.count("a very long adjective") == 2
    many = [(list(nx.cycle_graph(60).edges), [f"name {v}" for v in range(60)])]
    words = [node.text for node in parsed(gg.draw(many)).findall(f"{SVG}text")]
    assert set(words) >= {f"name {v}" for v in range(60)} | {"52 others"}


def test_other_graphs_lie_the_same_way_too():
    """A graph whose vertices are numbered anew is drawn as it was before."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 6), (2, 7)]
    first = gg.as_graphs([(edges, [f"label {v}" for v in range(8)])])
    order = np.array([5, 2, 7, 0, 3, 6, 1, 4])
    labels = [f"label {v}" for v in np.argsort(order)]
    second = gg.as_graphs([([(order[u], order[v]) for u, v in edges], labels)])
    there, here = graph_points(first), graph_points(second, first)
    np.testing.assert_allclose(here[order], there, atol=0.15)


def test_shared_parts_map_edges_to_edges():
    graphs, _ = gg.load_drugs()
    for one, two in ((0, 5), (100, 101), (221, 230)):
        first, second = graphs[one], graphs[two]
        pairs = dict(shared_part(first, second).tolist())
        known = {tuple(edge) for edge in second.edges.tolist()}
        kept = [(pairs[u], pairs[v]) for u, v in first.edges.tolist() if u in pairs and v in pairs]
        assert all(tuple(sorted(edge)) in known for edge in kept)
        assert len(kept) >= len(pairs) - 1  # connected
