"""Terms: the kernels whose weighted sum is the kernel of a model.

A term is a kernel applied to an alphabet, that is, to the graphs seen through a view. There are
three alphabets and three grains, and each pair of them is a term, compared by min-max:

1. The alphabets are the labels as read, labels with degree and ring (:class:`StructuralLabels`),
   and for molecules the roles of the atoms (:class:`PharmacophoreLabels`). Attributes of vertices,
   or of edges without labels, add labels with the bins of the attributes, at three widths.
2. The grains are neighbourhoods (Tree++ with d = 0 and k = 2), paths of neighbourhoods (d = 6,
   k = 1), and pairs of labels at every distance.
3. One linear term, the dot product of the counts of small neighbourhoods, has a low prior weight:
   targets that are sums over vertices need it, others do not. Graphs without labels add graphlets.

On large graphs, terms whose cost is out of proportion get a cheaper form or are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ..core.balls import pairs_within
from ..errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.molecule_labels import are_molecules
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import OUTPUT_PARAMETERS, GraphKernel
from ..kernels.features import Features
from ..kernels.graphlet import Graphlet
from ..kernels.registry import KERNELS
from ..kernels.shortest_path import ShortestPath
from ..kernels.tree_plus_plus import TreePlusPlus
from ..kernels.weisfeiler_lehman import WeisfeilerLehman
from ..parameters import check_parameters
from ..views.attribute_bins import AttributeBins
from ..views.base import seen_through, view_name
from ..views.pharmacophore_labels import PharmacophoreLabels
from ..views.structural_labels import StructuralLabels

#: Numbers of bins of attributes.
BINS = (8, 32, 128)
#: Prior log weight of the linear term; that of the others is 0.
LINEAR_PRIOR = -3.0
#: A term whose number of pairs of vertices within reach is above both is out of proportion.
MOST_PAIRS, PAIRS_PER_VERTEX = 5_000_000, 200
#: Sum of cubed degrees above which graphlets of four vertices are left out.
MOST_CLAWS = 200_000_000


@dataclass(frozen=True, eq=False)
class Source:
    """A kernel and a view, which together define how features are counted.

    Attributes
    ----------
    name : str
        Name of the kernel.
    kernel : GraphKernel
        Unfitted kernel with its parameters.
    view : fitted view or None
    label_kind : str or None
        Kind of the vertex labels of the training graphs after the view; None for any.
    """

    name: str
    kernel: Any
    view: Any
    label_kind: str | None

    @property
    def explicit(self) -> bool:
        """Whether the kernel counts patterns, so that values are sums over patterns."""
        return is_explicit(self.kernel)

    def see(self, batch: GraphBatch) -> GraphBatch:
        """Apply the view to graphs."""
        seen = seen_through(self.view, batch)
        if seen.n_vertices and self.label_kind not in (None, seen.label_kind):
            raise InvalidGraphError(
                f"The graphs must have labels of the kind seen at fit ({self.label_kind}); got "
                f"{seen.label_kind}. Convert them with GraphBatch.with_labels."
            )
        return seen

    def count(self, batch: GraphBatch, n_jobs: int | None = None) -> Features | GraphBatch:
        """Count the features of graphs; a kernel without features takes the graphs themselves."""
        seen = self.see(batch)
        if not self.explicit:
            return seen
        counted: Features = clone(self.kernel).set_params(n_jobs=n_jobs).count(seen)
        return counted


@dataclass(frozen=True, eq=False)
class Term:
    """A similarity of the features of a source.

    Attributes
    ----------
    source : Source
    counts : str
        Map applied to the counts.
    similarity : {"cosine", "minmax", "dot"}
    n_levels : int or None
        Number of levels used; None for all.
    prior : float
        Prior log weight.
    """

    source: Source
    counts: str
    similarity: str
    n_levels: int | None = None
    prior: float = 0.0

    @property
    def kernel(self) -> Any:
        """Unfitted kernel with the parameters of the term."""
        kernel = clone(self.source.kernel)
        own: dict[str, Any] = {"counts": self.counts, "similarity": self.similarity}
        if self.n_levels is not None:
            own[kernel.level_parameter] = self.n_levels - 1
        known = kernel.get_params()
        return kernel.set_params(**{name: own[name] for name in own if name in known})

    def parameters(self) -> dict[str, Any]:
        """Return the name of the kernel and its main and non-default parameters."""
        kernel = self.kernel
        usual = type(kernel)().get_params(deep=False)
        chosen = ("counts", "similarity", "edge_labels", getattr(kernel, "level_parameter", None))
        own = {
            name: value
            for name, value in kernel.get_params(deep=False).items()
            if (name in chosen or repr(value) != repr(usual[name]))
            and name not in OUTPUT_PARAMETERS
        }
        view = {} if self.source.view is None else {"view": view_name(self.source.view)}
        return {"kernel": self.source.name, **own, **view}

    def prepare(self, features: Features) -> Features:
        """Select the levels of the term and apply its count map."""
        return features.first_levels(self.n_levels).mapped(self.counts)


#: Terms that share one weight; nearly always a single one.
Group = tuple[Term, ...]


def is_explicit(kernel: Any) -> bool:
    """Return whether the values of a kernel are sums over patterns that it counts."""
    return (
        isinstance(kernel, FeatureKernel)
        and kernel._whole_counts
        and kernel.counts != "unit"
        and bool((kernel.level_scales == 1.0).all())
    )


def as_list(value: Any) -> list[Any]:
    """Return one or several values as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]


class KernelRule:
    """None, or kernels as names or estimators."""

    def allows(self, value: Any) -> bool:
        items = as_list(value)
        return value is None or (
            bool(items)
            and all(
                item in KERNELS if isinstance(item, str) else isinstance(item, GraphKernel)
                for item in items
            )
        )

    def __str__(self) -> str:
        return (
            f"None, a kernel or a list of kernels, each a name ({', '.join(KERNELS)}) or an "
            "estimator such as WeisfeilerLehman(3)"
        )


def terms_of(graphs: GraphBatch, kernels: Any = None, views: Any = None) -> list[Group]:
    """Return the terms of a model: those of the kernels, or by default alphabets times grains."""
    offered = []
    for view in as_list(views):
        fitted = None if view is None else clone(view).fit(graphs)
        offered.append((fitted, seen_through(fitted, graphs)))
    if kernels is not None:
        return [(_term_as_it_is(k, *each),) for k in as_list(kernels) for each in offered]
    found: list[Group] = []
    spared: set[str] = set()
    shown: list[GraphBatch] = []
    for view, seen in offered:
        linear: list[Term] = []
        for fitted, alphabet in _alphabets(view, seen):
            if any(_same(alphabet, earlier) for earlier in shown):
                continue
            shown.append(alphabet)
            sources = [
                Source(name, kernel, fitted, alphabet.label_kind)
                for name, kernel in _grains(alphabet, spared)
            ]
            found += [(Term(source, "raw", "minmax"),) for source in sources]
            if len(linear) < 2:
                linear.append(Term(sources[0], "raw", "dot", 2, LINEAR_PRIOR))
        if view is offered[0][0]:
            last = tuple(linear)
        if not seen.labelled:
            sources = [Source("graphlet", k, view, seen.label_kind) for k in _graphlets(seen)]
            found += [(Term(source, "raw", "cosine"),) for source in sources]
    if spared:
        warnings.warn(
            f"The graphs are large: {', '.join(sorted(spared))}. terms_ lists what is used; "
            "kernels=[...] takes others.",
            GraphgrainWarning,
            stacklevel=2,
        )
    return [*found, last]


def _alphabets(view: Any, graphs: GraphBatch) -> list[tuple[Any, GraphBatch]]:
    """Return the views that relabel graphs, after a view, and what they show."""
    relabelled: list[Any] = [StructuralLabels()]
    if are_molecules(graphs):
        relabelled.append(PharmacophoreLabels())
    tables = {"vertex": graphs.vertex_attributes}
    if graphs.edge_label_table is None:
        tables["edge"] = graphs.edge_attributes
    for on, table in tables.items():
        if table is not None and len(table):
            relabelled += [AttributeBins(on, bins, "kmeans") for bins in BINS]
    found = [(view, graphs)]
    for labels in relabelled:
        fitted = labels.fit(graphs)
        seen = seen_through(fitted, graphs)
        found.append((fitted if view is None else make_pipeline(view, fitted), seen))
    return found


def _same(one: GraphBatch, another: GraphBatch) -> bool:
    """Return whether two views show the same graphs."""
    names = ["offsets", "indptr", "indices", "label_codes", "label_table"]
    names += ["edge_label_codes", "edge_label_table"]
    return all(np.array_equal(getattr(one, name), getattr(another, name)) for name in names)


def _grains(graphs: GraphBatch, spared: set[str]) -> list[tuple[str, FeatureKernel]]:
    """Return neighbourhoods, paths and pairs, without what is out of proportion to the graphs.

    ``spared`` collects what has been replaced or left out, in words.
    """
    codes = graphs.edge_label_codes
    edges = codes is not None and len(codes) > 0 and bool((codes != codes[0]).any())
    grains: list[tuple[str, FeatureKernel]] = [("tree++", TreePlusPlus(0, 2, edge_labels=edges))]
    for depth in (6, 3):
        if _in_proportion(graphs, depth):
            grains.append(("tree++", TreePlusPlus(depth, 1, edge_labels=edges)))
            break
        spared.add("paths are shorter, or those of Weisfeiler-Lehman")
    else:
        grains.append(("wl", WeisfeilerLehman(3, edge_labels=edges)))
    if _in_proportion(graphs, None):
        grains.append(("sp", ShortestPath()))
    else:
        spared.add("pairs at every distance are left out")
    return grains


def _in_proportion(graphs: GraphBatch, reach: int | None) -> bool:
    """Return whether the pairs of vertices within reach are few enough to be counted."""
    most = max(MOST_PAIRS, PAIRS_PER_VERTEX * graphs.n_vertices)
    if float((graphs.vertex_counts.astype(float) ** 2).sum()) <= most:
        return True
    return int(pairs_within(graphs.arrays, -1 if reach is None else reach, most)) <= most


def _graphlets(graphs: GraphBatch) -> list[Graphlet]:
    few = float((graphs.degrees.astype(float) ** 3).sum()) <= MOST_CLAWS
    return [Graphlet(size) for size in ((3, 4) if few else (3,))]


def _term_as_it_is(item: Any, view: Any, graphs: GraphBatch) -> Term:
    """Return a kernel, by name or as an estimator, as a term with its own parameters."""
    kernel = KERNELS[item].kernel() if isinstance(item, str) else clone(item)
    check_parameters(kernel)
    if kernel.get_params().get("random_state", 0) is None:
        raise InvalidParameterError(
            f"random_state of {type(kernel).__name__} must be an integer here, so that new graphs "
            "are treated as the training graphs were; got None."
        )
    if "output" in kernel.get_params():
        kernel.set_params(output="gram")
    names = {entry.kernel: name for name, entry in KERNELS.items()}
    name = names.get(type(kernel), type(kernel).__name__)
    source = Source(name, kernel, view, graphs.label_kind)
    counts = getattr(kernel, "counts", "raw")
    return Term(source, counts, kernel.similarity)


def term_table(groups: Sequence[Group], weights: np.ndarray) -> list[dict[str, Any]]:
    """Return the parameters of all terms with their weights, which sum to 1."""
    return [
        {**term.parameters(), "weight": float(weight / len(group))}
        for group, weight in zip(groups, weights, strict=True)
        for term in group
    ]
