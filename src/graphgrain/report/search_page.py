"""The page that shows what a search has found, every graph drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..errors import GraphgrainError
from ..graphs.batch import GraphBatch
from ..graphs.drawing import draw
from ..writing import atomic_write
from .templating import render


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
        file.write(render("search.html", about=about, answers=answers).encode())


def _picture(graph: GraphBatch) -> Markup:
    """A drawing; empty if the graph is too large for one."""
    try:
        # What draw returns is SVG in which labels are escaped already.
        return Markup(draw(graph, theme="auto", width=240, height=170))
    except GraphgrainError:
        return Markup("")
