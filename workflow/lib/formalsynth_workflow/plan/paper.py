"""Papers with everything spelled out, and the contents of their figures and tables."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from formalsynth.core.data_files import FILES, Dataset, find
from formalsynth.core.family import FAMILIES
from formalsynth.core.model import DATA, PRIOR
from formalsynth.core.population import POPULATIONS
from formalsynth.core.rows import AUDITED
from formalsynth.core.words import equation
from formalsynth_workflow import REPOSITORY
from formalsynth_workflow.jobs.inputs import FromFile, Simulated
from formalsynth_workflow.ledger.claims import Claim
from formalsynth_workflow.ledger.errata import Erratum
from formalsynth_workflow.plan.expand import Expanded
from formalsynth_workflow.plan.model import PaperConfig, RunConfig
from formalsynth_workflow.plan.printed import printed_values
from formalsynth_workflow.plan.scenario import Scenario
from formalsynth_workflow.show.display import Display, Panel, Printed, ShownScenario
from formalsynth_workflow.show.figure import FRAMES, Figure, FigureDisplay, Repeat
from formalsynth_workflow.show.table import Table, TableDisplay
from formalsynth_workflow.study import STUDIES

NameOrGroup = str | list[str]
"""An entry or id; the members of a list alternate."""


@dataclass(frozen=True)
class Paper:
    """One paper with everything spelled out."""

    key: str
    config: PaperConfig
    expanded: Expanded
    scenarios: dict[str, Scenario]
    figures: dict[str, Figure | Repeat] = field(default_factory=dict)
    """Figures that can be made, by printed number."""
    tables: dict[int, Table] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    question: str = ""
    """Question that it answers; empty for a study of the user's own."""
    answer: tuple[str, ...] = ()
    """Ids of the claims that answer it."""
    seen: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Ids of the claims at the start of captions of figures without claims of their own, by printed number."""
    questions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Further questions that readers may have, each with its claims, figures and tables."""
    files: tuple[Path, ...] = ()
    """Its config files, its own first."""
    tree: Mapping[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """Contents of its own file, for studies that extend it."""

    def of(self, names: str | Sequence[str], size: int | None = None) -> list[Scenario]:
        """Return the scenarios of config entries, of one sample size if given; skipped ones are left out."""
        names = [names] if isinstance(names, str) else names
        named = [scenario for name in names for scenario in self.scenarios.values() if scenario.name == name]
        return [scenario for scenario in named if size in (None, scenario.size)]

    def order(self, names: Sequence[NameOrGroup]) -> list[str]:
        """Return ids from left to right; the members of a nested list alternate."""
        ids: list[str] = []
        for name in names:
            members = [self._ids(member) for member in ([name] if isinstance(name, str) else name)]
            ids += [id for row in itertools.zip_longest(*members) for id in row if id is not None]
        return ids

    def parameters(self, id: str) -> dict[str, float]:
        """Return a synthesizer's parameters, with defaults, merged over its parents'; empty for the confidential data."""
        return self.expanded.parameters(id)

    def fits(self, id: str, where: Mapping[str, float]) -> bool:
        """Return True if a synthesizer has these values for the parameters that it has."""
        parameters = self.parameters(id)
        return all(parameters.get(key, value) == value for key, value in where.items())

    def replaced(self, reading: str) -> dict[str, str]:
        """Return the entry or id that takes the place of each one of the first reading."""
        groups, entries = self.expanded.groups, self.config.readings[reading].replaces
        return entries | {id: new for old, other in entries.items() for id, new in zip(groups[old], groups[other], strict=True)}

    def readings(self, ids: Iterable[str]) -> list[str]:
        """Return the readings that have one of the synthesizers, the first one before the others."""
        others = {reading: self.replaced(reading) for reading in list(self.config.readings)[1:]}
        of = {reading: set(swap.values()) for reading, swap in others.items()}
        of = {reading: {id for swap in others.values() for id in swap} for reading in list(self.config.readings)[:1]} | of
        return [reading for reading, names in of.items() if not names.isdisjoint(ids)]

    def original(self, number: str) -> Figure:
        """Return the figure with a number, or the figure that it repeats."""
        figure = self.figures[number]
        return self.original(figure.same_as) if isinstance(figure, Repeat) else figure

    def figure(self, number: str, scale: str) -> FigureDisplay:
        """Return the contents of a figure."""
        return self._shown_figure(self.original(number), number, scale)

    def _shown_figure(self, figure: Figure, number: str, scale: str) -> FigureDisplay:
        """Return the contents of a figure, or of a part of one."""
        parts = {letter: self._shown_figure(part, f"{number}{letter}", scale) for letter, part in figure.members().items()}
        shown = self._display(figure, number, scale, self.of(figure.scenario, figure.size))
        labels = {id: label for name, label in figure.labels.items() for id in self.expanded.groups.get(name, [name])}
        looks = {id: look.model_copy(update={"label": labels.get(id, look.label)}) for id, look in shown.looks.items()}
        looks |= {id: look for part in parts.values() for id, look in part.looks.items()}
        at = str(getattr(figure, "at", ""))
        return FigureDisplay(
            **dict(shown) | {"looks": looks, "ids": tuple(dict.fromkeys([*shown.ids, *looks]))},
            figure=figure,
            panels=self._panels(shown.ids, figure),
            at={id: self.parameters(id).get(at) for id in shown.ids} if at else {},
            truths=self._truths(figure),
            printed=self._printed(figure, shown),
            parts=parts,
        )

    def _printed(self, figure: Figure, shown: Display) -> tuple[Printed, ...]:
        """Return the printed values of the cells that a figure draws."""
        if not figure.PRINTS:
            return ()
        tables = [(table, [scenario.id for scenario in self.of(table.scenario, table.size)]) for table in self.tables.values()]
        return printed_values(figure, [scenario.id for scenario in shown.scenarios], shown.ids, tables, self.claims)

    def table(self, number: int, scale: str) -> TableDisplay:
        """Contents of a table."""
        table = _with_audited(self.tables[number], self.of(self.tables[number].scenario))
        shown = self._display(table, str(number), scale, self.of(table.scenario, table.size))
        return TableDisplay(**dict(shown), entry=table, parameters=self._distinguishing_parameters(shown))

    def _distinguishing_parameters(self, shown: Display) -> dict[str, dict[str, float]]:
        """Return the parameters that distinguish synthesizers with the same label, by synthesizer."""
        own = {id: self.parameters(id) for id in shown.ids if id not in (DATA, PRIOR)}
        by_label: dict[str, list[dict[str, float]]] = {}
        for id, parameters in own.items():
            by_label.setdefault(shown.looks[id].label, []).append(parameters)
        names = [name for alike in by_label.values() for name in _differing(alike)]
        return {id: {name: parameters[name] for name in names if name in parameters} for id, parameters in own.items()}

    def _display(self, entry: Figure | Table, number: str, scale: str, scenarios: Sequence[Scenario]) -> Display:
        ids = tuple(id for id in self.order(entry.synthesizers) if self.fits(id, entry.where))
        return Display(
            paper=self.key, number=number, scale=scale, authors=self.config.authors, table=entry.table, ids=ids,
            looks={id: self.expanded.looks[id] for id in ids}, scenarios=tuple(map(_shown, scenarios)),
            readings=tuple(self.config.readings[reading].description for reading in self.readings(ids)),
        )  # fmt: skip

    def _truths(self, figure: Figure) -> dict[str, float]:
        """Return the population values of the drawn columns, if the figure draws a dashed line there."""
        scenarios = self.of(figure.scenario, figure.size)
        if getattr(figure, "line", None) != "population" or not scenarios:
            return {}
        truths = {column: truth_of(scenarios[0].data, column) for column in figure.columns()}
        return {column: value for column, value in truths.items() if value is not None}

    def _panels(self, ids: Sequence[str], figure: Figure) -> tuple[Panel, ...]:
        by, where = figure.panels, figure.where
        if by in FRAMES:
            return (Panel(title="", ids=tuple(ids), epsilon=where.get("epsilon")),)
        values = dict.fromkeys(self.parameters(id)[by] for id in ids if by in self.parameters(id))
        return tuple(
            Panel(
                title=figure.titles.get(value, equation(by, f"{value:g}")),
                ids=tuple(id for id in ids if self.fits(id, {by: value})),
                epsilon=value if by == "epsilon" else where.get("epsilon"),
            )
            for value in values
        )

    def _ids(self, name: str) -> list[str]:
        return [name] if name in (DATA, PRIOR) else self.expanded.groups.get(name, [name])


@dataclass(frozen=True)
class Plan:
    """A whole run."""

    config: RunConfig
    papers: dict[str, Paper]
    skipped: list[str]
    """Sentences about parts that are left out, because data are missing or because a study changed their subject."""
    errata: tuple[Erratum, ...] = ()
    """Errors in the printed papers."""

    @property
    def scenarios(self) -> list[Scenario]:
        """Scenarios of all papers."""
        return [scenario for paper in self.papers.values() for scenario in paper.scenarios.values()]

    @property
    def warnings(self) -> list[str]:
        """Sentences about unfamiliar data files, records that are always clipped, and data outside declared ranges."""
        return [
            f"{paper.key}: {scenario.place} ({scenario.name}): {concern}"
            for paper in self.papers.values()
            for scenario in paper.scenarios.values()
            for concern in (scenario.doubt, scenario.silence, scenario.audit.concern if scenario.audit else "")
            if concern
        ]

    def programs(self) -> list[str]:
        """Names of the Stan programs that the run needs."""
        return sorted({name for scenario in self.scenarios for name in (scenario.program, *scenario.public_programs)} - {""})

    @functools.cached_property
    def own_programs(self) -> dict[str, Path]:
        """The user's own Stan programs, with their files."""
        families = {scenario.family for scenario in self.scenarios} - {""}
        modules = {FAMILIES[family].program: FAMILIES.module(family) for family in families}
        return {name: Path(module) for name, module in sorted(modules.items()) if module.endswith(".stan")}

    def source_of(self, program: str) -> Path:
        """Find the file of a Stan program."""
        return self.own_programs.get(program, REPOSITORY / "stan" / f"{program}.stan")

    def data_files(self) -> list[tuple[Dataset, bool]]:
        """Return the real data files that the papers use, each with True if it exists."""
        configs = [config for paper in self.papers.values() for config in paper.config.scenarios.values()]
        names = dict.fromkeys(name for config in configs for name in config.files)
        return [(FILES[name], find(name, self.config.data_folder) is not None) for name in names]

    def uses_of(self, program: str) -> list[dict[str, object]]:
        """Return the different uses of a user's own program, as plain data."""
        uses = {use.digest(): use for scenario in self.scenarios if scenario.program == program and (use := scenario.use)}
        return [dict(use.plain()) for _, use in sorted(uses.items())]


def _differing(parameters: Sequence[Mapping[str, float]]) -> list[str]:
    """Return the names of parameters that do not have the same value everywhere."""
    names = dict.fromkeys(name for values in parameters for name in values)
    return [name for name in names if len({values.get(name) for values in parameters}) > 1]


def _with_audited(table: Table, scenarios: Sequence[Scenario]) -> Table:
    """Return the table with a row for the audited epsilon after that for epsilon, if its scenario is audited."""
    rows, known = table.statistics, table.rows_allowed()
    if "epsilon" not in rows or AUDITED in rows or known is not None or not any(scenario.audit for scenario in scenarios):
        return table
    place = rows.index("epsilon") + 1
    return table.model_copy(update={"statistics": [*rows[:place], AUDITED, *rows[place:]]})


def truth_of(data: Simulated | FromFile | None, statistic: str) -> float | None:
    """Return the value of a statistic in the population that data are drawn from; None if unknown."""
    if not isinstance(data, Simulated):
        return None
    truth = POPULATIONS[data.population].truth
    return truth(**data.parameters).get(statistic) if truth else None


def _shown(scenario: Scenario) -> ShownScenario:
    file = scenario.data.file if isinstance(scenario.data, FromFile) else ""
    return ShownScenario(
        id=scenario.id, name=scenario.name, label=scenario.label, n=scenario.n, place=scenario.place,
        replicates=scenario.replicates, audited=scenario.audit.replicates if scenario.audit else 0,
        synthetic_sets=scenario.synthetic_sets, file=file, stand_in=scenario.stand_in,
        unit=scenario.unit, fitted_unit=fitted_unit(scenario), data=_kind_of_data(scenario),
        moves_only=scenario.audit is not None and scenario.audit.search.kinds == ("move",),
    )  # fmt: skip


def fitted_unit(scenario: Scenario) -> float | None:
    """Return the unit of the outcome in the fits; None for counts that are not in a unit of their own, and for studies."""
    own = scenario.data.parameters.get("unit") if isinstance(scenario.data, Simulated) else None
    if isinstance(own, int | float):
        return own
    continuous = bool(scenario.family) and FAMILIES[scenario.family].outcomes.holds(np.array([0.5]))
    return scenario.unit if continuous else None


def _kind_of_data(scenario: Scenario) -> str:
    """Describe the data for a caption; empty if a study's label names its data set."""
    if scenario.study:
        return STUDIES[scenario.study.name].data(scenario.study.settings)
    if isinstance(scenario.data, Simulated) and scenario.data.counts:
        return "draws from published counts"
    if isinstance(scenario.data, Simulated):
        return f"simulated data, population {scenario.data.population.replace('_', ' ')}"
    return "simulated data"


def figure_file(number: str) -> str:
    """Return a figure's file name without extension: two digits, so files sort, and the letter of its panel."""
    digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    return f"fig{int(digits):02d}{number.removeprefix(digits)}"
