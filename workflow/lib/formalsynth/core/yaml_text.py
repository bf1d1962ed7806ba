"""Values as text in YAML."""

from __future__ import annotations

import re

import yaml


class _Dumper(yaml.SafeDumper):
    """Writer of YAML that programs with YAML 1.1 read alike: it quotes yes, and like it 1e3 and 08, numbers in YAML 1.2 only."""


_NUMBER = re.compile(r"^[-+]?(0o[0-7]+|0[0-9]+|[0-9][0-9_]*\.?[0-9_]*[eE][-+]?[0-9]+)$")
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, list("-+0123456789"))


def yaml_text(tree: object, *, flow: bool | None = False, width: float = 10**9) -> str:
    """Write a tree as YAML that :func:`~formalsynth.settings.yaml_file.load_yaml` reads back.

    Args:
        tree: values, lists and mappings.
        flow: True for a single line; None for lists and mappings without others inside on a line each.
        width: longest line.
    """
    return yaml.dump(tree, Dumper=_Dumper, default_flow_style=flow, sort_keys=False, allow_unicode=True, width=width)
