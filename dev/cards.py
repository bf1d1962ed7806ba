"""Check of proof cards: sources that CITATION.cff lists, and code that has not changed since the proof was confirmed.

Run as ``python -m dev.cards`` from the repository's folder: it prints a line for each fault and exits with 1 if there are any.
``--confirm`` writes the present digest of the code that a card names, after its proof was compared with this code.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path

import yaml

CARDS = "docs/proofs/*.md"
SOURCES = re.compile(r"^\*\*Sources\.\*\* .+?(?=\n\n)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^(\*\*Code\.\*\* .+?\sConfirmed:\s)`(\w*)`", re.MULTILINE | re.DOTALL)
"""Paragraph with the names of functions, classes and Stan files, and the digest of their code when the proof was confirmed."""
BLOCKS = ("INDENT", "DEDENT")
"""Tokens for the begin and the end of a block."""
COMMENT = re.compile(r"//.*|\s+")


def main() -> int:
    """Run the command line: print the faults of all cards."""
    parser = argparse.ArgumentParser(prog="python -m dev.cards", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--confirm", metavar="CARD", type=Path, nargs="+", default=[], help="write the digest of its code")
    for card in parser.parse_args().confirm:
        text = card.read_text(encoding="utf-8")
        card.write_text(CODE.sub(lambda match: f"{match[1]}`{digest(match[1])}`", text), encoding="utf-8")
    listed = listed_sources(Path("CITATION.cff"))
    lines = [
        f"{card}: {fault}" for card in sorted(Path().glob(CARDS)) for fault in faults(card.read_text(encoding="utf-8"), listed)
    ]
    print(*lines, sep="\n", end="\n" * bool(lines))
    return int(bool(lines))


def listed_sources(citation: Path) -> set[str]:
    """Return the addresses of the references in CITATION.cff."""
    references = yaml.safe_load(citation.read_text(encoding="utf-8"))["references"]
    return {f"https://doi.org/{source['doi']}" if "doi" in source else source.get("url", "") for source in references}


def faults(text: str, listed: Collection[str]) -> Iterator[str]:
    """Yield the faults of the head of a card, as sentences.

    Args:
        text: text of the card.
        listed: addresses of sources.
    """
    sources, code = SOURCES.search(text), CODE.search(text)
    cited = re.findall(r"<(https://.+?)>", sources[0]) if sources else []
    if not cited:
        yield "it names no sources: add a paragraph **Sources.** with their addresses, <https://doi.org/...>"
    yield from (f"CITATION.cff does not list {address}" for address in cited if address not in listed)
    if not code:
        yield "it names no code: add a paragraph **Code.** `module:function`, `stan/file.stan`. Confirmed: ``"
    elif digest(code[1]) != code[2]:
        yield "outdated: its code has changed. Compare the proof with it, then run python -m dev.cards --confirm <card>"


def digest(paragraph: str) -> str:
    """Compute the digest of the code that a paragraph names in backticks, without comments, docstrings and layout."""
    names = re.findall(r"`([\w./]+:[\w.]+|[\w./]+/[\w.]+)`", paragraph)
    return hashlib.sha256("\n".join(map(code_of, names)).encode()).hexdigest()[:12]


def code_of(name: str) -> str:
    """Return the code of ``module:function``, or of a file, without comments, docstrings and layout.

    Raises:
        LookupError: there is no such function.
    """
    module, _, path = name.partition(":")
    if not path:
        return COMMENT.sub("", Path(name).read_text(encoding="utf-8"))
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise LookupError(f"there is no module {module}")
    text = Path(spec.origin).read_text(encoding="utf-8")
    node: ast.AST = ast.parse(text)
    for part in path.split("."):
        inner = [child for child in ast.iter_child_nodes(node) if part in _names(child)]
        if not inner:
            raise LookupError(f"there is no {name}")
        node = inner[0]
    docstrings = {
        line
        for child in ast.walk(node)
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        for line in range(child.lineno, (child.end_lineno or child.lineno) + 1)
    }
    within = range(_first_line(node), (getattr(node, "end_lineno", None) or 0) + 1)
    tokens = [token for line, token in _tokens(text) if line in within and (line not in docstrings or token in BLOCKS)]
    return " ".join(itertools.dropwhile(BLOCKS.__contains__, tokens))  # blocks before it begin or end there


def _first_line(node: ast.AST) -> int:
    """Line of a statement, or of the first of its decorators."""
    return min(part.lineno for part in [node, *getattr(node, "decorator_list", [])] if isinstance(part, ast.stmt | ast.expr))


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield the tokens of a module with their lines, without comments and layout, the same in every version of Python.

    A string with fields is one token, as it was before Python 3.12.
    """
    lines, nested, start = list(io.StringIO(text)), 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind.endswith("STRING_START"):
            start, nested = token.start if not nested else start, nested + 1
        elif kind.endswith("STRING_END"):
            nested -= 1
            if not nested:
                (first, begin), (last, end) = start, token.end
                whole = "".join(lines[first - 1 : last])
                yield first, whole[begin : len(whole) - len(lines[last - 1]) + end]
        elif not nested and kind in (*BLOCKS, "NEWLINE"):
            yield token.start[0], kind
        elif not nested and kind not in ("COMMENT", "NL"):
            yield token.start[0], token.string


def _names(node: ast.AST) -> set[str]:
    """Names that a statement defines."""
    targets = getattr(node, "targets", [getattr(node, "target", node)])
    return {str(getattr(target, "name", getattr(target, "id", ""))) for target in targets}


if __name__ == "__main__":
    sys.exit(main())
