"""What can be evaluated by name: kernels, and the classifier that chooses between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..evaluation.display_names import AUTO
from ..evaluation.self_tuned import AUTO_ROW, TunedRow
from ..kernels.grid import KernelGrid
from ..parameters import check_parameters
from .kernel_options import given_of, kernel_grid

#: What the protocol says, not the command line.
_FIXED = {"C", "cv", "n_jobs", "random_state", "verbose", "views"}


def evaluated_row(name: str, parameters: Sequence[str] | None = None) -> KernelGrid | TunedRow:
    """A kernel by its name, or ``auto``: :class:`GraphClassifier` with its own parameters."""
    if name != AUTO:
        return kernel_grid(name, parameters)
    classifier = AUTO_ROW.classifier()
    known = sorted(set(classifier.get_params(deep=False)) - _FIXED)
    values = given_of(known, AUTO, parameters)
    check_parameters(classifier.set_params(**values), classifier.parameter_rules)
    return replace(AUTO_ROW, parameters=values)
