"""A page with a graph and its nearest neighbours, each coloured by what it shares with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from .. import __version__
from ..explaining.comparison import compare
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..writing import atomic_write
from .templating import render


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
