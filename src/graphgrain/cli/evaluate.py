"""The command evaluate: performance of kernels on any data and split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from ..errors import InvalidParameterError
from ..evaluation.experiment import (
    AUTO_ROW,
    TREE_ROW,
    Progress,
    TunedRow,
    regression_row,
    run,
)
from ..evaluation.labelled_graphs import LabelledGraphs, prepare
from ..evaluation.protocol import MODES, Protocol
from ..evaluation.records import (
    AUTO,
    SELF_TUNED,
    ResultsFile,
    read_results,
    under_protocol,
    versions,
)
from ..evaluation.splits import DRAWN, FOLDS, NAMED, parts_of
from ..evaluation.summary import SELECTIONS, Summary, summarise
from ..graphs.batch import counted
from ..graphs.files.molecules import typed
from ..kernels.grid import KernelGrid
from ..learning.inputs import are_classes
from ..parameters import check_parameters
from .app import Interrupted, command
from .console import answer, err, out
from .kernel_options import given_of, kernel_grid
from .loading import Loaded, load, note_ignored_attributes
from .models import training_table
from .options import (
    Columns,
    Descriptors,
    Errors,
    Id,
    Jobs,
    Json,
    Labels,
    Missing,
    Parameters,
    Reading,
    Smiles,
    Target,
    View,
    check_choice,
    listed,
)
from .tables import accuracy_table, print_table

RESULTS = Path("graphgrain-results.jsonl")

Results = Annotated[
    Path,
    typer.Option(
        "--results", "-r", help="File for the results of every fold; an existing file is continued."
    ),
]
Folds = Annotated[int, typer.Option(help="Number of test folds.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the folds.")]
Duplicates = Annotated[
    bool,
    typer.Option(
        "--remove-duplicates",
        help="Remove duplicates (isomorphic graphs with equal labels) first.",
    ),
]
Select = Annotated[
    str,
    typer.Option(
        help="validated: parameters of the kernel are selected on the training graphs of each "
        "fold. reported-best: the parameters with the best test accuracy, as often published; "
        "optimistic."
    ),
]


@command(
    [
        "graphgrain evaluate drugs",
        "graphgrain evaluate MUTAG PTC_FR --kernel tree++,wl,sp --repeats 3",
        "graphgrain evaluate my_graphs.zip --kernel tree++ --set edge_labels=True",
        "graphgrain evaluate ENZYMES --kernel auto --repeats 1",
        "graphgrain evaluate BZR_MD --view edge-filter:drop=1 --set edge_labels=True",
        "graphgrain evaluate molecules.csv --target active --errors skip --json",
        "graphgrain evaluate logp.csv.gz --target logp --split scaffold",
        "graphgrain evaluate logp.csv.gz --target logp --split random-scaffold --repeats 5",
        "graphgrain evaluate assays.csv --target y --columns dose,assay --descriptors rdkit",
    ]
)
def evaluate(
    data: Annotated[
        list[str],
        typer.Argument(help="Files, folders, names of TU data sets, or drugs.", metavar="DATA"),
    ],
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel",
            "-k",
            help="Kernels to compare, such as -k tree++,wl. auto selects kernels on the training "
            "graphs, self-tuned the settings of Tree++.",
            show_default="tree++",
        ),
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            help="nested: stratified folds with inner cross-validation (recommended). paper: as "
            "in the Tree++ paper, random folds, one of which is used for validation."
        ),
    ] = "nested",
    split: Annotated[
        str,
        typer.Option(
            help="folds: cross-validation. random, scaffold (rare scaffolds in the test set) or "
            "random-scaffold: one test set per repetition, with 80 % of the graphs for training "
            "and 10 % for testing. Or a column that contains train and test.",
            metavar="SPLIT",
        ),
    ] = FOLDS,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of repetitions.",
            show_default="10; 1 for fixed splits",
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of test folds.", show_default="10")
    ] = None,
    select: Select = "validated",
    seed: Seed = 0,
    remove_duplicates: Duplicates = False,
    columns: Columns = "",
    descriptors: Descriptors = None,
    parameters: Parameters = None,
    results: Results = RESULTS,
    target: Target = None,
    id: Id = None,
    smiles: Smiles = None,
    labels: Labels = "",
    errors: Errors = "raise",
    missing: Missing = "raise",
    view: View = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Evaluate kernels for classification or regression, by cross-validation or another split.

    Classification uses a support vector machine, regression (targets with fractions or more than
    50 values) the self-tuning GraphRegressor. With --columns or --descriptors, the self-tuning
    estimators are fitted to graphs and columns together. Parameters of the kernel and of the
    machine are selected on the training graphs only. Every finished fold is written to the results
    file immediately; after an interruption, run the same command again to continue. Results do not
    depend on the number of threads.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    check_choice("--select", select, SELECTIONS)
    check_choice("--mode", mode, MODES)
    protocol, repeats = _protocol(mode, split, folds, repeats, seed)
    beside = listed([columns])
    with_table = bool(beside) or descriptors is not None
    usual = SELF_TUNED if with_table else "tree++"
    rows = [evaluated_row(name, parameters) for name in listed(kernel) or [usual]]
    grids = [row for row in rows if isinstance(row, KernelGrid)]
    if mode != "nested" and len(grids) < len(rows):
        raise InvalidParameterError(
            "Self-tuning classifiers validate within the training graphs; use --mode "
            f"nested, not {mode}."
        )
    work: list[tuple[LabelledGraphs, KernelGrid | TunedRow]] = []
    for item in data:
        loaded = load(item, reading).with_classes().with_one_target()
        training_table(loaded, beside, descriptors, reading)
        kernels = [grid.estimator(setting) for grid in grids for setting in grid.settings]
        note_ignored_attributes(loaded, kernels)
        prepared = _prepared(loaded, protocol, remove_duplicates, beside, descriptors is not None)
        if prepared.removed:
            err().print(
                f"{escape(prepared.name)}: {counted(prepared.removed, 'duplicate')} removed."
            )
        offered = _rows(prepared, rows, mode)
        if with_table:
            offered = [_with_table(row, tuple(beside), descriptors) for row in offered]
        own = {(row.name, row.variant): row for row in offered}
        work += [(prepared, row) for row in own.values()]
    settings = sum(len(row.settings) if isinstance(row, KernelGrid) else 1 for _, row in work)
    total = repeats * protocol.folds * settings
    with running(results, total, n_jobs, quiet=as_json) as runner:
        for prepared, row in work:
            runner(prepared, row, protocol, repeats)
    wanted = {(prepared.place, row.name, row.variant) for prepared, row in work}
    records = [
        record
        for record in under_protocol(read_results(results), protocol.key)
        if (record.place, record.kernel, record.variant) in wanted
        and record.deduplicated == remove_duplicates
    ]
    how = mode if split == FOLDS else f"split {split}"
    show(summarise(records, select), f"{how}, {select}", as_json, results)


def _protocol(
    mode: str, split: str, folds: int | None, repeats: int | None, seed: int
) -> tuple[Protocol, int]:
    """Return the protocol and the number of repetitions; check that options are compatible."""
    if split == FOLDS:
        return Protocol(mode, 10 if folds is None else folds, seed=seed), repeats or 10
    if mode != "nested":
        raise InvalidParameterError(
            f"--mode {mode} is a cross-validation; leave it out with --split {split}."
        )
    if folds is not None:
        raise InvalidParameterError(
            f"--folds is for cross-validation; --split {split} has one test set per repetition. "
            "Leave out one of the two."
        )
    if split not in DRAWN and repeats not in (None, 1):
        raise InvalidParameterError(
            f"--split {split} is always the same, so --repeats {repeats} would have no effect. "
            "Leave out --repeats, or draw splits with --split random or random-scaffold."
        )
    protocol = Protocol("nested", 1, seed=seed, split=split)
    return protocol, repeats or (10 if split in DRAWN else 1)


def _prepared(
    loaded: Loaded,
    protocol: Protocol,
    remove_duplicates: bool,
    columns: Sequence[str],
    descriptors: bool,
) -> LabelledGraphs:
    """Check the targets and the split of a data set before any work is done."""
    split = protocol.split
    used = [loaded.table[name] for name in columns]
    if split in loaded.columns and split not in NAMED:
        used.append(loaded.table[split])
    if loaded.smiles is not None and (descriptors or "scaffold" in split):
        used.append(loaded.smiles)
    prepared = prepare(
        loaded.name,
        loaded.graphs,
        loaded.y,
        remove_duplicates=remove_duplicates,
        folds=protocol.folds,
        numeric=loaded.y is not None and not are_classes(loaded.y),
        smiles=loaded.smiles,
        columns={name: typed(loaded.table[name]) for name in loaded.columns} or None,
        used=used,
    )
    if split != FOLDS:
        parts_of(prepared, split, protocol.seed)
    return prepared


def _rows(
    data: LabelledGraphs, rows: Sequence[KernelGrid | TunedRow], mode: str
) -> list[KernelGrid | TunedRow]:
    """Return the rows for a data set; for regression, kernels become regressors."""
    if not data.numeric:
        return list(rows)
    if mode != "nested":
        raise InvalidParameterError(
            f"--mode {mode} is for classes; the target of {data.name} is numeric. Leave it out."
        )
    return [regression_row(row) if isinstance(row, KernelGrid) else row for row in rows]


def _with_table(
    row: KernelGrid | TunedRow, columns: tuple[str, ...], descriptors: str | None
) -> TunedRow:
    """Return the estimator with columns and descriptors."""
    if isinstance(row, KernelGrid):
        raise InvalidParameterError(
            "--columns and --descriptors need a self-tuning estimator; use --kernel "
            f"{SELF_TUNED} or {AUTO}, not {row.name}."
        )
    more = {} if descriptors is None else {"descriptors": descriptors}
    return replace(row, columns=columns, parameters={**row.parameters, **more})


#: Estimators that select kernels, or settings of Tree++.
_TUNED = {AUTO: AUTO_ROW, SELF_TUNED: TREE_ROW}
#: Parameters that are set by the protocol, not by --set.
_FIXED = {"C", "cv", "n_jobs", "random_state", "verbose", "views"}


def evaluated_row(name: str, parameters: Sequence[str] | None = None) -> KernelGrid | TunedRow:
    """Return a kernel or a self-tuning estimator by name, with its parameters."""
    if name not in _TUNED:
        return kernel_grid(name, parameters, beside=tuple(_TUNED))
    row = _TUNED[name]
    classifier = row.classifier()
    known = sorted(set(classifier.get_params(deep=False)) - _FIXED)
    values = given_of(known, name, parameters)
    check_parameters(classifier.set_params(**{**row.fixed, **values}))
    return replace(row, parameters=values)


def show(rows: list[Summary], title: str, as_json: bool, results: Path) -> None:
    """Print a table of scores, or the same as JSON."""
    if as_json:
        answer([row.as_dict() for row in rows])
        return
    for numeric in (False, True):
        own = [row for row in rows if row.numeric == numeric]
        if own:
            what = "Errors" if numeric else "Accuracy in percent"
            print_table(out(), accuracy_table(own, f"{what} ({title})"), keys=2)
    err().print(
        f"Results are in {escape(str(results))}; `graphgrain report` writes a page of them."
    )


# ---------------------------------------------------------------- running, also for other commands


@dataclass(frozen=True)
class Runner:
    """Evaluates kernels and estimators on data sets; results that exist are not computed again."""

    results: ResultsFile
    progress: Progress
    n_jobs: int

    def __call__(
        self, data: LabelledGraphs, row: KernelGrid | TunedRow, protocol: Protocol, repeats: int
    ) -> None:
        run(data, row, protocol, repeats, self.results, n_jobs=self.n_jobs, progress=self.progress)


@contextmanager
def running(results: Path, total: int, n_jobs: int, quiet: bool = False) -> Iterator[Runner]:
    """Yield a function that evaluates with progress bars and stores missing results.

    Ctrl-C stops it between two folds, with a message on how to continue.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    bars = Bars(*columns, console=err(), disable=quiet, transient=True)

    def begin(description: str, folds: int) -> None:
        bars.reset(part, description=description, total=max(folds, 1))

    def advance(folds: int) -> None:
        bars.advance(part, folds)
        bars.advance(whole, folds)

    with ResultsFile(results) as file:
        _note_versions(file)
        try:
            with bars:
                whole = bars.add_task("all folds", total=total)
                part = bars.add_task("", total=None)
                yield Runner(file, Progress(begin, advance), n_jobs)
        except KeyboardInterrupt:
            raise Interrupted(
                f"Every finished fold is saved in {str(results)!r}. Run the same command again "
                "to continue."
            ) from None


def _note_versions(file: ResultsFile) -> None:
    """Print a note if the file has results of other versions."""
    known = {record.versions.get("graphgrain", "unknown") for record in file.records}
    if others := sorted(known - {versions()["graphgrain"]}):
        err().print(
            f"[yellow]Note:[/yellow] {escape(str(file.path))} holds results of graphgrain "
            f"{escape(', '.join(others))}; they are used as they are. Choose another --results to "
            "recompute them."
        )
