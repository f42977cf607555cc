"""The command kernel: write a kernel matrix to a file."""

from __future__ import annotations

import io
import json
import time
from importlib.metadata import version

from rich.markup import escape

from ..writing import atomic_write, check_form
from . import options as opt
from .app import command
from .console import answer, err, written


@command(
    [
        "graphgrain kernel drugs -o drugs.npz",
        "graphgrain kernel MUTAG -o mutag.npz --kernel wl --set n_iter=4",
        "graphgrain kernel Letter-high -o K.npz --view attribute-bins:n_bins=4",
        "graphgrain kernel my_graphs.zip -o K.csv --set path_depth=4,counts=sqrt",
    ],
    reads_data=True,
)
def kernel(
    ctx: opt.Context,
    data: opt.Data,
    output: opt.Output,
    kernel: opt.Kernel = "tree++",
    parameters: opt.Parameters = None,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Compute the kernel matrix of a data set and write it to a .npz, .npy or .csv file.

    A .npz file contains K (the normalised matrix), y (the targets, if any), names (if any) and
    about (parameters and versions, as JSON). The other formats contain K only. Parameters that are
    not set have the kernel's defaults.
    """
    form = check_form(output, "The kernel matrix", (".csv", ".npy", ".npz"))
    import numpy as np

    from ..core.threads import thread_count
    from ..graphs.batch import counted
    from ..kernels.bases.graph_kernel import RUN_PARAMETERS
    from ..kernels.registry import kernel_to_json
    from .kernel_options import chosen_kernel
    from .loading import load, note_ignored_attributes

    estimator = chosen_kernel(kernel, parameters, n_jobs=jobs)
    loaded = load(data, ctx.obj)
    note_ignored_attributes(loaded, estimator)
    begin = time.perf_counter()
    with err().status(f"{kernel} on {escape(loaded.name)}"):
        K = estimator.fit_transform(loaded.graphs)
    seconds = time.perf_counter() - begin
    about = {
        "dataset": loaded.name,
        "kernel": kernel,
        **kernel_to_json(estimator, leave_out=RUN_PARAMETERS),
        "graphs": len(loaded.graphs),
        "seconds": round(seconds, 4),
        "n_jobs": thread_count(jobs),
        "versions": {name: version(name) for name in ("graphgrain", "numba", "numpy", "scipy")},
    }
    content = io.BytesIO()
    if form == ".npz":
        arrays = {"K": K, "about": json.dumps(about), "y": loaded.y, "names": loaded.names}
        present = {name: values for name, values in arrays.items() if values is not None}
        np.savez_compressed(content, **present)
    elif form == ".npy":
        np.save(content, K)
    else:
        np.savetxt(content, K, delimiter=",", fmt="%.17g")
    with atomic_write(output, "The kernel matrix") as file:
        file.write(content.getvalue())
    if as_json:
        answer({**about, "output": str(output)})
    else:
        graphs = counted(len(loaded.graphs), "graph")
        written(f"{kernel} of {graphs} in {seconds:.2f} s", output)
