"""What links say of missing languages, for any pair of languages."""

from __future__ import annotations

import pytest

from diptych.stages.detect.predictor.contexts import Question, features_of_links
from diptych.stages.detect.shared.naming import declared_by, names_language
from diptych.types import LangScore, Link, Page, PageRecord, Url

HERE = Url("http://www.shop.com/about/")


def page(lang: str, url: str = HERE) -> Page:
    scores = (LangScore(lang, 0.99),) if lang else ()
    return Page(PageRecord(Url(url), lang, scores, "", 0, 5000, 3000 if lang else 0, "x"), ())


def found(link: Link, langs: str = "en,fr", lang: str = "en") -> frozenset[str]:
    question = Question.of(langs.split(","), [lang] if lang else [])
    return features_of_links(page(lang), [link], question)[0]


@pytest.mark.parametrize(
    ("lang", "name"), [("fr", "Français"), ("ko", "한국어"), ("cy", "Cymraeg"), ("ru", "Русский")]
)
def test_language_names_become_roles(lang: str, name: str) -> None:
    here = found(Link(Url("http://www.shop.com/12"), anchor=name), f"en,{lang}")
    assert "anchor:is:missing" in here
    third = found(Link(Url("http://www.shop.com/12"), anchor=name), "en,it")
    assert "anchor:is:third" in third
    assert not any(":missing" in each for each in third)


def test_a_language_that_was_shown_is_not_missing() -> None:
    link = Link(Url("http://www.shop.com/en/"), anchor="English", hreflang="en")
    assert {"anchor:is:shown", "hreflang:shown", "url:folder:code:shown"} <= found(link)
    assert not any(":missing" in each for each in found(link))
    assert "anchor:is:missing" in found(link, lang="")


@pytest.mark.parametrize(
    ("url", "feature"),
    [
        ("http://www.shop.com/fr/a", "url:folder:code:missing"),
        ("http://fr.shop.com/a", "url:host:code:missing"),
        ("http://www.shop.com/a_fr.html", "url:ending:code:missing"),
        ("http://www.shop.com/?lang=fr", "url:parameter:code:missing"),
        ("http://www.shop.com/?size=fr", "url:value:code:missing"),
        ("http://www.shop.com/francais/", "url:folder:name:missing"),
        ("http://www.shop.com/de/a", "url:folder:code:third"),
    ],
)
def test_place_of_a_mark_in_a_url(url: str, feature: str) -> None:
    assert feature in found(Link(Url(url)))


@pytest.mark.parametrize(
    ("text", "is_only"),
    [
        ("Version française", True),
        ("En français", True),
        ("French version", True),
        ("Lire en français", True),
        ("Version francesa", True),
        ("French wine", False),
        ("France", False),
        ("Next page", False),
    ],
)
def test_a_name_with_nothing_but_words_of_switchers(text: str, is_only: bool) -> None:
    assert ("anchor:only:missing" in found(Link(Url("http://www.shop.com/12"), anchor=text))) is (
        is_only
    )


def test_flags_stand_for_languages() -> None:
    flag = Link(Url("http://www.shop.com/12"), src="/img/flags/jp.png")
    assert "src:flag:missing" in found(flag, "en,ja")
    assert "src:flag:third" in found(flag, "en,fr")
    assert "src:alone:missing" in found(flag._replace(src="/img/jp.gif"), "en,ja")
    assert "src:has:missing" in found(flag._replace(src="/img/jp.gif", anchor="Map"), "en,ja")


@pytest.mark.parametrize(
    ("source", "feature"),
    [
        ("/img/spain.png", "src:alone:land:missing"),
        ("/img/flag_spain.gif", "src:flag:land:missing"),
        ("/img/Deutschland.gif", "src:alone:land:third"),
        ("/img/spain.jpg", "src:photo:land:missing"),
    ],
)
def test_flags_are_named_by_countries(source: str, feature: str) -> None:
    assert feature in found(Link(Url("http://www.shop.com/12"), src=source), "en,es")


@pytest.mark.parametrize(
    ("text", "is_into"),
    [("Descubre en español", True), ("Español", False), ("En Español hoy", False)],
)
def test_preposition_before_a_language_name(text: str, is_into: bool) -> None:
    names = found(Link(Url("http://www.shop.com/12"), anchor=text), "en,es")
    assert ("anchor:into:missing" in names) is is_into


def test_the_language_of_the_text_counts_where_nothing_is_named() -> None:
    title = "Les habitants demandent une nouvelle école"
    assert "text:missing:sure" in found(Link(Url("http://www.shop.com/12"), anchor=title))
    assert "text:third:sure" in found(Link(Url("http://www.shop.com/12"), anchor=title), "en,de")
    short = Link(Url("http://www.shop.com/12"), anchor="새 글")
    assert "script:missing" in found(short, "en,ko")
    assert "script:third" in found(short, "en,ru")


def test_language_names_are_not_word_features() -> None:
    names = found(Link(Url("http://www.shop.com/fr/contact"), anchor="Contact English Français"))
    assert "anchor=contact" in names
    assert not {"anchor=english", "anchor=francais", "url=fr"} & names


def test_the_same_page_in_another_language() -> None:
    link = Link(Url("http://www.shop.com/fr/about/"))
    question = Question.of(["en", "fr"], ["en"])
    here = page("en", "http://www.shop.com/en/about/")
    assert "url:swap:missing" in features_of_links(here, [link], question)[0]


def test_a_page_without_text_is_silent() -> None:
    assert "page:silent" in found(Link(Url("http://www.shop.com/a")), lang="")
    assert "page:shown" in found(Link(Url("http://www.shop.com/a")))
    assert (
        "page:third"
        in features_of_links(
            page("de"), [Link(Url("http://www.shop.com/a"))], Question.of(["en", "fr"])
        )[0]
    )


def test_declared_language_of_a_link() -> None:
    assert declared_by(Link(Url("http://x.org/1"), "alternate", "pt-BR"), ("en", "pt")) == "pt"
    assert declared_by(Link(Url("http://x.org/1"), src="flags/de.png"), ("en", "de")) == "de"
    assert declared_by(Link(Url("http://x.org/1"), anchor="Contact"), ("en", "de")) == ""
    assert names_language(Link(Url("http://x.org/?lang=de")), "de")
    assert not names_language(Link(Url("http://x.org/?lang=de")), "fr")


@pytest.mark.parametrize("text", ["", "\0", "[" * 500, "e\u0301" * 400, "\ud800", "%", "𝕱𝖗" * 99])
def test_hostile_links_have_features(text: str) -> None:
    link = Link(Url(f"http://x.org/{text}"), "a", text, text, text, text, text)
    assert features_of_links(page("en"), [link], Question.of(["en", "fr"], ["en"]))
