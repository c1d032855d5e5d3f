"""Predicts the URLs of translations, using the keys of the site and URL models."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from diptych.stages.crawl.hybrid.known_urls import KnownUrl, State
from diptych.stages.crawl.hybrid.language_guess import OTHER, link_features
from diptych.stages.crawl.hybrid.memory import MIN_HELD, Memory
from diptych.stages.crawl.hybrid.url_models import (
    MAX_CANDIDATES,
    MIN_PROBABILITY,
    likely_languages,
    ranked_translations,
)
from diptych.stages.crawl.hybrid.value import section
from diptych.text.url_edits import EditRules, UrlPair, learn_rules
from diptych.text.urls import normalise
from diptych.types import FOLLOWED, Link, PagePair, Url

_MIN_KEY_CONFIDENCE = 0.6  # minimum confidence of a URL that a key predicts
MAX_GUESSES = 20  # maximum pending URLs that nothing links to
_MIN_GUESS_RATE = 0.25  # minimum share of guessed URLs that exist, for more to be tried
_MAX_SCANNED = 2000  # maximum pending URLs scanned for one page
_MAX_COMPARED = 300  # maximum of these in another language that are compared with the page
_MAX_RANK = 2  # maximum compared URLs that become candidates
_COMPARED_AGAIN = 40  # unpaired pages that are compared with URLs found since


class Translations:
    """Predicts the translations of pages and adds them to the candidates of a guide."""

    def __init__(self, memory: Memory, *, has_models: bool) -> None:
        self._memory = memory
        self._has_models = has_models
        self._values = memory.values
        self._matches = memory.matches
        self._langs = tuple(memory.values.langs)

    # -- by models ---------------------------------------------------------------------------

    def languages_of(self, links: Iterable[Link]) -> dict[Url, dict[str, float]]:
        """Map each new URL among the links to its most probable language and the probability.

        The result is empty if URL models are disabled.
        """
        if not self._has_models:
            return {}
        urls = dict.fromkeys(link.url for link in links if link.rel in FOLLOWED)
        new = [url for url in urls if self._memory.urls.get(url) is None]
        return likely_languages(new, self._values.languages.asked_or_other)

    def compare_with_links(self, known: KnownUrl, targets: Iterable[KnownUrl]) -> None:
        """If a page has no candidates, add the link target that is most likely its translation."""
        if self._is_decided(known):
            return
        others = self._in_other_language(known, targets, MAX_CANDIDATES)
        for url, probability in ranked_translations(known.url, list(others))[:1]:
            if probability >= MIN_PROBABILITY:
                self._matches.add_evidence(known, others[url], (("url_model",),))

    def compare_with_all(self, pages: Iterable[KnownUrl]) -> None:
        """For each page without candidates, add the pending URLs most likely to be translations."""
        others: dict[str, dict[Url, KnownUrl]] = {}
        for known in pages:
            if self._is_decided(known):
                continue
            if known.lang not in others:
                scanned = islice(self._memory.to_refresh, _MAX_SCANNED)
                others[known.lang] = self._in_other_language(known, scanned, _MAX_COMPARED)
            compared = others[known.lang]
            ranked = ranked_translations(known.url, list(compared))
            for rank, (url, probability) in enumerate(ranked[:_MAX_RANK], 1):
                is_likely = rank == 1 and probability >= MIN_PROBABILITY
                kinds = (("url_model",),) if is_likely else (("rank",), ("rank", rank))
                self._matches.add_evidence(known, compared[url], kinds)

    def compare_again(self) -> None:
        """Repeat `compare_with_all` for the language with the fewest unpaired pages."""
        rarest = min(self._langs, key=lambda lang: self._matches.unpaired[lang])
        pages = (known for known in self._memory.to_refresh if known.state is State.PAGE)
        alone = (known for known in pages if known.lang == rarest and not known.partners)
        self.compare_with_all(list(islice(alone, _COMPARED_AGAIN)))

    def _is_decided(self, known: KnownUrl) -> bool:
        """True if URL models are disabled, or are not needed to find candidates for this page."""
        is_paired = bool(known.candidates or known.partners)
        return is_paired or not self._has_models or known.lang not in self._langs

    def _in_other_language(
        self, known: KnownUrl, others: Iterable[KnownUrl], most: int
    ) -> dict[Url, KnownUrl]:
        """The first `most` pending URLs in `others` that are probably in another language.

        Only requested languages other than that of `known` are considered.
        """
        own = ("", OTHER, known.lang)
        pending = (other for other in others if other.state is State.PENDING)
        likely = self._values.likely_language
        found = ((other.url, other) for other in pending if likely(other) not in own)
        return dict(islice(found, most))

    # -- by keys -----------------------------------------------------------------------------

    def add_pair(self, pair: PagePair) -> None:
        """Add an accepted pair, from which keys are learned."""
        for known in map(self._memory.urls.get, (pair.left, pair.right)):
            if known is not None and len(known.partners) == len(self._langs) - 1:
                self._memory.to_refresh.pop(known, None)
        langs = pair.left_lang, pair.right_lang
        self._memory.pairs.append(UrlPair(pair.left, pair.right, *langs, pair.score, ""))
        self._learn_keys()

    def _learn_keys(self) -> None:
        """Relearn the site's keys each time the number of its pairs has grown by half."""
        memory = self._memory
        if len(memory.pairs) < memory.next_rules:
            return
        memory.next_rules = len(memory.pairs) + max(1, len(memory.pairs) // 2)
        rules = learn_rules(memory.pairs).rules
        memory.edit_rules = EditRules(tuple(rule for rule in rules if rule.held >= MIN_HELD))

    def predict(self, known: KnownUrl) -> None:
        """Predict the URLs of a page's translations from keys, and add them as candidates."""
        rules = known.edit_rules = self._memory.edit_rules
        lang = known.lang or self._values.likely_language(known)
        if not rules.rules or lang not in self._langs or known.found_by == "guess":
            return
        known.has_unlinked_prediction = False
        known.expected.clear()
        may_guess = known.state is State.PAGE and self._values.guess_rate(known) >= _MIN_GUESS_RATE
        done = set(known.partners)
        for prediction in rules.predict(known.url, lang):
            url, other_lang = normalise(prediction.url), prediction.lang
            is_sure = prediction.confidence >= _MIN_KEY_CONFIDENCE
            if url is None or not is_sure or other_lang in done:
                continue
            known.expected.setdefault(other_lang, url)
            target = self._memory.urls.get(url)
            if target is not None and target.found_by != "guess":
                done.add(other_lang)
                kinds = ("key",), ("key", section(target.url))
                self._matches.add_evidence(known, target, kinds)
            elif target is None and may_guess and self._memory.guesses < MAX_GUESSES:
                done.add(other_lang)
                self._try_guess(known, url, other_lang)
            known.has_unlinked_prediction = not known.candidates

    def _try_guess(self, known: KnownUrl, url: Url, lang: str) -> None:
        """Add the predicted URL of a translation as a candidate, although no page links to it.

        `lang` is the language of the translation.
        """
        memory, languages = self._memory, self._values.languages
        memory.guesses += 1
        features = languages.feature_ids([*link_features(Link(url)), f"g:{lang}"])
        first = languages.first_guess(lang, "", {})
        target = memory.urls.add(KnownUrl(url, known, "guess", features, first))
        memory.to_refresh[target] = None
        self._matches.add_evidence(known, target, (("guess",), ("guess", section(known.url))))
