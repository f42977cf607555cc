"""The program: its commands, and what happens at errors and interruptions."""

from __future__ import annotations

import inspect
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from ..errors import GraphgrainError, GraphgrainWarning, InvalidParameterError
from ..writing import is_standard_output
from .console import err, is_of_output, note, prepare_streams, report_unwritable_output
from .interrupts import interrupted, raise_from_now_on
from .options import Reading

#: Exit codes: invalid input, and an internal error.
BAD_INPUT, FAILURE = 2, 1

#: Commands in the order of ``graphgrain --help``, each in a module of its name. It is imported when
#: its command is asked for, and imports what takes time (NumPy, Numba) when the command runs.
COMMANDS = (
    "demo",
    "info",
    "compare",
    "kernel",
    "features",
    "fit",
    "predict",
    "evaluate",
    "explain",
    "explore",
    "index",
    "search",
    "pairs",
    "cluster",
)

_SETTINGS: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "rich",
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
_commands: dict[str, typer.Typer] = {}
_debug = False


class Interrupted(Exception):
    """Ctrl-C, with a message for the user."""


def command(
    examples: Sequence[str], reads_data: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as the command of its name, with examples in its help.

    With ``reads_data`` it also has the options of :class:`Reading`, as ``ctx.obj``.
    """
    lines = "\n\n".join(f"[dim]$[/dim] {escape(example)}" for example in examples)

    def register(function: Callable[..., None]) -> Callable[..., None]:
        single = typer.Typer(add_completion=False, **_SETTINGS)
        paragraphs = (inspect.getdoc(function) or "").split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        epilog = f"[bold]Examples[/bold]\n\n{lines}"
        kind = _ReadingCommand if reads_data else _Command
        single.command(function.__name__, cls=kind, help=text, epilog=epilog)(function)
        _commands[function.__name__] = single
        return function

    return register


def load_command(name: str) -> Any:
    """Import the module of a command and return the command."""
    import_module(f".{name}", __package__)
    return typer.main.get_command(_commands[name])


class _Command(TyperCommand):
    """A command that turns errors into one message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        raise_from_now_on()
        with warnings.catch_warnings():
            warnings.simplefilter("always", GraphgrainWarning)
            warnings.showwarning = _show_warning
            try:
                _check_standard_output(ctx.params)
                return super().invoke(ctx)
            except (KeyboardInterrupt, Interrupted) as interrupt:
                _end_workers()
                err().print(f"\n[yellow]Interrupted.[/yellow] {escape(str(interrupt))}")
                raise typer.Exit(interrupted()) from None
            except Exception as error:
                raise typer.Exit(_reported(error)) from None


class _ReadingCommand(_Command):
    """A command with the options of Reading, which are the fields of one object for it."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        reader = typer.Typer(add_completion=False)
        reader.command()(Reading)
        self.reader: Any = typer.main.get_command(reader)
        self.params += self.reader.params

    def invoke(self, ctx: Any) -> Any:
        values = {option.name: ctx.params.pop(option.name) for option in self.reader.params}
        ctx.obj = self.reader.callback(**values)
        return super().invoke(ctx)


def _check_standard_output(parameters: dict[str, Any]) -> None:
    """Raise an error if a file and the answer would both be written to standard output."""
    paths = [value for value in parameters.values() if isinstance(value, Path)]
    if parameters.get("as_json") and any(map(is_standard_output, paths)):
        raise InvalidParameterError(
            "--json and a file written to - would both go to standard output. Choose one of them."
        )


def _end_workers() -> None:
    """End worker processes, if there are any."""
    processes = sys.modules.get(f"{__package__.removesuffix('.cli')}.graphs.processes")
    if processes is not None:
        processes.end_workers()


def _reported(error: Exception) -> int:
    """Print an error as one message; return the exit code."""
    if _debug or isinstance(error, typer.Exit | typer.Abort | typer.BadParameter):
        raise error
    if isinstance(error, OSError) and is_of_output(error):
        return report_unwritable_output(error)
    if isinstance(error, GraphgrainError):
        words = " ".join([str(error), *getattr(error, "__notes__", ())])
        err().print(f"[red]Error:[/red] {escape(words)}")
        return BAD_INPUT
    err().print(
        f"[red]Unexpected error:[/red] {escape(f'{type(error).__name__}: {error}')}\n"
        "This is a bug in graphgrain. `graphgrain --debug "
        f"{escape(shlex.join(sys.argv[1:]))}` shows the traceback."
    )
    return FAILURE


def _show_warning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
    if issubclass(category, GraphgrainWarning):
        note(str(message))


class _Program(TyperGroup):
    """The program; a command is imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return load_command(cmd_name) if cmd_name in COMMANDS else None


app = typer.Typer(
    name="graphgrain",
    cls=_Program,
    no_args_is_help=True,
    help="Graph kernels: similarity, learning, search, explanation and evaluation.",
    epilog="Start with: graphgrain demo",
    **_SETTINGS,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"graphgrain {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    global _debug
    _debug = debug


def run() -> None:
    """Run the program."""
    # Accept --debug anywhere, because users append it to a failed command.
    arguments = [word for word in sys.argv[1:] if word != "--debug"]
    arguments[:0] = ["--debug"] * ("--debug" in sys.argv[1:])
    prepare_streams()
    try:
        try:
            app(arguments)
        finally:
            sys.stdout.flush()  # here, so that errors such as a full disk are reported
    except OSError as error:
        sys.exit(report_unwritable_output(error))
