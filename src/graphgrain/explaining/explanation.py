"""Explanation: why a model says what it says of one graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..graphs.batch import GraphBatch
from ..graphs.drawing.picture import Pictured, card, fragment_list, picture, picture_or_reason
from ..graphs.drawing.shapes import Picture
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Occurrences, Tally
from .fragments import Fragment, fragments_of

#: How many patterns a notebook shows.
_PATTERNS = 8
_SHARED = {
    "path": "shared along paths",
    "tree": "shared among paths and their trees",
    "equal": "shared among all vertices that take part",
    "removal": "what is lost without each vertex",
}


@dataclass(frozen=True)
class Pattern:
    """A pattern of a graph and what it adds to a decision.

    Attributes
    ----------
    name : str
        As :meth:`TreePlusPlus.feature_names` has it: SMARTS for molecules.
    contribution : float
        What it adds to the decision value, all occurrences together.
    count : int
        How often it occurs.
    occurrences : list of tuples
        The vertices of each occurrence.
    known : bool
        Whether some training graph has it.
    description : str
        The long form of the name: the level, every label in full.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs = gg.as_graphs([([(0, 1)], ["C", end]) for end in "OONN"])
    >>> kernel = gg.VertexHistogram(output="features")
    >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, [1, 1, 0, 0])
    >>> pattern = gg.explain(model, graphs[0])[0].patterns[0]
    >>> pattern.name, pattern.count, pattern.occurrences
    ('O', 1, [(1,)])
    """

    name: str
    contribution: float
    count: int
    occurrences: list[tuple[int, ...]] = field(repr=False)
    known: bool = True
    description: str = ""


class FoundLevel(NamedTuple):
    """The distinct patterns of a graph at one level of one kernel."""

    kernel: FeatureKernel
    seen: GraphBatch  # the graph as the kernel's view shows it
    level: int
    found: Occurrences
    tally: Tally
    contributions: np.ndarray
    known: np.ndarray


@dataclass(frozen=True, repr=False)
class Explanation(Pictured):
    """What a model sees in one graph: its decision as a sum over patterns, vertices and edges.

    Made by :func:`graphgrain.explain`. Drawn by :meth:`to_svg` and :meth:`to_png`; their option
    ``fragments`` is the number of the strongest fragments that are marked and listed beside the
    graph.

    Attributes
    ----------
    decision : float
        The value of the model's ``decision_function`` (classifiers) or ``predict`` (regressors; on
        the scale of learning, ``scale_``). For a pipeline whose machine compares classes pair by
        pair: the mean value of a class against each of the others.
    bias : float
        What the model says before it has seen any pattern. ``decision`` is ``bias`` plus
        ``columns`` plus the sum of all contributions.
    columns : float
        What the columns beside the graph add, where the model was trained on a table.
    patterns : list of Pattern
        All patterns of the graph, those that contribute most first.
    vertices : array
        One value per vertex. They add up to ``decision - bias - columns``, unless
        ``share="removal"``.
    edges : array
        One value per row of ``graph.edges``. Patterns without an edge leave them alone.
    prediction : object
        The class, or None for a number.
    target : object
        What positive values are for: a class, the number of a target, or None.
    opposite : object
        What negative values are for, where there are two classes.
    graph : GraphBatch
        The one graph.
    share : str
        How contributions were shared among vertices and edges.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> graphs = gg.as_graphs([([(0, 1)], ["C", end]) for end in "OONN"])
    >>> kernel = gg.VertexHistogram(output="features")
    >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, [1, 1, 0, 0])
    >>> [why] = gg.explain(model, graphs[0])
    >>> int(why.prediction), why.patterns[0].name, int(why.vertices.argmax())
    (1, 'O', 1)
    """

    decision: float
    bias: float
    columns: float
    vertices: np.ndarray
    edges: np.ndarray
    prediction: Any
    target: Any
    opposite: Any
    graph: GraphBatch
    share: str
    levels: list[FoundLevel]

    @cached_property
    def patterns(self) -> list[Pattern]:
        return self.top(None)

    def top(self, n: int | None = 10, *, sign: int = 0) -> list[Pattern]:
        """The n patterns that contribute most, for or against; names of others are not read.

        Parameters
        ----------
        n : int, default=10
        sign : {0, 1, -1}, default=0
            1: only those with a positive contribution; -1: only those with a negative one.

        Examples
        --------
        >>> import graphgrain as gg
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> graphs, y = gg.load_drugs()
        >>> kernel = gg.TreePlusPlus(3, 0, output="features", counts="binary")
        >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, y == "opioids")
        >>> [why] = gg.explain(model, graphs[221])
        >>> [pattern.name for pattern in why.top(2)]
        ['[#6]~[#6]~[#6]~[#8]', '[#6]~[#6]~[#6]~[#7]']
        """
        if not self.levels:
            return []
        values = np.concatenate([part.contributions for part in self.levels])
        sizes = [len(part.tally.hashes) for part in self.levels]
        owners = np.repeat(np.arange(len(sizes)), sizes)
        places = np.concatenate([np.arange(size) for size in sizes])
        order = np.lexsort((places, owners, -np.abs(values)))
        order = (order[sign * values[order] > 0] if sign else order)[:n]
        names: dict[tuple[int, int], dict[str, str]] = {}
        for number, part in enumerate(self.levels):
            own = np.sort(places[order[owners[order] == number]])
            if not len(own):
                continue
            hashes = part.tally.hashes[own]  # ascending, as they are in part.tally.hashes
            short = part.kernel.names_of(part.seen, part.level, hashes)
            long = part.kernel.descriptions_of(part.seen, part.level, hashes)
            for place, name, description in zip(own.tolist(), short, long, strict=True):
                names[number, place] = {"name": name, "description": description}
        found = []
        for owner, place in zip(owners[order].tolist(), places[order].tolist(), strict=True):
            part = self.levels[owner]
            found.append(
                Pattern(
                    contribution=float(part.contributions[place]),
                    count=int(part.tally.times[place]),
                    occurrences=part.found.of(part.tally.hashes[place]),
                    known=bool(part.known[place]),
                    **names[owner, place],
                )
            )
        return found

    def fragments(self) -> list[Fragment]:
        """The decision as a sum over parts of the graph that have names.

        Molecules are cut into rings, functional groups and chains, from their labels alone;
        other graphs into regions around their strongest vertices. Every vertex is in one part.

        Returns
        -------
        list of Fragment
            Those that add most, for or against, first; the bias last. Their contributions add up
            to ``decision``.

        Examples
        --------
        >>> import graphgrain as gg
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> graphs, y, names = gg.load_drugs(names=True)
        >>> kernel = gg.TreePlusPlus(3, 1, output="features", counts="binary", edge_labels=True)
        >>> model = make_pipeline(kernel, LogisticRegression()).fit(graphs, y == "opioids")
        >>> [why] = gg.explain(model, graphs[names == "morphine"])
        >>> [fragment.name for fragment in why.fragments()[:3]]
        ['carbons of fused rings (5,6,6,6)', 'benzene ring', 'tertiary amine']
        """
        return fragments_of(self)

    @property
    def unknown(self) -> float:
        """The share of the graph's pattern occurrences that no training graph has."""
        total = sum(int(part.tally.times.sum()) for part in self.levels)
        if not total:
            return 0.0
        return sum(int(part.tally.times[~part.known].sum()) for part in self.levels) / total

    def _picture(self, **options: Any) -> Picture:
        listed = self.fragments()[: options.pop("fragments", 0)]
        listed = [fragment for fragment in listed if fragment.vertices]
        meaning = {"positive": self.target, "negative": self.opposite}
        marks = [fragment.vertices for fragment in listed]
        given = {"marks": marks, **meaning, **options}
        drawn = picture(self.graph, vertices=self.vertices, edges=self.edges, **given)
        if not listed:
            return drawn
        told = [(fragment.name, fragment.contribution) for fragment in listed]
        return drawn.beside(fragment_list(told, drawn.palette, drawn.height))

    def __repr__(self) -> str:
        words = [f"decision={self.decision:.4g}", f"bias={self.bias:.4g}"]
        if self.target is not None:
            words.insert(0, f"target={self.target!r}")
        if self.prediction is not None:
            words.insert(0, f"prediction={self.prediction!r}")
        words.append(f"{self.graph.n_vertices} vertices")
        words.append(f"{sum(len(part.tally.hashes) for part in self.levels)} patterns")
        if self.unknown:
            words.append(f"{100 * self.unknown:.0f} % of its patterns unknown to the model")
        return f"Explanation({', '.join(words)})"

    def _repr_html_(self) -> str:
        top = self.top(_PATTERNS)
        left = sum(len(part.tally.hashes) for part in self.levels) - len(top)
        if self.prediction is None:
            heading = f"Predicted {self.decision:.4g}"
        elif self.opposite is not None or self.target == self.prediction:
            heading = f"Predicted {self.prediction}"
        else:
            heading = f"Why not {self.target}? (predicted {self.prediction})"
        detail = f"decision {self.decision:+.4g}; {_SHARED[self.share]}"
        if self.unknown:
            unknown = f"{100 * self.unknown:.0f} %"
            detail += f"; {unknown} of its pattern occurrences are unknown to the model"
        added = sum(pattern.contribution for pattern in top)
        values = {
            "heading": heading,
            "detail": detail,
            "bias": self.bias,
            "decision": self.decision,
            "rest": self.decision - self.bias - added if left else None,
            "rest_words": f"{left:,} other patterns",
        }
        drawn = picture_or_reason(self.to_svg)
        return card("graphgrain.explaining", "parts.html", "explanation", values, drawn, top)
