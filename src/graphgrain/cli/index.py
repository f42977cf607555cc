"""The command index: graphs into an index that can be searched."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..kernels.registry import KERNELS
from ..searching.graph_index import described_kernel
from ..searching.manifest import KINDS
from .app import Interrupted, answer, command, out
from .arguments import Data, Jobs, Json, Reading, Set, check_choice
from .index_sources import index_source
from .kernel_options import given, kernel_grid


@command(
    [
        "graphgrain index drugs -o drugs.ggi",
        "graphgrain index molecules.smi.gz -o library.ggi --errors skip",
        "graphgrain index molecules.csv -o library.ggi --ids name --kernel wl --set n_iter=3",
    ]
)
def index(
    data: Data,
    reading: Reading,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The index, a folder; by habit NAME.ggi.")
    ],
    ids: Annotated[
        str | None,
        typer.Option(help="The column with the ids; by default numbers.", metavar="COLUMN"),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel",
            "-k",
            help="Name of the kernel; by default Tree++ with the settings for search.",
        ),
    ] = None,
    parameters: Set = None,
    similarity: Annotated[
        str, typer.Option(help="How graphs are compared.", metavar="|".join(KINDS))
    ] = "minmax",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an index that is there.")
    ] = False,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Make an index of graphs, for search and cluster.

    It keeps the graphs themselves, so that the file they came from is no longer needed.
    Interrupted or killed, the same command goes on where it stopped (files of molecules).
    """
    check_choice("--similarity", similarity, tuple(KINDS))
    chosen = None
    if kernel is not None or parameters:
        kernel = kernel or "tree++"
        kernel_grid(kernel, parameters)  # checks both
        chosen = KERNELS[kernel].kernel(**given(kernel, parameters))
    source = index_source(data, reading)
    begin = time.perf_counter()
    try:
        made = source.build(
            output,
            kernel=chosen,
            ids=ids,
            similarity=similarity,
            overwrite=overwrite,
            n_jobs=n_jobs,
        )
    except KeyboardInterrupt:
        raise Interrupted("Run the same command again to go on from there.") from None
    seconds = time.perf_counter() - begin
    size = made.nbytes()
    if as_json:
        answer(
            {
                "index": str(output),
                "graphs": len(made),
                "bytes": size,
                "kernel": described_kernel(made),
                "similarity": made.similarity,
                "columns": made.column_names,
                "seconds": round(seconds, 3),
            }
        )
        return
    each = f", {size / len(made):,.0f} bytes each" if len(made) else ""
    out().print(
        f"{len(made):,} graphs in {escape(str(output))} ({size / 1e6:,.1f} MB{each}) in "
        f"{seconds:,.1f} s.\nCompared by {made.similarity} of {escape(described_kernel(made))}."
    )
