"""Command list, output and error handling shared by all commands."""

from __future__ import annotations

import codecs
import errno
import functools
import inspect
import io
import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape
from rich.segment import Segment
from typer.core import TyperCommand, TyperGroup

from ..errors import GraphgrainError, GraphgrainWarning, InvalidParameterError, UnwritableFileError
from ..writing import is_standard_output
from .interrupts import interrupted, raise_from_now_on

#: Error numbers of a closed pipe; Windows reports an invalid argument.
_CLOSED = (errno.EPIPE, errno.EINVAL) if sys.platform == "win32" else (errno.EPIPE,)
#: Exit codes: success, invalid input, internal error.
OK, BAD_INPUT, FAILURE = 0, 2, 1


class Listed(NamedTuple):
    """Module of a command, which has a function of its name, and its summary."""

    module: str
    summary: str


#: All commands in the order of ``graphgrain --help``; modules are imported on demand.
COMMANDS = {
    "demo": Listed("demo", "Start here: compare, classify and show the bundled drugs."),
    "datasets": Listed("info", "List the named data sets."),
    "info": Listed("info", "Show statistics of a data set: sizes, labels, classes, duplicates."),
    "kernel": Listed("kernel", "Compute a kernel matrix and write it to a file."),
    "features": Listed("features", "Write the features of any number of graphs to files."),
    "index": Listed("index", "Build an index of graphs on disk."),
    "search": Listed("index", "Find the graphs of an index that are most similar to a query."),
    "cluster": Listed("cluster", "Cluster similar graphs, or pick a diverse subset."),
    "pairs": Listed("pairs", "Find all pairs of similar graphs, cliffs or near-duplicates."),
    "fit": Listed("learn", "Train a model and write it to a file."),
    "predict": Listed("learn", "Predict molecules with a model, with prediction intervals."),
    "evaluate": Listed("evaluate", "Evaluate kernels by cross-validation."),
    "reproduce": Listed("reproduce", "Rerun the experiments of the Tree++ paper."),
    "explain": Listed("explain", "Explain predictions by patterns, atoms and bonds."),
    "explore": Listed("explain", "Write an interactive page of a data set."),
    "report": Listed("report", "Write a page or figures from the results of an evaluation."),
}


#: Base class of parser errors, from Typer or Click, depending on the version of Typer.
_UsageError: Any = typer.BadParameter.__mro__[1]


#: Console width for files and pipes, so that lines are not wrapped.
UNFOLDED = 10_000


@dataclass
class Options:
    """Global options and the use of standard output."""

    debug: bool = False
    output_taken: bool = False  # by a file (``-o -``): messages then go to standard error


options = Options()


# ---------------------------------------------------------------- console output
#
# Names in files are untrusted: an escape code could move the cursor, change the title of the
# window or hide a line. Control characters are therefore replaced, except those of the console
# itself.
#
# On Windows, files and pipes use an old encoding such as cp1252, and ``LC_ALL=C`` limits consoles
# to ASCII. Characters that cannot be encoded are replaced instead of raising an error.

#: ASCII replacements for tables and charts; one character each, to keep columns aligned.
_PLAIN = str.maketrans("█━╸╺·±²…", "#----~2.")
_HANDLER = "graphgrain.plain"
#: Control characters, and characters that change the text direction.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class SafeConsole(Console):
    """A console that replaces control characters in text.

    >>> SafeConsole().print("\\x1b[2J is shown")
    �[2J is shown
    """

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Render, replacing control characters other than the console's own."""
        for segment in super().render(renderable, options):
            if segment.control or not _CONTROL.search(segment.text):
                yield segment
            else:
                yield Segment(_CONTROL.sub("\ufffd", segment.text), segment.style)


def show_what_can_be_shown() -> None:
    """Replace characters that standard output or standard error cannot encode."""
    codecs.register_error(_HANDLER, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end].translate(_PLAIN)
    return wrong.encode("ascii", "backslashreplace").decode(), error.end


class _Answers(SafeConsole):
    """Standard output; closed pipes are handled in :func:`run`."""

    def on_broken_pipe(self) -> None:
        raise


def out() -> Console:
    """Return the console for answers: standard output, not wrapped in files and pipes."""
    if options.output_taken:
        return err()
    return _Answers(width=None if sys.stdout.isatty() else UNFOLDED, highlight=False)


def err() -> Console:
    """Return the console for messages: standard error."""
    return SafeConsole(stderr=True, highlight=False)


def answer(value: Any) -> None:
    """Print JSON to standard output."""
    print(json.dumps(value, indent=2, allow_nan=False))


class Interrupted(Exception):
    """Ctrl-C, with a message for the user."""


# ---------------------------------------------------------------- option groups


class OptionGroup:
    """Base class of dataclasses whose fields are options.

    A command that takes a parameter annotated with such a class has an option for each field,
    and is called with an instance.
    """


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """Replace option groups in the signature of a function by their options.

    >>> @dataclass
    ... class Size(OptionGroup):
    ...     width: int = 3
    ...     height: int = 4
    >>> def area(name: str, size: Size) -> None:
    ...     print(name, size.width * size.height)
    >>> list(inspect.signature(expanded(area)).parameters)
    ['name', 'width', 'height']
    >>> expanded(area)(name="area", width=2, height=5)
    area 10
    """
    groups: dict[str, tuple[type, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        kind, own = parameter.annotation, [parameter]
        if isinstance(kind, type) and issubclass(kind, OptionGroup):
            own = list(inspect.signature(kind, eval_str=True).parameters.values())
            groups[name] = kind, [option.name for option in own]
        # Keyword-only, because required parameters may then follow optional ones.
        parameters += [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in own]

    def call(**values: Any) -> None:
        for name, (kind, options) in groups.items():
            values[name] = kind(**{option: values.pop(option) for option in options})
        function(**values)

    for name in ("__doc__", "__name__", "__module__"):
        setattr(call, name, getattr(function, name))
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


# ---------------------------------------------------------------- commands


def command(examples: Sequence[str]) -> Callable[[Callable[..., None]], Any]:
    """Decorate a function as a command, with examples in its help and one-line errors.

    The function has the name of the command (with ``_`` for ``-``) and is listed in ``COMMANDS``.
    """

    def decorate(function: Callable[..., None]) -> Any:
        guarded: Any = expanded(_guarded(function))
        guarded.examples = tuple(examples)
        return guarded

    return decorate


def load_command(name: str) -> Any:
    """Import the module of a command and return the command with its arguments and help."""
    module = import_module(f".{COMMANDS[name].module}", __package__)
    function = getattr(module, name.replace("-", "_"))
    lines = "\n\n".join(f"[dim]$[/dim] {escape(example)}" for example in function.examples)
    # Unwrap the paragraphs of the docstring.
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    single = _application(add_completion=False)
    single.command(name, cls=_Command, help=text, epilog=f"[bold]Examples[/bold]\n\n{lines}")(
        function
    )
    return typer.main.get_command(single)


class _Command(TyperCommand):
    """A command with a hint for unexpected arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            if "unexpected extra argument" in str(error.message):
                error.message += (
                    ". An option takes one value; several are separated by commas, as in "
                    "--kernel tree++,wl, or the option is repeated."
                )
            raise


class _ListedCommand(TyperCommand):
    """Placeholder in the list that loads the command when it is called."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> Any:
        return load_command(str(self.name)).make_context(info_name, args, *rest, **more)


class _Commands(TyperGroup):
    """The program; commands are imported when they are called."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands: Any = {
            name: _ListedCommand(name, help=listed.summary) for name, listed in COMMANDS.items()
        }


def _application(**more: Any) -> typer.Typer:
    return typer.Typer(
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        **more,
    )


app = _application(
    name="graphgrain",
    cls=_Commands,
    no_args_is_help=True,
    help="Graph kernels: similarity, learning, search, explanation and evaluation.",
    epilog="Start with: graphgrain demo",
)


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"graphgrain {__version__}")
        raise typer.Exit


@app.callback()
def _before(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    options.debug = options.debug or debug


def run() -> None:
    """Run the program."""
    # Accept --debug anywhere, because users append it to a failed command.
    if "--debug" in sys.argv[1:]:
        sys.argv.remove("--debug")
        options.debug = True
    _replace_closed_streams()
    show_what_can_be_shown()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, so that errors such as a full disk are reported
    except OSError as error:
        sys.exit(_unwritable_output(error))


def _replace_closed_streams() -> None:
    """Redirect streams that were closed before the start (``>&-``) to the null device.

    Otherwise the next opened file would get their descriptor, and anything a library prints.
    """
    missing = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in missing:
        stream = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: SIM115
        setattr(sys, name, stream)
    if "stdout" in missing:
        err().print("[yellow]Note:[/yellow] Standard output is closed: no answer is shown.")


# ---------------------------------------------------------------- errors


def _guarded(function: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command to turn errors into a one-line message and an exit code."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> None:
        raise_from_now_on()
        with warnings.catch_warnings():
            warnings.simplefilter("always", GraphgrainWarning)
            warnings.showwarning = _show_warning
            try:
                _check_outputs(kwargs)
                with one_thread_per_job(kwargs.get("n_jobs")):
                    function(*args, **kwargs)
            except (KeyboardInterrupt, Interrupted) as interrupt:
                _end_workers()
                err().print(f"\n[yellow]Interrupted.[/yellow] {escape(str(interrupt))}")
                raise typer.Exit(interrupted()) from None
            except GraphgrainError as error:
                _fail(error, BAD_INPUT, function)
            except (typer.Exit, typer.Abort, typer.BadParameter):
                raise
            except Exception as error:
                if isinstance(error, OSError) and _is_of_output(error):
                    raise typer.Exit(_unwritable_output(error)) from None
                _fail(error, FAILURE, function)

    return guarded


def _end_workers() -> None:
    """End worker processes, if there are any."""
    name = f"{__package__.removesuffix('.cli')}.graphs.processes"
    if name in sys.modules:
        sys.modules[name].end_workers()


def _check_outputs(arguments: dict[str, Any]) -> None:
    """Check output paths before the work begins.

    The parent folder of an output must exist. A file written to ``-`` uses standard output
    exclusively.
    """
    for name in ("output", "results", "plot", "html"):
        place = arguments.get(name)
        if name == "results" and place is not None and is_standard_output(place):
            raise InvalidParameterError(
                f"--results is a file that is read and continued; got {str(place)!r}. Name a file."
            )
        if isinstance(place, Path) and not is_standard_output(place):
            folder = place.expanduser().parent
            if not folder.is_dir():
                raise UnwritableFileError(
                    f"There is no folder {str(folder)!r} to write {place.name} to. Create it, or "
                    "choose another place."
                )
    paths = [value for value in arguments.values() if isinstance(value, Path)]
    options.output_taken = any(map(is_standard_output, paths))
    if options.output_taken and arguments.get("as_json"):
        raise InvalidParameterError(
            "--json and a file written to - would both go to standard output. Choose one of them."
        )


@contextmanager
def one_thread_per_job(n_jobs: int | None) -> Iterator[None]:
    """Limit the threads of linear algebra libraries to ``n_jobs``; by default they use all."""
    if n_jobs is None or n_jobs < 1:
        yield
        return
    from ..core.threads import blas_threads  # slow to import

    with blas_threads(n_jobs):
        yield


def _is_of_output(error: OSError) -> bool:
    """Check if writing to standard output failed; such errors have no file name."""
    return error.errno in (*_CLOSED, errno.ENOSPC, errno.EIO) and error.filename is None


def _unwritable_output(error: OSError) -> int:
    """Report that standard output cannot be written, and prevent another attempt at exit."""
    with suppress(OSError, ValueError):  # in tests it is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno in _CLOSED:
        return OK  # the reader closed the pipe, as in `graphgrain ... | head`
    err().print(
        f"[red]Error:[/red] The answer cannot be written to standard output: "
        f"{escape(error.strerror or str(error))}."
    )
    return BAD_INPUT


def _fail(error: Exception, code: int, function: Callable[..., None]) -> None:
    if options.debug:
        raise error
    if code == BAD_INPUT:
        words = " ".join([str(error), *getattr(error, "__notes__", ())])
        words = in_options(words, option_names(function))
        err().print(f"[red]Error:[/red] {escape(words)}")
    else:
        err().print(
            f"[red]Unexpected error:[/red] {escape(f'{type(error).__name__}: {error}')}\n"
            "This is a bug in graphgrain. `graphgrain --debug "
            f"{escape(shlex.join(sys.argv[1:]))}` shows the traceback."
        )
    raise typer.Exit(code)


def option_names(function: Callable[..., None]) -> dict[str, str]:
    """Return the options of a command, by parameter name."""
    found = {}
    for name, parameter in inspect.signature(expanded(function)).parameters.items():
        for about in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(about, typer.models.OptionInfo):
                words = [about.default, *(about.param_decls or ())]  # the first is also a name
                long = [str(word) for word in words if str(word).startswith("--")]
                found[name] = long[0] if long else f"--{name.replace('_', '-')}"
    return found


def in_options(words: str, names: dict[str, str]) -> str:
    """Replace Python parameters in an error message by command line options.

    >>> in_options("Name it with smiles=... or go on with errors='skip'.",
    ...            {"smiles": "--smiles", "errors": "--errors"})
    'Name it with --smiles or go on with --errors skip.'
    >>> in_options("depth must be 1; got np.int64(0). Set it with A(depth=...) or "
    ...            "set_params(depth=...).", {"parameters": "--set"})
    'depth must be 1; got 0. Set it with --set depth=VALUE.'
    >>> in_options("Use SVC(kernel='precomputed').", {"kernel": "--kernel"})
    "Use SVC(kernel='precomputed')."
    """
    words = re.sub(r"\bnp\.\w+\(([^()]*)\)", r"\1", words)

    def as_option(found: re.Match[str]) -> str:
        if found[1] in names:
            return names[found[1]]
        return f"--set {found[1]}=VALUE" if "--set" in names.values() else found[0]

    words = re.sub(r"\w+\((\w+)=\.\.\.\) or set_params\(\1=\.\.\.\)", as_option, words)
    # If a message names both, keep only the option.
    words = re.sub(r"\b\w+=\S+ in Python, (--[^)]*?) on the command line", r"\1", words)
    for name, option in names.items():
        words = re.sub(rf"\b{name}='([^']*)' \({option} \1\)", rf"{option} \1", words)
        # Not an argument of a call, such as SVC(kernel='precomputed').
        words = re.sub(rf"(?<!\w\()\b{name}='([^']*)'", rf"{option} \1", words)
        words = re.sub(rf"\b{name}=\.\.\.", option, words)
        words = re.sub(rf"(^|[.;:] ){name}(?= must be)", rf"\1{option}", words)
    return words.replace("max_bytes=...", "max_bytes=... in Python")


def _show_warning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
    if issubclass(category, GraphgrainWarning):
        err().print(f"[yellow]Note:[/yellow] {escape(str(message))}")
