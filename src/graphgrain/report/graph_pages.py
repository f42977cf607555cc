"""Pages of graphs: a data set to look around in, one prediction, a search, nearest neighbours."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from .. import __version__
from ..errors import GraphgrainError
from ..evaluation.exploration import Exploration, Seen
from ..explaining.comparison import compare
from ..graphs.batch import GraphBatch
from ..graphs.drawing import draw
from ..kernels.bases.feature_kernel import FeatureKernel
from ..searching.activity_cliffs import Cliffs
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


def cliffs_page(
    found: Cliffs, names: Sequence[Any], title: str, target: str, least: float, most: int = 200
) -> str:
    """The page of pairs that are similar and differ, each drawn in the same orientation.

    Parameters
    ----------
    found : Cliffs
    names : sequence
        Of all graphs.
    title : str
        The data set.
    target : str
        What was measured.
    least : float
        The difference from which on a pair is a cliff.
    most : int
        How many pairs are drawn, the steepest; the table has all.
    """
    cards = []
    for number, cliff in enumerate(found.cliffs[:most]):
        pair = found.graphs(number)
        values = [float(found.y[graph]) for graph in cliff[:2]]
        pictures = []
        for side, changed in enumerate(found.changed(number)):
            colours = np.zeros(int(pair.vertex_counts[side]))
            colours[changed] = 1.0 if values[side] == max(values) else -1.0
            pictures.append(_changed_picture(pair[side], colours, pair[0] if side else None))
        compared = found.compare(number)
        cards.append(
            {
                "names": [str(names[graph]) for graph in cliff[:2]],
                "measured": values,
                "similarity": cliff.similarity,
                "difference": abs(cliff.difference),
                "steepness": min(cliff.steepness, 1e300),
                "counts": [int(found.counts[graph]) for graph in cliff[:2]],
                "pictures": pictures,
                "only": [[pattern.name for pattern in compared.only(side, 8)] for side in (0, 1)],
            }
        )
    graphs = int((found.counts > 0).sum())
    drawn = f" The steepest {most:,} are drawn." if len(found) > most else ""
    return render(
        "graphgrain.report",
        "cliffs.html",
        version=__version__,
        title=f"{len(found):,} cliffs of {target} in {title}",
        lead=f"Pairs of similar graphs that differ by {least:g} or more; {graphs:,} of "
        f"{len(found.y):,} graphs are in one.{drawn}",
        target=target,
        least=f"{least:g}",
        cards=cards,
        duplicates=[
            {
                "names": [str(names[graph]) for graph in group],
                "measured": [f"{found.y[graph]:.4g}" for graph in group],
            }
            for group in found.duplicates
        ],
        data={"csv": cliffs_csv(found, names)},
    )


def cliffs_csv(found: Cliffs, names: Sequence[Any]) -> str:
    """All cliffs as a table of comma-separated values, rows of graphs counted from 1."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(
        ("first", "second", "first_name", "second_name", "first_y", "second_y", "similarity",
         "difference", "steepness")
    )  # fmt: skip
    for cliff in found.cliffs:
        a, b = cliff[:2]
        table.writerow((a + 1, b + 1, names[a], names[b], found.y[a], found.y[b], *cliff[2:]))
    return text.getvalue()


def _changed_picture(graph: GraphBatch, colours: np.ndarray, like: GraphBatch | None) -> Markup:
    try:
        drawn = draw(
            graph, vertices=colours, limit=1.0, like=like, theme="auto", legend=False, width=380,
            height=260,
        )  # fmt: skip
        return Markup(drawn)
    except GraphgrainError:  # too large to be drawn
        return Markup("")
