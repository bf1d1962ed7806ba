"""The design: errors for who wrote the config, fan-out from config alone, jobs that depend on no more than they use."""

import itertools

import pytest
import yaml
from formalsynth.config import ConfigError, load_yaml
from formalsynth.design import DATA, Scenario, read_plan

FIT, MEASURE = {}, {"sets": True}


@pytest.fixture(scope="module")
def shipped(repository):
    """The repository's config, for the range paper alone."""
    run = yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8"))
    paper = yaml.safe_load((repository / "config" / "papers" / "range.yaml").read_text(encoding="utf-8"))
    return run | {"papers": ["range"]}, paper


@pytest.fixture(scope="module")
def plan_of(tmp_path_factory):
    """Write a config and read it as a plan."""
    folder = tmp_path_factory.mktemp("config")
    (folder / "papers").mkdir()

    def plan_of(run, paper):
        (folder / "papers" / "range.yaml").write_text(yaml.safe_dump(paper, sort_keys=False), encoding="utf-8")
        return read_plan(run, folder)

    return plan_of


@pytest.fixture
def config(shipped):
    """A copy of the shipped config to spoil, without the anchors that tie its entries together."""
    return untied(shipped)


@pytest.fixture
def real_data(fatigue):
    """The fatigue data are there."""
    return fatigue


def untied(tree):
    """A copy in which no two entries are the same object."""
    if isinstance(tree, dict):
        return {key: untied(value) for key, value in tree.items()}
    return [untied(one) for one in tree] if isinstance(tree, list | tuple) else tree


def without_displays(config):
    """The config without figures and tables, which name ids that a change may take away."""
    run, paper = untied(config)
    return run, paper | {"figures": {}, "tables": {}, "telling": []}


def put(tree, path, value):
    """Set, or with ``...`` delete, the entry at a dotted path; a number in it is an integer key or an index."""
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    for key in way:
        tree = tree[key]
    if value is ...:
        del tree[last]
    else:
        tree[last] = value


def test_every_error_of_a_file_is_told_at_once(config, plan_of):
    put(config[0], "batch_size", 0)
    put(config[0], "sampler.draws", 1)
    with pytest.raises(ConfigError) as caught:
        plan_of(*config)
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == ["batch_size", "sampler.draws"]


@pytest.mark.parametrize("text", ["scenarios: [", "a: b: c", "\tx: 1", "\x00"])
def test_a_file_that_is_no_yaml_is_named(tmp_path, text):
    (tmp_path / "paper.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"paper\.yaml: cannot be read as YAML"):
        load_yaml(tmp_path / "paper.yaml")


@pytest.mark.parametrize("text", ["", "- 1\n", "just words\n"])
def test_a_file_that_holds_something_else_is_named(tmp_path, config, text):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "range.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"range\.yaml: \(whole file\)"):
        read_plan(config[0], tmp_path)


def test_a_range_may_be_open_above(config, plan_of, real_data):
    config[1]["sweeps"]["range"][0]["b"] = float("inf")
    scenario = plan_of(*without_displays(config)).papers["range"].scenarios["simulation_n2000"]
    assert len({tuple(one.words) for one in scenario.synthesizers.values()}) == len(scenario.synthesizers)


@pytest.fixture
def plan(config, plan_of, real_data):
    return plan_of(*config)


@pytest.fixture
def smoke(config, plan_of, real_data):
    return plan_of(config[0] | {"scale": "smoke"}, config[1])


def test_the_shipped_config_is_the_papers_design(plan):
    scenarios = plan.papers["range"].scenarios
    assert plan.skipped == []
    assert plan.programs() == ["linear_regression"]
    simulation = scenarios["simulation_n2000"]
    assert (simulation.n, simulation.replicates, simulation.family) == (2000, 100, "lognormal_regression")
    contraction = [one for one in scenarios.values() if one.name == "contraction"]
    assert [(one.id, one.n, one.replicates) for one in contraction] == [
        (f"contraction_n{n}", n, 100) for n in (200, 400, 1600, 6400)
    ]
    assert (scenarios["fatigue"].n, scenarios["fatigue"].replicates) == (19, 1)
    assert {"1", "2", "3", "4", "5", "15", "16", "19", "20"} <= set(map(str, plan.papers["range"].figures))
    assert "1" in set(map(str, plan.papers["range"].tables))


def test_a_scale_makes_things_smaller_and_never_larger(plan, smoke):
    large, small = plan.papers["range"].scenarios, smoke.papers["range"].scenarios
    assert len(large) == len(small)
    for one, other in zip(large.values(), small.values(), strict=True):
        assert other.replicates <= min(one.replicates, 2)
        assert other.synthetic_sets <= one.synthetic_sets
        assert other.n == (one.n if one.file else -(-one.n // 10))
        assert other.number == one.number


def test_synthesizers_fan_out_over_their_sweeps(plan):
    assert plan.papers["range"].groups["averaged"] == ["averaged_0.4_1.8", "averaged_0.6_1.2"]
    one = plan.papers["range"].scenarios["simulation_n2000"].synthesizers["truncated_0.6_1.2"]
    assert one.parameters == {"a": 0.6, "b": 1.2}
    assert (one.mechanism, one.parents, one.fit) == ("range_truncated", ["Unweighted"], "Weighted")


def test_a_longer_sweep_is_all_that_a_new_range_takes(config, plan_of, real_data):
    config[1]["sweeps"]["range"].append({"a": 0.9, "b": 1.1})
    paper = plan_of(*config).papers["range"]
    assert paper.groups["averaged"][-1] == "averaged_0.9_1.1"
    assert "truncated_0.9_1.1" in paper.scenarios["fatigue"].synthesizers
    assert paper.looks["averaged_0.9_1.1"].label == "(0.9, 1.1) avg"


def test_several_sweeps_make_their_product(config, plan_of, real_data):
    config[1]["sweeps"]["c"] = [0.5, 1]
    config[1]["synthesizers"]["averaged"] |= {"over": ["range", "c"], "id": "averaged_{a}_{b}_{c}"}
    ids = plan_of(*without_displays(config)).papers["range"].groups["averaged"]
    assert ids == [f"averaged_{a}_{b}_{c}" for (a, b), c in itertools.product([(0.4, 1.8), (0.6, 1.2)], ["0.5", "1"])]


def test_random_streams_of_synthesizers_never_meet(plan):
    for scenario in plan.papers["range"].scenarios.values():
        words = [tuple(one.words) for one in scenario.synthesizers.values()]
        assert len(set(words)) == len(words)


def test_parents_come_before_their_children(plan):
    for scenario in plan.papers["range"].scenarios.values():
        ids = list(scenario.synthesizers)
        for one in scenario.synthesizers.values():
            assert all(ids.index(needed) <= ids.index(one.id) for needed in (*one.parents, one.fit))


def test_a_synthesizer_brings_what_it_builds_on(config, plan_of, real_data):
    config[1]["scenarios"]["simulation"]["synthesizers"] = ["truncated"]
    scenario = plan_of(*without_displays(config)).papers["range"].scenarios["simulation_n2000"]
    assert scenario.fits() == ["Unweighted", "Weighted"]
    assert [one.id for one in scenario.members("Weighted")] == ["Weighted", "truncated_0.4_1.8", "truncated_0.6_1.2"]
    assert scenario.ancestors("Weighted") == ["Unweighted"]
    assert scenario.ancestors("Unweighted") == []


def test_nested_lists_alternate(plan):
    order = plan.papers["range"].order([DATA, "Unweighted", ["averaged", "truncated"]])
    assert order == [DATA, "Unweighted", "averaged_0.4_1.8", "truncated_0.4_1.8", "averaged_0.6_1.2", "truncated_0.6_1.2"]


@pytest.mark.parametrize(
    "options", [{}, {"sets": True}, {"everything": True}, {"fit": "Weighted"}, {"fit": "averaged_0.4_1.8", "sets": True}]
)
def test_a_job_gets_plain_types_that_make_its_scenario(plan, options):
    scenario = plan.papers["range"].scenarios["simulation_n2000"]
    plain = scenario.plain(**options)
    assert yaml.safe_load(yaml.safe_dump(plain)) == plain
    again = Scenario.from_plain(plain)
    assert (again.id, again.n, again.number, again.population) == (scenario.id, scenario.n, scenario.number, scenario.population)
    for id, one in again.synthesizers.items():
        assert one == scenario.synthesizers[id]


def of_job(plan, fit, options):
    return plan.papers["range"].scenarios["simulation_n2000"].plain(fit=fit, **options)


# changes of the config that are no business of the fits named beside them
HARMLESS = {
    "label": (1, "synthesizers.averaged.label", "({a}, {b}) averaged", ["Unweighted", "Weighted", "averaged_0.4_1.8"]),
    "colour": (1, "synthesizers.averaged.colours", ["#000000"], ["Unweighted", "Weighted", "averaged_0.4_1.8"]),
    "replicates": (1, "scenarios.simulation.replicates", 7, ["Unweighted", "Weighted", "averaged_0.4_1.8"]),
    "batch size": (0, "batch_size", 3, ["Unweighted", "Weighted", "averaged_0.4_1.8"]),
    "its batch size": (1, "scenarios.simulation.batch_size", 3, ["Unweighted", "Weighted", "averaged_0.4_1.8"]),
    "place": (1, "scenarios.simulation.place", "Section 9", ["Unweighted", "Weighted", "averaged_0.4_1.8"]),
    "figure": (1, "figures.1.y", "bound", ["Unweighted", "Weighted", "averaged_0.4_1.8"]),
    "another scenario": (1, "scenarios.contraction.n", [300], ["Unweighted", "Weighted", "averaged_0.4_1.8"]),
    "another range": (1, "sweeps.range.1.b", 1.3, ["Unweighted", "averaged_0.4_1.8"]),
    "a child's parameter": (1, "synthesizers.Weighted.parameters", {"c": 0.5}, ["Unweighted", "averaged_0.4_1.8"]),
    "a range more": (1, "sweeps.range", [{"a": 0.4, "b": 1.8}, {"a": 0.5, "b": 1.5}], ["Unweighted", "averaged_0.4_1.8"]),
}


@pytest.mark.parametrize("change", HARMLESS)
@pytest.mark.parametrize("options", [FIT, MEASURE], ids=["fit", "measure"])
def test_what_a_fit_does_not_use_does_not_change_its_job(config, plan_of, real_data, change, options):
    which, path, value, fits = HARMLESS[change]
    before = plan_of(*config)
    changed = untied(config) if path.startswith("figures") else without_displays(config)
    put(changed[which], path, value)
    after = plan_of(*changed)
    for fit in fits:
        assert of_job(before, fit, options) == of_job(after, fit, options), fit


def test_a_scenario_may_have_a_batch_size_of_its_own(config, plan_of):
    put(config[0], "batch_size", 50)
    put(config[1], "scenarios.simulation.batch_size", 7)
    scenarios = plan_of(*config).papers["range"].scenarios
    assert {name: one.batch_size for name, one in scenarios.items() if one.name == "simulation"} == {"simulation_n2000": 7}
    assert {one.batch_size for one in scenarios.values() if one.name != "simulation"} == {50}


# changes that are
HARMFUL = {
    "its own parameter": ("synthesizers.Weighted.parameters", {"c": 0.5}, "Weighted"),
    "its parent's parameter": ("sweeps.range.0.b", 1.7, "averaged_0.4_1.7"),
    "prior": ("scenarios.simulation.priors", {"sd": 5}, "Unweighted"),
    "population": ("scenarios.simulation.population.sigma", 2, "Unweighted"),
    "scenario id": ("scenarios.simulation.id", 9, "Unweighted"),
    "paper id": ("id", 9, "Unweighted"),
}


@pytest.mark.parametrize("change", HARMFUL)
def test_what_a_fit_uses_changes_its_job(config, plan_of, real_data, change):
    path, value, fit = HARMFUL[change]
    before = plan_of(*config).papers["range"].scenarios["simulation_n2000"]
    changed = without_displays(config)
    put(changed[1], path, value)
    after = of_job(plan_of(*changed), fit, FIT)
    assert fit not in before.synthesizers or before.plain(fit=fit) != after
