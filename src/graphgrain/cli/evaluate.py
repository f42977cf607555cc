"""The command evaluate: kernels and estimators on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from ..errors import InvalidParameterError
from ..writing import check_output, write_page
from . import options as opt
from .app import Interrupted, command
from .console import answer, err, out
from .options import listed

if TYPE_CHECKING:
    import numpy as np

    from ..evaluation.result import Evaluation
    from .loading import Loaded


@command(
    [
        "graphgrain evaluate drugs",
        "graphgrain evaluate MUTAG --kernel tree++,wl,sp --repeats 3 --csv folds.csv",
        "graphgrain evaluate my_graphs.zip --kernel tree++ --set edge_labels=True",
        "graphgrain evaluate BZR_MD --view edge-filter:drop=1 --set edge_labels=True",
        "graphgrain evaluate molecules.csv --target active --kernel model,tree++ -o page.html",
        "graphgrain evaluate logp.csv.gz --target logp --split scaffold",
        "graphgrain evaluate assays.csv --target y --columns dose,assay --descriptors rdkit",
        "graphgrain evaluate assays.csv --target y --time measured_on",
    ],
    reads_data=True,
)
def evaluate(
    ctx: opt.Context,
    data: opt.Data,
    kernel: opt.Kernels = "",
    split: opt.Split = "folds",
    folds: opt.NumberOfFolds = 10,
    repeats: opt.Repeats = 1,
    group: opt.Group = None,
    time: opt.Time = None,
    seed: opt.Seed = 0,
    scoring: opt.Measures = "",
    remove_duplicates: opt.RemoveDuplicates = False,
    columns: opt.Columns = "",
    descriptors: opt.Descriptors = None,
    parameters: opt.Parameters = None,
    table: opt.FoldTable = None,
    output: opt.OptionalOutput = None,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Evaluate kernels and models by cross-validation or another split, on the same folds.

    A kernel is evaluated with a support vector machine, or for numbers with kernel ridge
    regression; its parameters, its level and C are chosen inside the training graphs of each fold.
    model is the model that fit trains. The first is compared with the others on the same folds, and
    all with the majority class. With -o one table and its verdict are written as a page. Results do
    not depend on the number of threads.
    """
    if output is not None:
        check_output(output, "The page")
    from ..evaluation.evaluate import evaluate as compute
    from ..learning.inputs import are_classes
    from ..pages.evaluation import evaluation_page
    from .loading import load
    from .models import training_table

    reading: opt.Reading = ctx.obj
    loaded = load(data, reading).with_classes().with_one_target()
    if loaded.y is None:
        raise InvalidParameterError(f"evaluate needs targets to predict; {data} has none.")
    if remove_duplicates:
        loaded = _without_duplicates(loaded)
    assert loaded.y is not None
    names = listed([columns])
    graphs = training_table(loaded, names, descriptors, reading)
    default = "model" if names or descriptors else "tree++"
    models = [
        _model(name, parameters, descriptors, are_classes(loaded.y), loaded)
        for name in listed([kernel]) or [default]
    ]
    cv = _split(split, folds, time, loaded)
    with _progress(as_json, table) as progress:
        result = compute(
            models,
            graphs,
            loaded.y,
            cv=cv,
            repeats=repeats,
            groups=None if group is None else _column(loaded, group),
            times=None if time is None else _column(loaded, time),
            scoring=listed([scoring]) or None,
            random_state=seed,
            n_jobs=jobs,
            file=table,
            name=loaded.name,
            smiles=loaded.smiles,
            progress=progress,
        )
    if output is not None:
        write_page(output, evaluation_page(result))
    if as_json:
        answer(result.as_dict())
    else:
        _show(result)


def _model(
    name: str, parameters: list[str] | None, descriptors: str | None, classes: bool, loaded: Loaded
) -> Any:
    """Return a kernel with its candidates, or the model that fit trains."""
    from ..evaluation.candidates import candidates
    from ..evaluation.evaluate import MODEL
    from ..learning.classifier import GraphClassifier
    from ..learning.regressor import GraphRegressor
    from .kernel_options import chosen_kernel, kernel_parameters
    from .loading import note_ignored_attributes

    if name == MODEL:
        if descriptors is None:
            return name
        return (GraphClassifier if classes else GraphRegressor)(descriptors=descriptors)
    chosen_kernel(name, parameters, beside=(MODEL,))
    entry = candidates(name).with_parameters(**kernel_parameters(name, parameters))
    note_ignored_attributes(loaded, entry.kernel(**entry.settings[0]))
    return entry


def _split(split: str, folds: int, time: str | None, loaded: Loaded) -> Any:
    """Return the ``cv`` of an evaluation from the options."""
    from ..evaluation.splits import NAMED

    if time is not None:
        return "time"
    if split == "folds":
        return folds
    if split in NAMED:
        return split
    if split not in loaded.columns:
        raise InvalidParameterError(
            f"--split is folds, {', '.join(NAMED)} or a column of the file; got {split!r}."
            + (f" The columns are {', '.join(loaded.columns)}." if loaded.columns else "")
        )
    return _column(loaded, split)


def _column(loaded: Loaded, name: str) -> np.ndarray:
    from ..graphs.files.molecules import typed

    if name not in loaded.columns:
        raise InvalidParameterError(
            f"{loaded.name} has no column {name!r}; its columns are "
            f"{', '.join(loaded.columns) or 'none'}."
        )
    return typed(loaded.table[name])


def _without_duplicates(loaded: Loaded) -> Loaded:
    from ..evaluation.splits import without_duplicates
    from ..graphs.batch import counted

    assert loaded.y is not None
    kept = without_duplicates(loaded.graphs, loaded.y)
    if len(kept) < len(loaded.graphs):
        removed = counted(len(loaded.graphs) - len(kept), "duplicate")
        err().print(f"{escape(loaded.name)}: {removed} removed.")
    return loaded.take(kept)


@contextmanager
def _progress(quiet: bool, table: Any) -> Iterator[Callable[[str, int], None]]:
    """Show a bar for each model; Ctrl-C ends the command, and finished folds are kept."""
    from rich.progress import Progress

    with Progress(console=err(), disable=quiet, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def advance(model: str, folds: int) -> None:
            if model not in tasks:
                tasks[model] = bars.add_task(escape(model), total=None)
            bars.advance(tasks[model], folds)

        try:
            yield advance
        except KeyboardInterrupt:
            kept = f"Finished folds are in {str(table)!r}." if table else "Use --csv to keep folds."
            raise Interrupted(kept) from None


def _show(result: Evaluation) -> None:
    from ..evaluation.statistics import p_words
    from .tables import text_table

    title = f"{result.name}: {result.measures[0].replace('_', ' ')}"
    rows = []
    for row in result.table():
        deviation = "" if row.std != row.std else f"± {row.std:.3f}"
        lead = "" if row.difference != row.difference else f"{row.difference:+.3f}"
        p = "" if row.p != row.p else p_words(row.p)
        rows.append((row.model, f"{row.mean:.3f}", deviation, lead, p, row.chosen))
    heads = ["model", "mean", "deviation", f"{result.models[0]} minus it", "test", "chosen"]
    out().print(text_table(heads, rows, heads[1:4], title))
    out().print(escape(result.verdict))
