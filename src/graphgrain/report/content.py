"""Compute the content of a report from a results file, and format numbers for it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import GraphgrainError, InvalidFileError
from ..evaluation.exploration import DrawnGraphs, KernelMap, drawn_graphs, graph_name, kernel_map
from ..evaluation.kernel_comparison import Comparison, Runtimes, comparisons, is_figure, runtimes
from ..evaluation.labelled_graphs import LabelledGraphs, prepare
from ..evaluation.records import (
    AUTO,
    REFERENCE,
    SELF_TUNED,
    FoldRecord,
    KernelRecord,
    LimitRecord,
    Record,
    dataset_labels,
    fold_records,
    kernel_label,
    read_results,
)
from ..evaluation.summary import (
    Curve,
    Diagnosis,
    accuracy_against,
    diagnose,
    experiments,
    summarise,
)
from ..graphs.batch import GraphBatch
from ..graphs.datasets.fetch import find_tu, load_drugs
from ..graphs.files.tu import load_tu
from ..kernels.registry import KERNELS

#: Data sets by name: ``(graphs, y)`` or ``(graphs, y, names of the graphs)``.
Data = Mapping[str, tuple[Any, ...]]

#: Maximum number of maps per data set, for the most accurate kernels.
MOST_MAPS = 9

#: Called with a short description at the beginning of each longer step.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Errors:
    """Errors of one kernel on one data set."""

    dataset: str  # label in tables, as for the kernel
    kernel: str
    diagnosis: Diagnosis
    names: list[str]  # of the graphs in ``diagnosis.wrong``


@dataclass(frozen=True)
class Content:
    """Content of a report."""

    file: str  # name of the results file
    records: list[Record]
    comparisons: list[Comparison]
    runtimes: Runtimes | None
    against_k: list[Curve]
    against_d: list[Curve]
    errors: list[Errors]  # per kernel and data set, under the data set's first protocol
    maps: list[KernelMap]  # per kernel and data set, if the graphs were found
    graphs: dict[str, GraphBatch]  # data sets that were found
    unseen: dict[str, str]  # reason for each missing map of a data set or kernel
    unfinished: list[str]  # notes on experiments with missing repetitions or settings


@dataclass(frozen=True)
class _Found:
    """The graphs of a data set that was found; ``drawn`` has its label."""

    graphs: GraphBatch
    names: Any
    drawn: DrawnGraphs


def content(
    results: str | os.PathLike[str],
    data: Data | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Content:
    """Read results and compute the content of a report.

    ``data`` holds data sets to show. The bundled drugs, data sets in the folder
    ``GRAPHGRAIN_DATA`` and data sets downloaded before are always found. Nothing is downloaded.
    """
    progress = progress or (lambda words: None)
    records = read_results(results)
    if not records:
        raise InvalidFileError(
            f"The results {str(results)!r} contain no record yet, so there is nothing to report. "
            "`graphgrain evaluate` and `graphgrain reproduce` write such a file."
        )
    progress("tables")
    compared = comparisons(records)
    found, unseen = _find_all(records, data or {}, progress)
    maps, unmapped = _maps(records, found, n_jobs, progress)
    return Content(
        file=Path(results).name,
        records=records,
        comparisons=compared,
        runtimes=runtimes(records),
        against_k=accuracy_against("tree_depth", records),
        against_d=accuracy_against("path_depth", records),
        errors=_errors(records, compared, found),
        maps=maps,
        graphs={item.drawn.name: item.graphs for item in found.values()},
        unseen=unseen | unmapped,
        unfinished=list(_unfinished(records)),
    )


def _unfinished(records: list[Record]) -> Iterator[str]:
    """Yield a note for every experiment that is incomplete."""
    for experiment in experiments(records):
        first = experiment.first
        name = f"{first.dataset}, {kernel_label(first.kernel, first.variant)}"
        if not experiment.repetitions:
            wanted = first.folds * first.grid_size
            done = max(Counter(record.repetition for record in experiment.records).values())
            yield (
                f"{name}: {done} of the {wanted} folds of a repetition are "
                "done; not shown until one repetition is complete."
            )
        elif not experiment.complete:
            yield (
                f"{name}: {len(experiment.settings)} of {first.grid_size} settings are done; "
                "the selection is among those."
            )


Place = tuple[str, str]


def _find_all(
    records: list[Record], data: Data, progress: Progress
) -> tuple[dict[Place, _Found], dict[str, str]]:
    """Return the data sets that were found, and the reasons for the others."""
    firsts: dict[Place, Record] = {}
    for record in records:
        firsts.setdefault(record.place, record)
    labels = dataset_labels(firsts.values())
    classes = {record.place: record.classes for record in fold_records(records)}
    found: dict[Place, _Found] = {}
    unseen: dict[str, str] = {}
    for place, record in firsts.items():
        progress(f"graphs of {labels[place]}")
        try:
            ready, names = _find(record, data)
        except GraphgrainError as error:
            unseen[labels[place]] = str(error)
            continue
        known, codes = classes.get(place, ready.classes), ready.codes
        if ready.numeric:
            known, codes = ["graphs"], np.zeros(len(ready), dtype=int)
        drawn = drawn_graphs(labels[place], ready.graphs, known, codes, names)
        found[place] = _Found(ready.graphs, names, drawn)
    return found, unseen


def _find(record: Record, data: Data) -> tuple[LabelledGraphs, Any]:
    """Return the data set of a record, and the names of its graphs if it has any.

    Data sets are identified by fingerprint; graphs that have changed since are not used.
    """
    candidates: list[tuple[Any, ...]] = []
    if record.dataset == "drugs":
        candidates.append(load_drugs(names=True))
    elif (file := find_tu(record.dataset)) is not None:
        candidates.append(load_tu(file))
    # Try data sets with the same name first.
    candidates += [data[name] for name in sorted(data, key=lambda name: name != record.dataset)]
    for graphs, y, *names in candidates:
        try:
            ready = prepare(
                record.dataset,
                graphs,
                y,
                remove_duplicates=record.deduplicated,
                numeric=not getattr(record, "classes", True),
            )
        except GraphgrainError:
            continue  # cannot be evaluated, so it is not the data set of the record
        if ready.fingerprint in (record.fingerprint, record.graphs_fingerprint):
            return ready, names[0] if names and not ready.removed else None
    if candidates:
        raise InvalidFileError(
            "the graphs found differ from those of the results (they have changed since)"
        )
    raise InvalidFileError("its graphs were not found on this machine")


def _maps(
    records: list[Record], found: dict[Place, _Found], n_jobs: int | None, progress: Progress
) -> tuple[list[KernelMap], dict[str, str]]:
    """Compute a map for each kernel on each data set that was found, Tree++ first."""
    maps: list[KernelMap] = []
    unseen: dict[str, str] = {}
    for place, item in found.items():
        groups: dict[tuple[str, str], list[FoldRecord | KernelRecord]] = {}
        for record in records:
            if record.place == place and not isinstance(record, LimitRecord):
                groups.setdefault((record.kernel, record.variant), []).append(record)
        # Results of curves are shown only if there are no others.
        keys = [key for key in groups if not is_figure(key[1])] or list(groups)
        keys.sort(key=lambda key: (key[0] != REFERENCE, key[1] != ""))
        if len(keys) > MOST_MAPS:
            rest = sorted(keys, key=lambda key: -_accuracy(groups[key]))[MOST_MAPS:]
            unseen[f"{item.drawn.name}, {len(rest)} kernels"] = (
                f"maps are shown for the {MOST_MAPS} most accurate of {len(keys)}"
            )
            keys = [key for key in keys if key not in rest]
        for kernel, variant in keys:
            name = f"{item.drawn.name}, {kernel_label(kernel, variant)}"
            own = groups[kernel, variant]
            parameters = _parameters(own)
            if not all(getattr(record, "classes", True) for record in own):
                unseen[name] = "maps show classes; this is a regression"
            elif kernel == AUTO or variant.startswith(SELF_TUNED):
                unseen[name] = "maps show single kernels only"
            elif kernel not in KERNELS:
                unseen[name] = f"this version of graphgrain has no kernel {kernel!r}"
            elif unknown := sorted(set(parameters) - set(KERNELS[kernel].kernel().get_params())):
                unseen[name] = f"maps show single kernels only, without {', '.join(unknown)}"
            else:
                progress(f"map of {name}")
                try:
                    maps.append(kernel_map(item.drawn, kernel, parameters, variant, n_jobs))
                except GraphgrainError as error:
                    unseen[name] = str(error)
    return maps, unseen


def _accuracy(records: list[FoldRecord | KernelRecord]) -> float:
    """Return the accuracy of a kernel on a data set; 0 without results."""
    return max((summary.accuracy.mean or 0.0 for summary in summarise(records)), default=0.0)


def _parameters(records: list[FoldRecord | KernelRecord]) -> dict[str, Any]:
    """Return the parameters selected most often; without folds those of the first record."""
    summaries = summarise(records)
    if summaries:
        return summaries[0].parameters
    return {**records[0].settings, **records[0].level_names[-1]}


def _errors(
    records: list[Record], compared: list[Comparison], found: dict[Place, _Found]
) -> list[Errors]:
    """Return the errors of kernels, for each data set under its first protocol on the page."""
    finished = [
        experiment
        for experiment in experiments(records)
        if experiment.repetitions
        and experiment.first.classes
        and not is_figure(experiment.first.variant)
    ]
    labels = dataset_labels(experiment.first for experiment in finished)
    rules: dict[Place, Any] = {}
    errors = []
    for experiment in finished:
        own = experiment.first
        rule = (own.protocol, own.deduplicated)
        if rules.setdefault(own.place, rule) != rule:
            continue
        diagnosis = diagnose(experiment)
        names = found[own.place].names if own.place in found else None
        wrong = [graph_name(item.graph, names) for item in diagnosis.wrong]
        label = kernel_label(own.kernel, own.variant)
        errors.append(Errors(labels[own.place], label, diagnosis, wrong))
    sets, columns = list(labels.values()), kernel_order(compared)
    return sorted(errors, key=lambda e: (sets.index(e.dataset), columns.index(e.kernel)))


def kernel_order(compared: list[Comparison], costs: Runtimes | None = None) -> list[str]:
    """Return the names of all kernels in table order, which determines their colours."""
    columns = [column for comparison in compared for column in comparison.columns]
    columns += costs.columns if costs is not None else []
    return list(dict.fromkeys(column.name for column in columns))


# -------------------------------------------------------------------- formatting


def seconds(value: float) -> str:
    """Format a time with a suitable unit.

    >>> seconds(0.0042), seconds(3.14159), seconds(4088.53)
    ('4.2 ms', '3.14 s', '68.1 min')
    """
    if value >= 60:
        return f"{value / 60:.1f} min"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{1000 * value:.1f} ms" if value < 0.1 else f"{1000 * value:.0f} ms"


def size(value: float) -> str:
    """Format a number of bytes.

    >>> size(1536), size(30_000_000)
    ('1.5 KiB', '28.6 MiB')
    """
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def listed(words: Sequence[str]) -> str:
    """Join words for use in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def p_value(p: float) -> str:
    """Format a p-value.

    >>> p_value(0.0421), p_value(1e-9)
    ('0.042', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def compared_p(p: float) -> str:
    """Format a p-value with a relation sign.

    >>> compared_p(0.0421), compared_p(1e-9)
    ('= 0.042', '< 0.001')
    """
    words = p_value(p)
    return words if words.startswith("<") else f"= {words}"
