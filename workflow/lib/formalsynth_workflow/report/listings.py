"""Lines of the keys of config files, for links from the report's pages to them."""

from __future__ import annotations

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
