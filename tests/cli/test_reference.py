"""The page about the command line is what the commands say, and a letter means one thing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from graphgrain.cli.app import COMMANDS, load_command

from .running import fails

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "command_reference.py"
spec = importlib.util.spec_from_file_location("command_reference", SCRIPT)
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)


@pytest.fixture(scope="module")
def page() -> str:
    return reference.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_every_command_as_it_is(name, page):
    assert reference.usage(name) in page, "run python scripts/command_reference.py"
    for parameter in load_command(name).params:
        if parameter.name != "help":
            assert parameter.help, f"{name} {parameter.name} has no help"


def test_the_page_has_how_data_is_read(page):
    assert reference.reading() in page, "run python scripts/command_reference.py"
    assert reference.MOLECULES in page


@pytest.mark.parametrize("name", [n for n in reference.SHOWN if n not in reference.SLOW])
def test_the_page_has_what_the_example_prints(name, page):
    pytest.importorskip("rdkit")
    assert reference.shown(name, reference.output_of(name)) in page


def test_a_letter_means_one_thing_and_an_option_has_its_letter_everywhere():
    meanings: dict[str, set[str]] = {}
    letters: dict[str, set[str]] = {}
    for name in COMMANDS:
        for parameter in load_command(name).params:
            if parameter.param_type_name != "option":
                continue
            short = [word for word in parameter.opts if len(word) == 2]
            long = [word for word in parameter.opts if len(word) > 2]
            assert long, f"{name} {parameter.opts} has no long form"
            letters.setdefault(long[0], set()).add("".join(short))
            for word in short:
                meanings.setdefault(word, set()).add(long[0])
    assert {letter: found for letter, found in meanings.items() if len(found) > 1} == {}
    assert {option: found for option, found in letters.items() if len(found) > 1} == {}
    assert meanings["-k"] == {"--kernel"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "-o", "no/demo"],
        ["info", "drugs", "--plot", "no/d.png"],
        ["kernel", "drugs", "-o", "no/K.npz"],
        ["features", "drugs", "-o", "no/features"],
        ["index", "drugs", "-o", "no/d.ggi"],
        ["cluster", "drugs", "-o", "no/c.csv"],
        ["pairs", "drugs", "drugs", "-o", "no/o.csv"],
        ["search", "d.ggi", "CCO", "--html", "no/s.html"],
        ["evaluate", "drugs", "--csv", "no/r.csv"],
        ["explain", "drugs", "--row", "1", "-o", "no/why.svg"],
        ["explore", "drugs", "-o", "no/e.html"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_folder_that_is_not_there_is_refused_before_the_work(arguments, here):
    assert "There is no folder 'no' to write" in fails(*arguments)
    assert not list(here.iterdir())
