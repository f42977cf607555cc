"""HTML from templates and plain data; everything that is put in is escaped."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def render(template: str, **values: Any) -> str:
    """Fill a template of this package.

    In templates ``{{ source("page.css") }}`` includes a file as it is, and
    ``{{ values | tojson }}`` writes JSON that cannot end the element that holds it, whatever names
    it contains.
    """
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    loader = PackageLoader(__package__ or "graphgrain.report", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    environment.globals["source"] = lambda name: Markup(loader.get_source(environment, name)[0])
    return environment
