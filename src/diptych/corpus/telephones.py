"""Detects telephone numbers by their form, or by the word before them.

Precision matters more than recall.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from diptych.files import shipped_table

# Digits with separators between them: one sign, or a bracket and a sign.  Each step takes a digit.
_RUN = re.compile(r"(?:\(\+ ?|\+ ?\(?|\()?\d(?:(?:[ .\-/]|\)[ \-/]?|[ \-]?\((?=[\d ]{1,6}\))|)\d)*")
_MIN_DIGITS, _MAX_DIGITS = 6, 15  # ITU-T E.164 allows fifteen
_NON_DIGITS = re.compile(r"\D+")
_CONTEXT = 40  # characters before a number that are examined


def _table() -> dict[str, list[str]]:
    """The regular expressions in telephones.tsv, by kind.

    `word` matches a word before a number, `dialled` a number after 00, and `national` a number
    without a country code.
    """
    found = defaultdict(list)
    for kind, form, *_ in shipped_table("diptych.corpus", "telephones.tsv"):
        found[kind].append(form)
    return found


_TABLE = _table()
_CUE = re.compile(
    rf"(?<![^\W\d_])(?:{'|'.join(_TABLE['word'])})[\s.:;)\]/*=-]{{0,4}}"
    r"(?:(?:number|no|nr|num|numéro|número|nummer|numero|номер|is|n[°º])[\s.:]{1,3})?\(?\Z",
    re.IGNORECASE,
)
# Numbers inside a word or a larger number are rejected (ideographs have no spaces between words).
_INSIDE = re.compile(r"[+_]\Z|[^\W\u2e80-\U0010ffff]\Z")
_BEHIND = re.compile(r"[.,:\-/#$€£¥@=%'’\\&*^~<|]\Z")
_GOES_ON = re.compile(r"[_%@$€£°=+]|[^\W\u2e80-\U0010ffff]|[/,]\d|[.:\-'’)][0-9A-Za-z]")

# ITU-T E.164 D: country codes of one and of two digits; the first two digits of all others.
_ONE_DIGIT_CODES = frozenset("17")
_TWO_DIGIT_CODES = frozenset(
    "20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64"
    " 65 66 81 82 84 86 90 91 92 93 94 95 98".split()
)
_THREE_DIGIT_CODES = frozenset(
    "21 22 23 24 25 26 29 35 37 38 42 50 59 67 68 69 80 85 87 88 96 97 99".split()
)

# Numbers with the code of a country whose numbers are often dialled, in the length used there.
_DIALLED = re.compile(f"00(?:{'|'.join(_TABLE['dialled'])})")
_IN_GROUPS = re.compile(r"00 \d{1,3}(?: \d{1,10}|-\d{1,10})+")
_NATIONAL = re.compile("|".join(_TABLE["national"]))
_HEX_BYTE = re.compile(r"\s[0-9a-f]{2}(?![^\W_])", re.IGNORECASE)


def telephones(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each telephone number in a text; digits and signs must be ASCII.

    >>> text = "Tel.: 55 12 34 56, fax (030) 12 34 56; 10.04.2004, 192.168.100.200"
    >>> [text[start:end] for start, end in telephones(text)]
    ['55 12 34 56', '(030) 12 34 56']
    """
    for found in _RUN.finditer(text):
        run, start, end = found[0], found.start(), found.end()
        if run[0] == "(" and ")" not in run:
            run, start = run[1:], start + 1
        digits = _NON_DIGITS.sub("", run)
        is_likely = _MIN_DIGITS <= len(digits) <= _MAX_DIGITS + 2 and not _is_date(run)
        if is_likely and not _GOES_ON.match(text, end) and _is_telephone(text, start, run, digits):
            yield start, end


def _is_telephone(text: str, start: int, run: str, digits: str) -> bool:
    before = text[max(0, start - _CONTEXT) : start]
    if "+" in run[:2]:
        is_apart = run[0] == "(" or not _INSIDE.search(before)
        return is_apart and _is_international(digits.removeprefix("00"))
    if len(digits) <= _MAX_DIGITS and _CUE.search(before):
        return not _is_ip_address(run)
    if _INSIDE.search(before) or _BEHIND.search(before):
        return False
    if run.startswith("00") and _has_country_code(run):
        return _is_international(digits[2:])
    if run.startswith("00") and _is_dialled(run, digits):
        return True
    if _HEX_BYTE.match(text, start + len(run)):  # a hex dump continues
        return False
    return _NATIONAL.fullmatch(run) is not None


def _is_international(digits: str) -> bool:
    """True if a number starts with a country code and has a valid length for that country.

    >>> [_is_international(digits) for digits in ("4930123456", "2800000000", "15551234567")]
    [True, False, True]
    """
    if not 8 <= len(digits) <= _MAX_DIGITS:
        return False
    if digits[0] in _ONE_DIGIT_CODES:
        return len(digits) == 11 and (digits[0] == "7" or digits[1] > "1")
    return digits[:2] in _TWO_DIGIT_CODES or digits[:2] in _THREE_DIGIT_CODES


def _has_country_code(run: str) -> bool:
    """True if the first group of a number is 00 and a country code, as in 0049 30 123456."""
    first = _NON_DIGITS.split(run)[0]
    code = first[2:]
    return (
        code in _TWO_DIGIT_CODES
        or code in _ONE_DIGIT_CODES
        or (len(code) == 3 and code[:2] in _THREE_DIGIT_CODES)
    )


def _is_dialled(run: str, digits: str) -> bool:
    """True if a number that starts with 00 has a valid form and length for its country.

    The forms are 0033123456789 and 00 33 1 23 45 67 89.  A number that consists only of pairs of
    digits is not accepted, because it may be from a hex dump.
    """
    if not _DIALLED.fullmatch(digits):
        return False
    is_apart = _IN_GROUPS.fullmatch(run) and any(len(group) != 2 for group in run.split(" "))
    return run == digits or bool(is_apart)


def _is_date(run: str) -> bool:
    """True if a run of digits is a date or a range of years, or starts or ends with a date."""
    groups = [group for group in _NON_DIGITS.split(run) if group]
    if len(groups) == 2:
        return all(len(group) == 4 and "1000" <= group < "2200" for group in groups)
    return len(groups) > 2 and (_is_calendar_date(groups[:3]) or _is_calendar_date(groups[-3:]))


def _is_calendar_date(groups: list[str]) -> bool:
    if len(groups[0]) == 4:
        groups = groups[::-1]
    day, month, year = groups
    if max(len(day), len(month)) > 2 or max(int(day), int(month)) > 31:
        return False
    is_long = len(year) == 4 and "1000" <= year < "2200"
    return is_long and min(int(day), int(month)) <= 12


def _is_ip_address(run: str) -> bool:
    groups = run.split(".")
    is_four = len(groups) == 4 and all(group.isdecimal() and int(group) < 256 for group in groups)
    return is_four and any(len(group) != 2 for group in groups)
