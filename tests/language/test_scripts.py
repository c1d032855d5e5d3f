from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.language.scripts import (
    SCRIPT_WORDS,
    covers,
    main_script,
    mark_script,
    marked_language,
    script_counts,
    script_shares,
)

# As Unicode names the letters of a script, which is not where it puts them.
NAMES = {
    "LATIN": "Latn", "CYRILLIC": "Cyrl", "GREEK": "Grek", "ARABIC": "Arab", "HEBREW": "Hebr",
    "ARMENIAN": "Armn", "GEORGIAN": "Geor", "DEVANAGARI": "Deva", "BENGALI": "Beng",
    "GURMUKHI": "Guru", "GUJARATI": "Gujr", "ORIYA": "Orya", "TAMIL": "Taml", "TELUGU": "Telu",
    "KANNADA": "Knda", "MALAYALAM": "Mlym", "SINHALA": "Sinh", "THAI": "Thai", "LAO": "Laoo",
    "TIBETAN": "Tibt", "MYANMAR": "Mymr", "ETHIOPIC": "Ethi", "CHEROKEE": "Cher",
    "CANADIAN": "Cans", "KHMER": "Khmr", "MONGOLIAN": "Mong", "HANGUL": "Hang", "NKO": "Nkoo",
    "TIFINAGH": "Tfng", "ADLAM": "Adlm", "HIRAGANA": "Hira", "THAANA": "Thaa", "SYRIAC": "Syrc",
    "MEETEI": "Mtei", "JAVANESE": "Java", "BALINESE": "Bali", "VAI": "Vaii", "OSAGE": "Osge",
    "COPTIC": "Copt", "GOTHIC": "Goth", "RUNIC": "Runr", "SHAVIAN": "Shaw",
}  # fmt: skip


def test_scripts_of_letters_agree_with_unicode_names() -> None:
    wrong = []
    for point in range(0x41, 0x20000):
        letter = chr(point)
        name = unicodedata.name(letter, "").split(" ")
        # `COMBINING GREEK ...` and the like are no letters.
        if letter.isalpha() and name[0] in NAMES and "LETTER" in name:
            found = script_counts(letter)
            if found != {NAMES[name[0]]: 1}:
                wrong.append((hex(point), name, found))
    assert not wrong[20:], "Unicode grows, but not by many letters of old scripts"
    assert not [each for each in wrong if int(each[0], 16) < 0x2000]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("12:30!", ""),
        ("Été", "Latn"),
        ("日本語と日本人のテスト", "Hani"),
        ("テキストです", "Kana"),
        ("ߒߞߏ ߞߊ߲", "Nkoo"),
        ("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "Cher"),
        ("ⵜⴰⵎⴰⵣⵉⵖⵜ", "Tfng"),
        ("𞤆𞤵𞤤𞤢𞤪", "Adlm"),
        ("發展", "Hant"),
        ("发展", "Hans"),
        ("体", "Hans"),
    ],
)
def test_main_script(text: str, expected: str) -> None:
    assert main_script(text) == expected


@given(st.text(max_size=60), st.lists(st.sampled_from([*SCRIPT_WORDS, "Jpan", "Kore"]), max_size=4))
def test_shares_of_any_text_are_empty_or_sum_to_one(text: str, scripts: list[str]) -> None:
    shares = script_shares(text, scripts)
    assert shares == {} or sum(shares.values()) == pytest.approx(1.0)
    assert set(shares) <= set(scripts)


def test_scripts_cover_their_parts() -> None:
    assert covers("Kore", "Hang")
    assert covers("Jpan", "Kana")
    assert not covers("Hani", "Hant")
    assert not covers("Latn", "Cyrl")


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("Sr_Latn", "Latn"),
        ("zh-Hant-TW", "Hant"),
        ("Chinese (Traditional)", "Hant"),
        ("繁體中文", "Hant"),
        ("big5", "Hant"),
        ("en", ""),
        ("platform", ""),
    ],
)
def test_marks_of_scripts(mark: str, expected: str) -> None:
    assert mark_script(mark) == expected


def test_a_mark_of_the_only_matching_language_means_it_in_any_script() -> None:
    assert marked_language("tc", "zh", ["en", "zh-Hans"]) == "zh-Hans"
    assert marked_language("tc", "zh", ["zh-Hans", "zh-Hant"]) == "zh-Hant"
    assert marked_language("chinese", "zh", ["zh-Hant", "zh-Hans"]) == "zh-Hans"
