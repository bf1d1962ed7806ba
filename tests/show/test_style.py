"""The house style: colours that all readers can distinguish, marks of guarantees, sizes of type."""

import itertools

import numpy as np
import pytest
from sight import APART, SIGHTS, ciede2000, lab, nearest

from formalsynth.core.words import GUARANTEES
from formalsynth_workflow.plan.model import find_all
from formalsynth_workflow.show.drawing import MARKERS, line_look, line_place
from formalsynth_workflow.show.style import COLUMN, CONTRAST, STYLE, TEXT, TITLE, Mark, contrast, edge, mark_of

find_all()
PAPERS = ("range", "censor", "reweight", "zcdp", "reps", "cost")
WITH_MARKERS = ("line", "density", "scatter", "exceedance", "contraction")
"""Kinds of figures whose lines or points have markers of their own."""
NAMED = ("budgets", "frontier", "guaranteed", "spread", "needed")
"""Kinds of figures with the name of each mechanism next to it."""
SERIES = 9
"""Largest number of labels of a panel that has only a legend for them."""
PHONE, LEAST = 390, 9
"""Width of a phone in pixels, and the smallest size of type on it."""


def test_the_measure_of_colours_is_the_published_one():
    """Pairs of the supplementary data of Sharma, Wu and Dalal (2005)."""
    pairs = [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ]
    for first, second, difference in pairs:
        assert ciede2000(np.array(first), np.array(second)) == pytest.approx(difference, abs=1e-4)
    assert lab("#ffffff") == pytest.approx([100, 0, 0], abs=0.01)
    for sight in SIGHTS:  # greys look grey to all
        assert np.abs(lab("#8d8d8d", sight)[1:]).max() < 0.1
    assert ciede2000(lab("#c00000", "deuteranopia"), lab("#606000", "deuteranopia")) < ciede2000(lab("#c00000"), lab("#606000"))


@pytest.mark.parametrize("key", PAPERS)
def test_all_readers_can_distinguish_mechanisms_in_one_frame(plan_of, key):
    """Colours differ under every kind of sight, or markers differ; synthesizers with one label share a line."""
    paper = plan_of(key).papers[key]
    for number in paper.figures:
        display = paper.figure(number, "paper")
        by_frame = (
            [[id] for id in display.ids] if display.figure.panels == "synthesizer" else [panel.ids for panel in display.panels]
        )
        for first, second in itertools.chain.from_iterable(itertools.combinations(ids, 2) for ids in by_frame):
            looks = [display.looks[id] for id in (first, second)]
            if looks[0].label == looks[1].label:
                continue
            if display.figure.kind in NAMED:
                continue  # each has its name next to it
            elif display.figure.kind in WITH_MARKERS:
                places = [line_place(display, id) % len(MARKERS) for id in (first, second)]
                apart = nearest(looks[0].colour, looks[1].colour) >= APART
                assert places[0] != places[1] or (display.figure.kind == "line" and apart), (key, number, first, second)
            else:
                assert nearest(looks[0].colour, looks[1].colour) >= APART, (key, number, first, second)


def kind_of(synthesizers, id):
    """The mechanism of a synthesizer and those of its parents, whatever their parameters."""
    synthesizer = synthesizers[id]
    return synthesizer.mechanism, *(kind_of(synthesizers, parent) for parent in synthesizer.parents)


def test_a_mechanism_has_one_colour_in_all_papers(plan_of):
    """A second colour of a mechanism with the same parents is only for two of them in one figure."""
    mains, unneeded, shown_in = {}, [], {}
    for key in PAPERS:
        paper = plan_of(key).papers[key]
        synthesizers, looks = paper.expanded.synthesizers, paper.expanded.looks
        figures = [[id for id in paper.figure(number, "paper").ids if id in synthesizers] for number in paper.figures]
        for id in dict.fromkeys(itertools.chain.from_iterable(figures)):
            kind, colour = kind_of(synthesizers, id), looks[id].colour
            main = mains.setdefault(kind, (key, id, colour))[2]
            shown_in.setdefault(kind, set()).add(key)
            together = {other for ids in figures if id in ids for other in ids if kind_of(synthesizers, other) == kind}
            together_with = {looks[other].colour for other in together}
            if colour != main and main not in together_with:
                unneeded.append((key, id, colour, mains[kind]))
    assert unneeded == []
    assert {kind[0] for kind, papers in shown_in.items() if len(papers) > 2} >= {"unweighted", "weighted"}
    # in two papers that showed them in different colours
    assert shown_in["scalar_weighted", ("weighted", ("unweighted",)), ("unweighted",)] == {"reweight", "cost"}
    assert shown_in["reweighted", ("weighted", ("unweighted",))] == {"reweight", "cost", "censor"}


def test_every_known_kind_of_guarantee_has_its_mark():
    marks = {kind: mark_of(kind) for kind in GUARANTEES}
    assert {kind for kind, mark in marks.items() if mark is Mark.EVERY} == {
        "DP", "DP (add/remove)", "DP (replace-one)", "zCDP", "(eps, delta)-DP", "(eps, delta)-DP (add/remove)",
    }  # fmt: skip
    assert {kind for kind, mark in marks.items() if mark is Mark.CONDITION} == {"range-averaged", "range-truncated"}
    assert marks["asymptotic DP (local eps_x)"] is marks["per-instance"] is Mark.LOCAL
    assert mark_of("none") is Mark.NONE
    assert mark_of("DP | fixed weights") is Mark.CONDITION
    assert mark_of("DP (add/remove) | exact draws") is Mark.EXACT
    assert mark_of("a new kind") is mark_of("a new kind | fixed weights") is Mark.LOCAL  # never more than is known


def test_type_ink_and_edges_can_be_seen(plan_of):
    sizes = [size for key, size in STYLE.items() if key.endswith(("size", ".fontsize")) and "tick.major" not in key]
    assert min(*sizes, TEXT, TITLE) >= 7
    assert TEXT / 72 * PHONE / COLUMN >= LEAST
    # the guidelines' contrast with white; the last one is the lightest grey for text at 4.5
    assert [contrast(colour) for colour in ("#000000", "#ffffff", "#767676")] == pytest.approx([21, 1, 4.54], abs=0.005)
    for colour in {look.colour for key in PAPERS for look in plan_of(key).papers[key].expanded.looks.values()}:
        assert contrast(edge(colour)) >= 3
        assert (edge(colour) == colour) is (contrast(colour) >= CONTRAST)
        look = line_look(colour, 0)
        assert contrast(look["color"]) >= 3
        assert contrast(look["markeredgecolor"]) >= 3


@pytest.mark.parametrize("key", PAPERS)
def test_figures_have_few_series_or_direct_labels_named_lines_and_no_range_without_ends(plan_of, key):
    """Rows and marks of the other kinds have their names next to them; half of epsilon and the population have names."""
    paper = plan_of(key).papers[key]
    displays = [paper.figure(number, "paper") for number in paper.figures]
    for part in itertools.chain.from_iterable(display.parts.values() or [display] for display in displays):
        counts = [len({part.looks[id].label for id in panel.ids}) for panel in part.panels]
        assert part.figure.kind not in WITH_MARKERS or max(counts) <= SERIES, part.number
        assert not isinstance(getattr(part.figure, "line", ""), float) or part.figure.line_label, part.number
        labels = [look.label.removesuffix("(-Inf, Inf)") for look in part.looks.values()]  # as printed
        assert not [label for label in labels if "inf" in label.lower()]
