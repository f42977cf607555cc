"""What type checkers know of results that depend on a flag; `make lint` reads it, none runs it."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import graphgrain as gg


def results() -> None:
    assert_type(gg.load_drugs(), tuple[gg.GraphBatch, np.ndarray])
    assert_type(gg.load_drugs(names=True), tuple[gg.GraphBatch, np.ndarray, np.ndarray])
    assert_type(gg.from_smiles(["CCO"], stereo=True), gg.GraphBatch)
    assert_type(gg.from_smiles(["CCO"], return_index=True), tuple[gg.GraphBatch, np.ndarray])
    assert_type(gg.as_graphs(["CCO"]), gg.GraphBatch)
    assert_type(gg.GraphRegressor().predict(["CCO"]), np.ndarray)
    deviations = gg.GraphRegressor().predict(["CCO"], return_std=True)
    assert_type(deviations, tuple[np.ndarray, np.ndarray])


def a_keyword_that_does_not_exist() -> None:
    gg.from_smiles(["CCO"], sterio=True)  # type: ignore[call-overload]


def parameters_of_kernels() -> None:
    gg.TreePlusPlus(2, 1, similarity="dot", edge_labels=True)
    gg.TreePlusPlus(2, 1, "dot")  # type: ignore[call-arg]
    gg.WLOptimalAssignment(counts="raw")  # type: ignore[call-arg]
