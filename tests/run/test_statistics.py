"""Counts of a run, and the downloads at which pairs were found."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.corpora import Maker, Said
from support.stores import begin
from support.timing import processor_seconds

from diptych.frontier.queue import Entry, Frontier, State, Turn
from diptych.page.declarations import Checked, Declares
from diptych.reason import DownloadKind, Reason, fault_type, http_status
from diptych.run.database import DatabaseError
from diptych.run.queries import SQL
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.text.urls import url_key
from diptych.types import Decision, LangPair, Page, PagePair, PageRecord, Url

TOLD = {
    ("/en/a", "/fr/a"): [
        Said("One.", "Un.", 0.9, flags=("email", "phone")),
        Said("Two.", "Deux.", 0.96, flags=("email",)),
        Said("Bad.", "Mauvais.", 0.2, "low_score", flags=("email",)),
        Said("Long.", "Trop long.", 0.9, "too_long"),
        Said("Whole.", "Entier.", 1.0),
    ],
    ("/en/b", "/fr/b"): [Said("Three.", "Trois.", 0.49)],
    ("/en/b", "/de/b"): [Said("Three.", "Drei.", 0.5)],
    ("/en/c", "/fr/c"): [],
}


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


def curve_of(store: Store) -> tuple[int, tuple[int, ...]]:
    return Statistics(store).downloads(), Statistics(store).found_at()


# -- counts --------------------------------------------------------------------------------------


def rejected(made: Maker) -> Statistics:
    """A run with four pairs, one of them rejected and one to be aligned again."""
    flags = {"/en/a": ("noai", "machine:google"), "/en/b": ("noai",), "/en/c": ("noai",)}
    store = made(TOLD, flags=flags, marks=("partial",))
    for id, pair in store.pairs(1):
        if pair.left.endswith("/en/c"):
            store.save_decision(id, Decision(False, 0.1, "size", ("partial",)))
        if pair.right_lang == "de":
            store.db.execute("UPDATE pairs SET aligned = 0 WHERE id = ?", (id,))
    return Statistics(store)


def test_pairs_are_counted_by_decision(made: Maker) -> None:
    counts = rejected(made)
    assert (counts.pairs(), counts.verified_pairs(), counts.aligned_pairs()) == (4, 3, 2)
    assert counts.rejected_pairs() == {"size": 1}
    assert counts.by_languages() == {LangPair("en", "fr"): (2, 4), LangPair("en", "de"): (1, 1)}


def test_marks_and_flags_are_those_of_accepted_pairs_and_each_page_counts_once(made: Maker) -> None:
    counts = rejected(made)
    assert counts.marks() == {"partial": 3}
    assert counts.page_flags() == {"noai": 2, "machine:google": 1}
    assert counts.segment_flags() == {"email": 2, "phone": 1}


def test_segments_are_counted_by_reason_and_by_score(made: Maker) -> None:
    counts = rejected(made)
    assert counts.kept_segments() == 5
    assert counts.segments_by_reason() == {"": 5, "low_score": 1, "too_long": 1}
    # A score of 1 is in the last bin; what breaks a rule is in none.
    assert counts.score_histogram(10) == {2: (0, 1), 4: (1, 1), 5: (1, 1), 9: (3, 3)}
    assert counts.score_histogram(2) == {0: (1, 2), 1: (4, 4)}


def test_pages_are_counted_by_language_and_by_whether_they_are_in_a_pair(made: Maker) -> None:
    store = made(TOLD)
    counts = Statistics(store)
    assert counts.pages() == 7
    assert counts.pages_by_language() == {"en": (3, 3, 0), "fr": (3, 3, 0), "de": (1, 1, 0)}
    store.replace_pairs(1, [pair for _, pair in store.pairs(1) if pair.right_lang == "de"])
    assert counts.pages_by_language() == {"en": (3, 3, 2), "fr": (3, 3, 3), "de": (1, 1, 0)}


def test_urls_are_counted_by_state(store: Store) -> None:
    states = [
        (State.QUEUED, "http_503"), (State.QUEUED, ""), (State.CLAIMED, ""), (State.FETCHED, "x"),
        (State.FAILED, "dns"), (State.REFUSED, "robots"), (State.REFUSED, "robots"),
        (State.REFUSED, ""), (State.OUTSIDE, "outside"),
    ]  # fmt: skip
    for number, (state, reason) in enumerate(states):
        Frontier(store.db).add([Entry(url(number), 1, 0.0, state=state, reason=reason)])
    counts = Statistics(store)
    assert (counts.queued(), counts.unfinished()) == (2, 3)
    assert counts.faults() == {"dns": 1, "robots": 2}
    assert counts.skipped_urls() == {"robots": 2}
    assert counts.unanswered_urls() == {"dns": 1}
    store.db.execute("UPDATE urls SET status = 503 WHERE reason = 'dns'")
    assert counts.unanswered_urls() == {}


# -- downloads by kind ---------------------------------------------------------------------------


def add_page(store: Store, name: str, *, text: int = 0, digest: str = "", lang: str = "en") -> None:
    record = PageRecord(url(name), lang, (), "", 0, 0, 0, digest, text_key=text)
    store.save_page(1, Page(record, (), ()), Pointer(1, 0, 1))


def download(
    store: Store, name: str, status: int = 200, reason: str = "", *,
    turn: Turn = Turn.PAGE, leads_to: str = "",
) -> None:  # fmt: skip
    Frontier(store.db).add([Entry(url(name), 1, 0.0, turn=turn)])
    if leads_to:
        values = url_key(url(leads_to)), url_key(url(name))
        store.db.execute("UPDATE urls SET redirect = ? WHERE key = ?", values)
    fetch(store, name, status, reason)


def test_every_download_has_one_kind(store: Store) -> None:
    store.archive.add("/archive.warc.gz", 1)
    download(store, "robots.txt", 404, turn=Turn.ROBOTS)
    download(store, "other/robots.txt", 503, "http_503", turn=Turn.ROBOTS)
    download(store, "sitemap.xml", turn=Turn.SITEMAP)
    download(store, "sitemap2.xml", 404, "http_404", turn=Turn.CHILD_SITEMAP)
    for name in ("a", "b", "c", "d"):
        download(store, name)
        add_page(store, name, text=1 if name in "ab" else 0, digest=name)
    download(store, "c")  # a second time
    download(store, "d", 503, "http_503")
    download(store, "moved", 301, leads_to="a")
    download(store, "refresh", leads_to="a")
    download(store, "gone", 404, "http_404")
    download(store, "x.bin", 200, "content_type")
    download(store, "late", 0, "timeout")
    download(store, "strange")
    counts = Statistics(store)
    assert counts.downloads_by_kind() == {
        "page": 3, "duplicate": 1, "fetched_again": 1, "redirect": 1, "refresh": 1,
        "robots.txt": 2, "sitemap": 1, "missing_sitemap": 1, "http_404": 1, "http_503": 1,
        "content_type": 1, "other": 1,
    }  # fmt: skip
    assert sum(counts.downloads_by_kind().values()) == counts.downloads() == 15


ANSWERS = st.tuples(
    st.integers(0, 5),  # the URL
    st.sampled_from([0, 200, 301, 404, 503]),
    st.sampled_from(["", "", "http_404", "empty", "timeout", "failed:MemoryError"]),
)
URLS = st.tuples(
    st.sampled_from([None, *Turn]), st.booleans(), st.integers(0, 2), st.sampled_from(["", "x"]),
    st.sampled_from(["", "en", "fr"]), st.booleans(),
)  # fmt: skip


@given(st.lists(ANSWERS, max_size=25), st.lists(URLS, min_size=6, max_size=6))
def test_kinds_of_downloads_add_up_in_any_store(
    answers: list[tuple[int, int, str]],
    urls: list[tuple[Turn | None, bool, int, str, str, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        begin(store)
        store.site_id("example.org")
        store.archive.add("/archive.warc.gz", 1)
        for number, (turn, is_page, text, digest, lang, is_moved) in enumerate(urls):
            name = str(number)
            if turn is not None:
                Frontier(store.db).add([Entry(url(name), 1, 0.0, turn=turn)])
            if is_moved:
                store.db.execute("UPDATE urls SET redirect = 1 WHERE url = ?", (url(name),))
            if is_page:
                add_page(store, name, text=text, digest=digest, lang=lang)
        for number, status, reason in answers:
            fetch(store, str(number), status, reason)
        counts = Statistics(store)
        kinds = counts.downloads_by_kind()
        assert sum(kinds.values()) == counts.downloads()
        assert all(count > 0 for count in kinds.values())
        known = {kind.value for kind in DownloadKind} | {reason.value for reason in Reason}
        assert all(kind in known or http_status(kind) or fault_type(kind) for kind in kinds)
        pages = counts.pages_by_language().values()
        assert sum(each.pages for each in pages) == counts.pages()
        assert all(each.without_pair <= each.distinct <= each.pages for each in pages)


def test_pages_with_one_text_are_one_page_that_is_paired_if_any_of_them_is(store: Store) -> None:
    store.archive.add("/archive.warc.gz", 1)
    for name, text, digest, lang in (
        ("a", 7, "1", "en"), ("b", 7, "2", ""), ("c", 0, "3", "en"), ("d", 0, "3", "en"),
        ("e", 0, "", "en"), ("f", 0, "", "en"), ("g", 8, "1", "fr"),
    ):  # fmt: skip
        add_page(store, name, text=text, digest=digest, lang=lang)
    decide(store, ("b", "g"))
    assert Statistics(store).pages_by_language() == {"en": (6, 4, 3), "fr": (1, 1, 0)}


def test_pages_are_counted_by_an_index_that_holds_all_it_takes(store: Store) -> None:
    """Their texts are behind their links, which take long to read."""
    plan = store.db.execute(f"EXPLAIN QUERY PLAN {SQL['pages_by_language']}").fetchall()
    assert any("SCAN pages USING COVERING INDEX pages_text" in row[3] for row in plan)


def test_answers_for_robots_txt_are_counted_by_the_kind_of_their_urls(store: Store) -> None:
    turns = {"robots.txt": Turn.ROBOTS, "a": Turn.PAGE}
    Frontier(store.db).add([Entry(url(name), 1, 0.0, turn=turn) for name, turn in turns.items()])
    for name, status in (("robots.txt", 404), ("robots.txt", 0), ("a", 200)):
        fetch(store, name, status)
    assert (Statistics(store).downloads(), Statistics(store).robots_downloads()) == (2, 1)


def test_stopped_hosts_are_listed_with_the_reason(store: Store) -> None:
    store.db.execute(
        "INSERT INTO hosts (origin, site, stopped) VALUES ('http://a.org', 1, 'refused'),"
        " ('http://b.org', 1, '')"
    )
    assert Statistics(store).stopped_hosts() == (("http://a.org", "refused"),)


# -- when pairs were there -----------------------------------------------------------------------


def test_pair_is_found_when_its_second_page_is_fetched(store: Store) -> None:
    for name in ("robots.txt", "b", "a", "x", "c", "d"):
        fetch(store, name)
    decide(store, ("c", "d"), ("a", "b"))
    assert curve_of(store) == (6, (3, 6))


def test_downloads_are_answers_of_any_kind_but_not_attempts(store: Store) -> None:
    fetch(store, "a")
    fetch(store, "gone", 404, "http_404")
    fetch(store, "silent", 0, "timeout")
    fetch(store, "old", 301)
    fetch(store, "b")
    fetch(store, "silent", 0, "timeout")
    decide(store, ("a", "b"))
    assert curve_of(store) == (4, (4,))


def test_only_a_response_with_a_page_counts(store: Store) -> None:
    fetch(store, "a")
    fetch(store, "b", 503, "http_503")
    fetch(store, "b", 200, "disconnected")
    fetch(store, "b", 301)
    fetch(store, "b")
    decide(store, ("a", "b"))
    assert Statistics(store).found_at() == (5,)


def test_first_fetch_of_a_page_counts(store: Store) -> None:
    for name in ("a", "b", "c", "a", "b"):
        fetch(store, name)
    decide(store, ("a", "b"))
    assert curve_of(store) == (5, (2,))


def test_pairs_that_were_not_verified_do_not_count(store: Store) -> None:
    for name in "abcd":
        fetch(store, name)
    decide(store, ("a", "b"), accept=False)
    decide(store, ("c", "d"))
    assert Statistics(store).found_at() == (4,)


def test_page_in_both_languages_is_a_pair_once_it_is_fetched(store: Store) -> None:
    fetch(store, "x")
    fetch(store, "a")
    decide(store, ("a", "a"))
    assert Statistics(store).found_at() == (2,)


def test_page_in_several_pairs_counts_for_each(store: Store) -> None:
    for name in "abc":
        fetch(store, name)
    decide(store, ("a", "b"), ("a", "c"), ("b", "c"))
    assert Statistics(store).found_at() == (2, 3, 3)


def test_all_sites_of_a_run_are_one(store: Store) -> None:
    other = store.site_id("example.com")
    for name, site in (("a", 1), ("c", other), ("b", 1), ("d", other)):
        fetch(store, name, site=site)
    decide(store, ("a", "b"))
    decide(store, ("c", "d"), site=other)
    assert curve_of(store) == (4, (3, 4))


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
        found = curve_of(store)
    assert found == (pages, tuple(range(2, pages + 1, 2)))


# -- pages that scripts make -----------------------------------------------------------------------


def test_scripted_pages_are_counted_by_site(store: Store) -> None:
    store.archive.add("/archive.warc.gz", 1)
    for number, (site, flags, length) in enumerate(
        [("example.org", "noai scripted", 9), ("example.org", "scripted", 300),
         ("example.org", "unscripted", 9), ("b.net", "noai", 9)]
    ):  # fmt: skip
        name = url(number)
        Frontier(store.db).add([Entry(name, 1, 0.0)])
        record = PageRecord(name, "", (), "", 0, 0, length, "", flags=tuple(flags.split()))
        store.save_page(store.site_id(site), Page(record, ()), Pointer(1, 0, 1))
    assert Statistics(store).scripted_pages() == (("example.org", 1, 3),)


# -- declarations ----------------------------------------------------------------------------------

CANONICAL = Checked(Declares.CANONICAL, 9, 8, "http://example.org/")
HTML_LANG = Checked(Declares.HTML_LANG, 5, 1, "en", "fr de")


def test_declarations_are_those_that_were_saved_last(store: Store) -> None:
    store.save_declarations(1, [CANONICAL._replace(wrong=1), HTML_LANG])
    store.save_declarations(store.site_id("b.net"), [HTML_LANG])
    store.save_declarations(1, [HTML_LANG, CANONICAL])
    assert Statistics(store).declarations() == (
        ("example.org", CANONICAL), ("example.org", HTML_LANG), ("b.net", HTML_LANG),
    )  # fmt: skip


def test_kind_of_declaration_that_is_not_known_is_left_out(store: Store) -> None:
    store.save_declarations(1, [CANONICAL])
    store.db.execute("UPDATE declarations SET kind = 'other'")
    assert Statistics(store).declarations() == ()


def test_damaged_declaration_is_an_error_of_the_database(store: Store) -> None:
    store.save_declarations(1, [CANONICAL])
    store.db.execute("UPDATE declarations SET wrong = 'many'")
    with pytest.raises(DatabaseError):
        Statistics(store).declarations()


def test_run_of_an_earlier_version_has_no_declarations(store: Store) -> None:
    store.db.execute("DROP TABLE declarations")
    assert Statistics(store).declarations() == ()
