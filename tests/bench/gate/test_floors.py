"""Floors that figures are held to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.gate.__main__ import FLOORS, update
from bench.gate.floors import EPSILON, Figure, drops, holds, raised

RECALL = Figure("pairs: recall", 0.9)
COST = Figure("crawl: downloads per pair", 2.0, lower_is_better=True)
KEPT = {"pairs: recall": {"at_least": 0.9}, "crawl: downloads per pair": {"at_most": 2.0}}


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "floors.json"
    path.write_text(json.dumps(KEPT), "utf-8")
    return path


def test_figures_as_good_as_their_floors_hold():
    assert drops([RECALL, COST], KEPT) == []
    assert drops([RECALL._replace(value=0.95), COST._replace(value=1.5)], KEPT) == []


@pytest.mark.parametrize(("share", "is_held"), [(0.9, True), (1.1, False)])
def test_figure_may_miss_its_floor_by_a_little(share, is_held):
    worse = EPSILON * share
    assert holds(RECALL._replace(value=0.9 * (1 - worse)), KEPT) is is_held
    assert holds(COST._replace(value=2.0 * (1 + worse)), KEPT) is is_held


def test_drop_says_what_was_measured_and_asked_for():
    found = drops([RECALL._replace(value=0.8), COST._replace(value=2.5)], KEPT)
    assert found == [
        "pairs: recall: 0.8, at least 0.9 is asked for",
        "crawl: downloads per pair: 2.5, at most 2 is asked for",
    ]


def test_figure_that_is_no_longer_measured_is_a_drop():
    (found,) = drops([COST], KEPT)
    assert found.startswith("pairs: recall:")


def test_figure_without_a_floor_is_no_drop():
    assert drops([RECALL, COST, Figure("new", 0.0)], KEPT) == []


def test_floor_of_the_other_kind_does_not_hold():
    assert not holds(COST._replace(lower_is_better=False), KEPT)


def test_floors_are_raised_to_what_is_measured_and_never_lowered():
    found = raised([RECALL._replace(value=0.899), COST._replace(value=1.5)], KEPT)
    assert found == {RECALL.name: {"at_least": 0.9}, COST.name: {"at_most": 1.5}}


def test_update_writes_what_is_better(file):
    better = [RECALL._replace(value=0.95), COST, Figure("new: f1", 0.5)]
    assert update(file, better, KEPT, allow_drop=False) == 0
    assert json.loads(file.read_text("utf-8")) == {
        **KEPT, "pairs: recall": {"at_least": 0.95}, "new: f1": {"at_least": 0.5},
    }  # fmt: skip


def test_update_refuses_to_lower_a_floor(file, capsys):
    before = file.read_text("utf-8")
    worse = [RECALL._replace(value=0.8), COST._replace(value=1.0)]
    assert update(file, worse, KEPT, allow_drop=False) == 1
    assert file.read_text("utf-8") == before
    assert "pairs: recall" in capsys.readouterr().err


def test_update_lowers_floors_and_forgets_figures_if_that_is_allowed(file):
    assert update(file, [RECALL._replace(value=0.8)], KEPT, allow_drop=True) == 0
    assert json.loads(file.read_text("utf-8")) == {"pairs: recall": {"at_least": 0.8}}


def test_update_of_some_figures_leaves_the_others(file):
    some = {RECALL.name: KEPT[RECALL.name]}
    assert update(file, [RECALL._replace(value=1.0)], some, allow_drop=False) == 0
    found = json.loads(file.read_text("utf-8"))
    assert found == {**KEPT, "pairs: recall": {"at_least": 1.0}}


def test_floors_of_the_repository_can_be_read():
    floors = json.loads(FLOORS.read_text("utf-8"))
    assert floors
    for floor in floors.values():
        assert list(floor) in (["at_least"], ["at_most"])
