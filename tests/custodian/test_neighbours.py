"""Guarantee of a candidate and of a release under each neighbour relation, as the report, the texts and the ledger name it."""

from pathlib import Path

import incomes
import numpy as np
import pytest
from formalsynth.core.job import SamplerSettings
from formalsynth.custodian.candidates import fit, read_study
from formalsynth.custodian.records import made_up, records_of
from formalsynth.custodian.schema import read_declared, read_release
from formalsynth.custodian.sources import declarations_of

SYNTHESIZED = {f"columns.{name}.release": "synthesized" for name in ("age", "region", "sector")}


@pytest.mark.parametrize(("neighbours", "kind"), [("replace", "DP (replace-one)"), ("add_remove", "DP (add/remove)")])
def test_a_histogram_names_the_neighbours_of_its_release(income_study, neighbours, kind):
    changes = {"schema.yaml": {"neighbours": neighbours, **SYNTHESIZED}}
    incomes.declare(income_study, changes | {"release.yaml": {"rows": 500, "predictors_epsilon": 1, "ceiling": 2}})
    declared = read_declared(income_study)
    study, schema = read_study(declared), declared.schema
    records = records_of(schema, made_up(schema, np.random.default_rng(1)))
    candidate = fit(declared, study, records, Path("none"), ["Histogram"], SamplerSettings())["Histogram"]
    public = declarations_of(declared, read_release(income_study), study, candidate.synthesizer)
    assert (candidate.guarantee, candidate.pure) == (kind, True)
    assert (public.guarantee, public.pure) == (kind, True)
