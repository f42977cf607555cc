"""The page of an evaluation: one table and its verdict."""

from __future__ import annotations

import math

from .. import __version__
from ..evaluation.result import Evaluation
from ..templating import render


def evaluation_page(evaluation: Evaluation) -> str:
    """Return the HTML page of an evaluation.

    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> page = evaluation_page(gg.evaluate("wl", graphs[:40], y[:40], cv=2))
    >>> "majority class" in page
    True
    """
    rows = [
        {
            "model": row.model,
            "mean": f"{row.mean:.3f}",
            "std": "" if math.isnan(row.std) else f"± {row.std:.3f}",
            "difference": "" if math.isnan(row.difference) else f"{row.difference:+.3f}",
            "p": "" if math.isnan(row.p) else f"{row.p:.3f}",
            "chosen": row.chosen,
        }
        for row in evaluation.table()
    ]
    folds = len(evaluation.values(evaluation.models[0]))
    return render(
        "graphgrain.pages",
        "evaluation.html",
        version=__version__,
        title=evaluation.verdict.partition(";")[0].rstrip("."),
        lead=evaluation.verdict,
        measure=evaluation.measures[0].replace("_", " "),
        first=evaluation.models[0],
        rows=rows,
        about=f"{evaluation.graphs:,} graphs of {evaluation.name}, {folds} test folds. ",
    )
