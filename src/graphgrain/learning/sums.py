"""Models as sums over patterns, for explanations.

The value of a model for a graph x is

    bias + the columns' part + sum of c_i k(x, i) + f k(x, x)

where i are the training graphs and both k are sums over the patterns of x. For a decision c are the
coefficients of the machine and f is 0. The variance of a Gaussian process at x is
k(x, x) - k(x)' v, with v = A^-1 k(x), plus the parts of intercept and noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.hashing import mix_array
from ..kernels.features import Features

if TYPE_CHECKING:
    from .estimator import CountedGraphs, GraphEstimator


@dataclass(frozen=True)
class PatternSums:
    """The values of a model for graphs, as sums over their patterns.

    Attributes
    ----------
    terms : list of fitted terms
        Their contributions for a graph with its coefficients add up to the patterns' part.
    values : array of shape (graphs, outputs)
    biases, columns : arrays of shape (graphs, outputs)
    coefficients : array of shape (outputs, training graphs), or (graphs, outputs, training graphs)
    factors : array of shape (graphs, outputs)
        Factors of the contributions of the patterns of a graph to its similarity with itself.
    in_training : array of bool
        Whether each graph is one of the training graphs.
    """

    terms: list[Any]
    values: np.ndarray
    biases: np.ndarray
    columns: np.ndarray
    coefficients: Any
    factors: np.ndarray
    in_training: np.ndarray

    def of(self, graph: int) -> Any:
        """Return the coefficients for a graph, (outputs, training graphs)."""
        return self.coefficients[graph] if np.ndim(self.coefficients) == 3 else self.coefficients


def decision_sums(model: GraphEstimator, counted: CountedGraphs) -> PatternSums:
    """Return the decisions of a model as sums over patterns."""
    machine = model.machine_.rescaled(*model._explained_units())
    assert counted.features is not None
    values = machine.values(counted.features, counted.columns, model.n_jobs)
    columns = np.zeros(values.shape)
    if machine.columns is not None:
        columns += machine.columns.values(counted.columns)
    biases = np.tile(machine.intercept, (len(counted), 1))
    return PatternSums(
        machine.terms, values, biases, columns, machine.coefficients, np.zeros(values.shape),
        _in_training(machine.terms, counted.features, len(counted)),
    )  # fmt: skip


def uncertainty_sums(model: GraphEstimator, counted: CountedGraphs) -> PatternSums:
    """Return the variances of predictions as sums over patterns."""
    machine, outputs = model._similar_to(), model.n_outputs_
    of_graphs = 1.0 - model._column_share_
    coefficients = np.zeros((len(counted), outputs, machine.n_graphs))
    values, factors = np.empty((2, len(counted), outputs))
    for output in range(outputs):
        there, posterior = model._process(output)
        variance, noise = model._process_units(output)
        for here, features, columns in model._counted_blocks(counted):
            K, own = model._pair_similarities(features, columns)
            K = K[:, there]
            influence = posterior.influence(K)
            values[here, output] = posterior.variance(K, own, influence) * variance + noise
            block = np.zeros((len(K), machine.n_graphs))
            block[:, there] = influence
            coefficients[here, output] = -of_graphs * variance * block
        factors[:, output] = of_graphs * variance
    # Patterns are known from all training graphs; the process may compare with only some of them.
    terms = [
        SimpleNamespace(
            term=few.term, known=fitted.known, contributions=few.contributions,
            own_contributions=few.own_contributions,
        )
        for few, fitted in zip(machine.terms, model.machine_.terms, strict=True)
    ]  # fmt: skip
    assert counted.features is not None
    zeros = np.zeros(values.shape)
    known = _in_training(model.machine_.terms, counted.features, len(counted))
    return PatternSums(terms, values, zeros, zeros, coefficients, factors, known)


def _in_training(terms: list[Any], features: dict[int, Features], graphs: int) -> np.ndarray:
    """Return whether a training graph has the same counts of all patterns."""
    new, trained = np.zeros(graphs, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    for fitted in {id(fitted.term.source): fitted for fitted in terms}.values():
        if not hasattr(fitted, "features"):  # a model of pattern weights has no training graphs
            return np.zeros(graphs, dtype=bool)
        same_levels = features[id(fitted.term.source)].first_levels(len(fitted.features.levels))
        new = mix_array(new + _digests(same_levels))
        trained = mix_array(trained + _digests(fitted.features))
    return np.isin(new, trained)


def _digests(features: Features) -> np.ndarray:
    """Return a hash of the counts of each graph."""
    counts = features.keyed()
    entries = mix_array(counts.hashes + mix_array(counts.counts.view(np.uint64)))
    running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)))
    return mix_array(np.diff(running[counts.starts]))
