from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import at

from diptych.stages.crawl.hybrid.known_urls import Kinds, KnownUrl, KnownUrls, State
from diptych.stages.crawl.hybrid.language_guess import OTHER
from diptych.stages.crawl.hybrid.value import PRIOR_RIGHT, UrlValues, evidence_name, section

LANGS = ("en", "fr")
ANY_LANGUAGE = st.sampled_from(["en", "fr", OTHER, ""])


def values_of(*langs: str) -> UrlValues:
    return UrlValues(langs or LANGS, 3.0)


def pending(values: UrlValues, path: str, lang: str = "", *, found_by: str = "link") -> KnownUrl:
    """A URL that is not fetched yet, and probably in a language."""
    guess = values.languages.first_guess(lang, "", {})
    return KnownUrl(at(path), found_by=found_by, first_guess=guess)


def there(path: str, lang: str) -> KnownUrl:
    return KnownUrl(at(path), state=State.PAGE, lang=lang)


def kinds(name: str) -> Kinds:
    return ((name,),)


# -- evidence --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRIOR_RIGHT)
def test_every_kind_of_evidence_raises_the_value_of_the_other_half(name: str) -> None:
    values = values_of()
    without, with_evidence = pending(values, "/fr/a", "fr"), pending(values, "/fr/b", "fr")
    KnownUrls.add_evidence(there("/en/b", "en"), with_evidence, kinds(name))
    assert values.value(with_evidence) > 0
    if PRIOR_RIGHT[name] > 0.5:
        assert values.value(with_evidence) > values.value(without)


def test_half_that_completes_a_pair_has_a_higher_value_than_one_that_begins_it() -> None:
    values = values_of()
    begins, completes = pending(values, "/fr/a", "fr"), pending(values, "/fr/b", "fr")
    KnownUrls.add_evidence(pending(values, "/en/a", "en"), begins, kinds("alternate"))
    KnownUrls.add_evidence(there("/en/b", "en"), completes, kinds("alternate"))
    assert values.value(completes) > values.value(begins)


def test_page_that_has_its_translation_raises_no_other_value() -> None:
    values = values_of()
    one, other, known = there("/en/a", "en"), there("/fr/a", "fr"), pending(values, "/fr/b", "fr")
    before = values.value(known)
    KnownUrls.add_evidence(one, known, kinds("alternate"))
    one.partners["fr"] = other
    assert values.value(known) <= before


@pytest.mark.parametrize("lang", [OTHER, ""])
def test_page_in_another_language_raises_no_value(lang: str) -> None:
    values = values_of()
    known = pending(values, "/fr/a", "fr")
    before = values.value(known)
    KnownUrls.add_evidence(there("/x", lang), known, kinds("alternate"))
    assert values.value(known) <= before


def test_several_languages_are_several_pairs() -> None:
    values = values_of("en", "fr", "de")
    one, two = pending(values, "/fr/a", "fr"), pending(values, "/fr/b", "fr")
    for known, others in ((one, ["en"]), (two, ["en", "de"])):
        for lang in others:
            KnownUrls.add_evidence(
                there(f"/{lang}{known.url[-1]}", lang), known, kinds("alternate")
            )
    assert values.value(two) == pytest.approx(2 * values.value(one))


def test_several_candidates_in_one_language_are_one_pair() -> None:
    values = values_of()
    known = pending(values, "/fr/a", "fr")
    for number in range(9):
        KnownUrls.add_evidence(there(f"/en/{number}", "en"), known, kinds("alternate"))
    assert values.value(known) <= 1


def test_trust_in_evidence_follows_its_success_rate() -> None:
    values = values_of()
    one, known = there("/en/a", "en"), pending(values, "/fr/a", "fr")
    KnownUrls.add_evidence(one, known, kinds("name"))
    before = values.pair_probability(one, known)
    for _ in range(20):
        values.count_evidence(kinds("name"), 0.0)
    assert values.pair_probability(one, known) < before / 2


def test_strongest_evidence_counts() -> None:
    values = values_of()
    one, other = there("/en/a", "en"), there("/fr/a", "fr")
    KnownUrls.add_evidence(one, other, kinds("name"))
    weak = values.pair_probability(one, other)
    KnownUrls.add_evidence(one, other, kinds("alternate"))
    assert values.pair_probability(one, other) > weak


def test_evidence_that_a_key_contradicts_is_believed_less_and_counted_apart() -> None:
    values = values_of()
    one, other = there("/en/a", "en"), there("/fr/x", "fr")
    KnownUrls.add_evidence(one, other, kinds("alternate"))
    before = values.pair_probability(one, other)
    one.expected["fr"] = at("/fr/a")
    assert values.pair_probability(one, other) < before
    assert {evidence_name(each) for each in values.evidence(one, other)} == {"contrary"}
    one.expected["fr"] = other.url
    assert values.pair_probability(one, other) == before


def test_key_contradicts_from_either_side_and_not_itself() -> None:
    values = values_of()
    one, other = there("/en/a", "en"), there("/fr/x", "fr")
    other.expected["en"] = at("/en/x")
    KnownUrls.add_evidence(one, other, kinds("name"))
    assert {evidence_name(each) for each in values.evidence(one, other)} == {"contrary"}
    KnownUrls.add_evidence(one, other, kinds("key"))
    assert {evidence_name(each) for each in values.evidence(one, other)} == {"name", "key"}


# -- without evidence ------------------------------------------------------------------------------


def test_page_that_is_probably_in_another_language_has_a_low_value() -> None:
    values = values_of()
    values = {lang: values.value(pending(values, "/a", lang)) for lang in ("en", "fr", "", OTHER)}
    assert values["en"] == values["fr"] > values[""] > values[OTHER] > 0


def test_guess_without_evidence_has_no_value() -> None:
    values = values_of()
    assert values.value(pending(values, "/fr/a", "fr", found_by="guess")) == 0


def test_sections_with_translations_have_higher_values() -> None:
    values = values_of()
    for number in range(10):
        for folder in ("docs", "news"):
            cells = values.page_kinds(pending(values, f"/en/{folder}/{number}", "en"), "en")
            values.translation_rates.add_trial(cells)
            if folder == "docs":
                values.translation_rates.add_success(cells)
    docs, news, new = (
        values.value(pending(values, f"/en/{folder}/x", "en")) for folder in ("docs", "news", "new")
    )
    assert docs > new > news > 0


@pytest.mark.parametrize("context", ["unlinked_prediction", "unaligned"])
def test_page_without_expected_evidence_has_a_lower_value(context: str) -> None:
    values = values_of()
    plain, known = pending(values, "/en/a", "en"), pending(values, "/en/b", "en")
    if context == "unlinked_prediction":
        known.has_unlinked_prediction = True
    else:
        known.source = there("/en/", "en")
        known.source.is_aligned = True
    assert values.value(known) < values.value(plain)


# -- languages and places --------------------------------------------------------------------------


def test_language_of_a_page_is_that_of_its_text() -> None:
    values = values_of()
    known = pending(values, "/a", "fr")
    assert values.likely_language(known) == "fr"
    known.state, known.lang = State.PAGE, "en"
    assert values.likely_language(known) == "en"
    assert values.likely_language(pending(values, "/a", "")) == ""


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
    st.lists(st.tuples(st.sampled_from(sorted(PRIOR_RIGHT)), ANY_LANGUAGE, st.booleans()),
             max_size=10),
    ANY_LANGUAGE, st.sampled_from(["link", "sitemap", "guess"]),
    st.lists(st.tuples(st.sampled_from(sorted(PRIOR_RIGHT)), st.floats(0, 1)), max_size=30),
)  # fmt: skip
def test_value_is_within_its_bounds(
    evidence: list[tuple[str, str, bool]], lang: str, found_by: str, trials: list[tuple[str, float]]
) -> None:
    values = values_of()
    for name, share in trials:
        values.evidence_rates.add_trial(kinds(name))
        values.evidence_rates.add_success(kinds(name), share)
    known = pending(values, "/a", lang, found_by=found_by)
    for number, (name, other, is_there) in enumerate(evidence):
        path = f"/{number}"
        other_url = there(path, other) if is_there else pending(values, path, other)
        KnownUrls.add_evidence(known, other_url, kinds(name))
    assert 0 <= values.value(known) <= 1 + 1e-9


def test_translation_rate_that_was_asked_for_before_follows_the_counts() -> None:
    asked, fresh = values_of(), values_of()
    known = there("/en/a", "en")
    kinds_of_page = asked.page_kinds(known, "en")
    for values in (asked, fresh):
        values.count_page(kinds_of_page)
        if values is asked:
            values.translation_probability(known, "en")
        values.count_page(kinds_of_page)
    assert asked.translation_probability(known, "en") == fresh.translation_probability(known, "en")
    for values in (asked, fresh):
        values.count_translation(kinds_of_page, 1.0)
    assert asked.translation_probability(known, "en") == fresh.translation_probability(known, "en")
