"""Options that belong together as one parameter of a command's function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints


class OptionGroup:
    """Base class of dataclasses whose fields are options.

    A command that takes a parameter annotated with such a class has an option for each field,
    and is called with an instance.
    """


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """A function in whose signature every option group is replaced by its options.

    Examples
    --------
    >>> import inspect
    >>> from dataclasses import dataclass
    >>> from graphgrain.cli.option_groups import OptionGroup, expanded
    >>> @dataclass
    ... class Size(OptionGroup):
    ...     width: int = 3
    ...     height: int = 4
    >>> def area(name: str, size: Size) -> None:
    ...     print(name, size.width * size.height)
    >>> list(inspect.signature(expanded(area)).parameters)
    ['name', 'width', 'height']
    >>> expanded(area)(name="area", width=2, height=5)
    area 10
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind = hints.get(name)
        if isinstance(kind, type) and issubclass(kind, OptionGroup):
            groups[name] = kind
            types = get_type_hints(kind, include_extras=True)
            parameters += [
                inspect.Parameter(
                    item.name, parameter.kind, default=item.default, annotation=types[item.name]
                )
                for item in fields(kind)  # type: ignore[arg-type]
            ]
        else:
            parameters.append(parameter.replace(annotation=kind))

    def call(**values: Any) -> None:
        for name, kind in groups.items():
            names = [item.name for item in fields(kind)]  # type: ignore[arg-type]
            values[name] = kind(**{item: values.pop(item) for item in names})
        function(**values)

    call.__doc__, call.__name__, call.__module__ = (
        function.__doc__,
        function.__name__,
        function.__module__,
    )
    # Parameters without a default may not follow others in a signature; options come by name.
    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    call.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call
