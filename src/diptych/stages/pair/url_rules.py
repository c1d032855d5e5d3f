"""Pairs URLs by fixed patterns, as in earlier systems (STRAND, PTMiner, the first Bitextor).

Resnik & Smith 2003, Chen & Nie 2000, Espla-Gomis & Forcada 2010: a mark of one language is replaced
with a mark of the other, and the resulting URL is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from urllib.parse import quote

from diptych.language.marks import fold
from diptych.language.names import language_codes, language_names
from diptych.protocols import SiteView
from diptych.stages.pair.shared.one_partner import one_partner_each
from diptych.stages.pair.shared.page_languages import urls_by_language
from diptych.types import PagePair, Url

REPLACED_AT = (
    "//*.",  # en.example.org
    "/*/", "/*$",  # /en/a.html, /a/en
    "/*.", "/*_", "/*-",  # /en.html, /en_a.html, /en-a.html
    "_*.", "_*/", "_*$",  # /a_en.html
    "-*.", "-*/", "-*$",
    ".*.", ".*$",  # /a.en.html, /a.html.en
    "=*&", "=*$",  # ?lang=en
)  # fmt: skip
"""places where a mark may be replaced: `*` is the mark, `$` the end of the URL or of its path"""

REMOVED_AT = (
    ("/*/", "/"),  # /fr/a.html with /a.html
    ("_*.", "."), ("-*.", "."), (".*.", "."),  # a_fr.html with a.html
    ("//*.", "//"), ("//*.", "//www."),
)  # fmt: skip
"""places where a mark may be removed, each with the text that replaces it"""

_BOTH_MARKED, _ONE_MARKED = 0.9, 0.7  # scores: a rule with one mark is weaker
_END = r"(?=[?#]|\Z)"


@dataclass(frozen=True, slots=True)
class UrlRules:
    """Pairs pages whose URLs can be transformed into each other by one of several fixed rules."""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Return the page pairs found on a site, strongest first, with `url_rules` as evidence."""
        by_lang = urls_by_language(site)
        return one_partner_each(
            PagePair(one, other, left, right, score, "url_rules")
            for left, right in combinations(site.langs, 2)
            for one, other, score in _pairs({*by_lang[left]}, {*by_lang[right]}, left, right)
        )


def _pairs(
    lefts: set[Url], rights: set[Url], left: str, right: str
) -> Iterator[tuple[Url, Url, float]]:
    for url in lefts:
        for other in mark_replaced(url, left, right):
            if other in rights:
                yield url, Url(other), _BOTH_MARKED
        for other in mark_removed(url, left):
            if other in rights:
                yield url, Url(other), _ONE_MARKED
    for url in rights:
        for other in mark_removed(url, right):
            if other in lefts:
                yield Url(other), url, _ONE_MARKED


@lru_cache(maxsize=256)
def language_words(lang: str) -> tuple[tuple[str, ...], ...]:
    """The two-letter codes, three-letter codes and names of a language, as they occur in URLs.

    Names are in English and in the language itself.

    >>> language_words("fr")
    (('fr',), ('fra', 'fre'), ('fran%C3%A7ais', 'francais', 'french'))
    """
    codes = language_codes(lang)
    names = {form for name in language_names(lang) for form in (quote(name), quote(fold(name)))}
    return (
        tuple(sorted({code for code in codes if len(code) == 2} | {lang.lower()})),
        tuple(sorted(code for code in codes if len(code) == 3)),
        tuple(sorted(names)),
    )


def mark_replaced(url: str, left: str, right: str) -> list[str]:
    """The URLs obtained by replacing one mark of the left language with one of the right.

    Both marks must be of the same kind.

    >>> mark_replaced("http://x.org/en/a?l=en", "en", "fr")
    ['http://x.org/fr/a?l=en', 'http://x.org/en/a?l=fr']
    """
    found: dict[str, None] = {}
    for ours, theirs in zip(language_words(left), language_words(right), strict=True):
        for pattern in _patterns(REPLACED_AT, ours):
            for match in pattern.finditer(url):
                for word in theirs:
                    mark = with_case_of(match[0], word)
                    found[url[: match.start()] + mark + url[match.end() :]] = None
    return list(found)


def mark_removed(url: str, lang: str) -> list[str]:
    """The URLs obtained by removing one mark of a language.

    >>> mark_removed("http://x.org/fr/a_fr.html", "fr")
    ['http://x.org/a_fr.html', 'http://x.org/fr/a.html']
    """
    found: dict[str, None] = {}
    places = tuple(place for place, _ in REMOVED_AT)
    for words in language_words(lang):
        for pattern, (place, rest) in zip(_patterns(places, words), REMOVED_AT, strict=False):
            before, _, after = place.partition("*")
            for match in pattern.finditer(url):
                start, end = match.start() - len(before), match.end() + len(after)
                found[url[:start] + rest + url[end:]] = None
    return list(found)


@lru_cache(maxsize=1024)
def _patterns(places: Sequence[str], words: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """Compile, for each place in a URL, a pattern that matches any of the words at that place.

    If there are no words, there are no patterns.
    """
    if not words:
        return ()
    choices = "|".join(map(re.escape, words))
    found = []
    for place in places:
        before, _, after = place.partition("*")
        ahead = _END if after == "$" else f"(?={re.escape(after)})"
        found.append(re.compile(f"(?<={re.escape(before)})(?:{choices}){ahead}", re.IGNORECASE))
    return tuple(found)


def with_case_of(mark: str, word: str) -> str:
    """Capitalise a word like the mark that it replaces.

    >>> with_case_of("EN", "fr"), with_case_of("English", "french"), with_case_of("en", "fr")
    ('FR', 'French', 'fr')
    """
    if "%" in word:  # escapes have their own capitals
        return word
    return word.upper() if mark.isupper() else word.title() if mark.istitle() else word
