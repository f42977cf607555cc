"""One self-contained page of everything that a file of records shows."""

from __future__ import annotations

import ast
import html
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from . import figures, paper
from .data import LabelledGraphs
from .kernels import paper_kernels
from .protocol import Protocol
from .records import Record
from .run import Entrant
from .scores import Result, costs, results
from .statistics import ranks
from .tables import (
    accuracy_frame,
    accuracy_markdown,
    curve_table,
    curves,
    over_all_sets,
    table3,
)

STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 74rem; margin: 2rem auto; padding: 0 1rem; }
div { overflow-x: auto; } svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
"""
#: Graphs that are listed as often misclassified.
MOST_WRONG = 10


def protocols(records: Sequence[Record]) -> list[Protocol]:
    """Return the protocols of all folds, in the order of the file."""
    keys = {
        (r["mode"], r["folds"], tuple(r["C"]), r["seed"]): None
        for r in records
        if r["kind"] == "fold"
    }
    return [Protocol(*key) for key in keys]


def all_figures(
    records: Sequence[Record], sets: Sequence[LabelledGraphs]
) -> dict[str, Callable[[], Any]]:
    """Return all figures of the records by name, as functions that draw them."""
    drawn: dict[str, Callable[[], Any]] = {}
    for protocol in protocols(records):
        for rule in ("validated", "reported-best") if protocol.mode == "paper" else ("validated",):
            found = table_results(records, protocol, rule)
            if not found:
                continue
            names = kernel_order(found)
            key = f"{protocol.mode}-{protocol.folds}-{protocol.seed}-{rule}"
            drawn[f"accuracy-{key}"] = partial(figures.accuracy_figure, found, names)
            frame = accuracy_frame(found, names).dropna(axis=1)
            if frame.shape[0] > 1 and frame.shape[1] > 1:
                drawn[f"ranks-{key}"] = partial(figures.rank_figure, ranks(frame))
            if rule == "validated":
                for (dataset, kernel), result in found.items():
                    drawn[f"confusion-{dataset}-{kernel}-{key}"] = partial(
                        figures.confusion_figure, result
                    )
                    drawn |= _maps(dataset, result, sets)
        for figure, symbol in (("figure-k", "k"), ("figure-d", "d")):
            if shown := curves(records, figure, protocol):
                drawn[f"{figure}-{protocol.mode}"] = partial(figures.curve_figure, shown, symbol)
    spent = costs([r for r in records if "figure-" not in r.get("kernel", "")])
    if len(spent):
        names = list(dict.fromkeys(spent.index.get_level_values("kernel")))
        drawn["runtime"] = partial(figures.runtime_figure, spent, names)
    for data in sets:
        drawn[f"distributions-{data.name}"] = partial(figures.distribution_figure, [data])
    return drawn


def _maps(
    dataset: str, result: Result, sets: Sequence[LabelledGraphs]
) -> dict[str, Callable[[], Any]]:
    """Return the map of a kernel with the parameters that are chosen most often."""
    data = next((item for item in sets if item.name == dataset), None)
    usual = {item.name: item for item in paper_kernels()}.get(result.kernel)
    if data is None or usual is None:
        return {}
    chosen = dict(
        part.split("=", 1) for part in next(iter(result.chosen)).split(", ") if "=" in part
    )
    kernel = usual.model.kernel(**{k: ast.literal_eval(v) for k, v in chosen.items()})
    title = f"{dataset}, {result.kernel}"
    return {f"map-{dataset}-{result.kernel}": partial(figures.map_figure, data, kernel, title)}


def table_results(
    records: Sequence[Record], protocol: Protocol, rule: str
) -> dict[tuple[str, str], Result]:
    """Return results that belong into tables, not to curves."""
    found = results(records, protocol, rule)
    return {key: item for key, item in found.items() if "figure-" not in key[1]}


def kernel_order(found: dict[tuple[str, str], Result]) -> list[str]:
    """Return the kernels of results, those of the paper first."""
    names = dict.fromkeys(kernel for _, kernel in found)
    order = list(paper.KERNELS.values())
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def write_page(
    records: Sequence[Record], sets: Sequence[LabelledGraphs], path: Path, folder: Path
) -> None:
    """Write tables and figures into one HTML file; the figures are also files of a folder."""
    parts = []
    for protocol in protocols(records):
        for rule in ("validated", "reported-best") if protocol.mode == "paper" else ("validated",):
            found = table_results(records, protocol, rule)
            if found:
                names = kernel_order(found)
                title = f"## Accuracy in percent: {protocol.mode} protocol, {rule}\n\n"
                table = accuracy_markdown(found, names, paper.TABLE2)
                parts.append(title + table + over_all_sets(found, names))
                if rule == "validated":
                    parts.append(_often_wrong(found))
        for figure in ("figure-k", "figure-d"):
            if shown := curves(records, figure, protocol):
                parts.append(curve_table(shown, figure)[1])
    names = [r["kernel"] for r in records if r["kind"] == "kernel" and "figure" not in r["kernel"]]
    if names and sets:
        who = [Entrant(name, None) for name in dict.fromkeys(names)]
        parts.append(table3(records, sets, who)[1])
    drawn = figures.write(all_figures(records, sets), folder)
    body = "".join(as_html(part) for part in parts)
    pictures = "".join(
        f"<h3>{html.escape(file.stem)}</h3>\n<div>{_svg(file)}</div>\n" for file in drawn
    )
    path.write_text(
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Results</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>Results</h1>\n{body}<h2>Figures</h2>\n"
        f"{pictures}</body></html>\n",
        encoding="utf-8",
    )


def _svg(file: Path) -> str:
    """Return the element of an SVG file, without its declaration."""
    text = file.read_text(encoding="utf-8")
    return text[text.index("<svg") :]


def _often_wrong(found: dict[tuple[str, str], Result]) -> str:
    """List the graphs that a kernel misclassifies in the most repetitions."""
    lines = []
    for (dataset, kernel), result in found.items():
        often = result.often_wrong.head(MOST_WRONG)
        listed = ", ".join(f"{graph + 1} ({times} times)" for graph, times in often.items())
        if listed:
            lines.append(f"{dataset}, {kernel}: graphs {listed}.\n")
    return "### Most often misclassified\n\n" + "\n".join(lines)


def as_html(text: str) -> str:
    """Return the Markdown of our tables as HTML: headings, tables and paragraphs.

    >>> print(as_html("## A <b>\\n\\n| x | y |\\n| --- | ---: |\\n| 1 | **2** |\\n"), end="")
    <h2>A &lt;b&gt;</h2>
    <div><table>
    <tr><th>x</th><th>y</th></tr>
    <tr><td>1</td><td><b>2</b></td></tr>
    </table></div>
    """
    lines: list[str] = []
    table = False
    for line in html.escape(text, quote=False).splitlines():
        cells = [_bold(cell.strip()) for cell in line.strip("|").split("|")]
        if not line.startswith("|") and table:
            lines.append("</table></div>")
            table = False
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            lines.append(f"<h{level}>{line.lstrip('# ')}</h{level}>")
        elif line.startswith("| ---"):
            continue
        elif line.startswith("|"):
            kind = "td" if table else "th"
            if not table:
                lines.append("<div><table>")
                table = True
            lines.append("<tr>" + "".join(f"<{kind}>{cell}</{kind}>" for cell in cells) + "</tr>")
        elif line:
            lines.append(f"<p>{_bold(line)}</p>")
    return "\n".join([*lines, *(["</table></div>"] if table else [])]) + "\n"


def _bold(text: str) -> str:
    parts = text.split("**")
    return "".join(f"<b>{part}</b>" if number % 2 else part for number, part in enumerate(parts))
