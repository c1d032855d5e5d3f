"""The live engine on endless sites, and on sites with many copies."""

from __future__ import annotations

from support import zoo
from support.serving import serve

from diptych import recipes
from diptych.frontier.queue import State
from diptych.frontier.traps import CALENDAR_LIMIT


def test_endless_calendar_ends(crawl):
    with serve(zoo.calendar) as server:
        outcome = crawl(server.url)
    months = [path for path in server.paths if path.startswith("/calendar/")]
    assert len(months) == len(set(months)) == CALENDAR_LIMIT
    assert "trap_calendar" in outcome.reasons.values()
    assert State.QUEUED not in outcome.states.values()


def test_list_is_fetched_in_one_order_only(crawl):
    with serve(zoo.sort_orders) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) >= {"/", "/list"}
    assert sum("sort=" in path for path in server.paths) <= 1
    assert "trap_sort_order" in outcome.reasons.values()


def test_session_in_a_link_does_not_make_another_page(crawl):
    with serve(zoo.session_ids) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == {"/", "/one.html?page=1", "/two", "/three"}
    assert len(server.paths) == len(set(server.paths)) == 4 + 2


def test_path_that_repeats_itself_is_left(crawl):
    with serve(zoo.repeating_path) as server:
        outcome = crawl(server.url)
    assert set(outcome.pages) == {"/", "/about/us/", "/about/us/about/us/"}
    assert outcome.reasons["/about/us/about/us/about/us/"] == "trap_repeating_path"


def test_copies_are_fetched_but_one_stands_for_all(crawl):
    with serve(zoo.copies()) as server:
        outcome = crawl(server.url, policy=recipes.DEFAULT)  # which sketches pages as it reads them
    assert set(outcome.pages) == {"/", "/page", "/page?print=1", "/copy", "/copy/again"}
    assert outcome.distinct == {"/", "/page", "/copy"}
    assert outcome.pages["/copy"].digest == outcome.pages["/copy/again"].digest


def test_translations_in_an_http_header_are_followed(crawl):
    with serve(zoo.header_hreflang()) as server:
        outcome = crawl(server.url)
    assert {path: record.lang for path, record in outcome.pages.items()} == {"/": "en", "/fr": "fr"}
    assert ("/", "alternate", "fr", "/fr") in outcome.links
    assert ("/fr", "alternate", "en", "/") in outcome.links


def test_sitemaps_are_read_through_index_and_compression(crawl):
    with serve(zoo.sitemaps()) as server:
        outcome = crawl(server.url)
    assert set(server.paths) >= {"/maps/index.xml", "/maps/a.xml.gz", "/maps/b.xml"}
    assert "/sitemap.xml" not in server.paths, "robots.txt names where they are"
    assert set(outcome.pages) == {"/", "/deep/one.html", "/deep/two.html", "/en.html", "/fr.html"}
    assert ("/en.html", "alternate", "fr", "/fr.html") in outcome.links


def test_sitemap_is_looked_for_where_none_is_announced(crawl):
    with serve(zoo.with_robots(zoo.MISSING)) as server:
        crawl(server.url)
    assert server.paths.count("/sitemap.xml") == 1
