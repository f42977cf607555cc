"""Figures for papers: every format, the right words and numbers, the same file each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphgrain.errors import InvalidParameterError, UnwritableFileError
from graphgrain.evaluation.comparison import comparisons, runtimes
from graphgrain.evaluation.summary import accuracy_against
from graphgrain.report.figures import (
    accuracy_figure,
    curve_figure,
    rank_figure,
    runtime_figure,
    write_figures,
)

from . import oracle
from .made_up import FOLDS, made_up_fold, save

pytest.importorskip("matplotlib")
MAGIC = {"pdf": b"%PDF-", "svg": b"<?xml", "png": b"\x89PNG"}


@pytest.fixture(scope="module")
def small(sets: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Results of two sets, one of which has a name that Matplotlib could take for a formula."""
    from .made_up import small_set

    data = [sets["KKI"], small_set("a$b$^{/../c")]
    folds = [
        made_up_fold(item, kernel, skill, 0, fold)
        for item in data
        for kernel, skill in (("tree++", [0.7, 0.8]), ("wl", [0.6]))
        for fold in range(FOLDS)
    ]
    path = save(folds, tmp_path_factory.mktemp("small") / "results.jsonl")
    return path, {item.name: (item.graphs, item.codes) for item in data}


@pytest.mark.parametrize("format", ["pdf", "svg", "png"])
def test_every_figure_in_every_format(small: tuple[Path, Any], tmp_path: Path, format: str) -> None:
    results, data = small
    paths = write_figures(results, tmp_path / "new" / "figures", format, data=data)
    assert [path.stem for path in paths] == [
        *("accuracy", "accuracy-hindsight", "accuracy-against-k"),
        *(
            f"{kind}-{name}-{kernel}"
            for name in ("KKI", "a_b_.._c")
            for kernel in ("Tree++", "WL")
            for kind in ("map", "matrix")
        ),
        *(
            f"confusion-{name}-{kernel}"
            for name in ("KKI", "a_b_.._c")
            for kernel in ("Tree++", "WL")
        ),
        *("distributions-KKI", "distributions-a_b_.._c"),
    ]
    assert sorted(paths) == sorted((tmp_path / "new" / "figures").iterdir())
    for path in paths:
        assert path.read_bytes().startswith(MAGIC[format])
    again = write_figures(results, tmp_path / "again", format)  # without the graphs
    assert len(again) == 7
    for path in again:
        assert path.read_bytes() == (paths[0].parent / path.name).read_bytes(), path.name
    if format == "svg":
        text = paths[0].read_text(encoding="utf-8")
        assert "KKI" in text
        assert "accuracy in per cent" in text


def test_dots_stand_where_the_records_say(records: list[Any]) -> None:
    axes = accuracy_figure(comparisons(records)[0]).axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    dots: dict[tuple[int, str], list[float]] = {}
    for line in axes.lines:
        if len(line.get_xdata()):
            y = float(np.ravel(line.get_ydata())[0])
            filled = "published" if line.get_markerfacecolor() == "white" else "ours"
            dots.setdefault((round(y), filled), []).append(float(np.ravel(line.get_xdata())[0]))
    for number, name in enumerate(names):
        expected = [np.mean(oracle.accuracies(records, name, k)) for k in ("tree++", "sp", "wl")]
        np.testing.assert_allclose(dots[number, "ours"], expected)
    assert dots[names.index("COX2_MD"), "published"] == [69.20, 65.70, 56.30]
    assert (names.index("drugs"), "published") not in dots


def test_the_other_figures_hold_their_numbers(records: list[Any]) -> None:
    comparison = comparisons(records)[0]
    assert comparison.ranks is not None
    words = " ".join(text.get_text() for text in rank_figure(comparison).axes[0].texts)
    for column, value in zip(comparison.columns, comparison.ranks.average, strict=True):
        assert f"{column.name} {value:.2f}" in words
    found = runtimes(records)
    assert found is not None
    assert runtime_figure(found).axes[0].get_xscale() == "log"
    curves = accuracy_against("tree_depth", records)
    panels = [axes for axes in curve_figure(curves, "k").axes if axes.get_title()]
    assert [axes.get_title() for axes in panels] == [curve.name for curve in curves]
    for axes, curve in zip(panels, curves, strict=True):
        np.testing.assert_allclose(axes.lines[0].get_ydata(), curve.mean)


def test_bad_requests(small: tuple[Path, Any], tmp_path: Path) -> None:
    results, _ = small
    with pytest.raises(InvalidParameterError, match="pdf, svg, png; got 'gif'"):
        write_figures(results, tmp_path, "gif")
    (tmp_path / "file").touch()
    with pytest.raises(UnwritableFileError, match="cannot be made"):
        write_figures(results, tmp_path / "file", "svg")
