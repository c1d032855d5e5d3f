"""Telephone numbers in a text, by their form or by the word before them; precision comes first."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Digits with what stands between them: one sign, or a bracket and a sign.  Each step takes a digit.
_RUN = re.compile(r"(?:\(\+ ?|\+ ?\(?|\()?\d(?:(?:[ .\-/]|\)[ \-/]?|[ \-]?\((?=[\d ]{1,6}\))|)\d)*")
_MIN_DIGITS, _MAX_DIGITS = 6, 15  # ITU-T E.164 allows fifteen
_NO_DIGITS = re.compile(r"\D+")
_WINDOW = 40  # characters before a number that are looked at

_WORDS = (
    "tel|tele?phone|telefon|telefax|teléfono|telefone|telefono|telefoon|telepon|phone|fax|facsimile"
    "|mobile|mobil|móvil|celular|cel|tlf|tfn|tél|téléphone|télécopie|portable|handy|puh|puhelin|gsm:"
    "|whatsapp|hotline|helpline|call us(?: at| on)?|тел|телефон|факс|моб|τηλ|τηλέφωνο|φαξ"
    "|điện thoại|電話|电话|電話番号|手机|手機|传真|傳真|전화|전화번호|휴대폰|팩스"
    "|هاتف|تلفون|تليفون|جوال|فاكس|تلفن|טלפון|טל|פקס|फ़ोन|फोन|दूरभाष|मोबाइल|โทร|โทรศัพท์"
)
_CUE = re.compile(
    rf"(?<![^\W\d_])(?:{_WORDS})[\s.:;)\]/*=-]{{0,4}}"
    r"(?:(?:number|no|nr|num|numéro|número|nummer|numero|номер|is|n[°º])[\s.:]{1,3})?\(?\Z",
    re.IGNORECASE,
)
# What a number is no part of: a word (ideographs have no blanks between them), a larger number.
_INSIDE = re.compile(r"[+_]\Z|[^\W\u2e80-\U0010ffff]\Z")
_BEHIND = re.compile(r"[.,:\-/#$€£¥@=%'’\\&*^~<|]\Z")
_GOES_ON = re.compile(r"[_%@$€£°=+]|[^\W\u2e80-\U0010ffff]|[/,]\d|[.:\-'’)][0-9A-Za-z]")

# ITU-T E.164 D: country codes of one and of two figures; all others have three.
_ONE = frozenset("17")
_TWO = frozenset(
    "20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64"
    " 65 66 81 82 84 86 90 91 92 93 94 95 98".split()
)
_THREE = frozenset("21 22 23 24 25 26 29 35 37 38 42 50 59 67 68 69 80 85 87 88 96 97 99".split())

# Codes of countries that are often dialled, with how many digits follow.
_DIALLED = re.compile(
    "00(?:" + "|".join([
        r"33[1-9]\d{8}", r"34[6-9]\d{8}", r"39(?:0\d{8,9}|3\d{8,9})", r"49[1-9]\d{9,10}",
        r"44[1-9]\d{9}", r"31[1-9]\d{8}", r"32[1-9]\d{7,8}", r"41[2-9]\d{8}", r"48[1-9]\d{8}",
        r"43[1-9]\d{9,10}", r"351[29]\d{8}", r"353[1-9]\d{8}", r"420[2-9]\d{8}", r"30[26]\d{9}",
        r"90[2-5]\d{9}", r"91[6-9]\d{9}", r"861[3-9]\d{9}", r"7[3489]\d{9}", r"966[15]\d{8}",
    ]) + ")"
)  # fmt: skip
_IN_GROUPS = re.compile(r"00 \d{1,3}(?: \d{1,10}|-\d{1,10})+")
_NATIONAL = re.compile(
    "|".join(
        [
            # North America: (555) 123-4567, 1-800-555-0199, 555.123.4567
            r"(?:1[ -])?(?:\([2-9]\d\d\)[ -]?|[2-9]\d\d[-/])\d{3}-\d{4}",
            r"[2-9]\d\d\.\d{3}\.\d{4}",
            # an area code in brackets: (030) 12 34 56, (11) 91234-5678
            r"(?=(?:\D*\d){8,12}\Z)\(0\d{1,4}\)[ -]?\d{2,8}(?:[ -]\d{2,8}){0,4}",
            r"\(\d\d\) ?9?\d{4}-\d{4}",
            # France: 01 23 45 67 89
            r"0[1-9](?:(?: \d\d){4}|(?:\.\d\d){4}|(?:-\d\d){4})",
            # the area code, then a slash, hyphens, blanks
            r"(?=(?:\D*\d){8,12}\Z)0[1-9]\d{1,4}/\d{2,8}(?:[ -]\d{2,5}){0,3}",
            r"(?=(?:\D*\d){10,12}\Z)0[1-9]\d{0,3}-\d{3,8}(?:[ -]\d{3,8}){0,2}",
            r"(?=(?:\D*\d){9,11}\Z)0[1-9]\d{1,3} [1-9]\d{1,7}(?: \d{2,4}){0,4}",
            r"0[2-9] \d{4} \d{4}|0[67] \d{8}",
            # Russia: 8 (495) 123-45-67
            r"(?:8[ -]?)?\(\d{3,5}\)[ -]?\d{1,3}-\d\d-\d\d|8-\d{3}-\d{3}-\d\d-\d\d",
            r"8 [3489]\d\d \d{3}-\d\d-\d\d",
            # China: 138 0013 8000
            r"1[3-9]\d(?: \d{4} \d{4}|-\d{4}-\d{4})",
        ]
    )
)
_HEX = re.compile(r"\s[0-9a-f]{2}(?![^\W_])", re.IGNORECASE)


def telephones(text: str) -> Iterator[tuple[int, int]]:
    """Where telephone numbers stand in a text whose digits and signs are those of ASCII.

    >>> text = "Tel.: 55 12 34 56, fax (030) 12 34 56; 10.04.2004, 192.168.100.200"
    >>> [text[start:end] for start, end in telephones(text)]
    ['55 12 34 56', '(030) 12 34 56']
    """
    for found in _RUN.finditer(text):
        run, start, end = found[0], found.start(), found.end()
        if run[0] == "(" and ")" not in run:
            run, start = run[1:], start + 1
        digits = _NO_DIGITS.sub("", run)
        is_likely = _MIN_DIGITS <= len(digits) <= _MAX_DIGITS + 2 and not _is_date(run)
        if is_likely and not _GOES_ON.match(text, end) and _is_telephone(text, start, run, digits):
            yield start, end


def _is_telephone(text: str, start: int, run: str, digits: str) -> bool:
    before = text[max(0, start - _WINDOW) : start]
    if "+" in run[:2]:
        is_apart = run[0] == "(" or not _INSIDE.search(before)
        return is_apart and _is_international(digits.removeprefix("00"))
    if len(digits) <= _MAX_DIGITS and _CUE.search(before):
        return not _is_internet(run)
    if _INSIDE.search(before) or _BEHIND.search(before):
        return False
    if run.startswith("00") and _has_prefix(run):
        return _is_international(digits[2:])
    if run.startswith("00") and _is_dialled(run, digits):
        return True
    if _HEX.match(text, start + len(run)):  # a dump of bytes goes on
        return False
    return _NATIONAL.fullmatch(run) is not None


def _is_international(digits: str) -> bool:
    """Whether digits begin with the code of a country, and are as many as it has.

    >>> [_is_international(digits) for digits in ("4930123456", "2800000000", "15551234567")]
    [True, False, True]
    """
    if not 8 <= len(digits) <= _MAX_DIGITS:
        return False
    if digits[0] in _ONE:
        return len(digits) == 11 and (digits[0] == "7" or digits[1] > "1")
    return digits[:2] in _TWO or digits[:2] in _THREE


def _has_prefix(run: str) -> bool:
    """Whether a number begins with 00 and the code of a country, set apart: 0049 30 123456."""
    first = _NO_DIGITS.split(run)[0]
    code = first[2:]
    return code in _TWO or code in _ONE or (len(code) == 3 and code[:2] in _THREE)


def _is_dialled(run: str, digits: str) -> bool:
    """Whether a number is 0033123456789 or 00 33 1 23 45 67 89: as long as those of its country.

    Bytes are written in pairs, so that a number all of pairs is none.
    """
    if not _DIALLED.fullmatch(digits):
        return False
    is_apart = _IN_GROUPS.fullmatch(run) and any(len(group) != 2 for group in run.split(" "))
    return run == digits or bool(is_apart)


def _is_date(run: str) -> bool:
    """Whether a run of digits is a date, a span of years, or begins or ends with one."""
    groups = [group for group in _NO_DIGITS.split(run) if group]
    if len(groups) == 2:
        return all(len(group) == 4 and "1000" <= group < "2200" for group in groups)
    return len(groups) > 2 and (_is_day(groups[:3]) or _is_day(groups[-3:]))


def _is_day(groups: list[str]) -> bool:
    if len(groups[0]) == 4:
        groups = groups[::-1]
    day, month, year = groups
    if max(len(day), len(month)) > 2 or max(int(day), int(month)) > 31:
        return False
    is_long = len(year) == 4 and "1000" <= year < "2200"
    return is_long and min(int(day), int(month)) <= 12


def _is_internet(run: str) -> bool:
    groups = run.split(".")
    is_four = len(groups) == 4 and all(group.isdecimal() and int(group) < 256 for group in groups)
    return is_four and any(len(group) != 2 for group in groups)
