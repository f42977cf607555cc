"""Everything that a report shows, computed from a results file; page and figures only draw it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import GraphgrainError, InvalidFileError
from ..evaluation.beyond import readable
from ..evaluation.data import LabelledGraphs, prepare
from ..evaluation.records import FoldRecord, KernelRecord, Record, fold_records
from ..evaluation.results_file import read_results
from ..evaluation.summary import experiments, summarise
from ..graphs.batch import GraphBatch
from ..graphs.datasets.fetch import find_tu, load_drugs
from ..graphs.files.tu import load_tu
from ..kernels.registry import KERNELS
from .comparison import (
    REFERENCE,
    Column,
    Comparison,
    Runtimes,
    comparisons,
    is_figure,
    row_names,
    runtimes,
)
from .curves import Curve, accuracy_against
from .pictures import Picture, picture

#: Data sets by name: ``(graphs, y)``, or ``(graphs, y, names of the graphs)``.
Data = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Content:
    """What there is to show.

    Attributes
    ----------
    file : str
        Name of the results file.
    records : list of records
    comparisons : list of Comparison
    runtimes : Runtimes or None
    against_k, against_d : list of Curve
    pictures : list of Picture
    graphs : dict
        The graphs of each data set that could be found.
    unseen : dict
        For each data set without a picture the reason.
    unfinished : list of str
        What has records, but no complete repetition or not all settings of its grid.
    """

    file: str
    records: list[Record]
    comparisons: list[Comparison]
    runtimes: Runtimes | None
    against_k: list[Curve]
    against_d: list[Curve]
    pictures: list[Picture]
    graphs: dict[str, GraphBatch]
    unseen: dict[str, str]
    unfinished: list[str]


def content(
    results: str | os.PathLike[str], data: Data | None = None, n_jobs: int | None = None
) -> Content:
    """Read results and compute what a report shows.

    Parameters
    ----------
    results : path
    data : mapping, optional
        The data sets whose graphs are to be seen. Those bundled with graphgrain, in the folder
        ``GRAPHGRAIN_DATA`` or downloaded before are found without it. Nothing is downloaded.
    """
    records = readable(read_results(results))
    if not records:
        raise InvalidFileError(
            f"The results {str(results)!r} hold no record yet, so there is nothing to report. "
            "`graphgrain evaluate` and `graphgrain reproduce` fill such a file."
        )
    pictures, graphs, unseen = _pictures(records, data or {}, n_jobs)
    return Content(
        file=Path(results).name,
        records=records,
        comparisons=comparisons(records),
        runtimes=runtimes(records),
        against_k=accuracy_against("tree_depth", records),
        against_d=accuracy_against("path_depth", records),
        pictures=pictures,
        graphs=graphs,
        unseen=unseen,
        unfinished=list(_unfinished(records)),
    )


def _unfinished(records: list[Record]) -> Iterator[str]:
    """A sentence for everything that the tables leave out, or show before its time."""
    for experiment in experiments(records):
        first = experiment.first
        name = f"{first.dataset}, {Column(first.kernel, first.variant).name}"
        if not experiment.repetitions:
            wanted = first.folds * first.grid_size
            yield (
                f"{name}: {len(experiment.records)} of the {wanted} folds of a repetition are "
                "done; it is left out until one is complete."
            )
        elif not experiment.complete:
            yield (
                f"{name}: {len(experiment.settings)} of {first.grid_size} settings are done; "
                "validation chose among those."
            )


def _pictures(
    records: list[Record], data: Data, n_jobs: int | None
) -> tuple[list[Picture], dict[str, GraphBatch], dict[str, str]]:
    """A picture of every data set that can be found, through Tree++ if it was evaluated."""
    chosen: dict[tuple[str, str], FoldRecord | KernelRecord] = {}
    for record in records:
        place = (record.dataset, record.fingerprint)
        now = chosen.get(place)
        if is_figure(record.variant) and now:
            continue
        if now is None or _preference(record) < _preference(now):
            chosen[place] = record
    names = row_names(chosen.values())
    classes = {(r.dataset, r.fingerprint): r.classes for r in fold_records(records)}
    found: list[Picture] = []
    graphs: dict[str, GraphBatch] = {}
    unseen: dict[str, str] = {}
    for place, record in chosen.items():
        name = names[place]
        try:
            ready, graph_names = _find(record, data)
        except GraphgrainError as error:
            unseen[name] = str(error)
            continue
        graphs[name] = ready.graphs
        if record.kernel not in KERNELS:
            unseen[name] = f"this version of graphgrain has no kernel {record.kernel!r}"
            continue
        parameters = _parameters(record, records)
        given = (ready.graphs, classes.get(place, ready.classes), ready.codes)
        found.append(picture(name, *given, record.kernel, parameters, graph_names, n_jobs))
    return found, graphs, unseen


def _preference(record: Record) -> tuple[bool, bool, bool]:
    return (is_figure(record.variant), record.kernel != REFERENCE, record.variant != "")


def _parameters(record: FoldRecord | KernelRecord, records: list[Record]) -> dict[str, Any]:
    """The parameters that validation chose most often; without any folds those of the record."""
    same: list[Record] = [
        r
        for r in fold_records(records)
        if (r.dataset, r.fingerprint, r.kernel, r.variant)
        == (record.dataset, record.fingerprint, record.kernel, record.variant)
    ]
    summaries = summarise(same)
    if summaries:
        return summaries[0].parameters
    return {**record.settings, **record.level_names[-1]}


def _find(record: FoldRecord | KernelRecord, data: Data) -> tuple[LabelledGraphs, Any]:
    """The data set of a record, and names of its graphs if there are any.

    The fingerprint decides: graphs that have changed since are not shown.
    """
    candidates: list[tuple[Any, ...]] = []
    if record.dataset == "drugs":
        candidates.append(load_drugs(names=True))
    elif (file := find_tu(record.dataset)) is not None:
        candidates.append(load_tu(file))
    # One of the same name is most likely the right one.
    candidates += [data[name] for name in sorted(data, key=lambda name: name != record.dataset)]
    for graphs, y, *names in candidates:
        try:
            ready = prepare(record.dataset, graphs, y, remove_duplicates=record.deduplicated)
        except GraphgrainError:
            continue  # not fit for an evaluation, so it is not what was evaluated
        if ready.fingerprint == record.fingerprint:
            return ready, names[0] if names and not ready.removed else None
    if candidates:
        raise InvalidFileError(
            "the graphs that were found are not those of these results (they have changed since)"
        )
    raise InvalidFileError("its graphs were not found on this machine")
