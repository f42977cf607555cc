"""Terms: what the kernel of an estimator is a sum of, and which there are to choose from.

1. A :class:`Source` is one way to count: a kernel's features, seen through a view.
2. A :class:`Term` is one similarity of what a source counts: a count map, a similarity, and how
   many levels take part. Terms of one source share one extraction.
3. Estimators choose among terms; the sum of those that they choose is their kernel. A name of a
   kernel stands for all its levels, count maps, similarities, uses of edge labels and views; a grid
   or an estimator is tried as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.drawing.molecule import are_molecules
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.features import Features
from ..kernels.grid import KernelGrid, Setting
from ..kernels.registry import KERNELS
from ..parameters import Rule, check_parameters
from ..views.attribute_bins import AttributeBins
from ..views.base import seen_through, view_name
from ..views.pharmacophore_labels import PharmacophoreLabels
from ..views.structural_labels import StructuralLabels

AUTO = "auto"
#: What ``kernels="auto"`` stands for. The optimal assignment kernel WL-OA is min-max on what WL
#: counts, which is among the similarities that are tried.
USUAL = ("tree++", "wl", "sp")
#: What estimators sum over unless they are told otherwise: Tree++, and pairs at every distance.
DEFAULT = ("tree++", "sp")
#: Beside other kernels, pairs of all vertices are left out where there are more of them than this.
MOST_PAIRS = 500_000_000
#: Into how many clusters attributes are put: from coarse to fine, each four times the one before.
CLUSTERS = (8, 32, 128)
#: Count maps and similarities to choose from, the best on average first.
OF_CLASSES = (("raw", "minmax"), ("sqrt", "cosine"), ("raw", "cosine"))
OF_NUMBERS = (("raw", "minmax"), ("sqrt", "cosine"), ("raw", "dot"), ("sqrt", "dot"))
#: The count maps that are tried with a similarity which the user has chosen.
_MAPS = {"minmax": ("raw",), "cosine": ("raw", "sqrt"), "dot": ("raw", "sqrt")}


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


class ViewRule:
    """None, or something that turns graphs into graphs."""

    def allows(self, value: Any) -> bool:
        if isinstance(value, type | GraphKernel):
            return False
        return value is None or (hasattr(value, "fit") and hasattr(value, "transform"))

    def __str__(self) -> str:
        return (
            "None (the graphs as they are) or a view, such as EdgeFilter(drop=[1]) or a pipeline "
            "of views"
        )


@dataclass(frozen=True, eq=False)
class Source:
    """One way to count features.

    Attributes
    ----------
    name : str
        The kernel's name.
    kernel : FeatureKernel
        Its parameters, with the highest level; it is not fitted to any graphs.
    view : fitted view or None
    label_kind : str
        Of the vertex labels of the training graphs, as the view shows them.
    """

    name: str
    kernel: FeatureKernel
    view: Any
    label_kind: str

    def see(self, batch: GraphBatch) -> GraphBatch:
        """Graphs as the view shows them."""
        seen = seen_through(self.view, batch)
        if seen.n_vertices and seen.label_kind != self.label_kind:
            raise InvalidGraphError(
                f"The graphs must have labels of the kind seen at fit ({self.label_kind}); got "
                f"{seen.label_kind}. Convert them with GraphBatch.with_labels."
            )
        return seen

    def count(self, batch: GraphBatch, n_jobs: int | None = None) -> Features:
        """The features of graphs."""
        kernel = clone(self.kernel).set_params(n_jobs=n_jobs)
        return kernel.count(self.see(batch))


@dataclass(frozen=True, eq=False)
class Term:
    """One similarity of what a source counts.

    Attributes
    ----------
    source : Source
    counts : str
        The count map.
    similarity : {"cosine", "minmax", "dot"}
    n_levels : int or None
        How many levels take part; None where the kernel has no parameter for it.
    """

    source: Source
    counts: str
    similarity: str
    n_levels: int | None = None

    @property
    def group(self) -> tuple[int, str, str]:
        """The same for terms that differ in their levels alone."""
        return (id(self.source), self.counts, self.similarity)

    @property
    def kernel(self) -> FeatureKernel:
        """The kernel of the term, with its parameters, not fitted to any graphs."""
        kernel = clone(self.source.kernel)
        own: dict[str, Any] = {"counts": self.counts, "similarity": self.similarity}
        if kernel.level_parameter is not None and self.n_levels is not None:
            own[kernel.level_parameter] = self.n_levels - 1
        known = kernel.get_params()
        return kernel.set_params(**{name: own[name] for name in own if name in known})

    def parameters(self) -> dict[str, Any]:
        """What the term is, for the user: the kernel's name and what differs from its defaults."""
        kernel = self.kernel
        usual = type(kernel)().get_params(deep=False)
        chosen = ("counts", "similarity", "edge_labels", kernel.level_parameter)
        own = {
            name: value
            for name, value in kernel.get_params(deep=False).items()
            if (name in chosen or repr(value) != repr(usual[name]))
            and name not in ("n_jobs", "verbose", "output", "n_features")
        }
        view = {} if self.source.view is None else {"view": view_name(self.source.view)}
        return {"kernel": self.source.name, **own, **view}

    def prepare(self, features: Features) -> Features:
        """What its source has counted, as the term compares it."""
        return features.first_levels(self.n_levels).mapped(self.counts)


def explicit_kernels() -> list[str]:
    """The names of the kernels with explicit features.

    Examples
    --------
    >>> from graphgrain.learning.terms import explicit_kernels
    >>> explicit_kernels()[:4]
    ['tree++', 'path-pattern', 'wl', 'sp']
    """
    return [name for name, grid in KERNELS.items() if all(map(_is_explicit, _kernels_of(grid)))]


def possible_terms(
    graphs: GraphBatch,
    kernels: Any,
    *,
    path_depth: Any,
    max_level: int,
    centrality: Any,
    edge_labels: Any,
    views: Any,
    attributes: bool,
    counts: Any,
    similarity: Any,
    usual: Sequence[tuple[str, str]],
) -> list[Term]:
    """All terms to choose from, those of the plainest source first.

    The parameters are those of :class:`GraphClassifier`; ``usual`` are the pairs of a count map and
    a similarity that "auto" stands for.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.learning.terms import OF_CLASSES, possible_terms
    >>> graphs, _ = gg.load_drugs()
    >>> terms = possible_terms(graphs, "auto", path_depth=6, max_level=3, centrality="degree",
    ...     edge_labels=False, views=None, attributes=True, counts="auto", similarity="auto",
    ...     usual=OF_CLASSES)
    >>> [(term.source.name, term.similarity) for term in terms[::8]]
    [('tree++', 'minmax'), ('tree++', 'cosine'), ('wl', 'cosine'), ('sp', 'minmax')]
    """
    offered = alternatives(views)
    if is_auto(views):
        offered = [None, StructuralLabels()]
        offered += [PharmacophoreLabels()] if are_molecules(graphs) else []
    if attributes:
        offered += _attribute_views(graphs, offered[:1] if is_auto(views) else offered)
    shown = []
    for view in offered:
        fitted = None if view is None else clone(view).fit(graphs)
        shown.append((fitted, seen_through(fitted, graphs)))
    pairs = _pairs(counts, similarity, usual)
    found: list[Term] = []
    items = list(USUAL) if is_auto(kernels) else alternatives(kernels)
    if len(items) > 1 and float((graphs.vertex_counts.astype(float) ** 2).sum()) > MOST_PAIRS:
        items = [item for item in items if item != "sp"]
    for item in items:
        if not isinstance(item, str):
            found += _as_it_is(item, shown[0], usual)
            continue
        grid = KERNELS[item]
        plain = [_with_levels(kernel, max_level) for kernel in _kernels_of(grid)]
        if item == "tree++":
            plain = [
                clone(plain[0]).set_params(path_depth=depth, centrality=measure)
                for depth, measure in product(alternatives(path_depth), alternatives(centrality))
            ]
        for number, (view, seen) in enumerate(shown):
            if isinstance(view, PharmacophoreLabels) and is_auto(views) and item != "sp":
                continue
            flags = _edge_choices(edge_labels, plain[0], seen, shown[:number])
            if is_auto(edge_labels) and item == "sp":
                flags = flags[-1:]  # with labels between the ends, pairs are what paths are
            elif isinstance(view, StructuralLabels) and is_auto(views):
                flags = flags[:1]
            for edges in flags:
                for kernel in plain:
                    if "edge_labels" in kernel.get_params():
                        kernel = clone(kernel).set_params(edge_labels=edges)
                    source = Source(item, kernel, view, seen.label_kind)
                    _check_explicit(source)
                    found += _terms(source, pairs)
    return found


def _pairs(
    counts: Any, similarity: Any, usual: Sequence[tuple[str, str]]
) -> Sequence[tuple[str, str]]:
    if is_auto(counts) and is_auto(similarity):
        return usual
    if is_auto(counts):
        return [(how, one) for one in alternatives(similarity) for how in _MAPS[one]]
    if is_auto(similarity):
        similarity = list(dict.fromkeys(one for _, one in usual))
    return list(product(alternatives(counts), alternatives(similarity)))


def _terms(source: Source, pairs: Iterable[tuple[str, str]]) -> list[Term]:
    """The terms of a source, level by level."""
    kernel, name = source.kernel, source.kernel.level_parameter
    levels = [None] if name is None else range(1, getattr(kernel, name) + 2)
    if "counts" not in kernel.get_params():
        pairs = [(kernel.counts, one) for _, one in pairs]
    return [Term(source, how, one, level) for how, one in dict.fromkeys(pairs) for level in levels]


def _with_levels(kernel: GraphKernel, highest: int) -> Any:
    name = getattr(kernel, "level_parameter", None)
    return kernel if name is None else clone(kernel).set_params(**{name: highest})


def _kernels_of(grid: KernelGrid) -> list[Any]:
    """The kernels of a grid, those that differ in count map or similarity alone once."""
    kernels: dict[str, Any] = {}
    for setting in grid.settings:
        kernel = grid.estimator(Setting(setting.parameters))
        plain = clone(kernel)
        if isinstance(kernel, FeatureKernel) and "counts" in kernel.get_params():
            plain.set_params(counts="raw")
        kernels.setdefault(repr(plain), plain)
    return list(kernels.values())


def _as_it_is(
    item: Any, shown: tuple[Any, GraphBatch], usual: Sequence[tuple[str, str]]
) -> list[Term]:
    """The terms of a grid, or of a kernel with its own parameters at all levels up to its own."""
    kernels: list[tuple[str, Any, Any]]
    if isinstance(item, KernelGrid):
        item.check()
        kernels = [(item.name, item.estimator(s), s.view) for s in item.settings]
    else:
        known = {each.kernel: each.name for each in KERNELS.values()}
        check_parameters(item)
        kernels = [(known.get(type(item), type(item).__name__), clone(item), None)]
    found = []
    for name, kernel, view in kernels:
        fitted, seen = shown
        if view is not None:
            fitted = clone(view).fit(seen)
            seen = seen_through(fitted, seen)
        source = Source(name, kernel, fitted, seen.label_kind)
        _check_explicit(source)
        found += _terms(source, [(kernel.counts, kernel.similarity)])
    return found


def _attribute_views(graphs: GraphBatch, views: list[Any]) -> list[Any]:
    """Views that turn attributes into labels, behind each of the views; none without attributes."""
    there = {"vertex": graphs.vertex_attributes, "edge": graphs.edge_attributes}
    found = []
    for on, table in there.items():
        if table is not None and len(table):
            for view in views:
                for number in CLUSTERS:
                    bins = AttributeBins(on, number, "kmeans")
                    found.append(bins if view is None else make_pipeline(view, bins))
    return found


def _edge_choices(
    edge_labels: Any, kernel: GraphKernel, seen: GraphBatch, before: list[tuple[Any, GraphBatch]]
) -> list[bool]:
    """With and without edge labels, unless an earlier view shows the same."""
    flags = alternatives(edge_labels)
    if "edge_labels" not in kernel.get_params():
        flags = [False]
    elif is_auto(edge_labels):
        codes = seen.edge_label_codes
        apart = codes is not None and len(codes) > 0 and bool((codes != codes[0]).any())
        flags = [True, False] if apart else [False]
    return [flag for flag in flags if not any(_same(seen, other, flag) for _, other in before)]


def _same(one: GraphBatch, other: GraphBatch, edge_labels: bool) -> bool:
    """Whether a kernel that looks at edge labels, or does not, cannot tell the two apart."""
    names = ["offsets", "indptr", "indices", "label_codes", "label_table"]
    names += ["edge_label_codes", "edge_label_table"] if edge_labels else []
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _is_explicit(kernel: GraphKernel) -> bool:
    return (
        isinstance(kernel, FeatureKernel)
        and kernel._whole_counts
        and kernel.counts != "unit"
        and bool((kernel.level_scales == 1.0).all())
    )


def _check_explicit(source: Source) -> None:
    kernel = source.kernel
    if not _is_explicit(kernel):
        raise InvalidParameterError(
            f"kernels must count explicit features, so that decisions are sums over patterns; "
            f"{type(kernel).__name__} does not. Take some of {', '.join(explicit_kernels())}, or "
            f"use {type(kernel).__name__} in a pipeline with SVC(kernel='precomputed')."
        )
    if kernel.get_params().get("random_state", 0) is None:
        raise InvalidParameterError(
            f"random_state of {type(kernel).__name__} must be an integer here, so that the "
            "patterns of new graphs are counted as those of the training graphs were; got None."
        )
