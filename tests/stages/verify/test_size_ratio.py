from __future__ import annotations

from dataclasses import replace

import pytest
from support.candidates import candidate
from support.fakes import make_page

from diptych.stages.verify.size_ratio import SizeRatio
from diptych.types import Decision, Page

DEFAULT = SizeRatio()


def verify(left: Page, right: Page, strategy: SizeRatio = DEFAULT) -> Decision:
    return strategy.verify(candidate(left, right))


def page(lang: str, length: int, url: str = "/a", letter: str = "x") -> Page:
    return make_page(f"/{lang}{url}", lang, letter * length)


@pytest.mark.parametrize(
    ("left", "right", "accept"),
    [(1000, 1000, True), (1000, 1250, True), (1000, 1700, True), (1000, 2000, False)],
)
def test_length_ratio_decides(left: int, right: int, accept: bool) -> None:
    for one, other in ((left, right), (right, left)):
        decision = verify(page("en", one), page("fr", other, letter="y"))
        assert decision.accept is accept
        assert decision.reason == ("" if accept else "length_ratio")


def test_score_falls_with_the_ratio_and_is_one_for_equal_lengths() -> None:
    scores = [
        verify(page("en", 1000), page("fr", right, letter="y")).score
        for right in (1000, 1100, 1500, 3000)
    ]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4


def test_score_is_as_documented_at_one_and_two_tolerances() -> None:
    strategy = SizeRatio(tolerance=0.5)
    for length, score in ((1649, 0.61), (2718, 0.14)):
        found = verify(page("en", 1000), page("fr", length, letter="y"), strategy)
        assert found.score == pytest.approx(score, abs=0.01)


def test_chinese_page_is_as_long_as_its_english_original() -> None:
    assert verify(page("en", 3500), page("zh", 1000, letter="文")).score > 0.99
    assert not verify(page("en", 1000), page("zh", 1000, letter="文")).accept


def test_tolerance_is_wider_for_dense_scripts() -> None:
    wide = verify(page("en", 1000), page("ja", 700, letter="の")).score
    narrow = verify(page("en", 1000), page("fr", 1610, letter="y")).score
    assert wide > narrow + 0.1


def test_threshold_only_decides() -> None:
    left, right = page("en", 1000), page("fr", 1500, letter="y")
    lenient, strict = SizeRatio(threshold=0.01), SizeRatio(threshold=0.99)
    assert verify(left, right, lenient).score == verify(left, right, strict).score
    assert verify(left, right, lenient).accept
    assert not verify(left, right, strict).accept


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        (page("en", 500), page("fr", 30, letter="y"), "too_little_text"),
        (page("en", 99), page("fr", 99, letter="y"), "too_little_text"),
        (make_page("/en", "en"), make_page("/fr", "fr"), "too_little_text"),
        (page("en", 500), page("", 500, letter="y"), "unknown_language"),
        (page("en", 500), page("en-GB", 500, letter="y"), "same_language"),
    ],
)
def test_impossible_pairs_score_zero_with_a_reason(left: Page, right: Page, reason: str) -> None:
    for one, other in ((left, right), (right, left)):
        decision = verify(one, other)
        assert (decision.accept, decision.score, decision.reason) == (False, 0.0, reason)


def test_same_digest_is_a_copy() -> None:
    left = page("en", 500)
    right = page("fr", 500, letter="y")
    right = replace(right, record=replace(right.record, digest=left.record.digest))
    assert verify(left, right).reason == "copy"


def test_untranslated_copy_under_a_translated_menu_is_a_copy() -> None:
    body = ["The first paragraph of the manual. " * 4, "The second one, longer. " * 8]
    left = make_page("/en/a", "en", "Home", *body)
    right = make_page("/fr/a", "fr", "Accueil", *body)
    assert verify(left, right).reason == "copy"


def test_translation_with_the_same_listing_is_no_copy() -> None:
    listing = "for name in names: print(name)" * 6
    left = make_page("/en/a", "en", "This prints all of the names, one on each line. " * 3, listing)
    right = make_page(
        "/fr/a", "fr", "Ceci affiche tous les noms, un par chaque ligne. " * 3, listing
    )
    assert verify(left, right).accept


def test_shorter_copy_inside_a_longer_page_is_a_copy() -> None:
    body = "The first paragraph of the manual. " * 4
    left = make_page("/en/a", "en", body)
    right = make_page("/fr/a", "fr", body, "Un paragraphe de plus. " * 3)
    assert verify(left, right).reason == "copy"
