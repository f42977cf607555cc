"""The commands fit and predict: train a model and apply it to new molecules."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..archives import parsed_json
from ..errors import InvalidFileError, InvalidParameterError
from ..graphs.batch import counted
from ..graphs.convert.rdkit import LabelOptions, parse_molecules
from ..graphs.files.molecules import (
    MoleculeFile,
    Record,
    missing_values,
    names_beside,
    record_columns,
    stray_text,
    typed,
)
from ..graphs.processes import progress_bar
from ..learning.classifier import GraphClassifier
from ..learning.columns import ColumnEncoder, molecule_descriptors
from ..learning.estimator import GraphEstimator
from ..learning.inputs import GRAPH_COLUMN, are_classes
from ..learning.model_file import load_model
from ..learning.regressor import GraphRegressor
from ..writing import atomic_write, check_output, is_standard_output, suffix_of
from .app import Interrupted, answer, command, err, out
from .arguments import Data, Jobs, Json, Reading, check_choice, listed, output_file
from .kernel_options import combined
from .loading import Loaded, load
from .unfinished import UnfinishedOutput, is_resumable

#: Number of molecules predicted at a time; finished chunks are on disk.
CHUNK = 500

Columns = Annotated[
    str | None,
    typer.Option(
        "--columns", help="Columns to use in addition to the molecule.", metavar="NAME,..."
    ),
]
Descriptors = Annotated[
    str | None,
    typer.Option("--descriptors", help="Use RDKit descriptors as well.", metavar="rdkit"),
]


@command(
    [
        "graphgrain fit train.csv --target y -o model.ggm",
        "graphgrain fit assays.csv --target y --columns dose,assay --descriptors rdkit -o m.ggm",
        "graphgrain fit drugs -o families.ggm",
    ]
)
def fit(
    data: Data,
    reading: Reading,
    output: Annotated[Path, output_file("File for the model.")],
    columns: Columns = None,
    descriptors: Descriptors = None,
    scoring: Annotated[
        str,
        typer.Option(
            help="Score for the selection of kernels.", metavar="auto|accuracy|roc_auc|rmse|..."
        ),
    ] = "auto",
    folds: Annotated[
        str, typer.Option(help="Inner folds: a number, or scaffold.", metavar="N|scaffold")
    ] = "5",
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Train a model that selects its kernels, and write it to a file.

    Targets that are strings or few distinct integers are classes; all others are numbers
    (regression).
    """
    check_output(output, "The model")
    view = combined(reading.view) if reading.view else None
    loaded = load(data, replace(reading, view=None)).with_classes()
    if loaded.y is None:
        raise InvalidParameterError(f"fit needs classes or numbers as targets; {data} has none.")
    check_numbers(loaded, f"The target of {loaded.name}", loaded.y)
    names = listed([columns] if columns else None)
    X = training_table(loaded, names, descriptors, reading)
    kind: type[Any] = GraphClassifier if are_classes(loaded.y) else GraphRegressor
    model = kind(
        scoring=scoring,
        descriptors=descriptors,
        graphs=GRAPH_COLUMN if isinstance(X, dict) else None,
        views="auto" if view is None else [view],
        cv=_folds(folds),
        n_jobs=n_jobs,
        verbose=int(err().is_terminal),
    )
    with err().status(f"Learning from {escape(loaded.name)}"):
        model.fit(X, loaded.y)
    model.set_params(n_jobs=None, verbose=0)
    model.reading_ = {
        "labels": [bool(getattr(reading, name)) for name in LabelOptions._fields],
        "columns": names,
        "target": reading.target,
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
    out().print(
        f"{name} on {counted(len(loaded.graphs), 'graph')}: {counted(terms, 'kernel')}, "
        f"{model.scoring_} {shown:.3g} in cross-validation, written to "
        f"[bold]{escape(str(output))}[/bold]."
    )


def _folds(text: str) -> int | str:
    if text == "scaffold":
        return text
    if not text.isdecimal() or int(text) < 2:
        raise InvalidParameterError(f"--folds is a number of 2 or more, or scaffold; got {text!r}.")
    return int(text)


def training_table(
    loaded: Loaded, names: list[str], descriptors: str | None, reading: Reading
) -> Any:
    """Return the graphs, or a table of graphs and columns."""
    if descriptors is not None:
        check_choice("--descriptors", descriptors, ("rdkit",))
    missing = [name for name in names if name not in loaded.columns]
    if missing:
        raise InvalidParameterError(
            f"{loaded.name} has no column {missing[0]!r}; its columns are "
            f"{', '.join(loaded.columns) or 'none'}."
        )
    if reading.target in names:
        raise InvalidParameterError(f"--columns must not name the target; got {reading.target!r}.")
    molecules = molecules_of(loaded, descriptors, reading)
    if not names:
        return molecules
    table = {GRAPH_COLUMN: molecules}
    for name in names:
        values = loaded.table[name]
        if missing_values(values).all():
            raise InvalidParameterError(
                f"A column must have a value in some row; {name!r} has none. Leave it out."
            )
        check_numbers(loaded, f"The column {name!r}", values)
        table[name] = typed(values)
    return table


def molecules_of(loaded: Loaded, descriptors: str | None, reading: Reading) -> Any:
    """Return the graphs, or SMILES if descriptors are computed from them."""
    if descriptors is None:
        return loaded.graphs
    if loaded.smiles is None or any(getattr(reading, n) for n in LabelOptions._fields):
        raise InvalidParameterError(
            "--descriptors rdkit needs molecules with SMILES and without label options."
        )
    if loaded.view:
        raise InvalidParameterError(
            "--descriptors rdkit needs the molecules of the file; --view changes them. Leave out "
            "one of the two."
        )
    return loaded.smiles


def check_numbers(loaded: Loaded, what: str, values: np.ndarray) -> None:
    """Raise an error if one of many numbers is something else."""
    row = stray_text(values)
    if row is not None:
        raise InvalidParameterError(
            f"{what} must hold numbers or categories; it has numbers and {str(values[row])!r} "
            f"({loaded.line(row)}). Correct it, or leave it empty."
        )


def _as_trained(
    name: str, values: np.ndarray, encoder: ColumnEncoder, lines: np.ndarray
) -> np.ndarray:
    """Convert a column of text to what it held in training: numbers or categories."""
    missing = missing_values(values)
    if name not in encoder.numbers:
        return np.where(missing, "", values)
    found = np.full(len(values), np.nan)
    for row in np.flatnonzero(~missing).tolist():
        with suppress(ValueError):
            found[row] = float(values[row])
        if not np.isfinite(found[row]):
            raise InvalidParameterError(
                f"The column {name!r} held numbers in training; line {lines[row]} has "
                f"{str(values[row])!r}. Correct it, or leave it empty."
            )
    return found


@command(
    [
        "graphgrain predict model.ggm new.csv -o out.csv --interval 0.9",
        "graphgrain predict model.ggm library.smi.gz -o out.csv",
    ]
)
def predict(
    model: Annotated[Path, typer.Argument(help="A model written by fit.", metavar="MODEL")],
    data: Annotated[
        str, typer.Argument(help="A file of molecules: .smi, .csv, .tsv, .sdf.", metavar="DATA")
    ],
    output: Annotated[Path, output_file("A .csv file, or - for standard output.")],
    interval: Annotated[
        float,
        typer.Option(help="Coverage of the prediction interval or of the set of classes."),
    ] = 0.9,
    smiles: Annotated[
        str | None, typer.Option(help="Column with the SMILES.", metavar="COLUMN")
    ] = None,
    domain: Annotated[
        bool, typer.Option(help="Add the nearest training graph and the share of unseen patterns.")
    ] = True,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Predict any number of molecules, with an interval for each.

    The table has one row per molecule with the columns of the file and prediction, low and high
    (regression) or probability and set (classification), nearest (the most similar training
    molecule), similarity, unseen (the share of patterns that no training molecule has) and problem
    (the reason if a molecule cannot be read). Columns of the file that have one of these names are
    written as input_NAME. After an interruption, run the same command again to continue.
    """
    if not 0 < interval < 1:
        raise InvalidParameterError(f"--interval is above 0 and below 1; got {interval:g}.")
    check_output(output, "The table of predictions")
    if not is_standard_output(output) and suffix_of(output, ".csv") != ".csv":
        raise InvalidParameterError(f"Predictions are written as .csv; got {str(output)!r}.")
    loaded = load_model(model)
    trained = trained_with(loaded)
    loaded.set_params(n_jobs=n_jobs)
    file = MoleculeFile.opened(data, smiles)
    fields: dict[str, None] = {}
    if file.blocks:  # fields can differ between the records of an .sdf file
        for record in MoleculeFile.opened(data).records:
            fields.update(dict.fromkeys(record.fields))

    def predicted(some: list[Record]) -> dict[str, list[Any]]:
        return _predicted(loaded, file, some, fields, trained, interval, domain)

    rows = bad = 0
    saved = None
    with ExitStack() as stack:
        if is_resumable(output):
            settings = _settings(data, model, (interval, smiles, domain))
            saved = stack.enter_context(UnfinishedOutput(output, settings))
        else:
            stream = csv.writer(stack.enter_context(_opened(output)))
        bar = stack.enter_context(progress_bar(err().is_terminal, None))
        try:
            for table in _tables(file, saved, predicted):
                if saved is None:
                    stream.writerows([table, *_rows(table)] if not rows else _rows(table))
                rows += len(table["line"])
                bad += sum(map(bool, table["problem"]))
                bar.update(len(table["line"]))
        except KeyboardInterrupt:
            again = "" if saved is None else "Run the same command again to continue."
            raise Interrupted(again) from None
        if not rows:
            raise InvalidFileError(f"{file.name} contains no molecule. Is it the right file?")
        if saved is not None:
            _join(saved)
    if as_json:
        answer({"molecules": rows, "unreadable": bad, "output": str(output)})
        return
    words = f", {bad:,} of them unreadable (see the column problem)" if bad else ""
    err().print(f"{counted(rows, 'molecule')}{words} written to {escape(str(output))}.")


def trained_with(model: Any) -> dict[str, Any]:
    """Return how molecules were read for a model, and its columns; also if fitted in Python."""
    if hasattr(model, "reading_"):
        return dict(model.reading_)
    part = model.machine_.columns
    names = [] if part is None else [*part.encoder.numbers, *part.encoder.categories]
    added = molecule_descriptors([]) if model.descriptors is not None else {}
    columns = [name for name in names if name not in added]
    return {"labels": list(LabelOptions()), "columns": columns}


def _settings(data: str, model: Path, options: tuple[Any, ...]) -> list[Any]:
    """Return everything that the predictions depend on."""
    state = os.stat(data) if os.path.exists(data) else None
    version = [state and state.st_size, state and state.st_mtime_ns]
    return [data, version, hashlib.sha256(model.read_bytes()).hexdigest(), CHUNK, *options]


def _tables(
    file: MoleculeFile,
    saved: UnfinishedOutput | None,
    predicted: Callable[[list[Record]], dict[str, list[Any]]],
) -> Iterator[dict[str, list[Any]]]:
    """Yield the table of each chunk: the saved ones, then new ones, which are saved when found."""
    last = 0
    for table in () if saved is None else saved.read(_table):
        last = table["line"][-1]
        yield table
    records = (record for record in file.records if record.line > last)
    while some := list(islice(records, CHUNK)):
        table = predicted(some)
        if saved is not None:
            saved.add(json.dumps(table).encode())
        yield table


def _table(path: Path) -> dict[str, list[Any]]:
    table = parsed_json(path.read_bytes())
    if not isinstance(table, dict):
        raise InvalidFileError(f"{str(path)!r} is damaged. Run the command again.")
    return table


def _join(saved: UnfinishedOutput) -> None:
    """Write the saved tables as one."""
    with atomic_write(saved.output, "The table of predictions") as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text)
        writer.writerow(_table(saved.blocks[0]))
        for path in saved.blocks:
            writer.writerows(_rows(_table(path)))
        text.detach()
    saved.delete()


def _rows(table: dict[str, list[Any]]) -> Iterator[tuple[Any, ...]]:
    return zip(*table.values(), strict=True)


@contextmanager
def _opened(output: Path) -> Iterator[IO[str]]:
    """Open standard output, a pipe or a device."""
    place: Any = os.dup(1) if is_standard_output(output) else output
    with open(place, "w", newline="", encoding="utf-8", buffering=1) as stream:
        yield stream


def _predicted(
    model: GraphEstimator,
    file: MoleculeFile,
    records: list[Record],
    fields: Iterable[str],
    trained: dict[str, Any],
    interval: float,
    domain: bool,
) -> dict[str, list[Any]]:
    """Return the rows of a chunk, as columns."""
    parsed = parse_molecules(
        [record.structure for record in records], LabelOptions(*trained["labels"]), file.blocks
    )
    places = parsed.positions.tolist()
    columns = record_columns(records, fields)
    beside = ("low", "high") if isinstance(model, GraphRegressor) else ("probability", "set")
    names = [f"{name}{end}" for end in _targets(model) for name in ("prediction", *beside)]
    near = ("nearest", "similarity", "unseen") if domain else ()
    results: dict[str, list[Any]] = {name: [] for name in (*names, *near)}
    ours = {"line", "molecule", *results, "problem"}
    table: dict[str, list[Any]] = {"line": columns["line"].tolist()}
    table["molecule"] = [record.structure.strip().split("\n")[0] for record in records]
    own = [name for name in columns if name != "line"]
    table |= {shown: columns[name].tolist() for name, shown in names_beside(ours, own).items()}
    if places:
        molecules: Any = parsed.graphs
        if model.descriptors is not None:
            molecules = [records[place].structure.strip() for place in places]
        kept = {name: values[parsed.positions] for name, values in columns.items()}
        X = model.count(new_table(model, molecules, kept, trained["columns"]))
        results = _results(model, X, interval)
        if domain:
            found = model.domain(X)
            known = trained.get("molecules") or range(1, model.n_graphs_ + 1)
            results |= {
                "nearest": [known[number] for number in found["nearest"].tolist()],
                "similarity": [f"{value:.4f}" for value in found["similarity"].tolist()],
                "unseen": [f"{value:.4f}" for value in found["unseen"].tolist()],
            }
    for name, values in results.items():
        by_place = dict(zip(places, values, strict=True))
        table[name] = [by_place.get(place, "") for place in range(len(records))]
    reasons = dict(parsed.problems)
    table["problem"] = [reasons.get(place, "") for place in range(len(records))]
    return table


def new_table(
    model: GraphEstimator, molecules: Any, columns: Mapping[str, np.ndarray], trained: Sequence[str]
) -> Any:
    """Return the molecules, or a table with the columns the model was trained with."""
    if not trained:
        return molecules
    missing = [name for name in trained if name not in columns]
    if missing:
        raise InvalidParameterError(
            f"The model was trained with the column {missing[0]!r}; the file has none of that name."
        )
    encoder = model.machine_.columns.encoder
    own = {name: _as_trained(name, columns[name], encoder, columns["line"]) for name in trained}
    return {model.graphs or model._graph_column: molecules, **own}


def _targets(model: GraphEstimator) -> list[str]:
    """Return the endings of the names of columns, one for each target."""
    several = isinstance(model, GraphRegressor) and not model._one_target
    return [f"_{number}" for number in range(model.machine_.n_outputs)] if several else [""]


def _results(model: GraphEstimator, X: Any, interval: float) -> dict[str, list[Any]]:
    """Predict the readable molecules, as columns of the table."""
    if isinstance(model, GraphRegressor):
        low, high = model.predict_interval(X, interval)
        ends = _targets(model)
        found = {}
        for name, own in {"prediction": model.predict(X), "low": low, "high": high}.items():
            for end, values in zip(ends, own.reshape(len(own), -1).T.tolist(), strict=True):
                found[f"{name}{end}"] = [f"{value:.6g}" for value in values]
        return found
    assert isinstance(model, GraphClassifier)
    probabilities = model.predict_proba(X)
    best = probabilities.argmax(axis=1)
    sets = model.predict_set(X, interval)
    return {
        "prediction": [model.classes_[code].item() for code in best.tolist()],
        "probability": [f"{row[code]:.4f}" for row, code in zip(probabilities, best, strict=True)],
        "set": ["|".join(map(str, one)) for one in sets],
    }
