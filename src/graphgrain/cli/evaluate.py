"""The command evaluate: cross-validated accuracy on any data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..errors import InvalidParameterError
from ..evaluation.labelled_graphs import prepare
from ..evaluation.molecule_sets import read_molecules
from ..evaluation.protocol import Protocol
from ..evaluation.records import under_protocol
from ..evaluation.results_file import read_results
from ..evaluation.summary import SELECTIONS, Summary, summarise
from ..kernels.grid import KernelGrid
from .app import answer, command, err, out
from .arguments import Jobs, Json, Reading, Set, check_choice, listed
from .evaluated_rows import evaluated_row
from .loading import MOLECULE_OPTIONS, load, note_ignored_attributes
from .molecule_benchmarks import evaluate_split
from .result_tables import accuracy_table
from .running import running
from .wide_tables import print_table

RESULTS = Path("graphgrain-results.jsonl")

Results = Annotated[
    Path,
    typer.Option(
        "--results", "-r", help="Where every finished fold is kept; an existing file is continued."
    ),
]
Repeats = Annotated[int, typer.Option(min=1, help="Number of repetitions.")]
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
            "between kernels (GraphClassifier), self-tuned between the settings of Tree++ "
            "(TreePlusPlusClassifier).",
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
        str | None,
        typer.Option(
            help="For files of molecules: instead of cross-validation, train on one part and test "
            "on the other: scaffold, random, or a column that says train and test. The self-tuned "
            "Tree++ beside ECFP4; numbers or the classes 0 and 1.",
            metavar="SPLIT",
        ),
    ] = None,
    repeats: Repeats = 10,
    folds: Folds = 10,
    select: Select = "validated",
    seed: Seed = 0,
    remove_duplicates: Duplicates = False,
    parameters: Set = None,
    results: Results = RESULTS,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Measure how well kernels classify: repeated cross-validation of a support vector machine.

    Parameters of the kernel and C are chosen inside each fold, from training graphs only. Every
    finished fold is written to the results file at once; after an interruption the same command
    goes on where it was. Results do not depend on the number of threads.
    """
    if split is not None:
        options = {name: getattr(reading, name) for name in MOLECULE_OPTIONS}
        molecules = [read_molecules(Path(item), reading.target, n_jobs, **options) for item in data]
        found = evaluate_split(molecules, split, seed, results, n_jobs, as_json)
        if as_json:
            answer(found)
        return
    check_choice("--select", select, SELECTIONS)
    protocol = Protocol(mode, folds, seed=seed)
    rows = [evaluated_row(name, parameters) for name in listed(kernel) or ["tree++"]]
    grids = [row for row in rows if isinstance(row, KernelGrid)]
    if mode != "nested" and len(grids) < len(rows):
        raise InvalidParameterError(
            "Classifiers that tune themselves validate inside the training graphs; use --mode "
            f"nested, not {mode}."
        )
    sets = []
    for item in data:
        loaded = load(item, reading).with_classes()
        name, graphs, y, *_ = loaded
        kernels = [grid.estimator(setting) for grid in grids for setting in grid.settings]
        note_ignored_attributes(loaded, kernels)
        sets.append(
            prepare(name, graphs, y, remove_duplicates=remove_duplicates, folds=protocol.folds)
        )
        if sets[-1].removed:
            err().print(f"{escape(name)}: {sets[-1].removed} duplicates removed.")
    settings = sum(len(grid.settings) for grid in grids) + len(rows) - len(grids)
    total = len(sets) * settings * repeats * folds
    with running(results, total, n_jobs, quiet=as_json) as runner:
        for prepared in sets:
            for row in rows:
                runner(prepared, row, protocol, repeats)
    names = {(row.name, row.variant) for row in rows}
    fingerprints = {prepared.fingerprint for prepared in sets}
    records = [
        record
        for record in under_protocol(read_results(results), protocol.key)
        if record.fingerprint in fingerprints and (record.kernel, record.variant) in names
    ]
    show(summarise(records, select), f"Accuracy in per cent ({mode}, {select})", as_json, results)


def show(rows: list[Summary], title: str, as_json: bool, results: Path) -> None:
    """Print a table of accuracies, or the same as JSON."""
    if as_json:
        answer([row.as_dict() for row in rows])
        return
    print_table(out(), accuracy_table(rows, title), keys=2)
    err().print(f"Results are in {escape(str(results))}; `graphgrain report` makes a page of them.")
