from __future__ import annotations

import pytest

from diptych.filter.rules import Rules
from diptych.types import SegmentPair, Url

ENGLISH = "The members of the council met in the old town hall on Tuesday evening."
FRENCH = "Les membres du conseil se sont réunis mardi soir à l'ancien hôtel de ville."
GERMAN = "Die Mitglieder des Rates trafen sich am Dienstagabend im alten Rathaus."


def segment(
    left: str, right: str, score: float = 0.7, langs: tuple[str, str] = ("en", "fr")
) -> SegmentPair:
    url = Url("http://example.org/")
    return SegmentPair(left, right, *langs, url, url, "", "", score)


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        (ENGLISH, FRENCH, ""),
        ("OK", "D'accord", ""),
        ("Yes, please do so.", "Oui, je vous en prie, faites donc cela.", ""),
        ("", FRENCH, "empty"),
        (ENGLISH, " \n\t", "empty"),
        (ENGLISH * 40, FRENCH * 40, "too_long"),
        (ENGLISH, FRENCH * 40, "too_long"),
        (ENGLISH * 40, FRENCH, "too_long"),
        ("2012 - 2013", "12/13", "no_letters"),
        ("12", "Douze", "no_letters"),
        ("Windows 95", "WINDOWS 95 ", "identical"),
        (ENGLISH, "Les membres", "length_ratio"),
        ("Members", FRENCH, "length_ratio"),
        (FRENCH, ENGLISH, "wrong_language"),
        (ENGLISH, ENGLISH.replace("council", "board"), "wrong_language"),
        (FRENCH.replace("conseil", "comité"), FRENCH, "wrong_language"),
    ],
)
def test_first_broken_rule_is_the_reason(left: str, right: str, reason: str) -> None:
    decision = Rules().judge(segment(left, right))
    assert (decision.accept, decision.reason) == (not reason, reason)


@pytest.mark.parametrize("score", [0.0, 0.42, 1.0])
def test_score_is_that_of_the_segment(score: float) -> None:
    assert Rules().judge(segment(ENGLISH, FRENCH, score)).score == score
    assert Rules().judge(segment("", FRENCH, score)).score == score


def test_short_text_keeps_its_language_beyond_doubt() -> None:
    swapped = segment("Bonjour à tout le monde, mes amis", "Hello to everybody, my friends")
    assert Rules(min_confidence=0.5).judge(swapped).accept
    assert Rules(min_letters=15, min_confidence=0.5).judge(swapped).reason


def test_language_is_doubted_only_with_confidence() -> None:
    swapped = segment(FRENCH, ENGLISH)
    assert Rules(min_confidence=1.1).judge(swapped).accept


def test_codes_of_the_user_are_understood() -> None:
    assert Rules().judge(segment(ENGLISH, FRENCH, langs=("en-GB", "fra"))).accept
    assert Rules().judge(segment(FRENCH, ENGLISH, langs=("en-GB", "fra"))).reason


def test_language_unknown_to_the_model_is_not_doubted() -> None:
    assert Rules().judge(segment(ENGLISH, GERMAN, langs=("en", "tet"))).accept


def test_lengths_of_ideographs_are_compared_as_letters() -> None:
    chinese = "理事会成员星期二晚上在老市政厅开会。"
    assert Rules().judge(segment(ENGLISH, chinese, langs=("en", "zh"))).accept
    assert Rules().judge(segment("Members", chinese * 2, langs=("en", "zh"))).reason


def test_limits_are_parameters() -> None:
    assert Rules(max_length=10).judge(segment(ENGLISH, FRENCH)).reason == "too_long"
    assert Rules(max_ratio=20).judge(segment("Members", FRENCH)).accept
    assert Rules(slack=0).judge(segment("OK", "D'accord")).reason == "length_ratio"
