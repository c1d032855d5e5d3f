"""Links from WAT files, intact and damaged."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.waiting import until

from diptych.errors import SourceError
from diptych.sources import wat
from diptych.sources.link_index import LinkIndex, LinkWriter
from diptych.sources.wat import index_wat, page_links
from diptych.types import Link


def anchor(url: str, text: str = "", **more: str) -> dict[str, str]:
    return {"path": "A@/href", "url": url, "text": text, **more}


def content(url: str, links: Iterable[dict[str, str]], **head: Any) -> dict[str, Any]:
    html = {"Head": head, "Links": list(links)}
    return {
        "Container": {"Filename": "x.warc.gz"},
        "Envelope": {
            "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": url},
            "Payload-Metadata": {"HTTP-Response-Metadata": {"HTML-Metadata": html}},
        },
    }


def record(data: bytes, kind: str = "metadata") -> bytes:
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Type: application/json\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(data), data)


def archive(path: Path, pages: Iterable[dict[str, Any] | bytes]) -> str:
    """Write a WAT file, with each record compressed separately."""
    rows = [record(b"software: test\r\n", "warcinfo")]
    rows += [
        record(page if isinstance(page, bytes) else json.dumps(page).encode()) for page in pages
    ]
    path.write_bytes(b"".join(map(gzip.compress, rows)))
    return str(path)


def many(count: int) -> list[dict[str, Any]]:
    return [
        content(f"http://s{number}.org/p", [anchor("http://aim.com/", f"text {number}")])
        for number in range(count)
    ]


def test_links_are_kept_with_their_texts(tmp_path: Path) -> None:
    page = content(
        "http://a.org/dir/p.html",
        [
            anchor("http://aim.com/x", " Version française ", hreflang="fr"),
            anchor("/own", "own"),
            anchor("http://sub.a.org/", "own too"),
            {"path": "IMG@/src", "url": "flag.png", "alt": "Deutsch"},
            anchor("http://aim.com/de"),
            anchor("mailto:a@b.c", "mail"),
            {"path": "IFRAME@/src", "url": "//frame.net/f"},
            {"path": "SCRIPT@/src", "url": "http://cdn.net/x.js"},
        ],
        Link=[
            {"path": "LINK@/href", "url": "http://a.fr/", "rel": "alternate", "hreflang": "fr"},
            {"path": "LINK@/href", "url": "http://feeds.net/", "rel": "alternate", "type": "rss"},
            {"path": "LINK@/href", "url": "http://cdn.net/x.css", "rel": "stylesheet"},
        ],
    )
    facts = index_wat([archive(tmp_path / "a.wat.gz", [page])], tmp_path / "i.sqlite")
    assert (facts.files, facts.pages, facts.links, facts.notes) == (1, 1, 4, ())
    index = LinkIndex.open(tmp_path / "i.sqlite")
    assert index.out_links("http://a.org/dir/p.html", 10) == [
        Link("http://a.fr/", "alternate", "fr"),
        Link("http://aim.com/x", "a", "fr", "Version française"),
        Link("http://aim.com/de", "a", alt="Deutsch", src="flag.png"),
        Link("http://frame.net/f", "frame"),
    ]
    assert index.out_links("https://www.a.org/dir/p.html", 1) == [
        Link("http://a.fr/", "alternate", "fr")
    ]
    assert index.out_links("http://a.org/none", 10) is None
    assert index.back_links("https://www.aim.com/x", 10) == [
        Link("http://a.org/dir/p.html", "back", anchor="Version française")
    ]
    assert index.back_links("http://aim.com/de", 10)[0].alt == "Deutsch"
    assert index.back_links("http://none.com/", 10) == []


def test_a_base_applies_to_links() -> None:
    found = page_links(content("http://a.org/p", [anchor("q", "Q")], Base="http://b.net/x/"))
    assert found == ("http://a.org/p", [Link("http://b.net/x/q", "a", "", "Q")])


def test_links_to_the_host_count_if_none_is_to_the_page(tmp_path: Path) -> None:
    pages = [
        content("http://a.org/", [anchor("http://aim.com/one", "1")]),
        content("http://b.org/", [anchor("http://www.aim.com/two", "2")]),
        content("http://c.org/", [anchor("http://other.aim.com/", "3")]),
    ]
    index_wat([archive(tmp_path / "a.gz", pages)], tmp_path / "i.sqlite")
    index = LinkIndex.open(tmp_path / "i.sqlite")
    assert [link.url for link in index.back_links("http://aim.com/one", 9)] == ["http://a.org/"]
    found = sorted((link.url, link.anchor) for link in index.back_links("http://aim.com/", 9))
    assert found == [("http://a.org/", "1"), ("http://b.org/", "2")]


def test_different_sites_come_first_and_hubs_last(tmp_path: Path) -> None:
    aim = anchor("http://aim.com/", "x")
    hub = [anchor(f"http://t{number}.net/") for number in range(50)]
    pages = [content(f"http://same.org/{number}", [aim]) for number in range(30)]
    pages += [content("http://hub.org/", [*hub, aim]), content("http://few.org/", [aim])]
    index_wat([archive(tmp_path / "a.gz", pages)], tmp_path / "i.sqlite")
    found = [
        link.url for link in LinkIndex.open(tmp_path / "i.sqlite").back_links("http://aim.com/", 8)
    ]
    assert found[0] == "http://few.org/"
    assert found[1].startswith("http://same.org/")
    assert found[2] == "http://hub.org/"
    assert len(found) == len(set(found)) == 8


def test_the_sample_of_a_popular_page_is_always_the_same(tmp_path: Path) -> None:
    index_wat([archive(tmp_path / "a.gz", many(3000))], tmp_path / "i.sqlite")
    index = LinkIndex.open(tmp_path / "i.sqlite")
    found = index.back_links("http://aim.com/", 20)
    assert len({link.url for link in found}) == 20
    assert found == LinkIndex.open(tmp_path / "i.sqlite").back_links("http://aim.com/", 20)
    numbers = [int(link.anchor.split()[1]) for link in found]
    assert max(numbers) > 1500
    assert min(numbers) < 1500
    assert index.back_links("http://aim.com/", 0) == []


def test_files_are_read_once(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.gz", many(3))
    index_wat([path], tmp_path / "i.sqlite")
    again = index_wat([path, archive(tmp_path / "b.gz", many(5))], tmp_path / "i.sqlite")
    assert (again.files, again.skipped, again.pages) == (1, 1, 5)
    archive(tmp_path / "a.gz", many(4))
    assert index_wat([path], tmp_path / "i.sqlite").pages == 4


def test_lists_and_addresses_are_read_too(tmp_path: Path) -> None:
    archive(tmp_path / "a.gz", many(2))
    (tmp_path / "wat.paths.gz").write_bytes(gzip.compress(b"a.gz\n"))
    with fsspec.open("memory://wat/b.gz", "wb") as stream:
        stream.write(Path(archive(tmp_path / "b.gz", many(3))).read_bytes())
    paths = [str(tmp_path / "wat.paths.gz"), "memory://wat/b.gz"]
    assert index_wat(paths, tmp_path / "i.sqlite").pages == 5


def test_records_that_are_not_json_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wat, "MAX_RECORD", 3000)
    strange: list[Any] = [
        b"{", b"", b"[]", b"null", b'{"Envelope": 7}',
        content("not a url", []), content("http://x.org/", [{"path": 1, "url": 2}]),  # type: ignore[list-item]
        content("http://y.org/", [], Link="?", Base=5) | {"Container": None},
        b'{"a": "' + b"x" * 4000 + b'"}',
    ]  # fmt: skip
    facts = index_wat([archive(tmp_path / "a.gz", [*strange, *many(2)])], tmp_path / "i.sqlite")
    assert (facts.pages, facts.links, facts.bad) == (4, 2, 3)
    assert facts.notes == (f"{tmp_path}/a.gz: skipped records that are not JSON: 3",)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Envelope", "Head", "Links", "Link", "url", "path", "text"]), inner
        )
    ),
    max_leaves=8,
)


@given(json_values, json_values)
def test_any_json_is_accepted(value: object, other: object) -> None:
    page_links(value)
    html = {"Head": value, "Links": other}
    whole = content("http://a.org/", [])
    whole["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]["HTML-Metadata"] = html
    page_links(whole)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_pages_before_a_cut_are_used_and_the_cut_reported(tmp_path: Path, share: float) -> None:
    whole = Path(archive(tmp_path / "a.gz", many(500))).read_bytes()
    (tmp_path / "a.gz").write_bytes(whole[: int(share * len(whole))])
    facts = index_wat([str(tmp_path / "a.gz")], tmp_path / "i.sqlite")
    assert share * 500 - 5 <= facts.pages <= share * 500 + 5
    assert f"damaged after page {facts.pages:,}" in facts.notes[0]
    assert LinkIndex.open(tmp_path / "i.sqlite").notes() == list(facts.notes)


def test_a_file_that_is_not_wat_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"<html>no</html>"))
    (tmp_path / "b.gz").write_bytes(b"")
    facts = index_wat([str(tmp_path / "a.gz"), str(tmp_path / "b.gz")], tmp_path / "i.sqlite")
    assert facts.pages == 0
    assert all("is it a WAT file?" in note or "damaged" in note for note in facts.notes)
    assert len(facts.notes) == 2
    with pytest.raises(SourceError, match="cannot read"):
        index_wat([str(tmp_path / "none.gz")], tmp_path / "i.sqlite")


@pytest.mark.parametrize("text", [b"", b"mine", b"SQLite format 3\0" + b"\xff" * 500])
def test_other_files_are_neither_read_nor_written(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "i.sqlite"
    path.write_bytes(text)
    with pytest.raises(SourceError):
        LinkIndex.open(path)
    if text:
        with pytest.raises(SourceError):
            index_wat([archive(tmp_path / "a.gz", many(1))], path)
        assert path.read_bytes() == text


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE thesis (text)")
        db.commit()
    for attempt in (lambda: index_wat([], path), lambda: LinkIndex.open(path)):
        with pytest.raises(SourceError, match="is not a link index"):
            attempt()


def test_a_damaged_index_is_reported_on_lookup(tmp_path: Path) -> None:
    index_wat([archive(tmp_path / "a.gz", many(2000))], tmp_path / "i.sqlite")
    data = (tmp_path / "i.sqlite").read_bytes()
    (tmp_path / "i.sqlite").write_bytes(data[:8192] + b"\xa5" * (len(data) - 8192))
    with pytest.raises(
        SourceError, match=r"i\.sqlite is not a readable link index: .*; rebuild it"
    ):
        LinkIndex.open(tmp_path / "i.sqlite").back_links("http://aim.com/", 10)


def test_a_schema_name_that_is_not_utf_8_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "i.sqlite"
    index_wat([archive(tmp_path / "a.gz", many(3))], path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"tablebacksbacks", b"tableb\xe9cksbacks"))
    with pytest.raises(SourceError, match=r"is not a readable link index: .*; rebuild it"):
        LinkIndex.open(path).back_links("http://aim.com/", 10)


def _has_read(index: Path, path: str) -> bool:
    if not index.exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as db:
            return bool(db.execute("SELECT 1 FROM files WHERE path = ?", (path,)).fetchone())
    except sqlite3.OperationalError:  # not yet made
        return False


def test_killed_indexing_keeps_what_it_read_and_resumes(tmp_path: Path) -> None:
    whole = archive(tmp_path / "a.gz", many(1500))
    fifo, out = tmp_path / "b.fifo", tmp_path / "i.sqlite"
    os.mkfifo(fifo)
    code = (
        "import sys; from pathlib import Path; from diptych.sources import wat;"
        "wat.index_wat([sys.argv[1], sys.argv[2]], Path(sys.argv[3]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, whole, str(fifo), str(out)]
    )
    until(lambda: _has_read(out, whole) or child.poll() is not None)
    child.send_signal(signal.SIGKILL)  # it waits for the second file
    assert child.wait() == -signal.SIGKILL
    facts = index_wat([whole, archive(tmp_path / "c.gz", many(7))], out)
    assert (facts.skipped, facts.pages) == (1, 7)
    assert len(LinkIndex.open(out).back_links("http://aim.com/", 2000)) == 1500


def test_links_of_a_page_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diptych.sources.link_index.MAX_LINKS", 10)
    links = [Link(f"http://t{number}.net/", anchor="x" * 2000) for number in range(50)]  # type: ignore[arg-type]
    with LinkWriter(tmp_path / "i.sqlite") as writer:
        assert writer.add("http://a.org/", links) == 10  # type: ignore[arg-type]
        writer.commit()
    found = LinkIndex.open(tmp_path / "i.sqlite").out_links("http://a.org/", 99)
    assert len(found) == 10
    assert len(found[0].anchor) == 500


def test_text_with_a_lone_surrogate_is_accepted(tmp_path: Path) -> None:
    page = json.dumps(content("http://a.org/", [anchor("http://aim.com/", "caf\ud83d")])).encode()
    index_wat([archive(tmp_path / "a.gz", [page])], tmp_path / "i.sqlite")
    assert LinkIndex.open(tmp_path / "i.sqlite").notes() != [] or (
        LinkIndex.open(tmp_path / "i.sqlite").back_links("http://aim.com/", 1)[0].anchor[:3]
        == "caf"
    )
