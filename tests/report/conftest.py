"""Results made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from graphgrain.evaluation.kernel_comparison import Comparison, comparisons
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.records import Record

import graphgrain as gg

from ..conftest import opener
from .browsing import redrawn
from .made_up import FOLDS, HOSTILE, made_up_fold, made_up_kernel, save, small_set


@pytest.fixture(scope="session")
def sets() -> dict[str, Any]:
    graphs, y = gg.load_drugs()
    named = ("COX2_MD", "KKI", "BZR", HOSTILE)
    return {"drugs": prepare("drugs", graphs, y), **{name: small_set(name) for name in named}}


@pytest.fixture(scope="session")
def records(sets: dict[str, Any]) -> list[Record]:
    """Three kernels on five data sets; WL is far worse, SP a little, d varies on two of them."""
    found: list[Record] = []
    for number, data in enumerate(sets.values()):
        for kernel, skill in (("tree++", [0.8, 0.9, 0.85]), ("wl", [0.5]), ("sp", [0.83])):
            found.append(made_up_kernel(data, kernel, 0.02 * (number + 1) * len(kernel)))
            found += [
                made_up_fold(data, kernel, skill, repetition, fold)
                for repetition in range(3)
                for fold in range(FOLDS)
            ]
    for data in list(sets.values())[:2]:
        for depth in range(4):
            found += [
                made_up_fold(
                    data,
                    "tree++",
                    [0.6, 0.6 + 0.1 * depth],
                    repetition,
                    fold,
                    variant="figure-d",
                    settings={"path_depth": depth, "tree_depth": 1},
                    grid_size=4,
                )
                for repetition in range(2)
                for fold in range(FOLDS)
            ]
    # One that has only begun.
    found.append(made_up_fold(sets["KKI"], "pm", [0.5], 0, 0))
    return found


@pytest.fixture(scope="session")
def compared(records: list[Record]) -> list[Comparison]:
    """By the level that validation chose, and in hindsight."""
    return comparisons(records)


@pytest.fixture(scope="session")
def results(records: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(records, tmp_path_factory.mktemp("results") / "results.jsonl")


@pytest.fixture(scope="session")
def brief(sets: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two kernels on one data set that the paper has, whose graphs are not at hand."""
    folds = [
        made_up_fold(sets["COX2_MD"], kernel, [0.7], 0, fold)
        for kernel in ("tree++", "wl")
        for fold in range(FOLDS)
    ]
    return save(folds, tmp_path_factory.mktemp("brief") / "results.jsonl")


@pytest.fixture(scope="session")
def given(sets: dict[str, Any]) -> dict[str, Any]:
    """The data sets as a caller hands them over; the hostile one has hostile names too."""
    shown = {name: (sets[name].graphs, sets[name].codes) for name in ("COX2_MD", "KKI", "BZR")}
    hostile = sets[HOSTILE]
    return {**shown, HOSTILE: (hostile.graphs, hostile.codes, [HOSTILE] * len(hostile))}


@pytest.fixture(scope="session")
def report(results: Path, given: dict[str, Any]) -> Path:
    from graphgrain.report.results_page import write_report

    return write_report(results, results.with_name("report.html"), data=given)


def open_report(open_file: Callable[..., Any], report: Path, **look: Any) -> Any:
    page = open_file(report, "#graphs canvas", "#graphs .map path.dot", **look)
    redrawn(page)
    return page


@pytest.fixture
def opened(open_file: Callable[..., Any], report: Path) -> Callable[..., Any]:
    """A function that opens the report, for tests that change what it shows."""

    def open_page(width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        return open_report(open_file, report, width=width, height=height, scheme=scheme)

    return open_page


@pytest.fixture(scope="module")
def shown(browser: Any, report: Path) -> Iterator[Any]:
    """The report on a bright desktop, opened once for all tests that leave it as it is."""
    opening = opener(browser)
    yield open_report(next(opening), report)
    next(opening, None)
