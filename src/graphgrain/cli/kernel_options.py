"""Kernels and views by name, with their parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any

from .. import views as all_views
from ..errors import InvalidParameterError
from ..kernels.bases.graph_kernel import OUTPUT_PARAMETERS
from ..kernels.registry import KERNELS
from ..parameters import check_parameters
from .options import listed, nearest


def chosen_kernel(
    kernel: str, parameters: Sequence[str] | None, beside: Sequence[str] = (), **more: Any
) -> Any:
    """Return a kernel; parameters not set by ``--set`` have their defaults.

    ``beside`` lists further valid names for the error message.
    """
    if kernel not in KERNELS:
        names = [*KERNELS, *beside]
        raise InvalidParameterError(
            f"There is no kernel {kernel!r}. {nearest(kernel, names)}The kernels are "
            f"{', '.join(names)}."
        )
    estimator = KERNELS[kernel].kernel(**kernel_parameters(kernel, parameters), **more)
    check_parameters(estimator)
    return estimator


def kernel_parameters(kernel: str, parameters: Sequence[str] | None) -> dict[str, Any]:
    """Return the parameters set by ``--set``."""
    names = sorted(set(KERNELS[kernel].kernel().get_params()) - OUTPUT_PARAMETERS)
    form = "--set takes NAME=VALUE with a parameter of the kernel"
    return assigned(names, kernel, listed(parameters), form)


def assigned(names: list[str], owner: str, texts: Iterable[str], form: str) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` texts; ``names`` are those that ``owner`` has."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in names:
            hint = nearest(name, names) if name not in names else "The value is missing. "
            raise InvalidParameterError(
                f"{form}; got {text!r}. {hint}The parameters of {owner} are {', '.join(names)}."
            )
        values[name] = parsed(value)
    return values


def parsed(value: str) -> Any:
    """Parse a Python literal; anything else is a string.

    >>> parsed("3"), parsed("[1, 2]"), parsed("sqrt")
    (3, [1, 2], 'sqrt')
    """
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


#: Views by command line name, such as ``edge-filter`` for EdgeFilter.
VIEWS: dict[str, type[Any]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower(): getattr(all_views, name)
    for name in dir(all_views)
    if name[0].isupper()
}
#: List parameters that also accept a single item.
_LISTS = ("keep", "drop", "columns")


def view(text: str) -> Any:
    """Return a view by name, with parameters.

    >>> view("edge-filter:drop=1")
    EdgeFilter(drop=[1])
    >>> view("attribute-bins:n_bins=4,strategy=kmeans")
    AttributeBins(n_bins=4, strategy='kmeans')
    """
    name, _, rest = text.partition(":")
    if name not in VIEWS:
        raise InvalidParameterError(
            f"There is no view {name!r}. {nearest(name, VIEWS)}The views are {', '.join(VIEWS)}; "
            "parameters follow a colon, as in edge-filter:drop=1."
        )
    names = sorted(VIEWS[name]().get_params())
    values = assigned(names, name, listed([rest]), "--view takes NAME:PARAMETER=VALUE")
    for parameter in set(values) & set(_LISTS):
        if not isinstance(values[parameter], list | tuple):
            values[parameter] = [values[parameter]]
    return VIEWS[name](**values)


def combined(texts: Sequence[str] | None) -> Any:
    """Return a pipeline of all views; None without any."""
    if not texts:
        return None
    from sklearn.pipeline import make_pipeline

    views = [view(text) for text in texts]
    return views[0] if len(views) == 1 else make_pipeline(*views)
