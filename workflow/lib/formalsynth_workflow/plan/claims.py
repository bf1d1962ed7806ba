"""Claims of a paper, with their scenarios and cells spelled out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from formalsynth.core.words import equation, metric
from formalsynth.settings.messages import Problems, Section
from formalsynth_workflow.ledger.claims import Claim, ClaimConfig, ClaimScenario, Estimate
from formalsynth_workflow.ledger.errata import Erratum
from formalsynth_workflow.ledger.notes import sentences
from formalsynth_workflow.plan.checks import check_claim
from formalsynth_workflow.plan.errata import check_implied, check_named
from formalsynth_workflow.plan.paper import Paper, fitted_unit, truth_of
from formalsynth_workflow.plan.scenario import Scenario
from formalsynth_workflow.show.display import BOUNDS, in_words


def read_claims(
    paper: Paper, configs: Sequence[ClaimConfig], errata: Mapping[str, Erratum], file: Path, problems: Problems
) -> list[Claim]:
    """Read the claims of a paper, leaving out those that cannot be used.

    Args:
        paper: the paper, with its figures and tables.
        configs: the claims as given.
        errata: errata by number.
        file: file of the claims.
        problems: list to which problems with claims are added.
    """
    claims = []
    for config in configs:
        with problems.catch():
            check_named(config, errata, file)
            check_implied(config, configs, file)
            claims += _claims(paper, config, errata.get(config.erratum), file)
    return claims


def _claims(paper: Paper, config: ClaimConfig, erratum: Erratum | None, file: Path) -> list[Claim]:
    """Return a claim once, or under each reading of the paper that changes its cells, the first reading before the others."""
    Section(file, f"claims.{config.id}").check_names("reading", [config.reading] if config.reading else [], paper.config.readings)
    claim = _claim(paper, config, erratum, file)
    first, *others = paper.config.readings or [""]
    if not paper.readings([*map(str, claim.estimate.of), str(claim.estimate.rows.get("synthesizer", ""))]):
        return [claim]
    if config.reading:
        return [_under(paper, config, config.reading, erratum, file)]
    again = [
        _under(paper, config, reading, erratum, file).model_copy(
            update={"id": f"{config.id}-{re.sub(r'[^a-z0-9]+', '-', reading.lower())}", "reading_of": config.id}
        )
        for reading in others
    ]
    return [_under(paper, config, first, erratum, file), *again]


def _under(paper: Paper, config: ClaimConfig, reading: str, erratum: Erratum | None, file: Path) -> Claim:
    """Return a claim under one reading of the paper, with the synthesizers of this reading."""
    of, swap = config.estimate, paper.replaced(reading)
    names = {swap.get(id, id): name for id, name in of.names.items()}
    rows = {column: swap.get(str(value), value) if column == "synthesizer" else value for column, value in of.rows.items()}
    estimate = of.model_copy(update={"of": [swap.get(str(name), name) for name in of.of], "rows": rows, "names": names})
    note = sentences(config.note, f"the paper is read as having {paper.config.readings[reading].description}")
    return _claim(paper, config.model_copy(update={"estimate": estimate, "note": note}), erratum, file)


def _claim(paper: Paper, config: ClaimConfig, erratum: Erratum | None, file: Path) -> Claim:
    scenarios, cells = check_claim(config, paper, file)
    of, first = config.estimate, next(iter(scenarios), None)
    truth = truth_of(first.data, of.value[0]) if first and of.distance == "population" else None
    doubts = dict.fromkeys(scenario.doubt for scenario in scenarios)
    return Claim(
        id=config.id, paper=paper.key, place=config.place, shows=config.shows, claim=config.claim, printed=config.printed,
        kind=config.kind, implied_by=config.implied_by, erratum=erratum.id if erratum else "",
        finding=erratum.kind if erratum else "", test=config.test, truth=truth,
        note=sentences(_unit(of, scenarios), config.note, *doubts),
        labels=_labels(paper, of, scenarios, cells) | of.names, estimate=of.model_copy(update={"of": cells}),
        scenarios=tuple(ClaimScenario(id=scenario.id, name=scenario.name, stand_in=scenario.stand_in) for scenario in scenarios),
    )  # fmt: skip


def _unit(of: Estimate, scenarios: Sequence[Scenario]) -> str:
    """Name the unit of the outcome for a bound or an epsilon; empty for other columns, and for outcomes in their own unit."""
    words = "" if BOUNDS.isdisjoint(of.value) else in_words(unit for unit in map(fitted_unit, scenarios) if unit != 1)
    return f"Bounds are those of the outcome divided by {words}" if words else ""


def _labels(paper: Paper, of: Estimate, scenarios: Sequence[Scenario], cells: Sequence[str | float]) -> dict[str, str]:
    """Return the labels of a claim's cells, by id."""
    match of.over:
        case "value":
            return {column: metric(column).name for column in of.value}
        case "scenario":
            return {scenario.name: scenario.label or scenario.name for scenario in scenarios}
        case "synthesizer":
            return _synthesizer_labels(paper, [str(cell) for cell in cells])
    return {}


def _synthesizer_labels(paper: Paper, ids: Sequence[str]) -> dict[str, str]:
    """Return labels of synthesizers by id; if labels coincide, the parameters that differ are added."""
    labels = {id: look.label if (look := paper.expanded.looks.get(id)) else id for id in ids}
    twins = {id: [other for other in labels if labels[other] == labels[id]] for id in ids}
    return {id: ", ".join([label, *_differing(paper, id, twins[id])]) for id, label in labels.items()}


def _differing(paper: Paper, id: str, twins: Sequence[str]) -> list[str]:
    """Return the parameters in which a synthesizer differs from others with its label; its id if there are none."""
    if len(twins) < 2:
        return []
    own, others = paper.parameters(id), [paper.parameters(twin) for twin in twins if twin != id]
    differing = [equation(name, f"{value:g}") for name, value in own.items() if any(other.get(name) != value for other in others)]
    return differing or [id]
