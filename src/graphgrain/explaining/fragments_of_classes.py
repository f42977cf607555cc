"""Find the rings and functional groups that count for or against each class."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..core.threads import call
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch, counted
from ..graphs.convert.dispatch import as_graphs
from ..graphs.drawing.picture import card, picture, picture_or_reason, save_png, save_svg
from ..graphs.drawing.shapes import Picture
from ..learning.inputs import check_known_classes
from ..parameters import JOBS, Whole, check_value
from .explainer import explain_outputs
from .explanation import Explanation
from .fragments import Fragment

#: Number of example graphs per fragment.
_EXAMPLES = 3
#: Number of fragments per class shown in a notebook.
_SHOWN = 8


@dataclass(frozen=True)
class ClassFragment:
    """A fragment in a set of graphs and its mean contribution to decisions.

    Attributes
    ----------
    name : str
        Name of the fragment, see :class:`Fragment`.
    count : int
        Number of graphs that contain it.
    contribution : float
        Contribution to the decision for the class: the sum over all occurrences in a graph,
        averaged over the graphs that contain the fragment.
    interval : tuple of two float
        95 % confidence interval of that mean (Student's t over graphs); NaN for a single graph.
    precision : float
        Fraction of these graphs that belong to the class; NaN for regression.
    examples : tuple of (int, tuple of int)
        Up to three graphs with the largest contribution of the sign of the mean, each as graph
        index and vertices of the fragment.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.explaining import ClassFragment
    >>> nan = float("nan")
    >>> ClassFragment("thioether", 1, -0.12, (nan, nan), 1.0, ((7, (3,)),)).count
    1
    """

    name: str
    count: int
    contribution: float
    interval: tuple[float, float]
    precision: float
    examples: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, repr=False)
class ClassFragments:
    """Fragments of each class, as returned by :func:`graphgrain.class_fragments`.

    Attributes
    ----------
    fragments : dict
        Maps each class to its fragments, by decreasing absolute total contribution. For
        regression the only key is None, or there is the index of each of several targets.
    graphs : GraphBatch
        The explained graphs.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> acid = ([(0, 1), (1, 2), (1, 3)], list("CCOO"), ["single", "double", "single"])
    >>> amine = ([(0, 1), (1, 2)], list("CCN"), ["single", "single"])
    >>> graphs, y = gg.as_graphs([acid, amine] * 5), ["acid", "base"] * 5
    >>> kernel = gg.VertexHistogram(output="features")
    >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, y)
    >>> [each.name for each in gg.class_fragments(model, graphs, y).fragments["acid"]][:2]
    ['carboxylic acid', 'primary amine']
    """

    fragments: dict[Any, list[ClassFragment]]
    graphs: GraphBatch

    def to_svg(
        self,
        fragment: ClassFragment,
        path: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> str:
        """Draw the examples of a fragment side by side, with its vertices coloured.

        Parameters
        ----------
        fragment : ClassFragment
        path : path, optional
            File to write the picture to; must end in ``.svg``.
        options
            As in :func:`graphgrain.draw`; ``width`` and ``height`` apply to each graph.

        Returns
        -------
        str
            The SVG.
        """
        return save_svg(partial(self._picture, fragment), path, **options)

    def to_png(
        self,
        fragment: ClassFragment,
        path: str | os.PathLike[str] | None = None,
        *,
        scale: float = 2.0,
        **options: Any,
    ) -> bytes:
        """Draw as PNG with matplotlib (``pip install 'graphgrain[plot]'``); see :meth:`to_svg`."""
        return save_png(partial(self._picture, fragment), path, scale, **options)

    def _picture(self, fragment: ClassFragment, **options: Any) -> Picture:
        given = {"legend": False, "width": 220, "height": 160, **options}
        sign = 1.0 if fragment.contribution >= 0 else -1.0
        drawn = []
        for number, vertices in fragment.examples:
            graph = self.graphs[number]
            values = np.zeros(graph.n_vertices)
            values[list(vertices)] = sign
            bonds = [sign if {u, v} <= set(vertices) else 0.0 for u, v in graph.edges.tolist()]
            drawn.append(picture(graph, vertices=values, edges=bonds, **given))
        return reduce(Picture.beside, drawn)

    def __repr__(self) -> str:
        lines = []
        for label, found in self.fragments.items():
            lines += [f"for {label}:"] if label is not None else []
            for each in found:
                low, high = each.interval
                between = "" if np.isnan(low) else f" ({low:+.3g} to {high:+.3g})"
                inside = "" if np.isnan(each.precision) else f", {each.precision:.0%} in the class"
                lines.append(
                    f"  {each.contribution:+.3g}{between}  {each.name}  "
                    f"({counted(each.count, 'graph')}{inside})"
                )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (label, each, picture_or_reason(partial(self.to_svg, each), width=150, height=110))
            for label, own in self.fragments.items()
            for each in own[:_SHOWN]
        ]
        return card("graphgrain.explaining", "parts.html", "class_fragments", rows)


def class_fragments(
    model: Any, graphs: Any, y: Any, *, n: int = 10, n_jobs: int | None = None
) -> ClassFragments:
    """Find the rings and functional groups that favour or disfavour each class or larger values.

    Every graph is explained and divided into fragments, and fragments of the same name are
    pooled.

    Parameters
    ----------
    model : fitted model
        As in :func:`explain`.
    graphs : GraphBatch or sequence of graphs
    y : array-like
        Class or value of each graph, or a row of values for models of several targets.
    n : int, default=10
        Number of fragments kept per class: those with the largest absolute total contribution.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    ClassFragments

    See Also
    --------
    class_patterns : The same for patterns of the kernel.
    Explanation.fragments : Fragments of a single graph.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs, y = gg.load_drugs()
    >>> kernel = gg.TreePlusPlus(3, 1, output="features", counts="binary", edge_labels=True)
    >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, y == "beta-lactams")
    >>> found = gg.class_fragments(model, graphs, y == "beta-lactams", n=3)
    >>> [(each.name, each.count) for each in found.fragments[True]]
    [('carboxylic acid', 77), ('beta-lactam', 28), ('secondary amide', 35)]
    """
    check_value("n", n, Whole(1))
    check_value("n_jobs", n_jobs, JOBS)
    batch = as_graphs(graphs)
    classes = is_classifier(model)
    targets = np.asarray(y)
    if targets.shape[:1] != (len(batch),) or (classes and targets.ndim > 1):
        raise InvalidParameterError(
            f"y must have one target per graph ({len(batch)}); got the shape {targets.shape}."
        )
    by_class: dict[Any, list[Explanation]] = {}
    for outputs in call(partial(explain_outputs, n_jobs=n_jobs, every=True), model, batch):
        for why in outputs:
            # With two classes the only output counts for one and against the other.
            for label in [why.target] if why.opposite is None else [why.opposite, why.target]:
                by_class.setdefault(label, []).append(why)
    if classes and by_class:
        check_known_classes(targets, list(by_class))
    found = {}
    for label, whys in by_class.items():
        sign = -1.0 if classes and label == whys[0].opposite else 1.0
        belongs = targets == label if classes else None
        found[label] = _of_class(whys, sign, belongs, n)
    return ClassFragments(found, batch)


def _of_class(
    whys: list[Explanation], sign: float, belongs: np.ndarray | None, n: int
) -> list[ClassFragment]:
    places: dict[str, dict[int, list[Fragment]]] = {}
    for number, why in enumerate(whys):
        for fragment in why.fragments():
            if fragment.vertices:
                places.setdefault(fragment.name, {}).setdefault(number, []).append(fragment)
    found = []
    for name, by_graph in places.items():
        graphs = np.array(list(by_graph))
        values = np.array([sign * sum(f.contribution for f in own) for own in by_graph.values()])
        mean = float(values.mean())
        order = np.lexsort((graphs, -np.sign(mean) * values))[:_EXAMPLES]
        examples = []
        for number in graphs[order].tolist():
            best = max(by_graph[number], key=lambda f: np.sign(mean) * sign * f.contribution)
            examples.append((number, best.vertices))
        precision = float("nan") if belongs is None else float(belongs[graphs].mean())
        found.append(
            ClassFragment(name, len(graphs), mean, _interval(values), precision, tuple(examples))
        )
    found.sort(key=lambda each: (-abs(each.contribution) * each.count, each.name))
    return found[:n]


def _interval(values: np.ndarray) -> tuple[float, float]:
    if len(values) < 2:
        return float("nan"), float("nan")
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half
