"""The site names everything that is public, and its examples are in the gallery's form."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import graphgrain as gg

ROOT = Path(gg.__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not (ROOT / "docs" / "conf.py").exists(), reason="the site is not part of an installed package"
)


def test_the_reference_lists_every_public_name():
    text = (ROOT / "docs" / "reference" / "index.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^   (\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(gg.__all__)


def test_a_kernel_of_ones_own_needs_graphgrain_alone():
    path = ROOT / "examples" / "plot_11_own_kernel.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    assert "graphgrain" in names
    assert not [name for name in modules | names if str(name).startswith("graphgrain.")]


def test_every_example_has_a_title_and_a_picture():
    examples = sorted((ROOT / "examples").glob("*.py"))
    assert len(examples) >= 12
    for path in examples:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        title, line = (ast.get_docstring(tree) or "").splitlines()[:2]
        assert line == "=" * len(title), path.name
        assert path.name.startswith("plot_"), f"{path.name} would not be run"
        assert "plt.show()" in path.read_text(encoding="utf-8"), f"{path.name} draws nothing"


def test_examples_use_no_data_of_others():
    for path in (ROOT / "examples").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"fetch_tu|load_tu|load_mat", text), path.name
