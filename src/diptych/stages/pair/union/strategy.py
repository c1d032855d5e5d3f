"""Pairing by all evidence, with counterparts assigned to all pages of a site at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import TYPE_CHECKING

from diptych.learn.logistic import log_odds
from diptych.protocols import Pairer, SiteView
from diptych.stages.pair.content import Content
from diptych.stages.pair.keys.strategy import Keys
from diptych.stages.pair.langstrip import LangStrip
from diptych.stages.pair.links import Links
from diptych.stages.pair.shared.memory import computed_once
from diptych.stages.pair.shared.one_partner import one_partner_each, strongest_first
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.union.assign import best_matching, consistent_groups
from diptych.types import PagePair, Url

if TYPE_CHECKING:
    from diptych.stages.pair.union.candidate_table import Proposals, Table

_MIN_CANDIDATE = 0.01  # candidates below this probability are not reported
_IMPLIED_SHARE = 0.5  # factor on the threshold for a pair that two others imply
_MIN_MIXED = 0.3  # minimum share of each language on a bilingual page that is paired with itself
_MIN_TEXT = log(30)  # minimum letters of a page without its template, as a logarithm
_ONE_PAGE = "one_page"
_WITHOUT_WORDS = (Links, Keys, LangStrip)  # pairers that use no lexicon


@dataclass(frozen=True, slots=True)
class Union:
    """Combines candidates from several pairers, and assigns at most one partner to each page.

    Each candidate gets a probability from all its evidence.  The pairs with the greatest total
    evidence are chosen, so that the versions of a document in several languages form one group.
    If only a list of URLs is given, without content, the scores of the pairers decide.
    """

    pairers: tuple[Pairer, ...] = (Links(), Keys(), LangStrip())
    """pairers that propose candidates by links and URLs"""
    content: Content | None = Content()  # noqa: RUF009 - it is frozen
    """pairer that proposes candidates by content"""
    threshold: float = 0.5
    """minimum probability of a pair"""
    model: str = ""
    """folder of a page pair model; if empty, the one shipped with the package"""
    url_model: bool = True
    """True to use the probability from the URL pair model as evidence"""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Return the page pairs found on a site, strongest first, with all their evidence."""
        proposed = self._proposed(site)
        lang_of = page_languages(site)
        tables = self._tables(site, _proposals(proposed), lang_of)
        if not any(len(table.sides.left) or len(table.sides.right) for table in tables):
            return one_partner_each(proposed)
        bilingual = {
            (pair.left, pair.left_lang, pair.right_lang): pair for pair in _bilingual_pages(tables)
        }
        assigned = _assigned(tables, lang_of, self.threshold)
        pairs = [pair for pair in assigned if not bilingual.keys() >= _ends(pair)]
        for pair in pairs:  # a partly translated page has a counterpart elsewhere
            for end in _ends(pair):
                bilingual.pop(end, None)
        return sorted([*pairs, *bilingual.values()], key=strongest_first)

    def all_candidates(self, site: SiteView) -> list[PagePair]:
        """Return all candidates above a small probability, including those not chosen as pairs."""
        tables = self._tables(site, _proposals(self._proposed(site)), page_languages(site))
        found = [
            table.page_pair(place)
            for table in tables
            for place, score in enumerate(table.scores.tolist())
            if score >= _MIN_CANDIDATE
        ]
        return sorted(found, key=strongest_first)

    def _proposed(self, site: SiteView) -> list[PagePair]:
        return [pair for pairer in self.pairers for pair in _pairs_of(pairer, site)]

    def _tables(
        self, site: SiteView, proposals: Proposals, lang_of: Mapping[Url, str]
    ) -> list[Table]:
        from diptych.stages.pair.union.scoring import scored_tables

        return scored_tables(self, site, proposals, lang_of)


def _pairs_of(pairer: Pairer, site: SiteView) -> list[PagePair]:
    """The proposals of a pairer; they are computed once if they do not depend on a lexicon."""
    if not isinstance(pairer, _WITHOUT_WORDS):
        return pairer.pair(site)
    return computed_once(site, pairer, lambda: pairer.pair(site))


def _ends(pair: PagePair) -> set[tuple[Url, str, str]]:
    """Both pages of a pair, each with the two languages of the pair."""
    return {(url, pair.left_lang, pair.right_lang) for url in (pair.left, pair.right)}


def _proposals(pairs: Iterable[PagePair]) -> Proposals:
    """Map each pair of pages to the best score proposed for each kind of evidence."""
    proposals: defaultdict[tuple[Url, Url], dict[str, float]] = defaultdict(dict)
    for pair in pairs:
        known = proposals[pair.left, pair.right]
        for name in pair.evidence.split("+"):
            known[name] = max(pair.score, known.get(name, 0.0))
    return dict(proposals)


def _assigned(
    tables: Iterable[Table], lang_of: Mapping[Url, str], threshold: float
) -> list[PagePair]:
    """Assign at most one partner per page and language, consistently across all languages."""
    known: dict[tuple[Url, Url], tuple[Table, int]] = {}
    matched: list[tuple[Url, Url, float]] = []
    for table in tables:
        weights = {}
        for place, pair in enumerate(table.urls()):
            known[pair] = table, place
            score = float(table.scores[place])
            if score >= threshold and table.measures["text"][place] >= _MIN_TEXT:
                weights[pair] = 1e-6 + max(0.0, log_odds(score) - log_odds(threshold))
        pairs = best_matching((*pair, weight) for pair, weight in weights.items())
        matched.extend((*pair, weights[pair]) for pair in pairs)
    found: list[PagePair] = []
    for group in consistent_groups(matched, lang_of):
        for one, other in combinations(group, 2):
            pair = (one, other) if (one, other) in known else (other, one)
            if pair in known:
                table, place = known[pair]
                if table.scores[place] >= _IMPLIED_SHARE * threshold:
                    found.append(table.page_pair(place))
    return found


def _bilingual_pages(tables: Sequence[Table]) -> Iterator[PagePair]:
    """Yield each page that is in two of the languages, as a pair of the page with itself."""
    all_sides = [table.sides for table in tables]
    mixed = {
        url: dict(scores)
        for sides in all_sides
        for pages in (sides.left, sides.right)
        for url, scores in pages.mixed.items()
    }
    for url, shares in sorted(mixed.items()):
        for sides in all_sides:
            langs = sides.left.lang, sides.right.lang
            both = [shares.get(lang, 0.0) for lang in langs]
            share = min(both) / max(sum(both), 1e-6)
            if share >= _MIN_MIXED:
                yield PagePair(url, url, *langs, 2 * share, _ONE_PAGE)
