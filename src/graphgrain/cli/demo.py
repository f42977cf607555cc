"""The command demo: a tour of graphgrain in under a minute, without a download."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from rich.markup import escape

from ..errors import InvalidParameterError
from . import options as opt
from .app import command
from .console import answer, out
from .options import nearest
from .tables import text_table

#: Number of neighbours shown.
NEIGHBOURS = 5


@command(["graphgrain demo", "graphgrain demo --drug diazepam --output demo"])
def demo(
    drug: opt.Drug = "morphine",
    output: opt.Output = Path("graphgrain-demo"),
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Compare the bundled drugs: nearest neighbours, cross-validated accuracy and pages."""
    import numpy as np

    from ..evaluation.exploration import explore
    from ..evaluation.labelled_graphs import prepare
    from ..evaluation.protocol import Protocol
    from ..evaluation.records import read_results
    from ..evaluation.summary import summarise
    from ..kernels.tree_plus_plus import TreePlusPlus
    from ..report.graph_pages import explore_page, write_neighbours
    from ..report.results_page import write_report
    from ..writing import atomic_write
    from .evaluate import running
    from .kernel_options import kernel_grid
    from .loading import BUNDLED, load

    start = time.perf_counter()
    say: Callable[..., None] = (lambda *_: None) if as_json else out().print
    _, graphs, y, names, *_ = load(BUNDLED)
    assert y is not None
    assert names is not None
    if drug not in names:
        raise InvalidParameterError(
            f"There is no drug {drug!r} among the {len(names)}. {nearest(drug, names.tolist())}"
            "`gg.load_drugs(names=True)` lists them."
        )
    say(
        f"[bold]{len(graphs)} drugs in {len(set(y))} families[/bold], as graphs of "
        f"{graphs.n_vertices:,} atoms and {graphs.n_edges:,} bonds."
    )

    # Morphine and hydromorphone differ only in their bonds.
    kernel = TreePlusPlus(edge_labels=True, n_jobs=jobs)
    K = kernel.fit_transform(graphs)
    me = int(np.flatnonzero(names == drug)[0])
    near = [int(other) for other in np.argsort(-K[me], kind="stable") if other != me][:NEIGHBOURS]
    rows = [
        (f"{K[me, other]:.2f}", "█" * round(20 * K[me, other]), names[other], y[other])
        for other in near
    ]
    say(f"\nMost similar to [bold]{escape(drug)}[/bold] ({escape(str(y[me]))}) by Tree++:")
    say(text_table(("similarity", "", "drug", "family"), rows))

    results = output / "results.jsonl"
    data = prepare(BUNDLED, graphs, y)
    kernels = [kernel_grid("vertex-histogram"), kernel_grid("tree++", ["edge_labels=True"])]
    with running(results, 10 * len(kernels), jobs, quiet=as_json) as runner:
        for each in kernels:
            runner(data, each, Protocol(), 1)
    right = {row.kernel: row.accuracy.mean or 0.0 for row in summarise(read_results(results))}
    mean = {name: right[name] for name in ("vertex-histogram", "tree++")}
    say(
        f"\nFamily predicted in ten-fold cross-validation: Tree++ is right for "
        f"[bold]{100 * mean['tree++']:.1f} %[/bold] of the drugs, counting atoms only for "
        f"{100 * mean['vertex-histogram']:.1f} %."
    )

    pictures, page = output / "neighbours.html", output / "report.html"
    links = [
        (f"Neighbours of {drug}", pictures.name),
        ("Comparison of kernels", page.name),
        ("Predictions for all drugs, explained", "explore.html"),
    ]
    write_neighbours(pictures, kernel, graphs, names, y, me, near, links)
    write_report(results, page, n_jobs=jobs, links=links)
    explored = output / "explore.html"
    with atomic_write(explored, "The page") as file:
        found = explore(BUNDLED, graphs, y, names, n_jobs=jobs)
        file.write(explore_page(found, links).encode())
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
                "neighbours page": str(pictures),
                "report": str(page),
                "explore": str(explored),
                "seconds": round(taken, 2),
            }
        )
        return
    say(f"\nOpen in a browser: [bold]{escape(str(pictures))}[/bold], the nearest neighbours,")
    say(f"                   [bold]{escape(str(page))}[/bold], the comparison of kernels,")
    say(f"                   [bold]{escape(str(explored))}[/bold], all predictions explained.")
    assert found.score is not None
    say(
        f"The last page has {100 * found.score:.1f} % right predictions instead of "
        f"{100 * mean['tree++']:.1f} %: it uses a self-tuning model in {found.folds} folds, not "
        "one kernel in ten."
    )
    say(f"This took {taken:.0f} s. Next, your own data: graphgrain explore your.csv")
