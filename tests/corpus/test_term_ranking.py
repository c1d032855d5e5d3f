"""Grouping and ranking of candidates for terms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diptych.corpus.term_candidates import Key
from diptych.corpus.term_ranking import Found, grouped, is_same_word, without_nested


def key(left: str, right: str) -> Key:
    return Key(tuple(left.split()), tuple(right.split()))


def found(left: str, right: str, evidence: int, **more: object) -> Found:
    plain = Found((key(left, right),), evidence, 0, evidence, True, 0.9, 1.0)
    return replace(plain, **more)


@pytest.mark.parametrize(
    ("one", "other"),
    [("сайта", "сайтов"), ("employé", "employés"), ("works", "worked"), ("a", "a")],
)
def test_endings_do_not_make_another_word(one: str, other: str) -> None:
    assert is_same_word(one, other)


@pytest.mark.parametrize(
    ("one", "other"), [("sea", "seas"), ("inter", "interview"), ("mental", "mentioned")]
)
def test_other_words(one: str, other: str) -> None:
    assert not is_same_word(one, other)


def test_both_sides_of_a_group_differ_only_in_endings() -> None:
    weights = {key("tests", "essais"): 3, key("test", "essai"): 2, key("test", "test"): 1}
    assert sorted(map(len, grouped(weights))) == [1, 2]
    assert grouped(weights)[0][0] == key("tests", "essais")


def test_term_within_a_longer_one_is_left_out() -> None:
    longer, shorter = found("fog signal", "signal de brume", 8), found("fog", "brume", 9)
    assert list(without_nested([shorter, longer])) == [longer]
    often = found("fog", "brume", 20)
    assert list(without_nested([often, longer])) == [often, longer]


def test_label_within_a_longer_term_stays() -> None:
    longer, label = found("fog signal", "signal de brume", 8), found("fog", "brume", 8, labels=1)
    assert list(without_nested([label, longer])) == [label, longer]


def test_longer_term_with_an_unlinked_word_must_be_as_certain() -> None:
    shorter = found("protection", "Datenschutz", 8, confidence=0.6)
    longer = found("data protection", "Datenschutz", 8, is_whole=False)
    assert list(without_nested([shorter, longer])) == [longer]
    vague = replace(longer, confidence=0.5)
    assert list(without_nested([shorter, vague])) == [shorter, vague]
