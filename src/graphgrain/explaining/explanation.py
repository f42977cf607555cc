"""Explanation of a model's decision about one graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..graphs.batch import GraphBatch, counted
from ..graphs.drawing.picture import Pictured, card, fragment_list, picture, picture_or_reason
from ..graphs.drawing.shapes import Picture
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Occurrences, Tally
from .fragments import Fragment, cut
from .sharing import share_occurrences

#: Relative threshold above which an unassigned contribution is not rounding error.
_ROUNDING = 1e-9
#: Number of patterns shown in a notebook.
_PATTERNS = 8
_SHARED = {
    "path": "shared along paths",
    "tree": "shared among paths and their trees",
}


@dataclass(frozen=True)
class Pattern:
    """A pattern of a graph and its contribution to a decision.

    Attributes
    ----------
    name : str
        Name as in :meth:`TreePlusPlus.feature_names`; SMARTS for molecules.
    contribution : float
        Contribution to the decision value, summed over all occurrences.
    count : int
        Number of occurrences.
    occurrences : list of tuples
        Vertices of each occurrence; of several shortest paths with the same labels, those of one.
    vertices : array
        Part of the contribution that each vertex of the graph gets; over all patterns these add up
        to the explanation's ``vertices``.
    known : bool
        True if at least one training graph contains the pattern.
    description : str
        Long form of the name, with the level and all labels in full.

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
    vertices: np.ndarray = field(repr=False, compare=False)
    known: bool = True
    description: str = ""


class FoundLevel(NamedTuple):
    """Distinct patterns of a graph at one level of one kernel."""

    kernel: FeatureKernel
    seen: GraphBatch  # the graph after the kernel's view
    level: int
    found: Occurrences
    tally: Tally
    contributions: np.ndarray
    known: np.ndarray


@dataclass(frozen=True, repr=False)
class Explanation(Pictured):
    """A model's decision about one graph as a sum over patterns, vertices and edges.

    Returned by :func:`graphgrain.explain`. Draw it with :meth:`to_svg` or :meth:`to_png`; their
    option ``fragments`` is the number of strongest fragments to mark in the graph and list beside
    it.

    Attributes
    ----------
    decision : float
        Value of the model's ``decision_function`` (classifiers) or ``predict`` (regressors, on
        the training scale ``scale_``).
    bias : float
        Value of the model for a graph without patterns. ``decision`` is ``bias`` plus
        ``columns`` plus the sum of all contributions.
    columns : float
        Contribution of the table columns other than the graph, for models trained on a table.
    patterns : list of Pattern
        All patterns of the graph, by decreasing absolute contribution.
    vertices : array
        One value per vertex. They sum to ``decision - bias - columns``.
    edges : array
        One value per row of ``graph.edges``. Patterns without edges do not contribute to it.
    prediction : object
        The predicted class; None for regression.
    target : object
        Meaning of positive values: a class, the index of a regression target, or None.
    opposite : object
        For two classes, the class that negative values favour; otherwise None.
    graph : GraphBatch
        The explained graph, as a batch of one.
    share : str
        How contributions were distributed over vertices and edges.
    in_training : bool
        Whether the graph equals a training graph, so that its decision is fitted and not predicted;
        False for pipelines, which do not keep their training graphs.

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
    in_training: bool = False

    @cached_property
    def patterns(self) -> list[Pattern]:
        return self.top(None)

    def top(self, n: int | None = 10, *, sign: int = 0) -> list[Pattern]:
        """Return the n patterns with the largest absolute contribution.

        Only the returned patterns are named, so a small ``n`` is faster than :attr:`patterns`.

        Parameters
        ----------
        n : int or None, default=10
            Number of patterns; None returns all.
        sign : {0, 1, -1}, default=0
            1 keeps only positive contributions, -1 only negative ones.

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
        order = np.argsort(-np.abs(values), kind="stable")
        order = (order[sign * values[order] > 0] if sign else order)[:n]
        found: dict[int, Pattern] = {}  # by index in `values`
        end = 0
        for part in self.levels:
            begin, end = end, end + len(part.contributions)
            own = np.sort(order[(order >= begin) & (order < end)]) - begin
            if not len(own):
                continue
            hashes = part.tally.hashes[own]  # ascending, because tally.hashes is sorted
            names = part.kernel.names_of(part.seen, part.level, hashes)
            descriptions = part.kernel.descriptions_of(part.seen, part.level, hashes)
            for place, name, description in zip(own.tolist(), names, descriptions, strict=True):
                found[begin + place] = Pattern(
                    name=name,
                    contribution=float(part.contributions[place]),
                    count=int(part.tally.times[place]),
                    occurrences=part.found.of(part.tally.hashes[place]),
                    vertices=self._vertices_of(part, place),
                    known=bool(part.known[place]),
                    description=description,
                )
        return [found[place] for place in order.tolist()]

    def _vertices_of(self, part: FoundLevel, place: int) -> np.ndarray:
        """Divide the contribution of one pattern among the vertices of its occurrences."""
        rows = part.found.hashes == part.tally.hashes[place]
        occurrences = part.found._replace(
            hashes=part.found.hashes[rows], paths=part.found.paths[rows]
        )
        values = np.full(rows.sum(), part.contributions[place] / part.tally.times[place])
        return share_occurrences(part.seen, [(occurrences, values)], self.share)[0]

    def fragments(self) -> list[Fragment]:
        """Return the decision as a sum over named parts of the graph.

        Molecules are divided into ring systems, functional groups and chains (with RDKit), other
        graphs into regions around their strongest vertices. Each vertex belongs to exactly one
        part.

        Returns
        -------
        list of Fragment
            By decreasing absolute contribution, the bias last. The contributions sum to
            ``decision``.

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
        ['morphinan', 'methyl', 'phenol']
        """
        found = [
            Fragment(part.name, float(self.vertices[list(part.vertices)].sum()), part.vertices)
            for part in cut(self.graph, self.vertices)
        ]
        found.sort(key=lambda fragment: (-abs(fragment.contribution), fragment.vertices))
        rest = self.decision - self.bias - float(self.vertices.sum())
        if abs(rest) > _ROUNDING * max(1.0, abs(self.decision), abs(self.bias)):
            # from columns of the table other than the graph, such as descriptors
            found.append(Fragment("other columns", rest, ()))
        found.append(Fragment("bias", self.bias, ()))
        return found

    @property
    def direction(self) -> float:
        """1, or -1 if negative values favour the prediction (the first of two classes)."""
        return -1.0 if self.opposite is not None and self.prediction == self.opposite else 1.0

    @property
    def unknown(self) -> float:
        """Fraction of the graph's pattern occurrences whose pattern is in no training graph."""
        total = sum(int(part.tally.times.sum()) for part in self.levels)
        if not total:
            return 0.0
        return sum(int(part.tally.times[~part.known].sum()) for part in self.levels) / total

    def _picture(self, **options: Any) -> Picture:
        number = options.pop("fragments", 0)
        listed = [each for each in self.fragments()[:number] if each.vertices] if number else []
        meaning = {"positive": self.target, "negative": self.opposite}
        marks = [fragment.vertices for fragment in listed]
        given = {"marks": marks, **meaning, **options}
        drawn = picture(self.graph, vertices=self.vertices, **given)
        if not listed:
            return drawn
        rows = [(fragment.name, fragment.contribution) for fragment in listed]
        return drawn.beside(fragment_list(rows, drawn.palette, drawn.height))

    def __repr__(self) -> str:
        words = [f"decision={self.decision:.4g}", f"bias={self.bias:.4g}"]
        if self.target is not None:
            words.insert(0, f"target={self.target!r}")
        if self.prediction is not None:
            words.insert(0, f"prediction={self.prediction!r}")
        words.append(counted(self.graph.n_vertices, "vertex", "vertices"))
        words.append(counted(sum(len(part.tally.hashes) for part in self.levels), "pattern"))
        if self.unknown:
            words.append(f"{100 * self.unknown:.0f} % of its patterns unknown to the model")
        if self.in_training:
            words.append("trained on")
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
        if self.in_training:
            detail += "; the model was trained on this graph: its decision is fitted, not predicted"
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
