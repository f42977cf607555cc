"""The paper's figures are the paper's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments import paper as published

PAPER = Path(__file__).parents[3] / "shared" / "paper" / "tree-plus-plus.tex"


def test_known_entries():
    assert published.TABLE2["BZR"]["Tree++"] == (87.88, 1.00)
    assert published.TABLE2["PROTEINS"]["SP"] == (76.00, 0.29)
    assert published.TABLE2["KKI"]["FGSD"] == (49.25, 4.76)
    assert published.TABLE3["NCI1"]["MLG"] == 3315.42
    assert published.TABLE1["NCI1"].labels == 37


def test_tables_are_complete():
    for table in (published.TABLE2, published.TABLE3):
        assert tuple(table) == published.DATASETS
        assert all(tuple(row) == tuple(published.KERNELS.values()) for row in table.values())


def test_every_entry_stands_in_the_paper():
    if not PAPER.exists():
        pytest.skip("needs the paper's source in ../shared/paper")
    rows = re.findall(r"^\s*([\w\\]+)\s*&(.*)\\\\", PAPER.read_text(), flags=re.M)
    found: dict[tuple[str, int], list[float]] = {}
    for name, cells in rows:
        numbers = [float(n) for n in re.findall(r"\d+\.?\d*", cells)]
        found[name.replace("\\", ""), len(numbers)] = numbers
    for dataset in published.DATASETS:
        assert list(published.TABLE1[dataset]) == found[dataset, 5]
        pairs = [n for entry in published.TABLE2[dataset].values() for n in entry]
        assert pairs == found[dataset, 18]
        assert list(published.TABLE3[dataset].values()) == found[dataset, 9]
