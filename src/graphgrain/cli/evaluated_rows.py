"""What can be evaluated by name: kernels, and the classifiers that tune themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..evaluation.display_names import AUTO
from ..evaluation.self_tuned import AUTO_ROW, SELF_TUNED, TREE_ROW, TunedRow
from ..kernels.grid import KernelGrid
from ..parameters import check_parameters
from .kernel_options import given_of, kernel_grid

#: The classifiers: GraphClassifier, which chooses between kernels, and TreePlusPlusClassifier.
_TUNED = {AUTO: AUTO_ROW, SELF_TUNED: TREE_ROW}
#: What the protocol says, not the command line.
_FIXED = {"C", "cv", "n_jobs", "random_state", "verbose", "views"}


def evaluated_row(name: str, parameters: Sequence[str] | None = None) -> KernelGrid | TunedRow:
    """A kernel by its name, or a self-tuned classifier with its own parameters."""
    if name not in _TUNED:
        return kernel_grid(name, parameters, beside=tuple(_TUNED))
    row = _TUNED[name]
    classifier = row.classifier()
    known = sorted(set(classifier.get_params(deep=False)) - _FIXED)
    values = given_of(known, name, parameters)
    check_parameters(classifier.set_params(**values), classifier.parameter_rules)
    return replace(row, parameters=values)
