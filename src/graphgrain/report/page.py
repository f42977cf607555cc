"""The report: one page of HTML that needs nothing else, neither files nor a network."""

from __future__ import annotations

import json
import os
import re
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InvalidParameterError
from ..evaluation.records import fold_records
from .content import Content, Data, content
from .files import write_whole
from .sections import Sections
from .words import count

SCRIPTS = ("charts.js", "pictures.js", "page.js")


def write_report(
    results_path: str | os.PathLike[str],
    output_path: str | os.PathLike[str],
    *,
    paper: bool = True,
    data: Data | None = None,
    title: str = "Graph kernels compared",
    n_jobs: int | None = None,
) -> Path:
    """Write a report of a results file as one HTML page.

    Parameters
    ----------
    results_path : path
        As written by ``graphgrain evaluate`` or ``graphgrain reproduce``.
    output_path : path
        Replaced if it exists; untouched if anything fails.
    paper : bool
        Whether the figures of the Tree++ paper stand next to ours.
    data : mapping from name to (graphs, y) or (graphs, y, names), optional
        Data sets whose kernel matrix and map are to be shown. The bundled drugs, those in the
        folder ``GRAPHGRAIN_DATA`` and those downloaded before are found without it.
    title : str
        The heading of the page.
    n_jobs : int, optional
        Number of threads for the kernels.

    Returns
    -------
    path : Path
        The page.
    """
    output = Path(output_path)
    try:
        if output.exists() and output.samefile(results_path):
            raise InvalidParameterError(
                f"The report must not replace its results; both are {str(output)!r}. Choose "
                "another name, such as report.html."
            )
    except OSError:
        pass  # results that cannot be read are reported by the reader, in its own words
    text = page(content(results_path, data, n_jobs), paper=paper, title=title)
    write_whole(output, text.encode(), "The report")
    return output


def page(shown: Content, *, paper: bool = True, title: str = "Graph kernels compared") -> str:
    """The whole page as text."""
    sections = Sections(shown, paper)
    parts = sections.all()
    navigation = "".join(f'<a href="#{part.anchor}">{escape(part.title)}</a>' for part in parts)
    return fill(
        _template("page.html"),
        {
            "title": escape(title),
            "version": escape(__version__),
            "lead": escape(_lead(shown)),
            "navigation": navigation,
            "sections": "\n".join(part.html() for part in parts),
            "footer": f"Made with graphgrain {escape(__version__)}.",
            "css": _template("page.css"),
            "script": "\n".join(_template(name) for name in SCRIPTS),
            "data": to_json(sections.figures),
        },
    )


def fill(template: str, values: dict[str, str]) -> str:
    """Put values in the places ``{{name}}``, in one pass: values are not looked at again.

    Examples
    --------
    >>> from graphgrain.report.page import fill
    >>> fill("<p>{{a}} {{b}}</p>", {"a": "{{b}}", "b": "2"})
    '<p>{{b}} 2</p>'
    """
    return re.sub(r"\{\{(\w+)\}\}", lambda place: values[place[1]], template)


def to_json(values: Any) -> str:
    """JSON that cannot end the script element that holds it, whatever names it contains.

    Examples
    --------
    >>> from graphgrain.report.page import to_json
    >>> print(to_json(["</script>"]))
    ["\\u003c/script\\u003e"]
    """
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _lead(shown: Content) -> str:
    kernels = {(record.kernel, record.variant) for record in shown.records}
    usual = {kernel for kernel, variant in kernels if not variant} or {k for k, _ in kernels}
    sets = {record.dataset for record in shown.records}
    words = f"{count(len(usual), 'kernel')} on {count(len(sets), 'data set')}"
    fits = sum(record.fits for record in fold_records(shown.records))
    return words + (f", {fits:,} support vector machines trained." if fits else ".")


def _template(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")
