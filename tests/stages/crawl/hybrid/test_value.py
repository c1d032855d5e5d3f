from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import at

from diptych.stages.crawl.hybrid.known_urls import Kinds, Life, Spot, Spots
from diptych.stages.crawl.hybrid.language_guess import OTHER
from diptych.stages.crawl.hybrid.value import USUAL, Worth, name_of, section

LANGS = ("en", "fr")


def worth_of(*langs: str) -> Worth:
    return Worth(langs or LANGS, 3.0)


def pending(worth: Worth, path: str, lang: str = "", *, how: str = "link") -> Spot:
    """A URL that is not fetched yet, and probably in a language."""
    return Spot(at(path), how=how, first=worth.tongues.first_guess(lang, "", {}))


def there(path: str, lang: str) -> Spot:
    return Spot(at(path), life=Life.PAGE, lang=lang)


def kinds(name: str) -> Kinds:
    return ((name,),)


# -- evidence --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", USUAL)
def test_every_kind_of_evidence_makes_the_other_half_worth_more(name: str) -> None:
    worth = worth_of()
    untied, tied = pending(worth, "/fr/a", "fr"), pending(worth, "/fr/b", "fr")
    Spots.tie(there("/en/b", "en"), tied, kinds(name))
    assert worth.value(tied) > 0
    if USUAL[name] > 0.5:
        assert worth.value(tied) > worth.value(untied)


def test_half_that_completes_a_pair_is_worth_more_than_one_that_begins_it() -> None:
    worth = worth_of()
    begins, completes = pending(worth, "/fr/a", "fr"), pending(worth, "/fr/b", "fr")
    Spots.tie(pending(worth, "/en/a", "en"), begins, kinds("alternate"))
    Spots.tie(there("/en/b", "en"), completes, kinds("alternate"))
    assert worth.value(completes) > worth.value(begins)


def test_page_that_has_its_translation_makes_no_other_worth_more() -> None:
    worth = worth_of()
    one, other, spot = there("/en/a", "en"), there("/fr/a", "fr"), pending(worth, "/fr/b", "fr")
    before = worth.value(spot)
    Spots.tie(one, spot, kinds("alternate"))
    one.partners["fr"] = other
    assert worth.value(spot) <= before


@pytest.mark.parametrize("lang", [OTHER, ""])
def test_page_in_no_language_that_was_asked_for_makes_nothing_worth_more(lang: str) -> None:
    worth = worth_of()
    spot = pending(worth, "/fr/a", "fr")
    before = worth.value(spot)
    Spots.tie(there("/x", lang), spot, kinds("alternate"))
    assert worth.value(spot) <= before


def test_several_languages_are_several_pairs() -> None:
    worth = worth_of("en", "fr", "de")
    one, two = pending(worth, "/fr/a", "fr"), pending(worth, "/fr/b", "fr")
    for spot, others in ((one, ["en"]), (two, ["en", "de"])):
        for lang in others:
            Spots.tie(there(f"/{lang}{spot.url[-1]}", lang), spot, kinds("alternate"))
    assert worth.value(two) == pytest.approx(2 * worth.value(one))


def test_much_evidence_for_one_pair_is_no_more_than_one_pair() -> None:
    worth = worth_of()
    spot = pending(worth, "/fr/a", "fr")
    for number in range(9):
        Spots.tie(there(f"/en/{number}", "en"), spot, kinds("alternate"))
    assert worth.value(spot) <= 1


def test_evidence_is_believed_as_often_as_it_was_right() -> None:
    worth = worth_of()
    one, spot = there("/en/a", "en"), pending(worth, "/fr/a", "fr")
    Spots.tie(one, spot, kinds("name"))
    before = worth.trusted(one, spot)
    for _ in range(20):
        worth.trust.tried(kinds("name"))
    assert worth.trusted(one, spot) < before / 2


def test_strongest_evidence_counts() -> None:
    worth = worth_of()
    one, other = there("/en/a", "en"), there("/fr/a", "fr")
    Spots.tie(one, other, kinds("name"))
    weak = worth.trusted(one, other)
    Spots.tie(one, other, kinds("alternate"))
    assert worth.trusted(one, other) > weak


def test_evidence_that_a_key_contradicts_is_believed_less_and_counted_apart() -> None:
    worth = worth_of()
    one, other = there("/en/a", "en"), there("/fr/x", "fr")
    Spots.tie(one, other, kinds("alternate"))
    before = worth.trusted(one, other)
    one.expected["fr"] = at("/fr/a")
    assert worth.trusted(one, other) < before
    assert {name_of(each) for each in worth.evidence(one, other)} == {"contrary"}
    one.expected["fr"] = other.url
    assert worth.trusted(one, other) == before


def test_key_contradicts_from_either_side_and_not_itself() -> None:
    worth = worth_of()
    one, other = there("/en/a", "en"), there("/fr/x", "fr")
    other.expected["en"] = at("/en/x")
    Spots.tie(one, other, kinds("name"))
    assert {name_of(each) for each in worth.evidence(one, other)} == {"contrary"}
    Spots.tie(one, other, kinds("key"))
    assert {name_of(each) for each in worth.evidence(one, other)} == {"name", "key"}


# -- without evidence ------------------------------------------------------------------------------


def test_page_that_is_probably_in_another_language_is_worth_little() -> None:
    worth = worth_of()
    values = {lang: worth.value(pending(worth, "/a", lang)) for lang in ("en", "fr", "", OTHER)}
    assert values["en"] == values["fr"] > values[""] > values[OTHER] > 0


def test_what_nothing_leads_to_is_worth_nothing_without_evidence() -> None:
    worth = worth_of()
    assert worth.value(pending(worth, "/fr/a", "fr", how="guess")) == 0


def test_sections_that_yield_are_worth_more_than_those_that_do_not() -> None:
    worth = worth_of()
    for number in range(10):
        for folder in ("docs", "news"):
            cells = worth.cells(pending(worth, f"/en/{folder}/{number}", "en"), "en")
            worth.yields.tried(cells)
            if folder == "docs":
                worth.yields.paid(cells)
    docs, news, new = (
        worth.value(pending(worth, f"/en/{folder}/x", "en")) for folder in ("docs", "news", "new")
    )
    assert docs > new > news > 0


@pytest.mark.parametrize("context", ["lonely", "unaligned"])
def test_page_of_which_nothing_says_so_though_it_should_is_worth_less(context: str) -> None:
    worth = worth_of()
    plain, spot = pending(worth, "/en/a", "en"), pending(worth, "/en/b", "en")
    if context == "lonely":
        spot.is_lonely = True
    else:
        spot.source = there("/en/", "en")
        spot.source.is_aligned = True
    assert worth.value(spot) < worth.value(plain)


# -- languages and places --------------------------------------------------------------------------


def test_language_of_a_page_is_that_of_its_text() -> None:
    worth = worth_of()
    spot = pending(worth, "/a", "fr")
    assert worth.likely(spot) == "fr"
    spot.life, spot.lang = Life.PAGE, "en"
    assert worth.likely(spot) == "en"
    assert worth.likely(pending(worth, "/a", "")) == ""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/en/docs/a", "/en/docs/b", True),
        ("/en/docs/a", "/en/news/a", False),
        ("/a?id=1", "/b?id=2", True),
        ("/a?id=1", "/a?lang=1", False),
        ("http://fr.example.org/a", "http://en.example.org/a", False),
        ("/", "/a", True),
    ],
)
def test_section_is_host_folders_and_names_of_parameters(one: str, other: str, same: bool) -> None:
    assert (section(at(one)) == section(at(other))) is same


# -- whatever there is -----------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.sampled_from(sorted(USUAL)), st.sampled_from(["en", "fr", OTHER, ""]),
                       st.booleans()), max_size=10),
    st.sampled_from(["en", "fr", OTHER, ""]), st.sampled_from(["link", "sitemap", "guess"]),
    st.lists(st.tuples(st.sampled_from(sorted(USUAL)), st.floats(0, 1)), max_size=30),
)  # fmt: skip
def test_value_is_never_negative_nor_more_than_the_pairs_there_can_be(
    ties: list[tuple[str, str, bool]], lang: str, how: str, trials: list[tuple[str, float]]
) -> None:
    worth = worth_of()
    for name, share in trials:
        worth.trust.tried(kinds(name))
        worth.trust.paid(kinds(name), share)
    spot = pending(worth, "/a", lang, how=how)
    for number, (name, other, is_there) in enumerate(ties):
        path = f"/{number}"
        tied = there(path, other) if is_there else pending(worth, path, other)
        Spots.tie(spot, tied, kinds(name))
    assert 0 <= worth.value(spot) <= 1 + 1e-9
