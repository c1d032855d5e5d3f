from __future__ import annotations

import pytest
from fakes import FakeSite, at

from diptych.pair import fold_case, language_codes, language_names, page_languages


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
