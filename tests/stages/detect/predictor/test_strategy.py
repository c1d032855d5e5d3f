"""The detector: what it asks for, when it stops, and what it is not fooled by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from diptych.protocols import Inquiry
from diptych.stages.detect.predictor.strategy import Detect
from diptych.types import LangScore, Link, Page, PageRecord, Url

BASE = "http://www.shop.com"
FRENCH = Link(Url(f"{BASE}/fr/"), anchor="Français")
ENGLISH = Link(Url(f"{BASE}/en/"), anchor="English")
PLAIN = Link(Url(f"{BASE}/contact"), anchor="Contact")
MENU = {
    "en": "About our company and its history",
    "fr": "À propos de notre entreprise et de son histoire",
}


def page(path: str, lang: str, links: Sequence[Link] = (), digest: str = "") -> Page:
    scores = (LangScore(lang, 0.99),) if lang else ()
    record = PageRecord(
        Url(BASE + path), lang, scores, "", 0, 5000, 3000 if lang else 10, digest or path
    )
    return Page(record, tuple(links))


def requested(inquiry: Inquiry) -> list[str]:
    return [link.url.removeprefix(BASE) for link in inquiry.ask()]


def test_two_pages_are_enough() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "en", [PLAIN, FRENCH]))
    assert not inquiry.decision().accept
    assert requested(inquiry) == ["/fr/"]
    assert requested(inquiry) == []
    inquiry.read(page("/fr/", "fr", [ENGLISH]))
    assert requested(inquiry) == []
    decision = inquiry.decision()
    assert (decision.accept, decision.reason) == (True, "")
    assert decision.score == pytest.approx(0.99)
    assert inquiry.pages() == [("en", f"{BASE}/"), ("fr", f"{BASE}/fr/")]


def test_one_link_is_asked_for_at_a_time() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "en", [FRENCH, FRENCH._replace(url=Url(f"{BASE}/fr/accueil"))]))
    assert len(requested(inquiry)) == 1
    assert requested(inquiry) == []


def test_a_page_with_hardly_any_text_shows_no_language() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    short = page("/", "en", [ENGLISH, FRENCH])
    inquiry.read(replace(short, record=replace(short.record, text_length=45)))
    assert inquiry.pages() == []


def test_a_page_to_choose_a_language_at_leads_to_both() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "", [ENGLISH, FRENCH]))
    first = requested(inquiry)
    assert len(first) == 1
    inquiry.read(page(first[0], first[0].strip("/")))
    second = requested(inquiry)
    assert sorted(first + second) == ["/en/", "/fr/"]
    inquiry.read(page(second[0], second[0].strip("/")))
    assert inquiry.decision().accept


def test_a_start_page_in_a_third_language_shows_neither() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "de", [ENGLISH, FRENCH]))
    assert len(requested(inquiry)) == 1
    assert inquiry.decision().reason == "other_languages"


def test_nothing_likely_is_not_fetched() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    german = Link(Url(f"{BASE}/de/"), anchor="Deutsch")
    inquiry.read(page("/", "en", [PLAIN, german]))
    assert requested(inquiry) == []
    assert inquiry.decision().reason == "no_candidate"
    eager = Detect(threshold=0.0).inquire(["en", "fr"])
    eager.read(page("/", "en", [PLAIN, german]))
    assert len(requested(eager)) == 1


def test_a_declared_translation_comes_first() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    alternate = Link(Url("http://fr.shop.com/"), "alternate", "fr")
    inquiry.read(page("/", "en", [FRENCH._replace(hreflang="fr"), alternate]))
    assert requested(inquiry) == ["http://fr.shop.com/"]
    inquiry.miss(alternate.url)
    assert requested(inquiry) == ["/fr/"]


def test_other_sites_are_not_asked_for() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    others = [
        Link(Url("http://fr.other.org/"), anchor="Français"),
        *(
            Link(Url(f"http://www.shop.{land}/"), "alternate", "fr")
            for land in "fr be ch ca".split()
        ),
    ]
    inquiry.read(page("/", "en", others))
    assert requested(inquiry) == []
    assert inquiry.decision().reason == "no_candidate"
    inquiry = Detect(most=1, misses=1).inquire(["en", "fr"])
    inquiry.read(page("/", "en", [*others, FRENCH]))
    assert requested(inquiry) == ["/fr/"]


def test_what_is_not_there_is_not_shown() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "en", [FRENCH]))
    requested(inquiry)
    inquiry.miss(FRENCH.url)
    assert requested(inquiry) == []
    assert inquiry.decision().reason == "one_language"


def test_a_copy_shows_no_language() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "en", [FRENCH], digest="same"))
    requested(inquiry)
    inquiry.read(page("/fr/", "fr", digest="same"))
    assert not inquiry.decision().accept


def test_an_untranslated_page_shows_no_language() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "en", [FRENCH]))
    requested(inquiry)
    inquiry.read(page("/fr/", "en"))
    assert inquiry.decision().reason == "one_language"


TITLE = "Les habitants demandent une nouvelle école"


def test_a_stray_page_does_not_make_a_site_bilingual() -> None:
    menu = [Link(Url(f"{BASE}/about"), anchor=MENU["en"])]
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "en", [*menu, Link(Url(f"{BASE}/12"), anchor=TITLE)]))
    assert requested(inquiry) == ["/12"]
    inquiry.read(page("/12", "fr", menu))
    assert inquiry.decision().reason == "single_page"
    assert inquiry.pages() == [("en", f"{BASE}/")]


def test_a_page_whose_links_are_in_its_language_is_no_stray() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "en", [Link(Url(f"{BASE}/12"), anchor=TITLE)]))
    requested(inquiry)
    inquiry.read(page("/12", "fr", [Link(Url(f"{BASE}/13"), anchor=MENU["fr"])]))
    assert inquiry.decision().accept


def test_a_second_stray_page_is_proof() -> None:
    menu = [Link(Url(f"{BASE}/about"), anchor=MENU["en"])]
    titles = [Link(Url(f"{BASE}/{number}"), anchor=TITLE) for number in (12, 13)]
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "en", [*menu, *titles]))
    assert requested(inquiry) == ["/12"]
    inquiry.read(page("/12", "fr", menu))
    assert requested(inquiry) == ["/13"]
    inquiry.read(page("/13", "fr", menu))
    assert inquiry.decision().accept


SEVERAL = [Link(Url(f"{BASE}/fr/{number}"), anchor="Français") for number in range(9)]


def test_it_gives_up_in_time() -> None:
    inquiry = Detect(most=2).inquire(["en", "fr"])
    inquiry.read(page("/", "en", SEVERAL))
    fetched = 0
    while paths := requested(inquiry):
        inquiry.read(page(paths[0], "en"))
        fetched += 1
    assert fetched == 2


def test_what_is_missed_is_no_page_but_ends_as_well() -> None:
    inquiry = Detect(most=1, misses=3).inquire(["en", "fr"])
    inquiry.read(page("/", "en", SEVERAL))
    for _ in range(2):
        inquiry.miss(inquiry.ask()[0].url)
    third = requested(inquiry)
    assert len(third) == 1
    inquiry.miss(Url(BASE + third[0]))
    assert requested(inquiry) == []


def test_a_page_that_was_read_after_a_redirect_is_not_missed() -> None:
    inquiry = Detect(misses=1).inquire(["en", "fr"])
    inquiry.read(page("/", "en", SEVERAL))
    url = inquiry.ask()[0].url
    inquiry.read(page("/moved", "en"))
    inquiry.miss(url)
    assert len(requested(inquiry)) == 1


def test_of_three_languages_two_are_enough() -> None:
    inquiry = Detect().inquire(["en", "fr", "pt-BR"])
    inquiry.read(page("/", "pt", [FRENCH]))
    assert requested(inquiry) == ["/fr/"]
    inquiry.read(page("/fr/", "fr"))
    assert inquiry.decision().accept
    assert [lang for lang, _ in inquiry.pages()] == ["fr", "pt-BR"]


def test_without_a_page_nothing_is_known() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    assert requested(inquiry) == []
    assert inquiry.decision().reason == "not_fetched"
    inquiry.read(page("/", ""))
    assert inquiry.decision().reason == "no_text"


def test_where_a_silent_page_leads_by_itself_is_asked_for() -> None:
    inquiry = Detect().inquire(["en", "fr"])
    inquiry.read(page("/", "", [Link(Url(f"{BASE}/welcome"), "refresh")]))
    assert requested(inquiry) == ["/welcome"]


SPANISH = Link(Url(f"{BASE}/es/"), anchor="Español")


def test_frames_are_the_page_that_has_them() -> None:
    inquiry = Detect().inquire(["en", "es"])
    frames = [Link(Url(f"{BASE}/{name}"), "frame") for name in ("menu", "main")]
    inquiry.read(page("/", "", frames))
    first = requested(inquiry)
    assert first == ["/main"]
    inquiry.read(page(first[0], "en", [SPANISH]))
    assert inquiry.pages() == [("en", f"{BASE}/main")]
    assert requested(inquiry) == ["/es/"]
    inquiry.read(page("/es/", "es"))
    assert inquiry.decision().accept


@pytest.mark.parametrize("threshold", [0.5, 0.99])
def test_the_switcher_may_be_in_the_other_frame(threshold: float) -> None:
    inquiry = Detect(threshold=threshold).inquire(["en", "es"])
    frames = [Link(Url(f"{BASE}/{name}"), "frame") for name in ("main", "menu")]
    inquiry.read(page("/", "", frames))
    assert requested(inquiry) == ["/main"]
    inquiry.read(page("/main", "en"))
    assert requested(inquiry) == ["/menu"]


def test_frames_in_two_languages_are_no_strays() -> None:
    inquiry = Detect().inquire(["en", "es"])
    frames = [Link(Url(f"{BASE}/{name}"), "frame") for name in ("left", "right")]
    inquiry.read(page("/", "", frames))
    for path, lang in (("/left", "en"), ("/right", "es")):
        assert requested(inquiry) == [path]
        inquiry.read(page(path, lang))
    assert inquiry.decision().accept


@pytest.mark.parametrize(
    "link",
    [Link(Url(f"{BASE}/12"), "refresh"), Link(Url(f"{BASE}/12"), anchor="▶")],
)
def test_where_a_page_without_text_leads_is_where_one_begins(link: Link) -> None:
    inquiry = Detect(threshold=0.95).inquire(["en", "es"])
    inquiry.read(page("/", "", [link]))
    assert requested(inquiry) == ["/12"]
    inquiry.read(page("/12", "en", [SPANISH]))
    assert inquiry.pages() == [("en", f"{BASE}/12")]
    assert inquiry.decision().reason == "one_language"
    assert requested(inquiry) == ["/es/"]


def test_the_first_page_with_text_is_no_stray() -> None:
    inquiry = Detect(threshold=0.0).inquire(["en", "es"])
    inquiry.read(page("/", "", [PLAIN, Link(Url(f"{BASE}/team"), anchor="Team")]))
    path = requested(inquiry)[0]
    inquiry.read(page(path, "en"))
    assert [lang for lang, _ in inquiry.pages()] == ["en"]


def test_a_page_that_says_it_has_moved_shows_no_language() -> None:
    inquiry = Detect().inquire(["en", "es"])
    moved = page("/", "en", [PLAIN, Link(Url(f"{BASE}/inicio"), "refresh")])
    inquiry.read(replace(moved, record=replace(moved.record, text_length=200)))
    assert inquiry.pages() == []
    assert requested(inquiry) == ["/inicio"]


def test_a_frame_of_a_page_with_text_may_be_a_stray() -> None:
    inquiry = Detect(threshold=0.0).inquire(["en", "es"])
    inquiry.read(page("/", "en", [Link(Url(f"{BASE}/12"), "frame")]))
    assert requested(inquiry) == ["/12"]
    inquiry.read(page("/12", "es"))
    assert inquiry.decision().reason == "single_page"


SWITCHERS = {
    "es": ("en", "/spanish/ /es/", "flag_es.gif spain.png es.svg",
           "Versión en español|Leer en español"),
    "pt": ("en", "/pt-br/ /pt/", "flag_br.gif brazil.png pt.svg",
           "Versão em português|Ler em português"),
    "en": ("es", "/english/ /eng/", "uk.gif usa.png gb.svg",
           "In English|English version|Versión inglesa"),
    "de": ("fr", "/german/ /de/", "germany.gif de.png", "Auf Deutsch lesen|Version allemande"),
    "sv": ("en", "/swedish/ /sv/", "sweden.gif se.png", "Läs på svenska|På svenska"),
    "ru": ("en", "/russian/ /ru/", "russia.gif ru.png", "Читать на русском|Русская версия"),
}  # fmt: skip


@pytest.mark.parametrize("lang", SWITCHERS)
def test_switchers_as_they_are_met_are_followed(lang: str) -> None:
    own, folders, images, phrases = SWITCHERS[lang]
    met = [
        Link(Url(BASE + folder), src=f"/images/{image}")
        for folder in folders.split() for image in images.split()
    ]  # fmt: skip
    met += [Link(Url(f"{BASE}/12"), src=f"/flags/{image}") for image in images.split()]
    met += [Link(Url(f"{BASE}/12"), anchor=phrase) for phrase in phrases.split("|")]
    for link in met:
        inquiry = Detect().inquire([own, lang])
        inquiry.read(page("/", own, [PLAIN, link]))
        assert inquiry.ask() == (link,)
        other = Detect().inquire([own, "ko"])
        other.read(page("/", own, [PLAIN, link]))
        assert other.ask() == ()


@pytest.mark.parametrize(
    ("anchor", "src"),
    [
        ("Spain", ""),
        ("", "/photos/spain.jpg"),
        ("Spanish wine", ""),
        ("Spain", "/img/spain.jpg"),
    ],
)
def test_countries_and_their_products_are_no_languages(anchor: str, src: str) -> None:
    inquiry = Detect().inquire(["en", "es"])
    inquiry.read(page("/", "en", [PLAIN, Link(Url(f"{BASE}/12"), anchor=anchor, src=src)]))
    assert requested(inquiry) == []
