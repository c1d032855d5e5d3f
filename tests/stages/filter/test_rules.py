from __future__ import annotations

import numpy as np
import pytest

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.filter.rules import Rules
from diptych.stages.filter.shared.characters import Kind, count_characters
from diptych.stages.filter.shared.mojibake import damage
from diptych.stages.filter.shared.segments import read_segments
from diptych.text.lengths import text_length
from diptych.types import Decision, SegmentPair, Url
from diptych.units import Repeats

ENGLISH = "The members of the council met in the old town hall on Tuesday evening."
FRENCH = "Les membres du conseil se sont réunis mardi soir à l'ancien hôtel de ville."
GERMAN = "Die Mitglieder des Rates trafen sich am Dienstagabend im alten Rathaus."
SPANISH = "Los miembros del consejo se reunieron el martes por la tarde en el ayuntamiento."
NOTHING = Lexicon.empty("en", "fr")


def segment(
    left: str, right: str, score: float = 0.7, langs: tuple[str, str] = ("en", "fr")
) -> SegmentPair:
    url = Url("http://example.org/")
    return SegmentPair(left, right, *langs, url, url, "", "", score)


def judged(rules: Rules, seg: SegmentPair) -> Decision:
    (decision,) = rules.judge([seg], NOTHING)
    return decision


def wrongly_read(text: str) -> str:
    return text.encode().decode("cp1252")


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        (ENGLISH, FRENCH, ""),
        ("OK", "D'accord", ""),
        ("Yes, please do so.", "Oui, je vous en prie, faites donc cela.", ""),
        ("Version 2.28 (2023-02-15)", "Version du 2.28 (2023-02-15)", "copied"),
        ("Photo: Anna Berg, Unsplash.", "Foto: Anna Berg, Unsplash.", "copied"),
        ("QField usage in Zermatt", "Utilisation de QField à Zermatt", ""),
        ("English", "Slovenščina", "language_names"),
        ("EN", "DE", "language_names"),
        ("French", "Français", ""),
        ("No", "Ne", ""),
        ("No.", "Nr.", ""),
        ("", FRENCH, "empty"),
        (ENGLISH, " ", "empty"),
        (ENGLISH * 40, FRENCH * 40, "too_long"),
        (ENGLISH, FRENCH * 40, "too_long"),
        (ENGLISH * 40, FRENCH, "too_long"),
        ("2012 - 2013", "12/13", "no_letters"),
        ("12", "Douze", "no_letters"),
        ("Windows 95", "WINDOWS 95 ", "identical"),
        ("Version 2.0", "Version 3.0", "identical"),
        (ENGLISH, "Les membres", "length_ratio"),
        ("Members", FRENCH, "length_ratio"),
        (FRENCH, ENGLISH, "wrong_language"),
        (ENGLISH, ENGLISH.replace("council", "board"), "wrong_language"),
        (FRENCH.replace("conseil", "comité"), FRENCH, "wrong_language"),
        (ENGLISH, SPANISH, "wrong_language"),
        (GERMAN, FRENCH, "wrong_language"),
        (ENGLISH, wrongly_read(FRENCH), "mojibake"),
        (ENGLISH, FRENCH.replace("é", "\ufffd").replace("ô", "\ufffd"), "mojibake"),
        ("Tel. 0043 1 234 567 890", "Tél. 0043 1 234 567 890", "mostly_digits"),
        ("<div><a href=x>Home</a></div>", "<div><a href=x>Accueil</a></div>", "mostly_markup"),
    ],
)
def test_first_broken_rule_is_the_reason(left: str, right: str, reason: str) -> None:
    decision = judged(Rules(), segment(left, right))
    assert (decision.accept, decision.reason) == (not reason, reason)


def test_each_segment_is_judged_by_itself() -> None:
    segs = [segment(ENGLISH, FRENCH), segment("", FRENCH), segment(FRENCH, ENGLISH)] * 2
    assert Rules().judge(segs, NOTHING) == [judged(Rules(), seg) for seg in segs]
    assert Rules().judge([], NOTHING) == []


@pytest.mark.parametrize("score", [0.0, 0.42, 1.0])
def test_score_is_that_of_the_segment(score: float) -> None:
    assert judged(Rules(), segment(ENGLISH, FRENCH, score)).score == score
    assert judged(Rules(), segment("", FRENCH, score)).score == score


def test_scores_do_not_change() -> None:
    scores = np.array([0.1, 0.9])
    counts = np.array([3, 1])
    assert Rules().rescore(scores, Repeats(counts, counts, counts)).tolist() == [0.1, 0.9]
    assert Rules().threshold == 0.0


def test_language_of_a_short_text_is_not_checked() -> None:
    swapped = segment("Bonjour à tout le monde, mes amis", "Hello to everybody, my friends")
    assert judged(Rules(min_confidence=0.5), swapped).accept
    assert judged(Rules(min_letters=15, min_confidence=0.5), swapped).reason


def test_language_is_rejected_only_with_confidence() -> None:
    assert judged(Rules(min_confidence=1.1, min_foreign=1.1), segment(FRENCH, ENGLISH)).accept
    assert judged(Rules(min_foreign=1.1), segment(ENGLISH, SPANISH)).accept


def test_codes_of_the_user_are_understood() -> None:
    assert judged(Rules(), segment(ENGLISH, FRENCH, langs=("en-GB", "fra"))).accept
    assert judged(Rules(), segment(FRENCH, ENGLISH, langs=("en-GB", "fra"))).reason


def test_language_unknown_to_the_model_is_not_checked() -> None:
    assert judged(Rules(), segment(ENGLISH, GERMAN, langs=("en", "tet"))).accept


def test_two_scripts_of_a_language_are_not_checked() -> None:
    latin = "Članovi veća su se sastali u utorak uveče u staroj gradskoj kući."
    cyrillic = "Чланови већа су се састали у уторак увече у старој градској кући."
    for langs in (("sr-Latn", "sr-Cyrl"), ("sr-Cyrl", "sr-Latn"), ("zh-Hans", "zh-Hant")):
        assert judged(Rules(), segment(latin, cyrillic, langs=langs)).accept


def test_lengths_of_ideographs_are_compared_as_letters() -> None:
    chinese = "理事会成员星期二晚上在老市政厅开会。"
    assert judged(Rules(), segment(ENGLISH, chinese, langs=("en", "zh"))).accept
    assert judged(Rules(), segment("Members", chinese * 2, langs=("en", "zh"))).reason


def test_limits_are_parameters() -> None:
    assert judged(Rules(max_length=10), segment(ENGLISH, FRENCH)).reason == "too_long"
    assert judged(Rules(max_ratio=20), segment("Members", FRENCH)).accept
    assert judged(Rules(slack=0), segment("OK", "D'accord")).reason == "length_ratio"
    assert judged(Rules(max_damage=100), segment(ENGLISH, wrongly_read(FRENCH))).accept
    assert judged(Rules(max_digits=0.0), segment("Room 1", "Salle 1")).reason == "mostly_digits"
    assert judged(Rules(max_code=0.0), segment("a/b or", "a/b ou")).reason == "mostly_markup"


@pytest.mark.parametrize(
    "text",
    [
        "«PÂ», NÃO! SÃO «À»", "Ça coûte 5 €", "Größe: 30°C – “süß”", "L'été… à «Orléans»",
        "A ação nº 1 já é «é»", "Ægir‘s øl – 20 %", "Č. 1 „žluťoučký kůň“ §5", "Việt Nam “đã”",
        "Ёлка, “ёж” — №1", "ΩΣ’ Ά", "ÄÖÜ™ Å® STRAßE», ß”", "“AMANHÃ”, «PARIS»",
    ],
)  # fmt: skip
def test_accented_letters_are_no_damage(text: str) -> None:
    assert damage(text) == 0


@pytest.mark.parametrize(
    "text",
    ["été", "Größe", "“quoted”", "日本語の本", "Ёлка", "l’eau", "ΩΣ", "modalità nuova", "عربي"],
)
def test_utf_8_read_as_western_is_damage(text: str) -> None:
    wrong = text.encode().decode("cp1252", "replace").replace("\xa0", " ")
    assert damage(wrong) > 1


@pytest.mark.parametrize("text", ["", "a b", "中文 abc", "のは한국", "Ærø 𠀀", "\U0001f600 x"])
def test_lengths_are_those_of_the_aligners(text: str) -> None:
    assert count_characters([text]).lengths.tolist() == pytest.approx([text_length(text)])


def test_characters_are_counted_by_text() -> None:
    found = count_characters(["Ein Haus. und?", "", "(ZWEI)"])
    assert found.kinds[:, Kind.UPPER].tolist() == [2, 0, 4]
    assert found.kinds[:, Kind.SPACE].tolist() == [2, 0, 0]
    assert found.breaks.tolist() == [1, 0, 0]
    assert found.first.tolist() == [Kind.UPPER, Kind.OTHER, Kind.UPPER]
    assert found.last.tolist() == [Kind.QUESTION, Kind.OTHER, Kind.UPPER]
    assert found.visible.tolist() == [12, 0, 6]


@pytest.mark.parametrize(
    ("left", "right", "kept", "reason"),
    [
        # as many characters as are allowed, and one more
        ("a" * 2000, "b " * 1000, True, "too_long"),
        ("a" * 2001, "b " * 1000, False, "too_long"),
        # (length + 15) of the one side, and three times that of the other
        ("a" * 15, "b" * 75, True, "length_ratio"),
        ("a" * 15, "b" * 76, False, "length_ratio"),
        ("b" * 76, "a" * 15, False, "length_ratio"),
        # six digits of ten, and seven
        ("abcd123456", "efgh123456", True, "mostly_digits"),
        ("abc1234567", "efg1234567", False, "mostly_digits"),
        ("abcdefg", "abc 1234567", False, "mostly_digits"),
        # one sign of four, and two of seven
        ("abc/", "efg/", True, "mostly_markup"),
        ("abcde//", "efghi//", False, "mostly_markup"),
        # one damaged character, and two
        ("abc\ufffd", "efgh", True, "mojibake"),
        ("abc\ufffd\ufffd", "efgh", False, "mojibake"),
        ("abc", "efgh\ufffd\ufffd", False, "mojibake"),
    ],
)
def test_limits_are_exact(left: str, right: str, kept: bool, reason: str) -> None:
    decision = judged(Rules(min_letters=10**6), segment(left, right))
    assert (decision.accept, decision.reason) == (kept, "" if kept else reason)


def test_language_is_checked_from_forty_letters_on() -> None:
    def reason(letters: int) -> str:
        text = "Les membres du conseil se sont réunis mardi soir"
        while sum(map(str.isalpha, text)) > letters:
            text = text[:-1]
        return judged(Rules(), segment(text, ENGLISH[: len(text)])).reason

    assert [reason(letters) for letters in (39, 40)] == ["", "wrong_language"]


@pytest.mark.parametrize(
    ("rules", "odds", "broken"),
    [
        (Rules(min_foreign=1.0), 2.2, True),  # log(9) = 2.197: nine to one
        (Rules(min_foreign=1.0), 2.19, False),
        (Rules(min_confidence=1.0), 4.6, True),  # log(99) = 4.595
        (Rules(min_confidence=1.0), 4.59, False),
    ],
)
def test_language_is_rejected_at_the_given_confidence(
    rules: Rules, odds: float, broken: bool
) -> None:
    found = read_segments([segment(ENGLISH, FRENCH)])
    sure, unsure = np.array([100.0]), np.array([-odds])
    for side in (0, 1):
        told = (unsure, sure) if side == 0 else (sure, unsure)
        reasons = rules.broken_rules(found._replace(own_odds=told, third_odds=told))
        assert reasons == ["wrong_language" if broken else ""]


def test_first_of_several_broken_rules_is_named() -> None:
    order = [
        ("", "x" * 3000, "empty"), ("1" * 3000, "2", "too_long"),
        ("1\ufffd\ufffd", "2", "no_letters"),
        ("a1234567\ufffd\ufffd", "b", "mojibake"), ("a1234567///", "b1234567", "mostly_digits"),
        ("a//", "a//", "mostly_markup"), (FRENCH, FRENCH, "identical"),
        (FRENCH * 5, "b", "length_ratio"),
    ]  # fmt: skip
    decisions = Rules().judge([segment(left, right) for left, right, _ in order], NOTHING)
    assert [decision.reason for decision in decisions] == [reason for *_, reason in order]


def test_bounds_of_copied_segments_can_be_set() -> None:
    seg = segment("Room: Naturalis 02", "Saal: Naturalis 02")
    assert judged(Rules(), seg).reason == "copied"
    assert judged(Rules(max_label=0), seg).accept
    assert judged(Rules(min_copied=2.1), seg).accept
