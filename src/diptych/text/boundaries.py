"""Sentence boundaries in any script: those of ICU (UAX #29), corrected by rules.

ICU knows the full stops of all scripts, brackets and quotation marks after them, and names such as
ASP.NET.  The rules drop its boundaries after abbreviations, initials, ordinals and numbers of list
items, and add boundaries that it does not know: ellipses, missing blanks, the Tibetan shad, full
stops of Armenian and Ethiopic that are typed as colons, and list items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import accumulate

from diptych.text.abbreviations import has_ordinals, is_open

_WINDOW = 60  # characters that are looked at on each side of a boundary
_LINE_BREAK = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_CLOSING = "»”’›)\\]}」』）】〉》"
_QUOTES = "»”’›)]}」』）】〉》\"'“«„‘"
_QUOTES_AND_BLANKS = f"{_QUOTES} \xa0\u202f"
_CLOSED = re.compile(rf"(?:[{_CLOSING}]+(?=[\s.,;:!?…]|$)[.,;:!?…]*\s*)+")
_BEFORE_WORD = re.compile(r".*[\s,;:=/!?()\[\]{}\"'«»“”„‘’…–—-]", re.DOTALL)
_MAY_PRECEDE = " ([{\"'«“„‘’"
_MAY_PRECEDE_NUMBER = f"{_MAY_PRECEDE}–—-/"  # vom 10.–12. September
_OPENED = re.compile(r"[\[({「『（【〈《“‘«„¿¡]+$")
_WORD = re.compile(r"[^\W_]")
_QUOTED_CLAUSE = re.compile(r"[」』）][\u3041-\u309f]")  # 「行け。」と言った
_AND_SO_ON = "ល។"  # the Khmer abbreviation ។ល។

# Boundaries that ICU does not know.
_ELLIPSIS = re.compile(rf"…[{_CLOSING}\"'“]*\s+(?=[^\w\s]{{,3}}([^\W\d_]))")
_REFERENCE = re.compile(r"[.!?](?:\[\w{1,3}\])+\s+(?=(\S))")  # of a footnote: end.[1] Next
_MARK = re.compile(
    r"[.!?](?:\s+(?=-?\d|[\"“«„‘][^\W_]|(?P<small>[a-z]))|(?=(?P<word>[^\W\d_]{2,})(?:[\s,;]|$)))"
)
_PLAIN_WORD = re.compile(r"(?<![\w.@/=-])[^\W\d_]+$")
_MIN_WORD = 3  # letters of a word before a full stop without a blank
# A word that is followed by a full stop and a number; shorter ones are often abbreviations.
_LONG_WORD = re.compile(
    r"(?<![\w.@/=-])[^\W\d_]{5}[^\W\d_]*$|[^\s\x00-\u058f\u0e00-\u0eff\u2000-\u206f]{4}$"
)
_AFTER_BRACKET = tuple(")]»”")
_LAST_CASED = "\u058f"  # of the scripts with small letters that are in use
_DOMAINS = frozenset("com net org info gov edu".split())
_HAS_SCRIPT = re.compile(r"[\u0531-\u0587\u0f00-\u0fff\u1200-\u137f]")
_SCRIPTS = re.compile(
    r"(?<![།༎༏༐༑༔])[།༎༏༐༑༔]+\s+(?:[།༎]+\s*)*"  # the Tibetan shad
    r"|(?:(?<=[\u1200-\u135a])::|፡፡)\s*"  # Ethiopic full stop, typed as colons or word spaces
    r"|(?<=[\u0561-\u0587]):\s+(?=[\u0531-\u0556])"  # Armenian full stop, typed as a colon
)

_NUMBERED = re.compile(r"\d[.)]\s")
_ITEM = re.compile(r"(?<!\S)(\d{1,2})([.)])\s+(?=\S)")
_MARKER = re.compile(
    r"\s*[(\[]?(?:\d{1,3}|[^\W\d_]|[ivxIVX]{1,5})(?:\.(?:\d{1,2}|[^\W\d_])){,4}[.)\]]+\s*"
)
_MAX_MARKER = 16  # characters


def sentence_boundaries(text: str, code: str) -> list[int]:
    """The offsets at which sentences of a text begin, except the first; blanks stand before them.

    >>> sentence_boundaries("See GEO.CA. Or ask Dr. Jones. Why not?", "en")
    [12, 30]
    """
    plain, blank_lines = text, tuple[int, ...]()
    if not text.isprintable():  # it may have line breaks or surrogates
        plain = _SURROGATE.sub("\ufffd", _LINE_BREAK.sub(" ", text))
        blank_lines = tuple(end.end() for end in _BLANK_LINE.finditer(text))
    fixed = {*_added(plain, code), *blank_lines}
    found = set(accumulate(map(len, _breaker()(plain, code))))
    if _NUMBERED.search(plain):
        for first, item in _items(plain, code):
            fixed.add(item.start())
            found.difference_update((first.end(), item.end()))
    places = sorted((found | fixed) - {0, len(text)})
    return list(_chosen(plain, places, fixed, code)) if places else []


@cache
def _breaker() -> Callable[[str, str], Iterable[str]]:
    """The sentence breaker of ICU, which is loaded when it is first needed."""
    from icu4py.breakers import SentenceBreaker

    return SentenceBreaker


def _chosen(plain: str, places: list[int], fixed: set[int], code: str) -> Iterator[int]:
    """The places that are boundaries; each has words before and after it."""
    last_word = next((at for at in range(len(plain) - 1, -1, -1) if plain[at].isalnum()), -1)
    start, seen, has_word = 0, 0, False
    for place in places:
        if place < seen:
            continue
        has_word = has_word or _WORD.search(plain, seen, place) is not None
        seen = place
        cut = place if place in fixed else _corrected(plain, place, code)
        if cut is None or not has_word or cut > last_word:
            continue
        if cut - start <= _MAX_MARKER and _MARKER.fullmatch(plain, start, cut):
            continue  # the number of a list item belongs to the text after it
        yield cut
        start, seen, has_word = cut, cut, False


def _corrected(plain: str, place: int, code: str) -> int | None:
    """The place of a boundary near a boundary of ICU; None if there is none.

    >>> _corrected("« Adieu. » Puis", 9, "fr"), _corrected("Dr. Jones", 4, "en")
    (11, None)
    """
    closed = _CLOSED.match(plain, place, place + _WINDOW)
    if closed:
        place = closed.end()
    elif not plain[place - 1].isspace():
        opened = _OPENED.search(plain, max(0, place - 4), place)
        place = opened.start() if opened else place  # ICU takes all quotation marks as closing
    before = plain[max(0, place - _WINDOW) : place]
    after = plain[place : place + _WINDOW]
    ended = before.rstrip()
    if not after or not ended or not _is_ended(before, ended, after):
        return None
    bare = ended.rstrip(_QUOTES)
    if bare[-1:] == "." and _is_open(bare[:-1], after, code):
        return None
    return place


def _is_open(before: str, after: str, code: str) -> bool:
    """True if a full stop between two texts belongs to an abbreviation, initial or ordinal.

    >>> _is_open("(by Dr", "Jones", "en"), _is_open("5 kbit/s", "Jones", "en")
    (True, False)
    """
    found = _BEFORE_WORD.match(before)
    start = found.end() if found else 0
    word = before[start:]
    may_precede = _MAY_PRECEDE_NUMBER if word.isdecimal() else _MAY_PRECEDE
    if not word or (start and before[start - 1] not in may_precede):
        return False
    return is_open(before[:start], word, after, code)


def _is_ended(before: str, ended: str, after: str) -> bool:
    """True if what follows a mark can begin a sentence.

    >>> _is_ended("“Stop!” ", "“Stop!”", "he said."), _is_ended("Stop! ", "Stop!", "He said.")
    (False, True)
    """
    mark = ended.rstrip(_QUOTES_AND_BLANKS)[-1:]
    if mark == "၊":  # a comma, for ICU a full stop
        return False
    if mark not in ".!?…;":  # the full stops of other scripts are unambiguous
        return not (after.startswith(_AND_SO_ON) or _QUOTED_CLAUSE.match(ended[-1] + after[0]))
    if _is_lower(after[0]):
        return False  # "Stop!" he said
    if ended != before:
        return True
    # Without a blank: やった!次は and やった!OK, but not ASP.NET, search?q=
    return _has_no_case(after[0]) or (mark != "." and _has_no_case(ended[-2:-1]))


def _has_no_case(char: str) -> bool:
    return char.isalpha() and char.upper() == char.lower()


def _is_lower(char: str) -> bool:
    """True for a small letter; letters without a title case, such as Georgian ones, are not small.

    >>> _is_lower("a"), _is_lower("ა"), _is_lower("A")
    (True, False, False)
    """
    return char.islower() and char.title() != char


def _added(plain: str, code: str) -> Iterator[int]:
    """Places that ICU does not know, of boundaries that need no further tests."""
    if "…" in plain:
        yield from (found.end() for found in _ELLIPSIS.finditer(plain) if found[1].isupper())
    if "[" in plain:
        yield from (found.end() for found in _REFERENCE.finditer(plain) if not _is_lower(found[1]))
    for found in _MARK.finditer(plain):
        if _is_added(plain[max(0, found.start() - _WINDOW) : found.start()], found, code):
            yield found.end()
    if _HAS_SCRIPT.search(plain):
        yield from (found.end() for found in _SCRIPTS.finditer(plain))


def _is_added(before: str, mark: re.Match[str], code: str) -> bool:
    """True if a sentence ends at a mark where ICU sees none.

    These stand before a number, a quotation mark, a small letter after another script, or a word
    without a blank.

    >>> [_is_added(word, _MARK.match(after), "en") for word, after in
    ...     (("left", ".Then"), ("Node", ".Js"), ("pages", ". 5"), ("page", ". 5"))]
    [True, False, True, False]
    """
    if mark["small"]:
        return before[-1:] > _LAST_CASED and not _is_open(before, mark["small"], code)
    if not mark["word"]:
        is_word = _LONG_WORD.search(before) is not None and not _is_open(before, "1", code)
        return is_word or before[-1:] in _AFTER_BRACKET
    word = _PLAIN_WORD.search(before)
    return (
        word is not None
        and len(word[0]) >= _MIN_WORD
        and word[0].islower()
        and mark["word"].istitle()
        and mark["word"].lower() not in _DOMAINS
        and not _is_open(before, mark["word"], code)
    )


def _items(plain: str, code: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Each two numbers of list items that follow each other.

    >>> [(one[1], other[1]) for one, other in _items("Ask: 1. Agency 2. Ministry", "en")]
    [('1', '2')]
    """
    last: re.Match[str] | None = None
    for found in _ITEM.finditer(plain):
        if last and found[2] == last[2] and int(found[1]) == int(last[1]) + 1:
            if _may_end_item(plain, found, code):
                yield last, found
            last = found
        elif _begins_list(plain, found):
            last = found


def _begins_list(plain: str, found: re.Match[str]) -> bool:
    """True if a number stands where a list can begin: first in a text, or after a sign."""
    before = plain[max(0, found.start() - 8) : found.start()].rstrip()
    if not before:
        return True
    return before[-1] in ":.!?" and int(found[1]) <= 1 and found[2] == "."


def _may_end_item(plain: str, found: re.Match[str], code: str) -> bool:
    """True if a list item can end before a number: not after a comma, nor "am" in "am 2. Mai"."""
    before = plain[max(0, found.start() - _WINDOW) : found.start()].split()
    word = before[-1] if before else ""
    if not word or word[-1] in ",;:(":
        return False
    if found[2] == ")":
        return True
    return not (_is_lower(plain[found.end()]) or (has_ordinals(code) and word.islower()))
