"""Estimated time of a larger study."""

from importlib import import_module
from types import SimpleNamespace

import pytest

bench = import_module("bench.schedule")

SCENARIO = SimpleNamespace(replicates=4, batch_size=2)
ALONE = SimpleNamespace(replicates=1, batch_size=2)
PLAN = SimpleNamespace(
    config=SimpleNamespace(batches_max=5), papers={"range": SimpleNamespace(scenarios={"many": SCENARIO, "alone": ALONE})}
)
SECONDS = {"compile": 3.0, "b0": 2.0, "b1": 4.0, "single": 7.0, "collect": 1.0}
NEEDS = {"compile": [], "b0": ["compile"], "b1": ["compile"], "single": ["compile"], "collect": ["b0", "b1", "single"]}


@pytest.mark.parametrize(("replicates", "batches"), [(4, [3, 3]), (5, [3, 3, 1.5]), (20, [6] * 5)])
def test_more_replicates_take_longer_in_batches_as_planned(replicates, batches):
    seconds, needs = bench.enlarged(
        SECONDS, NEEDS, {("range", "many"): ["b0", "b1"], ("range", "alone"): ["single"]}, PLAN, replicates
    )
    added = [name for name in seconds if name not in SECONDS]
    assert [seconds[name] for name in added] == batches
    assert all(needs[name] == ["compile"] for name in added)
    assert set(needs["collect"]) == {*added, "single"}
    assert set(seconds) == set(needs)
    assert bench.schedule(seconds, needs, bench.ways(seconds, needs), 100) == 3 + max(7, *batches) + 1
    assert bench.schedule(seconds, needs, bench.ways(seconds, needs), 1) == sum(seconds.values())
