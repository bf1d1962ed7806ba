"""Study files that lie anywhere: alone, with own code, and over a paper."""

from pathlib import Path

import pytest
import yaml

from formalsynth.core.registry import forget_own
from formalsynth.core.streams import number_of
from formalsynth.core.words import metric
from formalsynth.settings.messages import ConfigError
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow.plan.jobs import Jobs
from formalsynth_workflow.plan.load import read_plan
from formalsynth_workflow.plan.studies import extended, read_study

CODE = '''
import numpy as np
from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import PositiveNumber, Proportion
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism
from formalsynth.core.population import population


@mechanism(ASYMPTOTIC, parents=0)
def even(context: Context, *, share: Proportion = 0.5) -> Form:
    """All records with the same weight."""
    weights = np.full(len(context.records), float(share))
    return Form(weights, Sensitive(weights))


@population()
def two_groups(generator, n: int, *, ratio: PositiveNumber):
    """Lognormal records, half of them larger."""
    return intercept_only(np.exp(generator.normal(size=n)) * np.where(np.arange(n) % 2, ratio, 1.0))
'''
STUDY = {
    "code": ["my.py"],
    "synthesizers": {"Unweighted": {"mechanism": "unweighted"}, "Even": {"mechanism": "even"}},
    "scenarios": {
        "groups": {
            "family": "lognormal", "population": {"name": "two_groups", "ratio": 5}, "n": 50, "replicates": 3,
            "synthesizers": ["Unweighted", "Even"],
        }
    },
    "figures": {1: {"scenario": "groups", "value": "delta", "synthesizers": ["Unweighted", "Even"]}},
}  # fmt: skip


@pytest.fixture(autouse=True)
def _clean():
    yield
    forget_own()


@pytest.fixture
def read(repository, tmp_path):
    """The plan of study files, with papers if some are named."""

    def read(*studies, papers=(), code=CODE, **files):
        (tmp_path / "my.py").write_text(code, encoding="utf-8")
        paths = []
        for place, tree in enumerate(studies):
            paths.append(tmp_path / f"mine{place or ''}.yaml")
            paths[-1].write_text(yaml.safe_dump(tree), encoding="utf-8")
        run = dict(load_yaml(repository / "config" / "config.yaml")) | {"papers": list(papers)}
        study = [str(path) for path in paths]
        return read_plan(run | {"study": study if len(study) > 1 else study[0]}, repository / "config")

    return read


def changed(tree, **sections):
    return extended(tree, sections)


def refusal(read, *studies, **options):
    with pytest.raises(ConfigError) as refused:
        read(*studies, **options)
    return str(refused.value)


def test_a_study_with_own_code_is_planned(read, tmp_path):
    plan = read(STUDY)
    paper = plan.papers["mine"]
    scenario = paper.scenarios["groups_n50"]
    assert list(plan.papers) == ["mine"]
    assert scenario.place == "groups"
    assert (scenario.key.paper_id, scenario.key.number) == (number_of("mine"), number_of("groups"))
    own = str(tmp_path / "my.py")
    assert own in scenario.simulate_job("0000-0000").modules
    even, unweighted = (scenario.fit_job(id, plan.config.sampler) for id in ("Even", "Unweighted"))
    assert own in even.modules
    assert own not in unweighted.modules
    assert list(paper.figures) == ["1"]


SPREAD = """
from formalsynth.core.utility import utility


@utility("spread", label="Spread", meaning="Largest value over smallest value.")
def spread(x):
    return x.max() / x.min()
"""
WITH_SPREAD = {"code": ["my.py", "spread.py"], "scenarios": {"groups": {"utility": ["spread"]}}}


def test_an_own_statistic_is_a_column_and_the_source_of_measuring_alone(read, tmp_path):
    (tmp_path / "spread.py").write_text(SPREAD, encoding="utf-8")
    shows = {"figures": {1: {"scenario": "groups", "value": "spread", "synthesizers": ["Even"]}}}
    plan = read(changed(changed(STUDY, **WITH_SPREAD), **shows))
    scenario, own = plan.papers["mine"].scenarios["groups_n50"], str(tmp_path / "spread.py")
    fits = [scenario.fit_job(id, plan.config.sampler) for id in scenario.synthesizers]
    assert all(own in job.modules for job in (*map(scenario.measure_job, scenario.synthesizers), scenario.collect_job()))
    assert not any(own in job.modules for job in (scenario.simulate_job("0000-0000"), *fits))
    assert scenario.collect_job().utility == ("spread",)
    assert metric("spread").name == "Spread"
    other = read(changed(STUDY, code=["my.py", "spread.py"])).papers["mine"].scenarios["groups_n50"]
    assert [other.fit_job(id, plan.config.sampler) for id in other.synthesizers] == fits
    assert own not in other.collect_job().modules


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("Spread", "scenarios.groups.utility: given 'Spread'; allowed: spread"),
        ("delta", "scenarios.groups.utility: given 'delta'; allowed: spread"),
    ],
)
def test_a_statistic_that_is_not_registered_or_is_a_column_already_is_refused(read, tmp_path, given, words):
    code = SPREAD + SPREAD.replace('"spread"', '"delta"')
    (tmp_path / "spread.py").write_text(code, encoding="utf-8")
    assert words in refusal(read, changed(STUDY, code=["my.py", "spread.py"], scenarios={"groups": {"utility": [given]}}))


def test_two_studies_may_share_their_code_and_run_with_a_paper(read):
    plan = read(STUDY, changed(STUDY, scenarios={"groups": {"n": 60}}), papers=["zcdp"])
    assert list(plan.papers) == ["zcdp", "mine", "mine1"]


def test_what_a_study_registers_is_gone_for_the_next_one(read):
    read(STUDY)
    assert "code" in refusal(read, STUDY, code="broken")
    message = refusal(read, changed(STUDY, code=None))
    assert "scenarios.groups.population.name: given 'two_groups'" in message
    assert "synthesizers.Even.mechanism: given 'even'" in message


@pytest.mark.parametrize(("change", "words"), yaml.safe_load(Path(__file__).with_name("refused_studies.yaml").read_text()))
def test_what_cannot_be_used_is_reported_with_file_and_key(read, change, words):
    message = refusal(read, changed(STUDY, **change))
    assert all(word in message for word in words), message
    assert "mine.yaml: " in message


def test_everything_that_is_wrong_is_reported_at_once(read):
    wrong = changed(STUDY, synthesizers={"Even": {"parameters": {"share": 2}}}, scenarios={"groups": {"n": 1, "replicates": 0}})
    message = refusal(read, wrong)
    assert {"share", "n", "replicates"} <= {line.split(": given")[0].rpartition(".")[2] for line in message.splitlines()}


LONG = "x" * 5000


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"synthesizers": ["a"], "scenarios": ["a"]}, "synthesizers: given ['a']"),
        ({"synthesizers": "abc", "scenarios": "abc"}, "scenarios: given 'abc'"),
        ({"scenarios": {"simulation": 5}}, "scenarios.simulation: given 5"),
        ({"scenarios": {"simulation": [1]}}, "scenarios.simulation: given [1]"),
        ({"code": [f"{LONG}.py"]}, "code: given 'xxx"),
        ({"claims": LONG}, "claims: given 'xxx"),
        ({"scenarios": {"simulation": {"family": {"stan": f"{LONG}.stan"}}}}, "family.stan: given 'xxx"),
        ({"scenarios": {"simulation": {"family": {"stan": "x\0.stan"}}}}, r"family.stan: given 'x\x00.stan'"),
        ({"k" * 100_000: 1}, "kkk...: given 1"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_impossible_study_is_reported(read, sections, words):
    message = refusal(read, {"extends": "range"} | sections)
    assert words in message
    assert all(line.isprintable() and len(line) < 2000 for line in message.splitlines())


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("raise GeneratorExit", "GeneratorExit"),
        (r"raise ValueError('\x1b[31mred\nall is well')", r"ValueError: \x1b[31mred all is well"),
        ("class E(Exception):\n    def __str__(self):\n        raise RuntimeError\nraise E", "its message cannot be shown"),
    ],
)
def test_own_code_that_ends_is_reported_and_does_not_end_the_run(read, code, words):
    """An exit without an error would look like a run in which all was done."""
    message = refusal(read, STUDY, code=code)
    assert f"mine.yaml: code: given 'my.py'; line {1 + code.count(chr(10))}: " in message
    assert words in message


@pytest.mark.parametrize("name", ["my study", "9lives", "a-b"])
def test_a_file_whose_name_is_no_key_has_to_say_one(repository, tmp_path, name):
    path = tmp_path / f"{name}.yaml"
    path.write_text(yaml.safe_dump(STUDY), encoding="utf-8")
    run = dict(load_yaml(repository / "config" / "config.yaml")) | {"papers": [], "study": str(path)}
    with pytest.raises(ConfigError, match="give key: <name> in the file"):
        read_plan(run, repository / "config")


def test_a_file_called_study_has_the_name_of_its_folder(repository, tmp_path):
    (tmp_path / "income").mkdir()
    (tmp_path / "income" / "my.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "income" / "study.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
    run = dict(load_yaml(repository / "config" / "config.yaml")) | {"papers": []}
    plan = read_plan(run | {"study": str(tmp_path / "income" / "study.yaml")}, repository / "config")
    assert list(plan.papers) == ["income"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "papers: given []; Input should name at least one paper, or study"),
        ({"study": LONG}, "config.yaml: study: given 'xxx"),
    ],
)
def test_a_run_of_nothing_is_refused(repository, given, words):
    run = dict(load_yaml(repository / "config" / "config.yaml")) | {"papers": []}
    with pytest.raises(ConfigError) as refused:
        read_plan(run | given, repository / "config")
    assert words in str(refused.value)


# Over a paper ----------------------------------------------------------------------------------------------------------


def test_an_unchanged_extension_has_the_claims_printed_values_and_streams_of_its_paper(read):
    plan = read({"extends": "range"}, papers=["range"])
    base, own = plan.papers["range"], plan.papers["mine"]
    assert [claim.id for claim in own.claims] == [claim.id for claim in base.claims]
    assert {claim.paper for claim in own.claims} == {"mine"}
    assert own.tables == base.tables
    assert own.figures == base.figures
    for id, scenario in base.scenarios.items():
        mine = own.scenarios[id].key
        assert mine == scenario.key.model_copy(update={"paper": "mine"})
    assert not [sentence for sentence in plan.skipped if sentence.startswith("mine")]


def test_another_range_is_one_line(read):
    """Claims and printed values of the old range are left out; others stay."""
    plan = read({"extends": "range", "sweeps": {"range": [{"a": 0.5, "b": 1.5}, {"a": 0.6, "b": 1.2}]}}, papers=["range"])
    base, own = plan.papers["range"], plan.papers["mine"]
    assert {"averaged_0.5_1.5", "averaged_0.6_1.2"} <= set(own.expanded.looks)
    asked, known = {claim.id for claim in own.claims}, {claim.id for claim in base.claims}
    gone = [claim.id for claim in base.claims if "averaged_0.4_1.8" in claim.estimate.of]
    assert gone
    assert not asked & set(gone)
    assert asked
    assert asked < known
    unasked = next(sentence for sentence in plan.skipped if "are not judged" in sentence)
    assert all(id in unasked for id in known - asked)
    assert "averaged_0.4_1.8" in base.tables[1].printed
    assert set(own.tables[1].printed) == set(base.tables[1].printed) - {"averaged_0.4_1.8", "truncated_0.4_1.8"}
    assert set(own.figures) == set(base.figures)
    assert not any("averaged_0.4_1.8" in own.figure(number, "paper").ids for number in own.figures)


def test_printed_values_drop_out_where_the_data_differ(read):
    plan = read({"extends": "range", "scenarios": {"fatigue_alone": {"file": {"drop_rows": [1]}}}})
    own = plan.papers["mine"]
    if "fatigue_alone" in own.scenarios and not own.scenarios["fatigue_alone"].stand_in:
        assert own.tables[1].printed == {}
    assert not [claim.id for claim in own.claims for scenario in claim.scenarios if scenario.name == "fatigue_alone"]


def test_a_figure_that_makes_no_sense_any_more_is_left_out_and_named(read):
    gone = dict.fromkeys(["Weighted_solved", "truncated_solved", "Weighted_scaled", "truncated_scaled"])
    plan = read({"extends": "range", "synthesizers": gone, "scenarios": {"scaled": None}})
    left_out = [sentence for sentence in plan.skipped if "is left out" in sentence]
    assert {"6", "7", "8", "9", "10"} == set(plan.papers["mine"].config.figures) - set(plan.papers["mine"].figures)
    assert len(left_out) == 5
    assert all(sentence.startswith("mine: figure ") for sentence in left_out)


def test_more_replicates_leave_the_claims_as_they_are(read):
    plan = read({"extends": "range", "scenarios": {"simulation": {"replicates": 200}}}, papers=["range"])
    assert len(plan.papers["mine"].claims) == len(plan.papers["range"].claims)


def test_a_figure_of_the_studys_own_has_to_be_right(read):
    message = refusal(read, {"extends": "range", "figures": {2: {"synthesizers": ["Nobody"]}}})
    assert "mine.yaml: figures.2.synthesizers: given 'Nobody'" in message


def test_sections_are_merged_lists_replaced_and_null_takes_away():
    base = {"a": {"x": 1, "y": [1, 2]}, "b": {"name": "one", "p": 1}, "c": 3}
    assert extended(base, {"a": {"y": [3]}, "c": None}) == {"a": {"x": 1, "y": [3]}, "b": {"name": "one", "p": 1}}
    assert extended(base, {"b": {"name": "two"}})["b"] == {"name": "two"}
    assert base["a"]["y"] == [1, 2]


CLAIM = {
    "id": "mine-even-smaller", "place": "My study", "shows": "figure 1", "claim": "Even weights have the smaller bound.",
    "estimate": {"scenario": "groups", "value": ["delta"], "of": ["Unweighted", "Even"]},
    "test": {"kind": "order", "direction": "falling"},
}  # fmt: skip


def claiming(tmp_path, *claims, **sections):
    """A study with a file of claims."""
    (tmp_path / "mine.claims.yaml").write_text(yaml.safe_dump({"claims": list(claims)}), encoding="utf-8")
    return changed(STUDY, claims="mine.claims.yaml", **sections)


def test_claims_of_a_study_are_its_own(read, tmp_path):
    paper = read(claiming(tmp_path, CLAIM)).papers["mine"]
    assert [(claim.id, claim.paper, claim.kind) for claim in paper.claims] == [("mine-even-smaller", "mine", "own study")]
    assert paper.files[-1] == tmp_path / "mine.claims.yaml"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "ours"}, "mine.claims.yaml: claims.mine-even-smaller.kind: given 'ours'"),
        ({"shows": "figure 7"}, "shows"),
        ({"estimate": CLAIM["estimate"] | {"of": ["Odd"]}}, "Odd"),
    ],
)
def test_claims_that_cannot_be_judged_are_reported(read, tmp_path, change, words):
    assert words in refusal(read, claiming(tmp_path, CLAIM | change))


def test_a_file_of_claims_that_does_not_exist_is_reported(read):
    assert "claims: given 'none.yaml'; allowed: an existing file" in refusal(read, changed(STUDY, claims="none.yaml"))


def test_a_study_that_extends_a_paper_may_have_claims_of_its_own(read, tmp_path):
    base = read({"extends": "range"}).papers["mine"].claims
    own = CLAIM | {
        "estimate": {"scenario": "simulation", "value": ["delta"], "of": ["Unweighted", "Weighted"]},
        "shows": "figure 2",
    }
    (tmp_path / "mine.claims.yaml").write_text(yaml.safe_dump({"claims": [own]}), encoding="utf-8")
    claims = read({"extends": "range", "claims": "mine.claims.yaml"}).papers["mine"].claims
    assert [claim.id for claim in claims] == [*(claim.id for claim in base), "mine-even-smaller"]
    twice = own | {"id": base[0].id}
    (tmp_path / "mine.claims.yaml").write_text(yaml.safe_dump({"claims": [twice]}), encoding="utf-8")
    assert base[0].id in refusal(read, {"extends": "range", "claims": "mine.claims.yaml"})


def test_a_family_of_the_users_own_is_known_with_a_scenario_to_try_it_on(read, tmp_path):
    code = CODE + (
        "\nfrom dataclasses import dataclass\nfrom formalsynth.core.family import family\n"
        "from formalsynth.families.poisson import PoissonFamily\n\n\n"
        '@family("my_counts")\n@dataclass(frozen=True)\nclass MyCounts(PoissonFamily):\n    """Counts."""\n'
    )
    counts = {"family": "my_counts", "population": {"name": "poisson", "mu": 4}}
    plan = read(changed(STUDY, scenarios={"groups": counts}), code=code)
    tried = {part: jobs.scenario.id for part, jobs in Jobs(plan, tmp_path).tried.items()}
    assert tried["family", "my_counts"] == "groups_n50"


def test_a_list_in_the_settings_of_a_study_reaches_its_jobs(read):
    settings = {"breast_cancer": {"study": {"settings": {"strengths": [4.0]}}}}
    plan = read({"extends": "reps", "scenarios": settings})
    (scenario,) = plan.papers["mine"].of("breast_cancer")
    assert scenario.study_job("0000-0000").settings["settings"] == {"strengths": [4.0]}


def test_a_family_without_its_stan_program_is_reported_with_the_programs_there_are(read):
    code = CODE + (
        "\nfrom formalsynth.core.family import FAMILIES\nfrom formalsynth.families.poisson import PoissonFamily\n\n"
        'FAMILIES.add("my_counts", PoissonFamily(program="none"), __name__)\n'
    )
    counts = {"family": "my_counts", "population": {"name": "poisson", "mu": 4}}
    reason = refusal(read, changed(STUDY, scenarios={"groups": counts}), code=code)
    assert "mine.yaml: scenarios.groups: Stan program of my_counts: given 'none'; allowed: beta, " in reason


def test_a_study_file_may_name_its_schema(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("", encoding="utf-8")
    assert read_study(file, {"$schema": "study.schema.json", "title": "Mine"}).tree == {"title": "Mine"}
