"""Bounds of simulated data sets by sample size: python bench/contraction.py. It writes bench/tables/contraction.csv.

The same simulation as ``python -m formalsynth.errata contraction``, which checks it; about 20 seconds of processor time.
"""

from formalsynth.audit.limit_law import law
from formalsynth.audit.risks import RISK_POPULATIONS
from formalsynth.errata.checks.min_max import COLUMNS, SIZES, simulated
from page import table, write_table

HEAD = ("population", "n", "a", "law", *COLUMNS)


def main() -> None:
    """Print and write median and standard deviation of the bound for each population, sample size and kind of weights."""
    rows = []
    for population in RISK_POPULATIONS:
        for n in SIZES:
            limit, bounds = law(population, n), simulated(population, n)
            cells = [f"{bounds.median(name):.2f}, {bounds.sd(name)[0]:.3f} ± {bounds.sd(name)[1]:.3f}" for name in COLUMNS]
            rows.append([population.name, f"{n:,}", f"{limit.a:.2f}", f"{limit.median:.2f}, {limit.sd:.3f}", *cells])
    print(table(HEAD, rows))
    write_table("contraction", HEAD, rows)


if __name__ == "__main__":
    main()
