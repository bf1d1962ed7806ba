"""Tests of the shipped claims on the reference run: verdicts as in its ledger, and other verdicts for broken tables."""

import pytest
import yaml

from dev.reference import KEPT
from formalsynth.runtime.files import read_table
from formalsynth_workflow.ledger.claims import kind_name
from formalsynth_workflow.ledger.judge import judge
from formalsynth_workflow.plan.load import read_plan
from formalsynth_workflow.plan.paper import figure_file


@pytest.fixture(scope="module")
def plan(repository):
    """The shipped plan."""
    return read_plan(yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8")), repository / "config")


@pytest.fixture(scope="module")
def ledger(repository):
    """The ledger of the reference run."""
    return read_table(repository / KEPT / "claims.csv")


def swapped(first, second):
    """Break a table: exchange the names of two synthesizers."""
    return lambda table: table.assign(synthesizer=table["synthesizer"].replace({first: second, second: first}))


def shifted(by, *synthesizers):
    """Break a table: shift the values of some synthesizers, or of all."""

    def broken(table):
        moved = table["synthesizer"].isin(synthesizers or table["synthesizer"].unique())
        return table.assign(value=table["value"].where(~moved, table["value"] + by))

    return broken


BROKEN = {
    "range-delta-order": swapped("Weighted", "averaged_0.6_1.2"),
    "range-averaged-narrower": swapped("averaged_0.4_1.8", "averaged_0.6_1.2"),
    "range-ecdf-averaged": swapped("Weighted", "averaged_0.4_1.8"),
    "range-q90-averaged": shifted(60, "averaged_0.4_1.8", "averaged_0.6_1.2"),
    "range-top-weighted": swapped("Weighted", "top_0.1"),
    "reweight-poisson-delta": shifted(1),
    "reweight-mixtures-delta": shifted(-2),
}


@pytest.mark.parametrize("id", BROKEN)
def test_a_broken_table_changes_the_verdict(id, plan, ledger, repository):
    """The tables of the figures have the values that these claims are judged on."""
    claim = next(claim for paper in plan.papers.values() for claim in paper.claims if claim.id == id)
    kept = repository / KEPT / claim.paper / f"{figure_file(claim.shows.removeprefix('figure '))}.csv"
    table = read_table(kept)

    def verdict(values):
        rows = values.rename(columns={"value": claim.estimate.value[0]})
        return judge(claim, [rows], plan.config.verdicts, plan.config.root_seed, True).verdict

    assert verdict(table) == ledger.set_index("id").loc[id, "verdict"] == "reproduced"
    assert verdict(BROKEN[id](table)) in ("not reproduced", "undetermined", "direction only")


def test_the_reference_ledger_has_every_shipped_claim_once(plan, ledger):
    shipped = [claim.id for paper in plan.papers.values() for claim in paper.claims]
    assert ledger["id"].tolist() == shipped
    assert len(shipped) >= 90


FATIGUE = ("unweighted", "weighted", "averaged", "averaged-narrow")
COUNTS = ("", "-q1", "-median", "-q3", "-sd", "-range-5", "-range-4", "-range-3")
RECOVERED = {
    *(f"range-fatigue-{name}{statistic}" for name in FATIGUE for statistic in ("", "-median", "-q90")),
    *("range-scaled-epsilon", "range-scaled-equal", "range-fatigue-utility", "range-fatigue-utility-mean"),
    *(f"censor-{name}-counts{statistic}" for name in ("uw", "w", "weighted-e") for statistic in COUNTS),
    *(f"reweight-table-{statistic}" for statistic in ("q15", "q90", "mean", "median")),
    *(f"reweight-{claim}-{statistic}" for claim in ("cw", "gain") for statistic in ("q15", "q90", "mean", "median")),
    "reweight-cw-tail",
    *("reweight-text-q15", "reweight-text-q90", "reweight-cw-same-privacy"),
}
"""Claims on printed numbers that were used to choose settings that the papers do not print, and on others of the same rows."""


def test_claims_that_settings_were_chosen_by_are_not_counted(plan):
    kinds = {claim.id: claim.kind for paper in plan.papers.values() for claim in paper.claims if not claim.reading_of}
    assert {id for id, kind in kinds.items() if kind == "recovered"} == RECOVERED
    assert len(RECOVERED) == 56
    assert kinds["reweight-poisson-loss"] == kinds["reweight-mixtures-loss"] == "by construction"


def test_no_claim_on_drawn_or_stand_in_records_counts_as_reproduced(plan, ledger):
    on_salaries = [
        claim.id
        for paper in plan.papers.values()
        for claim in paper.claims
        if "salary" in {scenario.name for scenario in claim.scenarios}
    ]
    assert len(on_salaries) == 52
    rows = ledger.set_index("id").loc[on_salaries]
    assert not ((rows["kind"] == "test") & (rows["verdict"] != "stand-in data")).any()


def test_the_reference_ledger_has_the_kinds_of_the_config(plan, ledger):
    claims = [claim for paper in plan.papers.values() for claim in paper.claims]
    kinds = {claim.id: "another reading" if claim.reading_of else claim.kind for claim in claims}
    assert {row.id: kind_name(row.kind) for row in ledger.itertuples()} == kinds


def test_no_claim_of_the_reference_ledger_lacks_an_estimate_without_a_reason(ledger):
    lacking = ledger[ledger["estimate"].isna()]
    assert lacking["note"].notna().all()
    assert not ledger["verdict"].eq("too few replicates").any()


def test_every_erratum_is_shown_by_a_claim_that_fails_with_it(plan, ledger):
    """An erratum that no claim of the run shows would be unsupported."""
    errata = ledger[ledger["erratum"].notna()]
    finding = {erratum.id: erratum.kind for erratum in plan.errata}
    failed = errata[errata["verdict"].isin(finding.values())]
    assert failed["verdict"].tolist() == [finding[number] for number in failed["erratum"]]
    assert {f"E{number}" for number in range(1, 11)} <= set(errata["erratum"]) == set(failed["erratum"])
