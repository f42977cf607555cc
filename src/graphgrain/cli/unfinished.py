"""UnfinishedOutput: finished blocks of an output, kept next to it until it is complete."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

from ..archives import parsed_json
from ..errors import InvalidFileError, UnwritableFileError
from ..locking import locked
from ..writing import atomic_write, is_standard_output, unwritable

Block = TypeVar("Block")


class UnfinishedOutput:
    """Finished blocks of an output, in a hidden folder next to it until it is complete.

    A block is complete or absent, so that an interrupted command that is run again loses at most
    the block in progress. Blocks of other settings are deleted. Only one command at a time may
    write to the same output.

    Parameters
    ----------
    output : Path
        A regular file, see :func:`is_resumable`.
    settings : JSON value
        Everything that the blocks depend on.

    Attributes
    ----------
    blocks : list of Path
        Files of the finished blocks, in order.
    """

    def __init__(self, output: Path, settings: Any) -> None:
        self.output = output
        self.folder = output.with_name(f".{output.name}.part")
        self.settings = json.loads(json.dumps(settings))
        self.blocks: list[Path] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            try:
                self.folder.mkdir(exist_ok=True)
                lock = stack.enter_context(open(self.folder / "lock", "a+b"))
            except OSError as error:
                raise unwritable("What is finished", self.folder, error) from None
            if not stack.enter_context(locked(lock.fileno(), wait=False)):
                raise UnwritableFileError(
                    f"Another process is writing {str(self.output)!r}. Wait until it has finished, "
                    "or choose another place."
                )
            self._open = stack.pop_all()
        about = self.folder / "settings.json"
        if not about.is_file() or parsed_json(about.read_bytes()) != self.settings:
            for path in self.folder.glob("block-*"):
                path.unlink()
            with atomic_write(about, "What is finished") as file:
                file.write(json.dumps(self.settings).encode())
        while self._next().is_file():
            self.blocks.append(self._next())
        return self

    def __exit__(self, *error: object) -> None:
        if not self.blocks:
            self.delete()
        self._open.close()
        if os.name == "nt" and not self.blocks:  # where open files cannot be deleted
            self.delete()

    def read(self, read: Callable[[Path], Block]) -> Iterator[Block]:
        """Yield the finished blocks; from the first damaged one on, they are deleted."""
        for number, path in enumerate(self.blocks):
            try:
                block = read(path)
            except InvalidFileError:
                for damaged in self.blocks[number:]:
                    damaged.unlink()
                del self.blocks[number:]
                return
            yield block

    def _next(self) -> Path:
        return self.folder / f"block-{len(self.blocks):06d}"

    def add(self, content: bytes) -> None:
        """Save one more block."""
        with atomic_write(self._next(), "What is finished") as file:
            file.write(content)
        self.blocks.append(self._next())

    def delete(self) -> None:
        """Delete all blocks, once the output is written."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.blocks.clear()


def is_resumable(output: Path) -> bool:
    """Return whether an output is a regular file, and not standard output, a pipe or a device."""
    return not is_standard_output(output) and (output.is_file() or not output.exists())
