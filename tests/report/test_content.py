"""What a report shows against numbers computed anew from the records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphgrain.evaluation.kernel_comparison import comparisons, runtimes
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.summary import accuracy_against
from graphgrain.report.content import content
from graphgrain.report.results_page import write_report

import graphgrain as gg
from graphgrain.errors import InvalidFileError
from graphgrain.evaluation import paper as published

from . import oracle
from .made_up import FOLDS, made_up_fold, made_up_kernel, save, small_set

KERNELS = ["tree++", "sp", "wl"]


def test_accuracies_tests_and_marks(
    records: list[Any], compared: list[Any], sets: dict[str, Any]
) -> None:
    validated, hindsight = compared
    assert [column.kernel for column in validated.columns] == KERNELS
    assert [row.name for row in validated.rows] == list(sets)
    verdicts = set()
    for row in validated.rows:
        means = []
        for kernel, cell in zip(KERNELS, row.cells, strict=True):
            assert cell is not None
            expected = oracle.accuracies(records, row.name, kernel)
            assert cell.mean == pytest.approx(np.mean(expected))
            assert cell.spread == pytest.approx(np.std(expected))
            assert cell.published == published.TABLE2.get(row.name, {}).get(kernel)
            means.append(np.mean(expected))
            if kernel == "tree++":
                assert cell.p is None
                continue
            p = oracle.p_against_tree(records, row.name, kernel)
            assert cell.p == pytest.approx(p, rel=1e-9)
            better = np.mean(expected) > means[0]
            assert cell.verdict == ("" if p >= 0.05 else "better" if better else "worse")
            verdicts.add(cell.verdict)
        assert [cell.best for cell in row.cells if cell] == [m == max(means) for m in means]
    assert verdicts >= {"", "worse"}
    for row in hindsight.rows:
        level = oracle.best_level(records, row.name, "tree++")
        expected = oracle.accuracies(records, row.name, "tree++", level)
        assert row.cells[0] is not None
        assert row.cells[0].mean == pytest.approx(np.mean(expected))
        assert row.cells[0].summary.parameters["tree_depth"] == level


def test_ranks_leave_out_kernels_with_gaps(records: list[Any], compared: list[Any]) -> None:
    gapless = compared[0]
    assert gapless.ranks is not None
    assert gapless.ranks.datasets == 5
    fewer = [r for r in records if not (r.dataset == "BZR" and r.kernel == "sp")]
    gappy = comparisons(fewer)[0]
    assert gappy.ranks is not None
    # One missing result takes the kernel out of the ranks, not the data set out of everybody's.
    assert gappy.ranks.datasets == 5
    names = [gappy.columns[number].kernel for number in gappy.ranked]
    assert "sp" not in names
    assert len(names) == len(gapless.ranked) - 1
    one_set = [r for r in records if r.dataset == "drugs"]
    assert comparisons(one_set)[0].ranks is None


def test_protocols_are_never_mixed(sets: dict[str, Any]) -> None:
    data = sets["KKI"]
    folds = [made_up_fold(data, "tree++", [0.7], 0, fold) for fold in range(FOLDS)]
    nested = [replace(r, mode="nested", inner_folds=5) for r in folds]
    without = [replace(r, deduplicated=True) for r in folds]
    seeded = [replace(r, seed=1) for r in folds]
    found = comparisons([*folds, *nested, *without, *seeded])
    assert [(c.first.mode, c.first.deduplicated, c.first.seed) for c in found] == [
        ("paper", False, 0),
        ("nested", False, 0),
        ("paper", True, 0),
        ("paper", False, 1),
    ]
    assert all(len(c.cells) == 1 for c in found)


def test_changed_data_and_variants_stay_apart(sets: dict[str, Any]) -> None:
    folds = [made_up_fold(sets["KKI"], "tree++", [0.7], 0, fold) for fold in range(FOLDS)]
    changed = [replace(r, fingerprint="f00dcafe") for r in folds]
    variant = [replace(r, variant="counts=sqrt") for r in folds]
    [found] = comparisons([*folds, *changed, *variant])
    assert [row.name for row in found.rows] == [
        f"KKI [{sets['KKI'].fingerprint[:6]}]",
        "KKI [f00dca]",
    ]
    assert [column.name for column in found.columns] == ["Tree++", "Tree++ (counts=sqrt)"]
    # The paper's figure is of Tree++ as it is.
    assert [cell.published is None for cell in found.rows[0].cells if cell] == [False, True]


def test_runtimes_are_means_over_settings(sets: dict[str, Any]) -> None:
    data = sets["BZR"]
    costs = [
        made_up_kernel(data, "pm", 1.0, settings={"d": 4}),
        made_up_kernel(data, "pm", 3.0, settings={"d": 6}, memory=9),
        made_up_kernel(data, "pm", 0.5, settings={"d": 4}, n_jobs=2),
        made_up_kernel(data, "wl", 0.25, memory=None),
    ]
    found = runtimes(costs)
    assert found is not None
    [(name, [pm, wl])] = found.rows
    assert name == "BZR"
    assert (pm.seconds, pm.n_jobs, pm.memory) == (2.0, 1, 3_000_000)  # type: ignore[union-attr]
    assert (wl.seconds, wl.memory) == (0.25, None)  # type: ignore[union-attr]
    assert pm.published == 16.80  # type: ignore[union-attr]
    assert runtimes([]) is None


def test_a_page_has_one_cost_for_a_kernel(sets: dict[str, Any]) -> None:
    """Tables of accuracy and of time say the same, however many threads were measured."""
    data = sets["BZR"]
    costs = [
        made_up_kernel(data, "pm", 3.0, settings={"d": 6}, n_jobs=1),
        made_up_kernel(data, "pm", 1.0, settings={"d": 6}, n_jobs=8, memory=99_000_000),
    ]
    folds = [made_up_fold(data, "pm", [0.7], 0, fold) for fold in range(FOLDS)]
    [compared] = comparisons([*folds, *costs])
    found = runtimes([*folds, *costs])
    assert found is not None
    [cell], [(_, [cost])] = compared.cells, found.rows
    assert cost is not None
    assert cell.summary.kernel_seconds == cost.seconds == 3.0
    assert cell.summary.kernel_memory == cost.memory == 3_000_000


def test_ranks_only_where_they_can_mean_something(sets: dict[str, Any]) -> None:
    """With two data sets, always first and always last do not differ significantly."""
    named = [replace(sets["BZR"], name=f"set {number}") for number in range(4)]
    folds = [
        made_up_fold(data, kernel, [skill], 0, fold)
        for data in named
        for kernel, skill in (("tree++", 1.0), ("wl", 0.5), ("sp", 0.0))
        for fold in range(FOLDS)
    ]
    two = [r for r in folds if r.dataset in ("set 0", "set 1")]
    assert comparisons(two)[0].ranks is None
    ranks = comparisons(folds)[0].ranks
    assert ranks is not None
    assert ranks.average.tolist() == [1.0, 3.0, 2.0]


def test_a_data_set_that_has_only_begun_leaves_curves_alone(sets: dict[str, Any]) -> None:
    whole = [made_up_fold(sets["KKI"], "tree++", [0.5, 0.6], 0, fold) for fold in range(FOLDS)]
    begun = made_up_fold(sets["BZR"], "tree++", [0.5, 0.6], 0, 0)
    assert [curve.name for curve in accuracy_against("tree_depth", [begun, *whole])] == ["KKI"]


def test_curves(records: list[Any]) -> None:
    against_k = accuracy_against("tree_depth", records)
    # Two of the sets have a figure-d, which is no curve for k; the usual grid gives all five.
    assert [curve.x for curve in against_k] == [[0, 1, 2]] * 5
    for curve in against_k:
        for level in range(3):
            expected = oracle.accuracies(records, curve.name, "tree++", level)
            assert curve.mean[level] == pytest.approx(np.mean(expected))
            assert curve.spread[level] == pytest.approx(np.std(expected))
        assert curve.fixed == 6
    against_d = accuracy_against("path_depth", records)
    assert [(curve.name, curve.x, curve.fixed) for curve in against_d] == [
        ("drugs", [0, 1, 2, 3], 1),
        ("COX2_MD", [0, 1, 2, 3], 1),
    ]
    for curve in against_d:
        renamed = [
            replace(r, variant="")
            for r in records
            if r.kind == "fold" and r.variant == "figure-d" and r.dataset == curve.name
        ]
        for depth, mean in zip(curve.x, curve.mean, strict=True):
            of_depth = [r for r in renamed if r.settings["path_depth"] == depth]
            expected = oracle.accuracies(of_depth, curve.name, "tree++", 1)
            assert mean == pytest.approx(np.mean(expected))


def test_a_figure_has_its_own_results_first(sets: dict[str, Any]) -> None:
    usual = [made_up_fold(sets["KKI"], "tree++", [0.5, 0.6], 0, fold) for fold in range(FOLDS)]
    settings = {"path_depth": 7, "tree_depth": 1}
    own = [
        replace(record, variant="figure-k", settings=settings)
        for record in (made_up_fold(sets["KKI"], "tree++", [1.0, 1.0], 0, f) for f in range(FOLDS))
    ]
    [curve] = accuracy_against("tree_depth", [*usual, *own])
    assert (curve.mean, curve.fixed) == ([100.0, 100.0], 7)
    assert len(comparisons([*usual, *own])[0].cells) == 1


def test_what_is_unfinished_is_said(results: Path, given: dict[str, Any]) -> None:
    shown = content(results, given)
    assert shown.unfinished == [
        "KKI, PM: 1 of the 5 folds of a repetition are done; not shown until one repetition is "
        "complete."
    ]
    # Every kernel on every data set, Tree++ first.
    usual = [(name, kernel) for name in ("drugs", *given) for kernel in ("tree++", "wl", "sp")]
    usual.insert(usual.index(("BZR", "tree++")), ("KKI", "pm"))
    assert [(item.drawn.name, item.kernel) for item in shown.maps] == usual
    assert shown.unseen == {}


def test_of_many_kernels_the_most_accurate_have_a_map(
    sets: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphgrain.report.content.MOST_MAPS", 2)
    data = sets["KKI"]
    skills = {"wl": 0.1, "sp": 1.0, "edge-histogram": 0.3, "vertex-histogram": 0.9}
    records: list[Any] = [
        made_up_fold(data, kernel, [skill], 0, fold)
        for kernel, skill in skills.items()
        for fold in range(FOLDS)
    ]
    path = save(records, tmp_path / "r.jsonl")
    shown = content(path, {"KKI": (data.graphs, data.codes)})
    assert {item.kernel for item in shown.maps} == {"sp", "vertex-histogram"}
    assert shown.unseen == {"KKI, 2 kernels": "maps are shown for the 2 most accurate of 4"}


def test_only_the_graphs_of_the_results_are_shown(
    sets: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRAPHGRAIN_DATA", raising=False)
    data = sets["KKI"]
    path = save(
        [made_up_fold(data, "tree++", [0.7], 0, fold) for fold in range(FOLDS)], tmp_path / "r"
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "not found" in content(path).unseen["KKI"]
    other = small_set("another")
    assert "changed" in content(path, {"KKI": (other.graphs, other.codes)}).unseen["KKI"]
    # Under whatever name: the graphs decide.
    assert content(path, {"mine": (data.graphs, data.codes)}).maps[0].drawn.name == "KKI"
    # And where GRAPHGRAIN_DATA says, without being handed over.
    gg.save_tu(tmp_path / "sets" / "KKI", data.graphs, data.codes)
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(tmp_path / "sets"))
    assert content(path).maps[0].drawn.total == 40


def test_duplicates_are_removed_as_in_the_results(tmp_path: Path) -> None:
    base = small_set("twice")
    graphs, codes = base.graphs[[*range(40), 0, 1]], base.codes[[*range(40), 0, 1]]
    data = prepare("twice", graphs, codes, remove_duplicates=True)
    assert data.removed >= 2
    folds = [made_up_fold(data, "tree++", [0.7], 0, f, deduplicated=True) for f in range(FOLDS)]
    shown = content(save(folds, tmp_path / "r"), {"twice": (graphs, codes)})
    assert shown.maps[0].drawn.total == len(data)


def test_empty_and_foreign_files(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(InvalidFileError, match="nothing to report"):
        content(empty)
    with pytest.raises(InvalidFileError, match="cannot be read"):
        content(tmp_path / "absent.jsonl")
    foreign = tmp_path / "foreign"
    foreign.write_text("hello\n")
    with pytest.raises(InvalidFileError, match="not a results file"):
        content(foreign)


def test_the_folds_of_one_repetition_are_counted(sets: dict[str, Any], tmp_path: Path) -> None:
    """A second setting has begun; ten folds of the first one belong to other repetitions."""
    found: list[Any] = [
        made_up_fold(sets["KKI"], "pm", [0.5], repetition, fold, grid_size=2)
        for repetition in range(3)
        for fold in range(FOLDS)
    ]
    found.append(made_up_fold(sets["KKI"], "pm", [0.5], 0, 0, grid_size=2, settings={"depth": 1}))
    [note] = content(save(found, tmp_path / "r")).unfinished
    assert note.startswith(f"KKI, PM: {FOLDS + 1} of the {2 * FOLDS} folds of a repetition")


def test_the_baseline_is_over_all_repetitions(sets: dict[str, Any]) -> None:
    """Each repetition of a random split has other test graphs."""
    rng = np.random.default_rng(0)
    found = []
    for repetition in range(4):
        record = made_up_fold(sets["KKI"], "wl", [0.5], repetition, 0)
        truth = rng.integers(0, 2, len(record.test)).tolist()
        found.append(replace(record, truth=truth, folds=1, split="random"))
    [row] = comparisons(found)[0].rows
    shares = [max(record.truth.count(0), record.truth.count(1)) for record in found]
    assert row.majority == pytest.approx(100 * np.mean(shares) / len(found[0].test))
    assert len(set(shares)) > 1


def test_the_title_is_a_number_of_the_page(sets: dict[str, Any], tmp_path: Path) -> None:
    """Results of a curve are in no table, however good they are."""
    usual = [made_up_fold(sets["KKI"], "wl", [0.6], 0, fold) for fold in range(FOLDS)]
    curve = [
        made_up_fold(sets["KKI"], "tree++", [1.0, 1.0], 0, fold, variant="figure-k")
        for fold in range(FOLDS)
    ]
    page = write_report(save([*curve, *usual], tmp_path / "r"), tmp_path / "r.html").read_text()
    [mean] = oracle.accuracies(usual, "KKI", "wl")
    assert f"<h1>WL classifies {mean:.1f} % of" in page


def test_the_title_compares_kernels_under_one_protocol(
    sets: dict[str, Any], tmp_path: Path
) -> None:
    """SP is far better on the test graphs of another seed."""
    usual = [
        made_up_fold(sets[name], kernel, [skill], 0, fold)
        for name in ("KKI", "BZR")
        for kernel, skill in (("wl", 0.9), ("sp", 0.6))
        for fold in range(FOLDS)
    ]
    other = [
        made_up_fold(sets[name], "sp", [1.0], 0, fold, seed=1)
        for name in ("KKI", "BZR")
        for fold in range(FOLDS)
    ]
    page = write_report(save([*usual, *other], tmp_path / "r"), tmp_path / "r.html").read_text()
    assert "<h1>WL is the most accurate kernel on 2 of 2 data sets" in page


@pytest.mark.parametrize("unit", [1.0, 1e-12])
def test_the_least_error_is_the_best_in_every_unit(sets: dict[str, Any], unit: float) -> None:
    """Errors of concentrations in mol/l can be far below 1e-9."""
    found = []
    errors = {"tree++": 0.3, "wl": 0.2, "sp": 0.4}
    for name in ("KKI", "BZR", "COX2_MD", "drugs"):
        for kernel, error in errors.items():
            for fold in range(FOLDS):
                record = made_up_fold(sets[name], kernel, [0.5], 0, fold)
                truth = [unit * value for value in record.truth]
                said = [value + unit * error for value in truth]
                level = replace(record.levels[0], predictions=said, scores=[])
                found.append(replace(record, classes=[], truth=truth, levels=[level]))
    [compared] = comparisons(found)
    for row in compared.rows:
        assert [cell.best for cell in row.cells if cell] == [False, False, True]
    assert compared.ranks is not None
    assert compared.ranks.average.tolist() == [2.0, 3.0, 1.0]


def test_self_tuned_estimators_have_no_map(sets: dict[str, Any], tmp_path: Path) -> None:
    """They combine several settings, which differ between folds."""
    data = sets["KKI"]
    folds = [
        made_up_fold(data, "tree++", [0.7], 0, f, variant="self-tuned", settings={})
        for f in range(FOLDS)
    ]
    shown = content(save(folds, tmp_path / "r"), {"KKI": (data.graphs, data.codes)})
    assert shown.maps == []
    assert shown.unseen == {"KKI, Tree++ (self-tuned)": "maps show single kernels only"}
