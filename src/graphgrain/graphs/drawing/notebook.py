"""Graphs in notebooks; everything that is put into a template is escaped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import InvalidGraphError
from ...templating import environment
from ..batch import GraphBatch
from .picture import draw

if TYPE_CHECKING:
    from markupsafe import Markup

#: How many graphs of a batch are drawn.
_GRAPHS = 8


def card(inside: Any) -> str:
    """Something in a box that brings its own colours, light or dark."""
    template: Any = environment("graphgrain.graphs.drawing").get_template("card.html").module
    return f'<div class="gg-card">{template.style()}{inside}</div>'


def picture(make: Callable[..., str], **options: Any) -> Markup:
    """A picture by the function, or the reason why there is none."""
    from markupsafe import Markup

    try:
        return Markup(make(theme="page", **options))  # its own texts are escaped already
    except InvalidGraphError as reason:
        return Markup("<p><small>{}</small></p>").format(str(reason))


def graphs_html(batch: GraphBatch) -> str:
    """The first graphs of a batch as small pictures.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.graphs.drawing.notebook import graphs_html
    >>> text = graphs_html(gg.as_graphs([([(0, 1)], ["C", "<b>"])]))
    >>> "<b>" in text, "&lt;b&gt;" in text
    (False, True)
    """
    shown = []
    for number in range(min(len(batch), _GRAPHS)):
        graph = batch[number]
        words = f"{number}: {graph.n_vertices} vertices, {graph.n_edges} edges"
        shown.append((picture(_drawn(graph), width=180, height=130), words))
    more = len(batch) - len(shown)
    template: Any = environment("graphgrain.graphs.drawing").get_template("card.html").module
    return card(template.multiples(repr(batch), shown, f"{more:,}" if more else ""))


def _drawn(graph: GraphBatch) -> Callable[..., str]:
    return lambda **options: draw(graph, **options)
