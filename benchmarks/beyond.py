"""Past the paper: estimators that choose everything inside the training data, beside Tree++.

    python -m benchmarks.beyond -d BZR,PTC_FR --repeats 3
    python -m benchmarks.beyond --seed 1

1. In each fold the estimator for Tree++ is fitted to the training graphs and predicts the test
   graphs; the record keeps who decided.
2. Beside it stands the paper's Tree++, plain counts and vertex labels alone, on the same folds;
   both also without isomorphic duplicates.
3. The competitor is the kernel with the best published figure on the data set next to Tree++
   (Weisfeiler-Lehman where none is published), with the settings it has anywhere else.

No data set has settings of its own but for a view that its documentation justifies: the graphs of
the ``*_MD`` sets are complete, and edge label 1 says "no chemical bond". There the estimator is
offered the view without these edges, and tables say so; tests over the data sets are shown with
these sets and without them, since no competitor is offered the view.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from graphgrain.cli.app import out
from graphgrain.cli.evaluate import running
from graphgrain.cli.tables import percent, print_table
from graphgrain.evaluation import paper
from graphgrain.evaluation.experiment import SELF_TUNED, TREE_ROW
from graphgrain.evaluation.labelled_graphs import LabelledGraphs, prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import FoldRecord, Record, fold_records, read_results
from graphgrain.evaluation.statistics import (
    Folds,
    Scores,
    accuracies,
    corrected_t_test,
    fold_accuracy,
    wilcoxon_p,
)
from graphgrain.evaluation.summary import Experiment
from graphgrain.kernels.grid import KernelGrid
from graphgrain.kernels.registry import KERNELS
from graphgrain.report.content import p_value

from .data import load_with_classes
from .limits import COMPLETE, Entrant
from .tables import records_file

KERNEL = "tree++"


def competitor(dataset: str) -> KernelGrid:
    """The kernel that Tree++ is measured against on a data set."""
    best = best_competitor(dataset)
    return KERNELS[best[0] if best else "wl"]


@dataclass(frozen=True)
class Side:
    """What the two Tree++ and the competitor achieve on one data set.

    Attributes
    ----------
    paper, tuned : Scores
        Accuracies: plain counts and vertex labels alone; everything chosen inside.
    competitor : Scores or None
        Accuracies of the competitor in those of the repetitions that it has; None without any.
    differences, lead : list of float
        On each test fold: accuracy of the self-tuned minus that of the paper's, and minus that of
        the competitor.
    chosen : dict
        How often each setting was among those that decide, most first.
    repetitions, folds : int
    """

    paper: Scores
    tuned: Scores
    competitor: Scores | None
    differences: list[float]
    lead: list[float]
    chosen: dict[str, int]
    repetitions: int
    folds: int


def compare(records: Iterable[Record], data: LabelledGraphs, protocol: Protocol) -> Side | None:
    """Read the records of a data set; None before a repetition is complete."""
    of_set = [
        record
        for record in fold_records(records)
        if (record.fingerprint, record.deduplicated) == (data.fingerprint, data.deduplicated)
        and record.protocol == protocol.key
    ]
    tuned = [r for r in of_set if (r.kernel, r.variant) == (KERNEL, SELF_TUNED)]
    usual = [record for record in of_set if not record.variant]
    plain = [record for record in usual if record.kernel == KERNEL]
    if not tuned or not plain:
        return None
    paper = Experiment(plain)
    repetitions = [r for r in Experiment(tuned).repetitions if r in paper.repetitions]
    if not repetitions:
        return None
    of_tuned = [Experiment(tuned).tested(repetition, 0) for repetition in repetitions]
    of_paper = [paper.validated(repetition)[0] for repetition in repetitions]
    others = _validated(usual, competitor(data.name))
    common = [number for number, r in enumerate(repetitions) if r in others]
    theirs = [others[repetitions[number]] for number in common]
    members = Counter(
        name for record in tuned if record.repetition in repetitions for name in record.members
    )
    return Side(
        paper=accuracies(of_paper),
        tuned=accuracies(of_tuned),
        competitor=accuracies(theirs) if theirs else None,
        differences=_differences(of_tuned, of_paper),
        lead=_differences([of_tuned[number] for number in common], theirs),
        chosen=dict(members.most_common()),
        repetitions=len(repetitions),
        folds=protocol.folds,
    )


def _validated(records: list[FoldRecord], grid: KernelGrid) -> dict[int, Folds]:
    """What a kernel predicted in each complete repetition, its grid chosen inside."""
    records = [r for r in records if r.kernel == grid.name]
    settings = [setting.as_dict() for setting in grid.settings]
    if any(all(r.settings != setting for r in records) for setting in settings):
        return {}
    experiment = Experiment(records)
    return {r: experiment.validated(r)[0] for r in experiment.repetitions}


def _differences(mine: list[Folds], theirs: list[Folds]) -> list[float]:
    """Differences in accuracy, fold by fold."""
    return [
        after - before
        for one, other in zip(mine, theirs, strict=True)
        for after, before in zip(_by_fold(one), _by_fold(other), strict=True)
    ]


def _by_fold(tested: Folds) -> list[float]:
    return [fold_accuracy(record, level) for record, level in tested]


def best_competitor(dataset: str) -> tuple[str, float, float] | None:
    """The best published figure of another kernel: its name, per cent, standard deviation."""
    row = paper.TABLE2.get(dataset)
    if row is None:
        return None
    name = max((kernel for kernel in row if kernel != KERNEL), key=lambda kernel: row[kernel][0])
    return name, *row[name]


def self_tuned_table(
    names: list[str], protocol: Protocol, repeats: int, results: Path, n_jobs: int, quiet: bool
) -> list[dict[str, Any]]:
    """Run what the results lack, then show both Tree++, the competitor and published figures."""
    sets = []
    for name in names:
        graphs, y = load_with_classes(name)
        name = Path(name).stem
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
            runner(data, Entrant(grid).on(data), protocol, repeats)
    records = read_results(results)
    rows = [
        _row(whole, unique, *(compare(records, data, protocol) for data in (whole, unique)))
        for whole, unique in sets
    ]
    if not quiet:
        print_table(out(), _table(rows))
        out().print(
            "[dim]nested: C and parameters are chosen inside the training folds. Self-tuned: "
            "GraphClassifier() fitted to the training graphs of each fold; where a star stands, it "
            "was offered the view EdgeFilter(drop=[1]), the bonds only. ±: standard deviation over "
            "the repetitions. Competitor: the kernel with the best published figure next to "
            "Tree++, on the same folds. p: corrected resampled t-test of self-tuned against the "
            "column before it. Without duplicates: one graph of each set of isomorphic ones. "
            "Published figures come from the paper's own protocol.[/dim]\n"
        )
        for other in ("tree++", "competitor"):
            out().print(over_all(rows, other))
            fair = [row for row in rows if not row["view offered"]]
            if 0 < len(fair) < len(rows):
                out().print(f"  without the sets with a view: {over_all(fair, other)}")
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
    printed, best = paper.TABLE2.get(whole.name, {}).get("tree++"), best_competitor(whole.name)
    return {
        "dataset": whole.name,
        "repetitions": side.repetitions,
        "tree++": _figures(side.paper),
        "tuned": _figures(side.tuned),
        "p": p,
        "competitor": {"kernel": other_kernel.name, **_figures(side.competitor)},
        "p against competitor": p_lead,
        "chosen": side.chosen,
        "published tree++": printed,
        "published competitor": best,
        "duplicates removed": unique.removed,
        "tree++ without duplicates": _figures(other.paper),
        "tuned without duplicates": _figures(other.tuned),
        "view offered": whole.name in COMPLETE,
        "shown": [
            whole.name + ("*" if whole.name in COMPLETE else ""),
            percent(side.tuned),
            percent(side.paper),
            p_value(p),
            f"{percent(side.competitor)} {other_kernel.title}",
            p_value(p_lead),
            "-" if printed is None else f"{printed[0]:.2f}",
            "-" if best is None else f"{best[1]:.2f}",
            str(unique.removed),
            percent(other.paper) if unique.removed else "the same",
            percent(other.tuned) if unique.removed else "the same",
            str(side.repetitions),
        ],
    }


def over_all(rows: list[dict[str, Any]], other: str) -> str:
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


def main(arguments: list[str] | None = None) -> list[dict[str, Any]]:
    """Run what the records lack, then show the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.beyond",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-d", "--datasets", default=",".join(paper.DATASETS))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-r", "--results", type=Path, default=records_file("beyond"))
    parser.add_argument("-j", "--n-jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    protocol = Protocol("nested", given.folds, seed=given.seed)
    names = given.datasets.split(",")
    rows = self_tuned_table(names, protocol, given.repeats, given.results, given.n_jobs, given.json)
    if given.json:
        print(json.dumps(rows, indent=2))
    return rows


if __name__ == "__main__":
    main()
