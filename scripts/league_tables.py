"""The tables of docs/league.md, from what `graphgrain reproduce league --json` says.

    graphgrain reproduce league --json --plot docs/images/league-ranks.svg > league.json
    python scripts/league_tables.py league.json docs/league.md

What stands between the two marks of the page is replaced.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"


def main() -> None:
    """Replace the tables of a page."""
    source, page = map(Path, sys.argv[1:])
    league = json.loads(source.read_text())["league"]
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}{tables(league)}{END}{after}")


def tables(league: dict[str, Any]) -> str:
    """All tables, each under its heading."""
    kernels, sets = league["kernels"], list(league["majority"])
    parts = ["\n### Ranks and costs\n\n", standings(league)]
    first = [
        ["*repetitions*", *(repetitions(kernels, name) for name in sets)],
        ["*majority*", *(f"{league['majority'][name]:.1f}" for name in sets)],
    ]
    best = {
        name: max(
            (k["sets"][name]["accuracy"] for k in kernels if "accuracy" in k["sets"].get(name, {})),
            default=None,
        )
        for name in sets
    }

    def accuracy(cell: dict[str, Any], name: str) -> str:
        words = f"{100 * cell['accuracy']:.1f}"
        return f"**{words}**" if cell["accuracy"] == best[name] else words

    for title, words, rows in (
        ("Accuracy in per cent", accuracy, first),
        ("Balanced accuracy in per cent", lambda c, _: f"{100 * c['balanced accuracy']:.1f}", []),
        (
            "Processor seconds for the kernel matrices of the whole grid",
            lambda c, _: seconds(c["processor seconds"]),
            [],
        ),
        ("Memory for the kernel matrices in MB", lambda c, _: megabytes(c["memory"]), []),
    ):
        parts += [f"\n### {title}\n\n", by_set(kernels, sets, words, rows, league["failed"])]
    parts += ["\n### What the data sets give\n\n", *(given(league))]
    if league["failed"]:
        parts += ["\n### Who refused\n\n", *refused(league["failed"])]
    return "".join(parts) + "\n"


def standings(league: dict[str, Any]) -> str:
    """A row for each kernel."""
    total = len(league["majority"])
    rows = [
        [
            item["name"],
            "" if item["rank"] is None else f"{item['rank']:.2f}",
            f"{sum('accuracy' in cell for cell in item['sets'].values())} of {total}",
            "" if item["accuracy"] is None else f"{item['accuracy']:.1f}",
            "" if item["balanced accuracy"] is None else f"{item['balanced accuracy']:.1f}",
            seconds(item["processor seconds"]),
            megabytes(item["memory"]),
            "" if item["sees"] is None else ", ".join(item["sees"]) or "structure alone",
        ]
        for item in league["kernels"]
    ]
    heads = ["kernel", "rank", "sets", "accuracy", "balanced", "processor s", "MB", "sees"]
    return markdown(heads, rows)


def by_set(
    kernels: list[dict[str, Any]],
    sets: list[str],
    words: Callable[[dict[str, Any], str], str],
    first: list[list[str]],
    failed: dict[str, dict[str, str]],
) -> str:
    """Kernels down, data sets across."""
    rows = list(first)
    for item in kernels:
        cells = []
        for name in sets:
            cell = item["sets"].get(name)
            if cell is None:
                refused = name in failed.get(item["name"], {})
                cells.append("failed" if refused else "")
            elif "stopped" in cell:
                time = cell["stopped"] == "time"
                limit = f"{cell['limit']:g} s" if time else f"{cell['limit'] / 2**30:.3g} GiB"
                cells.append(f"> {limit}")
            else:
                cells.append(words(cell, name))
        rows.append([item["name"], *cells])
    return markdown(["kernel", *sets], rows)


def repetitions(kernels: list[dict[str, Any]], name: str) -> str:
    """How many repetitions stand behind a data set."""
    cells = [item["sets"].get(name, {}) for item in kernels]
    counts = sorted({cell["repetitions"] for cell in cells if "repetitions" in cell})
    return " to ".join(str(number) for number in dict.fromkeys((counts[0], counts[-1])))


def given(league: dict[str, Any]) -> list[str]:
    """A line for each data set."""
    return [f"- {name}: {words}.\n" for name, words in league["datasets"].items()]


def refused(failed: dict[str, dict[str, str]]) -> list[str]:
    """The reasons, each with its kernels and data sets."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for kernel, reasons in failed.items():
        for name, reason in reasons.items():
            by_reason.setdefault((kernel, reason.partition("; got")[0]), []).append(name)
    return [
        f"- {kernel} on {', '.join(names)}: {reason.rstrip('.')}.\n"
        for (kernel, reason), names in by_reason.items()
    ]


def seconds(value: float | None) -> str:
    """A time with a sensible number of digits."""
    return "" if value is None else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def megabytes(value: int | None) -> str:
    """A number of bytes in megabytes."""
    return "" if value is None else f"{value / 1e6:,.0f}"


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
