"""Verdict from the declarations, and weak pairs: refused before a release, and left out after its noisy margins."""

import math

import households
import numpy as np
import pandas as pd
import pytest
import small_release

from formalsynth.core.text import DataError
from formalsynth_release.command import main
from formalsynth_release.layout import LARGE, WEAK, Layout, Reading, marks, weakness
from formalsynth_release.model import Model, pair_errors
from formalsynth_release.schema import Analyses
from formalsynth_release.tables import kept_pairs, measured, no_noise
from formalsynth_release.verdict import Verdict, refuse_weak

NUMBER = {"type": "number", "decimals": 2, "lower": -5, "upper": 5, "bins": 20, "release": "synthesized"}
COLUMNS = {
    "y": {key: value for key, value in NUMBER.items() if key != "release"},
    "x": NUMBER,
    "ward": {"type": "category", "categories": list("abcdefgh"), "release": "synthesized"},
    "rare": {"type": "category", "categories": ["no", "yes"], "release": "synthesized"},
}
PAIRS = [["x", "y"], ["y", "rare"], ["x", "ward"], ["ward", "rare"], ["y", "ward"], ["x", "rare"]]


def a_schema(rows, **changes):
    ours = {"outcome": "y", "rows": rows, "columns": COLUMNS, "pairs": PAIRS}
    return small_release.a_schema(**households.DECLARED | ours | changes)


def unrelated(rows, seed=1):
    """Rows of unrelated columns, five in a hundred of which are rare."""
    generator = np.random.default_rng(seed)
    return pd.DataFrame({
        "y": generator.normal(size=rows).round(2), "x": generator.normal(size=rows).round(2),
        "ward": generator.choice(list("abcdefgh"), rows), "rare": np.where(generator.random(rows) < 0.05, "yes", "no"),
    })  # fmt: skip


def test_the_standard_error_of_a_pair_is_that_of_its_noise():
    """A noisy sum is a correlation times the spreads of both columns; its noise has a standard deviation of sqrt(2) scales."""
    schema, rows = a_schema(4000, pairs=[["x", "y"]]).public, unrelated(4000)
    rows["y"] = (rows["x"] + 2 * rows["y"]) / 3
    layout = Layout(schema)
    places, parts = layout.places(rows), measured(schema, rows, 0.5, no_noise, kept=layout.pairs)
    shares = {name: np.bincount(places[name], minlength=width) / 4000 for name, width in layout.widths.items()}
    variables = layout.variables(shares)
    unit = parts[-1].largest * 4000 * variables["x"].spread * variables["y"].spread
    assert parts[-1].numbers[0] / unit == pytest.approx(rows["x"].corr(rows["y"]), abs=0.05)
    (factor,) = weakness(layout, variables, 4000, 0.5, layout.pairs).values()
    (stated,) = pair_errors(schema, parts).values()
    assert [factor * min(WEAK, LARGE), stated] == pytest.approx([math.sqrt(2) * parts[-1].scale / unit] * 2, rel=0.01)


def test_weak_pairs_are_refused_before_a_release_unless_they_are_accepted():
    refuse_weak(a_schema(30_000), 2.0)
    with pytest.raises(DataError, match=r"pairs: ward with rare: its noise can look .* the first 3 of the 6 pairs, or") as error:
        refuse_weak(a_schema(1000), 2.0)
    named = [line.split(": ")[2] for line in str(error.value).splitlines()]
    refuse_weak(a_schema(1000, accept_noise=[name.split(" with ") for name in named]), 2.0)
    assert Verdict(a_schema(1000), 2.0).carried == 3
    refuse_weak(a_schema(1000, pairs=PAIRS[:3]), 2.0)
    refuse_weak(a_schema(1000, pairs=[]), 2.0)
    with pytest.raises(ValueError, match="pairs has no y and ward, which accept_noise names"):
        a_schema(1000, pairs=PAIRS[:1], accept_noise=[["y", "ward"]])


@pytest.mark.parametrize("accept_noise", [[], [["x", "rare"]]])
def test_weak_pairs_are_left_out_after_the_margins_and_the_others_share_their_epsilon(accept_noise):
    schema = a_schema(400, accept_noise=accept_noise).public
    parts = measured(schema, unrelated(400), 2.0, no_noise)
    assert math.fsum(part.epsilon for part in parts) == pytest.approx(2.0)
    reading = Reading.of(schema, parts)
    kept = reading.layout.pairs
    assert 0 < len(kept) < 6
    factors = weakness(Layout(schema), reading.variables, 400, 2.0, kept)
    assert {pair for pair, factor in factors.items() if factor > 1} <= {("x", "rare")}
    assert (("x", "rare") in kept) == bool(accept_noise)
    assert kept == kept_pairs(Layout(schema), Reading(Layout(schema), parts[:4]), 2.0)
    assert list(Model.of(schema, parts).targets) == kept


def test_which_pairs_are_kept_depends_on_noisy_margins_only():
    """Two files with the same margins and opposite relations, with noise that is the same for the same counts."""
    schema, rows = a_schema(2000).public, unrelated(2000)
    other = rows.assign(**{name: rows[name].sort_values().to_numpy() for name in rows})

    def noise(names, counts, epsilon, sensitivity):
        return [int(count) + len(names) for count in counts]

    names = [[part.name for part in measured(schema, table, 2.0, noise)] for table in (rows, other)]
    assert names[0] == names[1]
    assert 4 < len(names[0]) < 10


def test_sixty_rows_carry_no_pair():
    assert Verdict(a_schema(60), 2.0).carried == 0
    parts = measured(a_schema(60).public, unrelated(60), 2.0)
    assert len(parts) == 4
    assert math.fsum(part.epsilon for part in parts) == pytest.approx(0.8)


def test_weak_and_left_out_pairs_are_named():
    schema = a_schema(400, accept_noise=[["x", "rare"]]).public
    weak, left_out, _ = marks(schema, measured(schema, unrelated(400), 2.0, no_noise))
    assert weak == ["x and rare"]
    assert "ward and rare" in left_out


def test_pairs_that_follow_from_declared_ones_are_named_before_and_after_a_release():
    """A sum of x and z, which are independent: both pairs with the sum relate them in the release."""
    columns = {"y": COLUMNS["y"], "x": NUMBER, "z": NUMBER, "far": NUMBER, "alone": NUMBER}
    schema = a_schema(30_000, columns=columns, pairs=[["x", "y"], ["y", "z"], ["z", "far"]])
    lines = Verdict(schema, 2.0).lines(Analyses(quantiles=[]))
    assert any(line.endswith("invent their relations: y by far through z; x by z through y.") for line in lines)
    rows = pd.DataFrame(np.random.default_rng(1).normal(size=(30_000, 5)).round(2), columns=list(columns))
    parts = measured(schema.public, rows, 2.0, no_noise)
    assert marks(schema.public, parts).implied == ["y and far", "x and z"]
    assert Layout(schema.public).of_pairs([("y", "x")]).implied == {}


def test_the_verdict_names_errors_and_what_would_help():
    analyses = Analyses.model_validate({
        "means": ["x"], "shares": [{"column": "ward", "value": "a"}, {"column": "x", "below": 0}], "quantiles": [0.5],
        "regressions": [{"predictors": ["x"]}, {"predictors": ["x", "ward"]}],
    })  # fmt: skip
    lines = Verdict(a_schema(1000), 2.0).lines(analyses)
    assert any(line.startswith("Pair ward by rare: standard error 0.0") and "weak: needs" in line for line in lines)
    verdict, ways = lines[-2:]
    assert verdict.startswith("Verdict: 6 of 7 analyses may have an interval, 2 of them with") and "pair ward by rare" in verdict
    assert "kept, unless it" in str(lines) and ways.startswith("What would help: only the first 3 of the 6 pairs; an epsilon of ")
    assert Verdict(a_schema(1000, pairs=[]), 2.0).lines(analyses)[-1].startswith("Verdict: 4 of 7 analyses may have an interval")
    assert (
        "Columns y, x, ward, rare: each share has a standard error of 0.014; noise alone changes groups of fewer than 142 rows"
        in lines[0]
    )
    last = Verdict(a_schema(60, pairs=PAIRS[:1]), 2.0).lines(analyses)[-1]
    assert last.startswith("What would help: only single columns; an epsilon of at least")
    assert any("worse than those of independent" in line for line in Verdict(a_schema(60), 2.0).lines(analyses))


WHOLE = {"type": "whole", "lower": 1, "upper": 90, "scale": "log", "bins": 20}


@pytest.mark.parametrize(("changes", "name", "reason"), [
    ({}, "0.5 quantile of y", "it is inside a bin"),
    ({"columns": COLUMNS | {"y": WHOLE}}, "0.5 quantile of y", "it is inside a bin or a small whole number"),
    ({}, "share of x below 0.1", "its limit is inside a bin"), ({}, "share of x below 0.5", ""), ({}, "mean of y", ""),
    ({"pairs": [["x", "y"], ["y", "ward"]]}, "y on x, ward", "the pair x and ward is not declared"),
    ({"rows_each": 4, "person": "id", "columns": COLUMNS | {"id": {"type": "whole", "release": "suppressed"}}}, "mean of y",
     "several rows describe the same household"),
])  # fmt: skip
def test_the_plan_names_what_has_no_interval_whatever_the_noise(changes, name, reason):
    analyses = Analyses.model_validate({
        "shares": [{"column": "x", "below": 0.1}, {"column": "x", "below": 0.5}], "quantiles": [0.5],
        "regressions": [{"predictors": ["x", "ward"]}],
    })  # fmt: skip
    schema = a_schema(30_000, **changes)
    lines = Verdict(schema, 2.0).lines(analyses)
    (line,) = [line for line in lines if line.startswith(f"{name}: ")]
    assert line.partition("; no interval, since ")[2].rstrip(".") == reason
    (verdict,) = [line for line in lines if line.startswith("Verdict: ")]
    assert not reason or f"Verdict: {5 - sum('no interval' in line for line in lines)} of 5 analyses may" in verdict


def test_what_a_weak_pair_needs_is_rounded_up():
    factor = max(Verdict(a_schema(1000), 2.0).weakness.values())
    with pytest.raises(DataError, match=r"needs 1\.1 times the rows"):
        refuse_weak(a_schema(int(1000 * factor / 1.02)), 2.0)


def test_the_plan_ends_with_the_verdict_and_opens_no_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    study = households.declared_study()
    households.declare(study, {"schema.yaml": {"missing": "drop_rows", "columns.income.may_be_missing": False},
                               "release.yaml": {"rows": 400, "analyses": {"replicates": 20}}})  # fmt: skip
    (tmp_path / "households.csv").unlink()
    capsys.readouterr()
    assert main(["plan", str(study)]) == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    assert "Errors to expect at epsilon 2, for 4000 rows; no file was opened." in printed
    assert "Rows with a missing value in a released column will be left out, but are counted here" in printed
    assert "Verdict: " in printed
