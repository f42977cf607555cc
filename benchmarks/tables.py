"""What the benchmarks share to show results: where records are, Markdown, intervals, ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def records_file(name: str) -> Path:
    """Where a benchmark keeps its records unless told otherwise: beside the checkout."""
    return Path(__file__).resolve().parents[2] / "graphgrain-records" / f"{name}.jsonl"


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column holds names, the others numbers.

    Examples
    --------
    >>> from benchmarks.tables import markdown
    >>> print(markdown(["set", "RMSE"], [["a", "0.5"]]), end="")
    | set | RMSE |
    | --- | ---: |
    | a | 0.5 |
    """
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_between(page: Path, name: str, text: str) -> None:
    """Replace what stands between two marks of a page: ``<!-- NAME: begin -->`` and ``end``."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    content = page.read_text(encoding="utf-8")
    before, found, rest = content.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{page} must have the lines {begin.strip()} and {end.strip()}.")
    page.write_text(f"{before}{begin}\n{text.strip()}\n\n{end}{after}", encoding="utf-8")


def interval(drawn: Sequence[float]) -> tuple[float, float]:
    """What holds 95 % of the values of a measure over drawn test parts; NaN ones are left out."""
    low, high = np.nanquantile(np.asarray(drawn), [0.025, 0.975])
    return float(low), float(high)


def average_ranks(scores: dict[str, dict[str, float]]) -> tuple[dict[str, float], list[str]]:
    """The mean rank of each method, and the sets that it is over: those that all have.

    Parameters
    ----------
    scores : dict
        By method and set; the larger the better.
    """
    from scipy.stats import rankdata

    methods = list(scores)
    sets = [name for name in scores[methods[0]] if all(name in scores[m] for m in methods)]
    if not sets:
        return {}, []
    table = np.array([[scores[method][name] for method in methods] for name in sets])
    return dict(zip(methods, rankdata(-table, axis=1).mean(axis=0).tolist(), strict=True)), sets


def better_on(ours: dict[str, float], theirs: dict[str, float]) -> dict[str, Any]:
    """On how many sets a method is better than another, with Wilcoxon's test over the sets.

    Sets are the units: seeds and repetitions on one set are not independent of each other.
    """
    from graphgrain.evaluation.statistics import wilcoxon_p

    common = [name for name in ours if name in theirs]
    differences = [ours[name] - theirs[name] for name in common]
    p = wilcoxon_p(differences)
    return {
        "better": sum(d > 0 for d in differences),
        "sets": len(common),
        "p": None if p != p else p,
    }


def comparison_words(ours: str, other: str, result: dict[str, Any]) -> str:
    """The same as a sentence."""
    p = "" if result["p"] is None else f" (Wilcoxon signed-rank test over the sets: p {_p(result)})"
    return f"{ours} is better than {other} on {result['better']} of {result['sets']} sets{p}."


def _p(result: dict[str, Any]) -> str:
    return "< 0.001" if result["p"] < 0.001 else f"= {result['p']:.2g}"
