"""The command evaluate: how well kernels predict, on any data and by any split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

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
    SELF_TUNED,
    TREE_ROW,
    Progress,
    TunedRow,
    regression_row,
    run,
)
from ..evaluation.labelled_graphs import LabelledGraphs, prepare
from ..evaluation.protocol import MODES, Protocol
from ..evaluation.records import AUTO, ResultsFile, read_results, under_protocol, versions
from ..evaluation.splits import DRAWN, FOLDS, NAMED, parts_of
from ..evaluation.summary import SELECTIONS, Summary, summarise
from ..kernels.grid import KernelGrid
from ..learning.inputs import are_classes
from ..parameters import check_parameters
from .app import Interrupted, answer, command, err, out
from .arguments import Jobs, Json, Reading, Set, check_choice, listed
from .kernel_options import given_of, kernel_grid
from .learn import Columns, Descriptors, training_table
from .loading import Loaded, load, note_ignored_attributes
from .tables import accuracy_table, print_table

RESULTS = Path("graphgrain-results.jsonl")

Results = Annotated[
    Path,
    typer.Option(
        "--results", "-r", help="Where every finished fold is kept; an existing file is continued."
    ),
]
Folds = Annotated[int, typer.Option(help="Number of test folds.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the folds.")]
Duplicates = Annotated[
    bool, typer.Option("--remove-duplicates", help="Remove isomorphic duplicates first.")
]
Select = Annotated[
    str,
    typer.Option(
        help="validated: each fold chooses the kernel's parameters on its training graphs. "
        "reported-best: the parameters with the best test accuracy, as papers often report; "
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
        typer.Argument(
            help="Files, folders, names of the TU collection, or drugs.", metavar="DATA"
        ),
    ],
    reading: Reading,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel",
            "-k",
            help="Kernels to compare, as -k tree++,wl; auto lets the training graphs choose "
            "between kernels, self-tuned between the settings of Tree++.",
            show_default="tree++",
        ),
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            help="nested: stratified folds, inner cross-validation (recommended). paper: as in "
            "the Tree++ paper, random folds, one of them validates."
        ),
    ] = "nested",
    split: Annotated[
        str,
        typer.Option(
            help="folds: cross-validation. random, scaffold (rare scaffolds are tested), "
            "random-scaffold, or a column that says train and test: one test part for each "
            "repetition, a tenth of the graphs, and four fifths to train on.",
            metavar="SPLIT",
        ),
    ] = FOLDS,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of repetitions.",
            show_default="10; 1 for a split that is always the same",
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of test folds.", show_default="10")
    ] = None,
    select: Select = "validated",
    seed: Seed = 0,
    remove_duplicates: Duplicates = False,
    columns: Columns = None,
    descriptors: Descriptors = None,
    parameters: Set = None,
    results: Results = RESULTS,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Measure how well kernels predict classes or numbers, by cross-validation or another split.

    Classes are learned by a support vector machine, numbers (a target with fractions, or with more
    than 50 values) by the regressor that tunes itself. With --columns or --descriptors both are
    learned by the estimators that tune themselves, from graphs and columns together. Parameters of
    the kernel and of the machine are chosen on training graphs only. Every finished fold is written
    to the results file at once; after an interruption the same command goes on where it was.
    Results do not depend on the number of threads.
    """
    check_choice("--select", select, SELECTIONS)
    check_choice("--mode", mode, MODES)
    protocol, repeats = _protocol(mode, split, folds, repeats, seed)
    beside = listed([columns] if columns else None)
    with_table = bool(beside) or descriptors is not None
    usual = SELF_TUNED if with_table else "tree++"
    rows = [evaluated_row(name, parameters) for name in listed(kernel) or [usual]]
    grids = [row for row in rows if isinstance(row, KernelGrid)]
    if mode != "nested" and len(grids) < len(rows):
        raise InvalidParameterError(
            "Classifiers that tune themselves validate inside the training graphs; use --mode "
            f"nested, not {mode}."
        )
    work: list[tuple[LabelledGraphs, KernelGrid | TunedRow]] = []
    for item in data:
        loaded = load(item, reading).with_classes()
        training_table(loaded, beside, descriptors, reading)
        kernels = [grid.estimator(setting) for grid in grids for setting in grid.settings]
        note_ignored_attributes(loaded, kernels)
        prepared = _prepared(loaded, protocol, remove_duplicates)
        if prepared.removed:
            err().print(f"{escape(prepared.name)}: {prepared.removed} duplicates removed.")
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
    wanted = {(prepared.fingerprint, row.name, row.variant) for prepared, row in work}
    records = [
        record
        for record in under_protocol(read_results(results), protocol.key)
        if (record.fingerprint, record.kernel, record.variant) in wanted
    ]
    how = mode if split == FOLDS else f"split {split}"
    show(summarise(records, select), f"{how}, {select}", as_json, results)


def _protocol(
    mode: str, split: str, folds: int | None, repeats: int | None, seed: int
) -> tuple[Protocol, int]:
    """The rules, and how often; what does not fit together is an error."""
    if split == FOLDS:
        return Protocol(mode, folds or 10, seed=seed), repeats or 10
    if mode != "nested":
        raise InvalidParameterError(
            f"--mode {mode} is a cross-validation; leave it out with --split {split}."
        )
    if folds is not None:
        raise InvalidParameterError(
            f"--folds is for cross-validation; --split {split} has one test part for each "
            "repetition. Leave out one of the two."
        )
    if split not in DRAWN and repeats not in (None, 1):
        raise InvalidParameterError(
            f"--split {split} is always the same, so --repeats {repeats} would repeat nothing. "
            "Leave out --repeats, or draw splits with --split random or random-scaffold."
        )
    protocol = Protocol("nested", 1, seed=seed, split=split)
    return protocol, repeats or (10 if split in DRAWN else 1)


def _prepared(loaded: Loaded, protocol: Protocol, remove_duplicates: bool) -> LabelledGraphs:
    """The data set with its targets checked, and the split, before any work is done."""
    split = protocol.split
    if split not in NAMED and split not in loaded.table:
        known = f" The columns of {loaded.name} are {', '.join(loaded.columns)}."
        raise InvalidParameterError(
            f"--split is {', '.join(NAMED)}, or a column of the file that says train and test; "
            f"got {split!r}.{known if loaded.columns else ''}"
        )
    prepared = prepare(
        loaded.name,
        loaded.graphs,
        loaded.y,
        remove_duplicates=remove_duplicates,
        folds=protocol.folds,
        numeric=loaded.y is not None and not are_classes(loaded.y),
        smiles=loaded.smiles,
        columns=loaded.table or None,
    )
    if split != FOLDS:
        parts_of(prepared, split, protocol.seed)
    return prepared


def _rows(
    data: LabelledGraphs, rows: Sequence[KernelGrid | TunedRow], mode: str
) -> list[KernelGrid | TunedRow]:
    """What is evaluated on a data set: for numbers every kernel is a regressor's."""
    if not data.numeric:
        return list(rows)
    if mode != "nested":
        raise InvalidParameterError(
            f"--mode {mode} is for classes; the target of {data.name} holds numbers. Leave it out."
        )
    return [regression_row(row) if isinstance(row, KernelGrid) else row for row in rows]


def _with_table(
    row: KernelGrid | TunedRow, columns: tuple[str, ...], descriptors: str | None
) -> TunedRow:
    """The same estimator, which also learns from columns and descriptors."""
    if isinstance(row, KernelGrid):
        raise InvalidParameterError(
            "--columns and --descriptors need an estimator that tunes itself; use --kernel "
            f"{SELF_TUNED} or {AUTO}, not {row.name}."
        )
    more = {} if descriptors is None else {"descriptors": descriptors}
    return replace(row, columns=columns, parameters={**row.parameters, **more})


#: Estimators that choose between kernels, and between the settings of Tree++.
_TUNED = {AUTO: AUTO_ROW, SELF_TUNED: TREE_ROW}
#: What the protocol says, not the command line.
_FIXED = {"C", "cv", "n_jobs", "random_state", "verbose", "views"}


def evaluated_row(name: str, parameters: Sequence[str] | None = None) -> KernelGrid | TunedRow:
    """A kernel by its name, or an estimator that tunes itself with its own parameters."""
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
            what = "Errors" if numeric else "Accuracy in per cent"
            print_table(out(), accuracy_table(own, f"{what} ({title})"), keys=2)
    err().print(f"Results are in {escape(str(results))}; `graphgrain report` makes a page of them.")


# ---------------------------------------------------------------- running, also for other commands


@dataclass(frozen=True)
class Runner:
    """Evaluates kernels on data sets, one after the other."""

    results: ResultsFile
    progress: Progress
    n_jobs: int

    def __call__(
        self, data: LabelledGraphs, row: KernelGrid | TunedRow, protocol: Protocol, repeats: int
    ) -> None:
        """Fill in what the results lack of a kernel or of an estimator that tunes itself."""
        more: dict[str, Any] = {"n_jobs": self.n_jobs, "progress": self.progress}
        run(data, row, protocol, repeats, self.results, **more)


@contextmanager
def running(results: Path, total: int, n_jobs: int, quiet: bool = False) -> Iterator[Runner]:
    """A runner with bars; Ctrl-C ends it between two folds and says how to go on."""
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
        _tell_versions(file)
        try:
            with bars:
                whole = bars.add_task("all folds", total=total)
                part = bars.add_task("", total=None)
                yield Runner(file, Progress(begin, advance), n_jobs)
        except KeyboardInterrupt:
            raise Interrupted(
                f"Every finished fold is safe in {str(results)!r}. Run the same command again "
                "to go on from there."
            ) from None


def _tell_versions(file: ResultsFile) -> None:
    """Results of several versions in one table are worth a note."""
    known = {record.versions.get("graphgrain", "unknown") for record in file.records}
    if others := sorted(known - {versions()["graphgrain"]}):
        err().print(
            f"[yellow]Note:[/yellow] {escape(str(file.path))} holds results of graphgrain "
            f"{escape(', '.join(others))}; they are used as they are. Choose another --results to "
            "compute them anew."
        )
