"""Site of a run: its report, the summary, and the documents as pages. Run as ``python -m dev.site site results/paper/share``.

``site/index.html`` is README; the documents have the paths of their Markdown files, and the files that they link to are copied.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from formalsynth.core.text import DataError
from formalsynth.runtime.files import write_text

REPORT, SUMMARY, STYLE = "report", "summary.pdf", "style.css"
FIRST = "README.md"
NAMED = ("docs/COST.md", "docs/OWN_STUDY.md", "docs/RESULTS.md", "docs/ERRATA.md", "docs/RUNNING.md")
"""Documents linked at the top of each page; README links to all others."""
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|#")
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{style}">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><nav aria-label="Pages"><ul>
{links}
</ul></nav></header>
<main id="main" class="document">
{contents}
</main>
<footer><p><a href="#main">Back to the top</a></p></footer>
</body>
</html>
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line: write the site; return 2 if there is no report or the folder exists."""
    parser = argparse.ArgumentParser(prog="python -m dev.site", description="Report, summary and documents as a site.")
    parser.add_argument("site", type=Path, help="folder of the site, which must not exist")
    parser.add_argument("report", type=Path, help="folder of the report that may be sent to others")
    options = parser.parse_args(arguments)
    if not (options.report / "index.html").is_file():
        print(f"{options.report} has no report: run snakemake share first", file=sys.stderr)
        return 2
    if options.site.exists():
        print(f"{options.site} exists: remove it, or give another folder", file=sys.stderr)
        return 2
    shutil.copytree(options.report, options.site / REPORT)
    write_documents(Path(), options.site)
    return 0


def write_documents(repository: Path, site: Path) -> None:
    """Write a page for each document, and copy the files that they link to.

    Raises:
        DataError: a document links to a file that is not in the repository.
    """
    tracked = set(_tracked(repository))
    documents = sorted(path for path in tracked if path.endswith(".md") and not path.startswith("."))
    copied: set[str] = set()
    for document in documents:
        links = Links(document, tracked)
        contents = _rendered((repository / document).read_text(encoding="utf-8"), links)
        write_text(site / _page(document), _whole(document, contents))
        copied |= links.files
    for file in sorted(copied):
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(repository / file, site / file)
    shutil.copyfile(repository / "workflow" / "report" / STYLE, site / STYLE)


class Links:
    """Links from a document to other pages of the site and to files; collects the files."""

    def __init__(self, document: str, tracked: set[str]) -> None:
        """Start with a document and the paths in the repository."""
        self.document, self.tracked = document, tracked
        self.files: set[str] = set()

    def target(self, link: str) -> str | None:
        """Return the target in the site of a link in the document; None for a folder, which has no page."""
        if OUTSIDE.match(link):
            return link
        path, mark, place = link.partition("#")
        file = normpath(str(PurePosixPath(self.document).parent / path))
        if any(name.startswith(f"{file}/") for name in self.tracked):
            return None
        if file not in self.tracked:
            raise DataError(f"{self.document}: the link {link} does not lead to a file of the repository")
        if file.endswith(".md"):
            return _to(self.document, _page(file)) + mark + place
        self.files.add(file)
        return _to(self.document, file)


def _rendered(text: str, links: Links) -> str:
    """Render Markdown, with links into the site, anchors of headings, and tables that scroll."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(text)
    _with_anchors(tokens)
    for token in _all(tokens):
        name = {"link_open": "href", "image": "src"}.get(token.type)
        if name is None:
            continue
        target = links.target(str(token.attrs[name]))
        if target is None:
            del token.attrs[name]
        else:
            token.attrs[name] = target
    html = str(parser.renderer.render(tokens, parser.options, {}))
    opening = '<div class="scroll" role="region" tabindex="0" aria-label="Table">\n<table>'
    return html.replace("<table>", opening).replace("</table>", "</table>\n</div>").replace("<pre>", '<pre tabindex="0">')


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])


def _with_anchors(tokens: Sequence[Token]) -> None:
    """Give headings the same anchors as on GitHub."""
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrs["id"] = re.sub(r"[^\w -]", "", inline.content.lower()).replace(" ", "-")


def _whole(document: str, contents: str) -> str:
    """Write a page around its contents."""
    pages = [("Start", "index.html"), ("Report", f"{REPORT}/index.html"), ("Summary", SUMMARY)]
    pages += [(PurePosixPath(name).stem.replace("_", " ").capitalize(), _page(name)) for name in NAMED]
    current = _page(document)
    links = [
        f'<li><a href="{escape(_to(document, page))}"{" aria-current=page" if page == current else ""}>{escape(name)}</a></li>'
        for name, page in pages
    ]
    title = re.search(r"<h1[^>]*>(.*?)</h1>", contents, re.DOTALL)
    return PAGE.format(
        title=re.sub("<[^>]+>", "", title[1]) if title else document, style=escape(_to(document, STYLE)),
        links="\n".join(links), contents=contents,
    )  # fmt: skip


def _page(document: str) -> str:
    """Path of a document's page in the site."""
    return "index.html" if document == FIRST else document.removesuffix(".md") + ".html"


def _to(document: str, path: str) -> str:
    """Path from a document's page to another file of the site."""
    return relpath(path, PurePosixPath(_page(document)).parent)


def _tracked(repository: Path) -> list[str]:
    command = ["git", "-C", str(repository), "ls-files", "-z"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip("\0").split("\0")


if __name__ == "__main__":
    sys.exit(main())
