"""The shipped claims on the reference run: they come out as its ledger says, and no longer do when something is broken."""

import pytest
import yaml
from formalsynth.ledger.judge import judge
from formalsynth.plan.load import read_plan
from formalsynth.plan.paper import figure_file
from formalsynth.report.reference import KEPT
from formalsynth.runtime.files import read_table


@pytest.fixture(scope="module")
def plan(repository):
    """The shipped plan."""
    return read_plan(yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8")), repository / "config")


@pytest.fixture(scope="module")
def ledger(repository):
    """The ledger of the reference run."""
    return read_table(repository / KEPT / "claims.csv")


def swapped(one, other):
    """Breaks a table: two synthesizers change names."""
    return lambda table: table.assign(synthesizer=table["synthesizer"].replace({one: other, other: one}))


def shifted(by, *synthesizers):
    """Breaks a table: values of some synthesizers, or of all, are moved."""

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
    """Figures' tables hold the very values that these claims are judged on."""
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


def test_no_claim_of_the_reference_ledger_lacks_an_estimate_without_a_reason(ledger):
    lacking = ledger[ledger["estimate"].isna()]
    assert lacking["note"].notna().all()
    assert not ledger["verdict"].eq("too few replicates").any()


def test_every_erratum_is_shown_by_a_claim_that_fails_with_it(plan, ledger):
    """An erratum that the run does not show would be an assertion."""
    errata = ledger[ledger["erratum"].notna()]
    finding = {erratum.id: erratum.kind for erratum in plan.errata}
    failed = errata[errata["verdict"].isin(finding.values())]
    assert failed["verdict"].tolist() == [finding[number] for number in failed["erratum"]]
    assert {f"E{number}" for number in range(1, 11)} <= set(errata["erratum"]) == set(failed["erratum"])
