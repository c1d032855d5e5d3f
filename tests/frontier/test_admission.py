from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.stores import begin

from diptych.frontier import admission as admission_module
from diptych.frontier.admission import Admission
from diptych.frontier.hosts import Hosts
from diptych.frontier.politeness import Politeness
from diptych.frontier.queue import Entry, Frontier, State
from diptych.frontier.scope import Scope
from diptych.frontier.traps import CALENDAR_LIMIT
from diptych.run.store import Store
from diptych.text.urls import NOT_HTML, extension, normalise
from diptych.types import Site, Url

SITE = Site("example.org", (Url("http://example.org/"),))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        begin(opened)
        yield opened


def admission_of(store: Store) -> Admission:
    hosts = Hosts(store, Frontier(store.db), Politeness(agent="a"))
    hosts.add_site(SITE)
    hosts.restore(0.0)
    return Admission(store, hosts, Scope.of([SITE]))


def known(store: Store, entry: Entry) -> None:
    Frontier(store.db).add([entry])


@pytest.mark.parametrize(
    ("url", "state", "reason"),
    [
        ("http://example.org/a", State.QUEUED, ""),
        ("https://fr.example.org/a", State.QUEUED, ""),
        ("http://example.org/a.html", State.QUEUED, ""),
        ("http://example.org/a.php?file=b.pdf", State.QUEUED, ""),
        ("http://example.org/archive.zip/", State.QUEUED, ""),
        ("http://example.org/v1.2", State.QUEUED, ""),
        ("http://other.org/a", State.OUTSIDE, "outside"),
        ("http://example.org:8080/a", State.OUTSIDE, "outside"),
        ("http://other.org/a.pdf", State.OUTSIDE, "outside"),
        ("http://example.org/a.pdf", State.REFUSED, "not_html"),
        ("http://example.org/a.PNG?x=1", State.REFUSED, "not_html"),
        ("http://example.org/x/x/x/x", State.REFUSED, "trap_repeating_path"),
        (
            "http://example.org/" + "/".join("abcdefghijklmnopqrstuvwxyz"),
            State.REFUSED,
            "trap_deep_path",
        ),
    ],
)
def test_outcome_of_admission(store: Store, url: str, state: State, reason: str) -> None:
    entry = admission_of(store).entry(Url(url), 3, 1.5)
    assert (entry.url, entry.depth, entry.state, entry.reason) == (url, 3, state, reason)
    assert (entry.host == 0) is (state is State.OUTSIDE)
    if state is State.QUEUED:
        assert entry.priority == 1.5


def test_urls_of_one_host_share_its_number(store: Store) -> None:
    admission = admission_of(store)
    paths = ("http://example.org/a", "http://example.org/b", "http://fr.example.org/a")
    first, second, third = (admission.entry(Url(path), 0, 0.0).host for path in paths)
    assert first == second != third


def test_calendar_is_bounded_and_the_count_is_kept_over_a_restart(store: Store) -> None:
    days = [date(2020, 1, 1) + timedelta(days=31 * number) for number in range(200)]
    urls = list(dict.fromkeys(Url(f"http://example.org/calendar/{day:%Y/%m}/") for day in days))
    states = []
    for start in range(0, len(urls), 25):
        admission = admission_of(store)  # another invocation of the run
        for url in urls[start : start + 25]:
            entry = admission.entry(url, 1, 0.0)
            known(store, entry)
            states.append(entry.state)
    assert states.count(State.QUEUED) == CALENDAR_LIMIT
    assert states == [State.QUEUED] * CALENDAR_LIMIT + [State.REFUSED] * (
        len(urls) - CALENDAR_LIMIT
    )


def test_url_that_is_known_is_not_counted_again(store: Store) -> None:
    admission = admission_of(store)
    first, other = (
        Url("http://example.org/list?sort=name"),
        Url("http://example.org/list?sort=date"),
    )
    for _ in range(3):
        entry = admission.entry(first, 1, 0.0)
        assert entry.state is State.QUEUED
        known(store, entry)
    refused = admission.entry(other, 1, 0.0)
    assert (refused.state, refused.reason) == (State.REFUSED, "trap_sort_order")
    known(store, refused)
    assert admission.entry(other, 1, 9.0).state is State.REFUSED
    assert admission.entry(first, 1, 9.0).state is State.QUEUED


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://example.org/Chart.PDF", "pdf"),
        ("http://example.org/a.tar.gz", "gz"),
        ("http://example.org/a.b/c", ""),
        ("http://example.org/a.b/", ""),
        ("http://example.org/?f=a.pdf", ""),
        ("http://example.org", ""),
        ("http://example.org/", ""),
        ("http://example.zip/", ""),
        ("http://example.org/.hidden", "hidden"),
        ("http://example.org/a.", ""),
    ],
)
def test_extension_is_that_of_the_last_segment(url: str, found: str) -> None:
    assert extension(url) == found


@given(st.sampled_from(sorted(NOT_HTML)), st.text("abc/", max_size=6), st.text("ab=&", max_size=4))
def test_file_extensions_are_recognised_in_any_url(kind: str, path: str, query: str) -> None:
    url = normalise(f"http://example.org/{path}x.{kind.upper()}?{query}")
    assert url is not None
    assert extension(url) == kind


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("http://example.org/a", True),
        ("https://fr.example.org/a.html", True),
        ("http://example.org/a.php?file=b.pdf", True),
        ("http://other.org/a", False),
        ("http://example.org:8080/a", False),
        ("http://example.org/a.pdf", False),
        ("http://example.org/x/x/x/x", False),
    ],
)
def test_urls_that_may_be_pages_of_a_site(store: Store, url: str, may: bool) -> None:
    admission = admission_of(store)
    assert [admission.may_be_page_of(Url(url), "example.org") for _ in range(2)] == [
        may,
        may,
    ]
    assert not admission.may_be_page_of(Url(url), "other.org")


def test_checking_a_url_leaves_no_trace(store: Store) -> None:
    admission = admission_of(store)
    days = [Url(f"http://example.org/calendar/{year}/05/") for year in range(1900, 2100)]
    assert all(admission.may_be_page_of(day, "example.org") for day in days)
    assert store.count("SELECT count(*) FROM trap_counts") == 0
    assert store.count("SELECT count(*) FROM hosts") == 0
    assert admission.entry(days[-1], 1, 0.0).state is State.QUEUED


def test_cache_of_urls_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diptych.frontier.admission.MAX_KNOWN", 10)
    admission = admission_of(store)
    for number in range(100):
        assert admission.may_be_page_of(Url(f"http://example.org/{number}"), "example.org")
    assert len(admission._known) <= 10


def test_long_urls_do_not_fill_the_memory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission_module, "MAX_KNOWN", 5_000_000)
    admission = admission_of(store)
    tracemalloc.start()
    try:
        for number in range(10_000):
            assert admission.may_be_page_of(
                Url(f"{SITE.seeds[0]}{'x' * 2_000}/{number}"), SITE.name
            )
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 10_000_000  # of twenty
