"""The contract of the library: every consumer of patterns answers like the slow oracle.

1. A case is a few graphs, a kernel, and the patterns that the oracle (tests/oracle.py) finds.
2. A consumer is anything that compares graphs: a Gram matrix, an index, a comparison, Dask.
3. Every consumer is asked about every case, under every count map and every similarity that the
   kernels declare, and each value that it returns is compared with the oracle's.

A new count map or similarity is tested here as soon as a kernel declares it, and the last test
fails for a public function that takes a kernel or a similarity and is no consumer.
"""

from __future__ import annotations

import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import vstack
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import graphgrain as gg

from . import oracle
from .oracle import Graph
from .strategies import to_tuple

RULES = gg.TreePlusPlus.parameter_rules
COUNT_MAPS, SIMILARITIES = RULES["counts"].values, RULES["similarity"].values
#: Relative error of values in double precision, in single precision, and of a solved system.
EXACT, SINGLE, SOLVED = 1e-12, 1e-6, 1e-6

# -------------------------------------------------------------------- the cases


class Case(NamedTuple):
    """Graphs, the first of which are fitted, and the patterns of each, level by level."""

    items: list[tuple]  # edges and labels
    graphs: gg.GraphBatch
    fitted: int
    make: Callable[..., gg.FeatureKernel]
    patterns: list[list[Counter]]

    def gram(self, counts: str, similarity: str) -> np.ndarray:
        return oracle.gram(self.patterns, counts, similarity)


def edges(*pairs: tuple[int, int]) -> dict[frozenset, int]:
    return {frozenset(pair): 1 for pair in pairs}


ETHANOL = Graph(["C", "C", "O"], edges((0, 1), (1, 2)))
RING = edges((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0))
NOTHING, ATOM = Graph([]), Graph(["C"])
PATH, TRIANGLE = edges((0, 1), (1, 2), (2, 3)), edges((0, 1), (1, 2), (2, 0))
GRAPHS = {
    "molecules": [
        ETHANOL, Graph(["C"] * 6, RING), ATOM, Graph(["N", *"CCCCC"], RING), ETHANOL,
        Graph(["O", "C", "C"], edges((0, 1), (1, 2))), Graph(["Na", "Cl"]),
        Graph([*"CCNC"], PATH | edges((0, 3))),
    ],
    "no labels": [
        Graph([0] * 4, PATH), Graph([0] * 3, TRIANGLE), Graph([0] * 6, RING), Graph([0] * 4, PATH),
    ],
    "empty and edgeless": [NOTHING, ATOM, Graph(["C", "O"]), NOTHING, ETHANOL, NOTHING, ATOM],
    "nothing in common": [
        Graph([*"aabb"], PATH), Graph([*"aba"], TRIANGLE), Graph([*"xyx"], TRIANGLE), Graph(["x"]),
    ],
}  # fmt: skip
#: Counts beyond 8 and 16 bits; the oracle need not search graphs without edges.
NUMBERS = [{"a": 66_000, "b": 1}, {"a": 300, "b": 300}, {"a": 255, "c": 65_536}, {"a": 66_000}]
CASES = [*GRAPHS, "large counts"]


def tree_plus_plus(**parameters: Any) -> gg.TreePlusPlus:
    return gg.TreePlusPlus(2, 1, **parameters)


@cache
def case(name: str) -> Case:
    if name == "large counts":
        items = [([], list(Counter(numbers).elements())) for numbers in NUMBERS]
        patterns = [[Counter(numbers)] for numbers in NUMBERS]
        return Case(items, gg.as_graphs(items), 2, gg.VertexHistogram, patterns)
    graphs = GRAPHS[name]
    patterns = [oracle.patterns(graph, 2, 1) for graph in graphs]
    items = [
        (pairs, labels if name != "no labels" else None)
        for pairs, labels, _ in map(to_tuple, graphs)
    ]
    return Case(items, gg.as_graphs(items), len(graphs) // 2, tree_plus_plus, patterns)


# -------------------------------------------------------------------- the consumers

Answers = Iterator[tuple[Any, Any]]
Consumer = Callable[..., Answers]
#: Consumers by name, the similarities that they have, and their relative error.
CONSUMERS: dict[str, tuple[Consumer, tuple[str, ...], float]] = {}
#: Public functions that consumers call.
CALLED: set[Any] = set()


def consumer(
    *called: Any, similarities: tuple[str, ...] = SIMILARITIES, error: float = EXACT
) -> Callable[[Consumer], Consumer]:
    """Register a consumer, a generator of what is answered and of what is expected."""

    def register(function: Consumer) -> Consumer:
        CONSUMERS[function.__name__] = function, similarities, error
        CALLED.update(called)
        return function

    return register


class Setting(NamedTuple):
    """One case under one count map and one similarity."""

    case: Case
    counts: str
    similarity: str
    K: np.ndarray  # of the oracle
    folder: Path

    def kernel(self, **parameters: Any) -> gg.FeatureKernel:
        given = {"counts": self.counts, "similarity": self.similarity} | parameters
        return self.case.make(**given)

    def features(self) -> gg.Features:
        return self.kernel().count(self.case.graphs).mapped(self.counts)

    def index(self) -> gg.GraphIndex:
        path = self.folder / f"{self.similarity}.ggi"
        # The kernel's own similarity is that of the index; containment is one of search alone.
        if self.similarity in SIMILARITIES:
            return gg.GraphIndex.build(path, self.case.graphs, self.kernel())
        kernel = self.kernel(similarity="cosine")
        return gg.GraphIndex.build(path, self.case.graphs, kernel, similarity=self.similarity)


@consumer()
def gram_matrix(s: Setting) -> Answers:
    yield s.kernel().fit_transform(s.case.graphs), s.K
    yield s.kernel(n_jobs=2).fit(s.case.graphs).gram(), s.K
    order = np.argsort(np.arange(len(s.K)) % 3, kind="stable")  # other places in the batch
    yield s.kernel().fit_transform(s.case.graphs[order]), s.K[np.ix_(order, order)]


@consumer()
def transformed_graphs(s: Setting) -> Answers:
    fitted = s.case.fitted
    kernel = s.kernel().fit(s.case.graphs[:fitted])
    yield kernel.transform(s.case.graphs), s.K[:, :fitted]
    yield kernel.transform(s.case.graphs[fitted:]), s.K[fitted:, :fitted]
    yield kernel.set_params(n_jobs=2).transform(s.case.graphs), s.K[:, :fitted]


@consumer()
def levels(s: Setting) -> Answers:
    kernel = s.kernel().fit(s.case.graphs)
    new = kernel.gram_levels(s.case.graphs[:2])
    for level, K in enumerate(kernel.gram_levels()):
        patterns = [row[: level + 1] for row in s.case.patterns]
        expected = oracle.gram(patterns, s.counts, s.similarity)
        yield K, expected
        yield new[level], expected[:2]
        if kernel.level_parameter:
            yield kernel.at_level(level).gram(), expected
            yield s.features().first_levels(level + 1).similarities(s.similarity), expected
    yield list(kernel.each_gram_level())[-1], s.K


@consumer(gg.Features.similarities)
def features_and_slices(s: Setting) -> Answers:
    features = s.features()
    yield features.similarities(), s.K  # the similarity of the kernel
    yield features.similarities(s.similarity, n_jobs=2), s.K
    for graphs in (slice(1, None), [0, 0, 2], -1, np.arange(len(s.K)) % 2 == 0):
        rows = np.atleast_1d(np.arange(len(s.K))[graphs])
        yield features[graphs].similarities(s.similarity), s.K[np.ix_(rows, rows)]
        yield features[graphs].similarities(s.similarity, features), s.K[rows]


def of_rows(X: np.ndarray, similarity: str) -> np.ndarray:
    """Similarities of the rows of a feature matrix."""
    least = np.minimum(X[:, None], X[None]).sum(axis=2)
    norms, most = np.sqrt((X**2).sum(axis=1)), np.maximum(X[:, None], X[None]).sum(axis=2)
    above, below = {
        "dot": (X @ X.T, np.ones_like(least)),
        "cosine": (X @ X.T, np.outer(norms, norms)),
        "minmax": (least, most),
    }[similarity]
    K = np.divide(above, below, out=np.zeros_like(below), where=below > 0)
    K[np.outer(norms == 0, norms == 0)] = float(similarity != "dot")
    return K


def columns_are_shared(s: Setting) -> bool:
    """Return whether there are so many patterns that some have the same hashed column."""
    return s.counts == "intersection" and s.case.make is gg.VertexHistogram


@consumer()
def sparse_matrices(s: Setting) -> Answers:
    X = s.kernel(output="features").fit_transform(s.case.graphs)
    yield (X @ X.T).toarray(), s.case.gram(s.counts, "dot")
    yield of_rows(X.toarray(), s.similarity), s.K
    hashed = s.kernel(output="features", n_features=2**20).fit_transform(s.case.graphs)
    if not columns_are_shared(s):
        yield of_rows(hashed[:, np.unique(hashed.indices)].toarray(), s.similarity), s.K


def in_order_of_graphs(ids: np.ndarray, similarities: np.ndarray) -> np.ndarray:
    """Return results that are sorted by similarity as a matrix."""
    assert (np.diff(similarities) <= 0).all()
    K = np.empty_like(similarities)
    np.put_along_axis(K, ids.astype(int), similarities, axis=1)
    return K


@consumer(gg.GraphIndex.build, gg.GraphIndex.search, similarities=(*SIMILARITIES, "containment"))
def index_search(s: Setting) -> Answers:
    index = s.index()
    yield in_order_of_graphs(*index.search(s.case.graphs, k=len(s.K))), s.K
    few = s.K[:3]
    ids, similarities = index.search(
        s.case.graphs[:3], k=None, min_similarity=0.4, similarity=s.similarity
    )
    for row, numbers, values in zip(few, ids, similarities, strict=True):
        assert sorted(numbers) == np.flatnonzero(row >= 0.4 - EXACT).tolist()
        yield values, row[numbers.astype(int)]


def complete(pairs: Any, K: np.ndarray, least: float) -> Answers:
    """Compare pairs with the entries of a Gram matrix above the diagonal."""
    expected = np.argwhere(np.triu(least - EXACT <= K, 1))
    order = np.lexsort((pairs.second, pairs.first))
    near = np.abs(K[tuple(expected.T)] - least) <= 1e-9  # rounding decides
    found = np.column_stack([pairs.first, pairs.second])[order]
    assert {*map(tuple, expected[~near])} <= {*map(tuple, found)} <= {*map(tuple, expected)}
    yield pairs.similarities[order], K[tuple(found.T)]


@consumer(gg.pairs, gg.GraphIndex.pairs, similarities=("cosine", "minmax"))
def similar_pairs(s: Setting) -> Answers:
    for least in (0.2, 1.0):
        yield from complete(gg.pairs(s.case.graphs, least, kernel=s.kernel()), s.K, least)
    other = s.kernel(similarity="dot")
    found = gg.pairs(s.case.graphs, 0.2, kernel=other, similarity=s.similarity)
    yield from complete(found, s.K, 0.2)
    yield from complete(gg.pairs(s.index(), 0.2), s.K, 0.2)


@consumer(similarities=("cosine", "minmax"))
def neighbours(s: Setting) -> Answers:
    index, K = s.index(), s.K
    distances, numbers = index.kneighbors(s.case.graphs, n_neighbors=len(K))
    yield in_order_of_graphs(numbers, 1 - distances), K
    near = index.radius_neighbors_graph(s.case.graphs, radius=1 - 0.3141).toarray()
    yield near > 0, K > 0.3141


def groups(collection: Any, queries: Any, K: np.ndarray, **options: Any) -> Answers:
    """Near-duplicates, clusters and diverse graphs of an index, of graphs or of features."""
    number = np.arange(len(K))
    similar = gg.near_duplicates(collection, queries, 0.5, **options)
    yield np.sort(similar.queries), number
    yield similar.similarities, np.ones(len(K))  # each graph is in the collection
    labels, centers, _ = gg.sphere_exclusion(collection, 0.55, **options)
    apart = K[np.ix_(centers, centers)] - np.eye(len(centers))
    yield (K[number, centers[labels]] >= 0.55).all(), True
    yield (apart < 0.55).all(), True
    picks = gg.pick_diverse(collection, min(3, len(K)), first=1, **options)
    for step in range(1, len(picks)):
        nearest = K[:, picks[:step]].max(axis=1)
        yield nearest[picks[step]], np.delete(nearest, picks[:step]).min()


@consumer(
    gg.near_duplicates, gg.sphere_exclusion, gg.pick_diverse, similarities=("cosine", "minmax")
)
def groups_of_collections(s: Setting) -> Answers:
    yield from groups(s.index(), s.case.graphs, s.K)
    yield from groups(s.case.graphs, s.case.graphs, s.K, kernel=s.kernel())
    features = s.features()
    yield from groups(features, features, s.K, similarity=s.similarity)
    yield from complete(gg.pairs(features, 0.2, similarity=s.similarity), s.K, 0.2)


def products(s: Setting) -> bool:
    """Return whether common patterns are multiplied; otherwise minima are added."""
    return s.similarity != "minmax" and s.counts != "intersection"


@consumer(gg.compare)
def comparison(s: Setting) -> Answers:
    for a, b in itertools.pairwise(range(len(s.K))):
        told = gg.compare(s.kernel(), s.case.graphs[a], s.case.graphs[b])
        yield told.similarity, s.K[a, b]
        if s.case.graphs[a].n_vertices and s.case.graphs[b].n_vertices:
            yield [values.sum() for values in told.vertices], [s.K[a, b]] * 2
        if s.K[a, b] and s.case.graphs[a].n_vertices:
            first, second = (oracle.values(s.case.patterns[i], s.counts) for i in (a, b))
            both = [
                oracle.overlap({p: first[p]}, {p: second[p]}, products(s))
                for p in first.keys() & second.keys()
            ]
            shares = [pattern.share for pattern in told.shared()]
            yield sorted(shares), np.sort(both) / sum(both)


@consumer(gg.compare_sets)
def sets(s: Setting) -> Answers:
    n = s.case.fitted
    if n < 2 or len(s.K) - n < 2:
        return
    test = gg.compare_sets(s.case.graphs[:n], s.case.graphs[n:], kernel=s.kernel(), permutations=1)
    apart = s.K - np.diag(np.diag(s.K))
    within = [part.sum() / (len(part) * (len(part) - 1)) for part in (apart[:n, :n], apart[n:, n:])]
    yield test.mmd, sum(within) - 2 * apart[:n, n:].mean()


@consumer(error=SOLVED)
def machine(s: Setting) -> Answers:
    """The machine's matrices: predictions are those of ridge regression on the oracle's matrix."""
    n, y = s.case.fitted, np.arange(s.case.fitted) % 3 + 0.5
    model = gg.GraphRegressor([s.kernel()], weights="equal", alpha=0.5)
    model.fit(s.case.graphs[:n], y)
    scaled = s.K / (s.K[:n, :n].diagonal().mean() or 1.0)  # terms have a mean self-similarity of 1
    ones = np.ones((n, 1))
    system = np.block([[scaled[:n, :n] + 0.5 * np.eye(n), ones], [ones.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(y, 0.0))
    yield model.predict(s.case.graphs), scaled[:, :n] @ solution[:-1] + solution[-1]


@consumer(gg.explain, similarities=("dot",), error=SOLVED)
def explanation(s: Setting) -> Answers:
    """Ridge regression on the features is kernel ridge regression with the oracle's matrix."""
    y = np.arange(len(s.K), dtype=float)
    ridge = Ridge(fit_intercept=False, solver="lsqr", tol=1e-14)
    model = make_pipeline(s.kernel(output="features"), ridge)
    expected = s.K @ np.linalg.solve(s.K + np.eye(len(s.K)), y)
    yield model.fit(s.case.graphs, y).predict(s.case.graphs), expected
    for told, value in zip(gg.explain(model, s.case.graphs), expected, strict=True):
        yield told.decision, value
        yield told.bias + sum(pattern.contribution for pattern in told.patterns), value
        if told.graph.n_vertices:
            yield told.bias + told.vertices.sum(), value


@consumer(gg.dask_features, similarities=("dot",), error=SINGLE)
def dask_blocks(s: Setting) -> Answers:
    bag = pytest.importorskip("dask.bag")
    X = gg.dask_features(bag.from_sequence(s.case.items, npartitions=2), s.kernel()).compute(
        scheduler="synchronous"
    )
    if not columns_are_shared(s):
        yield (X @ X.T).toarray(), s.K


@consumer(gg.save_features, similarities=("dot",), error=SINGLE)
def shards(s: Setting) -> Answers:
    pytest.importorskip("pyarrow")
    folder = s.folder / "features"
    gg.save_features(s.case.graphs, folder, s.kernel(), shard_size=2)
    X = vstack([X for X, _ in gg.load_features(folder)])
    if not columns_are_shared(s):
        yield (X @ X.T).toarray(), s.K


# -------------------------------------------------------------------- the tests

QUESTIONS = [
    pytest.param(name, counts, similarity, id=f"{name}-{counts}-{similarity}")
    for name, (_, similarities, _) in CONSUMERS.items()
    for counts in COUNT_MAPS
    for similarity in similarities
]


@pytest.mark.filterwarnings("ignore::graphgrain.GraphgrainWarning")
@pytest.mark.parametrize(("name", "counts", "similarity"), QUESTIONS)
def test_consumers_answer_like_the_oracle(name, counts, similarity, tmp_path):
    ask, _, error = CONSUMERS[name]
    for number, graphs in enumerate(CASES):
        (folder := tmp_path / str(number)).mkdir()
        one = case(graphs)
        setting = Setting(one, counts, similarity, one.gram(counts, similarity), folder)
        for answer, expected in ask(setting):
            np.testing.assert_allclose(
                answer, expected, rtol=error, atol=error, err_msg=f"{name} of {graphs}"
            )


#: These take a kernel or a similarity and give them to a consumer, or compare nothing.
NOT_COMPARING = {"GraphIndex.open"}


def test_every_public_function_with_a_kernel_or_a_similarity_is_a_consumer():
    public = {name: getattr(gg, name) for name in gg.__all__}
    functions = {name: value for name, value in public.items() if inspect.isfunction(value)}
    for owner in ("Features", "GraphIndex"):
        methods = inspect.getmembers(public[owner], callable)
        functions |= {f"{owner}.{name}": value for name, value in methods if name[0] != "_"}
    asking = {
        name
        for name, function in functions.items()
        if {"kernel", "similarity"} & {*inspect.signature(function).parameters}
    }
    assert asking - {function.__qualname__ for function in CALLED} <= NOT_COMPARING


def test_models_answer_for_each_graph_alone():
    """A prediction and its explanation do not depend on the batch, and add up to each other."""
    graphs, _ = gg.load_drugs()
    sizes = graphs.vertex_counts + 0.01 * graphs.edge_counts
    model = gg.GraphRegressor().fit(graphs[::8], sizes[::8])
    new = gg.GraphBatch.concatenate([graphs[1:4], graphs[1:2], gg.as_graphs([([], ["Xe"])])])
    predicted = model.predict(new)
    alone = [model.predict(new[[number]])[0] for number in range(len(new))]
    np.testing.assert_allclose(predicted, alone, rtol=SOLVED)
    np.testing.assert_allclose(model.predict(new[::-1]), predicted[::-1], rtol=SOLVED)
    assert abs(predicted[0] - predicted[3]) <= EXACT * predicted[0]
    for told, value in zip(gg.explain(model, new), predicted, strict=True):
        contributions = [pattern.contribution for pattern in told.patterns]
        np.testing.assert_allclose(told.bias + sum(contributions), value, rtol=SOLVED)
        np.testing.assert_allclose(told.bias + told.vertices.sum(), value, rtol=SOLVED)
