"""Kernels with their parameter grids and views, as used in model selection.

1. A :class:`Setting` is one candidate: kernel parameters, and a view applied to graphs first.
2. A :class:`KernelGrid` is a kernel with its ordered settings and its names.
3. :meth:`KernelGrid.fit_each` fits one setting after the other. Settings that differ only in the
   count map share the extraction of features, each view is fitted once, and a single fitted kernel
   covers all values of a level parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..graphs.batch import GraphBatch
from ..parameters import check_parameters
from ..views.base import seen_through, view_name
from .bases.feature_kernel import FeatureKernel
from .bases.graph_kernel import GraphKernel
from .features import Features
from .registry import KERNELS


@dataclass(frozen=True)
class Setting:
    """One candidate of a grid: kernel parameters and a view.

    Attributes
    ----------
    parameters : dict
        Kernel parameters. The value of the level parameter is the highest one; all lower values
        are included.
    view : estimator or None
        Transformer applied to graphs before the kernel; None leaves them unchanged.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.kernels.grid import Setting
    >>> Setting({"tree_depth": 2}, gg.EdgeFilter(drop=[1])).as_dict()
    {'tree_depth': 2, 'view': 'EdgeFilter(drop=[1])'}
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    view: Any = None

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters and, if any, the name of the view, as stored in records."""
        view = {} if self.view is None else {"view": view_name(self.view)}
        return {**self.parameters, **view}


@dataclass(frozen=True)
class KernelGrid:
    """A kernel with the settings that model selection compares.

    Attributes
    ----------
    name : str
        Short name, as on the command line.
    kernel : class
    title : str
        Name in tables and figures. The nine kernels of the Tree++ paper are named as there.
    settings : tuple of Setting
        Candidates, the simplest first.
    level_parameter : str or None
        Parameter whose values from 0 to that of the setting all come from one fitted kernel.
    variant : str
        Empty for the default grid of the kernel, otherwise a description of the difference.
    attribute_view : view or None
        View that scales attributes to the range that the settings are meant for. Used with
        ``attributes=True``.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.kernels.grid import KernelGrid, Setting
    >>> grid = KernelGrid("wl", gg.WeisfeilerLehman, "WL", (Setting({"n_iter": 2}),), "n_iter")
    >>> grid.candidates()
    [{'n_iter': 0}, {'n_iter': 1}, {'n_iter': 2}]
    >>> graphs = gg.as_graphs([([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])])
    >>> for fitted in grid.with_parameters(counts="sqrt").fit_each(graphs):
    ...     for candidate, K in zip(fitted.candidates(), fitted.grams()):
    ...         print(candidate, K[0, 1].round(2))
    {'n_iter': 0, 'counts': 'sqrt'} 0.99
    {'n_iter': 1, 'counts': 'sqrt'} 0.7
    {'n_iter': 2, 'counts': 'sqrt'} 0.46
    """

    name: str
    kernel: type[GraphKernel]
    title: str
    settings: tuple[Setting, ...] = (Setting(),)
    level_parameter: str | None = None
    variant: str = ""
    attribute_view: Any = None

    @property
    def label(self) -> str:
        """Title, followed by the variant if there is one."""
        return f"{self.title} ({self.variant})" if self.variant else self.title

    # ---------------------------------------------------------------- other grids

    def with_settings(self, settings: Iterable[Setting], variant: str = "") -> KernelGrid:
        """Return the same kernel with other settings."""
        return replace(self, settings=tuple(settings), variant=variant)

    def with_parameters(self, **parameters: Any) -> KernelGrid:
        """Return the same grid with some parameters fixed, and named in the variant."""
        settings: list[Setting] = []
        view = {"view": self.attribute_view} if parameters.get("attributes") is True else {}
        for setting in self.settings:
            new = replace(setting, parameters={**setting.parameters, **parameters}, **view)
            if new not in settings:
                settings.append(new)
        words = ", ".join(f"{key}={value}" for key, value in sorted(parameters.items()))
        return self.with_settings(settings, words)

    # ---------------------------------------------------------------- candidates

    def levels(self, setting: Setting) -> list[dict[str, Any]]:
        """Return the level parameter of each matrix of a setting, or one empty dict."""
        if self.level_parameter is None:
            return [{}]
        highest = self.estimator(setting).get_params()[self.level_parameter]
        return [{self.level_parameter: level} for level in range(highest + 1)]

    def candidates(self) -> list[dict[str, Any]]:
        """Return all candidates, one per matrix of :meth:`FittedSetting.grams`, in order."""
        return [
            setting.as_dict() | level for setting in self.settings for level in self.levels(setting)
        ]

    def estimator(self, setting: Setting, n_jobs: int | None = None) -> GraphKernel:
        """Return the unfitted kernel of a setting."""
        return self.kernel(**setting.parameters, n_jobs=n_jobs)

    def check(self) -> None:
        """Raise an error if a parameter of a setting is invalid."""
        for setting in self.settings:
            check_parameters(self.estimator(setting))

    # ---------------------------------------------------------------- fitting

    def fit_each(
        self,
        graphs: GraphBatch,
        n_jobs: int | None = None,
        seen: dict[int, tuple[Any, GraphBatch]] | None = None,
    ) -> Iterator[FittedSetting]:
        """Fit the settings lazily, one after the other.

        Parameters
        ----------
        graphs : GraphBatch
        n_jobs : int, optional
            Number of threads.
        seen : dict, optional
            Cache of fitted views and transformed graphs, shared by grids that use the same views
            and graphs.
        """
        seen = {} if seen is None else seen
        extractions: dict[tuple[Any, ...], Features] = {}
        keys = [self.extraction_key(setting) for setting in self.settings]
        for key, setting in zip(keys, self.settings, strict=True):
            if id(setting.view) not in seen:
                fitted = None if setting.view is None else clone(setting.view).fit(graphs)
                seen[id(setting.view)] = (fitted, seen_through(fitted, graphs))
            view, batch = seen[id(setting.view)]
            kernel = self.estimator(setting, n_jobs)
            if isinstance(kernel, FeatureKernel) and keys.count(key) > 1:
                if key not in extractions:
                    extractions[key] = kernel.count(batch)
                kernel.fit_counted(batch, extractions[key])
            else:
                kernel.fit(batch)
            yield FittedSetting(self, setting, view, batch, kernel)

    def extraction_key(self, setting: Setting) -> tuple[Any, ...]:
        """Return a key that is equal for settings with the same features."""
        own = self.estimator(setting).get_params()
        if own.get("random_state", 0) is None:
            return (id(setting),)
        counting = sorted(own.keys() - self.kernel.parameters_after_counting)
        same = tuple(own[name] for name in counting)
        return (id(setting.view), *same)


@dataclass(frozen=True)
class FittedSetting:
    """A setting of a grid, fitted to graphs.

    Attributes
    ----------
    grid : KernelGrid
    setting : Setting
    view : estimator or None
        The fitted view.
    graphs : GraphBatch
        The transformed graphs that the kernel is fitted to.
    kernel : GraphKernel
        The kernel fitted with the highest level.

    See Also
    --------
    KernelGrid.fit_each : Yields fitted settings.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.kernels.grid import KernelGrid, Setting
    >>> graphs, _ = gg.load_drugs()
    >>> grid = KernelGrid("wl", gg.WeisfeilerLehman, "WL", level_parameter="n_iter",
    ...     settings=(Setting({"n_iter": 2}),))
    >>> [fitted] = grid.fit_each(graphs[:5])
    >>> fitted.candidates()[-1], fitted.at_level(1).n_iter
    ({'n_iter': 2}, 1)
    """

    grid: KernelGrid
    setting: Setting
    view: Any
    graphs: GraphBatch
    kernel: GraphKernel

    def candidates(self) -> list[dict[str, Any]]:
        """Return the parameters of each matrix of :meth:`grams`."""
        return [self.setting.as_dict() | level for level in self.grid.levels(self.setting)]

    def grams(self) -> Iterator[np.ndarray]:
        """Yield the Gram matrix of each level."""
        if self.grid.level_parameter is None or not isinstance(self.kernel, FeatureKernel):
            yield self.kernel.gram()
        else:
            yield from self.kernel.each_gram_level()

    def at_level(self, level: int) -> GraphKernel:
        """Return the fitted kernel of one of the :meth:`candidates`."""
        if self.grid.level_parameter is None or not isinstance(self.kernel, FeatureKernel):
            return self.kernel
        return self.kernel.at_level(level)


def grid_of(name: str) -> KernelGrid:
    """Return the grid of a kernel by its short name."""
    row = KERNELS[name]
    settings = tuple(Setting(parameters) for parameters in row.settings)
    return KernelGrid(
        row.name, row.kernel, row.title, settings, row.level_parameter,
        attribute_view=row.attribute_view,
    )  # fmt: skip
