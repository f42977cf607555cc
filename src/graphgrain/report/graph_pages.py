"""Pages of graphs: a data set to look around in, one prediction, a search, nearest neighbours."""

from __future__ import annotations

import base64
import json
import os
import zlib
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

#: Words and addresses of other pages.
Links = Sequence[tuple[str, str]]


def explore_page(found: Exploration, links: Links = ()) -> str:
    """The whole page of an exploration, as text."""
    graphs = f"{len(found.graphs):,} graphs of {found.name}"
    sampled = f" A sample of {found.total:,}." if found.total > len(found.graphs) else ""
    if found.score is None:
        title = f"{graphs}: which resemble each other"
        lead = f"Tree++ compares them; nothing is predicted, as there is no target.{sampled}"
        about = "Similarities by Tree++."
    else:
        if found.classes:
            title = (
                f"Tree++ tells {len(found.classes)} classes apart in {100 * found.score:.1f} % of "
                f"{graphs}"
            )
        else:
            title = f"Tree++ explains {100 * found.score:.0f} % of the variance in {graphs}"
        lead = (
            "Every graph is predicted by a model that has not seen it, and cut into the parts that "
            f"decide.{sampled}"
        )
        about = (
            f"Predictions and explanations come from {found.folds}-fold cross-validation of "
            "weights on Tree++ patterns."
        )
    data = {**found.as_dict(), "single": False, "unlabelled": found.score is None}
    return _page(title, lead, about, data, links)


def explanation_page(title: str, seen: Sequence[Seen], others: int) -> str:
    """The page of one graph, the first of some; the others are its neighbours.

    Parameters
    ----------
    title : str
        The data set.
    seen : sequence of Seen
    others : int
        Number of graphs that the model has learnt from.
    """
    [first, *_] = seen
    data = {
        "name": title,
        "classes": [] if isinstance(first.prediction, float) else [first.prediction],
        "points": [],
        "graphs": [asdict(one) for one in seen],
        "single": True,
        "unlabelled": False,
    }
    number = isinstance(first.prediction, float)
    told = f"{first.prediction:.4g}" if number else str(first.prediction)
    return _page(
        f"Why {first.name} is predicted {told}",
        f"By weights on Tree++ patterns that were learnt from {others:,} other graphs of {title}.",
        "Contributions are shared among the vertices of the patterns.",
        data,
    )


def _page(title: str, lead: str, about: str, data: dict[str, Any], links: Links = ()) -> str:
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return render(
        "graphgrain.report",
        "explore.html",
        title=title,
        lead=lead,
        about=about,
        version=__version__,
        single=data["single"],
        links=links,
        packed=base64.b64encode(zlib.compress(text.encode(), 9)).decode(),
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
