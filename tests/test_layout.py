"""The layout: which package imports which, light imports, documentation that runs."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import graphgrain as gg

SOURCE = Path(gg.__file__).parent
ROOT = SOURCE.parents[1]
PACKAGES = [
    "errors",
    "locking",
    "writing",
    "templating",
    "parameters",
    "core",
    "graphs",
    "views",
    "kernels",
    "learning",
    "explaining",
    "searching",
    "scaling",
    "sets",
    "evaluation",
    "pages",
    "cli",
]
OPTIONAL = {
    "dask",
    "distributed",
    "gensim",
    "igraph",
    "matplotlib",
    "networkx",
    "pandas",
    "polars",
    "pyarrow",
    "rdkit",
    "torch",
    "torch_geometric",
}
#: These belong to no package.
ENTRIES = {SOURCE / "__init__.py", SOURCE / "__main__.py"}
#: The package of every public name.
PUBLIC = {
    name: module.split(".")[0]
    for module, name in re.findall(
        r"^from \.([\w.]+) import (\w+)", (SOURCE / "__init__.pyi").read_text(), re.MULTILINE
    )
}
FILES = sorted(set(SOURCE.rglob("*.py")) - ENTRIES)


def package(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(node: ast.AST, path: Path) -> list[str]:
    """Full module names that an import statement asks for."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        package = list(path.relative_to(SOURCE.parent).parts[:-1])
        base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
        full = ".".join(part for part in (base, node.module or "") if part)
        if full == "graphgrain":
            return [f"graphgrain.{alias.name}" for alias in node.names]
        return [full]
    return []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_package_imports_only_from_packages_above(path):
    here = package(path)
    assert here in PACKAGES
    for node in ast.walk(ast.parse(path.read_text())):
        for name in imported(node, path):
            if not name.startswith("graphgrain."):
                continue
            there = name.split(".")[1]
            if there == "__version__":
                continue
            there = PUBLIC.get(there, there)  # through the public names
            assert there in PACKAGES, f"{name} is no package"
            assert PACKAGES.index(there) <= PACKAGES.index(here), f"{here} must not import {name}"
            if here == "core":
                assert there in ("core", "errors", "locking")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_optional_packages_are_imported_where_they_are_needed_only(path):
    allowed_in_core = {"numpy", "numba"} | sys.stdlib_module_names
    for node in ast.parse(path.read_text()).body:
        for name in imported(node, path):
            top = name.split(".")[0]
            assert top not in OPTIONAL, f"{top} belongs inside the function that needs it"
            if package(path) == "core":
                assert top in allowed_in_core | {"graphgrain"}


def test_import_is_light():
    """With optional packages out of reach, everything public can still be imported and used."""
    script = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] in {sorted(OPTIONAL)!r}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import graphgrain as gg\n"
        "K = gg.TreePlusPlus(2, 1).fit_transform([([(0, 1)], ['C', 'O']), ([], ['C'])])\n"
        "assert K.shape == (2, 2)\n"
        "assert 'typer' not in sys.modules and 'pooch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_public_names():
    text = (SOURCE / "__init__.pyi").read_text()
    names = re.findall(r"^from \.[\w.]+ import (\w+) as (\w+)$", text, re.MULTILINE)
    assert len(names) == len(re.findall(r"^from", text, re.MULTILINE))  # each on a line of its own
    assert [name for name, _ in names] == [shown for _, shown in names]
    assert len(names) == len(dict(names)), "a name stands in the list twice"
    assert set(dict(names)) == set(gg.__all__)
    for name in gg.__all__:
        text = getattr(gg, name).__doc__ or ""
        assert "Examples\n" in text, f"{name} has no examples"
        assert ">>> " in text, f"{name} has no example that runs"


def test_names_that_are_gone_say_what_to_use_instead():
    with pytest.raises(AttributeError, match=r"no 'save_gram'.*GraphIndex"):
        gg.save_gram  # noqa: B018
    assert not hasattr(gg, "FeatureShards")
    assert not set(gg._INSTEAD) & set(gg.__all__)
    for name, text in gg._INSTEAD.items():
        for used in re.findall(r"gg\.(\w+)", text):
            assert used in gg.__all__, name
        for room in re.findall(r"is in (graphgrain\.\w+)", text):
            assert hasattr(importlib.import_module(room), name), name


#: Methods for other packages, not for users: compressed forms of features and occurrences.
INTERNAL = {"Features.columns", "Occurrences.tally"}


def test_results_can_be_imported_from_their_room():
    """The classes that public functions and methods return are in graphgrain or its packages."""
    public = [getattr(gg, name) for name in gg.__all__]
    functions = [item for item in public if inspect.isfunction(item)]
    for item in filter(inspect.isclass, public):
        own = {name: value for name, value in vars(item).items() if not name.startswith("_")}
        functions += [value for value in own.values() if inspect.isfunction(value)]
    assert len(functions) > 100
    for function in functions:
        if function.__qualname__ in INTERNAL:
            continue
        returned = str(function.__annotations__.get("return", ""))
        for name in re.findall(r"[A-Za-z_.]+", returned):
            value = getattr(inspect.getmodule(function), name.split(".")[0], None)
            ours = inspect.isclass(value) and value.__module__.startswith("graphgrain")
            if not ours or value in public:
                continue
            rooms = [importlib.import_module(f"graphgrain.{room}") for room in PACKAGES]
            assert any(getattr(room, name, None) is value for room in rooms), (
                f"{function.__qualname__} returns {name}"
            )


OUTSIDE = [
    path
    for folder in ("scripts", "benchmarks", "experiments")
    for path in (ROOT / folder).glob("*.py")
]


@pytest.mark.skipif(not OUTSIDE, reason="not part of an installed package")
@pytest.mark.parametrize("path", sorted(OUTSIDE), ids=lambda path: path.name)
def test_names_that_scripts_and_benchmarks_import_exist(path):
    """Nothing else would notice that one is gone."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("graphgrain"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                there = hasattr(module, alias.name) or find_spec(f"{node.module}.{alias.name}")
                assert there, f"{node.module} has no {alias.name}"
