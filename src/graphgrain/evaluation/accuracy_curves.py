"""Accuracy of Tree++ against its two depths: as in the paper's figures for k and for d."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .display_names import dataset_labels
from .kernel_comparison import REFERENCE
from .records import Record
from .scores import Scores
from .summary import Experiment, experiments


@dataclass(frozen=True)
class Curve:
    """Accuracy (only C validated) for each value of a parameter.

    Attributes
    ----------
    name : str
        The data set.
    x : list of int
    accuracy : list of Scores
    fixed : int
        The value of the other parameter.
    repetitions : int
    """

    name: str
    x: list[int]
    accuracy: list[Scores]
    fixed: int
    repetitions: int

    @property
    def mean(self) -> list[float]:
        """Mean over the repetitions, in per cent."""
        return [100 * (item.mean or 0.0) for item in self.accuracy]

    @property
    def spread(self) -> list[float]:
        """Standard deviation over the repetitions, in per cent."""
        return [100 * (item.std or 0.0) for item in self.accuracy]


def accuracy_against(parameter: str, records: Sequence[Record]) -> list[Curve]:
    """A curve for each data set whose results hold several values of a parameter.

    Parameters
    ----------
    parameter : {"tree_depth", "path_depth"}
        The paper's k, with d fixed, or its d, with k fixed (to 1 if there is a choice).
    """
    figure, other = {
        "tree_depth": ("figure-k", "path_depth"),
        "path_depth": ("figure-d", "tree_depth"),
    }[parameter]
    found = [e for e in experiments(records) if e.repetitions and e.first.kernel == REFERENCE]
    # Results made for the figure are preferred to others that happen to hold what it needs.
    found.sort(key=lambda e: (e.first.variant != figure, e.first.variant != ""))
    names = dataset_labels(e.first for e in found)
    curves: dict[str, Curve] = {}
    for experiment in found:
        name = names[experiment.first.dataset, experiment.first.fingerprint]
        if name not in curves and (curve := _curve(name, experiment, parameter, other)):
            curves[name] = curve
    order = [names.get((r.dataset, r.fingerprint)) for r in records]
    return sorted(curves.values(), key=lambda curve: order.index(curve.name))


def _curve(name: str, experiment: Experiment, parameter: str, other: str) -> Curve | None:
    """The curve of one experiment, if the parameter varies in it while the other stays."""
    candidates = experiment.candidates
    fixed = {c[other] for c in candidates if parameter in c and other in c}
    if not fixed:
        return None
    at = 1 if other == "tree_depth" and 1 in fixed else max(fixed)
    wanted = {
        candidate[parameter]: number
        for number, candidate in enumerate(candidates)
        if candidate.get(other) == at and parameter in candidate
    }
    if len(wanted) < 2:
        return None
    x = sorted(wanted)
    accuracies = experiment.accuracies()
    return Curve(
        name=name,
        x=x,
        accuracy=[accuracies[wanted[value]] for value in x],
        fixed=at,
        repetitions=len(experiment.repetitions),
    )
