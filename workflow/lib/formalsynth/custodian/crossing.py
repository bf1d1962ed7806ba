"""The crossing: one text file with everything that leaves the confidential side of a release.

The public side computes the whole release from it, from the public declarations, and from columns that are released as they are.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field

from formalsynth.core.arrays import Array
from formalsynth.core.mechanism import SENSITIVITY, STRICT_KINDS
from formalsynth.core.model import Identifier, Model, pattern
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth.custodian.guarantees import Audit, guarantee_sentence
from formalsynth.custodian.schema import FITTED, TABLES, Line, PublicSchema, ReleaseConfig
from formalsynth.custodian.variables import STEPS
from formalsynth.runtime.files import checksum, write_text
from formalsynth.settings.messages import ConfigError, validated
from formalsynth.settings.yaml_file import load_yaml, yaml_text

CROSSING, DECLARATIONS, AS_IS = "crossing.yaml", "declarations.yaml", "as_is.csv"
"""Files of a crossing: the numbers, the declarations, and the columns that are released as they are."""
NOISY = (
    "Whole numbers with discrete Laplace noise: between neighbours they differ by at most {sensitivity:g} in total, so noise of "
    "scale {scale:g} costs epsilon {epsilon:g}."
)
DRAWN = "One posterior draw for each set; {draws} cost the claimed epsilon, as far as the sampler follows the posterior."
FIT = "One posterior draw for each set, computed from the noisy tables of this file and from nothing else: no further epsilon."
"""Reasons why numbers may leave the confidential side."""
FIT_PART = "outcome for the fit"
"""Name of the noisy table to which a family is fitted."""
REHEARSED = "made up"
"""Family of a rehearsal."""
MOST_RELEASED = 50_000_000
"""Largest number of rows of all sets of a release together."""
ROUNDING = 1 + 1e-9
"""Factor by which a sum of claims may exceed the ceiling."""


def _flat(value: Any) -> Any:
    """Join the rows of a table into one list."""
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return [number for row in value for number in row]
    return value


def _whole(numbers: tuple[int, ...]) -> tuple[int, ...]:
    if any(abs(number) > 2**62 for number in numbers):
        raise ValueError("Input should be whole numbers of at most 62 bits")
    return numbers


Finite = Annotated[float, Field(allow_inf_nan=False)]


class Part(Model):
    """Noisy counts of a table of some columns."""

    name: Line
    columns: tuple[str, ...]
    """Released columns that it counts."""
    mechanism: Literal["discrete Laplace"] = "discrete Laplace"
    epsilon: float = Field(gt=0, allow_inf_nan=False)
    """Cost for the declared neighbours."""
    scale: float = Field(gt=0, allow_inf_nan=False)
    """Scale of the noise of each number."""
    reason: Line
    """Reason why it may leave the confidential side."""
    largest: int = Field(1, ge=1)
    """Largest amount by which a row changes the numbers, in total."""
    scores: dict[str, tuple[Annotated[int, Field(ge=-STEPS, le=STEPS)], ...]] = Field(default_factory=dict)
    """Scores in sums of pairs, computed from these counts, by variable: the levels of a column, or the kinds of its values."""
    knots: dict[str, tuple[Annotated[int, Field(ge=0)], ...]] = Field(default_factory=dict)
    """Knots of hats in sums of pairs, computed from these counts, by variable: levels of a column, or kinds of its values."""
    shape: tuple[int, ...]
    numbers: Annotated[tuple[int, ...], BeforeValidator(_flat), AfterValidator(_whole)]
    """Noisy counts in row-major order: the last column varies fastest."""

    @property
    def counts(self) -> Array:
        """Noisy counts as an array with their shape."""
        return np.array(self.numbers, dtype=float).reshape(self.shape)


class ReleasedDraws(Model):
    """Released posterior draws, one for each synthetic set."""

    name: Line
    mechanism: Line
    """Mechanism of the posterior."""
    epsilon: Finite | None
    """Cost of all draws for the declared neighbours; None where it is confidential, at most the ceiling."""
    reason: Line
    """Reason why they may leave the confidential side."""
    parameters: dict[str, tuple[Annotated[tuple[Finite, ...], BeforeValidator(_flat)], ...]]
    """Values of each parameter, one row for each draw."""
    shapes: dict[str, tuple[int, ...]]
    """Shape of each parameter."""
    fit_p: Finite | None = None
    """P value of a test of fit of the family to the noisy tables; None for draws of the rows."""

    @property
    def draws(self) -> dict[str, Array]:
        """Draws (m, ...) by parameter."""
        return {name: np.array(rows).reshape(-1, *self.shapes[name]) for name, rows in self.parameters.items()}


class Unchanged(Model):
    """Columns released unchanged, in a separate file and outside the guarantee."""

    columns: tuple[str, ...]
    rows: int
    unique: int
    """Number of rows that no other row equals in these columns."""
    sha256: str


class Earlier(Model):
    """Entries in the study's ledger before this release."""

    entries: int = Field(0, ge=0)
    epsilon: float = Field(0.0, ge=0)
    """Sum of their epsilons."""
    mixed: bool = False
    """True if their kinds of guarantee or neighbours differ from those of this release."""
    budgets: tuple[float, ...] = ()
    """All budgets declared so far, the current one last; empty in a rehearsal."""


class Crossing(Model):
    """Everything that leaves the confidential side of a release."""

    statement: Line
    """Sentence on the guarantee, or that there is none."""
    crossing: Literal[1] = 1
    """Version of this format."""
    date: str = Field(pattern=pattern("date"))
    software: dict[Identifier, Annotated[str, Field(pattern=pattern("version"))]]
    """Versions of the software that ran the public side."""
    declarations: str = Field(pattern=pattern("sha256"))
    """Sha256 of the file of declarations."""
    files: dict[str, str] = Field(default_factory=dict)
    """Sha256 of each file of the user's own code, by name."""
    seed: str = Field(pattern=pattern("sha256"))
    """Seed of the public side, drawn by the operating system: it is independent of the data and the noise."""
    rows: int = Field(ge=1)
    """Rows of each synthetic set."""
    audit: Audit
    compared: bool
    """True if an internal report compared candidates on the file."""
    earlier: Earlier
    unchanged: Unchanged | None = None
    draws: ReleasedDraws | None = None
    tables: tuple[Part, ...] = ()

    @property
    def known(self) -> float:
        """Epsilon of all tables and, where it is known, of the draws."""
        return sum(part.epsilon for part in self.tables) + (self.draws.epsilon or 0 if self.draws else 0)


class OwnCode(Model):
    """A user's own code that the public side needs: Python that registers a family, or a Stan program with its fixed numbers."""

    file: str = Field(pattern=pattern("file of own code"))
    data: dict[str, float] = Field(default_factory=dict)


class Declarations(Model):
    """Public declarations of a release."""

    name: Line
    schema_: PublicSchema = Field(alias="schema")
    release: ReleaseConfig
    mechanism: Line
    guarantee: Line
    """Kind of guarantee for the declared neighbours."""
    parameters: dict[str, float]
    """Parameters of the mechanism, where its guarantee is strict."""
    claim: float | None = None
    """Epsilon of the outcomes in all sets, if it is known without the file; None if it is confidential."""
    family: str | None = None
    """Family of the draws; None for tables alone."""
    own: OwnCode | None = None
    own_mechanism: Line | None = None
    """File and checksum of a user's own mechanism; None for a mechanism of the package."""

    @property
    def proven(self) -> bool:
        """True if the guarantee is strict and the mechanism is one of the package."""
        return self.pure and self.own_mechanism is None

    @property
    def meaning(self) -> str:
        """Meaning of the guarantee."""
        shown = self.schema_.shown
        return guarantee_sentence(self.guarantee, self.schema_.neighbours, self.noisy, self.own_mechanism, shown)

    @property
    def pure(self) -> bool:
        """True if the guarantee is strict."""
        return self.guarantee in STRICT_KINDS

    @property
    def tables(self) -> bool:
        """True if all columns come from noisy tables."""
        return self.mechanism == TABLES

    @property
    def fitted(self) -> bool:
        """True if the draws come from a family that is fitted to noisy tables."""
        return self.mechanism == FITTED

    @property
    def noisy(self) -> bool:
        """True if all sets come from noisy counts, False for posterior draws of the rows."""
        return self.fitted or self.family is None


TIMES = 4
"""Number of times that a crossing may be larger than files that people write by hand: it has up to 100,000 numbers."""


def text_of(model: Crossing | Declarations) -> str:
    """Write a crossing or declarations as YAML: a line for each number or row of a table."""
    return _written(model.model_dump(mode="json", by_alias=True, exclude_none=isinstance(model, Declarations)))


def part_text(statement: str, part: Part) -> str:
    """Write noisy counts as YAML, in the format of a crossing, below a statement on their guarantee."""
    return _written({"statement": statement, "tables": [part.model_dump(mode="json")]})


def _written(tree: dict[str, Any]) -> str:
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


def write_crossing(folder: Path, crossing: Crossing, declarations: Declarations) -> None:
    """Write both files."""
    write_text(folder / CROSSING, text_of(crossing))
    write_text(folder / DECLARATIONS, text_of(declarations))


def read_crossing(folder: Path) -> tuple[Crossing, Declarations]:
    """Read and check a crossing.

    Raises:
        DataError: a file is missing or damaged, or the confidential side would not have written it.
    """
    try:
        crossing = validated(Crossing, load_yaml(folder / CROSSING, TIMES), folder / CROSSING)
        declarations = validated(Declarations, load_yaml(folder / DECLARATIONS, TIMES), folder / DECLARATIONS)
        for name, model in ((CROSSING, crossing), (DECLARATIONS, declarations)):
            if text_of(model).encode() != (folder / name).read_bytes():  # a comparison as text would ignore different line ends
                raise DataError(f"{folder / name}: contains more than its fields: comments, spaces or other marks")
    except (ConfigError, UnicodeDecodeError) as error:
        raise DataError(str(error)) from error
    if problem := next(_problems(folder, crossing, declarations), None):
        raise DataError(f"{folder / CROSSING}: {problem}")
    return crossing, declarations


def _problems(folder: Path, crossing: Crossing, declarations: Declarations) -> Iterator[str]:
    """List contradictions between the files and the numbers of a crossing."""
    if sha256(text_of(declarations)) != crossing.declarations:
        yield f"declarations: is not the sha256 of {DECLARATIONS}"
    yield from _wrong_files(folder, crossing, declarations)
    yield from _wrong_settings(crossing, declarations)
    if crossing.statement != statement_of(declarations, crossing.audit):
        yield "statement: does not follow from the declarations and the audit"
    released, ceiling = declarations.schema_.released, declarations.release.ceiling
    for part in crossing.tables:
        yield from _wrong_noise(part, declarations)
        if math.prod(part.shape) != len(part.numbers) or len(part.shape) != len(part.columns):
            yield f"tables: {part.name}: its numbers or columns do not match its shape"
        if unknown := [column for column in part.columns if column not in released]:
            yield f"tables: {part.name}: {unknown[0]} is not a released column"
    if crossing.known > ceiling * ROUNDING:
        yield f"its parts cost {crossing.known:g}, more than the declared ceiling of {ceiling:g}"
    if crossing.draws and crossing.draws.reason != drawn_reason(declarations.release.sets, declarations.fitted):
        yield "draws: reason: is not that of posterior draws"
    if crossing.draws and declarations.fitted and crossing.draws.epsilon != 0:
        yield "draws: epsilon: is not 0, but they are computed from the tables"
    if crossing.draws and {len(rows) for rows in crossing.draws.parameters.values()} != {declarations.release.sets}:
        yield "draws: there is not exactly one for each set"


def _wrong_settings(crossing: Crossing, declarations: Declarations) -> Iterator[str]:
    """List contradictions between the declarations and the settings in a crossing."""
    schema, release = declarations.schema_, declarations.release
    if declarations.noisy and crossing.audit != "none":
        yield f"audit: is {crossing.audit}, but noisy counts are not audited"
    declared = release.rows if schema.hides_rows else crossing.unchanged.rows if crossing.unchanged else schema.rows
    if crossing.rows != declared:
        yield "rows: is not the declared number of rows"
    if crossing.rows * release.sets > MOST_RELEASED:
        yield f"rows: are more than {MOST_RELEASED} in all sets together"
    if not crossing.draws and (declarations.family or declarations.own):
        yield "draws: are missing, but the declarations have a family or code for them"
    if not crossing.earlier.entries and (crossing.earlier.epsilon or crossing.earlier.mixed):
        yield "earlier: has an epsilon or mixed kinds of guarantee, but no entries"
    if not _is_date(crossing.date):
        yield "date: is not a date"
    if crossing.earlier.budgets and crossing.earlier.budgets[-1] != release.budget:
        yield "earlier: budgets: the last one is not the declared budget"


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _wrong_noise(part: Part, declarations: Declarations) -> Iterator[str]:
    sensitivity = SENSITIVITY[declarations.schema_.neighbours] * part.largest
    if part.reason != noise_reason(sensitivity, part.scale, part.epsilon):
        yield f"tables: {part.name}: reason: is not that of noisy counts"
    if part.scale * part.epsilon * ROUNDING < sensitivity:
        yield f"tables: {part.name}: noise of scale {part.scale:g} costs more than epsilon {part.epsilon:g}"


def noise_reason(sensitivity: float, scale: float, epsilon: float) -> str:
    """Explain why noisy counts may leave the confidential side."""
    return NOISY.format(sensitivity=sensitivity, scale=scale, epsilon=epsilon)


def drawn_reason(sets: int, fitted: bool) -> str:
    """Explain why posterior draws may leave the confidential side."""
    return FIT if fitted else DRAWN.format(draws=counted(sets, "draw"))


def statement_of(declarations: Declarations, audit: Audit) -> str:
    """Write the first line of a crossing: its guarantee, or that there is none."""
    ceiling = declarations.release.ceiling
    unchanged = [name for name, column in declarations.schema_.released.items() if column.release == "as_is"]
    outside = f" Nothing is promised for {', '.join(unchanged)}, in which neighbours do not differ." if unchanged else ""
    meaning = declarations.meaning + outside
    if audit == "refuted":
        return f"No guarantee: an audit on this file found a larger loss than the claimed epsilon of {ceiling:g}."
    if declarations.proven:
        return f"Epsilon at most {ceiling:g}. {meaning}"
    if declarations.pure:
        return f"Epsilon at most {ceiling:g} is claimed. {meaning}"
    return f"No guarantee for every file; epsilon at most {ceiling:g} is claimed. {meaning}"


def _wrong_files(folder: Path, crossing: Crossing, declarations: Declarations) -> Iterator[str]:
    wanted = dict(crossing.files) | ({AS_IS: crossing.unchanged.sha256} if crossing.unchanged else {})
    own = {declarations.own.file} if declarations.own else set()
    if set(crossing.files) != own:
        yield "files: are not those of the declarations"
    for name, total in wanted.items():
        if not (folder / name).is_file() or checksum(folder / name) != total:
            yield f"{name} is missing, or is a different file"


def names(crossing: Crossing) -> list[str]:
    """List the names of the files of a crossing."""
    return [CROSSING, DECLARATIONS, *([AS_IS] if crossing.unchanged else []), *crossing.files]


def released_draws(draws: Mapping[str, Array], chosen: Sequence[int]) -> dict[str, Any]:
    """Return the fields of :class:`ReleasedDraws` for the chosen draws."""
    return {
        "parameters": {name: [np.ravel(values[k]).tolist() for k in chosen] for name, values in draws.items()},
        "shapes": {name: list(values.shape[1:]) for name, values in draws.items()},
    }
