"""What the gate measures, where that takes little time."""

from __future__ import annotations

import json

import pytest

from bench.gate.__main__ import FLOORS, measure
from bench.gate.floors import drops
from bench.gate.measures import MEASURES


@pytest.fixture
def own_environment(monkeypatch):
    monkeypatch.setenv("SITES_DIR", "")  # what is set while measuring is taken back


def test_every_measure_has_floors_and_every_floor_a_measure():
    named = {name.partition(": ")[0] for name in json.loads(FLOORS.read_text("utf-8"))}
    assert named == set(MEASURES)


@pytest.mark.usefixtures("own_environment")
def test_quick_figures_are_not_below_their_floors():
    quick = ["sentences", "url_lang", "url_pair"]
    floors = json.loads(FLOORS.read_text("utf-8"))
    asked = {name: floor for name, floor in floors.items() if name.partition(": ")[0] in quick}
    assert drops(measure(quick), asked) == []
