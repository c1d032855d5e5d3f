"""The value of a URL: expected page pairs per download, from rates counted on the site itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from diptych.stages.crawl.hybrid.known_urls import Kinds, KnownUrl, State
from diptych.stages.crawl.hybrid.language_guess import OTHER, LanguageGuesser
from diptych.stages.crawl.hybrid.rates import Rates
from diptych.types import Url

PRIOR_RIGHT = {
    "alternate": 0.9, "hreflang": 0.85, "name": 0.6, "sitemap": 0.9, "sibling": 0.8,
    "aligned": 0.8, "near": 0.4, "contrary": 0.3, "key": 0.8, "guess": 0.5,
    "url_model": 0.5, "content": 0.7,
}  # fmt: skip
"""share of each kind of evidence that is right, before the site was counted"""
PRIOR_TRANSLATED = 0.5  # share of pages that have a translation, before the site was counted
LESS_TRANSLATED = {"unlinked_prediction": 0.5, "unaligned": 0.6}
"""factors for pages without evidence of a translation where there should be some"""
_IGNORED_SURPLUS = 3  # unpaired pages in one language, more than in others, that mean nothing yet
MIN_LANGUAGE = 0.6  # least probability of the language of a page that was not fetched
VALUE_STEP = 1.05  # ratio of two neighbouring values; smaller differences do not count


class UrlValues:
    """Values of URLs, and the rates they rest on."""

    def __init__(self, langs: Sequence[str], weight: float) -> None:
        self.langs = langs
        self.languages = LanguageGuesser(langs)
        self.evidence_rates = Rates(weight)
        """share of each kind of evidence that was right"""
        self.translation_rates = Rates(weight)
        """share of the pages of a kind that had a translation"""
        self.unpaired: Counter[str] = Counter(dict.fromkeys(langs, 0))
        """pages without any translation, by language"""

    def evidence(self, one: KnownUrl, other: KnownUrl) -> Sequence[Kinds]:
        """The evidence that two URLs are a pair; `contrary` where a key contradicts it."""
        found = one.candidates[other]
        if any(evidence_name(kinds) in ("key", "guess") for kinds in found):
            return found
        if self._is_contrary(one, other) or self._is_contrary(other, one):
            return [(("contrary",), ("contrary", evidence_name(kinds))) for kinds in found]
        return found

    def _is_contrary(self, one: KnownUrl, other: KnownUrl) -> bool:
        """Keys predict another translation for a page."""
        expected = one.expected.get(self.likely_language(other))
        return expected is not None and expected != other.url

    def pair_probability(self, one: KnownUrl, other: KnownUrl) -> float:
        """The probability that two URLs are a pair, by the strongest evidence."""
        return max(
            self.evidence_rates.rate(kinds, PRIOR_RIGHT[evidence_name(kinds)])
            for kinds in self.evidence(one, other)
        )

    def guess_rate(self, known: KnownUrl) -> float:
        """The share of guessed URLs that exist, for pages of the same section."""
        kinds = ("guess",), ("guess", section(known.url))
        return self.evidence_rates.rate(kinds, PRIOR_RIGHT["guess"])

    def likely_language(self, known: KnownUrl) -> str:
        """The language that a page is in, or probably in; nothing if that is open."""
        if known.state is State.PAGE:
            return known.lang
        guess = self.languages.guess(known.features, known.first_guess)
        best = max(guess, key=lambda lang: guess[lang], default="")
        return best if best and guess[best] >= MIN_LANGUAGE else ""

    def page_kinds(self, known: KnownUrl, lang: str) -> Kinds:
        """The kinds under which a page counts in `translation_rates`."""
        context = _context(known)
        return ("site",), (lang,), (lang, context), (lang, context, section(known.url))

    def translation_probability(self, known: KnownUrl, lang: str) -> float:
        """The probability that a page has a translation, by where and how it was found."""
        kinds = self.page_kinds(known, lang)
        factor = LESS_TRANSLATED.get(_context(known))
        factors = {kinds[2]: factor} if factor else None
        return self.translation_rates.rate(kinds, PRIOR_TRANSLATED, factors)

    def value(self, known: KnownUrl) -> float:
        """Expected pairs per download: one if it completes a pair, half of one if not."""
        guess = self.languages.guess(known.features, known.first_guess)
        own = max(self.langs, key=lambda lang: guess.get(lang, 0.0))
        wanted = sum(guess.get(lang, 0.0) for lang in self.langs)
        # Evidence counts in full unless the page is probably in a language nobody asked for.
        pairs = min(sum(self._expected_pairs(known, own).values()), len(self.langs) - 1)
        by_evidence = pairs * min(1.0, 2 * wanted)
        if known.found_by == "guess":
            return by_evidence
        translated = self.translation_probability(known, own) * self._completion_probability(own)
        return max(by_evidence, wanted * translated * (len(self.langs) - 1))

    def _completion_probability(self, lang: str) -> float:
        """The probability that a page completes a pair: about half, more if others are unpaired.

        So all languages are fetched evenly until there is evidence of pairs.
        """
        own = self.unpaired[lang]
        others = (sum(self.unpaired.values()) - own) / (len(self.langs) - 1)
        surplus = max(0.0, abs(others - own) - _IGNORED_SURPLUS)
        # Less than half: URLs with evidence come first.
        return 0.48 + math.copysign(0.3 * surplus / (surplus + 5), others - own)

    def _expected_pairs(self, known: KnownUrl, own: str) -> dict[str, float]:
        """Expected pairs by evidence, by the language of the other half."""
        found: dict[str, float] = {}
        for other in known.candidates:
            is_page = other.state is State.PAGE
            lang = self.likely_language(other)
            if lang == OTHER or (is_page and (not lang or own in other.partners)):
                continue
            value = self.pair_probability(known, other) * (1.0 if is_page else 0.5)
            found[lang] = max(value, found.get(lang, 0.0))
        return found


def _context(known: KnownUrl) -> str:
    """A word for what is known of a page beside its address."""
    if known.candidates:
        return "with_candidates"
    if known.has_unlinked_prediction:
        return "unlinked_prediction"
    is_from_aligned = known.source is not None and known.source.is_aligned
    return "unaligned" if is_from_aligned else known.found_by


def evidence_name(kinds: Kinds) -> str:
    """The name of a kind of evidence.

    >>> evidence_name((("aligned",), ("aligned", 7)))
    'aligned'
    """
    first = kinds[0]
    return str(first[0]) if isinstance(first, tuple) else str(first)


def rounded_value(value: float) -> float:
    """A value in steps, so that of about equal URLs the one known first comes first.

    >>> rounded_value(0.5) == rounded_value(0.501), rounded_value(0.5) < rounded_value(0.6)
    (True, True)
    >>> rounded_value(0.0)
    0.0
    """
    return VALUE_STEP ** round(math.log(value, VALUE_STEP)) if value > 0.0 else 0.0


def section(url: Url) -> str:
    """The part of a site that a URL is in: its host and two folders, and names of parameters.

    >>> section("http://x.org/doc/fr/a/b.html"), section("http://x.org/view?id=7&lang=fr")
    ('x.org/doc/fr?', 'x.org?id&lang')
    """
    address, _, query = url.partition("?")
    names = "&".join(item.partition("=")[0] for item in query.split("&"))
    return "/".join(address.split("/")[2:-1][:3]) + f"?{names}"
