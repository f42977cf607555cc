"""Methods on molecules with a given split: trained once, tested once, every result kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .fingerprints import BITS, ecfp4
from .molecule_sets import MoleculeSet
from .records import PredictionRecord, identity_key
from .results_file import ResultsFile


@dataclass(frozen=True)
class Method:
    """A learner and what it looks at.

    Attributes
    ----------
    name : str
        For tables and records.
    make : callable(seed, n_jobs)
        The estimator.
    bits : int
        Length of the ECFP4 that it is given; 0 for graphs.
    variant : str
        Parameters that are not the usual ones, in words.
    seeded : bool
        Whether anything in it is random.
    """

    name: str
    make: Callable[[int, int | None], Any]
    bits: int = BITS
    variant: str = ""
    seeded: bool = False


def run_method(
    data: MoleculeSet,
    method: Method,
    split: str,
    train: np.ndarray,
    test: np.ndarray,
    seed: int,
    results: ResultsFile,
    n_jobs: int | None = None,
) -> PredictionRecord:
    """The record of a method on a split; trained only if the results do not have it yet."""
    identity: dict[str, Any] = {
        "dataset": data.name,
        "fingerprint": data.fingerprint,
        "split": split,
        "kernel": method.name,
        "variant": method.variant,
        "seed": seed,
    }
    key = identity_key("prediction", identity)
    if key in results:
        return next(
            record
            for record in results.records
            if isinstance(record, PredictionRecord)
            and all(getattr(record, name) == value for name, value in identity.items())
        )
    start = time.perf_counter()
    inputs: Any = ecfp4(data.smiles, method.bits) if method.bits else data.graphs
    model = method.make(seed, n_jobs)
    model.fit(inputs[train], data.y[train])
    answers = _answers(model, inputs[test])
    record = PredictionRecord(
        **identity,
        test=test.tolist(),
        truth=data.y[test].tolist(),
        predictions=[float(f"{value:.8g}") for value in answers.tolist()],
        chosen=_chosen(model),
        seconds=round(time.perf_counter() - start, 2),
    )
    results.append(record)
    return record


def _answers(model: Any, inputs: Any) -> np.ndarray:
    """Predicted numbers, or how strongly class 1 is spoken for."""
    if hasattr(model, "decision_function"):
        return model.decision_function(inputs)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(inputs)[:, 1]
    return model.predict(inputs)


def _chosen(model: Any) -> list[str]:
    """What an estimator that tunes itself has chosen, in words."""
    members = getattr(model, "members_", None) or [getattr(model, "best_params_", {})]
    return [", ".join(f"{name}={value}" for name, value in one.items()) for one in members]
