"""Finds pairs by links that name a language, then by aligned links (Shi et al. 2006, section 3).

Pages near the start page are searched for links that name a language (triggers).  The pairs that
triggers suggest are verified.  The links on the two pages of a verified pair are aligned; the
targets of two aligned links are downloaded together and verified in turn, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from diptych.language.codes import asked_language
from diptych.language.switchers import declared_language
from diptych.protocols import SiteView
from diptych.stages.crawl.bfs import Bfs
from diptych.stages.crawl.shared.snapshots import (
    by_column,
    checked,
    columns,
    from_mapping,
    items,
    texts,
    whole_numbers,
)
from diptych.types import (
    CrawlEvent,
    Link,
    Missing,
    Moved,
    Page,
    PagePair,
    Ranked,
    Url,
    VerifiedPair,
    lang_pairs,
)

_TRIGGER_PRIORITY = 3.0
_ALIGNED_PRIORITY = 1.0  # up to 2; other links near the start have a negative one
_MAX_TARGETS = 3  # maximum triggers of a page per language; lists of documents have more
_PRIOR_SCORE = 0.5  # score of a pair before it is verified
_SNAPSHOT_VERSION = 1
_WORDS_BESIDE_NAMES = re.compile(r"\b(?:version|edition|site|simplified|traditional)\b|版本?")


@dataclass(frozen=True, slots=True)
class ParallelLinks:
    """Finds pairs through links that name a language, and further pairs by aligning links."""

    trigger_depth: int = 1
    """distance from the start page, in links, within which all pages are searched for triggers"""

    def guide(self, langs: Sequence[str]) -> ParallelLinksGuide:
        """Create a guide for a new crawl."""
        return ParallelLinksGuide(tuple(langs), self.trigger_depth)

    def restored(self, langs: Sequence[str], snapshot: object) -> ParallelLinksGuide:
        """Restore a guide from a snapshot."""
        guide = self.guide(langs)
        guide.recall(snapshot)
        return guide


@dataclass(slots=True)
class ParallelLinksGuide:
    """The state of the crawl of one site: its pages, plausible pairs and verified pairs."""

    langs: tuple[str, ...]
    trigger_depth: int
    _lang_of: dict[Url, str] = field(default_factory=dict)
    """language of each fetched page; empty if it is not a page, or not in a requested language"""
    _distance: dict[Url, int] = field(default_factory=dict)
    """distance in links from the start page, for URLs near it"""
    _moved: dict[Url, Url] = field(default_factory=dict)
    _plausible: dict[Url, dict[Url, str]] = field(default_factory=dict)
    """plausible pairs in both directions, with their evidence; the evidence is cleared when
    verification is requested"""
    _in_verification: set[tuple[Url, str]] = field(default_factory=set)
    """pages of pairs being verified, with the language of the other page"""
    _paired: set[tuple[Url, str]] = field(default_factory=set)
    """pages of verified pairs, with the language of the other page"""
    _followed: int = 0
    """number of pairs of aligned links that were followed"""
    _requests: list[PagePair] = field(default_factory=list)

    def rank(self, page: Page, site: SiteView) -> list[Ranked]:
        """Rank the links on a page near the start page, triggers first; ignore all other pages."""
        # Sitemaps are skipped: the paper does not use them.
        if any(link.rel == "sitemap" for link in page.links):
            return []
        lang = asked_language(page.lang, self.langs)
        self._lang_of[page.url] = lang
        for partner in list(self._plausible.get(page.url, ())):
            self._request(page.url, partner)
        distance = (
            0 if page.record.depth == 0 else self._distance.get(page.url, self.trigger_depth + 1)
        )
        ranked = self._triggers(page) if distance <= self.trigger_depth else []
        first = {trigger.link.url for trigger in ranked}
        nearby = self._nearby(page, site, distance + 1) if distance < self.trigger_depth else []
        return ranked + [each for each in nearby if each.link.url not in first]

    def learn(self, event: CrawlEvent, site: SiteView) -> list[Ranked]:
        """Process an event; if a pair was accepted, rank the targets of its aligned links."""
        match event:
            case VerifiedPair(pair, decision, links):
                self._decide(pair, accept=decision.accept)
                aligned = links if decision.accept else ()
                return [ranked for left, right in aligned for ranked in self._follow(left, right)]
            case Moved(url, target):
                self._move(url, target)
            case Missing(url):
                self._lang_of[url] = ""
                self._forget(url)
        return []

    def refill(self, site: SiteView) -> tuple[Ranked, ...]:
        """Return no links, so that the crawl ends when the queue is empty."""
        return ()

    def questions(self) -> list[PagePair]:
        """Return the pairs to be verified that were added since the last call."""
        questions, self._requests = self._requests, []
        return questions

    def outlook(self) -> None:
        """Return None, because this policy does not estimate how many pairs remain."""

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return the state of the guide, without pending questions, as plain data."""
        return {
            "version": _SNAPSHOT_VERSION,
            "langs": from_mapping(self._lang_of),
            "distances": from_mapping(self._distance),
            "redirects": from_mapping(self._moved),
            "plausible": [[url, from_mapping(each)] for url, each in self._plausible.items()],
            "in_verification": by_column(sorted(self._in_verification), 2),
            "paired": by_column(sorted(self._paired), 2),
            "followed": self._followed,
        }

    def recall(self, snapshot: Any) -> None:
        """Restore the state from a snapshot; raise a parser error if the data is invalid."""
        checked(type(snapshot) is dict and snapshot["version"] == _SNAPSHOT_VERSION)
        self._lang_of.update(_texts_by_text(snapshot["langs"]))
        checked({*self._lang_of.values()} <= {"", *self.langs})
        urls, distances = columns(snapshot["distances"], 2)
        self._distance.update(zip(texts(urls), whole_numbers(distances), strict=True))
        self._moved.update(_texts_by_text(snapshot["redirects"]))
        for url, partners in items(snapshot["plausible"]):
            texts([url])
            self._plausible[url] = dict(_texts_by_text(partners))
        for one, partners in self._plausible.items():  # two URLs are plausible for each other
            for other in partners:
                checked(one != other and one in self._plausible.get(other, ()))
        for known, name in (
            (self._in_verification, "in_verification"),
            (self._paired, "paired"),
        ):
            known.update(_texts_by_text(snapshot[name]))
        (self._followed,) = whole_numbers([snapshot["followed"]])

    # -- sources of pairs -----------------------------------------------------------------------

    def _triggers(self, page: Page) -> list[Ranked]:
        """Rank the targets of a page's triggers, and add the plausible pairs that they suggest."""
        links: dict[str, dict[Url, Link]] = {lang: {} for lang in self.langs}
        for link in page.links:
            lang = trigger_language(link, self.langs)
            if lang and len(links[lang]) < _MAX_TARGETS:
                links[lang].setdefault(link.url, link)
        halves = {lang: [*targets] for lang, targets in links.items()}
        if own := self._lang_of[page.url]:
            halves[own].append(page.url)
        # DEVIATION(shi): the paper verifies every pair of the pages near the start once triggers of
        # both languages are among them.  Here a trigger determines the pairs: a page and its
        # trigger's target, or the targets of two triggers.
        for left, right in lang_pairs(self.langs):
            for one, other in product(halves[left], halves[right]):
                self._add_plausible(one, other, "triggers")
        targets = {url: link for named in links.values() for url, link in named.items()}
        return [
            Ranked(link, _TRIGGER_PRIORITY)
            for url, link in targets.items()
            if not self._is_fetched(url)
        ]

    def _nearby(self, page: Page, site: SiteView, distance: int) -> list[Ranked]:
        """Rank all links on a page near the start page, and record `distance` for each target."""
        nearby = {ranked.link.url: ranked.link for ranked in Bfs().rank(page, site)}
        for url in nearby:
            self._distance[url] = min(distance, self._distance.get(url, distance))
        return [Ranked(link, -float(distance)) for link in nearby.values()]

    def _follow(self, left: Url, right: Url) -> list[Ranked]:
        """Add the targets of two aligned links as a plausible pair; rank those not fetched yet."""
        if not self._add_plausible(left, right, "parallel_links"):
            return []
        self._followed += 1
        # Breadth first: pairs in the order in which they were found, and both halves together.
        priority = _ALIGNED_PRIORITY + 1.0 / self._followed
        return [Ranked(Link(url), priority) for url in (left, right) if not self._is_fetched(url)]

    # -- plausible pairs ---------------------------------------------------------------------

    def _add_plausible(self, one: Url, other: Url, evidence: str) -> bool:
        """Add a plausible pair; return False if it is already known or impossible."""
        one, other = self._final_url(one), self._final_url(other)
        if one == other or not (self._may_have_partner(one) and self._may_have_partner(other)):
            return False
        if other in self._plausible.get(one, ()):
            return False
        self._plausible.setdefault(one, {})[other] = evidence
        self._plausible.setdefault(other, {})[one] = evidence
        self._request(one, other)
        return True

    def _may_have_partner(self, url: Url) -> bool:
        """True if a page may have a counterpart that has not been found yet."""
        lang = self._lang_of.get(url)
        others = (each for each in self.langs if each != lang)
        return lang is None or (
            lang != "" and any((url, each) not in self._paired for each in others)
        )

    def _request(self, one: Url, other: Url) -> None:
        """Request verification of a pair if both pages are fetched and neither has a rival pair.

        A rival pair gives one of the pages a different counterpart in the same language, and has
        been verified or is being verified.
        """
        evidence = self._plausible[one][other]
        by_lang = {self._lang_of.get(url, ""): url for url in (one, other)}
        langs = [lang for lang in self.langs if lang in by_lang]
        if not evidence or len(langs) != 2:
            return
        left, right = langs
        pair = PagePair(by_lang[left], by_lang[right], left, right, _PRIOR_SCORE, evidence)
        # DEVIATION(shi): a page has one counterpart per language.  Plausible counterparts are
        # verified one after another until one is accepted.  Otherwise, with long lists of wrongly
        # aligned links, each page would be compared with hundreds of others.
        halves = _halves(pair)
        if halves.isdisjoint(self._in_verification) and halves.isdisjoint(self._paired):
            self._requests.append(pair)
            self._in_verification |= halves
            self._plausible[one][other] = self._plausible[other][one] = ""

    def _decide(self, pair: PagePair, *, accept: bool) -> None:
        """Process the decision on a pair, and request verification of pairs waiting for it."""
        self._in_verification -= _halves(pair)
        if accept:
            self._paired |= _halves(pair)
        for url in (pair.left, pair.right):
            for partner in list(self._plausible.get(url, ())):
                self._request(url, partner)

    def _move(self, url: Url, target: Url) -> None:
        """Transfer the plausible pairs of a URL to its redirect target."""
        self._moved[url] = target
        end = self._final_url(url)
        if url in self._distance:
            self._distance[end] = min(
                self._distance[url], self._distance.get(end, self._distance[url])
            )
        for partner, evidence in self._forget(url).items():
            self._add_plausible(end, partner, evidence)

    def _forget(self, url: Url) -> dict[Url, str]:
        partners = self._plausible.pop(url, {})
        for partner in partners:
            del self._plausible[partner][url]
        return partners

    def _is_fetched(self, url: Url) -> bool:
        return self._final_url(url) in self._lang_of

    def _final_url(self, url: Url) -> Url:
        """Follow redirects to the final URL; in a cycle, stop at the first URL that repeats."""
        passed: set[Url] = set()
        while url in self._moved and url not in passed:
            passed.add(url)
            url = self._moved[url]
        return url


def _texts_by_text(values: object) -> Iterator[tuple[Any, Any]]:
    keys, found = columns(values, 2)
    return zip(texts(keys), texts(found), strict=True)


def _halves(pair: PagePair) -> set[tuple[Url, str]]:
    return {(pair.left, pair.right_lang), (pair.right, pair.left_lang)}


def trigger_language(link: Link, langs: Iterable[str]) -> str:
    """The language that a link's text or its image's `alt` text names; "" if there is none.

    The `hreflang` attribute is ignored.

    >>> [trigger_language(Link(Url("http://x.org/"), anchor=text), ("en", "zh"))
    ...  for text in ("English Version", "中文版", "English breakfast")]
    ['en', 'zh', '']
    """
    if link.rel not in ("a", "area"):
        return ""
    anchor, alt = (_WORDS_BESIDE_NAMES.sub("", text.casefold()) for text in (link.anchor, link.alt))
    return declared_language(link._replace(hreflang="", anchor=anchor, alt=alt), tuple(langs)).lang
