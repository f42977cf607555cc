"""HTML and SVG from templates and plain data; everything that is put in is escaped.

Templates stand in the folder ``templates`` of the package that uses them. In them
``{{ source("page.css") }}`` includes a file as it is, and ``{{ values | tojson }}`` writes JSON
that cannot end the element that holds it, whatever names it contains.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment(package: str) -> Environment:
    """The templates of a package; what is put into them is escaped unless it is marked safe."""
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
    """Fill a template of a package.

    Examples
    --------
    >>> from graphgrain.templating import render
    >>> told = dict.fromkeys(("title", "lead", "about", "version"), "<b>")
    >>> page = render("graphgrain.report", "cards.html", answers=[], links=[], **told)
    >>> "&lt;b&gt;" in page
    True
    """
    return environment(package).get_template(template).render(**values)
