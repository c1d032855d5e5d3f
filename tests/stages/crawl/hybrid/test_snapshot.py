"""Snapshots of a guide: what it knows is all there, and what is damaged is refused."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
from support.fakes import FakeSite, at
from support.guiding import Talk, alternate, path_of, to
from support.hostile import HOSTILE, changed, places

from diptych.files import parser_errors
from diptych.protocols import Guide
from diptych.run.encoding import read_snapshot, write_snapshot
from diptych.stages.crawl.hybrid.snapshot import write_snapshot as write_memory
from diptych.stages.crawl.hybrid.snapshot_reading import read_snapshot as read_memory
from diptych.stages.crawl.hybrid.strategy import Hybrid
from diptych.types import Link, PagePair

POLICY = Hybrid(models=False)
LANGS = ("en", "fr")


def told(guide: Guide, numbers: range = range(12)) -> Talk:
    """A guide that knows something of every kind."""
    talk = Talk(guide)
    talk.page("/x", "en", *(to(f"/en/many/{n}") for n in range(290)))
    for n in numbers:
        links = [to(f"/en/{k}", f"Number {k}") for k in range(n, n + 4)]
        talk.page(f"/en/{n}", "en", *links, alternate(f"/fr/{n}", "fr"), to("/de/", "Deutsch"))
        if n % 4:
            talk.page(f"/fr/{n}", "fr", to(f"/en/{n}", "English"), text="same" if n == 7 else "")
        for pair in talk.guide.questions():
            if isinstance(pair, PagePair):
                talk.found(
                    path_of(pair.left),
                    path_of(pair.right),
                    (f"/en/{n + 1}", f"/fr/{n + 1}"),
                    accept=n % 5 != 0,
                )
    talk.moved("/fr/8", "/fr/eight").missing(f"/en/{numbers.stop + 1}")
    talk.sitemap(["/en/a", ("fr", "/fr/a")], ["/en/b"])
    talk.page("/y", "fr", text="same").page("/z", "en", *(to(f"/z/{n}") for n in range(310)))
    talk.guide.questions()
    return talk


@pytest.fixture(scope="module")
def snapshot() -> dict[str, Any]:
    return plain(told(POLICY.guide(LANGS)).guide.snapshot())


def plain(snapshot: object) -> Any:
    """A snapshot as it comes out of a run."""
    return read_snapshot(write_snapshot(snapshot))


def test_snapshot_covers_every_kind_of_data(snapshot: dict[str, Any]) -> None:
    def empty(data: Any, path: str) -> Iterator[str]:
        if data in ([], {}, ""):
            yield path
        if isinstance(data, dict):
            for name, value in data.items():
                yield from empty(value, f"{path}.{name}")

    # Between two observations nothing has changed, and few sites have so many URLs.
    # These pages have no sketches, and so no blocks.
    few = {".orders.changed", ".overflow", ".learned.blocks"}
    assert set(empty(snapshot, "")) - few == {".orders.open"}
    assert plain(told(POLICY.guide(LANGS), range(2)).guide.snapshot())["orders"]["open"]
    assert set(snapshot["urls"]["state"]) == {0, 1, 2}
    assert set(snapshot["urls"]["found_by"]) >= {0, 1}
    assert set(snapshot["urls"]["is_current"]) == {True, False}


@pytest.mark.parametrize("numbers", [range(0), range(2), range(12)])
def test_restored_guide_knows_and_does_the_same(numbers: range) -> None:
    one = told(POLICY.guide(LANGS), numbers)
    snapshot = plain(one.guide.snapshot())
    other = Talk(POLICY.restored(LANGS, copy.deepcopy(snapshot)))
    assert plain(other.guide.snapshot()) == snapshot
    assert other.guide.outlook() == one.guide.outlook()
    one.values.clear()
    other.done = set(one.done)
    for talk in (one, other):
        talk.page("/en/99", "en", *(to(f"/fr/{n}", "Français") for n in range(99)))
        talk.page("/fr/99", "fr", to("/en/99", "English"))
        talk.found("/en/99", "/fr/99", ("/en/1", "/fr/1")).settled(("/en/0", "/fr/3"))
        talk.missing("/en/many/1").moved("/en/many/2", "/en/1")
        talk.keep(talk.guide.refill(FakeSite(*LANGS)))
    assert other.values == one.values
    assert list(other.values) == list(one.values)
    assert other.questions() == one.questions()
    assert plain(other.guide.snapshot()) == plain(one.guide.snapshot())


def test_restored_guide_trusts_what_has_proved_right(snapshot: dict[str, Any]) -> None:
    memory = read_memory(snapshot, LANGS, POLICY.weight)
    proofs, evidence = memory.values.proofs, memory.values.evidence_rates
    kinds = ("alternate",)
    assert 0 < proofs.successes[kinds] < proofs.trials[kinds] <= evidence.trials[kinds]
    assert set(proofs.trials) <= set(evidence.trials)
    assert write_memory(memory)["rates"] == snapshot["rates"]


def test_guide_that_knows_nothing_has_a_snapshot() -> None:
    empty = POLICY.guide(LANGS).snapshot()
    assert plain(POLICY.restored(LANGS, plain(empty)).snapshot()) == plain(empty)


def test_links_beyond_the_limit_are_kept() -> None:
    data = plain(POLICY.guide(LANGS).snapshot())
    data["overflow"] = [list(Link(at("/far"), anchor="Far"))]
    talk = Talk(POLICY.restored(LANGS, data)).missing("/a")
    assert list(talk.values) == ["/far"]


def use(data: object) -> bool:
    """True if a snapshot is taken for one; a guide that was made from it must then work."""
    try:
        guide = POLICY.restored(LANGS, data)
    except parser_errors():
        return False
    told(guide, range(3))
    list(guide.refill(FakeSite(*LANGS)))
    plain(guide.snapshot())
    guide.outlook()
    return True


def test_hostile_values_are_refused_or_do_no_harm(snapshot: dict[str, Any]) -> None:
    where = list(places(snapshot))
    chosen = random.Random(18).sample([(path, value) for path in where for value in HOSTILE], 200)
    outcomes = [use(changed(snapshot, path, value)) for path, value in chosen]
    assert outcomes.count(False) > 150


@pytest.mark.slow
def test_every_hostile_value_in_every_place_is_refused_or_does_no_harm(
    snapshot: dict[str, Any],
) -> None:
    for path in places(snapshot):
        for value in HOSTILE:
            use(changed(snapshot, path, value))


@pytest.mark.slow
def test_missing_or_doubled_values_are_refused_or_do_no_harm(snapshot: dict[str, Any]) -> None:
    for path in places(snapshot):
        data: Any = snapshot
        for step in path:
            data = data[step]
        if isinstance(data, list) and data:
            use(changed(snapshot, path, data[:-1]))
            use(changed(snapshot, path, [*data, data[-1]]))
            use(changed(snapshot, path, data[::-1]))
        elif isinstance(data, dict):
            for key in data:
                assert not use(changed(snapshot, path, {k: data[k] for k in data if k != key}))


@pytest.mark.parametrize("data", [{}, {"version": 3}, [], None, "x", 7])
def test_other_data_than_a_snapshot_is_refused(data: object) -> None:
    assert not use(data)


def test_snapshot_of_another_version_is_refused(snapshot: dict[str, Any]) -> None:
    assert not use({**snapshot, "version": snapshot["version"] + 1})


def test_snapshot_for_more_languages_is_refused(snapshot: dict[str, Any]) -> None:
    with pytest.raises(parser_errors()):
        POLICY.restored(("en", "fr", "de"), snapshot)
