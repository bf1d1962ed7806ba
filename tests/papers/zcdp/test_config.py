"""Tests of config of the studies: invalid names, settings and arms are reported with their keys."""

import pytest

from formalsynth.settings.messages import ConfigError


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scenarios.coverage.study.name": "covrage"}, "scenarios.coverage.study.name: given 'covrage'; "),
        ({"scenarios.coverage.study.d": ...}, "scenarios.coverage.study.d; Field required"),
        ({"scenarios.coverage.study.d": -1}, "scenarios.coverage.study.d: given -1; "),
        ({"scenarios.coverage.study.e": 1}, "scenarios.coverage.study.e: given 1; "),
        (
            {"scenarios.means.synthesizers": ["Synthetic", "bayes_T_f"]},
            "scenarios.means.synthesizers: given 'bayes_T_f'; allowed: a different one: this one is for the study coverage",
        ),
    ],
)
def test_what_cannot_be_used_is_named(plan_of, changes, message):
    with pytest.raises(ConfigError) as error:
        plan_of("zcdp", "smoke", **changes)
    assert message in str(error.value)
