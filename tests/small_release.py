"""A release of made-up incomes, made without Stan."""

import incomes
import numpy as np
from formalsynth.core.job import Synthesizer
from formalsynth.custodian.assemble import crossing_of
from formalsynth.custodian.candidates import Candidate
from formalsynth.custodian.cross import _predictors, crossed, crossed_tables
from formalsynth.custodian.crossing import AS_IS, Declarations, ReleasedDraws, drawn_reason, released_draws, write_crossing
from formalsynth.custodian.guarantees import RELEASE_KIND
from formalsynth.custodian.public import fill
from formalsynth.custodian.release_folder import formatted
from formalsynth.custodian.rows import clipped, used_rows
from formalsynth.custodian.schema import Declared, ReleaseConfig, Schema
from formalsynth.custodian.synthetic_sets import Crossed
from formalsynth.custodian.tables import noisy_part
from formalsynth.mechanisms.histogram import BinPredictor

COLUMNS = {
    "person": {"type": "category", "release": "suppressed"},
    "income": {"type": "whole", "lower": 1000, "upper": 500_000},
    "age": {"type": "whole", "lower": 18, "upper": 80, "release": "as_is"},
    "region": {"type": "category", "categories": incomes.REGIONS, "release": "as_is"},
    "sector": {"type": "category", "categories": incomes.SECTORS, "release": "as_is"},
}


def typed(schema, text):
    """Rows of a release from the text of a file without faults."""
    return clipped(schema, used_rows(schema, text)).reset_index(drop=True)


def a_schema(**changes):
    values = {
        "file": "income.csv", "rows": 3000, "protected": "person", "rows_each": 1, "neighbours": "replace",
        "outside_bounds": "clip",
        "missing": "drop_rows", "zeros": "refuse", "outcome": "income", "columns": COLUMNS,
    }  # fmt: skip
    return Schema.model_validate(values | changes)


def a_config(**changes):
    values = {
        "synthesizer": "Histogram", "sets": 3, "ceiling": 1, "budget": 3, "title": "Incomes", "intended_use": "teaching",
        "region": "Nowhere", "sector": "Government", "licence": "CC-BY-4.0", "figure": True,
        "curator": {"name": "Office of Examples", "type": "Government", "contact": "data@office.example"},
    }  # fmt: skip
    return ReleaseConfig.model_validate(values | changes)


def histogram(epsilon=1.0, bins=50, low=1000, high=500_000):
    parameters = {"epsilon": epsilon, "low": low, "high": high, "bins": bins}
    synthesizer = Synthesizer(
        id="Histogram", mechanism="perturbed_histogram", parameters=parameters, parents=(), fit="Histogram", words=(8,)
    )
    draws = {"probability": np.full((1, bins), 1 / bins)}
    return Candidate(synthesizer, "DP (replace-one)", "", epsilon, draws, BinPredictor(low, high), None, None)


DATE = "2026-11-22"


def declarations(schema=None, config=None, candidate=None, family=None, guarantee=None, claim=1.0, name="income"):
    """Public declarations of a release."""
    candidate = candidate or histogram()
    return Declarations(
        name=name, schema=(schema or a_schema()).public, release=config or a_config(), mechanism=candidate.synthesizer.mechanism,
        guarantee=guarantee or candidate.guarantee, parameters=candidate.synthesizer.parameters, claim=claim, family=family,
    )  # fmt: skip


def typed_incomes(schema=None, seed=1):
    """Typed rows of made-up incomes."""
    return typed(schema or a_schema(), incomes.incomes(seed=seed).replace("", np.nan))


def crossing_folder(folder, schema=None, config=None, candidate=None, seed=1):
    """Write the crossing of a release to a folder."""
    schema, config, candidate = schema or a_schema(), config or a_config(), candidate or histogram()
    public = declarations(schema, config, candidate, claim=candidate.epsilon)
    numbers = crossed(schema, config, typed_incomes(schema, seed), candidate)
    crossing = crossing_of(Declared("income", folder.parent / "studies" / "income", schema), public, numbers, DATE, "none")
    folder.mkdir(parents=True)
    write_crossing(folder, crossing, public)
    if numbers.as_is is not None:
        (folder / AS_IS).write_text(formatted(public.schema_, numbers.as_is))
    return folder


def made(folder, **changes):
    """Make a release in a folder, in this process and without a fit."""
    return filled(folder, crossing_folder(folder.parent / f"{folder.name} crossing", **changes))


def filled(folder, given):
    """Compute a release from the folder of its crossing, in this process."""
    folder.mkdir()
    fill(given, folder)
    for path in folder.iterdir():
        path.chmod(0o644)
    return folder


def written(folder, schema, public, numbers):
    """Write a release from its numbers."""
    crossing = crossing_of(Declared("income", folder.parent / "studies" / "income", schema), public, numbers, DATE, "none")
    given = folder.parent / f"{folder.name} crossing"
    given.mkdir(parents=True)
    write_crossing(given, crossing, public)
    return filled(folder, given)


def made_tables(folder, schema, table, **config):
    """Make a release of noisy tables of all columns."""
    config = a_config(synthesizer="tables", **config)
    public = Declarations(
        name="households", schema=schema.public, release=config, mechanism="tables", guarantee=RELEASE_KIND[schema.neighbours],
        parameters={"epsilon": config.ceiling}, claim=config.ceiling,
    )  # fmt: skip
    return written(folder, schema, public, crossed_tables(schema, config, table))


def made_draws(folder, mechanism, age="synthesized", sets=3):
    """Make a release of incomes by age from posterior draws that no fit has made."""
    columns = {name: COLUMNS[name] | ({"release": "suppressed"} if name in ("region", "sector") else {}) for name in COLUMNS}
    columns["age"] = columns["age"] | {"release": age}
    schema = a_schema(columns=columns)
    fitted, strict, predictors = mechanism == "noisy_tables", mechanism != "weighted", 0.5 * (age == "synthesized")
    config = a_config(sets=sets, predictors_epsilon=predictors or None, rows=2935 if schema.hides_rows else None)
    generator, claim = np.random.default_rng(1), 1 - predictors
    draws = {"beta": np.array([10.0, 0.4]) + 0.01 * generator.standard_normal((sets, 2)), "sigma": np.full(sets, 0.5)}
    if age == "suppressed":
        draws["beta"] = draws["beta"][:, :1]
    table = typed_incomes(schema)
    tables = [_predictors(schema, config, table)] if predictors else []
    if fitted:
        columns, shape = [*schema.predictors, "income"], [2] * len(schema.predictors) + [8]
        tables.append(noisy_part(schema, "outcome for the fit", columns, shape, np.full(np.prod(shape), 185), 1, claim))
    released = ReleasedDraws(
        name="posterior draws", mechanism=mechanism, epsilon=0.0 if fitted else claim if strict else None,
        reason=drawn_reason(sets, fitted), fit_p=0.4 if fitted else None, **released_draws(draws, range(sets)),
    )  # fmt: skip
    public = Declarations(
        name="income", schema=schema.public, release=config, mechanism=mechanism, claim=claim if strict else None,
        parameters={"low": 1000, "high": 500_000, "bins": 8} if fitted else {},
        guarantee="DP (replace-one)" if strict else "asymptotic DP (local eps_x)", family="lognormal_regression",
    )  # fmt: skip
    return written(folder, schema, public, Crossed(config.rows or len(table), sets, tuple(tables), released))
