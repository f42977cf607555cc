"""The command features: write features of any number of graphs to files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..errors import (
    InvalidFileError,
    InvalidGraphError,
    InvalidParameterError,
    UnwritableFileError,
)
from ..graphs.batch import counted
from ..graphs.files.molecules import is_molecule_file
from ..graphs.streams import Chunk
from ..scaling.feature_shards import FORMATS, SHARD_SIZE, save_features
from .app import Interrupted, command
from .console import answer, err, out
from .kernel_options import chosen_kernel
from .loading import load, molecule_options
from .options import (
    Data,
    Errors,
    Id,
    Json,
    Labels,
    Missing,
    Output,
    Parameters,
    Reading,
    Smiles,
    Target,
    View,
    check_choice,
)


@command(
    [
        "graphgrain features molecules.smi.gz -o features",
        "graphgrain features table.csv -o features --errors skip --n-features 65536",
        "graphgrain features MUTAG -o features --kernel wl --set n_iter=4 --format parquet",
    ]
)
def features(
    data: Data,
    output: Output,
    kernel: Annotated[str, typer.Option("--kernel", "-k", help="Name of the kernel.")] = "tree++",
    parameters: Parameters = None,
    n_features: Annotated[
        int, typer.Option(help="Number of columns; features are hashed into them.", min=1)
    ] = 2**20,
    shard_size: Annotated[
        int, typer.Option(help="Number of graphs per shard.", min=1)
    ] = SHARD_SIZE,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="npz (SciPy, with a CSV file of the other columns) or parquet.",
            metavar="npz|parquet",
        ),
    ] = "npz",
    target: Target = None,
    id: Id = None,
    smiles: Smiles = None,
    labels: Labels = "",
    errors: Errors = "raise",
    missing: Missing = "raise",
    view: View = None,
    n_jobs: Annotated[
        int, typer.Option("--n-jobs", "-j", help="Number of processes; -1 uses all cores.")
    ] = -1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    as_json: Json = False,
) -> None:
    """Write the features of any number of graphs to files, shard by shard.

    Files of molecules are read in chunks, so that memory does not grow with their length. After an
    interruption, run the same command again to continue. The folder contains the matrices, all
    other columns of the input, such as names and targets, and a manifest with settings and
    checksums. Read it in Python with graphgrain.FeatureShards(folder).
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    check_choice("--format", form, FORMATS)
    chosen = chosen_kernel(kernel, parameters)
    path = Path(data).expanduser()
    source: Any
    if path.exists() and is_molecule_file(path):
        source = path
        options = molecule_options(reading)
        if reading.view:
            raise InvalidParameterError(
                "Views are fitted to all graphs, but files of molecules are read in chunks. "
                "Leave out --view."
            )
        if reading.target is not None:
            raise InvalidParameterError(
                "All columns of the file are written with the features, including targets. Leave "
                f"out --target {reading.target}."
            )
    else:
        loaded = load(data, reading)
        known = {"name": loaded.names, "target": loaded.y}
        columns = {name: values for name, values in known.items() if values is not None}
        source, options = [Chunk(loaded.graphs, columns)], {}
    try:
        manifest = save_features(
            source,
            output,
            chosen,
            n_features=n_features,
            shard_size=shard_size,
            format=form,
            n_jobs=n_jobs,
            verbose=not quiet and err().is_terminal,
            **options,
        )
    except KeyboardInterrupt:
        raise Interrupted(_kept(output)) from None
    except (InvalidFileError, InvalidGraphError, UnwritableFileError) as error:
        if any(output.glob("shard-*.json")):
            error.add_note(_kept(output))
        raise
    if as_json:
        answer({**manifest, "output": str(output)})
        return
    size = sum(file["bytes"] for shard in manifest["shards"] for file in shard["files"].values())
    out().print(
        f"{kernel} of {counted(manifest['rows'], 'graph')} in "
        f"{counted(len(manifest['shards']), 'shard')} ({size / 1e9:.2f} GB), written to "
        f"{escape(str(output))}."
    )


def _kept(folder: Path) -> str:
    return f"Finished shards are saved in {str(folder)!r}. Run the same command again to continue."
