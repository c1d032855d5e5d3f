"""The value of a URL: expected page pairs per download, from rates measured on the site."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from diptych.stages.crawl.hybrid.contexts import Contexts
from diptych.stages.crawl.hybrid.known_urls import Kinds, KnownUrl, State
from diptych.stages.crawl.hybrid.language_guess import OTHER, Guess, LanguageGuesser
from diptych.stages.crawl.hybrid.link_yield import LinkYields
from diptych.stages.crawl.hybrid.page_chance import PageChances
from diptych.stages.crawl.hybrid.rates import Rates
from diptych.types import Url

PRIOR_RIGHT = {
    "alternate": 0.9, "hreflang": 0.85, "name": 0.6, "sitemap": 0.9, "sibling": 0.8,
    "aligned": 0.8, "near": 0.4, "contrary": 0.3, "key": 0.8, "guess": 0.5,
    "url_model": 0.5, "content": 0.7, "rank": 0.3,
}  # fmt: skip
"""for each kind of evidence, the share assumed to be correct before any evidence is counted"""
PRIOR_TRANSLATED = 0.5  # share of pages that have a translation, before any is counted
_IGNORED_SURPLUS = 3  # a surplus of unpaired pages in one language up to this is ignored
_DEAD = 0.5  # probability of a page below which URLs of a kind come last
_MIN_PROOFS = 20  # pieces of evidence of a kind that were verified before it can be trusted
_PROVED = 0.95  # minimum share of them that the verifier accepted
_CACHED = 1 << 14  # URLs whose sections are kept: each is looked up many times while it is pending
VALUE_STEP = 1.05  # ratio of two adjacent values; smaller differences do not count


class UrlValues:
    """Computes the values of URLs, and keeps the rates on which they are based."""

    def __init__(self, langs: Sequence[str], weight: float) -> None:
        self.langs = langs
        self.languages = LanguageGuesser(langs)
        self.evidence_rates = Rates(weight)
        """share of the evidence of each kind that was correct"""
        self.proofs = Rates(weight)
        """share of the verified pairs with evidence of each kind that the verifier accepted"""
        self.translation_rates = Rates(weight)
        """share of the pages of each kind that had a translation"""
        self.contexts = Contexts()
        self.pages = PageChances(fading=5.0)  # most kinds of URLs are either all pages or none
        """probabilities that URLs are new pages"""
        self.texts = PageChances()
        """probabilities that pages have text of their own"""
        self.yields = LinkYields()
        self.has_pairs = False
        """True once a pair has been found"""
        self.best = 0.5
        """value of the best pending URL, not counting its links"""
        self.unpaired: Counter[str] = Counter(dict.fromkeys(langs, 0))
        """number of pages without any translation, by language"""
        self._right: dict[Kinds, float] = {}
        """cache, valid until the next evidence is counted: kinds -> probability that it is right"""
        self._translated: dict[tuple[str, str], float] = {}
        """cache, valid until the next page is counted: section and language -> translation rate"""

    def evidence(self, one: KnownUrl, other: KnownUrl) -> Sequence[Kinds]:
        """The evidence that two URLs are a pair, marked as `contrary` if a key contradicts it."""
        found = one.candidates[other]
        if not one.expected and not other.expected:
            return found
        if any(evidence_name(kinds) in ("key", "guess") for kinds in found):
            return found
        if self._is_contrary(one, other) or self._is_contrary(other, one):
            return [(("contrary",), ("contrary", evidence_name(kinds))) for kinds in found]
        return found

    def _is_contrary(self, one: KnownUrl, other: KnownUrl) -> bool:
        """True if keys predict a URL other than `other` for the translation of `one`."""
        if not one.expected:
            return False
        expected = one.expected.get(self.likely_language(other))
        return expected is not None and expected != other.url

    def count_evidence(self, kinds: Kinds, right: float) -> None:
        """Count a piece of evidence as a success with probability `right`."""
        self.evidence_rates.add_trial(kinds)
        self.evidence_rates.add_success(kinds, right)
        self._right.clear()

    def pair_probability(self, one: KnownUrl, other: KnownUrl) -> float:
        """The probability that two URLs are a pair, according to the strongest evidence."""
        return max(map(self._right_probability, self.evidence(one, other)))

    def count_proof(self, kinds: Kinds, *, is_accepted: bool) -> None:
        """Count a piece of evidence for a pair that the verifier has accepted or rejected.

        Probabilities do not count here: they depend on the evidence, which would prove itself.
        """
        self.proofs.add_trial(kinds)
        self.proofs.add_success(kinds, float(is_accepted))

    def is_proved(self, kinds: Kinds) -> bool:
        """True if many pairs with evidence of these kinds were verified, and nearly all accepted.

        The rate of a section counts too, once pairs were verified there.
        """
        is_known = self.proofs.trials.get(kinds[0], 0) >= _MIN_PROOFS
        return is_known and self.proofs.rate(kinds, PRIOR_RIGHT[evidence_name(kinds)]) >= _PROVED

    def _right_probability(self, kinds: Kinds) -> float:
        """The probability that evidence of these kinds is right."""
        known = self._right.get(kinds)
        if known is None:
            prior = PRIOR_RIGHT[evidence_name(kinds)]
            known = self._right[kinds] = self.evidence_rates.rate(kinds, prior)
        return known

    def guess_rate(self, known: KnownUrl) -> float:
        """The estimated share of correct guesses among URLs guessed for the section of `known`."""
        kinds = ("guess",), ("guess", section(known.url))
        return self.evidence_rates.rate(kinds, PRIOR_RIGHT["guess"])

    def likely_language(self, known: KnownUrl) -> str:
        """The language of a fetched page, or the probable language of a URL; "" if uncertain."""
        if known.state is State.PAGE:
            return known.lang
        return self.languages.guess(known.features, known.first_guess).likeliest

    def page_kinds(self, known: KnownUrl, lang: str) -> Kinds:
        """The kinds under which `translation_rates` counts a page, followed by its context."""
        place = section(known.url)
        folder = place.partition("/")[2].partition("/")[0]
        return ("site",), (lang,), (lang, folder), (lang, folder, place), (_context(known),)

    def translation_probability(self, known: KnownUrl, lang: str) -> float:
        """The probability that a page in `lang` is translated, given its section and context."""
        place = section(known.url), lang
        rate = self._translated.get(place)
        if rate is None:
            kinds = self.page_kinds(known, lang)[:-1]
            rate = self._translated[place] = self.translation_rates.rate(kinds, PRIOR_TRANSLATED)
        return rate * self.contexts.factor(_context(known))

    def count_answer(self, features: Sequence[int], *, is_page: bool, text: float = 0.0) -> None:
        """Count the response for a URL with these features as a new page or as a failure.

        For a new page, `text` is the amount of new text, from 0 (none) to 1 (enough).
        """
        self.pages.add(features, float(is_page))
        if is_page:
            self.texts.add(features, text)

    def count_page(self, kinds: Kinds) -> None:
        """Count a page as a trial: it may or may not have a translation."""
        *places, context = kinds
        rate = self.translation_rates.rate(places, PRIOR_TRANSLATED)
        self.contexts.add_page(evidence_name((context,)), rate)
        self.translation_rates.add_trial(places)
        self._translated.clear()

    def count_translation(self, kinds: Kinds, right: float) -> None:
        """Count a page whose translation is correct with probability `right`."""
        if kinds:  # a restored guide may have lost the page
            self.contexts.add_translation(evidence_name(kinds[-1:]), right)
            self.translation_rates.add_success(kinds[:-1], right)
            self._translated.clear()

    def value(self, known: KnownUrl) -> float:
        """The value of a URL, excluding the value of its links."""
        return self.value_and_links(known)[0]

    def value_and_links(self, known: KnownUrl) -> tuple[float, float]:
        """The pairs expected per download: from the page itself, and from its links.

        A page that completes a pair counts as 1, and any other half of a pair as 0.5.  Before the
        first pair is found, the order is breadth-first, except that URLs that are probably not
        pages come last.
        """
        guess = self.languages.guess(known.features, known.first_guess)
        value, chance = self._value_of_page(known, guess), self.pages.chance(known.features)
        if not self.has_pairs:
            return (chance if chance < _DEAD else 1.0) * value, 0.0
        own = chance * self.texts.chance(known.features) * value
        if known.found_by == "guess":
            return own, 0.0
        return own, chance * self.yields.expected(known.url, guess.likeliest, self.best)

    def chance(self, known: KnownUrl) -> float:
        """The probability that a URL is a new page with text of its own."""
        return self.pages.chance(known.features) * self.texts.chance(known.features)

    def _value_of_page(self, known: KnownUrl, guess: Guess) -> float:
        """The value of a URL if it is a new page, given its language probabilities."""
        by_evidence = 0.0
        if known.candidates:
            pairs = sum(self._expected_pairs(known, guess).values())
            by_evidence = min(pairs, len(self.langs) - 1)
        if known.found_by == "guess":
            return by_evidence
        own = guess.asked
        translated = self.translation_probability(known, own) * self._completion_probability(own)
        return max(by_evidence, guess.wanted * translated * (len(self.langs) - 1))

    def _completion_probability(self, lang: str) -> float:
        """The probability that a page in this language completes a pair: roughly one half.

        It is higher if the language has fewer unpaired pages than the others, and lower if it has
        more.  Thus all languages are fetched evenly until there is evidence of pairs.
        """
        own = self.unpaired[lang]
        others = (sum(self.unpaired.values()) - own) / (len(self.langs) - 1)
        surplus = max(0.0, abs(others - own) - _IGNORED_SURPLUS)
        # Less than half, so that URLs with evidence come first.
        return 0.48 + math.copysign(0.3 * surplus / (surplus + 5), others - own)

    def _expected_pairs(self, known: KnownUrl, guess: Guess) -> dict[str, float]:
        """The expected number of pairs given the evidence, by language of the other page.

        `guess` contains the language probabilities of the URL.  Evidence counts in full unless the
        page is probably in a language that cannot form a pair.
        """
        found: dict[str, float] = {}
        own, wanted, shares = guess.asked, guess.wanted, guess.shares
        for other in known.candidates:
            is_page = other.state is State.PAGE
            lang = self.likely_language(other)
            if lang == OTHER or (is_page and (not lang or own in other.partners)):
                continue
            value = self.pair_probability(known, other)
            value *= min(1.0, 2 * max(0.0, wanted - shares.get(lang, 0.0)))
            if not is_page:  # it is fetched next, unless this page is in another language
                value *= self.chance(other) / (1 + wanted)
            found[lang] = max(value, found.get(lang, 0.0))
        return found


def _context(known: KnownUrl) -> str:
    """The name of a page's context, which summarises what is known apart from its section."""
    if known.candidates:
        return "with_candidates"
    if known.has_unlinked_prediction:
        return "unlinked_prediction"
    is_from_aligned = known.source is not None and known.source.is_aligned
    return "unaligned" if is_from_aligned else known.found_by


def evidence_name(kinds: Kinds) -> str:
    """The name of a piece of evidence, which is the first part of its most general kind.

    >>> evidence_name((("aligned",), ("aligned", 7)))
    'aligned'
    """
    first = kinds[0]
    return str(first[0]) if isinstance(first, tuple) else str(first)


def rounded_value(value: float) -> float:
    """Round a value, so that URLs with nearly equal values keep their order of discovery.

    >>> rounded_value(0.5) == rounded_value(0.501), rounded_value(0.5) < rounded_value(0.6)
    (True, True)
    >>> rounded_value(0.0)
    0.0
    """
    return VALUE_STEP ** round(math.log(value, VALUE_STEP)) if value > 0.0 else 0.0


@lru_cache(maxsize=_CACHED)
def section(url: Url) -> str:
    """The section of a site to which a URL belongs: host, two folders and parameter names.

    >>> section("http://x.org/doc/fr/a/b.html"), section("http://x.org/view?id=7&lang=fr")
    ('x.org/doc/fr?', 'x.org?id&lang')
    """
    address, _, query = url.partition("?")
    names = "&".join(item.partition("=")[0] for item in query.split("&"))
    return "/".join(address.split("/")[2:-1][:3]) + f"?{names}"
