"""Pages of a family, and the links between them."""

from __future__ import annotations

from pathlib import Path

from bench.sites.builder.documents import Facts
from bench.sites.builder.families import Family
from bench.sites.builder.pages import (
    Pages,
    SitePage,
    entry_points,
    find_page,
    groups_of,
    home_of,
    link_graph,
    pivot_of,
    reached,
    without_prefix,
)

FAMILY = Family("manual", ("manual-doc",), "usr/", (), home=("start.html", "index.html"))


def page(path: str, *links: str, key: str = "") -> SitePage:
    lang, _, name = path.partition("/")
    facts = Facts("", 100, lang, {lang: 100}, list(links), "", {})
    return SitePage(path, Path(path), lang, key or name, facts)


def pages(*some: SitePage) -> Pages:
    return {each.path: each for each in some}


def test_pages_with_one_key_are_a_group():
    found = groups_of(pages(page("en/a.html"), page("fr/a.html"), page("fr/b.html")))
    assert {key: sorted(group) for key, group in found.items()} == {
        "a.html": ["en", "fr"], "b.html": ["fr"],
    }  # fmt: skip


def test_pivot_is_english_or_the_language_with_most_pages():
    many = [page("fr/a.html"), page("fr/b.html"), page("de/a.html")]
    assert pivot_of(pages(*many)) == "fr"
    assert pivot_of(pages(*many, page("en/a.html"))) == "en"


def test_home_is_the_first_key_that_exists():
    some = pages(page("en/index.html"), page("en/start.html"), page("fr/index.html"))
    assert home_of(FAMILY, some, "en") == "en/start.html"
    assert home_of(FAMILY, some, "fr") == "fr/index.html"


def test_home_without_a_known_key_is_like_an_index_or_has_a_short_path():
    some = pages(page("en/deep/index-of.html"), page("en/a.html"), page("fr/bb.html"),
                 page("fr/b.html"))  # fmt: skip
    assert home_of(FAMILY, some, "en") == "en/deep/index-of.html"
    assert home_of(FAMILY, some, "fr") == "fr/b.html"


def test_links_are_found_with_prefixes_indexes_and_left_out_endings():
    assert without_prefix("/help/x.html", ["/help/"]) == "/x.html"
    assert find_page({"a.part.html"}, "a", [".part.html"]) == "a.part.html"
    assert find_page({"a.part.html"}, "a") is None
    assert find_page({"index.html"}, "/") == "index.html"


def test_graph_has_links_within_the_site_only():
    graph = link_graph(pages(
        page("en/a.html", "b.html#x", "a.html", "http://other.example/", "gone.html"),
        page("en/b.html", "../fr/a.html"), page("fr/a.html"),
    ))  # fmt: skip
    assert graph == {"en/a.html": {"en/b.html"}, "en/b.html": {"fr/a.html"}, "fr/a.html": set()}
    assert reached(graph, ["en/b.html"]) == {"en/b.html", "fr/a.html"}


def test_entry_points_are_few_and_those_like_an_index_come_first():
    graph = {
        "home.html": set(), "z/index.html": {"a.html", "b.html"}, "a.html": {"b.html"},
        "b.html": set(), "lone.html": set(),
    }  # fmt: skip
    assert entry_points(graph, {"home.html"}) == ["z/index.html", "lone.html"]
