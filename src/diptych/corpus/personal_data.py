"""Detects and redacts e-mail addresses, telephone numbers, IBANs and payment card numbers.

Precision matters most, because manuals contain many other numbers.  All searches take linear time:
each examines a bounded stretch of text around a rare character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diptych.kernels.text_hints import TextHint, text_hints

_ASCII_SIGN, _SIGN = re.compile(r"[0-9@(\[{]"), re.compile(r"[\d@\uff20\ufe6b(\[{]")
# Adjacent text may hide a number from detection, so a text is searched again after each redaction.
# After this many rounds, which only a specially crafted text needs, adjacent characters are removed
# as well, more in each round, so that there are few rounds even for a long text.
_EXACT_ROUNDS = 4
_WIDER = 8


class _Match(NamedTuple):
    start: int
    end: int
    kind: str


def personal_data(text: str) -> tuple[str, ...]:
    """The kinds of personal data in a text: `card`, `email`, `iban`, `phone`.

    >>> personal_data("Write to jane@example.org or call +44 20 7946 0958.")
    ('email', 'phone')
    >>> personal_data("Version 2.6.32.5 of 2004-01-10, ISBN 0-306-40615-2, user@2x.png")
    ()
    """
    found = _search(text)
    return tuple(sorted({item.kind for item in found})) if found else ()


def personal_data_of_texts(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The kinds of personal data in each text; most texts need no search.

    >>> personal_data_of_texts(["nothing", "jane@example.org"])
    [(), ('email',)]
    """
    hints = text_hints(texts) & TextHint.PERSONAL
    found: list[tuple[str, ...]] = [()] * len(texts)
    for place in hints.nonzero()[0].tolist():
        found[place] = personal_data(texts[place])
    return found


def redacted(text: str) -> str:
    """Replace each item of personal data in a text with the name of its kind.

    >>> redacted("Write to jane@example.org or call +44 20 7946 0958.")
    'Write to [EMAIL] or call [PHONE].'
    """
    times = 0
    while found := _search(text):
        times += 1
        beside = _WIDER ** (times - _EXACT_ROUNDS) if times > _EXACT_ROUNDS else 0
        pieces, end = [], 0
        for item in found:
            if item.start - beside >= end or not end:
                pieces += [text[end : max(0, item.start - beside)], f"[{item.kind.upper()}]"]
            end = item.end + beside
        text = "".join([*pieces, text[end:]])
    return text


def _search(text: str) -> list[_Match]:
    """Find all items of personal data in a text, in order and without overlaps."""
    signs = _ASCII_SIGN if text.isascii() else _SIGN
    if not signs.search(text) and " AT " not in text:
        return []
    found: list[_Match] = []
    signed = text if text.isascii() else text.translate(_AT)
    if "@" in signed:
        found += _addresses(signed)
    found += _spelled_addresses(text)
    if len(_DIGIT.findall(text)) >= _MIN_DIGITS:
        found += _numbers(text)
    kept: list[_Match] = []
    for item in sorted(found):
        if not kept or item.start >= kept[-1].end:
            kept.append(item)
    return kept


# Mail

_MAX_LOCAL, _MAX_DOMAIN = 64, 255  # RFC 5321, 4.5.3.1
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_TOP = r"(xn--[a-z0-9-]{2,59}|[^\W\d_]{2,24})"
_AT = {0xFF20: "@", 0xFE6B: "@"}
_LOCAL = re.compile(r"[\w.!#$%&*+?^~-]+\Z")
# Names such as O'Brien; a longer string before an apostrophe is a word, or quoted.
_NAME = re.compile(r"[\w.!#$%&*+?^~-]*(?<![^\W_])[^\W\d_]['\u2019][\w.!#$%&*+?^~-]+\Z")
_DOMAIN = re.compile(rf"(?:{_LABEL}\.){{1,8}}{_TOP}", re.IGNORECASE)
# Ends of file names or systemd units that look like the end of a host name: `user@2x.png`.
_FILE_ENDINGS = frozenset(
    "png jpg jpeg gif svg webp ico css js mjs ts json html htm php py rb conf service socket target"
    " timer mount slice scope device path swap automount".split()
)
_PARAGUAY = re.compile(r"\.(?:com|coop|edu|gov|mil|net|org|una)\.py\Z", re.IGNORECASE)
_PORT_OR_NEXT = re.compile(r"\d{1,5}(?![\w/:~.-])|\d{1,5}\.(?!\w)|[\w.!#$%&*+?^~'\u2019-]+@")
_IN_URL = re.compile(r"://\S*\Z")
_MAX_URL = 200
_SPELLED_AT = re.compile(
    r"[(\[{] ?(?:at|@|ät|æt|arroba|chiocciola|chez|собака) ?[)\]}] ?", re.IGNORECASE
)
_DOT = r"(?:\.| ?[(\[{] ?(?:dot|punkt|punto|ponto|point|точка|\.) ?[)\]}] ?)"
_SPELLED_DOMAIN = re.compile(rf"(?:{_LABEL}{_DOT}){{1,8}}{_TOP}", re.IGNORECASE)
_SHOUTED_DOMAIN = re.compile(rf"(?:{_LABEL} DOT ){{1,8}}{_TOP}")


def _addresses(text: str) -> Iterator[_Match]:
    at = text.find("@")
    while at >= 0:
        yield from _address(text, at, at + 1, _DOMAIN)
        at = text.find("@", at + 1)


def _spelled_addresses(text: str) -> Iterator[_Match]:
    """Yield e-mail addresses that are spelled out, such as `jane (at) example (dot) org`."""
    for found in _SPELLED_AT.finditer(text):
        start = found.start()
        start -= text[start - 1 : start] == " "
        yield from _address(text, start, found.end(), _SPELLED_DOMAIN)
    at = text.find(" AT ")
    while at >= 0:
        yield from _address(text, at, at + 4, _SHOUTED_DOMAIN)
        at = text.find(" AT ", at + 1)


def _address(text: str, before: int, after: int, domain: re.Pattern[str]) -> Iterator[_Match]:
    """Yield the e-mail address around an at sign, if there is one.

    The at sign, which may be spelled out, starts at `before` and ends at `after`.  `domain` matches
    the domain that follows it.
    """
    found = domain.match(text, after, after + _MAX_DOMAIN)
    if found is None or _is_file(found) or not _is_over(text, found.end()):
        return
    piece = text[max(0, before - _MAX_LOCAL) : before]
    is_apart = "'" in piece or "\u2019" in piece
    local = (is_apart and _NAME.search(piece)) or _LOCAL.search(piece)
    name = local[0].lstrip(".") if local else ""
    start = before - len(name)
    if not any(char.isalnum() for char in name) or text[start - 1 : start].isalnum():
        return
    if not _IN_URL.search(text[max(0, start - _MAX_URL) : start]):
        yield _Match(start, found.end(), "email")


def _is_file(domain: re.Match[str]) -> bool:
    return domain[1].lower() in _FILE_ENDINGS and not _PARAGUAY.search(domain[0])


def _is_over(text: str, end: int) -> bool:
    """True if an e-mail address can end at `end`; it cannot end before a path (`git@host.org:a/b`).

    >>> [_is_over(text, 0) for text in (":8080", ":a/b", ":22/a", ":jane@example.org", ": a")]
    [True, False, False, True, True]
    """
    following, further = text[end : end + 1], text[end + 1 : end + 2]
    if following.isalnum() or (following and following in "@_-"):
        return False
    if following != ":" or not (further.isalnum() or (further and further in "/~.")):
        return True
    return _PORT_OR_NEXT.match(text, end + 1, end + 2 + _MAX_LOCAL) is not None


# Numbers

_DIGIT = re.compile(r"\d")
_MIN_DIGITS = 6
_SIGNS = {
    "-": "\u2010\u2011\u2012\u2013\u2212\uff0d", " ": "\xa0\u2002\u2003\u2007\u2009\u202f\u3000",
    "(": "\uff08", ")": "\uff09", "+": "\uff0b", ".": "\uff0e", "/": "\uff0f", ":": "\uff1a",
}  # fmt: skip

# Countries by the length of their account numbers (ISO 13616, registry of SWIFT).
_LENGTHS = {
    15: "NO", 16: "BE", 18: "DK FO FI GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV", 22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST", 26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB NI PL SV", 29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC",
    32: "LC", 33: "RU",
}  # fmt: skip
_ACCOUNT = {country: length for length, names in _LENGTHS.items() for country in names.split()}
_ACCOUNT_START = re.compile(r"(?<![^\W_])([A-Z]{2})\d\d(?=[ -]?[A-Z0-9])")
_SPLIT = re.compile(r"[ -]?[A-Z0-9]")
# Many other strings look like an IBAN in lower case.  So it must be in one piece or in groups of
# four, and have no letters except those of the bank, which come first.
_SMALL_START = re.compile(r"(?<![^\W_])([a-z]{2})\d\d(?=[a-z0-9]{9}| [a-z0-9]{4} )")
_SMALL_SPLIT = re.compile(r" ?[a-z0-9]")
_SMALL = re.compile(r"[a-z]{2}\d\d(?:[a-z]{0,4}\d+|(?: [a-z]{4})?(?: \d{4})+(?: \d{1,3})?)")
# Cards as printed: four groups of four, or 4-6-5 (American Express), or 4-6-4 (Diners).
_CARD = re.compile(
    r"(?<![\w.,:/+-])(?:(?:4\d|5[1-5]|2[2-7]|6[0245]|35)\d\d([ -])\d{4}\1\d{4}\1\d{4}"
    r"|3[47]\d\d([ -])\d{6}\2\d{5}|3[068]\d\d([ -])\d{6}\3\d{4})(?![\w-]|[ .,:/]\d)"
    # in one piece: Visa, Mastercard, American Express, Discover
    r"|(?<![\w.,:/+#=&?%$@-])(?:4\d{15}|5[1-5]\d{14}|3[47]\d{13}|6011\d{12})"
    r"(?![\w%@=&-]|[ .,:/]\d)"
)


class _Plain(dict[int, int]):
    """A translation table that maps the digits of all scripts, and variants of signs, to ASCII.

    Entries for digits are added when they are first needed.
    """

    def __missing__(self, code: int) -> int:
        digit = unicodedata.decimal(chr(code), -1)
        self[code] = plain = code if digit < 0 else ord("0") + digit
        return plain


_PLAIN = _Plain({ord(sign): ord(plain) for plain, signs in _SIGNS.items() for sign in signs})


def _numbers(text: str) -> Iterator[_Match]:
    plain = text if text.isascii() else text.translate(_PLAIN)
    for found in _ACCOUNT_START.finditer(plain):
        end = _account_end(plain, found.start(), _ACCOUNT.get(found[1], 0), _SPLIT)
        if end:
            yield _Match(found.start(), end, "iban")
    for found in _SMALL_START.finditer(plain):
        length = _ACCOUNT.get(found[1].upper(), 0)
        end = _account_end(plain, found.start(), length, _SMALL_SPLIT)
        if end and _SMALL.fullmatch(plain, found.start(), end):
            yield _Match(found.start(), end, "iban")
    for found in _CARD.finditer(plain):
        if _is_card(found[0]):
            yield _Match(found.start(), found.end(), "card")
    from diptych.corpus.telephones import telephones  # most texts have few digits

    yield from (_Match(start, end, "phone") for start, end in telephones(plain))


def _account_end(text: str, start: int, length: int, split: re.Pattern[str]) -> int:
    """The end offset of a valid IBAN that starts at `start`; 0 if there is none.

    `length` is the number of characters in an IBAN of its country; `split` matches one such
    character, with any separator before it.
    """
    name, end = "", start
    while len(name) < length and (found := split.match(text, end)):
        name, end = name + found[0][-1], found.end()
    if not length or len(name) < length or text[end : end + 1].isalnum():
        return 0
    number = "".join(str(int(char, 36)) for char in name[4:] + name[:4])
    return end if int(number) % 97 == 1 else 0


def _is_card(text: str) -> bool:
    """True if a card number has a valid check digit (Luhn).

    >>> _is_card("4111 1111 1111 1111"), _is_card("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(char) for char in text if char.isdecimal()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
