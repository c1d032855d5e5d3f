"""From names of languages to aligned hyperlinks, recursively (Shi et al. 2006, section 3).

Pages near the start are read for links that name a language (triggers).  What they pair is wished
to be verified; where a pair is verified its hyperlinks are aligned, and the pages that two of them
lead to are downloaded together and verified in turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from diptych.language.codes import asked_language
from diptych.language.switchers import declared_language
from diptych.protocols import SiteView
from diptych.stages.crawl.bfs import Bfs
from diptych.types import (
    Found,
    Link,
    Missing,
    Moved,
    News,
    Page,
    PagePair,
    Ranked,
    Url,
    lang_pairs,
)

__all__ = ["ParallelLinks", "ParallelLinksGuide", "trigger_language"]

_TRIGGER = 3.0
_ALIGNED = 1.0  # to 2; what is only near the start comes after it, with less than nothing
_MAX_TARGETS = 3  # of one page's triggers for a language; a list of documents has more
_SCORE = 0.5  # of a pair before it is verified: either way
_BESIDE_NAMES = re.compile(r"\b(?:version|edition|site|simplified|traditional)\b|版本?")


@dataclass(frozen=True, slots=True)
class ParallelLinks:
    """From links that name a language to pairs, and from a pair's aligned links to the next."""

    trigger_depth: int = 1
    """links from the start within which all pages are downloaded and read for triggers"""

    def guide(self, langs: Sequence[str]) -> ParallelLinksGuide:
        """A guide that knows nothing yet."""
        return ParallelLinksGuide(tuple(langs), self.trigger_depth)


@dataclass(slots=True)
class ParallelLinksGuide:
    """What was found on one site so far."""

    langs: tuple[str, ...]
    trigger_depth: int
    _read: dict[Url, str] = field(default_factory=dict)
    """the language of each page, nothing if it is no page or in none that was asked for"""
    _near: dict[Url, int] = field(default_factory=dict)
    """links from the start, of what is linked there"""
    _moved: dict[Url, Url] = field(default_factory=dict)
    _partners: dict[Url, dict[Url, str]] = field(default_factory=dict)
    """plausible pairs, from either half to the other: what says so, nothing once it was wished"""
    _asked: set[tuple[Url, str]] = field(default_factory=set)
    """pages of which a pair is looked at, with the language of the other one"""
    _paired: set[tuple[Url, str]] = field(default_factory=set)
    """the same of pairs that were verified"""
    _aligned: int = 0
    """pairs of links that were followed"""
    _wishes: list[PagePair] = field(default_factory=list)

    def rank(self, page: Page, site: SiteView) -> list[Ranked]:
        """Near the start triggers, and what is linked there; elsewhere nothing."""
        # A sitemap is no page: what a site announces is not in the paper.
        if any(link.rel == "sitemap" for link in page.links):
            return []
        lang = asked_language(page.lang, self.langs)
        self._read[page.url] = lang
        for partner in list(self._partners.get(page.url, ())):
            self._wish(page.url, partner)
        away = 0 if page.record.depth == 0 else self._near.get(page.url, self.trigger_depth + 1)
        ranked = self._triggers(page) if away <= self.trigger_depth else []
        first = {trigger.link.url for trigger in ranked}
        nearby = self._nearby(page, site, away + 1) if away < self.trigger_depth else []
        return ranked + [each for each in nearby if each.link.url not in first]

    def learn(self, news: News, site: SiteView) -> list[Ranked]:
        """What the aligned links of a verified pair lead to, each two together."""
        match news:
            case Found(pair, decision, links):
                self._decide(pair, accept=decision.accept)
                aligned = links if decision.accept else ()
                return [ranked for left, right in aligned for ranked in self._follow(left, right)]
            case Moved(url, target):
                self._move(url, target)
            case Missing(url):
                self._read[url] = ""
                self._forget(url)
        return []

    def refill(self, site: SiteView) -> tuple[Ranked, ...]:
        """Nothing: no more parallel links, no more pages."""
        return ()

    def wishes(self) -> list[PagePair]:
        """Plausible pairs of which both pages are there, to be verified."""
        wishes, self._wishes = self._wishes, []
        return wishes

    def outlook(self) -> None:
        """It does not estimate what is left."""

    # -- where pairs come from ---------------------------------------------------------------

    def _triggers(self, page: Page) -> list[Ranked]:
        """What a page's triggers lead to; with the page itself, plausible pairs."""
        links: dict[str, dict[Url, Link]] = {lang: {} for lang in self.langs}
        for link in page.links:
            lang = trigger_language(link, self.langs)
            if lang and len(links[lang]) < _MAX_TARGETS:
                links[lang].setdefault(link.url, link)
        halves = {lang: [*found] for lang, found in links.items()}
        if own := self._read[page.url]:
            halves[own].append(page.url)
        # DEVIATION(shi): the paper verifies every pair of the pages near the start once triggers
        # of both languages are among them.  Here a trigger says which pairs: a page and its
        # trigger's target, or the targets of two triggers.
        for left, right in lang_pairs(self.langs):
            for one, other in product(halves[left], halves[right]):
                self._suppose(one, other, "triggers")
        targets = {url: link for found in links.values() for url, link in found.items()}
        return [Ranked(link, _TRIGGER) for url, link in targets.items() if not self._is_read(url)]

    def _nearby(self, page: Page, site: SiteView, away: int) -> list[Ranked]:
        """All that a page near the start links to."""
        nearby = {ranked.link.url: ranked.link for ranked in Bfs().rank(page, site)}
        for url in nearby:
            self._near[url] = min(away, self._near.get(url, away))
        return [Ranked(link, -float(away)) for link in nearby.values()]

    def _follow(self, left: Url, right: Url) -> list[Ranked]:
        """The pages that two aligned links lead to, as a plausible pair; those not there yet."""
        if not self._suppose(left, right, "parallel_links"):
            return []
        self._aligned += 1
        # Breadth first: pairs in the order in which they were found, and both halves together.
        priority = _ALIGNED + 1.0 / self._aligned
        return [Ranked(Link(url), priority) for url in (left, right) if not self._is_read(url)]

    # -- plausible pairs ---------------------------------------------------------------------

    def _suppose(self, one: Url, other: Url, evidence: str) -> bool:
        """Remember a plausible pair; False if it is known, or cannot be one."""
        one, other = self._end(one), self._end(other)
        if one == other or not (self._is_free(one) and self._is_free(other)):
            return False
        if other in self._partners.get(one, ()):
            return False
        self._partners.setdefault(one, {})[other] = evidence
        self._partners.setdefault(other, {})[one] = evidence
        self._wish(one, other)
        return True

    def _is_free(self, url: Url) -> bool:
        """Whether a page may have a counterpart that is not found yet."""
        lang = self._read.get(url)
        others = (each for each in self.langs if each != lang)
        return lang is None or (
            lang != "" and any((url, each) not in self._paired for each in others)
        )

    def _wish(self, one: Url, other: Url) -> None:
        """Wish a plausible pair verified, once, when both pages are there in two languages."""
        evidence = self._partners[one][other]
        read = {self._read.get(url, ""): url for url in (one, other)}
        langs = [lang for lang in self.langs if lang in read]
        if not evidence or len(langs) != 2:
            return
        left, right = langs
        pair = PagePair(read[left], read[right], left, right, _SCORE, evidence)
        # DEVIATION(shi): a page has one counterpart in a language.  Those that are plausible are
        # verified one after the other, and no more once one is: long lists of links, aligned
        # amiss, would else have each page compared with hundreds.
        halves = _halves(pair)
        if halves.isdisjoint(self._asked) and halves.isdisjoint(self._paired):
            self._wishes.append(pair)
            self._asked |= halves
            self._partners[one][other] = self._partners[other][one] = ""

    def _decide(self, pair: PagePair, *, accept: bool) -> None:
        """Take note of an answer; where it is no, the next counterpart may be the right one."""
        self._asked -= _halves(pair)
        if accept:
            self._paired |= _halves(pair)
        for url in (pair.left, pair.right):
            for partner in list(self._partners.get(url, ())):
                self._wish(url, partner)

    def _move(self, url: Url, target: Url) -> None:
        """What was said of a URL holds for the one it leads to."""
        self._moved[url] = target
        end = self._end(url)
        if url in self._near:
            self._near[end] = min(self._near[url], self._near.get(end, self._near[url]))
        for partner, evidence in self._forget(url).items():
            self._suppose(end, partner, evidence)

    def _forget(self, url: Url) -> dict[Url, str]:
        partners = self._partners.pop(url, {})
        for partner in partners:
            del self._partners[partner][url]
        return partners

    def _is_read(self, url: Url) -> bool:
        return self._end(url) in self._read

    def _end(self, url: Url) -> Url:
        """Where redirects lead; round and round is where it began to repeat."""
        passed: set[Url] = set()
        while url in self._moved and url not in passed:
            passed.add(url)
            url = self._moved[url]
        return url


def _halves(pair: PagePair) -> set[tuple[Url, str]]:
    return {(pair.left, pair.right_lang), (pair.right, pair.left_lang)}


def trigger_language(link: Link, langs: Iterable[str]) -> str:
    """The language that a link's text names, or the text of its image; attributes do not count.

    >>> [trigger_language(Link(Url("http://x.org/"), anchor=text), ("en", "zh"))
    ...  for text in ("English Version", "中文版", "English breakfast")]
    ['en', 'zh', '']
    """
    if link.rel not in ("a", "area"):
        return ""
    anchor, alt = (_BESIDE_NAMES.sub("", text.casefold()) for text in (link.anchor, link.alt))
    return declared_language(link._replace(hreflang="", anchor=anchor, alt=alt), tuple(langs)).lang
