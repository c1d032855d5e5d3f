"""Tests if a site is bilingual, by few of its pages (Barbosa et al. 2011, section 2.1).

The link predictor says which links of a page may lead to a language that is missing; the pages
behind the likeliest are fetched one after the other, and their languages identified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from diptych.language.codes import hreflang_language, primary, same_language
from diptych.language.identify import identify
from diptych.protocols import SiteTest
from diptych.reason import Reason
from diptych.stages.detect.predictor import model as link_predictor
from diptych.stages.detect.predictor.contexts import Question, features_of_links
from diptych.stages.detect.shared.naming import names_language
from diptych.stages.detect.shared.site_pages import ShownLanguages, main_language, site_links
from diptych.types import Decision, Link, Page, Url


class _Candidate(NamedTuple):
    """A link that may be requested, and the probability that it leads to a missing language."""

    link: Link
    probability: float
    is_part: bool = False
    """its target stands for the page that has the link, which has no text of its own"""


@dataclass(frozen=True, slots=True)
class Detect:
    """Follows the links that most likely lead to the language that is missing."""

    threshold: float = 0.5
    """least probability of a link that is followed"""
    most: int = 4
    """pages fetched beyond the start page"""
    misses: int = 3
    """links that may lead to no page of the site before it is given up"""
    model: str = ""
    """folder of a link predictor; the one that comes with the package if empty"""

    def new_test(self, langs: Sequence[str]) -> SiteTest:
        """The test of one site."""
        return _SiteTest(self, tuple(langs))


class _SiteTest:
    """The test of one site: its pages so far, and the links that may be requested."""

    def __init__(self, settings: Detect, langs: tuple[str, ...]) -> None:
        self._settings = settings
        self._shown = ShownLanguages(langs)
        self._pages: list[Page] = []
        self._requested: dict[Url, _Candidate] = {}
        self._waiting: _Candidate | None = None
        self._missed = 0
        self._doubtful: set[str] = set()
        """languages that only a page which may be a single one has shown"""
        self._candidates_by_page: dict[tuple[int, frozenset[str]], list[_Candidate]] = {}
        """(number of a page, missing languages) -> its links"""

    def read(self, page: Page) -> None:
        """Take a page of the site; one that was reached by its title only may be a single one."""
        requested, self._waiting = self._waiting, None
        before = self._shown.shown
        lang = self._shown.add_page(page)
        if lang and lang not in before and self._may_be_single(page, lang, requested):
            self._doubtful.add(lang)
            self._shown.remove_page(page.url, lang)
        self._pages.append(page)

    def _may_be_single(self, page: Page, lang: str, requested: _Candidate | None) -> bool:
        """True if a page may be the only one in its language: no link named the language."""
        if (
            requested is None
            or requested.is_part
            or lang in self._doubtful
            or names_language(requested.link, lang)
        ):
            return False
        if all(main_language(each) is None for each in self._pages):
            return False  # the first page with text is in the language of the site
        return not self._is_at_home(page, lang)

    def _is_at_home(self, page: Page, lang: str) -> bool:
        """True if the links of a page are in its language as well."""
        anchors = dict.fromkeys(link.anchor for link in site_links(page, self._pages[0].url))
        found = identify(" ".join(anchors), self._shown.langs, closed=False)
        return bool(found) and same_language(found[0].lang, lang)

    def miss(self, url: Url) -> None:
        """Take note that a requested URL is no page; a redirect is read under another address."""
        self._missed += self._waiting is not None
        self._waiting = None

    def wanted_links(self) -> Sequence[Link]:
        """The likeliest link, if one more page is needed and allowed."""
        if self._waiting is not None or not self._pages or self._shown.is_bilingual:
            return ()
        if len(self._pages) > self._settings.most or self._missed >= self._settings.misses:
            return ()
        best = next(iter(self._candidates()), None)
        if best is None or best.probability < self._settings.threshold:
            return ()
        self._waiting = self._requested[best.link.url] = best
        return (best.link,)

    def _candidates(self) -> list[_Candidate]:
        """Links that may be requested, likeliest first; declared translations before all others."""
        question = Question.of(self._shown.langs, self._shown.shown)
        best: dict[Url, _Candidate] = {}
        for number, page in enumerate(self._pages):
            key = (number, question.missing)
            if key not in self._candidates_by_page:
                self._candidates_by_page[key] = self._candidates_of(page, question)
            for each in self._candidates_by_page[key]:
                known = best.get(each.link.url)
                if known is None or each.probability > known.probability:
                    best[each.link.url] = each
        done = {page.url for page in self._pages} | self._requested.keys()
        left = [each for url, each in best.items() if url not in done]
        return sorted(left, key=lambda each: (-each.probability, each.link.url))

    def _candidates_of(self, page: Page, question: Question) -> list[_Candidate]:
        model = link_predictor.load(self._settings.model)
        links = list(site_links(page, self._pages[0].url))
        rows = features_of_links(page, links, question)
        parts = _parts(page, links)
        found = []
        for link, row in zip(links, rows, strict=True):
            probability = 1.0 if _is_declared(link, question) else model.probability(row)
            if link.url in parts:
                probability = self._probability_of_part(probability)
            found.append(_Candidate(link, probability, link.url in parts))
        return found

    def _probability_of_part(self, probability: float) -> float:
        """1 while no page with text was read; then the threshold, so that switchers come first."""
        return max(probability, self._settings.threshold if self._shown.shown else 1.0)

    def decision(self) -> Decision:
        """Bilingual if two different pages have shown two of the languages."""
        if self._shown.is_bilingual:
            return Decision(True, self._shown.confidence)
        left = (
            max((each.probability for each in self._candidates()), default=0.0)
            if self._pages
            else 0.0
        )
        return Decision(False, left / 2, self._reason())

    def _reason(self) -> str:
        if not self._pages:
            return Reason.NOT_FETCHED
        if self._doubtful:
            return Reason.SINGLE_PAGE
        if self._shown.shown:
            return Reason.ONE_LANGUAGE if self._requested else Reason.NO_CANDIDATE
        return Reason.OTHER_LANGUAGES if any(page.lang for page in self._pages) else Reason.NO_TEXT

    def pages(self) -> Sequence[tuple[str, Url]]:
        """A page for each language that was found."""
        return [(lang, url) for lang, url, _ in self._shown.example_pages()]


def _is_declared(link: Link, question: Question) -> bool:
    """True if a link is a declared translation into a missing language."""
    lang = primary(hreflang_language(link.hreflang))
    return link.rel == "alternate" and lang in question.missing


def _parts(page: Page, links: Sequence[Link]) -> frozenset[Url]:
    """The targets that stand for a page without text: its frames, its refresh, or its only link."""
    if main_language(page) is not None:
        return frozenset()
    urls = frozenset(link.url for link in links)
    if len(urls) == 1:
        return urls
    return frozenset(link.url for link in links if link.rel in ("frame", "refresh"))
