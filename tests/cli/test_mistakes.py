"""Bad input, interruption and failures: one message, the right exit code."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli.app import app

from .running import call, fails, words


def test_an_option_takes_one_value_wherever_it_stands(toy):
    """The data may follow an option that takes a list."""
    arguments = ("evaluate", "--repeats", 1, "--folds", 2, "--kernel", "vertex-histogram", toy)
    assert json.loads(call(*arguments, "--json").stdout)["name"] == "TOY"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "MUTAGG"], "no file, folder or data set 'MUTAGG'. Did you mean MUTAG?"),
        (["evaluate", "drug"], "Did you mean drugs?"),
        (["evaluate", "no/such.zip"], "There is no file or folder 'no/such.zip'"),
        (["evaluate", "x.csv", "--target", "y"], "There is no file or folder 'x.csv'"),
        (["evaluate", "drugs", "--errors", "ignore"], "'ignore' is not one of 'raise', 'skip'"),
        (["evaluate", "drugs", "--labels", "charge"], "--labels is for files of molecules"),
        (["evaluate", "drugs", "--target", "x"], "--target is for files of molecules"),
        (["kernel", "drugs", "-o", "K.txt"], "written as .csv, .npy or .npz; got 'K.txt'"),
        (["kernel", "drugs", "-o", "no/K.npz"], "There is no folder 'no'"),
        (["demo", "--drug", "morphin"], "Did you mean morphine or"),
        (["info", "."], "'.' holds no data set in TU format"),
    ],
)
def test_bad_input_has_one_message_and_exit_code_2(arguments, message, here):
    assert message in fails(*arguments)
    assert not list(here.iterdir())  # nothing half-written


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1] * 20, "at least two classes"),
        ([0] * 19 + [1], "class 1 has 1"),
        (None, "needs targets to predict"),
    ],
)
def test_data_that_cannot_be_classified(y, message, here):
    graphs = gg.load_drugs()[0][:20]
    gg.save_tu(here / "D.zip", graphs, y)
    assert message in fails("evaluate", "D.zip")


@pytest.mark.parametrize(
    "command",
    [
        ("info",),
        ("kernel", "-o", "K.npz"),
        ("features", "-o", "features"),
        ("index", "-o", "D.ggi"),
        ("fit", "-o", "D.ggm"),
        ("explain", "--row", 1),
        ("explore",),
        ("compare",),
        ("pairs",),
    ],
    ids=lambda command: command[0],
)
def test_data_without_graphs(command, here):
    gg.save_tu(here / "D.zip", gg.load_drugs()[0][:0], [])
    name, *options = command
    assert "There is no graph in D.zip." in fails(name, "D.zip", *options)
    (here / "heads.csv").write_text("smiles,y\n")
    assert "heads.csv holds no molecule" in fails(name, "heads.csv", *options)
    assert sorted(path.name for path in here.iterdir()) == ["D.zip", "heads.csv"]


@pytest.mark.parametrize("command", [("explain", "--row", 1), ("explore",), ("evaluate",)])
def test_one_class_is_not_enough(command, here):
    graphs, y = gg.load_drugs()
    gg.save_tu(here / "D.zip", graphs[y == "opioids"], y[y == "opioids"])
    name, *options = command
    assert "at least two classes to tell apart; got ['opioids'] in" in fails(
        name, "D.zip", *options
    )


@pytest.mark.parametrize("command", [("evaluate",), ("explain", "--row", 1), ("explore",)])
def test_several_targets_are_for_fit_alone(command, here):
    """Some sets of the TU collection, such as QM9, have several values for each graph."""
    graphs = gg.load_drugs()[0][:20]
    gg.save_tu(here / "D.zip", graphs, np.random.default_rng(0).normal(size=(20, 3)))
    name, *options = command
    assert "takes one target for each graph; D has 3. `graphgrain fit`" in fails(
        name, "D.zip", *options
    )
    assert [path.name for path in here.iterdir()] == ["D.zip"]


@pytest.mark.parametrize(
    "command",
    [
        ("cluster", "drugs"),
        ("evaluate", "drugs"),
        ("explore", "drugs"),
        ("explain", "drugs", "--row", 1),
        ("fit", "drugs"),
        ("kernel", "drugs"),
        ("pairs", "drugs"),
        ("predict", "m.ggm", "m.csv"),
    ],
    ids=lambda command: command[0],
)
def test_a_folder_in_the_place_of_the_output_is_refused_before_the_work(command, here, monkeypatch):
    name = "out.html" if command[0] == "explain" else "out.csv"
    (here / name).mkdir()
    monkeypatch.setattr("graphgrain.graphs.datasets.fetch.load_drugs", lambda: 1 / 0)
    assert "it is a folder" in fails(*command, "-o", name)


def test_wrong_usage_is_exit_code_2():
    assert "No such command" in fails("evaluat")
    assert "requires an argument" in fails("evaluate", "drugs", "--kernel")
    assert "Missing argument" in fails("evaluate")


def test_a_mistake_of_the_program_says_so(monkeypatch):
    monkeypatch.setattr("graphgrain.graphs.datasets.fetch.tu_datasets", lambda: 1 / 0)
    message = words(call("info", code=1).stderr)
    assert "ZeroDivisionError" in message
    assert "graphgrain --debug" in message
    result = CliRunner().invoke(app, ["--debug", "info"])
    assert isinstance(result.exception, ZeroDivisionError)


def test_a_figure_that_cannot_be_written_says_so(here):
    (here / "d.png").mkdir()
    assert "it is a folder" in fails("info", "drugs", "--plot", "d.png")
    assert "must end in one of" in fails("info", "drugs", "--plot", "d.xyz")
