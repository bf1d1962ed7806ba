"""A release of made-up incomes, made without Stan, and what is confidential about it."""

from dataclasses import dataclass
from pathlib import Path

import incomes
import numpy as np
import pandas as pd
from formalsynth.core.job import Synthesizer
from formalsynth.custodian.candidates import Candidate
from formalsynth.custodian.leak_scan import MANIFEST, ConfidentialContent, manifest_text, scan
from formalsynth.custodian.release_folder import published_texts, write
from formalsynth.custodian.rows import typed
from formalsynth.custodian.schema import Declared, ReleaseConfig, Schema
from formalsynth.custodian.synthetic_sets import draw_sets
from formalsynth.custodian.texts import ReleaseFacts
from formalsynth.mechanisms.histogram import BinPredictor
from formalsynth.runtime.files import checksum

COLUMNS = {
    "person": {"type": "category", "release": "suppressed"},
    "income": {"type": "whole", "lower": 1000, "upper": 500_000},
    "age": {"type": "whole", "lower": 18, "upper": 80, "release": "as_is"},
    "region": {"type": "category", "categories": incomes.REGIONS, "release": "as_is"},
    "sector": {"type": "category", "categories": incomes.SECTORS, "release": "as_is"},
}


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


@dataclass
class Release:
    """A folder and what is confidential about it."""

    folder: Path
    confidential: ConfidentialContent

    def findings(self):
        """Sentences of all findings."""
        return [finding.sentence() for finding in scan(self.folder, self.confidential)]

    def seal(self):
        """Renew the manifest."""
        sums = {path.name: checksum(path) for path in self.folder.iterdir() if path.is_file() and path.name != MANIFEST}
        (self.folder / MANIFEST).write_text(manifest_text(sums))


def made(folder, seed=1, schema=None, config=None, candidate=None, text=None):
    """A release in a folder."""
    schema, config, candidate = schema or a_schema(), config or a_config(), candidate or histogram()
    text = incomes.incomes(seed=seed) if text is None else text
    table = typed(schema, text.replace("", np.nan))
    declared = Declared("income", folder.parent / "studies" / "income", schema)
    drawn = draw_sets(declared, config, table, candidate)
    synthesizer = candidate.synthesizer
    facts = ReleaseFacts(
        "income", declared, config, synthesizer.mechanism, candidate.guarantee, candidate.pure, synthesizer.parameters,
        len(drawn.sets[0]), "2026-11-22", candidate.direct, "passed", drawn.uses_predictors, True,
    )  # fmt: skip
    folder.mkdir()
    write(folder, facts, drawn)
    generator = np.random.default_rng(seed)
    secrets = [generator.random(3000), generator.gamma(3.0, 5.0, 3000), generator.standard_normal((1000, 8))]
    confidential = ConfidentialContent(
        declared, table, pd.DataFrame(text), secrets, published_texts([facts]), config.sets, config.figure
    )
    return Release(folder, confidential)
