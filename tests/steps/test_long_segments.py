from __future__ import annotations

import pytest
from support.fakes import make_page

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.registry import make
from diptych.stages.filter.rules import Rules
from diptych.steps.align_pages import align_pages
from diptych.text.lengths import MAX_SEGMENT, text_length
from diptych.types import PagePair, SegmentPair

NOTHING = Lexicon.empty("en", "fr")


def segments(left: str, right: str, right_lang: str = "fr") -> list[SegmentPair]:
    ours, theirs = make_page("/a", "en", left), make_page("/b", right_lang, right)
    pair = PagePair(ours.url, theirs.url, "en", right_lang, 0.9, "hreflang")
    trees, sentences = (
        make("align_dom", {"use": "flat"}),
        make("align_sentences", {"use": "gale_church"}),
    )
    return list(align_pages(pair, ours, theirs, trees, sentences, NOTHING))


# Clauses of different lengths, so that the lengths say which belong together.
SIZES = [3, 21, 9, 30, 5, 26, 14, 2, 33, 17] * 3
ENGLISH = ["word " * size + f"end{number}" for number, size in enumerate(SIZES)]
FRENCH = ["mots " * size + f"fin{number}" for number, size in enumerate(SIZES)]


@pytest.mark.parametrize("mark", ["; ", ": ", ", ", " – "])
def test_long_segments_are_cut_at_aligned_clauses(mark: str) -> None:
    left, right = mark.join(ENGLISH), mark.join(FRENCH)
    assert len(left) > MAX_SEGMENT
    found = segments(left, right)
    assert len(found) > 5
    for segment in found:
        ours = [int(word.strip(";:,")[3:]) for word in segment.left.split() if "end" in word]
        theirs = [int(word.strip(";:,")[3:]) for word in segment.right.split() if "fin" in word]
        assert ours == theirs != []
    assert not any(Rules().judge([segment], NOTHING)[0].reason == "too_long" for segment in found)


def test_clauses_know_where_they_are() -> None:
    left, right = "; ".join(ENGLISH), "; ".join(FRENCH)
    for segment in segments(left, right):
        for text, at, whole in (
            (segment.left, segment.left_at, left),
            (segment.right, segment.right_at, right),
        ):
            start, end = map(int, at.split("-"))
            assert whole[start:end] == text


def test_commas_are_used_only_where_semicolons_are_not_enough() -> None:
    short = "; ".join(f"{clause}, and more" for clause in ENGLISH)
    for segment in segments(short, short.replace("word", "mots")):
        assert segment.left.count(", and more") == segment.left.count("end")


def test_segments_within_the_limit_stay_whole() -> None:
    assert len(segments("; ".join(ENGLISH[:8]), "; ".join(FRENCH[:8]))) == 1


def test_a_side_without_boundaries_stays_too_long() -> None:
    (found,) = segments("; ".join(ENGLISH), "x" * 2500)
    assert Rules().judge([found], NOTHING)[0].reason == "too_long"


def test_the_limit_counts_letters_and_not_characters() -> None:
    chinese = "；".join("字" * (size + size // 2) for size in SIZES)
    assert len(chinese) < MAX_SEGMENT < text_length(chinese)
    assert len(segments("; ".join(ENGLISH), chinese, "zh")) > 5


def test_lists_of_words_stay_whole() -> None:
    words, mots = ", ".join(["word"] * 400), ", ".join(["mots"] * 400)
    (found,) = segments(words, mots)
    assert found.left == words
