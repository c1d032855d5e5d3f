"""Archives as rows: pages are parsed, other responses keep their places."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diptych.engine import reading
from diptych.engine.workers import Workers
from diptych.run.warc import compose, read_at
from diptych.sources.parsed_archives import CopiedRecords, ParsedArchive
from diptych.types import Response, Url

PAGE = "<title>{0}</title><p>The lamp {0} is lit when the sea comes in.</p>"


def record(name: str, kind: str = "text/html", status: int = 200) -> bytes:
    url = Url(f"http://a.org/{name}")
    body = PAGE.format(name).encode() if kind == "text/html" else b"User-agent: *"
    return compose(Response(url, status, (("Content-Type", kind),), body, 9.0))


def archive(folder: Path, *records: bytes) -> Path:
    path = folder / "a.warc.gz"
    path.write_bytes(b"".join(records))
    return path


def parsed(path: Path, workers: Workers, **more: Any) -> ParsedArchive:
    is_wanted: Callable[[Url], object] = more.pop("is_wanted", bool)
    return ParsedArchive(path, ("en", "fr"), is_wanted, workers, lambda: None, **more)


MIXED = (
    record("a"), record("robots.txt", "text/plain"), record("b"), record("x.png", "image/png"),
    record("gone", status=404), record("c"),
)  # fmt: skip


def test_pages_are_parsed_and_other_responses_keep_their_places(tmp_path: Path) -> None:
    path = archive(tmp_path, *MIXED)
    with Workers(0) as workers:
        found = parsed(path, workers)
        rows = {row.url.rpartition("/")[2]: row for row in found}
    assert sorted(rows) == ["a", "b", "c", "gone", "robots.txt"]
    assert [name for name, row in rows.items() if row.is_page] == ["a", "b", "c"]
    assert {name: row.title for name, row in rows.items() if row.digest} == {
        name: name for name in "abc"
    }
    assert (found.pages, found.responses, found.damage) == (3, 5, "")
    with path.open("rb") as stream:
        for row in rows.values():
            response = read_at(stream, row.offset)
            assert response is not None
            assert response.url == row.url


def test_only_wanted_urls_are_parsed(tmp_path: Path) -> None:
    path = archive(tmp_path, *MIXED)
    with Workers(0) as workers:
        rows = list(parsed(path, workers, is_wanted=lambda url: url.endswith("b")))
    assert [row.url for row in rows] == ["http://a.org/b"]


def test_copies_are_where_the_rows_say(tmp_path: Path) -> None:
    stream = io.BytesIO()
    copies = CopiedRecords(stream, "copy.warc.gz", "s3://b/a.warc.gz", agent="test")
    with Workers(0) as workers:
        rows = list(parsed(archive(tmp_path, *MIXED), workers, copies=copies))
    for row in rows:
        response = read_at(stream, row.offset)
        assert response is not None
        assert response.url == row.url


def test_rows_before_damage_are_used(tmp_path: Path) -> None:
    path = archive(tmp_path, record("a"), record("b"), record("c")[:-60])
    with Workers(0) as workers:
        found = parsed(path, workers)
        assert [row.title for row in found] == ["a", "b"]
    assert "damaged or truncated" in found.damage


def test_file_that_is_no_archive_is_damage(tmp_path: Path) -> None:
    path = archive(tmp_path, b"hello\n" * 50)
    with Workers(0) as workers:
        found = parsed(path, workers)
        assert list(found) == []
    assert found.damage == f"{path} is not a WARC file"


def test_page_that_cannot_be_read_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = reading.read_answer

    def failing(kind: Any, response: Response, **more: Any) -> Any:
        if response.url.endswith("b"):
            raise MemoryError
        return plain(kind, response, **more)

    monkeypatch.setattr(reading, "read_answer", failing)
    with Workers(0) as workers:
        rows = list(parsed(archive(tmp_path, *MIXED), workers))
    assert {row.url[-1]: bool(row.digest) for row in rows if row.is_page} == {
        "a": True, "b": False, "c": True,
    }  # fmt: skip
