"""Keys of near-duplicates: texts that count as the same, and texts that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text.near_duplicates import (
    keys_of_segments,
    segment_keys,
    skeleton,
    skeletons,
    text_key,
)

SAME = [
    ("Chapter 1", "chapter 27."),
    ("Read   more »", "READ MORE"),
    ("Open 9:30-17:00", "open 10.00 - 18.15"),
    ("It’s here", "It's here"),
    ("ﬁle", "file"),
    ("Café", "Cafe\u0301"),
    ("straße", "STRASSE"),
    ("٣ كتب", "۴ كتب"),
    ("第 １ 章", "第 2 章"),
    ("soft\u00adhyphen", "softhyphen"),
    ("one\x00two\ue000", "one two"),
    ("MP٣", "MP3"),
    ("version 2.6.32 of 1999", "Version 3.0 of 2004"),
]
OTHER = [
    ("Chapter one", "Chapter two"),
    ("Café", "Cafe"),
    ("कि", "की"),  # the marks of vowels are \W to regular expressions
    ("กา", "กี"),
    ("12", "Chapter 12"),
    ("?", "!"),
    ("a b", "ab"),
    ("中文", "中国"),
    ("Learn C++", "Learn C"),
    ("Learn C#", "Learn C"),
    ("sha256sum", "sha512sum"),
    ("MP3", "MP4"),
    ("x + y", "x - y"),
    ("a < b", "a > b"),
    ("10 €", "99 $"),
    ("Rated 👍", "Rated 👎"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_case_punctuation_and_numbers_make_no_difference(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_words_make_a_difference(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


PIECES = st.sampled_from(
    ["12", "3", "a", "B", "é", " ", "  ", ".", "-", "+", "%", "_", "٣", "½", "²", "\u00ad",
     "\u0301", "中", "5a", "a5", "\n", "\t", "’", "Σ", "#", "@", "\x00", "\ud800", "ª", "ǆ", "→",
     "\u200b", "7 "]
)  # fmt: skip
TEXT = st.lists(PIECES, max_size=9).map("".join) | st.text(max_size=12)


@given(st.lists(TEXT, max_size=5))
def test_skeletons_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    assert skeletons(texts) == [skeleton(text) for text in texts]


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4))
def test_keys_of_many_segments_are_those_of_each(segments: list[tuple[str, str]]) -> None:
    expected = [segment_keys(*segment, "en", "fr") for segment in segments]
    assert keys_of_segments(segments, "en", "fr") == expected


def test_keys_distinguish_sides_and_languages() -> None:
    keys = segment_keys("Home", "Accueil", "en", "fr")
    assert segment_keys("Home", "Maison", "en", "fr").left == keys.left
    assert segment_keys("Start", "Accueil", "en", "fr").right == keys.right
    assert segment_keys("Home", "Accueil", "en", "oc").left != keys.left
    assert segment_keys("Home", "Accueil", "en", "oc").right != keys.right
    assert segment_keys("Accueil", "Home", "fr", "en").same == keys.same
    assert segment_keys("Accueil", "Home", "en", "fr").same != keys.same
    assert len(set(keys)) == 3
    assert segment_keys("a", "b c", "en", "fr") != segment_keys("a b", "c", "en", "fr")


def test_keys_are_the_same_in_every_version() -> None:
    # They are in the databases of runs, which later versions read.
    assert text_key("lamp\ud800") == text_key("lamp?") == 1355535869419135502
    assert segment_keys("Home", "Accueil", "en", "fr") == (
        -2803351992722021919, -8968329193418477635, 6827659324825673564
    )  # fmt: skip


@given(st.text(), st.text())
def test_keys_fit_into_a_database(left: str, right: str) -> None:
    keys = segment_keys(left, right, "en", "fr")
    assert all(-(2**63) <= key < 2**63 for key in keys)
    assert keys == segment_keys(left, right, "en", "fr")


@given(st.text(min_size=1))
def test_skeleton_of_a_skeleton_is_itself(text: str) -> None:
    assert skeleton(text)
    assert skeleton(skeleton(text)) == skeleton(text)
