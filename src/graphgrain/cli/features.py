"""The command features: write features of any number of graphs to files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import (
    InvalidFileError,
    InvalidGraphError,
    InvalidParameterError,
    UnwritableFileError,
)
from . import options as opt
from .app import Interrupted, command
from .console import answer, err, written


@command(
    [
        "graphgrain features molecules.smi.gz -o features",
        "graphgrain features table.csv -o features --errors skip --n-features 65536",
        "graphgrain features MUTAG -o features --kernel wl --set n_iter=4",
    ],
    reads_data=True,
)
def features(
    ctx: opt.Context,
    data: opt.Data,
    output: opt.Output,
    kernel: opt.Kernel = "tree++",
    parameters: opt.Parameters = None,
    n_features: opt.NumberOfFeatures = 2**20,
    shard_size: opt.ShardSize = 20_000,
    jobs: opt.Jobs = -1,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Write the features of any number of graphs to a folder of Parquet files.

    Files of molecules are read in chunks, so that memory does not grow with their length. After an
    interruption, run the same command again to continue. The files contain the features and all
    other columns of the input, such as names and targets. Read them with any program for Parquet,
    or in Python with graphgrain.load_features(folder).
    """
    from ..graphs.batch import counted
    from ..scaling.feature_shards import save_features
    from .kernel_options import chosen_kernel

    estimator = chosen_kernel(kernel, parameters)
    source, options = _source(data, ctx.obj)
    resumable = (
        f"Finished shards are saved in {str(output)!r}. Run the same command again to continue."
    )
    try:
        manifest = save_features(
            source,
            output,
            estimator,
            n_features=n_features,
            shard_size=shard_size,
            n_jobs=jobs,
            verbose=not quiet and err().is_terminal,
            **options,
        )
    except KeyboardInterrupt:
        raise Interrupted(resumable) from None
    except (InvalidFileError, InvalidGraphError, UnwritableFileError) as error:
        if any(output.glob("shard-*.parquet")):
            error.add_note(resumable)
        raise
    if as_json:
        answer({**manifest, "output": str(output)})
        return
    size = sum(file.stat().st_size for file in output.glob("shard-*.parquet"))
    graphs, shards = counted(manifest["rows"], "graph"), counted(len(manifest["shards"]), "shard")
    written(f"{kernel} of {graphs} in {shards} ({size / 1e9:.2f} GB)", output)


def _source(data: str, reading: opt.Reading) -> tuple[Any, dict[str, Any]]:
    """Return the graphs of DATA, or the path of molecules to stream, and how to read them."""
    from ..graphs.files.molecules import is_molecule_file
    from .loading import load, molecule_options, options_set

    path = Path(data).expanduser()
    if not (path.exists() and is_molecule_file(path)):
        loaded = load(data, reading)
        columns = {"name": loaded.names, "target": loaded.y}
        present = {name: values for name, values in columns.items() if values is not None}
        return loaded.graphs.with_columns(present), {}
    for option in set(options_set(reading)) & {"target", "id", "missing", "view"}:
        reason = (
            "views are fitted to all of them" if option == "view" else "all columns are written"
        )
        raise InvalidParameterError(
            f"Molecules are read in chunks, and {reason}. Leave out --{option}."
        )
    return path, molecule_options(reading)
