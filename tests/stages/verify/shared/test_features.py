from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from support.candidates import ENGLISH, FRENCH, candidate, halves, of_texts, read_html
from support.fakes import make_page

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.verify.shared.features import (
    NAMES,
    Features,
    copied,
    coverage,
    features,
    ratio,
    tag_changes,
)
from diptych.stages.verify.shared.places import same_places
from diptych.stages.verify.shared.translated import translated_shares
from diptych.types import Candidate, PagePair, SegmentPair, Sketch, Url

URL = Url("http://example.org/")


def segments(*texts: tuple[str, str], score: float = 1.0) -> list[SegmentPair]:
    return [SegmentPair(*text, "en", "fr", URL, URL, "", "", score) for text in texts]


def with_segments(*texts: tuple[str, str], score: float = 1.0) -> Candidate:
    pair = PagePair(URL, Url("http://example.org/fr"), "en", "fr", 1.0, "test")
    left, right = make_page("/", "en"), make_page("/fr", "fr")
    return Candidate(pair, left, right, segments(*texts, score=score))


@given(left=st.text("abcd", max_size=30), right=st.text("abcd", max_size=30))
def test_changes_of_tags_are_the_edit_distance_and_what_matches_is_on_both_sides(
    left: str, right: str
) -> None:
    changes, matches = tag_changes(left, right)
    assert changes == Levenshtein.distance(left, right)
    assert max(len(left), len(right)) - changes <= matches <= min(len(left), len(right))


def test_ratio_of_something_and_nothing() -> None:
    assert ratio(0, 5) == 0.0
    assert ratio(5, 0) == 0.0


def test_names_are_those_of_the_features_in_order() -> None:
    assert features(of_texts(ENGLISH, FRENCH))._fields == NAMES == Features._fields


def test_features_are_the_same_with_sides_exchanged() -> None:
    there = of_texts(ENGLISH, FRENCH[:2])
    turned = replace(
        there,
        pair=PagePair(there.right.url, there.left.url, "fr", "en", 1.0, "test"),
        left=there.right,
        right=there.left,
        segments=[seg._replace(left=seg.right, right=seg.left) for seg in there.segments],
    )
    assert features(turned) == pytest.approx(features(there))


def test_coverage_is_by_letters_of_each_side() -> None:
    found = coverage(with_segments(("a" * 60, "b" * 30), ("c" * 40, ""), ("", "d" * 10)))
    assert (found.left, found.right) == pytest.approx((0.6, 0.75))
    assert found.lengths == pytest.approx(0.5)


def test_an_ideograph_counts_as_several_letters() -> None:
    found = coverage(with_segments(("a" * 35, "山" * 10)))
    assert found.lengths == pytest.approx(1.0)


def test_long_segments_count_for_more_in_the_score() -> None:
    both = [
        *segments(("a" * 90, "b" * 90), score=1.0),
        *segments(("c" * 10, "d" * 10), score=0.0),
    ]
    assert coverage(replace(with_segments(), segments=both)).score == pytest.approx(0.9)


def test_nothing_aligned_is_no_coverage() -> None:
    found = coverage(with_segments(("one", ""), ("", "two")))
    assert found == (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_same_words_at_the_same_places_and_at_others() -> None:
    here = same_places(segments(("Paris in 1956", "Paris en 1956"), ("Berlin 1961", "Berlin 1961")))
    cross = same_places(
        segments(("Paris in 1956", "Berlin en 1961"), ("Berlin 1961", "Paris 1956"))
    )
    assert here.share > 0.75
    assert here.words == 4
    assert cross.share < 0.25
    assert cross.words == 0


def test_numbers_are_expected_on_both_sides_and_words_are_not() -> None:
    alone = same_places(segments(("In 1956 and 1957", "En 2001"), ("of 1958", "et 2003")))
    assert alone.share == pytest.approx(1 / (5 / 2 + 2))
    digits = same_places(segments(("1 one", "2 deux")))
    assert digits.share == 0.5


def test_without_common_words_places_are_neutral() -> None:
    assert same_places(segments(("one", "deux"))) == (0.5, 0)
    assert same_places([]) == (0.5, 0)


def test_agreement_of_numbers_is_neutral_without_numbers() -> None:
    same = of_texts(["In 1956 and 1957 and 1958."], ["En 1956, 1957 et 1958."])
    other = of_texts(["In 1956 and 1957 and 1958."], ["En 2001, 2002 et 2003."])
    none = of_texts(["A word."], ["Un mot."])
    values = [features(found).numbers for found in (other, none, same)]
    assert values == pytest.approx([1 / 8, 0.5, 4 / 5])


def test_numbers_agree_as_often_as_they_are_on_both_pages() -> None:
    found = of_texts(["In 1786, 1786, 1786 and 48."], ["En 1786, 1786 et 4810."])
    assert features(found).numbers == pytest.approx((2 + 1) / (5 + 2))


def test_files_of_both_pages() -> None:
    left = read_html("/1", "<p>One</p><img src='/en/map.png'><img src='/x.png'>", ())
    right = read_html("/2", "<p>Un</p><img src='/fr/map.png'>", ())
    assert features(candidate(left, right)).files == pytest.approx(2 / 4)


def test_copied_is_the_share_of_the_shorter_text() -> None:
    left = make_page("/en", "en", "a" * 50, "b" * 50)
    assert copied(left, make_page("/fr", "fr", "a" * 50)) == pytest.approx(1.0)
    assert copied(left, make_page("/fr", "fr", "a" * 50, "c" * 50)) == pytest.approx(0.5)
    assert copied(left, make_page("/fr", "fr")) == 0.0


def test_block_is_copied_as_often_as_it_is_on_both_pages() -> None:
    left = make_page("/en", "en", "a" * 10, "a" * 10, "a" * 10, "b" * 30)
    right = make_page("/fr", "fr", "a" * 10, "a" * 10, "c" * 60)
    assert copied(left, right) == copied(right, left) == pytest.approx(20 / 60)


def lexicon(known: int) -> Lexicon:
    return Lexicon.of_links("en", "fr", [(f"a{n:02}a", f"b{n:02}b", 1) for n in range(known)])


def test_translations_on_the_other_page() -> None:
    left = {f"a{n:02}a": 1 for n in range(20)}
    right = {f"b{n:02}b": 1 for n in range(10)} | {f"c{n:02}c": 1 for n in range(10)}
    found = translated_shares(left, right, lexicon(20))
    assert found.is_known
    assert found.forward == pytest.approx(11 / 22)
    assert found.backward == pytest.approx(11 / 12)


def test_lexicon_that_knows_too_little_is_neutral() -> None:
    left, right = {f"a{n:02}a": 1 for n in range(20)}, {f"b{n:02}b": 1 for n in range(20)}
    for known in (None, Lexicon.empty("en", "fr"), lexicon(7)):
        assert translated_shares(left, right, known) == (0.5, 0.5, False)
    assert translated_shares(left, right, lexicon(8)).is_known
    assert translated_shares(left, {}, lexicon(20)) == (0.5, 0.5, False)


def test_words_that_are_everywhere_do_not_count() -> None:
    import numpy as np

    known = lexicon(20)
    counts = np.array([1_000.0, *[5.0] * 19], np.float32)
    often = replace(known, left_counts=counts, right_counts=counts)
    bags = [{f"{side}{n:02}{side}": 1 for n in range(20)} for side in "ab"]
    assert translated_shares(bags[0], bags[1], often).forward == pytest.approx(20 / 21)
    # A word that was seen once is not known well.
    rare = replace(known, left_counts=counts / 5, right_counts=counts / 5)
    assert not translated_shares(bags[0], bags[1], rare).is_known


def test_page_in_both_languages_is_measured_by_its_halves() -> None:
    page = make_page("/both", "en", *ENGLISH, *FRENCH[:1])
    whole = replace(page, sketch=Sketch("ab", 99, {"whole": 9}))
    found = features(halves(whole, 3))
    assert found.word_overlap < 0.1
    assert found.words_ratio < 0.5
    assert found.bytes_ratio == found.letters_ratio < 0.5
    assert found.tag_distance == 0.0
