from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.language.identify import (
    IDENTIFIED,
    _known_texts,
    base_model,
    can_identify,
    identify,
    is_identifiable,
)

TEXTS = {
    "en": "The mayor opened the new library yesterday, and many people came to see it.",
    "fr": "Le maire a inauguré hier la nouvelle bibliothèque, et beaucoup de gens sont venus.",
    "de": "Der Bürgermeister eröffnete gestern die neue Bibliothek, und viele Leute kamen.",
    "es": "El alcalde inauguró ayer la nueva biblioteca y mucha gente vino a verla.",
    "ru": "Мэр вчера открыл новую библиотеку, и многие люди пришли посмотреть на неё.",
    "zh": "市长昨天为新图书馆揭幕，许多人前来参观。",
    "ja": "市長は昨日、新しい図書館を開館し、多くの人々が見に来ました。",
    "ar": "افتتح العمدة المكتبة الجديدة أمس، وجاء كثير من الناس لرؤيتها.",
    "th": "นายกเทศมนตรีเปิดห้องสมุดใหม่เมื่อวานนี้ และมีคนมากมายมาชม",
}


@pytest.mark.parametrize("lang", TEXTS)
def test_running_text_is_identified(lang: str) -> None:
    scores = identify(TEXTS[lang])
    assert scores[0].lang == lang
    assert scores[0].score > 0.5


@pytest.mark.parametrize(
    "text", ["", "Home", "1999 - 2024", "12.345,67 € / 100 % / 2020-01-01 !!!", "中"]
)
def test_too_little_text_has_no_language(text: str) -> None:
    assert identify(text) == ()
    assert identify(text, ["en", "fr"]) == ()


def test_a_few_ideographs_are_enough() -> None:
    assert is_identifiable("新图书馆揭幕")
    assert not is_identifiable("abcdef")


def test_at_most_three_scores_are_returned_best_first() -> None:
    scores = identify("Information international contact menu service")
    assert 1 <= len(scores) <= 3
    assert [score.score for score in scores] == sorted((s.score for s in scores), reverse=True)
    assert all(0.01 <= score.score <= 1 for score in scores)


def test_a_closed_choice_has_no_other_languages() -> None:
    for lang in TEXTS:
        found = {score.lang for score in identify(TEXTS[lang], ["en", "fr"])}
        assert found <= {"en", "fr"}


def test_a_closed_choice_is_more_certain_on_short_lines() -> None:
    line = "Accueil Contact Plan du site"
    assert identify(line, ["en", "fr"])[0].score > identify(line)[0].score


def test_an_open_choice_only_prefers_the_requested_languages() -> None:
    line = "Home Contact Sitemap Search"
    preferred = identify(line, ["en", "fr"], closed=False)[0]
    assert preferred.lang == "en"
    assert preferred.score > 2 * identify(line)[0].score
    assert identify(TEXTS["de"], ["en", "fr"], closed=False)[0].lang == "de"


@pytest.mark.parametrize(
    ("text", "langs", "expected"),
    [
        (TEXTS["zh"], ["en", "zh-Hans"], "zh-Hans"),
        (TEXTS["zh"], ["en", "zh-tw"], "zh-tw"),
        ("Borgermesteren åpnet i går det nye biblioteket, og mange kom.", ["en", "nb"], "nb"),
        (TEXTS["fr"], ["fr-CA", "en"], "fr-CA"),
    ],
)
def test_the_users_own_code_is_used(text: str, langs: list[str], expected: str) -> None:
    assert identify(text, langs)[0].lang == expected


SERBIAN = {
    "sr-Cyrl": "Градоначелник је јуче отворио нову библиотеку и многи су дошли да је виде.",
    "sr-Latn": "Gradonačelnik je juče otvorio novu biblioteku i mnogi su došli da je vide.",
}
CHINESE = {
    "zh-Hans": "市长昨天为新图书馆揭幕，许多人前来参观。",
    "zh-Hant": "市長昨天為新圖書館揭幕，許多人前來參觀。",
}


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("texts", [SERBIAN, CHINESE])
def test_letters_decide_between_two_scripts_of_a_language(
    texts: dict[str, str], closed: bool
) -> None:
    for langs in (list(texts), ["en", *reversed(texts)]):
        for lang, text in texts.items():
            best = identify(text, langs, closed=closed)[0]
            assert best.lang == lang
            assert best.score > 0.5


def test_latin_names_do_not_make_a_text_latin() -> None:
    text = "Нови рачунар IBM PC ради под системом Linux, Windows, FreeBSD или macOS Sonoma."
    assert sum(map(str.isascii, text)) > len(text) / 2
    assert identify(text, ["sr-Latn", "sr-Cyrl"])[0].lang == "sr-Cyrl"


def test_ambiguous_chinese_characters_do_not_decide() -> None:
    scores = identify("中文中文中文中文", ["zh-Hans", "zh-Hant"])
    assert {score.lang for score in scores} == {"zh-Hans", "zh-Hant"}
    assert scores[0].score == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("asked", "texts", "other"),
    [
        ("zh-TW", CHINESE, "zh-Hans"),
        ("zh-Hans", CHINESE, "zh-Hant"),
        ("sr-Latn", SERBIAN, "sr-Cyrl"),
        ("sr-Cyrl", SERBIAN, "sr-Latn"),
    ],
)
def test_a_script_that_was_not_requested_counts_as_another_language_in_an_open_choice(
    asked: str, texts: dict[str, str], other: str
) -> None:
    assert identify(texts[other], ["en", asked], closed=False)[0].lang == other
    assert identify(texts[other], ["en", asked])[0].lang == asked
    own = next(text for script, text in texts.items() if script != other)
    assert identify(own, ["en", asked], closed=False)[0].lang == asked


def test_a_language_requested_without_a_script_matches_any_script() -> None:
    for text in SERBIAN.values():
        assert identify(text, ["en", "sr"], closed=False)[0].lang == "sr"


def test_languages_that_can_be_identified() -> None:
    assert all(map(can_identify, ["en", "eng", "fil", "nb", "zh-Hant", "sr-Latn", "kab"]))
    assert not any(map(can_identify, ["tet", "nds", "qaa", "", "xx", "zxx"]))


def test_the_table_of_languages_matches_the_model() -> None:
    no_language = "zxx"
    assert {*IDENTIFIED, no_language} == set(base_model().labels)


def test_languages_the_model_does_not_know_change_nothing() -> None:
    assert identify(TEXTS["de"], ["tet", "qqq"]) == identify(TEXTS["de"])
    assert identify(TEXTS["de"], ["tet", "en"])[0].lang == "de"


def test_one_choice_does_not_change_another() -> None:
    before = identify(TEXTS["de"])
    for langs in (["en", "fr"], ["fr", "es"], ["de", "en"]):
        identify(TEXTS["de"], langs)
    assert identify(TEXTS["de"]) == before
    with ThreadPoolExecutor(4) as pool:
        choices = [["en", "fr"], ["fr", "ru"], ["de", "en"], []] * 25
        found = list(pool.map(lambda langs: identify(TEXTS["fr"], langs)[0].lang, choices))
    assert found == ["fr", "fr", identify(TEXTS["fr"], ["de", "en"])[0].lang, "fr"] * 25


def test_long_texts_are_cut() -> None:
    assert identify(TEXTS["fr"] * 10_000)[0].lang == "fr"


@given(st.text(max_size=100), st.sampled_from([(), ("en", "fr"), ("zh", "xx"), ("", "en")]))
def test_any_text_can_be_identified(text: str, langs: tuple[str, ...]) -> None:
    scores = identify(text, langs)
    assert sum(score.score for score in scores) < 1.001


def test_a_text_is_remembered_for_each_choice_of_languages() -> None:
    text = "Ca va bien, merci beaucoup, et toi?"
    choices = [(["en", "fr"], True), (["en", "de"], True), (["en", "de"], False), ([], False)]
    _known_texts.cache_clear()
    warm = [identify(text, langs, closed=closed) for langs, closed in choices * 2]
    cold = []
    for langs, closed in choices:
        _known_texts.cache_clear()
        cold.append(identify(text, langs, closed=closed))
    assert warm == cold * 2
    assert len(set(cold)) > 1


def test_texts_without_letters_are_remembered_too() -> None:
    _known_texts.cache_clear()
    assert identify("1999, 2000", ["en", "fr"]) == identify("1999, 2000", ["en", "fr"]) == ()
    assert _known_texts(("en", "fr"), (), True) == {"1999, 2000": ()}
