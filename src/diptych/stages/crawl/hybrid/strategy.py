"""The guided crawl: each URL has one value, computed from all evidence so far.

Evidence that two URLs are a pair comes from declarations of the site (hreflang, switchers,
sitemaps), keys, URL models, and links that were aligned in earlier pairs.  The reliability of this
evidence is measured on the site itself.  The value of a URL is the number of pairs expected per
download; the two halves of a pair are fetched together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from diptych.page.distinct import content_of
from diptych.page.template import block_keys
from diptych.protocols import Guide, SiteView
from diptych.reason import fault_type
from diptych.stages.crawl.hybrid.known_urls import Kinds, KnownUrl, State
from diptych.stages.crawl.hybrid.language_guess import OTHER, link_features, text_languages
from diptych.stages.crawl.hybrid.memory import MILLION, Memory
from diptych.stages.crawl.hybrid.ranking import Ranking
from diptych.stages.crawl.hybrid.snapshot import write_snapshot
from diptych.stages.crawl.hybrid.snapshot_reading import read_snapshot
from diptych.stages.crawl.hybrid.translations import Translations
from diptych.stages.crawl.hybrid.value import section
from diptych.text.aliases import rules_between
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

_MAX_NAME_LINKS = 2  # a page that more pages link to by a language name is a home page
_MIN_CONTENT_SCORE = 0.5  # minimum score of a pair from pairing by content
_LINKS_AT_A_TIME = 300  # links read at a time
_MAX_UNREAD = 20_000  # links that may wait, to bound memory and snapshots
_MIN_BUDGET = 40  # downloads after which a site without any pair is given up
_BUDGET_PER_PAGE = 4  # additional downloads per page in the language with the fewest pages
_MAX_BUDGET = 400
_ENOUGH_TEXT = 300  # letters that no other page has


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Fetches URLs in order of expected pairs per download.

    The two halves of a pair are fetched together.
    """

    weight: float = 3.0
    """weight of prior rates against rates observed on the site, as a number of trials"""
    models: bool = True
    """True to use the URL models where the site itself gives no evidence"""

    def guide(self, langs: Sequence[str]) -> Guide:
        """Create a guide for a new crawl."""
        return _HybridGuide(self, Memory(tuple(langs), self.weight))

    def restored(self, langs: Sequence[str], snapshot: object) -> Guide:
        """Restore a guide from a snapshot."""
        return _HybridGuide(self, read_snapshot(snapshot, tuple(langs), self.weight))


class _HybridGuide:
    """Guides the crawl of one site."""

    def __init__(self, policy: Hybrid, memory: Memory) -> None:
        self._memory = memory
        self._translations = Translations(memory, has_models=policy.models)
        self._ranking = Ranking(memory, self._translations)
        self._urls = memory.urls
        self._values = memory.values
        self._matches = memory.matches
        self._languages = memory.values.languages
        self._langs = tuple(memory.values.langs)

    # -- events ---------------------------------------------------------------------------------

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Process a fetched page and rank the URLs whose values are new or changed."""
        known = self._add_page(page)
        if known is not None:
            self._values.yields.add_page(known.url, known.lang)
            self._memory.add_unread(known, page.links)
        self._read_more_links()
        if known is not None:
            self._translations.predict(known)  # for a page, also URLs that nothing links to
            self._translations.compare_with_all([known])
            self._matches.request_verification(known)
            self._request_pairing()
        is_sitemap = any(link.rel == "sitemap" for link in page.links[:1])
        return self._ranking.changed(is_news=not is_sitemap)

    def learn(self, event: CrawlEvent, site: SiteView) -> Iterable[Ranked]:
        """Process an event and rank the URLs whose values are new or changed."""
        match event:
            case Missing():
                self._remove(self._urls.get(event.url), is_fault=bool(fault_type(event.reason)))
            case Moved():
                self._move(event)
            case VerifiedPair():
                self._take_decision(event)
            case PairingResult():
                self._take_pairs(event)
        self._read_more_links()
        return self._ranking.changed()

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        """Read all remaining links and rank the URLs whose values are new or changed."""
        while self._memory.unread_links:
            self._read_more_links()
        return self._ranking.changed()

    def questions(self) -> Sequence[PagePair | None]:
        """Return the new pairs to be verified; an entry of None requests pairing of all pages."""
        questions, self._matches.questions = self._matches.questions, []
        return questions

    def outlook(self) -> Outlook:
        """The number of pairs found so far, the number still expected, and the download budget."""
        pages = self._languages.total
        rarest = min(self._langs, key=lambda lang: pages.get(lang, 0))
        budget = min(_MAX_BUDGET, _MIN_BUDGET + _BUDGET_PER_PAGE * pages.get(rarest, 0))
        return Outlook(self._matches.count, self._memory.pending_value / MILLION, budget)

    def snapshot(self) -> object:
        """Return the state of the guide, without pending questions, as plain data."""
        return write_snapshot(self._memory)

    # -- pages -------------------------------------------------------------------------------

    def _add_page(self, page: Page) -> KnownUrl | None:
        """Add a fetched page and return its entry; None if it is a copy of another page."""
        known = self._entry_of(page.url)
        if known.state is State.PAGE:
            return known
        lang = self._languages.asked_or_other(page.lang)
        known.kinds = self._values.page_kinds(known, lang)
        known.state, known.lang = State.PAGE, lang
        self._forget_pending(known)
        if lang or known.features:  # otherwise it may be a sitemap
            self._languages.learn(known.features, lang or OTHER)  # without words it makes no pair
        if lang in self._langs:
            self._matches.add(known)
            self._memory.to_refresh[known] = None
        same = self._memory.digests.setdefault(content_of(page.record), known)
        if same is not known:
            self._add_copy(known, same)
            # An untranslated copy still leads to pages of its own language.
            new = tuple(link for link in page.links if self._urls.get(link.url) is None)
            self._memory.add_unread(same, new)
            return None
        if lang or known.features:
            self._values.count_answer(known.features, is_page=True, text=self._own_text(page))
        for other in list(known.candidates):
            if other.state is State.PAGE and not self._matches.are_in_two_languages(known, other):
                self._matches.refute(known, other)
        self._matches.mark_changed(known.candidates)
        return known

    def _entry_of(self, url: Url) -> KnownUrl:
        """Return the entry for a fetched URL.

        A new entry is added if the URL is unknown, was an alias, or was not a page before.
        """
        self._urls.same.pop(url, None)
        known = self._urls.get(url)
        if known is None or known.state is State.GONE:
            known = self._urls.add(KnownUrl(url))
        return known

    def _add_copy(self, known: KnownUrl, same: KnownUrl) -> None:
        """Merge a copy of a page into the entry for the original."""
        self._count_nothing_new(known, same)
        if known.lang or known.features:
            self._languages.uncount(known.lang or OTHER)
        others = list(known.candidates)
        self._merge(known, same)
        if self._memory.to_refresh.pop(known, True) is None:
            self._matches.remove(known)
        self._matches.mark_changed([same, *same.candidates])
        self._matches.request_again([same, *others])

    def _count_nothing_new(self, known: KnownUrl, same: KnownUrl) -> None:
        """Count `known` as a failure, because it only led to `same`, a page already known.

        It is not counted if the two URLs differ only in spelling.
        """
        rules = rules_between(known.url, same.url) or rules_between(same.url, known.url)
        if not rules or any(rule.startswith("without ?") for rule in rules):
            self._values.count_answer(known.features, is_page=False)

    def _own_text(self, page: Page) -> float:
        """The amount of new text on a page, from 0 (none) to 1 (enough)."""
        blocks = block_keys(page)
        if blocks is None:
            return 1.0 if page.lang else 0.0
        return min(1.0, self._memory.new_letters(blocks) / _ENOUGH_TEXT)

    def _read_more_links(self) -> None:
        """Read a limited number of queued links, so that long link lists do not block the crawl."""
        while self._memory.unread_links:
            self._read_links(*self._memory.take_unread(_LINKS_AT_A_TIME))
            if self._memory.unread <= _MAX_UNREAD:
                break

    def _read_links(self, known: KnownUrl, links: tuple[Link, ...]) -> None:
        """Add the link targets of a page or sitemap, and evidence of pairs.

        The evidence comes from the languages that the links declare for their targets.
        """
        model, said = self._translations.languages_of(links), self._languages_of_texts(links)
        groups: list[dict[str, KnownUrl]] = [{}]
        targets: dict[KnownUrl, None] = {}
        for link in links:
            if link.rel not in FOLLOWED or link.url == known.url:
                continue
            lang, how = self._languages.declared(link)
            guesses = model.get(link.url, {}), said.get(link.url, "")
            target = self._target_of(link, known, lang, *guesses)
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
        for group in groups:  # a page that offers several languages also names its own language
            for one, other in combinations(group.values(), 2):
                self._matches.add_evidence(one, other, ((kind,), (kind, section(other.url))))
        self._translations.compare_with_links(known, targets)

    def _languages_of_texts(self, links: Sequence[Link]) -> dict[Url, str]:
        """Map each new URL among the links to the language of the text of its first link."""
        new: dict[Url, Link] = {}
        for link in () if self._urls.is_full else links:
            if link.rel in FOLLOWED and self._urls.get(link.url) is None:
                new.setdefault(link.url, link)
        return dict(zip(new, text_languages([*new.values()], self._langs), strict=True))

    def _kinds_of_declaration(self, target: KnownUrl, how: str) -> Kinds:
        """The evidence kinds of a link that declares the language of its target.

        `how` is the method of declaration: `alternate`, `hreflang` or `name`.
        """
        if how == "alternate":
            return (("alternate",), ("alternate", section(target.url)))
        self._memory.name_links[target] = self._memory.name_links.get(target, 0) + 1
        is_common = self._memory.name_links[target] > _MAX_NAME_LINKS
        return ((how,), (how, "common" if is_common else "seldom"))

    def _target_of(
        self, link: Link, source: KnownUrl, declared: str, model: dict[str, float], said: str
    ) -> KnownUrl | None:
        """Return the entry for a link's target; add an entry if the target is new.

        Return None if the limit on known URLs is reached.  `source` is the linking page, `declared`
        is the language that the link declares, and `model` contains the language probabilities from
        the URL language model.  `said` is the language of the link's text.
        """
        known = self._urls.get(link.url)
        if known is not None:
            if known.found_by == "guess" and known.state is State.PENDING:
                known.found_by, known.source = "link", source
                self._memory.guesses -= 1
                self._matches.changed[known] = None
            if declared and known.state is State.PENDING:
                self._languages.declare(known, declared)
            return known
        if self._urls.is_full:
            self._memory.overflow.append(link)
            return None
        found_by = "sitemap" if link.rel == "sitemap" else "link"
        source_lang = source.lang if found_by == "link" else ""
        # The feature that the first guess is based on comes last: its counts correct the guess.
        features = [*link_features(link), f"u:{link.rel} {source.url}"]
        if said:
            features.append(f"t:{said}")
            features.append(f"t:{said} {features[2]}")
        features.append(f"d:{declared}" if declared else f"s:{source_lang}")
        ids = self._languages.feature_ids(features)
        first = self._languages.first_guess(declared, source_lang, model)
        return self._add_url(KnownUrl(link.url, source, found_by, ids, first))

    def _add_url(self, known: KnownUrl) -> KnownUrl:
        self._memory.to_refresh[known] = self._matches.changed[known] = None
        self._translations.predict(known)
        return self._urls.add(known)

    # -- URLs that are not pages -------------------------------------------------------------

    def _remove(self, known: KnownUrl | None, *, is_fault: bool = False) -> None:
        """Drop a pending URL that returned no page, and count it as a failure.

        It is not counted if `is_fault` is set, i.e. if the cause was an internal error.
        """
        if known is None or known.state is not State.PENDING:
            return
        known.state = State.GONE
        self._forget_pending(known)
        if not is_fault:
            self._values.count_answer(known.features, is_page=False)
        is_guess = known.found_by == "guess" and not is_fault
        (self._matches.refute_all if is_guess else self._matches.drop_all)(known)

    def _move(self, event: Moved) -> None:
        known, target = self._urls.get(event.url), self._urls.get(event.target)
        if known is None or known.state is not State.PENDING or known is target:
            return self._remove(known)  # also a circular redirect
        new = KnownUrl(
            event.target, known.source, known.found_by, known.features, known.first_guess
        )
        target = self._add_url(new) if target is None else target
        self._memory.guesses += known.found_by == "guess" and target is new
        self._forget_pending(known)
        if target is not new:
            self._count_nothing_new(known, target)
        others = list(known.candidates)
        self._merge(known, target, is_new=target is new)
        self._matches.mark_changed([target, *target.candidates])
        self._matches.request_again([target, *others])

    def _merge(self, known: KnownUrl, target: KnownUrl, *, is_new: bool = False) -> None:
        """Transfer the candidates of a URL to the URL that it redirects to or is a copy of."""
        # A guess that leads to a known URL was wrong: many servers redirect missing pages.
        if known.found_by == "guess" and not is_new:
            self._matches.refute_all(known)
        self._urls.move(known, target)

    def _forget_pending(self, known: KnownUrl) -> None:
        self._memory.guesses -= known.found_by == "guess"
        self._ranking.forget(known)
        self._memory.to_refresh.pop(known, None)
        self._matches.changed.pop(known, None)

    # -- pairs -------------------------------------------------------------------------------

    def _take_decision(self, event: VerifiedPair) -> None:
        """Process the verifier's decision on a pair."""
        pair = event.pair
        one, other = self._urls.get(pair.left), self._urls.get(pair.right)
        if one is None or other is None:
            return
        if event.decision.accept:
            self._matches.accept(one, other)
            self._translations.add_pair(pair)
        else:
            self._matches.reject(one, other, pair.score, event.decision)
        kind = "aligned" if event.decision.accept else "near"
        self._add_evidence_for(event.links, ((kind,), (kind, len(self._memory.pairs))))

    def _add_evidence_for(self, urls: Iterable[tuple[Url, Url]], kinds: Kinds) -> None:
        """Record evidence for each pair in `urls` if both URLs of the pair are known."""
        for left, right in urls:
            one, other = self._urls.get(left), self._urls.get(right)
            if one is not None and other is not None:
                self._matches.add_evidence(one, other, kinds)

    def _request_pairing(self) -> None:
        """Request pairing of all pages by content once enough pages are unpaired."""
        unpaired = sorted(self._matches.unpaired.values())
        second = unpaired[-2] if len(unpaired) > 1 else 0
        if not self._memory.is_pairing and second >= self._memory.next_pairing:
            self._memory.next_pairing = second + 1 + second // 2
            self._memory.is_pairing = True
            self._matches.questions.append(None)
            self._translations.compare_again()

    def _take_pairs(self, event: PairingResult) -> None:
        """Process the result of pairing by content."""
        self._memory.is_pairing = False
        if event.pairs is None:
            return
        self._matches.count_all_pages()
        likely = (pair for pair in event.pairs if pair.score >= _MIN_CONTENT_SCORE)
        self._add_evidence_for([(pair.left, pair.right) for pair in likely], (("content",),))
