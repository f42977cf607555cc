"""What the self-tuned estimators choose from: kernels with their settings, in order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..graphs.batch import GraphBatch
from ..kernels.grid import KernelGrid, Setting
from ..kernels.registry import KERNELS
from ..kernels.tree_plus_plus import CENTRALITIES
from ..parameters import OneOf, Rule, Whole
from .fitted_view import FittedView, tells_edges_apart

AUTO = "auto"
#: Count maps to choose from, the plainest first. By the figures in docs/beyond.md a committee gains
#: nothing from the logarithm or from presence alone.
COUNTS = ("raw", "sqrt", "intersection")


def is_auto(value: Any) -> bool:
    """Whether a parameter leaves the choice to the estimator."""
    return isinstance(value, str) and value == AUTO


def alternatives(value: Any) -> list[Any]:
    """The values that a parameter offers."""
    return list(value) if isinstance(value, list | tuple | np.ndarray | range) else [value]


@dataclass(frozen=True)
class OneOrMore:
    """A value, or a list of values to choose from; also "auto" if ``auto``."""

    rule: Rule
    auto: bool = False

    def allows(self, value: Any) -> bool:
        if self.auto and is_auto(value):
            return True
        values = alternatives(value)
        return bool(values) and all(self.rule.allows(item) for item in values)

    def __str__(self) -> str:
        words = f"{self.rule}; or a list of such values to choose from"
        return f"{words}; or {AUTO!r}" if self.auto else words


#: The parameters by which users say what to try of Tree++.
TREE_RULES: dict[str, Rule] = {
    "path_depth": OneOrMore(Whole(0)),
    "max_tree_depth": Whole(0),
    "centrality": OneOrMore(OneOf(tuple(CENTRALITIES))),
}


def tree_grid_of(estimator: Any, graphs: GraphBatch) -> KernelGrid:
    """:func:`candidate_grid` with the parameters of an estimator."""
    names = (*TREE_RULES, "edge_labels", "views", "counts", "normalize")
    return candidate_grid(graphs, **{name: getattr(estimator, name) for name in names})


def candidate_grid(
    graphs: GraphBatch,
    *,
    path_depth: Any = 6,
    max_tree_depth: int = 7,
    centrality: Any = "eigenvector",
    edge_labels: Any = AUTO,
    views: Any = None,
    counts: Any = AUTO,
    normalize: Any = True,
) -> KernelGrid:
    """Tree++ with all settings to try on these graphs, the plainest first.

    The parameters are those of :class:`TreePlusPlusClassifier`. With edge labels a setting is
    tried if they can say something, through a view if it shows what no earlier one does.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.learning.candidates import candidate_grid
    >>> graphs, _ = gg.load_drugs()
    >>> [setting.parameters["edge_labels"] for setting in candidate_grid(graphs).settings]
    [False, True, False, True, False, True]
    """
    own = [
        Setting({"path_depth": depth, "centrality": measure, "tree_depth": max_tree_depth})
        for depth, measure in product(alternatives(path_depth), alternatives(centrality))
    ]
    shown = [FittedView.of(view, graphs) for view in alternatives(views)]
    return combined(KERNELS["tree++"].with_settings(own), shown, edge_labels, counts, normalize)


def combined(
    grid: KernelGrid, shown: list[FittedView], edge_labels: Any, counts: Any, normalize: Any
) -> KernelGrid:
    """The settings of a grid with every count map, view, use of edge labels and scaling.

    What a kernel has no parameter for is left as it is.
    """
    known = grid.estimator(grid.settings[0]).get_params()
    maps = COUNTS if is_auto(counts) else alternatives(counts)
    scales = [True, False] if is_auto(normalize) else alternatives(normalize)
    wanted = edge_labels if "edge_labels" in known else False
    flags = [_edge_choices(wanted, view, shown[:number]) for number, view in enumerate(shown)]
    settings = []
    for how, (view, edges) in product(
        maps if "counts" in known else [None], zip(shown, flags, strict=True)
    ):
        for setting, edge, scale in product(grid.settings, edges, scales):
            own = {
                "counts": how,
                **setting.parameters,
                "edge_labels": edge,
                "similarity": "cosine" if scale else "dot",
            }
            parameters = {name: value for name, value in own.items() if name in known}
            settings.append(Setting(parameters, view.view))
    return grid.with_settings(settings)


def _edge_choices(edge_labels: Any, view: FittedView, before: list[FittedView]) -> list[bool]:
    """With and without edge labels, unless an earlier view shows the same."""
    flags = alternatives(edge_labels)
    if is_auto(edge_labels):
        flags = [False, True] if tells_edges_apart(view.graphs) else [False]
    return [flag for flag in flags if not any(view.shows_the_same(o, flag) for o in before)]
