"""The crossing: one text file with all that leaves the confidential side; the release follows from it and the declarations."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
import yaml
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from formalsynth.core.model import Identifier, Model, pattern
from formalsynth.core.text import DataError
from formalsynth.core.yaml_text import yaml_text
from formalsynth_release.schema import Line, PublicSchema, ReleaseConfig
from formalsynth_release.variables import STEPS

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array

CROSSING, DECLARATIONS = FILES = "crossing.yaml", "declarations.yaml"  # files of a crossing: the numbers and the declarations
MOST_RELEASED = 50_000_000  # largest number of rows of all sets of a release together
ROUNDING = 1 + 1e-9  # factor by which a sum of claims may exceed the ceiling


def _flat(value: Any) -> Any:
    """Join the rows of a table into one list."""
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return [number for row in value for number in row]
    return value


Whole = Annotated[int, Field(ge=-(2**62), le=2**62)]  # whole number that 64 bits and sums of two can hold
Day = Annotated[str, Field(pattern=pattern("date")), AfterValidator(lambda text: date.fromisoformat(text).isoformat())]


class Part(Model):
    """Noisy counts of a table of some columns."""

    name: Line
    columns: tuple[str, ...]  # released columns that it counts
    mechanism: Literal["discrete Laplace"] = "discrete Laplace"
    epsilon: float = Field(gt=0, allow_inf_nan=False)  # cost for the declared neighbours
    scale: float = Field(gt=0, allow_inf_nan=False)  # scale of the noise of each number
    reason: Line  # reason why it may leave the confidential side
    largest: int = Field(1, ge=1)  # largest amount by which a row changes the numbers, in total
    scores: dict[str, tuple[Annotated[int, Field(ge=-STEPS, le=STEPS)], ...]] = Field(default_factory=dict)
    """Scores in sums of pairs, computed from these counts, by variable: the levels of a column, or the kinds of its values."""
    knots: dict[str, tuple[Annotated[int, Field(ge=0)], ...]] = Field(default_factory=dict)
    """Knots of hats in sums of pairs, computed from these counts, by variable: levels of a column, or kinds of its values."""
    shape: tuple[int, ...]
    numbers: Annotated[tuple[Whole, ...], BeforeValidator(_flat)]
    """Noisy counts in row-major order: the last column varies fastest."""

    @property
    def counts(self) -> Array:
        """Noisy counts as an array with their shape."""
        return np.array(self.numbers, dtype=float).reshape(self.shape)


class EarlierRelease(Model):
    """Earlier release from the same source, or an attempt at one."""

    date: Day
    epsilon: float = Field(gt=0, allow_inf_nan=False)
    outcome: Literal["released", "stopped", "started"]


class Earlier(Model):
    """Entries in the ledger of the source before this release."""

    releases: tuple[EarlierRelease, ...] = ()
    mixed: bool = False  # True if some protect presence and others values
    budgets: tuple[float, ...] = ()  # all budgets declared so far, the current one last


class Crossing(Model):
    """Everything that leaves the confidential side of a release."""

    statement: Line  # sentence on the guarantee
    crossing: Literal[3] = 3  # version of this format
    date: Day
    software: dict[Identifier, Annotated[str, Field(pattern=pattern("version"))]]
    """Versions of the software that ran the public side."""
    declarations: str = Field(pattern=pattern("sha256"))  # sha256 of the file of declarations
    seed: str = Field(pattern=pattern("sha256"))
    """Seed of the public side, drawn by the operating system: it is independent of the data and the noise."""
    rows: int = Field(ge=1)  # rows of each synthetic set
    compared: bool  # True if an earlier release was compared with the file
    earlier: Earlier
    tables: tuple[Part, ...] = ()


class Declarations(Model):
    """Public declarations of a release."""

    name: Line
    schema_: PublicSchema = Field(alias="schema")
    release: ReleaseConfig
    guarantee: Line  # guarantee, which follows from the other declarations


def declarations_of(name: str, schema: PublicSchema, release: ReleaseConfig) -> Declarations:
    """Collect the declarations that are published, with the guarantee of a release in one sentence."""
    one = f"one {schema.protected}"
    change = f"the values of {one} are replaced" if schema.neighbours == "replace" else f"{one} is added or removed"
    guarantee = f"Epsilon is at most {release.ceiling:g} if {change}: pure differential privacy, for every valid file."
    return Declarations(name=name, schema=schema, release=release, guarantee=guarantee)


MOST_BYTES = 8_000_000  # largest size of a file of a crossing, which has up to 100,000 numbers
DEEPEST = 20  # largest number of lists and mappings in each other
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Read = TypeVar("Read", Crossing, Declarations)


def text_of(model: Crossing | Declarations) -> str:
    """Write a crossing or declarations as YAML: a line for each number or row of a table."""
    tree = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    for table in tree.get("tables", []):
        width = table["shape"][-1] if len(table["shape"]) > 1 else len(table["numbers"])
        for stated in ("scores", "knots"):
            if not table[stated]:
                del table[stated]
        table["numbers"] = [table["numbers"][k : k + width] for k in range(0, len(table["numbers"]), max(width, 1))]
    return yaml_text(tree, flow=None)


def sha256(text: str) -> str:
    """Sha256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_crossing(folder: Path) -> tuple[Crossing, Declarations]:
    """Read and check a crossing.

    Raises:
        DataError: a file is missing or damaged, or the confidential side would not have written it.
    """
    crossing, declarations = _read(Crossing, folder / CROSSING), _read(Declarations, folder / DECLARATIONS)
    if problem := next(_problems(crossing, declarations), None):
        raise DataError(f"{folder / CROSSING}: {problem}")
    return crossing, declarations


def _read(model: type[Read], path: Path) -> Read:
    """Read a file whose bytes are those of :func:`text_of`: so it has no comments, repeated keys or other spellings."""
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise DataError(f"{path}: is missing, or larger than {MOST_BYTES} bytes")
    content = path.read_bytes()
    try:
        depth = 0
        for event in yaml.parse(content, LOADER):  # so the text can be read in little time and memory
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST or isinstance(event, yaml.AliasEvent):
                raise ValueError(f"it has references, or more than {DEEPEST} lists in each other")
        tree = yaml.load(content, LOADER)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from error
    if isinstance(tree, dict) and tree.get("crossing") in (1, 2):
        raise DataError(f"{path}: is of version 0.13.0 or before: verify it with that version of formalsynth")
    try:
        read = model.model_validate(tree)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise DataError(f"{path}: {'.'.join(map(str, wrong['loc'])) or '(whole file)'}: {wrong['msg']}") from error
    if text_of(read).encode() != content:
        raise DataError(f"{path}: contains more than its fields: comments, spaces or other marks")
    return read


def _problems(crossing: Crossing, declarations: Declarations) -> Iterator[str]:
    """List contradictions between the files and the numbers of a crossing."""
    schema, release, ceiling = declarations.schema_, declarations.release, declarations.release.ceiling
    problems = {
        f"declarations: is not the sha256 of {DECLARATIONS}": sha256(text_of(declarations)) != crossing.declarations,
        f"declarations: the guarantee in {DECLARATIONS} does not follow from the other declarations":
            declarations != declarations_of(declarations.name, schema, release),
        "rows: is not the declared number of rows": crossing.rows != (release.rows if schema.hides_rows else schema.rows),
        f"rows: are more than {MOST_RELEASED} in all sets together": crossing.rows * release.sets > MOST_RELEASED,
        "earlier: budgets: the last one is not the declared budget": crossing.earlier.budgets[-1:] != (release.budget,),
        "statement: does not follow from the declarations": crossing.statement != declarations.guarantee,
    }  # fmt: skip
    yield from (problem for problem, broken in problems.items() if broken)
    for part in crossing.tables:
        sensitivity, place = schema.change * part.largest, f"tables: {part.name}"
        if part.reason != noise_reason(sensitivity, part.scale, part.epsilon):
            yield f"{place}: reason: is not that of noisy counts"
        if part.scale * part.epsilon * ROUNDING < sensitivity:
            yield f"{place}: noise of scale {part.scale:g} costs more than epsilon {part.epsilon:g}"
        if math.prod(part.shape) != len(part.numbers) or len(part.shape) != len(part.columns):
            yield f"{place}: its numbers or columns do not match its shape"
        if unknown := [column for column in part.columns if column not in schema.released]:
            yield f"{place}: {unknown[0]} is not a released column"
    if (cost := sum(part.epsilon for part in crossing.tables)) > ceiling * ROUNDING:
        yield f"its parts cost {cost:g}, more than the declared ceiling of {ceiling:g}"


def noise_reason(sensitivity: float, scale: float, epsilon: float) -> str:
    """Explain why noisy counts may leave the confidential side."""
    most, noise = f"they differ by at most {sensitivity:g} in total", f"noise of scale {scale:g} costs epsilon {epsilon:g}"
    return f"Whole numbers with discrete Laplace noise: between neighbours {most}, so {noise}."
