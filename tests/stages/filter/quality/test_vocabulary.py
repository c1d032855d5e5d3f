"""What the words of both sides of segments say together."""

from __future__ import annotations

import pytest

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.filter.quality.side_words import both_sides
from diptych.stages.filter.quality.vocabulary import WordEvidence, word_evidence
from diptych.types import SegmentPair, Url

URL = Url("http://example.org/")
LEXICON = Lexicon.of_links("en", "fr", [("red", "rouge", 1), ("house", "maison", 1)])


def both(*pairs: tuple[str, str], lexicon: Lexicon | None = None) -> WordEvidence:
    left, right = both_sides(
        [SegmentPair(*pair, "en", "fr", URL, URL, "", "", 0.5) for pair in pairs]
    )
    return word_evidence(left, right, lexicon or Lexicon.empty("en", "fr"))


def test_numbers_and_names_are_counted_on_both_sides_and_on_one() -> None:
    found = both(("Paris 12 13", "Paris 12 14 15"), ("Lyon", "Rome"), ("Rome 7", "7 Lyon Paris"))
    assert [counts.tolist() for counts in found.numbers] == [[1, 0, 1], [1, 0, 0], [2, 0, 0]]
    assert [counts.tolist() for counts in found.names] == [[1, 0, 0], [0, 1, 1], [0, 1, 2]]
    assert found.copied.tolist() == [1, 0, 0]


def test_copied_words_are_a_share_of_the_side_with_fewer_and_numbers_do_not_count() -> None:
    assert both(("red Paris 12", "Paris le bleu vert 12")).copied.tolist() == [0.5]
    assert both(("Paris le bleu vert", "red Paris")).copied.tolist() == [0.5]
    assert both(("12", "12")).copied.tolist() == [0]


def test_words_that_are_linked_gain_and_are_covered() -> None:
    page = [("red house", "maison rouge"), ("a cat", "un chat"), ("a dog", "un chien")]
    found = both(*page, lexicon=LEXICON)
    assert found.links.tolist() == [2, 0, 0]
    for side in (0, 1):
        assert found.gains[side][0] > 0.5 > abs(found.gains[side][1])
        assert found.margins[side][0] > 0
        assert found.known[side][0] > found.known[side][1]
        assert found.covered[side][0] > 0.5


def test_words_in_the_other_order_are_displaced() -> None:
    there = both(("red house", "rouge maison"), lexicon=LEXICON)
    crossed = both(("red house", "maison rouge"), lexicon=LEXICON)
    assert there.in_order.tolist() == pytest.approx([2.5 / 3])
    assert crossed.in_order.tolist() == pytest.approx([1.5 / 3])
    assert there.displaced.tolist() == pytest.approx([0.3 / 4])
    assert crossed.displaced.tolist() == pytest.approx([(0.5 + 0.5 + 0.3) / 4])
    assert there.jumps.tolist() == pytest.approx([0.3 / 3])
    assert crossed.jumps.tolist() == pytest.approx([(1.0 + 0.3) / 3])


def test_order_is_of_words_of_one_segment() -> None:
    apart = both(("house", "maison"), ("red", "rouge"), lexicon=LEXICON)
    assert apart.in_order.tolist() == pytest.approx([1.5 / 2] * 2)
    assert apart.links.tolist() == [1, 1]
