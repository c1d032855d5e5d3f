"""What a guide knows of the URLs of a site, and which of them may be translations of each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from diptych.types import Url

__all__ = ["Kinds", "Life", "Spot", "Spots"]

Kinds = tuple[Hashable, ...]
"""what something is an example of, the most general first"""

MAX_TIES = 12  # of one URL
MAX_EVIDENCE = 4  # for one tie


class Life(IntEnum):
    """What became of a URL."""

    PENDING = 0
    PAGE = 1
    GONE = 2


@dataclass(slots=True, eq=False)
class Spot:
    """A URL of the site."""

    url: Url
    source: Spot | None = None
    """the page that was the first to link to it"""
    how: str = "link"
    """link, sitemap, or guess: nothing leads to it, but a key says that it could be there"""
    features: tuple[int, ...] = ()
    first: dict[str, float] = field(default_factory=dict)
    """its language before the site has taught anything"""
    life: Life = Life.PENDING
    lang: str = ""
    """of its text: one that was asked for, `*` for others, nothing if that cannot be told"""
    kinds: Kinds = ()
    """what it was fetched as"""
    ties: dict[Spot, list[Kinds]] = field(default_factory=dict)
    """what may be its translations, and what says so"""
    partners: dict[str, Spot] = field(default_factory=dict)
    """its translations, verified or being verified"""
    is_aligned: bool = False
    """whether its links were aligned with those of a translation"""
    has_paid: bool = False
    """whether it was counted among the pages that have a translation"""
    is_lonely: bool = False
    """whether a key says where its translation should be, and nothing leads there"""
    worth: float = 0.0
    """pairs it brings per download, as was last said"""
    is_ranked: bool = False
    expected: dict[str, Url] = field(default_factory=dict)
    """where keys say that its translations are, by language"""
    book: int = 0
    """the key book it was looked up in"""


class Spots:
    """All URLs that are known of a site; what leads elsewhere is followed."""

    def __init__(self) -> None:
        self._spots: dict[Url, Spot] = {}
        self._same: dict[Url, Url] = {}

    def __len__(self) -> int:
        return len(self._spots)

    def get(self, url: Url) -> Spot | None:
        """What is known of a URL, or of the one it leads to."""
        for _ in range(10):
            if url not in self._same:
                break
            url = self._same[url]
        return self._spots.get(url)

    def add(self, spot: Spot) -> Spot:
        """Make a URL known."""
        self._spots[spot.url] = spot
        return spot

    def move(self, spot: Spot, target: Spot) -> None:
        """One URL leads to another: what was said of it holds for that."""
        if spot is target:
            return
        self._same[spot.url] = target.url
        for other, evidence in list(spot.ties.items()):
            self.untie(spot, other)
            for kinds in evidence:
                self.tie(target, other, kinds)
        spot.life = Life.GONE

    @staticmethod
    def tie(one: Spot, other: Spot, kinds: Kinds) -> bool:
        """Note that two URLs may be translations of each other; False if that was known."""
        if one is other or Life.GONE in (one.life, other.life):
            return False
        known = one.ties.get(other)
        if known is None:
            if max(len(one.ties), len(other.ties)) >= MAX_TIES:
                return False
            one.ties[other] = other.ties[one] = [kinds]
            return True
        if len(known) >= MAX_EVIDENCE or kinds in known:
            return False
        known.append(kinds)
        return True

    @staticmethod
    def untie(one: Spot, other: Spot) -> list[Kinds]:
        """Forget that two URLs may be translations of each other; what said so."""
        other.ties.pop(one, None)
        return one.ties.pop(other, [])

    def ties(self, spot: Spot) -> Iterator[tuple[Spot, list[Kinds]]]:
        """What may be translations of a URL."""
        return iter(list(spot.ties.items()))
