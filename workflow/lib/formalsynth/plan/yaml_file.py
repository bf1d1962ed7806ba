"""Config files as text: YAML with keys and values, without repeated keys, of a size that people write by hand."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import yaml
from yaml.composer import Composer

from formalsynth.plan.messages import ConfigError

if TYPE_CHECKING or not yaml.__with_libyaml__:
    from yaml import SafeLoader as _FastLoader
else:  # seven times as fast
    from yaml import CSafeLoader as _FastLoader

NUMBERS = {
    "tag:yaml.org,2002:int": (r"[-+]?(0|[1-9][0-9_]*)",),
    "tag:yaml.org,2002:float": (
        r"[-+]?([0-9][0-9_]*\.[0-9_]*|\.[0-9]+)([eE][-+]?[0-9]+)?",
        r"[-+]?[0-9]+[eE][-+]?[0-9]+",
        r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
    ),
}
"""Patterns of numbers, by YAML tag."""
REFUSED = {
    "tag:yaml.org,2002:set": "is unordered: give a list",
    "tag:yaml.org,2002:omap": "is not a list: give keys and values",
    "tag:yaml.org,2002:pairs": "is not a list: give keys and values",
    "tag:yaml.org,2002:binary": "hides its contents: give text",
}
"""YAML tags that config does not accept, and what to give instead."""
LARGEST = 50_000
"""Largest number of values in a config file, about ten times that of the largest one shipped."""
LONGEST = 2_000_000
"""Largest size of a config file, in bytes."""


class _KeysOnce(Composer):
    """YAML composer that refuses a key given twice."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key in [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return node


class _Bounded(Composer):
    """YAML composer that refuses files whose aliases expand beyond any size that people write by hand."""

    largest: int
    """Largest number of values."""

    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None:
            _written_out(node, {}, self.largest)
        return node


def _written_out(node: yaml.Node, known: dict[int, int], largest: int) -> int:
    """Return the number of values in a node with its aliases expanded; ``known`` contains the nodes already counted."""
    if id(node) not in known:
        known[id(node)] = largest + 1  # a node inside itself would never end
        parts = node.value if isinstance(node, yaml.SequenceNode) else []
        parts = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else parts
        known[id(node)] = 1 + sum(_written_out(part, known, largest) for part in parts)
    if known[id(node)] > largest:
        problem = f"with its aliases expanded, this has more than {largest} values"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    return known[id(node)]


class _Loader(_Bounded, _KeysOnce, _FastLoader):
    """YAML loader that bounds the size, refuses repeated keys, and reads numbers in the usual way.

    1e-5 is a number; 010 is not 8, and 1:30 is not 90.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 # a class variable of PyYAML, and so typed
        first: [(tag, pattern) for tag, pattern in known if tag not in NUMBERS]
        for first, known in _FastLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, stream: IO[str], largest: int = LARGEST) -> None:
        _FastLoader.__init__(self, stream)
        Composer.__init__(self)
        self.largest = largest


class _Dumper(yaml.SafeDumper):
    """YAML dumper that quotes every text that :class:`_Loader` would read as a number, such as 1e3."""

    yaml_implicit_resolvers = {  # noqa: RUF012 # a class variable of PyYAML, and so typed
        first: list(known) for first, known in yaml.SafeDumper.yaml_implicit_resolvers.items()
    }


def yaml_text(tree: object, *, flow: bool | None = False, width: float = 10**9) -> str:
    """Write a tree as YAML that :func:`load_yaml` reads back.

    Args:
        tree: values, lists and mappings.
        flow: True for a single line; None for lists and mappings without others inside on a line each.
        width: longest line.
    """
    return yaml.dump(tree, Dumper=_Dumper, default_flow_style=flow, sort_keys=False, allow_unicode=True, width=width)


def _refuse(loader: _Loader, node: yaml.Node) -> None:
    raise yaml.MarkedYAMLError(problem=f"{node.tag} {REFUSED[node.tag]}", problem_mark=node.start_mark)


for _tag, _patterns in NUMBERS.items():
    for _either in (_Loader, _Dumper):
        _either.add_implicit_resolver(_tag, re.compile(f"^({'|'.join(_patterns)})$"), list("-+.0123456789"))
for _tag in REFUSED:
    _Loader.add_constructor(_tag, _refuse)


def parsed(text: str) -> Any:
    """Parse YAML that was written by a program, with PyYAML's own rules."""
    return yaml.load(text, Loader=_FastLoader)


def check_size(path: Path, times: int = 1) -> Path:
    """Return a path if its file has a size that people write by hand, or so many times that size.

    Raises:
        ConfigError: it is a pipe or a device, or too large.
        OSError: it does not exist.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ConfigError(f"{path}: (whole file): is a pipe or a device; allowed: a file")
    if path.stat().st_size > times * LONGEST:
        raise ConfigError(f"{path}: (whole file): has {path.stat().st_size} bytes; allowed: at most {times * LONGEST}")
    return path


def load_yaml(path: Path, times: int = 1) -> Mapping[Any, Any]:
    """Read a YAML file of keys and values.

    Args:
        path: the file.
        times: number of times that it may be larger than files that people write by hand.

    Raises:
        ConfigError: it cannot be read or parsed, or contains something else.
    """
    try:
        with open(check_size(path, times), encoding="utf-8") as file:
            values = yaml.load(file, Loader=functools.partial(_Loader, largest=times * LARGEST))  # type: ignore[arg-type]
    except ConfigError:
        raise
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: is missing") from error
    # numbers or dates that Python cannot represent, wrong tags and endlessly nested brackets raise errors other than YAMLError
    except (OSError, ValueError, LookupError, AttributeError, TypeError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        # the message quotes no content: the file may be confidential and given by mistake
        raise ConfigError(f"{path}: (whole file): contains something other than keys and values; allowed: keys and values")
    return values
