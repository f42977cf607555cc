"""The file of records: what is stored once, read again, and survives a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.records import Records, identity, read_records

ROOT = Path(__file__).parents[2]


def record(number: int, **more) -> dict:
    about = {"kind": "kernel", "dataset": "MUTAG", "fingerprint": "f00d", "kernel": "WL"}
    return {**about, "settings": {"n_iter": number}, "n_jobs": 1, "seconds": 0.25, **more}


def test_a_record_is_stored_once_and_read_again(tmp_path):
    path = tmp_path / "folder" / "records.jsonl"
    file = Records(path)
    assert [file.append(record(n)) for n in (0, 1, 0)] == [True, True, False]
    assert not file.append(record(0, seconds=9.0))  # the same work, measured again
    assert identity(record(1)) in file
    assert identity(record(2)) not in file
    again = Records(path)
    assert [r["seconds"] for r in again.records] == [0.25, 0.25]
    assert again.append(record(2))
    assert len(read_records(path)) == 3


@pytest.mark.parametrize("cut", [1, 7, 60])
def test_an_incomplete_last_line_is_removed(cut, tmp_path):
    path = tmp_path / "records.jsonl"
    file = Records(path)
    file.append(record(0))
    first = path.read_bytes()
    file.append(record(1))
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.warns(UserWarning, match="ended within a record"):
        file = Records(path)
    assert path.read_bytes() == first
    assert file.append(record(1))
    assert [r["settings"]["n_iter"] for r in read_records(path)] == [0, 1]


def test_a_damaged_line_is_left_out_and_named(tmp_path):
    path = tmp_path / "records.jsonl"
    file = Records(path)
    for number in range(3):
        file.append(record(number))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1].replace('"kind"', '"kin') + lines[2])
    with pytest.warns(UserWarning, match="1 lines that are no records of experiments, .* line 2"):
        assert [r["settings"]["n_iter"] for r in read_records(path)] == [0, 2]


def test_a_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("buy milk\n")
    with pytest.raises(SystemExit, match="no file of records"):
        Records(path)
    assert path.read_text() == "buy milk\n"


WRITER = """
import sys
from pathlib import Path
from experiments.records import Records
file = Records(Path(sys.argv[1]))
for number in range(100_000):
    file.append({"kind": "kernel", "dataset": sys.argv[2], "fingerprint": "f", "kernel": "WL",
                 "settings": {"n": number}, "n_jobs": 1, "seconds": 0.5})
    print(number, flush=True)
"""


def test_two_writers_and_kill_9_lose_nothing_that_was_reported(tmp_path):
    path = tmp_path / "records.jsonl"
    Records(path)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, name], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for name in ("a", "b")
    ]
    for writer in writers:
        writer.stdout.readline()
    time.sleep(0.3)
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
    reported = [len(writer.stdout.read().splitlines()) + 1 for writer in writers]
    for writer in writers:
        writer.wait()
    stored = [
        json.loads(line) for line in path.read_text().splitlines(keepends=True) if line[-1] == "\n"
    ]
    for name, count in zip("ab", reported, strict=True):
        numbers = [r["settings"]["n"] for r in stored if r["dataset"] == name]
        # What was being printed when the signal came may be in the file, but not reported.
        assert numbers[: count - 1] == list(range(count - 1))
