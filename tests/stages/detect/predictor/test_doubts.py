"""Small sites that only look bilingual, beside bilingual ones that look like them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from support.fakes import at

from diptych.page.read import read_page
from diptych.reason import Reason
from diptych.stages.detect.predictor.doubts import is_mixed, is_translated
from diptych.stages.detect.predictor.strategy import Detect
from diptych.types import Decision, LangScore, Page, Response

PROSE = {
    "en": "The association was founded by the people of the valley, who wanted to keep the old"
    " mills and to show their children how bread was made. Today more than two hundred members"
    " meet every month, repair the wheels and walls, and welcome visitors from many countries.",
    "fr": "L'association a été fondée par les habitants de la vallée, qui voulaient conserver les"
    " vieux moulins et montrer à leurs enfants comment on faisait le pain. Aujourd'hui plus de"
    " deux cents membres se réunissent chaque mois, réparent les roues et accueillent des gens.",
    "de": "Der Verein wurde von den Bewohnern des Tals gegründet, die ihre alten Mühlen erhalten"
    " und ihren Kindern zeigen wollten, wie man Brot macht. Heute treffen sich jeden Monat mehr"
    " als zweihundert Mitglieder, reparieren die Räder und empfangen Besucher aus vielen Ländern.",
}
NAMES = {"en": "English", "fr": "Français", "de": "Deutsch", "pl": "Polski"}
MENU = {
    "en": "Mills|Bread|Members|Visit|Contact|Workshops|Photos|History|Support|Press|Shop|Team",
    "fr": "Moulins|Pain|Membres|Visite|Nous joindre|Ateliers|Photos|Histoire|Soutien|Presse"
    "|Boutique|Équipe",
}  # fmt: skip
NEWS = {
    "en": "The old wheel of the lower mill turns again after forty years of silence",
    "fr": "La vieille roue du moulin d'en bas tourne de nouveau après quarante ans de silence",
}


def html(text: str, *links: tuple[str, str], head: str = "") -> str:
    """A page of one text and some links, as (target, text)."""
    anchors = "".join(f'<p><a href="{url}">{name}</a></p>' for url, name in links)
    return f"<html><head>{head}</head><body>{anchors}<p>{text}</p></body></html>"


def menu(lang: str, folder: str = "", count: int = 6) -> list[tuple[str, str]]:
    """Items of a menu in a language, and where they lead."""
    names = MENU[lang].split("|")[:count]
    return [(f"{folder}/{number}", name) for number, name in enumerate(names)]


def inner(lang: str, folder: str = "", **more: int) -> dict[str, str]:
    """The pages that a menu leads to."""
    items = menu(lang, folder, **more)
    return {url: html(f"{name}. {PROSE[lang]}", *items) for url, name in items}


LABELS = (
    "Politique de confidentialité|Conditions d'utilisation|Déclaration d'accessibilité"
    "|Abonnez-vous à la lettre|Soutenir notre association"
)


def switcher(lang: str) -> tuple[str, str]:
    return ("/" if lang == "en" else f"/{lang}/", NAMES[lang])


def read(path: str, source: str, langs: Sequence[str]) -> Page:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return read_page(Response(at(path), 200, headers, source.encode(), 0.0), langs=langs)


def tried(
    site: Mapping[str, str], langs: Sequence[str] = ("en", "fr")
) -> tuple[Decision, list[str]]:
    """Test a site; the decision, and what was requested after the start page."""
    detect, asked = Detect().new_test(langs), []
    detect.read(read("/", site["/"], langs))
    while wanted := detect.wanted_links():
        path = wanted[0].url.removeprefix(at("/").rstrip("/"))
        asked.append(path)
        if path in site:
            detect.read(read(path, site[path], langs))
        else:
            detect.miss(wanted[0].url)
    return detect.decision(), asked


HOME = html(PROSE["en"], *menu("en"), switcher("fr"))


def french_home(*, news: str = "") -> dict[str, str]:
    """A French start page; with a title, also an English text and a link with that title."""
    teaser = [("/fr/news", ""), ("/fr/news", news)] if news else []
    text = f"{PROSE['fr']}</p><p>{PROSE['en']}</p><p>{PROSE['en']}" if news else PROSE["fr"]
    return {"/fr/": html(text, *menu("fr", "/fr"), switcher("en"), *teaser)}


def test_two_start_pages_with_pages_behind_them_are_enough() -> None:
    decision, asked = tried({"/": HOME, **french_home()})
    assert decision.accept
    assert asked == ["/fr/"]


def test_untranslated_section_is_recognised_by_a_sample() -> None:
    site = {"/": HOME, **french_home(news=NEWS["en"]), **inner("fr", "/fr")}
    labels = "".join(f'<a href="/fr/{label[:5]}">{label}</a>' for label in LABELS.split("|"))
    site["/fr/"] = site["/fr/"].replace("</body>", f"{labels}</body>")
    site["/fr/news"] = html(f"{NEWS['en']}. {PROSE['en']}", *menu("fr", "/fr"))
    decision, asked = tried(site)
    assert (decision.accept, decision.reason) == (False, Reason.SINGLE_PAGE)
    assert asked == ["/fr/", "/fr/news"]


def test_a_start_page_in_two_languages_may_have_translated_pages_behind_it() -> None:
    site = {"/": HOME, **french_home(news=NEWS["fr"])}
    site["/fr/news"] = html(f"{NEWS['fr']}. {PROSE['fr']}", *menu("fr", "/fr"))
    decision, asked = tried(site)
    assert decision.accept
    assert asked == ["/fr/", "/fr/news"]


def test_missing_sample_decides_nothing() -> None:
    site = {"/": HOME, **french_home(news=NEWS["fr"]), **inner("fr", "/fr")}
    decision, asked = tried(site)
    assert decision.accept
    assert asked == ["/fr/", "/fr/news", "/fr/4"]


def test_sample_in_a_third_language_decides_nothing() -> None:
    site = {"/": HOME, **french_home(news=NEWS["en"]), **inner("fr", "/fr")}
    site["/fr/news"] = html(PROSE["de"], *menu("fr", "/fr"))
    decision, asked = tried(site)
    assert decision.accept
    assert asked == ["/fr/", "/fr/news", "/fr/4"]


@pytest.mark.parametrize(("share", "is_enough"), [(0.26, False), (0.31, True)])
def test_menus_alone_are_no_translation(share: float, *, is_enough: bool) -> None:
    page = read("/", html(PROSE["fr"]), ("en", "fr"))
    shares = (LangScore("en", 1 - share), LangScore("fr", share))
    page = replace(page, record=replace(page.record, langs=shares))
    assert is_translated(page, "fr") == is_enough


def test_small_share_of_a_language_does_not_make_a_page_mixed() -> None:
    page = read("/", html(PROSE["fr"]), ("en", "fr"))
    for share, expected in ((0.1, False), (0.2, True)):
        shares = (LangScore("fr", 1 - share), LangScore("en", share))
        mixed = replace(page, record=replace(page.record, langs=shares))
        assert is_mixed(mixed, "fr", ("en", "fr")) == expected
        assert not is_mixed(mixed, "fr", ("de", "fr"))


def test_pages_behind_a_language_selection_page_count() -> None:
    offered = [(f"/{lang}/", name) for lang, name in NAMES.items()]
    site = {
        "/": html(PROSE["en"], *offered),
        "/en/": html(f"Welcome. {PROSE['en']}", *menu("en", "/en"), *offered),
        "/fr/": html(PROSE["fr"], *menu("fr", "/fr"), *offered),
    }
    decision, asked = tried(site)
    assert decision.accept
    assert asked == ["/fr/", "/en/"]


def test_nothing_is_requested_that_would_not_change_the_decision() -> None:
    files = [(f"/plan{number}.pdf", "Plan") for number in range(4)]
    mixed = f"{PROSE['en']}</p><p>{PROSE['fr']}"
    site = {
        "/": html(mixed, *menu("en"), switcher("fr")),
        "/fr/": html(PROSE["fr"], *files, switcher("en")),
    }
    decision, asked = tried(site)
    assert not decision.accept
    assert asked == ["/fr/"]


def test_titles_in_the_language_of_the_page_leave_no_doubt() -> None:
    titles = [(f"/fr/{number}", f"{NEWS['fr']} {number}") for number in range(4)]
    mixed = f"{PROSE['fr']}</p><p>{PROSE['en']}</p><p>{PROSE['en']}"
    decision, asked = tried({"/": HOME, "/fr/": html(mixed, *titles, switcher("en"))})
    assert decision.accept
    assert asked == ["/fr/"]


def test_a_language_with_a_few_pages_beside_many_is_a_stub() -> None:
    few = menu("fr", "/fr", count=3)
    site = {
        "/": html(PROSE["en"], *menu("en", count=12), switcher("fr")),
        "/fr/": html(PROSE["fr"], *few, ("/", "Logo"), switcher("en")),
        **inner("fr", "/fr", count=3),
    }
    decision, asked = tried(site)
    assert (decision.accept, decision.reason) == (False, Reason.TOO_FEW_PAGES)
    assert asked == ["/fr/", "/fr/0"]


def test_an_entrance_with_few_links_leads_to_more() -> None:
    site = {
        "/": html(PROSE["en"], *menu("en", count=12), switcher("fr")),
        "/fr/": html(PROSE["fr"], ("/fr/plan", "Entrer"), switcher("en")),
        "/fr/plan": html(f"Entrer. {PROSE['fr']}", *menu("fr", "/fr")),
    }
    decision, asked = tried(site)
    assert decision.accept
    assert asked == ["/fr/", "/fr/plan"]


def test_a_small_site_is_no_stub() -> None:
    site = {
        "/": html(PROSE["en"], *menu("en", count=2), switcher("fr")),
        "/fr/": html(PROSE["fr"], *menu("fr", "/fr", count=2), switcher("en")),
    }
    assert tried(site)[0].accept


def test_a_page_whose_links_all_lead_to_the_other_language_is_a_stub() -> None:
    site = {"/": HOME, "/fr/": html(PROSE["fr"], *menu("en"), switcher("en"))}
    decision, asked = tried(site)
    assert (decision.accept, decision.reason) == (False, Reason.TOO_FEW_PAGES)
    assert asked == ["/fr/"]


def test_a_site_of_one_page_is_too_small() -> None:
    files = [(f"/plan{number}.pdf", "Plan") for number in range(3)]
    others = [("http://elsewhere.net/", "Photos"), ("/fr/index.html#plan", "Plan")]
    site = {
        "/": html(PROSE["en"], *files, *others, switcher("fr")),
        "/fr/": html(PROSE["fr"], *files, *others, switcher("en")),
    }
    decision, asked = tried(site)
    assert (decision.accept, decision.reason) == (False, Reason.SINGLE_PAGE)
    assert asked == ["/fr/"]


def test_pages_with_only_switchers_are_not_in_doubt() -> None:
    site = {"/": html(PROSE["en"], switcher("fr")), "/fr/": html(PROSE["fr"], switcher("en"))}
    assert tried(site)[0].accept


def test_missing_declared_translations_are_requested_once() -> None:
    head = '<link rel="alternate" hreflang="fr" href="/fr/">'
    site = {"/": html(PROSE["en"], *menu("en"), ("/fr/index.html", "Français"), head=head)}
    decision, asked = tried(site)
    assert (decision.accept, decision.reason) == (False, Reason.ONE_LANGUAGE)
    assert asked == ["/fr/"]


def test_sample_posts_of_a_theme_are_no_second_language() -> None:
    posts = [(f"/post{number}", f"{NEWS['fr']} {number}") for number in range(3)]
    site = {"/": html(PROSE["en"], *menu("en"), *posts)}
    site |= {url: html(f"{name}. {PROSE['fr']}", *menu("en")) for url, name in posts}
    decision, asked = tried(site)
    assert (decision.accept, decision.reason) == (False, Reason.SINGLE_PAGE)
    assert len(asked) >= 2


MACHINE = '<meta name="ms.translationtype" content="MT">'


@pytest.mark.parametrize(("start", "is_bilingual"), [("", False), (MACHINE, True)])
def test_machine_translated_page_does_not_count(start: str, *, is_bilingual: bool) -> None:
    site = {
        "/": html(PROSE["en"], *menu("en"), switcher("fr"), head=start),
        "/fr/": html(PROSE["fr"], *menu("fr", "/fr"), switcher("en"), head=MACHINE),
    }
    decision, _ = tried(site)
    assert decision.accept == is_bilingual


def test_a_part_whose_start_page_is_not_translated_is_in_doubt() -> None:
    news = ("/fr/news", NEWS["en"])
    about = ("/fr/0", "En français")
    site = {
        "/": html(PROSE["en"], *menu("en"), switcher("fr")),
        "/fr/": html(f"Welcome. {PROSE['en']}", about, news, switcher("en")),
        "/fr/0": html(PROSE["fr"], *menu("fr", "/fr"), news),
        "/fr/news": html(f"{NEWS['en']}. {PROSE['en']}", *menu("fr", "/fr")),
    }
    decision, asked = tried(site)
    assert (decision.accept, decision.reason) == (False, Reason.SINGLE_PAGE)
    assert asked == ["/fr/", "/fr/0", "/fr/news"]
    site["/fr/news"] = html(f"{NEWS['fr']}. {PROSE['fr']}", *menu("fr", "/fr"))
    assert tried(site)[0].accept


@pytest.mark.parametrize(
    ("offered", "asked"), [("en", []), ("fr", []), ("pl", []), ("en fr", ["/", "/fr/"])]
)
def test_a_start_page_in_a_third_language_must_lead_to_both(offered: str, asked: list[str]) -> None:
    links = [(f"/{lang}/", NAMES[lang]) for lang in offered.split()]
    site = {
        "/": html(PROSE["de"], *links, ("/mehr", "Mehr")),
        "/en/": html(PROSE["en"], *menu("en"), ("/fr/", "Français")),
        "/fr/": html(PROSE["fr"], *menu("fr", "/fr")),
    }
    decision, requested = tried(site)
    assert len(requested) == len(asked)
    assert decision.accept == bool(asked)


def test_entrance_declared_as_a_translation_is_bypassed() -> None:
    def page(lang: str, url: str, french: str) -> str:
        head = f'<link rel="alternate" hreflang="fr" href="{french}">'
        return html(f"{url} {PROSE[lang]}", *menu(lang, f"/{lang}"), head=head)

    site = {
        "/": '<meta http-equiv="refresh" content="0; url=/en/home"><body>Click',
        "/en/home": page("en", "Home", "/index.html"),
        "/en/0": page("en", "Mills", "/moulins"),
        "/moulins": page("fr", "Moulins", "/moulins"),
    }
    decision, asked = tried(site)
    assert decision.accept
    assert asked == ["/en/home", "/en/0", "/moulins"]
