"""Kernels as an index stores them: the name of the class and its parameters, never code."""

from __future__ import annotations

import json
from typing import Any

from ..errors import InvalidFileError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.registry import KERNELS
from ..kernels.tree_plus_plus import TreePlusPlus
from ..parameters import check_parameters


def default_kernel(graphs: GraphBatch) -> TreePlusPlus:
    """The kernel for search: which patterns a graph has, not how often (see docs/searching.md)."""
    return TreePlusPlus(4, 1, edge_labels=graphs.edge_label_table is not None, counts="binary")


def check_kernel(kernel: Any) -> FeatureKernel:
    """A kernel that an index can use."""
    if not isinstance(kernel, FeatureKernel):
        raise InvalidParameterError(
            "An index needs a kernel with explicit features, such as TreePlusPlus() or "
            f"WeisfeilerLehman(); got {kernel!r}."
        )
    check_parameters(kernel, kernel.parameter_rules)
    parameters = kernel.get_params()
    if "random_state" in parameters and parameters["random_state"] is None:
        raise InvalidParameterError(
            "The features of an index must be the same every time; random_state=None draws other "
            "ones each time. Give it a number."
        )
    if parameters.get("n_features") is not None:
        raise InvalidParameterError(
            f"An index keeps features apart by itself; n_features={parameters['n_features']} "
            "would merge some. Leave it out."
        )
    return kernel


def stored(kernel: FeatureKernel) -> dict[str, Any]:
    """What is written of a kernel."""
    parameters = {
        name: value
        for name, value in kernel.get_params().items()
        if name == "counts" or name not in kernel.parameters_after_counting
    }
    try:
        json.dumps(parameters, allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"The parameters of an index's kernel must be numbers, words or None; got {kernel!r}."
        ) from None
    return {"class": type(kernel).__name__, "parameters": parameters}


def restored(entry: dict[str, Any], given: FeatureKernel | None, where: str) -> FeatureKernel:
    """The kernel of an index: one of the library's own, or the one that was given."""
    if given is not None:
        if stored(check_kernel(given)) != entry:
            raise InvalidParameterError(
                f"The index {where!r} was built with {shown(entry)}; got {given!r}. Leave the "
                "kernel out, or build another index with it."
            )
        return given
    known = {item.kernel.__name__: item.kernel for item in KERNELS.values()}
    kind = known.get(entry["class"])
    if kind is None or not issubclass(kind, FeatureKernel):
        raise InvalidFileError(
            f"The index {where!r} was built with the kernel {entry['class']!r}, which is not one "
            "of graphgrain's. Give it: GraphIndex.open(path, kernel=...)."
        )
    try:
        return check_kernel(kind(**entry["parameters"]))
    except (TypeError, InvalidParameterError) as error:
        raise InvalidFileError(
            f"The index {where!r} was built with {shown(entry)}, which this version of graphgrain "
            f"does not know ({error}). Build it again."
        ) from None


def shown(entry: dict[str, Any]) -> str:
    """A stored kernel in words."""
    inside = ", ".join(f"{name}={value!r}" for name, value in entry["parameters"].items())
    return f"{entry['class']}({inside})"
