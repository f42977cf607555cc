"""The page in a real browser: it opens cleanly, holds the right numbers, and answers."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphgrain as gg

from . import oracle
from .browsing import redrawn
from .made_up import HOSTILE

TIMES = "\u00d7"
KERNELS = {"tree++": "Tree++", "sp": "SP", "wl": "WL"}


def test_the_accuracy_table_holds_the_right_numbers(shown: Any, records: list[Any]) -> None:
    page = shown
    heads = page.locator("#accuracy thead th").all_inner_texts()
    assert heads == ["Data set", *KERNELS.values()]
    rows = page.locator("#accuracy tbody tr")
    for number in range(rows.count()):
        cells = rows.nth(number).locator("th, td")
        name = cells.nth(0).get_attribute("data-value")
        means = {}
        for place, kernel in enumerate(KERNELS, 1):
            expected = oracle.accuracies(records, name, kernel)
            means[kernel] = np.mean(expected)
            text = cells.nth(place).inner_text()
            told = cells.nth(place).locator(".mean, .sd").all_inner_texts()
            assert told == [f"{np.mean(expected):.2f}", f"± {np.std(expected):.2f}"]
            if kernel != "tree++":
                significant = oracle.p_against_tree(records, name, kernel) < 0.05
                assert ("▼" in text or "▲" in text) == significant
                if significant:
                    assert ("▲" in text) == (means[kernel] > means["tree++"])
        best = [cells.nth(i).get_attribute("class") == "best" for i in range(1, 4)]
        assert best == [mean == max(means.values()) for mean in means.values()]
    cox2 = page.locator("#accuracy tbody tr", has_text="COX2_MD").locator("td").nth(0)
    assert "paper 69.20 ± 1.69" in cox2.inner_text()


def test_other_tables_hold_the_right_numbers(shown: Any, records: list[Any]) -> None:
    page = shown
    page.locator("#runtime tbody tr", has_text="BZR").wait_for()
    seconds = {r.kernel: r.seconds for r in records if r.kind == "kernel" and r.dataset == "BZR"}
    cells = page.locator("#runtime tbody tr", has_text="BZR").locator("td").all_inner_texts()
    for text, kernel in zip(cells, KERNELS, strict=True):
        assert text.split("\n")[0] == f"{1000 * seconds[kernel]:.0f} ms"
    details = page.locator("#details table").nth(0).locator("tbody tr")
    assert details.count() == 5 * 3
    row = details.filter(has_text="drugs").filter(has_text="WL").locator("th, td").all_inner_texts()
    heads = page.locator("#details table").nth(0).locator("thead th").all_inner_texts()
    told = dict(zip(heads, row, strict=True))
    expected = np.mean(oracle.accuracies(records, "drugs", "wl"))
    assert told["Accuracy"] == f"{expected:.2f}"
    p = oracle.p_against_tree(records, "drugs", "wl")
    assert told["p vs. Tree++"] == ("< 0.001" if p < 0.001 else f"{p:.3f}")
    assert (told["Repetitions"], told["Graphs"]) == ("3", "292")
    assert (told["Kernel time"], told["Memory"]) == ("40.0 ms", "2.9 MiB")  # 3,000,000 bytes
    folds = oracle.folds_of(records, "drugs", "wl")
    recalls = []
    for repetition in range(3):
        pairs = [
            pair
            for r in folds
            if r.repetition == repetition
            for pair in zip(r.truth, r.levels[0].predictions, strict=True)
        ]
        each = [np.mean([b == c for a, b in pairs if a == c]) for c in range(11)]
        recalls.append(np.mean(each))
    assert told["Balanced"] == f"{100 * np.mean(recalls):.2f}"


def test_sorting_by_mouse_and_by_keys(opened: Any, records: list[Any], sets: Any) -> None:
    page = opened()
    means = {name: np.mean(oracle.accuracies(records, name, "tree++")) for name in sets}
    falling = sorted(means, key=lambda name: -means[name])
    head = page.locator("#accuracy thead th").nth(1)
    values = "els => els.map(e => e.dataset.value)"

    def names() -> list[str]:
        return page.locator("#accuracy tbody th").evaluate_all(values)

    assert head.get_attribute("aria-sort") is None
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert names() == falling
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert names() == sorted(means, key=lambda name: means[name])
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") is None
    assert names() == list(sets)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert page.locator("#accuracy thead th").nth(0).get_attribute("aria-sort") == "ascending"
    assert names() == sorted(sets, key=str.lower)
    # Missing numbers come last, whichever way.
    table = page.locator("#details table").nth(0)
    heads = table.locator("thead th").all_inner_texts()
    paper = table.locator("thead th").nth(heads.index("Paper")).locator("button")
    for _ in range(2):
        paper.click()
        cells = table.locator(f"tbody tr > :nth-child({heads.index('Paper') + 1})")
        known = cells.evaluate_all("els => els.map(e => e.dataset.value !== undefined)")
        assert known == sorted(known, reverse=True)
        assert 0 < sum(known) < len(known)


def test_hover_tells_which_drug_it_is(opened: Any) -> None:
    page = opened()
    graphs, y, names = gg.load_drugs(names=True)
    tip = page.locator("#tip")
    assert tip.is_hidden()
    drawing = page.locator("#graphs .map svg")
    drawing.scroll_into_view_if_needed()
    marks = drawing.locator("path.dot")
    assert marks.count() == len(names)
    seen = set()
    for number in (0, 50, 100, 291):
        box = marks.nth(number).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        name, family, size = tip.inner_text().split("\n")
        found = int(np.flatnonzero(names == name)[0])
        assert family == y[found]
        expected = f"{graphs.vertex_counts[found]} vertices, {graphs.edge_counts[found]} edges"
        assert size == expected
        seen.add(name)
    assert len(seen) > 1
    page.mouse.move(2, 2)
    assert tip.is_hidden()
    # The same by keys.
    drawing.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert tip.inner_text().split("\n")[0] == names[1]
    page.keyboard.press("ArrowLeft")
    assert tip.inner_text().split("\n")[0] == names[0]
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_a_class_can_be_singled_out(shown: Any) -> None:
    page = shown
    _, y = gg.load_drugs()
    button = page.locator("#graphs .legend button", has_text="opioids")
    assert button.inner_text() == f"opioids ({np.sum(y == 'opioids')})"
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    faded = page.locator("#graphs .map path.faded")
    assert faded.count() == np.sum(y != "opioids")
    button.click()
    assert faded.count() == 0


def test_other_data_sets_can_be_looked_at(opened: Any, sets: dict[str, Any]) -> None:
    page = opened()
    options = page.locator("#map-set option").all_inner_texts()
    assert options == list(sets)
    page.locator("#map-set").select_option(label=HOSTILE)
    redrawn(page)
    assert page.locator("#graphs .map path.dot").count() == 40
    drawing = page.locator("#graphs .map svg")
    drawing.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").inner_text().startswith(HOSTILE)


def test_every_kernel_has_a_map(opened: Any) -> None:
    page = opened()
    assert page.locator("#map-kernel option").all_inner_texts() == ["Tree++", "WL", "SP"]
    place = "el => el.getAttribute('transform')"
    before = page.locator("#graphs .map path.dot").nth(0).evaluate(place)
    page.locator("#map-kernel").select_option(label="WL")
    redrawn(page)
    assert "drugs, WL: map" in page.locator("#graphs h3").nth(0).inner_text()
    assert page.locator("#graphs .map path.dot").nth(0).evaluate(place) != before
    # The kernel stays when the data set changes.
    page.locator("#map-set").select_option(label="BZR")
    redrawn(page)
    assert "BZR, WL: map" in page.locator("#graphs h3").nth(0).inner_text()


def test_axes_have_ticks_and_names(opened: Any, shown: Any) -> None:
    for page in (opened(360), shown):
        labels = page.locator("#graphs .map svg text").all_text_contents()
        numbers = [text for text in labels if text.replace("-", "").replace(".", "").isdigit()]
        assert len(numbers) >= 4
        assert sum("axis" in text for text in labels) == 2
        for section in ("accuracy", "runtime"):
            ticks = page.locator(f"#{section} figure svg[role=img] text.label").all_text_contents()
            assert len(ticks) >= 3  # two numbers at least, and what they are
        _, y = gg.load_drugs()
        names = page.locator("#graphs .strip.names span").all_inner_texts()
        assert names == sorted(set(y))


def test_confusions_and_misclassified_graphs(opened: Any, records: list[Any]) -> None:
    page = opened()
    page.locator("#errors-set").select_option(label="drugs")
    page.locator("#errors-kernel").select_option(label="WL")
    counts = np.zeros((11, 11))
    wrong: dict[int, int] = {}
    for record in oracle.folds_of(records, "drugs", "wl"):
        predictions = record.levels[0].predictions
        for graph, truth, said in zip(record.test, record.truth, predictions, strict=True):
            counts[truth, said] += 1 / 3
            if truth != said:
                wrong[graph] = wrong.get(graph, 0) + 1
    shown = page.locator("#errors .confusion tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.querySelectorAll('td')].map(c => Number(c.innerText) || 0))"
    )
    np.testing.assert_allclose(shown, counts, atol=0.051)
    names = gg.load_drugs(names=True)[2]
    worst = sorted(wrong, key=lambda graph: (-wrong[graph], graph))[:30]
    listing = page.locator("#errors .listing tbody th").all_inner_texts()
    assert listing == [names[graph] for graph in worst]
    assert (
        f"{len(wrong)} graphs were misclassified"
        in page.locator("#errors figcaption").nth(1).inner_text()
    )
    # Accuracy per class, in the table that needs no script.
    row = page.locator("#errors table.classes tbody tr", has_text="opioids").locator("td")
    opioids = sorted(set(gg.load_drugs()[1])).index("opioids")
    expected = 100 * counts[opioids, opioids] / counts[opioids].sum()
    assert row.nth(4).inner_text().startswith(f"{expected:.1f}")


def test_the_matrix_tells_its_cells(shown: Any) -> None:
    page = shown
    graphs, y = gg.load_drugs()
    canvas = page.locator("#graphs canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] - 2)
    words, value = page.locator("#tip").inner_text().split("\n")
    classes = sorted(set(y))
    assert words == f"{classes[-1]} {TIMES} {classes[0]}"
    K = gg.TreePlusPlus(tree_depth=2).fit_transform(graphs)
    block = K[np.ix_(y == classes[-1], y == classes[0])]
    shown = float(value.split()[-1])
    assert block.min() - 0.01 <= shown <= block.max() + 0.01
    canvas.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#tip").inner_text().count(TIMES) == 1
    page.keyboard.press("Escape")


def test_figures_are_drawn_and_tell_their_numbers(shown: Any, records: list[Any]) -> None:
    page = shown
    # Three kernels on five sets, and the paper's figures for three of the sets.
    assert page.locator("#accuracy figure svg[role=img] path.dot").count() == 15
    assert page.locator("#accuracy figure svg[role=img] path.hollow").count() == 9
    assert page.locator("#ranks svg .leader").count() == 3
    assert page.locator("#against-k svg").count() == 5
    assert page.locator("#against-d svg").count() == 2
    panel = page.locator("#against-k svg").nth(0)
    panel.focus()
    page.keyboard.press("ArrowRight")
    expected = oracle.accuracies(records, "drugs", "tree++", 0)
    told = f"drugs, k = 0\n{np.mean(expected):.2f} ± {np.std(expected):.2f} %"
    assert page.locator("#tip").inner_text() == told
    page.keyboard.press("Escape")
    for drawing in page.locator("svg[role=img]").all():
        assert drawing.locator("title").first.text_content()
        assert drawing.get_attribute("aria-label")
