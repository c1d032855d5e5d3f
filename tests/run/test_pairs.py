"""Pairs, decisions, segments and learned lexicons in the database of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.runs import kept
from support.stores import begin, commit

from diptych.frontier.queue import Entry, Frontier
from diptych.run import pairs as pairs_module
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.text.near_duplicates import segment_keys
from diptych.text.urls import url_key
from diptych.types import (
    Decision,
    Evidence,
    LangPair,
    Link,
    Page,
    PagePair,
    PageRecord,
    SegmentPair,
    Sketch,
    Url,
)

SITE = 1
LANGS = LangPair("en", "fr")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        opened.site_id("example.org")
        opened.archive.add("/an/archive.warc.gz", 9)
        yield opened


def url(name: object) -> Url:
    return Url(f"http://example.org/{name}")


def with_urls(store: Store, *names: object) -> None:
    begin(store)
    Frontier(store.db).add([Entry(url(name), 1, 0.0) for name in names])
    commit(store)


def with_pages(store: Store, **lengths: int) -> None:
    """Save pages by name, each with this many characters of text."""
    with_urls(store, *lengths)
    for name, length in lengths.items():
        record = PageRecord(url(name), "en", (), "", 1, 10, length, f"sha1:{name}{length}")
        store.save_page(SITE, Page(record, ()), Pointer(1, 2, 3))


def pair(left: object, right: object, score: float = 0.9, evidence: str = "hreflang") -> PagePair:
    return PagePair(url(left), url(right), *LANGS, score, evidence)


def segment(text: str, left: object = "en", right: object = "fr") -> SegmentPair:
    return SegmentPair(text, f"{text} fr", *LANGS, url(left), url(right), "/p[1]", "/p[2]", 0.7)


# -- pairs -------------------------------------------------------------------------------------


def test_pairs_come_back_in_the_order_of_their_urls(store: Store) -> None:
    with_urls(store, "a", "b", "c", "d")
    pairs = [pair("c", "d", 0.5, "switch"), pair("a", "b")]
    store.replace_pairs(SITE, pairs)
    assert [found for _, found in store.pairs(SITE)] == [pairs[1], pairs[0]]
    assert store.pairs(SITE + 1) == []


def test_evidence_of_a_pair_comes_back(store: Store) -> None:
    with_urls(store, *"ab")
    scores = (Evidence("hreflang", 0.9), Evidence("sizes", 0.125), Evidence("lead", -0.5))
    known = PagePair(url("a"), url("b"), *LANGS, 0.75, "hreflang+keys", scores)
    store.replace_pairs(SITE, [known])
    assert [found for _, found in store.pairs(SITE)] == [known]


def test_page_in_both_languages_is_a_pair_of_its_own(store: Store) -> None:
    with_urls(store, *"ab")
    both = PagePair(url("a"), url("a"), *LANGS, 0.8, "one_page")
    store.replace_pairs(SITE, [both, pair("a", "b")])
    store.replace_pairs(SITE, [both])
    assert [found for _, found in store.pairs(SITE)] == [both]


def test_same_pages_may_be_pairs_of_several_languages(store: Store) -> None:
    with_urls(store, *"a")
    pairs = [PagePair(url("a"), url("a"), "en", lang, 0.8, "one_page") for lang in ("de", "fr")]
    store.replace_pairs(SITE, pairs)
    assert [found for _, found in store.pairs(SITE)] == pairs
    assert store.lang_pairs() == [LangPair("en", "de"), LANGS]
    store.replace_pairs(SITE, pairs[1:])
    assert store.lang_pairs() == [LANGS]


def test_pairing_again_keeps_decisions_on_remaining_pairs(store: Store) -> None:
    with_urls(store, *"abcdef")
    store.replace_pairs(SITE, [pair("a", "b"), pair("c", "d")])
    (first, _), (second, _) = store.pairs(SITE)
    begin(store)
    for id in (first, second):
        store.save_decision(id, Decision(True, 0.8))
        store.save_segments(id, [(segment("lamp"), Decision(True, 0.9))])
    commit(store)
    store.replace_pairs(SITE, [pair("a", "b", 0.4, "url"), pair("e", "f")])
    found = store.pairs(SITE)
    assert [settled for _, settled in found] == [pair("a", "b", 0.4, "url"), pair("e", "f")]
    assert found[0][0] == first
    assert to_align(store) == found[1:]
    decisions = "SELECT pair, accept, score FROM decisions"
    assert store.db.execute(decisions).fetchall() == [(first, 1, 0.8)]
    assert store.db.execute("SELECT DISTINCT pair FROM segments").fetchall() == [(first,)]


def test_pairs_of_other_sites_are_left_alone(store: Store) -> None:
    with_urls(store, *"abcd")
    other = store.site_id("other.org")
    store.replace_pairs(SITE, [pair("a", "b")])
    store.replace_pairs(other, [pair("c", "d")])
    store.replace_pairs(SITE, [])
    assert store.pairs(SITE) == []
    assert [found for _, found in store.pairs(other)] == [pair("c", "d")]


def test_saving_the_same_pairs_changes_nothing(store: Store) -> None:
    with_urls(store, *"abcd")
    pairs = [pair("a", "b"), pair("c", "d")]
    store.replace_pairs(SITE, pairs)
    before = store.pairs(SITE)
    store.replace_pairs(SITE, pairs)
    assert store.pairs(SITE) == before


def test_decision_is_kept_with_its_marks(store: Store) -> None:
    with_urls(store, *"ab")
    store.replace_pairs(SITE, [pair("a", "b")])
    ((id, _),) = store.pairs(SITE)
    assert store.verified_pairs(SITE) == []
    store.save_decision(id, Decision(True, 0.5, marks=("untranslated",)))
    store.save_decision(id, Decision(True, 0.75, marks=("machine_translated", "untranslated")))
    rows = store.db.execute("SELECT accept, score, reason, marks FROM decisions").fetchall()
    assert rows == [(1, 0.75, "", "machine_translated untranslated")]
    assert [found for found, _ in store.verified_pairs(SITE)] == [id]


def test_accepted_pair_is_returned_with_its_pages(store: Store) -> None:
    with_pages(store, a=5, b=6, c=7)
    store.replace_pairs(SITE, [pair("a", "b", 0.9, "keys"), pair("a", "c")])
    (first, _), (second, _) = store.pairs(SITE)
    assert store.verified_pair(first) is None
    store.save_decision(first, Decision(True, 0.5, marks=("partial",)))
    store.save_decision(second, Decision(False, 0.5, "size"))
    row = store.verified_pair(first)
    assert row == (
        *LANGS, "keys", 0.5, "partial",
        url("a"), "", 0.0, "sha1:a5", "/an/archive.warc.gz", 2, "", 1, 0.0,
        url("b"), "", 0.0, "sha1:b6", "/an/archive.warc.gz", 2, "", 1, 0.0,
    )  # fmt: skip
    assert store.verified_pair(second) is None
    assert store.verified_ends() == {first: (url_key(url("a")), url_key(url("b")))}


def to_align(store: Store) -> list[tuple[int, PagePair]]:
    return [(each.id, each.pair) for each in store.pairs_to_align()]


@pytest.mark.parametrize("at_once", [1, 2, 256])
def test_pairs_to_align_come_site_by_site_while_others_are_saved(
    store: Store, at_once: int, monkeypatch
) -> None:
    monkeypatch.setattr(pairs_module, "_PAIRS", at_once)
    with_pages(store, **dict.fromkeys("abcdef", 5))
    store.db.execute("INSERT INTO sites (id, name) VALUES (9, '0.example')")
    store.replace_pairs(SITE, [pair("c", "d"), pair("a", "b")])
    store.replace_pairs(9, [pair("e", "f")])
    found = []
    for each in store.pairs_to_align():
        found.append((each.site, each.pair, each.length))
        store.save_decision(each.id, Decision(False, 0.1))
        store.save_segments(each.id, [])
    assert found == [(9, pair("e", "f"), 10), (1, pair("a", "b"), 10), (1, pair("c", "d"), 10)]
    assert to_align(store) == []


def test_pairs_are_to_be_aligned_until_decided_and_aligned(store: Store) -> None:
    with_urls(store, *"abcd")
    store.replace_pairs(SITE, [pair("a", "b"), pair("c", "d")])
    (first, _), (second, _) = store.pairs(SITE)

    def left() -> list[int]:
        ids = [id for id, _ in to_align(store)]
        assert Statistics(store).unaligned_pairs() == len(ids)
        return ids

    assert left() == [first, second]
    store.save_decision(first, Decision(True, 0.5))
    assert left() == [first, second]
    rejected = (segment("y"), Decision(False, 0.1, "low_score"))
    assert store.save_segments(first, [(segment("x"), Decision(True, 0.5)), rejected]) == (0, 1)
    assert left() == [second]
    store.save_decision(second, Decision(False, 0.5, "partial"))
    store.save_segments(second, [])
    assert left() == []
    assert store.save_segments(first, []) == (1, 0)  # how many were kept, and are


# -- what was learned --------------------------------------------------------------------------


def test_learning_is_repeated_only_if_pages_change(store: Store) -> None:
    with_pages(store, a=5, b=5)
    store.replace_pairs(SITE, [pair("a", "b")])
    assert store.begin_learning()
    assert store.begin_learning(), "it was begun, not ended"
    store.save_lexicons({LANGS: b"words"})
    assert not store.begin_learning()
    with_pages(store, c=5)
    assert store.begin_learning()
    store.save_lexicons({})
    assert store.lexicons() == {}
    assert not store.begin_learning()
    with_pages(store, c=6)  # as it is now
    assert store.begin_learning()


def test_order_of_pages_does_not_restart_learning(tmp_path: Path) -> None:
    bases = []
    for order in ("abc", "cab"):
        (tmp_path / order).mkdir()
        with Store(tmp_path / order) as store:
            store.archive.add("/an/archive.warc.gz", 9)
            with_pages(store, **dict.fromkeys(order, 5))
            store.begin_learning()
            bases += store.db.execute("SELECT basis FROM learning").fetchall()
    assert bases[0] == bases[1]


def test_learning_again_requires_aligning_again(store: Store) -> None:
    with_pages(store, a=5, b=5)
    store.replace_pairs(SITE, [pair("a", "b")])
    store.begin_learning()
    ((id, _),) = store.pairs(SITE)
    store.save_decision(id, Decision(True, 0.5))
    store.save_segments(id, [(segment("x"), Decision(True, 0.5))])
    store.save_lexicons({LANGS: b"words"})
    store.begin_learning()
    assert to_align(store) == []
    with_pages(store, c=5)
    store.begin_learning()
    assert [found for found, _ in to_align(store)] == [id]


def test_lexicons_are_replaced_all_at_once(store: Store) -> None:
    with_pages(store, a=5)
    store.begin_learning()
    store.save_lexicons({LangPair("fr", "de"): b"2", LANGS: b"1"})
    assert list(store.lexicons().items()) == [(LANGS, b"1"), (LangPair("fr", "de"), b"2")]
    store.save_lexicons({LANGS: b"3"})
    assert store.lexicons() == {LANGS: b"3"}


def test_training_pairs_come_with_the_length_of_the_shorter_page(store: Store) -> None:
    with_pages(store, a=10, b=20, c=40, d=30, e=5)
    german = PagePair(url("a"), url("e"), "en", "de", 0.9, "keys")
    store.replace_pairs(SITE, [pair("c", "d", 0.4), pair("a", "b", 0.85), german])
    both = [(pair("a", "b", 0.85), 10), (pair("c", "d", 0.4), 30)]
    assert list(store.pairs_to_learn_from(LANGS, 0.4)) == both
    assert list(store.pairs_to_learn_from(LANGS, 0.5)) == both[:1]
    assert list(store.pairs_to_learn_from(LangPair("en", "de"), 0.5)) == [(german, 5)]
    assert list(store.pairs_to_learn_from(LangPair("fr", "en"), 0.0)) == []
    assert [store.sure_pairs(least) for least in (0.4, 0.85, 0.95)] == [3, 2, 0]


# -- segments ----------------------------------------------------------------------------------


def test_segments_that_were_kept_are_the_corpus(store: Store) -> None:
    with_urls(store, *"abcd")
    store.replace_pairs(SITE, [pair("c", "d"), pair("a", "b")])
    (first, _), (second, _) = store.pairs(SITE)
    begin(store)
    store.save_segments(second, [(segment("three", "c", "d"), Decision(True, 0.3))])
    store.save_segments(
        first,
        [
            (segment("one", "a", "b"), Decision(True, 0.1)),
            (segment("bad", "a", "b"), Decision(False, 0.0, "too_short")),
            (segment("two", "a", "b"), Decision(True, 0.2)),
        ],
    )
    commit(store)
    found = kept(store)
    assert [(seg.left, seg.score, seg.left_url) for seg in found] == [
        ("one", 0.1, url("a")), ("two", 0.2, url("a")), ("three", 0.3, url("c")),
    ]  # fmt: skip
    assert (found[0].right, found[0].left_path, found[0].right_path) == ("one fr", "/p[1]", "/p[2]")
    rejects = "SELECT left, reason, position FROM segments WHERE NOT accept"
    assert store.db.execute(rejects).fetchall() == [("bad", "too_short", 1)]


def test_aligning_again_replaces_the_segments(store: Store) -> None:
    with_urls(store, *"ab")
    store.replace_pairs(SITE, [pair("a", "b")])
    ((id, _),) = store.pairs(SITE)
    for texts in (["one", "two", "three"], ["four"]):
        begin(store)
        store.save_segments(id, [(segment(text), Decision(True, 1.0)) for text in texts])
        commit(store)
    assert [seg.left for seg in kept(store)] == ["four"]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for the round trips, which only add to it."""
    with Store(tmp_path_factory.mktemp("shared")) as opened:
        opened.site_id("example.org")
        yield opened


@settings(max_examples=examples(80))
@given(st.lists(st.tuples(texts, texts), max_size=4))
def test_segments_come_back_as_they_were(shared: Store, pairs: list[tuple[str, str]]) -> None:
    shared.db.execute("DELETE FROM pairs")
    Frontier(shared.db).add([Entry(url("a"), 1, 0.0), Entry(url("b"), 1, 0.0)])
    shared.replace_pairs(SITE, [pair("a", "b")])
    begin(shared)
    ((id, _),) = shared.pairs(SITE)
    saved = [
        SegmentPair(left, right, "en", "fr", url("a"), url("b"), "/p", "/q", 0.25)
        for left, right in pairs
    ]
    shared.save_segments(id, [(seg, Decision(True, 0.25)) for seg in saved])
    assert kept(shared) == saved


# -- while the crawl goes on ---------------------------------------------------------------------


def test_pair_verified_during_the_crawl_is_kept_and_aligned_again(store: Store) -> None:
    with_urls(store, *"ab")
    looked = (segment("lamp"), Decision(True, 0.9))
    for score in (0.6, 0.7):  # looked at a second time, it is still one pair
        store.save_pair(SITE, pair("a", "b"), Decision(True, score), [looked])
    ((id, found),) = store.pairs(SITE)
    assert found == pair("a", "b")
    assert to_align(store) == [(id, found)]
    assert store.db.execute("SELECT pair, score FROM decisions").fetchall() == [(id, 0.7)]
    assert [seg.left for seg in kept(store)] == ["lamp"]


def test_other_languages_of_the_same_pages_are_another_pair(store: Store) -> None:
    with_urls(store, "a")
    for lang in ("de", "fr"):
        both = PagePair(url("a"), url("a"), "en", lang, 0.8, "one_page")
        store.save_pair(SITE, both, Decision(True, 0.8), [(segment(lang), Decision(True, 0.9))])
    ids = [id for id, _ in store.pairs(SITE)]
    rows = store.db.execute("SELECT pair, left FROM segments ORDER BY pair").fetchall()
    assert rows == list(zip(ids, ("de", "fr"), strict=True))


def test_decisions_after_learning_are_not_replaced_during_the_crawl(store: Store) -> None:
    with_urls(store, *"ab")
    store.begin_learning()
    store.save_pair(SITE, pair("a", "b"), Decision(True, 0.6), [])
    store.save_lexicons({})
    store.save_pair(SITE, pair("a", "b"), Decision(False, 0.1), [])
    assert store.db.execute("SELECT score FROM decisions").fetchall() == [(0.6,)]


def test_pages_in_no_sure_pair_are_in_doubt(store: Store) -> None:
    with_pages(store, a=1, b=1, c=1, d=1, e=1)
    for name in "abcde":
        store.save_sketch(url(name), Sketch("t", 1, {}))
    store.replace_pairs(SITE, [pair("a", "b", 0.9), pair("c", "d", 0.5)])
    # Without a certain partner are 1, 3, 3 and 5 pages.
    for certain, count in ((0.5, 1), (0.51, 3), (0.9, 3), (0.91, 5)):
        for sure, pairs in ((0.5, 2), (0.9, 1)):
            shares = (0.99 * count / pairs, count / pairs)
            found = [store.doubtful_sites(certain, sure, share) for share in shares]
            assert found == [[SITE], []], (certain, sure)
    assert store.doubtful_sites(0.5, 0.95, 9.0) == [SITE], "no pair is sure"


def test_each_site_is_doubtful_by_its_own_pages_and_pairs(store: Store) -> None:
    with_pages(store, a=5, b=5, c=5, d=5)
    other = store.site_id("other.org")
    store.db.execute("UPDATE pages SET site = ? WHERE url = ?", (other, url_key(url("d"))))
    for name in "abcd":
        store.save_sketch(url(name), Sketch("t", 1, {}))
    assert store.doubtful_sites(0.9, 0.9, 0.5) == [SITE, other]
    store.replace_pairs(SITE, [pair("a", "b", 0.9)])
    assert store.doubtful_sites(0.9, 0.9, 0.5) == [SITE, other]
    assert store.doubtful_sites(0.9, 0.9, 1.0) == [other]
    store.db.execute("DELETE FROM sketches WHERE url = ?", (url_key(url("d")),))
    assert store.doubtful_sites(0.9, 0.9, 1.0) == []


def test_order_of_pairs_is_that_of_their_urls_and_languages(store: Store) -> None:
    with_urls(store, *"dcba")
    german = PagePair(url("a"), url("b"), "en", "de", 0.9, "keys")
    store.replace_pairs(SITE, [pair("c", "d"), pair("a", "d"), pair("a", "b"), german])
    rows = dict(store.db.execute("SELECT id, right_lang FROM pairs").fetchall())
    by_id = {id: found for id, found in store.pairs(SITE)}
    ordered = [by_id[id] for id in store.pair_order()]
    assert ordered == [german, pair("a", "b"), pair("a", "d"), pair("c", "d")]
    assert [rows[id] for id in store.pair_order()] == ["de", "fr", "fr", "fr"]
    assert [found for _, found in store.pairs(SITE)] == ordered


def test_languages_of_pairs_are_named_once_and_in_order(store: Store) -> None:
    with_urls(store, *"abc")
    german = PagePair(url("a"), url("b"), "en", "de", 0.9, "keys")
    store.replace_pairs(SITE, [pair("a", "b"), pair("a", "c"), german])
    assert store.lang_pairs() == [LangPair("en", "de"), LANGS]


def test_sites_come_by_name(store: Store) -> None:
    first, last = store.site_id("a.org"), store.site_id("z.org")
    assert store.sites() == [(first, "a.org"), (SITE, "example.org"), (last, "z.org")]


def test_redirects_and_announcements_restart_learning(store: Store) -> None:
    with_pages(store, a=5, b=5)

    def is_new() -> bool:
        new = store.begin_learning()
        store.save_lexicons({})
        return new

    assert [is_new(), is_new()] == [True, False]
    key = url_key(url("b"))
    store.db.execute("UPDATE urls SET redirect = ? WHERE key = ?", (key, url_key(url("a"))))
    assert [is_new(), is_new()] == [True, False]
    store.announce(SITE, [(url("a"), Link(url("b"), "alternate", "fr"))])
    assert [is_new(), is_new()] == [True, False]


def test_basis_of_learning_is_the_same_in_every_version(store: Store) -> None:
    # It is in the databases of runs: if it changed, finished runs would be aligned anew.
    with_pages(store, a=5)
    store.announce(SITE, [(url("a"), Link(url("b"), "alternate", "fr"))])
    store.begin_learning()
    assert store.db.execute("SELECT basis, is_done FROM learning").fetchall() == [
        ("756f8b75eaa68764406921e1f63a0af8", 0)
    ]


def test_scores_of_segments_are_kept_to_four_digits_and_keys_of_whole_ones_only(
    store: Store,
) -> None:
    with_urls(store, *"ab")
    store.replace_pairs(SITE, [pair("a", "b")])
    ((id, _),) = store.pairs(SITE)
    whole = segment("lamp")._replace(score=0.123456, left_at="0-4", right_at="1-5")
    alone = segment("lamp")._replace(right="")
    store.save_segments(
        id,
        [
            (whole, Decision(True, 0.987654, marks=("email", "phone"))),
            (alone, Decision(False, 0.0, "empty")),
        ],
    )
    columns = "position, accept, reason, score, judged, alignment, flags, left_at, right_at"
    assert store.db.execute(f"SELECT {columns} FROM segments ORDER BY position").fetchall() == [
        (0, 1, "", 0.9877, 0.9877, 0.1235, "email phone", "0-4", "1-5"),
        (1, 0, "empty", 0.0, 0.0, 0.7, "", "", ""),
    ]
    keys = store.db.execute("SELECT key, left_key, right_key FROM segments ORDER BY position")
    assert keys.fetchall() == [tuple(segment_keys("lamp", "lamp fr", *LANGS)), (None, None, None)]


def test_segment_that_recurs_is_stored_once_with_all_its_places(store: Store) -> None:
    with_urls(store, *"abcd")
    store.replace_pairs(SITE, [pair("a", "b"), pair("c", "d")])
    judged = Decision(True, 0.9)
    for id, _ in store.pairs(SITE):
        store.save_segments(
            id, [(segment("lamp"), judged), (segment("oil"), judged), (segment("lamp"), judged)]
        )
    assert store.count("SELECT count(*) FROM segment_texts") == 2
    rows = store.db.execute("SELECT pair, position, left FROM segments ORDER BY pair, position")
    ids = [id for id, _ in store.pairs(SITE)]
    assert rows.fetchall() == [
        (id, position, left) for id in ids for position, left in enumerate(("lamp", "oil", "lamp"))
    ]


def test_segments_with_other_languages_or_sides_are_distinct(store: Store) -> None:
    with_urls(store, *"ab")
    store.replace_pairs(SITE, [pair("a", "b")])
    ((id, _),) = store.pairs(SITE)
    one = segment("lamp")
    others = [
        one, one._replace(right=""), one._replace(left="", right=one.left),
        one._replace(right_lang="de"), one._replace(left="lamp\n", right=one.right),
    ]  # fmt: skip
    store.save_segments(id, [(each, Decision(True, 0.9)) for each in others])
    assert store.count("SELECT count(*) FROM segment_texts") == len(others)
    rows = store.db.execute("SELECT left, right FROM segments ORDER BY position").fetchall()
    assert rows == [(each.left, each.right) for each in others]


def test_transaction_is_begun_once_and_ended_once(store: Store) -> None:
    commit(store)  # nothing to commit
    begin(store)
    begin(store)
    assert store.db.in_transaction
    commit(store)
    assert not store.db.in_transaction
    for settle in (
        lambda: store.replace_pairs(SITE, []),
        store.begin_learning,
        lambda: store.save_lexicons({}),
    ):
        settle()
        assert not store.db.in_transaction, "what was settled and learned is durable at once"
    assert store.count("SELECT max(id) FROM pairs") == 0
    assert store.count("SELECT id FROM pairs") == 0
