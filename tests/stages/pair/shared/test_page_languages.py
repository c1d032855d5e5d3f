from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import FakeSite, at, make_page

from diptych.language.names import fold_case, language_codes, language_names
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.types import LangScore, PageRecord


@pytest.mark.parametrize(
    ("lang", "codes"),
    [
        ("de", {"de", "deu", "ger"}),
        ("zh-Hant", {"zh", "zho", "chi"}),
        ("el", {"el", "ell", "gre"}),
        ("tet", {"tet"}),
    ],
)
def test_codes_are_those_of_iso_639(lang: str, codes: set[str]) -> None:
    assert language_codes(lang) == codes


@pytest.mark.parametrize(
    ("lang", "names"),
    [
        ("de-AT", {"deutsch", "german"}),
        ("ja", {"日本語", "japanese"}),
        ("no", {"norsk", "norwegian", "norsk bokmål"}),
        ("sr", {"српски", "srpski", "serbian"}),
    ],
)
def test_names_are_folded_and_without_region(lang: str, names: set[str]) -> None:
    assert names <= language_names(lang)


def test_names_in_the_languages_of_readers() -> None:
    assert language_names("en", ("fr", "de")) == {"english", "anglais", "englisch"}


def test_names_are_compared_composed_and_without_case() -> None:
    assert fold_case("I\u0301SLENSKA") == "íslenska"


def test_pages_get_the_code_that_the_user_gave() -> None:
    site = FakeSite("en-GB", "zh").page("/1", "en").page("/2", "zh-TW").page("/3", "fr").page("/4")
    assert page_languages(site) == {at("/1"): "en-GB", at("/2"): "zh"}


# Pages in several languages


def mixed(
    url: str, *scores: tuple[str, float], html_lang: str = "", header: str = ""
) -> tuple[str, PageRecord]:
    """A page in several languages, and what it declares."""
    known = tuple(LangScore(*score) for score in scores)
    record = replace(
        make_page(url, known[0].lang).record, langs=known, html_lang=html_lang,
        content_language=header,
    )  # fmt: skip
    return url, record


def with_records(site: FakeSite, *records: tuple[str, PageRecord]) -> FakeSite:
    for url, record in records:
        site.page(url, record.lang)
        site._read[at(url)] = replace(site.read(url), record=record)
    return site


BOTH = (("en", 0.6), ("fr", 0.4))


@pytest.mark.parametrize("declared", ["fr", "en", "de", "x-default"])
def test_declared_language_of_a_bilingual_page_is_ignored(declared: str) -> None:
    site = FakeSite("en", "fr", "de").page("/1", "fr").page("/2", "fr").page("/3", "en")
    with_records(site, mixed("/m", *BOTH, html_lang=declared, header=declared))
    assert page_languages(site)[at("/m")] == "en"


def test_bilingual_page_counts_for_the_language_with_fewer_whole_pages() -> None:
    for more, fewer in (("en", "fr"), ("fr", "en")):
        site = FakeSite("en", "fr").page("/1", more).page("/2", more).page("/3", fewer)
        assert page_languages(with_records(site, mixed("/m", *BOTH)))[at("/m")] == fewer


def test_pages_in_two_languages_are_no_whole_pages() -> None:
    # One French page and none of English: three half ones do not turn that.
    site = FakeSite("en", "fr").page("/1", "fr")
    with_records(site, *(mixed(f"/m{number}", *BOTH) for number in range(3)))
    assert {lang for url, lang in page_languages(site).items() if "/m" in url} == {"en"}


def test_ties_between_languages_go_to_the_first_by_name() -> None:
    site = with_records(FakeSite("fr", "en"), mixed("/m", ("fr", 0.6), ("en", 0.4)))
    assert page_languages(site) == {at("/m"): "en"}


@pytest.mark.parametrize(
    ("scores", "lang"),
    [
        ((("en", 0.9), ("fr", 0.1)), "en"),  # a quotation
        ((("de", 0.6), ("fr", 0.4)), "fr"),  # the other was not asked for
        ((("de", 0.95), ("fr", 0.05)), None),
        ((("zh-TW", 0.5), ("zh", 0.5)), "zh-CN"),  # one language by two names
    ],
)
def test_a_little_of_a_language_does_not_count(
    scores: tuple[tuple[str, float], ...], lang: str | None
) -> None:
    site = with_records(FakeSite("en", "fr", "zh-CN").page("/1", "en"), mixed("/m", *scores))
    assert page_languages(site).get(at("/m")) == lang


def test_page_with_an_identified_language_but_no_shares() -> None:
    bare = replace(make_page("/b", "fr").record, langs=())
    assert page_languages(with_records(FakeSite("en", "fr"), ("/b", bare))) == {at("/b"): "fr"}


@given(st.permutations(range(8)))
def test_the_order_of_pages_does_not_matter(order: list[int]) -> None:
    site = FakeSite("en", "fr").page("/1", "en").page("/2", "fr").page("/3", "fr").page("/4", "de")
    with_records(
        site, mixed("/m1", *BOTH), mixed("/m2", *BOTH, html_lang="fr"), mixed("/m3", *BOTH[::-1]),
        mixed("/m4", ("fr", 0.8), ("en", 0.2)),
    )  # fmt: skip
    found = page_languages(site.reordered(order))
    assert found == page_languages(site)
    assert list(found) == sorted(found)
