"""The live engine against bodies that are too large, of another type, or wrongly declared."""

from __future__ import annotations

import pytest
from support import zoo
from support.serving import serve

from diptych.frontier.queue import State


def test_wrong_charsets_are_overruled(crawl):
    with serve(zoo.charsets()) as server:
        outcome = crawl(server.url)
    paths = {"/header-lies", "/meta-lies", "/both-lie", "/says-nothing", "/says-nonsense"}
    titles = {path: outcome.pages[path].title for path in paths}
    assert titles == dict.fromkeys(paths, "Été à Nîmes")
    assert all("épaisse" in outcome.text(path) for path in paths)
    assert {outcome.pages[path].lang for path in paths} == {"fr"}


def test_responses_that_are_not_pages_are_recognised(crawl):
    with serve(zoo.content_types()) as server:
        outcome = crawl(server.url)
    other = {"/picture.html", "/photo", "/feed", "/undeclared-png"}
    assert {path: outcome.reasons[path] for path in other} == dict.fromkeys(other, "content_type")
    assert outcome.reasons["/empty"] == "empty"
    assert outcome.reasons["/nothing"] == "http_204"
    assert outcome.pages["/undeclared"].title == "Undeclared"


def test_page_without_a_type_is_recognised_also_when_compressed(crawl):
    with serve(zoo.content_types()) as server:
        outcome = crawl(server.url)
    assert outcome.reasons.get("/undeclared-zip") is None
    assert outcome.pages["/undeclared-zip"].title == "Zipped"


def test_picture_is_not_downloaded(crawl):
    with serve(zoo.content_types()) as server:
        outcome = crawl(server.url, page_bytes=2 * zoo.LARGE)
    assert outcome.states["/photo"] is State.FAILED
    assert server.paths.count("/photo") == 1
    assert server.flooded["/photo"] < zoo.LARGE // 2


@pytest.mark.parametrize("path", ["/paper.pdf", "/Film.MP4"])
def test_urls_not_html_by_extension_are_never_requested(crawl, path):
    with serve(zoo.content_types()) as server:
        outcome = crawl(server.url)
    assert path not in server.paths
    assert outcome.states[path] is State.REFUSED
    assert outcome.reasons[path] == "not_html"


def test_content_encodings_are_undone(crawl):
    with serve(zoo.encodings()) as server:
        outcome = crawl(server.url)
    names = ("gzip", "br", "zstd", "deflate", "raw-deflate", "twice", "lie", "cut")
    titles = {name: outcome.pages["/" + name].title for name in names}
    assert titles == {name: f"As {name}" for name in names}
    assert {outcome.pages["/" + name].lang for name in names} == {"en"}
    assert all("the bell is rung" in outcome.text("/" + name) for name in names)


def test_exploding_body_does_no_harm(crawl):
    with serve(zoo.bomb()) as server:
        outcome = crawl(server.url)
    assert outcome.states["/bomb"] in (State.FETCHED, State.FAILED)
    assert {"/", "/after"} <= set(outcome.pages)
    assert server.paths.count("/bomb") == 1


def test_pages_beyond_the_limit_are_given_up_early(crawl):
    with serve(zoo.large()) as server:
        outcome = crawl(server.url, page_bytes=200_000)
    paths = ("/sized", "/open", "/chunked")
    assert {path: outcome.reasons[path] for path in paths} == dict.fromkeys(paths, "too_large")
    assert [server.paths.count(path) for path in paths] == [1, 1, 1]
    assert max(server.flooded.values(), default=0) < zoo.LARGE // 2
    assert set(outcome.pages) == {"/"}


def test_hostile_markup_is_read(crawl):
    with serve(zoo.hostile_markup()) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == {"/", "/deep", "/nul", "/attributes", "/links"}
    assert outcome.pages["/deep"].title == "Deep"
    assert "\0" not in outcome.pages["/nul"].title
    assert "\0" not in outcome.text("/nul")
    assert all(state is not State.QUEUED for state in outcome.states.values())
