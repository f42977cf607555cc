"""All kernels by their short names, with the parameter grids for model selection.

The grids are deliberately small, so that ten repetitions of ten folds stay feasible. They use the
values of the original papers, thinned where neighbouring values hardly differ; no value was chosen
by the accuracy it leads to. On small datasets a validation fold has a few dozen graphs, and
selecting among many settings can be worse than a single good one. Level parameters, whose values
all come from one extraction, keep their full range where the paper validates it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidFileError, InvalidParameterError
from ..parameters import check_parameters
from ..views.attribute_scaler import AttributeScaler
from .bases.graph_kernel import GraphKernel
from .deep_graph_kernel import DeepGraphKernel
from .descriptor_matching import DescriptorMatching
from .edge_histogram import EdgeHistogram
from .graph_hopper import GraphHopper
from .graph_invariants import GraphInvariants
from .graphlet import Graphlet
from .marginalized import Marginalized
from .multiscale_laplacian import MultiscaleLaplacian
from .neighbourhood_pairs import NeighbourhoodPairs
from .netlsd import NetLSD
from .path_pattern import PathPattern
from .propagation import Propagation
from .pyramid_match import PyramidMatch
from .random_walk import RandomWalk
from .return_probability import ReturnProbability
from .shortest_path import ShortestPath
from .spectral_distance import SpectralDistance
from .subtree_patterns import SubtreePatterns
from .tree_patterns import TreePatterns
from .tree_plus_plus import TreePlusPlus
from .vertex_histogram import VertexHistogram
from .wasserstein_wl import WassersteinWL
from .weisfeiler_lehman import WeisfeilerLehman
from .wl_edge import WLEdge
from .wl_optimal_assignment import WLOptimalAssignment
from .wl_shortest_path import WLShortestPath


class KernelRow(NamedTuple):
    """A kernel, and the parameters that model selection compares."""

    name: str  # as on the command line
    kernel: type[GraphKernel]
    title: str  # in tables and figures; the nine kernels of the Tree++ paper as there
    settings: tuple[dict[str, Any], ...] = ({},)  # the simplest first
    #: Its values from 0 to that of a setting all come from one fitted kernel.
    level_parameter: str | None = None
    #: Scales attributes to the range that the settings are meant for.
    attribute_view: Any = None


def _settings(**values: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    """Return a setting for every combination of the values; the last parameter varies fastest."""
    return tuple(dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


_ROWS = [
    # d = 6 and k from 0 to 7, as in the Tree++ paper.
    KernelRow(
        "tree++", TreePlusPlus, "Tree++", _settings(path_depth=(6,), tree_depth=(7,)), "tree_depth"
    ),
    KernelRow("path-pattern", PathPattern, "Path pattern"),
    KernelRow("wl", WeisfeilerLehman, "WL", _settings(n_iter=(10,)), "n_iter"),
    KernelRow("sp", ShortestPath, "SP"),
    # The grid of the paper.
    KernelRow("pm", PyramidMatch, "PM", _settings(dimension=(4, 6, 8, 10), depth=(2, 4, 6))),
    # The paper's bin widths and 0 to 10 steps; attributes are standardised as by the authors.
    KernelRow(
        "propa", Propagation, "Propa", _settings(n_iter=(10,)), "n_iter",
        attribute_view=AttributeScaler(),
    ),
    # From the paper's grid: dimensions of 5 to 50 with a window of about half that size.
    KernelRow(
        "dgk",
        DeepGraphKernel,
        "DGK",
        tuple(
            {"dimension": dimension, "window": window}
            for dimension, window in ((5, 2), (10, 5), (25, 10), (50, 25))
        ),
    ),
    # The defaults of the authors' code, with one to three levels.
    KernelRow("mlg", MultiscaleLaplacian, "MLG", _settings(n_levels=(1, 2, 3))),
    KernelRow("retgk", ReturnProbability, "RetGK"),
    # The authors' bin width for molecules; they validate only C.
    KernelRow("fgsd", SpectralDistance, "FGSD"),
    # 0 to 7 steps, as in the paper.
    KernelRow("wl-oa", WLOptimalAssignment, "WL-OA", _settings(n_iter=(7,)), "n_iter"),
    # All sizes of the paper, connected subgraphs.
    KernelRow("graphlet", Graphlet, "Graphlet", _settings(size=(3, 4, 5))),
    # Within the ranges of the paper.
    KernelRow("nspdk", NeighbourhoodPairs, "NSPDK"),
    KernelRow("graph-hopper", GraphHopper, "GraphHopper"),
    # Walks of any length; the decay is derived from the graphs.
    KernelRow("random-walk", RandomWalk, "Random walk"),
    # The range of the paper, thinned.
    KernelRow(
        "marginalized", Marginalized, "Marginalised", _settings(stop=(0.1, 0.3, 0.5, 0.7, 0.9))
    ),
    # From the ranges of the paper, where attributes are standardised; C is validated separately.
    KernelRow(
        "wwl", WassersteinWL, "WWL", _settings(n_iter=(1, 3, 5), gamma=(0.1, 1.0, 10.0)),
        attribute_view=AttributeScaler(),
    ),
    # Fewer steps than WL: with more, nearly every pair has a feature of its own.
    KernelRow("wl-sp", WLShortestPath, "WL-SP", _settings(n_iter=(5,)), "n_iter"),
    KernelRow("wl-edge", WLEdge, "WL-edge", _settings(n_iter=(10,)), "n_iter"),
    # Deeper patterns are dominated by their own multiplicity.
    KernelRow(
        "subtree-patterns", SubtreePatterns, "Subtree patterns", _settings(depth=(2, 3, 4))
    ),
    # From the ranges of the paper.
    KernelRow(
        "tree-patterns", TreePatterns, "Tree patterns",
        _settings(depth=(2, 3, 4), decay=(0.01, 0.1, 1.0)),
    ),
    # The length and times of the paper; the width is derived from the graphs.
    KernelRow("netlsd", NetLSD, "NetLSD"),
    # The radii of NSPDK, whose neighbourhoods it generalises.
    KernelRow("gik", GraphInvariants, "GIK", _settings(radius=(3,)), "radius"),
    # Few steps, because descriptors become less specific to their vertex with each step. The
    # largest cells have side 1, so attributes are scaled to a range of 1, like labels.
    KernelRow(
        "dm", DescriptorMatching, "DM", _settings(n_iter=(1, 2, 3)),
        attribute_view=AttributeScaler(method="range"),
    ),
    KernelRow("vertex-histogram", VertexHistogram, "Vertex histogram"),
    KernelRow("edge-histogram", EdgeHistogram, "Edge histogram"),
]  # fmt: skip

#: Kernels by their short names, as used on the command line.
KERNELS: dict[str, KernelRow] = {row.name: row for row in _ROWS}


def list_kernels() -> dict[str, type[GraphKernel]]:
    """Return the kernels by their short names, except those for attributes alone.

    Examples
    --------
    >>> import graphgrain as gg
    >>> gg.list_kernels()["wl"]
    <class 'graphgrain.kernels.weisfeiler_lehman.WeisfeilerLehman'>
    """
    return {name: row.kernel for name, row in KERNELS.items()}


def kernel_to_json(kernel: GraphKernel, leave_out: Iterable[str] = ()) -> dict[str, Any]:
    """Return a kernel in the form stored in files: class name and parameters, never code.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.kernels.registry import kernel_from_json, kernel_to_json
    >>> entry = kernel_to_json(gg.PathPattern(path_depth=2), leave_out=("n_jobs", "verbose"))
    >>> entry["class"], entry["parameters"]["path_depth"]
    ('PathPattern', 2)
    >>> kernel_from_json(entry).path_depth
    2
    """
    without = set(leave_out)
    parameters = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in kernel.get_params(deep=False).items()
        if name not in without
    }
    try:
        json.dumps(parameters, allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            "The parameters of a kernel that is written to a file must be numbers, words or None; "
            f"got {kernel!r}."
        ) from None
    return {"class": type(kernel).__name__, "parameters": parameters}


def kernel_from_json(entry: Any) -> GraphKernel:
    """Return the kernel written by :func:`kernel_to_json`.

    Raises ``InvalidFileError`` if it is not one of graphgrain's kernels.
    """
    if not (
        isinstance(entry, dict)
        and isinstance(entry.get("class"), str)
        and isinstance(entry.get("parameters"), dict)
    ):
        raise InvalidFileError("A kernel is written as its class and its parameters.")
    known = {row.kernel.__name__: row.kernel for row in KERNELS.values()}
    kind = known.get(entry["class"])
    if kind is None:
        raise InvalidFileError(f"The kernel {entry['class']!r} is not one of graphgrain's.")
    try:
        kernel = kind(**entry["parameters"])
        check_parameters(kernel)
    except (TypeError, ValueError) as error:
        raise InvalidFileError(
            f"{describe_kernel(entry)} is not known to this version of graphgrain ({error})."
        ) from None
    return kernel


def describe_kernel(entry: dict[str, Any]) -> str:
    """Return the Python expression of a kernel in a file."""
    inside = ", ".join(f"{name}={value!r}" for name, value in entry["parameters"].items())
    return f"{entry['class']}({inside})"
