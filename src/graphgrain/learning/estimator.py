"""Base class of both estimators: select a sum of kernels and train one machine on it.

1. Graphs are read, alone or from a table whose other columns become additional inputs.
2. The terms of the kernel are selected by cross-validation in rounds
   (:mod:`graphgrain.learning.selection`).
3. One machine is trained on the kernel matrix of all graphs or, if that does not fit into memory,
   on the features themselves; min-max similarities are then excluded.
4. Held-out predictions of this machine calibrate probabilities and intervals.

All dense linear algebra runs with ``n_jobs`` BLAS threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from ..core.hashing import GOLDEN, mix_array
from ..core.memory import available_memory
from ..core.threads import blas_threads, thread_count
from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.features import COUNT_MAPS, SIMILARITIES, Features
from ..kernels.tree_plus_plus import CENTRALITIES
from ..parameters import (
    BOOLEAN,
    JOBS,
    SEED,
    VERBOSITY,
    Declared,
    Described,
    Number,
    OneOf,
    Whole,
    check_parameters,
    parameter,
)
from .columns import (
    TREES,
    TREES_TO_VALIDATE,
    ColumnEncoder,
    ColumnForest,
    ColumnKernel,
    ColumnPart,
    molecule_descriptors,
)
from .folds import fold_numbers
from .inputs import check_folds, check_groups, split_table
from .machine import FittedTerm, KernelMachine, PatternWeights, Source, Term
from .ridge import Posterior, SparsePosterior
from .selection import (
    AUTO,
    DEFAULT,
    VIEW,
    CrossValidation,
    FoldScores,
    KernelRule,
    OneOrMore,
    Selector,
    is_better,
    possible_terms,
    term_scale,
)
from .sums import PatternSums, decision_sums, uncertainty_sums

SOLVERS = ("auto", "kernel", "linear")
#: Largest share of the available memory that a kernel matrix may take.
SHARE_OF_MEMORY = 0.5
#: Up to this number of training graphs, BLAS uses one thread.
FEW_GRAPHS = 4000
#: Share of training graphs that are considered outside of the domain.
OUTSIDE = 0.05
#: Number of training graphs that a model trained on features keeps for comparison with new ones.
LANDMARKS = 1000
#: Candidate shares of the column kernel and of the forest.
SHARES = (0.25, 0.5, 0.75, 1.0)
HALF = 0.5

COVERAGE = Described(
    "a number above 0 and below 1",
    lambda v: isinstance(v, Real) and not isinstance(v, bool) and 0 < float(v) < 1,
)
FOLDS = Described(
    "an integer of 2 or more, 'scaffold', or a splitter of scikit-learn",
    lambda v: v == "scaffold" if isinstance(v, str) else hasattr(v, "split") or Whole(2).allows(v),
)


class Training(NamedTuple):
    """Training data."""

    batch: GraphBatch
    encoder: ColumnEncoder | None  # None if there are no columns beside the graphs
    rows: np.ndarray  # encoded columns
    targets: np.ndarray  # class codes, or numbers (graphs, outputs)
    weights: np.ndarray
    folds: np.ndarray  # fold number of each graph


@dataclass(frozen=True, eq=False)
class CountedGraphs:
    """Graphs whose features a model has counted, in the place of graphs for all its predictions.

    Attributes
    ----------
    batch : GraphBatch
    columns : dictionary of arrays
        Columns beside the graphs.
    features : dictionary of Features, or None
        Features by the ids of the sources of the model; None if they are not counted yet.

    See Also
    --------
    GraphClassifier.count, GraphRegressor.count

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> model = gg.GraphClassifier(max_level=1, max_terms=1).fit(graphs, y)
    >>> counted = model.count(graphs[:5])
    >>> len(counted), model.predict_proba(counted).shape, len(model.domain(counted)["inside"])
    (5, (5, 11), 5)
    """

    batch: GraphBatch
    columns: dict[str, np.ndarray]
    features: dict[int, Features] | None = None
    #: The sources themselves, so that no others get their ids.
    sources: tuple[Source, ...] = ()

    def __len__(self) -> int:
        return len(self.batch)


class GraphEstimator(Declared, BaseEstimator):
    """Base class of :class:`GraphClassifier` and :class:`GraphRegressor`."""

    kernels: Any = parameter(KernelRule(), default=DEFAULT, kw_only=False)
    max_level: int = parameter(Whole(0), default=3, kw_only=False)
    path_depth: Any = parameter(OneOrMore(Whole(0)), default=(0, 6))
    centrality: Any = parameter(OneOrMore(OneOf(tuple(CENTRALITIES))), default="eigenvector")
    edge_labels: Any = parameter(OneOrMore(BOOLEAN, auto=True), default=AUTO)
    views: Any = parameter(OneOrMore(VIEW, auto=True), default=AUTO)
    attributes: bool = parameter(BOOLEAN, default=True)
    counts: Any = parameter(OneOrMore(OneOf(COUNT_MAPS), auto=True), default=AUTO)
    similarity: Any = parameter(OneOrMore(OneOf(tuple(SIMILARITIES)), auto=True), default=AUTO)
    max_terms: int = parameter(Whole(1), default=20)
    solver: str = parameter(OneOf(SOLVERS), default=AUTO)
    graphs: str | None = parameter(default=None)
    descriptors: str | None = parameter(OneOf((None, "rdkit")), default=None)
    time_budget: float | None = parameter(Number(0.0, optional=True), default=None)
    cv: Any = parameter(FOLDS, default=5)
    random_state: int | None = parameter(SEED, default=0)
    n_jobs: int | None = parameter(JOBS, default=None)
    verbose: int = parameter(VERBOSITY, default=0)

    #: Candidate pairs of count map and similarity.
    _usual: ClassVar[Sequence[tuple[str, str]]]
    #: Sample sizes of the first and the last round, and for the evaluation of the sum.
    _rounds: ClassVar[tuple[int, ...]]
    #: Standard errors over the folds by which another share of columns must be better than a half.
    _clear: ClassVar[float]
    #: Share of the column kernel in the kernel of the Gaussian process.
    _column_share_ = 0.0
    #: Mask of the rows of the input that were used in training; None if all were.
    _kept: np.ndarray | None = None
    #: Name of the column of graphs in the training table.
    _graph_column: str | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    # ---------------------------------------------------------------- input

    @property
    def columns_(self) -> dict[str, str]:
        """Kind ("number" or "category") of each column of the training table beside the graphs.

        Examples
        --------
        >>> import graphgrain as gg
        >>> table = {"smiles": ["CO", "CCO", "CCCO", "CCN"] * 3, "dose": [1.0, 2.0, 3.0, 5.0] * 3}
        >>> gg.GraphRegressor(max_level=1).fit(table, [0.1, 1.3, 2.4, 3.8] * 3).columns_
        {'dose': 'number'}
        """
        part = self.machine_.columns
        if part is None:
            return {}
        kinds = dict.fromkeys(part.encoder.numbers, "number")
        kinds |= dict.fromkeys(part.encoder.categories, "category")
        computed = molecule_descriptors([]) if self.descriptors is not None else ()
        return {name: kind for name, kind in kinds.items() if name not in computed}

    @property
    def n_outputs_(self) -> int:
        """Number of targets of each graph."""
        return 1 if hasattr(self, "classes_") else int(self.machine_.n_outputs)

    def _read(self, X: Any) -> CountedGraphs:
        """Return the graphs and the other columns of a table, which is read as in training."""
        if isinstance(X, CountedGraphs):
            own = [*map(id, self.machine_.sources)]
            if X.features is not None and [*map(id, X.sources)] != own:
                raise InvalidParameterError(
                    f"Features are counted for one fit of one model, and these for another than "
                    f"this {type(self).__name__}. Count them again: model.count(graphs)."
                )
            return X
        items, _, columns = split_table(X, self.graphs, self._graph_column)
        batch, descriptors = self._with_descriptors(items)
        return CountedGraphs(batch, columns | descriptors)

    def count(self, X: Any) -> CountedGraphs:
        """Count the features of graphs once, for several predictions.

        Parameters
        ----------
        X : as in :meth:`fit`

        Returns
        -------
        CountedGraphs
            All methods of this model that predict accept it in the place of ``X``.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs, _ = gg.load_drugs()
        >>> model = gg.GraphRegressor(max_level=1, max_terms=1).fit(graphs, graphs.vertex_counts)
        >>> counted = model.count(graphs[:5])
        >>> values, (low, high) = model.predict(counted), model.predict_interval(counted)
        >>> bool(((low <= values) & (values <= high)).all())
        True
        """
        check_is_fitted(self, "machine_")
        read = self._read(X)
        counted = self.machine_.count(read.batch, self.n_jobs)
        return replace(read, features=counted, sources=tuple(self.machine_.sources))

    def _with_descriptors(self, items: Any) -> tuple[GraphBatch, dict[str, np.ndarray]]:
        """Return the graphs, and the descriptors if they are wanted."""
        if self.descriptors is None:
            return as_graphs(items), {}
        if isinstance(items, GraphBatch):
            raise InvalidParameterError(
                "descriptors='rdkit' needs molecules, as SMILES strings or RDKit molecules; "
                "got a GraphBatch, which no longer has them. Give these instead, or leave "
                "descriptors out."
            )
        # a single string is left to as_graphs, which rejects it: its letters are molecules, too
        if isinstance(items, Iterable) and not isinstance(items, str):
            items = list(items)
        return as_graphs(items), molecule_descriptors(items, self.verbose)

    def _read_to_fit(self, X: Any) -> tuple[GraphBatch, dict[str, np.ndarray]]:
        check_parameters(self)
        self.__dict__.pop("_factored", None)  # of an earlier fit
        items, self._graph_column, columns = split_table(X, self.graphs)
        batch, descriptors = self._with_descriptors(items)
        twice = [name for name in columns if name in descriptors]
        if twice:
            raise InvalidParameterError(
                f"descriptors={self.descriptors!r} adds a column {twice[0]!r}, and the table has "
                "one of this name. Rename it, or leave descriptors out."
            )
        columns |= descriptors
        if not len(batch):
            raise InvalidGraphError(
                f"{type(self).__name__} needs graphs to learn from; got an empty list."
            )
        self._check_folds(len(batch))
        self._column_share_ = 0.0
        # Only set by models trained on features, see _learn_landmarks.
        self._landmarks: KernelMachine | None = None
        self._landmark_rows: np.ndarray | None = None
        self._landmark_inverse: np.ndarray | None = None
        return batch, columns

    def _checked_weights(self, sample_weight: Any, graphs: int) -> np.ndarray:
        if sample_weight is None:
            return np.ones(graphs)
        try:
            weights = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidParameterError(
                "sample_weight must hold a number for each graph; got "
                f"{type(sample_weight).__name__} with other entries."
            ) from None
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

    def _training(
        self,
        batch: GraphBatch,
        columns: dict[str, np.ndarray],
        targets: np.ndarray,
        weights: np.ndarray,
        kept: np.ndarray,
        groups: Any,
        rng: np.random.Generator,
    ) -> Training:
        """Return the training data of the graphs in the mask ``kept``, with folds."""
        groups = None if groups is None else check_groups(groups, len(batch), self.cv)
        self._kept = None if kept.all() else kept
        folds = None
        if not kept.all():
            rows = np.flatnonzero(kept)
            if hasattr(self.cv, "split") and not isinstance(self.cv, str):  # splits all rows
                codes = targets if is_classifier(self) else None
                folds = fold_numbers(self.cv, batch, codes, groups, rng)[rows]
            batch, targets, weights = batch[rows], targets[rows], weights[rows]
            columns = {name: values[rows] for name, values in columns.items()}
            groups = None if groups is None else groups[rows]
            self._check_folds(len(rows))
        codes = targets if is_classifier(self) else None
        if folds is None:
            folds = fold_numbers(self.cv, batch, codes, groups, rng)
        elif len(np.unique(folds)) < 2:
            raise InvalidParameterError(
                f"cv={self.cv!r} leaves one fold of the graphs that have a weight and a target. "
                "Use other folds."
            )
        encoder = ColumnEncoder.fit(columns) if columns else None
        encoded = np.empty((len(batch), 0)) if encoder is None else encoder.transform(columns)
        return Training(batch, encoder, encoded, targets, weights, folds)

    def _check_folds(self, graphs: int) -> None:
        check_folds(int(self.cv) if isinstance(self.cv, Integral) else 2, graphs)

    def _by_row(self, values: np.ndarray, missing: Any) -> np.ndarray:
        """Return values of the training graphs by rows of the input, some of which were ignored."""
        if self._kept is None:
            return values
        found = np.full((len(self._kept), *values.shape[1:]), missing, dtype=values.dtype)
        found[self._kept] = values
        return found

    def _blas(self, graphs: int) -> Any:
        """Return a context manager that limits BLAS to ``n_jobs`` threads, or to one.

        On the small matrices of few graphs, threads of BLAS mostly wait for each other: on a busy
        machine that takes many times as long as one thread.
        """
        return blas_threads(self.n_jobs if graphs > FEW_GRAPHS else 1)

    def _report(self, text: str) -> None:
        if self.verbose:
            print(f"{type(self).__name__}: {text}", file=sys.stderr, flush=True)

    # ---------------------------------------------------------------- selection

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
        rounds: Sequence[np.ndarray],
        validation: CrossValidation,
        terms: Sequence[Term],
    ) -> Selector:
        """Select terms; ``rounds`` are positions within ``validation.rows``."""
        begin = perf_counter()
        graphs = (
            data.batch if len(validation.rows) == len(data.batch) else data.batch[validation.rows]
        )
        budget = self.time_budget
        in_time = None if budget is None else lambda: perf_counter() - begin < budget
        selector = Selector(graphs, validation, rounds, self.max_terms, self._report, in_time)
        selector.run(terms)
        return selector

    def _keep(self, selector: Selector, scored: FoldScores) -> None:
        """Set the attributes that describe the search, in scikit-learn's format."""
        grid = selector.validation.learner.grid
        self.terms_ = [term.parameters() for term in selector.terms]
        self.best_params_: dict[str, Any] = {
            "terms": self.terms_,
            "alpha": float(grid[scored.place]),
        }
        self.best_score_ = scored.mean
        self.skipped_ = [term.parameters() for term in selector.skipped]
        params: list[dict[str, Any]] = []
        for term, _, _ in selector.tried:
            own = term.parameters()
            params += [{**own, "alpha": value} for value in grid]
        sizes = [graphs for _, _, graphs in selector.tried for _ in grid]
        scores = [by_fold for _, one, _ in selector.tried for by_fold in one.scores]
        means = np.array([float(np.mean(by_fold)) for by_fold in scores])
        order = np.lexsort((-means, -np.array(sizes)))  # later rounds before earlier ones
        ranks = np.empty(len(means), dtype=int)
        ranks[order] = np.arange(1, len(means) + 1)
        names = dict.fromkeys(name for one in params for name in one)
        self.cv_results_: dict[str, Any] = {
            **{f"param_{name}": [one.get(name) for one in params] for name in names},
            "params": params,
            "n_graphs": sizes,
            "mean_test_score": means,
            "std_test_score": np.array([float(np.std(by_fold)) for by_fold in scores]),
            "rank_test_score": ranks,
        }

    # ---------------------------------------------------------------- training

    def _fitted_terms(self, selector: Selector, batch: GraphBatch) -> list[FittedTerm]:
        """Return the selected terms with the features of the training graphs."""
        terms, features = selector.terms, {}
        for source in {id(term.source): term.source for term in terms}.values():
            deepest = max(term.n_levels or 0 for term in terms if term.source is source) or None
            own = (
                selector.features(source)
                if selector.batch is batch
                else source.count(batch, self.n_jobs)
            )
            features[id(source)] = own.first_levels(deepest)
        found = []
        for term in terms:
            own = features[id(term.source)]
            found.append(FittedTerm(term, own, term_scale(term, own) / len(terms)))
        return found

    def _train_features(
        self,
        selector: Selector,
        data: Training,
        train: Callable[[Any, np.ndarray], tuple[np.ndarray, np.ndarray]],
        noise: float | None = None,
    ) -> tuple[KernelMachine, np.ndarray, np.ndarray]:
        """Train on the features themselves.

        Returns the machine, and the scores and variances of held-out graphs. The variances are
        those of the landmark process; its ``noise`` defaults to the mean self-similarity.
        """
        from scipy.sparse import hstack

        fitted = self._fitted_terms(selector, data.batch)
        variance = self._learn_landmarks(fitted, data, noise)
        matrices, mixings = zip(*map(grouped_columns, fitted), strict=True)
        matrix = hstack(matrices, format="csr")
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
        bounds = np.cumsum([one.shape[1] for one in matrices])[:-1]
        weights: list[Any] = [
            PatternWeights(term.term, term.columns.vocabulary, mix(own))
            for term, mix, own in zip(
                fitted, mixings, np.split(columns, bounds, axis=1), strict=True
            )
        ]
        part = None if data.encoder is None else ColumnPart(data.encoder)
        return KernelMachine(weights, None, intercept, part), held_out, variance

    def _learn_landmarks(
        self, fitted: Sequence[FittedTerm], data: Training, noise: float | None
    ) -> np.ndarray:
        """Keep a sample of the training graphs (landmarks) for variances and the domain.

        Returns the held-out variance of each training graph in units of the kernel.
        """
        rng = np.random.default_rng(self.random_state)
        rows = np.sort(rng.permutation(len(data.batch))[:LANDMARKS])
        sliced = {
            id(own): own[rows] for own in {id(t.features): t.features for t in fitted}.values()
        }
        kept = [replace(term, features=sliced[id(term.features)]) for term in fitted]
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

    def _kernel_matrix(
        self,
        data: Training,
        selector: Selector,
        scored: FoldScores,
        sample_gram: np.ndarray,
        dtype: type,
    ) -> tuple[KernelMachine, np.ndarray, FoldScores]:
        """Return a machine without coefficients, the kernel matrix and its score.

        The column kernel is mixed in with a share selected by cross-validation. ``scored`` is the
        score without it, ``sample_gram`` the graph kernel matrix of the evaluation sample.
        """
        fitted = self._fitted_terms(selector, data.batch)
        machine = KernelMachine(fitted, None, np.zeros(0))
        K = machine.gram(self.n_jobs, dtype)
        self._learn_domain(K, data.folds)
        if data.encoder is not None:
            machine.columns = ColumnPart(data.encoder)
        if machine.columns is None or not differ(data.rows):
            return machine, K, scored
        rows = data.rows[selector.validation.rows]
        own = ColumnKernel.of(rows, np.random.default_rng(0)).compare(rows)
        found = {0.0: scored} | {
            tried: selector.validation((1 - tried) * sample_gram + tried * own) for tried in SHARES
        }
        share = self._column_share_ = _best_share(found, self._clear)
        self.best_score_ = found[share].mean
        if share:
            kernel = ColumnKernel.of(data.rows, np.random.default_rng(0))
            machine.columns = replace(machine.columns, kernel=kernel)
            number = K.dtype.type
            for begin in range(0, len(K), 2048):  # in blocks, to avoid a second full matrix
                here = slice(begin, begin + 2048)
                K[here] *= number(1 - share)
                K[here] += number(share) * kernel.compare(data.rows[here]).astype(K.dtype)
        return machine, K, found[share]

    def _with_forest(
        self,
        machine: KernelMachine,
        held_out: np.ndarray,
        data: Training,
        validation: CrossValidation,
    ) -> tuple[KernelMachine, np.ndarray, float]:
        """Add a forest on the columns with a share selected by cross-validation.

        Returns the machine, held-out predictions, and the share.
        """
        if not differ(data.rows) or not np.isfinite(data.targets).all():
            return machine, held_out, 0.0
        factors, shifts = self._forest_units(data, held_out)
        graphs, trees = held_out * factors + shifts, np.empty(held_out.shape)
        for fold in np.unique(data.folds):
            test, rest = np.flatnonzero(data.folds == fold), np.flatnonzero(data.folds != fold)
            trees[test] = self._forest(data, rest, TREES_TO_VALIDATE).values(data.rows[test])
        everyone = np.arange(len(validation.rows))
        found = {
            tried: validation.scored(
                ((1 - tried) * graphs + tried * trees)[validation.rows][np.newaxis], everyone
            )
            for tried in (0.0, *SHARES)
        }
        share = _best_share(found, self._clear)
        if not share:
            return machine, held_out, share
        self.best_score_ = found[share].mean
        machine = machine.rescaled((1 - share) * factors, (1 - share) * shifts)
        assert machine.columns is not None
        machine.columns = replace(
            machine.columns,
            forest=self._forest(data, np.arange(len(data.rows)), TREES),
            share=np.full(len(factors), share),
        )
        return machine, (1 - share) * graphs + share * trees, share

    def _forest_units(self, data: Training, held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return factors and shifts from the outputs of the machine to those of the forest."""
        outputs = held_out.shape[1]
        return np.ones(outputs), np.zeros(outputs)

    def _forest(self, data: Training, some: np.ndarray, trees: int) -> ColumnForest:
        n_classes = len(self.classes_) if is_classifier(self) else None
        rows, targets, weights = data.rows[some], data.targets[some], data.weights[some]
        n_jobs = thread_count(self.n_jobs)
        return ColumnForest.fit(rows, targets, weights, trees, n_classes, n_jobs)

    # ---------------------------------------------------------------- explaining

    def pattern_sums(self, X: Any, of: str = "decision") -> PatternSums:
        """Return decisions or uncertainties as sums over the patterns of graphs; for ``explain``.

        Parameters
        ----------
        X : as in :meth:`fit`
        of : {"decision", "uncertainty"}
        """
        counted = X if isinstance(X, CountedGraphs) and X.features is not None else self.count(X)
        if of == "uncertainty":
            return uncertainty_sums(self, counted)
        return decision_sums(self, counted)

    # ---------------------------------------------------------------- domain

    def _learn_domain(self, K: np.ndarray, folds: np.ndarray) -> None:
        """Set the threshold: a low quantile of similarities to the nearest graph of other folds."""
        roots = np.sqrt(np.maximum(np.diagonal(K), 1e-300))
        nearest = np.empty(len(K))
        for begin in range(0, len(K), 1024):
            rows = slice(begin, begin + 1024)
            similar = K[rows] / roots / roots[rows, np.newaxis]
            similar[folds[rows, np.newaxis] == folds] = -np.inf
            nearest[rows] = similar.max(axis=1)
        self.domain_threshold_ = float(np.quantile(nearest, OUTSIDE))

    def domain(self, X: Any) -> dict[str, np.ndarray]:
        """Measure how close graphs are to the training graphs.

        Parameters
        ----------
        X : as in :meth:`fit`

        Returns
        -------
        dict of arrays, ready for a data frame
            ``nearest``, the position of the most similar training graph, and its ``similarity``
            (models trained on features compare with 1,000 of their training graphs);
            ``unseen``, the share of the graph's pattern occurrences that no training graph has;
            ``leverage``, the ratio of posterior to prior variance, near 1 for a graph that has
            nothing in common with the training graphs; ``inside``, whether the similarity reaches
            the 5 % quantile of the similarities of training graphs to the nearest training graph of
            another fold; and ``in_training``, whether a training graph has the same patterns, so
            that its target was seen in training and the interval says nothing about new graphs.

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
        read = self._read(X)
        machine = self._similar_to()
        unseen, similarity, leverage = np.zeros((3, len(read)))
        nearest, in_training = np.zeros(len(read), dtype=int), np.zeros(len(read), dtype=bool)
        with self._blas(self.n_graphs_):
            there, posterior = self._process()
            diagonal = self._diagonal()
            roots = np.sqrt(np.maximum(diagonal, 1e-300))
            for here, counted, some in self._counted_blocks(read):
                K, own = machine.compare(counted, self.n_jobs), machine.own_similarity(counted)
                cosine = K / roots / np.sqrt(np.maximum(own, 1e-300))[:, np.newaxis]
                nearest[here] = cosine.argmax(axis=1)
                similarity[here] = cosine.max(axis=1)
                equal = np.isclose(own, diagonal[nearest[here]], rtol=1e-9, atol=0)
                in_training[here] = equal & (similarity[here] >= 1 - 1e-9)
                unseen[here] = self.machine_.unseen(counted)
                K, own = self._with_columns(K, own, some)
                K = K[:, there]
                left = posterior.variance(K, own, posterior.influence(K))
                leverage[here] = np.minimum(left / np.maximum(own, 1e-300), 1.0)
        if self._landmark_rows is not None:
            nearest = self._landmark_rows[nearest]
        if self._kept is not None:
            nearest = np.flatnonzero(self._kept)[nearest]
        return {
            "nearest": nearest,
            "similarity": similarity,
            "unseen": unseen,
            "leverage": leverage,
            "inside": similarity >= self.domain_threshold_,
            "in_training": in_training,
        }

    def _diagonal(self) -> np.ndarray:
        """Return the similarity of each training graph with itself."""
        terms = self._similar_to().terms
        return np.sum([term.own_similarity(term.features) for term in terms], axis=0)

    def _similar_to(self) -> KernelMachine:
        """Return the machine with the graphs to compare with: all training graphs or landmarks."""
        return self.machine_ if self._landmarks is None else self._landmarks

    def _process(self, output: int = 0) -> tuple[Any, Posterior | SparsePosterior]:
        """Return the graphs to compare with that have a target, and the process on them.

        The factorisation of the Gaussian process on all training graphs is cached.
        """
        if self._landmark_inverse is not None:
            return slice(None), SparsePosterior(self._landmark_inverse)
        if "_factored" not in vars(self):
            self._factored = Posterior(self._training_gram(), *self._noise())
        return slice(None), self._factored

    def _noise(self) -> tuple[float, np.ndarray]:
        """Return the noise of the process and the weights of the training graphs."""
        diagonal = self._diagonal()
        return float(np.mean(diagonal)), np.ones(len(diagonal))

    def _process_units(self, output: int = 0) -> tuple[float, float]:
        """Return the factor from kernel to target variances, and the noise variance."""
        return 1.0, 0.0

    def _training_gram(self) -> np.ndarray:
        """Return the kernel matrix of the training graphs, including columns."""
        K, share = self.machine_.gram(self.n_jobs), self._column_share_
        part = self.machine_.columns
        if share and part is not None and part.kernel is not None:
            K = (1 - share) * K + share * part.kernel.compare(part.kernel.rows)
        return K

    def _counted_blocks(
        self, read: CountedGraphs
    ) -> Iterator[tuple[slice, dict[int, Features], dict[str, np.ndarray]]]:
        """Yield the positions, counted features and columns of blocks of graphs."""
        machine = self._similar_to()
        blocks = machine.blocks(len(read))
        for begin, end in blocks:
            here = slice(begin, end)
            some = {name: values[here] for name, values in read.columns.items()}
            if read.features is None:
                counted = machine.count(read.batch[here], self.n_jobs)
            elif len(blocks) == 1:
                counted = read.features
            else:
                counted = {source: own[here] for source, own in read.features.items()}
            yield here, counted, some

    def _pair_similarities(
        self, counted: dict[int, Features], columns: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return similarities of new graphs to the training graphs and to themselves."""
        machine = self._similar_to()
        K = machine.compare(counted, self.n_jobs)
        return self._with_columns(K, machine.own_similarity(counted), columns)

    def _with_columns(
        self, K: np.ndarray, own: np.ndarray, columns: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mix the column kernel into the similarities, if the model has one."""
        share, part = self._column_share_, self.machine_.columns
        if share and part is not None and part.kernel is not None:
            other = part.kernel.compare(part.encoder.transform(columns))
            K, own = (1 - share) * K + share * other, (1 - share) * own + share
        return K, own

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_factored"}

    # ---------------------------------------------------------------- predicting

    def _values(self, X: Any) -> np.ndarray:
        """Return the outputs of the machine, (graphs, outputs)."""
        check_is_fitted(self, "machine_")
        read = self._read(X)
        values = np.empty((len(read), self.machine_.n_outputs))
        with self._blas(self.n_graphs_):
            for here, counted, some in self._counted_blocks(read):
                values[here] = self.machine_.values(counted, some, self.n_jobs)
        return values

    def _explained_units(self) -> tuple[np.ndarray, np.ndarray]:
        """Return factors and shifts from the outputs of the machine to explained values."""
        outputs = self.machine_.n_outputs
        return np.ones(outputs), np.zeros(outputs)

    # ---------------------------------------------------------------- files

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file that :func:`graphgrain.load_model` reads.

        Parameters
        ----------
        path : str or Path
            Target file. It contains arrays and JSON only, no executable code.

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
    """Return whether any column is not constant."""
    return bool(np.ptp(rows, axis=0).any())


def _best_share(found: dict[float, FoldScores], errors: float) -> float:
    """Return one half, unless another share is better by more than this many standard errors.

    Users who pass columns expect them to be used, and a fixed half varies less than the best of
    several shares.
    """
    better = [share for share, scored in found.items() if is_better(scored, found[HALF], errors)]
    return max(better, key=lambda share: found[share].mean, default=HALF)


def grouped_columns(fitted: FittedTerm) -> tuple[Any, Callable[[np.ndarray], np.ndarray]]:
    """Return the feature matrix of a term with identical columns merged.

    Patterns with the same values in the same training graphs get the same weight. Replacing them
    by one column times the square root of their number preserves inner products and makes the
    matrix many times smaller, since most patterns of a large data set occur in only one graph.

    Returns a sparse array (graphs, groups), divided by norms for the cosine and multiplied by the
    square root of the scale, and a function from weights (outputs, groups) to pattern weights.
    """
    from scipy.sparse import csc_array

    columns, scale = fitted.columns, np.sqrt(fitted.scale)
    indptr, rows, values = columns.entries
    # Columns are identified by a 64-bit hash: the sum of the hashes of their entries.
    with np.errstate(over="ignore"):
        bits = values.astype(np.float64).view(np.uint64)
        entries = mix_array(rows.astype(np.uint64) * GOLDEN + mix_array(bits))
        codes = np.add.reduceat(entries, indptr[:-1]) if len(indptr) > 1 else entries
    _, first, groups, sizes = np.unique(
        codes, return_index=True, return_inverse=True, return_counts=True
    )
    lengths = np.diff(indptr)[first]
    starts = np.concatenate(([0], np.cumsum(lengths)))
    places = np.repeat(indptr[:-1][first] - starts[:-1], lengths) + np.arange(starts[-1])
    own = values[places] * np.repeat(np.sqrt(sizes), lengths) * scale
    if fitted.term.similarity == "cosine":
        norms = np.sqrt(columns.squares.sum(axis=0))
        own /= np.where(norms > 0, norms, 1.0)[rows[places]]
    shape = (len(columns), len(first))
    matrix = csc_array((own, rows[places], starts), shape=shape).tocsr()
    return matrix, lambda found: (found / np.sqrt(sizes) * scale).T[groups.reshape(-1)]
