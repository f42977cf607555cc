"""Critical difference diagram of average ranks.

1. The axis runs from rank 1 (best) to the number of kernels.
2. Below it, thick lines join groups of kernels that do not differ significantly.
3. Thin lines connect the position of each kernel on the axis with its name: the better half on
   the left, best first; the others on the right, worst first.

``templates/rank_diagram.svg`` renders it, for pages and as a separate file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from ..evaluation.kernel_comparison import Comparison
from ..evaluation.statistics import Ranks
from ..templating import render
from ..writing import atomic_write

WIDTH, MARGIN = 800.0, 16.0
#: Heights of the parts, from top to bottom.
AXIS, GROUP, ROW = 56.0, 9.0, 20.0
#: Approximate width of a letter.
LETTER = 7.3


def rank_diagram(ranks: Ranks, names: list[str]) -> dict[str, Any]:
    """Compute the layout of the diagram, in units of the picture, for its template.

    "ticks" without words are not labelled, "critical" is the end of the line from "begin" that
    shows the critical difference, "groups" are pairs of x and a y, and "leaders" the lines from
    the ranks of the kernels on the axis to their names.

    Examples
    --------
    >>> from graphgrain.evaluation.statistics import rank
    >>> from graphgrain.report.rank_diagram import rank_diagram
    >>> drawn = rank_diagram(rank([[0.9, 0.8, 0.1]] * 9), ["WL", "SP", "PM"])
    >>> [leader["words"] for leader in drawn["leaders"]], len(drawn["groups"])
    (['WL 1.00', 'SP 2.00', 'PM 3.00'], 2)
    """
    order = np.argsort(ranks.average, kind="stable").tolist()
    count, half = len(order), -(-len(order) // 2)
    words = [f"{names[number]} {ranks.average[number]:.2f}" for number in order]
    side = min(MARGIN + LETTER * max(map(len, words)) + 18, 0.4 * WIDTH)
    begin, end = side, WIDTH - side

    def x(rank: float) -> float:
        return round(begin + (end - begin) * (rank - 1) / max(count - 1, 1), 2)

    places = [x(float(ranks.average[number])) for number in order]
    groups = [
        (places[best] - 3, places[worst] + 3, AXIS + 12 + GROUP * number)
        for number, (best, worst) in enumerate(ranks.groups())
    ]
    first = AXIS + 20 + GROUP * len(groups)
    leaders = [
        {
            "x": places[place],
            "y": first + ROW * (place if place < half else count - 1 - place),
            "end": begin - 14 if place < half else end + 14,
            "left": place < half,
            "words": words[place],
        }
        for place in range(count)
    ]
    return {
        "width": WIDTH,
        "height": first + ROW * (half - 1) + MARGIN,
        "axis": AXIS,
        "begin": begin,
        "end": end,
        "ticks": [
            # With many kernels only every fifth tick is labelled.
            {"x": x(n), "words": str(n) if count <= 15 or n == 1 or n % 5 == 0 else ""}
            for n in range(1, count + 1)
        ],
        "critical": x(1 + ranks.critical_difference),
        "critical_words": f"critical difference {ranks.critical_difference:.2f}",
        "groups": groups,
        "leaders": leaders,
        "description": "Average ranks: " + ", ".join(words),
    }


def diagram_of(comparison: Comparison) -> dict[str, Any]:
    """Return the diagram of the ranked kernels of a comparison, which must have ranks."""
    assert comparison.ranks is not None
    names = [comparison.columns[number].name for number in comparison.ranked]
    return rank_diagram(comparison.ranks, names)


def write_rank_diagram(comparison: Comparison, path: str | os.PathLike[str]) -> Path:
    """Write the diagram to an SVG file that is readable on light and dark backgrounds."""
    place = Path(path)
    if place.suffix.lower() != ".svg":
        raise InvalidParameterError(
            f"The diagram is written as SVG; the name must end in .svg, got {str(place)!r}."
        )
    text = render("graphgrain.report", "rank_diagram_file.svg", diagram=diagram_of(comparison))
    with atomic_write(place, "The diagram") as file:
        file.write(text.encode())
    return place
