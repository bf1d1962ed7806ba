"""Changes of the package that tests must detect: the lines that they change are still there."""

import yaml

from dev.mutants import NAMED, named


def test_the_named_changes_can_be_made():
    config = yaml.safe_load(NAMED.read_text(encoding="utf-8"))
    mutants = named(config["named"])
    assert len(mutants) == len(config["named"]) > 50
    for mutant in mutants:
        compile(mutant.source(), mutant.module, "exec")
