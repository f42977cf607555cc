"""Sphinx configuration; build the site with ``make docs``."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "plots"))  # drawings.py, used by the plots
os.environ.setdefault("TQDM_DISABLE", "1")

import graphgrain

project = "graphgrain"
author = "The graphgrain developers"
copyright = "the graphgrain developers"
release = version = graphgrain.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]

# Pages
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
default_role = "literal"

# The reference
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_typehints = "none"
autodoc_inherit_docstrings = True

# Examples
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "show_memory": False,
    "write_computation_times": False,
    "plot_gallery": os.environ.get("GRAPHGRAIN_DOCS_GALLERY", "True"),
}
plot_basedir = str(Path(__file__).parent)
plot_include_source = False
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 130)]
plot_rcparams = {"figure.dpi": 110, "savefig.bbox": "tight", "savefig.transparent": False}

# Theme
html_theme = "pydata_sphinx_theme"
html_title = f"graphgrain {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # pages opened from disk cannot read others
toc_object_entries_show_parents = "hide"  # full names are too wide for the sidebar
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "start": [], "changelog": [], "citing": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def _changelog(app: object) -> None:
    """Copy the changelog of the repository into the site."""
    here = Path(__file__).parent
    text = (here.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    target = here / "changelog.md"
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def _skip(app: object, what: str, name: str, member: object, skip: bool, options: object) -> bool:
    """Skip members inherited from scikit-learn, which are documented there."""
    return skip or str(getattr(member, "__module__", "")).startswith("sklearn")


def _trim(app: object, name: str, source: list[str]) -> None:
    """Drop the empty line between a doctest and the end of its block."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app: object) -> None:
    app.connect("source-read", _trim)  # type: ignore[attr-defined]
    app.connect("autodoc-skip-member", _skip)  # type: ignore[attr-defined]
    app.connect("builder-inited", _changelog)  # type: ignore[attr-defined]
