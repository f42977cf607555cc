"""Results damaged in their middle cost the damaged records alone."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from graphgrain.errors import GraphgrainWarning
from graphgrain.evaluation.accuracy_curves import accuracy_against
from graphgrain.evaluation.diagnostics import diagnose
from graphgrain.evaluation.kernel_comparison import comparisons, runtimes
from graphgrain.evaluation.records import to_line
from graphgrain.evaluation.results_file import read_results
from graphgrain.evaluation.summary import experiments, summarise
from tests.report.made_up import FOLDS, made_up_fold, made_up_kernel, small_set

#: What a damaged character may become.
LETTERS = list(b'0123456789[]{},":- xe.\n\x00\xff')


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Results of two kernels on one data set, two repetitions each."""
    data = small_set("rings", 15)
    folds = [
        made_up_fold(data, kernel, skill, repetition, fold)
        for kernel, skill in (("tree++", [0.7, 0.8]), ("wl", [0.6]))
        for repetition in range(2)
        for fold in range(FOLDS)
    ]
    costs = [made_up_kernel(data, kernel, 0.5) for kernel in ("tree++", "wl")]
    return [to_line(record) for record in (*costs, *folds)]


@pytest.mark.parametrize("seed", range(4))
def test_characters_changed_at_random_never_crash_anything(seed, lines, tmp_path):
    sound = "".join(lines).encode()
    path = tmp_path / "r.jsonl"
    rng = np.random.default_rng(seed)
    left_out = 0
    for _ in range(60):
        damaged = bytearray(sound)
        # Not the beginning of the file, which says what it is.
        for place in rng.integers(20, len(damaged) - 1, int(rng.integers(1, 6))):
            damaged[place] = rng.choice(LETTERS)
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphgrainWarning)
            records = read_results(path)
        left_out += len(lines) - len(records)
        for select in ("validated", "reported-best"):
            summarise(records, select)
        for comparison in comparisons(records):
            assert all(0 <= cell.mean <= 100 for cell in comparison.cells)
        runtimes(records)
        accuracy_against("tree_depth", records)
        for experiment in experiments(records):
            if experiment.repetitions:
                diagnose(experiment)
    assert 0 < left_out < 60 * 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": []}, "0 levels for"),
        ({"truth": [0]}, "test and truth"),
        ({"classes": ["only"]}, "test and truth"),
        ({"fold": 99}, "no such fold"),
        ({"C": []}, "C must be"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"settings": 3}, "settings is '3'"),
        ({"seconds": True}, "seconds is 'True'"),
        ({"level_names": []}, "level_names"),
        ({"kind": ["fold"]}, "its kind must be"),
    ],
)
def test_a_record_that_contradicts_itself_is_left_out(change, message, lines, tmp_path):
    path = tmp_path / "r.jsonl"
    changed = json.dumps({**json.loads(lines[5]), **change}) + "\n"
    path.write_text("".join([*lines[:5], changed, *lines[6:]]))
    with pytest.warns(GraphgrainWarning, match=message):
        records = read_results(path)
    assert len(records) == len(lines) - 1
