"""The pages to explore, in a real browser; and the commands that write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli.app import app
from graphgrain.evaluation.exploration import explain_row, explore
from graphgrain.report.graph_pages import explanation_page, explore_page

HOSTILE = "</script><b onclick=alert(1)>'\"&"


@pytest.fixture(scope="module")
def drugs() -> tuple[Any, Any, Any]:
    graphs, y, names = gg.load_drugs(names=True)
    rows = np.flatnonzero(np.isin(y, ["opioids", "barbiturates", "tricyclics"]))
    names = names.astype(object)
    names[rows[0]] = HOSTILE
    return graphs[rows], y[rows], names[rows]


@pytest.fixture(scope="module")
def found(drugs: Any) -> Any:
    return explore("drugs <1>", *drugs)


@pytest.fixture(scope="module")
def page_file(found: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explore") / "explore.html"
    path.write_text(explore_page(found), encoding="utf-8")
    return path


def test_predictions_are_out_of_fold(drugs, found):
    """Each graph's decision is that of a model on the other folds: a label flip shows it."""
    graphs, y, _ = drugs
    assert [seen.truth for seen in found.graphs] == y.tolist()
    assert found.score == np.mean([seen.prediction == seen.truth for seen in found.graphs])
    assert found.score > 0.9
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(y)
    guessed = explore("shuffled", graphs, shuffled)
    assert guessed.score < 0.7  # a model that had seen them would know them by heart


def test_neighbours_are_the_most_similar_graphs(drugs, found):
    graphs, _, _ = drugs
    K = gg.TreePlusPlus(edge_labels=True).fit_transform(graphs)
    np.fill_diagonal(K, -1)
    for number, seen in enumerate(found.graphs):
        first = seen.neighbours[0]
        assert first.similarity == pytest.approx(K[number].max(), abs=1e-4)
        assert max(map(abs, first.mine + first.theirs)) == 100
        assert len(first.theirs) == graphs[first.graph].n_vertices


def test_numbers_instead_of_classes(drugs):
    graphs, _, names = drugs
    found = explore("sizes", graphs, graphs.vertex_counts + 0.5, names, most=40)
    assert found.classes == []
    assert len(found.graphs) == 40
    assert found.total == len(graphs)
    assert "a sample of" in explore_page(found)
    seen, why = explain_row(
        graphs, np.where(np.arange(len(graphs)) == 3, np.nan, 1.5 * graphs.vertex_counts), 3
    )
    assert seen.truth is None
    assert why.decision == pytest.approx(seen.prediction, abs=1e-5)


class TestInTheBrowser:
    @pytest.fixture
    def opened(self, open_file: Callable[..., Any], page_file: Path) -> Callable[..., Any]:
        def open_page(width=1280, height=900, scheme="light", file=page_file) -> Any:
            return open_file(file, "#picture svg", width=width, height=height, scheme=scheme)

        return open_page

    def test_a_click_shows_a_graph(self, opened, found):
        page = opened()
        number = next(n for n, seen in enumerate(found.graphs) if seen.name == "morphine")
        mark = page.locator(f'#plot g[data-number="{number}"] .dot')
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        seen = next(s for s in found.graphs if s.name == page.inner_text("#graph-title"))
        near = np.array(found.points) - np.array(found.points[number])
        close = np.linalg.norm(near[found.graphs.index(seen)])
        assert close <= 0.02 * np.ptp(np.array(found.points))  # itself, or one on top of it
        assert f"Predicted {seen.prediction}, is {seen.truth}" in page.inner_text("#verdict")
        rows = page.locator("#patterns tbody tr")
        assert rows.count() == len(seen.patterns)
        assert seen.patterns[0][0] in rows.first.inner_text()
        assert page.locator("#neighbours article").count() == len(seen.neighbours)
        drawn = page.locator("#picture path.ink").first.get_attribute("d")
        assert drawn.count("M") >= len(seen.drawing["edges"])
        strong = int(np.argmax(np.abs(seen.values)))
        titles = page.locator("#picture title").all_text_contents()
        assert any(title.endswith(f"{strong}: {seen.values[strong]} %") for title in titles)

    def test_keys_and_buttons_move_on(self, opened, found):
        page = opened()
        first = page.inner_text("#graph-title")
        page.focus("#plot svg")
        page.keyboard.press("ArrowRight")
        second = page.inner_text("#graph-title")
        assert second != first
        page.keyboard.press("ArrowLeft")
        assert page.inner_text("#graph-title") == first
        page.click("#next")
        assert page.inner_text("#graph-title") == second
        page.locator("#neighbours button").first.click()
        number = [seen.name for seen in found.graphs].index(second)
        other = found.graphs[found.graphs[number].neighbours[0].graph].name
        assert page.inner_text("#graph-title") == other

    def test_filters(self, opened, found):
        page = opened()
        page.select_option("#class", label="opioids")
        shown = sum(seen.truth == "opioids" for seen in found.graphs)
        assert f"{shown} of {len(found.graphs)} graphs" in page.inner_text("#shown")
        assert page.locator("#plot g[data-number]:not(.out)").count() == shown
        assert "is opioids" in page.inner_text("#verdict")
        page.select_option("#class", "")
        page.check("#wrong")
        wrong = [seen.name for seen in found.graphs if seen.right is False]
        assert page.locator("#plot g[data-number]:not(.out)").count() == len(wrong)
        page.uncheck("#wrong")
        page.fill("#search", "morphin")
        assert "morphin" in page.inner_text("#graph-title")

    def test_names_are_only_text(self, opened, found):
        page = opened()
        page.fill("#search", "onclick")
        assert page.inner_text("#graph-title") == HOSTILE
        assert page.locator("main b[onclick]").count() == 0

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_phones(self, opened, scheme):
        page = opened(390, 844, scheme)
        wide = "document.documentElement.scrollWidth"
        assert page.evaluate(wide) <= 390
        box = page.locator("#plot svg").bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.locator("#next").tap()
        assert page.inner_text("#graph-title")
        for button in ("#next", "#previous", "#theme"):
            assert page.locator(button).bounding_box()["height"] >= 32
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[scheme]

    def test_one_explanation(self, opened, drugs, tmp_path):
        graphs, y, names = drugs
        seen, why = explain_row(graphs, y, 5, names)
        path = tmp_path / "why.html"
        path.write_text(explanation_page("drugs", seen, len(graphs) - 1), encoding="utf-8")
        page = opened(file=path)
        assert page.inner_text("h1") == f"Why {seen.name}?"
        assert f"Predicted {why.prediction}" in page.inner_text("#verdict")
        assert not page.locator(".stepper").is_visible()


class TestCommands:
    def run(self, *arguments: str) -> Any:
        return CliRunner().invoke(app, list(arguments))

    def test_explore_writes_a_page(self, tmp_path):
        path = tmp_path / "page.html"
        result = self.run("explore", "drugs", "--most", "60", "-o", str(path), "--json", "-j", "1")
        assert result.exit_code == 0, result.output
        told = json.loads(result.stdout)
        assert 50 <= told["graphs"] <= 70  # each class has its share
        text = path.read_text(encoding="utf-8")
        assert f"{told['graphs']} graphs, a sample of 292" in text
        assert "http://" not in text.replace("http://www.w3.org", "")

    def test_explain_one_row(self, tmp_path):
        pytest.importorskip("rdkit")
        table = tmp_path / "molecules.csv"
        rows = [f"{'C' * n}O,{int(n > 4)}" for n in range(1, 10)] + [
            f"{'C' * n}N,0" for n in (2, 3)
        ]
        table.write_text("smiles,active\n" + "\n".join(rows) + "\n")
        page, picture = tmp_path / "why.html", tmp_path / "why.svg"
        base = ("explain", str(table), "--target", "active", "--row", "7", "-j", "1")
        result = self.run(*base, "-o", str(page))
        assert result.exit_code == 0, result.output
        assert "predicted" in result.stdout
        assert "Why graph 7?" in page.read_text(encoding="utf-8")
        told = json.loads(self.run(*base, "-o", str(picture), "--json").stdout)
        total = told["bias"] + sum(told["vertices"])
        assert total == pytest.approx(told["decision"], rel=1e-9)
        assert picture.read_text(encoding="utf-8").startswith("<svg")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("explain", "drugs", "--row", "0"), "from 1 to 292"),
            (("explain", "drugs", "--row", "293"), "from 1 to 292"),
            (("explain", "drugs", "--row", "1", "-o", "why.png"), ".html or .svg"),
            (("explore", "nonsense"), "no file, folder or data set"),
        ],
    )
    def test_mistakes_are_told(self, arguments, words):
        result = self.run(*arguments)
        assert result.exit_code == 2
        assert words in " ".join(result.output.split())
