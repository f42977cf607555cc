"""Bad input, interruption and failures: one message, the right exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli.app import app
from graphgrain.evaluation.records import fold_records, read_results

from .running import SOURCE, call, fails, words


def test_an_option_takes_one_value_wherever_it_stands(toy):
    """The data may follow an option that takes a list."""
    arguments = ("evaluate", "--repeats", 1, "--folds", 2, "--kernel", "vertex-histogram", toy)
    [row] = json.loads(call(*arguments, "--json").stdout)
    assert row["dataset"] == "TOY"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "MUTAGG"], "no file, folder or data set 'MUTAGG'. Did you mean MUTAG?"),
        (["evaluate", "drug"], "Did you mean drugs?"),
        (["evaluate", "no/such.zip"], "There is no file or folder 'no/such.zip'"),
        (["evaluate", "x.csv", "--target", "y"], "There is no file or folder 'x.csv'"),
        (["evaluate", "drugs", "--errors", "ignore"], "'ignore' is not one of 'raise', 'skip'"),
        (["evaluate", "drugs", "--labels", "charge"], "--labels is for files of molecules"),
        (["evaluate", "drugs", "--kernel", "sp", "wl"], "wl is a kernel: options take one value"),
        (["reproduce", "table1", "-d", "KKI", "BZR"], "unexpected extra argument"),
        (["reproduce", "table"], "Did you mean table"),
        (["evaluate", "drugs", "--kernel", "treepp"], "no kernel 'treepp'. Did you mean tree++?"),
        (["evaluate", "drugs", "--mode", "naive"], "--mode is one of paper, nested"),
        (["evaluate", "drugs", "--kernel", "selftuned"], "Did you mean self-tuned?"),
        (["evaluate", "drugs", "-k", "auto", "--mode", "paper"], "use --mode nested, not paper"),
        (["evaluate", "drugs", "-k", "auto", "--set", "level=3"], "Did you mean max_level?"),
        (["evaluate", "drugs", "-k", "auto", "--set", "max_level=-1"], "max_level must be an int"),
        (["evaluate", "drugs", "--select", "lucky"], "--select is one of validated"),
        (["evaluate", "drugs", "--set", "tree_depth"], "tree_depth has no value"),
        (["evaluate", "drugs", "--set", "depth=3"], "Did you mean tree_depth or path_depth?"),
        (["evaluate", "drugs", "--set", "tree_depth=-1"], "tree_depth must be an integer of 0"),
        (["evaluate", "drugs", "--folds", "500"], "got 292 graphs for 500 folds"),
        (["evaluate", "drugs", "--target", "x"], "--target is for files of molecules"),
        (["evaluate", "drugs", "-r", "/proc/r.jsonl"], "'/proc/r.jsonl' cannot"),
        (["evaluate", "drugs", "-r", "-"], "--results is a file that is read and continued"),
        (["kernel", "drugs", "-o", "K.txt"], "written as .npz, .npy or .csv; got 'K.txt'"),
        (["kernel", "drugs", "-o", "no/K.npz"], "There is no folder 'no'"),
        (["reproduce", "table4"], "WHAT is one of table1, table2"),
        (["demo", "--drug", "morphin"], "Did you mean morphine or"),
        (["report", "nothing.jsonl"], "cannot be read: No such file"),
    ],
)
def test_bad_input_has_one_message_and_exit_code_2(arguments, message, here):
    if arguments[-1].startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("needs a folder that nobody can write to")
    assert message in fails(*arguments)
    assert not list(here.glob("*.jsonl"))  # nothing half-written


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1] * 20, "at least two classes"),
        ([0] * 19 + [1], "class 1 has 1"),
        (None, "must be classes to learn"),
    ],
)
def test_data_that_cannot_be_classified(y, message, here):
    graphs = gg.load_drugs()[0][:20]
    gg.save_tu(here / "D.zip", graphs, y)
    assert message in fails("evaluate", "D.zip")


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


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(here):
    command = [sys.executable, "-m", "graphgrain", "evaluate", "drugs", "--repeats", "3"]
    command += ["--kernel", "tree++", "--results", "r.jsonl"]
    settings = {"env": {**os.environ, "PYTHONPATH": SOURCE}, "cwd": here, "text": True}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, **settings)
    deadline = time.monotonic() + 120
    results = here / "r.jsonl"
    while time.monotonic() < deadline:
        if results.exists() and b'"kind": "fold"' in results.read_bytes():
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "Run the same command again" in words(errors)
    finished = len(fold_records(read_results(results)))
    assert 1 <= finished < 30
    content = results.read_bytes()
    call("evaluate", "drugs", "--repeats", 1, "--kernel", "tree++", "--results", "r.jsonl")
    assert results.read_bytes().startswith(content)


def test_a_figure_that_cannot_be_written_says_so(here):
    (here / "d.png").mkdir()
    assert "it is a folder" in fails("info", "drugs", "--plot", "d.png")
    assert "must end in one of" in fails("info", "drugs", "--plot", "d.xyz")
