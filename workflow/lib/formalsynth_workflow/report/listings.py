"""Lines of the keys of config files, for links from the report's pages to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml


def key_lines(path: Path) -> dict[str, int]:
    """Map dotted names to lines: the keys of a YAML file, down to the second level, and list items by their ``id``."""
    lines: dict[str, int] = {}
    root = yaml.compose(path.read_text(encoding="utf-8"))
    for key, section in getattr(root, "value", []):
        lines[key.value] = key.start_mark.line + 1
        lines |= {f"{key.value}.{name}": node.start_mark.line + 1 for name, node in _inner_nodes(section)}
    return lines


def _inner_nodes(section: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    """Names and nodes of the keys of a mapping, or of the list items that have an id."""
    if isinstance(section, yaml.MappingNode):
        yield from ((key.value, key) for key, _ in section.value)
    for item in section.value if isinstance(section, yaml.SequenceNode) else []:
        for key, value in item.value if isinstance(item, yaml.MappingNode) else []:
            if key.value == "id":
                yield value.value, item
