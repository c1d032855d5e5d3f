"""Detects bilingual sites by fetching a few pages (Barbosa et al. 2011, section 2.1).

The link predictor estimates which links of a page lead to a missing language, i.e. a requested
language in which no page has been found yet.  The detector fetches the targets of these links one
by one, most probable first, and identifies their languages.  If it doubts that the site has more
pages in a language, it fetches another page in that language as a sample.
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
from diptych.stages.detect.predictor.doubts import (
    doubt,
    is_by_machine,
    is_translated,
    own_links,
)
from diptych.stages.detect.shared.naming import declared_by, names_language
from diptych.stages.detect.shared.site_pages import (
    ShownLanguages,
    address,
    main_language,
    site_links,
)
from diptych.types import Decision, Link, Page, Url


class _Candidate(NamedTuple):
    """A link that may be requested, and its probability of leading to a language not found yet."""

    link: Link
    probability: float
    is_part: bool = False
    """True if the target replaces the linking page, which has no text of its own"""
    sample_of: str = ""
    """language of the linking page, if this link is requested to settle a doubt about that
    language"""


@dataclass(frozen=True, slots=True)
class Detect:
    """Follows the links most likely to lead to a requested language that has not been found yet."""

    threshold: float = 0.5
    """minimum probability for a link to be followed"""
    most: int = 4
    """maximum number of pages fetched besides the start page"""
    misses: int = 3
    """number of failed requests after which the test ends"""
    model: str = ""
    """folder of a link predictor; if empty, the one shipped with the package"""

    def new_test(self, langs: Sequence[str]) -> SiteTest:
        """Create a test of whether one site is bilingual."""
        return _SiteTest(self, tuple(langs))


class _SiteTest:
    """Tests whether one site is bilingual; keeps the pages read and the links to request."""

    def __init__(self, settings: Detect, langs: tuple[str, ...]) -> None:
        self._settings = settings
        self._shown = ShownLanguages(langs)
        self._pages: list[Page] = []
        self._requested: dict[Url, _Candidate] = {}
        self._waiting: _Candidate | None = None
        self._missed = 0
        self._doubtful: set[str] = set()
        """languages found only on a page that may be the only one in its language"""
        self._untranslated: set[str] = set()
        """languages that a link named although its target is in another language"""
        self._sampled: dict[str, bool] = {}
        """language in doubt -> True if the sample page is in that language"""
        self._candidates_by_page: dict[tuple[int, frozenset[str]], list[_Candidate]] = {}
        """(index of a page, missing languages) -> links of the page"""

    def read(self, page: Page) -> None:
        """Process a fetched page, but ignore it if it may be the only page in its language."""
        requested, self._waiting = self._waiting, None
        self._pages.append(page)
        if is_by_machine(page, self._pages[0]):
            return
        before = self._shown.shown
        named = self._named(requested)
        lang = self._shown.add_page(page, named)
        if requested is not None and requested.sample_of and lang:
            self._sampled[requested.sample_of] = is_translated(page, requested.sample_of)
        elif named and lang not in ("", named):
            self._untranslated.add(named)
        if lang and lang not in before and self._may_be_single(page, lang, requested):
            self._doubtful.add(lang)
            self._shown.remove_page(page.url, lang)

    def _named(self, requested: _Candidate | None) -> str:
        """The language that the link to a fetched page names for that page; "" if there is none.

        `requested` is the link, if there is one.  Only languages that the user has requested, and
        in which no page has been found yet, are considered.
        """
        if requested is None:
            return ""
        missing = (lang for lang in self._shown.langs if lang not in self._shown.shown)
        return next((lang for lang in missing if names_language(requested.link, lang)), "")

    def _may_be_single(self, page: Page, lang: str, requested: _Candidate | None) -> bool:
        """True if a page may be the only one in its language.

        This is suspected if the link to the page does not name the language, and the link texts on
        the page are in another language.
        """
        if requested is None or requested.is_part or names_language(requested.link, lang):
            return False
        if all(main_language(each) is None for each in self._pages[:-1]):
            return False  # the first page with text is in the site's main language
        return not self._is_at_home(page, lang)

    def _is_at_home(self, page: Page, lang: str) -> bool:
        """True if the link texts on a page are in `lang`, the language of the page."""
        anchors = dict.fromkeys(link.anchor for link in site_links(page, self._pages[0].url))
        found = identify(" ".join(anchors), self._shown.langs, closed=False)
        return bool(found) and same_language(found[0].lang, lang)

    def miss(self, url: Url) -> None:
        """Record that the requested URL returned no page; redirect targets are read separately."""
        self._missed += self._waiting is not None
        self._waiting = None

    def wanted_links(self) -> Sequence[Link]:
        """Return the link to request next, if another page is needed and the limits allow it."""
        if self._waiting is not None or not self._pages:
            return ()
        if len(self._pages) > self._settings.most or self._missed >= self._settings.misses:
            return ()
        best = self._sample() if self._shown.is_bilingual else self._best_candidate()
        if best is None:
            return ()
        self._waiting = self._requested[best.link.url] = best
        return (best.link,)

    # -- missing languages -----------------------------------------------------------------------

    def _best_candidate(self) -> _Candidate | None:
        """The link most likely to lead to a language not found yet; None if none is suitable."""
        best = next(iter(self._candidates(self._question())), None)
        if best is None or best.probability < self._settings.threshold:
            return self._way_round()
        return best if self._may_have_two() else None

    def _may_have_two(self) -> bool:
        """False if the start page is in a third language and leads to only one requested language.

        A bilingual site would have switchers to both languages.
        """
        if self._shown.shown or all(main_language(page) is None for page in self._pages):
            return True
        wanted = self._question()
        likely = [
            any(
                each.probability >= self._settings.threshold
                for each in self._candidates(wanted._replace(missing=frozenset({lang})))
            )
            for lang in sorted(wanted.missing)
        ]
        return sum(likely) > 1

    def _question(self) -> Question:
        return Question.of(self._shown.langs, self._shown.shown)

    def _candidates(self, question: Question) -> list[_Candidate]:
        """The links that have not been requested yet, most promising first.

        Links are ranked by the probability that they lead to a language missing in `question`.
        """
        best: dict[str, _Candidate] = {}
        for number, page in enumerate(self._pages):
            key = (number, question.missing)
            if key not in self._candidates_by_page:
                self._candidates_by_page[key] = self._candidates_of(page, question)
            for each in self._candidates_by_page[key]:
                known = best.get(address(each.link.url))
                if known is None or each.probability > known.probability:
                    best[address(each.link.url)] = each
        done = self._done()
        left = [each for place, each in best.items() if place not in done]
        return sorted(left, key=lambda each: (-each.probability, each.link.url))

    def _done(self) -> set[str]:
        """The addresses of all pages that were read or requested."""
        return {address(page.url) for page in self._pages} | set(map(address, self._requested))

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
        """Raise the probability of a link whose target replaces a page without text.

        The probability becomes 1 if no requested language has been found yet; otherwise, it is
        raised at least to the threshold for following a link.
        """
        return max(probability, self._settings.threshold if self._shown.shown else 1.0)

    # -- languages in doubt ----------------------------------------------------------------------

    def _way_round(self) -> _Candidate | None:
        """A link to another page of the site, if the page declared as a translation has no text.

        Some sites declare an entrance page as the translation, and the entrance page leads straight
        back.  Another page in a language already found may have a switcher that works.  If there is
        no such link, the result is None.
        """
        silent = {address(page.url): page for page in self._pages if main_language(page) is None}
        missing = self._question().missing
        for lang in self._shown.shown:
            page = self._pages_in(lang)[0]
            for link in site_links(page, self._pages[0].url):
                other = silent.get(address(link.url))
                if other is not None and any(names_language(link, each) for each in missing):
                    left = self._left(own_links(page, other, self._pages[0].url))
                    return _Candidate(left[0], 1.0, sample_of=lang) if left else None
        return None

    def _sample(self) -> _Candidate | None:
        """A link to a sample page in a doubtful language.

        The result is None if no sample can affect the decision.
        """
        in_doubt = self._in_doubt()
        found = [self._sample_of(lang) for lang in in_doubt]
        samples = [each for each in found if each is not None]
        sure = len(self._shown.shown) - len(in_doubt)
        return samples[0] if samples and sure + len(samples) > 1 else None

    def _sample_of(self, lang: str) -> _Candidate | None:
        """The link to a sample page in a language; None if there is none.

        A link that names the language is preferred, then the link with the longest text, which is
        probably a title.
        """
        if lang in self._sampled:
            return None
        page, other, start = self._pages_in(lang)[0], self._other(lang), self._pages[0].url
        named = (
            link for link in site_links(other, start) if declared_by(link, (lang,)) == primary(lang)
        )
        own = own_links(page, other, start)
        own.sort(key=lambda link: len(link.anchor), reverse=True)
        left = self._left([*named, *own])
        return _Candidate(left[0], 1.0, sample_of=lang) if left else None

    def _left(self, links: Sequence[Link]) -> list[Link]:
        """The links whose targets have not been read or requested yet."""
        done = self._done()
        return [link for link in links if address(link.url) not in done]

    def _in_doubt(self) -> dict[str, Reason]:
        """Map each language that was found but is doubtful to the reason for the doubt."""
        found = {lang: self._doubt(lang) for lang in self._shown.shown}
        return {lang: reason for lang, reason in found.items() if reason is not None}

    def _doubt(self, lang: str) -> Reason | None:
        is_sampled = self._sampled.get(lang, False)
        if lang in self._untranslated and not is_sampled:
            return Reason.SINGLE_PAGE
        pages, langs = self._pages_in(lang), self._shown.langs
        return doubt(pages, self._other(lang), lang, langs, is_sampled=is_sampled)

    def _other(self, lang: str) -> Page:
        """The first page found in a language other than `lang`."""
        return next(self._pages_in(each)[0] for each in self._shown.shown if each != lang)

    def _pages_in(self, lang: str) -> list[Page]:
        """The pages found in a language."""
        pages = {page.url: page for page in self._pages}
        return [pages[url] for url in self._shown.urls(lang)]

    # -- decision --------------------------------------------------------------------------------

    def decision(self) -> Decision:
        """Accept the site if at least two languages were found that are not in doubt."""
        if self._shown.is_bilingual:
            in_doubt, score = self._in_doubt(), self._shown.confidence
            if len(self._shown.shown) - len(in_doubt) > 1:
                return Decision(True, score)
            return Decision(False, score / 2, next(iter(in_doubt.values())))
        left = (
            max((each.probability for each in self._candidates(self._question())), default=0.0)
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
        """One page for each language that was found."""
        return [(lang, url) for lang, url, _ in self._shown.example_pages()]


def _is_declared(link: Link, question: Question) -> bool:
    """True if a link declares its target as a translation into a language not found yet."""
    lang = primary(hreflang_language(link.hreflang))
    return link.rel == "alternate" and lang in question.missing


def _parts(page: Page, links: Sequence[Link]) -> frozenset[Url]:
    """The URLs to read instead of a page without text: frames, refresh target or the only link."""
    if main_language(page) is not None:
        return frozenset()
    urls = frozenset(link.url for link in links)
    if len(urls) == 1:
        return urls
    return frozenset(link.url for link in links if link.rel in ("frame", "refresh"))
