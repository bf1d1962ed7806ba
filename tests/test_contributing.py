"""The examples of CONTRIBUTING.md run as they are, alone and together in its paper."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml
from scipy import integrate, stats
from small_study import collected, run_batch

from formalsynth import posteriors
from formalsynth.core import data_files as files
from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import record_bounds
from formalsynth.core.data_files import FILES
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.population import POPULATIONS
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.stan.fit import Fit
from formalsynth.stan.sample import sample
from formalsynth_workflow.plan.load import read_plan
from formalsynth_workflow.plan.model import find_all
from formalsynth_workflow.show.captions import caption
from formalsynth_workflow.show.draw import draw_figure
from formalsynth_workflow.show.figure import FIGURES
from formalsynth_workflow.show.tidy import figure_table

REPOSITORY = Path(__file__).parents[1]
TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
REGISTERS = (MECHANISMS, FAMILIES, POPULATIONS, FILES, FIGURES)
FILES_OF_EXAMPLES = (
    "formalsynth.mechanisms.tempered", "formalsynth.data.populations.waiting_times", "formalsynth.data.counter",
    "formalsynth_workflow.show.figures.medians", "formalsynth.families.exponential",
)  # fmt: skip
"""Modules that the examples would be, in the order of the document; the last is a file."""
X = np.array([0.5, 1.0, 1.0, 2.5, 7.0])


def blocks(language):
    """Code of a language in the document."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def examples():
    """Code of the modules."""
    return [*blocks("python"), (REPOSITORY / "examples" / "exponential.py").read_text(encoding="utf-8")]


@pytest.fixture
def added(monkeypatch):
    """The examples are registered, each as the module that it would be; the names by register."""
    find_all()
    with contextlib.ExitStack() as stack:
        for register in REGISTERS:
            stack.enter_context(register.trial())
        before = [set(register) for register in REGISTERS]
        for name, code in zip(FILES_OF_EXAMPLES, examples(), strict=True):
            module = ModuleType(name)
            monkeypatch.setitem(sys.modules, module.__name__, module)
            exec(compile(code, f"CONTRIBUTING.md, {name}", "exec"), module.__dict__)
        yield [set(register) - names for register, names in zip(REGISTERS, before, strict=True)]


@pytest.fixture
def plan(added, tmp_path, monkeypatch):
    """The plan of the document's paper, with a made-up data file."""
    monkeypatch.setenv("FORMALSYNTH_DATA", str(tmp_path))
    (tmp_path / "counter.csv").write_text("minutes\n" + "\n".join(map(str, X)) + "\n", encoding="utf-8")
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "waiting.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    run = {"papers": ["waiting"], "root_seed": 7, "scale": "paper", "scales": {"paper": {}}}
    return read_plan(run, tmp_path)


def gamma_of(data):
    """The posterior that the Stan data of the example family describe."""
    return stats.gamma(data["prior_shape"] + data["weighted_sum"], scale=1 / (data["prior_rate"] + data["weight_total"]))


def exact_sample(executable, data, inits, parameters, seed, settings):
    """In place of CmdStan: independent draws from the exact posterior."""
    draws = gamma_of(data).rvs(settings.draws, random_state=np.random.default_rng(seed))
    return Fit("ok", "", {"mu": draws}, seed, 1.0, 200.0, 200.0, attempts=1)


def test_there_is_an_example_of_each(added):
    assert added == [{"tempered"}, {"exponential"}, {"waiting_times"}, {"counter"}, {"medians"}]


def test_the_examples_are_written_as_the_code_is(tmp_path, repository):
    for place, code in enumerate(examples()):
        (tmp_path / f"example_{place}.py").write_text(code, encoding="utf-8")
    settings = ["--config", str(repository / "pyproject.toml"), "--no-cache"]
    # where the package's own modules are sorted depends on the folder of a file
    for options in (["check", *settings, "--ignore=I001"], ["format", *settings, "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *options, str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_family_is_the_model_of_its_docstring(added):
    family, records = FAMILIES["exponential"], intercept_only(X)
    draws = {"mu": np.array([0.1, 0.7, 3.0])}
    left, right = family.factors(records, draws)
    for k, mu in enumerate(draws["mu"]):
        assert left[k] @ right.T == pytest.approx(stats.expon.logpdf(X, scale=1 / mu))
    inside = np.exp(family.log_interval_probability(records, draws, 0.4 * X, 1.8 * X))
    for k, mu in enumerate(draws["mu"]):
        quadrature = [integrate.quad(stats.expon(scale=1 / mu).pdf, 0.4 * x, 1.8 * x)[0] for x in X]
        assert inside[k] == pytest.approx(quadrature)
    generator = np.random.default_rng(1)
    predicted = family.predict(generator, records, {"mu": np.full(4000, 0.7)})
    assert predicted.shape == (4000, 5)
    assert stats.kstest(predicted.ravel(), stats.expon(scale=1 / 0.7).cdf).pvalue > 1e-4
    assert family.outcomes.holds(X)
    assert not family.outcomes.holds(X - 1)


def test_the_mechanism_gives_its_share_of_the_bound(added):
    family, records = FAMILIES["exponential"], intercept_only(X)
    context = Context(family, records, Address(1, 1, 1, len(X), 0))
    forms = [MECHANISMS["tempered"].function(context, share=share) for share in (1.0, 0.5)]
    whole, half = record_bounds(family, records, {"mu": np.array([0.1, 0.7])}, [form.sensitive for form in forms])
    assert half.by_record == pytest.approx(whole.by_record / 2)
    assert (forms[1].weights == 0.5).all()


def test_the_population_has_the_statistics_of_its_truth(added):
    population = POPULATIONS["waiting_times"]
    x = population.draw(np.random.default_rng(1), 40_000, {"rate": 0.2}).x
    truth = population.truth(rate=0.2)
    # standard errors of mean and median of an exponential sample are both its mean over the root of n
    assert abs(x.mean() - truth["mean"]) < 5 * 5 / 200
    assert abs(np.median(x) - truth["median"]) < 5 * 5 / 200


def test_the_data_file_is_read(plan, tmp_path):
    records = files.load("counter", tmp_path)
    assert (records.x == X).all()
    assert records.design.shape == (5, 1)


def test_the_paper_goes_from_config_to_figure(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(posteriors, "sample", exact_sample)
    paper = plan.papers["waiting"]
    assert plan.skipped == []
    assert plan.programs() == ["poisson"]
    assert list(paper.scenarios) == ["simulated_n100", "counter"]
    tables = {}
    for id, scenario in paper.scenarios.items():
        tables[id] = collected(scenario, run_batch(scenario, range(scenario.replicates)))["replicates"]
        fits = tables[id][tables[id]["synthesizer"] != "Data"]
        assert (fits["status"] == "ok").all()
        assert len(fits) == 2 * scenario.replicates
        deltas = fits.pivot(index="replicate", columns="synthesizer", values="delta")
        assert (deltas["Tempered"] < deltas["Plain"]).all()
    for number in ("1", "2"):
        display = paper.figure(number, "paper")
        table = figure_table(display, [tables["simulated_n100"]])
        assert table.groupby("label").size().to_dict() == {"Plain": 20, "Tempered": 20}
        draw_figure(display, table, [tmp_path / f"fig{number}.svg"])
        assert (tmp_path / f"fig{number}.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "Points: medians." in caption(display)


@pytest.mark.stan
def test_stan_samples_the_family(added, compiled):
    family = FAMILIES["exponential"]
    data = family.stan_data(intercept_only(X), np.array([1.0, 0.5, 0.5, 1.0, 0.2]), family.priors)
    fit = sample(compiled(family.program), data, family.inits(data), family.parameters, 5, SamplerSettings(draws=4000))
    assert fit.status == "ok", fit.reason
    exact = gamma_of(data)
    # at least 400 effective draws pass the gate
    assert abs(fit.draws["mu"].mean() - exact.mean()) < 5 * exact.std() / 20


def test_the_ids_of_the_paper_are_not_used(repository):
    used = [yaml.safe_load(path.read_text(encoding="utf-8"))["id"] for path in (repository / "config" / "papers").glob("*.yaml")]
    assert yaml.safe_load(blocks("yaml")[0])["id"] not in used
