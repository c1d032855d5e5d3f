from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text.langs import hreflang_language, parse_lang, primary, same_language


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("en", "en"),
        ("EN", "en"),
        (" fr ", "fr"),
        ("eng", "en"),
        ("fra", "fr"),
        ("fre", "fr"),
        ("EN-us", "en-US"),
        ("pt_br", "pt-BR"),
        ("zh-hans", "zh-Hans"),
        ("tet", "tet"),
        ("iw", "he"),
        ("nb", "nb"),
    ],
)
def test_user_codes_get_one_form(code: str, expected: str) -> None:
    assert parse_lang(code) == expected
    assert parse_lang(expected) == expected


@pytest.mark.parametrize(
    "code", ["", "xx", "english", "e", "x-default", "und", "mul", "en,fr", "12"]
)
def test_unknown_codes_are_the_users_mistake(code: str) -> None:
    with pytest.raises(ValueError, match=r"unknown language code .*use an ISO 639 code such as en"):
        parse_lang(code)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("en", "en", True),
        ("en", "en-GB", True),
        ("eng", "en_US", True),
        ("zh", "zh-Hant", True),
        ("zh-cn", "zh-tw", True),
        ("zh", "cmn", True),
        ("no", "nb", True),
        ("tl", "fil", True),
        ("he", "iw", True),
        ("ar", "arb", True),
        ("fa", "pes", True),
        ("en", "fr", False),
        ("no", "nn", False),
        ("", "", False),
        ("und", "und", False),
        ("x-default", "x-default", False),
        ("nonsense", "nonsense", False),
    ],
)
def test_languages_are_compared_by_their_primary_language(
    left: str, right: str, expected: bool
) -> None:
    assert same_language(left, right) is expected
    assert same_language(right, left) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("fr", "fr"),
        ("fr-CA", "fr"),
        ("fr_CA", "fr"),
        ("FR", "fr"),
        ("pt-br", "pt"),
        ("zh-Hant", "zh"),
        ("zh-Hant-TW", "zh"),
        ("es-419", "es"),
        ("deu", "de"),
        ("tet", "tet"),
        ("x-default", ""),
        ("default", ""),
        ("français", ""),
        ("en;q=0.9", ""),
        ("en-", ""),
        ("", ""),
        ("a" * 500, ""),
    ],
)
def test_hreflang_names_a_language_or_nothing(value: str, expected: str) -> None:
    assert hreflang_language(value) == expected


@given(st.text(max_size=12))
def test_no_attribute_makes_it_raise(value: str) -> None:
    assert hreflang_language(value) == hreflang_language(hreflang_language(value) or value)


@given(st.text("abcdefghijklmnopqrstuvwxyz-_", min_size=2, max_size=8))
def test_the_primary_language_is_its_own(code: str) -> None:
    name = primary(code)
    assert name == "" or primary(name) == name


def test_common_codes_need_no_tables() -> None:
    program = (
        "import sys; from diptych.text.langs import parse_lang, hreflang_language\n"
        "assert parse_lang('fr') == hreflang_language('fr-CA') == 'fr'\n"
        "assert 'langcodes' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
