"""Scores all candidates of a site twice: first separately, then with evidence from sure pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diptych.learn.url import pair as url_pair
from diptych.protocols import SiteView
from diptych.stages.pair.shared.memory import Measures, computed_once
from diptych.stages.pair.shared.pages_by_language import LanguagePages, pages_by_language
from diptych.stages.pair.shared.similarity import CommonFeatures, Pairs, SideBySide, similarities
from diptych.stages.pair.union import model as page_pair
from diptych.stages.pair.union.assign import best_matching
from diptych.stages.pair.union.candidate_table import (
    FEATURES,
    Proposals,
    Table,
    score_candidates,
    sure_measures,
)
from diptych.stages.pair.union.neighbours import link_lists, votes
from diptych.types import LangPair, Url

if TYPE_CHECKING:
    from diptych.stages.pair.union.strategy import Union

_MIN_SURE = 0.8  # minimum probability of a pair that is evidence for others
_MIN_VOTES = 0.5  # minimum share of neighbour votes that makes two pages a candidate


def scored_tables(
    union: Union, site: SiteView, proposals: Proposals, lang_of: Mapping[Url, str]
) -> list[Table]:
    """Compute one table of scored candidates for each pair of languages."""
    pages_of = computed_once(site, "pages", lambda: pages_by_language(site, lang_of))
    tables = []
    for left, right in combinations(site.langs, 2):
        sides = _side_by_side(site, pages_of[left], pages_of[right])
        pairs = _candidates(union, sides, proposals)
        model = page_pair.load(FEATURES, union.model)
        measures = _measured(union, sides, pairs)
        tables.append(score_candidates(sides, pairs, proposals, measures, model))
    links = computed_once(site, "links", lambda: link_lists(site, lang_of))
    context = _Context.of(tables, links, lang_of)
    return [_rescored(union, table, context) for table in tables]


def _side_by_side(site: SiteView, left: LanguagePages, right: LanguagePages) -> SideBySide:
    features = computed_once(site, (left.lang, right.lang), lambda: CommonFeatures(left, right))
    return SideBySide(left, right, site.lexicon(left.lang, right.lang), features)


def _candidates(union: Union, sides: SideBySide, proposals: Proposals) -> Pairs:
    """The candidates in `proposals`, and those found by content."""
    proposed = sides.pairs_of_urls(proposals)
    return sides.joined(proposed, union.content.similar_pages(sides) if union.content else proposed)


def _rescored(union: Union, table: Table, context: _Context) -> Table:
    """Score a table again, with additional candidates and evidence from sure pairs."""
    sides = table.sides
    neighbours = context.neighbours(sides.left.lang, sides.right.lang)
    siblings = context.siblings(sides.left.lang, sides.right.lang)
    likely = [
        urls
        for known in (neighbours, siblings)
        for urls, share in known.items()
        if share >= _MIN_VOTES
    ]
    pairs = sides.joined(table.pairs, sides.pairs_of_urls(likely))
    return score_candidates(
        sides, pairs, table.proposals, _extended(union, table, pairs),
        page_pair.load(FEATURES, union.model),
        neighbours=neighbours, siblings=siblings, sure=sure_measures(table, _MIN_SURE),
    )  # fmt: skip


def _measured(union: Union, sides: SideBySide, pairs: Pairs) -> Measures:
    """Compute those measures of the candidates `pairs` that do not depend on other candidates."""

    def by_url(is_new: NDArray[np.bool_]) -> Measures:
        new = sides.urls(Pairs(pairs.left[is_new], pairs.right[is_new]))
        lefts, rights = zip(*new, strict=True)
        return {"url_model": url_pair.load("").probabilities(lefts, rights)}

    measures = similarities(sides, pairs)
    if not union.url_model or not len(pairs):
        return {**measures, "url_model": np.zeros(len(pairs), np.float32)}
    return {**measures, **sides.features.measured_by_url.measures(sides.keys(pairs), by_url)}


def _extended(union: Union, table: Table, pairs: Pairs) -> Measures:
    """Return the measures of all `pairs`, computing those that are not in the table."""
    sides = table.sides
    is_new = ~np.isin(sides.keys(pairs), sides.keys(table.pairs))
    found = _measured(union, sides, Pairs(pairs.left[is_new], pairs.right[is_new]))
    measures: Measures = {}
    for name, before in table.measures.items():
        column: NDArray[np.float32] = np.zeros(len(pairs), np.float32)
        column[is_new], column[~is_new] = found[name], before
        measures[name] = column
    return measures


@dataclass(frozen=True, slots=True)
class _Context:
    """The sure pairs of a site, as evidence for other pairs."""

    partner: Mapping[LangPair, Mapping[Url, tuple[Url, float]]]
    """two languages, in either order -> page -> its counterpart and probability"""
    links: Mapping[Url, tuple[Url, ...]]
    lang_of: Mapping[Url, str]

    @classmethod
    def of(
        cls,
        tables: Iterable[Table],
        links: Mapping[Url, tuple[Url, ...]],
        lang_of: Mapping[Url, str],
    ) -> _Context:
        partner: dict[LangPair, dict[Url, tuple[Url, float]]] = {}
        for table in tables:
            langs = LangPair(table.sides.left.lang, table.sides.right.lang)
            there = partner.setdefault(langs, {})
            back = partner.setdefault(LangPair(langs.right, langs.left), {})
            scores = dict(zip(table.urls(), table.scores.tolist(), strict=True))
            sure = {urls: score for urls, score in scores.items() if score >= _MIN_SURE}
            for left, right in best_matching((*urls, score) for urls, score in sure.items()):
                there[left], back[right] = (right, sure[left, right]), (left, sure[left, right])
        return cls(partner, links, lang_of)

    def neighbours(self, left: str, right: str) -> dict[tuple[Url, Url], float]:
        """Map each candidate to the share of sure pairs that link to it at the same position."""
        known = {url: other for url, (other, _) in self.partner[LangPair(left, right)].items()}
        return votes(sorted(known.items()), self.links, self.lang_of, known)

    def siblings(self, left: str, right: str) -> dict[tuple[Url, Url], float]:
        """Map each candidate to the probability of a common counterpart in a third language."""
        found: dict[tuple[Url, Url], float] = {}
        for langs, partners in self.partner.items():
            if langs.left != left or langs.right == right:
                continue
            onward = self.partner.get(LangPair(langs.right, right), {})
            for url, (third, score) in partners.items():
                if third in onward:
                    other, also = onward[third]
                    found[url, other] = max(min(score, also), found.get((url, other), 0.0))
        return found
