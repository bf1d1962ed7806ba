"""Numbers in documents: tables inserted from stored runs, and a check that no other number is in prose.

``<!-- begin: FILE.csv rows=A,B* columns=C,D -->`` and ``<!-- end -->`` enclose a table that ``python -m dev.reference --write``
fills from the named file, in docs/reference or bench/tables. Both options may be left out. Rows are named by their first cell; a
column id is not shown. Run as ``python -m dev.numbers``, this prints each number in prose outside such parts with its sentence,
and exits with 1 if there are any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from formalsynth.core.words import METRICS, metric
from formalsynth_workflow.report.contents import read_ledger
from formalsynth_workflow.report.rows import ours

DOCUMENTS = ("README.md", "docs/**/*.md")
"""Documents whose parts are filled."""
PAGES = "explanation/*", "papers/*", "proofs/*", "developers/performance", "howto/sign", "tutorials/release"
CHECKED = ("README.md", *(f"docs/{name}.md" for name in PAGES))
"""Documents whose prose is checked."""
PART = re.compile(r"(<!-- begin: (\S+\.csv)((?: (?:rows|columns)=.*?)?) -->).*?<!-- end -->", re.DOTALL)
WORDS = (
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty|(?:thir|four|fif|six|seven|eigh|nine)teen|two|three|four|five|six|seven|eight|"
    r"nine|ten|eleven|twelve|hundreds?|thousands?|millions?|dozens?|half|halves|quarters?|twice|thrice|"
    r"(?<=a )(?:third|fourth|fifth|sixth|eighth|tenth|twentieth|hundredth|thousandth)|(?:third|fourth|fifth|sixth|eighth|tenth)s"
)
NUMBER = re.compile(rf"(?<![\w.-])[-−+]?\d[\d.,]*\d|(?<![\w.-])\d|\b(?:{WORDS})\b", re.IGNORECASE)
"""Number in digits or words."""
APART = re.compile(
    r"<!-- begin: (?:\S+\.csv[^>]*? -->.*?<!-- end -->|([\w ]+) -->.*?<!-- end: \1 -->)"  # generated parts
    r"|^( *)```.*?^\2```|`[^`]*`|^ {4,}\S.*?$|<!--.*?-->|\]\([^)]*\)|https?://\S+"  # code and links
    r"|^ *\d+\. |^#+ \d+\."  # lists and headings
    # references
    r"|\b(?:Sections?|Figures?|Tables?|Equations?|Theorems?|Lemmas?|Definitions?|Supplements?|Appendix|Corollary|Notes?|Python|"
    r"CmdStan|GCC|C\+\+|version) [A-Z]?\.?\d(?:[\d.-]*\d)?(?:(?:,|,?\s+and|\s+to|\s+or)\s+[A-Z]?\.?\d(?:[\d.-]*\d)?)*"
    r"|\b(?:19[5-9]|20[012])\d\b(?=\)|[,;] )|(?-i:[A-Z][a-z]+) 20[012]\d\b",  # years
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""Parts of a document other than its own prose."""
VALUE = r"[-−]?\d[\d,]*(?:\.\d+)?"
SETTING = re.compile(
    rf"(?:\b[nmkqKRabMs]|[εδλ]|\bepsilon|\bdelta|\bscale) (?:=|of) (?:{VALUE}(?:, | and | or |, and | / | to ))*{VALUE}"
    r"(?![\d.]*\d| ?%)"
)
"""Setting, which is allowed if all its values are in the configuration."""
SYMBOL = r"(?<!\w)(?:[A-Za-zα-ωΔΣ](?:_\w+)?|log|exp|√|π)"
FORMULA = re.compile(
    rf"{SYMBOL}\)? ?[*·^/<>≤≥+−-] ?\(?\d[\d.]*(?: ?[εδΔTKU])?(?!\d)|(?<![\w.])\d+ ?(?:[*·^/+−-] ?)?\(?{SYMBOL}(?!\w)"
    rf"|\[[^\]a-z]*\]|{SYMBOL}\(\d[\d., ]*\)|\b[A-Z][a-z]+\(\d[\d., ]*\)"
)
"""Numbers that are part of a formula, such as ``ε / 2``, ``1 - 1/K`` or ``Beta(0.5, 3)``."""
ENDS = re.compile(r"(?<![\w.,])[01](?![\w.,]*\d| ?%| of )")
"""0 and 1 alone, such as the ends of a share, which are allowed like the words none and one."""
DERIVED = re.compile(
    r"^\*\*(?:Neighbour relation|What is declared|What is published|What crosses|Score|Theorem|Proof|Units|What would break it)\."
    r".*?(?=^\*\*|^```|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""Paragraphs of a proof card that are derived and not measured."""
SMALL = re.compile(r"(?<![\w.,])2(?![\w.,]*\d| ?%)|\b(?:two|half|twice)\b", re.IGNORECASE)
"""Numbers that are allowed in such a paragraph."""
OWN_TEXTS = ("note", "claim", "subject")
"""Keys of texts of ours in the files of a paper; all others have settings and what is printed."""
EXCEPTIONS = {
    "95 % interval": "declared level of all intervals (inference.intervals), and no result",
    "up to 4 records on a grid": "declared size of the exact tests, and no result",
    "neighbours of 1000 records": "declared size of the exact tests, and no result",
}
"""Texts that may contain a number, at most 20, each with its reason."""


def main() -> int:
    """Check all documents, and print the numbers."""
    settings = set(config_values(Path("config")))
    lines = [
        f"{path}:{line}: {message}"
        for path in documents(Path(), CHECKED)
        for line, message in check(path.read_text(encoding="utf-8"), settings)
    ]
    lines += [line for path in sorted(Path("config", "claims").glob("*.yaml")) for line in check_notes(path)]
    print(*lines, sep="\n", end="\n" * bool(lines))
    return int(bool(lines))


def documents(folder: Path, patterns: tuple[str, ...] = DOCUMENTS) -> list[Path]:
    """List the documents below a folder, as paths relative to it."""
    return [path.relative_to(folder) for pattern in patterns for path in sorted(folder.glob(pattern))]


def check(text: str, settings: set[float]) -> Iterator[tuple[int, str]]:
    """Yield line and message for each number in the prose of a document; ``settings`` are the values in the configuration."""
    tables = " or ".join(dict.fromkeys(part[2] for part in PART.finditer(text))) or "a table in docs/reference or bench/tables"
    allowed = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in EXCEPTIONS)
    prose = _blank(re.compile(allowed), _blank(APART, text))
    prose = SETTING.sub(lambda part: " " * len(part[0]) if set(_values(part[0])) <= settings else part[0], prose)
    prose = DERIVED.sub(lambda part: _blank(SMALL, part[0]), _blank(ENDS, _blank(FORMULA, prose)))
    for match in NUMBER.finditer(prose):
        start = max(text.rfind(end, 0, match.start()) for end in (". ", ".\n", "\n\n", "| ", "- ")) + 1
        sentence = " ".join(re.split(r"\.\s|\n\n", text[start : start + 400], maxsplit=1)[0].split())
        yield text.count("\n", 0, match.start()) + 1, f'"{match[0]}" in "{sentence}": insert it from {tables}, or delete it'


def check_notes(claims: Path) -> Iterator[str]:
    """Yield a message for each number in the notes of a paper that is neither a setting of this paper nor printed in it."""
    paths = (claims, claims.parents[1] / "papers" / claims.name)
    texts = {path: list(_strings(yaml.safe_load(path.read_text(encoding="utf-8")))) for path in paths if path.exists()}
    known = {value for pairs in texts.values() for key, text in pairs if key not in OWN_TEXTS for value in _values(text)}
    for path, pairs in texts.items():
        for note in dict.fromkeys(text for key, text in pairs if key == "note"):
            for match in re.finditer(rf"(?<![\w.-]){VALUE}", _blank(FORMULA, _blank(APART, note))):
                if not set(_values(match[0])) <= known:
                    yield f'{path}: "{match[0]}" in "{" ".join(note.split())}": docs/reference/claims.csv has numbers of a run'


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _strings(inner, key if isinstance(name, int) and isinstance(value, list) else str(name))
    else:
        yield key, str(value)


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), text)


def _values(text: str) -> Iterator[float]:
    yield from (float(value.replace(",", "").replace("−", "-")) for value in re.findall(VALUE, text))


def config_values(folder: Path) -> Iterator[float]:
    """Yield the numbers in the YAML files of a folder that are values of their own."""
    for path in folder.rglob("*.yaml"):
        for _, text in _strings(yaml.safe_load(path.read_text(encoding="utf-8"))):
            if re.fullmatch(VALUE, text):
                yield from _values(text)


def filled(text: str, folder: Path) -> str:
    """Fill the tables of a document from their files below a folder.

    Raises:
        FileNotFoundError: a file does not exist.
        ValueError: a table has no such row.
    """
    return PART.sub(lambda part: f"{part[1]}\n\n{_table(folder / part[2], part[3])}\n\n<!-- end -->", text)


def _table(path: Path, options: str) -> str:
    chosen = {key: value.split(",") for key, value in re.findall(r"(rows|columns)=(\S+)", options)}
    if path.name == "claims.csv":
        claims = [(row.id, [row.claim, row.verdict, ours(row)]) for row in read_ledger(path)]
        head, rows = ["claim", "verdict", "found"], claims
    else:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        if "statistic" in table:
            table = _statistics(table, chosen.get("columns") or list(dict.fromkeys(table["statistic"])))
        else:
            table.index = pd.Index(table.pop("id") if "id" in table else table.iloc[:, 0])
        head, rows = [*map(str, table)], [(str(key), list(row)) for key, row in zip(table.index, table.to_numpy(), strict=True)]
    patterns = chosen.get("rows", ["*"])
    cells = [row for key, row in rows if any(fnmatchcase(key, pattern) for pattern in patterns)]
    if not cells:
        raise ValueError(f"{path} has no row {', '.join(patterns)}")
    return markdown_rows([head, ["---", *["---:"] * (len(head) - 1)], *cells])


def _statistics(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Arrange a table of statistics with a row for each synthesizer, which is the index."""
    METRICS.find()
    wide = table.assign(estimate=table["estimate"].map(_number)).pivot(
        index="synthesizer", columns="statistic", values="estimate"
    )
    named = table.drop_duplicates("synthesizer").set_index("synthesizer")
    wide = wide.loc[named.index].assign(mechanism=named["label"], guarantee=named["guarantee"])
    return wide[["mechanism", *columns]].rename(columns=lambda name: metric(name).name if name in columns else name)


def markdown_rows(rows: Iterable[Sequence[str]]) -> str:
    """Write rows of a table in Markdown: head, column alignment and cells."""
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def _number(text: str) -> str:
    if text in ("", "inf"):
        return text and "∞"
    value = float(text)
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}").replace("-", "−")


if __name__ == "__main__":
    sys.exit(main())
