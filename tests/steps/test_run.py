"""Run: a batch whose parts are kept, and used again as long as what they were made from is the same."""

from io import StringIO

import pandas as pd
import pytest
from formalsynth.core.registry import PACKAGE, forget_own, load
from formalsynth.core.rows import AUDIT_COLUMNS
from formalsynth.runtime import sources as room
from formalsynth.stan.fit import Fit
from formalsynth.steps import fit as fit_step
from formalsynth.steps.run import run_batch
from small_study import SETTINGS, as_passed, exact_sample, small_paper

FITS = ["Unweighted", "Weighted", "averaged_0.4_1.8", "nothing"]
MEMBERS = {fit: [f"{fit}.fit.npz", f"{fit}.measure.npz", f"{fit}.replicates.csv"] for fit in FITS}
AUDIT = {
    "outcome": {"low": 0.01, "high": 1e4, "points": 2, "log": True}, "predictors": [{"low": -2, "high": 6, "points": 2}],
    "each": 1, "random": 1, "refined": 1, "replicates": 1, "synthesizers": ["Unweighted", "Weighted"],
}  # fmt: skip
EVERYTHING = {"data.npz", *(name for names in MEMBERS.values() for name in names)}


def measured(*fits):
    return {name for fit in fits for name in MEMBERS[fit][1:]}


def files(*fits):
    return {name for fit in fits for name in MEMBERS[fit]}


@pytest.fixture
def job(tmp_path):
    """Job of the small study, as it gets it."""
    return job_of(tmp_path)


def job_of(folder, **changes):
    return as_passed(small_paper(folder, **changes).scenarios["skewed_n60"].batch_job("0000", SETTINGS))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a batch in a folder; the tables as text, and the files that were made."""
    monkeypatch.setattr(fit_step, "sample", exact_sample)
    folder = tmp_path / "batch"
    folder.mkdir()
    (tmp_path / "program").write_text("a program")

    def run(job):
        load(job.modules)
        before = times(folder)
        tables = run_batch(job, folder, tmp_path / "program")
        after = times(folder)
        assert set(after) >= EVERYTHING
        return {name: table.to_csv() for name, table in tables.items()}, {
            name for name in after if after[name] != before.get(name)
        }

    return run


def edit(patch, edited):
    """Make a source file say something else."""
    assert (PACKAGE / edited).is_file()
    digest = room._digest
    patch.setattr(room, "_digest", lambda path: "edited" if path == PACKAGE / edited else digest(path))


def times(folder):
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir() if path.name[0] != "."}


def test_everything_is_made_once(run, job):
    tables, made = run(job)
    assert made == EVERYTHING
    assert set(tables) == {"replicates", "audit", "records", "values", "sets", "draws"}
    assert run(job) == (tables, set())


def test_a_part_that_is_gone_damaged_or_without_a_seal_is_made_again_and_the_rest_is_kept(run, job, tmp_path):
    tables, _ = run(job)
    for name, expected in (
        ("data.npz", {"data.npz"}),
        ("Unweighted.fit.npz", {"Unweighted.fit.npz"}),
        ("Unweighted.measure.npz", measured("Unweighted")),
        ("Weighted.replicates.csv", measured("Weighted")),
    ):
        path = tmp_path / "batch" / name
        path.unlink()
        assert run(job) == (tables, expected), name
        path.write_bytes(path.read_bytes()[:-1])
        assert run(job) == (tables, expected), name
        path.with_name(f".{name}.sha256").unlink()
        assert run(job) == (tables, expected), name


def test_other_data_make_all_of_it_again(run, job, tmp_path):
    tables, _ = run(job)
    population = {"name": "lognormal_on_normal", "predictor_mean": 2, "predictor_sd": 1, "intercept": 1, "sigma": 2}
    others, made = run(job_of(tmp_path, population=population))
    assert made == EVERYTHING
    assert others["values"] != tables["values"]
    assert run(job) == (tables, EVERYTHING)


def test_another_unit_or_other_synthetic_sets_fit_nothing_again(run, job, tmp_path):
    run(job)
    assert run(job_of(tmp_path, unit=1000))[1] == measured(*FITS)


def test_another_setting_of_one_concerns_it_and_what_builds_on_it(run, job):
    run(job)
    fits, measures = list(job.fits), list(job.measures)
    k = next(k for k, fit in enumerate(fits) if fit.synthesizer.id == "Weighted")
    synthesizer = fits[k].synthesizer.model_copy(update={"parameters": {"c": 0.5}})
    fits[k] = fits[k].model_copy(update={"synthesizer": synthesizer})
    measures[k] = measures[k].model_copy(update={"members": (synthesizer, *measures[k].members[1:])})
    assert run(job.model_copy(update={"fits": tuple(fits), "measures": tuple(measures)}))[1] == files("Weighted")


def test_another_program_fits_again_and_measures_no_draws_that_stayed_the_same(run, job, tmp_path):
    tables, _ = run(job)
    (tmp_path / "program").write_text("another program")
    assert run(job) == (tables, {f"{fit}.fit.npz" for fit in FITS})


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        ("mechanisms/ranges.py", {"averaged_0.4_1.8.fit.npz"} | measured("averaged_0.4_1.8", "Weighted")),
        ("mechanisms/lipschitz.py", files("Unweighted", "Weighted", "nothing")),
        ("mechanisms/censoring.py", set()),
        ("families/linear.py", files(*FITS)),
        ("families/beta.py", set()),
        ("data/populations/lognormal.py", {"data.npz"}),
        ("steps/measure.py", measured(*FITS)),
        ("stan/sample.py", {f"{fit}.fit.npz" for fit in FITS}),
        ("steps/tables.py", set()),
        ("steps/audit.py", set()),
        ("audit/losses.py", set()),
    ],
)
def test_a_comment_in_the_code_makes_again_what_uses_it(run, job, monkeypatch, edited, expected):
    """And nothing that is made from it, since that is the same."""
    tables, _ = run(job)
    edit(monkeypatch, edited)
    assert run(job) == (tables, expected)


def test_a_run_that_was_stopped_goes_on_with_the_fit_that_was_not_finished(run, job, monkeypatch):
    tables, _ = run(job)

    class Stopped(Exception):
        pass

    seeds = []

    def stopping(executable, data, inits, parameters, seed, settings):
        seeds.append(seed)
        if len(seeds) == 5:  # the second replicate of the second fit
            raise Stopped
        return exact_sample(executable, data, inits, parameters, seed, settings)

    other = job.model_copy(
        update={"simulate": job.simulate.model_copy(update={"key": job.simulate.key.model_copy(update={"root": 8})})}
    )
    monkeypatch.setattr(fit_step, "sample", stopping)
    with pytest.raises(Stopped):
        run(other)
    again, made = run(other)
    assert made == EVERYTHING - {"data.npz"} - files("Unweighted")
    assert len(seeds) == 5 + 6
    assert again["replicates"] != tables["replicates"]


GINI = """
import numpy as np
from formalsynth.core.utility import utility

@utility("gini", label="Gini coefficient", meaning="0: all values are equal.")
def gini(x):
    n = len(x)
    return 2 * np.arange(1, n + 1) @ np.sort(x) / (n * x.sum()) - (n + 1) / n
"""


@pytest.fixture
def own_statistics(tmp_path):
    """A code file with an own utility statistic."""
    path = tmp_path / "own.py"
    path.write_text(GINI)
    load([str(path)])
    yield path
    forget_own()


def test_an_own_statistic_refits_nothing_and_is_a_column_of_every_data_set(run, job, own_statistics):
    tables, _ = run(job)
    asked = {"utility": ("gini",), "modules": (*job.modules, str(own_statistics))}
    measures = [part.model_copy(update=asked) for part in job.measures]
    with_it, made = run(job.model_copy(update={"measures": measures, "tables": job.tables.model_copy(update=asked)}))
    assert made == measured(*FITS)
    before, after = (pd.read_csv(StringIO(result["replicates"])) for result in (tables, with_it))
    ok = after["status"] == "ok"
    assert set(after.loc[ok, "synthesizer"]) == {"Data", "Unweighted", "Weighted", "averaged_0.4_1.8", "truncated_0.4_1.8"}
    assert after.loc[ok, "gini"].between(0, 1, inclusive="neither").all()
    assert after.loc[~ok, "gini"].isna().all()
    pd.testing.assert_frame_equal(before, after.drop(columns="gini"))


def test_no_fit_stays_in_memory_longer_than_others_need_it(run, job, monkeypatch):
    held = []

    def fit_batch(job, data, fitted, executable):
        held.append(set(fitted))
        return fit_step.fit_batch(job, data, fitted, executable)

    monkeypatch.setattr("formalsynth.steps.run.fit_batch", fit_batch)
    run(job)
    assert held == [set(), {"Unweighted"}, {"Unweighted"}, {"Unweighted"}]


def test_a_fit_knows_what_builds_on_it(run, job, monkeypatch):
    seen = []

    def fit_batch(job, data, fitted, executable):
        seen.extend((job.synthesizer.id, parent.children, set(parent.shared)) for parent in fitted.values())
        return fit_step.fit_batch(job, data, fitted, executable)

    monkeypatch.setattr("formalsynth.steps.run.fit_batch", fit_batch)
    run(job)
    built = [(member.mechanism, member.parameters) for measured in job.measures for member in measured.members if member.parents]
    replicates = set(range(len(job.simulate.replicates)))
    # the mechanisms of the first one's siblings see what it has left for them
    assert seen == [(id, built, left) for id, left in zip(FITS[1:], [set(), replicates, replicates], strict=True)]


def test_a_batch_of_failures_is_kept_too(run, job, monkeypatch):
    monkeypatch.setattr(fit_step, "sample", lambda *given: Fit("failed", "CmdStan stopped: no reason", seed=given[4]))
    tables, made = run(job)
    assert made == EVERYTHING
    assert run(job) == (tables, set())


def test_an_audit_refits_nothing_and_nothing_else_makes_it_again(run, job, tmp_path, monkeypatch):
    tables, _ = run(job)
    asked = job_of(tmp_path, audit=AUDIT)
    audited, made = run(asked)
    assert made == {"audited.csv"}
    assert run(asked) == (audited, set())
    assert {name for name in tables if tables[name] != audited[name]} == {"audit", "replicates"}
    assert run(job_of(tmp_path, audit=AUDIT | {"deltas": [0.01]}))[1] == {"audited.csv"}
    # its posteriors are exact, so the sampler is none of its business
    assert run(job_of(tmp_path, audit=AUDIT | {"deltas": [0.01]}, unit=1000))[1] == measured(*FITS)
    for edited, expected in (
        ("audit/losses.py", {"audited.csv"}),
        ("audit/exact_lattice.py", set()),
        ("steps/audit.py", {"audited.csv"}),
        ("steps/measure.py", measured(*FITS)),
    ):
        run(asked)
        with monkeypatch.context() as patch:
            edit(patch, edited)
            assert run(asked) == (audited, expected), edited


def test_the_audited_epsilon_is_the_largest_of_one_release_at_the_first_delta(run, tmp_path):
    job = job_of(tmp_path, audit=AUDIT | {"deltas": [1e-2, 1e-3], "replicates": 2})
    tables = {name: pd.read_csv(StringIO(text)) for name, text in run(job)[0].items()}
    audit = tables["audit"]
    assert list(audit)[1:] == list(AUDIT_COLUMNS)
    rows = tables["replicates"].set_index(["replicate", "synthesizer"])["audited"]
    assert rows.dropna().index.tolist() == [(k, id) for k in (0, 1) for id in ("Unweighted", "Weighted")]
    for (replicate, id), value in rows.dropna().items():
        tried = audit[(audit.replicate == replicate) & (audit.synthesizer == id) & (audit.neighbour != "same")]
        assert value == tried[(tried.delta == 1e-2) & (tried.releases == 1)].audited.max()
        assert value < tried.audited.max()


def test_a_data_set_that_cannot_be_audited_has_a_row_with_the_reason(run, tmp_path, monkeypatch):
    def refusing(*given):
        raise ValueError("there is no such posterior")

    job = job_of(tmp_path, audit=AUDIT)
    load(job.modules)
    monkeypatch.setattr("formalsynth.steps.audit.audit", refusing)
    tables = {name: pd.read_csv(StringIO(text)) for name, text in run(job)[0].items()}
    assert tables["audit"][["replicate", "synthesizer", "reason"]].values.tolist() == [
        [0, "Unweighted", "there is no such posterior"], [0, "Weighted", "there is no such posterior"],
    ]  # fmt: skip
    assert tables["replicates"]["audited"].isna().all()


def test_a_curve_tells_the_loss_for_every_outcome_with_weights_computed_again_and_held(run, tmp_path):
    outcome = {"low": 0.01, "high": 1e4, "points": 3, "log": True}
    asked = AUDIT | {"outcome": outcome, "predictors": [{"low": -2, "high": 6, "points": 3}], "curve": True}
    tables = {name: pd.read_csv(StringIO(text)) for name, text in run(job_of(tmp_path, audit=asked))[0].items()}
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
