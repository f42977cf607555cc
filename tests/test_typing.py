"""What type checkers see: the code of the README, and functions whose result depends on a flag."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import graphgrain as gg

pytest.importorskip("mypy", reason="mypy is not installed")

SOURCE = Path(gg.__file__).parents[1]
README = SOURCE.parent / "README.md"

REVEALED = """
import graphgrain as gg
reveal_type(gg.load_drugs())
reveal_type(gg.load_drugs(names=True))
reveal_type(gg.from_smiles(["CCO"], stereo=True))
reveal_type(gg.from_smiles(["CCO"], return_index=True))
reveal_type(gg.as_graphs(["CCO"]))
gg.from_smiles(["CCO"], sterio=True)
gg.TreePlusPlus(2, 1, similarity="dot", edge_labels=True)
gg.TreePlusPlus(2, 1, "dot")
gg.WLOptimalAssignment(counts="raw")
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, list[str]]:
    """What mypy says about each file, line by line; one run for both."""
    folder = tmp_path_factory.mktemp("typing")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    lines = [
        line[4:] for block in blocks for line in block.splitlines() if line[:3] in (">>>", "...")
    ]
    (folder / "readme.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "revealed.py").write_text(REVEALED)
    options = ["--strict", "--ignore-missing-imports", "--follow-imports=silent"]
    # What mypy knows of the libraries is kept for the next run, beside what `make lint` keeps.
    options += ["--cache-dir", str(README.parent / ".mypy_cache" / "readme")]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "readme.py", "revealed.py"],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    output = result.stdout.splitlines()
    assert output, result.stderr
    names = ("readme", "reveal")
    return {name: [line for line in output if line.startswith(name)] for name in names}


def test_the_code_of_the_readme_passes(found):
    assert found["readme"] == []


def test_results_that_depend_on_a_flag_are_known(found):
    revealed = [line.split('"')[1] for line in found["reveal"] if "Revealed type" in line]
    array = r"numpy\.ndarray\[.*?\]\]"
    batch = r"graphgrain\.graphs\.batch\.GraphBatch"
    wanted = [
        rf"tuple\[{batch}, {array}\]",
        rf"tuple\[{batch}, {array}, {array}\]",
        batch,
        rf"tuple\[{batch}, {array}\]",
        batch,
    ]
    for text, pattern in zip(revealed, wanted, strict=True):
        assert re.fullmatch(pattern, text), text


def test_a_keyword_that_does_not_exist_is_found(found):
    assert any('"sterio"' in line and "error" in line for line in found["reveal"])


def test_the_parameters_of_kernels_are_known(found):
    errors = [line.split("error: ")[1] for line in found["reveal"] if "error: " in line]
    too_many, unexpected = errors[-2:]
    assert too_many.startswith('Too many positional arguments for "TreePlusPlus"')
    assert unexpected.startswith('Unexpected keyword argument "counts" for "WLOptimalAssignment"')
