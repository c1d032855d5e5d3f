"""Updates in the store: their beginning and end, and the dates of segments."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.corpora import Maker, Said, url

from diptych.run.pairs import segment_rows
from diptych.run.segments import Segments
from diptych.run.store import Store
from diptych.run.updates import Updates, Visited
from diptych.run.vanished import vanished_pairs, vanished_segments
from diptych.text.urls import url_key
from diptych.types import Decision, SegmentPair

AT = 1_800_000_000.0
TOLD = {
    ("/en/a", "/fr/a"): [Said("Lamp.", "Lampe."), Said("A tower.", "Une tour.")],
    ("/en/b", "/fr/b"): [Said("The sea.", "La mer.")],
}


@pytest.fixture
def store(made: Maker) -> Store:
    return made(TOLD)


def begin(store: Store, now: float = AT) -> int:
    return Updates(store).begin(now, forbidden="robots", retried=("timeout",))


def end(store: Store, now: float = AT + 100) -> None:
    updates = Updates(store)
    updates.settle(is_whole=True)
    updates.close(now)


def align(store: Store, left: str, *texts: tuple[str, str]) -> None:
    """Save the decision on the pair of a page, and its segments."""
    ((id, pair),) = [row for row in store.pairs(1) if row[1].left == url(left)]
    segments = [
        (SegmentPair(one, other, "en", "fr", pair.left, pair.right, "/p", "/p", 1.0, "", ""),
         Decision(True, 0.9, ""))
        for one, other in texts
    ]  # fmt: skip
    store.save_decision(id, Decision(True, 0.8, ""))
    store.save_segment_rows(id, segment_rows(segments))


def dates(store: Store) -> dict[str, float | None]:
    return dict(store.db.execute("SELECT left, first_seen FROM kept_segments").fetchall())


def gone(store: Store) -> list[str]:
    pairs = vanished_pairs(store)
    return sorted(row[1] for pair in pairs for row in vanished_segments(store, pair[0]))


def test_update_is_begun_once_and_goes_on_until_it_is_closed(store: Store) -> None:
    assert (begin(store), begin(store, AT + 1)) == (1, 1)
    assert store.count("SELECT count(*) FROM urls WHERE state = 0") == 4
    end(store)
    assert Updates(store).open() is None
    assert begin(store, AT + 200) == 2


def test_segments_are_dated_when_they_are_first_kept(store: Store) -> None:
    mined = Updates(store).date()
    begin(store)
    assert dates(store) == dict.fromkeys(("Lamp.", "A tower.", "The sea."), mined)
    store.save_fetch(1, url("/en/a"), AT + 5, status=200, size=1, reason="", pointer=None)
    Updates(store).withdraw_pairs(url("/en/a"))
    align(store, "/en/a", ("Lamp.", "Lampe."), ("A bell.", "Une cloche."))
    end(store)
    assert dates(store) == {"Lamp.": mined, "A bell.": AT + 5, "The sea.": mined}
    counts = Updates(store).last()
    assert counts is not None
    assert (counts.segments, counts.new_segments) == ((3, 3), 1)
    assert (counts.kept_segments, counts.gone_segments) == (2, 1)


def test_segments_that_are_no_longer_found_are_kept_aside_with_their_places(store: Store) -> None:
    begin(store)
    where = "SELECT warc, offset, digest FROM pages WHERE url = ?"
    warc, offset, digest = store.db.execute(where, (url_key(url("/en/a")),)).fetchone()
    Updates(store).withdraw_pairs(url("/en/a"))
    store.db.execute("UPDATE pages SET offset = 99, digest = 'new'")
    align(store, "/en/a", ("Lamp.", "Lampe."))
    assert gone(store) == [], "the update may still find them"
    end(store)
    assert gone(store) == ["A tower."]
    (pair,) = vanished_pairs(store)
    assert (pair[13], pair[11], pair[9]) == (warc, offset, digest)


def test_segment_that_comes_back_keeps_its_first_date(store: Store) -> None:
    begin(store)
    first = dates(store)["A tower."]
    Updates(store).withdraw_pairs(url("/en/a"))
    align(store, "/en/a", ("Lamp.", "Lampe."))
    Segments(store).delete_unused_texts()
    end(store)
    begin(store, AT + 1000)
    align(store, "/en/a", ("Lamp.", "Lampe."), ("A tower!", "Une tour!"))
    end(store)
    assert dates(store)["A tower!"] == first, "near-duplicates are the same segment"
    assert gone(store) == []


def test_page_that_vanished_leaves_no_pair(store: Store) -> None:
    begin(store)
    updates = Updates(store)
    updates.remove_page(url("/fr/b"))
    updates.visit(url("/fr/b"), Visited.VANISHED, None)
    assert len(store.pairs(1)) == 1
    end(store)
    assert gone(store) == ["The sea."]
    assert "The sea." not in dates(store)
    assert updates.last().pages == {"unvisited": 3, "vanished": 1}  # type: ignore[union-attr]


def test_pairs_that_are_no_longer_found_set_their_segments_aside(store: Store) -> None:
    begin(store)
    store.replace_pairs(1, [pair for _, pair in store.pairs(1) if pair.left == url("/en/a")])
    end(store)
    assert gone(store) == ["The sea."]


def test_without_an_update_nothing_is_set_aside(store: Store) -> None:
    store.replace_pairs(1, [])
    assert store.count("SELECT count(*) FROM vanished") == 0


def test_interrupted_update_leaves_its_pages_in_the_queue(store: Store) -> None:
    begin(store)
    Updates(store).settle(is_whole=False)
    assert store.count("SELECT count(*) FROM urls WHERE state = 0") == 4
    assert not Updates(store).last().is_finished  # type: ignore[union-attr]
    end(store)
    assert store.count("SELECT count(*) FROM urls WHERE state = 0") == 0


SCHEMA_10 = """
DROP VIEW segments; ALTER TABLE segment_texts DROP COLUMN first_seen;
CREATE VIEW segments AS
    SELECT occurrences.id, pair, position, accept, reason, score, judged, alignment, partial,
           copies, key, left_key, right_key, flags, left, right, left_path, right_path, left_at,
           right_at
    FROM occurrences LEFT JOIN segment_texts ON segment_texts.id = text;
DROP TABLE updates; DROP TABLE visits; DROP TABLE vanished; DROP TABLE vanished_pairs;
PRAGMA user_version = 10;
"""


@pytest.fixture
def schema_10(store: Store) -> Path:
    """A run of schema 10, whose segments have no dates."""
    for view in ("kept_segments", "sound_segments"):
        store.db.execute(f"DROP VIEW temp.{view}")
    store.db.executescript(SCHEMA_10)
    store.close()
    return store.folder


def test_run_of_schema_10_is_read_as_it_is(schema_10: Path) -> None:
    with Store(schema_10, write=False) as store:
        (first, _) = store.pair_order()
        chosen = Segments(store).chosen(first, 0.5, each=False, keep_templates=False)
        assert [(row[1], row[11]) for row in chosen] == [("Lamp.", None), ("A tower.", None)]
        assert store.verified_pair(first) is not None
        assert Updates(store).last() is None
        assert store.count("PRAGMA main.user_version") == 10


def test_run_of_schema_10_is_upgraded_without_aligning_again(schema_10: Path) -> None:
    with Store(schema_10) as store:
        assert list(store.pairs_to_align()) == []
        begin(store)
        assert set(dates(store).values()) == {Updates(store).date()}
    with Store(schema_10, write=False) as store:
        assert Updates(store).open() == 1
