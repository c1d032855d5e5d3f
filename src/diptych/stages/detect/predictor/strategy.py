"""Is a site bilingual?  Few pages tell (Barbosa et al. 2011, section 2.1).

The link predictor says which links of a page may lead to a language that is missing; the pages
behind the likeliest are fetched one after the other, and their languages identified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from diptych.language.codes import hreflang_language, primary, same_language
from diptych.language.identify import identify
from diptych.protocols import Inquiry
from diptych.stages.detect.predictor import model as link_predictor
from diptych.stages.detect.predictor.contexts import Question, features_of_links
from diptych.stages.detect.shared.naming import says
from diptych.stages.detect.shared.site_pages import Shown, main_language, site_links
from diptych.types import Decision, Link, Page, Reason, Url

__all__ = ["Detect"]


class _Asked(NamedTuple):
    """A link that may be asked for, and how likely it leads to a missing language."""

    link: Link
    chance: float
    is_part: bool = False
    """what is behind it stands for the page that has the link, which has no text of its own"""


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

    def inquire(self, langs: Sequence[str]) -> Inquiry:
        """The test of one site."""
        return _Inquiry(self, tuple(langs))


class _Inquiry:
    """What is known of one site so far."""

    def __init__(self, settings: Detect, langs: tuple[str, ...]) -> None:
        self._settings = settings
        self._shown = Shown(langs)
        self._pages: list[Page] = []
        self._asked: dict[Url, _Asked] = {}
        self._waiting: _Asked | None = None
        self._missed = 0
        self._doubtful: set[str] = set()
        """languages that were shown by a page that may be a single one"""
        self._rated: dict[tuple[int, frozenset[str]], list[_Asked]] = {}
        """number of a page, languages missing -> its links"""

    def read(self, page: Page) -> None:
        """A page of the site; one that was reached by its title only must not stand alone."""
        asked, self._waiting = self._waiting, None
        before = self._shown.shown
        lang = self._shown.see(page)
        if lang and lang not in before and self._is_stray(page, lang, asked):
            self._doubtful.add(lang)
            self._shown.forget(page.url, lang)
        self._pages.append(page)

    def _is_stray(self, page: Page, lang: str, asked: _Asked | None) -> bool:
        """Whether a page may be the only one in its language: nothing said there would be more."""
        if asked is None or asked.is_part or lang in self._doubtful or says(asked.link, lang):
            return False
        if all(main_language(each) is None for each in self._pages):
            return False  # the first page with text is in the language of the site
        return not self._is_at_home(page, lang)

    def _is_at_home(self, page: Page, lang: str) -> bool:
        """Whether what a page links to is in its language as well."""
        anchors = dict.fromkeys(link.anchor for link in site_links(page, self._pages[0].url))
        found = identify(" ".join(anchors), self._shown.langs, closed=False)
        return bool(found) and same_language(found[0].lang, lang)

    def miss(self, url: Url) -> None:
        """What was asked for is no page; after a redirect it was read under another address."""
        self._missed += self._waiting is not None
        self._waiting = None

    def ask(self) -> Sequence[Link]:
        """The likeliest link, as long as there is one, and it is needed and allowed."""
        if self._waiting is not None or not self._pages or self._shown.is_bilingual:
            return ()
        if len(self._pages) > self._settings.most or self._missed >= self._settings.misses:
            return ()
        best = next(iter(self._candidates()), None)
        if best is None or best.chance < self._settings.threshold:
            return ()
        self._waiting = self._asked[best.link.url] = best
        return (best.link,)

    def _candidates(self) -> list[_Asked]:
        """What may be asked for, likeliest first; declared translations before all others."""
        question = Question.of(self._shown.langs, self._shown.shown)
        best: dict[Url, _Asked] = {}
        for number, page in enumerate(self._pages):
            key = (number, question.missing)
            if key not in self._rated:
                self._rated[key] = self._rate(page, question)
            for each in self._rated[key]:
                known = best.get(each.link.url)
                if known is None or each.chance > known.chance:
                    best[each.link.url] = each
        done = {page.url for page in self._pages} | self._asked.keys()
        left = [each for url, each in best.items() if url not in done]
        return sorted(left, key=lambda each: (-each.chance, each.link.url))

    def _rate(self, page: Page, question: Question) -> list[_Asked]:
        model = link_predictor.load(self._settings.model)
        links = list(site_links(page, self._pages[0].url))
        rows = features_of_links(page, links, question)
        parts = _parts(page, links)
        found = []
        for link, row in zip(links, rows, strict=True):
            chance = 1.0 if _is_declared(link, question) else model.probability(row)
            if link.url in parts:
                chance = self._chance_of_part(chance)
            found.append(_Asked(link, chance, link.url in parts))
        return found

    def _chance_of_part(self, chance: float) -> float:
        """The first thing to see while there is no text; then the last, after all switchers."""
        return max(chance, self._settings.threshold if self._shown.shown else 1.0)

    def decision(self) -> Decision:
        """Bilingual if two different pages have shown two of the languages."""
        if self._shown.is_bilingual:
            return Decision(True, self._shown.sureness)
        left = (
            max((each.chance for each in self._candidates()), default=0.0) if self._pages else 0.0
        )
        return Decision(False, left / 2, self._reason())

    def _reason(self) -> str:
        if not self._pages:
            return Reason.NOT_FETCHED
        if self._doubtful:
            return Reason.SINGLE_PAGE
        if self._shown.shown:
            return Reason.ONE_LANGUAGE if self._asked else Reason.NO_CANDIDATE
        return Reason.OTHER_LANGUAGES if any(page.lang for page in self._pages) else Reason.NO_TEXT

    def pages(self) -> Sequence[tuple[str, Url]]:
        """A page for each language that was found."""
        return [(lang, url) for lang, url, _ in self._shown.proof()]


def _is_declared(link: Link, question: Question) -> bool:
    """Whether a link is a declared translation into a missing language."""
    lang = primary(hreflang_language(link.hreflang))
    return link.rel == "alternate" and lang in question.missing


def _parts(page: Page, links: Sequence[Link]) -> frozenset[Url]:
    """Where a page without text leads by itself: its frames, its refresh, or its only link."""
    if main_language(page) is not None:
        return frozenset()
    urls = frozenset(link.url for link in links)
    if len(urls) == 1:
        return urls
    return frozenset(link.url for link in links if link.rel in ("frame", "refresh"))
