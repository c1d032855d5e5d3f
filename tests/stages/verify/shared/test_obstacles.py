from __future__ import annotations

from dataclasses import replace

import pytest
from support.candidates import ENGLISH, FRENCH, candidate, halves, of_texts
from support.fakes import make_page

from diptych.stages.verify.shared.obstacles import obstacle, own_texts
from diptych.types import Candidate, LangScore, Page

BODY = ["The first paragraph of the manual. " * 4, "The second one, longer. " * 8]


def why(found: Candidate) -> str:
    return obstacle(found, min_letters=100, max_copied=0.8)


def with_langs(page: Page, *langs: tuple[str, float]) -> Page:
    scores = tuple(LangScore(*lang) for lang in langs)
    return replace(page, record=replace(page.record, lang=scores[0].lang, langs=scores))


def test_translation_meets_no_obstacle() -> None:
    assert why(of_texts(ENGLISH, FRENCH)) == ""


def test_same_digest_is_a_copy() -> None:
    found = of_texts(ENGLISH, FRENCH)
    record = replace(found.right.record, digest=found.left.record.digest)
    assert why(replace(found, right=replace(found.right, record=record))) == "copy"


@pytest.mark.parametrize("more", [[], ["Un paragraphe de plus. " * 8]])
def test_untranslated_text_is_a_copy_also_inside_a_longer_page(more: list[str]) -> None:
    assert why(of_texts(["Home", *BODY], ["Accueil", *BODY, *more])) == "copy"


def test_identical_code_listing_is_no_copy() -> None:
    listing = "for name in names: print(name)" * 6
    assert why(of_texts([*ENGLISH, listing], [*FRENCH, listing])) == ""


def test_identical_text_is_not_own_text() -> None:
    listing = "for name in names: print(name)" * 6
    assert why(of_texts([listing, "A list of names."], [listing, "Une liste."])) in (
        "copy",
        "too_little_text",
    )


def test_repeated_block_is_own_text_where_the_other_page_has_fewer() -> None:
    page = make_page("/en", "en", *["a" * 30] * 3, "b" * 40)
    other = make_page("/fr", "fr", "a" * 30, *["b" * 40] * 2)
    assert own_texts(page, other)[0] == pytest.approx(60)
    assert own_texts(other, page)[0] == pytest.approx(40)


def test_menus_count_half() -> None:
    menu = [f"Menu item {letter}" for letter in "abcdefghij"]
    page = make_page("/", "en", *menu)
    assert own_texts(page, make_page("/fr", "fr"))[0] == pytest.approx(sum(map(len, menu)) / 2)
    assert why(of_texts(menu, [f"Élément {n}" for n in range(20)])) == "too_little_text"


def test_nearly_empty_page_has_too_little_text() -> None:
    assert why(of_texts(ENGLISH, ["Accueil"])) == "too_little_text"
    assert why(of_texts([], [])) == "too_little_text"


def test_unknown_language() -> None:
    found = candidate(make_page("/en", "en", *ENGLISH), make_page("/fr", "", *FRENCH))
    assert why(found) == "unknown_language"


@pytest.mark.parametrize("lang", ["en", "en-GB"])
def test_one_language_on_both_sides_despite_matching_urls(lang: str) -> None:
    found = of_texts(ENGLISH, FRENCH)
    right = with_langs(found.right, (lang, 1.0))
    assert why(replace(found, right=right)) == "same_language"


def test_page_that_is_translated_in_part_is_in_both_languages() -> None:
    found = of_texts(ENGLISH, FRENCH)
    part = with_langs(found.right, ("en", 0.6), ("fr", 0.4))
    assert why(replace(found, right=part)) == ""
    hardly = with_langs(found.right, ("en", 0.9), ("fr", 0.1))
    assert why(replace(found, right=hardly)) == "same_language"


def test_page_that_is_clearly_in_a_third_language() -> None:
    found = of_texts(ENGLISH, FRENCH)
    assert why(replace(found, right=with_langs(found.right, ("de", 0.99)))) == "wrong_language"
    # Languages that are hard to tell apart are given the benefit of the doubt.
    assert why(replace(found, right=with_langs(found.right, ("oc", 0.6)))) == ""


def test_page_in_both_languages_is_no_copy_of_itself() -> None:
    page = make_page("/both", "en", *ENGLISH, *FRENCH)
    assert why(halves(page, 3)) == ""
    unknown = replace(page, record=replace(page.record, lang="", langs=()))
    assert why(halves(unknown, 3)) == ""


def test_page_in_both_languages_needs_two_languages_and_text_in_both() -> None:
    page = make_page("/both", "en", *ENGLISH, *FRENCH)
    found = halves(page, 3)
    same = replace(found, pair=replace(found.pair, right_lang="en-US"))
    assert why(same) == "same_language"
    assert why(halves(page, 6)) == "too_little_text"
