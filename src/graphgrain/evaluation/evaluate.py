"""Evaluate kernels and estimators on the same folds.

1. Every kernel counts its features once; parameters, level and C are chosen inside the training
   graphs of each fold. Estimators are fitted to the training graphs of each fold as they are.
2. Each finished fold is written to a table immediately.
3. The first model is compared with the others on the same folds, and with the majority class.
"""

from __future__ import annotations

import csv
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer

from ..core.threads import as_finished
from ..errors import InvalidParameterError, UnwritableFileError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.bases.graph_kernel import GraphKernel
from ..learning.classifier import GraphClassifier
from ..learning.inputs import are_classes, check_classes, check_values, split_table
from ..learning.regressor import GraphRegressor
from .candidates import KernelCandidates, candidates
from .machines import ChosenRidge, ChosenSVM
from .result import MEASURES, Evaluation, FoldScore
from .splits import Fold, deal_folds

#: Name that stands for GraphClassifier or GraphRegressor with default parameters.
MODEL = "model"


def evaluate(
    models: Any,
    graphs: Any,
    y: Any,
    *,
    cv: Any = 10,
    repeats: int = 1,
    groups: Any = None,
    times: Any = None,
    scoring: str | Sequence[str] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    file: str | os.PathLike[str] | None = None,
    name: str = "graphs",
    smiles: Sequence[Any] | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> Evaluation:
    """Evaluate kernels and estimators by cross-validation or another split, on the same folds.

    Parameters
    ----------
    models : str, kernel, estimator, or list or dict of these
        The name of a kernel (its usual grid) or a kernel (its levels): a support vector machine,
        or for numbers kernel ridge regression, on its Gram matrices. Parameters, level and C or
        alpha are chosen inside the training graphs of each fold; features are counted once, for
        all folds. ``"model"`` is `GraphClassifier` or `GraphRegressor`. Other estimators are
        cloned and fitted to the training graphs as they are. The first one is compared with the
        others.
    graphs : graphs, molecules, or a table with a column of graphs
    y : array-like
        Classes (strings or few distinct integers) or numbers.
    cv : int, str, splitter, array, or list of (train, test), default=10
        A number of folds, stratified if there are classes; ``"scaffold"``, ``"random-scaffold"``,
        ``"random"`` or ``"time"``: one test part of a tenth; a splitter of scikit-learn; a column
        with ``train`` and ``test`` or the number of a fold for each graph; or positions.
    repeats : int, default=1
        Number of repetitions with other folds.
    groups : array-like, optional
        Graphs of a group are in the same fold.
    times : array-like, optional
        For ``cv="time"``: the last tenth is tested.
    scoring : str or list of str, optional
        ``accuracy``, ``balanced_accuracy``, ``roc_auc``, ``average_precision``, ``rmse``, ``mae``,
        ``r2``, or any scorer of scikit-learn; the first decides.
    random_state : int, default=0
        Seed of all folds.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.
    file : path, optional
        Table (.csv) to which each fold is written as soon as it is finished.
    name : str, default="graphs"
        Name of the data in tables.
    smiles : sequence of str, optional
        Molecules for splits by scaffold, if ``graphs`` holds none.
    progress : callable(model, folds), optional
        Called with the number of newly finished folds.

    Returns
    -------
    result : Evaluation
        ``str(result)`` is a table with its verdict; ``table()``, ``values(model)`` and ``folds``
        hold the numbers.

    Notes
    -----
    Kernels are fitted to all graphs, without their classes; this affects kernels whose features
    depend on the set (DGK, propagation with attributes, NetLSD, RetGK).

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> result = gg.evaluate(["wl", gg.VertexHistogram()], graphs[:60], y[:60], cv=3)
    >>> [row.model for row in result.table()]
    ['WL', 'VertexHistogram', 'majority class']
    """
    if repeats < 1:
        raise InvalidParameterError(f"repeats must be 1 or more; got {repeats}.")
    column = split_table(graphs, None)[0]
    batch = as_graphs(column)
    y = np.asarray(y)
    classes = are_classes(y)
    if classes:
        labels, codes = check_classes(y, len(batch))
        y = labels[codes]
    else:
        y = check_values(y, len(batch))
    if smiles is None and not isinstance(column, GraphBatch):
        smiles = column
    folds = deal_folds(
        cv, y, classes=classes, groups=groups, times=times, molecules=smiles, repeats=repeats,
        random_state=random_state,
    )  # fmt: skip
    measures = _measures(scoring, classes, len(np.unique(y)) if classes else 0)
    entries = named_models(models, classes)
    baseline = "majority class" if classes else "mean of the targets"
    entries[baseline] = DummyClassifier(strategy="most_frequent") if classes else DummyRegressor()
    results: list[FoldScore] = []
    with _table(file, measures) as write:
        for title, model in entries.items():
            fit = _fitter(model, graphs, batch, y, classes, random_state, n_jobs)

            def score(number: int, title: str = title, fit: _Fit = fit) -> FoldScore:
                return _scored(title, fit, folds[number], y, measures)

            for _, fold in as_finished(score, len(folds), n_jobs):
                results.append(fold)
                write(fold)
                if progress is not None:
                    progress(title, 1)
    order = {title: number for number, title in enumerate(entries)}
    results.sort(key=lambda fold: (order[fold.model], fold.repetition, fold.fold))
    return Evaluation(name, len(batch), measures, results, baseline, list(entries))


def named_models(models: Any, classes: bool) -> dict[str, Any]:
    """Return kernel candidates and estimators by their names in tables."""
    if isinstance(models, Mapping):
        entries = {title: _resolved(model, classes) for title, model in models.items()}
    else:
        listed = models if isinstance(models, list | tuple) else [models]
        entries = {}
        for model in (_resolved(model, classes) for model in listed):
            title = model.name if isinstance(model, KernelCandidates) else type(model).__name__
            same = sum(name.partition(" #")[0] == title for name in entries)
            entries[f"{title} #{same + 1}" if same else title] = model
    if not entries:
        raise InvalidParameterError("There must be a model to evaluate; got none.")
    return entries


def _resolved(model: Any, classes: bool) -> Any:
    """Return kernel candidates or an estimator."""
    if isinstance(model, KernelCandidates):
        return model
    if isinstance(model, str) and model == MODEL:
        return GraphClassifier() if classes else GraphRegressor()
    if isinstance(model, str | GraphKernel | type):
        return candidates(model)
    if not hasattr(model, "fit"):
        raise InvalidParameterError(
            f"Models are names of kernels, kernels or estimators with fit; got {model!r}."
        )
    return model


def _measures(scoring: Any, classes: bool, n_classes: int) -> list[str]:
    if scoring is None:
        names = ["accuracy", "balanced_accuracy"] if classes else ["rmse", "mae", "r2"]
        return names + (["roc_auc"] if n_classes == 2 else [])
    names = [scoring] if isinstance(scoring, str) else list(scoring)
    for name in names:
        try:
            get_scorer(MEASURES.get(name, (name, 1))[0])
        except ValueError:
            raise InvalidParameterError(
                f"scoring is one of {', '.join(MEASURES)} or a scorer of scikit-learn; got "
                f"{name!r}."
            ) from None
    return names


@contextmanager
def _table(
    path: str | os.PathLike[str] | None, measures: list[str]
) -> Iterator[Callable[[FoldScore], None]]:
    """Yield a function that writes a fold to a table at once."""
    if path is None:
        yield lambda fold: None
        return
    heads = ["model", "repetition", "fold", "train", "test", *measures, "seconds", "chosen"]
    try:
        file = open(path, "w", newline="", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise UnwritableFileError(
            f"The table of folds must go to a file that can be written; {str(path)!r} cannot: "
            f"{error.strerror or error}. Choose another one."
        ) from None
    with file:
        table = csv.DictWriter(file, heads)
        table.writeheader()

        def write(fold: FoldScore) -> None:
            row = asdict(fold)
            table.writerow({**row.pop("scores"), **row})
            file.flush()

        yield write


#: Fits a model to training rows; returns it, its input for test rows, and what it chose.
_Fit = Callable[[Fold], tuple[Any, Any, str]]


def _fitter(
    model: Any,
    graphs: Any,
    batch: GraphBatch,
    y: np.ndarray,
    classes: bool,
    seed: int,
    n_jobs: int | None,
) -> _Fit:
    if isinstance(model, KernelCandidates):
        parameters, grams = [], []
        for setting in model.settings:
            parameters += model.levels(setting)
            grams += [K.astype(np.float32) for K in model.grams(setting, batch, n_jobs)]

        def fit_kernel(fold: Fold) -> tuple[Any, Any, str]:
            kind = ChosenSVM if classes else ChosenRidge
            rng = np.random.default_rng([seed, fold.repetition, fold.fold + 1])
            machine = kind(grams, rng).fit(fold.train, y[fold.train])
            chosen = {**parameters[machine.gram_], **machine.parameter_}
            words = (
                f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in chosen.items()
            )
            return machine, fold.test, ", ".join(words)

        return fit_kernel
    rows_of: Any = np.zeros((len(batch), 1)) if isinstance(model, _DUMMIES) else graphs

    def fit_estimator(fold: Fold) -> tuple[Any, Any, str]:
        fitted = clone(model).fit(_take(rows_of, fold.train), y[fold.train])
        return fitted, _take(rows_of, fold.test), ""

    return fit_estimator


_DUMMIES = (DummyClassifier, DummyRegressor)


def _take(graphs: Any, rows: np.ndarray) -> Any:
    """Return some rows of graphs or of a table."""
    if isinstance(graphs, Mapping):
        return {name: _take(column, rows) for name, column in graphs.items()}
    if hasattr(graphs, "iloc"):
        return graphs.iloc[rows]
    if isinstance(graphs, list | tuple):
        return [graphs[row] for row in rows.tolist()]
    return graphs[rows]


def _scored(title: str, fit: _Fit, fold: Fold, y: np.ndarray, measures: list[str]) -> FoldScore:
    start = time.perf_counter()
    model, rows, chosen = fit(fold)
    scores = {}
    for measure in measures:
        scorer, sign = MEASURES.get(measure, (measure, 1))
        scores[measure] = sign * _score(scorer, model, rows, y[fold.test])
    seconds = round(time.perf_counter() - start, 4)
    sizes = (len(fold.train), len(fold.test))
    return FoldScore(title, fold.repetition, fold.fold, *sizes, scores, seconds, chosen)


def _score(scorer: str, model: Any, rows: Any, truth: np.ndarray) -> float:
    """Return a score; NaN where it is undefined, such as the ROC AUC of a single class."""
    if scorer in ("roc_auc", "average_precision") and len(np.unique(truth)) < 2:
        return float("nan")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="y_pred contains classes not in y_true")
        return float(get_scorer(scorer)(model, rows, truth))
