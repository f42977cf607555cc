"""GraphRegressor: from graphs to numbers, with an interval for each, and nothing left to choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..parameters import Number, OneOf, parameter
from .columns import TREES, ColumnEncoder, ColumnPart
from .estimator import GraphEstimator, Process, Training, check_coverage, differ
from .machine import KernelMachine
from .ridge import Posterior, Ridge, SparsePosterior, likeliest_noise, sparse_ridge
from .selection import SCORES_OF_NUMBERS, Judge, Judged, Selector, helps, starts_of
from .targets import TargetScale, check_folds, check_values
from .terms import AUTO, OneOrMore, Term, alternatives
from .terms import OF_NUMBERS as USUAL

#: Bytes for each pair of graphs: the matrix, its factor, and room for one more.
PAIR_BYTES = 24.0
SCALES = ("none", "log", "yeo-johnson")


class GraphRegressor(RegressorMixin, GraphEstimator):
    """Predict numbers from graphs: a sum of kernels and ridge regression that tune themselves.

    Parameters
    ----------
    kernels : str, kernel, KernelGrid, or list of these, default=("tree++", "sp")
        As in :class:`GraphClassifier`.
    max_level : int, default=3
        The levels of named kernels (tree depths, refinement steps) from 0 to this are tried.
    path_depth, centrality, edge_labels, views, attributes, counts
        As in :class:`GraphClassifier`.
    alpha : float or list of float
        How much to smooth, for kernels whose graphs have similarity 1 with themselves (on
        average). Of equally good values the largest is taken.
    similarity : "auto", str or list of str, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries min-max, cosines, and dot products: what grows
        with the size of a graph, such as its mass, is a dot product.
    max_terms, solver, graphs, descriptors, time_budget, cv, random_state, n_jobs, verbose
        As in :class:`GraphClassifier`.
    scale : {"auto", "none", "log", "yeo-johnson"}, default="auto"
        The scale on which targets are learned. "auto" compares targets as they are, their
        logarithm where all are above 0, and the power of Yeo and Johnson, by the score in the
        units of the targets.
    loss : {"squared", "huber"}, default="squared"
        "huber" lets large errors count linearly, so that a few wild values do not rule.
    scoring : {"auto", "rmse", "mae", "r2", "spearman"}, default="auto"
        What kernels and scales are judged by. "auto" is the root mean squared error, and the mean
        absolute one with ``loss="huber"``.

    Attributes
    ----------
    terms_, best_params_, cv_results_, skipped_
        As in :class:`GraphClassifier`.
    best_score_ : float
        The score in the inner cross-validation; errors are negative.
    scale_ : str
        The scale on which targets are learned.
    machine_ : KernelMachine
        What was learned; its values are targets on that scale, with mean 0 and deviation 1.
    held_out_ : array
        What was predicted for each training graph by a model trained without it.

    See Also
    --------
    GraphClassifier : The same for classes.
    explain : Why it predicts what it predicts.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _ = gg.load_drugs()
    >>> atoms = graphs.vertex_counts
    >>> model = gg.GraphRegressor(max_level=2).fit(graphs[::2], atoms[::2])
    >>> model.score(graphs[1::2], atoms[1::2]) > 0.95
    True
    >>> low, high = model.predict_interval(graphs[1::2], coverage=0.9)
    >>> bool(((low <= atoms[1::2]) & (atoms[1::2] <= high)).mean() > 0.8)
    True
    """

    alpha: Any = parameter(
        OneOrMore(Number(0.0)), default=(1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 10.0)
    )
    scale: str = parameter(OneOf((AUTO, *SCALES)), default=AUTO)
    loss: str = parameter(OneOf(("squared", "huber")), default="squared")
    scoring: str = parameter(OneOf((AUTO, *SCORES_OF_NUMBERS)), default=AUTO)

    _tuned = "alpha"
    _usual = USUAL
    _rounds = (300, 700, 1000)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # ---------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose kernels, scale and parameters, and train.

        Parameters
        ----------
        X : GraphBatch, sequence of graphs, or data frame with a column of graphs
        y : array-like of numbers
            One per graph, or one row per graph. Rows may have gaps (NaN): each target is learned
            from the graphs that have it, with the same kernels.
        sample_weight : array-like, optional
            How much the error of each graph counts; graphs of weight 0 are left out.
        groups : array-like, optional
            Graphs of a group are never in different folds.
        """
        batch, columns = self._read_to_fit(X)
        values = check_values(y, len(batch), gaps=True)
        weights = self._checked_weights(sample_weight, len(batch))
        groups = None if groups is None else np.asarray(groups)
        kept = weights > 0
        if values.ndim == 2:
            kept &= np.isfinite(values).any(axis=1)
        if not kept.all():
            rows = np.flatnonzero(kept)
            batch, values, weights = batch[rows], values[rows], weights[rows]
            columns = {name: own[rows] for name, own in columns.items()}
            groups = None if groups is None else groups[rows]
            check_folds(self.cv if isinstance(self.cv, int) else 2, len(rows))
        weights = weights / weights.mean()
        self._one_target = values.ndim == 1
        targets = values.reshape(len(batch), -1)
        rng = np.random.default_rng(self.random_state)
        folds = self._folds(batch, None, groups, rng)
        self.scoring_ = self.scoring
        if self.scoring == AUTO:
            self.scoring_ = "mae" if self.loss == "huber" else "rmse"
        with self._blas():
            self._fit(Training(batch, columns, targets, weights, folds), rng)
        return self

    def _fit(self, data: Training, rng: np.random.Generator) -> None:
        targets = data.targets
        linear = self._is_linear(len(targets), PAIR_BYTES)
        # The target with most values chooses the kernels for all, if there are gaps.
        whole = np.isfinite(targets).all(axis=1)
        chosen = slice(None)
        if not whole.all():
            most = int(np.isfinite(targets).sum(axis=0).argmax())
            whole, chosen = np.isfinite(targets[:, most]), slice(most, most + 1)
        there = np.flatnonzero(whole)
        sample = np.sort(rng.permutation(there)[: self._rounds[-1]])
        rounds = [
            np.sort(rng.permutation(len(sample))[:size])
            for size in self._rounds[:-1]
            if 1.25 * size <= len(sample)
        ]
        rounds = rounds or [np.arange(len(sample))]
        terms = self._terms(data.batch, linear)
        learner = Ridge(sorted(alternatives(self.alpha)), self.loss)
        self._target_scale = TargetScale("none", targets, data.weights)
        judge = self._judge(learner, data, sample, chosen)
        kind = self._choose_scale(terms, data, sample, rounds[0], chosen, learner)
        if kind != "none":
            self._target_scale = TargetScale(kind, targets, data.weights)
            judge = self._judge(learner, data, sample, chosen)
        self.scale_ = kind
        selection, selector = self._select(data, sample, rounds, judge, terms)
        everyone = np.arange(len(sample))
        total = selector.mean(selection.terms, everyone)
        judged = judge(total, everyone)
        selection.value = float(learner.grid[judged.place])
        selection.score = judged.mean
        self._keep(selection, learner.grid)
        scaled = data._replace(targets=self._target_scale.scaled(targets))
        if linear:
            self._train_linear(selection.terms, scaled, selection.value, judge, sample)
        else:
            self._train_kernel(selection.terms, scaled, learner, judge, judged, sample, total)
        self.held_out_ = self._shaped(self._target_scale.original(self._held_out))
        self.n_graphs_ = len(targets)

    def _judge(
        self,
        learner: Ridge,
        data: Training,
        sample: np.ndarray,
        chosen: slice,
        scoring: str | None = None,
    ) -> Judge:
        """Judges by the score in the user's units; models learn scaled targets."""
        scale, own = self._target_scale, data.targets[sample]
        measure = SCORES_OF_NUMBERS[scoring or self.scoring_]
        # targets of different units count the same
        units = np.nanstd(data.targets, axis=0)
        units = np.where((units > 0) & (data.targets.shape[1] > 1), units, 1.0)

        def score(positions: np.ndarray, values: np.ndarray) -> float:
            wide = np.zeros((len(values), data.targets.shape[1]))
            wide[:, chosen] = values
            said = scale.original(wide)
            return measure((own[positions] / units)[:, chosen], (said / units)[:, chosen])

        return Judge(
            learner,
            scale.scaled(own)[:, chosen],
            data.folds[sample],
            data.weights[sample],
            score,
            self.n_jobs,
        )

    def _choose_scale(
        self,
        terms: list[Term],
        data: Training,
        sample: np.ndarray,
        positions: np.ndarray,
        chosen: slice,
        learner: Ridge,
    ) -> str:
        """The scale by which plain kernels predict best in the user's units.

        Unless the user has chosen a score, absolute errors judge: squared ones of skewed targets
        are those of the few largest, and no scale is clearly better by them.
        What grows with a graph is straight for a dot product alone: without one, another scale
        would have to make up for that.
        """
        if self.scale != AUTO:
            if self.scale == "log":
                known = data.targets[np.isfinite(data.targets)]
                if (known <= 0).any():
                    raise InvalidParameterError(
                        f"scale='log' needs targets above 0; the smallest is {known.min():g}. Use "
                        "scale='yeo-johnson'."
                    )
            return self.scale
        batch = data.batch[sample[positions]]
        scoring = "mae" if self.scoring == AUTO else self.scoring_
        selector = Selector(
            lambda source: source.count(batch, self.n_jobs),
            self._judge(learner, data, sample, chosen, scoring),
            [],
            1,
            self._tell,
            lambda: True,
        )
        everyone = np.arange(len(positions))
        plain = [(starts_of(terms) or [terms[:1]])[0]]
        plain += [[t] for t in terms if (t.counts, t.similarity) == ("raw", "dot")][:1]
        matrices = [selector.mean(some, everyone) for some in plain]
        own = data.targets[np.isfinite(data.targets)]
        kinds = ["none", *(["log"] if (own > 0).all() else []), "yeo-johnson"]
        best: tuple[Judged, str] | None = None
        for kind in kinds:
            before = self._target_scale
            self._target_scale = TargetScale(kind, data.targets, data.weights)
            judge = self._judge(learner, data, sample, chosen, scoring)
            judged = max((judge(K, positions) for K in matrices), key=lambda one: one.mean)
            self._target_scale = before
            if best is None or helps(judged, best[0]):
                best = (judged, kind)
        assert best is not None
        return best[1]

    def _train_kernel(
        self,
        terms: list[Term],
        data: Training,
        learner: Ridge,
        judge: Judge,
        judged: Judged,
        sample: np.ndarray,
        total: np.ndarray,
    ) -> None:
        """Train on the kernel matrix of all graphs; held-out errors come with it."""
        outputs = data.targets.shape[1]
        machine = KernelMachine(self._fitted_terms(terms, data.batch), None, np.zeros(outputs))
        K = machine.gram(self.n_jobs)
        self._learn_domain(K, data.folds)
        K, joined, judged = self._join_columns(K, total, data, judge, sample, judged)
        coefficients = np.zeros((outputs, len(K)))
        intercept = np.zeros(outputs)
        self._held_out = np.full(data.targets.shape, np.nan)
        left = np.full(data.targets.shape, np.nan)
        self._shifts = np.full(data.targets.shape, np.nan)
        self._alphas = np.zeros(outputs)
        self._training_weights = np.ones(data.targets.shape)
        self._column_share_ = joined.share
        groups: dict[bytes, list[int]] = {}
        for output, own in enumerate(np.isfinite(data.targets).T):
            groups.setdefault(own.tobytes(), []).append(output)
        for names in groups.values():
            members = np.array(names)
            there = np.flatnonzero(np.isfinite(data.targets[:, members[0]]))
            wanted = data.targets[np.ix_(there, members)]
            here = K if len(there) == len(K) else K[np.ix_(there, there)]
            alpha = float(learner.grid[judged.place])
            if len(groups) > 1:
                alpha = self._best_alpha(here, wanted, learner, data, there)
            own, bias, weights = learner.fit(here, wanted, alpha, data.weights[there])
            coefficients[np.ix_(members, there)] = own
            intercept[members] = bias
            posterior = Posterior(here, alpha, weights)
            factors = posterior.held_out_factors()[:, np.newaxis]
            errors = own.T / factors
            self._held_out[np.ix_(there, members)] = wanted - errors
            self._shifts[np.ix_(there, members)] = errors
            without_noise = 1.0 / factors - (alpha / weights)[:, np.newaxis]
            left[np.ix_(there, members)] = np.maximum(without_noise, 0.0)
            self._alphas[members] = alpha
            self._training_weights[np.ix_(there, members)] = weights[:, np.newaxis]
            if len(groups) == 1:
                self.__dict__["_factored"] = posterior
        self.best_params_[self._tuned] = float(self._alphas[0])
        machine.intercept = intercept
        joined.split(machine, coefficients)
        machine = self._with_forest(machine, joined.rows, data, judge, sample)
        self._scaled_targets = data.targets
        self.machine_ = machine
        self._learn_spread(left)

    def _learn_spread(self, left: np.ndarray) -> None:
        """Noise and scale of the process, and the standard deviation of each training graph.

        ``left`` are held-out variances in units of the kernel, without noise.
        """
        outputs = self._scaled_targets.shape[1]
        self._noises, self._variance = np.zeros(outputs), np.ones(outputs)
        self._deviations = np.full(self._scaled_targets.shape, np.nan)
        for output, own in enumerate(np.isfinite(self._scaled_targets).T):
            errors = self._scaled_targets[own, output] - self._held_out[own, output]
            weights = self._training_weights[own, output]
            noise, scale = likeliest_noise(errors, left[own, output], weights)
            self._noises[output], self._variance[output] = noise, scale
            self._deviations[own, output] = np.sqrt(left[own, output] + noise / weights)

    def _best_alpha(
        self, K: np.ndarray, wanted: np.ndarray, learner: Ridge, data: Training, there: np.ndarray
    ) -> float:
        """The alpha of a target that has its own graphs."""
        some = np.arange(len(there))[: self._rounds[-1]]
        found = learner.held_out(
            K[np.ix_(some, some)],
            wanted[some],
            data.folds[there][some],
            data.weights[there][some],
            self.n_jobs,
        )
        errors = [float(np.mean((values - wanted[some]) ** 2)) for values in found]
        return float(learner.grid[int(np.argmin(errors))])

    def _with_forest(
        self,
        machine: KernelMachine,
        rows: np.ndarray,
        data: Training,
        judge: Judge,
        sample: np.ndarray,
    ) -> KernelMachine:
        """Trees on the columns join the machine where they help."""
        if machine.columns is None or not np.isfinite(data.targets).all() or not differ(rows):
            return machine
        found = self._held_out_forest(rows, data, np.arange(len(rows)), None)
        share = self._forest_share(
            judge, np.arange(len(sample)), self._held_out[sample], found[sample]
        )
        if not share:
            return machine
        outputs = data.targets.shape[1]
        machine = machine.rescaled(np.full(outputs, 1 - share), np.zeros(outputs))
        forest = self._forest(rows, data.targets, data.weights, TREES, None)
        assert machine.columns is not None
        machine.columns = replace(machine.columns, forest=forest, share=np.full(outputs, share))
        self._held_out = (1 - share) * self._held_out + share * found
        self._shifts = (1 - share) * self._shifts
        return machine

    def _train_linear(
        self, terms: list[Term], data: Training, alpha: float, judge: Judge, sample: np.ndarray
    ) -> None:
        if not np.isfinite(data.targets).all():
            raise InvalidParameterError(
                f"Targets with gaps need solver='kernel'; {len(data.targets):,} graphs are too "
                "many for it here. Fit a model for each target."
            )
        self.machine_, self._held_out, variance = self._train_features(
            terms,
            data,
            lambda matrix, rows: sparse_ridge(
                matrix, data.targets[rows], alpha, data.weights[rows]
            ),
            alpha,
        )
        outputs = data.targets.shape[1]
        self._training_weights = np.tile(data.weights[:, np.newaxis], (1, outputs))
        self._shifts = np.zeros(data.targets.shape)
        self._alphas = np.full(outputs, alpha)
        self._scaled_targets = data.targets
        self._column_share_ = 0.0
        if data.columns:
            encoder = ColumnEncoder.fit(data.columns)
            rows = encoder.transform(data.columns)
            self.machine_.columns = ColumnPart(encoder)
            self.machine_ = self._with_forest(self.machine_, rows, data, judge, sample)
        self._learn_spread(np.tile(variance[:, np.newaxis], (1, outputs)))

    def _explained_units(self) -> tuple[np.ndarray, np.ndarray]:
        return self._target_scale.spread, self._target_scale.mean

    def _noise(self) -> float:
        return float(self._alphas[0])

    # ---------------------------------------------------------------- predict

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The number of each graph.

        Parameters
        ----------
        X : as in :meth:`fit`
        return_std : bool, default=False
            Also return the standard deviation of the prediction, noise included, from the
            Gaussian process whose mean this model is.

        Returns
        -------
        array of shape (graphs,) or (graphs, targets); with ``return_std`` a pair of such arrays
        """
        check_is_fitted(self, "machine_")
        batch, columns = self._read(X)
        values = self._values_of(batch, columns)
        said = self._shaped(self._target_scale.original(values))
        if not return_std:
            return said
        deviations = np.empty(values.shape)
        for output, begin, std, _ in self._sureness(batch, columns):
            deviations[begin : begin + len(std), output] = std
        return said, self._shaped(deviations * self._target_scale.slope(values))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the variance of y that is predicted (R2)."""
        return float(super().score(X, y, sample_weight))

    def _sureness(
        self, batch: GraphBatch, columns: dict[str, np.ndarray]
    ) -> Iterator[tuple[int, int, np.ndarray, np.ndarray | None]]:
        """For each target and block of graphs: where it begins, standard deviations, shares.

        Standard deviations are on the scale of learning.
        The shares (graphs, training graphs) are those of the target of each training graph in the
        value of a graph; none where the model does not keep its training graphs.
        """
        machine = self._similar_to()
        with self._blas():
            for output, rows in self._processes():
                posterior = self._posterior_of(output, rows)
                for begin, end in machine.blocks(len(batch)):
                    some = {name: values[begin:end] for name, values in columns.items()}
                    K, own = self._pair_similarities(batch[begin:end], some)
                    K = K if rows is None else K[:, rows]
                    influence = posterior.influence(K)
                    left = posterior.variance(K, own, influence)
                    std = np.sqrt(self._variance[output] * (left + self._noises[output]))
                    shares = None
                    if isinstance(posterior, Posterior):
                        shares = posterior.shares(K, influence)
                    yield output, begin, std, shares

    def _processes(self) -> list[tuple[int, np.ndarray | None]]:
        """The outputs, each with its training graphs; None stands for all."""
        found = []
        for output, own in enumerate(np.isfinite(self._scaled_targets).T):
            found.append((output, None if own.all() else np.flatnonzero(own)))
        return found

    def _posterior_of(self, output: int, rows: np.ndarray | None) -> Posterior | SparsePosterior:
        if self._landmark_inverse is not None:
            return super()._posterior()
        if rows is None and (known := self.__dict__.get("_factored")) is not None:
            posterior: Posterior = known
            return posterior
        K = self._training_gram()
        K = K if rows is None else K[np.ix_(rows, rows)]
        weights = self._training_weights[:, output]
        weights = weights if rows is None else weights[rows]
        found = Posterior(K, float(self._alphas[output]), weights)
        if rows is None:
            self.__dict__["_factored"] = found
        return found

    def _posterior(self) -> Posterior | SparsePosterior:
        """That of the first target; graphs without it have so much noise that they say nothing."""
        rows = self._processes()[0][1]
        if rows is None:
            return self._posterior_of(0, None)
        weights = np.full(len(self._training_weights), 1e-12)
        weights[rows] = self._training_weights[rows, 0]
        return Posterior(self._training_gram(), float(self._alphas[0]), weights)

    def _process(self) -> Process:
        process = super()._process()
        units = float(self._target_scale.spread[0]) ** 2
        variance = float(self._variance[0]) * units
        return process._replace(
            variance=variance,
            noise=variance * float(self._noises[0]),
            share=1.0 - self._column_share_,
        )

    def _training_gram(self) -> np.ndarray:
        K, share = self.machine_.gram(self.n_jobs), self._column_share_
        part = self.machine_.columns
        if share and part is not None and part.kernel is not None:
            K = (1 - share) * K + share * part.kernel.compare(part.kernel.rows)
        return K

    def _with_columns(
        self, K: np.ndarray, own: np.ndarray, columns: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        share, part = self._column_share_, self.machine_.columns
        if share and part is not None and part.kernel is not None:
            other = part.kernel.compare(part.encoder.transform(columns))
            K, own = (1 - share) * K + share * other, (1 - share) * own + share
        return K, own

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Where the number of each graph lies with this probability.

        By the jackknife+, normalised (Barber et al., Annals of Statistics 49, 2021): around what
        models without one of the training graphs each say lie the errors that these models make on
        that graph, in units of its standard deviation; all in closed form. Graphs of which the
        model is sure get short intervals. That holds for graphs of the kind of the training graphs
        (exchangeable with them); for new scaffolds it is less. Models trained on features
        (``solver="linear"``) take what the whole model says in the place of the models without one
        graph.

        Parameters
        ----------
        X : as in :meth:`fit`
        coverage : float, default=0.9
            Above 0 and below 1.

        Returns
        -------
        low, high : arrays of shape (graphs,) or (graphs, targets)
        """
        check_is_fitted(self, "machine_")
        check_coverage(coverage)
        batch, columns = self._read(X)
        values = self._values_of(batch, columns)
        low, high = np.empty(values.shape), np.empty(values.shape)
        for output, begin, std, shares in self._sureness(batch, columns):
            own = np.isfinite(self._scaled_targets[:, output])
            errors = np.abs(self._scaled_targets - self._held_out)[own, output]
            spread = self._deviations[own, output] * np.sqrt(self._variance[output])
            place = _upper_place(len(errors), coverage)
            room = std[:, np.newaxis] * (errors / np.maximum(spread, 1e-300))
            here = slice(begin, begin + len(std))
            without = values[here, output : output + 1]
            if shares is not None:
                without = without - shares * self._shifts[own, output]
            low[here, output] = -np.partition(room - without, place, axis=1)[:, place]
            high[here, output] = np.partition(room + without, place, axis=1)[:, place]
        low, high = self._target_scale.original(low), self._target_scale.original(high)
        return self._shaped(low), self._shaped(high)

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._one_target else values


def _upper_place(number: int, coverage: float) -> int:
    """Which of the errors, in ascending order, is as large as one more with this probability.

    Counted from 0.
    """
    place = int(np.ceil(coverage * (number + 1) - 1e-9))
    if place > number:
        least = int(np.ceil(coverage / (1 - coverage) - 1e-9))
        raise InvalidParameterError(
            f"coverage={coverage:g} needs at least {least} training graphs; there "
            f"are {number}. Use more of them, or at most "
            f"coverage={np.floor(1000 * number / (number + 1)) / 1000:g}."
        )
    return place - 1
