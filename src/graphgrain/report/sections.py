"""The sections of a page as plain data: sentences, tables, and places for figures.

Nothing here is HTML: ``templates/page.html`` writes it, and escapes every name in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..evaluation.kernel_comparison import RANKED_SHARE, Comparison
from ..evaluation.league import standings
from ..evaluation.records import FoldRecord, fold_records, kernel_records
from . import charts
from .content import Content, kernel_order
from .league_tables import league_table
from .page_tables import PageTable, accuracy_table, class_table, details_table, runtime_table
from .rank_diagram import RankDiagram, diagram_of
from .words import compared_p, count, listed


@dataclass(frozen=True)
class Place:
    """Where the script draws a figure: ``kind`` and number in the data of the page."""

    kind: str
    number: int
    style: str = "plot"


@dataclass(frozen=True)
class Part:
    """A piece of a section; what is empty is left out.

    Attributes
    ----------
    heading, words : str
    empty : bool
        Whether the words say that there is nothing to show.
    table : PageTable or None
    legend : dict
        What marks in the table mean; see templates/page.html.
    notes : list of str
    figure : Place or None
    diagram : RankDiagram or None
    facts : list of (name, words)
    """

    heading: str = ""
    words: str = ""
    empty: bool = False
    table: PageTable | None = None
    legend: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    figure: Place | None = None
    diagram: RankDiagram | None = None
    facts: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Section:
    """A part of the page, with its name in the navigation."""

    anchor: str
    title: str
    parts: list[Part]


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
        self.kernels = kernel_order(content.comparisons, content.runtimes)
        self.figures: dict[str, list[Any]] = {
            kind: [] for kind in ("dots", "curves", "maps", "errors")
        }

    def all(self) -> list[Section]:
        """The sections that have something to show."""
        return [
            *self._accuracies(),
            *self._league(),
            *self._errors(),
            *self._runtimes(),
            *self._curves(),
            *self._maps(),
            *self._details(),
            self._about(),
        ]

    def _place(self, kind: str, plot: Any, style: str = "plot") -> Place:
        self.figures[kind].append(plot)
        return Place(kind, len(self.figures[kind]) - 1, style)

    def _accuracies(self) -> list[Section]:
        found, unfinished = self.content.comparisons, self.content.unfinished
        if not found:
            words = (
                "No repetition of a cross-validation is complete yet, so there is no accuracy to "
                "show. The same command that began it goes on where it was."
            )
            return [
                Section("accuracy", "Accuracy", [Part(words=words, empty=True, notes=unfinished)])
            ]
        sections = []
        for number, comparison in enumerate(found):
            title = "Accuracy" if number == 0 else heading(comparison, found[0])
            anchor = "accuracy" if number == 0 else f"accuracy-{number + 1}"
            table = accuracy_table(comparison, f"{title} in per cent", self.paper, anchor)
            part = Part(
                words=explanation(comparison),
                table=table,
                legend=self._legend(comparison) if number == 0 else {},
                notes=unfinished if number == 0 else [],
                figure=self._place(
                    "dots", charts.accuracy_plot(comparison, self.paper, self.kernels)
                ),
            )
            sections.append(Section(anchor, title, [part]))
        return sections

    def _legend(self, comparison: Comparison) -> dict[str, Any]:
        printed = self.paper and any(cell.published for cell in comparison.cells)
        other = comparison.first.mode != "paper" or comparison.first.deduplicated
        return {
            "best": any(cell.best for cell in comparison.cells),
            "spread": max(comparison.repetitions) > 1,
            "paper": printed,
            "paper_differs": other,
            "tested": comparison.tested,
            "verdicts": any(cell.verdict for cell in comparison.cells),
        }

    def _league(self) -> list[Section]:
        parts = []
        validated = [c for c in self.content.comparisons if c.select == "validated"]
        for comparison in validated:
            stopped = any(limit for row in comparison.rows for limit in row.stopped)
            if comparison.ranks is None and not stopped:
                continue
            name = protocol(comparison.first) if len(validated) > 1 else ""
            parts.append(
                Part(
                    heading=name,
                    words=standing_words(comparison),
                    table=league_table(comparison, standings(comparison)),
                    diagram=None if comparison.ranks is None else diagram_of(comparison),
                )
            )
        return [Section("ranks", "League table", parts)] if parts else []

    def _errors(self) -> list[Section]:
        errors = self.content.errors
        if not errors:
            return []
        self.figures["errors"] = charts.error_plots(errors)
        words = "The share of each class that is classified rightly, in per cent"
        several = len({protocol(c.first) for c in self.content.comparisons}) > 1
        words += ", under the first protocol above that has the data set." if several else "."
        parts = [
            Part(words=words, table=class_table(errors)),
            Part(heading="Which classes are confused, and which graphs", figure=Place("errors", 0)),
        ]
        return [Section("errors", "Classes and errors", parts)]

    def _runtimes(self) -> list[Section]:
        runtimes = self.content.runtimes
        if runtimes is None:
            return []
        costs = [cost for _, row in runtimes.rows for cost in row if cost]
        threads = listed([str(number) for number in sorted({cost.n_jobs for cost in costs})])
        words = (
            "From graphs to the normalised kernel matrices of all levels, for one setting of "
            f"the kernel's grid, with {threads} {'thread' if threads == '1' else 'threads'}."
        )
        part = Part(
            words=words,
            table=runtime_table(runtimes, self.paper),
            figure=self._place("dots", charts.runtime_plot(runtimes, self.paper, self.kernels)),
        )
        return [Section("runtime", "Time", [part])]

    def _curves(self) -> Iterator[Section]:
        for symbol, other, what, curves in (
            ("k", "d", "the depth of the trees along a path", self.content.against_k),
            ("d", "k", "the length of the paths", self.content.against_d),
        ):
            if not curves:
                continue
            fixed = listed([str(number) for number in sorted({curve.fixed for curve in curves})])
            words = f"Tree++ with {symbol}, {what}, fixed for all folds ({other} = {fixed}). "
            if any(curve.repetitions > 1 for curve in curves):
                words += "The band is one standard deviation over the repetitions. "
            words += "The larger dot is the best."
            figure = self._place("curves", charts.curve_plot(curves, symbol), "panels")
            title = f"Accuracy against {symbol}"
            yield Section(f"against-{symbol}", title, [Part(words=words, figure=figure)])

    def _maps(self) -> list[Section]:
        parts = []
        if self.content.maps:
            self.figures["maps"] = [charts.map_plots(self.content.maps)]
            parts.append(Part(figure=Place("maps", 0)))
        if self.content.unseen:
            words = "Not shown (graphgrain report --data names the files of data sets):"
            reasons = [f"{name}: {reason}." for name, reason in self.content.unseen.items()]
            parts.append(Part(words=words, notes=reasons))
        return [Section("graphs", "The graphs", parts)] if parts else []

    def _details(self) -> list[Section]:
        parts = []
        for comparison in self.content.comparisons:
            name = heading(comparison)
            table = details_table(comparison, name, self.paper)
            parts.append(Part(heading=name, table=table))
        return [Section("details", "All numbers", parts)] if parts else []

    def _about(self) -> Section:
        records = self.content.records
        versions = {tuple(sorted(record.versions.items())) for record in records}
        folds = fold_records(records)
        facts = [("Results file", self.content.file)]
        facts += [("Protocol", words) for words in dict.fromkeys(map(protocol, folds))]
        seeds = sorted({record.seed for record in folds})
        facts += [("Seed", listed([str(seed) for seed in seeds]))] if folds else []
        kernels = count(len(kernel_records(records)), "kernel")
        facts += [
            ("Records", f"{count(len(folds), 'fold')}, {kernels}"),
            ("Written", _span([record.time for record in records])),
        ]
        facts += [
            ("Versions", ", ".join(f"{name} {version}" for name, version in group))
            for group in sorted(versions)
        ]
        sets = dict.fromkeys((record.dataset, record.fingerprint) for record in records)
        facts.append(("Data", ", ".join(f"{name} ({mark})" for name, mark in sets)))
        return Section("about", "How this was made", [Part(facts=facts)])


def rules(record: FoldRecord) -> list[str]:
    """The rules of an evaluation, each in a few words."""
    words = [f"{record.mode} mode", f"{record.folds} folds"]
    words += [f"{record.inner_folds} inner folds"] if record.mode == "nested" else []
    words += [f"C from {listed([f'{C:g}' for C in record.C])}"]
    return words + (["without isomorphic duplicates"] if record.deduplicated else [])


def protocol(record: FoldRecord) -> str:
    """The rules of an evaluation in one line."""
    return ", ".join(rules(record))


def heading(comparison: Comparison, first: Comparison | None = None) -> str:
    """A title with the rules, or with what sets a comparison apart from the first one."""
    own = rules(comparison.first)
    if first is not None:
        others = [*rules(first.first), f"seed {first.first.seed}"]
        own = [words for words in [*own, f"seed {comparison.first.seed}"] if words not in others]
    apart = ", ".join(own)
    hindsight = comparison.select == "reported-best"
    title = "Best parameters in hindsight" if hindsight else "Accuracy"
    return f"{title} ({apart})" if apart else title


def explanation(comparison: Comparison) -> str:
    """How the accuracies of a comparison came about."""
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


def standing_words(comparison: Comparison) -> str:
    """How the league table of a comparison is to be read."""
    ranks = comparison.ranks
    if ranks is None:
        words = "There are too few data sets or kernels for ranks that could mean anything."
    else:
        friedman = "" if ranks.p != ranks.p else f" (Friedman test: p {compared_p(ranks.p)})"
        ranked = len(comparison.ranked)
        words = (
            f"Kernels ranked by accuracy on each of {count(ranks.datasets, 'data set')}, then "
            f"averaged; 1 would be the best everywhere{friedman}. A thick line joins kernels that "
            "do not differ significantly: their ranks lie within the critical difference of the "
            f"Nemenyi test at 5 %, {ranks.critical_difference:.2f}. The other columns are over "
            "the same data sets."
        )
        if ranked < len(comparison.columns):
            words += (
                f" {count(ranked, 'kernel')} of {len(comparison.columns)} are ranked, those with "
                f"a result on {100 * RANKED_SHARE:.0f} % of the data sets; the ranks are over the "
                "data sets on which all of these have one."
            )
    if any(limit for row in comparison.rows for limit in row.stopped):
        words += (
            " A kernel that ran over its limit on a data set was stopped there and has no result: "
            "so many processor seconds for a repetition, or so much memory."
        )
    return words


def _span(times: list[str]) -> str:
    """From the first to the last time, to the minute."""
    first, last = (time[:16].replace("T", " ") for time in (min(times), max(times)))
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"
