"""Kernels of the experiments by name or class, with parameters."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any

import graphgrain as gg
from graphgrain.evaluation.candidates import KernelCandidates, candidates
from graphgrain.kernels.registry import KERNELS

from .paper import CENTRALITIES, FIGURES
from .paper import KERNELS as PAPER
from .run import Entrant, self_tuned

#: Stands for the classifier of graphgrain with its defaults.
SELF_TUNED = "self-tuned"


def entrant(text: str) -> Entrant:
    """Return a kernel by name, or a class in a module or file, with parameters in parentheses.

    A class has its default parameters and all levels up to the default one.

    >>> entrant("wl(counts='sqrt')").name
    "WL (counts='sqrt')"
    >>> len(entrant("pm").settings)
    12
    >>> entrant("graphgrain:PathPattern(path_depth=2)").settings
    ({'path_depth': 2},)
    """
    match = re.fullmatch(r"([^()]+)(?:\((.*)\))?", text.strip())
    if match is None:
        raise SystemExit(f"A kernel is written as NAME or NAME(parameter=value); got {text!r}.")
    name, parameters = match[1], _parsed(text, match[2] or "")
    if name == SELF_TUNED:
        return self_tuned()
    if ":" in name:
        kernel = _class_of(name)(**parameters)
        title = f"{type(kernel).__name__} ({match[2]})" if parameters else type(kernel).__name__
        return Entrant(title, candidates(kernel))
    if name not in KERNELS:
        raise SystemExit(
            f"There is no kernel {name!r}; there are {', '.join(KERNELS)}, {SELF_TUNED}, and "
            "classes as module:Class or file.py:Class."
        )
    usual = candidates(name)
    title = f"{usual.name} ({match[2]})" if parameters else usual.name
    return Entrant(title, usual.with_parameters(**parameters))


def _parsed(text: str, inside: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        assert isinstance(call, ast.Call)
        assert not call.args
        return {str(item.arg): ast.literal_eval(item.value) for item in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        raise SystemExit(
            f"Parameters are written as in Python, wl(n_iter=3); got {text!r}."
        ) from None


def _class_of(text: str) -> Any:
    """Import a kernel class, ``module:Class`` or ``file.py:Class``."""
    place, _, name = text.rpartition(":")
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    found = getattr(module, name, None)
    if not (isinstance(found, type) and issubclass(found, gg.GraphKernel)):
        raise SystemExit(f"{place} has no kernel class {name!r}; it must derive from GraphKernel.")
    return found


def paper_kernels() -> list[Entrant]:
    """Return the nine kernels of the paper's tables."""
    return [entrant(name) for name in PAPER]


def figure_entrant(figure: str) -> Entrant:
    """Return Tree++ with the settings of one of the paper's figures."""
    title = f"Tree++ ({figure})"
    return Entrant(title, KernelCandidates(title, gg.TreePlusPlus, FIGURES[figure], "tree_depth"))


def centrality_entrants() -> list[Entrant]:
    """Return Tree++ with each order of the vertices."""
    usual = candidates("tree++")
    return [
        Entrant(f"{name or 'none'}", usual.with_parameters(centrality=name))
        for name in CENTRALITIES
    ]


def league_entrants() -> list[Entrant]:
    """Return all kernels, those that can use attributes also with them, and our classifier."""
    everybody = [self_tuned()]
    for name, row in KERNELS.items():
        everybody.append(entrant(name))
        if "attributes" in row.kernel().get_params():
            everybody.append(entrant(f"{name}(attributes=True)"))
    return everybody


def applies(entrant: Entrant, graphs: gg.GraphBatch) -> bool:
    """Return whether a kernel applies to graphs; some need attributes."""
    if graphs.vertex_attributes is not None or not isinstance(entrant.model, KernelCandidates):
        return True
    kernels = (entrant.model.kernel(**setting) for setting in entrant.settings)
    return all("attributes" not in kernel.sees for kernel in kernels)
