"""A data set to look around in: a map of its graphs, what is predicted of each, and why.

1. Tree++ compares all graphs; the map is kernel PCA of their similarities, the nearest neighbours
   of a graph are the most similar others.
2. In each of a few folds an estimator learns from the other folds and predicts the graphs of this
   one: no prediction comes from a model that has seen the graph.
3. The same model explains its prediction, by fragments and by patterns, and tells how sure it is
   and which vertices make it unsure; for each neighbour it is told what it has that the graph has
   not.

Without targets there is the map, and the neighbours. Values of vertices are kept as whole per cents
of the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..errors import InvalidParameterError
from ..explaining.explainer import explain
from ..explaining.explanation import Explanation
from ..explaining.fragments import Part, cut
from ..graphs.batch import GraphBatch
from ..graphs.drawing.layout import shared_part, smiles_of
from ..graphs.drawing.molecule import read_molecule
from ..graphs.drawing.picture import MOST_VERTICES, outline
from ..kernels.registry import KERNELS
from ..kernels.tree_plus_plus import TreePlusPlus
from ..learning.classifier import GraphClassifier
from ..learning.folds import random_folds, stratified_folds, train_and_test
from ..learning.inputs import are_classes
from ..learning.regressor import GraphRegressor

#: More graphs than this are drawn as a sample in which each class has its share.
MOST_GRAPHS = 1000
#: Of the interval of a predicted number.
COVERAGE = 0.9
#: The matrix is averaged to at most about this many rows.
MOST_ROWS = 180


@dataclass(frozen=True)
class DrawnGraphs:
    """The graphs of a data set that maps show: all, or a sample."""

    name: str
    graphs: GraphBatch
    total: int  # graphs of the data set
    classes: list[str]
    codes: np.ndarray  # the class of each graph as a position in ``classes``
    names: list[str]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def counts(self) -> np.ndarray:
        """Number of graphs of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))


def drawn_graphs(
    name: str, graphs: GraphBatch, classes: list[str], codes: Any, names: Any = None
) -> DrawnGraphs:
    """The graphs of a data set that maps show; without names they are numbered from 1."""
    codes = np.asarray(codes)
    chosen = sample(codes, MOST_GRAPHS)
    told = [graph_name(number, names) for number in chosen.tolist()]
    return DrawnGraphs(name, graphs[chosen], len(codes), list(classes), codes[chosen], told)


def graph_name(number: int, names: Any = None) -> str:
    """What a graph is called: by its name, or by its place in the data set, from 1 on."""
    return f"graph {number + 1}" if names is None else str(names[number])


@dataclass(frozen=True)
class KernelMap:
    """What there is to draw of one kernel on one data set."""

    drawn: DrawnGraphs
    kernel: str
    variant: str
    parameters: dict[str, Any]
    points: np.ndarray  # of shape (graphs, 2): kernel PCA
    explained: np.ndarray  # the share of the variance along each axis
    #: Kernel matrix sorted by class, then along the first axis of the map; averaged over blocks.
    matrix: np.ndarray
    blocks: list[int]  # number of rows of each class

    @property
    def averaged(self) -> bool:
        """Whether a row of the matrix stands for several graphs."""
        return len(self.matrix) < len(self.drawn)

    @property
    def all_alike(self) -> bool:
        """Whether the kernel sees no difference between any two graphs."""
        return not self.explained.any()

    @property
    def scale(self) -> tuple[float, float]:
        """The similarities between which colours run: most entries off the diagonal."""
        rows = len(self.matrix)
        if rows < 2:
            return 0.0, 1.0
        values = self.matrix[~np.eye(rows, dtype=bool)]
        low, high = np.quantile(values, [0.01, 0.99])
        return (float(low), float(high)) if high - low > 1e-9 else (float(low) - 0.5, low + 0.5)


def kernel_map(
    drawn: DrawnGraphs,
    kernel: str = "tree++",
    parameters: dict[str, Any] | None = None,
    variant: str = "",
    n_jobs: int | None = None,
) -> KernelMap:
    """Compute a kernel on (a sample of) a data set and what can be seen in it.

    ``variant`` is what tells the kernel from its usual form, for titles.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.evaluation.exploration import drawn_graphs, kernel_map
    >>> graphs = gg.as_graphs([([(0, 1)], list(pair)) for pair in ("CC", "CO", "OO")])
    >>> seen = kernel_map(drawn_graphs("toy", graphs, ["a", "b"], [0, 1, 0]))
    >>> seen.points.shape, seen.blocks, seen.drawn.names
    ((3, 2), [2, 1], ['graph 1', 'graph 2', 'graph 3'])
    """
    parameters = dict(parameters or {})
    K = KERNELS[kernel].kernel(**parameters, n_jobs=n_jobs).fit_transform(drawn.graphs)
    points, explained = kernel_pca(K)
    order = np.lexsort((points[:, 0], drawn.codes))
    blocks = _blocks(drawn.counts)
    matrix = block_means(K[np.ix_(order, order)], blocks)
    rows = [len(block) for block in blocks]
    return KernelMap(drawn, kernel, variant, parameters, points, explained, matrix, rows)


def sample(codes: np.ndarray, most: int) -> np.ndarray:
    """Positions of at most about this many graphs, the same each time, each class by its share.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.evaluation.exploration import sample
    >>> codes = np.repeat([0, 1], [900, 100])
    >>> np.bincount(codes[sample(codes, 50)]).tolist()
    [45, 5]
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    rng = np.random.default_rng(0)
    parts = []
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        size = max(1, round(most * len(members) / len(codes)))
        parts.append(rng.choice(members, size, replace=False))
    return np.sort(np.concatenate(parts))


def kernel_pca(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two first principal components in feature space, and their shares of the variance.

    Both are zero where a component has no variance.
    """
    from sklearn.decomposition import KernelPCA

    n = len(K)
    points, explained = np.zeros((n, 2)), np.zeros(2)
    total = np.trace(K) - K.sum() / n  # the variance of all components, times n
    if n < 3 or total <= 1e-9 * max(np.trace(K), 1):
        return points, explained
    pca = KernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K)
    kept = pca.eigenvalues_ > 1e-12 * max(total, 1)
    points[:, kept] = (pca.eigenvectors_ * np.sqrt(pca.eigenvalues_))[:, kept]
    explained[kept] = pca.eigenvalues_[kept] / total
    return points, explained


def _blocks(counts: np.ndarray) -> list[np.ndarray]:
    """For each class the sizes of the blocks of graphs that a row of the matrix stands for."""
    blocks = []
    for count in counts.tolist():
        rows = count
        if counts.sum() > MOST_ROWS and count:
            rows = max(1, round(MOST_ROWS * count / counts.sum()))
        edges = np.linspace(0, count, min(rows, count) + 1).round().astype(int)
        blocks.append(np.diff(edges))
    return blocks


def block_means(K: np.ndarray, blocks: list[np.ndarray]) -> np.ndarray:
    """The mean of each block of a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.evaluation.exploration import block_means
    >>> block_means(np.arange(9.0).reshape(3, 3), [np.array([2]), np.array([1])])
    array([[2. , 3.5],
           [6.5, 8. ]])
    """
    sizes = np.concatenate(blocks)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(np.add.reduceat(K, starts, axis=0), starts, axis=1)
    return sums / np.outer(sizes, sizes)


_FOLDS = 5
_NEIGHBOURS = 4
#: Patterns on each side: for what is predicted, and against it.
_PATTERNS = 3
#: Names of fragments that a neighbour shares.
_SHARED = 3
#: Longer SMILES are no names.
_LONGEST_SMILES = 80


@dataclass(frozen=True)
class Neighbour:
    """Another graph, and how it differs from the one that is looked at."""

    graph: int
    similarity: float
    differs: list[int]  # its vertices outside the part that both have in common
    shared: list[str]  # the largest fragments of that part, by name


@dataclass(frozen=True)
class Seen:
    """One graph of an exploration, ready to be drawn; by default nothing is predicted of it."""

    name: str
    truth: Any = None
    prediction: Any = None
    decision: float = 0.0
    right: bool | None = None
    unknown: float = 0.0
    probability: float | None = None  # of the predicted class
    interval: tuple[float, float] | None = None  # of a predicted number
    #: What each vertex adds to the uncertainty, in per cent of the largest.
    doubts: list[int] = field(default_factory=list)
    drawing: dict[str, Any] | None = None
    values: list[int] = field(default_factory=list)
    bonds: list[int] = field(default_factory=list)
    largest: float = 0.0
    bias: float = 0.0
    fragments: list[tuple[str, float, tuple[int, ...]]] = field(default_factory=list)
    patterns: list[tuple[str, float, int, list[int]]] = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)


@dataclass(frozen=True)
class Exploration:
    """All that the page shows."""

    name: str
    total: int  # graphs of the data set
    classes: list[str]  # empty where targets are numbers
    points: list[list[float]]  # the map
    graphs: list[Seen]
    score: float | None  # accuracy, or R2, of the predictions; None without targets
    folds: int


def explore(
    name: str,
    graphs: GraphBatch,
    y: Any,
    names: Any = None,
    *,
    most: int = MOST_GRAPHS,
    n_jobs: int | None = None,
) -> Exploration:
    """Compute an exploration; of more graphs than ``most`` a sample is taken.

    ``y`` holds classes or numbers; without any nothing is predicted.
    """
    if y is None:
        chosen = sample(np.zeros(len(graphs), dtype=np.int64), most)
        batch = graphs[chosen]
        points, near = _map(batch, n_jobs)
        seen = [
            Seen(_name(graph, number, names), drawing=drawing_of(graph), neighbours=own)
            for graph, number, own in zip(batch, chosen.tolist(), near, strict=True)
        ]
        return Exploration(name, len(graphs), [], points, seen, None, 0)
    y = np.asarray(y)
    classification = are_classes(y)
    labels, codes = np.unique(y, return_inverse=True) if classification else (y[:0], y)
    if classification and len(labels) < 2:
        raise InvalidParameterError(
            "explore needs targets that differ; all graphs have "
            f"{labels.tolist()[0] if len(labels) else None!r}."
        )
    folds = _FOLDS if not classification else min(_FOLDS, int(np.bincount(codes).min()))
    if folds < 2 or len(graphs) < 4:
        raise InvalidParameterError(
            f"explore needs at least two graphs of every class, and four in all; got {len(graphs)} "
            "graphs, of which a class has one. Leave that class out."
        )
    chosen = sample(codes if classification else np.zeros(len(y), dtype=np.int64), most)
    batch, targets = graphs[chosen], y[chosen]
    if classification:
        folds = max(2, min(folds, int(np.bincount(codes[chosen])[np.unique(codes[chosen])].min())))
    answered = _out_of_fold(batch, targets, classification, folds, n_jobs)
    points, near = _map(batch, n_jobs)
    seen = [
        _seen(_name(batch[place], number, names), answered[place], targets[place], near[place])
        for place, number in enumerate(chosen.tolist())
    ]
    score = _score(answered, targets, classification)
    return Exploration(name, len(graphs), list(map(str, labels)), points, seen, score, folds)


def usual_model(y: np.ndarray, n_jobs: int | None = None) -> GraphClassifier | GraphRegressor:
    """The estimator that a user would fit, for classes or for numbers; not fitted."""
    return GraphClassifier(n_jobs=n_jobs) if are_classes(y) else GraphRegressor(n_jobs=n_jobs)


def _tree(batch: GraphBatch, n_jobs: int | None) -> TreePlusPlus:
    """The kernel that finds neighbours."""
    edges = batch.edge_label_table is not None and len(batch.edge_label_table) > 1
    return TreePlusPlus(edge_labels=edges, n_jobs=n_jobs)


def _map(batch: GraphBatch, n_jobs: int | None) -> tuple[list[list[float]], list[list[Neighbour]]]:
    """Where each graph lies, and its neighbours: the most similar others."""
    K = _tree(batch, n_jobs).fit(batch).gram()
    parts = [cut(graph) for graph in batch]
    near = []
    for graph, similar in enumerate(K):
        order = [n for n in np.argsort(-similar, kind="stable").tolist() if n != graph]
        near.append(
            [
                Neighbour(n, round(float(similar[n]), 4), *_differing(batch, graph, n, parts))
                for n in order[:_NEIGHBOURS]
            ]
        )
    return np.round(kernel_pca(K)[0], 4).tolist(), near


def explain_rows(
    graphs: GraphBatch,
    y: Any,
    rows: Sequence[int],
    names: Any = None,
    *,
    model: Any = None,
    X: Any = None,
    n_jobs: int | None = None,
) -> tuple[list[Seen], list[Explanation]]:
    """Some graphs, explained by a model that learns from all others that have a target.

    A fitted ``model`` needs no targets; the others are then only looked at for neighbours. ``X``
    are the rows as it takes them, where that is more than their graphs. Returns the graphs, behind
    them the most similar of the others, and the explanations of the graphs.
    """
    wanted = np.array(rows, dtype=np.int64)
    y = np.full(len(graphs), "") if y is None else np.asarray(y)
    known = np.isfinite(y) if y.dtype.kind == "f" else y != "" if y.dtype.kind in "US" else y == y
    others = ~np.isin(np.arange(len(graphs)), wanted)
    if model is None:
        train = np.flatnonzero(known & others)
        targets = y[train]
        if are_classes(targets):
            if y.dtype.kind == "f":  # whole numbers, of which some are missing
                y, targets = np.nan_to_num(y).astype(np.int64), targets.astype(np.int64)
            if len(np.unique(targets)) < 2:
                raise InvalidParameterError(
                    "A model needs targets that differ to learn from; the other graphs all have "
                    f"{targets.tolist()[0] if len(targets) else None!r}."
                )
        model = usual_model(targets, n_jobs).fit(graphs[train], targets)
    else:
        train = np.flatnonzero(others)
    answered = _answers(model, graphs[wanted] if X is None else X)
    seen: list[Seen] = []
    behind: list[Seen] = []
    for row, said in zip(wanted.tolist(), answered, strict=True):
        near, found = _nearest(graphs, row, train, y, known, said.classification, names, n_jobs)
        first = len(wanted) + len(behind)
        near = [replace(one, graph=first + place) for place, one in enumerate(near)]
        behind += found
        truth = y[row] if known[row] else None
        seen.append(_seen(_name(graphs[row], row, names), said, truth, near))
    return [*seen, *behind], [said.why for said in answered]


@dataclass(frozen=True)
class _Answer:
    """What a model says of a graph, why, and how sure it is."""

    why: Explanation
    prediction: Any  # a class, or a number in the units of the targets
    probability: float | None
    interval: tuple[float, float] | None
    doubts: np.ndarray

    @property
    def classification(self) -> bool:
        return self.probability is not None


def _answers(model: Any, graphs: Any) -> list[_Answer]:
    whys = explain(model, graphs)
    doubts = [each.vertices for each in explain(model, graphs, of="uncertainty")]
    if is_classifier(model):
        sure = model.predict_proba(graphs).max(axis=1).tolist()
        said: list[Any] = [why.prediction for why in whys]
        intervals: list[Any] = [None] * len(whys)
    else:
        sure, intervals = [None] * len(whys), [None] * len(whys)
        said = np.asarray(model.predict(graphs)).reshape(len(whys), -1)[:, 0].tolist()
        if model.n_graphs_ >= COVERAGE / (1 - COVERAGE):
            bounds = [
                np.asarray(part).reshape(len(whys), -1)[:, 0].tolist()
                for part in model.predict_interval(graphs, COVERAGE)
            ]
            intervals = list(zip(*bounds, strict=True))
    return [_Answer(*each) for each in zip(whys, said, sure, intervals, doubts, strict=True)]


def _nearest(
    graphs: GraphBatch,
    row: int,
    train: np.ndarray,
    y: np.ndarray,
    known: np.ndarray,
    classification: bool,
    names: Any,
    n_jobs: int | None,
) -> tuple[list[Neighbour], list[Seen]]:
    """The training graphs that are most similar to a graph, by Tree++, and how they differ."""
    if not len(train):
        return [], []
    K = _tree(graphs, n_jobs).fit(graphs[row]).transform(graphs[train])[:, 0]
    order = np.argsort(-K, kind="stable")[:_NEIGHBOURS]
    batch = graphs[[row, *train[order]]]
    parts = [cut(graph) for graph in batch]
    near, seen = [], []
    for place, (which, number) in enumerate(zip(order, train[order].tolist(), strict=True), 1):
        differing = _differing(batch, 0, place, parts)
        near.append(Neighbour(place, round(float(K[which]), 4), *differing))
        truth = _told(y[number] if known[number] else None, classification)
        name = _name(graphs[number], number, names)
        seen.append(Seen(name, truth, drawing=drawing_of(batch[place])))
    return near, seen


def _name(graph: GraphBatch, number: int, names: Any) -> str:
    """The name of a graph; a molecule without one is called by its SMILES, if RDKit is there."""
    if names is None:
        molecule = read_molecule(graph) if graph.edge_labels is not None else None
        smiles = None if molecule is None else smiles_of(molecule)
        if smiles and len(smiles) <= _LONGEST_SMILES:
            return smiles
    return graph_name(number, names)


def _told(truth: Any, classification: bool) -> Any:
    """A target as plain data."""
    if truth is None:
        return None
    return str(truth) if classification else float(truth)


def _out_of_fold(
    batch: GraphBatch, y: np.ndarray, classification: bool, folds: int, n_jobs: int | None
) -> list[_Answer]:
    """What is said of each graph by a model that has not seen it."""
    rng = np.random.default_rng(0)
    parts = (
        stratified_folds(np.unique(y, return_inverse=True)[1], folds, rng)
        if classification
        else random_folds(len(batch), folds, rng)
    )
    found: list[Any] = [None] * len(batch)
    for fold in range(folds):
        train, test = train_and_test(parts, fold)
        model = usual_model(y, n_jobs).fit(batch[train], y[train])
        for place, said in zip(test.tolist(), _answers(model, batch[test]), strict=True):
            found[place] = said
    return found


def _score(answered: list[_Answer], y: np.ndarray, classification: bool) -> float:
    said = [each.prediction for each in answered]
    if classification:
        return float(np.mean([one == truth for one, truth in zip(said, y.tolist(), strict=True)]))
    spread = float(((y - y.mean()) ** 2).sum())
    return 1.0 - float(((y - np.array(said)) ** 2).sum()) / spread if spread else 0.0


def _differing(
    batch: GraphBatch, graph: int, other: int, parts: list[list[Part]]
) -> tuple[list[int], list[str]]:
    """The vertices of the other that the graph does not have, and fragments that both have."""
    if max(batch.vertex_counts[[graph, other]]) > MOST_VERTICES:
        return [], []
    common = set(shared_part(batch[graph], batch[other])[:, 1].tolist())
    whole = [part for part in parts[other] if set(part.vertices) <= common]
    names = dict.fromkeys(part.name for part in sorted(whole, key=lambda p: -len(p.vertices)))
    rest = [v for v in range(int(batch.vertex_counts[other])) if v not in common]
    return rest, list(names)[:_SHARED]


def _short(value: float) -> float:
    """As many digits as a page needs."""
    return float(f"{value:.7g}")


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


def _per_cents(values: np.ndarray) -> list[int]:
    return np.round(100 * values / (_largest(values) or 1.0)).astype(int).tolist()


def _seen(name: str, said: _Answer, truth: Any, neighbours: list[Neighbour]) -> Seen:
    why, classification = said.why, said.classification
    # For two classes values are those of the second: turned, those of what is predicted.
    sign = -1.0 if why.opposite is not None and why.prediction == why.opposite else 1.0
    return Seen(
        name=name,
        truth=_told(truth, classification),
        prediction=str(said.prediction) if classification else _short(said.prediction),
        decision=round(sign * why.decision, 6),
        right=bool(why.prediction == truth) if classification and truth is not None else None,
        unknown=round(why.unknown, 4),
        probability=None if said.probability is None else round(said.probability, 4),
        interval=said.interval and (_short(said.interval[0]), _short(said.interval[1])),
        doubts=_per_cents(said.doubts),
        drawing=drawing_of(why.graph),
        values=_per_cents(sign * why.vertices),
        bonds=_per_cents(sign * why.edges),
        largest=_largest(why.vertices),
        bias=round(sign * why.bias, 6),
        fragments=[
            (each.name, round(sign * each.contribution, 6), each.vertices)
            for each in why.fragments()
        ],
        patterns=[
            (
                pattern.name,
                round(sign * pattern.contribution, 6),
                pattern.count,
                sorted({vertex for place in pattern.occurrences for vertex in place}),
            )
            for side in (int(sign), -int(sign))
            for pattern in why.top(_PATTERNS, sign=side)
        ],
        neighbours=neighbours,
    )


def drawing_of(graph: GraphBatch) -> dict[str, Any] | None:
    """An outline as plain data; None for graphs that are too large to draw."""
    return None if graph.n_vertices > MOST_VERTICES else outline(graph)
