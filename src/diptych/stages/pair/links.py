"""Pages paired by what the site itself declares: hreflang and language switchers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from diptych.language.codes import same_language
from diptych.language.switchers import declared_language
from diptych.protocols import SiteView
from diptych.stages.pair.shared.one_partner import noisy_or, settle
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.types import PagePair, Url

__all__ = ["Links"]

_SIBLING = 0.9  # of the weaker of the two declarations that a sibling pair rests on
_MANY_SOURCES = 2  # more pages of one language than this leading to one page lead to a home page
_TO_HOME = 0.1

_Votes = dict[tuple[Url, Url, str], float]
"""(voting page, its counterpart, evidence) -> strength"""


class _Vote(NamedTuple):
    """How far a declaration may be believed, and what it is called."""

    strength: float
    evidence: str


# How often a declaration holds.  Ahrefs (374,756 domains): 17% of sites with hreflang have broken
# targets and 15% unreciprocated ones, hence not more; a switcher more often leads to a home page.
_VOTES = {
    "alternate": _Vote(0.9, "hreflang"),
    "hreflang": _Vote(0.8, "switcher"),
    "name": _Vote(0.7, "switcher"),
}


@dataclass(frozen=True, slots=True)
class Links:
    """Pairs that a page declares by hreflang or by a link named after a language.

    A declaration counts only where it leads to a page that is in the language declared.  Pairs
    declared from both sides are stronger; a link that many pages have in common leads to the home
    page of the other language and is nearly nothing.
    """

    def pair(self, site: SiteView) -> list[PagePair]:
        """Pairs, strongest first; evidence is `hreflang`, `switcher` or both."""
        langs = page_languages(site)
        votes = _damped(_votes(site, langs), site)
        return settle(_pairs(votes, langs, list(site.langs)))


def _votes(site: SiteView, langs: Mapping[Url, str]) -> _Votes:
    """What each page says of others, if it leads to a page in the language it says."""
    wanted = tuple(site.langs)
    votes: _Votes = {}
    for url, link in site.links():
        lang, how = declared_language(link, wanted)
        if not lang:
            continue
        vote = _VOTES[how]
        source, target = site.resolve(url), site.resolve(link.url)
        if source is None or target is None:
            continue
        if same_language(lang, langs.get(target, "")):
            key = (source, target, vote.evidence)
            votes[key] = max(vote.strength, votes.get(key, 0.0))
    return votes


def _damped(votes: _Votes, site: SiteView) -> _Votes:
    """Votes that many pages of a language cast for one page made weak.

    They hold for one of the voters only: the home page, or the one that is voted for in return.
    """
    homes = {site.resolve(seed) for seed in site.site.seeds}
    pages = site.pages
    voters: defaultdict[tuple[Url, str, str], int] = defaultdict(int)
    for source, target, evidence in votes:
        voters[target, evidence, pages[source].lang] += 1

    def is_common(source: Url, target: Url, evidence: str) -> bool:
        many = voters[target, evidence, pages[source].lang] > _MANY_SOURCES
        return many and source not in homes and (source, target) not in answered

    answered = {(target, source) for source, target, _ in votes}
    return {
        vote: strength * _TO_HOME if is_common(*vote) else strength
        for vote, strength in votes.items()
    }


def _pairs(votes: _Votes, langs: Mapping[Url, str], order: list[str]) -> Iterator[PagePair]:
    """For each two pages and kind of evidence, what both of them and third pages say together."""
    said: defaultdict[tuple[Url, Url, str], dict[str, float]] = defaultdict(dict)
    for voter, left, right, evidence, strength in _opinions(votes, langs):
        if order.index(langs[left]) > order.index(langs[right]):
            left, right = right, left
        # Third pages repeat each other, so that they count as one voice.
        voice = voter if voter in (left, right) else "sibling"
        voices = said[left, right, evidence]
        voices[voice] = max(strength, voices.get(voice, 0.0))
    for (left, right, evidence), voices in said.items():
        score = noisy_or(voices.values())
        yield PagePair(left, right, langs[left], langs[right], score, evidence)


def _opinions(
    votes: _Votes, langs: Mapping[Url, str]
) -> Iterable[tuple[Url, Url, Url, str, float]]:
    """(voter, page, page, evidence, strength): of the voter and another, or of two others."""
    alternates: defaultdict[Url, list[tuple[Url, float]]] = defaultdict(list)
    for (source, target, evidence), strength in votes.items():
        if source in langs:
            yield source, source, target, evidence, strength
        if evidence == "hreflang":
            alternates[source].append((target, strength))
    for source, listed in alternates.items():
        for (left, one), (right, other) in combinations(listed, 2):
            if langs[left] != langs[right]:
                yield source, left, right, "hreflang", _SIBLING * min(one, other)
