"""All evidence together: which pages are translations of each other, decided for all at once."""

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
from diptych.stages.pair.shared.one_partner import settle
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.union.assign import best_matching, consistent_groups
from diptych.types import LangPair, PagePair, Url

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from diptych.stages.pair.shared.similarity import Measures, Pairs, Panel
    from diptych.stages.pair.union.weighing import Said, Table

__all__ = ["Union"]

_SURE = 0.8  # probability of a pair that others are judged by
_LEAST = 0.01  # probability of a candidate that is worth a word
_LIKELY = 0.5  # share of the votes of neighbours that make a candidate
_IMPLIED = 0.5  # of the threshold, for a pair that follows from two others
_MIXED = 0.3  # of what is in either language, the share of each, on a page that is a pair by itself
_LEAST_TEXT = log(30)  # letters of a page's own: the rest is template, and says nothing of it
_BOTH = "one_page"


@dataclass(frozen=True, slots=True)
class Union:
    """The candidates of all pairers and of the pages' content, each page with one partner.

    Every candidate gets a probability by all that is known of it; the pairs with the greatest sum
    of evidence are taken, such that the pages of one document in n languages are one group.
    Without any content (a list of URLs) the scores of the pairers are settled as they are.
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
        tables = self._tables(site, _said(proposed), lang_of)
        if not any(len(table.panel.left) or len(table.panel.right) for table in tables):
            return settle(proposed)
        both = {(pair.left, pair.left_lang, pair.right_lang): pair for pair in _in_both(tables)}
        pairs = [
            pair
            for pair in _settled(tables, lang_of, self.threshold)
            if not all(
                (url, pair.left_lang, pair.right_lang) in both for url in (pair.left, pair.right)
            )
        ]
        for pair in pairs:  # a page that was translated in part has its counterpart elsewhere
            for url in (pair.left, pair.right):
                both.pop((url, pair.left_lang, pair.right_lang), None)
        return sorted([*pairs, *both.values()], key=_strongest_first)

    def weighed(self, site: SiteView) -> list[PagePair]:
        """All candidates with any likelihood, also those that lost a page to a better one."""
        tables = self._tables(site, _said(self._proposed(site)), page_languages(site))
        found = [
            table.page_pair(place)
            for table in tables
            for place, score in enumerate(table.scores.tolist())
            if score >= _LEAST
        ]
        return sorted(found, key=_strongest_first)

    def _proposed(self, site: SiteView) -> list[PagePair]:
        return [pair for pairer in self.pairers for pair in pairer.pair(site)]

    def _tables(self, site: SiteView, said: Said, lang_of: Mapping[Url, str]) -> list[Table]:
        """All candidates weighed, first by themselves, then by what that says of others."""
        from diptych.stages.pair.shared.pages_by_language import fill_shelves
        from diptych.stages.pair.shared.similarity import Panel
        from diptych.stages.pair.union.neighbours import link_lists

        shelves = fill_shelves(site, lang_of)
        panels = [
            Panel(shelves[left], shelves[right], site.lexicon(left, right))
            for left, right in combinations(site.langs, 2)
        ]
        tables = [self._weighed(panel, self._nominated(panel, said), said) for panel in panels]
        links = link_lists(site, lang_of)
        context = _Context.of(tables, links, lang_of)
        return [self._weighed_again(table, context) for table in tables]

    def _nominated(self, panel: Panel, said: Said) -> Pairs:
        """What the content says is alike, and what the pairers propose."""
        proposed = [
            (panel.left.place[left], panel.right.place[right])
            for left, right in said
            if left in panel.left.place and right in panel.right.place
        ]
        found = self.content.nominate(panel) if self.content else None
        return _joined(panel, found, proposed)

    def _weighed(self, panel: Panel, pairs: Pairs, said: Said) -> Table:
        from diptych.stages.pair.union.model import load
        from diptych.stages.pair.union.weighing import FEATURES, weigh

        model = load(FEATURES, self.model)
        return weigh(panel, pairs, said, self._measured(panel, pairs), model)

    def _weighed_again(self, table: Table, context: _Context) -> Table:
        from diptych.stages.pair.union.model import load
        from diptych.stages.pair.union.weighing import FEATURES, usual_measures, weigh

        panel = table.panel
        neighbours = context.neighbours(panel.left.lang, panel.right.lang)
        siblings = context.siblings(panel.left.lang, panel.right.lang)
        more = [
            (panel.left.place[left], panel.right.place[right])
            for known in (neighbours, siblings)
            for (left, right), share in known.items()
            if share >= _LIKELY and left in panel.left.place and right in panel.right.place
        ]
        pairs = _joined(panel, table.pairs, more)
        measures = _extended(table, pairs, self._measured)
        return weigh(
            panel, pairs, table.said, measures, load(FEATURES, self.model),
            neighbours=neighbours, siblings=siblings, usual=usual_measures(table, _SURE),
        )  # fmt: skip

    def _measured(self, panel: Panel, pairs: Pairs) -> Measures:
        """What is measured on candidates, whatever is said of others."""
        from diptych.stages.pair.shared.similarity import likeness

        return {**likeness(panel, pairs), "url_model": self._url_scores(panel, pairs)}

    def _url_scores(self, panel: Panel, pairs: Pairs) -> NDArray[np.float32]:
        import numpy as np

        if not self.url_model or not len(pairs):
            return np.zeros(len(pairs), np.float32)
        from diptych.learn.url.pair import load

        return load("").probabilities(
            [panel.left.urls[place] for place in pairs.left],
            [panel.right.urls[place] for place in pairs.right],
        )


@dataclass(frozen=True, slots=True)
class _Context:
    """What is paired for sure, and what that says of others."""

    partner: Mapping[LangPair, Mapping[Url, tuple[Url, float]]]
    """for two languages in either order: the counterpart of a page, and how sure it is"""
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
            langs = LangPair(table.panel.left.lang, table.panel.right.lang)
            there = partner.setdefault(langs, {})
            back = partner.setdefault(LangPair(langs.right, langs.left), {})
            sure = [
                (*urls, score)
                for urls, score in zip(table.urls(), table.scores.tolist(), strict=True)
                if score >= _SURE
            ]
            scores = {(left, right): score for left, right, score in sure}
            for left, right in best_matching(sure):
                there[left] = right, scores[left, right]
                back[right] = left, scores[left, right]
        return cls(partner, links, lang_of)

    def neighbours(self, left: str, right: str) -> dict[tuple[Url, Url], float]:
        """How often pages are linked at the same place from pages that are paired."""
        from diptych.stages.pair.union.neighbours import votes

        known = {url: other for url, (other, _) in self.partner[LangPair(left, right)].items()}
        return votes(sorted(known.items()), self.links, self.lang_of, known)

    def siblings(self, left: str, right: str) -> dict[tuple[Url, Url], float]:
        """How sure two pages have the same counterpart in a third language."""
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


def _joined(panel: Panel, pairs: Pairs | None, more: Iterable[tuple[int, int]]) -> Pairs:
    """Pairs and more of them, in order, each once."""
    import numpy as np

    from diptych.stages.pair.shared.similarity import Pairs

    width = max(len(panel.right), 1)
    keys = [np.array([left * width + right for left, right in more], np.int64)]
    if pairs is not None:
        keys.append(pairs.left.astype(np.int64) * width + pairs.right)
    found = np.unique(np.concatenate(keys))
    return Pairs((found // width).astype(np.int32), (found % width).astype(np.int32))


def _extended(table: Table, pairs: Pairs, measured: Callable[[Panel, Pairs], Measures]) -> Measures:
    """The measures of candidates that are in a table already, and of those that have come since."""
    import numpy as np

    from diptych.stages.pair.shared.similarity import Pairs

    width = max(len(table.panel.right), 1)
    keys = pairs.left.astype(np.int64) * width + pairs.right
    known = table.pairs.left.astype(np.int64) * width + table.pairs.right
    is_new = ~np.isin(keys, known)
    found = measured(table.panel, Pairs(pairs.left[is_new], pairs.right[is_new]))
    measures: Measures = {}
    for name, before in table.measures.items():
        column = np.zeros(len(keys), np.float32)
        column[is_new], column[~is_new] = found[name], before
        measures[name] = column
    return measures


def _said(pairs: Iterable[PagePair]) -> Said:
    """What pairers propose, by pages; the strongest where one says it twice."""
    said: defaultdict[tuple[Url, Url], dict[str, float]] = defaultdict(dict)
    for pair in pairs:
        known = said[pair.left, pair.right]
        for name in pair.evidence.split("+"):
            known[name] = max(pair.score, known.get(name, 0.0))
    return dict(said)


def _settled(
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
            if score >= threshold and table.measures["text"][place] >= _LEAST_TEXT:
                weights[pair] = 1e-6 + max(0.0, _logit(score) - _logit(threshold))
        pairs = best_matching((*pair, weight) for pair, weight in weights.items())
        matched.extend((*pair, weights[pair]) for pair in pairs)
    found: list[PagePair] = []
    for group in consistent_groups(matched, lang_of):
        for one, other in combinations(group, 2):
            pair = (one, other) if (one, other) in known else (other, one)
            if pair in known:
                table, place = known[pair]
                if table.scores[place] >= _IMPLIED * threshold:
                    found.append(table.page_pair(place))
    return found


def _logit(score: float) -> float:
    score = min(max(score, 1e-6), 1 - 1e-6)
    return log(score / (1 - score))


def _in_both(tables: Sequence[Table]) -> Iterator[PagePair]:
    """Pages that are in two of the languages, as pairs of themselves."""
    panels = [table.panel for table in tables]
    sides = [side for panel in panels for side in (panel.left, panel.right)]
    mixed = {url: dict(scores) for side in sides for url, scores in side.mixed.items()}
    for url, shares in sorted(mixed.items()):
        for panel in panels:
            langs = panel.left.lang, panel.right.lang
            both = [shares.get(lang, 0.0) for lang in langs]
            share = min(both) / max(sum(both), 1e-6)
            if share >= _MIXED:
                yield PagePair(url, url, *langs, 2 * share, _BOTH)


def _strongest_first(pair: PagePair) -> tuple[float, str, str, str, str]:
    return -pair.score, pair.left, pair.right, pair.left_lang, pair.right_lang
