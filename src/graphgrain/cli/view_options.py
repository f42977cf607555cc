"""Views by name: what --view takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .. import views
from ..errors import InvalidParameterError
from .arguments import listed, nearest
from .kernel_options import parsed

#: Views by the names of the command line: ``edge-filter`` is EdgeFilter.
VIEWS: dict[str, type[Any]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower(): getattr(views, name)
    for name in dir(views)
    if name[0].isupper()
}
#: Parameters that are lists, of which one item may be written alone.
_LISTS = ("keep", "drop", "columns")


def view(text: str) -> Any:
    """A view from its name and parameters.

    Examples
    --------
    >>> from graphgrain.cli.view_options import view
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
    known = sorted(VIEWS[name]().get_params())
    values: dict[str, Any] = {}
    for item in listed([rest]):
        parameter, equals, value = item.partition("=")
        if not equals or parameter not in known:
            raise InvalidParameterError(
                f"--view takes NAME:PARAMETER=VALUE; got {item!r}. {nearest(parameter, known)}"
                f"The parameters of {name} are {', '.join(known)}."
            )
        given = parsed(value)
        alone = parameter in _LISTS and not isinstance(given, list | tuple)
        values[parameter] = [given] if alone else given
    return VIEWS[name](**values)


def combined(texts: Sequence[str] | None) -> Any:
    """All views one after the other; None without any."""
    if not texts:
        return None
    from sklearn.pipeline import make_pipeline

    found = [view(text) for text in texts]
    return found[0] if len(found) == 1 else make_pipeline(*found)
