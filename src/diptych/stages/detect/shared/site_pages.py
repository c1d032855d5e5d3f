"""The languages that pages of a site have shown, and the links of a page within its site.

A page counts for a language if it has text enough, and no text that was seen before: for a missing
translation sites answer with the start page, or with an untranslated copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from diptych.language.codes import MIN_PAGE_SHARE, asked_language
from diptych.page.distinct import content_of
from diptych.text.urls import NOT_HTML, extension, site_name
from diptych.types import LangScore, Link, Page, Url

_MIN_TEXT = 60  # characters; a page that only offers languages has less
_MIN_TEXT_OF_REDIRECT = 400  # characters of a page with a refresh, which may only announce that
_MIN_SURE = 0.5  # score of the language of a page; mostly it is much higher, or there is no text
_MAX_LINKS = 2_000  # of a page, from its top and bottom, where switchers are
_NO_PAGE_ENDINGS = NOT_HTML | {
    "rss",
    "txt",
    "xml",
}  # the last are read as pages at times, but have no text
_INDEX_FILE = re.compile(r"/(?:index\.(?:html?|php|aspx?|jsp))?(?=\?|\Z)", re.IGNORECASE)
_RELATIONS = frozenset({"a", "area", "frame", "alternate", "refresh"})


def main_language(page: Page) -> LangScore | None:
    """The language of a page, if it has text enough to be sure of it."""
    record = page.record
    is_redirect = any(link.rel == "refresh" and link.url != page.url for link in page.links)
    if record.text_length < (_MIN_TEXT_OF_REDIRECT if is_redirect else _MIN_TEXT):
        return None
    best = record.langs[0] if record.langs else LangScore(record.lang, 1.0)
    return best if best.lang and best.score >= _MIN_SURE else None


def shown_language(page: Page, langs: Sequence[str], named: str = "") -> LangScore | None:
    """The language asked for that a page is in, and its score; None if it is in none.

    A page in several counts for the first of them only: the shares of a sketch are those of a
    closed choice, in which lists of names and pieces of code make any page bilingual.  The language
    that a link has named as that of the page is its first.
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
    """The links of a page that may lead to other pages of its site, each once."""
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
    """A URL without scheme, index file and last slash, which hardly ever make another page.

    >>> address(Url("https://x.org/fr/index.html")), address(Url("http://x.org/fr"))
    ('x.org/fr', 'x.org/fr')
    """
    return _INDEX_FILE.sub("", url.partition("://")[2], count=1)


class ShownLanguages:
    """The pages that have shown each of the languages asked for."""

    def __init__(self, langs: Sequence[str]) -> None:
        self.langs = tuple(langs)
        self._pages: dict[str, list[tuple[Url, float]]] = {lang: [] for lang in langs}
        self._contents: set[str] = set()

    def add_page(self, page: Page, named: str = "") -> str:
        """Add a page, of which a link may have named the language.

        Returns the language that it shows, empty if its text was seen before.
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
        """Remove a page from those that have shown a language."""
        self._pages[lang] = [each for each in self._pages[lang] if each[0] != url]

    def urls(self, lang: str) -> list[Url]:
        """The pages that have shown a language."""
        return [url for url, _ in self._pages[lang]]

    def count(self, lang: str) -> int:
        """The number of pages that have shown a language."""
        return len(self._pages[lang])

    @property
    def shown(self) -> tuple[str, ...]:
        """The languages that were shown, in the order they were asked for."""
        return tuple(lang for lang in self.langs if self._pages[lang])

    def example_pages(self) -> tuple[tuple[str, Url, float], ...]:
        """The first page that has shown each language."""
        return tuple((lang, *self._pages[lang][0]) for lang in self.shown)

    @property
    def is_bilingual(self) -> bool:
        """True if two languages were shown, each by a page of its own."""
        return len(self.shown) > 1

    @property
    def confidence(self) -> float:
        """The second highest score of the languages shown."""
        scores = sorted((score for _, _, score in self.example_pages()), reverse=True)
        return scores[1] if len(scores) > 1 else 0.0
