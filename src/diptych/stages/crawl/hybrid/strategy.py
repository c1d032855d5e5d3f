"""The guided crawl: all evidence there is so far gives one expected value per URL.

What a site declares (hreflang, switchers, sitemaps), keys and models of URLs, links that were
aligned in pairs found before, and where pairs were found so far: each says of some URLs that they
are halves of pairs.  How far each can be believed is counted on the site itself.  The value of a
URL is the number of pairs it brings per download; the two halves of a pair are fetched together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from diptych.protocols import Guide, SiteView
from diptych.stages.crawl.hybrid.known_urls import Kinds, Life, Spot, Spots
from diptych.stages.crawl.hybrid.language_guess import OTHER, link_features
from diptych.stages.crawl.hybrid.matches import Matches
from diptych.stages.crawl.hybrid.url_models import likely_languages, likely_translations
from diptych.stages.crawl.hybrid.value import Worth, rounded, section
from diptych.text.url_edits import KeyBook, UrlPair, learn_rules
from diptych.text.urls import normalise
from diptych.types import (
    FOLLOWED,
    Found,
    Link,
    Missing,
    Moved,
    News,
    Outlook,
    Page,
    PagePair,
    Ranked,
    Settled,
    Url,
)

__all__ = ["Hybrid"]

_COMMON = 2  # more pages than this that link to one page by the name of a language link to a home
_LEAST_SCORE = 0.5  # of a pair that pairing by content found
_LEAST_HELD = 2  # pairs that a key must have held for to be used
_SURE_OF_KEY = 0.6  # confidence of what a key predicts
_REFRESHED = 100  # URLs that are valued anew with each page
_MET = 300  # links that are taken in at a time
_MAX_GUESSES = 20  # URLs at a time that nothing leads to
_LEAST_GUESS = 0.1  # share of such URLs that are right from which on more are tried
_MAX_KNOWN = 300_000  # URLs; what is beyond is fetched when all else is
_UNKNOWN_WORTH = 0.001
_FIRST_SETTLING = 2  # unpaired pages in each of two languages that are paired by content


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Every URL by the pairs it probably brings per download; both halves of a pair together."""

    weight: float = 3.0
    """trials that what is usual elsewhere counts for, against what the site itself shows"""
    models: bool = True
    """whether models of URLs are asked where the site says nothing"""

    def guide(self, langs: Sequence[str]) -> Guide:
        """A guide that knows nothing yet."""
        return _HybridGuide(self, tuple(langs))


class _HybridGuide:
    """The memory of one site."""

    def __init__(self, policy: Hybrid, langs: tuple[str, ...]) -> None:
        self._langs = langs
        self._models = policy.models
        self._spots = Spots()
        self._worth = Worth(langs, policy.weight)
        self._matches = Matches(self._worth)
        self._digests: dict[str, Spot] = {}
        self._named: dict[Spot, int] = {}
        self._pairs: list[UrlPair] = []
        self._book = KeyBook()
        self._books = 0
        self._next_book = _LEAST_HELD
        self._guesses = 0
        self._is_settling = False
        self._next_settling = _FIRST_SETTLING
        self._ring: dict[Spot, None] = {}
        """what is pending, or a page without a translation; the one valued longest ago first"""
        self._unmet: deque[tuple[Spot, tuple[Link, ...]]] = deque()
        """links that are to be taken in"""
        self._beyond: list[Link] = []
        """links to more URLs than can be known"""
        self._left = 0.0

    # -- what happens ------------------------------------------------------------------------

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Values of what the page makes known, and of what it changes."""
        spot = self._arrive(page)
        if spot is not None:
            self._unmet.append((spot, page.links))
            self._meet_more()
            self._predict(spot)  # now that it is there, also what nothing leads to
            self._matches.consider(spot)
            self._settle()
        return self._changes()

    def learn(self, news: News, site: SiteView) -> Iterable[Ranked]:
        """Values of what other news change."""
        match news:
            case Missing():
                self._lose(self._spots.get(news.url))
                return self._changes(0)
            case Moved():
                self._move(news)
            case Found():
                self._find(news)
            case Settled():
                self._take_pairs(news)
        self._meet_more()
        return self._changes()

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        """Links that were not looked at yet; all else that is known was ranked."""
        while self._unmet:
            self._meet_more()
        return self._changes()

    def wishes(self) -> Sequence[PagePair | None]:
        """Pairs to be verified, and now and then all pages to be paired."""
        wishes, self._matches.wishes = self._matches.wishes, []
        return wishes

    def outlook(self) -> Outlook:
        """What the crawl has brought and may still bring."""
        return Outlook(len(self._pairs), max(0.0, self._left))  # sums of floats are never zero

    # -- pages -------------------------------------------------------------------------------

    def _arrive(self, page: Page) -> Spot | None:
        """Take in a page; None if it is a copy of another."""
        spot = self._spots.get(page.url) or self._spots.add(Spot(page.url))
        if spot.life is Life.PAGE:
            return spot
        lang = self._worth.tongues.asked_for(page.lang)
        spot.kinds = self._worth.cells(spot, lang)
        spot.life, spot.lang = Life.PAGE, lang
        self._guesses -= spot.how == "guess"
        self._forget_pending(spot)
        if lang:
            self._worth.tongues.learn(spot.features, lang)
        if lang in self._langs:
            self._matches.add(spot)
            self._ring[spot] = None
        twin = self._digests.setdefault(page.record.digest, spot) if page.record.digest else spot
        if twin is not spot:
            self._carry(spot, twin)
            if self._ring.pop(spot, True) is None:
                self._matches.remove(spot)
            self._matches.change([twin, *twin.ties])
            self._matches.consider(twin)
            return None
        for other, _ in self._spots.ties(spot):
            if other.life is Life.PAGE and not self._matches.differ(spot, other):
                self._matches.refute(spot, other)
        self._matches.change(spot.ties)
        return spot

    def _meet_more(self) -> None:
        """Take in links, not too many at a time: the crawl must not wait for a page of links."""
        if self._unmet:
            spot, links = self._unmet.popleft()
            self._meet(spot, links[:_MET])
            if len(links) > _MET:
                self._unmet.append((spot, links[_MET:]))

    def _meet(self, spot: Spot, links: tuple[Link, ...]) -> None:
        """Take in links of a page, or of a sitemap."""
        fresh = self._languages(links)
        groups: list[dict[str, Spot]] = [{}]
        targets: dict[Spot, None] = {}
        for link in links:
            if link.rel not in FOLLOWED or link.url == spot.url:
                continue
            lang, how = self._worth.tongues.declared(link)
            target = self._spot(link, spot, lang, fresh.get(link.url, {}))
            if target is None:
                continue
            targets[target] = None
            if link.rel == "sitemap":
                groups.append({})
            if lang not in self._langs:
                continue
            groups[-1].setdefault(lang, target)
            if spot.lang in self._langs and lang != spot.lang and link.rel != "sitemap":
                self._matches.tie(spot, target, self._declaration(target, how))
        kind = "sitemap" if len(groups) > 1 else "sibling"
        for group in groups:  # a page to choose a language at names that of its own text too
            for one, other in combinations(group.values(), 2):
                self._matches.tie(one, other, ((kind,),))
        self._tie_by_models(spot, targets)

    def _declaration(self, target: Spot, how: str) -> Kinds:
        """What kind of evidence it is that a link declares a language."""
        if how == "alternate":
            return (("alternate",),)
        self._named[target] = self._named.get(target, 0) + 1
        return ((how,), (how, "common" if self._named[target] > _COMMON else "seldom"))

    def _spot(
        self, link: Link, source: Spot, declared: str, model: dict[str, float]
    ) -> Spot | None:
        """What is known of the target of a link, which is made known if it is new."""
        spot = self._spots.get(link.url)
        if spot is not None:
            if spot.how == "guess" and spot.life is Life.PENDING:
                spot.how, spot.source = "link", source
                self._guesses -= 1
                self._matches.changed[spot] = None
            return spot
        if len(self._spots) >= _MAX_KNOWN:
            self._beyond.append(link)
            return None
        how = "sitemap" if link.rel == "sitemap" else "link"
        came_from = source.lang if how == "link" else ""
        # What the first guess is made of comes last: the pages that it was made of correct it.
        features = [*link_features(link), f"d:{declared}" if declared else f"s:{came_from}"]
        first = self._worth.tongues.first_guess(declared, came_from, model)
        return self._add(Spot(link.url, source, how, self._worth.tongues.numbers(features), first))

    def _add(self, spot: Spot) -> Spot:
        self._ring[spot] = self._matches.changed[spot] = None
        self._predict(spot)
        return self._spots.add(spot)

    def _languages(self, links: Iterable[Link]) -> dict[Url, dict[str, float]]:
        """What the model of URLs says of the languages of new ones."""
        urls = dict.fromkeys(link.url for link in links if link.rel in FOLLOWED)
        new = [url for url in urls if self._spots.get(url) is None]
        return likely_languages(new, self._worth.tongues.asked_for) if self._models else {}

    def _tie_by_models(self, spot: Spot, targets: Iterable[Spot]) -> None:
        """Where a page declares nothing, see whether it links to a translation of itself."""
        if not self._models or spot.lang not in self._langs or spot.ties or spot.partners:
            return
        pending = (target for target in targets if target.life is Life.PENDING)
        own = ("", OTHER, spot.lang)
        others = {each.url: each for each in pending if self._worth.likely(each) not in own}
        for url in likely_translations(spot.url, list(others))[:1]:
            self._matches.tie(spot, others[url], (("url_model",),))

    # -- what is no page ---------------------------------------------------------------------

    def _lose(self, spot: Spot | None) -> None:
        """There is nothing at a URL."""
        if spot is None or spot.life is not Life.PENDING:
            return
        self._guesses -= spot.how == "guess"
        spot.life = Life.GONE
        self._forget_pending(spot)
        for other, _ in self._spots.ties(spot):
            self._matches.refute(spot, other)

    def _move(self, news: Moved) -> None:
        spot, target = self._spots.get(news.url), self._spots.get(news.target)
        if spot is None or spot.life is not Life.PENDING or spot is target:
            return self._lose(spot)  # also what leads round and round
        new = Spot(news.target, spot.source, spot.how, spot.features, spot.first)
        target = self._add(new) if target is None else target
        self._guesses -= spot.how == "guess" and target is not new
        self._forget_pending(spot)
        self._carry(spot, target, is_new=target is new)
        self._matches.change([target, *target.ties])
        self._matches.consider(target)

    def _carry(self, spot: Spot, target: Spot, *, is_new: bool = False) -> None:
        """What was said of a URL holds for the one it leads to, or that it is a copy of.

        A guess that leads to what is known anyway was wrong: many servers say so in this way.
        """
        if spot.how == "guess" and not is_new:
            for other, _ in self._spots.ties(spot):
                self._matches.refute(spot, other)
        self._spots.move(spot, target)

    def _forget_pending(self, spot: Spot) -> None:
        self._left -= spot.worth
        spot.worth = 0.0
        self._ring.pop(spot, None)
        self._matches.changed.pop(spot, None)

    # -- pairs -------------------------------------------------------------------------------

    def _find(self, news: Found) -> None:
        """A pair was verified, or it is none."""
        pair = news.pair
        one, other = self._spots.get(pair.left), self._spots.get(pair.right)
        if one is None or other is None:
            return
        if news.decision.accept:
            self._matches.pair(one, other)
            for spot in (one, other):
                if len(spot.partners) == len(self._langs) - 1:
                    self._ring.pop(spot, None)
            langs = pair.left_lang, pair.right_lang
            self._pairs.append(UrlPair(pair.left, pair.right, *langs, pair.score, ""))
            self._learn_keys()
        else:
            self._matches.judge(one, other, pair.score, news.decision)
        kind = "aligned" if news.decision.accept else "near"
        self._tie_all(news.links, ((kind,), (kind, len(self._pairs))))

    def _tie_all(self, urls: Iterable[tuple[Url, Url]], kinds: Kinds) -> None:
        """Some say that these lead to pairs."""
        for left, right in urls:
            one, other = self._spots.get(left), self._spots.get(right)
            if one is not None and other is not None:
                self._matches.tie(one, other, kinds)

    def _learn_keys(self) -> None:
        """Read the keys of the site anew from its pairs, the more seldom the more there are."""
        if len(self._pairs) < self._next_book:
            return
        self._next_book = len(self._pairs) + max(1, len(self._pairs) // 2)
        rules = learn_rules(self._pairs).rules
        self._book = KeyBook(tuple(rule for rule in rules if rule.held >= _LEAST_HELD))
        self._books += 1

    def _predict(self, spot: Spot) -> None:
        """Look up where the translations of a page should be."""
        spot.book = self._books
        lang = spot.lang or self._worth.likely(spot)
        if not self._book.rules or lang not in self._langs or spot.how == "guess":
            return
        spot.is_lonely = False
        spot.expected.clear()
        may_guess = spot.life is Life.PAGE and self._worth.guessing(spot) >= _LEAST_GUESS
        told = set(spot.partners)
        for made in self._book.predict(spot.url, lang):
            url = normalise(made.url)
            if url is None or made.confidence < _SURE_OF_KEY or made.lang in told:
                continue
            spot.expected.setdefault(made.lang, url)
            target = self._spots.get(url)
            if target is not None and target.how != "guess":
                told.add(made.lang)
                self._matches.tie(spot, target, (("key",),))
            elif target is None and may_guess and self._guesses < _MAX_GUESSES:
                told.add(made.lang)
                self._guess(spot, url, made.lang)
            spot.is_lonely = not spot.ties

    def _guess(self, spot: Spot, url: Url, lang: str) -> None:
        """Try the URL of a translation that nothing leads to."""
        self._guesses += 1
        features = self._worth.tongues.numbers([*link_features(Link(url)), f"g:{lang}"])
        first = self._worth.tongues.first_guess(lang, "", {})
        target = self._spots.add(Spot(url, spot, "guess", features, first))
        self._ring[target] = None
        self._matches.tie(spot, target, (("guess",), ("guess", section(spot.url))))

    def _settle(self) -> None:
        """Have all pages paired by what they say where nothing else pairs them."""
        if self._is_settling:
            return
        second = sorted(self._matches.alone.values())[-2] if len(self._matches.alone) > 1 else 0
        if second >= self._next_settling:
            self._next_settling = second + 1 + second // 2
            self._is_settling = True
            self._matches.wishes.append(None)

    def _take_pairs(self, news: Settled) -> None:
        """Pairs that pairing by content and all else found."""
        self._is_settling = False
        self._matches.resolve_all()
        likely = [(one.left, one.right) for one in news.pairs if one.score >= _LEAST_SCORE]
        self._tie_all(likely, (("content",),))

    # -- values ------------------------------------------------------------------------------

    def _changes(self, refreshed: int = _REFRESHED) -> list[Ranked]:
        """The values of all that changed, and of what was valued longest ago."""
        for spot in list(islice(self._ring, refreshed)):
            del self._ring[spot]
            self._ring[spot] = None
            if spot.book != self._books:
                self._predict(spot)
            self._matches.changed[spot] = None
        ranked = [Ranked(link, _UNKNOWN_WORTH) for link in self._beyond]
        self._beyond.clear()
        for spot in self._matches.changed:
            if spot.life is not Life.PENDING:
                continue
            worth = rounded(self._worth.value(spot))
            if worth != spot.worth or not spot.is_ranked:
                ranked.append(Ranked(Link(spot.url), worth, lowers=True))
                self._left += worth - spot.worth
                spot.worth, spot.is_ranked = worth, True
        self._matches.changed.clear()
        return ranked
