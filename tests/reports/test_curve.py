from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.stores import begin
from support.timing import processor_seconds

from diptych.frontier.queue import Entry, Frontier
from diptych.reports.curve import Curve, curve
from diptych.run.store import Store
from diptych.text.urls import url_key
from diptych.types import Decision, PagePair, Url

CURVES = st.lists(st.integers(1, 1000), max_size=60).map(
    lambda found: Curve(max(found, default=0) + 7, tuple(sorted(found)))
)


def url(name: object) -> Url:
    return Url(f"http://example.org/{name}")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        begin(opened)
        opened.site_id("example.org")
        yield opened


def fetch(store: Store, name: str, status: int = 200, reason: str = "", *, site: int = 1) -> None:
    store.save_fetch(site, url(name), 0.0, status=status, size=1, reason=reason, pointer=None)


def decide(store: Store, *pairs: tuple[str, str], accept: bool = True, site: int = 1) -> None:
    names = {name for pair in pairs for name in pair}
    Frontier(store.db).add([Entry(url(name), 1, 0.0) for name in sorted(names)])
    known = {pair for _, pair in store.pairs(site)}
    new = [PagePair(url(left), url(right), "en", "fr", 0.9, "hreflang") for left, right in pairs]
    store.replace_pairs(site, [*known, *new])
    begin(store)
    for id, pair in store.pairs(site):
        if pair in new:
            store.save_decision(id, Decision(accept, 0.9, "" if accept else "size"))


def test_run_without_anything_has_an_empty_curve(store: Store) -> None:
    assert curve(store) == Curve(0, ())


def test_pair_is_found_when_its_second_page_is_there(store: Store) -> None:
    for name in ("robots.txt", "b", "a", "x", "c", "d"):
        fetch(store, name)
    decide(store, ("c", "d"), ("a", "b"))
    assert curve(store) == Curve(6, (3, 6))


def test_downloads_are_answers_of_any_kind_but_not_attempts(store: Store) -> None:
    fetch(store, "a")
    fetch(store, "gone", 404, "http_404")
    fetch(store, "silent", 0, "timeout")
    fetch(store, "old", 301)
    fetch(store, "b")
    fetch(store, "silent", 0, "timeout")
    decide(store, ("a", "b"))
    assert curve(store) == Curve(4, (4,))


def test_only_an_answer_that_was_a_page_brings_it(store: Store) -> None:
    fetch(store, "a")
    fetch(store, "b", 503, "http_503")
    fetch(store, "b", 200, "disconnected")
    fetch(store, "b", 301)
    fetch(store, "b")
    decide(store, ("a", "b"))
    assert curve(store).found == (5,)


def test_page_that_is_fetched_again_was_there_before(store: Store) -> None:
    for name in ("a", "b", "c", "a", "b"):
        fetch(store, name)
    decide(store, ("a", "b"))
    assert curve(store) == Curve(5, (2,))


def test_pairs_that_were_not_verified_do_not_count(store: Store) -> None:
    for name in "abcd":
        fetch(store, name)
    decide(store, ("a", "b"), accept=False)
    decide(store, ("c", "d"))
    assert curve(store).found == (4,)


def test_page_in_both_languages_is_a_pair_as_soon_as_it_is_there(store: Store) -> None:
    fetch(store, "x")
    fetch(store, "a")
    decide(store, ("a", "a"))
    assert curve(store).found == (2,)


def test_page_in_several_pairs_counts_for_each(store: Store) -> None:
    for name in "abc":
        fetch(store, name)
    decide(store, ("a", "b"), ("a", "c"), ("b", "c"))
    assert curve(store).found == (2, 3, 3)


def test_all_sites_of_a_run_are_one_curve(store: Store) -> None:
    other = store.site_id("example.com")
    for name, site in (("a", 1), ("c", other), ("b", 1), ("d", other)):
        fetch(store, name, site=site)
    decide(store, ("a", "b"))
    decide(store, ("c", "d"), site=other)
    assert curve(store) == Curve(4, (3, 4))


def test_large_run_has_its_curve_in_a_moment(store: Store) -> None:
    pages = 100_000
    keys = [url_key(url(number)) for number in range(pages)]
    store.db.executemany(
        "INSERT INTO fetches (url, site, at, status, size) VALUES (?, 1, 0, 200, 1)",
        [(key,) for key in keys],
    )
    store.db.executemany(
        "INSERT INTO pairs (site, left, right, left_lang, right_lang, score, evidence)"
        " VALUES (1, ?, ?, 'en', 'fr', 1, '')",
        zip(keys[::2], keys[1::2], strict=True),
    )
    store.db.execute(
        "INSERT INTO decisions (pair, accept, score, reason) SELECT id,1,1,'' FROM pairs"
    )
    with processor_seconds():  # some 0.3; minutes without an index
        found = curve(store)
    assert found == Curve(pages, tuple(range(2, pages + 1, 2)))


# -- shares --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "downloads"),
    [(0.1, 10), (0.15, 20), (0.2, 20), (0.3, 30), (0.7, 70), (0.95, 100), (1.0, 100), (0.0, 10)],
)
def test_share_is_reached_with_the_pair_that_completes_it(share: float, downloads: int) -> None:
    pairs = Curve(120, tuple(range(10, 101, 10)))
    assert pairs.at(share) == downloads
    assert pairs.per_pair(share) == 10.0


def test_share_that_floats_cannot_hold_needs_no_pair_more() -> None:
    assert Curve(25, tuple(range(1, 26))).at(0.28) == 7


def test_curve_without_pairs_reaches_nothing() -> None:
    empty = Curve(12, ())
    assert (empty.at(0.95), empty.per_pair(0.95), empty.tenths) == (None, None, [])


@given(CURVES)
def test_tenths_rise_from_the_first_pairs_to_the_last(pairs: Curve) -> None:
    tenths = pairs.tenths
    if not pairs.found:
        assert tenths == []
        return
    assert len(tenths) == 10
    assert tenths == sorted(tenths)
    assert tenths[-1] == pairs.found[-1]
    for number, downloads in enumerate(tenths, 1):
        assert 10 * sum(found <= downloads for found in pairs.found) >= number * len(pairs.found)
        assert 10 * sum(found < downloads for found in pairs.found) < number * len(pairs.found)
