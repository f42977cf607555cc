"""Shared output functions: record files, Markdown tables, intervals, ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def records_file(name: str) -> Path:
    """Return the default path of the records of a benchmark, next to the checkout."""
    return Path(__file__).resolve().parents[2] / "graphgrain-records" / f"{name}.jsonl"


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is left-aligned, the others right-aligned.

    Examples
    --------
    >>> from experiments.markdown import markdown
    >>> print(markdown(["set", "RMSE"], [["a", "0.5"]]), end="")
    | set | RMSE |
    | --- | ---: |
    | a | 0.5 |
    """
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_between(page: Path, name: str, text: str) -> None:
    """Replace the text between the markers ``<!-- NAME: begin -->`` and ``end`` of a page."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    content = page.read_text(encoding="utf-8")
    before, found, rest = content.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{page} must have the lines {begin.strip()} and {end.strip()}.")
    page.write_text(f"{before}{begin}\n{text.strip()}\n\n{end}{after}", encoding="utf-8")


def interval(drawn: Sequence[float]) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % quantiles of bootstrap values, ignoring NaN."""
    low, high = np.nanquantile(np.asarray(drawn), [0.025, 0.975])
    return float(low), float(high)


def average_ranks(scores: dict[str, dict[str, float]]) -> tuple[dict[str, float], list[str]]:
    """Return the mean rank of each method, and the data sets on which all have a score.

    Parameters
    ----------
    scores : dict
        Scores by method and data set; larger is better.
    """
    from scipy.stats import rankdata

    methods = list(scores)
    sets = [name for name in scores[methods[0]] if all(name in scores[m] for m in methods)]
    if not sets:
        return {}, []
    table = np.array([[scores[method][name] for method in methods] for name in sets])
    return dict(zip(methods, rankdata(-table, axis=1).mean(axis=0).tolist(), strict=True)), sets


def better_on(ours: dict[str, float], theirs: dict[str, float]) -> dict[str, Any]:
    """Count the data sets on which a method is better, with Wilcoxon's test over the data sets.

    The test is over data sets because seeds and repetitions on one set are not independent.
    """
    from .statistics import wilcoxon_p

    common = [name for name in ours if name in theirs]
    differences = [ours[name] - theirs[name] for name in common]
    p = wilcoxon_p(differences)
    return {
        "better": sum(d > 0 for d in differences),
        "sets": len(common),
        "p": None if p != p else p,
    }


def comparison_words(ours: str, other: str, result: dict[str, Any]) -> str:
    """Return a sentence with the result of :func:`better_on`."""
    p = "" if result["p"] is None else f" (Wilcoxon signed-rank test over the sets: p {_p(result)})"
    return f"{ours} is better than {other} on {result['better']} of {result['sets']} sets{p}."


def _p(result: dict[str, Any]) -> str:
    return "< 0.001" if result["p"] < 0.001 else f"= {result['p']:.2g}"
