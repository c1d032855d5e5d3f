"""Archives by name: files, folders, patterns, lists, and remote files that are copied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from support.commands import mistake, placeless, query, rows, run
from support.serving import Reply, serve
from warcio.archiveiterator import ArchiveIterator

from diptych.engine.downloads import Downloads
from diptych.engine.fetch import FetchSettings
from diptych.errors import ArchiveError
from diptych.run.archived import ArchiveIndex
from diptych.run.store import Store
from diptych.run.warc import compose
from diptych.sources import archives
from diptych.sources.archives import archive_names, index_archives, local_archives
from diptych.types import Response, Url

fsspec = pytest.importorskip("fsspec")


NONE = Downloads(lambda: FetchSettings("TestBot/1.0"), 0.0)
"""nothing is downloaded"""


def names_of(given: list[Any], downloads: Downloads = NONE) -> list[str]:
    return archive_names(given, downloads)


def index(store: Store, given: list[str], **more: Any) -> list[str]:
    return index_archives(store, given, NONE, **more)


def record(url: str, kind: str = "text/html", status: int = 200) -> bytes:
    return compose(Response(Url(url), status, (("Content-Type", kind),), b"<p>lamp</p>", 9.0))


@pytest.fixture
def memory() -> Iterator[Any]:
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    yield fs
    fs.store.clear()


@pytest.fixture
def archive(recorded: Path) -> Path:
    (file,) = (recorded / "warc").iterdir()
    return file


def mine(out: Path, *warc: object) -> Any:
    named = [part for each in warc for part in ("--warc", each)]
    return run("mine", *named, "--langs", "en,fr", "--out", out, "--quiet")


def names(found: list[str], folder: Path) -> list[str]:
    return [str(Path(each).relative_to(folder)) for each in found]


def test_folders_and_patterns_stand_for_their_sorted_archives(tmp_path: Path) -> None:
    for name in ("b/x/2.warc.gz", "b/1.warc", "c/3.wacz", "c/4.warc.zst", "c/5.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(record("http://example.org/"))
    assert names(names_of([tmp_path / "b"]), tmp_path) == ["b/1.warc", "b/x/2.warc.gz"]
    deep = names_of([f"{tmp_path}/*/**/*.warc.gz"])
    assert names(deep, tmp_path) == ["b/x/2.warc.gz"]
    both = names_of([f"{tmp_path}/[bc]", tmp_path / "c" / "3.wacz"])
    assert names(both, tmp_path) == ["b/1.warc", "b/x/2.warc.gz", "c/3.wacz", "c/4.warc.zst"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a[1].warc.gz").write_bytes(record("http://example.org/"))
    assert names(names_of([tmp_path / "a[1].warc.gz"]), tmp_path) == ["a[1].warc.gz"]


def test_what_stands_for_nothing_is_an_error(tmp_path: Path, memory: Any) -> None:
    for name, said in (
        (f"{tmp_path}/*.warc.gz", "no file matches"),
        ("memory://crawl/*.warc.gz", "no file matches"),
        (f"{tmp_path}/a.warc.gz", "there is no file"),
        (str(tmp_path), "contains no"),
    ):
        with pytest.raises(ArchiveError, match=said):
            names_of([name])


def test_lists_of_files_stand_for_their_files(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(record("http://example.org/"))
    (tmp_path / "warc.paths").write_text("a.warc.gz\n")
    assert names(names_of([tmp_path / "warc.paths"]), tmp_path) == ["a.warc.gz"]
    (tmp_path / "warc.paths").write_text("../../etc/passwd\n")
    with pytest.raises(ArchiveError, match="may list only files below its own folder"):
        names_of([tmp_path / "warc.paths"])


def test_remote_folders_and_patterns(memory: Any) -> None:
    for name in ("/crawl/a.warc.gz", "/crawl/b/c.wacz", "/crawl/d.txt"):
        memory.pipe(name, b"")
    found = ["memory:///crawl/a.warc.gz", "memory:///crawl/b/c.wacz"]
    assert names_of(["memory://crawl"]) == found
    assert names_of(["memory://crawl/**/*.w*"]) == found
    assert names_of(["https://example.org/a.warc.gz"]) == ["https://example.org/a.warc.gz"]


def test_archives_to_rebuild_from_are_local(memory: Any) -> None:
    memory.pipe("/a.warc.gz", b"")
    with pytest.raises(ArchiveError, match="is a remote file; download it first"):
        local_archives(["memory://a.warc.gz"])


def test_remote_archive_gives_the_same_corpus_and_is_needed_only_once(
    memory: Any, archive: Path, recorded: Path, tmp_path: Path
) -> None:
    memory.pipe("/crawl/a.warc.gz", archive.read_bytes())
    assert mine(tmp_path / "run", "memory://crawl/*.warc.gz").exit_code == 0
    assert placeless(tmp_path / "run") == placeless(recorded)
    assert not (tmp_path / "run" / "archive.part").exists()
    place = {row["left_warc"] for row in rows(tmp_path / "run" / "corpus.tsv")}
    assert place == {"warc/diptych-00001.warc.gz"}
    standoff = tmp_path / "corpus.jsonl"
    memory.pipe("/crawl/a.warc.gz", b"gone")
    run("export", tmp_path / "run", "--format", "standoff", "--out", standoff)
    rebuilt = run("rebuild", standoff, "--warc", tmp_path / "run" / "warc", "--out",
                  tmp_path / "again.tsv")  # fmt: skip
    kept = len(rows(tmp_path / "run" / "corpus.tsv"))
    assert f"{kept} segments rebuilt ->" in rebuilt.output
    assert mine(tmp_path / "run", "memory://crawl/*.warc.gz").exit_code == 0
    assert placeless(tmp_path / "run") == placeless(recorded)


def test_copies_name_their_origin(memory: Any, archive: Path, tmp_path: Path) -> None:
    memory.pipe("/a.warc.gz", archive.read_bytes())
    with Store(tmp_path) as store:
        index(store, ["memory://a.warc.gz"])
    with (tmp_path / "warc" / "diptych-00001.warc.gz").open("rb") as stream:
        copies = [each.rec_headers for each in ArchiveIterator(stream)][1:]
    data = archive.read_bytes()
    for copy in copies:
        assert copy.get_header("WARC-Source-URI") == "memory://a.warc.gz"
        offset = int(copy.get_header("WARC-Source-Range").removeprefix("bytes=").rstrip("-"))
        [own] = ArchiveIterator(_member(data, offset))
        assert own.rec_headers.get_header("WARC-Target-URI") == copy.get_header("WARC-Target-URI")


def _member(data: bytes, offset: int) -> Any:
    import io
    import zlib

    inflater = zlib.decompressobj(31)
    return io.BytesIO(inflater.decompress(data[offset:]))


def test_remote_wacz_is_mined(memory: Any, archive: Path, recorded: Path, tmp_path: Path) -> None:
    with memory.open("/a.wacz", "wb") as stream, ZipFile(stream, "w") as file:
        file.writestr("archive/a.warc.gz", archive.read_bytes())
    assert mine(tmp_path / "run", "memory://a.wacz").exit_code == 0
    assert placeless(tmp_path / "run") == placeless(recorded)


def test_local_wacz_is_mined_and_rebuilt_in_its_place(
    archive: Path, recorded: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.wacz"
    with ZipFile(path, "w") as file:
        file.writestr("archive/a.warc.gz", archive.read_bytes())
    assert mine(tmp_path / "run", path).exit_code == 0
    assert placeless(tmp_path / "run") == placeless(recorded)
    assert {row["left_warc"] for row in rows(tmp_path / "run" / "corpus.tsv")} == {str(path)}
    standoff = tmp_path / "corpus.jsonl"
    run("export", tmp_path / "run", "--format", "standoff", "--out", standoff)
    rebuilt = run("rebuild", standoff, "--warc", path, "--out", tmp_path / "again.tsv")
    kept = len(rows(tmp_path / "run" / "corpus.tsv"))
    assert f"{kept} segments rebuilt ->" in rebuilt.output


def test_only_useful_records_of_the_named_sites_are_copied(memory: Any, tmp_path: Path) -> None:
    memory.pipe("/a.warc.gz", b"".join([
        record("http://a.org/"), record("http://a.org/p.pdf", "application/pdf"),
        record("http://b.org/"), record("http://a.org/robots.txt", "text/plain"),
        record("http://a.org/sitemap.xml", "text/xml"), record("http://a.org/moved", status=301),
        record("http://a.org/x.png", "image/png"),
    ]))  # fmt: skip
    with Store(tmp_path) as store:
        assert index(store, ["memory://a.warc.gz"], seeds=["http://a.org/"]) == []
        found = {url for (url,) in store.db.execute("SELECT url FROM archive")}
    assert {url.removeprefix("http://a.org/") for url in found} == {
        "", "robots.txt", "sitemap.xml", "moved",
    }  # fmt: skip


def test_broken_transfer_goes_on_where_it_ended(
    memory: Any, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = archive.read_bytes()
    memory.pipe("/a.warc.gz", data)
    monkeypatch.setattr(archives, "_PIECE", 1000)
    plain, read = fsspec.implementations.memory.MemoryFile.read, []

    def failing(self: Any, size: int = -1) -> bytes:
        read.append(self.tell())
        if len(read) in (3, 7):
            raise OSError("reset")
        return plain(self, size)

    monkeypatch.setattr(fsspec.implementations.memory.MemoryFile, "read", failing)
    assert archives.downloaded("memory://a.warc.gz", tmp_path / "a", NONE) == len(data)
    assert (tmp_path / "a").read_bytes() == data
    assert read[:8] == [0, 1000, 2000, 2000, 3000, 4000, 5000, 5000]


def test_remote_file_that_fails_costs_only_itself_and_is_tried_again(
    memory: Any, archive: Path, recorded: Path, tmp_path: Path
) -> None:
    memory.pipe("/a.warc.gz", archive.read_bytes())
    asked = ("memory://a.warc.gz", "memory://b.warc.gz")
    first = mine(tmp_path / "run", *asked)
    assert first.exit_code == 2
    assert "error: cannot read memory://b.warc.gz" in first.stderr
    assert placeless(tmp_path / "run") == placeless(recorded)
    memory.pipe("/b.warc.gz", record("http://new.example/"))
    assert mine(tmp_path / "run", *asked).exit_code == 0
    with Store(tmp_path / "run") as store:
        assert Url("http://new.example/") in ArchiveIndex(store).pages()
    line = mistake("mine", "--warc", "memory://none.warc.gz", "--langs", "en,fr", "--out",
                   tmp_path / "none")  # fmt: skip
    assert line.startswith("error: cannot read memory://none.warc.gz")


def test_damaged_remote_file_gives_the_records_before(
    memory: Any, archive: Path, tmp_path: Path
) -> None:
    memory.pipe("/a.warc.gz", archive.read_bytes()[: archive.stat().st_size * 3 // 4])
    found = mine(tmp_path / "run", "memory://a.warc.gz")
    assert found.exit_code == 2
    assert "error: memory://a.warc.gz is damaged or truncated after record" in found.stderr
    assert "archive.part" not in found.stderr


def test_copies_that_are_lost_are_read_again(
    memory: Any, archive: Path, recorded: Path, tmp_path: Path
) -> None:
    memory.pipe("/a.warc.gz", archive.read_bytes())
    assert mine(tmp_path / "run", "memory://a.warc.gz").exit_code == 0
    own = tmp_path / "run" / "warc" / "diptych-00001.warc.gz"
    own.write_bytes(own.read_bytes()[:5000])
    assert mine(tmp_path / "run", "memory://a.warc.gz").exit_code == 0
    assert placeless(tmp_path / "run") == placeless(recorded)
    assert query(tmp_path / "run", "SELECT count(*) FROM warcs WHERE size < 0") == [(0,)]


def test_killed_copy_leaves_nothing_and_is_done_again(
    memory: Any, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe("/a.warc.gz", archive.read_bytes())
    plain, made = archives.compose, []

    def killed(*given: Any) -> bytes:
        made.append(given)
        if len(made) == 9:
            raise KeyboardInterrupt
        return plain(*given)

    monkeypatch.setattr(archives, "compose", killed)
    with Store(tmp_path) as store, pytest.raises(KeyboardInterrupt):
        index(store, ["memory://a.warc.gz"])
    with Store(tmp_path) as store:
        assert not ArchiveIndex(store).has_answers()
        assert index(store, ["memory://a.warc.gz"]) == []
        (count,) = store.db.execute("SELECT count(*) FROM archive").fetchone()
    assert count == len({given[0].url for given in made[9:]}) > 9


# -- web servers -----------------------------------------------------------------------------------


def served(archive: Path) -> dict[str, Reply]:
    return {
        "/crawl/a.warc.gz": Reply(archive.read_bytes(), type="application/gzip"),
        "/crawl/b.warc.gz": Reply(record("http://new.example/"), type="application/gzip"),
        "/crawl/warc.paths": Reply("crawl/a.warc.gz\ncrawl/b.warc.gz\n", type="text/plain"),
    }


def test_archives_of_a_web_server_are_fetched_with_the_options_of_the_user(
    archive: Path, recorded: Path, tmp_path: Path
) -> None:
    own = ("--user-agent", "OwnBot/2.0", "--allow-private", "--delay", 0.3)
    asked = ("--langs", "en,fr", "--out", tmp_path / "run", "--quiet")
    with serve(served(archive)) as server:
        found = run("mine", "--warc", f"{server.url}crawl/warc.paths", *asked, *own)
        assert found.exit_code == 0, found.output
        assert server.paths == ["/crawl/warc.paths", "/crawl/a.warc.gz", "/crawl/b.warc.gz"]
    assert {each.headers["user-agent"] for each in server.log} == {"OwnBot/2.0"}
    assert min(server.gaps()) > 0.29
    assert placeless(tmp_path / "run") == placeless(recorded)


def test_archives_at_private_addresses_are_refused(archive: Path, tmp_path: Path) -> None:
    with serve(served(archive)) as server:
        for name in ("a.warc.gz", "warc.paths"):
            line = mistake("mine", "--warc", f"{server.url}crawl/{name}", "--langs", "en,fr",
                           "--out", tmp_path / "run")  # fmt: skip
            assert "for a private address, add --allow-private" in line
    assert server.log == []


def test_patterns_and_chained_addresses_are_no_archives() -> None:
    for name, said in (
        ("https://example.org/*.warc.gz", "a web server does not list its files"),
        ("simplecache::http://127.0.0.1/a.warc.gz", "is not the URL of a file"),
    ):
        with pytest.raises(ArchiveError, match=said):
            names_of([name])
