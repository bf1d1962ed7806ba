"""Config files as text: YAML 1.2 with keys and values, without repeated keys, of a size that people write by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode

from formalsynth.settings.messages import ConfigError

TAGS = ("bool", "float", "int", "map", "null", "seq", "str", "timestamp")
"""YAML tags that config accepts; sets have no order, and binary data hide their contents."""
LARGEST = 50_000
"""Largest number of values in a config file with its aliases expanded, about ten times that of the largest one shipped."""
LONGEST = 2_000_000
"""Largest size of a config file, in bytes."""


class _Constructor(SafeConstructor):
    """Constructor of Python values that refuses a key given twice, without its value: a file may be confidential."""

    yaml_constructors = {  # noqa: RUF012 # a class variable of ruamel.yaml, and so typed
        tag: constructor
        for tag, constructor in SafeConstructor.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[2] in TAGS
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        # ruamel.yaml checks no mapping with a merge, and inserts what is merged before its own keys
        own = node.value[len(getattr(node, "merge", None) or ()) :] if isinstance(node, MappingNode) else []
        seen: set[str] = set()
        for key in (key for key, _ in own if isinstance(key, ScalarNode)):
            if key.value in seen:
                raise MarkedYAMLError(problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def parsed(text: str) -> Any:
    """Parse YAML that was written by a program, as YAML 1.1."""
    return yaml.safe_load(text)


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


def _count(value: object, known: dict[int, float]) -> float:
    """Count the keys and values in a value with its aliases expanded; infinitely many in a value that contains itself."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = math.inf
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_count(part, known) for part in parts)
    return known[id(value)]


def load_yaml(path: Path, times: int = 1) -> Mapping[Any, Any]:
    """Read a YAML file of keys and values.

    Args:
        path: the file.
        times: number of times that it may be larger than files that people write by hand.

    Raises:
        ConfigError: it cannot be read or parsed, or contains something else.
    """
    reader = YAML(typ="safe")
    reader.Constructor = _Constructor
    try:
        with open(check_size(path, times), encoding="utf-8") as file:
            values = reader.load(file)
    except ConfigError:
        raise
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: is missing") from error
    # numbers or dates that Python cannot represent, wrong tags and endlessly nested brackets raise errors other than YAMLError
    except (OSError, ValueError, LookupError, AttributeError, TypeError, RecursionError, YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        # the message quotes no content: the file may be confidential and given by mistake
        raise ConfigError(f"{path}: (whole file): contains something other than keys and values; allowed: keys and values")
    if _count(values, {}) > times * LARGEST:
        most = f"at most {times * LARGEST} values, with aliases expanded"
        raise ConfigError(f"{path}: (whole file): has too many values; allowed: {most}")
    return values
