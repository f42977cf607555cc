"""What the estimators over several kernels choose from: kernels by name, grids and estimators.

1. A name stands for the kernel with its levels, with every count map, use of edge labels and view
   that the estimator offers. A grid or an estimator is tried as it is.
2. Where graphs have attributes, every named kernel is also tried on graphs whose attributes have
   become labels.
3. What a model has learnt becomes weights on patterns: kernels need explicit features.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.pipeline import make_pipeline

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.grid import KernelGrid, Setting
from ..kernels.registry import KERNELS
from ..parameters import BOOLEAN, Rule, Whole
from ..views.attribute_bins import AttributeBins
from .candidates import COUNTS, alternatives, combined, is_auto
from .fitted_view import FittedView

#: What "auto" stands for. The optimal assignment kernel WL-OA is WL with the count map
#: "intersection", which is among those that are tried.
USUAL = ("tree++", "wl", "sp")
#: Into how many clusters attributes are put: from coarse to fine, each four times the one before.
CLUSTERS = (8, 32, 128)
#: Parameters that say nothing of what a kernel sees.
_NOT_SEEN = ("n_jobs", "output", "n_features")


class KernelRule:
    """ "auto", or kernels by name, with their grids, or as estimators."""

    def allows(self, value: Any) -> bool:
        if is_auto(value):
            return True
        items = alternatives(value)
        return bool(items) and all(
            item in KERNELS if isinstance(item, str) else isinstance(item, KernelGrid | GraphKernel)
            for item in items
        )

    def __str__(self) -> str:
        return (
            f"'auto', a kernel or a list of kernels, each a name ({', '.join(explicit_kernels())}),"
            " a KernelGrid or an estimator such as WeisfeilerLehman(3)"
        )


#: The parameters by which users say which kernels to try.
KERNEL_RULES: dict[str, Rule] = {
    "kernels": KernelRule(),
    "max_level": Whole(0),
    "attributes": BOOLEAN,
}


def grids_of(estimator: Any, graphs: GraphBatch, path_depth: Any) -> list[KernelGrid]:
    """:func:`kernel_grids` with the parameters of an estimator."""
    names = (*KERNEL_RULES, "edge_labels", "views", "counts", "normalize")
    own = {name: getattr(estimator, name) for name in names}
    return kernel_grids(graphs, path_depth=path_depth, **own)


def explicit_kernels() -> list[str]:
    """The names of the kernels that can become weights on patterns.

    Examples
    --------
    >>> from graphgrain.learning.kernel_choice import explicit_kernels
    >>> explicit_kernels()[:4]
    ['tree++', 'path-pattern', 'wl', 'sp']
    """
    return [name for name, grid in KERNELS.items() if _is_explicit(grid)]


def kernel_grids(
    graphs: GraphBatch,
    kernels: Any,
    *,
    path_depth: Any,
    max_level: int,
    edge_labels: Any,
    views: Any,
    attributes: bool,
    counts: Any,
    normalize: Any,
) -> list[KernelGrid]:
    """Kernels with all settings to try on these graphs.

    The parameters are those of :class:`GraphClassifier`; ``path_depth`` is that of Tree++.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.learning.kernel_choice import kernel_grids
    >>> graphs, _ = gg.load_drugs()
    >>> grids = kernel_grids(graphs, "auto", path_depth=6, max_level=7, edge_labels=False,
    ...     views=None, attributes=True, counts="auto", normalize=True)
    >>> [(grid.name, len(grid.candidates())) for grid in grids]
    [('tree++', 24), ('wl', 24), ('sp', 3)]
    """
    items = list(USUAL) if is_auto(kernels) else alternatives(kernels)
    offered = alternatives(views)
    offered += attribute_views(graphs, offered) if attributes else []
    shown = [FittedView.of(view, graphs) for view in offered]
    grids = []
    for item in items:
        if isinstance(item, str):
            own = _named_grid(item, path_depth, max_level)
            maps = counts
            if item == "wl" and "wl-oa" in items and is_auto(counts):
                maps = [how for how in COUNTS if how != "intersection"]  # which is WL-OA
            grids.append(combined(own, shown, edge_labels, maps, normalize))
        else:
            grids.append(item if isinstance(item, KernelGrid) else _as_it_is(item))
    for grid in grids:
        grid.check()
        _check_explicit(grid)
    return grids


def attribute_views(graphs: GraphBatch, views: list[Any]) -> list[Any]:
    """Views that turn attributes into labels, behind each of the views; none without attributes.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.learning.kernel_choice import attribute_views
    >>> graphs = gg.GraphBatch.from_edges([2], [(0, 1)], vertex_attributes=[[0, 0], [3, 4]])
    >>> [view.n_bins for view in attribute_views(graphs, [None])]
    [8, 32, 128]
    """
    there = {"vertex": graphs.vertex_attributes, "edge": graphs.edge_attributes}
    found = []
    for on, table in there.items():
        if table is not None and len(table):
            for view in views:
                for number in CLUSTERS:
                    bins = AttributeBins(on, number, "kmeans")
                    found.append(bins if view is None else make_pipeline(view, bins))
    return found


def _named_grid(name: str, path_depth: Any, max_level: int) -> KernelGrid:
    """A kernel of the registry, its levels up to the highest."""
    grid = KERNELS[name]
    settings = list(grid.settings)
    if name == "tree++":
        settings = [Setting({"path_depth": depth}) for depth in alternatives(path_depth)]
    if grid.level_parameter is not None:
        level = {grid.level_parameter: max_level}
        settings = [replace(s, parameters={**s.parameters, **level}) for s in settings]
    return grid.with_settings(settings)


def _as_it_is(kernel: GraphKernel) -> KernelGrid:
    """A kernel with its own parameters, at all levels up to its own."""
    kind = type(kernel)
    known = {grid.kernel: grid for grid in KERNELS.values()}.get(kind)
    own = {n: v for n, v in kernel.get_params(deep=False).items() if n not in _NOT_SEEN}
    name, title = (kind.__name__,) * 2 if known is None else (known.name, known.title)
    return KernelGrid(name, kind, title, (Setting(own),), getattr(kind, "level_parameter", None))


def _is_explicit(grid: KernelGrid) -> bool:
    return all(
        isinstance(kernel, FeatureKernel)
        and kernel._whole_counts
        and kernel.counts != "unit"
        and bool((kernel.level_scales == 1.0).all())
        for kernel in map(grid.estimator, grid.settings)
    )


def _check_explicit(grid: KernelGrid) -> None:
    if not _is_explicit(grid):
        raise InvalidParameterError(
            f"kernels must count explicit features, since a fitted model is weights on patterns; "
            f"{grid.title} does not. Take some of {', '.join(explicit_kernels())}, or use "
            f"{grid.kernel.__name__} in a pipeline with SVC(kernel='precomputed')."
        )
    for setting in grid.settings:
        if grid.estimator(setting).get_params().get("random_state", 0) is None:
            raise InvalidParameterError(
                f"random_state of {grid.title} must be an integer here, so that the patterns of "
                "new graphs are counted as those of the training graphs were; got None."
            )
