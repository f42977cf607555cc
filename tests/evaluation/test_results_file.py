"""A results file survives kills, two writers, full disks and strangers."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from graphgrain.evaluation.records import (
    FoldRecord,
    KernelRecord,
    Level,
    ResultsFile,
    fold_records,
    from_line,
    key_of,
    read_results,
    to_line,
)

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidFileError, UnwritableFileError
from tests.evaluation.shared_work import SlowFile, evaluate
from tests.evaluation.test_damaged_results import sealed

PATHS = [str(Path(gg.__file__).parents[1]), str(Path(__file__).parents[2])]


def kernel_record(number: int = 0, **change) -> KernelRecord:
    values = {
        "dataset": f"set {number}",
        "fingerprint": "f00d",
        "deduplicated": False,
        "kernel": "tree++",
        "variant": "",
        "settings": {"path_depth": 6},
        "level_names": [{"tree_depth": 0}],
        "graphs": 10,
        "n_jobs": 1,
        "seconds": 1.5,
        "memory": None,
    }
    return KernelRecord(**{**values, **change})


def fold_record() -> FoldRecord:
    level = Level(validation=[0.5, 0.75], C=10.0, predictions=[0, 1], scores=[-0.5, 0.25])
    return FoldRecord(
        dataset='a "quoted" naïve\nname',
        fingerprint="f00d",
        deduplicated=True,
        classes=["no", "yes"],
        kernel="wl",
        variant="",
        settings={},
        grid_size=1,
        level_names=[{"n_iter": 0}],
        mode="paper",
        folds=10,
        inner_folds=1,
        C=[1.0, 10.0],
        seed=0,
        repetition=3,
        fold=9,
        test=[4, 7],
        truth=[0, 0],
        levels=[level],
        fits=3,
        seconds=0.1,
    )


@pytest.mark.parametrize("record", [kernel_record(), fold_record()], ids=["kernel", "fold"])
def test_a_line_holds_a_record(record):
    line = to_line(record)
    assert line.count("\n") == 1
    assert from_line(line) == record
    content = json.loads(line)
    assert list(content)[:2] == ["graphgrain", "kind"]
    assert set(content["versions"]) >= {"graphgrain", "python", "numpy", "scikit-learn"}


def test_fields_of_later_versions_are_passed_over():
    content = {**json.loads(to_line(fold_record())), "mood": "good"}
    assert key_of(from_line(sealed(content))) == key_of(fold_record())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "not a record of graphgrain"),
        ('{"graphgrain": 3, "kind": "fold"}', "has format 3, this version of graphgrain reads 2"),
        ('{"graphgrain": 2, "kind": "fold"}', "it has no checksum"),
        ('{"graphgrain": 1, "kind": "poem"}', "kind must be one of"),
        ('{"graphgrain": 1, "kind": "fold"}', "lacks something"),
        ('{"graphgrain": 1, "kind": "kernel", "dataset": "x"}', "lacks something"),
    ],
)
def test_lines_that_hold_none(line, message):
    with pytest.raises(InvalidFileError, match=message):
        from_line(line)


def test_a_record_is_kept_once(tmp_path):
    path = tmp_path / "new" / "folder" / "r.jsonl"
    with ResultsFile(path) as results:
        assert results.append(kernel_record(1))
        assert not results.append(dataclasses.replace(kernel_record(1), seconds=99.0))
        assert results.append(kernel_record(2))
        assert key_of(kernel_record(1)) in results
    assert [r.dataset for r in read_results(path)] == ["set 1", "set 2"]
    with ResultsFile(path) as results:
        assert len(results.records) == 2


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_damaged_last_line_is_cut_off_with_a_message(cut, tmp_path):
    path = tmp_path / "r.jsonl"
    whole = to_line(kernel_record(1)) + to_line(kernel_record(2))
    line = to_line(kernel_record(3))
    path.write_text(whole + line[: len(line) * cut // 40])
    assert len(read_results(path)) == 2  # reading changes nothing
    with pytest.warns(GraphgrainWarning, match="ended in the middle of a record"):
        results = ResultsFile(path)
    with results:
        assert len(results.records) == 2
        assert path.read_text() == whole
        results.append(kernel_record(3))
    assert len(read_results(path)) == 3


@pytest.mark.parametrize("tail", [b"\0" * 300, b"\0" * 300 + b"\n", b'{"graphgrain": 1, \r\xff\n'])
def test_garbage_at_the_end_is_cut_off(tail, tmp_path):
    path = tmp_path / "r.jsonl"
    whole = to_line(kernel_record(1)).encode()
    path.write_bytes(whole + tail)
    with pytest.warns(GraphgrainWarning, match=f"the {len(tail)} bytes"):
        ResultsFile(path).close()
    assert path.read_bytes() == whole


def test_damage_in_the_middle_is_passed_over_and_kept(tmp_path):
    path = tmp_path / "r.jsonl"
    content = to_line(kernel_record(1)) + "garb\rage\n" + to_line(kernel_record(2))
    path.write_text(content)
    with pytest.warns(GraphgrainWarning, match="line 2: it is not JSON"):
        assert len(read_results(path)) == 2
    with pytest.warns(GraphgrainWarning, match="line 2"):
        ResultsFile(path).close()
    assert path.read_bytes().decode() == content


def test_records_of_another_format_are_never_cut_off(tmp_path):
    path = tmp_path / "r.jsonl"
    content = to_line(kernel_record(1)) + '{"graphgrain": 3, "kind": "fold"}\n'
    path.write_text(content)
    with pytest.warns(GraphgrainWarning, match="format 3"):
        ResultsFile(path).close()
    assert path.read_text() == content


def test_the_very_first_line_may_be_the_damaged_one(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(to_line(kernel_record(1))[:30])
    with pytest.warns(GraphgrainWarning, match="ended in the middle"):
        results = ResultsFile(path)
    with results:
        assert results.append(kernel_record(1))
    assert len(read_results(path)) == 1


@pytest.mark.parametrize("content", ["<html>", "a,b\n1,2\n", '{"other": 1}\n', "\n"])
def test_a_file_of_somebody_else_is_left_alone(content, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(InvalidFileError, match="is not a results file of graphgrain"):
        ResultsFile(path)
    with pytest.raises(InvalidFileError, match="is not a results file of graphgrain"):
        read_results(path)
    assert path.read_text() == content


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(UnwritableFileError, match="Choose another one"):
        ResultsFile(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableFileError, match="Choose another one"):
        ResultsFile(tmp_path / "file" / "r.jsonl")
    with pytest.raises(InvalidFileError, match="cannot be read: No such file"):
        read_results(tmp_path / "nothing.jsonl")


def test_a_full_disk_leaves_no_half_record(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    write = os.write

    def full(file, content):
        if len(content) > 50:
            return write(file, content[:50])
        raise OSError(errno.ENOSPC, "No space left on device")

    with ResultsFile(path) as results:
        results.append(kernel_record(1))
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(UnwritableFileError, match=r"No space left.*run the same command again"):
            results.append(kernel_record(2))
        monkeypatch.undo()
        assert path.read_text() == to_line(results.records[0])
        assert results.append(kernel_record(2))
    assert len(read_results(path)) == 2


def python(code: str, *arguments: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


WRITER = """
    import sys
    from graphgrain.evaluation.records import KernelRecord
    from graphgrain.evaluation.records import ResultsFile
    with ResultsFile(sys.argv[1]) as results:
        for number in range(int(sys.argv[2]), int(sys.argv[3])):
            results.append(KernelRecord(dataset=f"set {number}", fingerprint="x" * 5000,
                deduplicated=False, kernel="k", variant="", settings={}, level_names=[{}],
                graphs=1, n_jobs=1, seconds=1.0, memory=None))
"""


def test_two_processes_share_a_file(tmp_path):
    path = tmp_path / "r.jsonl"
    writers = [python(WRITER, path, 0, 150), python(WRITER, path, 50, 200)]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors
    lines = path.read_text().splitlines()
    assert sorted(int(json.loads(line)["dataset"][4:]) for line in lines) == list(range(200))


def test_threads_share_a_file(tmp_path):
    with ResultsFile(tmp_path / "r.jsonl") as results:
        threads = [
            threading.Thread(target=lambda: [results.append(kernel_record(n)) for n in range(40)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 40


#: Takes the path of a results file.
EVALUATION = (
    "from runpy import run_module; run_module('tests.evaluation.shared_work', {}, '__main__')"
)


def outcome(path) -> list:
    """All that must not change: everything but times."""
    return sorted(
        (r.repetition, r.fold, r.test, r.truth, repr(r.levels), r.fits)
        for r in fold_records(read_results(path))
    )


@pytest.mark.skipif(os.name == "nt", reason="needs kill -9")
def test_kill_9_loses_at_most_the_folds_in_progress(tmp_path):
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    process = python(EVALUATION, broken)
    assert evaluate(whole) == 20
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if broken.exists() and broken.read_bytes().count(b'"kind": "fold"') >= 5:
            break
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    total = len(fold_records(read_results(broken)))
    assert 5 <= total < 20
    # Power cut in the middle of a write: the worst that a kill could leave.
    with broken.open("ab") as file:
        file.write(whole.read_bytes().splitlines(keepends=True)[-1][:-20])

    with pytest.warns(GraphgrainWarning, match="ended in the middle of a record"):
        assert evaluate(broken) == 20 - total
    assert outcome(broken) == outcome(whole)


def test_two_evaluations_on_one_file_share_the_work(tmp_path):
    path = tmp_path / "r.jsonl"
    process = python(EVALUATION, path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    ours = evaluate(path, SlowFile)
    theirs, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert ours + int(theirs) == 20
    assert len(outcome(path)) == 20
    assert len(path.read_text().splitlines()) == 21
