"""Find the patterns that count for or against each class.

1. Patterns are ranked by separation: the mean contribution in graphs of the class minus the mean
   contribution in all others. A large weight is not enough; the graphs must differ in the pattern.
2. The model is refitted to resampled graphs. The stability of a pattern is the fraction of these
   models in which it is among the strongest patterns with the same sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch, counted
from ..graphs.convert.dispatch import as_graphs
from ..graphs.drawing.picture import card, draw, picture_or_reason
from ..kernels.bases.feature_kernel import FeatureKernel
from ..learning.inputs import check_known_classes, check_two_classes
from ..parameters import JOBS, Whole, check_value
from .explainer import with_threads
from .models import Decisions, decisions

#: Separations up to this value are rounding error of patterns common to all graphs.
_ROUNDING = 1e-12
#: Number of patterns per class shown in a notebook.
_SHOWN = 5


@dataclass(frozen=True)
class ClassPattern:
    """A pattern that counts for or against a class.

    Attributes
    ----------
    name : str
        Name of the pattern; SMARTS for molecules.
    contribution : float
        Mean contribution to the decision for the class over the graphs that contain it.
    separation : float
        Mean contribution in the graphs of the class minus that in the other graphs.
    support : int
        Number of graphs that contain it.
    precision : float
        Fraction of those graphs that belong to the class.
    stability : float
        Fraction of the models on resampled graphs in which it is among the strongest patterns
        with the same sign; NaN without resampling.
    example : int
        Index of the graph with the largest contribution, taken from the class for patterns that
        favour it and from the other classes otherwise.
    occurrence : tuple of int
        Vertices of one occurrence in that graph.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs = gg.as_graphs([([(0, 1)], ["C", end]) for end in "OONN"])
    >>> kernel = gg.VertexHistogram(output="features")
    >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, [1, 1, 0, 0])
    >>> pattern = gg.class_patterns(model, graphs, [1, 1, 0, 0], n=1).favour[1][0]
    >>> pattern.name, pattern.support, pattern.precision
    ('O', 2, 1.0)
    """

    name: str
    contribution: float
    separation: float
    support: int
    precision: float
    stability: float
    example: int
    occurrence: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class ClassPatterns:
    """Patterns of each class, as returned by :func:`graphgrain.class_patterns`.

    Attributes
    ----------
    favour, against : dict
        Map each class to the patterns for and against it, the strongest first.
    graphs : GraphBatch
        The graphs.
    n_resamples : int
        Number of models fitted to resampled graphs.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs = gg.as_graphs([([(0, 1)], ["C", end]) for end in "OONN"])
    >>> kernel = gg.VertexHistogram(output="features")
    >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, [1, 1, 0, 0])
    >>> found = gg.class_patterns(model, graphs, [1, 1, 0, 0], n=1)
    >>> [pattern.name for pattern in found.favour[1] + found.against[1]]
    ['O', 'N']
    """

    favour: dict[Any, list[ClassPattern]]
    against: dict[Any, list[ClassPattern]]
    graphs: GraphBatch
    n_resamples: int

    def to_svg(self, pattern: ClassPattern, **options: Any) -> str:
        """Draw the example graph of a pattern with one occurrence coloured.

        Options are those of :func:`graphgrain.draw`.
        """
        graph = self.graphs[pattern.example]
        values = np.zeros(graph.n_vertices)
        values[list(pattern.occurrence)] = np.sign(pattern.contribution) or 1.0
        steps = set(zip(pattern.occurrence, pattern.occurrence[1:], strict=False))
        between = [
            values[first] if (first, second) in steps or (second, first) in steps else 0.0
            for first, second in graph.edges.tolist()
        ]
        return draw(graph, vertices=values, edges=between, **{"legend": False, **options})

    def __repr__(self) -> str:
        lines = []
        for name, kind in (("for", self.favour), ("against", self.against)):
            for label, patterns in kind.items():
                lines.append(f"{name} {label}:")
                for p in patterns:
                    stable = f", {100 * p.stability:.0f} % stable" if p.stability >= 0 else ""
                    lines.append(
                        f"  {p.contribution:+.3f}  {p.name}  ({counted(p.support, 'graph')}, "
                        f"{100 * p.precision:.0f} % of them in the class{stable})"
                    )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (label, kind, p, picture_or_reason(partial(self.to_svg, p), width=170, height=120))
            for kind, each in (("for", self.favour), ("against", self.against))
            for label, own in each.items()
            for p in own[:_SHOWN]
        ]
        return card("graphgrain.explaining", "parts.html", "class_patterns", rows, self.n_resamples)


def class_patterns(
    model: Any,
    graphs: Any,
    y: Any,
    *,
    n: int = 10,
    n_resamples: int = 10,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> ClassPatterns:
    """Find the patterns that decide for and against each class, and how stable they are.

    Parameters
    ----------
    model : fitted classifier
        As in :func:`explain`.
    graphs : GraphBatch or sequence of graphs
        Usually the training graphs.
    y : array-like
        Class of each graph.
    n : int, default=10
        Number of patterns for, and number of patterns against, each class.
    n_resamples : int, default=10
        Number of models refitted to graphs drawn with replacement within each class, from which
        the stability of patterns is estimated. 0 skips this.
    random_state : int or None, default=0
        Seed for the resampling.
    n_jobs : int, optional
        Number of threads; resampled models are fitted with that of ``model``.

    Returns
    -------
    ClassPatterns

    See Also
    --------
    class_fragments : The same for rings and functional groups.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs, y = gg.load_drugs()
    >>> kernel = gg.PathPattern(3, output="features", counts="binary", edge_labels=True)
    >>> is_one = y == "benzodiazepines"
    >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, is_one)
    >>> found = gg.class_patterns(model, graphs, is_one, n=1, n_resamples=3)
    >>> [pattern] = found.favour[True]
    >>> pattern.name, pattern.support, pattern.stability
    ('[#6]-[#6]-[#7]=[#6]', 27, 1.0)
    """
    check_value("n", n, Whole(1))
    check_value("n_resamples", n_resamples, Whole(0))
    check_value("n_jobs", n_jobs, JOBS)
    batch = as_graphs(graphs)
    if not is_classifier(model):
        raise InvalidParameterError(
            f"class_patterns needs a classifier; {type(model).__name__} predicts numbers."
        )
    labels = np.asarray(y)
    if labels.shape != (len(batch),):
        raise InvalidParameterError(
            f"y must have one class per graph ({len(batch)}); got the shape {labels.shape}."
        )
    made = decisions(model, batch)
    check_known_classes(labels, made.classes)
    check_two_classes(np.unique(labels), len(batch))
    chosen = _strongest(made, labels, n, n_jobs)
    again = _again(model, batch, labels, n, n_jobs, n_resamples, random_state)
    kinds: dict[int, dict[Any, list[ClassPattern]]] = {1: {}, -1: {}}
    for (label, sign), found in chosen.items():
        others = [here.get((label, sign), ()) for here in again]
        kinds[sign][label] = [
            _described(table, place, label, sign, labels, made, others) for table, place in found
        ]
    return ClassPatterns(kinds[1], kinds[-1], batch, n_resamples)


class _Table(NamedTuple):
    """Patterns of all graphs at one level of one kernel, one line per graph and pattern."""

    kernel: FeatureKernel
    seen: GraphBatch
    level: int
    rows: np.ndarray  # graph of each line
    added: np.ndarray  # (lines, outputs), contributions
    distinct: np.ndarray  # distinct patterns
    place: np.ndarray  # index of each line's pattern in `distinct`
    sums: np.ndarray  # (classes, distinct, outputs), contributions summed over each class

    def identity(self, place: int) -> tuple[str, int, int]:
        """Return a key for a pattern that is the same for all models."""
        return type(self.kernel).__name__, self.level, int(self.distinct[place])


def _tables(made: Decisions, y: np.ndarray, n_jobs: int | None) -> list[_Table]:
    belongs = np.array([y == label for label in made.classes])
    outputs = range(len(made.outputs))
    tables = []
    for part in made.parts:
        kernel = with_threads(part, n_jobs)
        features = kernel.count(part.seen)
        added = [np.zeros((len(level.hashes), len(outputs))) for level in features.levels]
        for graph in range(len(made.batch)):
            own = features[graph : graph + 1].levels
            for output in outputs:
                found = part.contributions(graph, own, output)
                for level, values in enumerate(found):
                    first, last = features.levels[level].starts[graph : graph + 2]
                    added[level][first:last, output] = values
        for level, (counts, values) in enumerate(zip(features.levels, added, strict=True)):
            rows = counts.rows
            distinct, place = np.unique(counts.hashes, return_inverse=True)
            sums = np.zeros((len(belongs), len(distinct), len(outputs)))
            for number, inside in enumerate(belongs):
                np.add.at(sums[number], place[inside[rows]], values[inside[rows]])
            tables.append(_Table(kernel, part.seen, level, rows, values, distinct, place, sums))
    return tables


def _signed(made: Decisions, label: Any) -> tuple[int, int]:
    """Return the output of a class and its sign."""
    if made.two_classes is not None:
        return 0, 1 if label == made.two_classes[1] else -1
    return made.outputs.index(label), 1


def _strongest(
    made: Decisions, y: np.ndarray, n: int, n_jobs: int | None
) -> dict[tuple[Any, int], list[tuple[_Table, int]]]:
    """Return the n patterns with the largest separation per class and sign."""
    tables = _tables(made, y, n_jobs)
    owners = np.repeat(np.arange(len(tables)), [len(table.distinct) for table in tables])
    places = np.concatenate([np.arange(len(table.distinct)) for table in tables])
    result = {}
    for number, label in enumerate(made.classes):
        output, direction = _signed(made, label)
        sums = direction * np.concatenate([t.sums[:, :, output] for t in tables], axis=1)
        separation = _separation(sums, number, y == label)
        for sign in (1, -1):
            order = np.lexsort((places, owners, -separation))
            kept = order[(sign * sums.sum(axis=0)[order] > 0) & (separation[order] > _ROUNDING)][:n]
            result[label, sign] = [(tables[owners[i]], int(places[i])) for i in kept]
    return result


def _separation(sums: np.ndarray, number: int, inside: np.ndarray) -> np.ndarray:
    """Return the mean of each pattern inside a class minus its mean outside."""
    outside = sums.sum(axis=0) - sums[number]
    return sums[number] / max(1, inside.sum()) - outside / max(1, (~inside).sum())


def _again(
    model: Any,
    batch: GraphBatch,
    y: np.ndarray,
    n: int,
    n_jobs: int | None,
    times: int,
    seed: int | None,
) -> list[dict[tuple[Any, int], set[Any]]]:
    """Return the strongest patterns per class and sign for each model on resampled graphs."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(times):
        rows = np.concatenate(
            [rng.choice(own, len(own)) for own in (np.flatnonzero(y == c) for c in np.unique(y))]
        )
        made = decisions(clone(model).fit(batch[rows], y[rows]), batch)
        strongest = _strongest(made, y, n, n_jobs)
        found.append({key: {t.identity(p) for t, p in own} for key, own in strongest.items()})
    return found


def _described(
    table: _Table, place: int, label: Any, sign: int, y: np.ndarray, made: Decisions,
    again: list[Any],
) -> ClassPattern:  # fmt: skip
    output, direction = _signed(made, label)
    lines = np.flatnonzero(table.place == place)
    owners = table.rows[lines]
    added = sign * direction * table.added[lines, output]
    number = made.classes.index(label)
    sums = direction * table.sums[:, place : place + 1, output]
    inside = (y[owners] == label) == (sign > 0)
    example = int(owners[np.lexsort((owners, -added, ~inside))[0]])
    code = table.distinct[place : place + 1]
    graph = table.seen[example]
    [levels] = table.kernel.locate_each(graph)
    hits = [table.identity(place) in found for found in again]
    return ClassPattern(
        name=table.kernel.names_of(graph, table.level, code)[0],
        contribution=float(sign * added.mean()),
        separation=float(_separation(sums, number, y == label)[0]),
        support=len(np.unique(owners)),
        precision=float(np.mean(y[owners] == label)),
        stability=float(np.mean(hits)) if hits else float("nan"),
        example=example,
        occurrence=levels[table.level].of(code)[0],
    )
