"""Other ways to choose the settings of Tree++, on the records of ``graphgrain evaluate``.

    graphgrain evaluate BZR COX2 --mode nested --seed 1
    graphgrain evaluate BZR COX2 --mode nested --seed 1 --set counts=sqrt
    graphgrain evaluate BZR COX2 --mode nested --seed 1 --set counts=intersection
    python scripts/other_choices.py graphgrain-results.jsonl [--seed 1]

(for graphs with edge labels also with ``--set edge_labels=True`` and both). The records hold, for
every setting and tree depth, the validation accuracies inside each training fold and the
predictions on its test graphs; so every rule of choice can be read off without training anything.
The last rows are the mean difference to the rule in use, in percentage points, and its standard
error over all repetitions of all data sets.

What further settings would bring is read off the same way, once their records are in the file:

    graphgrain evaluate BZR COX2 --mode nested --seed 1 --set counts=log
    python scripts/other_choices.py graphgrain-results.jsonl --seed 1 --offer counts=log
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import groupby

import numpy as np
from graphgrain.learning.committee import MEMBERS, Candidate, best_members, committee_size
from rich.console import Console
from rich.table import Table

from graphgrain.evaluation.records import FoldRecord, Level, fold_records
from graphgrain.evaluation.results_file import read_results
from graphgrain.learning.svm import classes_of

#: The settings in one fold, each with its levels' figures.
Fold = list[FoldRecord]
#: What the self-tuned Tree++ chooses from, the plainest first; with edge labels, if there are any.
USUAL = ("", "counts=sqrt", "counts=intersection")
WITH_EDGES = (
    *("edge_labels=True", "counts=sqrt, edge_labels=True"),
    "counts=intersection, edge_labels=True",
)


def score(level: Level) -> float:
    """Validation accuracy with the best C."""
    return max(level.validation)


def best_level(record: FoldRecord) -> Level:
    """The best level of a setting; of equal ones that with the larger C, then the smaller depth."""
    return max(record.levels, key=lambda level: (score(level), level.C))


def best(fold: Fold) -> np.ndarray:
    """The best setting and depth alone, of equal ones the plainest."""
    chosen = max(fold, key=lambda record: score(best_level(record)))
    return np.array(best_level(chosen).predictions)


def committee(members: int) -> Callable[[Fold], np.ndarray]:
    """The best settings and depths together, by the mean of their decision values."""

    def choose(fold: Fold) -> np.ndarray:
        candidates = [
            Candidate(score(level), setting, depth, level.C)
            for setting, record in enumerate(fold)
            for depth, level in enumerate(record.levels)
        ]
        chosen = best_members(candidates, committee_size(members, len(candidates)))
        return classes_of(
            np.mean([fold[one.setting].levels[one.level].scores for one in chosen], axis=0)
        )

    return choose


def clearly_better(errors: float) -> Callable[[Fold], np.ndarray]:
    """A later setting must be better than a plainer one by so many standard errors."""

    def choose(fold: Fold) -> np.ndarray:
        chosen = best_level(fold[0])
        for record in fold[1:]:
            level = best_level(record)
            accuracy = score(chosen)
            graphs = 9 * len(record.truth)  # those that validated
            margin = errors * np.sqrt(accuracy * (1 - accuracy) / graphs)
            if score(level) > accuracy + margin:
                chosen = level
        return np.array(chosen.predictions)

    return choose


def three_depths(fold: Fold) -> np.ndarray:
    """The best depth of the setting whose three best depths have the best mean."""

    def mean(record: FoldRecord) -> float:
        return float(np.mean(sorted(map(score, record.levels))[-3:]))

    return np.array(best_level(max(fold, key=mean)).predictions)


def vote(fold: Fold) -> np.ndarray:
    """The five best settings and depths vote."""
    levels = sorted((level for record in fold for level in record.levels), key=score)[-5:]
    votes = np.array([level.predictions for level in levels])
    return np.array([np.bincount(column).argmax() for column in votes.T])


def only(*counts: str) -> Callable[[Fold], np.ndarray]:
    """The rule in use among these count maps."""
    rule = committee(MEMBERS)
    return lambda fold: rule([r for r in fold if r.settings.get("counts", "raw") in counts])


def offered(*variants: str) -> Callable[[Fold], np.ndarray]:
    """The rule in use with further settings to choose from."""
    rule, variants = committee(MEMBERS), (*USUAL, *WITH_EDGES, *variants)
    return lambda fold: rule([record for record in fold if record.variant in variants])


RULES: dict[str, Callable[[Fold], np.ndarray]] = {
    "in use": committee(MEMBERS),
    "best": best,
    "+ 1/4 s.e.": clearly_better(0.25),
    "+ 1 s.e.": clearly_better(1.0),
    "3 depths": three_depths,
    "5 vote": vote,
    "of 6": committee(6),
    "of 24": committee(24),
    "raw": only("raw"),
    "sqrt": only("sqrt"),
    "intersection": only("intersection"),
}


def accuracies(
    records: list[FoldRecord], rules: dict[str, Callable[[Fold], np.ndarray]]
) -> np.ndarray:
    """Accuracy of each rule (rows) in each complete repetition (columns) of one data set."""
    settings = {repr(record.settings) for record in records}
    columns = []
    order = [*USUAL, *WITH_EDGES, *sorted({record.variant for record in records})]
    records = sorted(records, key=lambda r: (r.repetition, r.fold, order.index(r.variant)))
    for _, repetition in groupby(records, key=lambda r: r.repetition):
        folds = [list(fold) for _, fold in groupby(repetition, key=lambda r: r.fold)]
        if len(folds) < folds[0][0].folds or any(len(fold) < len(settings) for fold in folds):
            continue
        hits = [
            sum(int(np.sum(rule(fold) == np.array(fold[0].truth))) for fold in folds)
            for rule in rules.values()
        ]
        columns.append(np.array(hits) / sum(len(fold[0].truth) for fold in folds))
    return np.array(columns).T


def main() -> None:
    """Read the arguments and the records, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--offer",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="settings of `graphgrain evaluate --set` that would be offered too",
    )
    options = parser.parse_args()
    rules = RULES
    if options.offer:
        rules = {"in use": offered()} | {f"+ {name}": offered(name) for name in options.offer}
        rules |= {"+ all of these": offered(*options.offer)} if len(options.offer) > 1 else {}
    of_sets: dict[str, list[FoldRecord]] = {}
    for record in fold_records(read_results(options.results)):
        wanted = (record.kernel, record.mode, record.seed) == ("tree++", "nested", options.seed)
        if (
            wanted
            and record.variant in (*USUAL, *WITH_EDGES, *options.offer)
            and not record.deduplicated
        ):
            of_sets.setdefault(record.dataset, []).append(record)
    table = Table("data set", "repetitions", *rules, box=None)
    means, differences = [], []
    for name, records in of_sets.items():
        if not {*USUAL, *options.offer} <= {record.variant for record in records}:
            continue
        found = 100 * accuracies(records, rules)
        if found.size:
            table.add_row(name, str(found.shape[1]), *(f"{v:.2f}" for v in found.mean(axis=1)))
            means.append(found.mean(axis=1))
            differences.append(found - found[0])
    if not differences:
        parser.error(f"{options.results} has no repetition of {[*USUAL[1:], *options.offer]}")
    each = np.concatenate(differences, axis=1)
    error = each.std(axis=1) / np.sqrt(each.shape[1])
    table.add_row("mean", "", *(f"{v:.2f}" for v in np.mean(means, axis=0)))
    table.add_row("difference", "", *(f"{v:+.2f}" for v in each.mean(axis=1)))
    table.add_row("standard error", "", *(f"{v:.2f}" for v in error))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
