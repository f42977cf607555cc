"""The part of the command reproduce that goes past the paper: Tree++ that tunes itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from ..evaluation import published
from ..evaluation.labelled_graphs import LabelledGraphs, prepare
from ..evaluation.protocol import Protocol
from ..evaluation.results_file import read_results
from ..evaluation.self_tuned import (
    KERNEL,
    TREE_ROW,
    Side,
    best_competitor,
    compare,
    competitor,
    offered_view,
)
from ..evaluation.significance import corrected_t_test, wilcoxon_p
from ..kernels.grid import KernelGrid
from ..kernels.registry import KERNELS
from ..report.words import p_value
from .app import out
from .loading import load
from .result_tables import percent
from .running import running
from .wide_tables import print_table


def self_tuned_table(
    names: list[str], protocol: Protocol, repeats: int, results: Path, n_jobs: int, quiet: bool
) -> list[dict[str, Any]]:
    """Run what the results lack, then show both Tree++, the competitor and published figures."""
    sets = []
    for name, graphs, y, *_ in map(load, names):
        whole = prepare(name, graphs, y, folds=protocol.folds)
        unique = prepare(name, graphs, y, remove_duplicates=True, folds=protocol.folds)
        sets.append((whole, unique if unique.removed else whole))
    # All sets as they are come first, so that an interrupted run has the more important half.
    both = (TREE_ROW, KERNELS[KERNEL])  # the self-tuned Tree++ and the paper's
    work = [(whole, grid) for whole, _ in sets for grid in (*both, competitor(whole.name))]
    work += [(unique, grid) for _, unique in sets if unique.removed for grid in both]
    settings = sum(len(grid.settings) if isinstance(grid, KernelGrid) else 1 for _, grid in work)
    with running(results, settings * protocol.folds * repeats, n_jobs, quiet=quiet) as runner:
        for data, grid in work:
            runner(data, grid, protocol, repeats)
    records = read_results(results)
    rows = [
        _row(whole, unique, *(compare(records, data, protocol) for data in (whole, unique)))
        for whole, unique in sets
    ]
    if not quiet:
        print_table(out(), _table(rows))
        out().print(
            "[dim]nested: everything is chosen inside the training folds. Self-tuned: "
            "TreePlusPlusClassifier() fitted to the training graphs of each fold; where a star "
            "stands, it was offered the view EdgeFilter(drop=[1]), the bonds only. Competitor: the "
            "kernel with the best published figure next to Tree++, on the same folds. p: corrected "
            "resampled t-test of self-tuned against the column before it. Without duplicates: one "
            "graph of each set of isomorphic ones. Published figures come from the paper's own "
            "protocol."
            "[/dim]\n"
        )
        for other in ("tree++", "competitor"):
            out().print(_over_all(rows, other))
        for row in rows:
            total = sum(row["chosen"].values())
            chosen = ", ".join(f"{name} {n / total:.0%}" for name, n in row["chosen"].items())
            out().print(f"[dim]{escape(row['dataset'])}, who decided: {escape(chosen)}[/dim]")
    return [{key: value for key, value in row.items() if key != "shown"} for row in rows]


def _row(
    whole: LabelledGraphs, unique: LabelledGraphs, side: Side | None, other: Side | None
) -> dict[str, Any]:
    assert side is not None  # the run that came before left complete records
    assert other is not None
    assert side.competitor is not None
    p, p_lead = (corrected_t_test(d, 1 / (side.folds - 1)) for d in (side.differences, side.lead))
    other_kernel = competitor(whole.name)
    paper, best = published.TABLE2.get(whole.name, {}).get("tree++"), best_competitor(whole.name)
    return {
        "dataset": whole.name,
        "repetitions": side.repetitions,
        "tree++": _figures(side.paper),
        "tuned": _figures(side.tuned),
        "p": p,
        "competitor": {"kernel": other_kernel.name, **_figures(side.competitor)},
        "p against competitor": p_lead,
        "chosen": side.chosen,
        "published tree++": paper,
        "published competitor": best,
        "duplicates removed": unique.removed,
        "tree++ without duplicates": _figures(other.paper),
        "tuned without duplicates": _figures(other.tuned),
        "view offered": offered_view(whole.name) is not None,
        "shown": [
            whole.name + ("*" if offered_view(whole.name) is not None else ""),
            percent(side.tuned),
            percent(side.paper),
            p_value(p),
            f"{percent(side.competitor)} {other_kernel.title}",
            p_value(p_lead),
            "-" if paper is None else f"{paper[0]:.2f}",
            "-" if best is None else f"{best[1]:.2f}",
            str(unique.removed),
            percent(other.paper) if unique.removed else "the same",
            percent(other.tuned) if unique.removed else "the same",
            str(side.repetitions),
        ],
    }


def _over_all(rows: list[dict[str, Any]], other: str) -> str:
    """The self-tuned against another column over all data sets."""
    differences = [row["tuned"]["mean"] - row[other]["mean"] for row in rows]
    name = {"tree++": "Tree++", "competitor": "the competitor"}[other]
    better = f"self-tuned better than {name} on {sum(d > 0 for d in differences)} of {len(rows)}"
    p = wilcoxon_p(differences)
    return better if p != p else f"{better}, Wilcoxon signed-rank test p = {p:.4f}"


def _figures(figures: Any) -> dict[str, Any]:
    return {"mean": figures.mean, "std": figures.std, "each": figures.each}


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(
        title="Past the paper: accuracy in per cent",
        box=None,
        title_justify="left",
        pad_edge=False,
    )
    table.add_column("data set")
    for name in (
        *("self-tuned", "Tree++", "p", "competitor", "p", "published Tree++", "competitor"),
        *("duplicates", "Tree++ without", "self-tuned without", "repetitions"),
    ):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*map(escape, row["shown"]))
    return table
