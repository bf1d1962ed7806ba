"""The captions of Snakemake's own report, from what it knows of a job."""

from types import SimpleNamespace

import jinja2
import pytest

PAPERS = ["range", "censor", "reweight", "zcdp", "reps", "cost"]


@pytest.fixture(scope="module")
def template(repository):
    """The caption of a figure or table."""
    return jinja2.Template((repository / "workflow" / "report" / "shown.rst").read_text(encoding="utf-8"))


def rendered(template, **params):
    return template.render(snakemake=SimpleNamespace(params=params))


@pytest.mark.parametrize("key", PAPERS)
def test_every_figure_and_table_has_its_subject_and_place(template, plan_of, key):
    paper = plan_of(key).papers[key]
    for number in paper.figures:
        display = paper.figure(number, "paper")
        text = rendered(template, display=dict(display.plain()))
        assert f"**Figure {number}**: " in text
        assert paper.original(number).subject[:20] in text.replace("\\", "")
        assert display.scenarios[0].place in text
        assert ("STAND-IN" in text) == display.stand_in
    for number in paper.tables:
        display = paper.table(number, "paper")
        text = rendered(template, display=dict(display.plain()))
        assert f"**Table {number}**: " in text
        assert paper.tables[number].subject[:20] in text.replace("\\", "")
        assert ("STAND-IN" in text) == display.stand_in


HOSTILE = [
    "subject\n\n.. raw:: html\n\n   <script>alert(1)</script>",
    "subject\n\n.. include:: /etc/passwd",
    "subject\r\n.. image:: https://example.org/x.png",
    "`link <javascript:alert(1)>`_",
    "|substituted| *emphasis* ``code`` :raw-html:`<b>`",
    "{{ 7 * 7 }} {% raw %} {0} {snakemake}",
    "<script>alert(1)</script>",
]


@pytest.mark.parametrize("subject", HOSTILE)
def test_a_subject_is_text_and_nothing_else(template, plan_of, subject):
    """No directive runs, and what is read is what was written."""
    from docutils.core import publish_doctree
    from docutils.nodes import raw, reference

    display = dict(plan_of("range").papers["range"].figure("1", "paper").plain())
    display["figure"] = {**display["figure"], "subject": subject}
    page = publish_doctree(rendered(template, display=display))
    assert not list(page.findall(raw))
    assert " ".join(subject.split()) in " ".join(page.astext().split())
    assert not [node for node in page.findall() if node.tagname in ("image", "system_message", "problematic")]
    assert not list(page.findall(reference))
