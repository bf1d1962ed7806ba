"""Check of the English in documents and captions by proselint.

Run as ``python -m dev.prose`` from the repository's folder; it prints a line for each finding and exits with 1 if there are any.
"""

import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from proselint.checks import __register__
from proselint.config import DEFAULT
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

from formalsynth_workflow.plan.load import plan_of
from formalsynth_workflow.show.captions import caption, details

OFF = {
    "typography.symbols.curly_quotes": "documents are typed with straight quotes, and quote programs that print them",
    "typography.symbols.ellipsis": "three full stops mark omitted parts of a command or a list",
    "typography.symbols.copyright": "(c) is the third part of a figure",
    "spelling.consistency": "names of agencies are spelled as the agencies spell them",
}
"""Checks that are switched off, each with the reason."""
DOCUMENTS = "*.md", "config/README.md", "docs/[!p]*/*.md", "docs/papers/*.md"
"""Documents without the proofs, whose formulas are no prose."""
CODE = re.compile(r"```.*?```|`[^`\n]*`|<!--.*?-->|\]\([^)\s]*\)|</?[A-Za-z][^>\n]*>|^ {4}.*$", re.DOTALL | re.MULTILINE)
"""Parts of a document other than prose: code, markup, link targets."""


def main() -> int:
    """Check all texts, and print the findings."""
    CheckRegistry().register_many(__register__)
    config = DEFAULT | {"checks": dict.fromkeys(OFF, False) | DEFAULT["checks"]}  # the first match applies
    findings = 0
    for name, text in texts():
        for finding in LintFile(name, content=text).lint(config):
            line, column = finding.pos
            print(f"{name}:{line}:{column}: {finding.check_result.check_path}: {finding.check_result.message}")
            findings += 1
    return int(findings > 0)


def texts() -> Iterator[tuple[str, str]]:
    """Yield name and prose of each document and caption."""
    for pattern in DOCUMENTS:
        for path in sorted(Path().glob(pattern)):
            yield str(path), prose(path.read_text(encoding="utf-8"))
    plan = plan_of(Path("config"))
    for paper in plan.papers.values():
        for number in paper.figures:
            figure = paper.figure(number, "paper")
            yield f"caption of {paper.key} figure {number}", caption(figure) + details(figure)
        for key in paper.tables:
            table = paper.table(key, "paper")
            yield f"caption of {paper.key} table {key}", caption(table) + details(table)


def prose(text: str) -> str:
    """Remove code from a document; lines keep their numbers, and code becomes made-up words, none twice in a row."""
    number = itertools.count()
    return CODE.sub(lambda part: "\n" * part.group().count("\n") or chr(97 + next(number) % 26) * 3, text)


if __name__ == "__main__":
    sys.exit(main())
