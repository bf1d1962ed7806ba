"""Settings of Sphinx for the site of documents, which ``make docs`` builds from the folder of the repository."""

import re
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx

from formalsynth import __version__

project, release = "formalsynth", __version__
html_title = "formalsynth"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_external_toc"]
external_toc_path = "docs/_toc.yml"
KEYWORDS = Path(__file__).with_name("_keywords.yml")
include_patterns = ["*.md", "config/*.md", "docs/**", "workflow/README.md"]
exclude_patterns = ["CHANGELOG.md"]
html_theme = "furo"
html_copy_source = False
add_module_names = False
autodoc_typehints_format = "short"
html_static_path, html_css_files = ["static"], ["site.css"]
html_search_scorer = str(Path(__file__).with_name("search.js"))
templates_path = ["templates"]
SIDEBAR = "scroll-start", "brand", "search", "report", "navigation", "scroll-end"
html_sidebars = {"**": [f"sidebar/{part}.html" for part in SIDEBAR]}
myst_heading_anchors = 4  # those of GitHub
suppress_warnings = ["myst.header", "misc.highlighting_failure"]  # keys of config begin at level 3; GitHub draws diagrams


def setup(app: Sphinx) -> None:
    """Let a keyboard reach code and tables that scroll, and a screen reader the level of a part of the tree."""
    app.connect("html-page-context", reachable, priority=900)
    app.connect("doctree-read", keywords)


def keywords(app: Sphinx, document: nodes.document) -> None:
    """Add the keywords of a page to the index of the search, marked as such."""
    app.env.note_dependency(KEYWORDS)
    words = yaml.safe_load(KEYWORDS.read_text(encoding="utf-8")).get(app.env.current_document.docname)
    if words:
        document.append(nodes.meta(name="keywords", content=", ".join(f"#{word}" for word in words.split())))


def reachable(app: Sphinx, page: str, template: str, context: dict[str, Any], document: object) -> None:
    """Add attributes to a page before it is written."""
    context["body"] = re.sub(r'<(?:pre|div(?= class="table-wrapper))', r'\g<0> tabindex="0"', context.get("body", ""))
    context["furo_navigation_tree"] = context["furo_navigation_tree"].replace('role="heading"', 'role="heading" aria-level="2"')
