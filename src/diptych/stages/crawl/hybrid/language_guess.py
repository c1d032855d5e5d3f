"""The language of a page before it is fetched, learned from the pages of the site.

A decision list (Yarowsky 1994): of all that is known of a link - the folders, the host and other
pieces of its URL, its text, the language of the page that has it - the most informative feature
decides.  Until pages were counted, what a link declares and the URL language model decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from diptych.language.codes import asked_language
from diptych.language.switchers import declared_language, names_other_language
from diptych.types import Link

OTHER = "*"
"""any language that was not asked for"""

_FIRST_GUESS_WEIGHT = 2.0  # pages that a first guess counts for
_EVEN_WEIGHT = 0.5  # pages that equal probabilities count for
_SAME_AS_PAGE = 0.9  # usual share of links that stay within the language of their page
_SAME_AS_OTHER = 0.98  # the same for pages in a language that nobody asked for
_DECLARED = 0.9  # share of declared languages that are those of the page
_MAX_ANCHOR = 30  # characters; a longer text of a link occurs once
_MAX_FOLDERS = 4
_WORDS = re.compile(r"[^\W_]+")


def link_features(link: Link) -> list[str]:
    """The features of a link that may go with the language of the page it leads to.

    >>> link_features(Link("http://fr.x.org/doc/a_fr.html?lang=fr&id=12", anchor="Suite"))
    ['h:fr', '0:doc', 'f:a', 'l:fr', 'q:lang=fr', 'q:id', 'a:suite']
    """
    rest = link.url.partition("://")[2]
    address, _, query = rest.partition("?")
    host, _, path = address.partition("/")
    *folders, file = path.split("/")
    found = [f"h:{host.partition('.')[0]}"]
    found.extend(f"{place}:{name}" for place, name in enumerate(folders[:_MAX_FOLDERS]))
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


@dataclass(slots=True)
class LanguageGuesser:
    """Counts of the languages of a site's pages, by feature of the links to them."""

    langs: Sequence[str]
    features: dict[str, int] = field(default_factory=dict)
    """feature -> id"""
    counts: list[dict[str, int]] = field(default_factory=list)
    """id of a feature -> language -> pages"""
    guesses: dict[tuple[float, ...], dict[str, float]] = field(default_factory=dict)
    _by_feature: dict[int, tuple[dict[str, float], float]] = field(default_factory=dict)
    """guesses by one feature alone, and how sure they are; until its counts change"""

    def asked_or_other(self, lang: str) -> str:
        """A language as it was asked for, else `OTHER`; an unknown one stays empty."""
        if not lang:
            return ""
        return asked_language(lang, self.langs) or OTHER

    def declared(self, link: Link) -> tuple[str, str]:
        """The language that a link declares, as it was asked for, and how it declares it."""
        langs = tuple(self.langs)
        declared, how = declared_language(link, langs)
        if not declared and names_other_language(link.anchor or link.alt, langs):
            return OTHER, how
        return self.asked_or_other(declared), how

    def feature_ids(self, features: Iterable[str]) -> tuple[int, ...]:
        """Features by id, to be kept with a URL."""
        ids = self.features
        for feature in features:
            if feature not in ids:
                ids[feature] = len(self.counts)
                self.counts.append({})
        return tuple(ids[feature] for feature in features)

    def learn(self, features: Iterable[int], lang: str) -> None:
        """Count a page in a language, or in `OTHER`."""
        for feature in features:
            counts = self.counts[feature]
            counts[lang] = counts.get(lang, 0) + 1
            self._by_feature.pop(feature, None)

    def first_guess(self, declared: str, source: str, model: dict[str, float]) -> dict[str, float]:
        """Probabilities of the language before any page was counted.

        `declared` is the language that the link declares, `source` that of its page; `model` is
        what the URL language model says, which counts by how far it is above one half.
        """
        if declared:
            return self._interned(self._mostly(declared, _DECLARED))
        base = self._mostly(source, _SAME_AS_OTHER if source == OTHER else _SAME_AS_PAGE)
        weight = max(0.0, 2 * max(model.values(), default=0.0) - 1)
        mixed = {
            lang: round(weight * model.get(lang, 0.0) + (1 - weight) * probability, 2)
            for lang, probability in base.items()
        }
        return self._interned(mixed)

    def _interned(self, guess: dict[str, float]) -> dict[str, float]:
        """The same guess as one object for all URLs: there are few different ones."""
        return self.guesses.setdefault(tuple(guess.values()), guess)

    def _mostly(self, lang: str, share: float) -> dict[str, float]:
        """A probability for one language, the rest for the others; all equal if it is unknown."""
        langs = (*self.langs, OTHER)
        rest = (1 - share) / (len(langs) - 1)
        return {each: share if each == lang else rest if lang else 1 / len(langs) for each in langs}

    def guess(self, features: Sequence[int], first: dict[str, float]) -> dict[str, float]:
        """Probabilities of the language of a page, by the most informative feature.

        The last feature is the source of the first guess: its counts correct that guess.
        """
        best = self._updated(features[-1], first, _FIRST_GUESS_WEIGHT) if features else first
        highest = max(best.values(), default=0.0)
        for feature in features[:-1]:
            if self.counts[feature]:
                guess, sure = self._by_feature.get(feature) or self._guess_by(feature, first)
                if sure > highest:
                    best, highest = guess, sure
        return best

    def _guess_by(self, feature: int, langs: Iterable[str]) -> tuple[dict[str, float], float]:
        """Probabilities by one feature alone, and the highest of them."""
        langs = list(langs)
        guess = self._updated(feature, dict.fromkeys(langs, 1 / len(langs)), _EVEN_WEIGHT)
        found = self._by_feature[feature] = (guess, max(guess.values()))
        return found

    def _updated(self, feature: int, prior: dict[str, float], weight: float) -> dict[str, float]:
        """Prior probabilities updated by the counts of a feature."""
        counts = self.counts[feature]
        if not counts:
            return prior
        total = sum(counts.values()) + weight
        return {lang: (counts.get(lang, 0) + weight * p) / total for lang, p in prior.items()}
