"""The pages to explore, in a real browser; and the commands that write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli.app import app
from graphgrain.errors import InvalidParameterError
from graphgrain.evaluation.exploration import explain_rows, explore
from graphgrain.explaining.containment import contains
from graphgrain.explaining.fragments import cut
from graphgrain.pages.graph_pages import explanation_page, explore_page

from ..pages.browsing import overlapping

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


def test_predictions_are_out_of_fold(drugs, found, quick_model):
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
        # what is left without the differing vertices has no more of any label than the graph
        other = graphs[first.graph]
        shared = np.delete(other.labels, first.differs)
        labels, counts = np.unique(shared, return_counts=True)
        own = dict(zip(*np.unique(graphs[number].labels, return_counts=True), strict=True))
        assert all(own[label] >= count for label, count in zip(labels, counts, strict=True))


def test_what_is_said_of_neighbours_is_true(drugs, found):
    graphs, _, _ = drugs
    named = [{part.name for part in cut(graph)} for graph in graphs]
    for number, seen in enumerate(found.graphs):
        for other in seen.neighbours:
            assert set(other.shared) <= named[number] & named[other.graph]
            assert not other.contained or contains(graphs[number], graphs[other.graph])
            assert not (other.contained and other.differs)


def test_fragments_add_up_and_both_sides_are_told(found):
    for seen in found.graphs:
        total = sum(adds for _, adds, _ in seen.fragments)
        assert total == pytest.approx(seen.decision, abs=1e-4)
        covered = sorted(vertex for *_, vertices in seen.fragments for vertex in vertices)
        assert covered == list(range(len(seen.drawing["points"])))
        signs = [adds > 0 for _, adds, *_ in seen.patterns]
        assert signs == sorted(signs, reverse=True)  # for, then against
        assert all(vertices for *_, vertices in seen.patterns)


def test_without_targets_there_is_a_map(drugs):
    graphs, _, names = drugs
    found = explore("drugs", graphs, None, names)
    assert found.score is None
    assert len(found.graphs) == len(graphs)
    assert all(len(seen.neighbours) == 4 for seen in found.graphs)
    assert "by similarity" in explore_page(found)


def test_a_thousand_graphs_fit_into_a_megabyte(found):
    """By the size of a page of some: the frame, and so much for each graph."""
    frame = len(explore_page(replace(found, graphs=found.graphs[:1], points=found.points[:1])))
    whole = len(explore_page(found))
    assert frame + 1000 * (whole - frame) / len(found.graphs) < 10**6


def test_numbers_instead_of_classes(drugs, quick_model):
    graphs, _, names = drugs
    found = explore("sizes", graphs, graphs.vertex_counts + 0.5, names, most=40)
    assert found.classes == []
    assert len(found.graphs) == 40
    assert found.total == len(graphs)
    assert "A sample of" in explore_page(found)
    assert f"{100 * found.score:.0f} % of the variance is explained" in explore_page(found)
    assert "no better than their mean (R2 -0.25)" in explore_page(replace(found, score=-0.25))
    [seen, *near], [why] = explain_rows(
        graphs, np.where(np.arange(len(graphs)) == 3, np.nan, 1.5 * graphs.vertex_counts), [3]
    )
    assert seen.truth is None
    assert len(near) == 4
    assert why.decision == pytest.approx(seen.prediction, abs=1e-5)
    assert seen.interval[0] < seen.prediction < seen.interval[1]
    assert seen.probability is None


def test_integer_classes_stay_integers_beside_missing_ones(drugs):
    """Also with a model that was fitted before, and if another graph has no class."""
    graphs, y, _ = drugs
    codes = (y == "opioids").astype(np.int64)
    model = gg.GraphClassifier(gg.WeisfeilerLehman(1)).fit(graphs, codes)
    gaps = np.where(np.arange(len(codes)) == 3, np.nan, codes)
    [seen, *_], _ = explain_rows(graphs, gaps, [5], model=model)
    assert seen.truth == str(codes[5])
    assert seen.prediction in ("0", "1")


def test_a_model_of_numbers_has_no_classes_as_truth(drugs):
    graphs, y, _ = drugs
    model = gg.GraphRegressor(gg.WeisfeilerLehman(1)).fit(graphs, graphs.vertex_counts + 0.5)
    with pytest.raises(InvalidParameterError, match="predicts numbers, but a target is"):
        explain_rows(graphs, y, [3], model=model)


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
        told = f"Predicted {seen.prediction} ({100 * seen.probability:.0f} %)"
        told += f", true class {seen.truth}"
        assert told in page.inner_text("#verdict")
        rows = page.locator("#fragments tbody tr")
        assert rows.count() == len(seen.fragments)
        assert seen.fragments[0][0] in rows.first.inner_text()
        rows.first.hover()
        lit = page.locator("#picture .lit")
        assert [int(each.get_attribute("data-v")) for each in lit.all()] == list(
            seen.fragments[0][2]
        )
        page.mouse.move(1, 1)
        assert lit.count() == 0
        rows.first.focus()  # by keyboard as well
        assert lit.count() == len(seen.fragments[0][2])
        page.locator("#details summary").click()
        patterns = page.locator(".sides li code")
        assert patterns.all_text_contents() == [name for name, *_ in seen.patterns]
        assert page.locator("#patterns-for li code").count() == sum(
            adds > 0 for _, adds, *_ in seen.patterns
        )
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
        assert "true class opioids" in page.inner_text("#verdict")
        page.select_option("#class", "")
        page.check("#wrong")
        wrong = [seen.name for seen in found.graphs if seen.right is False]
        assert page.locator("#plot g[data-number]:not(.out)").count() == len(wrong)
        page.uncheck("#wrong")
        page.fill("#search", "morphin")
        assert "morphin" in page.inner_text("#graph-title")
        page.fill("#search", "no such drug")
        assert "No graph matches these filters" in page.inner_text("#shown")

    def test_names_are_only_text(self, opened, found):
        page = opened()
        page.fill("#search", "onclick")
        assert page.inner_text("#graph-title") == HOSTILE
        assert page.locator("main b[onclick]").count() == 0

    @pytest.mark.parametrize("width", [390, 800, 1400])
    def test_labels_do_not_overlap(self, opened, width):
        """Texts of the chosen graph and of its lists keep out of each other's way."""
        page = opened(width)
        page.locator("#details summary").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        lines = "#fragments td.text, #fragments td:last-child, .sides code, .sides span, #note, "
        lines += "#graph-title, #verdict, #shows label, #scale span, .neighbour h4, .neighbour p, "
        assert overlapping(page, lines + "h1, .lead") == []

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

    def test_how_sure_is_shown_beside_why(self, opened, found):
        page = opened()
        unsure = np.argsort([seen.probability for seen in found.graphs], kind="stable")
        page.select_option("#sure", "least")
        least = found.graphs[unsure[0]]
        shown = page.inner_text("#graph-title")
        [seen] = [seen for seen in found.graphs if seen.name == shown]
        assert seen.probability == least.probability
        assert f"({100 * seen.probability:.0f} %)" in page.inner_text("#verdict")
        page.select_option("#sure", "quarter")
        quarter = -(-len(found.graphs) // 4)
        assert f"{quarter} of {len(found.graphs)} graphs" in page.inner_text("#shown")
        before = page.inner_html("#picture")
        page.check('input[name="shows"][value="doubt"]')
        assert page.inner_html("#picture") != before
        assert "new or rare in training" in page.inner_text("#scale")
        label = page.get_attribute("#picture svg", "aria-label")
        assert label.endswith("contributions to the uncertainty")

    def test_several_explanations_on_one_page(self, opened, drugs, tmp_path):
        graphs, y, names = drugs
        model = gg.GraphClassifier(gg.WeisfeilerLehman(1)).fit(graphs[6:], y[6:])
        all_seen, whys = explain_rows(graphs, None, [5, 2], names, model=model)
        assert [seen.name for seen in all_seen[:2]] == [names[5], names[2]]
        assert len(whys) == 2
        path = tmp_path / "why.html"
        path.write_text(explanation_page("drugs", all_seen, 2, "286 graphs"), encoding="utf-8")
        page = opened(file=path)
        assert page.inner_text("#graph-title") == names[5]
        page.click("#next")
        assert page.inner_text("#graph-title") == names[2]
        page.click("#next")
        assert page.inner_text("#graph-title") == names[5]  # round about
        assert page.locator("#neighbours article").count() == 4

    def test_one_explanation(self, opened, drugs, tmp_path, quick_model):
        graphs, y, names = drugs
        all_seen, [why] = explain_rows(graphs, y, [5], names)
        seen = all_seen[0]
        path = tmp_path / "why.html"
        path.write_text(explanation_page("drugs", all_seen, 1, "291 others"), encoding="utf-8")
        page = opened(file=path)
        assert page.inner_text("h1") == f"Why {seen.name} is predicted as {why.prediction}"
        assert page.locator("#neighbours article").count() == 4
        assert all_seen[1].name in page.inner_text("#neighbours")
        assert f"Predicted {why.prediction}" in page.inner_text("#verdict")
        assert not page.locator(".stepper").is_visible()


class TestCommands:
    def run(self, *arguments: str) -> Any:
        return CliRunner().invoke(app, list(arguments))

    def test_explore_writes_a_page(self, tmp_path, quick_model):
        path = tmp_path / "page.html"
        result = self.run("explore", "drugs", "--most", "60", "-o", str(path), "--json", "-j", "1")
        assert result.exit_code == 0, result.output
        told = json.loads(result.stdout)
        assert 50 <= told["graphs"] <= 70  # each class has its share
        text = path.read_text(encoding="utf-8")
        assert f"{told['graphs']} graphs of drugs" in text
        assert "A sample of 292." in text
        assert "http://" not in text.replace("http://www.w3.org", "")

    def test_explain_one_row(self, tmp_path):
        pytest.importorskip("rdkit")
        table = tmp_path / "molecules.csv"
        rows = [f"{'C' * n}O,{int(n > 4)}" for n in range(1, 10)] + [
            f"{'C' * n}N,0" for n in (2, 3)
        ]
        table.write_text("smiles,active\n" + "\n".join(rows) + "\n")
        page, picture = tmp_path / "why.html", tmp_path / "why.svg"
        for row, predicted in (("7", 1), ("2", 0)):
            base = ("explain", str(table), "--target", "active", "--row", row, "-j", "1")
            result = self.run(*base, "-o", str(page))
            assert result.exit_code == 0, result.output
            assert f"O is predicted as {predicted}" in page.read_text(encoding="utf-8")
            told = json.loads(self.run(*base, "-o", str(picture), "--json").stdout)
            assert told["prediction"] == str(predicted)
            # positive values favour the prediction, in the table as here
            assert told["decision"] > 0
            assert f"decision {told['decision']:+.3g}" in " ".join(result.stdout.split())
            total = told["bias"] + sum(told["vertices"])
            assert total == pytest.approx(told["decision"], rel=1e-9)
            assert picture.read_text(encoding="utf-8").startswith("<svg")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("explain", "drugs", "--row", "0"), "from 1 to 292"),
            (("explain", "drugs", "--row", "293"), "from 1 to 292"),
            (("explain", "drugs", "--row", "1", "-o", "why.gif"), ".html, .svg or .png"),
            (("explain", "drugs", "--row", "1,3-4", "-o", "why.png"), "one graph, not 3"),
            (("explain", "drugs", "--row", "two"), "such as 17,20-22; got 'two'"),
            (("explain", "drugs", "--row", "4-2"), "from 1 to 292"),
            (("explore", "nonsense"), "no file, folder or data set"),
        ],
    )
    def test_mistakes_are_told(self, arguments, words):
        result = self.run(*arguments)
        assert result.exit_code == 2
        assert words in " ".join(result.output.split())
