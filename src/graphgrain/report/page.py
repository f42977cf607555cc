"""The report: one page of HTML that needs nothing else, neither files nor a network."""

from __future__ import annotations

import os
from pathlib import Path

from .. import __version__
from ..errors import InvalidParameterError
from ..evaluation.kernel_comparison import is_figure
from ..evaluation.records import fold_records
from ..writing import atomic_write
from .content import Content, Data, Progress, content
from .sections import Sections
from .templating import render
from .words import count


def write_report(
    results_path: str | os.PathLike[str],
    output_path: str | os.PathLike[str],
    *,
    paper: bool = True,
    data: Data | None = None,
    title: str = "Graph kernels compared",
    n_jobs: int | None = None,
    progress: Progress | None = None,
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
    progress : callable(str), optional
        Called with a few words whenever something begins that takes time.

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
    text = page(content(results_path, data, n_jobs, progress), paper=paper, title=title)
    with atomic_write(output, "The report") as file:
        file.write(text.encode())
    return output


def page(shown: Content, *, paper: bool = True, title: str = "Graph kernels compared") -> str:
    """The whole page as text."""
    sections = Sections(shown, paper)
    parts = sections.all()
    return render(
        "page.html",
        title=title,
        version=__version__,
        lead=_lead(shown),
        sections=parts,
        data=sections.figures,
    )


def _lead(shown: Content) -> str:
    kernels = {(r.kernel, "" if is_figure(r.variant) else r.variant) for r in shown.records}
    sets = {(record.dataset, record.fingerprint) for record in shown.records}
    words = f"{count(len(kernels), 'kernel')} on {count(len(sets), 'data set')}"
    fits = sum(record.fits for record in fold_records(shown.records))
    return words + (f", {fits:,} support vector machines trained." if fits else ".")
