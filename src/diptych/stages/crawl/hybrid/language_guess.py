"""The language of a page before it is fetched, as the site itself teaches it.

A decision list (Yarowsky 1994): of all that is known of a link - the folders, the host and other
pieces of its URL, its text, the language of the page that has it - the one thing that tells most
decides.  Until the site has taught something, what a link declares and the model of URLs decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from diptych.language.codes import asked_language
from diptych.language.switchers import declared_language, names_other_language
from diptych.types import Link

__all__ = ["OTHER", "Tongues", "link_features"]

OTHER = "*"
"""any language that was not asked for"""

_WEIGHT = 2.0  # pages that a first guess counts for
_DOUBT = 0.5  # the same of knowing nothing
_SAME = 0.9  # how often a link stays within the language of its page, usually
_STAYS_OTHER = 0.98  # the same of pages in a language that nobody asked for
_DECLARED = 0.9  # how often a declared language is that of the page
_MAX_NAME = 30  # characters; a longer text of a link occurs once
_MAX_FOLDERS = 4
_WORDS = re.compile(r"[^\W_]+")


def link_features(link: Link) -> list[str]:
    """What of a link may go with the language of the page it leads to.

    >>> link_features(Link("http://fr.x.org/doc/a_fr.html?lang=fr&id=12", anchor="Suite"))
    ['h:fr', '0:doc', 'f:a', 'l:fr', 'q:lang=fr', 'q:id', 'a:suite']
    """
    rest = link.url.partition("://")[2]
    address, _, query = rest.partition("?")
    host, _, path = address.partition("/")
    *folders, file = path.split("/")
    found = [f"h:{host.partition('.')[0]}"]
    found.extend(f"{place}:{name}" for place, name in enumerate(folders[:_MAX_FOLDERS]))
    pieces = [piece for piece in _WORDS.findall(file.rpartition(".")[0] or file)]
    if pieces:
        found.append(f"f:{pieces[0]}")
    if len(pieces) > 1:
        found.append(f"l:{pieces[-1]}")
    for item in query.split("&") if query else ():
        name, _, value = item.partition("=")
        found.append(f"q:{item}" if value.isalpha() or "-" in value else f"q:{name}")
    text = (link.anchor or link.alt).casefold()
    if text and len(text) <= _MAX_NAME:
        found.append(f"a:{text}")
    return found


@dataclass(slots=True)
class Tongues:
    """What the pages of a site have taught of its languages."""

    langs: Sequence[str]
    _numbers: dict[str, int] = field(default_factory=dict)
    """feature -> number"""
    _seen: list[dict[str, int]] = field(default_factory=list)
    """number -> language -> pages"""
    _guesses: dict[tuple[float, ...], dict[str, float]] = field(default_factory=dict)

    def asked_for(self, lang: str) -> str:
        """A language as it was asked for, or that it was not; nothing stays nothing."""
        if not lang:
            return ""
        return asked_language(lang, self.langs) or OTHER

    def declared(self, link: Link) -> tuple[str, str]:
        """The language that a link says it leads to, as it was asked for, and how it says so."""
        langs = tuple(self.langs)
        said, how = declared_language(link, langs)
        if not said and names_other_language(link.anchor or link.alt, langs):
            return OTHER, how
        return self.asked_for(said), how

    def numbers(self, features: Iterable[str]) -> tuple[int, ...]:
        """Features by number, to be kept with a URL."""
        known = self._numbers
        for feature in features:
            if feature not in known:
                known[feature] = len(self._seen)
                self._seen.append({})
        return tuple(known[feature] for feature in features)

    def learn(self, features: Iterable[int], lang: str) -> None:
        """A page is in a language, or in another than those asked for."""
        for feature in features:
            counts = self._seen[feature]
            counts[lang] = counts.get(lang, 0) + 1

    def first_guess(self, declared: str, source: str, model: dict[str, float]) -> dict[str, float]:
        """What to expect before the site has taught anything.

        `declared` is the language a link says, `source` that of its page; `model` is what a model
        of URLs says, which counts as far as it is surer of one language than of all others.
        """
        if declared:
            return self._once(self._mostly(declared, _DECLARED))
        base = self._mostly(source, _STAYS_OTHER if source == OTHER else _SAME)
        sure = max(0.0, 2 * max(model.values(), default=0.0) - 1)
        mixed = {
            lang: round(sure * model.get(lang, 0.0) + (1 - sure) * chance, 2)
            for lang, chance in base.items()
        }
        return self._once(mixed)

    def _once(self, guess: dict[str, float]) -> dict[str, float]:
        """The same guess as one object for all URLs: there are few different ones."""
        return self._guesses.setdefault(tuple(guess.values()), guess)

    def _mostly(self, lang: str, share: float) -> dict[str, float]:
        """A language for so much, the others for the rest; nothing known if there is none."""
        langs = (*self.langs, OTHER)
        rest = (1 - share) / (len(langs) - 1)
        return {each: share if each == lang else rest if lang else 1 / len(langs) for each in langs}

    def guess(self, features: Sequence[int], first: dict[str, float]) -> dict[str, float]:
        """How likely a page is in each language, by the feature that tells most.

        The last feature is what the first guess was made of: it corrects that.
        """
        best = self._after(features[-1], first, _WEIGHT) if features else first
        told = max(best.values(), default=0.0)
        even = dict.fromkeys(first, 1 / len(first)) if first else {}
        for feature in features[:-1]:
            if self._seen[feature]:
                made = self._after(feature, even, _DOUBT)
                top = max(made.values())
                if top > told:
                    best, told = made, top
        return best

    def _after(self, feature: int, before: dict[str, float], weight: float) -> dict[str, float]:
        """What was expected, as the pages with a feature have changed it."""
        counts = self._seen[feature]
        if not counts:
            return before
        total = sum(counts.values()) + weight
        return {
            lang: (counts.get(lang, 0) + weight * chance) / total for lang, chance in before.items()
        }
