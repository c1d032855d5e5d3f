"""The URLs of the simulated web: where each page of a site is, and which page a URL leads to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from bench.web.sites import REGIONS, Facts, Role, Scheme, slug_word
from bench.web.words import FOLDERS, FREQUENT, LISTS, PLACES, TOPIC_WORDS, TOPICS
from diptych.types import Url

_MASK = (1 << 64) - 1
_NUMBER = re.compile(r"\d+")
OWN_WORDS = frozenset({Scheme.PREFIX, Scheme.BOTH, Scheme.FOLDER, Scheme.PLAIN})
"""where pages are named in their own language; else all are named in the first"""
UNSPEAKING = 0.25  # of the lists of links have a URL that does not say so


def mix(*parts: int) -> int:
    """A number that looks like chance and is always the same for the same parts.

    >>> mix(7, 1) == mix(7, 1), mix(7, 1) == mix(1, 7)
    (True, False)
    """
    state = 0x9E3779B97F4A7C15
    for part in parts:
        state = ((state ^ part) * 0xBF58476D1CE4E5B9) & _MASK
        state ^= state >> 29
    state = (state * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 32)


class Place(NamedTuple):
    """A page: its site, which of the site's languages it is in, and its number there."""

    site: int
    lang: int
    number: int


@dataclass(frozen=True, slots=True)
class Addresses:
    """From pages to URLs and back."""

    seed: int
    sites: list[Facts]
    noise: float
    by_host: dict[str, tuple[int, str]]
    """site and language of each host; without `www.`"""

    def url(self, place: Place) -> Url:
        """Where a page is."""
        site, lang, number = place
        facts = self.sites[site]
        codes, scheme = facts.codes, facts.scheme
        path = self._path(place, codes[lang] if scheme in OWN_WORDS else codes[0])
        if lang == 0:
            plain = scheme != Scheme.BOTH or number == 0 or len(codes) == 1
            return Url(f"https://{facts.host}{path if plain else f'/{codes[0]}{path}'}")
        if scheme == Scheme.HOST:
            return Url(f"https://{codes[lang]}.{facts.host.removeprefix('www.')}{path}")
        return Url(f"https://{facts.host}{_in_language(path, codes[lang], scheme, lang)}")

    def _path(self, place: Place, lang: str) -> str:
        site, _, number = place
        facts = self.sites[site]
        if number == 0:
            return "/"
        if number >= facts.size:
            return self._list_path(site, lang, number)
        slug = self._slug(site, lang, number)
        if facts.role == Role.BLOG:
            return f"/{2003 + number % 8}/{1 + number % 12:02}/{slug}-{number}/"
        shape = mix(self.seed, 3, site) % 4
        if shape == 0:
            return f"/page.php?id={number}"
        section = slug_word(TOPIC_WORDS[lang][facts.topic][number % 5])
        return f"/{slug}-{number}.html" if shape == 1 else f"/{section}/{slug}-{number}.html"

    def _list_path(self, site: int, lang: str, number: int) -> str:
        facts = self.sites[site]
        chance = mix(self.seed, 4, site, number)
        name = LISTS[lang][chance % len(LISTS[lang])]
        name = "-".join(slug_word(part) for part in name.split("-"))
        if (chance >> 32) % 1000 < 1000 * UNSPEAKING:
            name = self._slug(site, lang, number)
        if facts.role == Role.GENERAL:
            return f"/{name}/page-{number}.html"
        if facts.role == Role.DIRECTORY:
            word = slug_word(TOPIC_WORDS[lang][facts.topic][number % 5])
            places = PLACES[REGIONS[facts.region]]
            return f"/{name}/{word}/{places[number % len(places)]}-{number}.html"
        return f"/{name}.html" if number == facts.size else f"/{name}-{number}.html"

    def _slug(self, site: int, lang: str, number: int) -> str:
        one, other = self.slug(site, lang, number)
        return f"{slug_word(one)}-{slug_word(other)}"

    def slug(self, site: int, lang: str, number: int) -> tuple[str, str]:
        """The words of a page's title: one of a topic, one that says nothing."""
        chance = mix(self.seed, 5, site, number)
        topic = self.sites[site].topic
        if chance % 1000 < 1000 * self.noise:
            topic = (chance >> 12) % len(TOPICS)
        words, frequent = TOPIC_WORDS[lang][topic], FREQUENT[lang]
        return words[(chance >> 20) % len(words)], frequent[(chance >> 32) % len(frequent)]

    def find(self, url: str) -> Place | str | None:
        """The page at a URL; another URL if it has moved there; None if it is not there.

        A site leads from HTTP to HTTPS, and to where it is, with or without `www.`.
        """
        scheme, _, rest = url.partition("://")
        authority, slash, rest = rest.partition("/")
        known = self.by_host.get(authority.removeprefix("www."))
        if known is None:
            return None
        site, code = known
        if scheme != "https" or (not code and authority != self.sites[site].host):
            host = authority if code else self.sites[site].host
            return f"https://{host}{slash}{rest}"
        path = f"/{rest}"
        return next((place for place in self._likely(site, path) if self.url(place) == url), None)

    def _likely(self, site: int, path: str) -> Iterator[Place]:
        facts = self.sites[site]
        numbers = [0, facts.size]
        if digits := _NUMBER.findall(path):
            numbers.insert(0, int(digits[-1][:9]))
        for number in numbers:
            versions = len(facts.codes) if number < facts.size else 1
            if number < facts.size + facts.lists:
                yield from (Place(site, lang, number) for lang in range(versions))


def _in_language(path: str, code: str, scheme: int, lang: int) -> str:
    """The path of a page in another language.

    >>> _in_language("/a-1.html", "es", Scheme.SUFFIX, 1)
    '/a-1_es.html'
    >>> _in_language("/page.php?id=3", "es", Scheme.QUERY, 1)
    '/page.php?id=3&lang=es'
    """
    if scheme == Scheme.QUERY:
        return f"{path}{'&' if '?' in path else '?'}lang={code}"
    if scheme == Scheme.SUFFIX:
        path = f"{path}index.html" if path.endswith("/") else path
        stem, dot, ending = path.rpartition(".")
        return f"{stem}_{code}{dot}{ending}"
    if scheme == Scheme.PLAIN:
        return f"/{'abc'[lang]}{path}"
    return f"/{quote(FOLDERS.get(code, code)) if scheme == Scheme.FOLDER else code}{path}"


def make_addresses(seed: int, sites: list[Facts], noise: float) -> Addresses:
    """The addresses of all sites."""
    by_host: dict[str, tuple[int, str]] = {}
    for site, facts in enumerate(sites):
        bare = facts.host.removeprefix("www.")
        by_host[bare] = site, ""
        if facts.scheme == Scheme.HOST:
            by_host.update({f"{code}.{bare}": (site, code) for code in facts.codes[1:]})
    return Addresses(seed, sites, noise, by_host)
