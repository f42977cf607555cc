"""Models as sums over patterns, for explanations.

The value of a model for a graph x is

    bias + the columns' part + sum of c_i k(x, i) + f k(x, x)

where i are the training graphs and both k are sums over the patterns of x. For a decision c are the
coefficients of the machine and f is 0. For log sigma the variance and the similarity to the nearest
training graph add coefficients that depend on x, and f.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from .machine import FittedTerm, Machine
from .sigma import Compared, Sigma


@dataclass(frozen=True)
class PatternSums:
    """The values of a model for graphs, as sums over their patterns.

    Attributes
    ----------
    terms : list of FittedTerm
        Their contributions for a graph with its coefficients add up to the patterns' part.
    values : array of shape (graphs, outputs)
    biases, columns : arrays of shape (graphs, outputs)
    coefficients : array of shape (outputs, training graphs), or (graphs, outputs, training graphs)
    factors : array of shape (graphs, outputs)
        Factors of the contributions of the patterns of a graph to its similarity with itself.
    in_training : array of bool
        Whether each graph is one of the training graphs.
    """

    terms: list[FittedTerm]
    values: np.ndarray
    biases: np.ndarray
    columns: np.ndarray
    coefficients: np.ndarray
    factors: np.ndarray
    in_training: np.ndarray

    def of(self, graph: int) -> np.ndarray:
        """Return the coefficients for a graph, (outputs, training graphs)."""
        return self.coefficients[graph] if self.coefficients.ndim == 3 else self.coefficients


def decision_sums(machine: Machine, counted: Any, compared: Compared) -> PatternSums:
    """Return the decisions of a model as sums over patterns."""
    biases = np.tile(machine.intercept, (len(counted), 1))
    columns = columns_part(machine, counted.features, machine.coefficients, np.zeros_like(biases))
    return PatternSums(
        _pattern_terms(machine), compared.values, biases, columns, machine.coefficients,
        np.zeros_like(biases), compared.in_training,
    )  # fmt: skip


def sigma_sums(machine: Machine, sigma: Sigma, counted: Any, compared: Compared) -> PatternSums:
    """Return log sigma as sums over patterns."""
    graphs = len(compared.log_sigma)
    process, landmarks = sigma.posterior, sigma.landmarks
    shared = compared.to_landmarks @ process.ones  # the part of the intercept is (1 - this)^2
    of_variance = -process.solve(compared.to_landmarks.T).T
    of_variance -= np.outer((2 - shared) / process.total, process.ones)
    every = machine.own_similarity({id(f.term.source): f.features for f in machine.terms})
    roots = np.sqrt(np.maximum(compared.own * every[compared.nearest], 1e-300))
    coefficients = np.tile(sigma.coefficients, (graphs, 1, 1))
    for output, (by_variance, by_similarity) in enumerate(sigma.slopes):
        coefficients[:, output, landmarks] += by_variance * of_variance
        coefficients[np.arange(graphs), output, compared.nearest] += by_similarity / roots
    biases = np.tile(sigma.bias + sigma.slopes[:, 0] / process.total, (graphs, 1))
    factors = np.tile(sigma.slopes[:, 0], (graphs, 1))
    columns = columns_part(machine, counted.features, coefficients, factors)
    return PatternSums(
        _pattern_terms(machine), compared.log_sigma, biases, columns, coefficients, factors,
        compared.in_training,
    )  # fmt: skip


def _pattern_terms(machine: Machine) -> list[FittedTerm]:
    for fitted in machine.terms:
        if hasattr(fitted, "kernel"):
            raise InvalidParameterError(
                f"explain needs kernels that count patterns; {type(fitted.kernel).__name__} does "
                "not. Take kernels with explicit features."
            )
    return machine.pattern_terms


def columns_part(
    machine: Machine, counted: dict[int, Any], coefficients: np.ndarray, factors: np.ndarray
) -> np.ndarray:
    """Return the part of the terms that compare columns, (graphs, outputs)."""
    total = np.zeros(factors.shape)
    for fitted in machine.terms:
        if isinstance(fitted, FittedTerm):
            continue
        rows = counted[id(fitted.term.source)]
        K = fitted.compare(rows, None)
        if coefficients.ndim == 2:
            total += K @ coefficients.T
        else:
            total += np.einsum("gi,goi->go", K, coefficients)
        total += factors * fitted.own_similarity(rows)[:, np.newaxis]
    return total
