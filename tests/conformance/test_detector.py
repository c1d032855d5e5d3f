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


def inquire(
    detector: Any, web: Mapping[Url, Page], langs: Sequence[str] = ("en", "es")
) -> tuple[Any, list[Url]]:
    """Ask until it knows; what it asked for."""
    inquiry, asked = detector.inquire(langs), []
    inquiry.read(web[at("/")])
    for _ in range(500):
        wanted = inquiry.ask()
        if not wanted:
            break
        for link in wanted:
            asked.append(link.url)
            if link.url in web:
                inquiry.read(web[link.url])
            else:
                inquiry.miss(link.url)
    else:
        pytest.fail("it asks without end")
    return inquiry, asked


def test_a_site_in_both_languages_is_bilingual(detector: Any) -> None:
    inquiry, asked = inquire(detector, site("en", "es"))
    decision = inquiry.decision()
    assert decision.accept
    assert 0.0 < decision.score <= 1.0
    assert len(asked) == len(set(asked)), "each page once"
    assert at("/") not in asked


def test_pages_that_show_it_are_of_the_site(detector: Any) -> None:
    web = site("en", "es")
    inquiry, _ = inquire(detector, web)
    for lang, url in inquiry.pages():
        assert web[url].lang == lang


@pytest.mark.parametrize("langs", [("en",), ("es",), ("de",), ("en", "de"), ("de", "es")])
def test_a_site_without_both_languages_is_not(detector: Any, langs: Sequence[str]) -> None:
    inquiry, _ = inquire(detector, site(*langs))
    decision = inquiry.decision()
    assert not decision.accept
    assert decision.reason
    assert 0.0 <= decision.score <= 1.0


def test_nothing_is_known_before_a_page_is_there(detector: Any) -> None:
    inquiry = detector.inquire(("en", "es"))
    assert list(inquiry.ask()) == []
    assert not inquiry.decision().accept
    assert list(inquiry.pages()) == []


def test_a_switcher_to_pages_that_are_missing_ends(detector: Any) -> None:
    web = {url: page for url, page in site("en", "es").items() if page.lang == "en"}
    inquiry, asked = inquire(detector, web)
    assert len(asked) == len(set(asked))
    if detector.__class__.__name__ != "Triggers":  # it believes what links say
        assert not inquiry.decision().accept


def test_it_is_the_same_when_it_is_told_the_same(detector: Any) -> None:
    web = site("en", "es", "de")
    first, asked = inquire(detector, web)
    second, again = inquire(detector, web)
    assert asked == again
    assert first.decision() == second.decision()
    assert list(first.pages()) == list(second.pages())


def test_two_of_three_languages_are_enough(detector: Any) -> None:
    inquiry, _ = inquire(detector, site("en", "es"), ("en", "de", "es"))
    assert inquiry.decision().accept


def test_a_page_without_anything_is_no_proof(detector: Any) -> None:
    inquiry, asked = inquire(detector, {at("/"): make_page("/", "")})
    assert asked == []
    assert not inquiry.decision().accept
