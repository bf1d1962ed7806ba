"""Every family with every mechanism, fitted by CmdStan at a small size: each cell works, or it is refused with its reason."""

import math

import pytest
import yaml
from example_parameters import example_parameters

from formalsynth.core.family import FAMILIES, program
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.registry import forget_own
from formalsynth.core.streams import Address
from formalsynth.engine.chain import run_chain
from formalsynth.posteriors import StanPosteriors
from formalsynth.settings.messages import ConfigError
from formalsynth.settings.yaml_file import load_yaml
from formalsynth.stan.compile import compile_program
from formalsynth.stan.generate import generate
from formalsynth_workflow.plan.load import read_plan
from formalsynth_workflow.steps.simulate import simulate_batch

for register in (FAMILIES, MECHANISMS):
    register.find()
OWN = """
data {{
  int<lower=0> n;
  vector[n] x;
  vector<lower=0>[n] weights;
  {data}
}}
parameters {{
  real mu;
  real<lower=0> sigma;
}}
model {{
  mu ~ normal(0, 2);
  sigma ~ lognormal(0, 0.5);
  for (i in 1:n) {{
    target += {term};
  }}
}}
generated quantities {{
  vector[n] log_lik;
  vector[n] x_rep;
  {declared}
  for (i in 1:n) {{
    log_lik[i] = normal_lpdf(x[i] | mu, sigma);
    x_rep[i] = normal_rng(mu, sigma);
    {generated}
  }}
}}
"""
TERM = "weights[i] * (normal_lpdf(x[i] | mu, sigma){})"
PROGRAMS = {
    "plain": OWN.format(data="", term=TERM.format(""), declared="", generated=""),
    "full": OWN.format(
        data="real<lower=0> threshold;\n  vector[n] offset;",
        term=f"fmin(fmax({TERM.format(' + offset[i]')}, -threshold), threshold)",
        declared="vector[n] log_cdf;",
        generated="log_cdf[i] = normal_lcdf(x[i] | mu, sigma);",
    ),
}
"""Own programs, without and with a threshold and a distribution function."""
AMOUNTS = {"name": "lognormal_on_normal", "predictor_mean": 0, "predictor_sd": 0.5, "intercept": -1, "sigma": 0.5}
SHARES = {**AMOUNTS, "intercept": -3, "sigma": 0.3}
NUMBERS = {
    "name": "student_t_regression",
    "predictor_mean": 0,
    "predictor_sd": 1,
    "intercept": 0,
    "slope": 1,
    "df": 30,
    "scale": 1,
}
BETA, COUNTS = {"name": "beta", "shape1": 0.5, "shape2": 3}, {"name": "poisson", "mu": 3}
FAMILY = {
    "beta": (BETA, [0, 0.2, 0.5, 1], (0.2, 4)),
    "beta_regression": (SHARES, [0, 0.05, 0.1, 1], (-3, 0, 20)),
    "gamma_regression": (AMOUNTS, [0, 0.3, 0.6, math.inf], (-1, 0, 4)),
    "lognormal": (AMOUNTS, [0, 0.3, 0.6, math.inf], (-1, 0, 0.5)),
    "lognormal_regression": (AMOUNTS, [0, 0.3, 0.6, math.inf], (-1, 0, 0.5)),
    "lognormal_areas": (
        {"name": "lognormal_areas", "areas": 4, "median": 1, "between": 0.3, "within": 0.5},
        [0, 0.8, 1.5, math.inf], (0, 0.5, 0, 0.4),
    ),
    "negative_binomial": (COUNTS, [-0.5, 2.5, 5.5, math.inf], (3, 2)),
    "negative_binomial_regression": (
        {"name": "negative_binomial_regression", "mu": 3, "phi": 20, "slope1": 0.3, "slope2": 0.2},
        [-0.5, 2.5, 5.5, math.inf], (1, 0, 0, 5),
    ),
    "normal": (NUMBERS, [-100, -1, 1, 100], (0, 1, 1)),
    "poisson": (COUNTS, [-0.5, 2.5, 5.5, math.inf], (3,)),
    "plain": ({"name": "beta", "shape1": 3, "shape2": 3}, [0, 0.4, 0.6, 1], (0.5, 0.3)),
    "full": ({"name": "beta", "shape1": 3, "shape2": 3}, [0, 0.4, 0.6, 1], (0.5, 0.3)),
}  # fmt: skip
"""Population, edges of brackets and a reference of each family, and of each own program."""
BINS = {"beta": (0, 1), "beta_regression": (0, 1), "normal": (-6, 6), "plain": (0, 1), "full": (0, 1)}
"""Ends of the bins of tables; those of counts and of positive amounts are below."""
SET = {name: {"a": 0.5, "b": 1.5} for name in MECHANISMS if name.startswith("range_")}
SET |= {
    "noisy_tables": {"epsilon": 20, "bins": 5},
    "minimum_distance": {"epsilon": 5, "points": 5, "stages": 2},
    "declared_scale": {"scale": 30},
}
NO_CLIPPING = [name for name, entry in MECHANISMS.items() if entry.censors]
NO_RANGES = [name for name, entry in MECHANISMS.items() if entry.truncates and not entry.censors]
REFUSED = {
    **{("plain", name): "declares no threshold" for name in NO_CLIPPING},
    **{("plain", name): "generates no log_cdf" for name in NO_RANGES},
    **{(name, "noisy_tables"): "cannot be fitted to them" for name in ("plain", "lognormal_areas")},
    **{
        (name, mechanism): "declares no linear predictor and spread"
        for name in ("plain", "full", "lognormal_areas")
        for mechanism in ("minimum_distance", "censored_two_stage")
        if (name, mechanism) != ("plain", "censored_two_stage")
    },
    **{
        ("negative_binomial_regression", mechanism): "at most 1 predictor"  # which only the fit refuses: the plan has no records
        for mechanism in ("noisy_tables", "censored_two_stage")
    },
    ("full", "bracket_clipped"): "does not add the probability of a range in full",
}
"""Cells that are refused, each with a part of its sentence."""


def tree(name, mechanisms):
    """A study of one family, with mechanisms that have valid parameters."""
    population, edges, theta = FAMILY[name]
    made: dict[str, dict] = {"Plain": {"mechanism": "unweighted"}}
    for mechanism in mechanisms:
        fields = MECHANISMS[mechanism].parameters.model_fields
        given = SET.get(mechanism, example_parameters(MECHANISMS[mechanism]))
        given = {key: value for key, value in given.items() if not key.startswith("theta")}
        given |= {"epsilon": 5} if given.get("epsilon") == 1 else {}
        low, high = BINS.get(name, (0, 12) if "poisson" in name or "binomial" in name else (0.05, 4))
        given |= {key: value for key, value in {"low": low, "high": high, "x_low": -2, "x_high": 2}.items() if key in fields}
        given |= {f"theta{k}": value for k, value in enumerate(theta, 1)} if "theta1" in fields else {}
        made[mechanism] = {"mechanism": mechanism, "parents": ["Plain"] * MECHANISMS[mechanism].parents, "parameters": given}
    family = {"stan": f"{name}.stan", "lower": 0, "upper": 1} if name in PROGRAMS else name
    cell = {
        "family": family,
        "population": population,
        "ranges": {"edges": list(map(float, edges))},
        "n": 120,
        "replicates": 1,
    }
    return {"synthesizers": made, "scenarios": {"cell": {**cell, "synthesizers": list(made)}}}


@pytest.fixture
def planned(repository, tmp_path):
    """The plan of a family with some mechanisms, and its scenario."""
    run, study = dict(load_yaml(repository / "config" / "config.yaml")), tmp_path / "mine.yaml"

    def planned(name, mechanisms):
        study.write_text(yaml.safe_dump(tree(name, mechanisms)), encoding="utf-8")
        plan = read_plan(run | {"papers": [], "study": str(study)}, repository / "config")
        return plan, plan.papers["mine"].scenarios["cell_n120"]

    for name, text in PROGRAMS.items():
        (tmp_path / f"{name}.stan").write_text(text, encoding="utf-8")
    yield planned
    forget_own()


@pytest.fixture
def fitted(compiled, cmdstan, tmp_path):
    """The synthesizers of a scenario that are not fitted, each with the reason."""

    def executable(plan, name):
        if name not in plan.own_programs:
            return compiled(name)
        if not (tmp_path / name).exists():
            compile_program(plan.source_of(name), tmp_path / name, cmdstan)
        return tmp_path / name

    def fitted(plan, scenario):
        family, records = FAMILIES[scenario.family], simulate_batch(scenario.simulate_job("0000-0000")).records(0)
        if own := program(family):
            made = executable(plan, scenario.program)
            own.bind(lambda data, draws, seed: generate(made, data, draws, seed), scenario.priors)
        context, failed = Context(family, records, Address(1, 1, 1, len(records), 0)), {}
        for id, synthesizer in scenario.synthesizers.items():
            needed = scenario.program_of(id) or scenario.program
            chain = [scenario.synthesizers["Plain"]] * bool(synthesizer.parents) + [synthesizer]
            posteriors = StanPosteriors(executable(plan, needed), scenario.priors, plan.config.sampler)
            run_chain(chain, context, posteriors, [id], failed=failed)
        return failed

    return fitted


@pytest.mark.slow
@pytest.mark.stan
@pytest.mark.parametrize("name", FAMILY)
def test_every_cell_is_fitted_or_refused_with_its_reason(planned, fitted, name):
    outcomes = dict.fromkeys(MECHANISMS, "fitted")
    for mechanism in MECHANISMS:
        try:
            planned(name, [mechanism])
        except ConfigError as error:
            outcomes[mechanism] = str(error)
    outcomes |= fitted(*planned(name, [mechanism for mechanism, said in outcomes.items() if said == "fitted"]))
    print(*(f"{name:30} {id:28} {said}" for id, said in outcomes.items()), sep="\n")
    expected = {id: REFUSED.get((name, id), "fitted") for id in outcomes}
    assert {id: said for id, said in outcomes.items() if not said.endswith(expected[id]) and expected[id] not in said[10:]} == {}
