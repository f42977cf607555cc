"""HTML and SVG from templates and plain data; all inserted values are escaped.

Templates are in the folder ``templates`` of the package that uses them. In templates,
``{{ source("page.css") }}`` includes a file verbatim, and ``{{ values | tojson }}`` writes JSON
that cannot close the enclosing element, whatever text it contains.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment(package: str) -> Environment:
    """Return the template environment of a package, with autoescaping."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader(package, "templates")
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    made.globals["source"] = lambda name: Markup(loader.get_source(made, name)[0])
    return made


def render(package: str, template: str, **values: Any) -> str:
    """Render a template of a package.

    Examples
    --------
    >>> from graphgrain.templating import render
    >>> values = dict.fromkeys(("title", "lead", "about", "version"), "<b>")
    >>> page = render("graphgrain.pages", "cards.html", answers=[], links=[], **values)
    >>> "&lt;b&gt;" in page
    True
    """
    return environment(package).get_template(template).render(**values)
