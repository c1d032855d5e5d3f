from __future__ import annotations

from diptych.page.declarations import (
    Checked,
    Declares,
    canonical_declared,
    hreflang_declared,
    html_lang_declared,
    translations_declared,
)
from diptych.types import PageRecord, Url

LANGS = ("en", "fr")


def at(path: str) -> Url:
    return Url(f"http://a.org{path}")


def record(path: str, lang: str, html_lang: str = "") -> PageRecord:
    return PageRecord(at(path), lang, (), "", 0, 0, 0, path, html_lang)


def records(**langs: str) -> dict[Url, PageRecord]:
    return {at(f"/{name}"): record(f"/{name}", lang) for name, lang in langs.items()}


def test_canonical_links_that_all_name_one_page() -> None:
    canonical = {at("/a"): at("/"), at("/b"): at("/"), at("/c"): at("/d")}
    assert canonical_declared(canonical, {at("/a"): False, at("/b"): False}) == Checked(
        Declares.CANONICAL, 2, 2, at("/")
    )
    holds = {at("/a"): False, at("/b"): True, at("/c"): False}
    assert canonical_declared(canonical, holds) == Checked(Declares.CANONICAL, 3, 2)
    assert canonical_declared(canonical, {}) == Checked(Declares.CANONICAL, 0, 0)


def test_html_lang_of_a_theme_is_wrong_where_the_text_is_in_another_language() -> None:
    pages = [record(f"/{number}", "fr" if number < 18 else "en", "en-US") for number in range(20)]
    others = [record("/x", "de", "en"), record("/y", "", "en"), record("/z", "fr", "fr-CA")]
    assert html_lang_declared([*pages, *others], LANGS) == Checked(
        Declares.HTML_LANG, 20, 18, "en", "fr"
    )


def test_correct_or_missing_html_lang_is_not_wrong() -> None:
    pages = [record("/a", "en", "en-GB"), record("/b", "fr", "FR"), record("/c", "fr", "x-default")]
    assert html_lang_declared(pages, LANGS) == Checked(Declares.HTML_LANG, 1, 0, "en")
    assert html_lang_declared([record("/c", "fr")], LANGS) == Checked(Declares.HTML_LANG, 0, 0)


def test_hreflang_is_wrong_where_the_page_is_in_another_language() -> None:
    pages = records(a="en", b="fr", c="en", d="")
    links = [(at("/a"), at(f"/{name}"), "fr") for name in "bcd"]
    links += [(at("/b"), at("/c"), "fr"), (at("/b"), at("/a"), "en")]
    assert hreflang_declared(pages, links) == Checked(Declares.HREFLANG, 2, 1, "fr", "en")


def test_page_declared_as_translation_by_many_is_a_translation_of_none() -> None:
    pages = records(a="en", b="en", c="en", d="en", home="fr", e="fr")
    home = at("/home")
    many = [(at(f"/{name}"), home, "fr") for name in "abc"]
    other = [(at("/d"), at("/e"), "fr"), (at("/e"), at("/d"), "en"), (at("/a"), at("/b"), "en")]
    assert translations_declared(pages, [*many, *other]) == Checked(
        Declares.TRANSLATION, 5, 3, home
    )
    # The one that it names in return is its translation; two that name one page may be variants.
    back = [(home, at("/a"), "en")]
    assert translations_declared(pages, [*many, *back]).wrong == 2
    assert translations_declared(pages, many[:2]).wrong == 0
