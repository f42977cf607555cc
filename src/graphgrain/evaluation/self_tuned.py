"""Past the paper: classifiers that choose everything inside the training data.

1. In each fold a :class:`GraphClassifier` (or another :class:`TunedRow`) is fitted to the
   training graphs and predicts the test graphs; the record keeps who decided.
2. Beside it stands the paper's Tree++, plain counts and vertex labels alone, on the same folds.
3. The competitor is the kernel with the best published figure on the data set next to Tree++
   (Weisfeiler-Lehman where none is published), with the settings it has anywhere else.

No data set has settings of its own but for a view that its documentation justifies: the graphs of
the ``*_MD`` sets are complete, and edge label 1 says "no chemical bond". There the classifier is
offered the view without these edges, and tables say so.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..kernels.grid import KernelGrid
from ..kernels.registry import KERNELS
from ..learning.classifier import GraphClassifier
from ..learning.svm import classes_of
from ..views.attribute_bins import AttributeBins
from ..views.base import view_name
from ..views.edge_filter import EdgeFilter
from . import published
from .display_names import AUTO, kernel_label
from .experiment import Progress, Results, compute_folds, identity_of, rules_of
from .labelled_graphs import LabelledGraphs
from .protocol import Protocol, rounded
from .records import FoldRecord, Level, Record, fold_records, identity_key
from .scores import Scores, accuracies, fold_accuracy
from .summary import Experiment, Tested

KERNEL = "tree++"
SELF_TUNED = "self-tuned"
#: Data sets whose documentation says that edge label 1 is no bond.
COMPLETE = ("BZR_MD", "COX2_MD", "DHFR_MD")


def offered_view(dataset: str) -> EdgeFilter | None:
    """The view that the classifier may choose on a data set, if there is one."""
    return EdgeFilter(drop=[1]) if dataset in COMPLETE else None


@dataclass(frozen=True)
class TunedRow:
    """A self-tuned classifier as tables and records know it.

    Attributes
    ----------
    name : str
        Its name in records, in the place of a kernel's.
    classifier : class
    parameters : dict
        What differs from the usual parameters; part of what makes a record.
    """

    name: str
    classifier: type[GraphClassifier]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def variant(self) -> str:
        """What records and tables call it beside the kernel."""
        words = [SELF_TUNED, *(f"{name}={value}" for name, value in self.parameters.items())]
        return ", ".join(words)


#: Tree++ with everything chosen inside, and all usual kernels beside it.
TREE_ROW = TunedRow(KERNEL, GraphClassifier)
AUTO_ROW = TunedRow(AUTO, GraphClassifier, {"kernels": AUTO})


def classifier_for(
    data: LabelledGraphs, protocol: Protocol, estimator: TunedRow = TREE_ROW
) -> GraphClassifier:
    """The classifier that is evaluated: its defaults, and the protocol's C, folds and seed."""
    view = offered_view(data.name)
    return estimator.classifier(
        **estimator.parameters,
        C=protocol.C,
        views=None if view is None else [None, view],
        cv=protocol.inner_folds,
        random_state=protocol.seed,
    )


def run_self_tuned(
    data: LabelledGraphs,
    protocol: Protocol,
    repeats: int,
    results: Results,
    *,
    estimator: TunedRow = TREE_ROW,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Evaluate a self-tuned classifier on a data set; fill in what the results file lacks.

    Parameters and result are those of :func:`graphgrain.evaluation.experiment.run`, with a
    :class:`TunedRow` in the place of a kernel.
    """
    progress = progress or Progress()
    view = offered_view(data.name)
    fixed = {
        **identity_of(data),
        **rules_of(protocol),
        "kernel": estimator.name,
        "variant": estimator.variant,
        "settings": {"kernels": estimator.parameters.get("kernels", KERNEL)}
        | ({} if view is None else {"view": view_name(view)}),
        "level_names": [{}],
    }

    def key(repetition: int, fold: int) -> str:
        return identity_key("fold", {**fixed, "repetition": repetition, "fold": fold})

    folds = [(r, f) for r in range(repeats) for f in range(protocol.folds)]
    progress.begin(f"{data.name} · {kernel_label(estimator.name, estimator.variant)}", len(folds))
    missing = [place for place in folds if key(*place) not in results]
    progress.advance(len(folds) - len(missing))
    work = _Fold(data, protocol, estimator, fixed)
    return compute_folds(work, missing, key, results, n_jobs, progress)


@dataclass(frozen=True)
class _Fold:
    """Computes the record of one fold."""

    data: LabelledGraphs
    protocol: Protocol
    estimator: TunedRow
    fixed: dict[str, Any]

    def __call__(self, place: tuple[int, int]) -> FoldRecord:
        repetition, fold = place
        start = time.perf_counter()
        graphs, codes = self.data.graphs, self.data.codes
        split = self.protocol.test_fold(codes, repetition, fold)
        model = classifier_for(self.data, self.protocol, self.estimator)
        model.fit(graphs[split.train], codes[split.train])
        scores = model.decision_function(graphs[split.test])
        tried = list(
            zip(model.cv_results_["param_C"], model.cv_results_["mean_test_score"], strict=True)
        )
        level = Level(
            validation=[max(score for C, score in tried if own == C) for own in self.protocol.C],
            C=model.best_params_["C"],
            predictions=model.classes_[classes_of(scores)].tolist(),
            scores=rounded(scores),
        )
        return FoldRecord(
            **self.fixed,
            classes=self.data.classes,
            grid_size=1,
            repetition=repetition,
            fold=fold,
            test=split.test.tolist(),
            truth=codes[split.test].tolist(),
            levels=[level],
            fits=len(tried) * self.protocol.inner_folds + len(model.terms_),
            seconds=round(time.perf_counter() - start, 4),
            members=[_name(member) for member in model.terms_],
        )


def _name(member: dict[str, Any]) -> str:
    """A setting without its levels, in a few words."""
    words = [kernel_label(member["kernel"])] if "kernel" in member else []
    words += [member["counts"]] if "counts" in member else []
    words += ["edge labels"] if member.get("edge_labels") else []
    words += [_view_words(member["view"])] if member.get("view") is not None else []
    words += ["learned weights"] if "weights" in member else []
    return " + ".join(words)


def _view_words(view: Any) -> str:
    names = view_name(view)
    words = ["bonds only"] if view_name(EdgeFilter(drop=[1])) in names else []
    words += ["attributes"] if AttributeBins.__name__ in names else []
    return " + ".join(words) or names


def competitor(dataset: str) -> KernelGrid:
    """The kernel that Tree++ is measured against on a data set."""
    published_best = best_competitor(dataset)
    return KERNELS[published_best[0] if published_best else "wl"]


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


def _validated(records: list[FoldRecord], grid: KernelGrid) -> dict[int, Tested]:
    """What a kernel predicted in each complete repetition, its grid chosen inside."""
    records = [r for r in records if r.kernel == grid.name]
    settings = [setting.as_dict() for setting in grid.settings]
    if any(all(r.settings != setting for r in records) for setting in settings):
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


def _by_fold(tested: Tested) -> list[float]:
    return [fold_accuracy(record, level) for record, level in tested]


def best_competitor(dataset: str) -> tuple[str, float, float] | None:
    """The best published figure of another kernel: its name, per cent, standard deviation."""
    row = published.TABLE2.get(dataset)
    if row is None:
        return None
    name = max((kernel for kernel in row if kernel != KERNEL), key=lambda kernel: row[kernel][0])
    return name, *row[name]
