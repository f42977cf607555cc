"""The command kernel: write a kernel matrix to a file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.markup import escape

from ..core.threads import thread_count
from ..errors import InvalidParameterError
from ..evaluation.experiment import measured
from ..evaluation.records import versions
from ..graphs.batch import counted
from ..kernels.bases.graph_kernel import RUN_PARAMETERS
from ..kernels.registry import KERNELS, kernel_to_json
from ..writing import atomic_write, check_output, suffix_of
from .app import answer, command, err, out
from .arguments import Data, Jobs, Json, Reading, Set, output_file
from .kernel_options import chosen_kernel
from .loading import load, note_ignored_attributes


@command(
    [
        "graphgrain kernel drugs -o drugs.npz",
        "graphgrain kernel MUTAG -o mutag.npz --kernel wl --set n_iter=4",
        "graphgrain kernel Letter-high -o K.npz --view attribute-bins:n_bins=4",
        "graphgrain kernel my_graphs.zip -o K.csv --set path_depth=4,counts=sqrt",
    ]
)
def kernel(
    data: Data,
    reading: Reading,
    output: Annotated[Path, output_file("A .npz, .npy or .csv file.")],
    kernel: Annotated[
        str, typer.Option("--kernel", "-k", help=f"One of {', '.join(KERNELS)}.")
    ] = "tree++",
    parameters: Set = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Compute the kernel matrix of a data set and write it to a file.

    A .npz file contains K (the normalised matrix), y (the targets, if any), names (if any) and
    about (parameters and versions, as JSON). The other formats contain K only. Parameters that are
    not set have the kernel's defaults.
    """
    if suffix_of(output, ".csv") not in (".npz", ".npy", ".csv"):
        raise InvalidParameterError(
            f"The kernel matrix is written as .npz, .npy or .csv; got {str(output)!r}."
        )
    check_output(output, "The kernel matrix")
    estimator = chosen_kernel(kernel, parameters, n_jobs=n_jobs)
    loaded = load(data, reading)
    name, graphs, y, names, *_ = loaded
    note_ignored_attributes(loaded, [estimator])
    with err().status(f"{kernel} on {escape(name)}"), measured() as cost:
        K = estimator.fit_transform(graphs)
    about = {
        "dataset": name,
        "kernel": kernel,
        **kernel_to_json(estimator, leave_out=RUN_PARAMETERS),
        "graphs": len(graphs),
        "seconds": round(cost.seconds, 4),
        "memory": cost.memory,
        "n_jobs": thread_count(n_jobs),
        "versions": versions(),
    }
    arrays = {"K": K, "about": json.dumps(about), "y": y, "names": names}
    content = io.BytesIO()
    form = suffix_of(output, ".csv")
    if form == ".npz":
        np.savez_compressed(content, **{k: v for k, v in arrays.items() if v is not None})
    elif form == ".npy":
        np.save(content, K)
    else:
        np.savetxt(content, K, delimiter=",", fmt="%.17g")
    with atomic_write(output, "The kernel matrix") as file:
        file.write(content.getvalue())
    if as_json:
        answer({**about, "output": str(output)})
        return
    out().print(
        f"{kernel} of {counted(len(graphs), 'graph')} in {cost.seconds:.2f} s, written to "
        f"{escape(str(output))}."
    )
