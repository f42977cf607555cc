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
from ..scaling.feature_shards import SHARD_SIZE, save_features
from .app import Interrupted, answer, command, err, out
from .arguments import Data, Json, Reading, Set, check_choice, output_file
from .kernel_options import chosen_kernel
from .loading import MOLECULE_OPTIONS, load


@command(
    [
        "graphgrain features molecules.smi.gz -o features",
        "graphgrain features table.csv -o features --errors skip --n-features 65536",
        "graphgrain features MUTAG -o features --kernel wl --set n_iter=4",
    ]
)
def features(
    data: Data,
    reading: Reading,
    output: Annotated[Path, output_file("Folder to write to.")],
    kernel: Annotated[str, typer.Option("--kernel", "-k", help="Name of the kernel.")] = "tree++",
    parameters: Set = None,
    n_features: Annotated[
        int, typer.Option(help="Number of columns; features are hashed into them.", min=1)
    ] = 2**20,
    shard_size: Annotated[int, typer.Option(help="Number of graphs per file.", min=1)] = SHARD_SIZE,
    n_jobs: Annotated[
        int, typer.Option("--n-jobs", "-j", help="Number of processes; -1 uses all cores.")
    ] = -1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    as_json: Json = False,
) -> None:
    """Write the features of any number of graphs to a folder of Parquet files.

    Files of molecules are read in chunks, so that memory does not grow with their length. After an
    interruption, run the same command again to continue. The files contain the features and all
    other columns of the input, such as names and targets. Read them with any program for Parquet,
    or in Python with graphgrain.load_features(folder).
    """
    check_choice("--errors", reading.errors, ("raise", "skip"))
    chosen = chosen_kernel(kernel, parameters)
    path = Path(data).expanduser()
    source: Any
    if path.exists() and is_molecule_file(path):
        source = path
        options = {name: getattr(reading, name) for name in MOLECULE_OPTIONS}
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
            n_jobs=n_jobs,
            verbose=not quiet and err().is_terminal,
            **options,
        )
    except KeyboardInterrupt:
        raise Interrupted(_kept(output)) from None
    except (InvalidFileError, InvalidGraphError, UnwritableFileError) as error:
        if any(output.glob("shard-*.parquet")):
            error.add_note(_kept(output))
        raise
    if as_json:
        answer({**manifest, "output": str(output)})
        return
    size = sum(file.stat().st_size for file in output.glob("shard-*.parquet"))
    out().print(
        f"{kernel} of {counted(manifest['rows'], 'graph')} in "
        f"{counted(len(manifest['shards']), 'shard')} ({size / 1e9:.2f} GB), written to "
        f"{escape(str(output))}."
    )


def _kept(folder: Path) -> str:
    return f"Finished shards are saved in {str(folder)!r}. Run the same command again to continue."
