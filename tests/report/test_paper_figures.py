"""Figures for papers: every format, the right words and numbers, the same file each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphgrain.evaluation.kernel_comparison import runtimes
from graphgrain.evaluation.summary import accuracy_against
from graphgrain.report.figures import (
    accuracy_figure,
    curve_figure,
    rank_figure,
    runtime_figure,
    write_figures,
)

from graphgrain.errors import InvalidParameterError, UnwritableFileError

from . import oracle
from .made_up import FOLDS, made_up_fold, made_up_kernel, save, small_set

pytest.importorskip("matplotlib")
MAGIC = {"pdf": b"%PDF-", "svg": b"<?xml", "png": b"\x89PNG"}


#: A data set with a name that Matplotlib could take for a formula.
FORMULA = small_set("a$b$^{/../c")


def made_up_results(kernels: dict[str, list[str]], sets: list[Any], path: Path) -> Path:
    skills = {"tree++": [0.7, 0.8], "wl": [0.6]}
    folds = [
        made_up_fold(item, kernel, skills[kernel], 0, fold)
        for item in sets
        for kernel in kernels[item.name]
        for fold in range(FOLDS)
    ]
    return save(folds, path)


@pytest.mark.parametrize("format", ["pdf", "svg", "png"])
def test_every_figure_in_every_format(sets: dict[str, Any], tmp_path: Path, format: str) -> None:
    """In one format of several sets and kernels, in the others of one."""
    kernels, names = {FORMULA.name: ["tree++"]}, {"a_b_.._c": ["Tree++"]}
    used = [FORMULA]
    if format == "svg":
        kernels, names = {"KKI": ["tree++", "wl"], **kernels}, {"KKI": ["Tree++", "WL"], **names}
        used = [sets["KKI"], FORMULA]
    results = made_up_results(kernels, used, tmp_path / "results.jsonl")
    data = {item.name: (item.graphs, item.codes) for item in used}
    paths = write_figures(results, tmp_path / "new" / "figures", format, data=data)
    assert [path.stem for path in paths] == [
        *("accuracy", "accuracy-hindsight", "accuracy-against-k"),
        *(
            f"{kind}-{name}-{kernel}"
            for name in names
            for kernel in names[name]
            for kind in ("map", "matrix")
        ),
        *(f"confusion-{name}-{kernel}" for name in names for kernel in names[name]),
        *(f"distributions-{name}" for name in names),
    ]
    assert sorted(paths) == sorted((tmp_path / "new" / "figures").iterdir())
    for path in paths:
        assert path.read_bytes().startswith(MAGIC[format])
    again = write_figures(results, tmp_path / "again", format)  # without the graphs
    assert len(again) == 3 + sum(map(len, names.values()))
    for path in again:
        assert path.read_bytes() == (paths[0].parent / path.name).read_bytes(), path.name
    if format == "svg":
        text = paths[0].read_text(encoding="utf-8")
        assert "KKI" in text
        assert "accuracy in percent" in text


def test_figures_of_several_protocols_keep_their_files(
    sets: dict[str, Any], tmp_path: Path
) -> None:
    folds = [
        made_up_fold(sets["KKI"], "wl", [0.6], 0, fold, seed=seed)
        for seed in range(3)
        for fold in range(FOLDS)
    ]
    paths = write_figures(save(folds, tmp_path / "results.jsonl"), tmp_path / "figures", "svg")
    assert [path.stem for path in paths[:3]] == ["accuracy", "accuracy-2", "accuracy-3"]
    assert sorted(paths) == sorted((tmp_path / "figures").iterdir())


def test_times_are_labelled_with_numbers_not_formulas(sets: dict[str, Any], tmp_path: Path) -> None:
    costs = [made_up_kernel(sets[name], "wl", s) for name, s in (("KKI", 0.002), ("BZR", 0.3))]
    paths = write_figures(save(costs, tmp_path / "results.jsonl"), tmp_path / "figures", "svg")
    [runtime] = [path for path in paths if path.stem == "runtime"]
    text = runtime.read_text(encoding="utf-8")
    assert "1e\u221202" in text
    assert "mathdefault" not in text


def test_dots_stand_where_the_records_say(records: list[Any], compared: list[Any]) -> None:
    axes = accuracy_figure(compared[0]).axes[0]
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


def test_the_other_figures_hold_their_numbers(records: list[Any], compared: list[Any]) -> None:
    comparison = compared[0]
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


def test_bad_requests(brief: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="pdf, svg, png; got 'gif'"):
        write_figures(brief, tmp_path, "gif")
    (tmp_path / "file").touch()
    with pytest.raises(UnwritableFileError, match="cannot be made"):
        write_figures(brief, tmp_path / "file", "svg")
