"""Titles of pages, and the name of the site that many of them end or begin with.

The name is learned from the titles of a site: it is what follows or precedes a separator, such as
` | ` or ` - `, in the titles of many pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

# Most separators need blanks around them; a title may also begin or end with one.
_SEPARATOR = re.compile(r"(?:^|\s)[-–—·•»›«‹~/](?:\s|$)|\s?(?:\||::)\s?")
_MIN_TITLES = 3  # titles with the name; fewer may be a coincidence
_MIN_SHARE = 0.4  # of the titles; sections of a site have names too, but fewer pages.  On 26 of 32
# real sites, more than half of the titles have the name of the site, on the others none


_MAX_SEPARATORS = 8  # from each end of a title; bounds the memory, which grows with their square
_MAX_NAME = 200  # characters
_MAX_COUNTS = 4096  # names that are counted; each name of the site has one in 40 of all parts
_Name = tuple[bool, str]
"""True if the part is the first one of a title, and its text"""


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


class SiteNames(NamedTuple):
    """The name of a site in each language, and that in the titles of all languages."""

    by_language: Mapping[str, Names]
    everywhere: Names

    def cut(self, lang: str, title: str) -> Cut | None:
        """The place where a title is cut; None if it is not cut.

        The name in all titles counts if that of the language is unknown, or not in the title.
        """
        own = self.by_language.get(lang, NO_NAMES)
        return own.cut(title) or self.everywhere.cut(title)


def learn_names(titles: Callable[[], Iterable[str]]) -> Names:
    """Learn the name of a site from its distinct titles, which are read once or twice.

    >>> titles = [f"{own} - The Bee House" for own in ("Bees", "Honey", "Wax - and more")]
    >>> cut = learn_names(lambda: [*titles, "Bees - a poem"]).cut(titles[2])
    >>> titles[2][: cut.end], titles[2][cut.start :]
    ('Wax - and more', 'The Bee House')
    """
    number = forgotten = 0
    counts: Counter[_Name] = Counter()
    for title in titles():
        number += 1
        counts.update(_names(title))
        if len(counts) > _MAX_COUNTS:  # a frequent name survives this (Misra & Gries 1982)
            forgotten += 1
            counts = Counter({name: count - 1 for name, count in counts.items() if count > 1})
    least = max(_MIN_TITLES, _MIN_SHARE * number)
    known = {name for name, count in counts.items() if count + forgotten >= least}
    if forgotten:
        counts = Counter(name for title in titles() for name in _names(title) if name in known)
    return Names(least, {name: counts[name] for name in known if counts[name] >= least})


class Names(NamedTuple):
    """The parts of titles that are frequent enough to be a site's name, with their counts."""

    min_count: float
    counts: Mapping[_Name, int]

    def cut(self, title: str) -> Cut | None:
        """The place where a title is cut; None if it is the name, or does not contain it."""
        if not self.counts or (False, title) in self.counts or (True, title) in self.counts:
            return None
        chosen = [best for side in (False, True) if (best := self._longest(title, is_first=side))]
        return max(chosen, key=lambda each: each[0])[1] if chosen else None

    def _longest(self, title: str, *, is_first: bool) -> tuple[int, Cut] | None:
        """The longest part that is as frequent as its shorter parts, with its count."""
        best: tuple[int, Cut] | None = None
        parts = [part for part in _parts(title) if part.cut.is_name_first == is_first]
        for part in sorted(parts, key=lambda each: len(each.name)):
            count = self.counts.get((is_first, part.name), 0)
            if count < max(self.min_count, _same(best[0]) if best else 0):
                break
            best = (count, part.cut)
        return best


NO_NAMES = Names(_MIN_TITLES, {})


def _same(count: int) -> float:
    """The least count of a longer name; one title, that of the home page, may be the name alone."""
    return min(0.8 * count, count - 1)


def _names(title: str) -> list[_Name]:
    """The parts of a title that may be the site's name, without their places."""
    return [(part.cut.is_name_first, part.name) for part in _parts(title)]


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
