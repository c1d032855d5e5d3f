"""The languages found on a site's pages, and the links of a page within its site.

A page counts for a language if it has enough text and its text is not a duplicate: some sites
return the start page, or an untranslated copy, if a translation is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from diptych.language.codes import MIN_PAGE_SHARE, asked_language
from diptych.page.distinct import content_of
from diptych.text.urls import NOT_HTML, extension, site_name
from diptych.types import LangScore, Link, Page, Url

_MIN_TEXT = 60  # minimum characters; a page that only offers a choice of languages has fewer
_MIN_TEXT_OF_REDIRECT = 400  # minimum characters if a page has a refresh and may only announce it
_MIN_SURE = 0.5  # minimum score of a page's language; usually far higher
_MAX_LINKS = 2_000  # links read per page, from its top and bottom, where language switchers are
_NO_PAGE_ENDINGS = NOT_HTML | {
    "rss",
    "txt",
    "xml",
}  # the last three are sometimes read as pages, but have no text
_INDEX_FILE = re.compile(r"/(?:index\.(?:html?|php|aspx?|jsp))?(?=\?|\Z)", re.IGNORECASE)
_RELATIONS = frozenset({"a", "area", "frame", "alternate", "refresh"})


def main_language(page: Page) -> LangScore | None:
    """The main language of a page; None if the page has too little text or the score is too low."""
    record = page.record
    is_redirect = any(link.rel == "refresh" and link.url != page.url for link in page.links)
    if record.text_length < (_MIN_TEXT_OF_REDIRECT if is_redirect else _MIN_TEXT):
        return None
    best = record.langs[0] if record.langs else LangScore(record.lang, 1.0)
    return best if best.lang and best.score >= _MIN_SURE else None


def shown_language(page: Page, langs: Sequence[str], named: str = "") -> LangScore | None:
    """The requested language of a page, with its score; None if it is in no requested language.

    A page in several languages counts only for its main language; otherwise, a list of names or a
    fragment of code, which is assigned to a language too, could make any page look bilingual.
    `named` is the language that the link to the page named.  If enough of the page is in this
    language, it counts as the main language.
    """
    best = main_language(page)
    if best is None:
        return None
    for lang, share in page.record.langs:
        if named and share >= MIN_PAGE_SHARE and asked_language(lang, langs) == named:
            return LangScore(named, share)
    lang = asked_language(best.lang, langs)
    return LangScore(lang, best.score) if lang else None


def site_links(page: Page, start: Url) -> Iterator[Link]:
    """The distinct links of a page that may lead to other pages of its site.

    `start` is the URL of the site's start page.
    """
    name = site_name(start)
    links = page.links
    if len(links) > _MAX_LINKS:
        links = (*links[: _MAX_LINKS // 2], *links[-_MAX_LINKS // 2 :])
    for link in dict.fromkeys(links):
        if link.rel not in _RELATIONS or link.url == page.url:
            continue
        if extension(link.url) in _NO_PAGE_ENDINGS:
            continue
        if site_name(link.url) == name:
            yield link


def address(url: Url) -> str:
    """Strip the scheme, index file and trailing slash from a URL; they rarely distinguish pages.

    >>> address(Url("https://x.org/fr/index.html")), address(Url("http://x.org/fr"))
    ('x.org/fr', 'x.org/fr')
    """
    return _INDEX_FILE.sub("", url.partition("://")[2], count=1)


class ShownLanguages:
    """The pages found in each requested language."""

    def __init__(self, langs: Sequence[str]) -> None:
        self.langs = tuple(langs)
        self._pages: dict[str, list[tuple[Url, float]]] = {lang: [] for lang in langs}
        self._contents: set[str] = set()

    def add_page(self, page: Page, named: str = "") -> str:
        """Add a page, and return its language, or "" if the page does not count.

        A page does not count if it is in no requested language or its text is a duplicate.  `named`
        is the language that the link to the page named, if any.
        """
        if content_of(page.record) in self._contents:
            return ""
        self._contents.add(content_of(page.record))
        found = shown_language(page, self.langs, named)
        if found is None:
            return ""
        self._pages[found.lang].append((page.url, found.score))
        return found.lang

    def remove_page(self, url: Url, lang: str) -> None:
        """Remove a page from the pages found in a language."""
        self._pages[lang] = [each for each in self._pages[lang] if each[0] != url]

    def urls(self, lang: str) -> list[Url]:
        """The URLs of the pages found in a language."""
        return [url for url, _ in self._pages[lang]]

    def count(self, lang: str) -> int:
        """The number of pages found in a language."""
        return len(self._pages[lang])

    @property
    def shown(self) -> tuple[str, ...]:
        """The languages that were found, in the order of the requested languages."""
        return tuple(lang for lang in self.langs if self._pages[lang])

    def example_pages(self) -> tuple[tuple[str, Url, float], ...]:
        """The first page found in each language, with its language score."""
        return tuple((lang, *self._pages[lang][0]) for lang in self.shown)

    @property
    def is_bilingual(self) -> bool:
        """True if pages in at least two of the requested languages were found."""
        return len(self.shown) > 1

    @property
    def confidence(self) -> float:
        """The second-highest score among the example pages; 0 if there are fewer than two."""
        scores = sorted((score for _, _, score in self.example_pages()), reverse=True)
        return scores[1] if len(scores) > 1 else 0.0
