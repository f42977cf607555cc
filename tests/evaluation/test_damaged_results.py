"""Results damaged in their middle cost the damaged records alone."""

from __future__ import annotations

import binascii
import json
import warnings

import numpy as np
import pytest
from graphgrain.evaluation.kernel_comparison import comparisons, runtimes
from graphgrain.evaluation.records import from_line, key_of, read_results, to_line
from graphgrain.evaluation.summary import accuracy_against, diagnose, experiments, summarise

from graphgrain.errors import GraphgrainWarning, InvalidFileError
from tests.report.made_up import FOLDS, made_up_fold, made_up_kernel, small_set

#: Random damages of each seed; that no single byte passes is tested one by one.
TRIALS = 20
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


def sealed(values: dict) -> str:
    """A line as the documentation of the format has it, its checksum by another library's CRC."""
    values = {name: value for name, value in values.items() if name != "checksum"}
    text = json.dumps(values)[:-1]
    return f'{text}, "checksum": "{binascii.crc32(text.encode()):08x}"}}\n'


def test_no_changed_byte_passes(lines):
    """Whatever single character changes, and into what: the line is refused."""
    rng = np.random.default_rng(0)
    line = lines[3].rstrip("\n").encode()
    assert from_line(line.decode()) == from_line(sealed(json.loads(line)))
    still_json = 0
    for place in range(len(line)):
        for letter in rng.choice(LETTERS, 4):
            damaged = line[:place] + bytes([letter]) + line[place + 1 :]
            if damaged == line or letter in b"\n\xff":
                continue
            still_json += _is_json(damaged)
            with pytest.raises(InvalidFileError):
                from_line(damaged.decode())
    assert still_json > 100  # the damage that only a checksum finds


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_a_changed_digit_does_not_reach_the_report(lines, tmp_path):
    path = tmp_path / "r.jsonl"
    changed = lines[4].replace('"predictions": [0', '"predictions": [1', 1)
    changed = (
        lines[4].replace('"predictions": [1', '"predictions": [0', 1)
        if (changed == lines[4])
        else changed
    )
    assert changed != lines[4]
    path.write_text("".join([*lines[:4], changed, *lines[5:]]))
    with pytest.warns(GraphgrainWarning, match="line 5: it was changed after it was written"):
        assert len(read_results(path)) == len(lines) - 1


def test_files_of_the_first_format_are_still_read(lines, tmp_path):
    """They have no checksums."""
    path = tmp_path / "r.jsonl"
    plain = []
    for line in lines:
        values = json.loads(line)
        del values["checksum"]
        values.pop("split", None)
        plain.append(json.dumps({**values, "graphgrain": 1}) + "\n")
    path.write_text("".join(plain))
    assert [key_of(r) for r in read_results(path)] == [key_of(from_line(line)) for line in lines]


@pytest.mark.parametrize("seed", range(4))
def test_characters_changed_at_random_never_crash_anything(seed, lines, tmp_path):
    sound = "".join(lines).encode()
    path = tmp_path / "r.jsonl"
    rng = np.random.default_rng(seed)
    left_out = 0
    for _ in range(TRIALS):
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
    assert 0 < left_out < TRIALS * 6


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
    changed = sealed({**json.loads(lines[5]), **change})
    path.write_text("".join([*lines[:5], changed, *lines[6:]]))
    with pytest.warns(GraphgrainWarning, match=message):
        records = read_results(path)
    assert len(records) == len(lines) - 1
