from __future__ import annotations

import subprocess
import sys

import langcodes
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.errors import ConfigError
from diptych.language.codes import (
    accept_codes,
    asked_language,
    hreflang_language,
    parse_lang,
    parse_langs,
    primary,
    same_language,
    script_of,
)
from diptych.language.identify import IDENTIFIED


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
def test_user_codes_are_brought_to_canonical_form(code: str, expected: str) -> None:
    assert parse_lang(code) == expected
    assert parse_lang(expected) == expected


@pytest.mark.parametrize(
    "code", ["", "xx", "e", "x-default", "und", "mul", "en,fr", "12", "the language"]
)
def test_unknown_codes_are_refused(code: str) -> None:
    with pytest.raises(
        ConfigError, match=r"unknown language code .*use an ISO 639 code such as en"
    ):
        parse_lang(code)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("en", "en", True),
        ("en", "en-GB", True),
        ("eng", "en_US", True),
        ("zh", "zh-Hant", True),
        ("zh", "cmn", True),
        ("no", "nb", True),
        ("tl", "fil", True),
        ("he", "iw", True),
        ("ar", "arb", True),
        ("fa", "pes", True),
        ("en", "fr", False),
        ("no", "nn", False),
        ("nb", "nn", False),
        ("zh", "yue", False),
        ("hr", "sr", False),
        ("bs", "sr", False),
        ("sh", "sr", True),
        ("cnr", "sr", True),
        ("in", "id", True),
        ("ji", "yi", True),
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
    ("left", "right", "expected"),
    [
        ("sr-Cyrl", "sr-Latn", False),
        ("sr-Cyrl", "sr", True),
        ("sr-Latn", "sr-Latn-RS", True),
        ("sr-Latn", "sr-ME", True),
        ("sr-Cyrl", "sh", False),
        ("zh-cn", "zh-tw", False),
        ("zh-HK", "zh-Hant", True),
        ("zh-SG", "zh_CN", True),
        ("zh-MO", "zh-Hans", False),
        ("cmn-Hant", "zh-TW", True),
        ("pa-PK", "pa-Guru", False),
        ("pa-PK", "pa-Arab", True),
        ("en-US", "en-GB", True),
        ("sr-Latn", "hr-Cyrl", False),
    ],
)
def test_scripts_distinguish_languages_if_both_codes_have_one(
    left: str, right: str, expected: bool
) -> None:
    assert same_language(left, right) is expected
    assert same_language(right, left) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("en,fr", ("en", "fr")),
        ("eng, FRA", ("en", "fr")),
        ("en,fr,en", ("en", "fr")),
        ("en,pt-BR", ("en", "pt-BR")),
        ("nb,nn", ("nb", "nn")),
        ("sr-Cyrl,sr-Latn", ("sr-Cyrl", "sr-Latn")),
        ("zh-Hans,zh-Hant", ("zh-Hans", "zh-Hant")),
        ("zh-cn,zh-tw,en", ("zh-CN", "zh-TW", "en")),
        ("uz-Latn,uz-Cyrl", ("uz-Latn", "uz-Cyrl")),
        ("pa-Guru,pa-Arab", ("pa-Guru", "pa-Arab")),
        ("ms-Arab,ms", ("ms-Arab", "ms-Latn")),
        ("zh,zh-TW", ("zh-Hans", "zh-TW")),
        ("sr-RS,sr-Latn", ("sr-Cyrl-RS", "sr-Latn")),
        ("az,az-Cyrl,en", ("az-Latn", "az-Cyrl", "en")),
        ("az,en", ("az", "en")),
    ],
)
def test_lists_of_languages(text: str, expected: tuple[str, ...]) -> None:
    assert parse_langs(text) == expected
    assert parse_langs(",".join(expected)) == expected


@pytest.mark.parametrize(
    "text", ["pt-BR,pt-PT", "fr,fr-CA", "no,nb", "zh-HK,zh-TW", "en,fr,en-US", "sr,cnr,sr-Latn"]
)
def test_indistinguishable_languages_are_refused(text: str) -> None:
    with pytest.raises(
        ConfigError, match=r"cannot be distinguished by their text; request only one"
    ):
        parse_langs(text)


@pytest.mark.parametrize("text", ["", "en", "en,eng", "iw,he", "tl,fil"])
def test_two_languages_are_needed(text: str) -> None:
    with pytest.raises(ConfigError, match="langs requires two different languages"):
        parse_langs(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gr,en", "langs: unknown language code 'gr'; did you mean el (Greek)?"),
        ("en,jp", "langs: unknown language code 'jp'; did you mean ja (Japanese)?"),
        ("cz,dk", "langs: unknown language codes 'cz', 'dk';"
                  " did you mean cs (Czech), da (Danish)?"),
        ("cn,en", "langs: unknown language code 'cn'; did you mean zh (Chinese)?"),
        ("ua,en", "langs: unknown language code 'ua'; did you mean uk (Ukrainian)?"),
        ("kz,en", "langs: unknown language code 'kz'; did you mean kk (Kazakh)?"),
        ("english,fr", "langs: unknown language code 'english'; did you mean en (English)?"),
        ("en,French", "langs: unknown language code 'French'; did you mean fr (French)?"),
        ("en,français", "langs: unknown language code 'français'; did you mean fr (French)?"),
        ("en,日本語", "langs: unknown language code '日本語'; did you mean ja (Japanese)?"),
        ("en,freanch", "langs: unknown language code 'freanch'; did you mean fr (French)?"),
        ("en-fr", "langs: put a comma between languages: en,fr"),
        ("en/fr", "langs: put a comma between languages: en,fr"),
        ("en fr", "langs: put a comma between languages: en,fr"),
        ("en;fr", "langs: put a comma between languages: en,fr"),
        ("en and fr", "langs: put a comma between languages: en,fr"),
        ("en fr,de", "langs: put a comma between languages: en,fr,de"),
        ("pt-br", "langs requires two different languages, such as en,fr; got 'pt-br'"),
    ],
)  # fmt: skip
def test_what_was_probably_meant_is_said(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_langs(text)
    assert str(caught.value) == said


def test_of_an_unknown_code_it_is_said_where_codes_are_listed() -> None:
    with pytest.raises(ConfigError, match=r"code 'xx'; use an ISO 639 code .*iso639-3\.sil\.org"):
        parse_langs("en,xx")


def test_languages_whose_codes_are_those_of_countries_are_languages() -> None:
    assert parse_langs("se,no") == ("se", "no")
    assert parse_langs("ee,kr") == ("ee", "kr")


def test_a_code_without_script_means_the_usual_one_of_two() -> None:
    assert asked_language("zh", ["zh-Hant", "zh-Hans"]) == "zh-Hans"
    assert asked_language("zh-TW", ["zh-Hans", "zh-Hant"]) == "zh-Hant"
    assert asked_language("zh-TW", ["zh-Hans", "en"]) == ""
    assert asked_language("uz", ["uz-Arab", "uz-Cyrl"]) == "uz-Arab"


def test_an_unlisted_code_can_be_accepted() -> None:
    with pytest.raises(ConfigError, match="unknown language code"):
        parse_lang("xyz")
    assert primary("xyz") == ""
    accept_codes(["xyz"])
    try:
        assert parse_lang("XYZ") == primary("xyz") == primary("xyz-Latn") == "xyz"
        assert same_language("xyz", "xyz-Latn")
        assert not same_language("xyz", "xyw")
    finally:
        accept_codes([])
    assert primary("xyz") == ""


@given(st.text("abcdefghijklmnopqrstuvwxyzLT-_", max_size=14))
def test_any_code_has_a_script_or_none(code: str) -> None:
    script = script_of(code)
    assert script == "" or (len(script) == 4 and script.istitle())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("fr", "fr"),
        ("fr-CA", "fr"),
        ("fr_CA", "fr"),
        ("FR", "fr"),
        ("pt-br", "pt"),
        ("zh-Hant", "zh-Hant"),
        ("zh-Hant-TW", "zh-Hant"),
        ("zh_tw", "zh-Hant"),
        ("zh-CN", "zh-Hans"),
        ("sr-latn-rs", "sr-Latn"),
        ("sh", "sr-Latn"),
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
def test_any_hreflang_attribute_is_handled(value: str) -> None:
    assert hreflang_language(value) == hreflang_language(hreflang_language(value) or value)


@given(st.text("abcdefghijklmnopqrstuvwxyz-_", min_size=2, max_size=8))
def test_the_primary_language_of_a_primary_language_is_itself(code: str) -> None:
    name = primary(code)
    assert name == "" or primary(name) == name


def test_common_codes_need_no_tables() -> None:
    program = (
        "import sys; from diptych.language.codes import parse_lang, hreflang_language\n"
        "assert parse_lang('fr') == hreflang_language('fr-CA') == 'fr'\n"
        "assert 'langcodes' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


@pytest.mark.parametrize("code", IDENTIFIED)
def test_primary_of_identified_languages_is_that_of_langcodes(code: str) -> None:
    language = langcodes.Language.get(code)
    name = language.prefer_macrolanguage().language or ""
    assert primary(code) == {"nb": "no", "tl": "fil", "cmn": "zh"}.get(name, name)


def test_identified_languages_need_no_tables() -> None:
    code = (
        "import sys; from diptych.language.identify import identify;"
        "identify('Le chat dort sur le canapé du salon.', ('en', 'fr'));"
        "raise SystemExit('langcodes' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
