"""Flags of a page: licences, robots directives, machine translation."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.page.flags import header_flags
from diptych.page.licences import licence_named
from diptych.page.read import read_page
from diptych.types import Response, Url

HERE = Url("http://www.example.org/docs/page.html")


def flags(
    markup: str, *headers: tuple[str, str], url: str = HERE, lang: str = "en"
) -> tuple[str, ...]:
    whole = markup if "<html" in markup.lower() else f"<html lang={lang}>{markup}"
    body = whole.encode("utf-8", "surrogatepass")
    told = (("Content-Type", "text/html; charset=utf-8"), *headers)
    return read_page(Response(Url(url), 200, told, body, 0.0)).record.flags


def test_a_page_without_statements_has_no_flags() -> None:
    assert flags("<p>We translate, index and archive with a licence: machine, noai, noindex.") == ()
    picture = Response(HERE, 200, (("Content-Type", "image/png"),), b"\x89PNG\r\n\x1a\n" * 99, 0.0)
    assert read_page(picture).record.flags == ()


# Robots


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("robots", "noindex", ("noindex",)),
        ("ROBOTS", "NOINDEX,NOFOLLOW", ("noindex",)),
        ("robots", "none", ("noindex",)),
        ("robots", "index, follow", ()),
        ("robots", "noai, noimageai", ("noai", "noimageai")),
        ("robots", "nofollow noarchive", ("noarchive",)),
        ("googlebot", "noarchive", ("noarchive",)),
        ("DiptychBot", "noindex", ("noindex",)),
        ("otherbot", "noindex", ()),
        ("description", "noindex noai", ()),
        ("tdm-reservation", "1", ("tdm-reserved",)),
        ("tdm-reservation", "0", ()),
        ("robots", "xnoindex noindexed", ()),
    ],
)
def test_what_meta_elements_forbid_is_flagged(
    name: str, content: str, expected: tuple[str, ...]
) -> None:
    element = f"<meta name='{name}' content='{content}'>"
    assert flags(f"<head>{element}</head><body><p>a") == expected
    assert flags(f"<body><p>a</p>{element}") == expected
    assert flags(f"<!-- {element} --><script>'{element}'</script><body><p>a") == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("noindex", {"noindex"}),
        ("NoIndex, NoArchive", {"noindex", "noarchive"}),
        ("googlebot: noindex", {"noindex"}),
        ("otherbot: noindex, nofollow, noai", set()),
        ("otherbot: noindex, diptychbot: noai, noarchive", {"noai", "noarchive"}),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", {"noindex"}),
        ("max-snippet:20, noai", {"noai"}),
        ("all", set()),
        ("", set()),
    ],
)
def test_what_headers_forbid_is_flagged(value: str, expected: set[str]) -> None:
    assert header_flags([("x-robots-TAG", value)]) == expected
    assert set(flags("<p>a", ("X-Robots-Tag", value))) == expected


def test_reservations_of_mining_are_read_from_headers() -> None:
    assert flags("<p>a", ("TDM-Reservation", " 1 ")) == ("tdm-reserved",)
    assert flags("<p>a", ("tdm-reservation", "0"), ("tdm-policy", "http://a.org/")) == ()


# Licences


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("https://creativecommons.org/licenses/by/4.0/", "CC-BY-4.0"),
        ("//creativecommons.org/licenses/by-sa/4.0/deed.fr", "CC-BY-SA-4.0"),
        ("http://creativecommons.org/licenses/by-sa/3.0/de/", "CC-BY-SA-3.0-DE"),
        ("http://creativecommons.org/licenses/by/3.0/igo/", "CC-BY-3.0-IGO"),
        ("https://creativecommons.org/licenses/by/4.0/legalcode", "CC-BY-4.0"),
        ("https://creativecommons.org/licenses/by/4.0/fr/", "CC-BY-4.0"),
        ("http://creativecommons.org/licenses/by-nd-nc/1.0", "CC-BY-NC-ND-1.0"),
        ("https://www.creativecommons.org/licenses/by-nc-sa/2.5/", "CC-BY-NC-SA-2.5"),
        ("https://creativecommons.org/licenses/by-sa/", "CC-BY-SA"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "CC-PDM-1.0"),
        ("http://creativecommons.org/licenses/publicdomain/", "CC-PDDC"),
        ("https://www.gnu.org/licenses/fdl-1.3.html", "GFDL-1.3"),
        ("https://www.gnu.org/licenses/old-licenses/fdl-1.2.html", "GFDL-1.2"),
        ("http://www.gnu.org/copyleft/fdl.html", "GFDL"),
        ("https://www.gnu.org/licenses/gpl-3.0.html", "GPL-3.0"),
        ("http://www.gnu.org/licenses/lgpl-2.1.txt", "LGPL-2.1"),
        ("http://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/", "OGL-UK-3.0"),
        ("https://open.canada.ca/en/open-government-licence-canada", "OGL-Canada-2.0"),
        ("https://www.apache.org/licenses/LICENSE-2.0", "Apache-2.0"),
        ("https://spdx.org/licenses/MIT.html", "MIT"),
        ("CC BY-SA 4.0", "CC-BY-SA-4.0"),
        ("cc0", "CC0-1.0"),
        ("Creative Commons BY 3.0", "CC-BY-3.0"),
        ("https://example.org/licence.html", ""),
        ("All rights reserved", ""),
        ("https://creativecommons.org/", ""),
        ("https://creativecommons.org/licenses/", ""),
        ("https://www.gnu.org/licenses/gfdl-notes.html", ""),
        ("", ""),
    ],
)
def test_licences_have_the_names_of_spdx(said: str, name: str) -> None:
    assert licence_named(said) == name


BY = "https://creativecommons.org/licenses/by/4.0/"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"<a rel=license href='{BY}'>b</a>", "licence:CC-BY-4.0"),
        (f"<a href='{BY}' rel='nofollow License'>b</a>", "licence:CC-BY-4.0"),
        (f"<link rel=\"license\" href='{BY}'>", "licence:CC-BY-4.0"),
        (f"<map><area rel=license href='{BY}'></map>", "licence:CC-BY-4.0"),
        ("<a rel='license' href='/terms'>b</a>", "licence:other"),
        (f"<a rel=license href=/t>b</a><a rel=license href='{BY}'>b</a>", "licence:CC-BY-4.0"),
        (f"<meta name='DCTERMS.license' content='{BY}'>", "licence:CC-BY-4.0"),
        ("<meta name=dcterms.license content='see below'>", "licence:other"),
        (f"<meta name=dc.rights content='© 2004, {BY}'>", "licence:CC-BY-4.0"),
        ("<meta name=dc.rights content='All rights reserved'>", ""),
        (f'<script type="application/ld+json">{{"license": "{BY}"}}</script>', "licence:CC-BY-4.0"),
        (r'<script type="application/ld+json">{"license":"https:\/\/creativecommons.org\/licenses'
         r'\/by-sa\/4.0\/"}</script>', "licence:CC-BY-SA-4.0"),
        ('<script type="application/ld+json">{"@type":"ImageObject","license":"' + BY
         + '"}</script>', "licence-link:CC-BY-4.0"),
        (f"<p><a href='{BY}'>b</a>", "licence-link:CC-BY-4.0"),
        ("<a href='https://www.gnu.org/licenses/fdl-1.3.html'>b</a>", "licence-link:GFDL-1.3"),
        ("<a href='https://www.gnu.org/licenses/gpl-3.0.html'>b</a>", ""),
        (f"<p>{BY}", ""),
        ("<a href='/license'>license</a><p class=license>license = 'no'", ""),
    ],
)  # fmt: skip
def test_stated_licences_are_distinguished_from_linked_ones(markup: str, expected: str) -> None:
    assert flags(markup) == ((expected,) if expected else ())


def test_a_licence_in_a_header_is_stated() -> None:
    assert flags("<p>a", ("Link", f'<{BY}>; rel="license"')) == ("licence:CC-BY-4.0",)
    assert flags("<p>a", ("Link", f'<{BY}>; rel="next", </l>; rel=preload')) == ()


# Machines


@pytest.mark.parametrize(
    ("markup", "url", "expected"),
    [
        ("<p>translate this page, please; Google it</p>", HERE, ""),
        ("<DIV ID=Google_Translate_Element></DIV>", HERE, "google"),
        ("<p>Put a div named google_translate_element where it shall stand", HERE, ""),
        ("<p>a</p><script>1 > 0</script><p>translate.googleapis.com", HERE, ""),
        ("<p>How window.gtranslateSettings works", HERE, ""),
        ("<script>if (a > b) f('google_translate_element')</script>", HERE, "google"),
        ("<style>p > a {} #google_translate_element {}</style>", HERE, "google"),
        ("<html class='js translated-ltr'><p>a", HERE, "google"),
        ("<script src='//translate.google.com/translate_a/element.js'></script>", HERE, "google"),
        ("<a href='https://translate.google.com/'>t</a>", HERE, ""),
        ("<script src='https://cdn.weglot.com/x.js'></script>", HERE, "weglot"),
        ("<script>Weglot.initialize({})</script>", HERE, "weglot"),
        ("<p>How cdn.weglot.com works", HERE, ""),
        ("<script>window.gtranslateSettings={}</script>", HERE, "gtranslate"),
        ("<script src='//cdn.bablic.com/a.js'></script>", HERE, "bablic"),
        ("<script src=//static.linguise.com/a.js></script>", HERE, "linguise"),
        ("<p>a", "https://example-org.translate.goog/a?_x_tr_tl=fr", "google"),
        ("<p>a", "https://example.org/translate", ""),
        ("<meta name=generator content='TranslatePress 2.1'>", HERE, "translatepress"),
        ("<meta name=generator content='WPML ver:4.6.8 stt:1,4;'>", HERE, ""),
        ("<meta name=generator content='Polylang 3.4'>", HERE, ""),
        ("<meta name=generator content='Machine translator 3'>", HERE, ""),
        ("<meta name=ms.translationtype content=MT>", HERE, "declared"),
        ("<meta name=ms.translationtype content=HT>", HERE, ""),
        ("<meta name=translation content='machine'>", HERE, "declared"),
        ("<meta name=translator content='Jane Doe'>", HERE, ""),
        ("<meta name=translator content='Google Translate'>", HERE, "google"),
        ("<div class='box machine-translation-notice'>n</div>", HERE, "declared"),
        ("<article data-machine-translated=true>n</article>", HERE, "declared"),
        ("<article data-machine-translated=false>n</article>", HERE, ""),
        ("<a class='tag-machine-translation' href=/machine-translation>m</a>", HERE, ""),
        ("<html lang=fr-x-mtfrom-en><p>a", HERE, "declared"),
        ("<html lang=de-t-en-t0-und><p>a", HERE, "declared"),
        ("<html lang=de-Latn-DE><p>a", HERE, ""),
    ],
)
def test_translation_services_are_detected(markup: str, url: str, expected: str) -> None:
    assert flags(markup, url=url) == ((f"machine:{expected}",) if expected else ())


NOTICES = [
    ("en", "This page was machine translated."),
    ("en", "This article has been automatically translated from German."),
    ("en", "This is a machine translation; the original counts."),
    ("en", "Translated with Google Translate"),
    ("en", "Powered by Google Translate"),
    ("en", "This page was translated by DeepL."),
    ("en", "Translated by AI"),
    ("en", "This article was translated using AI from German."),
    ("de", "Diese Seite wurde mit Hilfe einer KI übersetzt."),
    ("de", "Dieser Text wurde mithilfe von KI übersetzt."),
    ("es", "Esta página se tradujo automáticamente."),
    ("de", "Diese Seite wurde automatisch übersetzt."),
    ("de", "Die vorliegende Übersetzung wurde maschinell erstellt."),
    ("fr", "Cette page a été traduite automatiquement."),
    ("fr", "Cet article est issu d’une traduction automatique."),
    ("es", "Este artículo ha sido traducido automáticamente."),
    ("pt", "Esta página foi traduzida automaticamente."),
    ("it", "Questa pagina è stata tradotta automaticamente."),
    ("nl", "Deze pagina is automatisch vertaald."),
    ("pl", "Ta strona została przetłumaczona automatycznie."),
    ("ru", "Эта страница переведена автоматически."),
    ("cs", "Tato stránka byla strojově přeložena."),
    ("sv", "Denna sida är maskinöversatt."),
    ("zh-CN", "本页面由机器翻译生成"),
    ("ja", "このページは機械翻訳されています。"),
    ("ko", "이 페이지는 자동 번역되었습니다."),
]


@pytest.mark.parametrize(("lang", "text"), NOTICES)
def test_notices_of_machine_translation_are_detected(lang: str, text: str) -> None:
    assert flags(f"<body><h1>A</h1><p>{text}</p>", lang=lang) == ("machine:notice",)
    assert flags(f"<body><div>\n  {text}\n</div>", lang=lang) == ("machine:notice",)
    # A long text about such translations may have the same sentence in it.
    assert flags(f"<body><p>{'word ' * 90}{text}</p>", lang=lang) == ()
    other = "fr" if lang != "fr" else "de"
    assert flags(f"<body><p>{text}</p>", lang=other) == ()


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "Machine translation"),
        ("en", "This page was translated by Jane Doe."),
        ("en", "Machine-translated texts are read automatically."),
        ("en", "Texts translated with Google Translate are many."),
        ("en", "Translated by AI: a history"),
        ("en", "Google Translate"),
        ("en", "This book was translated by Aida."),
        ("de", "Mit KI übersetzen"),
        ("de", "Automatische Übersetzung"),
        ("de", "Diese Seite wurde von Jana übersetzt."),
        ("fr", "Traduction automatique"),
        ("fr", "Les pages traduites automatiquement sont nombreuses."),
        ("ru", "Машинный перевод"),
        ("ja", "機械翻訳"),
        ("zh", "机器翻译"),
    ],
)
def test_headings_about_machine_translation_are_not_notices(lang: str, text: str) -> None:
    assert flags(f"<body><h1>{text}</h1>", lang=lang) == ()


CODES = ["en", "fr", "de", "es", "it", "pt", "nl", "pl", "cs", "sv", "da", "fi", "ru", "ja"]


@pytest.mark.parametrize(("count", "expected"), [(11, ()), (12, ("languages:12",))])
def test_pages_in_a_dozen_languages_are_flagged_with_the_number(
    count: int, expected: tuple[str, ...]
) -> None:
    elements = "".join(
        f"<link rel=alternate hreflang={code} href=/{code}>" for code in CODES[:count]
    )
    regions = "".join(
        f"<link rel=alternate hreflang=en-{region} href=/{region}>" for region in ("GB", "US", "AU")
    )
    assert flags(f"{elements}{regions}<link rel=alternate hreflang=x-default href=/>") == expected


# Bad input


FLAG = re.compile(r"[a-z0-9-]+(?::[A-Za-z0-9._/+-]+)?")
MARKUP = st.lists(
    st.sampled_from(
        ["<meta name=", "robots", "content=", "noai", "generator", "weglot", "'", '"', ">", "<",
         "<a rel=license href=", BY, "https://spdx.org/licenses/", "\ud800", "é", "\x00", "<script",
         "translate", "_a/", "data-machine-translated", "class='", "\"license\":", "ld+json",
         "<link rel=alternate hreflang=", "<body", "this page was machine translated"]
    )
    | st.text(max_size=6),
    max_size=40,
).map("".join)  # fmt: skip


@given(MARKUP, st.lists(st.tuples(st.sampled_from(["link", "x-robots-tag"]), MARKUP), max_size=3))
def test_flags_of_any_page_are_few_short_sorted_words(
    markup: str, headers: list[tuple[str, str]]
) -> None:
    found = flags(markup, *headers)
    assert found == tuple(sorted(set(found)))
    assert sum(flag.startswith("licence") for flag in found) <= 16
    assert all(FLAG.fullmatch(flag) and len(flag) <= 64 for flag in found)
    assert flags(markup, *headers) == found


def test_flags_are_bounded_however_many_a_page_states() -> None:
    many = "".join(
        f"<a rel=license href='https://spdx.org/licenses/L-{number:05}'>l</a>"
        for number in range(5000)
    )
    linked = "".join(
        f"<a href='http://creativecommons.org/licenses/by/{number / 10:.1f}/'>l</a>"
        for number in range(10, 50)
    )
    said = "<meta name=robots content='noai,noindex'><div id=google_translate_element></div>"
    assert len(flags(many)) == len(flags(linked)) == 8
    for stated in (many, linked):
        found = flags(said + stated, ("TDM-Reservation", "1"))
        assert {"machine:google", "noai", "noindex", "tdm-reserved"} < set(found)
        assert len(found) == 12
    both = flags(said + many + linked)
    assert len(both) == 3 + 16


@pytest.mark.parametrize(
    "piece",
    ["<script ", "translat", "machine-translat ", "<a rel=license>", "\"license\" ld+json",
     "<meta ",
     "<p class='machine", "<meta name=robots content=noai>", "machine translated ", "hreflang=",
     "<link rel=alternate hreflang=a-b href=/>", " class=", "<x class='a "],
)  # fmt: skip
def test_thousands_of_elements_take_little_time(piece: str) -> None:
    with processor_seconds():
        flags("<body>" + piece * 5_000)
