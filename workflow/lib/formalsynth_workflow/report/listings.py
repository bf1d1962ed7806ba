"""Lines of the keys of config files, for links from the report's pages to them, and excerpts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, SequenceNode


def key_lines(path: Path) -> dict[str, int]:
    """Map dotted names to lines: the keys of a YAML file, down to the second level, and list items by their ``id``."""
    lines = {}
    for key, section in YAML(typ="safe", pure=True).compose(path).value:
        lines[key.value] = key.start_mark.line + 1
        if isinstance(section, MappingNode):
            lines |= {f"{key.value}.{name.value}": name.start_mark.line + 1 for name, _ in section.value}
        for item in section.value if isinstance(section, SequenceNode) else []:
            names = [value.value for name, value in item.value if name.value == "id"] if isinstance(item, MappingNode) else []
            lines |= {f"{key.value}.{name}": item.start_mark.line + 1 for name in names}
    return lines


def excerpt(lines: Sequence[str], first: int) -> list[str]:
    """Return the entry of a YAML file that starts in a line, numbered from 1, without the indentation of that line.

    Args:
        lines: lines of the file.
        first: number of the line.
    """
    start = lines[first - 1 :]
    depth = len(start[0]) - len(start[0].lstrip()) if start else 0
    inside = itertools.takewhile(lambda line: len(line) - len(line.lstrip()) > depth, start[1:])
    return [line[depth:] for line in [*start[:1], *inside]]
