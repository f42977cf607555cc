"""A short run of scripts/fuzz_readers.py; ``make fuzz`` runs it for longer."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="limits need Unix")
pytest.importorskip("rdkit", reason="RDKit is not installed")

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fuzz_readers.py"
spec = importlib.util.spec_from_file_location("fuzz_readers", SCRIPT)
fuzz_readers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fuzz_readers)


@pytest.mark.parametrize("reader", fuzz_readers.READERS)
def test_only_our_own_errors_come_out(reader):
    assert list(fuzz_readers.fuzz([reader], seconds=60, cases=150)) == []


def test_other_errors_are_caught(monkeypatch):
    def broken(rng):
        return "x", b"", lambda path: 1 / 0

    monkeypatch.setitem(fuzz_readers.READERS, "broken", broken)
    (report,) = fuzz_readers.fuzz(["broken"], seconds=60, first=5, cases=1)
    assert report.startswith("broken, seed 5:")
    assert "ZeroDivisionError" in report


def test_files_left_behind_and_endless_loops_are_caught(monkeypatch):
    def writing(rng):
        return "x", b"", lambda path: (path.parent / "y").write_text("")

    def endless(rng):
        def load(path):
            while True:
                pass

        return "x", b"", load

    monkeypatch.setitem(fuzz_readers.READERS, "writing", writing)
    monkeypatch.setitem(fuzz_readers.READERS, "endless", endless)
    monkeypatch.setattr(fuzz_readers, "PATIENCE", 1)
    (report,) = fuzz_readers.fuzz(["writing"], seconds=60, cases=1)
    assert "left files behind" in report
    (report,) = fuzz_readers.fuzz(["endless"], seconds=60, cases=1)
    assert "TimeoutError" in report
