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
