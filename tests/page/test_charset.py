from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.page.charset import decode

FRENCH = "Les élèves de l’école étaient très contents de leur journée à la forêt. "
RUSSIAN = "Русский текст, написанный в старой кодировке для проверки. "
JAPANESE = "これは日本語のテキストです。文字コードを調べます。"
KOREAN = "이것은 한국어 텍스트입니다. 문자 집합을 시험합니다. "
CHINESE = "这是一段中文文字，用来测试编码的识别。"


@pytest.mark.parametrize(
    ("text", "codec", "label", "name"),
    [
        (FRENCH, "cp1252", "ISO-8859-1", "cp1252"),
        (FRENCH, "cp1252", "latin1", "cp1252"),
        (FRENCH, "cp1252", "us-ascii", "cp1252"),
        (RUSSIAN, "cp1251", "windows-1251", "cp1251"),
        (RUSSIAN, "koi8-r", "KOI8-R", "koi8-r"),
        (JAPANESE, "cp932", "shift_jis", "cp932"),
        (JAPANESE, "cp932", "x-sjis", "cp932"),
        (JAPANESE, "euc_jp", "euc-jp", "euc_jp"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp", "iso2022_jp"),
        (KOREAN, "cp949", "euc-kr", "cp949"),
        (KOREAN, "cp949", "ks_c_5601-1987", "cp949"),
        (KOREAN, "cp949", "windows-949", "cp949"),
        (RUSSIAN, "cp1251", "x-cp1251", "cp1251"),
        (CHINESE, "gb18030", "gb2312", "gb18030"),
        (CHINESE, "gb18030", "gbk", "gb18030"),
        (CHINESE, "utf-8", "utf8", "utf-8"),
    ],
)
def test_declared_charsets_are_believed_wherever_they_are_declared(
    text: str, codec: str, label: str, name: str
) -> None:
    body = text.encode(codec)
    assert decode(body, f"text/html; charset={label}") == (text, name)
    for declaration in (
        f'<meta charset="{label}">',
        f'<meta http-equiv="Content-Type" content="text/html; charset={label}">',
        f'<?xml version="1.0" encoding="{label}"?>',
    ):
        expected = (declaration + text, name)
        assert decode(declaration.encode() + body, "text/html") == expected


def test_the_header_comes_before_the_page() -> None:
    body = b'<meta charset="koi8-r">' + FRENCH.encode("cp1252")
    assert decode(body, "text/html; charset=windows-1252")[1] == "cp1252"


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_comes_before_all_and_is_dropped(mark: bytes, codec: str) -> None:
    body = mark + FRENCH.encode(codec)
    assert decode(body, "text/html; charset=iso-8859-1") == (FRENCH, codec)


def test_utf8_that_is_declared_as_something_else_is_read_as_utf8() -> None:
    for label in ("iso-8859-1", "windows-1251", "gb2312", "shift_jis", "utf-16"):
        body = f"<p>{FRENCH}</p>".encode()
        assert decode(body, f"text/html; charset={label}") == (f"<p>{FRENCH}</p>", "utf-8"), label


def test_windows_text_that_is_declared_as_utf8_is_detected() -> None:
    text, charset = decode((FRENCH * 3).encode("cp1252"), "text/html; charset=utf-8")
    assert (text, charset) == (FRENCH * 3, "cp1252")


def test_one_broken_character_does_not_overrule_utf8() -> None:
    text, charset = decode((FRENCH * 30).encode() + b"\xc3", "text/html; charset=utf-8")
    assert charset == "utf-8"
    assert text == FRENCH * 30 + "\ufffd"
    mostly_ascii = ("plain words " * 500 + "é").encode() + b" \xe9 end"
    assert decode(mostly_ascii, "text/html; charset=utf-8")[1] == "utf-8"


def test_a_stretch_in_another_charset_does_not_overrule_utf8() -> None:
    body = f"<p>{FRENCH}</p>".encode() + "<p>Déjà vu.</p>".encode("cp1252")
    text, charset = decode(body, "text/html; charset=utf-8")
    assert charset == "utf-8"
    assert text == f"<p>{FRENCH}</p><p>D\ufffdj\ufffd vu.</p>"


@pytest.mark.parametrize(
    ("text", "codec"), [(RUSSIAN, "cp1251"), (JAPANESE, "cp932"), (CHINESE, "gb18030"),
                        (KOREAN, "cp949"), (FRENCH, "cp1252")],
)  # fmt: skip
def test_text_in_another_charset_is_no_mixture(text: str, codec: str) -> None:
    page = f"<html><body><p>{text * 10}</p></body></html>"
    assert decode(page.encode(codec), "text/html; charset=utf-8")[0] == page


@pytest.mark.parametrize(
    ("text", "codec"),
    [(RUSSIAN, "cp1251"), (JAPANESE, "cp932"), (CHINESE, "gb18030"), (FRENCH, "cp1252")],
)
def test_undeclared_charsets_are_detected(text: str, codec: str) -> None:
    page = f"<html><body><p>{text * 10}</p></body></html>"
    assert decode(page.encode(codec), "text/html")[0] == page


def test_detection_looks_beyond_a_long_head_of_ascii() -> None:
    page = "<script>" + "var x = 1; " * 5000 + "</script>" + RUSSIAN * 10
    assert decode(page.encode("cp1251"), "")[0] == page


@pytest.mark.parametrize(
    "label", ["base64", "unicode_escape", "idna", "punycode", "utf-7", "rot13", "nonsense", "hex"]
)
def test_codecs_that_are_not_web_charsets_are_not_called(label: str) -> None:
    assert decode(b"+ADw-b\\u0041", f"text/html; charset={label}") == ("+ADw-b\\u0041", "utf-8")
    page = f"<meta charset={label}>+ADw-b\\u0041"
    assert decode(page.encode(), "text/html") == (page, "utf-8")


def test_control_characters_are_dropped_and_white_space_kept() -> None:
    assert decode(b"a\0b\x01\x1f c\t\r\n\x0c\x7fd", "")[0] == "ab c\t\r\n\x0cd"
    assert decode("a\0é\x08b".encode("utf-16"), "")[0] == "aéb"


@given(
    st.binary(max_size=200),
    st.sampled_from(["", "text/html; charset=utf-8", "text/html; charset=gbk", "charset=utf-16"]),
)
def test_no_bytes_raise(body: bytes, content_type: str) -> None:
    text, charset = decode(body, content_type)
    assert codecs.lookup(charset)
    assert "\0" not in text
    text.encode("utf-8")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])))
def test_utf8_survives(text: str) -> None:
    assert decode(text.encode(), "text/html; charset=utf-8")[0] == text.removeprefix("\ufeff")


@given(
    st.sampled_from(["big5", "euc-kr", "hz", "iso-2022-kr", "x-mac-roman", "tis-620", "unicode"])
)
def test_every_known_label_decodes_any_byte(label: str) -> None:
    decode(bytes(range(256)) * 2, f"text/html; charset={label}")
