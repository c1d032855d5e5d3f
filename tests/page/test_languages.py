"""Languages of a page: one, several, and parts that do not count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.language.codes import wanted_language
from diptych.page.languages import _by_length, _languages
from diptych.page.read import read_page
from diptych.types import LangScore, PageRecord, Response, Url

HERE = Url("http://example.org/docs/page.html")
LINES = {
    "en": [
        "The keeper of the lighthouse climbed the stairs every evening to light the great lamp.",
        "When the storm had passed he wrote into his book how many ships he had seen that night.",
        "In winter the island was cut off from the harbour for weeks, and nobody came to visit.",
        "The old tower is a museum today, and visitors may climb to the gallery in the summer.",
    ],
    "fr": [
        "Le gardien du phare montait chaque soir les marches pour allumer la grande lampe.",
        "Quand la tempête était passée, il notait dans son livre combien de navires il avait vus.",
        "En hiver, l'île était coupée du port pendant des semaines, et personne ne venait.",
        "La vieille tour est aujourd'hui un musée, et les visiteurs peuvent monter en été.",
    ],
    "de": [
        "Der Wärter des Leuchtturms stieg jeden Abend die Treppe hinauf und zündete die Lampe an.",
        "War der Sturm vorüber, schrieb er in sein Buch, wie viele Schiffe er gesehen hatte.",
        "Im Winter war die Insel wochenlang vom Hafen abgeschnitten, und niemand kam zu Besuch.",
        "Der alte Turm ist heute ein Museum, und im Sommer darf man auf die Galerie steigen.",
    ],
    "zh": [
        "灯塔的看守人每天晚上都爬上楼梯，点亮那盏巨大的灯，好让海上的船只找到路。",
        "暴风雨过去之后，他会在本子上写下那天夜里他看见了多少艘船经过海峡。",
        "冬天这座岛与港口隔绝好几个星期，没有人来看望他，他独自一人守着灯。",
        "这座古老的塔今天是一座博物馆，夏天游客可以登上楼顶的回廊眺望大海。",
    ],
}  # fmt: skip
MENUS = {
    "en": ["Home page", "About the museum", "Opening hours", "How to find us", "Our visitors"],
    "fr": ["Page d'accueil", "Le musée du phare", "Heures d'ouverture", "Comment venir chez nous"],
    "de": ["Zur Startseite", "Über das Museum", "Öffnungszeiten", "So finden Sie zu uns"],
    "zh": ["网站首页", "关于博物馆", "开放时间", "如何找到我们"],
}
CODE = (
    """int main(int argc, char **argv) { for (int i = 0; i &lt; argc; i++) puts(argv[i]); }
#include &lt;stdio.h&gt; static const char *const default_options[] = { "width", "height", NULL };
"""
    * 20
)


def paragraphs(*langs: str) -> str:
    return "".join(f"<p>{line}</p>" for lang in langs for line in LINES[lang])


def menu(lang: str) -> str:
    return "<ul>" + "".join(f"<li>{line}</li>" for line in MENUS[lang]) + "</ul>"


def read(markup: str, langs: tuple[str, ...] = ("en", "fr")) -> PageRecord:
    told = (("Content-Type", "text/html; charset=utf-8"),)
    return read_page(Response(HERE, 200, told, markup.encode(), 0.0), langs=langs).record


def told(markup: str, langs: tuple[str, ...] = ("en", "fr")) -> set[str]:
    return {lang for lang, _ in read(markup, langs).langs}


# Pages in several languages


@pytest.mark.parametrize("menus", ["fr", "de"])
def test_a_page_translated_in_part_has_both_languages(menus: str) -> None:
    langs = ("en", menus)
    found = read(menu(menus) * 2 + paragraphs("en"), langs)
    assert {lang for lang, _ in found.langs} == set(langs)
    assert found.lang == "en"
    assert all(score >= 0.15 for _, score in found.langs)
    assert sum(score for _, score in found.langs) == pytest.approx(1, abs=0.01)


def test_menus_alone_can_show_another_language() -> None:
    short = LINES["en"][:2]
    page = menu("fr") * 3 + "".join(f"<p>{line}</p>" for line in short)
    assert told(page) == {"en", "fr"}


def test_a_page_half_in_each_language_has_both() -> None:
    assert told(menu("fr") + paragraphs("en", "fr")) == {"en", "fr"}
    assert told(paragraphs("de", "fr"), ("fr", "de")) == {"de", "fr"}


def test_shares_are_best_first() -> None:
    found = read(menu("fr") * 3 + paragraphs("en", "en", "fr"))
    assert [lang for lang, _ in found.langs] == ["en", "fr"]
    assert found.langs[0].score > found.langs[1].score
    assert found.lang == "en"


def test_shares_are_those_of_the_letters() -> None:
    found = dict(read(menu("fr") + paragraphs("en", "fr")).langs)
    letters = {lang: sum(map(len, LINES[lang])) for lang in ("en", "fr")}
    letters["fr"] += len("\n".join(MENUS["fr"]))
    share = letters["en"] / sum(letters.values())
    assert found == {"en": pytest.approx(share), "fr": pytest.approx(1 - share)}


def test_a_page_partly_in_a_language_not_requested_has_one_language() -> None:
    assert "de" not in told(menu("de") + paragraphs("en", "en"))


@pytest.mark.parametrize("lang", LINES)
def test_a_page_in_one_language_stays_so(lang: str) -> None:
    for langs in (("en", "fr"), ("de", "en"), ("zh", "en"), ("en", "fr", "de", "zh")):
        if lang in langs:
            assert told(menu(lang) + paragraphs(lang, lang), langs) == {lang}


def test_a_quoted_sentence_does_not_make_a_page_in_two_languages() -> None:
    page = menu("en") + paragraphs("en", "en", "en") + f"<p>{LINES['fr'][0]}</p>"
    assert told(page) == {"en"}


def test_a_name_of_the_other_language_in_the_menu_does_no_harm() -> None:
    assert told("<a href=/fr>Français</a><a href=/en>English</a>" + paragraphs("en")) == {"en"}


def test_one_requested_language_has_no_shares() -> None:
    assert read(menu("fr") + paragraphs("en"), ("en",)).lang == "en"
    assert "fr" not in told(menu("fr") + paragraphs("en", "en"), ("en",))


def test_the_order_of_requested_languages_does_not_matter() -> None:
    page = menu("fr") * 3 + paragraphs("en")
    assert read(page, ("en", "fr")).langs == read(page, ("fr", "en")).langs


# The main part of a page, and dialogs around it


@pytest.mark.parametrize(
    "dialog",
    [
        "<div class='cmplz-cookiebanner'>{}</div>", "<div id=CookieConsent>{}</div>",
        "<div class=consent-box>{}</div>", "<dialog open>{}</dialog>",
        "<div role=dialog>{}</div>", "<section role=alertdialog>{}</section>",
        "<div aria-modal=true>{}</div>",
    ],
)  # fmt: skip
def test_language_of_a_page_is_not_that_of_its_dialogs(dialog: str) -> None:
    text = menu("en") + paragraphs("en")
    assert read(text + f"<div>{paragraphs('fr', 'fr')}</div>").lang == "fr"
    found = read(text + dialog.format(paragraphs("fr", "fr")))
    assert [lang for lang, _ in found.langs] == ["en", "fr"], "it is in two languages all the same"
    assert found.lang == "en"


def test_page_that_a_cookie_plugin_marks_is_no_dialog() -> None:
    dialog = f"<div class=cookie-notice>{paragraphs('fr', 'fr')}</div>"
    page = f"<html class=cookies><body class='cookies-not-set'>{paragraphs('en')}{dialog}"
    assert read(page).lang == "en"


def test_small_main_part_decides_the_language_for_pairing() -> None:
    found = read(f"<main>{paragraphs('en')}</main>" + paragraphs(*["fr"] * 20))
    assert found.lang == wanted_language(found.langs, ("en", "fr")) == "en"
    assert found.langs[1].lang == "fr"


def test_main_part_in_a_language_not_requested_is_in_no_other() -> None:
    found = read(f"<main>{paragraphs('de', 'de')}</main>" + paragraphs("en"))
    assert found.lang == "de"
    assert wanted_language(found.langs, ("en", "fr")) == ""


@pytest.mark.parametrize("tag", ["article", "div class=cookie"])
def test_elements_in_each_other_are_read_in_bounded_time(tag: str) -> None:
    page = f"<{tag}>" * 500 + "<p>ab" * 60_000
    with processor_seconds():
        read(page)


def test_dialog_counts_where_there_is_hardly_any_other_text() -> None:
    page = "<p>Hello and good morning</p>" + f"<dialog open>{paragraphs('fr')}</dialog>"
    assert read(page).lang == "fr"


@pytest.mark.parametrize("tag", ["main", "div role=main", "article"])
def test_main_part_decides_whatever_is_around_it(tag: str) -> None:
    around = f"<div>{paragraphs('fr', 'fr')}</div>"
    page = f"{around}<{tag}>{paragraphs('en')}</{tag.split()[0]}>{around}"
    assert read(page.replace(tag, "div")).lang == "fr"
    assert [lang for lang, _ in read(page).langs] == ["en", "fr"]
    assert told(f"<{tag}>{paragraphs('en')}</{tag.split()[0]}>{menu('fr')}") == {"en", "fr"}


def test_main_part_in_a_language_that_a_sample_of_the_page_misses_counts() -> None:
    page = paragraphs(*["fr"] * 9) + f"<main>{paragraphs('en', 'en')}</main>"
    found = read(page)
    assert [lang for lang, _ in found.langs] == ["en", "fr"]
    assert found.langs[0].score < found.langs[1].score


def test_main_part_that_is_in_two_languages_does_not_decide() -> None:
    mixed = f"<main>{paragraphs('fr', 'en', 'fr')}</main>"
    assert read(mixed).lang == "fr"
    assert read(mixed + paragraphs("en", "en", "en")).lang == "en"


def test_short_main_part_does_not_decide() -> None:
    page = f"<main><p>{LINES['fr'][0]}</p></main>" + paragraphs("en", "en")
    assert read(page).lang == "en"


# Ideographs


def test_ideographs_count_for_more_than_their_number() -> None:
    assert all(len(line) < 60 for line in LINES["zh"])
    assert told(menu("en") * 3 + paragraphs("zh"), ("en", "zh")) == {"en", "zh"}
    assert told(menu("zh") * 9 + paragraphs("en"), ("en", "zh")) == {"en", "zh"}


def test_a_line_of_ideographs_is_running_text() -> None:
    menus = MENUS["zh"] + MENUS["en"]
    assert _by_length([*LINES["zh"], *menus]) == (LINES["zh"], menus)


# Code


@pytest.mark.parametrize("tag", ["pre", "code", "samp", "kbd", "tt", "var", "PRE", "TT"])
def test_code_is_in_no_language(tag: str) -> None:
    page = f"<{tag}>{CODE}</{tag}>".join(f"<p>{line}</p>" for line in LINES["fr"])
    assert read(page).lang == "fr"
    assert told(page) == {"fr"}


def test_a_page_of_code_alone_is_still_read() -> None:
    assert read(f"<p>Voici</p><pre>{CODE}</pre>").text_length > 1000
    text = " ".join(LINES["fr"])
    assert read(f"<pre>{text}</pre>").lang == "fr"  # a book of long ago, all of it in one pre


def test_code_stays_part_of_the_text() -> None:
    page = paragraphs("fr") + f"<pre>{CODE}</pre>"
    assert read(page).text_length > read(paragraphs("fr")).text_length + 1000


# What is asked for


@pytest.mark.parametrize(
    ("scores", "langs", "expected"),
    [
        ([], ["en", "fr"], ""),
        ([("fr", 0.9)], ["en", "fr"], "fr"),
        ([("de", 0.9)], ["en", "fr"], ""),
        ([("de", 0.9)], [], "de"),
        ([("de", 0.8), ("en", 0.2)], ["en", "fr"], "en"),
        ([("de", 0.9), ("en", 0.1)], ["en", "fr"], ""),
        ([("fr", 0.6), ("en", 0.4)], ["en", "fr"], "fr"),
        ([("zh", 0.9)], ["en", "zh-TW"], "zh"),
    ],
)
def test_the_likeliest_requested_language(
    scores: list[tuple[str, float]], langs: list[str], expected: str
) -> None:
    assert wanted_language([LangScore(*score) for score in scores], langs) == expected


# Bad input


LINE = st.text(max_size=90) | st.sampled_from([line for lines in LINES.values() for line in lines])


@given(st.lists(LINE, max_size=20), st.sampled_from([(), ("en",), ("en", "fr"), ("zh", "xx", "")]))
def test_any_lines_have_languages_or_none(lines: list[str], langs: tuple[str, ...]) -> None:
    scores = _languages(lines, langs)
    assert [score for _, score in scores] == sorted((score for _, score in scores), reverse=True)
    assert all(lang and 0 < score < 1.001 for lang, score in scores)
    assert sum(score for _, score in scores) < 1.001
    assert len({lang for lang, _ in scores}) == len(scores)


@pytest.mark.parametrize(
    "lines",
    [["\ud800" * 99], [LINES["fr"][0] + "\udfff", *MENUS["en"] * 5], ["\x00" * 99], ["", "\n"]],
)
def test_lone_surrogates_and_empty_lines_do_no_harm(lines: list[str]) -> None:
    for langs in ((), ("en", "fr")):
        assert len(_languages(lines, langs)) <= 3


def test_a_hundred_thousand_lines_are_sampled() -> None:
    lines = [*MENUS["fr"] * 9, *LINES["en"] * 25_000]
    assert {lang for lang, _ in _languages(lines, ("en", "fr"))} <= {"en", "fr"}


STRANGE = [
    "Zi goltiol te mhulo nelbuab ghugio zeav roz nulghoz meiv urrinov ru klulto runmo.",
    "Giult ru bonmobo obuab muzzoo, ar lebuab tulz zel raslo genteol to luseloz ar usuab siz.",
    "Ol hasov, r'aro obuab geimoo ti melb moltulb toz zonualoz, ob movzello lo soluab.",
]


def declaring(lines: list[str], head: str, *headers: tuple[str, str]) -> PageRecord:
    text = "".join(f"<p>{line}</p>" for line in lines)
    body = f"<html {head}><body>{text}</body></html>"
    types = (("Content-Type", "text/html; charset=utf-8"), *headers)
    response = Response(HERE, 200, types, body.encode(), 0.0)
    return read_page(response, langs=("en", "tet")).record


@pytest.mark.parametrize(
    ("head", "headers"),
    [
        ("lang=tet", ()),
        ("lang=tet-TL", ()),
        ("xml:lang=TET", ()),
        ("", (("Content-Language", "tet"),)),
        ("lang=tet", (("Content-Language", "en"),)),
    ],
)
def test_an_unidentifiable_language_is_the_declared_one(
    head: str, headers: tuple[tuple[str, str], ...]
) -> None:
    record = declaring(STRANGE, head, *headers)
    assert record.lang == "tet"
    assert record.langs[0].score >= 0.9


@pytest.mark.parametrize("head", ["", "lang=en", "lang=fr", "lang=nonsense"])
def test_pages_without_the_declaration_are_not_in_that_language(head: str) -> None:
    assert declaring(STRANGE, head).lang not in ("tet", "")


def test_text_that_is_clearly_in_another_of_the_languages_is_in_that_one() -> None:
    assert declaring(LINES["en"], "lang=tet").lang == "en"


def test_text_in_a_language_not_requested_does_not_overrule_the_declaration() -> None:
    assert declaring(LINES["de"], "lang=tet").lang == "tet", "it declares so, and may be"
    assert declaring(["Menu", "Home"], "lang=tet").lang == "", "there is nothing to read"


def test_an_identifiable_language_is_never_taken_from_the_declaration() -> None:
    assert read(f"<html lang=fr>{paragraphs('de')}").lang == "de"


@pytest.mark.parametrize("langs", [("zh-Hans", "zh-Hant"), ("en", "zh-TW", "zh-CN")])
def test_pages_of_a_language_in_two_scripts_have_the_users_code(langs: tuple[str, ...]) -> None:
    simplified = LINES["zh"]
    traditional = ["燈塔的看守人每天晚上都爬上樓梯，點亮那盞巨大的燈，好讓海上的船隻找到路。"] * 3
    codes = {lang: lang in ("zh-Hant", "zh-TW") for lang in langs if lang != "en"}
    for lang, is_traditional in codes.items():
        lines = traditional if is_traditional else simplified
        assert read("".join(f"<p>{line}" for line in lines), langs).lang == lang


@pytest.mark.parametrize(
    "word", ["konsentrasjon", "rookie", "consentrate", "dialogue", "Konsentrasi"]
)
def test_words_that_only_resemble_those_of_dialogs_change_nothing(word: str) -> None:
    lines = "".join(f"<p>{line}</p>" for line in LINES["en"])
    assert read(f"<body>{lines}<p>{word}").lang == "en"
