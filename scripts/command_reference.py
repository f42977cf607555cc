"""Generate docs/commands.md: all commands with options, examples, and the output of one example.

    python scripts/command_reference.py              # everything
    python scripts/command_reference.py search info  # rerun only these examples

The text is taken from the commands; each example is run in a separate folder. Values that vary
between runs (times, memory, versions) are replaced by dots.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.text import Text
from typer.testing import CliRunner

from graphgrain.cli import console
from graphgrain.cli.app import COMMANDS, app, load_command
from graphgrain.cli.options import Reading

PAGE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
MOLECULES = """name,smiles,solubility,soluble
ethanol,CCO,1.10,yes
propanol,CCCO,0.62,yes
butanol,CCCCO,0.00,yes
pentanol,CCCCCO,-0.60,no
hexanol,CCCCCCO,-1.24,no
heptanol,CCCCCCCO,-1.81,no
benzene,c1ccccc1,-1.64,no
toluene,Cc1ccccc1,-2.21,no
phenol,Oc1ccccc1,0.00,yes
aniline,Nc1ccccc1,-0.41,yes
"""
FITTED = "fit molecules.csv --target solubility -o model.ggm"
INDEX = "index drugs -o drugs.ggi"
#: For each command, the commands to run first and the example whose output is shown.
SHOWN: dict[str, tuple[tuple[str, ...], str]] = {
    "demo": ((), "demo --drug morphine"),
    "info": ((), "info molecules.csv --target soluble"),
    "compare": ((), "compare molecules.csv --by soluble"),
    "kernel": ((), "kernel drugs -o drugs.npz --set tree_depth=2"),
    "features": ((), "features molecules.csv -o features --n-features 4096 --quiet"),
    "index": ((), INDEX),
    "search": ((INDEX,), 'search drugs.ggi "CC(=O)Oc1ccccc1C(=O)O" -n 3'),
    "cluster": ((INDEX,), "cluster drugs.ggi --min-similarity 0.5"),
    "pairs": ((INDEX,), "pairs drugs.ggi --min-similarity 0.95"),
    "evaluate": ((), "evaluate drugs --kernel vertex-histogram,edge-histogram"),
    "fit": ((), "fit molecules.csv --target solubility -o model.ggm"),
    "predict": ((FITTED,), "predict model.ggm molecules.csv -o out.csv"),
    "explain": ((), "explain drugs --row 222"),
    "explore": ((), "explore drugs -o drugs.html"),
}
#: Options for reading DATA.
READING = [item.name for item in fields(Reading)]
#: Slow examples, whose output is not checked by the tests.
SLOW = ("demo", "explain", "explore", "fit", "predict")


@contextmanager
def _folder() -> Any:
    """Work in a temporary folder that contains molecules.csv."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        Path("molecules.csv").write_text(MOLECULES)
        try:
            yield
        finally:
            os.chdir(before)


def output_of(name: str) -> str:
    """Return the output of the example of a command."""
    before, example = SHOWN[name]
    with _folder():
        for line in before:
            _run(line)
        answer = masked(_run(example))
        if name == "predict":  # its output is a file
            answer = "$ head -4 out.csv\n" + "\n".join(Path("out.csv").read_text().splitlines()[:4])
        return answer


def _run(line: str) -> str:
    width, console.UNFOLDED = console.UNFOLDED, 96
    try:
        done = CliRunner().invoke(app, shlex.split(line), env={"COLUMNS": "96", "TERM": "dumb"})
    finally:
        console.UNFOLDED = width
    if done.exit_code:
        raise SystemExit(f"graphgrain {line} failed:\n{done.output}")
    return done.output


def masked(text: str) -> str:
    """Replace values that vary between runs.

    Examples
    --------
    >>> masked("drugs of 292 graphs in 0.25 s, 1.5 MB")
    'drugs of 292 graphs in ... s, ... MB'
    """
    text = re.sub(r"\b\d+(\.\d+)? (s|ms|MB|MiB|KiB|us)\b", r"... \2", text)
    lines = []
    for line in text.splitlines():
        if line.startswith("graphgrain: compiling"):
            continue
        # The last columns of a table of results are time and memory.
        lines.append(re.sub(r"(\s\d+\s+)\d+\.\d\d(\s+)\d+$", r"\1...\2...", line.rstrip()))
    return "\n".join(lines).strip("\n")


def usage(name: str) -> str:
    """Return the description, options and examples of a command."""
    command = load_command(name)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    line = " ".join([f"graphgrain {name}", *map(_argument, arguments), "[OPTIONS]"])
    reads = set(READING) <= {p.name for p in options}
    table = _table(arguments, [p for p in options if not reads or p.name not in READING])
    if reads:
        table += "\nand the options for [how DATA is read](#how-data-is-read).\n"
    examples = Text.from_markup(command.epilog).plain.removeprefix("Examples").replace("$ ", "")
    shell = "\n".join(filter(None, examples.split("\n")))
    return f"## {name}\n\n{command.help}\n\n```text\n{line}\n```\n\n{table}\n```sh\n{shell}\n```\n"


def reading() -> str:
    """Return the section on the options for reading DATA."""
    options = [p for p in load_command("info").params if p.name in READING]
    words = (
        "Options of all commands that take DATA. `--view` and `--missing` apply to all data, the "
        "others to files of molecules."
    )
    return f"## How DATA is read\n\n{words}\n\n{_table([], options)}"


def _table(arguments: list[Any], options: list[Any]) -> str:
    rows = [[f"`{_argument(p)}`", "", _words(p)] for p in arguments]
    rows += [[", ".join(f"`{word}`" for word in p.opts), _default(p), _words(p)] for p in options]
    return "| | default | |\n|---|---|---|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    name = name if parameter.required else f"[{name}]"
    return f"{name}..." if parameter.nargs == -1 else name


def _default(parameter: Any) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    return "" if parameter.default in (None, False, "") else f"`{parameter.default}`"


def _words(parameter: Any) -> str:
    return (parameter.help or "").replace("|", "\\|")


HEAD = """# Command-line reference

All commands with their options and examples, as shown by `graphgrain COMMAND --help`. Short options
have the same meaning in all commands: `-o` output, `-k` kernel, `-n` number of results, `-j` number
of threads or processes, `-q` no progress bar.

DATA is a file, a folder, a name of the TU collection or `drugs`. The folder of an output file must
exist; `-` is standard output. `--json` prints machine-readable output. Exit codes: 0 success, 2
invalid input (with a message that states the problem and a remedy), 1 internal error of graphgrain,
130 and 143 interrupted.

The examples use the bundled drugs and a file `molecules.csv`:

```text
{molecules}```
"""


def page(names: Sequence[str], before: str) -> str:
    """Return the page; outputs of commands not in ``names`` are taken from the previous page."""
    parts = [HEAD.replace("{molecules}", MOLECULES), reading()]
    for name in COMMANDS:
        parts.append(usage(name))
        if name not in SHOWN:
            continue
        known = re.search(rf"```text\n\$ graphgrain {name} .*?\n```\n", before, re.DOTALL)
        rerun = name in names or known is None
        parts.append(shown(name, output_of(name)) if rerun or known is None else known[0])
    return "\n".join(parts)


def shown(name: str, output: str) -> str:
    """Format an example with its output."""
    return f"```text\n$ graphgrain {SHOWN[name][1]}\n{output}\n```\n"


if __name__ == "__main__":
    there = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    PAGE.write_text(page(sys.argv[1:] or list(SHOWN), there), encoding="utf-8")
