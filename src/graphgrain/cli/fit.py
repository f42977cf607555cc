"""The command fit: train a model."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from ..errors import InvalidParameterError
from ..writing import check_output
from . import options as opt
from .app import command
from .console import answer, err, written
from .options import listed


@command(
    [
        "graphgrain fit train.csv --target y -o model.ggm",
        "graphgrain fit assays.csv --target y --columns dose,assay --descriptors rdkit -o m.ggm",
        "graphgrain fit drugs -o families.ggm",
    ]
)
def fit(
    data: opt.Data,
    output: opt.Output,
    columns: opt.Columns = "",
    descriptors: opt.Descriptors = None,
    scoring: opt.Scoring = "auto",
    folds: opt.Folds = "5",
    target: opt.Target = None,
    id: opt.Id = None,
    smiles: opt.Smiles = None,
    labels: opt.Labels = "",
    errors: opt.Errors = "raise",
    missing: opt.Missing = "raise",
    view: opt.View = None,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Train a model that selects its kernels, and write it to a file.

    Targets that are strings or few distinct integers are classes; all others are numbers
    (regression).
    """
    check_output(output, "The model")
    from ..graphs.batch import counted
    from ..graphs.convert.rdkit import LabelOptions
    from ..learning.classifier import GraphClassifier
    from ..learning.inputs import GRAPH_COLUMN, are_classes
    from ..learning.regressor import GraphRegressor
    from .kernel_options import combined
    from .loading import label_names, load
    from .models import check_numbers, training_table

    reading = opt.Reading(target, id, smiles, labels, errors, missing)
    loaded = load(data, reading).with_classes()
    if loaded.y is None:
        raise InvalidParameterError(f"fit needs classes or numbers as targets; {data} has none.")
    check_numbers(loaded, f"The target of {loaded.name}", loaded.y)
    names = listed([columns])
    X = training_table(loaded, names, descriptors, reading)
    kind: type[Any] = GraphClassifier if are_classes(loaded.y) else GraphRegressor
    model = kind(
        scoring=scoring,
        descriptors=descriptors,
        graphs=GRAPH_COLUMN if isinstance(X, dict) else None,
        views=[combined(view)] if view else "auto",
        cv=_folds(folds),
        n_jobs=jobs,
        verbose=int(err().is_terminal),
    )
    with err().status(f"Learning from {escape(loaded.name)}"):
        model.fit(X, loaded.y)
    model.set_params(n_jobs=None, verbose=0)
    model.reading_ = {
        "labels": [name in label_names(reading) for name in LabelOptions._fields],
        "target": target,
        "molecules": loaded.smiles,
    }
    model.save(output)
    name, terms, score = type(model).__name__, len(model.terms_), model.best_score_
    if as_json:
        answer(
            {
                "estimator": name,
                "graphs": len(loaded.graphs),
                "terms": terms,
                "scoring": model.scoring_,
                "score": score,
                "output": str(output),
            }
        )
        return
    shown = -score if model.scoring_ in ("rmse", "mae") else score  # errors are negative scores
    written(
        f"{name} on {counted(len(loaded.graphs), 'graph')}: {counted(terms, 'kernel')}, "
        f"{model.scoring_} {shown:.3g} in cross-validation,",
        output,
    )


def _folds(text: str) -> int | str:
    if text == "scaffold":
        return text
    if not text.isdecimal() or int(text) < 2:
        raise InvalidParameterError(f"--folds is a number of 2 or more, or scaffold; got {text!r}.")
    return int(text)
