"""The detector: what it asks for, when it stops, and what it is not fooled by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from diptych.protocols import SiteTest
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


def requested(site_test: SiteTest) -> list[str]:
    return [link.url.removeprefix(BASE) for link in site_test.wanted_links()]


def test_two_pages_are_enough() -> None:
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "en", [PLAIN, FRENCH]))
    assert not site_test.decision().accept
    assert requested(site_test) == ["/fr/"]
    assert requested(site_test) == []
    site_test.read(page("/fr/", "fr", [ENGLISH]))
    assert requested(site_test) == []
    decision = site_test.decision()
    assert (decision.accept, decision.reason) == (True, "")
    assert decision.score == pytest.approx(0.99)
    assert site_test.pages() == [("en", f"{BASE}/"), ("fr", f"{BASE}/fr/")]


def test_one_link_is_requested_at_a_time() -> None:
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "en", [FRENCH, FRENCH._replace(url=Url(f"{BASE}/fr/accueil"))]))
    assert len(requested(site_test)) == 1
    assert requested(site_test) == []


def test_a_page_with_hardly_any_text_shows_no_language() -> None:
    site_test = Detect().new_test(["en", "fr"])
    short = page("/", "en", [ENGLISH, FRENCH])
    site_test.read(replace(short, record=replace(short.record, text_length=45)))
    assert site_test.pages() == []


def test_language_selection_page_leads_to_both_languages() -> None:
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "", [ENGLISH, FRENCH]))
    first = requested(site_test)
    assert len(first) == 1
    site_test.read(page(first[0], first[0].strip("/")))
    second = requested(site_test)
    assert sorted(first + second) == ["/en/", "/fr/"]
    site_test.read(page(second[0], second[0].strip("/")))
    assert site_test.decision().accept


def test_a_start_page_in_a_third_language_shows_neither() -> None:
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "de", [ENGLISH, FRENCH]))
    assert len(requested(site_test)) == 1
    assert site_test.decision().reason == "other_languages"


def test_improbable_links_are_not_fetched() -> None:
    site_test = Detect().new_test(["en", "fr"])
    german = Link(Url(f"{BASE}/de/"), anchor="Deutsch")
    site_test.read(page("/", "en", [PLAIN, german]))
    assert requested(site_test) == []
    assert site_test.decision().reason == "no_candidate"
    eager = Detect(threshold=0.0).new_test(["en", "fr"])
    eager.read(page("/", "en", [PLAIN, german]))
    assert len(requested(eager)) == 1


def test_a_declared_translation_comes_first() -> None:
    site_test = Detect().new_test(["en", "fr"])
    alternate = Link(Url("http://fr.shop.com/"), "alternate", "fr")
    site_test.read(page("/", "en", [FRENCH._replace(hreflang="fr"), alternate]))
    assert requested(site_test) == ["http://fr.shop.com/"]
    site_test.miss(alternate.url)
    assert requested(site_test) == ["/fr/"]


def test_links_to_other_sites_are_not_requested() -> None:
    site_test = Detect().new_test(["en", "fr"])
    others = [
        Link(Url("http://fr.other.org/"), anchor="Français"),
        *(
            Link(Url(f"http://www.shop.{land}/"), "alternate", "fr")
            for land in "fr be ch ca".split()
        ),
    ]
    site_test.read(page("/", "en", others))
    assert requested(site_test) == []
    assert site_test.decision().reason == "no_candidate"
    site_test = Detect(most=1, misses=1).new_test(["en", "fr"])
    site_test.read(page("/", "en", [*others, FRENCH]))
    assert requested(site_test) == ["/fr/"]


def test_missing_pages_do_not_count() -> None:
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "en", [FRENCH]))
    requested(site_test)
    site_test.miss(FRENCH.url)
    assert requested(site_test) == []
    assert site_test.decision().reason == "one_language"


def test_a_copy_shows_no_language() -> None:
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "en", [FRENCH], digest="same"))
    requested(site_test)
    site_test.read(page("/fr/", "fr", digest="same"))
    assert not site_test.decision().accept


def test_an_untranslated_page_shows_no_language() -> None:
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "en", [FRENCH]))
    requested(site_test)
    site_test.read(page("/fr/", "en"))
    assert site_test.decision().reason == "one_language"


TITLE = "Les habitants demandent une nouvelle école"


def test_single_foreign_page_does_not_make_a_site_bilingual() -> None:
    menu = [Link(Url(f"{BASE}/about"), anchor=MENU["en"])]
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "en", [*menu, Link(Url(f"{BASE}/12"), anchor=TITLE)]))
    assert requested(site_test) == ["/12"]
    site_test.read(page("/12", "fr", menu))
    assert site_test.decision().reason == "single_page"
    assert site_test.pages() == [("en", f"{BASE}/")]


def test_page_with_links_in_its_language_is_not_single() -> None:
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "en", [Link(Url(f"{BASE}/12"), anchor=TITLE)]))
    requested(site_test)
    site_test.read(page("/12", "fr", [Link(Url(f"{BASE}/13"), anchor=MENU["fr"])]))
    assert site_test.decision().accept


SEVERAL = [Link(Url(f"{BASE}/fr/{number}"), anchor="Français") for number in range(9)]


def test_number_of_fetched_pages_is_limited() -> None:
    site_test = Detect(most=2).new_test(["en", "fr"])
    site_test.read(page("/", "en", SEVERAL))
    fetched = 0
    while paths := requested(site_test):
        site_test.read(page(paths[0], "en"))
        fetched += 1
    assert fetched == 2


def test_number_of_misses_is_limited() -> None:
    site_test = Detect(most=1, misses=3).new_test(["en", "fr"])
    site_test.read(page("/", "en", SEVERAL))
    for _ in range(2):
        site_test.miss(site_test.wanted_links()[0].url)
    third = requested(site_test)
    assert len(third) == 1
    site_test.miss(Url(BASE + third[0]))
    assert requested(site_test) == []


def test_a_page_that_was_read_after_a_redirect_is_not_missed() -> None:
    site_test = Detect(misses=1).new_test(["en", "fr"])
    site_test.read(page("/", "en", SEVERAL))
    url = site_test.wanted_links()[0].url
    site_test.read(page("/moved", "en"))
    site_test.miss(url)
    assert len(requested(site_test)) == 1


def test_of_three_languages_two_are_enough() -> None:
    site_test = Detect().new_test(["en", "fr", "pt-BR"])
    site_test.read(page("/", "pt", [FRENCH]))
    assert requested(site_test) == ["/fr/"]
    site_test.read(page("/fr/", "fr"))
    assert site_test.decision().accept
    assert [lang for lang, _ in site_test.pages()] == ["fr", "pt-BR"]


def test_without_a_page_nothing_is_known() -> None:
    site_test = Detect().new_test(["en", "fr"])
    assert requested(site_test) == []
    assert site_test.decision().reason == "not_fetched"
    site_test.read(page("/", ""))
    assert site_test.decision().reason == "no_text"


def test_only_link_of_a_page_without_text_is_requested() -> None:
    site_test = Detect().new_test(["en", "fr"])
    site_test.read(page("/", "", [Link(Url(f"{BASE}/welcome"), "refresh")]))
    assert requested(site_test) == ["/welcome"]


SPANISH = Link(Url(f"{BASE}/es/"), anchor="Español")


def test_frames_stand_for_their_page() -> None:
    site_test = Detect().new_test(["en", "es"])
    frames = [Link(Url(f"{BASE}/{name}"), "frame") for name in ("menu", "main")]
    site_test.read(page("/", "", frames))
    first = requested(site_test)
    assert first == ["/main"]
    site_test.read(page(first[0], "en", [SPANISH]))
    assert site_test.pages() == [("en", f"{BASE}/main")]
    assert requested(site_test) == ["/es/"]
    site_test.read(page("/es/", "es"))
    assert site_test.decision().accept


@pytest.mark.parametrize("threshold", [0.5, 0.99])
def test_the_switcher_may_be_in_the_other_frame(threshold: float) -> None:
    site_test = Detect(threshold=threshold).new_test(["en", "es"])
    frames = [Link(Url(f"{BASE}/{name}"), "frame") for name in ("main", "menu")]
    site_test.read(page("/", "", frames))
    assert requested(site_test) == ["/main"]
    site_test.read(page("/main", "en"))
    assert requested(site_test) == ["/menu"]


def test_frames_in_two_languages_make_a_site_bilingual() -> None:
    site_test = Detect().new_test(["en", "es"])
    frames = [Link(Url(f"{BASE}/{name}"), "frame") for name in ("left", "right")]
    site_test.read(page("/", "", frames))
    for path, lang in (("/left", "en"), ("/right", "es")):
        assert requested(site_test) == [path]
        site_test.read(page(path, lang))
    assert site_test.decision().accept


@pytest.mark.parametrize(
    "link",
    [Link(Url(f"{BASE}/12"), "refresh"), Link(Url(f"{BASE}/12"), anchor="▶")],
)
def test_target_of_a_page_without_text_counts_as_start_page(link: Link) -> None:
    site_test = Detect(threshold=0.95).new_test(["en", "es"])
    site_test.read(page("/", "", [link]))
    assert requested(site_test) == ["/12"]
    site_test.read(page("/12", "en", [SPANISH]))
    assert site_test.pages() == [("en", f"{BASE}/12")]
    assert site_test.decision().reason == "one_language"
    assert requested(site_test) == ["/es/"]


def test_first_page_with_text_counts() -> None:
    site_test = Detect(threshold=0.0).new_test(["en", "es"])
    site_test.read(page("/", "", [PLAIN, Link(Url(f"{BASE}/team"), anchor="Team")]))
    path = requested(site_test)[0]
    site_test.read(page(path, "en"))
    assert [lang for lang, _ in site_test.pages()] == ["en"]


def test_page_with_only_a_refresh_notice_does_not_count() -> None:
    site_test = Detect().new_test(["en", "es"])
    moved = page("/", "en", [PLAIN, Link(Url(f"{BASE}/inicio"), "refresh")])
    site_test.read(replace(moved, record=replace(moved.record, text_length=200)))
    assert site_test.pages() == []
    assert requested(site_test) == ["/inicio"]


def test_frame_of_a_page_with_text_may_be_a_single_page() -> None:
    site_test = Detect(threshold=0.0).new_test(["en", "es"])
    site_test.read(page("/", "en", [Link(Url(f"{BASE}/12"), "frame")]))
    assert requested(site_test) == ["/12"]
    site_test.read(page("/12", "es"))
    assert site_test.decision().reason == "single_page"


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
def test_common_switchers_are_followed(lang: str) -> None:
    own, folders, images, phrases = SWITCHERS[lang]
    met = [
        Link(Url(BASE + folder), src=f"/images/{image}")
        for folder in folders.split() for image in images.split()
    ]  # fmt: skip
    met += [Link(Url(f"{BASE}/12"), src=f"/flags/{image}") for image in images.split()]
    met += [Link(Url(f"{BASE}/12"), anchor=phrase) for phrase in phrases.split("|")]
    for link in met:
        site_test = Detect().new_test([own, lang])
        site_test.read(page("/", own, [PLAIN, link]))
        assert site_test.wanted_links() == (link,)
        other = Detect().new_test([own, "ko"])
        other.read(page("/", own, [PLAIN, link]))
        assert other.wanted_links() == ()


@pytest.mark.parametrize(
    ("anchor", "src"),
    [
        ("Spain", ""),
        ("", "/photos/spain.jpg"),
        ("Spanish wine", ""),
        ("Spain", "/img/spain.jpg"),
    ],
)
def test_country_names_in_links_are_not_languages(anchor: str, src: str) -> None:
    site_test = Detect().new_test(["en", "es"])
    site_test.read(page("/", "en", [PLAIN, Link(Url(f"{BASE}/12"), anchor=anchor, src=src)]))
    assert requested(site_test) == []
