"""Pages to look around in a data set, and to see why a model says what it says of one graph."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .. import __version__
from ..evaluation.exploration import Exploration, Seen
from .templating import render
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
        "explore.html",
        title=title,
        lead=lead,
        about=about,
        version=__version__,
        single=data["single"],
        data=data,
    )
