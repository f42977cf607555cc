"""GraphRegressor: regression on graphs by a weighted sum of kernels, with intervals."""

from __future__ import annotations

from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidParameterError
from ..parameters import SEED, Whole, all_or_nothing, check_value
from .estimator import COVERAGE, GraphEstimator
from .inputs import check_values


class GraphRegressor(RegressorMixin, GraphEstimator):
    """Predict numbers from graphs with a weighted sum of kernels and exact ridge regression.

    The model is the mean of a Gaussian process whose kernel is the weighted sum of the terms of
    :class:`GraphClassifier`, with weights by marginal likelihood. The size of its errors is learned
    from held-out predictions.

    Parameters
    ----------
    kernels, graphs, weights, views, descriptors, alpha, max_graphs, standardize, random_state,
    n_jobs, verbose
        As in :class:`GraphClassifier`.

    Attributes
    ----------
    terms_ : list of dict
        Parameters of the terms, with their weights.
    alpha_ : float, or array of shape (targets,) if targets have missing values
        Regularisation strength.
    machine_ : Machine
        The fitted model.
    held_out_ : array
        Prediction for each training graph by a model without it and all its copies; NaN for graphs
        of weight 0, for missing targets, and where none was computed.

    See Also
    --------
    GraphClassifier : Classification with the same kernels.
    explain : Attribute predictions to vertices and patterns.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _ = gg.load_drugs()
    >>> atoms = graphs.vertex_counts
    >>> model = gg.GraphRegressor().fit(graphs[::2], atoms[::2])
    >>> model.score(graphs[1::2], atoms[1::2]) > 0.95
    True
    >>> low, high = model.predict_interval(graphs[1::2], coverage=0.9)
    >>> bool(((low <= atoms[1::2]) & (atoms[1::2] <= high)).mean() > 0.8)
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # ---------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Weigh the terms, choose alpha, and train on all graphs.

        Parameters
        ----------
        X : GraphBatch, sequence of graphs, or data frame with a column of graphs
        y : array-like of numbers
            One number or one row of numbers per graph. Rows may contain missing values (NaN):
            each target is learned from the graphs that have it, with the same terms.
        sample_weight : array-like, optional
            Weight of each graph; graphs of weight 0 are ignored.
        groups : array-like, optional
            Graphs of the same group are left out together wherever a graph is left out.

        Returns
        -------
        self : GraphRegressor
        """
        with all_or_nothing(self):
            read = self._read_to_fit(X)
            values = check_values(y, len(read), gaps=True)
            self._one_target = values.ndim == 1
            targets = values.reshape(len(read), -1)
            rng = np.random.default_rng(self.random_state)
            data = self._training(read, targets, sample_weight, groups, np.ones(len(read)), rng)
            # residuals keep their digits where the targets are far from zero
            centre = np.nanmean(data.targets, axis=0)
            data.targets = data.targets - centre
            self.machine_, errors = self._train(data, rng)
            self.machine_.intercept = self.machine_.intercept + centre
            self.held_out_ = self._shaped(self._by_row(data.targets + centre - errors))
            alike = bool((self._alphas == self._alphas[0]).all())
            self.alpha_ = float(self._alphas[0]) if alike else self._alphas
            # the likeliest variance of the prior: y'Py over the degrees of freedom
            known = np.isfinite(data.targets)
            fit = np.where(known, data.targets, 0.0) * self.machine_.coefficients.T
            self._variances = fit.sum(axis=0) / np.maximum(known.sum(axis=0) - 1, 1)
        return self

    # ---------------------------------------------------------------- predict

    @overload
    def predict(
        self, X: Any, return_std: Literal[False] = False, return_cov: Literal[False] = False
    ) -> np.ndarray: ...

    @overload
    def predict(
        self, X: Any, return_std: Literal[True], return_cov: Literal[False] = False
    ) -> tuple[np.ndarray, np.ndarray]: ...

    @overload
    def predict(
        self, X: Any, return_std: Literal[False] = False, *, return_cov: Literal[True]
    ) -> tuple[np.ndarray, np.ndarray]: ...

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict the target of each graph.

        Parameters
        ----------
        X : as in :meth:`fit`
        return_std : bool, default=False
            Also return sigma, the standard deviation of the error, learned from the held-out errors
            of the training graphs.
        return_cov : bool, default=False
            Also return the covariance of the posterior of the Gaussian process, without noise.

        Returns
        -------
        array of shape (graphs,) or (graphs, targets)
            With ``return_std`` a pair of such arrays; with ``return_cov`` the second is of shape
            (graphs, graphs) or (graphs, graphs, targets).
        """
        if return_std and return_cov:
            raise InvalidParameterError("At most one of return_std and return_cov can be True.")
        counted = self.count(X)
        compared = self._compared(counted)
        values = self._shaped(compared.values)
        if return_std:
            return values, self._shaped(np.exp(compared.log_sigma))
        if not return_cov:
            return values
        covariances = [self._covariance(counted, n) for n in range(self.machine_.n_outputs)]
        return values, covariances[0] if self._one_target else np.stack(covariances, axis=-1)

    def _covariance(self, counted: Any, output: int) -> np.ndarray:
        """Return the covariance of the posterior of an output."""
        rows, process = self._posterior(output)
        machine = self.machine_.part(rows)
        K = machine.compare(counted.features, self.n_jobs)
        among = machine.among(counted.features).gram(self.n_jobs)
        return self._variances[output] * process.covariance(K, among)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: int | None = 0) -> np.ndarray:
        """Draw functions from the posterior of the Gaussian process.

        Parameters
        ----------
        X : as in :meth:`fit`
        n_samples : int, default=1
        random_state : int or None, default=0

        Returns
        -------
        array of shape (graphs, n_samples) or (graphs, targets, n_samples)

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs, _ = gg.load_drugs()
        >>> model = gg.GraphRegressor().fit(graphs[::2], graphs.vertex_counts[::2])
        >>> model.sample_y(graphs[1:20], n_samples=5).shape
        (19, 5)
        """
        check_value("n_samples", n_samples, Whole(1))
        check_value("random_state", random_state, SEED)
        rng = np.random.default_rng(random_state)
        values, covariance = self.predict(X, return_cov=True)
        many = values.reshape(len(values), -1)
        drawn = np.empty((*many.shape, n_samples))
        for output, mean in enumerate(many.T):
            own = covariance if self._one_target else covariance[..., output]
            drawn[:, output] = rng.multivariate_normal(mean, own, n_samples, method="eigh").T
        return drawn[:, 0] if self._one_target else drawn

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination (R2)."""
        return float(super().score(X, y, sample_weight))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return intervals that contain the target of a graph with the given probability.

        An interval is the prediction plus and minus a multiple of sigma: the multiple that the
        held-out errors of training graphs with a similar sigma, and with a similar nearest other
        training graph, exceed with the remaining probability. The coverage holds for graphs
        exchangeable with the training graphs, and in each of these groups.

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
        compared = self._compared(X)
        room = np.exp(compared.log_sigma)
        for output in range(room.shape[1]):
            room[:, output] *= self._sigma.quantiles(
                compared.log_sigma, compared.similarity, coverage, output
            )
        return self._shaped(compared.values - room), self._shaped(compared.values + room)

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._one_target else values
