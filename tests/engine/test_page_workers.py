"""The pool of worker processes that read answers."""

from __future__ import annotations

import asyncio
import os
import signal
from types import SimpleNamespace

import pytest
from support import zoo
from support.serving import MISSING, Reply, serve

from diptych.engine.page_worker import digest
from diptych.engine.page_workers import PATIENCE, Readers, _Worker
from diptych.types import Failure, Kind, Response, Url

LANGS = ("en", "fr")
HTML = (("Content-Type", "text/html"),)


def answer(path: str, body: str | bytes, *, status: int = 200, headers=HTML) -> Response:
    body = body.encode() if isinstance(body, str) else body
    return Response(Url(f"http://example.org{path}"), status, headers, body, 1.0e9)


SMALL = answer("/small", zoo.page("Small", ["/a", "/b"]))
ENDLESS = answer("/endless", zoo.page("Endless"))
ANSWERS = [
    (Kind.PAGE, SMALL),
    (Kind.PAGE, answer("/french", zoo.page("Été", ["/a"], lang="fr"))),
    (Kind.PAGE, answer("/png", zoo.PNG)),
    (Kind.PAGE, answer("/moved", b"", status=301, headers=(("Location", "/new"),))),
    (Kind.PAGE, answer("/busy", b"", status=503, headers=(("Retry-After", "7"),))),
    (Kind.PAGE, answer("/nul", "<title>a\0b</title>\ud800".encode("utf-8", "surrogatepass"))),
    (Kind.ROBOTS, answer("/robots.txt", "User-agent: *\nDisallow: /a\n")),
    (Kind.ROBOTS, answer("/robots.txt", "", status=404)),
    (Kind.SITEMAP, answer("/sitemap.xml", "<urlset><url><loc>http://a.org/</loc></url></urlset>")),
]


def test_workers_read_as_is_read_in_place_and_end_with_the_pool():
    async def read_all():
        async with Readers(2) as readers:
            jobs = [readers.read(kind, response, 3, LANGS) for kind, response in ANSWERS]
            return await asyncio.gather(*jobs), [w.process.pid for w in readers._workers]

    answers, workers = asyncio.run(read_all())
    expected = [digest(kind, response, 3, LANGS) for kind, response in ANSWERS]
    assert [reading for reading, _ in answers] == [reading for reading, _ in expected]
    for (_, record), (_, other) in zip(answers, expected, strict=True):
        assert record.startswith(b"\x1f\x8b")
        assert abs(len(record) - len(other)) < 40, "all but the random id is the same"
    assert len(workers) == 2
    for pid in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_no_worker_is_started_where_none_is_wanted():
    async def read():
        async with Readers(0) as readers:
            reading = await readers.read(Kind.PAGE, SMALL, 0, LANGS)
            return reading, list(readers._workers)

    (reading, _), workers = asyncio.run(read())
    assert reading.page.record.title == "Small"
    assert workers == []


def test_worker_killed_at_work_is_replaced_and_only_its_page_is_lost():
    async def read():
        async with Readers(1) as readers:
            await readers.read(Kind.PAGE, SMALL, 0, LANGS)
            worker = readers._workers[0]
            os.kill(worker.process.pid, signal.SIGSTOP)  # at work for ever
            jobs = [asyncio.create_task(readers.read(Kind.PAGE, SMALL, 0, LANGS)) for _ in range(2)]
            while len(worker.waiting) < 2:
                await asyncio.sleep(0)
            os.kill(worker.process.pid, signal.SIGKILL)
            readings = [(await job)[0] for job in jobs]
            return readings, worker.process.pid, readers._workers[0].process.pid

    (lost, small), first, second = asyncio.run(read())
    assert isinstance(lost, Failure)
    assert lost.reason == "unreadable"
    assert small.page.record.title == "Small"
    assert first != second


def test_no_more_workers_are_started_than_asked_for_when_one_is_replaced_meanwhile(monkeypatch):
    readers = Readers(1)
    started = []

    async def start():
        started.append(len(started))
        assert len(started) < 3
        await readers._check()  # as another page does while this worker starts
        return _Worker(SimpleNamespace(returncode=None))

    monkeypatch.setattr(readers, "_start", start)
    asyncio.run(readers._least_busy())
    assert started == [0]


def test_page_given_to_a_worker_that_had_died_before_is_read():
    async def read():
        async with Readers(1) as readers:
            await readers.read(Kind.PAGE, SMALL, 0, LANGS)
            process = readers._workers[0].process
            os.kill(process.pid, signal.SIGKILL)
            await process.wait()
            return [await readers.read(Kind.PAGE, SMALL, 0, LANGS) for _ in range(2)]

    readings = [reading for reading, _ in asyncio.run(read())]
    assert readings == [digest(Kind.PAGE, SMALL, 0, LANGS)[0]] * 2


def test_page_that_takes_too_long_is_given_up_and_the_next_is_read():
    async def read():
        async with Readers(1) as readers:
            await readers.read(Kind.PAGE, SMALL, 0, LANGS)
            os.kill(readers._workers[0].process.pid, signal.SIGSTOP)
            readers.patience = 0.0
            given_up = (await readers.read(Kind.PAGE, ENDLESS, 0, LANGS))[0]
            readers.patience = PATIENCE
            return given_up, (await readers.read(Kind.PAGE, SMALL, 0, LANGS))[0]

    given_up, small = asyncio.run(read())
    assert isinstance(given_up, Failure)
    assert given_up.reason == "unreadable"
    assert given_up.url == ENDLESS.url
    assert small.page.record.title == "Small"


def test_crawl_with_workers_finds_what_a_crawl_without_finds(crawl, tmp_path):
    paths = [f"/{number}.html" for number in range(8)]
    site = zoo.site(paths, {path: Reply(zoo.page(path, paths)) for path in paths}, robots=MISSING)
    with serve(site) as server:
        alone = crawl(server.url, folder=_folder(tmp_path, "alone"))
        pooled = crawl(server.url, folder=_folder(tmp_path, "pooled"), workers=2, connections=4)
    assert set(alone.pages) == set(pooled.pages) == {"/", *paths}
    for path, record in alone.pages.items():
        assert pooled.pages[path].digest == record.digest
        assert pooled.pages[path].langs == record.langs
        assert pooled.pages[path].depth == record.depth
    assert sorted(alone.links) == sorted(pooled.links)


def _folder(parent, name):
    folder = parent / name
    folder.mkdir()
    return folder
