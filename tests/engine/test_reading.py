"""Responses are parsed in worker processes as in this process."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest
from support import zoo
from support.pooltasks import Ending
from support.serving import MISSING, Reply, serve

from diptych.engine.limits import TaskLimits
from diptych.engine.reading import ArchivedPagesTask, ReadTask, read_result
from diptych.engine.worker import Failed
from diptych.engine.workers import ALONE, Workers
from diptych.page.answer import ReadAnswer, read_answer
from diptych.page.template import block_keys
from diptych.run.encoding import read_links, read_sketch
from diptych.types import Failure, Kind, Response, Url

LANGS = ("en", "fr")
HTML = (("Content-Type", "text/html"),)


def answer(path: str, body: str | bytes, *, status: int = 200, headers=HTML) -> Response:
    body = body.encode() if isinstance(body, str) else body
    return Response(Url(f"http://example.org{path}"), status, headers, body, 1.0e9)


ANSWERS = [
    (Kind.PAGE, answer("/small", zoo.page("Small", ["/a", "/b"]))),
    (Kind.PAGE, answer("/french", zoo.page("Été", ["/a"], lang="fr"))),
    (Kind.PAGE, answer("/png", zoo.PNG)),
    (Kind.PAGE, answer("/moved", b"", status=301, headers=(("Location", "/new"),))),
    (Kind.PAGE, answer("/busy", b"", status=503, headers=(("Retry-After", "7"),))),
    (Kind.PAGE, answer("/nul", "<title>a\0b</title>\ud800".encode("utf-8", "surrogatepass"))),
    (Kind.ROBOTS, answer("/robots.txt", "User-agent: *\nDisallow: /a\n")),
    (Kind.ROBOTS, answer("/robots.txt", "", status=404)),
    (Kind.SITEMAP, answer("/sitemap.xml", "<urlset><url><loc>http://a.org/</loc></url></urlset>")),
]


def decoded(reading: ReadAnswer) -> ReadAnswer:
    """A parsed response with the sketch of its page instead of its encoded sketch."""
    page = reading.page
    if page is None:
        return reading
    assert page.encoded is not None
    assert tuple(read_links(page.encoded.links)) == page.links
    sketch = read_sketch(page.encoded.sketch) if page.encoded.sketch else None
    assert block_keys(page) == (None if sketch is None else list(map(list, sketch.blocks)))
    return reading._replace(page=replace(page, sketch=sketch, encoded=None))


@pytest.mark.parametrize("count", [0, 1])
def test_answers_are_read_as_they_are(count: int) -> None:
    tasks = [ReadTask(kind, response, 3, LANGS, True) for kind, response in ANSWERS]
    with Workers(count) as workers:
        results = list(workers.run_tasks(tasks, ALONE, tick=lambda: None))
    for (kind, response), result in zip(ANSWERS, results, strict=True):
        *_, found = read_result(response.url, result)
        assert found is not None
        reading, record = found
        wanted = read_answer(kind, response, depth=3, langs=LANGS, with_sketch=True)
        assert decoded(reading) == wanted
        assert record.startswith(b"\x1f\x8b")


def test_record_is_not_composed_where_it_is_there_already() -> None:
    kind, response = ANSWERS[0]
    *_, found = read_result(
        response.url, ReadTask(kind, response, 0, LANGS, False, False).run(None)
    )
    assert found is not None
    assert found[1] == b""


def test_page_that_cannot_be_read_is_a_failure_with_a_reason() -> None:
    assert list(read_result(Url("http://example.org/"), Failed("MemoryError"))) == [
        (Failure(Url("http://example.org/"), "failed:MemoryError"), b"")
    ]


class NoReading(Workers):
    """Workers that end on each page that contains a word."""

    async def call(self, task, shared, **more):
        ends = task.kind is Kind.PAGE and b"poison" in task.response.body
        return await super().call(Ending() if ends else task, shared, limits=TaskLimits(60.0, None))


def test_page_that_ends_its_worker_is_recorded_and_the_crawl_goes_on(crawl, monkeypatch) -> None:
    monkeypatch.setattr("support.crawling.Workers", NoReading)
    paths = ["/a.html", "/b.html", "/c.html"]
    site = zoo.site(paths, {path: Reply(zoo.page(path)) for path in paths}, robots=MISSING)
    site["/b.html"] = Reply(zoo.page("poison"))
    with serve(site) as server:
        outcome = crawl(server.url, workers=1)
    assert set(outcome.pages) == {"/", "/a.html", "/c.html"}
    assert outcome.reasons["/b.html"] == "failed:ProcessEnded"


def test_page_that_could_not_be_read_is_tried_again_by_the_next_invocation(
    crawl, tmp_path, monkeypatch
) -> None:
    site = {"/": Reply(zoo.page("poison")), "/robots.txt": MISSING}
    with serve(site) as server:
        with monkeypatch.context() as broken:
            broken.setattr("support.crawling.Workers", NoReading)
            assert crawl(server.url, folder=tmp_path, workers=1).pages == {}
        assert list(crawl(server.url, folder=tmp_path).pages) == ["/"]


def test_crawl_with_workers_finds_what_a_crawl_without_finds(crawl, tmp_path) -> None:
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


class Faulty(NamedTuple):
    """A page that raises an exception, or ends the run, when it is read."""

    error: Exception

    def run(self, context: object) -> bytes:
        raise self.error


class Readable(NamedTuple):
    """A page that can be read."""

    task: ReadTask

    def run(self, context: object) -> bytes:
        return self.task.run(None)


def test_page_that_raises_does_not_affect_those_read_with_it() -> None:
    good = Readable(ReadTask(*ANSWERS[0], 3, LANGS))
    found = ArchivedPagesTask("", (good, Faulty(ValueError()), good)).run(None)  # type: ignore[arg-type]
    assert found[1] == Failed("ValueError")
    for result in found[::2]:
        *_, read = read_result(ANSWERS[0][1].url, result)
        assert read[0].page.record.title == "Small"
    with pytest.raises(OSError, match="no disk"):
        ArchivedPagesTask("", (good, Faulty(OSError("no disk")))).run(None)  # type: ignore[arg-type]
