"""The command demo: what graphgrain does, in under a minute, without a download."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from ..errors import InvalidParameterError
from ..evaluation.experiment import Variant
from ..evaluation.labelled_graphs import prepare
from ..evaluation.protocol import Protocol
from ..evaluation.results_file import read_results
from ..evaluation.summary import summarise
from .app import answer, command, out
from .arguments import Jobs, Json, nearest
from .loading import BUNDLED, load
from .running import running


@command(["graphgrain demo", "graphgrain demo --drug diazepam --output demo"])
def demo(
    drug: Annotated[str, typer.Option(help="The drug whose neighbours are shown.")] = "morphine",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the results and the page.")
    ] = Path("graphgrain-demo"),
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Compare the bundled drugs: a kernel, an accuracy, nearest neighbours, a report page."""
    import graphgrain as gg

    start = time.perf_counter()
    say = (lambda *_: None) if as_json else out().print
    _, graphs, y, names, _ = load(BUNDLED)
    assert y is not None
    assert names is not None
    if drug not in names:
        raise InvalidParameterError(
            f"There is no drug {drug!r} among the {len(names)}. {nearest(drug, names.tolist())}"
            "`gg.load_drugs(names=True)` lists them."
        )
    say(f"[bold]{len(graphs)} drugs in {len(set(y))} families[/bold]: {graphs}")

    K = gg.TreePlusPlus(n_jobs=n_jobs).fit_transform(graphs)
    me = int(np.flatnonzero(names == drug)[0])
    order = np.argsort(-K[me], kind="stable")
    near = [int(other) for other in order if other != me][:5]
    table = Table("similarity", "drug", "family", box=None)
    for other in near:
        table.add_row(f"{K[me, other]:.2f}", escape(str(names[other])), escape(str(y[other])))
    say(f"\nMost similar to [bold]{escape(drug)}[/bold] ({escape(str(y[me]))}) by Tree++:")
    say(table)

    results = output / "results.jsonl"
    data = prepare(BUNDLED, graphs, y)
    kernels = ("vertex-histogram", "tree++")
    with running(results, 10 * len(kernels), n_jobs, quiet=as_json) as runner:
        for name in kernels:
            runner(data, Variant.usual(name), Protocol(), 1)
    rows = {row.kernel: row for row in summarise(read_results(results))}
    mean = {name: rows[name].accuracy.mean or 0.0 for name in kernels}
    say(
        f"\nGuessing the family, ten-fold cross-validation: Tree++ is right for "
        f"[bold]{100 * mean['tree++']:.1f} %[/bold] of the drugs, counting atoms alone for "
        f"{100 * mean['vertex-histogram']:.1f} %."
    )

    from ..report.page import write_report

    page = output / "report.html"
    write_report(results, page, n_jobs=n_jobs)
    taken = time.perf_counter() - start
    if as_json:
        answer(
            {
                "drug": drug,
                "neighbours": [
                    {"name": str(names[o]), "family": str(y[o]), "similarity": float(K[me, o])}
                    for o in near
                ],
                "accuracy": mean,
                "report": str(page),
                "seconds": round(taken, 2),
            }
        )
        return
    say(f"\nOpen [bold]{escape(str(page))}[/bold] in a browser. All this took {taken:.0f} s.")
    say("Next: graphgrain evaluate --help, graphgrain reproduce --help")
