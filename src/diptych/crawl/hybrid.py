"""The guided crawl: all evidence there is so far gives one expected value per URL.

What a site declares (hreflang, switchers, sitemaps), keys and models of URLs, links that were
aligned in pairs found before, and where pairs were found so far: each says of some URLs that they
are halves of pairs.  How far each can be believed is counted on the site itself.  The value of a
URL is the number of pairs it brings per download; the two halves of a pair are fetched together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from diptych.crawl.chances import Chances
from diptych.crawl.spots import Kinds, Life, Spot, Spots
from diptych.crawl.tongues import OTHER, Tongues, link_features
from diptych.protocols import Guide, SiteView
from diptych.text.key_book import KeyBook, UrlPair, learn_rules
from diptych.text.langs import same_language
from diptych.text.switchers import declared_language
from diptych.text.urls import normalise
from diptych.types import (
    UNDECIDED,
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

_FOLLOWED = frozenset({"a", "area", "frame", "alternate", "refresh", "sitemap"})
_USUAL = {
    "alternate": 0.9, "hreflang": 0.85, "name": 0.6, "sitemap": 0.9, "sibling": 0.8,
    "aligned": 0.8, "key": 0.8, "guess": 0.5, "url_model": 0.5, "content": 0.7,
}  # fmt: skip
"""how often each says right, before the site has shown it"""
_COMMON = 2  # more pages than this that link to one page by the name of a language link to a home
_TRANSLATED = 0.5  # share of pages that have a translation, before the site has shown it
_LEAST_SCORE = 0.5  # of a pair that pairing by content found
_LEAST_HELD = 2  # pairs that a key must have held for to be used
_SURE_OF_LANGUAGE = 0.6
_REFRESHED = 200  # URLs that are valued anew with each page
_CHANGE = 0.03  # share by which a value must change to be said again
_MAX_ASKED = 6  # pairs that are verified for one page
_MAX_GUESSES = 20  # URLs at a time that nothing leads to
_MAX_KNOWN = 300_000  # URLs; what is beyond is fetched when all else is
_UNKNOWN_WORTH = 0.001
_FIRST_SETTLING = 2  # unpaired pages in each of two languages that are paired by content
_ENOUGH_PAIRS = 3  # until so many are found, a page without a translation says nothing


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
        self._tongues = Tongues(langs)
        self._trust = Chances(policy.weight)
        """how often each kind of evidence said right"""
        self._yields = Chances(policy.weight)
        """how often pages of a kind had a translation"""
        self._digests: dict[str, Spot] = {}
        self._named: dict[Spot, int] = {}
        self._pairs: list[UrlPair] = []
        self._book = KeyBook()
        self._books = 0
        self._next_book = _LEAST_HELD
        self._guesses = 0
        self._asked: dict[tuple[Url, Url], int] = {}
        self._tries: dict[Spot, int] = {}
        self._wishes: list[PagePair | None] = []
        self._open: dict[Spot, None] = {}
        """pages of which nothing could tell yet whether they have a translation"""
        self._alone: Counter[str] = Counter()
        """pages without any translation, by language"""
        self._is_settling = False
        self._next_settling = _FIRST_SETTLING
        self._dirty: dict[Spot, None] = {}
        self._ring: dict[Spot, None] = {}
        """what is pending, or a page without a translation; the one valued longest ago first"""
        self._left = 0.0

    # -- what happens ------------------------------------------------------------------------

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Values of what the page makes known, and of what it changes."""
        spot = self._arrive(page)
        if spot is not None:
            self._meet(page, spot)
            self._consider(spot)
            self._settle()
        return self._changes()

    def learn(self, news: News, site: SiteView) -> Iterable[Ranked]:
        """Values of what other news change."""
        match news:
            case Missing():
                self._lose(self._spots.get(news.url))
            case Moved():
                self._move(news)
            case Found():
                self._find(news)
            case Settled():
                self._take_pairs(news)
        return self._changes()

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        """Nothing: all that is known was ranked."""
        return ()

    def wishes(self) -> Sequence[PagePair | None]:
        """Pairs to be verified, and now and then all pages to be paired."""
        wishes, self._wishes = self._wishes, []
        return wishes

    def outlook(self) -> Outlook:
        """What the crawl has brought and may still bring."""
        return Outlook(len(self._pairs), self._left)

    # -- pages -------------------------------------------------------------------------------

    def _arrive(self, page: Page) -> Spot | None:
        """Take in a page; None if it is a copy of another."""
        spot = self._spots.get(page.url) or self._spots.add(Spot(page.url))
        if spot.life is Life.PAGE:
            return spot
        asked = (lang for lang in self._langs if same_language(page.lang, lang))
        lang = next(asked, OTHER) if page.lang else ""
        spot.kinds = self._cells(spot, lang)
        spot.life, spot.lang = Life.PAGE, lang
        self._forget_pending(spot)
        if lang:
            self._tongues.learn(spot.features, lang)
        if lang in self._langs:
            self._open[spot] = None
            if len(self._pairs) >= _ENOUGH_PAIRS:
                self._resolve(spot)
            self._ring[spot] = None
            self._alone[lang] += 1
        twin = self._digests.setdefault(page.record.digest, spot) if page.record.digest else spot
        if twin is not spot:
            self._spots.move(spot, twin)
            self._ring.pop(spot, None)
            self._alone[lang] -= lang in self._langs
            return None
        for other, _ in self._spots.ties(spot):
            if other.life is Life.PAGE and not self._may_be(spot, other):
                self._refute(spot, other)
        self._dirty.update(dict.fromkeys(spot.ties))
        return spot

    def _meet(self, page: Page, spot: Spot) -> None:
        """Take in the links of a page, or of a sitemap."""
        fresh = self._with_models(page.links) if self._models else {}
        groups: list[dict[str, Spot]] = [{}]
        for link in page.links:
            if link.rel not in _FOLLOWED or link.url == page.url:
                continue
            said, how = declared_language(link, self._langs)
            lang = self._asked_for(said)
            target = self._spot(link, spot, lang, fresh.get(link.url, {}))
            if target is None:
                continue
            if link.rel == "sitemap":
                groups.append({})
            if lang not in self._langs:
                continue
            groups[-1].setdefault(lang, target)
            if spot.lang in self._langs and lang != spot.lang and link.rel != "sitemap":
                self._tie(spot, target, self._declaration(target, how))
        kind = "sitemap" if len(groups) > 1 else "sibling"
        for group in groups:  # a page to choose a language at names that of its own text too
            for one, other in combinations(group.values(), 2):
                self._tie(one, other, ((kind,),))

    def _declaration(self, target: Spot, how: str) -> Kinds:
        """What kind of evidence it is that a link declares a language."""
        if how == "alternate":
            return (("alternate",),)
        self._named[target] = self._named.get(target, 0) + 1
        return ((how,), (how, "common" if self._named[target] > _COMMON else "seldom"))

    def _asked_for(self, lang: str) -> str:
        """A language as it was asked for, or that it was not."""
        if not lang:
            return ""
        return next((each for each in self._langs if same_language(lang, each)), OTHER)

    def _spot(
        self, link: Link, source: Spot, declared: str, model: dict[str, float]
    ) -> Spot | None:
        """What is known of the target of a link, which is made known if it is new."""
        spot = self._spots.get(link.url)
        if spot is not None:
            if spot.how == "guess" and spot.life is Life.PENDING:
                spot.how, spot.source = "link", source
                self._guesses -= 1
                self._dirty[spot] = None
            return spot
        if len(self._spots) >= _MAX_KNOWN:
            return None
        how = "sitemap" if link.rel == "sitemap" else "link"
        came_from = source.lang if how == "link" else ""
        features = link_features(link)
        if came_from and not declared:
            features.append(f"s:{came_from}")
        first = self._tongues.first_guess(declared, came_from, model)
        return self._add(Spot(link.url, source, how, self._tongues.numbers(features), first))

    def _add(self, spot: Spot) -> Spot:
        self._ring[spot] = self._dirty[spot] = None
        self._predict(spot)
        return self._spots.add(spot)

    def _with_models(self, links: Iterable[Link]) -> dict[Url, dict[str, float]]:
        """What the model of URLs says of the languages of new ones."""
        from diptych.learn.url_lang import load

        new = [
            url
            for url in dict.fromkeys(link.url for link in links if link.rel in _FOLLOWED)
            if self._spots.get(url) is None
        ]
        if not new:
            return {}
        model = load()
        columns = [self._asked_for(label) for label in model.labels]
        found: dict[Url, dict[str, float]] = {}
        for url, row in zip(new, model.probabilities(new).tolist(), strict=True):
            likeliest = max(range(len(row)), key=row.__getitem__)
            found[url] = {columns[likeliest]: row[likeliest]}
        return found

    # -- what is no page ---------------------------------------------------------------------

    def _lose(self, spot: Spot | None) -> None:
        """There is nothing at a URL."""
        if spot is None or spot.life is not Life.PENDING:
            return
        self._guesses -= spot.how == "guess"
        spot.life = Life.GONE
        self._forget_pending(spot)
        for other, _ in self._spots.ties(spot):
            self._refute(spot, other)

    def _move(self, news: Moved) -> None:
        spot = self._spots.get(news.url)
        if spot is None or spot.life is not Life.PENDING:
            return
        target = self._spots.get(news.target)
        if target is None:
            target = self._add(Spot(news.target, spot.source, spot.how, spot.features, spot.first))
        self._guesses -= spot.how == "guess" and target.how != "guess"
        self._forget_pending(spot)
        self._spots.move(spot, target)
        self._dirty.update(dict.fromkeys([target, *target.ties]))
        self._consider(target)

    def _forget_pending(self, spot: Spot) -> None:
        self._left -= spot.worth
        spot.worth = 0.0
        self._ring.pop(spot, None)
        self._dirty.pop(spot, None)

    # -- pairs -------------------------------------------------------------------------------

    def _tie(self, one: Spot, other: Spot, kinds: Kinds) -> None:
        """Two URLs may be translations of each other."""
        if one.life is Life.PAGE and other.life is Life.PAGE and not self._may_be(one, other):
            return
        if self._spots.tie(one, other, kinds):
            self._dirty[one] = self._dirty[other] = None
            self._consider(one)

    def _may_be(self, one: Spot, other: Spot) -> bool:
        """Whether two pages can be a pair by their languages, and as far as others are."""
        return (
            one.lang in self._langs
            and other.lang in self._langs
            and one.lang != other.lang
            and other.lang not in one.partners
            and one.lang not in other.partners
        )

    def _refute(self, one: Spot, other: Spot) -> None:
        """Two URLs are no pair after all: what said so is believed less."""
        for kinds in self._spots.untie(one, other):
            if other.lang not in one.partners and one.lang not in other.partners:
                self._trust.tried(kinds)
        self._dirty[one] = self._dirty[other] = None

    def _trusted(self, evidence: Iterable[Kinds]) -> float:
        """How likely two URLs are a pair, by what says so."""
        return max(self._trust.of(kinds, _USUAL[_name(kinds)]) for kinds in evidence)

    def _consider(self, spot: Spot) -> None:
        """Have the likeliest pair of a page verified, if both halves are there."""
        if spot.life is not Life.PAGE:
            return
        ready = [
            (-self._trusted(evidence), other.url, other)
            for other, evidence in spot.ties.items()
            if other.life is Life.PAGE and self._may_be(spot, other)
        ]
        for _, _, other in sorted(ready, key=lambda each: each[:2]):
            if self._may_be(spot, other):  # of each language one at a time
                self._ask(spot, other)

    def _ask(self, one: Spot, other: Spot) -> None:
        tries = max(self._tries.get(one, 0), self._tries.get(other, 0))
        if tries >= _MAX_ASKED:
            return
        if self._langs.index(one.lang) > self._langs.index(other.lang):
            one, other = other, one
        self._tries[one] = self._tries.get(one, 0) + 1
        self._tries[other] = self._tries.get(other, 0) + 1
        for spot in (one, other):
            self._alone[spot.lang] -= not spot.partners
        one.partners[other.lang], other.partners[one.lang] = other, one
        evidence = one.ties.get(other, [])
        names = "+".join(sorted({_name(kinds) for kinds in evidence}))
        score = self._trusted(evidence)
        self._wishes.append(PagePair(one.url, other.url, one.lang, other.lang, score, names))
        self._dirty.update(dict.fromkeys([*one.ties, *other.ties]))

    def _find(self, news: Found) -> None:
        """A pair was verified, or it is none."""
        pair = news.pair
        one, other = self._spots.get(pair.left), self._spots.get(pair.right)
        if one is None or other is None:
            return
        evidence = self._spots.untie(one, other)
        if news.decision.reason not in UNDECIDED:
            for kinds in evidence:
                self._trust.tried(kinds)
        if news.decision.accept:
            for kinds in evidence:
                self._trust.paid(kinds)
            self._pair(one, other, pair)
        else:
            self._part(one, other)
        self._align(news.links)

    def _pair(self, one: Spot, other: Spot, pair: PagePair) -> None:
        """Two pages are a pair."""
        for spot in (one, other):
            spot.is_aligned = True
            if len(spot.partners) == 1:
                self._resolve(spot)
                self._yields.paid(spot.kinds)
            if len(spot.partners) == len(self._langs) - 1:
                self._ring.pop(spot, None)
            self._dirty.update(dict.fromkeys(spot.ties))
        self._pairs.append(
            UrlPair(pair.left, pair.right, pair.left_lang, pair.right_lang, pair.score, "")
        )
        if len(self._pairs) == _ENOUGH_PAIRS:
            self._resolve_all()
        self._learn_keys()

    def _part(self, one: Spot, other: Spot) -> None:
        """Two pages are no pair: each may have another translation."""
        one.partners.pop(other.lang, None)
        other.partners.pop(one.lang, None)
        for spot in (one, other):
            self._alone[spot.lang] += not spot.partners
            self._dirty.update(dict.fromkeys(spot.ties))
        self._consider(one)
        self._consider(other)

    def _resolve(self, spot: Spot) -> None:
        """Count a page among those that were tried, once."""
        if self._open.pop(spot, True) is None:
            self._yields.tried(spot.kinds)

    def _resolve_all(self) -> None:
        for spot in list(self._open):
            self._resolve(spot)

    def _align(self, links: Iterable[tuple[Url, Url]]) -> None:
        """Links that were aligned in a pair lead to pairs."""
        number = len(self._pairs)
        for left, right in links:
            one, other = self._spots.get(left), self._spots.get(right)
            if one is not None and other is not None:
                self._tie(one, other, (("aligned",), ("aligned", number)))

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
        lang = spot.lang or self._likely(spot)
        if not self._book.rules or lang not in self._langs:
            return
        spot.is_lonely = False
        for made in self._book.predict(spot.url, lang):
            url = normalise(made.url)
            if url is None or made.confidence < _SURE_OF_LANGUAGE or made.lang in spot.partners:
                continue
            target = self._spots.get(url)
            if target is not None and target.how != "guess":
                self._tie(spot, target, (("key",),))
                spot.is_lonely = False
                return
            spot.is_lonely = True
            if spot.life is Life.PAGE and target is None and self._guesses < _MAX_GUESSES:
                self._guesses += 1
                features = self._tongues.numbers(link_features(Link(url)))
                first = self._tongues.first_guess(made.lang, "", {})
                target = self._spots.add(Spot(url, spot, "guess", features, first))
                self._ring[target] = None
                self._tie(spot, target, (("guess",),))
                return

    def _settle(self) -> None:
        """Have all pages paired by what they say where nothing else pairs them."""
        if self._is_settling:
            return
        second = sorted(self._alone.values())[-2] if len(self._alone) > 1 else 0
        if second >= self._next_settling:
            self._next_settling = second + 1 + second // 2
            self._is_settling = True
            self._wishes.append(None)

    def _take_pairs(self, news: Settled) -> None:
        """Pairs that pairing by content and all else found."""
        self._is_settling = False
        self._resolve_all()
        for pair in news.pairs:
            one, other = self._spots.get(pair.left), self._spots.get(pair.right)
            if one is not None and other is not None and pair.score >= _LEAST_SCORE:
                self._tie(one, other, (("content",),))

    # -- values ------------------------------------------------------------------------------

    def _likely(self, spot: Spot) -> str:
        """The language that a page is probably in."""
        if spot.life is Life.PAGE:
            return spot.lang
        guess = self._tongues.guess(spot.features, spot.first)
        best = max(guess, key=lambda lang: guess[lang]) if guess else OTHER
        return best if guess and guess[best] >= _SURE_OF_LANGUAGE else ""

    def _cells(self, spot: Spot, lang: str) -> Kinds:
        """What a page is an example of, for those who expect a translation of it."""
        if spot.ties:
            context = "tied"
        elif spot.is_lonely:
            context = "lonely"
        elif spot.source is not None and spot.source.is_aligned:
            context = "unaligned"
        else:
            context = spot.how
        return ("site",), (lang,), (lang, context), (lang, context, _section(spot.url))

    def _value(self, spot: Spot) -> float:
        """The pairs that a download brings: one if it completes a pair, half of one if not."""
        tied: dict[str, float] = {}
        guess = self._tongues.guess(spot.features, spot.first)
        own = max(self._langs, key=lambda lang: guess.get(lang, 0.0))
        for other, evidence in spot.ties.items():
            is_there = other.life is Life.PAGE
            lang = self._likely(other)
            if lang == OTHER or (is_there and (not lang or own in other.partners)):
                continue
            worth = self._trusted(evidence) * (1.0 if is_there else 0.5)
            tied[lang] = max(worth, tied.get(lang, 0.0))
        if spot.how == "guess":
            return sum(tied.values())
        wanted = sum(guess.get(lang, 0.0) for lang in self._langs)
        alone = wanted * self._yields.of(self._cells(spot, own), _TRANSLATED) / 2
        return max(sum(tied.values()), alone * (len(self._langs) - 1))

    def _changes(self) -> list[Ranked]:
        """The values of all that changed, and of what was valued longest ago."""
        for spot in list(islice(self._ring, _REFRESHED)):
            del self._ring[spot]
            self._ring[spot] = None
            if spot.book != self._books:
                self._predict(spot)
            self._dirty[spot] = None
        ranked: list[Ranked] = []
        for spot in self._dirty:
            if spot.life is not Life.PENDING:
                continue
            worth = self._value(spot)
            self._left += worth - spot.worth
            if abs(worth - spot.worth) > _CHANGE * max(worth, spot.worth) or not spot.worth:
                ranked.append(Ranked(Link(spot.url), worth, lowers=True))
            spot.worth = worth
        self._dirty.clear()
        return ranked


def _name(kinds: Kinds) -> str:
    first = kinds[0]
    return str(first[0]) if isinstance(first, tuple) else str(first)


def _section(url: Url) -> str:
    """The part of a site that a URL is in: its host and two folders, and names of parameters."""
    address, _, query = url.partition("?")
    names = "&".join(item.partition("=")[0] for item in query.split("&"))
    return "/".join(address.split("/")[2:-1][:3]) + f"?{names}"
