"""Tables of the paper beside ours, and the league, as data and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

import graphgrain as gg
from graphgrain.evaluation.statistics import p_words
from graphgrain.graphs.description import describe

from . import paper
from .data import LabelledGraphs
from .markdown import markdown
from .protocol import Protocol
from .records import Record
from .run import Entrant
from .scores import (
    Result,
    accuracy_by_candidate,
    candidates_of,
    costs,
    fold_records,
    results,
    words,
)
from .statistics import against, difference_of, ranks

RULE_WORDS = {
    "reported-best": "parameters with the best test accuracy, as in the paper (optimistic)",
    "validated": "parameters chosen inside the training folds",
}


def table1(sets: Sequence[LabelledGraphs]) -> tuple[dict[str, Any], str]:
    """Return the sizes of the data sets beside the paper's."""
    heads = ["data set", "graphs", "classes", "vertices", "edges", "labels", "duplicates"]
    values, rows = {}, []
    for data in sets:
        about = describe(data.graphs, data.codes)
        ours = (about.graphs, about.classes, about.vertices, about.edges, about.vertex_labels)
        theirs = paper.TABLE1.get(data.name)
        values[data.name] = {"ours": ours, "paper": theirs, "duplicates": about.duplicates}
        cells = [
            _number(mine) if other is None or _number(mine) == _number(other)
            else f"{_number(mine)} ({_number(other)})"
            for mine, other in zip(ours, theirs or [None] * len(ours), strict=True)
        ]  # fmt: skip
        rows.append([data.name, *cells, str(about.duplicates)])
    title = "## Table 1: the data sets (the paper's figures where they differ)\n\n"
    return values, title + markdown(heads, rows)


def _number(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value or "none")


def table2(
    records: Sequence[Record], who: Sequence[Entrant], protocol: Protocol
) -> tuple[dict[str, Any], str]:
    """Return accuracies by both rules beside the paper's, with tests within and over the sets."""
    values, parts = {}, []
    names = [item.name for item in who]
    for rule, rule_words in RULE_WORDS.items():
        found = {key: item for key, item in results(records, protocol, rule).items()
                 if key[1] in names}  # fmt: skip
        values[rule] = accuracies_as_data(found)
        parts.append(f"## Table 2: accuracy in percent, {rule_words}\n\n")
        parts.append(accuracy_markdown(found, names, paper.TABLE2))
        parts.append(over_all_sets(found, names))
    seen = {dataset for dataset, _ in found}
    notes = [f"{name}: {note}.\n" for name, note in paper.NOTES.items() if name in seen]
    return values, "\n".join([*parts, *notes])


def accuracies_as_data(found: Mapping[tuple[str, str], Result]) -> list[dict[str, Any]]:
    """Return the results as plain data for JSON."""
    return [
        {
            "dataset": dataset,
            "kernel": kernel,
            "repetitions": len(result.accuracies),
            "complete": result.complete,
            "accuracy": result.accuracies.mean(),
            "std": result.accuracies.std(ddof=0),
            "balanced accuracy": result.balanced_accuracies.mean(),
            "roc auc": None if np.isnan(result.roc_auc) else result.roc_auc,
            "majority": result.majority,
            "chosen": result.chosen,
            "published": paper.TABLE2.get(dataset, {}).get(kernel),
        }
        for (dataset, kernel), result in found.items()
    ]


def accuracy_frame(found: Mapping[tuple[str, str], Result], names: Sequence[str]) -> pd.DataFrame:
    """Return mean accuracies: a row for each data set, a column for each kernel."""
    sets = list(dict.fromkeys(dataset for dataset, _ in found))
    frame = pd.DataFrame(np.nan, index=sets, columns=list(names))
    for (dataset, kernel), result in found.items():
        frame.loc[dataset, kernel] = result.accuracies.mean()
    return frame


def accuracy_markdown(
    found: Mapping[tuple[str, str], Result],
    names: Sequence[str],
    published: Mapping[str, Mapping[str, tuple[float, float]]],
) -> str:
    """Return a table: mean, deviation over repetitions, published value, test against the first.

    The best of a row is bold; a star marks a significant difference to the first column.
    """
    frame, rows = accuracy_frame(found, names), []
    for dataset in frame.index:
        cells = []
        own = {kernel: found.get((dataset, kernel)) for kernel in names}
        for kernel, result in own.items():
            if result is None:
                cells.append("")
                continue
            mean = result.accuracies.mean()
            text = f"{mean:.2f} ± {result.accuracies.std(ddof=0):.2f}"
            text = f"**{text}**" if mean >= frame.loc[dataset].max() - 1e-9 else text
            first = own[names[0]]
            if first is not None and kernel != names[0]:
                p = difference_of(first, result, _folds(result))[1]
                text += " *" if p < 0.05 else ""
            paper_value = published.get(dataset, {}).get(kernel)
            cells.append(text + (f" ({paper_value[0]:.2f})" if paper_value else ""))
        majority = next(result.majority for result in own.values() if result is not None)
        repetitions = {len(r.accuracies) for r in own.values() if r is not None}
        counts = "-".join(str(n) for n in sorted({min(repetitions), max(repetitions)}))
        rows.append([dataset, *cells, f"{majority:.2f}", counts])
    legend = (
        f"\n*: differs significantly from {names[0]} on the same folds (corrected t-test, 5 %). "
        "±: deviation over the repetitions. In parentheses: published.\n"
    )
    return markdown(["data set", *names, "majority", "repetitions"], rows) + legend


def _folds(result: Result) -> int:
    return int(result.folds.fold.max()) + 1


def over_all_sets(found: Mapping[tuple[str, str], Result], names: Sequence[str]) -> str:
    """Return average ranks with their tests, and the verdict on the first kernel in a sentence."""
    frame = accuracy_frame(found, names)
    frame = frame.dropna(axis=1)
    if frame.shape[0] < 2 or frame.shape[1] < 2:
        return ""
    ranking, first = ranks(frame), names[0]
    listed = ", ".join(f"{name} {value:.2f}" for name, value in ranking.average.items())
    friedman = "" if np.isnan(ranking.p) else f"; Friedman test: {p_words(ranking.p)}"
    text = (
        f"\nMean ranks over {ranking.datasets} data sets: {listed}. Ranks that differ by less than "
        f"{ranking.critical_difference:.2f} do not differ significantly (Nemenyi{friedman}).\n"
    )
    if first not in frame:
        return text
    best = int((frame[first] >= frame.max(axis=1) - 1e-9).sum())
    compared = against(frame, first)
    listed = ", ".join(
        f"{kernel} on {int(row.better)} of {int(row.of)}"
        + ("" if np.isnan(row.p) else f" ({p_words(row.p)})")
        for kernel, row in compared.iterrows()
    )
    place = int(ranking.average.index.get_loc(first)) + 1
    return text + (
        f"\n**{first} is best on {best} of {len(frame)} data sets, and place {place} of "
        f"{frame.shape[1]} by mean rank.** It is better than {listed} (Wilcoxon test over the "
        "sets, adjusted by Holm).\n"
    )


def table3(
    records: Sequence[Record], sets: Sequence[LabelledGraphs], who: Sequence[Entrant]
) -> tuple[list[dict[str, Any]], str]:
    """Return seconds for the kernel matrices beside the paper's."""
    prints = {data.fingerprint for data in sets}
    spent = costs([record for record in records if record["fingerprint"] in prints])
    values, rows = [], []
    for data in sets:
        cells = []
        for item in who:
            key = (data.name, item.name)
            ours = float(spent.seconds[key]) if key in spent.index else None
            theirs = paper.TABLE3.get(data.name, {}).get(item.name)
            values.append(
                {"dataset": data.name, "kernel": item.name, "seconds": ours, "paper": theirs}
            )
            cells.append(_seconds(ours) + (f" ({_seconds(theirs)})" if theirs else ""))
        rows.append([data.name, *cells])
    legend = (
        "\nOurs (the paper's, on the authors' machine): mean over the settings of the grid, from "
        "graphs to the normalised matrices of all levels, without compilation.\n"
    )
    title = "## Table 3: seconds for the kernel matrices\n\n"
    return values, title + markdown(["data set", *(item.name for item in who)], rows) + legend


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def curves(records: Sequence[Record], figure: str, protocol: Protocol) -> dict[str, pd.DataFrame]:
    """Return accuracies by depth (columns) and repetition (rows) for each data set."""
    parameter = "tree_depth" if figure == "figure-k" else "path_depth"
    groups: dict[str, list[Record]] = {}
    for record in fold_records(records, protocol):
        if record["kernel"] == f"Tree++ ({figure})":
            groups.setdefault(record["dataset"], []).append(record)
    found = {}
    for dataset, group in groups.items():
        frame = candidates_of(group, protocol.folds)
        if frame.empty:
            continue
        levels = [name for record in group for name in record["level_names"]]
        depths = {words(name): name[parameter] for name in levels}
        shown = [n for n in depths if figure == "figure-k" or n.endswith("tree_depth=1")]
        table = accuracy_by_candidate(frame)[shown].rename(columns=depths).sort_index(axis=1)
        found[dataset] = table
    return found


def curve_table(found: Mapping[str, pd.DataFrame], figure: str) -> tuple[dict[str, Any], str]:
    """Return the accuracy of Tree++ against one of its depths."""
    symbol, fixed = ("k", "d = 7") if figure == "figure-k" else ("d", "k = 1")
    depths = sorted({depth for table in found.values() for depth in table.columns})
    rows = [
        [name, *(f"{table[d].mean():.2f}" if d in table else "" for d in depths)]
        for name, table in found.items()
    ]
    values = {
        name: {str(d): [table[d].mean(), table[d].std(ddof=0)] for d in table.columns}
        for name, table in found.items()
    }
    title = f"## Accuracy of Tree++ in percent against {symbol} ({fixed})\n\n"
    return values, title + markdown(["data set", *(f"{symbol} = {d}" for d in depths)], rows)


def league_table(
    records: Sequence[Record],
    sets: Sequence[LabelledGraphs],
    who: Sequence[Entrant],
    protocol: Protocol,
) -> tuple[dict[str, Any], str]:
    """Return all kernels, ranked by accuracy, with what they cost and where they were stopped."""
    names = [item.name for item in who]
    found = {
        key: item
        for key, item in results(records, protocol).items()
        if key[1] in names and item.complete
    }
    if not found:
        return {}, "No result is complete yet, so there is no table.\n"
    frame, spent = accuracy_frame(found, names), costs(records)
    ranking = ranks(frame.dropna(axis=1)).average if len(frame) > 1 else pd.Series(dtype=float)
    order = [*ranking.index, *(n for n in names if n not in ranking.index)]
    rows, kernels = [], []
    for name in order:
        own = spent[spent.index.get_level_values("kernel") == name]
        stops = stopped(records, name, protocol)
        whole = name in ranking.index
        row = {
            "kernel": name,
            "rank": float(ranking[name]) if whole else None,
            "sets": int(frame[name].notna().sum()),
            "accuracy": float(frame[name].mean()) if whole else None,
            "processor seconds": float(own.processor_seconds.sum()) if len(own) else None,
            "memory": float(own.memory.max()) if len(own) and own.memory.notna().any() else None,
            "stopped": stops,
        }
        kernels.append(row)
        rows.append(
            [
                name,
                "" if row["rank"] is None else f"{row['rank']:.2f}",
                f"{row['sets']} of {len(frame)}",
                "" if row["accuracy"] is None else f"{row['accuracy']:.1f}",
                _seconds(row["processor seconds"]),
                "" if row["memory"] is None else f"{row['memory'] / 1e6:,.0f}",
                "; ".join(f"{limit}: {', '.join(where)}" for limit, where in stops.items()),
            ]
        )
    heads = ["kernel", "rank", "sets", "accuracy", "CPU s", "MB", "stopped"]
    text = "### Ranks and costs\n\n" + markdown(heads, rows) + over_all_sets(found, order)
    text += "\n### Accuracy in percent\n\n" + accuracy_markdown(found, order, {})
    text += "\n### Data sets\n\n" + "".join(f"- {data.name}: {about(data)}.\n" for data in sets)
    return {"kernels": kernels, "accuracies": accuracies_as_data(found)}, text


def stopped(records: Sequence[Record], kernel: str, protocol: Protocol) -> dict[str, list[str]]:
    """Return the data sets on which a kernel was stopped, by its limit in words."""
    places: dict[str, list[str]] = {}
    for record in records:
        if record["kind"] == "limit" and record["kernel"] == kernel:
            time = record["reason"] == "time"
            limit = f"> {record['limit']:g} s" if time else f"> {record['limit'] / 2**30:.3g} GiB"
            if record["mode"] == protocol.mode:
                places.setdefault(limit, []).append(record["dataset"])
    return places


def about(data: LabelledGraphs) -> str:
    """Describe the labels and attributes of a data set."""
    graphs: gg.GraphBatch = data.graphs
    labels = describe(graphs, data.codes).vertex_labels or 1
    parts = [f"{len(graphs):,} graphs, {len(data.classes)} classes"]
    parts.append(f"{labels} vertex labels" if labels > 1 else "no vertex labels")
    for kind, values in (("vertex", graphs.vertex_attributes), ("edge", graphs.edge_attributes)):
        parts += [] if values is None else [f"{values.shape[1]} {kind} attributes"]
    return ", ".join(parts + (["edge labels"] if graphs.edge_labels is not None else []))
