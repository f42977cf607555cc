"""Indexes for commands: from a folder, or built in memory from graphs."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.files.molecules import is_molecule_file
from ..searching.graph_index import GraphIndex, frozen
from ..searching.index_folder import DATABASE
from .loading import (
    BUNDLED,
    is_data,
    load,
    molecule_options,
    options_set,
    row_names,
    taken_as_smiles,
    with_labels,
)
from .options import Reading


def build(data: str, reading: Reading, path: Path | None, **options: Any) -> GraphIndex:
    """Build the index of a DATA argument, in memory without a path; molecules are streamed."""
    place = Path(data).expanduser()
    source: Any
    if data == BUNDLED and not reading.view:
        source = Path(str(files("graphgrain.graphs.datasets") / "data" / "drugs.csv"))
        reading = replace(reading, id=reading.id or "name")
    elif is_molecule_file(place) and place.exists() and not reading.view:
        source = place
        if reading.target is not None:
            raise InvalidParameterError(
                "All columns and rows of the file are used, with or without a target. Leave out "
                f"--target {reading.target}."
            )
    else:
        loaded = load(data, reading)
        source = loaded.graphs
        columns = loaded.table or {"target": loaded.y, "name": loaded.names}
        options["columns"] = {
            name: np.asarray(values) for name, values in columns.items() if values is not None
        }
    if isinstance(source, Path):
        options |= molecule_options(reading)
    # The command line counts rows from 1.
    return GraphIndex.build(
        path, source, ids=reading.id, first_id=1, verbose=sys.stderr.isatty(), **options
    )


def opened(
    data: str, reading: Reading, n_jobs: int, similarity: str | None, *, alone: bool = True
) -> GraphIndex:
    """Open an index, or build one in memory from DATA.

    ``alone`` is False if ``reading`` is also for another argument.
    """
    path = Path(data).expanduser()
    if path.suffix == ".ggi" or (path / DATABASE).is_file():
        if alone and (unused := options_set(reading)):
            raise InvalidParameterError(
                f"--{unused[0]} is for files of graphs; the index {data!r} contains its graphs. "
                f"Leave out --{unused[0]}, or build another index with it."
            )
        return frozen(GraphIndex.open(data, n_jobs=n_jobs), similarity)
    return build(data, reading, None, n_jobs=n_jobs, similarity=similarity)


def names_of(index: GraphIndex, ids: list[Any]) -> list[str]:
    """Return names or SMILES of graphs whose ids are numbers."""
    columns = {name.lower(): values.tolist() for name, values in index.columns(ids).items()}
    names = [columns[name] for name in ("name", "smiles") if name in columns]
    return [
        "" if isinstance(key, str) else next((str(column[k]) for column in names if column[k]), "")
        for k, key in enumerate(ids)
    ]


def as_query_graphs(
    index: GraphIndex, queries: list[str], reading: Reading
) -> tuple[GraphBatch, list[str]]:
    """Return graphs and names of queries: SMILES, files or data sets."""
    batches, names = [], []
    for query in queries:
        if not query.strip():
            raise InvalidParameterError("A query is a SMILES, a file or a data set; got nothing.")
        if is_data(query):
            loaded = load(query, reading_of(index, reading))
            batches.append(loaded.graphs)
            names += row_names(loaded)
            continue
        with taken_as_smiles(query):
            batches.append(cast(GraphBatch, index.as_queries([query])))
        names.append(query)
    return GraphBatch.concatenate(batches), names


def reading_of(index: GraphIndex, reading: Reading) -> Reading:
    """Return the options to read molecules in the same way as those of the index."""
    if index.label_options is None:
        return reading
    names = [name for name, used in index.label_options.items() if used]
    return with_labels(reading, names, "The index was built")
