"""All evidence together: partners are assigned for all pages of a site at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import TYPE_CHECKING

from diptych.protocols import Pairer, SiteView
from diptych.stages.pair.content import Content
from diptych.stages.pair.keys.strategy import Keys
from diptych.stages.pair.langstrip import LangStrip
from diptych.stages.pair.links import Links
from diptych.stages.pair.shared.one_partner import one_partner_each
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.union.assign import best_matching, consistent_groups
from diptych.types import LangPair, PagePair, Url

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from diptych.stages.pair.shared.similarity import Measures, Pairs, SideBySide
    from diptych.stages.pair.union.candidate_table import Proposals, Table

__all__ = ["Union"]

_MIN_SURE = 0.8  # probability of a pair that counts as evidence for others
_MIN_CANDIDATE = 0.01  # candidates below this probability are not reported
_MIN_VOTES = 0.5  # share of the votes of neighbours from which two pages are a candidate
_IMPLIED_SHARE = 0.5  # of the threshold, for a pair that two others imply
_MIN_MIXED = 0.3  # share of each language in the text of a page that is a pair by itself
_MIN_TEXT = log(30)  # letters of a page without its template
_ONE_PAGE = "one_page"


@dataclass(frozen=True, slots=True)
class Union:
    """The candidates of all pairers and of the pages' content, each page with one partner.

    Every candidate gets a probability by all that is known of it; the pairs with the greatest sum
    of evidence are taken, such that the pages of one document in n languages are one group.
    Without any content (a list of URLs) the scores of the pairers decide.
    """

    pairers: tuple[Pairer, ...] = (Links(), Keys(), LangStrip())
    """who propose candidates by links and URLs"""
    content: Content | None = Content()  # noqa: RUF009 - it is frozen
    """proposes candidates by what pages say"""
    threshold: float = 0.5
    """least probability of a pair"""
    model: str = ""
    """folder of a page pair model; the one that comes with the package if empty"""
    url_model: bool = True
    """whether URLs are judged by the URL pair model too"""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Pairs, strongest first, with the names of all that proposed them and all scores."""
        proposed = self._proposed(site)
        lang_of = page_languages(site)
        tables = self._tables(site, _proposals(proposed), lang_of)
        if not any(len(table.sides.left) or len(table.sides.right) for table in tables):
            return one_partner_each(proposed)
        bilingual = {
            (pair.left, pair.left_lang, pair.right_lang): pair for pair in _bilingual_pages(tables)
        }
        pairs = [
            pair
            for pair in _assigned(tables, lang_of, self.threshold)
            if not all(
                (url, pair.left_lang, pair.right_lang) in bilingual
                for url in (pair.left, pair.right)
            )
        ]
        for pair in pairs:  # a page translated in part has its counterpart elsewhere
            for url in (pair.left, pair.right):
                bilingual.pop((url, pair.left_lang, pair.right_lang), None)
        return sorted([*pairs, *bilingual.values()], key=_strongest_first)

    def all_candidates(self, site: SiteView) -> list[PagePair]:
        """All candidates above a small probability, also those that lost a page to a better one."""
        tables = self._tables(site, _proposals(self._proposed(site)), page_languages(site))
        found = [
            table.page_pair(place)
            for table in tables
            for place, score in enumerate(table.scores.tolist())
            if score >= _MIN_CANDIDATE
        ]
        return sorted(found, key=_strongest_first)

    def _proposed(self, site: SiteView) -> list[PagePair]:
        return [pair for pairer in self.pairers for pair in pairer.pair(site)]

    def _tables(
        self, site: SiteView, proposals: Proposals, lang_of: Mapping[Url, str]
    ) -> list[Table]:
        """All candidates scored, each by itself, then again with the sure ones as evidence."""
        from diptych.stages.pair.shared.pages_by_language import pages_by_language
        from diptych.stages.pair.shared.similarity import SideBySide
        from diptych.stages.pair.union.neighbours import link_lists

        pages_of = pages_by_language(site, lang_of)
        all_sides = [
            SideBySide(pages_of[left], pages_of[right], site.lexicon(left, right))
            for left, right in combinations(site.langs, 2)
        ]
        tables = [
            self._scored(sides, self._candidates(sides, proposals), proposals)
            for sides in all_sides
        ]
        links = link_lists(site, lang_of)
        context = _Context.of(tables, links, lang_of)
        return [self._rescored(table, context) for table in tables]

    def _candidates(self, sides: SideBySide, proposals: Proposals) -> Pairs:
        """The candidates of the content and of the pairers."""
        proposed = [
            (sides.left.place[left], sides.right.place[right])
            for left, right in proposals
            if left in sides.left.place and right in sides.right.place
        ]
        found = self.content.similar_pages(sides) if self.content else None
        return _joined(sides, found, proposed)

    def _scored(self, sides: SideBySide, pairs: Pairs, proposals: Proposals) -> Table:
        from diptych.stages.pair.union.candidate_table import FEATURES, score_candidates
        from diptych.stages.pair.union.model import load

        model = load(FEATURES, self.model)
        return score_candidates(sides, pairs, proposals, self._measured(sides, pairs), model)

    def _rescored(self, table: Table, context: _Context) -> Table:
        from diptych.stages.pair.union.candidate_table import (
            FEATURES,
            score_candidates,
            sure_measures,
        )
        from diptych.stages.pair.union.model import load

        sides = table.sides
        neighbours = context.neighbours(sides.left.lang, sides.right.lang)
        siblings = context.siblings(sides.left.lang, sides.right.lang)
        more = [
            (sides.left.place[left], sides.right.place[right])
            for known in (neighbours, siblings)
            for (left, right), share in known.items()
            if share >= _MIN_VOTES and left in sides.left.place and right in sides.right.place
        ]
        pairs = _joined(sides, table.pairs, more)
        measures = _extended(table, pairs, self._measured)
        return score_candidates(
            sides, pairs, table.proposals, measures, load(FEATURES, self.model),
            neighbours=neighbours, siblings=siblings, sure=sure_measures(table, _MIN_SURE),
        )  # fmt: skip

    def _measured(self, sides: SideBySide, pairs: Pairs) -> Measures:
        """The measures of candidates that do not depend on other candidates."""
        from diptych.stages.pair.shared.similarity import similarities

        return {**similarities(sides, pairs), "url_model": self._url_scores(sides, pairs)}

    def _url_scores(self, sides: SideBySide, pairs: Pairs) -> NDArray[np.float32]:
        import numpy as np

        if not self.url_model or not len(pairs):
            return np.zeros(len(pairs), np.float32)
        from diptych.learn.url.pair import load

        return load("").probabilities(
            [sides.left.urls[place] for place in pairs.left],
            [sides.right.urls[place] for place in pairs.right],
        )


@dataclass(frozen=True, slots=True)
class _Context:
    """The sure pairs, and the evidence they are for others."""

    partner: Mapping[LangPair, Mapping[Url, tuple[Url, float]]]
    """for two languages in either order: the counterpart of a page, and its probability"""
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
            sure = [
                (*urls, score)
                for urls, score in zip(table.urls(), table.scores.tolist(), strict=True)
                if score >= _MIN_SURE
            ]
            scores = {(left, right): score for left, right, score in sure}
            for left, right in best_matching(sure):
                there[left] = right, scores[left, right]
                back[right] = left, scores[left, right]
        return cls(partner, links, lang_of)

    def neighbours(self, left: str, right: str) -> dict[tuple[Url, Url], float]:
        """For pairs of pages, the share of paired pages that link to both at the same place."""
        from diptych.stages.pair.union.neighbours import votes

        known = {url: other for url, (other, _) in self.partner[LangPair(left, right)].items()}
        return votes(sorted(known.items()), self.links, self.lang_of, known)

    def siblings(self, left: str, right: str) -> dict[tuple[Url, Url], float]:
        """For pairs of pages, the probability of the same counterpart in a third language."""
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


def _joined(sides: SideBySide, pairs: Pairs | None, more: Iterable[tuple[int, int]]) -> Pairs:
    """Pairs and more pairs, in order, each once."""
    import numpy as np

    from diptych.stages.pair.shared.similarity import Pairs

    width = max(len(sides.right), 1)
    keys = [np.array([left * width + right for left, right in more], np.int64)]
    if pairs is not None:
        keys.append(pairs.left.astype(np.int64) * width + pairs.right)
    found = np.unique(np.concatenate(keys))
    return Pairs((found // width).astype(np.int32), (found % width).astype(np.int32))


def _extended(
    table: Table, pairs: Pairs, measured: Callable[[SideBySide, Pairs], Measures]
) -> Measures:
    """The measures of candidates: known ones from the table, new ones measured."""
    import numpy as np

    from diptych.stages.pair.shared.similarity import Pairs

    width = max(len(table.sides.right), 1)
    keys = pairs.left.astype(np.int64) * width + pairs.right
    known = table.pairs.left.astype(np.int64) * width + table.pairs.right
    is_new = ~np.isin(keys, known)
    found = measured(table.sides, Pairs(pairs.left[is_new], pairs.right[is_new]))
    measures: Measures = {}
    for name, before in table.measures.items():
        column = np.zeros(len(keys), np.float32)
        column[is_new], column[~is_new] = found[name], before
        measures[name] = column
    return measures


def _proposals(pairs: Iterable[PagePair]) -> Proposals:
    """The proposals of pairers by pages; the strongest of those with the same name."""
    proposals: defaultdict[tuple[Url, Url], dict[str, float]] = defaultdict(dict)
    for pair in pairs:
        known = proposals[pair.left, pair.right]
        for name in pair.evidence.split("+"):
            known[name] = max(pair.score, known.get(name, 0.0))
    return dict(proposals)


def _assigned(
    tables: Iterable[Table], lang_of: Mapping[Url, str], threshold: float
) -> list[PagePair]:
    """One partner per page and language, and one page per language in each group."""
    known: dict[tuple[Url, Url], tuple[Table, int]] = {}
    matched: list[tuple[Url, Url, float]] = []
    for table in tables:
        weights = {}
        for place, pair in enumerate(table.urls()):
            known[pair] = table, place
            score = float(table.scores[place])
            if score >= threshold and table.measures["text"][place] >= _MIN_TEXT:
                weights[pair] = 1e-6 + max(0.0, _logit(score) - _logit(threshold))
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


def _logit(score: float) -> float:
    score = min(max(score, 1e-6), 1 - 1e-6)
    return log(score / (1 - score))


def _bilingual_pages(tables: Sequence[Table]) -> Iterator[PagePair]:
    """Pages that are in two of the languages, as pairs with themselves."""
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


def _strongest_first(pair: PagePair) -> tuple[float, str, str, str, str]:
    return -pair.score, pair.left, pair.right, pair.left_lang, pair.right_lang
