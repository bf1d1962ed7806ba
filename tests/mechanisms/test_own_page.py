"""docs/manual/mechanism.md names everything that a mechanism gets and gives, and nothing else."""

import re
from dataclasses import fields
from pathlib import Path

from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Sensitive
from formalsynth.core.mechanism import Context, DirectRelease, FitCache, Form, LaplaceCounts, Parent
from formalsynth.core.streams import OF_MECHANISMS

PAGE = (Path(__file__).parents[2] / "docs" / "manual" / "mechanism.md").read_text(encoding="utf-8")


def names(kind):
    """Fields of a dataclass."""
    return [part.name for part in fields(kind)]


def test_the_table_has_every_field_that_a_mechanism_may_use():
    table = PAGE.split("# What a mechanism gets and gives")[1].split("\n\n`@mechanism")[0]
    shown = {name for row in re.findall(r"^\| (`[^|]*`) \|", table, re.M) for name in re.findall(r"`([^`]*)`", row)}
    parts = {"records": names(Records), "parents[0]": names(Parent), "cache": names(FitCache)}
    assert set(names(Context)) == {"family", "records", "address", "parents", "cache"}
    expected = {f"context.{part}.{name}" for part, inner in parts.items() for name in inner}
    expected |= {f'context.address.generator("{stage}")' for stage in OF_MECHANISMS}
    expected |= {"context.family", "context.log_likelihood(draws)"}
    expected |= {f"{kind.__name__}({', '.join(names(kind))})" for kind in (Form, Sensitive, DirectRelease, LaplaceCounts)}
    assert len(expected) == 19
    assert shown == expected
    assert callable(Context.log_likelihood)
