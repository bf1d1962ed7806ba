"""Check errata numerically: python -m formalsynth.errata [E3 ...]; by default, all of them.

The command prints the printed formula, the derived formula and the numbers of each check. It exits with 0 if every finding
holds, and with 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from formalsynth.errata.check import CHECKS, Comparison, Evidence, NumericCheck


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0 if every finding holds, 1 if one does not, 2 if an erratum's number is unknown."""
    CHECKS.find()
    by_number = {number: check for check in CHECKS.values() for number in (check.name, *check.also)}
    parser = argparse.ArgumentParser(prog="python -m formalsynth.errata", description="Check errata numerically.")
    parser.add_argument("numbers", nargs="*", metavar="NUMBER", help=f"one of {', '.join(by_number)} (default: all)")
    asked = parser.parse_args(arguments).numbers
    unknown = [number for number in asked if number not in by_number]
    if unknown:
        print(f"unknown erratum: given {', '.join(unknown)}; allowed: {', '.join(by_number)}", file=sys.stderr)
        return 2
    chosen = {check.name: check for check in ([by_number[number] for number in asked] or CHECKS.values())}
    failed = [name for name, check in chosen.items() if not shown(check)]
    print(f"{len(chosen) - len(failed)} of {len(chosen)} hold" + (f"; not {', '.join(failed)}" if failed else ""))
    return int(bool(failed))


def shown(check: NumericCheck[Any]) -> bool:
    """Run a check and print it; True if the finding holds."""
    start = time.perf_counter()
    evidence = check.run()
    seconds = time.perf_counter() - start
    print("\n".join(lines(check, evidence)))
    print(f"{check.name} {'holds' if evidence.holds else 'DOES NOT HOLD'} ({seconds:.1f} s)\n", flush=True)
    return evidence.holds


def lines(check: NumericCheck[Any], evidence: Evidence) -> Iterator[str]:
    """Lines of the output: a check's two readings as text, and its comparisons as a table."""
    yield f"{check.name}: {check.title}"
    yield f"  printed: {check.printed.text}"
    yield f"  derived: {check.derived.text}"
    rows = [("", "printed", "derived", "found", "")]
    for printed, derived in zip(evidence.printed, evidence.derived, strict=True):
        rows.append((derived.quantity, _marked(printed), _marked(derived), str(derived.reference), derived.method))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:4], widths[1:], strict=True)), row[4]]
        yield ("  " + "  ".join(cells)).rstrip()
    yield from check.table() if check.table else ()


def _marked(comparison: Comparison) -> str:
    return f"{comparison.value} {'✓' if comparison.agrees else '✗'}"


if __name__ == "__main__":
    sys.exit(main())
