"""Which pages of a site are taken for translations of each other while it is crawled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from diptych.stages.crawl.hybrid.known_urls import Kinds, Life, Spot, Spots
from diptych.stages.crawl.hybrid.value import Worth, name_of
from diptych.types import UNDECIDED, Decision, PagePair

__all__ = ["Matches"]

MAX_ASKED = 6  # pairs that are verified for one page
PROBABLE = 0.5  # pages that are as likely a pair are taken for one by the crawl
LONGEST_OPEN = 30  # pages
ENOUGH_PAIRS = 3  # until so many are found, a page without a translation says nothing


class Matches:
    """Ties between URLs become pairs to be verified, and those become pairs or fall apart."""

    def __init__(self, worth: Worth) -> None:
        self._worth = worth
        self._langs = tuple(worth.langs)
        self._tries: Counter[Spot] = Counter()
        self._asked: set[frozenset[Spot]] = set()
        """pairs that were verified, or are being verified"""
        self._open: dict[Spot, None] = {}
        """pages of which nothing could tell yet whether they have a translation"""
        self.count = 0
        """pairs that were verified, or are probable"""
        self.alone = worth.alone
        self.wishes: list[PagePair | None] = []
        self.changed: dict[Spot, None] = {}
        """what may have another value now"""

    def change(self, spots: Iterable[Spot]) -> None:
        """Some URLs may have another value now."""
        self.changed.update(dict.fromkeys(spots))

    def add(self, spot: Spot) -> None:
        """A page in a language that was asked for."""
        self.alone[spot.lang] += 1
        self._open[spot] = None
        if self.count >= ENOUGH_PAIRS:
            self._resolve(spot)
        while len(self._open) > LONGEST_OPEN:  # its translation would have been met by now
            self._resolve(next(iter(self._open)))

    def remove(self, spot: Spot) -> None:
        """A page that is a copy of another."""
        self.alone[spot.lang] -= 1
        self._open.pop(spot, None)

    def differ(self, one: Spot, other: Spot) -> bool:
        """Whether two pages are in two of the languages."""
        return one.lang in self._langs and other.lang in self._langs and one.lang != other.lang

    def may_be(self, one: Spot, other: Spot) -> bool:
        """Whether two pages can be a pair by their languages, and as far as others are."""
        is_free = other.lang not in one.partners and one.lang not in other.partners
        return is_free and self.differ(one, other)

    def tie(self, one: Spot, other: Spot, kinds: Kinds) -> None:
        """Two URLs may be translations of each other."""
        if one.life is Life.PAGE and other.life is Life.PAGE and not self.may_be(one, other):
            return
        if frozenset((one, other)) in self._asked:
            return
        if Spots.tie(one, other, kinds):
            self.change((one, other))
            self.consider(one)

    def refute(self, one: Spot, other: Spot) -> None:
        """Two URLs are no pair after all: what said so is believed less."""
        if other.lang not in one.partners and one.lang not in other.partners:
            self._count(one, other, 0.0)
        Spots.untie(one, other)
        self.change((one, other))

    def _count(self, one: Spot, other: Spot, right: float) -> None:
        """What said that two URLs are a pair was right, wrong, or right with a probability."""
        for kinds in self._worth.evidence(one, other) if other in one.ties else ():
            self._worth.trust.tried(kinds)
            self._worth.trust.paid(kinds, right)

    def consider(self, spot: Spot) -> None:
        """Have the likeliest pair of a page in each language verified, if both halves are there."""
        if spot.life is not Life.PAGE:
            return
        ready = [
            (-self._worth.trusted(spot, other), other.url, other)
            for other in spot.ties
            if other.life is Life.PAGE and self.may_be(spot, other)
        ]
        for _, _, other in sorted(ready, key=lambda each: each[:2]):
            if self.may_be(spot, other) and max(self._tries[spot], self._tries[other]) < MAX_ASKED:
                self._ask(spot, other)

    def _ask(self, one: Spot, other: Spot) -> None:
        if self._langs.index(one.lang) > self._langs.index(other.lang):
            one, other = other, one
        self._asked.add(frozenset((one, other)))
        for spot in (one, other):
            self._tries[spot] += 1
            self.alone[spot.lang] -= not spot.partners
        one.partners[other.lang], other.partners[one.lang] = other, one
        names = "+".join(sorted({name_of(kinds) for kinds in one.ties[other]}))
        score = self._worth.trusted(one, other)
        self.wishes.append(PagePair(one.url, other.url, one.lang, other.lang, score, names))
        self.change([*one.ties, *other.ties])

    def pair(self, one: Spot, other: Spot, right: float = 1.0) -> None:
        """Two pages are a pair, or are with such a probability."""
        self._count(one, other, right)
        Spots.untie(one, other)
        for spot in (one, other):
            spot.is_aligned = True
            if not spot.has_paid:
                spot.has_paid = True
                self._resolve(spot)
                self._worth.yields.paid(spot.kinds, right)
            self.change(spot.ties)
        self.count += 1
        if self.count == ENOUGH_PAIRS:
            self.resolve_all()

    def judge(self, one: Spot, other: Spot, before: float, decision: Decision) -> None:
        """Two pages were not accepted as a pair: they are none, or that cannot be told.

        What speaks for them counts on: without words that it knows, a verifier doubts a lot.
        """
        right = updated(before, decision.score)
        if decision.reason in UNDECIDED:
            Spots.untie(one, other)
        elif right >= PROBABLE:
            self.pair(one, other, right)
            return
        else:
            self._count(one, other, right)
            Spots.untie(one, other)
        one.partners.pop(other.lang, None)
        other.partners.pop(one.lang, None)
        for spot in (one, other):
            self.alone[spot.lang] += not spot.partners
            self.change(spot.ties)
        self.consider(one)
        self.consider(other)

    def _resolve(self, spot: Spot) -> None:
        """Count a page among those that were tried, once."""
        if spot in self._open:
            del self._open[spot]
            self._worth.yields.tried(spot.kinds)

    def resolve_all(self) -> None:
        """All pages could have been paired by now."""
        for spot in list(self._open):
            self._resolve(spot)


def updated(before: float, score: float) -> float:
    """A probability after a verifier has given its own, which leaves open what was before.

    >>> round(updated(0.5, 0.2), 2), round(updated(0.9, 0.2), 2), round(updated(0.9, 0.01), 2)
    (0.2, 0.69, 0.08)
    """
    both, neither = before * score, (1 - before) * (1 - score)
    return both / (both + neither) if both + neither else 0.0
