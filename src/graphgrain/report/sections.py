"""The sections of a page: headings, a sentence or two, tables, and places for figures."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from ..evaluation.records import FoldRecord, fold_records
from . import plots
from .comparison import Comparison
from .content import Content
from .tables import accuracy_table, details_table, note_list, runtime_table
from .words import count, listed, p_value


@dataclass(frozen=True)
class Section:
    """A part of the page, with its name in the navigation."""

    anchor: str
    title: str
    body: str

    def html(self) -> str:
        """The section with its heading."""
        name = f"{self.anchor}-title"
        return (
            f'<section id="{self.anchor}" aria-labelledby="{name}">\n'
            f'<h2 id="{name}">{escape(self.title)}</h2>\n{self.body}\n</section>'
        )


class Sections:
    """Builds the sections and collects the numbers of their figures.

    Attributes
    ----------
    figures : dict
        For the script: lists of plots by kind.
    """

    def __init__(self, content: Content, paper: bool) -> None:
        self.content = content
        self.paper = paper
        self.figures: dict[str, list[Any]] = {"dots": [], "ranks": [], "curves": [], "pictures": []}

    def all(self) -> list[Section]:
        """The sections that have something to show."""
        return [
            *self._accuracies(),
            *self._ranks(),
            *self._runtimes(),
            *self._curves(),
            *self._pictures(),
            *self._details(),
            self._about(),
        ]

    def _place(self, kind: str, plot: Any, note: str = "", style: str = "plot") -> str:
        """A place where the script draws a figure."""
        self.figures[kind].append(plot)
        number = len(self.figures[kind]) - 1
        caption = f"<figcaption>{note}</figcaption>" if note else ""
        return (
            f'<figure><div class="{style}" data-figure="{kind}:{number}"></div>{caption}</figure>'
        )

    def _accuracies(self) -> list[Section]:
        found = self.content.comparisons
        if not found:
            body = (
                '<p class="empty">No repetition of a cross-validation is complete yet, so there '
                "is no accuracy to show. The same command that began it goes on where it was.</p>"
            )
            return [Section("accuracy", "Accuracy", body + self._unfinished())]
        sections = []
        for number, comparison in enumerate(found):
            title = "Accuracy" if number == 0 else heading(comparison, found[0])
            anchor = "accuracy" if number == 0 else f"accuracy-{number + 1}"
            body = f"<p>{escape(explanation(comparison))}</p>"
            body += accuracy_table(comparison, f"{title} in per cent", self.paper, anchor)
            body += f'<p class="key">{self._key(comparison)}</p>' if number == 0 else ""
            if self.paper:
                body += note_list(comparison, anchor)
            body += self._unfinished() if number == 0 else ""
            body += self._place("dots", plots.accuracy_plot(comparison, self.paper))
            sections.append(Section(anchor, title, body))
        return sections

    def _unfinished(self) -> str:
        items = "".join(f"<li>{escape(words)}</li>" for words in self.content.unfinished)
        return f'<ul class="notes">{items}</ul>' if items else ""

    def _key(self, comparison: Comparison) -> str:
        parts = []
        if any(cell.best for cell in comparison.cells):
            parts.append('<span class="swatch">Bold</span> is the best of a row.')
        if max(comparison.repetitions) > 1:
            parts.append("± is the standard deviation over the repetitions.")
        if self.paper and any(cell.published for cell in comparison.cells):
            other = comparison.first.mode != "paper" or comparison.first.deduplicated
            differs = ", which were measured under another protocol" if other else ""
            parts.append(f"Small print: the figures of the Tree++ paper{differs}.")
        if comparison.tested:
            found = any(cell.verdict for cell in comparison.cells)
            parts.append(
                '<span class="worse">▼</span> and <span class="better">▲</span> mark kernels that '
                "are worse or better than Tree++"
                if found
                else "No kernel differs from Tree++"
            )
            parts.append(
                "with p &lt; 0.05 in a corrected resampled t-test (Nadeau and Bengio): a paired "
                "t-test over the test folds whose variance is enlarged because their training "
                "sets overlap."
            )
        return " ".join(parts)

    def _ranks(self) -> list[Section]:
        body = ""
        for comparison in self.content.comparisons:
            ranks = comparison.ranks
            if ranks is None or comparison.select != "validated":
                continue
            friedman = "" if ranks.p != ranks.p else f" (Friedman test: p {_p(ranks.p)})"
            several = len([c for c in self.content.comparisons if c.select == "validated"]) > 1
            body += f"<h3>{escape(protocol(comparison.first))}</h3>" if several else ""
            body += (
                f"<p>Kernels ranked by accuracy on each of {count(ranks.datasets, 'data set')}, "
                f"then averaged; 1 would be the best everywhere{friedman}. A thick line joins "
                "kernels that do not differ significantly: their ranks lie within the critical "
                f"difference of the Nemenyi test at 5 %, {ranks.critical_difference:.2f}.</p>"
            )
            body += self._place("ranks", plots.rank_plot(comparison))
        return [Section("ranks", "Average ranks", body)] if body else []

    def _runtimes(self) -> list[Section]:
        runtimes = self.content.runtimes
        if runtimes is None:
            return []
        costs = [cost for _, row in runtimes.rows for cost in row if cost]
        threads = listed([str(number) for number in sorted({cost.n_jobs for cost in costs})])
        body = (
            "<p>From graphs to the normalised kernel matrices of all levels, for one setting of "
            f"the kernel's grid, with {threads} {'thread' if threads == '1' else 'threads'}.</p>"
            + runtime_table(runtimes, self.paper)
            + self._place("dots", plots.runtime_plot(runtimes, self.paper))
        )
        return [Section("runtime", "Time", body)]

    def _curves(self) -> list[Section]:
        sections = []
        for symbol, other, what, curves in (
            ("k", "d", "the depth of the trees along a path", self.content.against_k),
            ("d", "k", "the length of the paths", self.content.against_d),
        ):
            if not curves:
                continue
            fixed = listed([str(number) for number in sorted({curve.fixed for curve in curves})])
            body = (
                f"<p>Tree++ with {symbol}, {what}, fixed for all folds ({other} = {fixed}). The "
                "band is one standard deviation over the repetitions; the larger dot is the best."
                "</p>"
            )
            body += self._place("curves", plots.curve_plot(curves, symbol), style="panels")
            sections.append(Section(f"against-{symbol}", f"Accuracy against {symbol}", body))
        return sections

    def _pictures(self) -> list[Section]:
        body = ""
        if self.content.pictures:
            self.figures["pictures"] = [plots.picture_plot(item) for item in self.content.pictures]
            body = '<div data-figure="pictures:0"></div>'
        if self.content.unseen:
            items = "".join(
                f"<li>{escape(name)}: {escape(reason)}.</li>"
                for name, reason in self.content.unseen.items()
            )
            body += (
                '<p class="key">Not shown (<code>graphgrain report --data</code> names the files '
                f'of data sets):</p><ul class="notes">{items}</ul>'
            )
        return [Section("graphs", "The graphs", body)] if body else []

    def _details(self) -> list[Section]:
        body = ""
        for comparison in self.content.comparisons:
            name = heading(comparison)
            body += f"<h3>{escape(name)}</h3>{details_table(comparison, name, self.paper)}"
        return [Section("details", "All figures", body)] if body else []

    def _about(self) -> Section:
        records = self.content.records
        versions = {tuple(sorted(record.versions.items())) for record in records}
        folds = fold_records(records)
        rows = [("Results file", self.content.file)]
        rows += [("Protocol", words) for words in dict.fromkeys(map(protocol, folds))]
        rows += [
            ("Seed", listed([str(seed) for seed in sorted({record.seed for record in folds})]))
        ] * bool(folds)
        rows += [
            (
                "Records",
                f"{count(len(folds), 'fold')}, {count(len(records) - len(folds), 'kernel')}",
            ),
            ("Written", _span([record.time for record in records])),
        ]
        rows += [
            ("Versions", ", ".join(f"{name} {version}" for name, version in group))
            for group in sorted(versions)
        ]
        sets = dict.fromkeys((record.dataset, record.fingerprint) for record in records)
        rows.append(("Data", ", ".join(f"{name} ({mark})" for name, mark in sets)))
        items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in rows)
        return Section("about", "How this was made", f"<dl>{items}</dl>")


def parameter_rules(record: FoldRecord) -> list[str]:
    words = [f"{record.mode} mode", f"{record.folds} folds"]
    words += [f"{record.inner_folds} inner folds"] if record.mode == "nested" else []
    words += [f"C from {listed([f'{C:g}' for C in record.C])}"]
    return words + (["without isomorphic duplicates"] if record.deduplicated else [])


def protocol(record: FoldRecord) -> str:
    """The rules of an evaluation in a few words."""
    return ", ".join(parameter_rules(record))


def heading(comparison: Comparison, first: Comparison | None = None) -> str:
    """A title with the rules, or with what sets a comparison apart from the first one."""
    own = parameter_rules(comparison.first)
    if first is not None:
        others = [*parameter_rules(first.first), f"seed {first.first.seed}"]
        own = [words for words in [*own, f"seed {comparison.first.seed}"] if words not in others]
    apart = ", ".join(own)
    hindsight = comparison.select == "reported-best"
    title = "Best parameters in hindsight" if hindsight else "Accuracy"
    return f"{title} ({apart})" if apart else title


def explanation(comparison: Comparison) -> str:
    """How the figures of a comparison came about."""
    record = comparison.first
    times = listed([str(number) for number in comparison.repetitions])
    words = f"{times} {'repetition' if times == '1' else 'repetitions'} of {record.folds}-fold "
    words += "cross-validation of a support vector machine on the normalised kernel"
    words += ", without isomorphic duplicates. " if record.deduplicated else ". "
    if comparison.select == "reported-best":
        return words + (
            "Here each kernel shows the one setting of its parameters that did best on the test "
            "graphs, as published figures often do, those of the paper among them. It is "
            "optimistic, since the test graphs took part in the choice."
        )
    if record.mode == "paper":
        return words + (
            "As in the paper, folds are not stratified, and for each test fold one of the others "
            "chooses C and the kernel's own parameters."
        )
    return words + (
        f"Folds are stratified, and for each test fold a cross-validation with "
        f"{record.inner_folds} folds of the training graphs chooses C and the kernel's own "
        "parameters."
    )


def _p(p: float) -> str:
    return escape(p_value(p)) if p < 0.001 else f"= {p_value(p)}"


def _span(times: list[str]) -> str:
    """From the first to the last time, to the minute."""
    first, last = (time[:16].replace("T", " ") for time in (min(times), max(times)))
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"
