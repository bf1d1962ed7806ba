"""Check the language of code and texts against dev/words.yaml: words and names that this project does not use.

Run as ``python -m dev.words [paths]`` from the repository's folder: it prints a line for each use, with the word to write
instead, and exits with 1 if there are any. Given paths are checked even if they are listed as not clean yet.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

CAMEL = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")
"""Boundaries between the words of an identifier."""


def main(paths: list[str]) -> int:
    """Check the files of the repository, or those under the given paths."""
    rules = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    files = {path for pattern in rules["files"] for path in Path().glob(pattern)}
    if paths:
        files = {path for path in files if any(path.is_relative_to(folder) for folder in paths)}
    else:
        files = {path for path in files if not any(path.is_relative_to(folder) for folder in rules["not yet"])}
    texts = [(path, path.read_text(encoding="utf-8")) for path in sorted(files)]
    uses = [(path, *use) for path, text in texts for use in check(text, rules, python=path.suffix == ".py")]
    for path, line, use, instead in uses:
        print(f"{path}:{line}: {use}: {instead}")
    return int(bool(uses))


def check(text: str, rules: dict[str, Any], *, python: bool) -> Iterator[tuple[int, str, str]]:
    """Yield line number, forbidden use and replacement; names and docstrings are checked in Python files only."""
    words = {re.compile(word, re.IGNORECASE): instead for word, instead in rules["words"].items()}
    forbidden = re.compile(rf"\b(?:{'|'.join(rules['words'])})\b", re.IGNORECASE)
    for number, line in enumerate(text.splitlines(), 1):
        for match in forbidden.finditer(CAMEL.sub(" ", line)):
            yield number, match.group(), next(instead for word, instead in words.items() if word.fullmatch(match.group()))
    nodes = list(ast.walk(ast.parse(text))) if python else []
    keys = [node.target for node in nodes if isinstance(node, ast.AnnAssign) and _name(node.target) in rules["config keys"]]
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            start = (node.value.value.split() or [""])[0]
            if start in rules["docstring starts"]:
                yield node.lineno, f'"{start} ..."', rules["docstring starts"][start]
        elif isinstance(node, ast.Name | ast.arg) and _name(node) in rules["names"] and node not in keys:
            yield node.lineno, f"variable {_name(node)}", rules["names"][_name(node)]


def _name(node: ast.AST) -> str:
    """Name that a node assigns; empty for other nodes."""
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
