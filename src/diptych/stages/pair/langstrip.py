"""Pairs URLs that are equal once their language marks are stripped, as in the WMT16 baseline.

This is the baseline of the shared task (Buck & Koehn 2016) with the tokens of Smith et al. 2013,
extended to all languages as in Garcia-Romero et al.  The marks of a language are its English name,
its endonym, its ISO 639 codes, and these codes followed by a country code.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from diptych.language.marks import fold, marks_of
from diptych.language.scripts import marked_language
from diptych.protocols import SiteView
from diptych.stages.pair.shared.one_partner import one_partner_each
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.types import PagePair, Url

# Country codes are weaker marks than language codes, and single letters are marks on few sites; `e`
# and `f` are on the list of the shared task.
_MARK_KINDS = frozenset(("code", "code3", "endonym", "name", "habit"))
_SINGLE_LETTERS = frozenset("ef")
# DEVIATION(smart): any country or script may follow a code, not only where it is official.
_REGION = r"(?:[-_](?:[a-z]{2}|hans|hant|latn|cyrl))?"
_HOLE = "\0"
_EDGE = r"[-_.,~+ ]"
_HOLE_AND_EDGE = re.compile(f"{_EDGE}{_HOLE}|{_HOLE}{_EDGE}|{_HOLE}")
_INDEX_FILE = re.compile(r"/(?:index|default|home)(?:\.[a-z]{2,5})?\Z", re.IGNORECASE)

_BOTH_MARKED = 0.9
_ONE_MARKED = 0.8  # /a.html with /fr/a.html
_CONTRADICTED = 0.3  # the mark in the URL contradicts the language of the page


class Stripped(NamedTuple):
    """A URL without language marks, the URL with `*` for each mark, and the marked languages."""

    form: str
    shape: str
    langs: frozenset[str]


@dataclass(frozen=True, slots=True)
class LangStrip:
    """Pairs pages in different languages whose URLs differ only in language marks."""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Return the page pairs found on a site, strongest first, with `langstrip` as evidence.

        The score is lower if several pages share a stripped URL.
        """
        langs = page_languages(site)
        order = list(site.langs)
        groups: defaultdict[str, defaultdict[str, list[tuple[Url, Stripped]]]]
        groups = defaultdict(lambda: defaultdict(list))
        for url in sorted(langs):
            stripped = strip_language(url, tuple(order))
            groups[stripped.form][langs[url]].append((url, stripped))
        return one_partner_each(
            pair
            for group in groups.values()
            for left, right in combinations(sorted(group, key=order.index), 2)
            for pair in _pairs(left, group[left], right, group[right])
        )


def strip_language(url: str, langs: Sequence[str]) -> Stripped:
    """Strip the marks of the given languages from a URL.

    Any character that is neither a letter nor a digit is a delimiter.  The scheme, `www`, index
    files and a trailing slash are ignored.

    >>> strip_language("http://www.un.org/fr/a_fr.html?l=fr&id=2", ("en", "fr"))[:2]
    ('un.org/a.html?id=2', 'un.org/*/a_*.html?l=*&id=2')
    """
    parts = urlsplit(url)
    host, in_host = _with_holes(parts.netloc.removeprefix("www."), langs)
    path, in_path = _with_holes(unquote(parts.path), langs)
    query, in_query = _query_with_holes(parts.query, langs)
    # DEVIATION(wmt16): marks in the host are stripped too; the task had one host at a time.  They
    # are weaker than the others: a whole site, in every language, may be under `.de`.
    form = _holes_closed(host) + _INDEX_FILE.sub("", _path_closed(path)).rstrip("/")
    kept = [
        (_holes_closed(name), _holes_closed(value))
        for name, value in query
        if _HOLE not in (name, value)
    ]
    return Stripped(
        form + _spelled(kept),
        f"{host}{path}{_spelled(query)}".replace(_HOLE, "*"),
        (in_path | in_query) or in_host,
    )


def _with_holes(text: str, langs: Sequence[str]) -> tuple[str, frozenset[str]]:
    """Replace language marks with placeholders, and return the text and the languages found."""
    pattern, marks = _marks(tuple(langs))
    # Ignoring case, a dotless i matches an i, but is not a mark.
    found = {marks[fold(mark)] for mark in pattern.findall(text) if fold(mark) in marks}
    return (pattern.sub(_HOLE, text) if found else text), frozenset(found)


def _query_with_holes(
    query: str, langs: Sequence[str]
) -> tuple[list[tuple[str, str]], frozenset[str]]:
    """The query parameters with placeholders for marks, and the languages found."""
    holed: list[tuple[str, str]] = []
    found: frozenset[str] = frozenset()
    for name, value in parse_qsl(query, keep_blank_values=True):
        (name, in_name), (value, in_value) = _with_holes(name, langs), _with_holes(value, langs)
        holed.append((name, value))
        found |= in_name | in_value
    return holed, found


def _spelled(query: list[tuple[str, str]]) -> str:
    return "?" + "&".join(f"{name}={value}" for name, value in query) if query else ""


def _holes_closed(text: str) -> str:
    """Remove placeholders, each with one adjacent delimiter."""
    return _HOLE_AND_EDGE.sub("", text)


def _path_closed(path: str) -> str:
    """Remove the placeholders from a path, and the directories that consisted only of a mark."""
    segments = (_holes_closed(segment) for segment in path.split("/"))
    return "".join(f"/{segment}" for segment in segments if segment)


@lru_cache(maxsize=64)
def _marks(langs: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern that matches all marks of the languages, and the language of each mark."""
    marks: dict[str, str] = {}
    for lang in langs:
        known = (word for word, kind in marks_of(lang).items() if kind in _MARK_KINDS)
        for name in (lang.lower(), *known):
            if len(name) > 1 or name in _SINGLE_LETTERS:
                marks.setdefault(name, lang)
    # A language code takes precedence over a country: `se` is Northern Sami if that is requested.
    marks.update({code: lang for lang in langs for code in _codes(lang)})
    marks = {mark: marked_language(mark, lang, langs) for mark, lang in marks.items()}
    longest_first = sorted(marks, key=lambda mark: (-len(mark), mark))
    choices = "|".join(re.escape(mark) for mark in longest_first)
    # Not adjacent to a letter or digit of any script; the underscore is a delimiter.
    pattern = rf"(?<![^\W_])({choices}){_REGION}(?![^\W_])"
    return re.compile(pattern, re.IGNORECASE), marks | {fold(mark): marks[mark] for mark in marks}


def _codes(lang: str) -> list[str]:
    return [word for word, kind in marks_of(lang).items() if kind in ("code", "code3")]


_Pages = list[tuple[Url, Stripped]]


def _pairs(left_lang: str, lefts: _Pages, right_lang: str, rights: _Pages) -> Iterator[PagePair]:
    """Pair pages with the same stripped URL, starting with those whose URLs have the same shape."""
    by_shape: defaultdict[str, tuple[_Pages, _Pages]] = defaultdict(lambda: ([], []))
    for page in sorted(lefts, key=lambda page: (left_lang not in page[1].langs, page[0])):
        by_shape[page[1].shape][0].append(page)
    for page in sorted(rights, key=lambda page: (right_lang not in page[1].langs, page[0])):
        by_shape[page[1].shape][1].append(page)
    rest: tuple[_Pages, _Pages] = ([], [])
    for alike in by_shape.values():
        yield from _in_order(left_lang, alike[0], right_lang, alike[1])
        paired = min(len(alike[0]), len(alike[1]))
        rest[0].extend(alike[0][paired:])
        rest[1].extend(alike[1][paired:])
    yield from _in_order(left_lang, rest[0], right_lang, rest[1])


def _in_order(left_lang: str, lefts: _Pages, right_lang: str, rights: _Pages) -> Iterator[PagePair]:
    """Pair the pages of two lists in order; the longer the lists, the lower the score."""
    rivals = max(len(lefts), len(rights))
    for (left, one), (right, other) in zip(lefts, rights, strict=False):
        score = _agreement(one.langs, left_lang, other.langs, right_lang) / rivals
        yield PagePair(left, right, left_lang, right_lang, score, "langstrip")


def _agreement(one: frozenset[str], left: str, other: frozenset[str], right: str) -> float:
    """Score the agreement between the marks of two URLs and the languages of their pages."""
    if (one and left not in one) or (other and right not in other) or not (one or other):
        return _CONTRADICTED
    return _BOTH_MARKED if one and other else _ONE_MARKED
