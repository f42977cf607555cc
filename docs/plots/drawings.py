"""Drawing functions for the guide, and the graphs of the paper's Figure 2."""

from __future__ import annotations

from typing import Any

#: Edges, labels and vertex positions of the two graphs (vertices numbered from 0).
FIGURE_2 = {
    "G1": (
        [(3, 4), (4, 0), (1, 4), (2, 3), (4, 2), (5, 2)],
        [1, 1, 3, 3, 4, 2],
        [(0.0, 1.0), (0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 0.5), (3.0, 0.0)],
    ),
    "G2": (
        [(5, 3), (4, 0), (1, 0), (4, 5), (4, 2), (5, 2)],
        [1, 1, 3, 2, 4, 3],
        [(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (3.0, 0.5), (2.0, 1.0), (2.0, 0.0)],
    ),
}
#: Colours of labels, distinguishable for colour-blind readers (Okabe and Ito).
COLOURS = {1: "#56B4E9", 2: "#E69F00", 3: "#009E73", 4: "#CC79A7"}


def draw_graph(axis: Any, edges: Any, labels: Any, place: Any, title: str = "") -> None:
    """Draw vertices as discs with labels, and edges as lines."""
    for u, v in edges:
        (x1, y1), (x2, y2) = place[u], place[v]
        axis.plot([x1, x2], [y1, y2], color="0.55", lw=1.6, zorder=1)
    for label, (x, y) in zip(labels, place, strict=True):
        axis.scatter([x], [y], s=420, color=COLOURS[label], edgecolor="0.2", zorder=3)
        axis.text(x, y, str(label), ha="center", va="center", fontsize=12, zorder=4)
    axis.set_title(title, fontsize=11)
    axis.set_xlim(-0.5, 3.5)
    axis.set_ylim(-0.45, 1.45)
    axis.set_aspect("equal")
    axis.axis("off")


def draw_path(axis: Any, path: Any, place: Any) -> None:
    """Draw a path as a thick line with rings around its vertices."""
    xs, ys = [place[v][0] for v in path], [place[v][1] for v in path]
    axis.plot(xs, ys, color="#D55E00", lw=4, zorder=2)
    axis.scatter(xs, ys, s=620, facecolor="none", edgecolor="#D55E00", lw=2.5, zorder=5)


def draw_reach(axis: Any, path: Any, depth: int, edges: Any, place: Any) -> None:
    """Highlight the vertices in the trees of the path's vertices."""
    reached = set(path)
    for _ in range(depth):
        reached |= {w for u, v in edges for w in (u, v) if u in reached or v in reached}
    for v in reached:
        axis.scatter([place[v][0]], [place[v][1]], s=1500, color="#F0E442", alpha=0.6, zorder=0)
