"""The cut font draws what the whole one draws, and is made once for the user."""

import io

import matplotlib
import pytest
from formalsynth.runtime.cache import cache_folder
from formalsynth.show import fonts
from formalsynth.show.fonts import CUT, KIND, WHOLE, families
from matplotlib import font_manager
from matplotlib.figure import Figure

LABELS = ("AVATo fi ε = 0.5 × Δ ≤ √n", "größte Łódź Œuvre", "10⁻¹² → ∞", "данные 数")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache of the user's, and a matplotlib that knows no cut font."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [e for e in font_manager.fontManager.ttflist if e.name != CUT])
    fonts._cut.cache_clear()
    yield tmp_path / "cache"
    fonts._cut.cache_clear()


def drawn(family, text, **style):
    """A picture of a text."""
    with matplotlib.rc_context({"font.family": family, "text.parse_math": False}):
        figure, to = Figure(figsize=(4, 1)), io.BytesIO()
        figure.text(0.05, 0.4, text, **style)
        figure.savefig(to, format="png", metadata={"Software": None})
    return to.getvalue()


@pytest.mark.filterwarnings("ignore:Glyph .* missing")
@pytest.mark.parametrize("style", [{}, {"weight": "bold"}, {"style": "italic"}])
@pytest.mark.parametrize("text", LABELS)
def test_it_draws_what_the_whole_font_draws(text, style):
    assert drawn(families(), text, **style) == drawn([WHOLE], text, **style)


def test_it_is_made_once_for_the_user_and_again_where_it_is_damaged(monkeypatch):
    made = []
    cut_down = fonts._cut_down
    monkeypatch.setattr(fonts, "_cut_down", lambda whole: made.append(whole.name) or cut_down(whole))
    families()
    fonts._cut.cache_clear()
    families()
    assert len(made) == len(fonts.FACES)
    path = next(path for path in cache_folder(KIND).glob("*.ttf"))
    path.write_bytes(path.read_bytes()[:-1])
    fonts._cut.cache_clear()
    families()
    assert len(made) == len(fonts.FACES) + 1


def test_without_a_folder_to_keep_it_in_it_is_made_all_the_same(cache):
    cache.write_text("a file")
    assert families() == [CUT, WHOLE]
    assert font_manager.findfont(CUT, fallback_to_default=False).endswith(".ttf")
