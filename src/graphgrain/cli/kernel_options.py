"""Kernels and their parameters by name."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..errors import InvalidParameterError
from ..kernels.grid import KernelGrid
from ..kernels.registry import KERNELS
from .arguments import listed, nearest


def kernel_grid(
    kernel: str, parameters: Sequence[str] | None = None, beside: Sequence[str] = ()
) -> KernelGrid:
    """A kernel by its name, with ``name=value`` parameters.

    ``beside`` are names that would have been right, too, for the message if there is no such one.
    """
    if kernel not in KERNELS:
        names = [*KERNELS, *beside]
        raise InvalidParameterError(
            f"There is no kernel {kernel!r}. {nearest(kernel, names)}The kernels are "
            f"{', '.join(names)}."
        )
    chosen = given(kernel, parameters)
    if not chosen:
        return KERNELS[kernel]
    grid = KERNELS[kernel].with_parameters(**chosen)
    grid.check()
    return grid


def given(kernel: str, parameters: Sequence[str] | None) -> dict[str, Any]:
    """The parameters that ``--set`` names."""
    elsewhere = {"n_jobs", "output", "verbose"}
    known = sorted(set(KERNELS[kernel].kernel().get_params()) - elsewhere)
    return given_of(known, kernel, parameters)


def given_of(known: list[str], owner: str, parameters: Sequence[str] | None) -> dict[str, Any]:
    """The same for parameters of these names."""
    values: dict[str, Any] = {}
    for text in listed(parameters):
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise InvalidParameterError(
                f"--set takes NAME=VALUE with a parameter of the kernel; got {text!r}. "
                f"{nearest(name, known)}The parameters of {owner} are {', '.join(known)}."
            )
        values[name] = parsed(value)
    return values


def parsed(value: str) -> Any:
    """A value of Python, or a word.

    Examples
    --------
    >>> from graphgrain.cli.kernel_options import parsed
    >>> parsed("3"), parsed("[1, 2]"), parsed("sqrt")
    (3, [1, 2], 'sqrt')
    """
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
