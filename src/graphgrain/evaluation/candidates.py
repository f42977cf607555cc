"""A kernel with the settings that an evaluation chooses from, and their Gram matrices.

The features of a setting are counted once, for all its levels and for all folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import RUN_PARAMETERS, GraphKernel
from ..kernels.registry import KERNELS
from ..parameters import check_parameters
from ..views.base import seen_through


@dataclass(frozen=True)
class KernelCandidates:
    """A kernel class with its settings.

    Attributes
    ----------
    name : str
        Name in tables.
    kernel : class
    settings : tuple of dict
        Parameters of the candidates.
    level_parameter : str or None
        Its value in a setting stands for itself and all lower values.
    view : view or None
        Applied to the graphs first.
    """

    name: str
    kernel: type[GraphKernel]
    settings: tuple[Mapping[str, Any], ...] = field(default=({},))
    level_parameter: str | None = None
    view: Any = None

    def with_parameters(self, **parameters: Any) -> KernelCandidates:
        """Return the candidates with some parameters fixed, and named."""
        if not parameters:
            return self
        settings: list[Mapping[str, Any]] = []
        for setting in self.settings:
            if (fixed := {**setting, **parameters}) not in settings:
                settings.append(fixed)
        words = ", ".join(f"{key}={value}" for key, value in sorted(parameters.items()))
        for setting in settings:
            check_parameters(self.kernel(**setting))
        view = self.view
        if parameters.get("attributes") is True:
            rows = (row for row in KERNELS.values() if row.kernel is self.kernel)
            view = next((row.attribute_view for row in rows), view)
        return replace(self, name=f"{self.name} ({words})", settings=tuple(settings), view=view)

    def levels(self, setting: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the parameters of each Gram matrix of a setting."""
        level = self.level_parameter
        if level is None:
            return [dict(setting)]
        return [
            {**setting, level: value} for value in range(getattr(self.kernel(**setting), level) + 1)
        ]

    def grams(
        self, setting: Mapping[str, Any], graphs: GraphBatch, n_jobs: int | None = None
    ) -> Iterator[np.ndarray]:
        """Yield the Gram matrix of each of the :meth:`levels` of a setting."""
        if self.view is not None:
            graphs = seen_through(clone(self.view).fit(graphs), graphs)
        kernel = self.kernel(**setting, n_jobs=n_jobs).fit(graphs)
        if isinstance(kernel, FeatureKernel) and self.level_parameter is not None:
            yield from kernel.each_gram_level()
        else:
            yield kernel.gram()


def candidates(kernel: Any) -> KernelCandidates:
    """Return the candidates of a kernel: by name its usual grid, of an instance its levels.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.evaluation.candidates import candidates
    >>> wl = candidates(gg.WeisfeilerLehman(2))
    >>> wl.levels(wl.settings[0])
    [{'n_iter': 0}, {'n_iter': 1}, {'n_iter': 2}]
    >>> candidates("pm").settings[0]
    {'dimension': 4, 'depth': 2}
    """
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise InvalidParameterError(
                f"A kernel is given by its name, one of {', '.join(KERNELS)}, or as an object; "
                f"got {kernel!r}."
            )
        row = KERNELS[kernel]
        return KernelCandidates(row.title, row.kernel, row.settings, row.level_parameter)
    if isinstance(kernel, type) and issubclass(kernel, GraphKernel):
        kernel = kernel()
    parameters = kernel.get_params()
    defaults = type(kernel)().get_params()
    changed = {
        name: value
        for name, value in parameters.items()
        if name not in RUN_PARAMETERS and value is not defaults[name] and value != defaults[name]
    }
    level = getattr(kernel, "level_parameter", None)
    if level is not None:
        changed[level] = parameters[level]
    return KernelCandidates(type(kernel).__name__, type(kernel), (changed,), level)
