"""The command index: build an index of graphs on disk."""

from __future__ import annotations

import time

from . import options as opt
from .app import command
from .console import answer, written


@command(
    [
        "graphgrain index drugs -o drugs.ggi",
        "graphgrain index molecules.smi.gz -o library.ggi --errors skip",
        "graphgrain index molecules.csv -o library.ggi --id name --kernel wl --set n_iter=3",
    ],
    reads_data=True,
)
def index(
    ctx: opt.Context,
    data: opt.Data,
    output: opt.Output,
    kernel: opt.OptionalKernel = None,
    parameters: opt.Parameters = None,
    similarity: opt.Similarity = None,
    overwrite: opt.Overwrite = False,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Build an index of graphs for search, cluster and pairs.

    The index contains the graphs, so the input file is not needed afterwards.
    """
    from ..graphs.batch import counted
    from ..searching.graph_index import described_kernel
    from .indexes import build
    from .kernel_options import chosen_kernel

    estimator = None
    if kernel is not None or parameters:
        estimator = chosen_kernel(kernel or "tree++", parameters)
    begin = time.perf_counter()
    made = build(
        data,
        ctx.obj,
        output,
        kernel=estimator,
        similarity=similarity,
        overwrite=overwrite,
        n_jobs=jobs,
    )
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
    written(
        f"{counted(len(made), 'graph')} ({size / 1e6:,.1f} MB{each}) in {seconds:,.1f} s, compared "
        f"by {made.similarity} of {described_kernel(made)},",
        output,
    )
