"""The type of drawings: DejaVu Sans, cut down to the characters that labels are written with.

A PDF holds the glyphs that it shows, and most of the time of writing one goes into taking them out of a whole font. Out of a
small one they come five times faster. A character that is not in it is drawn from the whole one.
"""

from __future__ import annotations

import functools
import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.runtime.cache import keep, kept

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

WHOLE, CUT = "DejaVu Sans", "Formalsynth Sans"
"""Names of the families; the licence of DejaVu keeps its name for fonts that are not changed."""
KIND = "fonts"
"""Of what is kept for the user."""
FACES = ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSans-Oblique")
CHARACTERS = ((0x20, 0x24F), (0x370, 0x3FF), (0x2010, 0x209F), (0x2190, 0x226F))
"""First and last: Latin, Greek, punctuation with raised and lowered digits, arrows with mathematical signs."""


def families() -> list[str]:
    """Names of the families that text is drawn with, the first choice first; the cut one is known to matplotlib from then on."""
    from matplotlib import font_manager, get_data_path

    for face in FACES:
        path = _cut(Path(get_data_path(), "fonts", "ttf", f"{face}.ttf"))
        if all(entry.fname != str(path) for entry in font_manager.fontManager.ttflist):
            font_manager.fontManager.addfont(path)
    return [CUT, WHOLE]


@functools.cache
def _cut(whole: Path) -> Path:
    """Cut file of a face: kept for the user, or where nothing can be kept, made for this process."""
    from fontTools import version

    made_from = hashlib.sha256(whole.read_bytes() + version.encode() + Path(__file__).read_bytes()).hexdigest()
    name = f"{whole.stem}-{made_from}.ttf"
    if found := kept(KIND, name):
        return found
    font = _cut_down(whole)
    if found := keep(KIND, name, font.save):
        return found
    path = Path(_own_folder().name, name)
    font.save(path)
    return path


@functools.cache
def _own_folder() -> tempfile.TemporaryDirectory[str]:
    """Folder that goes with the process."""
    return tempfile.TemporaryDirectory(prefix="formalsynth-")


def _cut_down(whole: Path) -> TTFont:
    """Font with the characters alone, under its own name."""
    from fontTools import subset

    options = subset.Options(
        layout_features=["*"], name_IDs=["*"], notdef_outline=True, glyph_names=True, legacy_kern=True, recalc_timestamp=False
    )  # fmt: skip
    options.drop_tables += ["FFTM", "MATH", "GPOS"]  # what GPOS says of DejaVu's pairs of letters, "kern" says too
    font = subset.load_font(str(whole), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[code for first, last in CHARACTERS for code in range(first, last + 1)])
    cutter.subset(font)
    for record in font["name"].names:
        text = record.toUnicode().replace(WHOLE, CUT).replace(WHOLE.replace(" ", ""), CUT.replace(" ", ""))
        font["name"].setName(text, record.nameID, record.platformID, record.platEncID, record.langID)
    return font
