"""GraphRegressor: regression on graphs with automatic kernel selection and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidParameterError
from ..parameters import Number, OneOf, all_or_nothing, check_value, parameter
from .estimator import COVERAGE, CountedGraphs, GraphEstimator, Training
from .inputs import check_values
from .machine import Term
from .ridge import Posterior, Ridge, SparsePosterior, likeliest_noise, sparse_ridge
from .selection import (
    AUTO,
    OF_NUMBERS,
    SCORES_OF_NUMBERS,
    CrossValidation,
    FoldScores,
    OneOrMore,
    Selector,
    alternatives,
    is_better,
    starts_of,
)

#: Bytes per pair of graphs: the kernel matrix, its factor, and workspace for one more.
PAIR_BYTES = 24.0
#: Points at which a distribution on another scale is evaluated for its standard deviation.
_NODES = 15
SCALES = ("none", "log", "yeo-johnson")


class GraphRegressor(RegressorMixin, GraphEstimator):
    """Predict numbers from graphs with a sum of kernels and ridge regression, tuned automatically.

    Parameters
    ----------
    kernels : str, kernel, KernelGrid, or list of these, default=("tree++", "sp")
        As in :class:`GraphClassifier`.
    max_level : int, default=3
        Highest level of named kernels (tree depth, refinement steps); all levels from 0 are tried.
    path_depth, centrality, edge_labels, views, attributes, counts
        As in :class:`GraphClassifier`.
    alpha : float or list of float
        Regularisation strength, relative to a kernel that is 1 on average between a graph and
        itself. Of equally good values the largest is chosen.
    similarity : "auto", str or list of str, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries min-max, cosine and dot product; the last suits
        targets that grow with the size of a graph, such as its mass.
    max_terms, solver, graphs, descriptors, time_budget, cv, random_state, n_jobs, verbose
        As in :class:`GraphClassifier`.
    scale : {"auto", "none", "log", "yeo-johnson"}, default="auto"
        Transformation of the targets. "auto" compares no transformation, the logarithm (if all
        targets are positive) and the Yeo-Johnson power transform by the score in the original
        units.
    loss : {"squared", "huber"}, default="squared"
        "huber" penalises large errors linearly, which limits the influence of outliers.
    scoring : {"auto", "rmse", "mae", "r2", "spearman"}, default="auto"
        Score used to compare kernels and scales. "auto" is the root mean squared error, but the
        mean absolute error with ``loss="huber"`` and for transformed targets: squared errors of
        skewed targets are dominated by the few largest values.

    Attributes
    ----------
    terms_, best_params_, cv_results_, skipped_
        As in :class:`GraphClassifier`.
    best_score_ : float
        Score in the inner cross-validation; errors are negative.
    scoring_ : str
        Score used to compare kernels.
    scale_ : str
        Transformation of the targets.
    machine_ : KernelMachine
        The fitted model; its outputs are transformed targets with mean 0 and standard deviation 1.
    held_out_ : array
        Prediction for each training graph by a model trained without it; NaN for graphs of weight
        0 and for missing targets.

    See Also
    --------
    GraphClassifier : Classification with the same kernels.
    explain : Attribute predictions to vertices and patterns.

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

    _usual = OF_NUMBERS
    _rounds = (300, 700, 1000)
    _clear = 1.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # ---------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select kernels, scale and parameters by cross-validation, and train on all graphs.

        Parameters
        ----------
        X : GraphBatch, sequence of graphs, or data frame with a column of graphs
        y : array-like of numbers
            One number or one row of numbers per graph. Rows may contain missing values (NaN):
            each target is learned from the graphs that have it, with the same kernels.
        sample_weight : array-like, optional
            Weight of each graph; graphs of weight 0 are ignored.
        groups : array-like, optional
            Graphs of the same group are kept in the same fold.

        Returns
        -------
        self : GraphRegressor
        """
        with all_or_nothing(self):
            batch, columns = self._read_to_fit(X)
            values = check_values(y, len(batch), gaps=True)
            weights = self._checked_weights(sample_weight, len(batch))
            self._one_target = values.ndim == 1
            targets = values.reshape(len(batch), -1)
            kept = (weights > 0) & np.isfinite(targets).any(axis=1)
            rng = np.random.default_rng(self.random_state)
            data = self._training(batch, columns, targets, weights, kept, groups, rng)
            self.scoring_ = self.scoring
            if self.scoring == AUTO:
                self.scoring_ = "mae" if self.loss == "huber" else "rmse"
            if self.scoring_ in ("r2", "spearman") and np.bincount(data.folds).max() < 2:
                raise InvalidParameterError(
                    f"scoring={self.scoring_!r} needs folds of two graphs or more; those of "
                    f"cv={self.cv!r} have one. Use fewer folds, or scoring='rmse'."
                )
            with self._blas(len(data.targets)):
                self._fit(data._replace(weights=data.weights / data.weights.mean()), rng)
        return self

    def _fit(self, data: Training, rng: np.random.Generator) -> None:
        targets = data.targets
        linear = self._is_linear(len(targets), PAIR_BYTES)
        # With missing values, kernels are selected on the target that has the most values.
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
        validation_of = partial(self._validation, learner, data, sample, chosen)
        self._target_scale = self._choose_scale(terms, data, sample, rounds[0], validation_of)
        self.scale_ = self._target_scale.kind
        if self.scoring == AUTO and self.scale_ != "none":
            self.scoring_ = "mae"
        validation = validation_of(self._target_scale, self.scoring_)
        selector = self._select(data, rounds, validation, terms)
        total = selector.mean(selector.terms)
        scored = validation(total)
        self._keep(selector, scored)
        data = data._replace(targets=self._target_scale.scaled(targets))
        if linear:
            self._train_linear(data, selector)
        else:
            self._train_kernel(data, selector, scored, total)
        held_out = self._target_scale.original(self._held_out)
        self.held_out_ = self._shaped(self._by_row(held_out, np.nan))
        self.n_graphs_ = len(targets)

    def _validation(
        self,
        learner: Ridge,
        data: Training,
        sample: np.ndarray,
        chosen: slice,
        scale: TargetScale,
        scoring: str,
    ) -> CrossValidation:
        """Return the cross-validation of models of scaled targets, scored in the original units."""
        own = data.targets[sample]
        measure = SCORES_OF_NUMBERS[scoring]
        # several targets count equally, whatever their units
        units = np.nanstd(data.targets, axis=0)
        units = np.where((units > 0) & (data.targets.shape[1] > 1), units, 1.0)

        def score(positions: np.ndarray, values: np.ndarray) -> float:
            wide = np.zeros((len(values), data.targets.shape[1]))
            wide[:, chosen] = values
            predicted = scale.original(wide)
            return measure((own[positions] / units)[:, chosen], (predicted / units)[:, chosen])

        wanted = scale.scaled(own)[:, chosen]
        folds, weights = data.folds[sample], data.weights[sample]
        return CrossValidation(learner, sample, wanted, folds, weights, score, self.n_jobs)

    def _choose_scale(
        self,
        terms: list[Term],
        data: Training,
        sample: np.ndarray,
        positions: np.ndarray,
        validation_of: Callable[[TargetScale, str], CrossValidation],
    ) -> TargetScale:
        """Return the scale with which a few fixed kernels predict best in the original units.

        With ``scoring="auto"`` absolute errors are compared. The fixed kernels include a dot
        product, if there is one: only in it are targets linear that grow with the graph, and
        without it a transformation may be chosen merely to compensate.
        """
        least = float(np.nanmin(data.targets))
        if self.scale == "log" and least <= 0:
            raise InvalidParameterError(
                f"scale='log' needs targets above 0; the smallest is {least:g}. Use "
                "scale='yeo-johnson'."
            )
        if self.scale != AUTO:
            return TargetScale(self.scale, data.targets, data.weights)
        scoring = "mae" if self.scoring == AUTO else self.scoring_
        scales = [
            TargetScale(kind, data.targets, data.weights)
            for kind in SCALES
            if kind != "log" or least > 0
        ]
        validations = [validation_of(scale, scoring) for scale in scales]
        selector = Selector(data.batch[sample[positions]], validations[0])
        plain = [(starts_of(terms) or [terms[:1]])[0]]
        plain += [[t] for t in terms if (t.counts, t.similarity) == ("raw", "dot")][:1]
        matrices = [selector.mean(some) for some in plain]
        best: tuple[FoldScores, TargetScale] | None = None
        for validation, scale in zip(validations, scales, strict=True):
            scored = max((validation(K, positions) for K in matrices), key=lambda one: one.mean)
            if best is None or is_better(scored, best[0]):
                best = (scored, scale)
        assert best is not None
        return best[1]

    def _train_kernel(
        self, data: Training, selector: Selector, scored: FoldScores, total: np.ndarray
    ) -> None:
        """Train on the kernel matrix of all graphs, with leave-one-out errors in closed form."""
        targets, learner = data.targets, selector.validation.learner
        machine, K, scored = self._kernel_matrix(data, selector, scored, total, np.float64)
        outputs = targets.shape[1]
        coefficients, intercept = np.zeros((outputs, len(K))), np.zeros(outputs)
        self._held_out, left = np.full((2, *targets.shape), np.nan)
        self._shifts = np.full(targets.shape, np.nan)
        self._alphas = np.zeros(outputs)
        self._training_weights = np.ones(targets.shape)
        groups: dict[bytes, list[int]] = {}
        for output, known in enumerate(np.isfinite(targets).T):
            groups.setdefault(known.tobytes(), []).append(output)
        for members in map(np.array, groups.values()):
            there = np.flatnonzero(np.isfinite(targets[:, members[0]]))
            here = np.ix_(there, members)
            own = K if len(there) == len(K) else K[np.ix_(there, there)]
            alpha = float(learner.grid[scored.place])
            if len(groups) > 1:
                alpha = self._best_alpha(own, targets[here], learner, data, there, alpha)
            posterior = learner.fit(own, targets[here], alpha, data.weights[there])
            found, intercept[members] = posterior.solve(targets[here])
            coefficients[np.ix_(members, there)] = found
            # zero if nothing is left without the graph, the only one of its target
            factors = np.maximum(posterior.held_out_factors(), 1e-12)[:, np.newaxis]
            errors = found.T / factors
            self._held_out[here] = targets[here] - errors
            self._shifts[here] = errors
            left[here] = np.maximum(1.0 / factors - posterior.noise[:, np.newaxis], 0.0)
            self._alphas[members] = alpha
            self._training_weights[here] = posterior.weights[:, np.newaxis]
            if len(groups) == 1:
                self._factored = posterior
        self.best_params_["alpha"] = float(self._alphas[0])
        machine.set_coefficients(coefficients, intercept, self._column_share_)
        self._scaled_targets = targets
        self.machine_ = machine
        self._finish(data, selector.validation, left)

    def _train_linear(self, data: Training, selector: Selector) -> None:
        if not np.isfinite(data.targets).all():
            raise InvalidParameterError(
                "Targets with gaps need solver='kernel'; got solver='linear', or more graphs "
                f"({len(data.targets):,}) than 'auto' has the memory for. Fit a model for each "
                "target."
            )
        alpha = self.best_params_["alpha"]
        self.machine_, self._held_out, variance = self._train_features(
            selector,
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
        self._finish(data, selector.validation, np.tile(variance[:, np.newaxis], (1, outputs)))

    def _finish(self, data: Training, validation: CrossValidation, left: np.ndarray) -> None:
        """Add the forest, and estimate noise, variance and held-out standard deviations.

        ``left`` are held-out variances in units of the kernel, without noise.
        """
        self.machine_, self._held_out, share = self._with_forest(
            self.machine_, self._held_out, data, validation
        )
        self._shifts = (1 - share) * self._shifts
        outputs = data.targets.shape[1]
        self._noises, self._variance = np.zeros(outputs), np.ones(outputs)
        self._deviations = np.full(data.targets.shape, np.nan)
        for output, own in enumerate(np.isfinite(data.targets).T):
            errors = data.targets[own, output] - self._held_out[own, output]
            weights = self._training_weights[own, output]
            noise, scale = likeliest_noise(errors, left[own, output], weights)
            self._noises[output], self._variance[output] = noise, scale
            # without the weights of the Huber loss, which depend on the error of the graph itself
            noises = noise / data.weights[own]
            self._deviations[own, output] = np.sqrt(left[own, output] + noises)

    def _best_alpha(
        self,
        K: np.ndarray,
        wanted: np.ndarray,
        learner: Ridge,
        data: Training,
        there: np.ndarray,
        shared: float,
    ) -> float:
        """Return the alpha of a target that only some graphs have.

        ``shared`` is used if all of them are in one fold.
        """
        some = slice(self._rounds[-1])
        rows = there[some]
        folds, weights = data.folds[rows], data.weights[rows]
        if (folds == folds[0]).all():
            return shared
        found = learner.held_out(K[some, some], wanted[some], folds, weights)
        errors = [float(np.mean((values - wanted[some]) ** 2)) for values in found]
        return float(learner.grid[int(np.argmin(errors))])

    def _explained_units(self) -> tuple[np.ndarray, np.ndarray]:
        return self._target_scale.spread, self._target_scale.mean

    def _noise(self) -> tuple[float, np.ndarray]:
        """Return alpha and weights of the first target that all graphs have."""
        whole = int(np.isfinite(self._scaled_targets).all(axis=0).argmax())
        return float(self._alphas[whole]), self._training_weights[:, whole]

    # ---------------------------------------------------------------- predict

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> np.ndarray: ...

    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the target of each graph.

        Parameters
        ----------
        X : as in :meth:`fit`
        return_std : bool, default=False
            Also return the standard deviation of the prediction, including noise, of the Gaussian
            process whose mean is this model. If the target was transformed, it is the root mean
            squared deviation from the prediction, in the units of the target.

        Returns
        -------
        array of shape (graphs,) or (graphs, targets); with ``return_std`` a pair of such arrays
        """
        check_is_fitted(self, "machine_")
        if not return_std:
            return self._shaped(self._target_scale.original(self._values(X)))
        read = self._read(X)
        values, deviations = np.empty((2, len(read), self.machine_.n_outputs))
        for output, here, value, std, _ in self._with_std(read):
            values[here, output], deviations[here, output] = value, std
        predicted = self._shaped(self._target_scale.original(values))
        return predicted, self._shaped(self._target_scale.deviation(values, deviations))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination (R2)."""
        return float(super().score(X, y, sample_weight))

    def _with_std(
        self, read: CountedGraphs
    ) -> Iterator[tuple[int, slice, np.ndarray, np.ndarray, np.ndarray | None]]:
        """Yield target, positions, values, standard deviations and shares for blocks of graphs.

        Values and standard deviations are those of the scaled targets. The shares (graphs, training
        graphs) are the weights of the training targets in the value of a graph; None if the model
        does not keep its training graphs.
        """
        targets: dict[bytes, list[int]] = {}  # those that the same training graphs have
        for output, known in enumerate(np.isfinite(self._scaled_targets).T):
            targets.setdefault(known.tobytes(), []).append(output)
        blocks: Iterable[Any] = self._counted_blocks(read)
        if len(targets) > 1:
            blocks = list(blocks)
        with self._blas(self.n_graphs_):
            for members in targets.values():
                there, posterior = self._process(members[0])
                for here, counted, some in blocks:
                    values = self.machine_.values(counted, some, self.n_jobs)
                    K, own = self._pair_similarities(counted, some)
                    K = K[:, there]
                    influence = posterior.influence(K)
                    left = posterior.variance(K, own, influence)
                    shares = None
                    if isinstance(posterior, Posterior):
                        shares = posterior.shares(K, influence)
                    for output in members:
                        std = np.sqrt(self._variance[output] * (left + self._noises[output]))
                        yield output, here, values[:, output], std, shares

    def _process(self, output: int = 0) -> tuple[Any, Posterior | SparsePosterior]:
        known = np.isfinite(self._scaled_targets[:, output])
        if known.all():
            return super()._process()
        gram = self._training_gram()[np.ix_(known, known)]
        weights = self._training_weights[known, output]
        return known, Posterior(gram, float(self._alphas[output]), weights)

    def _process_units(self, output: int = 0) -> tuple[float, float]:
        variance = float(self._variance[output]) * float(self._target_scale.spread[output]) ** 2
        return variance, variance * float(self._noises[output])

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return intervals that contain the target of a graph with the given probability.

        The intervals are those of a normalised jackknife+ (Barber et al., Annals of Statistics 49,
        2021), in closed form: they combine the predictions of the leave-one-out models with the
        errors of these models on the omitted training graphs, in units of the standard deviation.
        Graphs with a small standard deviation get narrow intervals. The coverage holds for graphs
        exchangeable with the training graphs; for new scaffolds it is lower. Models trained on
        features (``solver="linear"``) use the prediction of the full model in place of the
        leave-one-out predictions.

        Parameters
        ----------
        X : as in :meth:`fit`
        coverage : float, default=0.9
            Probability between 0 and 1, both excluded.

        Returns
        -------
        low, high : arrays of shape (graphs,) or (graphs, targets)
        """
        check_is_fitted(self, "machine_")
        check_value("coverage", coverage, COVERAGE)
        read = self._read(X)
        low, high = np.empty((2, len(read), self.machine_.n_outputs))
        for output, here, value, std, shares in self._with_std(read):
            own = np.isfinite(self._scaled_targets[:, output])
            errors = np.abs(self._scaled_targets - self._held_out)[own, output]
            spread = self._deviations[own, output] * np.sqrt(self._variance[output])
            place = _upper_place(len(errors), coverage)
            room = std[:, np.newaxis] * (errors / np.maximum(spread, 1e-300))
            without = value[:, np.newaxis]
            if shares is not None:
                without = without - shares * self._shifts[own, output]
            low[here, output] = -np.partition(room - without, place, axis=1)[:, place]
            high[here, output] = np.partition(room + without, place, axis=1)[:, place]
        low, high = self._target_scale.original(low), self._target_scale.original(high)
        return self._shaped(low), self._shaped(high)

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._one_target else values


def _upper_place(number: int, coverage: float) -> int:
    """Return the 0-based rank of the error that a new one does not exceed with this probability."""
    place = int(np.ceil(coverage * (number + 1) - 1e-9))
    if place > number:
        least = int(np.ceil(coverage / (1 - coverage) - 1e-9))
        raise InvalidParameterError(
            f"coverage={coverage:g} needs at least {least} training graphs; there "
            f"are {number}. Use more of them, or at most "
            f"coverage={np.floor(1000 * number / (number + 1)) / 1000:g}."
        )
    return place - 1


# -------------------------------------------------------------------- target scales


class TargetScale:
    """Transformation of targets: none, logarithm or Yeo-Johnson, then standardisation.

    Parameters
    ----------
    kind : {"none", "log", "yeo-johnson"}
    values : array of shape (graphs, targets)
        Training targets, NaN where missing. Scaled targets have mean 0 and standard deviation 1.
    weights : array, optional
        Weights of the graphs for mean and standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.regressor import TargetScale
    >>> y = np.array([[1.0], [10.0], [100.0]])
    >>> scale = TargetScale("log", y)
    >>> scale.scaled(y).round(3).ravel().tolist()
    [-1.225, 0.0, 1.225]
    >>> scale.original(scale.scaled(y)).round(6).ravel().tolist()
    [1.0, 10.0, 100.0]
    """

    def __init__(self, kind: str, values: np.ndarray, weights: np.ndarray | None = None) -> None:
        self.kind = kind
        self.powers = np.ones(values.shape[1])
        if kind == "yeo-johnson":
            from scipy.stats import yeojohnson_normmax

            for column, own in enumerate(values.T):
                known = own[np.isfinite(own)]
                if np.ptp(known) > 0:
                    spread = max(float(known.std()), 1e-300)
                    self.powers[column] = float(np.clip(yeojohnson_normmax(known / spread), -4, 4))
        self.units = np.nanstd(values, axis=0)
        self.units = np.where(self.units > 0, self.units, 1.0)
        self.mean, self.spread = np.zeros(values.shape[1]), np.ones(values.shape[1])
        moved = self.scaled(values)
        own = np.ones(len(values)) if weights is None else weights
        known = np.isfinite(moved)
        total = np.where(known, own[:, np.newaxis], 0.0)
        filled = np.where(known, moved, 0.0)
        self.mean = (total * filled).sum(axis=0) / total.sum(axis=0)
        variance = (total * (filled - self.mean) ** 2).sum(axis=0) / total.sum(axis=0)
        self.spread = np.where(variance > 0, np.sqrt(variance), 1.0)
        scaled = self.scaled(values)
        self.low, self.high = np.nanmin(scaled, axis=0), np.nanmax(scaled, axis=0)

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Transform targets to the scale used for training."""
        if self.kind == "log":
            moved = np.log(values)
        elif self.kind == "yeo-johnson":
            columns = zip(values.T, self.units, self.powers, strict=True)
            moved = np.column_stack([_power(own / unit, power) for own, unit, power in columns])
        else:
            moved = values
        return (moved - self.mean) / self.spread

    def original(self, scaled: np.ndarray) -> np.ndarray:
        """Transform scaled values back to the original units.

        The inverse of a nonlinear scale may be unbounded. Beyond the range of the training targets
        it is therefore extended linearly with the slope at the end of the range, capped at the
        mean slope over the range. Below the range, "log" keeps the exponential, which is positive.
        """
        if self.kind == "none":
            return scaled * self.spread + self.mean
        inside = np.clip(scaled, self.low, self.high)
        below, above = np.minimum(scaled - self.low, 0.0), np.maximum(scaled - self.high, 0.0)
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        ends = np.vstack([self.low, self.low + 1e-4 * width, self.high - 1e-4 * width, self.high])
        least, more, less, most = self._back(ends)
        steepest = (most - least) / width
        result = self._back(inside if self.kind != "log" else inside + below)
        result += above * np.minimum((most - less) / (1e-4 * width), steepest)
        if self.kind != "log":
            result += below * np.minimum((more - least) / (1e-4 * width), steepest)
        return result

    def _back(self, scaled: np.ndarray) -> np.ndarray:
        moved = scaled * self.spread + self.mean
        if self.kind == "log":
            return np.exp(moved)
        return np.column_stack(
            [u * _unpower(m, p) for m, u, p in zip(moved.T, self.units, self.powers, strict=True)]
        )

    def deviation(self, scaled: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Return the root mean squared deviation from the prediction, in the original units.

        ``std`` are the standard deviations of normal distributions around the scaled predictions.
        On a nonlinear scale their expectation is computed by Gauss-Hermite quadrature.
        """
        if self.kind == "none":
            return std * self.spread
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        center = self.original(scaled)
        squares = sum(
            weight * (self.original(scaled + node * std) - center) ** 2
            for node, weight in zip(nodes, weights / weights.sum(), strict=True)
        )
        return np.sqrt(squares)


def _power(values: np.ndarray, power: float) -> np.ndarray:
    """Apply the Yeo-Johnson transform; NaN stays NaN."""
    from scipy.stats import yeojohnson

    known = np.isfinite(values)
    result = np.full(values.shape, np.nan)
    result[known] = yeojohnson(values[known], power)
    return result


def _unpower(values: np.ndarray, power: float) -> np.ndarray:
    """Invert the Yeo-Johnson transform; values beyond its range are clipped to the end."""
    result = np.empty(values.shape)
    up = values >= 0
    with np.errstate(all="ignore"):
        if abs(power) < 1e-12:
            result[up] = np.expm1(values[up])
        else:
            result[up] = np.maximum(power * values[up] + 1, 1e-12) ** (1 / power) - 1
        if abs(power - 2) < 1e-12:
            result[~up] = -np.expm1(-values[~up])
        else:
            base = np.maximum(1 - (2 - power) * values[~up], 1e-12)
            result[~up] = 1 - base ** (1 / (2 - power))
    return result
