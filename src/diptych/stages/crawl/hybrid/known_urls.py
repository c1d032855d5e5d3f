"""The URLs of a site that a guide knows, and the candidate translations of each."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import IntEnum

from diptych.text.url_edits import EditRules
from diptych.types import Url

Kinds = tuple[Hashable, ...]
"""the kinds that something belongs to, the most general first"""

MAX_KNOWN = 300_000  # URLs of a site
MAX_CHARACTERS = 40_000_000  # of these URLs; what is learned from each grows with its length
MAX_CANDIDATES = 12  # candidate translations kept for one URL
MAX_EVIDENCE = 4  # pieces of evidence kept for one candidate


class State(IntEnum):
    """Progress of a URL: not fetched yet, fetched as a page, or no page."""

    PENDING = 0
    PAGE = 1
    GONE = 2


@dataclass(slots=True, eq=False)
class KnownUrl:
    """A URL of the site."""

    url: Url
    source: KnownUrl | None = None
    """the page that was the first to link to it"""
    found_by: str = "link"
    """link, sitemap, or guess: nothing links to it, but a key predicts it"""
    features: tuple[int, ...] = ()
    first_guess: dict[str, float] = field(default_factory=dict)
    """probabilities of its language before any page of the site was counted"""
    state: State = State.PENDING
    lang: str = ""
    """of its text: one that was asked for, `*` for others, nothing if it cannot be identified"""
    kinds: Kinds = ()
    """the kinds it was counted under when it was fetched"""
    candidates: dict[KnownUrl, list[Kinds]] = field(default_factory=dict)
    """URLs that may be its translations, each with the evidence for it"""
    partners: dict[str, KnownUrl] = field(default_factory=dict)
    """its translations by language, verified or being verified"""
    is_aligned: bool = False
    """its links were aligned with those of a translation"""
    is_counted: bool = False
    """it was counted among the pages that have a translation"""
    has_unlinked_prediction: bool = False
    """a key predicts where its translation is, and nothing links there"""
    value: float = 0.0
    """expected pairs per download, as last reported"""
    is_ranked: bool = False
    own_value: float = 0.0
    """the same, apart from that of its links"""
    expected: dict[str, Url] = field(default_factory=dict)
    """URLs that keys predict for its translations, by language"""
    edit_rules: EditRules | None = None
    """the key book that predicted `expected`"""
    number: int = 0
    """its place in the order in which URLs were found"""


class KnownUrls:
    """All known URLs of a site; redirects and copies lead to the URL that stands for them."""

    def __init__(self) -> None:
        self.by_url: dict[Url, KnownUrl] = {}
        self.same: dict[Url, Url] = {}
        self._characters = 0
        self._number = 0

    @property
    def is_full(self) -> bool:
        """True if there is no room for more."""
        return len(self.by_url) >= MAX_KNOWN or self._characters >= MAX_CHARACTERS

    def get(self, url: Url) -> KnownUrl | None:
        """The entry of a URL, or of the URL it leads to."""
        for _ in range(10):
            if url not in self.same:
                break
            url = self.same[url]
        return self.by_url.get(url)

    def add(self, known: KnownUrl) -> KnownUrl:
        """Add a URL."""
        self._characters += len(known.url)
        self._number += 1
        known.number = self._number
        self.by_url.pop(known.url, None)  # the order is that of the numbers
        self.by_url[known.url] = known
        return known

    def move(self, known: KnownUrl, target: KnownUrl) -> None:
        """Let one URL lead to another, which inherits its candidates."""
        if known is target:
            return
        self.same[known.url] = target.url
        for other, evidence in list(known.candidates.items()):
            self.remove_evidence(known, other)
            for kinds in evidence:
                self.add_evidence(target, other, kinds)
        known.state = State.GONE

    @staticmethod
    def add_evidence(one: KnownUrl, other: KnownUrl, kinds: Kinds) -> bool:
        """Note that two URLs may be translations of each other; False if that is not new."""
        if one is other or State.GONE in (one.state, other.state):
            return False
        evidence = one.candidates.get(other, [])
        is_full = max(len(one.candidates), len(other.candidates)) >= MAX_CANDIDATES
        if kinds in evidence or len(evidence) >= MAX_EVIDENCE or (is_full and not evidence):
            return False
        evidence.append(kinds)
        one.candidates[other] = other.candidates[one] = evidence
        return True

    @staticmethod
    def remove_evidence(one: KnownUrl, other: KnownUrl) -> None:
        """Forget that two URLs may be translations of each other."""
        other.candidates.pop(one, None)
        one.candidates.pop(other, None)
