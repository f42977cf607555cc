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

    from ..evaluation.evaluate import evaluate
    from ..evaluation.exploration import explore
    from ..kernels.tree_plus_plus import TreePlusPlus
    from ..kernels.vertex_histogram import VertexHistogram
    from ..pages.evaluation import evaluation_page
    from ..pages.graph_pages import explore_page, write_neighbours
    from ..writing import unwritable, write_page
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
    try:
        output.mkdir(exist_ok=True)
    except OSError as error:
        raise unwritable("The pages", output, error) from None
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

    kernels = {"Tree++": TreePlusPlus(edge_labels=True), "atoms only": VertexHistogram()}
    compared = evaluate(kernels, graphs, y, name=BUNDLED, n_jobs=jobs, file=output / "folds.csv")
    mean = {row.model: row.mean for row in compared.table()}
    say(
        f"\nFamily predicted in ten-fold cross-validation: Tree++ is right for "
        f"[bold]{100 * mean['Tree++']:.1f} %[/bold] of the drugs, counting atoms only for "
        f"{100 * mean['atoms only']:.1f} %."
    )

    pictures, page = output / "neighbours.html", output / "evaluation.html"
    links = [
        (f"Neighbours of {drug}", pictures.name),
        ("Comparison of kernels", page.name),
        ("Predictions for all drugs, explained", "explore.html"),
    ]
    write_neighbours(pictures, kernel, graphs, names, y, me, near, links)
    write_page(page, evaluation_page(compared))
    explored = output / "explore.html"
    exploration = explore(BUNDLED, graphs, y, names, n_jobs=jobs)
    write_page(explored, explore_page(exploration, links))
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
                "evaluation": str(page),
                "explore": str(explored),
                "seconds": round(taken, 2),
            }
        )
        return
    say(f"\nOpen in a browser: [bold]{escape(str(pictures))}[/bold], the nearest neighbours,")
    say(f"                   [bold]{escape(str(page))}[/bold], the comparison of kernels,")
    say(f"                   [bold]{escape(str(explored))}[/bold], all predictions explained.")
    assert exploration.score is not None
    say(
        f"The last page has {100 * exploration.score:.1f} % right predictions instead of "
        f"{100 * mean['Tree++']:.1f} %: it weighs several kernels, and leaves out one graph "
        "at a time."
    )
    say(f"This took {taken:.0f} s. Next, your own data: graphgrain explore your.csv")
