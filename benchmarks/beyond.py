"""Self-tuned Tree++ compared with plain Tree++ and the best published competitor.

    python -m benchmarks.beyond -d BZR,PTC_FR --repeats 3
    python -m benchmarks.beyond --seed 1

1. In each fold the self-tuned Tree++ estimator is fitted to the training graphs and predicts the
   test graphs; the record contains the selected settings.
2. The paper's Tree++ (raw counts, vertex labels only) is run on the same folds. Both are also run
   without isomorphic duplicates.
3. The competitor is the kernel other than Tree++ with the best published accuracy on the data set
   (Weisfeiler-Lehman if there is none), with its default parameter grid.

Settings are the same for all data sets, except for one view: the graphs of the ``*_MD`` sets are
complete, and edge label 1 means "no chemical bond". There the estimator can also select a view
without these edges; tables mark these sets. Tests over the data sets are shown with and without
them, since the competitors do not have the view.
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

from graphgrain.cli.console import out
from graphgrain.cli.evaluate import running
from graphgrain.cli.tables import percent, print_table
from graphgrain.evaluation import paper
from graphgrain.evaluation.experiment import TREE_ROW
from graphgrain.evaluation.labelled_graphs import LabelledGraphs, prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import (
    SELF_TUNED,
    FoldRecord,
    Record,
    fold_records,
    read_results,
)
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
    """Return the parameter grid of the competitor of Tree++ on a data set."""
    best = best_competitor(dataset)
    return KERNELS[best[0] if best else "wl"]


@dataclass(frozen=True)
class Side:
    """Results of plain Tree++, self-tuned Tree++ and the competitor on one data set.

    Attributes
    ----------
    paper, tuned : Scores
        Accuracies of plain Tree++ and of self-tuned Tree++.
    competitor : Scores or None
        Accuracies of the competitor in its complete repetitions; None if it has none.
    differences, lead : list of float
        For each test fold, accuracy of self-tuned Tree++ minus that of plain Tree++, and minus that
        of the competitor.
    chosen : dict
        Number of times each setting was selected, most frequent first.
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
    """Summarise the records of a data set; None if no repetition is complete."""
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
    """Return the predictions of each complete repetition, with settings chosen in validation."""
    records = [r for r in records if r.kernel == grid.name]
    settings = [setting.as_dict() for setting in grid.settings]
    if any(all(r.settings != setting for r in records) for setting in settings):
        return {}
    experiment = Experiment(records)
    return {r: experiment.validated(r)[0] for r in experiment.repetitions}


def _differences(mine: list[Folds], theirs: list[Folds]) -> list[float]:
    """Return the differences in accuracy for each fold."""
    return [
        after - before
        for one, other in zip(mine, theirs, strict=True)
        for after, before in zip(_by_fold(one), _by_fold(other), strict=True)
    ]


def _by_fold(tested: Folds) -> list[float]:
    return [fold_accuracy(record, level) for record, level in tested]


def best_competitor(dataset: str) -> tuple[str, float, float] | None:
    """Return name, accuracy and standard deviation of the best published kernel besides Tree++."""
    row = paper.TABLE2.get(dataset)
    if row is None:
        return None
    name = max((kernel for kernel in row if kernel != KERNEL), key=lambda kernel: row[kernel][0])
    return name, *row[name]


def self_tuned_table(
    names: list[str], protocol: Protocol, repeats: int, results: Path, n_jobs: int, quiet: bool
) -> list[dict[str, Any]]:
    """Run missing experiments, then print the table of results and published figures."""
    sets = []
    for name in names:
        graphs, y = load_with_classes(name)
        name = Path(name).stem
        whole = prepare(name, graphs, y, folds=protocol.folds)
        unique = prepare(name, graphs, y, remove_duplicates=True, folds=protocol.folds)
        sets.append((whole, unique if unique.removed else whole))
    # Complete data sets come first, so that an interrupted run has the more important half.
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
            "[dim]Nested cross-validation: C and parameters are chosen within the training folds. "
            "Self-tuned: GraphClassifier() fitted to the training graphs of each fold; on data "
            "sets with a star also with the view EdgeFilter(drop=[1]), bonds only. ±: standard "
            "deviation over the repetitions. Competitor: the kernel other than Tree++ with the "
            "best published accuracy, on the same folds. p: corrected resampled t-test of "
            "self-tuned against the column before it. Without duplicates: one graph of each "
            "isomorphism class. Published figures follow the paper's protocol.[/dim]\n"
        )
        for other in ("tree++", "competitor"):
            out().print(over_all(rows, other))
            fair = [row for row in rows if not row["view offered"]]
            if 0 < len(fair) < len(rows):
                out().print(f"  without the sets with a view: {over_all(fair, other)}")
        for row in rows:
            total = sum(row["chosen"].values())
            chosen = ", ".join(f"{name} {n / total:.0%}" for name, n in row["chosen"].items())
            out().print(f"[dim]{escape(row['dataset'])}, selected: {escape(chosen)}[/dim]")
    return [{key: value for key, value in row.items() if key != "shown"} for row in rows]


def _row(
    whole: LabelledGraphs, unique: LabelledGraphs, side: Side | None, other: Side | None
) -> dict[str, Any]:
    assert side is not None  # the preceding run left complete records
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
    """Compare self-tuned with another column over all data sets."""
    differences = [row["tuned"]["mean"] - row[other]["mean"] for row in rows]
    name = {"tree++": "Tree++", "competitor": "the competitor"}[other]
    better = f"self-tuned better than {name} on {sum(d > 0 for d in differences)} of {len(rows)}"
    p = wilcoxon_p(differences)
    return better if p != p else f"{better}, Wilcoxon signed-rank test p = {p:.4f}"


def _figures(figures: Any) -> dict[str, Any]:
    return {"mean": figures.mean, "std": figures.std, "each": figures.each}


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(
        title="Self-tuned Tree++: accuracy in per cent",
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
    """Run missing experiments, then print the table."""
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
