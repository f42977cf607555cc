"""The command explore: an interactive page of a data set."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from ..writing import check_output, write_page
from . import options as opt
from .app import command
from .console import answer, err, out


@command(
    [
        "graphgrain explore drugs",
        "graphgrain explore molecules.csv --target active -o molecules.html",
        "graphgrain explore MUTAG --most 100",
    ],
    reads_data=True,
)
def explore(
    ctx: opt.Context,
    data: opt.Data,
    output: opt.Output = Path("explore.html"),
    most: opt.Most = 1000,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Write an interactive page of a data set: a map, drawings, predictions and explanations.

    The page is one self-contained HTML file. Clicking a graph on the map shows its prediction by a
    model fitted without it, the contributions of fragments and vertices, and its nearest neighbours
    with their differences. Without a target there are only the map and the neighbours.
    """
    check_output(output, "The page")
    from ..evaluation.exploration import explore as exploration
    from ..graphs.batch import counted
    from ..pages.graph_pages import explore_page
    from .loading import load

    reading: opt.Reading = ctx.obj
    loaded = load(data, reading).with_one_target()
    with err().status(f"Exploring {escape(loaded.name)}"):
        page = exploration(
            loaded.name, loaded.graphs, loaded.y, loaded.names, most=most, n_jobs=jobs
        )
        write_page(output, explore_page(page))
    if as_json:
        answer({"page": str(output), "graphs": len(page.graphs), "score": page.score})
        return
    if page.score is None:
        right = "no target to predict" + (" (--target names its column)" if loaded.columns else "")
    elif page.classes:
        right = f"{100 * page.score:.1f} % of the predictions are right"
    else:
        right = f"predictions with R2 {page.score:.3f}"
    out().print(
        f"{counted(len(page.graphs), 'graph')}, {right}. Open "
        f"[bold]{escape(str(output))}[/bold] in a browser."
    )
