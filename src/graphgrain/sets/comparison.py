"""Compare two sets of graphs: whether they differ, by how much, and in what."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch, counted
from ..graphs.convert.dispatch import as_graphs
from ..parameters import JOBS, SEED, SHARE, OneOf, Whole, check_value
from .classifier import COPY, Separation, cosines, separation
from .patterns import CORRECTIONS, PatternTable, SetPattern
from .permutations import mmd_statistics, p_value, signed_sets, smallest_p
from .tables import fragment_table, pattern_table
from .terms import PairWeights, WeightedSum, terms_of

#: Graphs of each set in the Gram matrix; a random sample of more.
_LARGEST = 2_000
#: Level at which patterns are listed.
_LEVEL = 0.05
#: Number of nearest neighbours in its set that are usual for a graph.
_NEAREST = 5


class Settings(NamedTuple):
    """What a comparison was made with."""

    permutations: int
    random_state: int | None
    n_jobs: int | None


class Neighbours(NamedTuple):
    """How far the graphs of one set have neighbours in the other.

    Attributes
    ----------
    coverage : tuple of two float
        Share of the graphs of the first set that have a graph of the second at least as near as
        their fifth nearest of the first set, and the reverse (Naeem et al., Reliable Fidelity and
        Diversity Metrics for Generative Models, 2020). About 0.97 for two samples of one set; what
        is missing is new.
    copies : tuple of two int
        Number of graphs of each set of which the other has a copy for this kernel.
    """

    coverage: tuple[float, float]
    copies: tuple[int, int]


class Example(NamedTuple):
    """A graph and how typical of its set it is.

    Attributes
    ----------
    graph : int
        Its number in its set.
    witness : float
        Its mean similarity to the graphs of its set minus that to the other set.
    """

    graph: int
    witness: float


@dataclass(eq=False, repr=False)
class SetComparison:
    """Two compared sets of graphs; returned by :func:`graphgrain.compare_sets`.

    Attributes
    ----------
    names : tuple of two str
    graphs : tuple of two GraphBatch
    mmd : float
        Unbiased squared maximum mean discrepancy: mean similarity within the sets minus that
        between them. About 0 for equal sets, and negative as often as positive.
    p_value : float
        Share of permutations of the sets with at least this discrepancy.
    separation : Separation or None
        How well a classifier tells the sets apart on held-out graphs; None if a set has too few
        independent graphs.
    sizes : tuple of two int
        Number of graphs of each set in ``mmd``, ``separation`` and examples: all, or a sample.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, family = gg.load_drugs()
    >>> test = gg.compare_sets(graphs[family == "opioids"], graphs[family == "nsaids"])
    >>> round(test.p_value, 3), round(test.separation.auc, 2)
    (0.001, 1.0)
    """

    names: tuple[str, str]
    graphs: tuple[GraphBatch, GraphBatch]
    mmd: float
    p_value: float
    separation: Separation | None
    sizes: tuple[int, int]
    total: WeightedSum
    chosen: tuple[np.ndarray, np.ndarray]
    groups: tuple[np.ndarray, np.ndarray]
    units: np.ndarray
    signs: np.ndarray
    settings: Settings

    # ---------------------------------------------------------------- reasons

    def patterns(
        self, n: int | None = None, *, level: float = _LEVEL, correction: str = "max"
    ) -> list[SetPattern]:
        """Return the patterns that are more frequent in one set, the strongest first.

        Parameters
        ----------
        n : int, optional
            Number of patterns; by default all.
        level : float, default=0.05
            Largest p-value, corrected for all patterns tested.
        correction : {"max", "fdr"}, default="max"
            "max": the probability that even one pattern is listed by chance is at most ``level``.
            "fdr": at most this share of the listed patterns is expected to be there by chance.
        """
        check_value("correction", correction, OneOf(CORRECTIONS))
        check_value("level", level, SHARE)
        parts = np.concatenate([part[:-1] for part in self.contributions()])
        return self._patterns.strongest(correction, level, n, parts)

    def fragments(
        self, n: int | None = None, *, level: float = _LEVEL, correction: str = "max"
    ) -> list[SetPattern]:
        """Return the fragments (rings and functional groups) that are more frequent in one set.

        Parameters are those of :meth:`patterns`.
        """
        check_value("correction", correction, OneOf(CORRECTIONS))
        check_value("level", level, SHARE)
        return self._fragments.strongest(correction, level, n, None)

    def contributions(self) -> list[np.ndarray]:
        """Return for each kernel the part of each of its patterns in ``mmd``, to which they add up.

        The last entry of each array is that of graphs without any pattern.
        """
        return self.total.contributions(PairWeights(self.signs[:, 0].astype(np.float64)))

    def examples(self, which: int, n: int = 3, *, typical: bool = True) -> list[Example]:
        """Return the most typical graphs of a set, or those that least belong to it.

        Parameters
        ----------
        which : {0, 1}
            The set.
        n : int, default=3
        typical : bool, default=True
            False for the graphs that least belong to the set.
        """
        check_value("which", which, OneOf((0, 1)))
        check_value("n", n, Whole(1))
        mine = self.signs[:, 0] == (1 if which == 0 else -1)
        K = self.total.matrix[mine]
        within = (K[:, mine].sum(axis=1) - np.diagonal(self.total.matrix)[mine]) / (mine.sum() - 1)
        witness = within - K[:, ~mine].mean(axis=1)
        order = np.argsort(-witness if typical else witness, kind="stable")[:n]
        return [Example(int(self.chosen[which][i]), float(witness[i])) for i in order]

    @cached_property
    def neighbours(self) -> Neighbours:
        """Coverage of each set by the other, and copies."""
        similarity = cosines(self.total.matrix)
        np.fill_diagonal(similarity, -np.inf)
        first = self.signs[:, 0] > 0
        coverage, copies = [], []
        for mine in (first, ~first):
            rank = min(_NEAREST, int(mine.sum()) - 1)
            usual = np.partition(similarity[mine][:, mine], -rank, axis=1)[:, -rank]
            nearest = similarity[mine][:, ~mine].max(axis=1)
            coverage.append(float((nearest >= np.minimum(usual, COPY)).mean()))
            copies.append(int((nearest >= COPY).sum()))
        return Neighbours((coverage[0], coverage[1]), (copies[0], copies[1]))

    @property
    def smallest_p(self) -> float:
        """The smallest p-value that sets of these sizes can have."""
        least = smallest_p(self.signs[:, 0] < 0, self.units)
        return max(least, 1.0 / self.signs.shape[1])

    @cached_property
    def _patterns(self) -> PatternTable:
        return pattern_table(self)

    @cached_property
    def _fragments(self) -> PatternTable:
        return fragment_table(self)

    # ---------------------------------------------------------------- words

    def sentences(self) -> list[str]:
        """Return the result in plain words, the answer first."""
        first, second = self.names
        least = self.smallest_p
        if least > 0.05:
            verdict = (
                f"These sets are too small to be told apart: no p-value below {least:.2g} is "
                "possible."
            )
        elif self.neighbours.copies == self.sizes and self.p_value == 1.0:
            return [f"{first} and {second} hold the same graphs, as far as the kernel can tell."]
        elif self.p_value <= 0.05:
            verdict = f"{first} and {second} differ (p = {self.p_value:.2g})."
        else:
            verdict = (
                f"No difference between {first} and {second} is shown (p = {self.p_value:.2g})."
            )
        lines = [verdict]
        if self.separation is None:
            lines.append("There are too few independent graphs to train a classifier.")
        else:
            low, high = self.separation.interval
            lines.append(
                f"A classifier ranks a graph of {first} above one of {second} in "
                f"{100 * self.separation.auc:.0f} % of pairs ({100 * low:.0f} to {100 * high:.0f}; "
                "50 % means that nobody can tell)."
            )
        near = self.neighbours
        lines.append(
            f"{100 * near.coverage[1]:.0f} % of {second} have a graph of {first} as near as those "
            f"of their set, and {100 * near.coverage[0]:.0f} % of {first} one of {second}."
        )
        if near.copies[1]:
            lines.append(
                f"{counted(near.copies[1], 'graph')} of {second} cannot be distinguished from a "
                f"graph of {first}."
            )
        return lines

    def __repr__(self) -> str:
        n, m = (len(graphs) for graphs in self.graphs)
        head = f"SetComparison({n:,} and {m:,} graphs, mmd={self.mmd:.4g}, p={self.p_value:.3g})"
        lines = [head, *self.sentences()]
        if self.sizes != (n, m):
            lines.append(
                f"Computed from random samples of {self.sizes[0]:,} and {self.sizes[1]:,} graphs; "
                "patterns() counts all."
            )
        return "\n".join(lines)


class SetComparisons(Mapping[Any, SetComparison]):
    """Each value of a column against the rest; returned by ``compare_sets(graphs, by=...)``.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, family = gg.load_drugs()
    >>> some = (family == "opioids") | (family == "nsaids") | (family == "tricyclics")
    >>> tests = gg.compare_sets(graphs[some], by=family[some], permutations=99)
    >>> sorted(tests)
    ['nsaids', 'opioids', 'tricyclics']
    >>> tests.matrix("p_value").shape
    (3, 3)
    """

    def __init__(
        self,
        against_rest: dict[Any, SetComparison],
        pairs: dict[tuple[Any, Any], tuple[float, float, float]],
    ) -> None:
        self._against_rest, self._pairs = against_rest, pairs

    def __getitem__(self, value: Any) -> SetComparison:
        return self._against_rest[value]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._against_rest)

    def __len__(self) -> int:
        return len(self._against_rest)

    def matrix(self, of: str = "mmd") -> np.ndarray:
        """Return the result of each pair of values, in the order of iteration.

        Parameters
        ----------
        of : {"mmd", "p_value", "auc"}
        """
        column = ("mmd", "p_value", "auc").index(check_value("of", of, _PAIRWISE))
        values = list(self)
        table = np.full((len(values), len(values)), {"mmd": 0.0, "p_value": 1.0, "auc": 0.5}[of])
        for (a, b), result in self._pairs.items():
            i, j = values.index(a), values.index(b)
            table[i, j] = table[j, i] = result[column]
        return table

    def __repr__(self) -> str:
        lines = [f"SetComparisons({len(self)} sets, each against the rest)"]
        for value, test in self.items():
            auc = "" if test.separation is None else f", AUC {test.separation.auc:.2f}"
            lines.append(f"  {value}: mmd={test.mmd:.4g}, p={test.p_value:.3g}{auc}")
        return "\n".join(lines)


_PAIRWISE = OneOf(("mmd", "p_value", "auc"))


def compare_sets(
    A: Any,
    B: Any = None,
    *,
    by: Any = None,
    paired: bool = False,
    kernel: Any = None,
    permutations: int = 1000,
    groups: Any = None,
    names: Sequence[str] = ("A", "B"),
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Any:
    """Compare two sets of graphs: whether they differ, by how much, and in what.

    Parameters
    ----------
    A, B : GraphBatch or sequence of graphs
    by : array-like, optional
        Instead of B: a label for each graph of A. Each label is compared with the rest, and all
        labels with each other.
    paired : bool, default=False
        Whether graph i of A and graph i of B are the same object, such as a patient before and
        after treatment; permutations then only exchange the two.
    kernel : kernel or list of kernels, optional
        Used with its own similarity. By default, neighbourhoods, paths and pairs for graphs with
        labels, and neighbourhoods, small subgraphs and distances for graphs without; each weighed
        so that its statistic has the same variance under permutations.
    permutations : int, default=1000
    groups : array-like, or pair of array-likes, optional
        Group of each graph (of A, and of B): graphs that are not independent, such as several
        scans of a person or molecules of one scaffold. They are permuted and held out together.
    names : pair of str, default=("A", "B")
        Names of the sets in the results.
    random_state : int or None, default=0
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    SetComparison, or SetComparisons if ``by`` is given

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, family = gg.load_drugs()
    >>> test = gg.compare_sets(graphs[family == "opioids"], graphs[family == "corticosteroids"])
    >>> print(test.fragments(1)[0].name)
    steroid
    """
    check_value("permutations", permutations, Whole(1))
    check_value("random_state", random_state, SEED)
    check_value("n_jobs", n_jobs, JOBS)
    check_value("paired", paired, OneOf((True, False)))
    if (B is None) == (by is None):
        raise InvalidParameterError(
            "compare_sets needs two sets, compare_sets(A, B), or labels of the graphs of one, "
            "compare_sets(A, by=labels)."
        )
    settings = Settings(permutations, random_state, n_jobs)
    first = as_graphs(A)
    if by is not None:
        labels = _column("by", by, len(first))
        members = np.arange(len(first)) if groups is None else _column("groups", groups, len(first))
        return _by_label(first, labels, kernel, settings, members)
    if len(names) != 2:
        raise InvalidParameterError(f"names must be two names; got {names!r}.")
    second = as_graphs(B)
    columns = _group_columns(groups, (len(first), len(second)), paired)
    return _compare(first, second, kernel, settings, columns, (str(names[0]), str(names[1])))


def _compare(
    first: GraphBatch,
    second: GraphBatch,
    kernel: Any,
    settings: Settings,
    groups: tuple[np.ndarray, np.ndarray],
    names: tuple[str, str],
) -> SetComparison:
    _check_sizes(groups, names)
    _check_comparable(first, second, names)
    chosen = (_sample(groups[0], settings.random_state), _sample(groups[1], settings.random_state))
    batch = GraphBatch.concatenate([first[chosen[0]], second[chosen[1]]])
    total = WeightedSum(terms_of(kernel, batch, settings.n_jobs), batch)
    return _compared(total, (first, second), chosen, groups, settings, names)


def _compared(
    total: WeightedSum,
    graphs: tuple[GraphBatch, GraphBatch],
    chosen: tuple[np.ndarray, np.ndarray],
    groups: tuple[np.ndarray, np.ndarray],
    settings: Settings,
    names: tuple[str, str],
) -> SetComparison:
    """Compare the chosen graphs of both sets, the rows of ``total``."""
    units = np.concatenate([groups[0][chosen[0]], groups[1][chosen[1]]])
    second = np.arange(len(units)) >= len(chosen[0])
    signs = signed_sets(second, units, settings.permutations, settings.random_state)
    statistics = mmd_statistics(total.matrix, signs)
    return SetComparison(
        names=names,
        graphs=graphs,
        mmd=float(statistics[0]),
        p_value=p_value(statistics),
        separation=separation(total.matrix, second, units, settings.random_state),
        sizes=(len(chosen[0]), len(chosen[1])),
        total=total,
        chosen=chosen,
        groups=groups,
        units=units,
        signs=signs,
        settings=settings,
    )


def _by_label(
    graphs: GraphBatch,
    labels: np.ndarray,
    kernel: Any,
    settings: Settings,
    groups: np.ndarray,
) -> SetComparisons:
    """Compare each label with the rest, and all labels with each other."""
    values = np.unique(labels)
    if len(values) < 2:
        raise InvalidParameterError(
            f"by needs at least two different labels; all graphs have {values.tolist()}."
        )

    for value in values:
        for side in (labels == value, labels != value):
            _check_sizes((groups[side],), (f"by={value!s}",))
    # One matrix for all comparisons, with as many graphs of each label
    parts = [np.flatnonzero(labels == value) for value in values]
    chosen = np.concatenate([p[_sample(groups[p], settings.random_state)] for p in parts])
    total = WeightedSum(terms_of(kernel, graphs[chosen], settings.n_jobs), graphs[chosen])

    def split(one: np.ndarray, rest: np.ndarray, names: tuple[str, str]) -> SetComparison:
        sides = np.flatnonzero(one), np.flatnonzero(rest)
        rows = [np.flatnonzero(side[chosen]) for side in (one, rest)]
        places = [np.searchsorted(s, chosen[r]) for s, r in zip(sides, rows, strict=True)]
        return _compared(
            total.take(np.concatenate(rows)),
            (graphs[one], graphs[rest]),
            (places[0], places[1]),
            (groups[one], groups[rest]),
            settings,
            names,
        )

    against = {
        value.item(): split(labels == value, labels != value, (str(value), "the rest"))
        for value in values
    }
    pairs = {
        (a.item(), b.item()): split(labels == a, labels == b, (str(a), str(b)))
        for a, b in combinations(values, 2)
    }
    return SetComparisons(against, {key: _summary(test) for key, test in pairs.items()})


def _summary(test: SetComparison) -> tuple[float, float, float]:
    auc = float("nan") if test.separation is None else test.separation.auc
    return test.mmd, test.p_value, auc


def _column(name: str, values: Any, length: int) -> np.ndarray:
    """Return one value per graph as an array, or raise an error."""
    column = np.asarray(values)
    if column.dtype == object:  # None, or values of several types, which cannot be ordered
        column = column.astype(str)
    if column.shape != (length,):
        raise InvalidParameterError(
            f"{name} must have one value per graph ({length:,}); got the shape {column.shape}."
        )
    return column


def _group_columns(
    groups: Any, sizes: tuple[int, int], paired: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of the group of each graph of both sets."""
    n, m = sizes
    if paired and n != m:
        raise InvalidParameterError(
            f"paired=True needs two sets of equally many graphs, the i-th of both being the same "
            f"object; got {n:,} and {m:,}."
        )
    if groups is None:
        return np.arange(n), np.arange(m) + (0 if paired else n)
    if paired and len(groups) == n != 2:
        groups = groups, groups
    if len(groups) != 2:
        raise InvalidParameterError(
            "groups must be a pair of columns, the groups of the graphs of A and those of B"
            + (", or one column for paired sets" if paired else "")
            + f"; got {len(groups):,} values."
        )
    columns = [_column("groups", part, size) for part, size in zip(groups, sizes, strict=True)]
    _, numbers = np.unique(np.concatenate(columns), return_inverse=True)
    return numbers[:n], numbers[n:]


def _check_sizes(groups: Sequence[np.ndarray], names: Sequence[str]) -> None:
    for group, name in zip(groups, names, strict=True):
        count = len(np.unique(group))
        if count < 2:
            what = "graph" if count == len(group) else "independent group of graphs"
            raise InvalidGraphError(
                f"Each set needs at least two graphs or groups, because a set is judged by the "
                f"differences within it; {name} has {counted(count, what)}. Compare two graphs "
                "with gg.compare."
            )


def _sample(groups: np.ndarray, seed: int | None) -> np.ndarray:
    """Return all graphs, or a random sample by whole groups."""
    if len(groups) <= _LARGEST:
        return np.arange(len(groups))
    distinct, group = np.unique(groups, return_inverse=True)
    rank = np.random.default_rng(seed).permutation(len(distinct))
    ends = np.cumsum(np.bincount(rank[group]))
    last = max(2, int(np.searchsorted(ends, _LARGEST, side="right")))
    return np.flatnonzero(rank[group] < last)


def _check_comparable(first: GraphBatch, second: GraphBatch, names: tuple[str, str]) -> None:
    """Raise an error if the sets have labels of different kinds; warn if they share none."""
    if not (first.n_vertices and second.n_vertices):
        return
    if first.label_kind != second.label_kind:
        kinds = [f"{part.label_kind}s" if part.labelled else "missing" for part in (first, second)]
        raise InvalidGraphError(
            f"The vertex labels of {names[0]} are {kinds[0]}, those of {names[1]} {kinds[1]}: no "
            "pattern in common. Were they read in the same way?"
        )
    labels = [set(np.unique(part.labels).tolist()) for part in (first, second)]
    if not labels[0] & labels[1]:
        warnings.warn(
            f"No pattern in common: {names[0]} and {names[1]} share no vertex label. Were they "
            "read in the same way?",
            GraphgrainWarning,
            stacklevel=4,
        )
