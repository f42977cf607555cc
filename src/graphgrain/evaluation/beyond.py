"""Past the paper: Tree++ that chooses count map, edge labels and view inside the training data.

1. Every combination of count map, edge labels (on or off, where graphs have them) and view (the
   graphs as they are, or their bonds only) is a setting of Tree++, recorded fold by fold with the
   validation accuracies of all its levels.
2. The paper's Tree++ is one of them: plain counts, vertex labels alone.
3. The self-tuned Tree++ is, in each fold, the committee of those settings and levels that
   validation inside the training graphs of this fold prefers, by the same rule as in
   :class:`TreePlusPlusClassifier`. That choice is made when the records are read.
4. The competitor is the kernel with the best published figure on the data set next to Tree++
   (Weisfeiler-Lehman where none is published), with the settings it has anywhere else.

No data set has settings of its own but for a view that its documentation justifies: the graphs of
the ``*_MD`` sets are complete, and edge label 1 says "no chemical bond".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..kernels.registry import KERNELS
from ..learning.candidates import COUNTS
from ..learning.committee import MEMBERS, Candidate, best_members, committee_size
from ..learning.fitted_view import tells_edges_apart
from ..learning.svm import classes_of
from . import published
from .experiment import EDGE_FILTER, Variant
from .labelled_graphs import LabelledGraphs
from .protocol import Protocol
from .records import FoldRecord, Level, Record, fold_records
from .scores import Scores, accuracies, fold_accuracy
from .summary import Experiment, Tested

KERNEL = "tree++"
BEYOND = "beyond"
SELF_TUNED = "self-tuned"
#: The view of data sets whose documentation says that some edges are no bonds.
BONDS_ONLY = {name: {"drop": [1]} for name in ("BZR_MD", "COX2_MD", "DHFR_MD")}


def candidates(data: LabelledGraphs) -> list[dict[str, Any]]:
    """The settings that the self-tuned Tree++ chooses from; the first is the paper's."""
    paper = KERNELS[KERNEL].settings[0].parameters
    views: list[dict[str, Any]] = [{}]
    if data.name in BONDS_ONLY:
        views.append({EDGE_FILTER: BONDS_ONLY[data.name]})
    edges: list[dict[str, Any]] = [{}]
    if tells_edges_apart(data.graphs):
        edges.append({"edge_labels": True})
    counts = [{} if how == "raw" else {"counts": how} for how in COUNTS]
    return [{**paper, **c, **e, **v} for c, v, e in product(counts, views, edges)]


def variants(data: LabelledGraphs) -> list[Variant]:
    """The paper's Tree++, recorded as anywhere else, and the further settings."""
    paper, *further = candidates(data)
    return [Variant(KERNEL, (paper,)), Variant(KERNEL, tuple(further), BEYOND)]


def competitor(dataset: str) -> Variant:
    """The kernel that Tree++ is measured against on a data set."""
    published_best = best_competitor(dataset)
    return Variant.usual(published_best[0] if published_best else "wl")


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
        How many seats on committees each setting had, most first.
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
    tuned = self_tuned(of_set)
    if not tuned or not (repetitions := Experiment(tuned).repetitions):
        return None
    usual = [record for record in of_set if not record.variant]
    paper = Experiment([record for record in usual if record.kernel == KERNEL])
    of_tuned = [Experiment(tuned).tested(repetition, 0) for repetition in repetitions]
    of_paper = [paper.validated(repetition)[0] for repetition in repetitions]
    of_rival = _rival(usual, competitor(data.name))
    common = [number for number, r in enumerate(repetitions) if r in of_rival]
    theirs = [of_rival[repetitions[number]] for number in common]
    seats = Counter(
        name
        for (*_, repetition, _), fold in _by_place(of_set).items()
        if repetition in repetitions
        for name in _committee(fold)[1]
    )
    return Side(
        paper=accuracies(of_paper),
        tuned=accuracies(of_tuned),
        competitor=accuracies(theirs) if theirs else None,
        differences=_differences(of_tuned, of_paper),
        lead=_differences([of_tuned[number] for number in common], theirs),
        chosen=dict(seats.most_common()),
        repetitions=len(repetitions),
        folds=protocol.folds,
    )


def readable(records: Iterable[Record]) -> list[Record]:
    """Records for tables and figures: the self-tuned Tree++ in place of its many settings."""
    records = list(records)
    return [*(r for r in records if r.variant != BEYOND), *self_tuned(fold_records(records))]


def self_tuned(records: Iterable[FoldRecord]) -> list[FoldRecord]:
    """A record of the self-tuned Tree++ for each fold of which all settings are there."""
    return [
        replace(
            fold[0],
            variant=SELF_TUNED,
            settings={"committee": MEMBERS},
            grid_size=1,
            level_names=[{}],
            levels=[_committee(fold)[0]],
            fits=sum(record.fits for record in fold if record.variant),  # the paper's has its own
            seconds=sum(record.seconds for record in fold if record.variant),
        )
        for fold in _by_place(records).values()
    ]


def _by_place(records: Iterable[FoldRecord]) -> dict[tuple[Any, ...], list[FoldRecord]]:
    """The settings of Tree++ in each fold, the plainest first; only folds that have all."""
    places: dict[tuple[Any, ...], list[FoldRecord]] = {}
    for r in records:
        if r.kernel == KERNEL and r.variant in ("", BEYOND):
            place = (r.dataset, r.fingerprint, r.deduplicated, r.protocol, r.repetition, r.fold)
            places.setdefault(place, []).append(r)
    return {
        place: sorted(fold, key=lambda record: _plainness(record.settings))
        for place, fold in places.items()
        if len(fold) == 1 + max((r.grid_size for r in fold if r.variant == BEYOND), default=-1)
    }


def _plainness(setting: dict[str, Any]) -> tuple[int, bool, bool]:
    counts = setting.get("counts", "raw")
    place = COUNTS.index(counts) if counts in COUNTS else len(COUNTS)
    return place, EDGE_FILTER in setting, bool(setting.get("edge_labels"))


def _rival(records: list[FoldRecord], variant: Variant) -> dict[int, Tested]:
    """What the competitor predicted in each complete repetition, its grid chosen inside."""
    records = [r for r in records if r.kernel == variant.kernel]
    if any(all(r.settings != setting for r in records) for setting in variant.grid):
        return {}
    experiment = Experiment(records)
    return {r: experiment.validated(r)[0] for r in experiment.repetitions}


def _differences(mine: list[Tested], theirs: list[Tested]) -> list[float]:
    """Differences in accuracy, fold by fold."""
    return [
        after - before
        for one, other in zip(mine, theirs, strict=True)
        for after, before in zip(_by_fold(one), _by_fold(other), strict=True)
    ]


def _committee(fold: list[FoldRecord]) -> tuple[Level, list[str]]:
    """What the best settings and levels say together in one fold, and who has a seat."""
    candidates = [
        Candidate(max(level.validation), setting, depth, level.C)
        for setting, record in enumerate(fold)
        for depth, level in enumerate(record.levels)
    ]
    seats = best_members(candidates, committee_size(MEMBERS, len(candidates)))
    scores = np.mean([fold[seat.setting].levels[seat.level].scores for seat in seats], axis=0)
    level = Level(
        validation=[seats[0].score],
        C=seats[0].value,
        predictions=classes_of(scores).tolist(),
        scores=scores.tolist(),
    )
    return level, [_name(fold[seat.setting].settings) for seat in seats]


def _by_fold(tested: Tested) -> list[float]:
    return [fold_accuracy(record, level) for record, level in tested]


def _name(candidate: dict[str, Any]) -> str:
    """A setting without its depths, in a few words."""
    words = [candidate.get("counts", "raw")]
    words += ["edge labels"] if candidate.get("edge_labels") else []
    words += ["bonds only"] if EDGE_FILTER in candidate else []
    return " + ".join(words)


def best_competitor(dataset: str) -> tuple[str, float, float] | None:
    """The best published figure of another kernel: its name, per cent, standard deviation."""
    row = published.TABLE2.get(dataset)
    if row is None:
        return None
    name = max((kernel for kernel in row if kernel != KERNEL), key=lambda kernel: row[kernel][0])
    return name, *row[name]
