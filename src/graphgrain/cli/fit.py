"""The command fit: train a model."""

from __future__ import annotations

from dataclasses import replace
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
    ],
    reads_data=True,
)
def fit(
    ctx: opt.Context,
    data: opt.Data,
    output: opt.Output,
    columns: opt.Columns = "",
    descriptors: opt.Descriptors = None,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Train a model that weighs its kernels, and write it to a file.

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

    view = ctx.obj.view
    reading = replace(ctx.obj, view=None)
    loaded = load(data, reading).with_classes()
    if loaded.y is None:
        raise InvalidParameterError(f"fit needs classes or numbers as targets; {data} has none.")
    check_numbers(loaded, f"The target of {loaded.name}", loaded.y)
    names = listed([columns])
    X = training_table(loaded, names, descriptors, reading)
    kind: type[Any] = GraphClassifier if are_classes(loaded.y) else GraphRegressor
    model = kind(
        descriptors=descriptors,
        graphs=GRAPH_COLUMN if isinstance(X, dict) else None,
        views=[combined(view)] if view else None,
        n_jobs=jobs,
        verbose=int(err().is_terminal),
    )
    with err().status(f"Learning from {escape(loaded.name)}"):
        model.fit(X, loaded.y)
    model.set_params(n_jobs=None, verbose=0)
    model.reading_ = {
        "labels": [name in label_names(reading) for name in LabelOptions._fields],
        "target": reading.target,
        "molecules": loaded.smiles,
    }
    model.save(output)
    name, terms = type(model).__name__, len(model.terms_)
    measure, score = _held_out_score(model, loaded.y)
    if as_json:
        answer(
            {
                "estimator": name,
                "graphs": len(loaded.graphs),
                "terms": terms,
                "scoring": measure,
                "score": score,
                "output": str(output),
            }
        )
        return
    written(
        f"{name} on {counted(len(loaded.graphs), 'graph')}: {counted(terms, 'term')}, "
        f"{measure} {score:.3g} when each graph is left out,",
        output,
    )


def _held_out_score(model: Any, y: Any) -> tuple[str, float]:
    """Return the name of the score, and that of the held-out predictions."""
    import numpy as np

    held_out = model.held_out_
    if hasattr(model, "classes_"):
        known = np.isfinite(held_out).all(axis=1)
        right = model.classes_[held_out[known].argmax(axis=1)] == y[known]
        return "accuracy", float(np.mean(right))
    known = np.isfinite(held_out)
    return "RMSE", float(np.sqrt(np.mean((held_out[known] - y[known]) ** 2)))
