"""Audit: rows for the neighbours of the first data sets, and their place in the other tables."""

from types import SimpleNamespace

import numpy as np
import pytest
from small_study import AUDIT, SETTINGS, audited_tables, small_paper

from formalsynth.audit.neighbours import additions
from formalsynth.core.arrays import Records, joined
from formalsynth.core.rows import AUDIT_COLUMNS
from formalsynth_workflow.steps.audit import _curve


@pytest.fixture
def tables_of(tmp_path, exact):
    """The tables of the small study with an audit, read again."""

    def tables_of(**audit):
        return audited_tables(small_paper(tmp_path, audit=AUDIT | {"replicates": 1} | audit).scenarios["skewed_n60"])

    return tables_of


def test_the_audited_epsilon_is_the_largest_of_one_release_at_the_first_delta(tables_of):
    tables = tables_of(deltas=[1e-2, 1e-3], replicates=2)
    audit = tables["audit"]
    assert list(audit) == list(AUDIT_COLUMNS)
    rows = tables["replicates"].set_index(["replicate", "synthesizer"])["audited"]
    assert rows.dropna().index.tolist() == [(k, id) for k in (0, 1) for id in ("Unweighted", "Weighted")]
    for (replicate, id), value in rows.dropna().items():
        tried = audit[(audit.replicate == replicate) & (audit.synthesizer == id) & (audit.neighbour != "same")]
        assert value == tried[(tried.delta == 1e-2) & (tried.releases == 1)].audited.max()
        assert value < tried.audited.max()


def test_a_data_set_that_cannot_be_audited_has_a_row_with_the_reason(tables_of, monkeypatch):
    def refusing(*given):
        raise ValueError("there is no such posterior")

    monkeypatch.setattr("formalsynth_workflow.steps.audit.audit", refusing)
    tables = tables_of()
    assert tables["audit"][["replicate", "synthesizer", "reason"]].values.tolist() == [
        [0, "Unweighted", "there is no such posterior"], [0, "Weighted", "there is no such posterior"],
    ]  # fmt: skip
    assert tables["replicates"]["audited"].isna().all()


def test_a_curve_has_the_loss_for_every_outcome_with_weights_computed_again_and_held(tables_of):
    outcome = {"low": 0.01, "high": 1e4, "points": 3, "log": True}
    tables = tables_of(outcome=outcome, predictors=[{"low": -2, "high": 6, "points": 3}], curve=True)
    audit = tables["audit"]
    curve = audit[audit.candidate == "curve"].set_index(["synthesizer", "value"]).sort_index()
    assert curve.index.tolist() == [(id, value) for id in ("Unweighted", "Weighted") for value in (0.01, 10, 1e4)]
    assert audit.held.notna().equals(audit.candidate == "curve")
    # weights that are all 1 are the same computed again and held; min-max weights of others rise with a far record
    assert (curve.audited == curve.held).loc["Unweighted"].all()
    assert (curve.audited > 2 * curve.held).loc[("Weighted", 1e4)]
    tried = audit[(audit.synthesizer == "Weighted") & audit.worst & (audit.releases == 1) & (audit.delta == 1e-3)]
    shown = tables["replicates"].set_index("synthesizer")["audited"]["Weighted"]
    assert shown.dropna().tolist() == [tried.audited.max()]


def test_only_batches_with_audited_data_sets_are_audited(tmp_path):
    scenario = small_paper(tmp_path, audit=AUDIT | {"replicates": 1}).scenarios["skewed_n60"]
    assert scenario.audit_job("0000-0001", SETTINGS).replicates == (0,)
    assert scenario.audit_job("0001-0002", SETTINGS) is None


class Counted:
    """A replay whose posteriors are the numbers of records, and whose losses are differences of those."""

    def __init__(self, universe):
        self.universe = universe

    def outcomes_on(self, index, only, failed):
        weights = np.zeros(len(self.universe))
        weights[index] = 1.0
        return {id: SimpleNamespace(weights=weights, sensitive=SimpleNamespace(threshold=None)) for id in only}

    def fixed(self, base, weights, threshold):
        return SimpleNamespace(weights=weights)

    def losses(self, base, other):
        difference = float(other[0].weights.sum() - base[0].weights.sum())
        return SimpleNamespace(epsilon=lambda delta: difference)


def test_a_curve_has_each_outcome_once():
    data = Records(np.zeros(3), np.column_stack([np.ones(3), np.arange(3)]), {"years": np.array([1.0, 2.0, 3.0])})
    predictors, inputs = [(0.0, 5.0, 9.0)], {"years": (1.0, 2.0, 4.0)}
    more = additions(data, np.array([0.0, 7.0]), [np.array(predictors[0])], {"years": np.array(inputs["years"])})
    search = SimpleNamespace(deltas=(1e-3,), moves=())
    job = SimpleNamespace(search=search, predictors=predictors, inputs=inputs, audited=("all",))
    rows = _curve(job, Counted(joined(data, more)), 3)
    assert [(row["value"], row["audited"], row["held"]) for row in rows] == [(0.0, 1.0, 1.0), (7.0, 1.0, 1.0)]
