"""Pages of graphs: a data set to look around in, one prediction, a search, nearest neighbours."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from markupsafe import Markup

from .. import __version__
from ..errors import GraphgrainError
from ..evaluation.exploration import Exploration, Seen
from ..explaining.comparison import compare
from ..graphs.batch import GraphBatch
from ..graphs.drawing import draw
from ..kernels.bases.feature_kernel import FeatureKernel
from ..templating import render
from ..writing import atomic_write
from .words import count

_HOW = "Contributions are shared among the vertices of the patterns."


def explore_page(found: Exploration) -> str:
    """The whole page of an exploration, as text."""
    graphs = count(len(found.graphs), "graph")
    if found.total > len(found.graphs):
        graphs += f", a sample of {found.total:,}"
    if found.classes:
        result = f"{100 * found.score:.1f} % are predicted rightly"
        kind = f" in {len(found.classes)} classes"
    else:
        result, kind = f"predictions have R² {found.score:.3f}", ""
    lead = f"{graphs}{kind}; {result} by models that have not seen them."
    about = (
        f"Predictions and explanations come from {found.folds}-fold cross-validation: Tree++ "
        "patterns and a linear model."
    )
    return _page(found.name, lead, about, {**found.as_dict(), "single": False, "how": _HOW})


def explanation_page(title: str, seen: Seen, others: int) -> str:
    """The page of one graph, as text."""
    about = f"Predicted by Tree++ patterns and a linear model, fitted to {others:,} other graphs."
    data = {
        "name": title,
        "classes": [] if isinstance(seen.prediction, float) else [seen.prediction],
        "points": [],
        "graphs": [asdict(seen)],
        "single": True,
        "how": _HOW,
    }
    return _page(f"Why {seen.name}?", title, about, data)


def _page(title: str, lead: str, about: str, data: dict[str, Any]) -> str:
    return render(
        "graphgrain.report",
        "explore.html",
        title=title,
        lead=lead,
        about=about,
        version=__version__,
        single=data["single"],
        data=data,
    )


def write_search_page(
    path: str | Path,
    about: str,
    queries: GraphBatch,
    found: Sequence[dict[str, Any]],
    hits: Sequence[GraphBatch],
) -> None:
    """Write a page with queries and the graphs found for them.

    Parameters
    ----------
    path : path
    about : str
        What was searched, and how.
    queries : GraphBatch
    found : list of dictionaries
        For each query ``{"query": name, "hits": [{"id", "similarity", ...}]}``.
    hits : list of GraphBatch
        The graphs found for each query.
    """
    answers = [
        {
            "name": each["query"],
            "picture": _picture(queries[number]),
            "hits": [
                {
                    "id": hit["id"],
                    "similarity": hit["similarity"],
                    "picture": _picture(graphs[place]),
                    "details": {
                        name: value
                        for name, value in hit.items()
                        if name not in ("id", "similarity", "line") and value not in ("", None)
                    },
                }
                for place, hit in enumerate(each["hits"])
            ],
        }
        for number, (each, graphs) in enumerate(zip(found, hits, strict=True))
    ]
    with atomic_write(path, "The page") as file:
        file.write(
            render("graphgrain.report", "search.html", about=about, answers=answers).encode()
        )


def _picture(graph: GraphBatch) -> Markup:
    """A drawing; empty if the graph is too large for one."""
    try:
        # What draw returns is SVG in which labels are escaped already.
        return Markup(draw(graph, theme="auto", width=240, height=170))
    except GraphgrainError:
        return Markup("")


def write_neighbours(
    path: str | os.PathLike[str],
    kernel: FeatureKernel,
    graphs: GraphBatch,
    names: Any,
    classes: Any,
    graph: int,
    neighbours: Sequence[int],
) -> Path:
    """Draw a graph next to its neighbours.

    Parameters
    ----------
    path : path
        The page to write.
    kernel : FeatureKernel
        Says what graphs share.
    graphs : GraphBatch
    names, classes : sequences
        Of all graphs.
    graph : int
        The graph that is compared.
    neighbours : sequence of int
        Those that it is compared with, the most similar first.
    """
    pairs = []
    for other in neighbours:
        found = compare(kernel, graphs[graph], graphs[other])
        pairs.append(
            {
                "name": str(names[other]),
                "kind": str(classes[other]),
                "similarity": f"{found.similarity:.2f}",
                "pictures": [_svg(found, which) for which in (0, 1)],
                "shared": len(found.shared()),
                "own": [len(found.only(which)) for which in (0, 1)],
            }
        )
    text = render(
        "graphgrain.report",
        "neighbours.html",
        version=__version__,
        title=f"What {names[graph]} shares with its neighbours",
        name=str(names[graph]),
        kind=str(classes[graph]),
        total=len(graphs),
        pairs=pairs,
    )
    output = Path(path)
    with atomic_write(output, "The page") as file:
        file.write(text.encode())
    return output


def _svg(found: Any, which: int) -> Markup:
    """A picture of ours, whose texts are escaped where it is drawn."""
    return Markup(found.to_svg(which=which, theme="auto", width=340, height=240))
