"""What a URL is worth: the pairs it probably brings per download, by what the site has shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from math import copysign

from diptych.stages.crawl.hybrid.known_urls import Kinds, Life, Spot
from diptych.stages.crawl.hybrid.language_guess import OTHER, Tongues
from diptych.stages.crawl.hybrid.rates import Chances
from diptych.types import Url

__all__ = ["Worth", "name_of", "rounded"]

USUAL = {
    "alternate": 0.9, "hreflang": 0.85, "name": 0.6, "sitemap": 0.9, "sibling": 0.8,
    "aligned": 0.8, "near": 0.4, "contrary": 0.3, "key": 0.8, "guess": 0.5,
    "url_model": 0.5, "content": 0.7,
}  # fmt: skip
"""how often each kind of evidence says right, before the site has shown it"""
TRANSLATED = 0.5  # share of pages that have a translation, before the site has shown it
LESS = {"lonely": 0.5, "unaligned": 0.6}
"""by how much pages are less often translated of which nothing says so though something should"""
_GAP = 3  # more pages without a translation in one language than in others: that is nothing yet
SURE = 0.6  # probability from which on the language of a page that is not there is believed
STEP = 1.05  # between two values; by less than that none is better


class Worth:
    """Values of URLs; what they rest on is counted on the site itself."""

    def __init__(self, langs: Sequence[str], weight: float) -> None:
        self.langs = langs
        self.tongues = Tongues(langs)
        self.trust = Chances(weight)
        """how often each kind of evidence said right"""
        self.yields = Chances(weight)
        """how often pages of a kind had a translation"""
        self.alone: Counter[str] = Counter(dict.fromkeys(langs, 0))
        """pages without any translation, by language"""

    def evidence(self, one: Spot, other: Spot) -> Sequence[Kinds]:
        """What says that two URLs are a pair; it counts for little where a key says otherwise."""
        found = one.ties[other]
        if any(name_of(kinds) in ("key", "guess") for kinds in found):
            return found
        if self._is_contrary(one, other) or self._is_contrary(other, one):
            return [(("contrary",), ("contrary", name_of(kinds))) for kinds in found]
        return found

    def _is_contrary(self, one: Spot, other: Spot) -> bool:
        """Whether keys say that the translation of a page is elsewhere."""
        expected = one.expected.get(self.likely(other))
        return expected is not None and expected != other.url

    def trusted(self, one: Spot, other: Spot) -> float:
        """How likely two URLs are a pair."""
        evidence = self.evidence(one, other)
        return max(self.trust.of(kinds, USUAL[name_of(kinds)]) for kinds in evidence)

    def guessing(self, spot: Spot) -> float:
        """How often URLs were there that nothing leads to, for pages of the same section."""
        kinds = ("guess",), ("guess", section(spot.url))
        return self.trust.of(kinds, USUAL["guess"])

    def likely(self, spot: Spot) -> str:
        """The language that a page is in, or probably in; nothing if that cannot be told."""
        if spot.life is Life.PAGE:
            return spot.lang
        guess = self.tongues.guess(spot.features, spot.first)
        best = max(guess, key=lambda lang: guess[lang], default="")
        return best if best and guess[best] >= SURE else ""

    def cells(self, spot: Spot, lang: str) -> Kinds:
        """What a page is an example of, for those who expect a translation of it."""
        context = _context(spot)
        return ("site",), (lang,), (lang, context), (lang, context, section(spot.url))

    def translated(self, spot: Spot, lang: str) -> float:
        """How likely a page has a translation, by where and how it was found."""
        kinds = self.cells(spot, lang)
        less = LESS.get(_context(spot))
        return self.yields.of(kinds, TRANSLATED, {kinds[2]: less} if less else None)

    def value(self, spot: Spot) -> float:
        """The pairs that a download brings: one if it completes a pair, half of one if not."""
        guess = self.tongues.guess(spot.features, spot.first)
        own = max(self.langs, key=lambda lang: guess.get(lang, 0.0))
        wanted = sum(guess.get(lang, 0.0) for lang in self.langs)
        # Evidence is believed unless the page is probably in a language nobody asked for.
        pairs = min(sum(self._tied(spot, own).values()), len(self.langs) - 1)
        tied = pairs * min(1.0, 2 * wanted)
        if spot.how == "guess":
            return tied
        alone = wanted * self.translated(spot, own) * self._completes(own)
        return max(tied, alone * (len(self.langs) - 1))

    def _completes(self, lang: str) -> float:
        """How likely the translation of a page is there: half, or more if others wait for theirs.

        So all languages are fetched alike until it can be told what belongs together.
        """
        own = self.alone[lang]
        others = (sum(self.alone.values()) - own) / (len(self.langs) - 1)
        beyond = max(0.0, abs(others - own) - _GAP)
        # Less than half: what evidence promises comes first.
        return 0.48 + copysign(0.3 * beyond / (beyond + 5), others - own)

    def _tied(self, spot: Spot, own: str) -> dict[str, float]:
        """The pairs that evidence promises, by the language of the other half."""
        found: dict[str, float] = {}
        for other in spot.ties:
            is_there = other.life is Life.PAGE
            lang = self.likely(other)
            if lang == OTHER or (is_there and (not lang or own in other.partners)):
                continue
            worth = self.trusted(spot, other) * (1.0 if is_there else 0.5)
            found[lang] = max(worth, found.get(lang, 0.0))
        return found


def _context(spot: Spot) -> str:
    """What is known of a page beside its address."""
    if spot.ties:
        return "tied"
    if spot.is_lonely:
        return "lonely"
    is_seen = spot.source is not None and spot.source.is_aligned
    return "unaligned" if is_seen else spot.how


def name_of(kinds: Kinds) -> str:
    """What a kind of evidence is called.

    >>> name_of((("aligned",), ("aligned", 7)))
    'aligned'
    """
    first = kinds[0]
    return str(first[0]) if isinstance(first, tuple) else str(first)


def rounded(worth: float) -> float:
    """A value by steps: of what is about equal, what was known first comes first.

    >>> rounded(0.5) == rounded(0.501), rounded(0.5) < rounded(0.6), rounded(0.0)
    (True, True, 0.0)
    """
    return STEP ** round(math.log(worth, STEP)) if worth > 0.0 else 0.0


def section(url: Url) -> str:
    """The part of a site that a URL is in: its host and two folders, and names of parameters.

    >>> section("http://x.org/doc/fr/a/b.html"), section("http://x.org/view?id=7&lang=fr")
    ('x.org/doc/fr?', 'x.org?id&lang')
    """
    address, _, query = url.partition("?")
    names = "&".join(item.partition("=")[0] for item in query.split("&"))
    return "/".join(address.split("/")[2:-1][:3]) + f"?{names}"
