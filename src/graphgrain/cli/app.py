"""What all commands share: the application, how they speak, how they fail."""

from __future__ import annotations

import functools
import inspect
import json
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand

from ..errors import GraphgrainError, GraphgrainWarning

#: Exit codes: all is well; the input is wrong; a mistake of the program; interrupted by Ctrl-C.
OK, BAD_INPUT, FAILURE, INTERRUPTED = 0, 2, 1, 130


@dataclass
class Options:
    """What was asked for before the command."""

    debug: bool = False


options = Options()
app = typer.Typer(
    name="graphgrain",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How similar are graphs? Kernels, honest evaluation, and the Tree++ paper's experiments.",
    epilog="Begin with: graphgrain demo",
)


def out() -> Console:
    """For answers: standard output, never folded to 80 columns in a file or a pipe."""
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False)


def err() -> Console:
    """For everything else: standard error."""
    return Console(stderr=True, highlight=False)


def answer(value: Any) -> None:
    """For machines: JSON on standard output."""
    print(json.dumps(value, indent=2, allow_nan=False))


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"graphgrain {__version__}")
        raise typer.Exit


@app.callback()
def before(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    options.debug = options.debug or debug


class Interrupted(Exception):
    """Ctrl-C, with what the user should know."""


def command(name: str, examples: Sequence[str]) -> Callable[[Callable[..., None]], Any]:
    """A command of the program, with examples below its help and errors in one line."""

    def decorate(function: Callable[..., None]) -> Any:
        lines = "\n\n".join(f"[dim]$[/dim] {escape(example)}" for example in examples)
        # A paragraph flows, however the docstring is wrapped.
        paragraphs = (inspect.getdoc(function) or "").split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        return app.command(
            name, cls=ManyValues, help=text, epilog=f"[bold]Examples[/bold]\n\n{lines}"
        )(_guarded(function))

    return decorate


class ManyValues(TyperCommand):
    """A command whose repeatable options take several values: ``--kernel tree++ wl sp``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        many = {name for p in self.params if getattr(p, "multiple", False) for name in p.opts}
        expanded: list[str] = []
        option: str | None = None  # the repeatable option that values still belong to
        for word in args:
            if word.startswith("-") and len(word) > 1:
                option = word if word in many else None
                if option is None:
                    expanded.append(word)
            elif option is not None:
                expanded += [option, word]
            else:
                expanded.append(word)
        if option is not None and (not expanded or option not in expanded):
            expanded.append(option)  # nothing follows it: let the parser complain
        return super().parse_args(ctx, expanded)


def _guarded(function: Callable[..., None]) -> Callable[..., None]:
    """Turn what may go wrong into one clear message and an exit code."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always", GraphgrainWarning)
            warnings.showwarning = _show_warning
            try:
                function(*args, **kwargs)
            except (KeyboardInterrupt, Interrupted) as interrupt:
                err().print(f"\n[yellow]Interrupted.[/yellow] {escape(str(interrupt))}")
                raise typer.Exit(INTERRUPTED) from None
            except GraphgrainError as error:
                _fail(error, BAD_INPUT)
            except BrokenPipeError:
                sys.stderr.close()  # the reader has seen enough, as in `graphgrain ... | head`
                raise typer.Exit(OK) from None
            except (typer.Exit, typer.Abort, typer.BadParameter):
                raise
            except Exception as error:
                _fail(error, FAILURE)

    return guarded


def _fail(error: Exception, code: int) -> None:
    if options.debug:
        raise error
    if code == BAD_INPUT:
        err().print(f"[red]Error:[/red] {escape(str(error))}")
    else:
        err().print(
            f"[red]Unexpected error:[/red] {escape(f'{type(error).__name__}: {error}')}\n"
            f"This is a mistake of graphgrain. `graphgrain --debug {escape(_arguments())}` shows "
            "where it happened."
        )
    raise typer.Exit(code)


def _arguments() -> str:
    return shlex.join(sys.argv[1:])


def _show_warning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
    if issubclass(category, GraphgrainWarning):
        err().print(f"[yellow]Note:[/yellow] {escape(str(message))}")
