"""Guesses the language of a page before it is fetched, by learning from the site's other pages.

The method is a decision list (Yarowsky 1994): the most informative feature of a link decides.
Features are the folders, host and other parts of the link's URL, its text, and the language of the
linking page.  Before any page is counted, the link's declared language and the URL language model
decide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from diptych.language.codes import asked_language
from diptych.language.identify import identify_all
from diptych.language.switchers import declared_language, names_other_language
from diptych.stages.crawl.hybrid.known_urls import KnownUrl
from diptych.types import Link

OTHER = "*"
"""stands for any language that was not requested"""

_FIRST_GUESS_WEIGHT = 2.0  # weight of a first guess, in pages
_USUAL_WEIGHT = 0.5  # weight of the site's language shares for a feature, in pages
_EVEN_WEIGHT = 3.0  # weight of equal probabilities, in pages
_SAME_AS_PAGE = 0.9  # usual share of links that stay within the language of their page
_SAME_AS_OTHER = 0.98  # the same for pages in a language that was not requested
_DECLARED = 0.9  # share of declared languages that are correct
_MAX_ANCHOR = 30  # characters; longer link texts occur only once
_MAX_FOLDERS = 4
_MIN_TEXT_SCORE = 0.8  # minimum score of the language of a link's text
MIN_LANGUAGE = 0.6  # minimum probability of the language of a page that was not fetched
_WORDS = re.compile(r"[^\W_]+")


def link_features(link: Link) -> list[str]:
    """The features of a link that may indicate the language of its target.

    >>> link_features(Link("http://fr.x.org/doc/a_fr.en.html?lang=fr&id=12", anchor="Suite"))
    ['r:a', 'h:fr', '0:doc', 'd:/doc', 'e:en.html', 'f:a', 'l:en', 'q:lang=fr', 'q:id', 'a:suite']
    """
    rest = link.url.partition("://")[2]
    address, _, query = rest.partition("?")
    host, _, path = address.partition("/")
    *folders, file = path.split("/")
    found = [f"r:{link.rel}", f"h:{host.partition('.')[0]}"]
    found.extend(f"{place}:{name}" for place, name in enumerate(folders[:_MAX_FOLDERS]))
    found.append("d:" + "/".join(["", *folders[:_MAX_FOLDERS]]))
    if any(one == other for one, other in pairwise(folders)):
        found.append("twice")
    if "." in file:
        found.append("e:" + file.partition(".")[2][-_MAX_ANCHOR:])
    pieces = _WORDS.findall(file.rpartition(".")[0] or file)
    if pieces:
        found.append(f"f:{pieces[0]}")
    if len(pieces) > 1:
        found.append(f"l:{pieces[-1]}")
    for item in query.split("&") if query else ():
        name, _, value = item.partition("=")
        found.append(f"q:{item}" if value.isalpha() or "-" in value else f"q:{name}")
    text = (link.anchor or link.alt).casefold()
    if text and len(text) <= _MAX_ANCHOR:
        found.append(f"a:{text}")
    return found


def text_languages(links: Sequence[Link], langs: Sequence[str]) -> list[str]:
    """The language of each link's text or, failing that, of the words in its URL; "" if uncertain.

    The result may be any language, but the requested languages, `langs`, have a higher prior.

    >>> link = Link("http://x.org/de/a", anchor="This is what the new one can do")
    >>> text_languages([link, Link("http://x.org/", anchor="Home")], ["de"])
    ['en', '']
    """
    found = _sure_languages([link.anchor for link in links], langs)
    silent = [place for place, lang in enumerate(found) if not lang]
    names = (links[place].url.partition("?")[0].rstrip("/").rpartition("/")[2] for place in silent)
    words = [re.sub(r"[-_+.\d]+|%20", " ", name) for name in names]
    for place, lang in zip(silent, _sure_languages(words, langs), strict=True):
        found[place] = lang
    return found


def _sure_languages(texts: Sequence[str], langs: Sequence[str]) -> list[str]:
    """The language of each text, or "" if it is uncertain."""
    best = (scores[:1] for scores in identify_all(texts, langs, closed=False))
    sure = ([lang for lang, score in one if score >= _MIN_TEXT_SCORE] for one in best)
    return [lang[0] if lang else "" for lang in sure]


class Guess(NamedTuple):
    """The language probabilities of a page, and what follows from them."""

    shares: dict[str, float]
    """probability of each requested language and of `OTHER`"""
    asked: str
    """the most probable requested language"""
    wanted: float
    """probability that the page is in a requested language"""
    likeliest: str
    """the most probable language if its probability reaches a threshold; otherwise """ ""


@dataclass(slots=True)
class LanguageGuesser:
    """Guesses the languages of pages from link features, based on the site's fetched pages."""

    langs: Sequence[str]
    features: dict[str, int] = field(default_factory=dict)
    """feature -> id"""
    counts: list[dict[str, int]] = field(default_factory=list)
    """feature id -> language -> number of pages"""
    guesses: dict[tuple[float, ...], dict[str, float]] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)
    """language -> number of pages"""
    _by_feature: dict[int, tuple[dict[str, float], float]] = field(default_factory=dict)
    """cache, valid until the next page: feature id -> language probabilities and their
    divergence"""
    _by_last: dict[tuple[int, int], tuple[dict[str, float], dict[str, float], float]] = field(
        default_factory=dict
    )
    """the same for last features, by the id of the first guess that they correct, which comes first
    in the value"""
    _by_counts: dict[frozenset[tuple[str, int]], tuple[dict[str, float], float]] = field(
        default_factory=dict
    )
    """the same for the counts of a feature, which many features share"""
    _guesses: dict[int, Guess] = field(default_factory=dict)
    """the same: id of one of these language probabilities -> what follows from them"""
    _by_url: dict[tuple[int, ...], tuple[dict[str, float], Guess]] = field(default_factory=dict)
    """the same for all features of a URL -> first guess, and guess"""
    _usual: dict[str, float] = field(default_factory=dict)
    """cache, valid until the next page: share of each language among all pages"""

    def asked_or_other(self, lang: str) -> str:
        """The requested language that matches `lang`; `OTHER` if none does, "" if `lang` is ""."""
        if not lang:
            return ""
        return asked_language(lang, self.langs) or OTHER

    def declared(self, link: Link) -> tuple[str, str]:
        """The language that a link declares (requested or `OTHER`), and the kind of declaration."""
        langs = tuple(self.langs)
        declared, how = declared_language(link, langs)
        if not declared and names_other_language(link.anchor or link.alt, langs):
            return OTHER, how
        return self.asked_or_other(declared), how

    def feature_ids(self, features: Iterable[str]) -> tuple[int, ...]:
        """Return the ID of each feature; new features get new IDs."""
        ids = self.features
        for feature in features:
            if feature not in ids:
                ids[feature] = len(self.counts)
                self.counts.append({})
        return tuple(ids[feature] for feature in features)

    def learn(self, features: Iterable[int], lang: str) -> None:
        """Count a page under each of its features; `lang` is a requested language or `OTHER`."""
        self._count(lang, 1)
        for feature in features:
            counts = self.counts[feature]
            counts[lang] = counts.get(lang, 0) + 1

    def uncount(self, lang: str) -> None:
        """Subtract a duplicate page from the total for `lang`, but not from the feature counts."""
        self._count(lang, -1)

    def _count(self, lang: str, pages: int) -> None:
        self.total[lang] = self.total.get(lang, 0) + pages
        self._by_feature.clear()
        self._by_last.clear()
        self._by_counts.clear()
        self._guesses.clear()
        self._by_url.clear()
        self._usual = {}

    def first_guess(self, declared: str, source: str, model: dict[str, float]) -> dict[str, float]:
        """The language probabilities of a URL before any page is counted.

        `declared` is the language that the link declares, and `source` is the language of the
        linking page.  `model` contains the probabilities from the URL language model; their weight
        increases from 0 to 1 as the highest probability increases from 0.5 to 1.
        """
        if declared:
            share = _DECLARED if declared != OTHER else _SAME_AS_OTHER
            return self._interned(self._mostly(declared, share))
        base = self._mostly(source, _SAME_AS_OTHER if source == OTHER else _SAME_AS_PAGE)
        weight = max(0.0, 2 * max(model.values(), default=0.0) - 1)
        mixed = {
            lang: round(weight * model.get(lang, 0.0) + (1 - weight) * probability, 2)
            for lang, probability in base.items()
        }
        return self._interned(mixed)

    def declare(self, known: KnownUrl, lang: str) -> None:
        """Record the language that a link declares for a URL, unless one is already recorded."""
        if known.features and max(known.first_guess.values(), default=0.0) < _DECLARED:
            known.first_guess = self.first_guess(lang, "", {})
            known.features = (*known.features[:-1], *self.feature_ids([f"d:{lang}"]))

    def _interned(self, guess: dict[str, float]) -> dict[str, float]:
        """Return one shared object for all equal guesses, to save memory."""
        return self.guesses.setdefault(tuple(guess.values()), guess)

    def _mostly(self, lang: str, share: float) -> dict[str, float]:
        """Return language probabilities: `share` for `lang`, and the rest divided among the others.

        If `lang` is "", all languages have the same probability.
        """
        langs = (*self.langs, OTHER)
        rest = (1 - share) / (len(langs) - 1)
        return {each: share if each == lang else rest if lang else 1 / len(langs) for each in langs}

    def guess(self, features: tuple[int, ...], first: dict[str, float]) -> Guess:
        """The language probabilities of a page, given the most informative of its features.

        The most informative feature is the one whose language distribution differs most from that
        of the whole site.  `first`, the result of `first_guess`, is the prior for the last item of
        `features`; for all other features, the prior is the distribution of the whole site.
        """
        known = self._by_url.get(features)
        if known is not None and known[0] is first:
            return known[1]
        if not features:
            return self._read(first)
        usual = self._usual = self._usual or self._shares(first)
        last = features[-1], id(first)
        _, best, furthest = self._by_last.get(last) or self._by_first(last, first, usual)
        known_features = self._by_feature
        for feature in features[:-1]:
            shares, divergence = known_features.get(feature) or self._by_one(feature, usual)
            if divergence > furthest:
                best, furthest = shares, divergence
        guess = self._guesses.get(id(best))
        if guess is None:
            guess = self._guesses[id(best)] = self._read(best)
        self._by_url[features] = first, guess
        return guess

    def _by_first(
        self, last: tuple[int, int], first: dict[str, float], usual: dict[str, float]
    ) -> tuple[dict[str, float], dict[str, float], float]:
        """The first guess, and the same as `_by_one` for the last feature, whose prior it is."""
        guess = self._updated(self.counts[last[0]], first, _FIRST_GUESS_WEIGHT)
        found = self._by_last[last] = first, guess, _divergence(guess, usual)
        return found

    def _by_one(self, feature: int, usual: dict[str, float]) -> tuple[dict[str, float], float]:
        """The language probabilities given one feature, and their divergence from `usual`.

        The divergence is -inf if no page has the feature.
        """
        counts = self.counts[feature]
        key = frozenset(counts.items())
        found = self._by_counts.get(key)
        if found is None:
            guess = self._updated(counts, usual, _USUAL_WEIGHT)
            found = guess, _divergence(guess, usual) if guess is not usual else -math.inf
            self._by_counts[key] = found
        self._by_feature[feature] = found
        return found

    def _read(self, shares: dict[str, float]) -> Guess:
        """Find what follows from language probabilities."""
        best = max(shares, key=shares.__getitem__, default="")
        probabilities = [shares.get(lang, 0.0) for lang in self.langs]
        asked = self.langs[probabilities.index(max(probabilities))]
        likeliest = best if best and shares[best] >= MIN_LANGUAGE else ""
        return Guess(shares, asked, sum(probabilities), likeliest)

    def _shares(self, langs: Iterable[str]) -> dict[str, float]:
        """The smoothed share of each language among all pages of the site."""
        langs = list(langs)
        return self._updated(self.total, dict.fromkeys(langs, 1 / len(langs)), _EVEN_WEIGHT)

    @staticmethod
    def _updated(
        counts: dict[str, int], prior: dict[str, float], weight: float
    ) -> dict[str, float]:
        """Update prior probabilities with counts; the prior counts as much as `weight` pages."""
        if not counts:
            return prior
        total = sum(counts.values()) + weight
        return {lang: (counts.get(lang, 0) + weight * p) / total for lang, p in prior.items()}


def _divergence(one: dict[str, float], other: dict[str, float]) -> float:
    """The Kullback-Leibler divergence of one distribution from another."""
    return sum(p * math.log(p / other[lang]) for lang, p in one.items() if p > 0.0)
