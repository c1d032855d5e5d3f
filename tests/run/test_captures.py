"""The captures of a run: one per URL, chosen by turns, and known after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from diptych.run.archived import ArchiveIndex
from diptych.run.captures import LISTED, Block, CaptureCounts, Captures
from diptych.run.copied_records import Capture
from diptych.run.store import Store
from diptych.types import Url

BLOCK = Block("cc-index/cdx-00000.gz", 0, 100)
CRAWL = "CC-MAIN-2026-40"


@pytest.fixture
def store(tmp_path: Path):
    with Store(tmp_path) as store:
        yield store


def capture(path: str, lang: str = "eng", at: str = "20260920103059", **more: object) -> Capture:
    found = Capture(Url(f"http://a.example{path}"), at, lang, "", "a.warc.gz", 0, 10)
    return found._replace(**more)


def save(store: Store, *found: Capture, site: str = "a.example") -> Captures:
    captures = Captures(store)
    captures.save(CRAWL, site, BLOCK, [(site, each) for each in found], {})
    return captures


def paths(captures: Captures, limit: int | None = None) -> list[str]:
    captures.choose(limit)
    return [each.url.removeprefix("http://a.example") for each in captures.wanted()]


def test_blocks_are_read_once(store: Store):
    captures, other = Captures(store), Block("cc-index/cdx-00000.gz", 100, 50)
    assert not captures.is_searched(CRAWL, "a.example")
    captures.save_blocks(CRAWL, "a.example", [BLOCK, other])
    assert captures.is_searched(CRAWL, "a.example")
    assert not captures.is_searched(CRAWL, "b.example")
    assert not captures.is_searched("CC-MAIN-2026-30", "a.example")
    assert captures.unread_blocks(CRAWL, "a.example") == [BLOCK, other]
    captures.save(CRAWL, "a.example", BLOCK, [], {})
    assert captures.unread_blocks(CRAWL, "a.example") == [other]


def test_a_block_that_is_not_saved_whole_is_not_saved(store: Store):
    captures = Captures(store)
    captures.save_blocks(CRAWL, "a.example", [BLOCK])

    def broken():
        yield "a.example", capture("/")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        captures.save(CRAWL, "a.example", BLOCK, broken(), {})
    assert captures.unread_blocks(CRAWL, "a.example") == [BLOCK]
    assert paths(captures) == []


def test_the_last_capture_of_a_url_is_kept(store: Store):
    early, late = "20260920000000", "20260925000000"
    captures = save(store, capture("/", at=late, offset=5), capture("/", at=early, offset=9))
    captures.choose(None)
    (only,) = captures.wanted()
    assert (only.at, only.offset) == (late, 5)


def test_a_copied_record_is_not_replaced_by_a_later_capture(store: Store):
    captures = save(store, capture("/"))
    with store.transaction():
        pointer = store.archive.append(b"record", 0.0)
        ArchiveIndex(store).add(Url("http://a.example/"), *pointer[:2], is_page=True)
    save(store, capture("/", at="20261225000000"))
    assert paths(captures) == []
    assert captures.copied() == 1


def test_languages_take_turns_from_the_root_on(store: Store):
    captures = save(
        store,
        *(capture(f"/en/{name}", "eng", offset=n) for n, name in enumerate(("x/y/z", "b", "a"))),
        *(capture(f"/fr/{name}", "fra", offset=9 + n) for n, name in enumerate(("x/y/z", "b"))),
    )
    assert sorted(paths(captures, 2)) == ["/en/a", "/fr/b"]
    assert sorted(paths(captures, 3)) == ["/en/a", "/en/b", "/fr/b"]
    assert len(paths(captures)) == 5


def test_the_limit_is_one_of_each_site(store: Store):
    save(store, *(capture(f"/{n}", offset=n) for n in range(3)))
    others = [capture(f"/{n}", url=Url(f"http://b.example/{n}"), offset=n + 5) for n in range(3)]
    captures = save(store, *others, site="b.example")
    assert captures.choose(2) == 4
    assert captures.sites() == ["a.example", "b.example"]


def test_captures_come_by_place(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("diptych.run.captures.AT_ONCE", 2)
    places = [("b", 1), ("a", 20), ("a", 3), ("c", 0), ("a", 100)]
    found = [
        capture(f"/{number}", file=file, offset=offset)
        for number, (file, offset) in enumerate(places)
    ]
    captures = save(store, *found)
    captures.choose(None)
    assert [(each.file, each.offset) for each in captures.wanted()] == sorted(places)


def test_failed_captures_are_counted_and_not_wanted_again(store: Store):
    captures = save(store, capture("/a"), capture("/b", offset=20))
    captures.fail(capture("/a"), "http_404")
    assert paths(captures) == ["/b"]
    assert captures.failures() == {"http_404": 1}


def test_counts_say_what_the_index_has(store: Store):
    captures = save(store, capture("/a"))
    skipped = {("a.example", LISTED): 5, ("a.example", "no_page"): 4}
    captures.save(CRAWL, "a.example", BLOCK, [], skipped)
    captures.save(CRAWL, "a.example", BLOCK, [], {("b.example", LISTED): 2})
    assert captures.counts() == {
        "a.example": CaptureCounts(5, {"no_page": 4}, 1),
        "b.example": CaptureCounts(2, {}, 0),
    }


def test_copies_that_a_shorter_file_has_lost_are_wanted_again(tmp_path: Path):
    with Store(tmp_path) as store:
        save(store, *(capture(f"/{n}", offset=n) for n in range(4)))
        with store.transaction():
            for number in range(4):
                pointer = store.archive.append(b"record %d" % number, 0.0)
                ArchiveIndex(store).add(
                    Url(f"http://a.example/{number}"), *pointer[:2], is_page=True
                )
        assert paths(Captures(store)) == []
        third = pointer.offset - pointer.length
    file = tmp_path / "warc/diptych-00001.warc.gz"
    with file.open("r+b") as stream:
        stream.truncate(third + 2)
    with Store(tmp_path) as store:
        assert paths(Captures(store)) == ["/2", "/3"]
        assert file.stat().st_size == third, "the next record goes where the lost one was"
    file.write_bytes(b"")
    with Store(tmp_path) as store:
        assert len(paths(Captures(store))) == 4
