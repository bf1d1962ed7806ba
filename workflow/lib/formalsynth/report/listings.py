"""Pages of the report that show config files and scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from markupsafe import Markup
    from pygments.filter import Filter
    from pygments.formatters import HtmlFormatter


def key_lines(path: Path) -> dict[str, int]:
    """Map dotted names to lines: the keys of a YAML file, down to the second level, and list items by their ``id``."""
    lines: dict[str, int] = {}
    root = yaml.compose(path.read_text(encoding="utf-8"))
    for key, section in getattr(root, "value", []):
        lines[key.value] = _line(key)
        lines |= {f"{key.value}.{name}": line for name, line in _inner_lines(section)}
    return lines


def _inner_lines(section: yaml.Node) -> Iterator[tuple[str, int]]:
    """Names and lines of the keys of a mapping, or of the list items that have an id."""
    if isinstance(section, yaml.MappingNode):
        yield from ((key.value, _line(key)) for key, _ in section.value)
    for item in section.value if isinstance(section, yaml.SequenceNode) else []:
        for key, value in item.value if isinstance(item, yaml.MappingNode) else []:
            if key.value == "id":
                yield value.value, _line(item)


def _line(node: yaml.Node) -> int:
    """Line on which a node starts; the first line is 1."""
    return int(node.start_mark.line) + 1


def highlighted(path: Path) -> Markup:
    """Source as HTML with an anchor for each line."""
    from markupsafe import Markup
    from pygments import highlight
    from pygments.lexers import PythonLexer, YamlLexer

    lexer = YamlLexer() if path.suffix == ".yaml" else PythonLexer()
    lexer.add_filter(_styled_only())
    lexer.add_filter("tokenmerge")
    return Markup(highlight(path.read_text(encoding="utf-8"), lexer, _formatter()))


def _styled_only() -> Filter:
    """Filter that turns tokens without a bold or italic style into plain text; otherwise their markup would be most of a page."""
    from pygments.filter import simplefilter
    from pygments.token import Comment, Keyword, Name, String, Text

    styled = Comment, Keyword, Name.Tag, Name.Class, String

    @simplefilter
    def plain(_self, _lexer, stream, _options):  # type: ignore[no-untyped-def]
        for kind, text in stream:
            yield (kind if any(kind in family for family in styled) else Text), text

    return plain()


def code_style() -> str:
    """Style sheet of highlighted sources."""
    return str(_formatter().get_style_defs(".code"))


def _formatter() -> HtmlFormatter:
    from pygments.formatters import HtmlFormatter

    # Black and white: bold and italic type distinguish the kinds of tokens.
    return HtmlFormatter(style="bw", linenos="inline", lineanchors="line", cssclass="code")
