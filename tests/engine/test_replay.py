"""Replay of archives: the same corpus as from the web, and nothing beyond the archive."""

from __future__ import annotations

import gc
import gzip
import io
import random
import shutil
import warnings
from base64 import b32encode
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import brotli
import pytest
from support import zoo
from support.commands import mistake, pages, placeless, query, rows, run
from support.pooltasks import Square
from support.serving import serve
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from diptych.demo import GOLD, SITE
from diptych.engine import replay as replay_module
from diptych.engine.reading import ArchivedPagesTask, ArchivedTask
from diptych.engine.replay import ReplayEngine, index_archives
from diptych.engine.worker import Failed
from diptych.errors import ArchiveError
from diptych.frontier.queue import State
from diptych.run.scan import scan
from diptych.run.store import Store
from diptych.types import Kind

TRAILER = 32  # bytes at the end of a record; the last dozen hold nothing of its body
HOST = "http://lights.example"
SIDES = ("left", "right")


def replay(archive: Path, out: Path, *more: object):
    return run("mine", "--warc", archive, "--langs", "en,fr", "--out", out, "--quiet", *more)


@pytest.fixture(scope="session")
def archive(recorded) -> Path:
    (file,) = (recorded / "warc").iterdir()
    return file


@pytest.fixture(scope="session")
def members(recorded) -> list[tuple[int, int, str]]:
    """Start, end and URL of each record of the archive."""
    return query(
        recorded,
        "SELECT offset, offset + length, urls.url FROM fetches JOIN urls ON urls.key = fetches.url"
        " ORDER BY offset",
    )


def test_replay_gives_what_the_web_gave(recorded, tmp_path):
    result = replay(recorded / "warc", tmp_path)
    assert result.exit_code == 0
    assert pages(tmp_path) == pages(recorded)
    for name in ("pairs.tsv", "corpus.tsv", "corpus.tmx"):
        # An archive of the run itself is named from its folder, another by its whole path.
        found = (tmp_path / name).read_bytes().replace(f"{recorded}/warc/".encode(), b"warc/")
        assert found == (recorded / name).read_bytes(), name


def test_replay_gives_the_same_bytes_each_time(archive, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second, second):
        assert replay(archive, folder).exit_code == 0
    for name in ("corpus.tsv", "pairs.tsv"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_pages_are_read_alone_if_their_common_task_fails(archive, recorded, tmp_path, monkeypatch):
    sizes: list[int] = []

    def common_task(folder, tasks):
        sizes.append(len(tasks))
        return ArchivedPagesTask(folder, tasks) if len(tasks) == 1 else Square("not a number")

    monkeypatch.setattr(replay_module, "ArchivedPagesTask", common_task)
    assert replay(archive, tmp_path).exit_code == 0
    assert max(sizes) > 1
    assert pages(tmp_path) == pages(recorded)


class Crowded(NamedTuple):
    """Reads archived pages like `ArchivedPagesTask`, but several need more memory than there is."""

    task: ArchivedPagesTask

    def run(self, context: None):
        found = self.task.run(context)
        return found if len(found) == 1 else [found[0]] + [Failed("MemoryError")] * len(found[1:])


class Faulty(NamedTuple):
    """Reads archived pages like `ArchivedPagesTask`, but one of them uses up the memory."""

    task: ArchivedPagesTask
    offset: int

    def run(self, context: None):
        found = self.task.run(context)
        for number, each in enumerate(self.task.tasks):
            if each.offset == self.offset:
                found[number:] = [Failed("MemoryError")] * (len(found) - number)
        return found


def test_pages_whose_memory_others_used_up_are_read_alone(archive, recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(
        replay_module, "ArchivedPagesTask", lambda *a: Crowded(ArchivedPagesTask(*a))
    )
    assert replay(archive, tmp_path).exit_code == 0
    assert pages(tmp_path) == pages(recorded)


def test_of_pages_read_together_only_the_one_that_uses_up_the_memory_fails(
    archive, recorded, members, tmp_path, monkeypatch
):
    offset, _, url = members[len(members) // 2]
    monkeypatch.setattr(
        replay_module, "ArchivedPagesTask", lambda *a: Faulty(ArchivedPagesTask(*a), offset)
    )
    assert replay(archive, tmp_path).exit_code == 0
    reasons = "SELECT url, reason FROM urls WHERE reason LIKE 'failed:%'"
    assert query(tmp_path, reasons) == [(url, "failed:MemoryError")]
    assert pages(tmp_path) < pages(recorded)


def test_threads_that_read_archives_of_two_runs_lose_no_page(recorded, tmp_path):
    shutil.copytree(recorded / "warc", tmp_path / "warc")
    places = query(
        recorded,
        "SELECT path, fetches.offset FROM fetches JOIN warcs ON warcs.id = fetches.warc"
        " JOIN pages ON pages.url = fetches.url",
    )
    tasks = [ArchivedTask(Kind.PAGE, path, offset, 1, ("en", "fr")) for path, offset in places]

    def read(folder: Path):
        return [
            result for each in tasks for result in ArchivedPagesTask(str(folder), (each,)).run(None)
        ]

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(read, [recorded, tmp_path] * 4))
    assert all(isinstance(each, bytes) for results in found for each in results)


def test_replay_without_compression_and_in_pieces_is_the_same(recorded, archive, members, tmp_path):
    data = archive.read_bytes()
    middle = members[len(members) // 2][0]
    folder = tmp_path / "archives" / "deeper"
    folder.mkdir(parents=True)
    (folder / "a.warc.gz").write_bytes(data[:middle])
    (folder / "b.warc").write_bytes(gzip.decompress(data[middle:]))
    (folder / "notes.txt").write_text("no archive")
    assert replay(tmp_path / "archives", tmp_path / "run").exit_code == 0
    assert pages(tmp_path / "run") == pages(recorded)
    assert placeless(tmp_path / "run") == placeless(recorded)
    names = {row[f"{side}_warc"] for row in rows(tmp_path / "run" / "corpus.tsv") for side in SIDES}
    assert names <= {str(folder / "a.warc.gz"), str(folder / "b.warc")}


def test_replay_of_one_site_among_others_keeps_to_it(archive, recorded, tmp_path):
    origin = rows(recorded / "pairs.tsv")[0]["left_url"]
    result = replay(archive, tmp_path / "same", origin)
    assert result.exit_code == 0
    assert pages(tmp_path / "same") <= pages(recorded)
    assert replay(archive, tmp_path / "none", "http://elsewhere.example/").exit_code == 1


@pytest.mark.parametrize("share", [0.15, 0.5, 0.9])
def test_truncated_archive_gives_the_records_before(archive, members, recorded, tmp_path, share):
    data = archive.read_bytes()
    cut = random.Random(share).randrange(int(len(data) * share), int(len(data) * (share + 0.08)))
    part = tmp_path / "cut.warc.gz"
    part.write_bytes(data[:cut])
    result = replay(part, tmp_path / "run")
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, result.stderr
    assert str(part) in lines[0]
    assert "truncated" in lines[0]
    before = {url for _, end, url in members if end <= cut}
    assert pages(tmp_path / "run") == {page for page in pages(recorded) if page[0] in before}
    assert result.exit_code == (2 if rows(tmp_path / "run" / "corpus.tsv") else 1)


def test_repaired_archive_is_read_again(archive, recorded, tmp_path):
    file = tmp_path / "mended.warc.gz"
    data = archive.read_bytes()
    file.write_bytes(data[: len(data) * 3 // 4 + 7])
    cut = replay(file, tmp_path / "run")
    assert cut.exit_code == 2
    assert "replace the file and run the same command again" in cut.stderr
    file.write_bytes(data)
    assert replay(file, tmp_path / "run").exit_code == 0
    assert placeless(tmp_path / "run") == placeless(recorded)


@pytest.mark.parametrize("compressed", [True, False])
def test_every_cut_is_noticed_and_no_half_record_is_read(archive, members, tmp_path, compressed):
    data = archive.read_bytes()
    borders = [members[0][0], *(end for _, end, _ in members)]
    if not compressed:
        borders = [len(gzip.decompress(data[:border])) for border in borders]
        data = gzip.decompress(data)
    chance = random.Random(7)
    wrong = []
    for number in chance.sample(range(len(members)), 12):
        begin, end = borders[number], borders[number + 1] - TRAILER
        inside = [chance.randrange(begin, end) for _ in range(3)]
        for cut in (begin + 1, begin + 60, begin + 100, begin + 200, begin + 300, *inside, end - 1):
            found = _scan(tmp_path / "cut.warc", data[:cut])
            if found != (number, True):
                wrong.append((cut - begin, found, number))
    assert wrong == []


def _scan(path: Path, data: bytes) -> tuple[int, bool]:
    """The number of responses in an archive, and True if it is reported as damaged."""
    path.write_bytes(data)
    count = 0
    try:
        for _ in scan(path):
            count += 1
    except ArchiveError:
        return count, True
    return count, False


@pytest.mark.parametrize(
    "content",
    [b"", b"hello\n" * 50, gzip.compress(b"hello"), zoo.PNG, b"<p>WARC/1.0</p>", bytes(99)],
    ids=["empty", "text", "gzip", "png", "html", "zeros"],
)  # fmt: skip
def test_file_that_is_not_an_archive_is_refused(tmp_path, content):
    file = tmp_path / "no.warc.gz"
    file.write_bytes(content)
    line = mistake("mine", "--warc", file, "--langs", "en,fr", "--out", tmp_path / "run")
    said = "is not a WARC file" if content else "is empty"
    assert line == f"error: {file} {said}"
    assert not (tmp_path / "run").exists()


def test_missing_archive_is_refused(tmp_path):
    missing = tmp_path / "missing.warc.gz"
    line = mistake("mine", "--warc", missing, "--langs", "en,fr", "--out", tmp_path / "run")
    assert str(missing) in line
    line = mistake("mine", "--warc", tmp_path, "--langs", "en,fr", "--out", tmp_path / "run")
    assert line == f"error: {tmp_path} contains no *.warc, *.warc.gz, *.warc.zst or *.wacz files"


def test_bad_files_among_others_cost_only_themselves(archive, recorded, tmp_path):
    folder = tmp_path / "archives"
    folder.mkdir()
    (folder / "a.warc.gz").write_bytes(b"hello\n" * 50)
    (folder / "b.warc.gz").write_bytes(archive.read_bytes())
    (folder / "c.wacz").write_bytes(b"PK\3\4" + bytes(99))
    (folder / "d.warc.gz").write_bytes(b"")
    for _ in range(2):
        result = replay(folder, tmp_path / "run")
        lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        assert [line.partition(";")[0].partition(":")[2].strip() for line in lines] == [
            f"{folder}/a.warc.gz is not a WARC file",
            f"{folder}/c.wacz is not a WACZ file: File is not a zip file",
            f"{folder}/d.warc.gz is empty",
        ]
        assert result.exit_code == 2
        assert placeless(tmp_path / "run") == placeless(recorded)


def test_only_bad_files_are_an_error(archive, tmp_path):
    folder = tmp_path / "archives"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.warc.gz").write_bytes(archive.read_bytes()[:20])
    line = mistake("mine", "--warc", folder, "--langs", "en,fr", "--out", tmp_path / "run")
    assert line.startswith(f"error: {folder}/a.warc.gz is not a")
    assert not (tmp_path / "run").exists()


# -- archives that others made ---------------------------------------------------------------------


def chunked(body: bytes) -> bytes:
    halves = [body[: len(body) // 2], body[len(body) // 2 :]]
    return b"".join(b"%x\r\n%b\r\n" % (len(half), half) for half in halves) + b"0\r\n\r\n"


TRANSFERS = {
    "plain": ((), bytes),
    "gzip": ((("Content-Encoding", "gzip"),), gzip.compress),
    "br": ((("Content-Encoding", "br"),), brotli.compress),
    "chunked": ((("Transfer-Encoding", "chunked"),), chunked),
    "chunked gzip": (
        (("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")),
        lambda body: chunked(gzip.compress(body)),
    ),
}


def write_archive(path: Path, transfer: str, *, compressed: bool) -> dict[str, bytes]:
    """The demo site as written by warcio, with a request record for each response."""
    more, encode = TRANSFERS[transfer]
    bodies = {
        file.relative_to(SITE).as_posix().removesuffix("index.html"): file.read_bytes()
        for file in sorted(SITE.rglob("*.html"))
    }
    with warnings.catch_warnings(), path.open("wb") as out:
        warnings.simplefilter("ignore")  # warcio leaves its temporary files to be collected
        writer = WARCWriter(out, gzip=compressed)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "other"}))
        for name, body in bodies.items():
            ask = StatusAndHeaders("GET /" + name, [("Host", "lights.example")], "HTTP/1.1")
            asked = writer.create_warc_record(f"{HOST}/{name}", "request", http_headers=ask)
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html"), *more], "HTTP/1.1")
            payload = io.BytesIO(encode(body))
            answered = writer.create_warc_record(
                f"{HOST}/{name}", "response", payload=payload, http_headers=head
            )
            writer.write_request_response_pair(asked, answered)
            asked = answered = None
        gc.collect()
    return bodies


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_archive_of_another_tool_is_mined(tmp_path, transfer):
    file = tmp_path / "other.warc.gz"
    names = write_archive(file, transfer, compressed=transfer != "plain")
    assert replay(file, tmp_path / "run").exit_code == 0
    assert pages(tmp_path / "run") == {
        (f"{HOST}/{name}", "sha1:" + b32encode(sha1(body).digest()).decode())
        for name, body in names.items()
    }
    # One of the pairs only the sitemap connects, which is not archived: content finds it.
    gold = {(HOST + pair["left_path"], HOST + pair["right_path"]) for pair in rows(GOLD)}
    found = {(p["left_url"], p["right_url"]) for p in rows(tmp_path / "run" / "pairs.tsv")}
    assert found == gold


@pytest.mark.parametrize("animal", [zoo.encodings, zoo.content_types, zoo.large, zoo.redirects])
def test_answers_of_the_zoo_are_read_back_as_they_came(crawl, tmp_path, animal):
    live = tmp_path / "live"
    live.mkdir()
    with serve(animal()) as server:
        outcome = crawl(server.url, folder=live, page_bytes=500_000)
    again = tmp_path / "again"
    again.mkdir()
    with Store(again) as store:
        assert index_archives(store, sorted((live / "warc").iterdir())) == []
    replayed = crawl(server.url, folder=again, engine=ReplayEngine())
    assert {path: record.digest for path, record in replayed.pages.items()} == {
        path: record.digest for path, record in outcome.pages.items()
    }
    assert replayed.reasons == outcome.reasons
    fetched = {path for path, state in outcome.states.items() if state is State.FETCHED}
    assert {path for path, state in replayed.states.items() if state is State.FETCHED} == fetched


def test_archive_records_agent_time_and_address(archive):
    text = gzip.decompress(archive.read_bytes())
    assert text.startswith(b"WARC/1.1\r\n")
    assert b"software: diptych/" in text
    assert b"http-header-user-agent: DiptychBot/" in text
    assert b"WARC-IP-Address: 127.0.0.1\r\n" in text
