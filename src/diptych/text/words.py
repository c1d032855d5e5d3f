"""Word segmentation of texts in any script, with ICU if it is installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from diptych.language.codes import primary

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")  # like ICU, keeps an apostrophe inside a word
# Most web text is Latin, Greek or Cyrillic letters and plain punctuation, where a few rules
# (UAX 29) find the words in a sixth of the time that ICU takes.
_UNUSUAL = re.compile(
    r"[^\t\n\r -~\xa0-\xac\xae-\xb1\xb4-\xb7\xba\xbb\xbf-\u024f\u2010-\u2023\u2025\u2026\u20ac"
    r"\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u0400-\u0482\u048a-\u04ff\u2190-\u21ff]"
)
_COLON = re.compile(r"[^\W\d_]:[^\W\d_]")  # languages differ on colons between letters
_PLAIN_WORD = re.compile(
    r"\w+(?:(?:(?<=[^\W\d_])[.'\u2018\u2019\xb7](?=[^\W\d_])|(?<=\d)[.,;'\u2018\u2019](?=\d))\w+)*"
)

_Segmenter = Callable[[str, str], Iterator[str]]


def words(text: str, lang: str) -> list[str]:
    """The words of a text, in order; each contains a letter or a digit.

    >>> words("L'école n'a que 3,5 élèves !", "fr")
    ["L'école", "n'a", 'que', '3,5', 'élèves']
    """
    segmenter = _segmenter()
    if segmenter is None:
        return _WORD.findall(text)
    if is_plain(text):
        found = _PLAIN_WORD.findall(text)
        return [piece for piece in found if _has_word(piece)] if "_" in text else found
    return [piece for piece in segmenter(_whole(text), primary(lang) or "en") if _has_word(piece)]


def is_plain(text: str) -> bool:
    """True if a text can be split into words without ICU.

    Such a text has only Latin, Greek and Cyrillic letters and unambiguous punctuation.

    >>> is_plain("L'école : 3,5 élèves !"), is_plain("Да"), is_plain("中文"), is_plain("Kista:s")
    (True, True, False, False)
    """
    return not _UNUSUAL.search(text) and not (":" in text and _COLON.search(text))


def has_segmenter() -> bool:
    """True if ICU is installed."""
    return _segmenter() is not None


def _has_word(piece: str) -> bool:
    return piece[0].isalnum() or (len(piece) > 1 and any(map(str.isalnum, piece)))


@cache
def _segmenter() -> _Segmenter | None:
    """ICU's word segmenter; None if ICU is not installed."""
    try:
        from icu4py.breakers import WordBreaker
    except ImportError:
        return None
    return lambda text, lang: iter(WordBreaker(text, lang))


def _whole(text: str) -> str:
    """Replace lone surrogates in a text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
