"""The guided crawl: all evidence so far gives each URL one value.

Evidence that two URLs are a pair: what the site declares (hreflang, switchers, sitemaps), keys and
models of URLs, and links that were aligned in earlier pairs.  Its reliability is counted on the
site itself.  The value of a URL is the number of pairs expected per download; the two halves of a
pair are fetched together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from diptych.page.distinct import content_of
from diptych.protocols import Guide, SiteView
from diptych.reason import fault_type
from diptych.stages.crawl.hybrid.known_urls import Kinds, KnownUrl, State
from diptych.stages.crawl.hybrid.language_guess import OTHER, link_features
from diptych.stages.crawl.hybrid.memory import MIN_HELD, Memory
from diptych.stages.crawl.hybrid.snapshot import write_snapshot
from diptych.stages.crawl.hybrid.snapshot_reading import read_snapshot
from diptych.stages.crawl.hybrid.url_models import likely_languages, likely_translations
from diptych.stages.crawl.hybrid.value import rounded_value, section
from diptych.text.url_edits import EditRules, UrlPair, learn_rules
from diptych.text.urls import normalise
from diptych.types import (
    FOLLOWED,
    CrawlEvent,
    Link,
    Missing,
    Moved,
    Outlook,
    Page,
    PagePair,
    PairingResult,
    Ranked,
    Url,
    VerifiedPair,
)

_MAX_NAME_LINKS = 2  # a page that more pages link to by the name of a language is a home page
_MIN_CONTENT_SCORE = 0.5  # of a pair that pairing by content found
_MIN_KEY_CONFIDENCE = 0.6  # of a URL that a key predicts
_REFRESHED_PER_PAGE = 100  # URLs whose value is computed again with each page
_LINKS_AT_A_TIME = 300  # links that are read at a time
_MAX_UNREAD = 20_000  # links that may wait, so that memory and snapshots do not grow without end
_MAX_GUESSES = 20  # pending URLs that nothing links to
_MIN_GUESS_RATE = 0.1  # share of guessed URLs that must exist for more to be tried
_OVERFLOW_VALUE = 0.001


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Every URL by the pairs it probably brings per download; both halves of a pair together."""

    weight: float = 3.0
    """trials that what is usual elsewhere counts for, against what the site itself shows"""
    models: bool = True
    """use the URL models where the site itself gives no evidence"""

    def guide(self, langs: Sequence[str]) -> Guide:
        """A guide that knows nothing yet."""
        return _HybridGuide(self, Memory(tuple(langs), self.weight))

    def restored(self, langs: Sequence[str], snapshot: object) -> Guide:
        """A guide that knows what a snapshot says."""
        return _HybridGuide(self, read_snapshot(snapshot, tuple(langs), self.weight))


class _HybridGuide:
    """The memory of one site."""

    def __init__(self, policy: Hybrid, memory: Memory) -> None:
        self._models = policy.models
        self._memory = memory
        self._urls = memory.urls
        self._values = memory.values
        self._matches = memory.matches
        self._languages = memory.values.languages
        self._langs = tuple(memory.values.langs)

    # -- what happens ------------------------------------------------------------------------

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Values of the URLs that the page adds, and of those that it changes."""
        known = self._add_page(page)
        if known is not None:
            self._memory.add_unread(known, page.links)
            self._read_more_links()
            self._predict_translations(known)  # again: of a page also URLs that nothing links to
            self._matches.request_verification(known)
            self._request_pairing()
        return self._changed_values()

    def learn(self, event: CrawlEvent, site: SiteView) -> Iterable[Ranked]:
        """Values of the URLs that other news change."""
        match event:
            case Missing():
                self._remove(self._urls.get(event.url), is_fault=bool(fault_type(event.reason)))
                return self._changed_values(0)
            case Moved():
                self._move(event)
            case VerifiedPair():
                self._take_decision(event)
            case PairingResult():
                self._take_pairs(event)
        self._read_more_links()
        return self._changed_values()

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        """Values of the links that were not read yet; all others were ranked."""
        while self._memory.unread_links:
            self._read_more_links()
        return self._changed_values()

    def questions(self) -> Sequence[PagePair | None]:
        """Pairs to be verified, and now and then None: all pages to be paired."""
        questions, self._matches.questions = self._matches.questions, []
        return questions

    def outlook(self) -> Outlook:
        """The pairs found so far, and those expected of all pending URLs."""
        # A sum of floats may end a little below zero.
        return Outlook(len(self._memory.pairs), max(0.0, self._memory.pending_value))

    def snapshot(self) -> object:
        """All it knows but its questions, as plain data."""
        return write_snapshot(self._memory)

    # -- pages -------------------------------------------------------------------------------

    def _add_page(self, page: Page) -> KnownUrl | None:
        """Add a fetched page; None if it is a copy of another."""
        known = self._urls.get(page.url) or self._urls.add(KnownUrl(page.url))
        if known.state is State.PAGE:
            return known
        lang = self._languages.asked_or_other(page.lang)
        known.kinds = self._values.page_kinds(known, lang)
        known.state, known.lang = State.PAGE, lang
        self._forget_pending(known)
        if lang:
            self._languages.learn(known.features, lang)
        if lang in self._langs:
            self._matches.add(known)
            self._memory.to_refresh[known] = None
        same = self._memory.digests.setdefault(content_of(page.record), known)
        if same is not known:
            self._merge(known, same)
            if self._memory.to_refresh.pop(known, True) is None:
                self._matches.remove(known)
            self._matches.mark_changed([same, *same.candidates])
            self._matches.request_verification(same)
            return None
        for other in list(known.candidates):
            if other.state is State.PAGE and not self._matches.are_in_two_languages(known, other):
                self._matches.refute(known, other)
        self._matches.mark_changed(known.candidates)
        return known

    def _read_more_links(self) -> None:
        """Read links, a limited number at a time: the crawl must not wait for a page of links."""
        while self._memory.unread_links:
            self._read_links(*self._memory.take_unread(_LINKS_AT_A_TIME))
            if self._memory.unread <= _MAX_UNREAD:
                break

    def _read_links(self, known: KnownUrl, links: tuple[Link, ...]) -> None:
        """Read links of a page, or of a sitemap."""
        model = self._url_languages(links)
        groups: list[dict[str, KnownUrl]] = [{}]
        targets: dict[KnownUrl, None] = {}
        for link in links:
            if link.rel not in FOLLOWED or link.url == known.url:
                continue
            lang, how = self._languages.declared(link)
            target = self._target_of(link, known, lang, model.get(link.url, {}))
            if target is None:
                continue
            targets[target] = None
            if link.rel == "sitemap":
                groups.append({})
            if lang not in self._langs:
                continue
            groups[-1].setdefault(lang, target)
            if known.lang in self._langs and lang != known.lang and link.rel != "sitemap":
                self._matches.add_evidence(known, target, self._kinds_of_declaration(target, how))
        kind = "sitemap" if len(groups) > 1 else "sibling"
        for group in groups:  # a page that offers languages names that of its own text too
            for one, other in combinations(group.values(), 2):
                self._matches.add_evidence(one, other, ((kind,),))
        self._add_evidence_of_models(known, targets)

    def _kinds_of_declaration(self, target: KnownUrl, how: str) -> Kinds:
        """The kinds of evidence that a link is which declares a language."""
        if how == "alternate":
            return (("alternate",),)
        self._memory.name_links[target] = self._memory.name_links.get(target, 0) + 1
        is_common = self._memory.name_links[target] > _MAX_NAME_LINKS
        return ((how,), (how, "common" if is_common else "seldom"))

    def _target_of(
        self, link: Link, source: KnownUrl, declared: str, model: dict[str, float]
    ) -> KnownUrl | None:
        """The entry of the target of a link, added if it is new; None if there are too many."""
        known = self._urls.get(link.url)
        if known is not None:
            if known.found_by == "guess" and known.state is State.PENDING:
                known.found_by, known.source = "link", source
                self._memory.guesses -= 1
                self._matches.changed[known] = None
            return known
        if self._urls.is_full:
            self._memory.overflow.append(link)
            return None
        found_by = "sitemap" if link.rel == "sitemap" else "link"
        source_lang = source.lang if found_by == "link" else ""
        # The feature that the first guess is made of comes last: its counts correct the guess.
        features = [*link_features(link), f"d:{declared}" if declared else f"s:{source_lang}"]
        ids = self._languages.feature_ids(features)
        first = self._languages.first_guess(declared, source_lang, model)
        return self._add_url(KnownUrl(link.url, source, found_by, ids, first))

    def _add_url(self, known: KnownUrl) -> KnownUrl:
        self._memory.to_refresh[known] = self._matches.changed[known] = None
        self._predict_translations(known)
        return self._urls.add(known)

    def _url_languages(self, links: Iterable[Link]) -> dict[Url, dict[str, float]]:
        """The languages of new URLs by the URL language model."""
        urls = dict.fromkeys(link.url for link in links if link.rel in FOLLOWED)
        new = [url for url in urls if self._urls.get(url) is None]
        return likely_languages(new, self._languages.asked_or_other) if self._models else {}

    def _add_evidence_of_models(self, known: KnownUrl, targets: Iterable[KnownUrl]) -> None:
        """Take the likeliest link as a candidate, if the page declares none."""
        if not self._models or known.lang not in self._langs or known.candidates or known.partners:
            return
        pending = (target for target in targets if target.state is State.PENDING)
        own = ("", OTHER, known.lang)
        likely = self._values.likely_language
        others = {target.url: target for target in pending if likely(target) not in own}
        for url in likely_translations(known.url, list(others))[:1]:
            self._matches.add_evidence(known, others[url], (("url_model",),))

    # -- URLs that are no page ---------------------------------------------------------------

    def _remove(self, known: KnownUrl | None, *, is_fault: bool = False) -> None:
        """Drop a pending URL that is no page, or could not be read: then it is no evidence."""
        if known is None or known.state is not State.PENDING:
            return
        known.state = State.GONE
        self._forget_pending(known)
        (self._matches.drop_all if is_fault else self._matches.refute_all)(known)

    def _move(self, event: Moved) -> None:
        known, target = self._urls.get(event.url), self._urls.get(event.target)
        if known is None or known.state is not State.PENDING or known is target:
            return self._remove(known)  # also a redirect in a circle
        new = KnownUrl(
            event.target, known.source, known.found_by, known.features, known.first_guess
        )
        target = self._add_url(new) if target is None else target
        self._memory.guesses += known.found_by == "guess" and target is new
        self._forget_pending(known)
        self._merge(known, target, is_new=target is new)
        self._matches.mark_changed([target, *target.candidates])
        self._matches.request_verification(target)

    def _merge(self, known: KnownUrl, target: KnownUrl, *, is_new: bool = False) -> None:
        """Pass the candidates of a URL on to the one it leads to, or is a copy of."""
        # A guess that leads to a known URL was wrong: many servers redirect what does not exist.
        if known.found_by == "guess" and not is_new:
            self._matches.refute_all(known)
        self._urls.move(known, target)

    def _forget_pending(self, known: KnownUrl) -> None:
        self._memory.guesses -= known.found_by == "guess"
        self._memory.pending_value -= known.value
        known.value = 0.0
        self._memory.to_refresh.pop(known, None)
        self._matches.changed.pop(known, None)

    # -- pairs -------------------------------------------------------------------------------

    def _take_decision(self, event: VerifiedPair) -> None:
        """Take the verifier's decision on a pair."""
        pair = event.pair
        one, other = self._urls.get(pair.left), self._urls.get(pair.right)
        if one is None or other is None:
            return
        if event.decision.accept:
            self._matches.accept(one, other)
            for known in (one, other):
                if len(known.partners) == len(self._langs) - 1:
                    self._memory.to_refresh.pop(known, None)
            langs = pair.left_lang, pair.right_lang
            self._memory.pairs.append(UrlPair(pair.left, pair.right, *langs, pair.score, ""))
            self._learn_keys()
        else:
            self._matches.reject(one, other, pair.score, event.decision)
        kind = "aligned" if event.decision.accept else "near"
        self._add_evidence_for(event.links, ((kind,), (kind, len(self._memory.pairs))))

    def _add_evidence_for(self, urls: Iterable[tuple[Url, Url]], kinds: Kinds) -> None:
        """Note that pairs of URLs may be translations, where both are known."""
        for left, right in urls:
            one, other = self._urls.get(left), self._urls.get(right)
            if one is not None and other is not None:
                self._matches.add_evidence(one, other, kinds)

    def _learn_keys(self) -> None:
        """Learn the keys of the site again from its pairs, the less often the more there are."""
        if len(self._memory.pairs) < self._memory.next_rules:
            return
        self._memory.next_rules = len(self._memory.pairs) + max(1, len(self._memory.pairs) // 2)
        rules = learn_rules(self._memory.pairs).rules
        self._memory.edit_rules = EditRules(tuple(rule for rule in rules if rule.held >= MIN_HELD))

    def _predict_translations(self, known: KnownUrl) -> None:
        """Predict the URLs of the translations of a page by the keys of the site."""
        known.edit_rules = self._memory.edit_rules
        lang = known.lang or self._values.likely_language(known)
        if (
            not self._memory.edit_rules.rules
            or lang not in self._langs
            or known.found_by == "guess"
        ):
            return
        known.has_unlinked_prediction = False
        known.expected.clear()
        may_guess = known.state is State.PAGE and self._values.guess_rate(known) >= _MIN_GUESS_RATE
        done = set(known.partners)
        for prediction in self._memory.edit_rules.predict(known.url, lang):
            url, other_lang = normalise(prediction.url), prediction.lang
            is_sure = prediction.confidence >= _MIN_KEY_CONFIDENCE
            if url is None or not is_sure or other_lang in done:
                continue
            known.expected.setdefault(other_lang, url)
            target = self._urls.get(url)
            if target is not None and target.found_by != "guess":
                done.add(other_lang)
                self._matches.add_evidence(known, target, (("key",),))
            elif target is None and may_guess and self._memory.guesses < _MAX_GUESSES:
                done.add(other_lang)
                self._try_guess(known, url, other_lang)
            known.has_unlinked_prediction = not known.candidates

    def _try_guess(self, known: KnownUrl, url: Url, lang: str) -> None:
        """Try a predicted URL that nothing links to."""
        self._memory.guesses += 1
        features = self._languages.feature_ids([*link_features(Link(url)), f"g:{lang}"])
        first = self._languages.first_guess(lang, "", {})
        target = self._urls.add(KnownUrl(url, known, "guess", features, first))
        self._memory.to_refresh[target] = None
        self._matches.add_evidence(known, target, (("guess",), ("guess", section(known.url))))

    def _request_pairing(self) -> None:
        """Have all pages paired by their content once enough of them are unpaired."""
        unpaired = sorted(self._matches.unpaired.values())
        second = unpaired[-2] if len(unpaired) > 1 else 0
        if not self._memory.is_pairing and second >= self._memory.next_pairing:
            self._memory.next_pairing = second + 1 + second // 2
            self._memory.is_pairing = True
            self._matches.questions.append(None)

    def _take_pairs(self, event: PairingResult) -> None:
        """Take the pairs that pairing by content found."""
        self._memory.is_pairing = False
        if event.pairs is None:
            return
        self._matches.count_all_pages()
        likely = (pair for pair in event.pairs if pair.score >= _MIN_CONTENT_SCORE)
        self._add_evidence_for([(pair.left, pair.right) for pair in likely], (("content",),))

    # -- values ------------------------------------------------------------------------------

    def _changed_values(self, refreshed: int = _REFRESHED_PER_PAGE) -> list[Ranked]:
        """The values of URLs that changed, and of those valued longest ago."""
        for known in list(islice(self._memory.to_refresh, refreshed)):
            del self._memory.to_refresh[known]
            self._memory.to_refresh[known] = None
            if known.edit_rules is not self._memory.edit_rules:
                self._predict_translations(known)
            self._matches.changed[known] = None
        ranked = [Ranked(link, _OVERFLOW_VALUE) for link in self._memory.overflow]
        self._memory.overflow.clear()
        for known in self._matches.changed:
            if known.state is not State.PENDING:
                continue
            value = rounded_value(self._values.value(known))
            if value != known.value or not known.is_ranked:
                ranked.append(Ranked(Link(known.url), value, lowers=True))
                self._memory.pending_value += value - known.value
                known.value, known.is_ranked = value, True
        self._matches.changed.clear()
        return ranked
