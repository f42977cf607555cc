"""What both estimators share: they choose a sum of kernels, train one machine on it, and keep it.

1. Graphs are read, alone or from a table whose other columns take part.
2. Terms are chosen by cross-validation in rounds (:mod:`graphgrain.learning.selection`).
3. One machine is trained on the kernel matrix of all graphs, as far as memory carries it, beyond
   that on the features themselves, where terms are cosines and dot products.
4. What was held out in cross-validation of this very machine says how sure it may be.

All dense linear algebra runs with as many BLAS threads as ``n_jobs`` says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from numbers import Real
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.hashing import GOLDEN, mix_array
from ..core.memory import available_memory
from ..core.threads import blas_threads, thread_count
from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.features import COUNT_MAPS, SIMILARITIES, FeatureColumns, Features
from ..kernels.tree_plus_plus import CENTRALITIES
from ..parameters import (
    BOOLEAN,
    Declared,
    Jobs,
    Number,
    OneOf,
    Seed,
    Verbosity,
    Whole,
    check_parameters,
    parameter,
)
from .columns import (
    TREES_TO_JUDGE,
    ColumnEncoder,
    ColumnForest,
    ColumnKernel,
    ColumnPart,
    molecule_descriptors,
    split_table,
)
from .folds import fold_numbers
from .machine import FittedTerm, KernelMachine, PatternWeights
from .ridge import Posterior, SparsePosterior
from .selection import Judge, Judged, Selection, Selector, helps, term_scale
from .targets import check_folds
from .terms import AUTO, DEFAULT, KernelRule, OneOrMore, Term, ViewRule, possible_terms

SOLVERS = ("auto", "kernel", "linear")
#: A kernel matrix may take this part of the memory that is free.
SHARE_OF_MEMORY = 0.5
#: Training graphs that count as outside of what the others tell of.
OUTSIDE = 0.05
#: Training graphs that a model trained on features keeps, to tell how near new ones are.
LANDMARKS = 1000
#: Shares of the columns' kernel, and of the trees, that are tried.
SHARES = (0.25, 0.5, 0.75, 1.0)
HALF = 0.5


class FoldRule:
    """An int, a splitter of scikit-learn, or "scaffold"."""

    def allows(self, value: Any) -> bool:
        if isinstance(value, str):
            return value == "scaffold"
        return hasattr(value, "split") or Whole(2).allows(value)

    def __str__(self) -> str:
        return "an integer of 2 or more, 'scaffold', or a splitter of scikit-learn"


def check_coverage(coverage: Any) -> None:
    """A coverage is a probability, and neither 0 nor 1."""
    if isinstance(coverage, bool) or not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise InvalidParameterError(
            f"coverage must be a number above 0 and below 1; got {coverage!r}."
        )


class Training(NamedTuple):
    """What a machine is trained on."""

    batch: GraphBatch
    columns: dict[str, np.ndarray]
    targets: np.ndarray  # codes of classes, or scaled numbers (graphs, outputs)
    weights: np.ndarray
    folds: np.ndarray  # the fold of each graph


class JoinedColumns(NamedTuple):
    """Columns whose kernel has joined that of the graphs, with a share of 0 where it has not."""

    encoder: ColumnEncoder | None = None
    rows: np.ndarray = np.empty((0, 0))
    kernel: ColumnKernel | None = None
    share: float = 0.0

    def split(self, machine: KernelMachine, coefficients: np.ndarray) -> None:
        """Give the machine its coefficients: those of graphs, and those of columns."""
        machine.coefficients = (1 - self.share) * coefficients
        if self.encoder is not None:
            own = None if self.kernel is None else self.share * coefficients
            machine.columns = ColumnPart(self.encoder, self.kernel, own)


class Process(NamedTuple):
    """The Gaussian process whose mean a machine is."""

    posterior: Posterior | SparsePosterior
    variance: float  # what variances in units of the kernel are multiplied with
    noise: float  # in units of the target
    share: float  # of the graphs in the kernel; the rest is that of columns
    machine: KernelMachine  # with the graphs that new ones are compared with
    similarities: Callable[[GraphBatch, dict[str, np.ndarray]], tuple[np.ndarray, np.ndarray]]


class GraphEstimator(Declared, BaseEstimator):
    """Base class of :class:`GraphClassifier` and :class:`GraphRegressor`."""

    kernels: Any = parameter(KernelRule(), default=DEFAULT, kw_only=False)
    max_level: int = parameter(Whole(0), default=3, kw_only=False)
    path_depth: Any = parameter(OneOrMore(Whole(0)), default=(0, 6))
    centrality: Any = parameter(OneOrMore(OneOf(tuple(CENTRALITIES))), default="eigenvector")
    edge_labels: Any = parameter(OneOrMore(BOOLEAN, auto=True), default=AUTO)
    views: Any = parameter(OneOrMore(ViewRule(), auto=True), default=AUTO)
    attributes: bool = parameter(BOOLEAN, default=True)
    counts: Any = parameter(OneOrMore(OneOf(COUNT_MAPS), auto=True), default=AUTO)
    similarity: Any = parameter(OneOrMore(OneOf(tuple(SIMILARITIES)), auto=True), default=AUTO)
    max_terms: int = parameter(Whole(1), default=20)
    solver: str = parameter(OneOf(SOLVERS), default=AUTO)
    graphs: str | None = parameter(default=None)
    descriptors: str | None = parameter(OneOf((None, "rdkit")), default=None)
    time_budget: float | None = parameter(Number(0.0, optional=True), default=None)
    cv: Any = parameter(FoldRule(), default=5)
    random_state: int | None = parameter(Seed(), default=0)
    n_jobs: int | None = parameter(Jobs(), default=None)
    verbose: int = parameter(Verbosity(), default=0)

    #: The learner's own parameter.
    _tuned: ClassVar[str]
    #: Pairs of count map and similarity to choose from.
    _usual: ClassVar[Sequence[tuple[str, str]]]
    #: Graphs that judge: in the first round, in the last, and the sum.
    _rounds: ClassVar[tuple[int, ...]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    # ---------------------------------------------------------------- input

    def _read(self, X: Any) -> tuple[GraphBatch, dict[str, np.ndarray]]:
        """Graphs, and the columns beside them."""
        items, _, columns = split_table(X, self.graphs)
        if self.descriptors is not None:
            if isinstance(items, GraphBatch):
                raise InvalidParameterError(
                    "descriptors='rdkit' needs molecules, as SMILES strings or RDKit molecules; "
                    "got a GraphBatch, which no longer has them. Give these instead, or leave "
                    "descriptors out."
                )
            items = list(items)
            columns |= molecule_descriptors(items, self.verbose)
        return as_graphs(items), columns

    def _read_to_fit(self, X: Any) -> tuple[GraphBatch, dict[str, np.ndarray]]:
        check_parameters(self)
        batch, columns = self._read(X)
        if not len(batch):
            raise InvalidGraphError(
                f"{type(self).__name__} needs graphs to learn from; got an empty list."
            )
        check_folds(self.cv if isinstance(self.cv, int) else 2, len(batch))
        # Of models trained on features: some training graphs, which these are, and their process.
        self._landmarks: KernelMachine | None = None
        self._landmark_rows: np.ndarray | None = None
        self._landmark_inverse: np.ndarray | None = None
        return batch, columns

    def _checked_weights(self, sample_weight: Any, graphs: int) -> np.ndarray:
        if sample_weight is None:
            return np.ones(graphs)
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != (graphs,) or not np.isfinite(weights).all() or (weights < 0).any():
            raise InvalidParameterError(
                f"sample_weight must hold a finite number of 0 or more for each of the {graphs} "
                f"graphs; its shape is {weights.shape}, its smallest entry "
                f"{weights.min(initial=np.inf):g}."
            )
        if not (weights > 0).any():
            raise InvalidParameterError(
                "sample_weight must be above zero for some graph; all weights are zero."
            )
        return weights

    def _blas(self) -> Any:
        """Within the block BLAS has as many threads as ``n_jobs`` says."""
        return blas_threads(thread_count(self.n_jobs))

    def _tell(self, text: str) -> None:
        if self.verbose:
            print(f"{type(self).__name__}: {text}", file=sys.stderr, flush=True)

    def _folds(
        self, batch: GraphBatch, codes: np.ndarray | None, groups: Any, rng: np.random.Generator
    ) -> np.ndarray:
        return fold_numbers(self.cv, batch, codes, groups, rng)

    # ---------------------------------------------------------------- choosing

    def _terms(self, batch: GraphBatch, linear: bool) -> list[Term]:
        names = (
            "kernels", "path_depth", "max_level", "centrality", "edge_labels", "views",
            "attributes", "counts", "similarity",
        )  # fmt: skip
        own = {name: getattr(self, name) for name in names}
        usual = [pair for pair in self._usual if not linear or pair[1] != "minmax"]
        terms = possible_terms(batch, usual=usual, **own)
        if not linear:
            return terms
        kept = [term for term in terms if term.similarity != "minmax"]
        if not kept:
            raise InvalidParameterError(
                "Weights on patterns need similarity='cosine' or 'dot'; got 'minmax' alone for "
                f"{len(batch):,} graphs. Use solver='kernel', or other similarities."
            )
        return kept

    def _is_linear(self, graphs: int, bytes_per_pair: float) -> bool:
        if self.solver != AUTO:
            return self.solver == "linear"
        available = available_memory()
        return (
            available is not None
            and bytes_per_pair * float(graphs) ** 2 > SHARE_OF_MEMORY * available
        )

    def _select(
        self,
        data: Training,
        sample: np.ndarray,
        rounds: Sequence[np.ndarray],
        judge: Judge,
        terms: Sequence[Term],
    ) -> tuple[Selection, Selector]:
        """Choose terms; ``sample`` are the graphs that judge, ``rounds`` positions among these."""
        begin = perf_counter()
        judging = data.batch if len(sample) == len(data.batch) else data.batch[sample]

        def in_time() -> bool:
            return self.time_budget is None or perf_counter() - begin < self.time_budget

        selector = Selector(
            lambda source: source.count(judging, self.n_jobs),
            judge,
            rounds,
            self.max_terms,
            self._tell,
            in_time,
        )
        return selector.run(terms), selector

    def _keep(self, selection: Selection, learner_grid: Sequence[float]) -> None:
        """The results of the search, in the form of scikit-learn's."""
        self.terms_ = [term.parameters() for term in selection.terms]
        self.best_params_: dict[str, Any] = {"terms": self.terms_, self._tuned: selection.value}
        self.best_score_ = selection.score
        self.skipped_ = [term.parameters() for term in selection.skipped]
        rows: dict[str, list[Any]] = {"params": [], "n_graphs": [], "mean_test_score": []}
        scores: list[np.ndarray] = []
        for one in selection.tried:
            judged: Judged = one["judged"]
            own = one["term"].parameters()
            for value, by_fold in zip(learner_grid, judged.scores, strict=True):
                rows["params"].append({**own, self._tuned: value})
                rows["n_graphs"].append(one["graphs"])
                rows["mean_test_score"].append(float(np.mean(by_fold)))
                scores.append(by_fold)
        names = dict.fromkeys(name for params in rows["params"] for name in params)
        table: dict[str, Any] = {
            f"param_{name}": [params.get(name) for params in rows["params"]] for name in names
        }
        means = np.array(rows["mean_test_score"])
        sizes = np.array(rows["n_graphs"])
        order = np.lexsort((-means, -sizes))  # later rounds before earlier ones
        ranks = np.empty(len(means), dtype=int)
        ranks[order] = np.arange(1, len(means) + 1)
        self.cv_results_ = {
            **table,
            **rows,
            "mean_test_score": means,
            "std_test_score": np.array([float(np.std(one)) for one in scores]),
            "rank_test_score": ranks,
        }

    # ---------------------------------------------------------------- training

    def _fitted_terms(self, terms: Sequence[Term], batch: GraphBatch) -> list[FittedTerm]:
        """Terms with the training graphs in them; each source counts once."""
        depth: dict[int, int | None] = {}
        for term in terms:
            known = depth.get(id(term.source), 0)
            both = (known, term.n_levels)
            depth[id(term.source)] = None if None in both else max(known or 0, term.n_levels or 0)
        features = {
            id(source): source.count(batch, self.n_jobs).first_levels(depth[id(source)])
            for source in {id(t.source): t.source for t in terms}.values()
        }
        found = []
        for term in terms:
            own = features[id(term.source)]
            found.append(FittedTerm(term, own, term_scale(term, own) / len(terms)))
        return found

    def _train_features(
        self,
        terms: Sequence[Term],
        data: Training,
        train: Callable[[Any, np.ndarray], tuple[np.ndarray, np.ndarray]],
        noise: float | None = None,
    ) -> tuple[KernelMachine, np.ndarray, np.ndarray]:
        """Train on features themselves.

        Returns the machine, scores of held-out graphs, and their variance by the process through
        landmarks, whose ``noise`` is the mean similarity of graphs with themselves without one.
        """
        from scipy.sparse import hstack

        fitted = self._fitted_terms(terms, data.batch)
        variance = self._learn_landmarks(fitted, data, noise)
        grouped = [GroupedColumns.of(term) for term in fitted]
        matrix = hstack([one.matrix for one in grouped], format="csr")
        matrix.indices, matrix.indptr = (
            matrix.indices.astype(np.int32),
            matrix.indptr.astype(np.int32 if matrix.nnz < 2**31 else np.int64),
        )
        everyone = np.arange(len(data.batch))
        columns, intercept = train(matrix, everyone)
        held_out = np.empty((len(everyone), len(intercept)))
        for fold in np.unique(data.folds):
            test = np.flatnonzero(data.folds == fold)
            rest = np.flatnonzero(data.folds != fold)
            own, bias = train(matrix[rest], rest)
            held_out[test] = matrix[test] @ own.T + bias
        bounds = np.cumsum([one.matrix.shape[1] for one in grouped])[:-1]
        parts = np.split(columns, bounds, axis=1)
        weights: list[Any] = [g.weights(part) for g, part in zip(grouped, parts, strict=True)]
        return KernelMachine(weights, None, intercept), held_out, variance

    def _learn_landmarks(
        self, fitted: Sequence[FittedTerm], data: Training, noise: float | None
    ) -> np.ndarray:
        """Keep some training graphs, by which it is known how near a new one is to all.

        Returns the variance of each training graph, held out, in units of the kernel.
        """
        rng = np.random.default_rng(self.random_state)
        rows = np.sort(rng.permutation(len(data.batch))[:LANDMARKS])
        sliced: dict[int, Features] = {}
        kept = []
        for term in fitted:
            own = sliced.setdefault(id(term.features), term.features[rows])
            kept.append(FittedTerm(term.term, own, term.scale))
        machine = KernelMachine(kept, None, np.zeros(1))
        L = machine.gram(self.n_jobs)
        self._learn_domain(L, data.folds[rows])
        alpha = float(np.trace(L)) / len(L) if noise is None else noise

        def blocks() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
            for begin, end in machine.blocks(len(data.batch)):
                counted = {id(t.term.source): t.features[begin:end] for t in fitted}
                K = machine.compare(counted, self.n_jobs)
                yield K, machine.own_similarity(counted), data.weights[begin:end]

        posterior, variance = SparsePosterior.fit(L, blocks(), alpha)
        self._landmarks, self._landmark_rows = machine, rows
        self._landmark_inverse = posterior.inverse
        return variance

    # ---------------------------------------------------------------- columns

    def _join_columns(
        self,
        K: np.ndarray,
        judged_gram: np.ndarray,
        data: Training,
        judge: Judge,
        sample: np.ndarray,
        alone: Judged,
    ) -> tuple[np.ndarray, JoinedColumns, Judged]:
        """Let the columns' kernel join that of the graphs, with the share that is best.

        ``judged_gram`` is the kernel of the sample, ``alone`` how it did. Returns the kernel matrix
        of all graphs, what joined, and how the sum did on the sample.
        """
        if not data.columns:
            return K, JoinedColumns(), alone
        encoder = ColumnEncoder.fit(data.columns)
        rows = encoder.transform(data.columns)
        if not differ(rows):
            return K, JoinedColumns(encoder, rows), alone
        everyone = np.arange(len(sample))
        own = ColumnKernel.of(rows[sample], np.random.default_rng(0)).compare(rows[sample])
        found = {0.0: alone} | {
            tried: judge((1 - tried) * judged_gram + tried * own, everyone) for tried in SHARES
        }
        share = _best_share(found)
        if not share:
            return K, JoinedColumns(encoder, rows), found[share]
        kernel = ColumnKernel.of(rows, np.random.default_rng(0))
        number, own = K.dtype.type, kernel.compare(rows).astype(K.dtype)
        K = number(1 - share) * K + number(share) * own
        return K, JoinedColumns(encoder, rows, kernel, share), found[share]

    def _forest(
        self,
        rows: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        number: int,
        n_classes: int | None,
    ) -> ColumnForest:
        return ColumnForest.fit(
            rows, targets, weights, number, n_classes, thread_count(self.n_jobs)
        )

    def _held_out_forest(
        self, rows: np.ndarray, data: Training, sample: np.ndarray, n_classes: int | None
    ) -> np.ndarray:
        """What trees say of graphs that they were not trained on."""
        found = []
        folds, targets, weights = (
            values[sample] for values in (data.folds, data.targets, data.weights)
        )
        places = []
        for fold in np.unique(folds):
            test, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            forest = self._forest(
                rows[rest], targets[rest], weights[rest], TREES_TO_JUDGE, n_classes
            )
            found.append(forest.values(rows[test]))
            places.append(test)
        result = np.empty((len(sample), found[0].shape[1]))
        result[np.concatenate(places)] = np.concatenate(found)
        return result

    def _forest_share(
        self, judge: Judge, sample: np.ndarray, kernel: np.ndarray, forest: np.ndarray
    ) -> float:
        """The share of the trees in the decision that cross-validation prefers."""
        return _best_share(
            {
                tried: judge.judged(((1 - tried) * kernel + tried * forest)[np.newaxis], sample)
                for tried in (0.0, *SHARES)
            }
        )

    # ---------------------------------------------------------------- domain

    def _learn_domain(self, K: np.ndarray, folds: np.ndarray) -> None:
        """How similar training graphs are to the nearest of another fold, all but the least."""
        roots = np.sqrt(np.maximum(np.diagonal(K), 1e-300))
        nearest = np.empty(len(K))
        for begin in range(0, len(K), 1024):
            rows = slice(begin, begin + 1024)
            similar = K[rows] / roots / roots[rows, np.newaxis]
            similar[folds[rows, np.newaxis] == folds] = -np.inf
            nearest[rows] = similar.max(axis=1)
        self.domain_threshold_ = float(np.quantile(nearest, OUTSIDE))

    def domain(self, X: Any) -> dict[str, np.ndarray]:
        """How near graphs are to what the model has been trained on.

        Parameters
        ----------
        X : as in :meth:`fit`

        Returns
        -------
        dict of arrays, ready for a data frame
            ``nearest``, the position of the most similar training graph, and its ``similarity``
            (models trained on features compare with 1,000 of their training graphs);
            ``unseen``, the share of the graph's patterns that no training graph has;
            ``leverage``, the part of the graph's prior variance that training has left: near 1 for
            a graph that has nothing in common with training graphs; and ``inside``, whether the
            similarity is at least that of all but a twentieth of the training graphs to those of
            other folds.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs, y = gg.load_drugs()
        >>> model = gg.GraphClassifier(max_level=1, max_terms=1).fit(graphs, y)
        >>> found = model.domain(graphs[[221]])
        >>> int(found["nearest"][0]), bool(found["inside"][0]), float(found["unseen"][0])
        (221, True, 0.0)
        """
        check_is_fitted(self, "machine_")
        batch, columns = self._read(X)
        machine = self._similar_to()
        unseen = np.zeros(len(batch))
        nearest, similarity = np.zeros(len(batch), dtype=int), np.zeros(len(batch))
        leverage = np.zeros(len(batch))
        with self._blas():
            posterior = self._posterior()
            roots = np.sqrt(np.maximum(self._diagonal(), 1e-300))
            for begin, end in machine.blocks(len(batch)):
                counted = machine.count(batch[begin:end], self.n_jobs)
                K, own = machine.compare(counted, self.n_jobs), machine.own_similarity(counted)
                cosine = K / roots / np.sqrt(np.maximum(own, 1e-300))[:, np.newaxis]
                nearest[begin:end] = cosine.argmax(axis=1)
                similarity[begin:end] = cosine.max(axis=1)
                unseen[begin:end] = self.machine_.unseen(counted)
                some = {name: values[begin:end] for name, values in columns.items()}
                K, own = self._with_columns(K, own, some)
                left = posterior.variance(K, own, posterior.influence(K))
                leverage[begin:end] = np.minimum(left / np.maximum(own, 1e-300), 1.0)
        if self._landmark_rows is not None:
            nearest = self._landmark_rows[nearest]
        return {
            "nearest": nearest,
            "similarity": similarity,
            "unseen": unseen,
            "leverage": leverage,
            "inside": similarity >= self.domain_threshold_,
        }

    def _diagonal(self) -> np.ndarray:
        """The kernel of each training graph with itself."""
        terms = self._similar_to().terms
        total: np.ndarray = np.sum([term.own_similarity(term.features) for term in terms], axis=0)
        return total

    def _similar_to(self) -> KernelMachine:
        """The graphs that new ones are compared with: all training graphs, or the landmarks."""
        return self.machine_ if self._landmarks is None else self._landmarks

    def _posterior(self) -> Posterior | SparsePosterior:
        """The Gaussian process on the training graphs; factored once."""
        if self._landmark_inverse is not None:
            return SparsePosterior(self._landmark_inverse)
        known = self.__dict__.get("_factored")
        if known is None:
            K = self.machine_.gram(self.n_jobs)
            known = self.__dict__["_factored"] = Posterior(K, self._noise(), np.ones(len(K)))
        return known

    def _process(self) -> Process:
        """The Gaussian process behind the machine, for its uncertainty."""
        process = (self._posterior(), 1.0, 0.0, 1.0)
        return Process(*process, self._similar_to(), self._pair_similarities)

    def _pair_similarities(
        self, batch: GraphBatch, columns: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Similarities of new graphs to the training graphs and to themselves."""
        machine = self._similar_to()
        counted = machine.count(batch, self.n_jobs)
        K = machine.compare(counted, self.n_jobs)
        return self._with_columns(K, machine.own_similarity(counted), columns)

    def _with_columns(
        self, K: np.ndarray, own: np.ndarray, columns: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same similarities, with those of columns where the kernel has them."""
        return K, own

    def _noise(self) -> float:
        """What the diagonal of the kernel matrix is raised by, relative to its mean."""
        return float(np.mean(self._diagonal()))

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_factored"}

    # ---------------------------------------------------------------- predicting

    def _values(self, X: Any) -> np.ndarray:
        """The values of the machine, (graphs, outputs)."""
        check_is_fitted(self, "machine_")
        return self._values_of(*self._read(X))

    def _values_of(self, batch: GraphBatch, columns: dict[str, np.ndarray]) -> np.ndarray:
        with self._blas():
            return self.machine_.values(batch, columns, self.n_jobs)

    def _explained_units(self) -> tuple[np.ndarray, np.ndarray]:
        """Factors and shifts from the values of the machine to those that are explained."""
        outputs = self.machine_.n_outputs
        return np.ones(outputs), np.zeros(outputs)

    # ---------------------------------------------------------------- files

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file that :func:`graphgrain.load_model` reads.

        Parameters
        ----------
        path : str or Path
            Arrays and JSON in one file; nothing in it is code.

        Examples
        --------
        >>> import graphgrain as gg, tempfile, pathlib
        >>> graphs, y = gg.load_drugs()
        >>> model = gg.GraphClassifier(max_level=1, max_terms=2).fit(graphs, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder) / "drugs.ggm")
        ...     again = gg.load_model(pathlib.Path(folder) / "drugs.ggm")
        >>> bool((again.predict(graphs) == model.predict(graphs)).all())
        True
        """
        from .model_file import write_model

        check_is_fitted(self, "machine_")
        write_model(self, Path(path))


def differ(rows: np.ndarray) -> bool:
    """Whether columns tell any two rows apart."""
    return bool(np.ptp(rows, axis=0).any())


def _best_share(found: dict[float, Judged]) -> float:
    """One half, unless another share is better by more than one standard error over the folds.

    Who gives columns expects them to take part, and halves are steadier than the best of many.
    """
    best = HALF
    for share, judged in found.items():
        if judged.mean > found[best].mean and helps(judged, found[HALF]):
            best = share
    return best


class GroupedColumns:
    """The columns of a term in which equal columns are one, for training on features.

    Patterns with the same values in the same training graphs get the same weight. As one column,
    multiplied by the root of their number, inner products stay the same and the matrix is many
    times smaller: most patterns of a large set occur in one graph alone.

    Attributes
    ----------
    matrix : sparse array of shape (graphs, groups)
        Divided by norms for a cosine, and by the root of the scale.
    """

    def __init__(
        self,
        term: Term,
        columns: FeatureColumns,
        groups: np.ndarray,
        sizes: np.ndarray,
        scale: float,
    ) -> None:
        from scipy.sparse import csc_array

        self.term, self.vocabulary = term, columns.vocabulary
        self.groups, self.sizes = groups, sizes
        self.scale = np.sqrt(scale)
        indptr, rows, values = columns.entries
        _, first = np.unique(groups, return_index=True)
        lengths = np.diff(indptr)[first]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        places = np.repeat(indptr[:-1][first] - starts[:-1], lengths) + np.arange(starts[-1])
        own = values[places] * np.repeat(np.sqrt(sizes), lengths) * self.scale
        graphs = len(columns)
        if term.similarity == "cosine":
            norms = np.sqrt(columns.squares.sum(axis=0))
            own /= np.where(norms > 0, norms, 1.0)[rows[places]]
        self.matrix = csc_array((own, rows[places], starts), shape=(graphs, len(first))).tocsr()

    @classmethod
    def of(cls, fitted: FittedTerm) -> GroupedColumns:
        """Group the columns of a term's training graphs."""
        columns = fitted.columns
        indptr, rows, values = columns.entries
        # A sum over the entries of a column: the same for two columns only if they are equal.
        with np.errstate(over="ignore"):
            bits = values.astype(np.float64).view(np.uint64)
            entries = mix_array(rows.astype(np.uint64) * GOLDEN + mix_array(bits))
            codes = np.add.reduceat(entries, indptr[:-1]) if len(indptr) > 1 else entries
        _, groups, sizes = np.unique(codes, return_inverse=True, return_counts=True)
        return cls(fitted.term, columns, groups.reshape(-1), sizes, fitted.scale)

    def weights(self, found: np.ndarray) -> PatternWeights:
        """Weights on patterns from weights (outputs, groups)."""
        own = (found / np.sqrt(self.sizes) * self.scale).T[self.groups]
        return PatternWeights(self.term, self.vocabulary, own)
