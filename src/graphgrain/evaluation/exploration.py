"""Data of the exploration page: a map of a data set, predictions and their explanations.

1. Similarities of all graphs are computed with Tree++. The map is their kernel PCA, and the
   neighbours of a graph are the graphs most similar to it.
2. Predictions are out-of-fold: each graph is predicted by an estimator fitted to the other folds.
3. The same model explains its predictions by fragments and patterns, and gives their uncertainty
   and the contribution of each vertex to it. For each neighbour, the vertices outside the part
   common to both graphs are listed.

Without targets there are only the map and the neighbours. Vertex values are stored as integer
percentages of the largest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..errors import InvalidParameterError
from ..explaining.containment import contains
from ..explaining.explainer import explain
from ..explaining.explanation import Explanation
from ..explaining.fragments import Part, cut
from ..graphs.batch import GraphBatch
from ..graphs.convert.to_rdkit import source_molecule
from ..graphs.drawing.common_part import differences
from ..graphs.drawing.picture import MOST_VERTICES, outline
from ..graphs.files.molecules import missing_values
from ..kernels.tree_plus_plus import TreePlusPlus
from ..learning.classifier import GraphClassifier
from ..learning.inputs import are_classes, check_two_classes
from ..learning.regressor import GraphRegressor

#: Larger data sets are shown as a stratified sample of about this size.
MOST_GRAPHS = 1000
#: Nominal coverage of prediction intervals.
COVERAGE = 0.9


def graph_name(number: int, names: Any = None) -> str:
    """Return the name of a graph, or its 1-based number in the data set if it has none."""
    name = "" if names is None else str(names[number])
    return name or f"graph {number + 1}"


def sample(codes: np.ndarray, most: int, least: int = 1) -> np.ndarray:
    """Return a reproducible stratified sample of about ``most`` positions.

    It has ``least`` of each class, or all if there are fewer.

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
        size = max(min(least, len(members)), round(most * len(members) / len(codes)))
        parts.append(rng.choice(members, size, replace=False))
    return np.sort(np.concatenate(parts))


def kernel_pca(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first two kernel principal components and their fractions of the variance.

    Components without variance are zero.
    """
    from sklearn.decomposition import KernelPCA

    n = len(K)
    points, explained = np.zeros((n, 2)), np.zeros(2)
    total = np.trace(K) - K.sum() / n  # total variance times n
    if n < 3 or total <= 1e-9 * max(np.trace(K), 1):
        return points, explained
    pca = KernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K)
    kept = pca.eigenvalues_ > 1e-12 * max(total, 1)
    points[:, kept] = (pca.eigenvectors_ * np.sqrt(pca.eigenvalues_))[:, kept]
    explained[kept] = pca.eigenvalues_[kept] / total
    return points, explained


_NEIGHBOURS = 4
#: Number of patterns shown for the prediction, and number shown against it.
_PATTERNS = 3
#: Number of shared fragments named per neighbour.
_SHARED = 3
#: Molecules with longer SMILES are shown by number.
_LONGEST_SMILES = 80


@dataclass(frozen=True)
class Neighbour:
    """A similar graph and its differences from the selected one."""

    graph: int
    similarity: float
    differs: list[int]  # its vertices outside the common part
    changed: list[int]  # numbers of its edges outside the common part
    shared: list[str]  # names of the largest fragments of the common part that both graphs have
    contained: bool  # whether it is a subgraph of the selected one


@dataclass(frozen=True)
class Seen:
    """One graph of an exploration, as plain data; by default without a prediction."""

    name: str
    truth: Any = None
    prediction: Any = None
    decision: float = 0.0
    right: bool | None = None
    unknown: float = 0.0
    in_training: bool = False
    probability: float | None = None  # of the predicted class
    interval: tuple[float, float] | None = None  # prediction interval, for regression
    #: Contribution of each vertex to the uncertainty, in percent of the largest.
    doubts: list[int] = field(default_factory=list)
    drawing: dict[str, Any] | None = None
    values: list[int] = field(default_factory=list)
    largest: float = 0.0
    bias: float = 0.0
    fragments: list[tuple[str, float, tuple[int, ...]]] = field(default_factory=list)
    patterns: list[tuple[str, float, int, list[int]]] = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)


@dataclass(frozen=True)
class Exploration:
    """Content of the exploration page."""

    name: str
    total: int  # number of graphs in the data set
    classes: list[str]  # empty for regression
    points: list[list[float]]  # coordinates on the map
    graphs: list[Seen]
    score: float | None  # accuracy or R2 of held-out predictions; None without targets


def explore(
    name: str,
    graphs: GraphBatch,
    y: Any,
    names: Any = None,
    *,
    most: int = MOST_GRAPHS,
    n_jobs: int | None = None,
) -> Exploration:
    """Compute an exploration, on a sample if there are more than ``most`` graphs.

    ``y`` holds classes or numbers; if it is None, nothing is predicted.
    """
    if y is None:
        chosen = sample(np.zeros(len(graphs), dtype=np.int64), most)
        batch = graphs[chosen]
        points, near = _map(batch, n_jobs)
        seen = [
            Seen(_name(graph, number, names), drawing=drawing_of(graph), neighbours=own)
            for graph, number, own in zip(batch, chosen.tolist(), near, strict=True)
        ]
        return Exploration(name, len(graphs), [], points, seen, None)
    y = np.asarray(y)
    classification = are_classes(y)
    labels, codes = np.unique(y, return_inverse=True) if classification else (y[:0], y)
    if classification:
        check_two_classes(labels, len(graphs))
    chosen = sample(codes if classification else np.zeros(len(y), dtype=np.int64), most, least=2)
    batch, targets = graphs[chosen], y[chosen]
    model = usual_model(targets, n_jobs).fit(batch, targets)
    answered = _answers(model, batch, held_out=True)
    points, near = _map(batch, n_jobs)
    seen = [
        _seen(_name(batch[place], number, names), answered[place], targets[place], near[place])
        for place, number in enumerate(chosen.tolist())
    ]
    score = _score(answered, targets, classification)
    return Exploration(name, len(graphs), list(map(str, labels)), points, seen, score)


def usual_model(y: np.ndarray, n_jobs: int | None = None) -> GraphClassifier | GraphRegressor:
    """Return an unfitted classifier or regressor with default parameters."""
    return GraphClassifier(n_jobs=n_jobs) if are_classes(y) else GraphRegressor(n_jobs=n_jobs)


def _tree(batch: GraphBatch, n_jobs: int | None) -> TreePlusPlus:
    edges = batch.edge_label_table is not None and len(batch.edge_label_table) > 1
    return TreePlusPlus(edge_labels=edges, n_jobs=n_jobs)


def _map(batch: GraphBatch, n_jobs: int | None) -> tuple[list[list[float]], list[list[Neighbour]]]:
    """Return the map coordinates and the neighbours of each graph."""
    K = _tree(batch, n_jobs).fit(batch).gram()
    graphs = list(batch)
    parts = [cut(graph) for graph in graphs]
    near = []
    for graph, similar in enumerate(K):
        order = [n for n in np.argsort(-similar, kind="stable").tolist() if n != graph]
        near.append(
            [
                Neighbour(
                    n,
                    round(float(similar[n]), 4),
                    *_differing(graphs[graph], graphs[n], parts[graph], parts[n]),
                )
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
    """Explain some graphs with a model fitted to all other graphs that have a target.

    With a fitted ``model`` no targets are needed, and the other graphs only serve as neighbours.
    ``X`` holds the rows in the form the model expects, if it needs more than graphs. Returns the
    explained graphs followed by their neighbours, and the explanations.
    """
    wanted = np.array(rows, dtype=np.int64)
    y = np.full(len(graphs), "") if y is None else np.asarray(y)
    known = ~missing_values(y)
    if y.dtype.kind == "f" and are_classes(y[known]):  # integer classes with missing values
        y = np.nan_to_num(y).astype(np.int64)
    others = ~np.isin(np.arange(len(graphs)), wanted)
    if model is None:
        train = np.flatnonzero(known & others)
        targets = y[train]
        if are_classes(targets):
            check_two_classes(np.unique(targets), len(targets))
        model = usual_model(targets, n_jobs).fit(graphs[train], targets)
    else:
        train = np.flatnonzero(others)
    answered = _answers(model, graphs[wanted] if X is None else X)
    seen: list[Seen] = []
    behind: list[Seen] = []
    for row, said in zip(wanted.tolist(), answered, strict=True):
        near = []
        for number, similarity in _nearest(graphs, row, train, n_jobs):
            graph = graphs[number]
            differing = _differing(graphs[row], graph, cut(graphs[row]), cut(graph))
            near.append(Neighbour(len(wanted) + len(behind), round(similarity, 4), *differing))
            truth = _plain_target(y[number] if known[number] else None, said.classification)
            behind.append(Seen(_name(graph, number, names), truth, drawing=drawing_of(graph)))
        truth = y[row] if known[row] else None
        seen.append(_seen(_name(graphs[row], row, names), said, truth, near))
    return [*seen, *behind], [said.why for said in answered]


@dataclass(frozen=True)
class _Answer:
    """Prediction for a graph with its explanation and uncertainty."""

    why: Explanation
    prediction: Any  # a class, or a number in the units of the targets
    probability: float | None
    interval: tuple[float, float] | None
    doubts: np.ndarray

    @property
    def classification(self) -> bool:
        return self.probability is not None


def _answers(model: Any, graphs: Any, held_out: bool = False) -> list[_Answer]:
    """Predict and explain graphs; with ``held_out`` by the models without each of them."""
    graphs = model.count(graphs)
    whys = explain(model, graphs, held_out=held_out)
    doubts = [each.vertices for each in explain(model, graphs, of="uncertainty")]
    intervals: list[Any] = [None] * len(whys)
    if is_classifier(model):
        shares = model.held_out_ if held_out else model.predict_proba(graphs)
        sure = shares.max(axis=1).tolist()
        said: list[Any] = [why.prediction for why in whys]
    else:
        sure = [None] * len(whys)
        fitted = np.asarray(model.predict(graphs)).reshape(len(whys), -1)[:, 0]
        values = model.held_out_.reshape(len(whys), -1)[:, 0] if held_out else fitted
        said = values.tolist()
        if model.n_graphs_ >= COVERAGE / (1 - COVERAGE):
            bounds = [
                (values + np.asarray(part).reshape(len(whys), -1)[:, 0] - fitted).tolist()
                for part in model.predict_interval(graphs, COVERAGE)
            ]
            intervals = list(zip(*bounds, strict=True))
    return [_Answer(*each) for each in zip(whys, said, sure, intervals, doubts, strict=True)]


def _nearest(
    graphs: GraphBatch, row: int, train: np.ndarray, n_jobs: int | None
) -> list[tuple[int, float]]:
    """Return the training graphs most similar to a graph by Tree++, with the similarities."""
    if not len(train):
        return []
    K = _tree(graphs, n_jobs).fit(graphs[row]).transform(graphs[train])[:, 0]
    order = np.argsort(-K, kind="stable")[:_NEIGHBOURS]
    return list(zip(train[order].tolist(), K[order].tolist(), strict=True))


def _name(graph: GraphBatch, number: int, names: Any) -> str:
    """Return the name of a graph; by default its SMILES if RDKit can write it, or its number."""
    if names is None or not str(names[number]):
        source = source_molecule(graph)
        smiles = None if source is None else _smiles(source.molecule)
        if smiles and len(smiles) <= _LONGEST_SMILES:
            return smiles
    return graph_name(number, names)


def _smiles(molecule: Any) -> str:
    from rdkit import Chem

    return str(Chem.MolToSmiles(molecule))


def _plain_target(truth: Any, classification: bool) -> Any:
    if truth is None:
        return None
    if classification:
        return str(truth)
    try:
        return float(truth)
    except ValueError:
        raise InvalidParameterError(
            f"The model predicts numbers, but a target is {str(truth)!r}. Choose another column of "
            "targets, or none."
        ) from None


def _score(answered: list[_Answer], y: np.ndarray, classification: bool) -> float:
    said = [each.prediction for each in answered]
    if classification:
        return float(np.mean([one == truth for one, truth in zip(said, y.tolist(), strict=True)]))
    spread = float(((y - y.mean()) ** 2).sum())
    return 1.0 - float(((y - np.array(said)) ** 2).sum()) / spread if spread else 0.0


def _differing(
    graph: GraphBatch, other: GraphBatch, parts: list[Part], other_parts: list[Part]
) -> tuple[list[int], list[int], list[str], bool]:
    """Compare a graph with a neighbour, by the fragments of both.

    Returns the vertices and edges of the neighbour outside the common part, fragments that both
    have, and whether the neighbour is a subgraph.
    """
    if max(graph.n_vertices, other.n_vertices) > MOST_VERTICES:
        return [], [], [], False
    masks = differences(graph, other)
    rest, changed = (np.flatnonzero(mask).tolist() for mask in masks)
    common = set(range(other.n_vertices)) - set(rest)
    names = {part.name for part in parts}
    both = [p for p in other_parts if p.name in names and set(p.vertices) <= common]
    largest = dict.fromkeys(p.name for p in sorted(both, key=lambda p: -len(p.vertices)))
    contained = not rest and bool(contains(graph, other))
    return rest, changed, list(largest)[:_SHARED], contained


def _short(value: float) -> float:
    """Round to seven significant digits."""
    return float(f"{value:.7g}")


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


def _per_cents(values: np.ndarray) -> list[int]:
    return np.round(100 * values / (_largest(values) or 1.0)).astype(int).tolist()


def _seen(name: str, said: _Answer, truth: Any, neighbours: list[Neighbour]) -> Seen:
    why, classification = said.why, said.classification
    # With two classes, positive values favour the second; flip them if the first is predicted.
    sign = why.direction
    return Seen(
        name=name,
        truth=_plain_target(truth, classification),
        prediction=str(said.prediction) if classification else _short(said.prediction),
        decision=round(sign * why.decision, 6),
        right=bool(why.prediction == truth) if classification and truth is not None else None,
        unknown=round(why.unknown, 4),
        in_training=why.in_training,
        probability=None if said.probability is None else round(said.probability, 4),
        interval=said.interval and (_short(said.interval[0]), _short(said.interval[1])),
        doubts=_per_cents(said.doubts),
        drawing=drawing_of(why.graph),
        values=_per_cents(sign * why.vertices),
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
                np.flatnonzero(pattern.vertices).tolist(),
            )
            for side in (int(sign), -int(sign))
            for pattern in why.top(_PATTERNS, sign=side)
        ],
        neighbours=neighbours,
    )


def drawing_of(graph: GraphBatch) -> dict[str, Any] | None:
    """Return the outline of a graph as plain data; None if it is too large to draw."""
    return None if graph.n_vertices > MOST_VERTICES else outline(graph)
