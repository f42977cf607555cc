"""Base class of both estimators: weigh the terms of a kernel, and solve one ridge regression.

1. Graphs are read, alone or from a table whose other columns become terms as well.
2. The features of every term are counted once (:mod:`graphgrain.learning.terms`), and the terms are
   weighed by marginal likelihood (:mod:`graphgrain.learning.evidence`).
3. Alpha is chosen by leave-one-out in closed form, and the coefficients of all graphs are computed
   exactly (:mod:`graphgrain.learning.solver`).
4. The size of errors is learned from held-out predictions (:mod:`graphgrain.learning.sigma`).

All dense linear algebra runs with ``n_jobs`` BLAS threads.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.gram import GramSum
from ..core.memory import require_memory
from ..core.threads import blas_threads
from ..errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..graphs.convert.rdkit import STANDARDIZE
from ..parameters import (
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
from .columns import column_terms, molecule_descriptors
from .evidence import MOST_GRAPHS as MOST_WEIGHED
from .evidence import likeliest_weights
from .folds import stratified_sample
from .inputs import check_groups, check_weights, split_table
from .machine import Machine, fitted_term
from .sigma import MOST_GRAPHS as MOST_JUDGED
from .sigma import Compared, Sigma, copies, learn_sigma, nearest_others
from .solver import GRID, LANDMARKS, MOST_DENSE, MOST_LEFT_OUT, Posterior, best_alpha, solve_large
from .sums import PatternSums, columns_part, decision_sums, sigma_sums
from .terms import KernelRule, as_list, term_table, terms_of

#: Up to this number of training graphs, BLAS uses one thread.
FEW_GRAPHS = 4000
#: Share of training graphs that are considered outside of the domain.
OUTSIDE = 0.05
#: Similarity from which a graph is one of the training graphs.
EQUAL = 1 - 1e-9
#: Number of similarities that are held in memory at a time.
BLOCK = 8_000_000

COVERAGE = Described(
    "a number above 0 and below 1",
    lambda v: isinstance(v, Real) and not isinstance(v, bool) and 0 < float(v) < 1,
)
ALPHA = Described(
    "None (chosen by leave-one-out), a finite number above 0, or a list of these",
    lambda v: v is None or (bool(as_list(v)) and all(map(Number(0.0).allows, as_list(v)))),
)
WEIGHTS = Described(
    "None (by marginal likelihood), 'equal', or a list with a number of 0 or more for each term",
    lambda v: (
        v == "equal"
        if isinstance(v, str)
        else v is None or all(map(Number(0.0, closed=True).allows, as_list(v)))
    ),
)


def _is_view(value: Any) -> bool:
    return value is None or (hasattr(value, "fit") and hasattr(value, "transform"))


VIEWS = Described(
    "None (the graphs as they are), a view such as EdgeFilter(drop=[1]), or a list of these",
    lambda v: bool(as_list(v)) and all(map(_is_view, as_list(v))),
)


@dataclass(eq=False)
class CountedGraphs:
    """Graphs whose features a model has counted, in the place of graphs for all its predictions.

    They are compared with the training graphs once, at the first prediction.

    Attributes
    ----------
    batch : GraphBatch
    columns : dictionary of arrays
        Columns beside the graphs.
    features : dictionary
        Counted features by the ids of the sources of the model; None if they are not counted.
    sources : tuple
        The sources themselves, so that no others get their ids.
    compared : Compared or None
        Result of the comparison.

    See Also
    --------
    GraphClassifier.count, GraphRegressor.count

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> model = gg.GraphClassifier(gg.WeisfeilerLehman(1)).fit(graphs, y)
    >>> counted = model.count(graphs[:5])
    >>> len(counted), model.predict_proba(counted).shape, len(model.domain(counted)["inside"])
    (5, (5, 11), 5)
    """

    batch: GraphBatch
    columns: dict[str, np.ndarray]
    features: dict[int, Any] | None = None
    sources: tuple[Any, ...] = ()
    compared: Compared | None = None

    def __len__(self) -> int:
        return len(self.batch)


@dataclass
class Training:
    """Training data."""

    batch: GraphBatch
    columns: dict[str, np.ndarray]
    targets: np.ndarray  # (graphs, outputs), NaN where missing
    weights: np.ndarray
    groups: np.ndarray | None
    strata: np.ndarray  # samples have the same share of each of these numbers


class GraphEstimator(Declared, BaseEstimator):
    """Base class of :class:`GraphClassifier` and :class:`GraphRegressor`."""

    kernels: Any = parameter(KernelRule(), default=None, kw_only=False)
    graphs: str | None = parameter(default=None)
    weights: Any = parameter(WEIGHTS, default=None)
    views: Any = parameter(VIEWS, default=None)
    descriptors: str | None = parameter(OneOf((None, "rdkit")), default=None)
    alpha: Any = parameter(ALPHA, default=None)
    max_graphs: int = parameter(Whole(2), default=100_000)
    standardize: str | None = parameter(OneOf((None, *STANDARDIZE)), default=None)
    random_state: int | None = parameter(SEED, default=0)
    n_jobs: int | None = parameter(JOBS, default=None)
    verbose: int = parameter(VERBOSITY, default=0)

    #: Mask of the rows of the input that were used in training; None if all were.
    _kept: np.ndarray | None = None
    #: Name of the column of graphs in the training table.
    _graph_column: str | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        sampled = getattr(self, "n_sampled_from_", None)
        return text if sampled is None else f"{text} fitted to {self.n_graphs_:,} of {sampled:,}"

    # ---------------------------------------------------------------- input

    @property
    def columns_(self) -> dict[str, str]:
        """Kind ("number" or "category") of each column of the training table beside the graphs.

        Examples
        --------
        >>> import graphgrain as gg
        >>> table = {"smiles": ["CO", "CCO", "CCCO", "CCN"] * 3, "dose": [1.0, 2.0, 3.0, 5.0] * 3}
        >>> gg.GraphRegressor().fit(table, [0.1, 1.3, 2.4, 3.8] * 3).columns_
        {'dose': 'number'}
        """
        return dict(self._column_kinds)

    @property
    def n_outputs_(self) -> int:
        """Number of targets of each graph."""
        return 1 if hasattr(self, "classes_") else int(self.machine_.n_outputs)

    def _read(self, X: Any) -> CountedGraphs:
        """Return the graphs and the other columns of a table, which is read as in training."""
        if isinstance(X, CountedGraphs):
            if X.features is not None and [*map(id, X.sources)] != [
                *map(id, self.machine_.sources)
            ]:
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
            All methods of this model that predict, and ``explain``, accept it in the place of
            ``X``. It is compared with the training graphs only once.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs, _ = gg.load_drugs()
        >>> kernel = gg.WeisfeilerLehman(1)
        >>> model = gg.GraphRegressor(kernel).fit(graphs, graphs.vertex_counts)
        >>> counted = model.count(graphs[:5])
        >>> values, (low, high) = model.predict(counted), model.predict_interval(counted)
        >>> bool(((low <= values) & (values <= high)).all())
        True
        """
        check_is_fitted(self, "machine_")
        read = self._read(X)
        if read.features is not None:
            return read
        sources = self.machine_.sources
        counted = {id(source): self._count_source(source, read) for source in sources}
        return replace(read, features=counted, sources=tuple(sources))

    def _count_source(self, source: Any, read: CountedGraphs) -> Any:
        if hasattr(source, "encoder"):
            return source.encoder.transform(read.columns)
        return source.count(read.batch, self.n_jobs)

    def _with_descriptors(self, items: Any) -> tuple[GraphBatch, dict[str, np.ndarray]]:
        """Return the graphs, and the descriptors if they are wanted."""
        if isinstance(items, GraphBatch) and self.standardize is not None:
            raise InvalidParameterError(
                f"standardize={self.standardize!r} needs molecules, as SMILES strings or RDKit "
                "molecules; got a GraphBatch. Standardise them where they are read, and leave "
                "standardize out."
            )
        how: Any = {} if self.standardize is None else {"standardize": self.standardize}
        if self.descriptors is None:
            return as_graphs(items, **how), {}
        if isinstance(items, GraphBatch):
            if "smiles" not in items.columns:
                raise InvalidParameterError(
                    "descriptors='rdkit' needs molecules, as SMILES strings or RDKit molecules; "
                    "got a GraphBatch without a column of SMILES. Give these instead, or leave "
                    "descriptors out."
                )
            texts = items.columns["smiles"].tolist()
            return items, molecule_descriptors(texts, self.verbose)
        # a single string is left to as_graphs, which rejects it: its letters are molecules, too
        if isinstance(items, Iterable) and not isinstance(items, str):
            items = list(items)
        return as_graphs(items, **how), molecule_descriptors(items, self.verbose, **how)

    def _read_to_fit(self, X: Any) -> CountedGraphs:
        check_parameters(self)
        self.__dict__.pop("_posteriors", None)  # of an earlier fit
        self.__dict__.pop("n_sampled_from_", None)
        items, self._graph_column, columns = split_table(X, self.graphs)
        batch, descriptors = self._with_descriptors(items)
        twice = [name for name in columns if name in descriptors]
        if twice:
            raise InvalidParameterError(
                f"descriptors={self.descriptors!r} adds a column {twice[0]!r}, and the table has "
                "one of this name. Rename it, or leave descriptors out."
            )
        if not len(batch):
            raise InvalidGraphError(
                f"{type(self).__name__} needs graphs to learn from; got an empty list."
            )
        self._described = list(descriptors)
        return CountedGraphs(batch, columns | descriptors)

    def _training(
        self,
        read: CountedGraphs,
        targets: np.ndarray,
        sample_weight: Any,
        groups: Any,
        factors: np.ndarray,
        rng: np.random.Generator,
    ) -> Training:
        """Return the training data: graphs with a target and a weight, at most ``max_graphs``.

        ``factors`` multiply the weights of the graphs.
        """
        weights = check_weights(sample_weight, len(read)) * factors
        numbers = None if groups is None else check_groups(groups, len(read))
        kept = (weights > 0) & np.isfinite(targets).any(axis=1)
        rows = np.flatnonzero(kept)
        _, strata = np.unique(np.nan_to_num(targets[rows]), axis=0, return_inverse=True)
        strata = strata.reshape(-1)
        if len(rows) > self.max_graphs:
            warnings.warn(
                f"max_graphs={self.max_graphs:,}: the model learns from a sample of the "
                f"{len(rows):,} graphs. More need more memory; linear models of scikit-learn on "
                "features (output='features') take any number.",
                GraphgrainWarning,
                stacklevel=4,
            )
            self.n_sampled_from_ = len(rows)
            sample = stratified_sample(strata, self.max_graphs, rng)
            rows, strata = rows[sample], strata[sample]
        self._kept = None
        if len(rows) < len(read):
            self._kept = np.zeros(len(read), dtype=bool)
            self._kept[rows] = True
        whole = len(rows) == len(read)
        return Training(
            read.batch if whole else read.batch[rows],
            {name: values[rows] for name, values in read.columns.items()},
            targets[rows],
            weights[rows],
            None if numbers is None else numbers[rows],
            strata,
        )

    def _by_row(self, values: np.ndarray) -> np.ndarray:
        """Return values of the training graphs by rows of the input, NaN for ignored ones."""
        if self._kept is None:
            return values
        found = np.full((len(self._kept), *values.shape[1:]), np.nan)
        found[self._kept] = values
        return found

    def _blas(self) -> Any:
        """Return a context manager that limits BLAS to ``n_jobs`` threads, or to one.

        On the small matrices of few graphs, threads of BLAS mostly wait for each other: on a busy
        machine that takes many times as long as one thread.
        """
        return blas_threads(self.n_jobs if self.n_graphs_ > FEW_GRAPHS else 1)

    def _report(self, text: str) -> None:
        if self.verbose:
            print(f"{type(self).__name__}: {text}", file=sys.stderr, flush=True)

    # ---------------------------------------------------------------- training

    def _train(self, data: Training, rng: np.random.Generator) -> tuple[Machine, np.ndarray]:
        """Return the machine, and held-out errors (graphs, outputs)."""
        self.n_graphs_ = len(data.batch)
        self._labels = np.unique(data.batch.label_table[data.batch.label_codes])
        self._targets, self._training_weights = data.targets, data.weights
        with self._blas():
            machine = self._weighed_machine(data, rng)
            solve = self._solve_dense if self.n_graphs_ <= MOST_DENSE else self._solve_large
            return machine, solve(machine, data, rng)

    def _weighed_machine(self, data: Training, rng: np.random.Generator) -> Machine:
        """Count the features of all terms, weigh them, and return those that are kept."""
        groups: list[Any] = list(terms_of(data.batch, self.kernels, self.views))
        read = CountedGraphs(data.batch, data.columns)
        sources = {id(term.source): term.source for group in groups for term in group}
        features = {}
        for number, source in enumerate(sources.values()):
            self._report(f"counting features, {number + 1} of {len(sources)}")
            features[id(source)] = self._count_source(source, read)
        self._column_kinds: dict[str, str] = {}
        for similarity, rows in column_terms(data.columns, self._described, rng):
            groups.append((similarity,))
            features[id(similarity.source)] = rows
            if similarity.source.name == "columns":
                self._column_kinds = similarity.source.encoder.kinds
        fitted = [[fitted_term(term, features[id(term.source)]) for term in g] for g in groups]
        weights = self._weights_of(fitted, data, rng)
        kept = np.flatnonzero(weights)
        self.terms_ = term_table([groups[place] for place in kept], weights[kept])
        return Machine(
            [
                replace(each, scale=each.scale * float(weights[place]) / len(fitted[place]))
                for place in kept
                for each in fitted[place]
            ]
        )

    def _weights_of(
        self, fitted: list[list[Any]], data: Training, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the weights of terms, which sum to 1; by default the likeliest ones."""
        priors = np.array([group[0].term.prior for group in fitted])
        if self.weights is not None and not isinstance(self.weights, str):
            weights = np.array(as_list(self.weights), dtype=np.float64)
            if len(weights) != len(fitted) or not weights.any():
                raise InvalidParameterError(
                    f"weights must hold a number of 0 or more for each of the {len(fitted)} terms, "
                    f"one of them above 0; got {self.weights!r}."
                )
            return weights / weights.sum()
        if self.weights == "equal" or len(fitted) == 1:
            weights = (priors == priors.max()).astype(float)
            return weights / weights.sum()
        known = np.isfinite(data.targets)
        most = known[:, known.sum(axis=0).argmax()]  # outputs that the same graphs have
        outputs = np.flatnonzero((known == most[:, np.newaxis]).all(axis=0))
        rows = np.flatnonzero(most)
        rows = rows[stratified_sample(data.strata[rows], min(MOST_WEIGHED, len(rows)), rng)]
        grams = np.empty((len(fitted), len(rows), len(rows)))
        for place, group in enumerate(fitted):
            total = GramSum(len(rows))
            for each in Machine(group).part(rows).terms:
                replace(each, scale=each.scale / len(group)).add_gram(total, self.n_jobs)
            grams[place] = total.mirrored(self.n_jobs)
        targets = data.targets[np.ix_(rows, outputs)]
        return likeliest_weights(grams, targets, 1 / data.weights[rows], priors, self._report)

    def _alpha_for(
        self, K: np.ndarray, targets: np.ndarray, weights: np.ndarray, groups: np.ndarray
    ) -> tuple[float, Posterior]:
        """Return the given alpha, or that with the smallest held-out errors, and its model."""
        if isinstance(self.alpha, Real):
            return float(self.alpha), Posterior(K, float(self.alpha), weights)
        if self.alpha is None:
            unit = float(weights.mean())
            return best_alpha(K, targets, weights, groups, unit * GRID, 0.1 * unit)
        return best_alpha(K, targets, weights, groups, as_list(self.alpha))

    def _solve_dense(
        self, machine: Machine, data: Training, rng: np.random.Generator
    ) -> np.ndarray:
        """Compute the coefficients by Cholesky decompositions; return held-out errors."""
        graphs, outputs = data.targets.shape
        require_memory(
            32.0 * graphs**2,
            f"A model of {graphs:,} graphs",
            "Use fewer graphs: max_graphs=... takes a sample of them",
        )
        K = machine.gram(self.n_jobs)
        groups = copies(K) if data.groups is None else data.groups
        machine.coefficients, machine.intercept = np.zeros((outputs, graphs)), np.zeros(outputs)
        errors = np.full(data.targets.shape, np.nan)
        self._alphas = np.empty(outputs)
        for rows, members in outputs_by_rows(data.targets):
            own = K if len(rows) == graphs else K[np.ix_(rows, rows)]
            targets = data.targets[np.ix_(rows, members)]
            weights, numbers = data.weights[rows], groups[rows]
            alpha, model = self._alpha_for(own, targets, weights, numbers)
            coefficients, machine.intercept[members] = model.fit(targets)
            machine.coefficients[np.ix_(members, rows)] = coefficients
            self._alphas[members] = alpha
            if len(np.unique(numbers)) > 1:
                errors[np.ix_(rows, members)], _ = model.held_out_errors(coefficients, numbers)
            else:
                errors[np.ix_(rows, members)] = targets - targets.mean(axis=0)
        rows = stratified_sample(data.strata, min(MOST_JUDGED, graphs), rng)
        near = nearest_others(K[rows], rows, np.diagonal(K), groups)
        noise = self._alphas.max() / data.weights[rows]
        self._groups = groups
        self._learn_sigma(K[np.ix_(rows, rows)], rows, errors, groups, noise, near)
        return errors

    def _solve_large(
        self, machine: Machine, data: Training, rng: np.random.Generator
    ) -> np.ndarray:
        """Compute the coefficients by conjugate gradients; return held-out errors of one fold."""
        graphs, outputs = data.targets.shape
        groups = np.arange(graphs) if data.groups is None else data.groups
        some = stratified_sample(data.strata, MOST_LEFT_OUT, rng)
        filled = np.where(np.isfinite(data.targets), data.targets, 0.0)
        few = machine.part(some).gram(self.n_jobs)
        numbers = copies(few) if data.groups is None else groups[some]
        alpha, _ = self._alpha_for(few, filled[some], data.weights[some], numbers)
        gram = machine.triangle(self.n_jobs, alpha, self._report)
        landmarks = np.sort(rng.permutation(graphs)[:LANDMARKS])
        solve = partial(solve_large, gram, landmarks=landmarks, rows=gram.columns(landmarks))
        fold = np.isin(groups, rng.permutation(np.unique(groups))[::5])
        machine.coefficients, machine.intercept = np.zeros((outputs, graphs)), np.zeros(outputs)
        errors = np.full(data.targets.shape, np.nan)
        for rows, members in outputs_by_rows(data.targets):
            noise = np.full(graphs, np.inf)
            noise[rows] = alpha / data.weights[rows]
            targets = filled[:, members]
            coefficients, intercepts, start = solve(targets, noise, n_jobs=self.n_jobs)
            machine.coefficients[members], machine.intercept[members] = coefficients, intercepts
            self._report("solving once more without a fifth of the graphs")
            noise[fold] = np.inf
            without, intercepts, _ = solve(targets, noise, n_jobs=self.n_jobs, start=start)
            held_out = gram.product(without.T, self.n_jobs) + intercepts
            errors[:, members] = data.targets[:, members] - held_out
        errors[~fold] = np.nan
        self._alphas = np.full(outputs, alpha)
        rows = np.sort(rng.permutation(np.flatnonzero(fold))[:MOST_JUDGED])
        judged = machine.part(rows)
        numbers = groups.copy()
        numbers[fold] = -1  # all of them were left out
        near = np.empty((2, len(rows)))
        diagonal = machine.own_similarity({id(f.term.source): f.features for f in machine.terms})
        counted = {id(f.term.source): f.features for f in judged.terms}
        for begin in range(0, len(rows), 256):
            here = slice(begin, begin + 256)
            K = machine.compare({key: own[here] for key, own in counted.items()}, self.n_jobs)
            near[:, here] = nearest_others(K, rows[here], diagonal, numbers)
        noise = alpha / data.weights[rows]
        K = judged.gram(self.n_jobs)
        self._groups = groups
        self._learn_sigma(K, rows, errors, groups, noise, (near[0].astype(np.int64), near[1]))
        return errors

    def _learn_sigma(
        self,
        K: np.ndarray,
        rows: np.ndarray,
        errors: np.ndarray,
        groups: np.ndarray,
        noise: np.ndarray,
        near: tuple[np.ndarray, np.ndarray],
    ) -> None:
        """Learn the size of errors and the limit of the domain."""
        self._report("learning from held-out errors")
        self.domain_threshold_ = float(np.quantile(near[1], OUTSIDE))
        self._sigma: Sigma = learn_sigma(
            K, rows, self.n_graphs_, errors[rows], groups[rows], noise, *near
        )

    # ---------------------------------------------------------------- comparing

    def _compared(self, X: Any) -> Compared:
        """Compare graphs with the training graphs, unless they have been."""
        check_is_fitted(self, "machine_")
        counted = self.count(X)
        if counted.compared is not None:
            return counted.compared
        assert counted.features is not None
        machine, sigma, graphs = self.machine_, self._sigma, len(counted)
        values, logs = np.empty((2, graphs, machine.n_outputs))
        to_landmarks = np.empty((graphs, len(sigma.landmarks)))
        nearest, similarity = np.zeros(graphs, dtype=np.int64), np.zeros(graphs)
        own = machine.own_similarity(counted.features)
        everyone = machine.own_similarity({id(f.term.source): f.features for f in machine.terms})
        roots = np.sqrt(np.maximum(everyone, 1e-300))
        size = max(1, BLOCK // machine.n_graphs)
        with self._blas():
            for begin in range(0, graphs, size):
                here = slice(begin, begin + size)
                part = {key: features[here] for key, features in counted.features.items()}
                K = machine.compare(part if size < graphs else counted.features, self.n_jobs)
                values[here] = K @ machine.coefficients.T + machine.intercept
                logs[here] = K @ sigma.coefficients.T
                to_landmarks[here] = K[:, sigma.landmarks]
                K /= roots
                K /= np.sqrt(np.maximum(own[here], 1e-300))[:, np.newaxis]
                nearest[here], similarity[here] = K.argmax(axis=1), K.max(axis=1)
            in_training = (similarity >= EQUAL) & np.isclose(own, everyone[nearest], 1e-9, 0)
            variance = sigma.posterior.variance(to_landmarks, own)
        logs += sigma.bias + np.column_stack([variance, similarity]) @ sigma.slopes.T
        counted.compared = Compared(
            values, to_landmarks, own, variance, nearest, similarity, in_training, logs
        )
        return counted.compared

    def domain(self, X: Any) -> dict[str, np.ndarray]:
        """Measure how close graphs are to the training graphs.

        Parameters
        ----------
        X : as in :meth:`fit`

        Returns
        -------
        dict of arrays, ready for a data frame
            ``nearest``, the position of the most similar training graph, and its ``similarity``;
            ``unseen``, the share of the graph's pattern occurrences that no training graph has;
            ``leverage``, the ratio of posterior to prior variance, near 1 for a graph that has
            nothing in common with the training graphs; ``in_training``, whether a training graph
            has the same patterns, so that its target was seen in training; ``inside``, whether the
            graph has no other labels than the training graphs, and its similarity reaches the 5 %
            quantile of those of training graphs to the nearest other one; and the ``reason`` if it
            is not inside.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs, y = gg.load_drugs()
        >>> model = gg.GraphClassifier(gg.WeisfeilerLehman(1)).fit(graphs, y)
        >>> found = model.domain(graphs[[221]])
        >>> int(found["nearest"][0]), bool(found["inside"][0]), float(found["unseen"][0])
        (221, True, 0.0)
        """
        check_is_fitted(self, "machine_")
        counted = self.count(X)
        compared = self._compared(counted)
        assert counted.features is not None
        nearest = compared.nearest
        if self._kept is not None:
            nearest = np.flatnonzero(self._kept)[nearest]
        reasons = self._reasons(counted.batch, compared.similarity)
        return {
            "nearest": nearest,
            "similarity": compared.similarity,
            "unseen": self.machine_.unseen(counted.features, len(counted)),
            "leverage": np.minimum(compared.variance / np.maximum(compared.own, 1e-300), 1.0),
            "in_training": compared.in_training,
            "inside": reasons == "",
            "reason": reasons,
        }

    def _reasons(self, batch: GraphBatch, similarity: np.ndarray) -> np.ndarray:
        """Return why graphs are outside of the domain, in words; empty for those inside."""
        reasons = np.full(len(batch), "", dtype=object)
        for number in np.flatnonzero(similarity < self.domain_threshold_).tolist():
            reasons[number] = (
                f"its nearest training graph has similarity {similarity[number]:.2f}, below "
                f"{self.domain_threshold_:.2f}"
            )
        new = np.isin(batch.label_table, self._labels, invert=True)
        at = new[batch.label_codes]
        owners = np.searchsorted(batch.offsets, np.flatnonzero(at), side="right") - 1
        for number, code in zip(owners.tolist(), batch.label_codes[at].tolist(), strict=True):
            label = batch.label_table[code]
            reasons[number] = f"no training graph has the label {label}"
        return reasons

    # ---------------------------------------------------------------- explaining

    def pattern_sums(self, X: Any, of: str = "decision", held_out: bool = False) -> PatternSums:
        """Return decisions or log sigma as sums over the patterns of graphs; for ``explain``.

        Parameters
        ----------
        X : as in :meth:`fit`
        of : {"decision", "uncertainty"}
        held_out : bool
            Whether decisions for training graphs are those of the model without them.
        """
        counted = self.count(X)
        compared = self._compared(counted)
        if of == "uncertainty":
            return sigma_sums(self.machine_, self._sigma, counted, compared)
        sums = decision_sums(self.machine_, counted, compared)
        return self._without_themselves(sums, counted, compared) if held_out else sums

    def _without_themselves(
        self, sums: PatternSums, counted: CountedGraphs, compared: Compared
    ) -> PatternSums:
        """Replace the coefficients for training graphs by those of models without them."""
        machine = self.machine_
        coefficients = np.tile(machine.coefficients, (len(counted), 1, 1))
        biases = sums.biases.copy()
        for graph in np.flatnonzero(sums.in_training).tolist():
            members = np.flatnonzero(self._groups == self._groups[compared.nearest[graph]])
            for output in range(machine.n_outputs):
                rows, process = self._posterior(output)
                without, intercept = process.without(
                    machine.coefficients[[output]][:, rows],
                    machine.intercept[[output]],
                    np.flatnonzero(np.isin(rows, members)),
                )
                coefficients[graph, output, rows] = without[0]
                biases[graph, output] = intercept[0]
        counts = counted.features
        assert counts is not None
        K = machine.compare(counts, self.n_jobs)
        values = np.einsum("gi,goi->go", K, coefficients) + biases
        columns = columns_part(machine, counts, coefficients, np.zeros_like(biases))
        fitted = np.zeros(len(counted), dtype=bool)
        return PatternSums(sums.terms, values, biases, columns, coefficients, sums.factors, fitted)

    # ---------------------------------------------------------------- models of the closed form

    def _posterior(self, output: int = 0) -> tuple[np.ndarray, Posterior]:
        """Return the training graphs of an output and the process on them, computed once."""
        if self.n_graphs_ > MOST_DENSE:
            raise InvalidParameterError(
                f"Covariances and held-out explanations are in closed form up to {MOST_DENSE:,} "
                f"training graphs; this model has {self.n_graphs_:,}. Use predict_interval."
            )
        cached = self.__dict__.setdefault("_posteriors", {})
        if output not in cached:
            rows = np.flatnonzero(np.isfinite(self._targets[:, output]))
            with self._blas():
                K = self.machine_.part(rows).gram(self.n_jobs)
                model = Posterior(K, float(self._alphas[output]), self._training_weights[rows])
            cached[output] = rows, model
        found: tuple[np.ndarray, Posterior] = cached[output]
        return found

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_posteriors"}

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
        >>> model = gg.GraphClassifier(gg.WeisfeilerLehman(1)).fit(graphs, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder) / "drugs.ggm")
        ...     again = gg.load_model(pathlib.Path(folder) / "drugs.ggm")
        >>> bool((again.predict(graphs) == model.predict(graphs)).all())
        True
        """
        from .model_file import write_model

        check_is_fitted(self, "machine_")
        write_model(self, Path(path))


def outputs_by_rows(targets: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return sets of rows and the outputs that have a target in exactly these rows."""
    known = np.isfinite(targets)
    parts: dict[bytes, list[int]] = {}
    for output, column in enumerate(known.T):
        parts.setdefault(column.tobytes(), []).append(output)
    return [(np.flatnonzero(known[:, m[0]]), np.array(m)) for m in parts.values()]
