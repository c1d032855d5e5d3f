"""Page pairs found during the crawl: candidates, verification requests and decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from zlib import crc32

from diptych.reason import fault_type
from diptych.stages.crawl.hybrid.known_urls import Kinds, KnownUrl, KnownUrls, State
from diptych.stages.crawl.hybrid.value import UrlValues, evidence_name
from diptych.types import UNDECIDED, Decision, PagePair

MAX_VERIFIED = 6  # maximum pairs verified for one page
MIN_PAIR = 0.5  # minimum probability of a rejected pair that the crawl still counts as a pair
MAX_OPEN = 30  # pages not counted yet; when there are more, the oldest counts as unpaired
MIN_PAIRS = 3  # until this many pairs are found, unpaired pages are not used as evidence
DECLARED = frozenset(("alternate", "hreflang", "name", "sitemap", "sibling", "key"))
"""evidence that can be trusted: it is not taken from the contents of pages"""
CHECKED = 4  # of the pairs with trusted evidence, one in so many is verified all the same


class Matches:
    """Turns candidates into verification requests, and verified candidates into pairs."""

    def __init__(self, values: UrlValues) -> None:
        self._values = values
        self._langs = tuple(values.langs)
        self.tries: Counter[KnownUrl] = Counter()
        self.requested: set[frozenset[KnownUrl]] = set()
        """pairs that were verified, or are being verified"""
        self.open_pages: dict[KnownUrl, None] = {}
        """pages not yet counted in `translation_rates`"""
        self.count = 0
        """number of pairs that were accepted or are probable"""
        self.unpaired = values.unpaired
        self.questions: list[PagePair | None] = []
        self.trusted: list[tuple[PagePair, KnownUrl, KnownUrl]] = []
        """pairs that need not be verified, because their evidence has proved right"""
        self.changed: dict[KnownUrl, None] = {}
        """URLs whose value may have changed"""

    def mark_changed(self, urls: Iterable[KnownUrl]) -> None:
        """Mark URLs whose values must be recomputed."""
        self.changed.update(dict.fromkeys(urls))

    def add(self, known: KnownUrl) -> None:
        """Add a fetched page in a requested language."""
        self.unpaired[known.lang] += 1
        self.open_pages[known] = None
        if self.count >= MIN_PAIRS:
            self._count_page(known)
        while len(self.open_pages) > MAX_OPEN:
            self._count_page(next(iter(self.open_pages)))

    def remove(self, known: KnownUrl) -> None:
        """Remove a page that turned out to be a copy of another page."""
        self.unpaired[known.lang] -= 1
        self.open_pages.pop(known, None)

    def are_in_two_languages(self, one: KnownUrl, other: KnownUrl) -> bool:
        """True if two pages are in different requested languages."""
        return one.lang in self._langs and other.lang in self._langs and one.lang != other.lang

    def may_be_pair(self, one: KnownUrl, other: KnownUrl) -> bool:
        """True if two pages are in different requested languages and both are still available.

        A page is available if it has no partner in the language of the other page.
        """
        is_free = other.lang not in one.partners and one.lang not in other.partners
        return is_free and self.are_in_two_languages(one, other)

    def add_evidence(self, one: KnownUrl, other: KnownUrl, kinds: Kinds) -> None:
        """Record evidence that two URLs may be translations of each other."""
        are_pages = one.state is State.PAGE and other.state is State.PAGE
        if are_pages and not self.may_be_pair(one, other):
            return
        if frozenset((one, other)) in self.requested:
            return
        if KnownUrls.add_evidence(one, other, kinds):
            self.mark_changed((one, other))
            self.request_verification(one)

    def refute(self, one: KnownUrl, other: KnownUrl) -> None:
        """Drop a candidate pair and count its evidence as wrong."""
        if other.lang not in one.partners and one.lang not in other.partners:
            self._count_evidence(one, other, 0.0)
        KnownUrls.remove_evidence(one, other)
        self.mark_changed((one, other))
        self.request_again((one, other))

    def refute_all(self, known: KnownUrl) -> None:
        """Drop all candidates of a URL and count their evidence as wrong."""
        for other in list(known.candidates):
            self.refute(known, other)

    def drop_all(self, known: KnownUrl) -> None:
        """Drop all candidates of a URL without counting their evidence."""
        others = list(known.candidates)
        for other in others:
            KnownUrls.remove_evidence(known, other)
            self.mark_changed((known, other))
        self.request_again(others)

    def request_again(self, urls: Iterable[KnownUrl]) -> None:
        """Call `request_verification` again for URLs whose pairs may have had to wait."""
        for known in urls:
            self.request_verification(known)

    def _count_evidence(self, one: KnownUrl, other: KnownUrl, right: float) -> None:
        """Count each piece of evidence for a pair as a success with probability `right`."""
        for kinds in self._values.evidence(one, other) if other in one.candidates else ():
            self._values.count_evidence(kinds, right)

    def _count_proofs(self, one: KnownUrl, other: KnownUrl, *, is_accepted: bool) -> None:
        """Count each declaration for a pair that was verified."""
        for kinds in self._values.evidence(one, other) if other in one.candidates else ():
            if evidence_name(kinds) in DECLARED:
                self._values.count_proof(kinds, is_accepted=is_accepted)

    def request_verification(self, known: KnownUrl) -> None:
        """Request verification of a page's most probable pair in each language.

        Both pages must have been fetched.  A pair must wait if either page has a more probable
        candidate that has not been fetched yet.
        """
        if known.state is not State.PAGE:
            return
        ready = [
            (self._values.pair_probability(known, other), other.url, other)
            for other in known.candidates
            if other.state is State.PAGE and self.may_be_pair(known, other)
        ]
        for probability, _, other in sorted(ready, key=lambda each: (-each[0], each[1])):
            is_tried = max(self.tries[known], self.tries[other]) >= MAX_VERIFIED
            if is_tried or not self.may_be_pair(known, other):
                continue
            if not self._awaits_better(known, other, probability):
                self._request(known, other)

    def _awaits_better(self, one: KnownUrl, other: KnownUrl, probability: float) -> bool:
        """True if either page has a more probable candidate that has not been fetched yet."""
        values = self._values
        for page, lang in ((one, other.lang), (other, one.lang)):
            for candidate in page.candidates:
                if candidate.state is State.PENDING and values.likely_language(candidate) == lang:
                    better = values.pair_probability(page, candidate) * values.chance(candidate)
                    if better > probability:
                        return True
        return False

    def _request(self, one: KnownUrl, other: KnownUrl) -> None:
        if self._langs.index(one.lang) > self._langs.index(other.lang):
            one, other = other, one
        self.requested.add(frozenset((one, other)))
        for known in (one, other):
            self.tries[known] += 1
            self.unpaired[known.lang] -= not known.partners
        one.partners[other.lang], other.partners[one.lang] = other, one
        names = "+".join(sorted({evidence_name(kinds) for kinds in one.candidates[other]}))
        score = self._values.pair_probability(one, other)
        pair = PagePair(one.url, other.url, one.lang, other.lang, score, names)
        if self._is_trusted(one, other):
            self.trusted.append((pair, one, other))
        else:
            self.questions.append(pair)
        self.mark_changed([*one.candidates, *other.candidates])

    def _is_trusted(self, one: KnownUrl, other: KnownUrl) -> bool:
        """True if a pair need not be verified, because evidence of its kind has proved right.

        Which pairs are verified nevertheless depends on their URLs only, so that a restored guide
        verifies the same ones.
        """
        if crc32(f"{one.url} {other.url}".encode()) % CHECKED == 0:
            return False
        evidence = self._values.evidence(one, other)
        declared = (kinds for kinds in evidence if evidence_name(kinds) in DECLARED)
        return any(map(self._values.is_proved, declared))

    def accept_trusted(self) -> list[PagePair]:
        """Accept the pairs with trusted evidence, and return them.

        They do not count as evidence, and their links were not aligned.
        """
        trusted, self.trusted = self.trusted, []
        for pair, one, other in trusted:
            self._accept(one, other, pair.score)
        return [pair for pair, _, _ in trusted]

    def accept(self, one: KnownUrl, other: KnownUrl) -> None:
        """Record that the verifier accepted a pair."""
        self._count_proofs(one, other, is_accepted=True)
        self._accept_verified(one, other, 1.0)

    def _accept_verified(self, one: KnownUrl, other: KnownUrl, right: float) -> None:
        """Record two pages as a verified pair that is correct with probability `right`."""
        self._count_evidence(one, other, right)
        one.is_aligned = other.is_aligned = True
        self._accept(one, other, right)

    def _accept(self, one: KnownUrl, other: KnownUrl, right: float) -> None:
        KnownUrls.remove_evidence(one, other)
        for known in (one, other):
            if not known.is_counted:
                known.is_counted = True
                self._count_page(known)
                self._values.count_translation(known.kinds, right)
            self.mark_changed(known.candidates)
        self.count += 1
        self._values.has_pairs = True
        if self.count == MIN_PAIRS:
            self.count_all_pages()

    def reject(self, one: KnownUrl, other: KnownUrl, prior: float, decision: Decision) -> None:
        """Record that the verifier rejected a pair or left it undecided.

        `prior` is the probability of the pair before verification.  If a rejected pair is still
        probable given `prior` and the verifier's score, it is accepted after all, because a
        verifier without a lexicon is often unsure; but it does not prove its evidence.
        """
        right = posterior(prior, decision.score)
        if decision.reason not in UNDECIDED and not fault_type(decision.reason):
            self._count_proofs(one, other, is_accepted=False)
            if right >= MIN_PAIR:
                return self._accept_verified(one, other, right)
            self._count_evidence(one, other, right)
        KnownUrls.remove_evidence(one, other)
        one.partners.pop(other.lang, None)
        other.partners.pop(one.lang, None)
        for known in (one, other):
            self.unpaired[known.lang] += not known.partners
            self.mark_changed(known.candidates)
        self.request_verification(one)
        self.request_verification(other)

    def _count_page(self, known: KnownUrl) -> None:
        """Count a page in `translation_rates`, unless it is already counted."""
        if known in self.open_pages:
            del self.open_pages[known]
            self._values.count_page(known.kinds)

    def count_all_pages(self) -> None:
        """Count all pages in `translation_rates` that are not counted there yet."""
        for known in list(self.open_pages):
            self._count_page(known)


def posterior(prior: float, score: float) -> float:
    """Update a prior probability with a verifier's score, which assumes a prior of 0.5.

    >>> round(posterior(0.5, 0.2), 2), round(posterior(0.9, 0.2), 2), round(posterior(0.9, 0.01), 2)
    (0.2, 0.69, 0.08)
    """
    both, neither = prior * score, (1 - prior) * (1 - score)
    return both / (both + neither) if both + neither else 0.0
