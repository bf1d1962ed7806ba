"""The command ``compare``: a confidential page with a release beside the file."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.text import DataError
from formalsynth.runtime.private import private_folder, write_private
from formalsynth_release.associations import associations, variable_places
from formalsynth_release.budget import head_line, record
from formalsynth_release.crossing import read_crossing
from formalsynth_release.layout import Layout
from formalsynth_release.ledger import CONFIDENTIAL, ComparisonEntry
from formalsynth_release.levels import Levels
from formalsynth_release.rows import usable
from formalsynth_release.schema import PublicSchema
from formalsynth_release.study import Declared

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REPORT = f"{CONFIDENTIAL}/CONFIDENTIAL-comparison.html"
GROUPS = 12  # largest number of groups of levels in each direction of a plot of a pair
LABELS = 8  # number of labels of levels in a plot of a column
FILE_COLOUR, RELEASE_COLOUR = "black", "#0072b2"


def compare(declared: Declared, release: Path) -> list[str]:
    """Compare a release with the file.

    Returns:
        Lines to print, without anything from the data.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: the file or the release cannot be used.
    """
    _, public = read_crossing(release)
    schema, folder = public.schema_, declared.folder
    if (columns := list(declared.schema.released)) != list(schema.released):
        raise DataError(f"{release}: has the columns {', '.join(schema.released)}; the study declares {', '.join(columns)}")
    file, _ = usable(declared)
    sets = [_read(schema, path) for path in sorted(release.glob("synthetic_*.csv"))]
    private_folder((folder / REPORT).parent)
    record(declared, ComparisonEntry, study=declared.name)  # before anyone can read the page
    write_private(folder / REPORT, _comparison(public.release.title, schema, file, sets))
    return [
        f"The comparison is {folder / REPORT}: CONFIDENTIAL, only you can read it.",
        "The ledger records the comparison. What you declare from now on may depend on the file, and later releases state that.",
        head_line(declared),
    ]


def _read(schema: PublicSchema, path: Path) -> pd.DataFrame:
    """Read a synthetic set with the types of its columns."""
    types = {name: "object" if column.type == "category" else "float" for name, column in schema.released.items()}
    return pd.read_csv(path, dtype=types, keep_default_na=False, na_values=[""])


def _comparison(title: str, schema: PublicSchema, file: pd.DataFrame, sets: Sequence[pd.DataFrame]) -> str:
    """Write the confidential page: a plot of each column and each declared pair, and the associations."""
    layout, released = Layout(schema), pd.concat(sets, ignore_index=True)
    ours, theirs = layout.places(file), layout.places(released)
    columns = []
    for name, levels in layout.columns.items():
        shares = [np.bincount(places[name], minlength=layout.widths[name]) / len(places[name]) for places in (ours, theirs)]
        columns.append((name, f"Shares of the levels of {name}", _picture(_plot_of_shares, levels, shares)))
    both = [associations(layout, table, layout.pairs) for table in (file, released)]
    variables, pairs = [variable_places(layout, table) for table in (file, released)], []
    for first, second in layout.pairs:
        counts = [_counts(of[first][0], of[second][0]) for of in variables]
        picture = _picture(_plot_of_pair, (first, second), counts, fields=2)
        pairs.append((f"{first} and {second}", f"Shares of {first} and {second}, file and release", picture))
    rows = [(pair[0], [f"{number:.4g}" for number in numbers]) for pair, *numbers in zip(pairs, *both, strict=True)]
    environment = Environment(loader=PackageLoader("formalsynth_release"), autoescape=True, trim_blocks=True)
    return environment.get_template("page.html.j2").render(title=title, columns=columns, pairs=pairs, rows=rows)


def _counts(first: Integers, second: Integers) -> Array:
    """Count rows by groups of the levels of two variables; rows in which one has no level are left out."""
    there = (first >= 0) & (second >= 0)
    edges = [np.unique(np.linspace(0, places.max(initial=0) + 1, GROUPS + 1, dtype=int)) for places in (first, second)]
    counts, *_ = np.histogram2d(first[there], second[there], edges)
    return np.asarray(counts / max(counts.sum(), 1))


def _plot_of_shares(axes: Axes, levels: Levels, shares: Sequence[Array]) -> None:
    """Plot shares with labels of what is plotted: some levels by their lowest values, and all kinds of missing values."""
    axes.bar(np.arange(len(shares[0])), shares[1], color=RELEASE_COLOUR)
    axes.step(np.arange(len(shares[0])), shares[0], where="mid", color=FILE_COLOUR)
    places = list(range(0, len(levels), max(1, len(levels) // LABELS)))
    values = levels.values(np.array(places), np.zeros(len(places)))
    labels = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    missing = [*(levels.column.missing_codes or {}).values(), *["missing"] * levels.column.may_be_missing]
    axes.set_xticks([*places, *range(len(levels), len(levels) + len(missing))], [*labels, *missing], rotation=30, ha="right")
    axes.set_ylabel("share")


def _plot_of_pair(file: Axes, release: Axes, names: Sequence[str], counts: Sequence[Array]) -> None:
    for axes, shares, title in zip((file, release), counts, ("file", "release"), strict=True):
        axes.imshow(shares.T, origin="lower", aspect="auto", cmap="viridis", vmin=0, vmax=max(map(np.max, counts)))
        axes.set(title=title, xlabel=names[0], ylabel=names[1], xticks=[], yticks=[])


def _picture(draw: Callable[..., None], *given: object, fields: int = 1) -> str:
    """Draw a picture with fields next to each other, as text for a page."""
    from matplotlib.figure import Figure

    figure, file = Figure(figsize=(8, 3), layout="constrained"), io.BytesIO()
    draw(*(figure.add_subplot(1, fields, place + 1) for place in range(fields)), *given)
    figure.savefig(file, dpi=80, metadata={"Software": None})
    return base64.b64encode(file.getvalue()).decode()
