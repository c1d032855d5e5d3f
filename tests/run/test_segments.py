"""Segments of a run: scored, exported and shown."""

from __future__ import annotations

import pytest
from support.corpora import Maker, Said, url

from diptych.errors import StoreError
from diptych.run.queries import SQL
from diptych.run.segments import Segments, reason_at
from diptych.run.store import Store
from diptych.text.near_duplicates import segment_keys
from diptych.types import SegmentPair

TOLD = {
    ("/en/b", "/fr/b"): [Said("Last.", "Dernier.", 0.7)],
    ("/en/a", "/fr/a"): [
        Said("First.", "Premier.", 0.9, flags=("email",)),
        Said("Bad.", "Mauvais.", 0.2, "partial", flags=("partial",)),
        Said("Too long.", "Trop long.", 0.9, "too_long"),
        Said("Again.", "Encore.", 0.8, "duplicate"),
        Said("Second.", "Deuxième.", 0.6),
        Said("Alone.", "", 0.0, "unaligned"),
    ],
}


def opened(made: Maker) -> tuple[Store, Segments, int]:
    """A run, its segments, and the number of the pair with many segments."""
    store = made(TOLD)
    return store, Segments(store), store.pair_order()[0]


def test_segments_that_break_no_rule_are_scored(made: Maker) -> None:
    store, segments, pair = opened(made)
    texts = dict(store.db.execute("SELECT id, left FROM segments").fetchall())
    rows = list(segments.to_score(pair))
    assert [texts[row[0]] for row in rows] == ["First.", "Bad.", "Again.", "Second."]
    assert [row[1] for row in rows] == [0.9, 0.2, 0.8, 0.6]
    assert tuple(rows[0][2:5]) == tuple(segment_keys("First.", "Premier.", "en", "fr"))
    assert [row[5] for row in rows] == [0, 1, 0, 0]


def test_texts_have_the_order_of_the_ids(made: Maker) -> None:
    store, segments, _ = opened(made)
    ids = dict(store.db.execute("SELECT left, id FROM segments").fetchall())
    wanted = [ids[left] for left in ("Second.", "Last.", "First.")]
    assert list(segments.texts(wanted)) == [
        (1, "Second.", "Deuxième."), (1, "Last.", "Dernier."), (1, "First.", "Premier."),
    ]  # fmt: skip
    assert list(segments.texts([])) == []


def test_scores_are_saved_all_or_none(made: Maker) -> None:
    store, segments, pair = opened(made)
    (first, *_), (bad, *_) = list(segments.to_score(pair))[:2]
    query = "SELECT score, accept, reason, copies, judged FROM segments WHERE id IN (?, ?)"
    before = store.db.execute(query, (first, bad)).fetchall()

    def rows():
        yield 0.1, False, "low_score", 1, first
        raise StoreError("no more")

    with pytest.raises(StoreError):
        segments.save_scores(rows())
    assert store.db.execute(query, (first, bad)).fetchall() == before
    segments.save_scores([(0.1, False, "low_score", 1, first), (0.95, True, "", 3, bad)])
    assert not store.db.in_transaction
    assert store.db.execute(query, (first, bad)).fetchall() == [
        (0.1, 0, "low_score", 1, 0.9), (0.95, 1, "", 3, 0.2),
    ]  # fmt: skip


def test_scores_that_are_the_same_are_not_written(made: Maker) -> None:
    store, segments, pair = opened(made)
    first = next(segments.to_score(pair))[0]
    for row, changes in (((0.9, True, "", 1), 0), ((0.9, True, "", 2), 1), ((0.8, True, "", 2), 1)):
        before = store.db.total_changes
        segments.save_scores([(*row, first)])
        assert store.db.total_changes - before == changes


def test_duplicates_are_marked_or_not(made: Maker) -> None:
    _, segments, _ = opened(made)
    assert segments.are_deduplicated()
    again = {("/en/a", "/fr/a"): [Said("One.", "Un."), Said("One!", "Un !", 0.1, "low_score")]}
    assert not Segments(made(again)).are_deduplicated()
    again = {("/en/a", "/fr/a"): [Said("One.", "Un."), Said("One!", "Un !", 0.1, "too_short")]}
    assert Segments(made(again)).are_deduplicated()


def test_chosen_are_those_with_enough_score_duplicates_only_if_asked_for(made: Maker) -> None:
    _, segments, pair = opened(made)

    def texts(least: float, *, each: bool) -> list[str]:
        return [row[1] for row in segments.chosen(pair, least, each=each, keep_templates=False)]

    assert texts(0.0, each=False) == ["First.", "Bad.", "Second."]
    assert texts(0.6, each=False) == ["First.", "Second."]
    assert texts(0.61, each=True) == ["First.", "Again."]
    first = next(segments.chosen(pair, 0.0, each=False, keep_templates=False))
    assert first[1:] == (
        "First.", "Premier.", "/p[0]", "/p[0]", "0-6", "0-8", 0.9, 0.7, "email", 1, None,
    )  # fmt: skip


def test_all_of_a_pair_come_in_order_with_their_reasons(made: Maker) -> None:
    _, segments, pair = opened(made)
    rows = list(segments.all_of(pair))
    assert [(row[0], *row[6:]) for row in rows] == [
        ("First.", 0.9, ""), ("Bad.", 0.2, "partial"), ("Too long.", 0.9, "too_long"),
        ("Again.", 0.8, "duplicate"), ("Second.", 0.6, ""), ("Alone.", 0.0, "unaligned"),
    ]  # fmt: skip
    assert rows[1][:6] == ("Bad.", "Mauvais.", "/p[1]", "/p[1]", "0-4", "0-8")


def test_kept_ones_are_counted_and_found_by_their_place(made: Maker) -> None:
    store, segments, pair = opened(made)
    assert segments.kept_by_pair() == dict(zip(store.pair_order(), (2, 1), strict=True))
    assert [segments.kept(pair, place).left for place in (0, 1)] == ["First.", "Second."]
    assert segments.kept(store.pair_order()[1], 0) == SegmentPair(
        "Last.", "Dernier.", "en", "fr", url("/en/b"), url("/fr/b"), "/p[0]", "/p[0]", 0.7
    )


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.6, 0.61, 1.0])
def test_texts_and_segments_of_a_corpus_hold_the_same(made: Maker, threshold: float) -> None:
    _, segments, pair = opened(made)
    chosen = [row[1] for row in segments.chosen(pair, threshold, each=False, keep_templates=False)]
    told = [row[0] for row in segments.all_of(pair) if not reason_at(threshold, *row[6:])]
    assert told == chosen
    if threshold == 0.5:  # that of the run
        assert [segments.kept(pair, place).left for place in range(2)] == chosen


def test_the_rule_of_kept_segments_is_written_once() -> None:
    statements = " ".join(SQL.values())
    assert "reason IN" not in statements
    assert "FROM segments WHERE accept" not in statements


def test_examples_of_templates_are_chosen_only_on_request(made: Maker) -> None:
    told = [
        Said("Tag Ora", "Étiquette Ora", 0.9),
        Said("Tag Ara", "Étiquette Ara", 0.9, "template"),
    ]
    store = made({("/en/a", "/fr/a"): told})
    (pair,) = store.pair_order()
    counts = [
        len(list(Segments(store).chosen(pair, 0.5, each=each, keep_templates=keep)))
        for each in (False, True)
        for keep in (False, True)
    ]
    assert counts == [1, 2, 1, 2]
    assert len(list(Segments(store).to_score(pair))) == 2, "they are scored again"


def test_only_texts_without_any_place_are_deleted(made: Maker) -> None:
    store, segments, pair = opened(made)
    count = store.count("SELECT count(*) FROM segment_texts")
    segments.delete_unused_texts()
    assert store.count("SELECT count(*) FROM segment_texts") == count
    store.db.execute("DELETE FROM occurrences WHERE pair = ? AND position = 0", (pair,))
    segments.delete_unused_texts()
    assert store.count("SELECT count(*) FROM segment_texts") == count - 1
    assert not store.count("SELECT count(*) FROM segments WHERE left IS NULL")
