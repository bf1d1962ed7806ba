"""Weight of the repository: lines of code by room, without docstrings, comments, blank lines and imports, against a budget.

Run as ``python -m dev.weight`` to list the rooms; it exits with 1 if one is above its budget in ``dev/weight.yaml``. A raised
budget needs a reason in the commit: what was removed for it. ``--write`` lowers budgets to the present weights, and
raises none.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

import yaml

BUDGET = Path("dev", "weight.yaml")
NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
"""Tokens of lines without code."""
PACKAGES = (("workflow", "lib"), ("release",))
"""Folders of packages, whose rooms have a budget each."""


def main() -> int:
    """Run the command line: list each room with its weight and its budget."""
    parser = argparse.ArgumentParser(prog="python -m dev.weight", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--write", action="store_true", help="lower budgets to the present weights")
    options = parser.parse_args()
    weights, budgets = weigh(tracked()), yaml.safe_load(BUDGET.read_text(encoding="utf-8"))
    if options.write:
        lowered = {room: min(weight, budgets.get(room, weight)) for room, weight in sorted(weights.items())}
        BUDGET.write_text(f"# Lines of code by room: see dev/weight.py.\n{yaml.safe_dump(lowered)}", encoding="utf-8")
        return 0
    for room, weight in sorted(weights.items()):
        print(f"{weight:6} of {budgets.get(room, 0):6}  {room}")
    above = [room for room, weight in weights.items() if weight > budgets.get(room, 0)]
    for room in above:
        print(f"{room}: {weights[room]} lines of code, above its budget in {BUDGET}", file=sys.stderr)
    return int(bool(above))


def tracked() -> list[Path]:
    """Return the Python files that git tracks or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"], stdout=subprocess.PIPE, text=True, check=True
    )
    return [path for path in map(Path, listed.stdout.splitlines()) if path.exists()]


def weigh(paths: list[Path]) -> Counter[str]:
    """Count lines of code by room: a folder of the package, and each other top folder."""
    weights: Counter[str] = Counter()
    for path in paths:
        weights[room_of(path)] += lines_of_code(path)
    return weights


def room_of(path: Path) -> str:
    """Return the room of a file."""
    for folder in PACKAGES:
        if path.parts[: len(folder)] == folder:
            return "/".join(path.parts[len(folder) : -1][:2]) if path.parts[len(folder)] != "tests" else "release/tests"
    return "/".join(path.parts[:-1][: 2 if path.parts[0] == "workflow" else 1]) or "tests"


def lines_of_code(path: Path) -> int:
    """Count the lines of a file that contain code."""
    with path.open("rb") as file:
        tokens = [token for token in tokenize.tokenize(file.readline) if token.type not in NO_CODE]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import | ast.ImportFrom):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        body = getattr(node, "body", None)
        for part in body if isinstance(body, list) else []:
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str):
                lines -= set(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    return len(lines)


if __name__ == "__main__":
    sys.exit(main())
