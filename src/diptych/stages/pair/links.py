"""Pairing by the declarations of a site: hreflang and language switchers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from diptych.language.codes import same_language
from diptych.language.switchers import declared_language
from diptych.protocols import SiteView
from diptych.stages.pair.shared.one_partner import noisy_or, one_partner_each
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.shared.site_links import site_links
from diptych.types import PagePair, Url

_SIBLING_FACTOR = 0.9  # factor on the weaker of the two declarations that imply a sibling pair
_MAX_VOTERS = 2  # a page that more pages of one language declare is a home page
_HOME_FACTOR = 0.1

_Votes = dict[tuple[Url, Url, str], float]
"""(voting page, its counterpart, evidence) -> strength"""


class _Vote(NamedTuple):
    """The strength of a kind of declaration, and its name as evidence."""

    strength: float
    evidence: str


# Estimated precision of declarations.  Ahrefs (374,756 domains): 17% of sites with hreflang have
# broken targets and 15% unreciprocated ones; a switcher more often leads to a home page.
_VOTES = {
    "alternate": _Vote(0.9, "hreflang"),
    "hreflang": _Vote(0.8, "switcher"),
    "name": _Vote(0.7, "switcher"),
}


@dataclass(frozen=True, slots=True)
class Links:
    """Pairs pages that the site declares as translations, by hreflang or language switchers.

    A declaration counts only if its target is in the declared language.  Pairs that both pages
    declare are stronger.  A target that many pages share is probably the home page in the other
    language, so links to it have little weight.
    """

    def pair(self, site: SiteView) -> list[PagePair]:
        """Return the page pairs found on a site, strongest first.

        Their evidence is `hreflang`, `switcher` or both.
        """
        langs = page_languages(site)
        votes = _weakened(_votes(site, langs), site)
        return one_partner_each(_pairs(votes, langs, list(site.langs)))


def _votes(site: SiteView, langs: Mapping[Url, str]) -> _Votes:
    """Collect all declarations whose target is in the declared language."""
    wanted = tuple(site.langs)
    links = site_links(site)
    declared = [declared_language(link, wanted) for link in links.distinct]
    votes: _Votes = {}
    for url, number in links.of_kinds(np.array([bool(lang) for lang, _ in declared], np.bool_)):
        lang, how = declared[number]
        vote = _VOTES[how]
        source, target = site.resolve(url), site.resolve(links.distinct[number].url)
        if source is None or target is None:
            continue
        if same_language(lang, langs.get(target, "")):
            key = (source, target, vote.evidence)
            votes[key] = max(vote.strength, votes.get(key, 0.0))
    return votes


def _weakened(votes: _Votes, site: SiteView) -> _Votes:
    """Reduce the strength of votes if many pages in one language vote for the same page.

    A vote keeps its strength if the voter is a home page or the target votes for it in return.
    """
    homes = {site.resolve(seed) for seed in site.site.seeds}
    pages = site.pages
    voters: defaultdict[tuple[Url, str, str], int] = defaultdict(int)
    for source, target, evidence in votes:
        voters[target, evidence, pages[source].lang] += 1

    def is_for_home(source: Url, target: Url, evidence: str) -> bool:
        many = voters[target, evidence, pages[source].lang] > _MAX_VOTERS
        return many and source not in homes and (source, target) not in answered

    answered = {(target, source) for source, target, _ in votes}
    return {
        vote: strength * _HOME_FACTOR if is_for_home(*vote) else strength
        for vote, strength in votes.items()
    }


def _pairs(votes: _Votes, langs: Mapping[Url, str], order: list[str]) -> Iterator[PagePair]:
    """Yield a pair for each kind of evidence, with a score that combines all votes for it.

    `order` contains the languages in the user's order.
    """
    scores_of: defaultdict[tuple[Url, Url, str], dict[str, float]] = defaultdict(dict)
    for voter, left, right, evidence, strength in _votes_for_pairs(votes, langs):
        if order.index(langs[left]) > order.index(langs[right]):
            left, right = right, left
        # Third pages repeat each other, so they count as one voter.
        who = voter if voter in (left, right) else "sibling"
        scores = scores_of[left, right, evidence]
        scores[who] = max(strength, scores.get(who, 0.0))
    for (left, right, evidence), scores in scores_of.items():
        score = noisy_or(scores.values())
        yield PagePair(left, right, langs[left], langs[right], score, evidence)


def _votes_for_pairs(
    votes: _Votes, langs: Mapping[Url, str]
) -> Iterable[tuple[Url, Url, Url, str, float]]:
    """Yield votes for pairs as (voter, page, counterpart, evidence, strength).

    The voter is the page itself, or a third page that declares both pages as alternates.
    """
    alternates: defaultdict[Url, list[tuple[Url, float]]] = defaultdict(list)
    for (source, target, evidence), strength in votes.items():
        if source in langs:
            yield source, source, target, evidence, strength
        if evidence == "hreflang":
            alternates[source].append((target, strength))
    for source, listed in alternates.items():
        for (left, one), (right, other) in combinations(listed, 2):
            if langs[left] != langs[right]:
                yield source, left, right, "hreflang", _SIBLING_FACTOR * min(one, other)
