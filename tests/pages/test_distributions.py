"""The figure of distributions: what the bars say, and what is written."""

import pytest

import graphgrain as gg
from graphgrain.errors import InvalidParameterError, MissingDependencyError
from graphgrain.pages.distributions import plot_distributions

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
GRAPHS = gg.as_graphs([([(0, 1), (1, 2)], None), ([(0, 1)], None), ([(0, 1)], None)])


def test_bars_count_graphs_and_vertices():
    figure = plot_distributions(GRAPHS, name="three")
    heights = [[bar.get_height() for bar in axes.patches] for axes in figure.axes]
    assert heights == [[2, 1], [2, 1], [6, 1]]  # 2 or 3 vertices, 1 or 2 edges, degree 1 or 2
    assert figure.axes[0].get_title() == "three"


def test_a_column_for_each_data_set():
    figure = plot_distributions({"a": GRAPHS, "b": GRAPHS[:1]})
    assert len(figure.axes) == 6
    assert [axes.get_title() for axes in figure.axes[:2]] == ["a", "b"]
    assert sum(bar.get_height() for bar in figure.axes[1].patches) == 1


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")]
)
def test_files(tmp_path, ending, start):
    plot_distributions(GRAPHS, tmp_path / f"x.{ending}")
    assert (tmp_path / f"x.{ending}").read_bytes().startswith(start)


def test_mistakes(tmp_path, monkeypatch):
    with pytest.raises(InvalidParameterError, match=r"x\.doc"):
        plot_distributions(GRAPHS, tmp_path / "x.doc")
    with pytest.raises(InvalidParameterError, match="at least one vertex"):
        plot_distributions([])
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"graphgrain\[plot\]"):
        plot_distributions(GRAPHS)
