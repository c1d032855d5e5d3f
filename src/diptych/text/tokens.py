"""Tokens for lexicons: case-folded words, with elisions split and numbers normalised."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from diptych.text.words import is_plain, words

MAX_TOKEN = 60  # characters; longer tokens are not words of a language
_SOFT_HYPHEN = "\u00ad"
_ONE_WORD = "\u0590"  # below, in Latin, Greek, Cyrillic, Armenian, a run of letters is one word
_APOSTROPHES = re.compile("['\u2018\u2019\u02bc]+")
_BETWEEN_APOSTROPHES = re.compile("[^'\u2018\u2019\u02bc]+")
_CACHED = 1 << 15  # words whose tokens are cached; half of a text consists of a few hundred words
# 3 500: one to three digits, then three digits after a space (NFKC turns narrow spaces into one).
_SPACED = re.compile(r"(?<![\w.,'\u2019\u066b\u066c])\d{1,3}(?: \d{3})+(?![\w]|[.,]\d{3})")
_MAYBE_SPACED = re.compile(r"\d \d\d\d")
# Latin text without digits and underscores needs no normalisation.
_NOT_SIMPLE = re.compile(r"[\d_]")
_SIMPLE_WORD = re.compile(r"\w+(?:[.\xb7]\w+)*")
# The Arabic decimal and thousands separators are allowed besides comma and point.
_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u066b\u066c]\d+)+")
_SEPARATOR = re.compile(r"[.,'\u2019\u066b\u066c]")


def tokens(text: str, lang: str) -> list[str]:
    """Split a text into case-folded NFKC words, split elisions, and normalise numbers.

    >>> tokens("L’École n'a que 3,5 m² !", "fr")
    ['l', 'école', 'n', 'a', 'que', '3.5', 'm2']
    >>> tokens("3'500 or 3 500 or 3,500.25", "en")
    ['3500', 'or', '3500', 'or', '3500.25']
    """
    folded = fold_case(text)
    if folded.isalpha() and max(folded) < _ONE_WORD:
        return [folded[:MAX_TOKEN]]
    if not _NOT_SIMPLE.search(folded) and is_plain(folded):
        return [word[:MAX_TOKEN] for word in _SIMPLE_WORD.findall(folded)]
    if _MAYBE_SPACED.search(folded):
        folded = _SPACED.sub(lambda found: found[0].replace(" ", ""), folded)
    parts = ([word] if word.isalpha() else _parts(word) for word in words(folded, lang))
    return [part[:MAX_TOKEN] for part in chain.from_iterable(parts)]


def fold_case(text: str) -> str:
    """Fold the case of a text in NFKC, and remove soft hyphens.

    >>> fold_case("ﬁn de l’ÉTÉ")
    'fin de l’été'
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold().replace(_SOFT_HYPHEN, "")


class PlacedToken(NamedTuple):
    """A token, and the character range in the text that it comes from."""

    token: str
    start: int
    end: int


def placed_tokens(text: str, lang: str) -> list[PlacedToken]:
    """The tokens of a text with their places; a number with spaces gives several tokens.

    >>> text = "L’École, 3 m"
    >>> [(token, text[start:end]) for token, start, end in placed_tokens(text, "fr")]
    [('l', 'L'), ('école', 'École'), ('3', '3'), ('m', 'm')]
    """
    found = []
    place = 0
    for word in words(text, lang):
        at = text.find(word, place)
        if at < 0:  # the segmenter has replaced a lone surrogate
            continue
        place = at + len(word)
        is_whole = word.isalpha() or word[0].isdecimal()
        parts = [(0, word)] if is_whole else _between_apostrophes(word)
        for start, part in parts:
            if token := _only_token(part, lang):
                found.append(PlacedToken(token, at + start, at + start + len(part)))
    return found


def _between_apostrophes(word: str) -> list[tuple[int, str]]:
    return [(part.start(), part[0]) for part in _BETWEEN_APOSTROPHES.finditer(word)]


@lru_cache(maxsize=_CACHED)
def _only_token(part: str, lang: str) -> str:
    """The token of a part of a word; empty if the part has none, or several."""
    found = tokens(part, lang)
    return found[0] if len(found) == 1 else ""


def _parts(word: str) -> list[str]:
    """Split a word at its apostrophes; if it is a number, normalise it instead."""
    if word[0].isdecimal() and _NUMBER.fullmatch(word):
        return [_number(word)]
    parts = [part for part in _APOSTROPHES.split(word) if any(map(str.isalnum, part))]
    return [_digits(part) if part.isdecimal() else part for part in parts]


def _number(text: str) -> str:
    """Drop separators before groups of three digits in a number, and replace others with points.

    >>> _number("1.234,5"), _number("1,234.5"), _number("24.12.2001")
    ('1234.5', '1234.5', '24.12.2001')
    """
    first, *groups = _SEPARATOR.split(_digits(text))
    return first + "".join(group if len(group) == 3 else f".{group}" for group in groups)


def _digits(text: str) -> str:
    """Replace the decimal digits of any script with ASCII digits."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char, char)) for char in text)
