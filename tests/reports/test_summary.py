from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import tomli_w
from support.stores import begin

from diptych.frontier.queue import Entry, Frontier, State
from diptych.reports.curve import Curve
from diptych.reports.reasons import in_words
from diptych.reports.summary import Step, Summary, summarise
from diptych.run.store import Store
from diptych.run.terms import Terms
from diptych.run.warc import Pointer
from diptych.types import Decision, Outlook, Page, PagePair, PageRecord, SegmentPair, Url


def url(name: object) -> Url:
    return Url(f"http://example.org/{name}")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        begin(opened)
        opened.site_id("example.org")
        opened.archive.add("/archive.warc.gz", 1)
        yield opened


def add_pages(store: Store, **langs: str) -> None:
    for name, lang in langs.items():
        Frontier(store.db).add([Entry(url(name), 1, 0.0)])
        page = Page(PageRecord(url(name), lang, (), "", 0, 0, 0, name), (), ())
        store.save_page(1, page, Pointer(1, 0, 1))
        store.save_fetch(1, url(name), 0.0, status=200, size=1, reason="", pointer=None)
        store.db.execute("UPDATE urls SET state = 2 WHERE state = 0")


def add_pair(store: Store, left: str, right: str) -> int:
    known = [pair for _, pair in store.pairs(1)]
    new = PagePair(url(left), url(right), "en", "fr", 0.9, "hreflang")
    store.replace_pairs(1, [*known, new])
    begin(store)
    return next(id for id, pair in store.pairs(1) if pair == new)


def seg(text: str) -> SegmentPair:
    return SegmentPair(text, text, "en", "fr", url("a"), url("b"), "", "", 1.0)


def test_empty_run_has_an_empty_funnel(store: Store) -> None:
    summary = summarise(store, ("en", "fr"))
    assert [step.count for step in summary.steps] == [0] * 6
    assert [step.lost for step in summary.steps] == [()] * 6
    assert (summary.downloads, summary.queued, summary.hosts) == (0, 0, ())
    assert summary.downloads_per_pair is None


def test_funnel_counts_passed_and_lost_items(store: Store) -> None:
    add_pages(store, a="en", b="fr", c="en", d="fr-CA", e="de", f="", g="en")
    first, second = add_pair(store, "a", "b"), add_pair(store, "c", "d")
    store.save_decision(first, Decision(True, 0.9))
    store.save_decision(second, Decision(False, 0.2, "size"))
    store.save_segments(
        first,
        [
            (seg("one"), Decision(True, 0.9)),
            (seg("two"), Decision(False, 0.1, "too_short")),
            (seg("three"), Decision(False, 0.1, "too_short")),
            (seg("four"), Decision(False, 0.1, "identical")),
        ],
    )
    summary = summarise(store, ("en", "fr"))
    assert [(step.count, step.lost) for step in summary.steps] == [
        (7, ()),
        (5, (("no_language", 1), ("other_language", 1))),
        (2, (("no_partner", 1),)),
        (1, (("size", 1),)),
        (4, ()),
        (1, (("too_short", 2), ("identical", 1))),
    ]
    assert (summary.pages, summary.pairs, summary.segments) == (7, 1, 1)
    assert summary.downloads_per_pair == 7.0


def test_faults_are_counted_by_reason_most_frequent_first(store: Store) -> None:
    states = [
        (State.FAILED, "http_404"), (State.REFUSED, "robots"), (State.REFUSED, "robots"),
        (State.FAILED, "timeout"), (State.QUEUED, "http_503"), (State.FETCHED, ""),
    ]  # fmt: skip
    for number, (state, reason) in enumerate(states):
        Frontier(store.db).add([Entry(url(number), 1, 0.0)])
        store.db.execute(
            "UPDATE urls SET state = ?, reason = ? WHERE url = ?", (state, reason, url(number))
        )
    summary = summarise(store, ("en", "fr"))
    assert summary.faults == (("robots", 2), ("http_404", 1), ("timeout", 1))
    assert summary.steps[0].lost == summary.faults
    assert summary.queued == 1


def test_downloads_are_responses_and_not_attempts(store: Store) -> None:
    for status in (200, 404, 0, 503, 0):
        store.save_fetch(1, url("a"), 0.0, status=status, size=0, reason="", pointer=None)
    assert summarise(store, ("en",)).downloads == 3


def test_stopped_hosts_are_reported(store: Store) -> None:
    store.db.execute(
        "INSERT INTO hosts (origin, site, stopped) VALUES ('http://a.org', 1, 'refused'),"
        " ('http://b.org', 1, '')"
    )
    assert summarise(store, ("en",)).hosts == (("http://a.org", "refused"),)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("robots", "forbidden by robots.txt"),
        ("http_503", "HTTP error 503"),
        ("whatever", "whatever"),
    ],
)
def test_reasons_in_words(reason: str, words: str) -> None:
    assert in_words(reason) == words
    assert Step("x", 1, ((reason, 1), ("dns", 1))).in_words() == f"1 {words}, 1 unknown host"


def test_reasons_of_steps_can_be_keys_of_json(store: Store) -> None:
    add_pages(store, a="en", b="fr", c="de", d="")
    steps = summarise(store, ("en", "fr")).steps
    assert [orjson.loads(orjson.dumps(dict(step.lost))) for step in steps[1:3]] == [
        {"other_language": 1, "no_language": 1}, {"no_partner": 2},
    ]  # fmt: skip


def test_cost_of_a_pair_is_rounded() -> None:
    assert Summary(100, 90, 7, 1, 0, (), (), ()).downloads_per_pair == 14.286


def test_sentences_without_a_counterpart_are_not_counted_as_aligned(store: Store) -> None:
    add_pages(store, a="en", b="fr")
    pair = add_pair(store, "a", "b")
    alone = SegmentPair("Alone.", "", "en", "fr", url("a"), url("b"), "", "", 0.0)
    kept, lost = Decision(True, 1.0), Decision(False, 0.0, "unaligned")
    store.save_segments(pair, [(seg("one"), kept), (alone, lost), (seg("two"), kept)])
    aligned, last = summarise(store, ("en", "fr")).steps[-2:]
    assert (aligned.count, aligned.lost) == (2, (("unaligned", 1),))
    assert (last.count, last.lost) == (2, ())
    assert aligned.in_words() == "1 sentence without a counterpart"


def test_duplicate_pages_do_not_count_as_without_a_counterpart(
    store: Store,
) -> None:
    add_pages(store, a="en", b="fr", c="en", d="fr")
    store.db.execute("UPDATE pages SET digest = 'a' WHERE digest = 'c'")
    store.save_decision(add_pair(store, "a", "b"), Decision(True, 0.9))
    summary = summarise(store, ("en", "fr"))
    assert summary.downloads_by_kind == (("page", 3), ("duplicate", 1))
    assert [(step.count, step.lost) for step in summary.steps[:3]] == [
        (4, ()), (3, (("duplicate", 1),)), (1, (("no_partner", 1),)),
    ]  # fmt: skip
    assert summary.langs == (("en", 1), ("fr", 2))


def test_pages_come_first_among_downloads(store: Store) -> None:
    add_pages(store, a="en")
    for name in ("x", "y"):
        store.save_fetch(1, url(name), 0.0, status=404, size=1, reason="http_404", pointer=None)
    summary = summarise(store, ("en",))
    assert summary.downloads_by_kind == (("page", 1), ("http_404", 2))
    assert summary.downloads == 3


@pytest.mark.parametrize(
    ("settings", "threshold"),
    [
        ({"use": "quality"}, 0.6),
        ({"use": "quality", "threshold": 0.7}, 0.7),
        ({"use": "rules"}, 0.0),
        ({"use": "of_another_version"}, None),
    ],
)
def test_threshold_is_that_of_the_filter_in_the_recipe(
    store: Store, settings: dict[str, object], threshold: float | None
) -> None:
    assert summarise(store, ("en", "fr")).threshold is None
    terms = Terms(("en", "fr"), (), "site", {"filter": settings})
    (store.folder / "run.toml").write_bytes(tomli_w.dumps(terms.to_toml()).encode())
    assert summarise(store, ("en", "fr")).threshold == threshold


# -- the curve and the outlook -------------------------------------------------------------------


def queue(store: Store, *names: str) -> None:
    Frontier(store.db).add([Entry(url(name), 1, 0.0) for name in names])


def found(store: Store) -> None:
    add_pages(store, a="en", b="fr", c="en", d="fr", e="en")
    for left, right in (("a", "b"), ("c", "d")):
        store.save_decision(add_pair(store, left, right), Decision(True, 0.9))


def test_curve_of_a_run_is_in_its_summary(store: Store) -> None:
    found(store)
    summary = summarise(store, ("en", "fr"))
    assert summary.curve == Curve(5, (2, 4))
    assert summary.downloads == 5


def test_missing_share_is_relative_to_found_and_expected_pairs(store: Store) -> None:
    found(store)
    queue(store, "f")
    store.save_outlook(1, Outlook(3, 1))
    assert summarise(store, ("en", "fr")).missing == 0.25


def test_pairs_unknown_to_the_crawl_count_as_found(store: Store) -> None:
    found(store)
    queue(store, "f")
    store.save_outlook(1, Outlook(0, 2))
    assert summarise(store, ("en", "fr")).missing == 0.5


def test_nothing_is_missing_if_nothing_is_queued(store: Store) -> None:
    found(store)
    store.save_outlook(1, Outlook(2, 1e-9))
    assert summarise(store, ("en", "fr")).missing == 0.0


def test_share_is_never_negative(store: Store) -> None:
    found(store)
    queue(store, "f")
    store.save_outlook(1, Outlook(2, -1e-12))
    assert summarise(store, ("en", "fr")).missing == 0.0


def test_policy_without_an_estimate_reports_no_share(store: Store) -> None:
    found(store)
    queue(store, "f")
    assert summarise(store, ("en", "fr")).missing is None


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (0.031, "about 3% of the pairs have probably not been found yet"),
        (0.01, "about 1% of the pairs have probably not been found yet"),
        (0.0099, "less than 1% of the pairs have probably not been found yet"),
        (0.0, ""),
        (None, ""),
    ],
)
def test_outlook_in_words(missing: float | None, words: str) -> None:
    assert Summary(9, 9, 3, 1, 5, (), (), (), missing=missing).outlook == words


@pytest.mark.parametrize(
    ("missing", "most", "words"),
    [(0.031, 0.074, "yet (at most 7%)"), (0.004, 0.02, "yet (at most 2%)"), (0.2, 0.204, "yet")],
)
def test_outlook_has_a_bound_only_if_it_is_higher(missing: float, most: float, words: str) -> None:
    found = Summary(9, 9, 3, 1, 5, (), (), (), missing=missing, most_missing=most)
    assert found.outlook.endswith(words)


def test_bound_is_above_the_estimate(store: Store) -> None:
    found(store)
    queue(store, "f")
    store.save_outlook(1, Outlook(3, 1))
    told = summarise(store, ("en", "fr"))
    assert (told.missing, told.most_missing) == (0.25, 0.4)


@pytest.mark.parametrize(("pairs", "queued"), [(0, 5), (3, 0)])
def test_no_outlook_without_pairs_or_queued_urls(pairs: int, queued: int) -> None:
    assert Summary(9, 9, pairs, 1, queued, (), (), (), missing=0.5).outlook == ""
