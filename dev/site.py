"""Site of a run: its report, the summary, and the documents as pages. Run as ``python -m dev.site site results/paper/share``.

``site/index.html`` is README; the documents have the paths of their Markdown files, and the files that they link to are copied.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from jinja2 import Environment
from markdown_it import MarkdownIt
from markdown_it.token import Token

from formalsynth.runtime.files import write_text

NAMED = ("docs/COST.md", "docs/OWN_STUDY.md", "docs/ERRATA.md", "docs/RUNNING.md")
"""Documents linked at the top of each page; README links to all others."""
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|#")
TEMPLATE = Environment(autoescape=True).from_string(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))
PARSER = MarkdownIt("commonmark").enable("table")
TABLE = '<div class="scroll" role="region" tabindex="0" aria-label="Table">\n<table>'


def main() -> int:
    """Run the command line: write the site; return 2 if there is no report or the folder exists."""
    parser = argparse.ArgumentParser(prog="python -m dev.site", description="Report, summary and documents as a site.")
    parser.add_argument("site", type=Path, help="folder of the site, which must not exist")
    parser.add_argument("report", type=Path, help="folder of the report that may be sent to others")
    options = parser.parse_args()
    if not (options.report / "index.html").is_file() or options.site.exists():
        parser.error(f"{options.report} must have a report, from snakemake share, and {options.site} must not exist")
    shutil.copytree(options.report, options.site / "report")
    write_documents(Path(), options.site)
    return 0


def write_documents(repository: Path, site: Path) -> None:
    """Write a page for each document, and copy the files that they link to.

    Raises:
        FileNotFoundError: a document links to a file that is not in the repository.
    """
    listed = subprocess.run(["git", "-C", str(repository), "ls-files"], check=True, capture_output=True, text=True)
    tracked, linked = set(listed.stdout.splitlines()), set[str]()
    for document in sorted(path for path in tracked if path.endswith(".md") and not path.startswith(".")):
        tokens = PARSER.parse((repository / document).read_text(encoding="utf-8"))
        linked |= _linked(tokens, document, tracked)
        write_text(site / page_of(document), _page(tokens, document))
    for file in linked:
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(repository / file, site / file)
    shutil.copyfile(repository / "workflow" / "report" / "style.css", site / "style.css")


def page_of(document: str) -> str:
    """Path of a document's page in the site."""
    return "index.html" if document == "README.md" else document.removesuffix(".md") + ".html"


def _linked(tokens: Sequence[Token], document: str, tracked: set[str]) -> set[str]:
    """Point links to pages of the site, remove those to folders, and return the linked files that are not documents."""
    files = set()
    for token in [*tokens, *itertools.chain(*(token.children or [] for token in tokens))]:
        name = {"link_open": "href", "image": "src"}.get(token.type)
        if name is None or OUTSIDE.match(link := str(token.attrs[name])):
            continue
        path, mark, place = link.partition("#")
        file = normpath(str(PurePosixPath(document).parent / path))
        if file not in tracked:
            if not any(other.startswith(f"{file}/") for other in tracked):
                raise FileNotFoundError(f"{document}: the link {link} does not lead to a file of the repository")
            del token.attrs[name]
        elif file.endswith(".md"):
            token.attrs[name] = _to(document, page_of(file)) + mark + place
        else:
            files.add(file)
    return files


def _page(tokens: Sequence[Token], document: str) -> str:
    """Render a document with headings that have the same anchors as on GitHub, and tables that scroll."""
    headings = [inline for opening, inline in itertools.pairwise(tokens) if opening.type == "heading_open"]
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrs["id"] = re.sub(r"[^\w -]", "", inline.content.lower()).replace(" ", "-")
    html = str(PARSER.renderer.render(tokens, PARSER.options, {}))
    html = html.replace("<table>", TABLE).replace("</table>", "</table>\n</div>").replace("<pre>", '<pre tabindex="0">')
    pages = [("Start", "index.html"), ("Report", "report/index.html"), ("Summary", "summary.pdf")]
    pages += [(PurePosixPath(name).stem.replace("_", " ").capitalize(), page_of(name)) for name in NAMED]
    title = re.sub("[`*]", "", headings[0].content) if headings else document
    return TEMPLATE.render(
        title=title, pages=pages, current=page_of(document), contents=html, to=functools.partial(_to, document)
    )


def _to(document: str, path: str) -> str:
    """Path from a document's page to another file of the site."""
    return relpath(path, PurePosixPath(page_of(document)).parent)


if __name__ == "__main__":
    sys.exit(main())
