from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from diptych.page.links import (
    AROUND,
    header_links,
    link_element,
    meta_refresh,
    page_links,
    switcher_lang,
)
from diptych.types import Link

BASE = "http://example.org/a/b.html"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('<fr.html>; rel="alternate"; hreflang="fr"', [("alternate", "fr", "a/fr.html")]),
        ("<fr.html>;rel=alternate;hreflang=fr", [("alternate", "fr", "a/fr.html")]),
        (
            '</fr>; rel="alternate"; hreflang="fr", </de>; hreflang=de; rel=alternate',
            [("alternate", "fr", "fr"), ("alternate", "de", "de")],
        ),
        ("</x,y;z>; rel=alternate; hreflang=it", [("alternate", "it", "x,y;z")]),
        (
            '</fr>; rel=alternate; title="a, \\"b\\"; c"; hreflang=fr, </c>; REL=Canonical',
            [("alternate", "fr", "fr"), ("canonical", "", "c")],
        ),
        ('</fr>; rel="next alternate"; hreflang="fr"', [("alternate", "fr", "fr")]),
        ("</p>; rel=next", []),
        ("</s.css>; rel=preload; as=style", []),
        ("</feed>; rel=alternate; type=application/rss+xml; hreflang=fr", []),
        ("</fr>; hreflang=fr", []),
        ("rel=alternate; hreflang=fr", []),
        ("<", []),
        ("", []),
    ],
)
def test_link_headers_are_parsed_by_the_standard(
    value: str, expected: list[tuple[str, str, str]]
) -> None:
    found = [
        (link.rel, link.hreflang, link.url.removeprefix("http://example.org/"))
        for link in header_links(BASE, value)
    ]
    assert found == expected


@given(st.text('<>;=,"\\ relalternatehreflang/', max_size=300))
def test_no_header_raises(value: str) -> None:
    list(header_links(BASE, value))


def test_a_hostile_header_is_read_in_linear_time() -> None:
    assert list(header_links(BASE, "<a>;a" * 100_000)) == []
    assert list(header_links(BASE, '<a>;a="' + "\\" * 100_000)) == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0;url=fr", "http://example.org/a/fr"),
        ("5 ; URL = 'fr'", "http://example.org/a/fr"),
        ('0;url="/fr"', "http://example.org/fr"),
        ("url=fr", "http://example.org/a/fr"),
        ("0, url=fr", "http://example.org/a/fr"),
        ("30", None),
        ("", None),
        ("0;url=javascript:x", None),
    ],
)
def test_refresh_leads_to_its_target(content: str, expected: str | None) -> None:
    link = meta_refresh(BASE, content)
    assert (link.url if link else None) == expected
    assert link is None or link.rel == "refresh"


def test_a_link_element_needs_a_relation_and_a_target() -> None:
    own = {"rel": "alternate", "hreflang": "fr", "href": "/fr"}
    link = link_element(BASE, own)
    assert link is not None
    assert (link.rel, link.hreflang) == ("alternate", "fr")
    assert link_element(BASE, {**own, "rel": None}) is None
    assert link_element(BASE, {**own, "href": None}) is None


@pytest.mark.parametrize(
    ("own", "around", "expected"),
    [
        ({}, {}, ""),
        ({"hreflang": " fr "}, {}, "fr"),
        ({"hreflang": None, "lang": "fr"}, {}, "fr"),
        ({"class": "wpml-ls-item-fr wpml-ls-link"}, {}, "fr"),
        ({}, {"class": "lang-item lang-item-7 lang-item-zh-hant"}, "zh-hant"),
        ({}, {"class": "wpml-ls-item wpml-ls-item-legacy-dropdown wpml-ls-item-it"}, "it"),
        ({}, {"class": "wpml-ls-item wpml-ls-item-first"}, ""),
        ({"hreflang": "fr", "class": "no-translation"}, {}, ""),
        ({"lang": "fr"}, {"class": "lang-item no-translation"}, ""),
        ({}, {"class": "menu-language"}, ""),
    ],
)
def test_switchers_declare_their_language(
    own: dict[str, str | None], around: dict[str, str | None], expected: str
) -> None:
    assert switcher_lang(own, around) == expected


def links_of(markup: str) -> list[Link]:
    return page_links(LexborHTMLParser(markup), BASE)


def test_contexts_are_bounded() -> None:
    image = "<img alt='a picture' src=picture.png>"
    (link,) = links_of(f"<p>{'b ' * 1000}<a href=x>{'c ' * 1000}{image * 1000}</a>{'d ' * 1000}")
    assert max(map(len, link)) <= 300
    assert (link.anchor[0], link.around[0]) == ("c", "b")
    assert link.alt.startswith("a picture a picture")
    assert link.src.startswith("picture.png picture.png")


def test_inline_pictures_have_no_source() -> None:
    (link,) = links_of("<a href=x><img alt=flag src='data:image/png;base64,xxxx'></a>")
    assert (link.alt, link.src) == ("flag", "")


def test_pictures_that_load_later_have_a_source() -> None:
    (link,) = links_of("<a href=x><span><img data-src=flag.png></span></a>")
    assert link.src == "flag.png"


def test_links_come_in_the_order_of_the_document() -> None:
    found = links_of(
        "<link rel=canonical href=1><a href=2>x</a><iframe src=3></iframe>"
        "<map><area href=4 alt=' An  area '></map><a href=5>y</a>"
    )
    assert [link.url[-1] for link in found] == ["1", "2", "3", "4", "5"]
    assert found[3].alt == "An area"


@given(st.text('<>="/ ahrefimgsrcpli', max_size=200))
def test_any_markup_has_links_or_none(markup: str) -> None:
    for link in links_of(markup):
        assert link.url.startswith("http://")
        assert len(link.around) <= 2 * AROUND + 1


def test_links_around_each_other_are_read_in_bounded_time() -> None:
    markup = "<a href=x><b>a</b></a><div>" * 500 + "<br>" * 60_000
    found = links_of(markup)
    assert len(found) == 500
    assert sum(link.around != "" for link in found) < 400  # each would look through all that follow
