"""Results as tables for the terminal, with the paper's figures next to ours."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from ..evaluation.metrics import Figures
from ..evaluation.published import TABLE2
from ..evaluation.summary import Summary, describe
from ..kernels.registry import KERNELS


def percent(figures: Figures) -> str:
    """A mean and its standard deviation over the repetitions, in per cent."""
    if figures.mean is None or figures.std is None:
        return "-"
    return f"{100 * figures.mean:.2f} ± {100 * figures.std:.2f}"


def kernel_name(summary: Summary) -> str:
    """As tables call it."""
    name = KERNELS[summary.kernel].title if summary.kernel in KERNELS else summary.kernel
    return f"{name} ({summary.variant})" if summary.variant else name


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
            escape(kernel_name(summary)),
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
