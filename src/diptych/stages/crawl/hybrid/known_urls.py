"""The URLs that the guide of a crawl knows, and the candidate translations of each URL."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import IntEnum

from diptych.text.url_edits import EditRules
from diptych.types import Url

Kinds = tuple[Hashable, ...]
"""kinds of a page, a URL or a piece of evidence, from most general to most specific"""

MAX_KNOWN = 300_000  # URLs of a site
MAX_CHARACTERS = 40_000_000  # in these URLs: memory grows with their length
MAX_CANDIDATES = 12  # candidate translations kept for one URL
MAX_EVIDENCE = 4  # pieces of evidence kept for one candidate


class State(IntEnum):
    """The state of a URL: not fetched yet, fetched as a page, or not a page."""

    PENDING = 0
    PAGE = 1
    GONE = 2


@dataclass(slots=True, eq=False)
class KnownUrl:
    """A URL of the site, with everything that the guide knows about it."""

    url: Url
    source: KnownUrl | None = None
    """first page that linked to this URL"""
    found_by: str = "link"
    """`link`, `sitemap`, or `guess` if a key predicts the URL but nothing links to it"""
    features: tuple[int, ...] = ()
    first_guess: dict[str, float] = field(default_factory=dict)
    """language probabilities of the URL before any page of the site is counted"""
    state: State = State.PENDING
    lang: str = ""
    """language of the page's text: a requested one, `*` for any other, empty if not identified"""
    kinds: Kinds = ()
    """kinds under which the URL was counted when it was fetched"""
    candidates: dict[KnownUrl, list[Kinds]] = field(default_factory=dict)
    """URLs that may be translations of this one, each with its evidence"""
    partners: dict[str, KnownUrl] = field(default_factory=dict)
    """translations of this page by language, verified or being verified"""
    is_aligned: bool = False
    """True if the page's links were aligned with those of a translation"""
    is_counted: bool = False
    """True if the page was counted among those that have a translation"""
    has_unlinked_prediction: bool = False
    """True if a key predicts the URL of this page's translation, but nothing links to that URL"""
    value: float = 0.0
    """expected pairs per download, as last reported"""
    is_ranked: bool = False
    own_value: float = 0.0
    """expected pairs per download from the page itself, without those from its links"""
    expected: dict[str, Url] = field(default_factory=dict)
    """URLs that keys predict for the page's translations, by language"""
    edit_rules: EditRules | None = None
    """edit rules that predicted `expected`"""
    number: int = 0
    """index in the order of discovery"""


class KnownUrls:
    """All known URLs of a site, with redirects resolved to targets and copies to originals."""

    def __init__(self) -> None:
        self.by_url: dict[Url, KnownUrl] = {}
        self.same: dict[Url, Url] = {}
        self._characters = 0
        self._number = 0

    @property
    def is_full(self) -> bool:
        """True if no more URLs can be added."""
        return len(self.by_url) >= MAX_KNOWN or self._characters >= MAX_CHARACTERS

    def get(self, url: Url) -> KnownUrl | None:
        """The entry for a URL, after resolving redirects and copies; None if the URL is unknown."""
        for _ in range(10):
            if url not in self.same:
                break
            url = self.same[url]
        return self.by_url.get(url)

    def add(self, known: KnownUrl) -> KnownUrl:
        """Add and return an entry, replacing any earlier entry for the same URL."""
        self._characters += len(known.url)
        self._number += 1
        known.number = self._number
        self.by_url.pop(known.url, None)  # the mapping is in the order of numbers
        self.by_url[known.url] = known
        return known

    def move(self, known: KnownUrl, target: KnownUrl) -> None:
        """Make `known` an alias of `target`, and transfer the candidates of `known` to `target`."""
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
        """Record evidence that two URLs are translations; return False if it was not added.

        `kinds` classifies the evidence, from most general to most specific.
        """
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
        """Remove all evidence that two URLs are translations of each other."""
        other.candidates.pop(one, None)
        one.candidates.pop(other, None)
