"""Pages of a report, read without a browser."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

EMPTY = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Page(HTMLParser):
    """References and structure of a page; an element that is closed out of order is an error."""

    def __init__(self, path):
        super().__init__()
        self.path, self.open, self.elements, self.text = path, [], [], ""
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == [], path
        self.ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]
        self.targets = [attributes[name] for _, attributes in self.elements for name in ("href", "src") if name in attributes]
        self.headings = [int(tag[1]) for tag, _ in self.elements if re.fullmatch(r"h\d", tag)]
        self.pictures = [attributes for tag, attributes in self.elements if tag == "img"]

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open += [] if tag in EMPTY else [tag]
        self.text += " "

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (self.path, self.getpos())

    def handle_data(self, data):
        self.text += data


def pages(folder):
    return {str(path.relative_to(folder)): Page(path) for path in sorted(folder.rglob("*.html"))}


IDENTIFIERS = ("arxiv.org", "doi.org")
"""Hosts of the identifiers of papers, the only addresses outside a folder that its pages may link to."""


def assert_links_resolve(folder):
    """Every link and picture is a file of the folder or the identifier of a paper, every anchor is on its page."""
    parsed = pages(folder)
    for name, page in parsed.items():
        for target in page.targets:
            link = urlsplit(target)
            if link.scheme == "data" or link.netloc in IDENTIFIERS:
                continue
            assert not link.scheme, (name, target)
            assert not link.netloc, (name, target)
            path = (page.path.parent / unquote(link.path)).resolve() if link.path else page.path
            assert path.is_file(), (name, target)
            assert path.is_relative_to(folder.resolve()), (name, target)
            if link.fragment and "=" not in link.fragment:
                assert link.fragment in parsed[str(path.relative_to(folder.resolve()))].ids, (name, target)
