"""Titles of pages, and the name of the site that many of them end or begin with.

The name is learned from the titles of a site: it is what follows or precedes a separator, such as
` | ` or ` - `, in the titles of many pages.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# Most separators need blanks around them; a title may also begin or end with one.
_SEPARATOR = re.compile(r"(?:^|\s)[-–—·•»›«‹~/](?:\s|$)|\s?(?:\||::)\s?")
_MIN_TITLES = 3  # titles with the name; fewer may be a coincidence
_MIN_SHARE = 0.4  # of the titles; sections of a site have names too, but fewer pages.  On 26 of 32
# real sites, more than half of the titles have the name of the site, on the others none


_MAX_SEPARATORS = 8  # from each end of a title; bounds the memory, which grows with their square
_MAX_NAME = 200  # characters


class Cut(NamedTuple):
    """A place where a title is cut: the range of the separator, and the side of the site's name."""

    end: int
    """end of the first part"""
    start: int
    """start of the second part"""
    is_name_first: bool = False


class _Part(NamedTuple):
    """A part of a title that may be the site's name."""

    cut: Cut
    name: str


def title_cuts(titles: Iterable[tuple[str, str, str]]) -> dict[str, Cut]:
    """Map pages to the places where their titles are cut; the input is (page, language, title).

    The name of a site is learned for each language, or from all titles if a language has too few.

    >>> names = ["Bees", "Honey", "Wax - and more"]
    >>> pages = [(str(n), "en", f"{name} - The Bee House") for n, name in enumerate(names)]
    >>> cut = title_cuts([*pages, ("9", "en", "Bees - a poem")])
    >>> [pages[2][2][: cut["2"].end], pages[2][2][cut["2"].start :], "9" in cut]
    ['Wax - and more', 'The Bee House', False]
    """
    by_language: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for page, lang, title in titles:
        by_language[lang][page] = title
    everywhere = _Names(title for pages in by_language.values() for title in pages.values())
    found: dict[str, Cut] = {}
    for pages in by_language.values():
        own = _Names(pages.values())
        known: dict[str, Cut | None] = {}
        for page, title in pages.items():
            if title not in known:
                known[title] = own.cut(title) or everywhere.cut(title)
            if cut := known[title]:
                found[page] = cut
    return found


class _Names:
    """The counts of all parts of titles that may be a site's name."""

    def __init__(self, titles: Iterable[str]) -> None:
        distinct = set(titles)
        self._min_count = max(_MIN_TITLES, _MIN_SHARE * len(distinct))
        self._counts: Counter[tuple[bool, str]] = Counter(
            (part.cut.is_name_first, part.name) for title in distinct for part in _parts(title)
        )

    def cut(self, title: str) -> Cut | None:
        """The place where a title is cut; None if it is the name, or does not contain it."""
        if max(self._counts[False, title], self._counts[True, title]) >= self._min_count:
            return None
        chosen = [best for side in (False, True) if (best := self._longest(title, is_first=side))]
        return max(chosen, key=lambda each: each[0])[1] if chosen else None

    def _longest(self, title: str, *, is_first: bool) -> tuple[int, Cut] | None:
        """The longest part that is as frequent as its shorter parts, with its count."""
        best: tuple[int, Cut] | None = None
        parts = [part for part in _parts(title) if part.cut.is_name_first == is_first]
        for part in sorted(parts, key=lambda each: len(each.name)):
            count = self._counts[is_first, part.name]
            if count < max(self._min_count, _same(best[0]) if best else 0):
                break
            best = (count, part.cut)
        return best


def _same(count: int) -> float:
    """The least count of a longer name; one title, that of the home page, may be the name alone."""
    return min(0.8 * count, count - 1)


def _parts(title: str) -> Iterator[_Part]:
    """The parts before the first separators and after the last ones that have letters."""
    separators = [found.span() for found in _SEPARATOR.finditer(title)]
    for end, start in separators[-_MAX_SEPARATORS:]:
        if _may_be_name(title[start:]):
            yield _Part(Cut(end, start), title[start:])
    for end, start in separators[:_MAX_SEPARATORS]:
        if _may_be_name(title[:end]):
            yield _Part(Cut(end, start, is_name_first=True), title[:end])


def _may_be_name(part: str) -> bool:
    return len(part) <= _MAX_NAME and any(map(str.isalpha, part))
