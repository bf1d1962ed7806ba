"""Check errata numerically: python tests/errata [E3 ...]; by default, all of them.

The command prints the printed formula, the derived formula and the numbers of each check. It exits with 0 if every finding
holds, and with 1 otherwise.
"""

import sys

from check import find_checks, holds

by_number = {number: (name, check) for name, check in find_checks().items() for number in (name, *check.also)}
if unknown := set(sys.argv[1:]) - set(by_number):
    sys.exit(f"unknown erratum: given {', '.join(sorted(unknown))}; allowed: {', '.join(by_number)}")
failed = False
for name, check in dict(by_number[number] for number in sys.argv[1:] or by_number).items():
    rows = check.rows()
    failed |= not holds(rows)
    print(f"{name}:", "\n".join(check.lines(rows)))
    print(f"{name} {'holds' if holds(rows) else 'DOES NOT HOLD'}\n", flush=True)
sys.exit(failed)
