"""Captions of figures and tables and what they were made from, by the plan; failed replicates are taken from the run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from formalsynth.core.neighbours import EXACT_DRAWS, OF_RANGES
from formalsynth.core.rows import AUDIT, AUDITED, SAMPLE_COLUMNS
from formalsynth.runtime.files import checksum, sealed
from formalsynth_workflow.show.display import BOUNDS, NOT_SYNTHETIC, Display, in_words
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.left_out import ABSENT, FAILED, by_label, with_reasons
from formalsynth_workflow.show.origin import Origin
from formalsynth_workflow.show.table import TableDisplay
from formalsynth_workflow.show.types import DataFrame

STAND_IN = "STAND-IN: simulated to replace missing records"
"""Text for stand-in data in a caption and above a drawing."""
LOWER_BOUND = "Audited ε: the largest loss over the neighbours that were tried, a lower bound on what can be claimed"
"""Sentence of a caption if an audited epsilon is shown."""
RANGES = "Guarantees of ranges (given R) are for moves inside ranges that are not public, not for these neighbours"
"""Sentence of a caption if the audited epsilon of a mechanism with sensitive ranges is shown."""
PRINTED = "Grey: printed values"
"""Sentence of a caption if printed values are drawn."""
SIZES = {
    "replicates": ("replicates", "{} replicate{} of n = "),
    "details": ("replicates", "{} replicate{} of n = "),
    AUDIT: ("audited", "{} audited data set{} of n = "),
    "sets": ("synthetic_sets", "{} synthetic data sets from one sample of n = "),
    "draws": ("", "posterior draws from one sample of n = "),
}
"""Field of a scenario with its number of replicates or sets, and its words, by collected table; others are of one sample."""
REAL = "real data"
"""Text for a real data set in a caption, after its name."""
MANY = 9
"""Largest number of labels that a caption lists one by one; longer lists are grouped."""
SETTING = re.compile(r"(?: at)? \d.*|, .*| \(.*")
"""Pattern of the part of a label after the name of its group."""
SENTENCE_END = re.compile(r"(?<=[a-z0-9)])\. (?=[A-Z])")
"""Pattern of the end of a sentence in a note."""


def caption(display: FigureDisplay | TableDisplay, failed: str = "", printed_range: str = "") -> str:
    """Write the caption of a figure or table: subject, what is not drawn, how to read it, and note.

    Args:
        display: the figure or table.
        failed: the sentences that :func:`failures` and :func:`not_drawn` return.
        printed_range: the ranges of the printed values and of ours.
    """
    drawings = display.drawings if isinstance(display, FigureDisplay) else []
    sentences = [
        f"{display.NAME} {display.number}. {display.entry.subject}",
        STAND_IN if display.stand_in else "",
        failed,
        _joined_without_repeats(text for part in drawings for text in _words(part)),
        printed_range,
        display.entry.note or _joined_without_repeats(part.figure.note for part in drawings),
    ]
    return _text(sentences)


def details(display: FigureDisplay | TableDisplay) -> str:
    """Write what a figure or table was made from: place, sizes, data and scale, readings, guarantees, and unit.

    Args:
        display: the figure or table.
    """
    entry, drawings = display.entry, display.drawings if isinstance(display, FigureDisplay) else []
    place = getattr(entry, "place", "") or display.scenarios[0].place
    columns, guarantees = set(entry.shown_columns()), [display.looks[id].guarantee for id in display.ids]
    audits = AUDITED in columns or (display.NAME == "Table" and display.table == AUDIT)
    joins = audits and not all(scenario.moves_only for scenario in display.scenarios)
    clipped = any(guarantee.endswith(EXACT_DRAWS) for guarantee in guarantees)
    readings = dict.fromkeys(reading for part in (display, *drawings) for reading in part.readings)
    sentences = [
        f"{display.authors}, {place}; {_sizes(display)} ({_data(display)}); run at {display.scale} scale",
        f"We read the paper as: {'; or: '.join(readings)}" if readings else "",
        _guarantees(display),
        _unit(display) if clipped or columns & BOUNDS else "",
        LOWER_BOUND if audits else "",
        RANGES if joins and any(guarantee.endswith(OF_RANGES) for guarantee in guarantees) else "",
        entry.details or _joined_without_repeats(part.figure.details for part in drawings),
    ]
    return _text(sentences)


def _text(sentences: Iterable[str]) -> str:
    return " ".join(f"{sentence.rstrip('.')}." for sentence in sentences if sentence) + "\n"


def _words(display: FigureDisplay) -> Iterable[str]:
    """Sentences on how to read a drawing."""
    figure = display.figure
    printed = PRINTED if display.printed and not figure.printed_apart else ""
    return figure.reading(display), figure.line_words(), printed


def _joined_without_repeats(texts: Iterable[str]) -> str:
    """Join sentences into one text, without repetition."""
    return ". ".join(dict.fromkeys(sentence for text in texts if text for sentence in SENTENCE_END.split(text.rstrip("."))))


def _unit(display: Display) -> str:
    """Units in which outcomes are fitted; empty without outcomes that have one."""
    words = in_words(scenario.fitted_unit for scenario in display.scenarios)
    return f"The unit of the outcome is {words}. Bounds and uncentred clipping depend on it" if words else ""


def failures(display: Display, collected: Iterable[DataFrame]) -> str:
    """Name the synthesizers with fewer results than the caption states; empty if there are none.

    Args:
        display: the figure or table.
        collected: the collected tables that it reads.
    """
    import pandas as pd

    rows = pd.concat([table.reindex(columns=["synthesizer", "status"]) for table in collected], ignore_index=True)
    results, failed = Counter(rows["synthesizer"]), Counter(rows.loc[rows["status"] == "failed", "synthesizer"])
    parts = []
    for id in (id for id in display.ids if id not in NOT_SYNTHETIC):
        number, lost = results[id], failed[id]
        if lost and lost < number:
            parts.append(f"{display.looks[id].label} ({lost} of {number} replicates)")
        elif lost or (not number and display.table in SAMPLE_COLUMNS):
            parts.append(f"{display.looks[id].label} (no result at all)")
    return f"Failed and left out: {'; '.join(parts)}" if parts else ""


def not_drawn(display: FigureDisplay, table: DataFrame) -> str:
    """Name the labels with infinite values, or values that a logarithmic axis cannot show; empty if there are none.

    Args:
        display: the figure.
        table: its tidy table.
    """
    parts = [(part, table[table["part"] == letter]) for letter, part in display.parts.items()] or [(display, table)]
    rows = [with_reasons(part.figure, own) for part, own in parts]
    words = [words for part in rows for words in by_label(part[~part[ABSENT].str.startswith(FAILED)])]
    return f"Not drawn: {'; '.join(dict.fromkeys(words))}" if words else ""


def _sizes(display: FigureDisplay | TableDisplay) -> str:
    """Sample sizes with the replicates or synthetic data sets of each; scenarios with the same number are listed together."""
    if isinstance(display, FigureDisplay) and display.parts:
        return "; ".join(dict.fromkeys(map(_sizes, display.drawings)))
    field, words = SIZES.get(display.table, ("", "one sample of n = "))
    several = len({scenario.name for scenario in display.scenarios}) > 1
    by_number: dict[int, list[str]] = {}
    for scenario in display.scenarios:
        number = getattr(scenario, field) if field else 1
        if number:
            by_number.setdefault(number, []).append(f"{scenario.n} ({scenario.label})" if several else str(scenario.n))
    return "; ".join(f"{words.format(k, 's' * (k > 1))}{', '.join(sizes)}" for k, sizes in by_number.items())


def _data(display: Display) -> str:
    """Kind of the data; by scenario if the kinds differ, and with the name of a real data set."""
    labels: dict[str, list[str]] = {}
    for scenario in display.scenarios:
        file = f"file {scenario.file}" if scenario.file else scenario.data or REAL
        labels.setdefault(STAND_IN if scenario.stand_in else file, []).append(scenario.label or scenario.name)
    if len(labels) == 1 and REAL not in labels:
        return next(iter(labels))
    return "; ".join(f"{', '.join(dict.fromkeys(names))}: {kind}" for kind, names in labels.items())


def _guarantees(display: Display) -> str:
    """Kind of guarantee of each synthesizer, or of each group if there are many."""
    by_kind: dict[str, dict[str, None]] = {}
    for id in display.ids:
        if id not in NOT_SYNTHETIC:
            by_kind.setdefault(display.looks[id].guarantee.replace("|", "given"), {})[display.looks[id].label] = None
    many = len({label for labels in by_kind.values() for label in labels}) > MANY
    kinds = [f"of {' / '.join(_groups(labels) if many else labels)}: {kind}" for kind, labels in by_kind.items()]
    head = "Guarantee (number of settings)" if many else "Guarantee"
    return f"{head} {'; '.join(kinds)}" if kinds else ""


def group_of(label: str) -> str:
    """Name of the group of a label, which is the label without its setting, such as ``Censor_w`` for ``Censor_w, ε = 5``."""
    return label if label.startswith("(") else SETTING.sub("", label) or label


def _groups(labels: Iterable[str]) -> list[str]:
    """Names of groups of labels, with the number of settings if there are several."""
    return [f"{name} ({number})" if number > 1 else name for name, number in Counter(map(group_of, labels)).items()]


def write_caption(path: str | Path, words: str, origin: Origin, values: Path) -> None:
    """Write the caption, the details and the origin of a figure or table, each in one line.

    A CSV file cannot carry its origin: a comment breaks readers, and columns with it would double the size of the largest tables.
    So the origin is followed by its checksum.

    Args:
        path: file to write.
        words: the caption and the details.
        origin: origin of the figure or table.
        values: its CSV file.
    """
    with sealed(path) as partial:
        partial.write_text(f"{words}{origin.words}. {values.name} has the sha256 {checksum(values)}.\n", encoding="utf-8")
