"""What every detector of bilingual sites must do, however it decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from support.fakes import at, make_page

from diptych.registry import strategies
from diptych.types import Link, Page, Url

TEXTS = {
    "en": "The museum is open every day of the week and the children of the town visit it gladly.",
    "es": "El museo está abierto todos los días de la semana y los niños del pueblo lo visitan.",
    "de": "Das Museum ist an allen Tagen der Woche geöffnet und die Kinder besuchen es sehr gern.",
}
NAMES = {"en": "English", "es": "Español", "de": "Deutsch"}


@pytest.fixture(params=sorted(strategies("detect")))
def detector(request: pytest.FixtureRequest) -> Any:
    return strategies("detect")[request.param]()


def page(path: str, lang: str, *links: tuple[str, str]) -> Page:
    text = f"{TEXTS[lang]} {path}"
    return make_page(path, lang, text, links=[Link(at(url), anchor=name) for name, url in links])


def site(*langs: str, pages: int = 6) -> dict[Url, Page]:
    """A home page and some others in each language, with links to the other languages' homes."""
    homes = {lang: "/" if lang == langs[0] else f"/{lang}/" for lang in langs}
    found: dict[Url, Page] = {}
    for lang in langs:
        switcher = [(NAMES[other], homes[other]) for other in langs if other != lang]
        inner = [f"{homes[lang]}p{number}.html" for number in range(pages)]
        found[at(homes[lang])] = page(homes[lang], lang, *switcher, *((f"n {p}", p) for p in inner))
        found |= {at(path): page(path, lang, *switcher) for path in inner}
    return found


def new_test(
    detector: Any, web: Mapping[Url, Page], langs: Sequence[str] = ("en", "es")
) -> tuple[Any, list[Url]]:
    """Ask until it knows; what it asked for."""
    site_test, asked = detector.new_test(langs), []
    site_test.read(web[at("/")])
    for _ in range(500):
        wanted = site_test.wanted_links()
        if not wanted:
            break
        for link in wanted:
            asked.append(link.url)
            if link.url in web:
                site_test.read(web[link.url])
            else:
                site_test.miss(link.url)
    else:
        pytest.fail("it asks without end")
    return site_test, asked


def test_a_site_in_both_languages_is_bilingual(detector: Any) -> None:
    site_test, asked = new_test(detector, site("en", "es"))
    decision = site_test.decision()
    assert decision.accept
    assert 0.0 < decision.score <= 1.0
    assert len(asked) == len(set(asked)), "each page once"
    assert at("/") not in asked


def test_pages_that_show_it_are_of_the_site(detector: Any) -> None:
    web = site("en", "es")
    site_test, _ = new_test(detector, web)
    for lang, url in site_test.pages():
        assert web[url].lang == lang


@pytest.mark.parametrize("langs", [("en",), ("es",), ("de",), ("en", "de"), ("de", "es")])
def test_a_site_without_both_languages_is_not(detector: Any, langs: Sequence[str]) -> None:
    site_test, _ = new_test(detector, site(*langs))
    decision = site_test.decision()
    assert not decision.accept
    assert decision.reason
    assert 0.0 <= decision.score <= 1.0


def test_nothing_is_known_before_a_page_is_there(detector: Any) -> None:
    site_test = detector.new_test(("en", "es"))
    assert list(site_test.wanted_links()) == []
    assert not site_test.decision().accept
    assert list(site_test.pages()) == []


def test_a_switcher_to_pages_that_are_missing_ends(detector: Any) -> None:
    web = {url: page for url, page in site("en", "es").items() if page.lang == "en"}
    site_test, asked = new_test(detector, web)
    assert len(asked) == len(set(asked))
    if detector.__class__.__name__ != "Triggers":  # it believes what links say
        assert not site_test.decision().accept


def test_it_is_the_same_when_it_is_told_the_same(detector: Any) -> None:
    web = site("en", "es", "de")
    first, asked = new_test(detector, web)
    second, again = new_test(detector, web)
    assert asked == again
    assert first.decision() == second.decision()
    assert list(first.pages()) == list(second.pages())


def test_two_of_three_languages_are_enough(detector: Any) -> None:
    site_test, _ = new_test(detector, site("en", "es"), ("en", "de", "es"))
    assert site_test.decision().accept


def test_a_page_without_anything_is_no_proof(detector: Any) -> None:
    site_test, asked = new_test(detector, {at("/"): make_page("/", "")})
    assert asked == []
    assert not site_test.decision().accept
