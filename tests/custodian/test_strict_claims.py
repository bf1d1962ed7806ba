"""Releases of strict mechanisms state the epsilon that is guaranteed, and nothing is released that the audit refutes."""

import contextlib
import json
import re
from pathlib import Path

import incomes
import numpy as np
import pandas as pd
import pytest
import yaml
from formalsynth.cli.main import main
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.words import guarantee
from formalsynth.custodian.budget import read_ledger, table
from formalsynth.custodian.candidates import read_study
from formalsynth.custodian.guarantees import guarantee_sentence
from formalsynth.custodian.hash_chain import LedgerEntry
from formalsynth.custodian.internal_audit import AuditResult
from formalsynth.custodian.schema import read_declared, read_release
from formalsynth.custodian.sources import declarations_of
from formalsynth.plan.model import find_all
from formalsynth.settings.messages import ConfigError

SYNTHESIZERS = {
    "Censor_uw": {"mechanism": "censored_unweighted", "parameters": {"epsilon": 5}},
    "Reference": {"mechanism": "reference_censored", "parameters": {"epsilon": 5, "scale": 8, "theta1": 0.5, "theta2": 2}},
    "Histogram": {"mechanism": "perturbed_histogram", "parameters": {"epsilon": 1, "low": 1e-6, "high": 1 - 1e-6}},
    "Unweighted": {"mechanism": "unweighted"},
    "Weighted": {"mechanism": "weighted", "parents": ["Unweighted"]},
    "Censor_w": {"mechanism": "censored_weighted", "parents": ["Weighted"], "parameters": {"epsilon": 5}},
}
EVERY_FILE = re.compile(r"for every (file|data set)", re.IGNORECASE)


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A declared study of 1,000 uniform shares, none of which epsilon 5 censors; seen from where its file is."""
    monkeypatch.chdir(tmp_path)
    shares = np.random.default_rng(1).uniform(0.01, 0.99, 1000).round(4)
    pd.DataFrame({"share": shares}).to_csv("share.csv", index=False)
    assert main(["inspect", "share.csv", "--outcome", "share"]) == 0
    column = {"columns.share.lower": 1e-6, "columns.share.upper": 1 - 1e-6, "columns.share.decimals": 6}
    schema = {key: value for key, value in incomes.DECLARED["schema.yaml"].items() if not key.startswith("columns.")}
    release = {"synthesizer": "Censor_uw", "sets": 1, "ceiling": 5, "budget": 100, "rows": 500}
    incomes.declare(
        "studies/share",
        {
            "schema.yaml": schema | column | {"rows": 1000, "neighbours": "add_remove"},
            "study.yaml": {
                "synthesizers": SYNTHESIZERS, "scenarios.share.family": "beta", "scenarios.share.synthesizers": [*SYNTHESIZERS],
            },
            "release.yaml": incomes.DECLARED["release.yaml"] | release,
        },
    )  # fmt: skip
    return Path("studies/share")


def texts(folder):
    """Sentences of a release on its guarantee, by file."""
    card = yaml.safe_load((folder / "deployment.yaml").read_text(encoding="utf-8"))["deployment"]
    numbers = card["privacy_loss"].get("privacy_parameters", {})
    return {
        "README.md": (folder / "README.md").read_text(encoding="utf-8"),
        "LEGAL.md": (folder / "LEGAL.md").read_text(encoding="utf-8"),
        "metadata.json": json.loads((folder / "metadata.json").read_text(encoding="utf-8"))["dc:description"],
        "deployment.yaml": card["privacy_loss"]["privacy_parameters_details"],
        "parameters": f"Epsilon at most {numbers['epsilon']:g} for" if numbers else "",
    }


@pytest.mark.parametrize("name", ["Censor_uw", "Reference"])
@pytest.mark.parametrize(
    ("neighbours", "sets", "claim"), [("add_remove", 1, "5"), ("replace", 1, "10"), ("add_remove", 3, "15"), ("replace", 3, "30")]
)
def test_a_ceiling_below_the_guarantee_is_refused_before_anything_is_spent(study, capsys, name, neighbours, sets, claim):
    """Twice the bound of the file is below 2: it stays below a censoring threshold of 2.5."""
    release = {
        "synthesizer": name,
        "ceiling": float(claim) - 0.01,
        "sets": sets,
        "rows": 500 if neighbours == "add_remove" else ...,
    }
    incomes.declare(study, {"schema.yaml": {"neighbours": neighbours}, "release.yaml": release})
    assert main(["release", "studies/share"]) == 1
    error = capsys.readouterr().err
    assert f"at least {claim}, which {name} claims" in error
    assert "No epsilon is spent." in error
    assert read_ledger(study) == []
    assert not Path("release").exists()


@pytest.mark.parametrize(("name", "neighbours", "claim"), [
    ("Censor_uw", "add_remove", 15), ("Censor_uw", "replace", 30), ("Histogram", "replace", 1), ("Unweighted", "replace", None),
])  # fmt: skip
def test_the_texts_of_a_release_know_its_strict_claim(study, name, neighbours, claim):
    incomes.declare(study, {"schema.yaml": {"neighbours": neighbours}, "release.yaml": {"synthesizer": name, "sets": 3}})
    declared = read_declared(study)
    setup = read_study(declared)
    assert declarations_of(declared, read_release(study), setup, setup.expanded.synthesizers[name]).claim == claim


@pytest.mark.stan
def test_a_strict_release_states_its_guarantee_in_every_text(study, capsys, cmdstan):
    incomes.declare(study, {"release.yaml": {"ceiling": 2}})
    assert main(["release", "studies/share"]) == 1
    assert read_ledger(study) == []
    incomes.declare(study, {"release.yaml": {"ceiling": 5}})
    assert main(["release", "studies/share"]) == 0, capsys.readouterr().err
    assert [(entry.epsilon, entry.outcome) for entry in read_ledger(study)] == [(5, "released")]
    for name, text in texts(Path("release/share")).items():
        assert set(re.findall(r"[Ee]psilon at most ([\d.]+) ", text)) == {"5"}, name
        if name != "parameters":
            words = " ".join(text.split())
            assert "Pure epsilon-DP for every valid file; neighbours have one record added or removed." in words, name
            assert "the posterior only approximately: diagnostics check how closely, but no bound is known" in words, name
            assert "does not hold" not in words, name
            assert "found no loss above the claim" in words, name
    assert "variant_name: Custom" in (Path("release/share") / "deployment.yaml").read_text()  # because of the sampler


@pytest.mark.stan
def test_strict_candidates_claim_their_epsilon_and_are_audited_at_delta_0(study, cmdstan, monkeypatch):
    """A record at a declared bound that joins costs about 3.9 at delta 0, and 2.1 at delta 1e-5."""
    from formalsynth.custodian import compare

    seen = {}
    monkeypatch.setattr(
        compare, "page", lambda run, compared, chosen: seen.update({summary.id: summary for summary in compared}) or ""
    )
    assert main(["compare", "studies/share"]) == 0
    for name in ("Censor_uw", "Reference"):
        summary = seen[name]
        assert (summary.pure, summary.noisy, summary.epsilon, summary.refuted) == (True, False, 5.0, False)
        assert 2 * max(bound for _, bound in summary.exposed) < 2.2 < summary.audited.epsilon <= 5.0
    assert 3.7 < seen["Censor_uw"].audited.epsilon < 4.7
    # the histogram with the noise and the bins of a release, which are made for an added or removed record
    histogram = seen["Histogram"]
    assert (histogram.pure, histogram.noisy, histogram.epsilon, histogram.audited.epsilon) == (True, True, 1.0, 1.0)
    assert (seen["Censor_w"].pure, seen["Unweighted"].pure) == (False, False)


def test_a_guarantee_with_values_from_the_data_does_not_hold_for_every_file():
    assert EVERY_FILE.search(guarantee("DP (add/remove)").meaning)
    for kind in ("DP | fixed weights", "DP (add/remove) | known shape", "(eps, delta)-DP (add/remove) | fixed standardisation"):
        for text in (guarantee(kind).meaning, guarantee_sentence(kind, "replace", noisy=False)):
            assert "does not hold" in text
            assert not re.search(r"(?<!hold )(?<!not a guarantee )for every (file|data set)", text), text
            assert "proven" not in text


@pytest.mark.stan
def test_a_candidate_that_the_audit_refutes_is_released_only_if_asked_for_and_every_text_states_it(study, capsys, cmdstan):
    """A record at a bound that joins changes the weights of all others under Censor_w: it costs several times the claim of 5."""
    incomes.declare(study, {"release.yaml": {"synthesizer": "Censor_w", "ceiling": 20}})
    assert main(["release", "studies/share"]) == 1
    error = capsys.readouterr().err
    assert "the audit found a larger epsilon on this file than is claimed; nothing is released" in error
    assert "set accept_refuted: true in release.yaml" in error
    assert "counts as spent" in error
    assert [(entry.epsilon, entry.outcome) for entry in read_ledger(study)] == [(20, "stopped")]
    assert not Path("release").exists()
    incomes.declare(study, {"release.yaml": {"accept_refuted": True}})
    assert main(["release", "studies/share"]) == 0, capsys.readouterr().err
    for name, text in texts(Path("release/share")).items():
        words = " ".join(text.split())
        # no text calls a guarantee under fixed weights one for every file
        assert not re.search(r"(?<!does not hold )(?<!not a guarantee )for every (file|data set)", words), name
        if name != "parameters":
            assert "No epsilon: 20 was claimed, but the claim does not hold for this file." in words, name
            assert "An audit on this file found a larger loss than the claimed epsilon" in words, name
            assert "DP | fixed weights" in words, name
            assert "is not a guarantee for every file" in words, name
            assert "% sure" not in words, name
        assert "psilon at most" not in words, name
    assert "variant_name: Custom" in (Path("release/share") / "deployment.yaml").read_text()


@pytest.mark.stan
def test_noise_is_released_without_an_audit_whatever_the_number_of_rows(study, capsys, cmdstan):
    """An audit of up to 300 rows would show if the file has more."""
    incomes.declare(
        study, {"study.yaml": {"internal_audit": {"largest": 300}}, "release.yaml": {"synthesizer": "Histogram", "ceiling": 1}}
    )
    assert main(["release", "studies/share"]) == 0, capsys.readouterr().err
    for name, text in texts(Path("release/share")).items():
        words = " ".join(text.split())
        assert ("as is proven; no attack was tried on this file." in words) == (name != "parameters"), name
        assert "sampler" not in words, name


TABLES = {"mechanism": "noisy_tables", "parameters": {"epsilon": 1, "low": 0, "high": 20, "bins": 20}}


@pytest.mark.parametrize(("parameters", "column", "words"), [
    ({}, {"type": "number", "decimals": 1}, "a family for these values; this one accepts whole numbers"),
    ({"epsilon": 31}, {}, r"parameters\.epsilon: given 31\.0; allowed: 1e-12 to 30"),
    ({"epsilon": 31}, {"type": "number", "decimals": 1}, r"(?s)a family for these values.*\n.*parameters\.epsilon: given 31\.0"),
    ({"bins": 60_000}, {}, r"parameters: given '?60000 cells'?; allowed: at most 10000, by bins"),
])  # fmt: skip
def test_declarations_that_would_stop_a_release_of_noisy_tables_are_refused(study, parameters, column, words):
    """A file of whole numbers with one fraction would have been refused when its epsilon was spent."""
    declared = {"type": "whole", "lower": 0, "upper": 20, "decimals": 0, "scale": "linear"} | column
    tables = TABLES | {"parameters": TABLES["parameters"] | parameters}
    schema = {f"columns.share.{key}": value for key, value in declared.items()}
    scenario = {"scenarios.share.family": "poisson", "scenarios.share.synthesizers": ["Tables"]}
    written = {"synthesizers": {"Tables": tables}} | scenario
    incomes.declare(study, {"schema.yaml": schema, "study.yaml": written})
    with pytest.raises(ConfigError, match=words):
        read_study(read_declared(study))
    whole = {"columns.share.type": "whole", "columns.share.decimals": 0}
    incomes.declare(study, {"schema.yaml": whole, "study.yaml": {"synthesizers": {"Tables": TABLES}}})
    assert read_study(read_declared(study)).ids() == ["Tables"]


def test_an_audit_refutes_beyond_its_own_error_alone():
    assert AuditResult(5.1, "a row is added").refutes(5)
    assert not AuditResult(5.0, "a row is added").refutes(5)
    assert not AuditResult(5.1, "a row is added", error=0.1).refutes(5)
    assert AuditResult(float("inf"), "a row is added").refutes(300)
    assert not AuditResult(float("nan"), "why").refutes(5)


def test_a_search_would_take_a_declared_epsilon_from_the_data(study):
    searched = SYNTHESIZERS["Reference"] | {"search": {"parameter": "scale", "target": 3, "high": 8, "lower_by": 1}}
    incomes.declare(study, {"study.yaml": {"synthesizers.Reference": searched}})
    with pytest.raises(ConfigError, match="guarantees a declared epsilon, and a search would choose a parameter from the data"):
        read_study(read_declared(study))


def test_strict_entries_of_a_ledger_are_of_one_kind():
    """Whatever neighbours their mechanisms are named after: the ledger has the neighbours for which they were claimed."""
    entries = [
        LedgerEntry(
            date="2026-11-23", synthesizer=id, guarantee=kind, neighbours="replace", sets=1, epsilon=1, outcome="released"
        )
        for id, kind in (("Censor_uw", "DP (add/remove)"), ("Histogram", "DP (replace-one)"))
    ]
    lines = table(entries)
    assert [line.partition("sets, ")[2] for line in lines[:2]] == ["DP (replace), released"] * 2
    assert lines[2] == "Together: 2."
    assert "differ" in table([*entries, entries[0].model_copy(update={"guarantee": "asymptotic DP (local eps_x)"})])[-1]


OWN = """
import numpy as np
from formalsynth.core.bounds import Sensitive
from formalsynth.core.mechanism import Context, Form, mechanism


@mechanism("DP (add/remove)", parents=0, censors=True, strict={"add_remove": 1.0, "replace": 2.0})
def mine(context: Context, *, epsilon: float) -> Form:
    weights = WEIGHTS
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))
"""
FAULTS = {
    "context.records.x / context.records.x.max()": "claims 'DP (add/remove)' but gives a record a different weight",
    "np.no_such_function(context.records.x)": "stops with AttributeError",
}


@pytest.mark.parametrize("weights", FAULTS)
def test_an_own_mechanism_that_breaks_its_contract_costs_nothing(study, weights, capsys, cmdstan):
    (study / "mine.py").write_text(OWN.replace("WEIGHTS", weights))
    own = {"code": ["records.py", "mine.py"], "synthesizers.Mine": {"mechanism": "mine", "parameters": {"epsilon": 1}}}
    own["scenarios.share.synthesizers"] = ["Mine"]
    incomes.declare(study, {"study.yaml": own, "release.yaml": {"synthesizer": "Mine"}})
    find_all()
    with MECHANISMS.trial():
        assert main(["release", str(study)]) == 1
    error = capsys.readouterr().err
    assert f"mechanism mine: {FAULTS[weights]}" in error
    assert error.splitlines()[-1] == "No epsilon is spent."
    assert read_ledger(study) == []


def test_a_sampler_that_cannot_be_started_costs_nothing(study, tmp_path, monkeypatch, capsys):
    program = tmp_path / "beta"
    program.write_text("not a program")
    program.chmod(0o600)
    monkeypatch.setattr("formalsynth.custodian.sources.compiled", lambda *_: contextlib.nullcontext(program))
    assert main(["release", str(study)]) == 1
    error = capsys.readouterr().err
    assert "beta cannot be started" in error
    assert error.splitlines()[-1] == "No epsilon is spent."
    assert read_ledger(study) == []
