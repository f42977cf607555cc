"""Pages with drawn graphs: explored data sets, explained predictions, searches."""

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
from ..explaining.comparison import Comparison, compare
from ..explaining.fragments import cut
from ..graphs.batch import GraphBatch, counted
from ..graphs.drawing import draw
from ..graphs.drawing.common_part import differences
from ..graphs.drawing.picture import MOST_VERTICES
from ..kernels.bases.feature_kernel import FeatureKernel
from ..templating import render
from ..writing import write_page

#: Texts and addresses of links to other pages.
Links = Sequence[tuple[str, str]]


def explore_page(found: Exploration, links: Links = ()) -> str:
    """Return the HTML page of an exploration."""
    graphs = f"{counted(len(found.graphs), 'graph')} of {found.name}"
    sampled = f" A sample of {found.total:,}." if found.total > len(found.graphs) else ""
    classes, score = len(found.classes), found.score
    lead = (
        "Each graph is predicted by a model fitted without it, and divided into the fragments that "
        f"contribute to the prediction.{sampled}"
    )
    about = (
        "Predictions and explanations are those of a weighted sum of kernels without the graph and "
        "its copies; both are sums over patterns. Weights and alpha saw all graphs."
    )
    if score is None:
        title = f"{graphs} by similarity"
        lead = f"Similarities by Tree++; without a target nothing is predicted.{sampled}"
        about = "Similarities by Tree++."
    elif classes:
        title = (
            f"{100 * score:.1f} % of {graphs} are assigned to the right one of {classes} classes"
        )
    elif score > 0:
        title = f"{100 * score:.0f} % of the variance is explained in {graphs}"
    else:
        title = f"Predictions for {graphs} are no better than their mean (R2 {score:.2f})"
    data = {**asdict(found), "single": False, "unlabelled": found.score is None}
    return _page(title, lead, about, data, links)


def explanation_page(title: str, seen: Sequence[Seen], rows: int, learned: str) -> str:
    """Return the page that explains the first ``rows`` graphs; the others are their neighbours.

    ``learned`` describes the training data.
    """
    first = seen[0]
    number = first.probability is None
    predicted = f"{first.prediction:.4g}" if number else str(first.prediction)
    data = {
        "name": title,
        "classes": [] if number else sorted({str(one.prediction) for one in seen[:rows]}),
        "points": [],
        "graphs": [asdict(one) for one in seen],
        "single": True,
        "rows": rows,
        "unlabelled": False,
    }
    return _page(
        f"Why {first.name} is predicted as {predicted}"
        if rows == 1
        else f"Predictions for {rows} graphs of {title}, explained",
        f"Predicted by a sum over patterns fitted to {learned}.",
        "The contribution of each pattern is distributed over its vertices.",
        data,
    )


def _page(title: str, lead: str, about: str, data: dict[str, Any], links: Links = ()) -> str:
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return render(
        "graphgrain.pages",
        "explore.html",
        title=title,
        lead=lead,
        about=about,
        version=__version__,
        single=data["single"],
        several=data.get("rows", 0) > 1,
        links=links,
        packed=base64.b64encode(zlib.compress(text.encode(), 9)).decode(),
    )


#: Minimum similarity of each description.
_WORDS = (
    (0.995, "identical to the kernel"),
    (0.85, "nearly identical"),
    (0.65, "very similar"),
    (0.45, "similar"),
    (0.25, "somewhat similar"),
    (-float("inf"), "hardly similar"),
)
#: Number of shared fragments that are named.
_SHARED = 3


def in_words(similarity: float, kind: str = "minmax") -> str:
    """Describe a similarity between 0 and 1 in words; dot products have no such scale.

    >>> in_words(0.9), in_words(0.3), in_words(0.9, "containment"), in_words(3.0, "dot")
    ('nearly identical', 'somewhat similar', 'contains 90 % of the query', '')
    """
    if kind == "dot":
        return ""
    if kind == "containment":
        return f"contains {100 * similarity:.0f} % of the query"
    return next(words for least, words in _WORDS if similarity >= least)


def write_search_page(
    path: str | Path,
    about: str,
    queries: GraphBatch,
    found: Sequence[dict[str, Any]],
    hits: Sequence[GraphBatch],
    similarity: str = "minmax",
) -> None:
    """Write a page with queries and the graphs found for them.

    ``about`` describes what was searched and how; ``found`` holds for each query ``{"query": name,
    "hits": [{"id", "similarity", ...}]}``, and ``hits`` the graphs. ``similarity`` is the kind of
    the similarities.
    """
    answers = [
        {
            "name": each["query"],
            "kind": "",
            "key": "Orange: the part in common with this graph.",
            "picture": _picture(queries[number], width=420, height=260),
            "hits": [
                _card(
                    hit["id"],
                    hit["similarity"],
                    _shared_picture(queries[number], graphs[place], of_shared=True),
                    words=in_words(hit["similarity"], similarity),
                    details={
                        name: value
                        for name, value in hit.items()
                        if name not in ("id", "similarity", "line") and value not in ("", None)
                    },
                )
                for place, hit in enumerate(each["hits"])
            ],
        }
        for number, (each, graphs) in enumerate(zip(found, hits, strict=True))
    ]
    total = sum(len(each["hits"]) for each in found)
    if len(found) == 1:
        title = f"{counted(total, 'graph')} similar to {found[0]['query']}"
    else:
        title = f"{counted(total, 'graph')} similar to {len(found):,} queries"
    _write_cards(path, title, f"Searched by {about}.", "", answers)


def write_neighbours(
    path: str | os.PathLike[str],
    kernel: FeatureKernel,
    graphs: GraphBatch,
    names: Any,
    classes: Any,
    graph: int,
    neighbours: Sequence[int],
    links: Links = (),
) -> Path:
    """Write a page with a graph and its neighbours, with their differences coloured.

    Parameters
    ----------
    path : path
        File to write.
    kernel : FeatureKernel
        Kernel used to compare graphs.
    graphs : GraphBatch
    names, classes : sequences
        Names and classes of all graphs.
    graph : int
        Index of the graph.
    neighbours : sequence of int
        Indices of its neighbours, the most similar first.
    links : sequence of (text, address)
        Links to other pages.
    """
    name = str(names[graph])
    hits = []
    for other in neighbours:
        found = compare(kernel, graphs[graph], graphs[other])
        picture = _shared_picture(graphs[graph], graphs[other], of_shared=False)
        more = {"kind": str(classes[other]), "shared": _strongest_shared(found)}
        hits.append(_card(str(names[other]), found.similarity, picture, **more))
    answer = {
        "name": name,
        "kind": str(classes[graph]),
        "key": f"Orange: parts of a neighbour that {name} does not have. Common parts have the "
        "same orientation.",
        "picture": _picture(graphs[graph], width=420, height=300),
        "hits": hits,
    }
    if hits:
        title = f"{hits[0]['name']} is most similar to {name}"
    else:
        title = f"{name} and its neighbours"
    lead = f"The {len(hits)} most similar of {len(graphs):,} graphs, by Tree++ similarity (0 to 1)."
    _write_cards(path, title, lead, f"{type(kernel).__name__} similarities.", [answer], links)
    return Path(path)


def _card(name: Any, similarity: float, picture: Markup, **more: Any) -> dict[str, Any]:
    card = {"name": name, "similarity": similarity, "words": in_words(similarity)}
    return {**card, "picture": picture, "kind": "", "shared": "", "details": {}, **more}


def _strongest_shared(found: Comparison) -> str:
    """List the fragments that contribute most to the similarity."""
    shares: dict[str, float] = {}
    for part in cut(found.graphs[1]):
        own = float(found.vertices[1][list(part.vertices)].sum())
        shares[part.name] = shares.get(part.name, 0.0) + own
    if not found.similarity:
        return ""
    best = sorted(shares.items(), key=lambda item: -item[1])[:_SHARED]
    named = ", ".join(f"{name} {100 * value / found.similarity:.0f} %" for name, value in best)
    return f"Largest contributions to the similarity: {named}."


def _write_cards(
    path: str | os.PathLike[str],
    title: str,
    lead: str,
    about: str,
    answers: list[dict[str, Any]],
    links: Links = (),
) -> None:
    text = render(
        "graphgrain.pages",
        "cards.html",
        version=__version__,
        title=title,
        lead=lead,
        about=about,
        answers=answers,
        links=links,
    )
    write_page(path, text)


def _picture(graph: GraphBatch, **options: Any) -> Markup:
    """Draw a graph; return nothing if it is too large."""
    try:
        # The SVG of draw is already escaped.
        return Markup(draw(graph, theme="page", **options))
    except GraphgrainError:
        return Markup("")


def _shared_picture(query: GraphBatch, graph: GraphBatch, of_shared: bool) -> Markup:
    """Draw a graph in the orientation of another, with the common part or the rest in colour."""
    if max(query.n_vertices, graph.n_vertices) > MOST_VERTICES:
        return _picture(graph, width=300, height=210)
    vertices, edges = (mask != of_shared for mask in differences(query, graph))
    shown = {"vertices": 0.7 * vertices, "edges": 0.7 * edges, "limit": 1.0, "legend": False}
    return _picture(graph, like=query, width=300, height=210, **shown)
