"""Results as tables for the terminal, with the paper's figures next to ours."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from ..evaluation.display_names import kernel_label
from ..evaluation.published import TABLE2
from ..evaluation.scores import Scores
from ..evaluation.summary import Summary, describe


def percent(scores: Scores) -> str:
    """A mean in per cent, with its standard deviation if there are several repetitions.

    Examples
    --------
    >>> from graphgrain.cli.result_tables import percent
    >>> from graphgrain.evaluation.scores import Scores
    >>> percent(Scores.of([0.75])), percent(Scores.of([0.5, 1.0]))
    ('75.00', '75.00 ± 25.00')
    """
    if scores.mean is None or scores.std is None:
        return "-"
    spread = f" ± {100 * scores.std:.2f}" if len(scores.each) > 1 else ""
    return f"{100 * scores.mean:.2f}{spread}"


def set_name(summary: Summary) -> str:
    """The data set, and whether duplicates were removed."""
    return summary.dataset + (" without duplicates" if summary.deduplicated else "")


def seconds(value: float | None) -> str:
    """A time with a sensible number of digits."""
    return "-" if value is None else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def megabytes(value: int | None) -> str:
    """A number of bytes in megabytes."""
    return "-" if value is None else f"{value / 1e6:,.0f}"


def accuracy_table(summaries: Sequence[Summary], title: str) -> Table:
    """One row per data set and kernel; the best accuracy of each data set in bold."""
    published = any(_paper(summary) for summary in summaries)
    table = Table(title=title, box=None, title_justify="left", pad_edge=False)
    table.add_column("data set")
    table.add_column("kernel")
    names = ["accuracy", *(["paper"] if published else []), "balanced", "ROC AUC"]
    for name in [*names, "repetitions", "kernel s", "kernel MB"]:
        table.add_column(name, justify="right")
    table.add_column("parameters")
    best = {
        set_name(summary): max(
            other.accuracy.mean or 0.0
            for other in summaries
            if set_name(other) == set_name(summary)
        )
        for summary in summaries
    }
    for summary in summaries:
        accuracy = percent(summary.accuracy)
        if summary.accuracy.mean == best[set_name(summary)]:
            accuracy = f"[bold]{accuracy}[/bold]"
        share = max(summary.chosen.values()) / max(sum(summary.chosen.values()), 1)
        chosen = describe(summary.parameters)
        if summary.select == "validated" and len(summary.chosen) > 1:
            chosen += f" ({share:.0%} of folds)"
        table.add_row(
            escape(set_name(summary)),
            escape(kernel_label(summary.kernel, summary.variant)),
            accuracy,
            *([_paper(summary)] if published else []),
            percent(summary.balanced_accuracy),
            percent(summary.roc_auc),
            str(summary.repetitions),
            seconds(summary.kernel_seconds),
            megabytes(summary.kernel_memory),
            escape(chosen),
        )
    return table


def _paper(summary: Summary) -> str:
    entry = TABLE2.get(summary.dataset, {}).get(summary.kernel)
    if entry is None or summary.variant or summary.deduplicated:
        return ""
    return f"{entry[0]:.2f} ± {entry[1]:.2f}"
