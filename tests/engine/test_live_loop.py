"""The loop of a live crawl is not delayed: slow work is done before it, or in steps."""

from __future__ import annotations

from support import zoo
from support.serving import serve

from diptych.engine.reading import pack, unpack
from diptych.language import switchers
from diptych.learn.url import language as url_lang
from diptych.learn.url import pair as url_pair
from diptych.page.answer import ReadAnswer
from diptych.page.sitemaps import Sitemap, SitemapEntry
from diptych.types import Url

LOADED = (url_lang._shipped, url_pair._shipped, switchers._names)


def test_models_are_loaded_before_the_first_page(crawl):
    for each in (*LOADED, switchers._named):  # the last would spare it from asking for names
        each.cache_clear()
    found = []

    def look(request) -> None:
        found.append([each.cache_info().currsize for each in LOADED])

    with serve(zoo.demo_site) as server:
        server.before = look
        crawl(server.url, policy="hybrid", stop=lambda machine: machine.stats.pages > 0)
    assert server.paths[0] == "/robots.txt"
    assert found[:2] == [[0, 0, 0], [1, 1, 1]]


def test_nothing_is_loaded_for_a_policy_that_needs_nothing(crawl):
    for each in LOADED:
        each.cache_clear()
    with serve(zoo.demo_site) as server:
        crawl(server.url, stop=lambda machine: machine.stats.pages > 2)
    assert [each.cache_info().currsize for each in LOADED] == [0, 0, 0]


def test_large_sitemap_is_unpacked_in_steps():
    entries = tuple(
        SitemapEntry(f"http://example.org/{number}", (("fr", f"http://example.org/fr/{number}"),))
        for number in range(2500)
    )
    reading = ReadAnswer(
        Url("http://example.org/sitemap.xml"), 200, 1, 1.0, sitemap=Sitemap((), entries)
    )
    *steps, last = unpack(pack(reading, b"record"))
    assert steps == [None, None, None]
    assert last == (reading, b"record")


def test_index_of_sitemaps_is_unpacked_as_it_was():
    reading = ReadAnswer(
        Url("http://example.org/sitemap.xml"), 200, 1, 1.0, sitemap=Sitemap(("http://e.org/a",), ())
    )
    assert list(unpack(pack(reading, b""))) == [(reading, b"")]
