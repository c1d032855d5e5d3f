"""What all site tests ask of a page: the languages it is in, and the pages of its site it links to.

A page counts for a language if it has text enough, and is not the same text once more: sites answer
with the start page, or with an untranslated copy, where a translation is not there yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diptych.language.codes import asked_language
from diptych.text.urls import NOT_HTML, extension, site_name
from diptych.types import LangScore, Link, Page, Url

__all__ = ["Shown", "main_language", "shown_language", "site_links"]

_MIN_TEXT = 60  # characters: a page to choose a language at has less
_MIN_PASSING = 400  # of one that leads on by itself: it has more to say than that it does
_SURE = 0.5  # of the language of a page; identification is clear or has too little text
_MOST_LINKS = 2_000  # of a page that are looked at; switchers stand at its top or at its bottom
_NO_PAGE = NOT_HTML | {"rss", "txt", "xml"}  # the last are read as pages at times, but have no text
_RELATIONS = frozenset({"a", "area", "frame", "alternate", "refresh"})


def main_language(page: Page) -> LangScore | None:
    """The language of a page, if it has text enough to be sure of it."""
    record = page.record
    is_passing = any(link.rel == "refresh" and link.url != page.url for link in page.links)
    if record.text_length < (_MIN_PASSING if is_passing else _MIN_TEXT):
        return None
    best = record.langs[0] if record.langs else LangScore(record.lang, 1.0)
    return best if best.lang and best.score >= _SURE else None


def shown_language(page: Page, langs: Sequence[str]) -> LangScore | None:
    """Which of the languages asked for a page is in, and how surely.

    A page in several counts for the first of them only: the shares of a sketch are those of a
    closed choice, in which lists of names and pieces of code make any page bilingual.
    """
    best = main_language(page)
    if best is None:
        return None
    lang = asked_language(best.lang, langs)
    return LangScore(lang, best.score) if lang else None


def site_links(page: Page, start: Url) -> Iterator[Link]:
    """The links of a page that may lead to other pages of its site, each once."""
    name = site_name(start)
    links = page.links
    if len(links) > _MOST_LINKS:
        links = (*links[: _MOST_LINKS // 2], *links[-_MOST_LINKS // 2 :])
    for link in dict.fromkeys(links):
        if link.rel not in _RELATIONS or link.url == page.url:
            continue
        if extension(link.url) in _NO_PAGE:
            continue
        if site_name(link.url) == name:
            yield link


class Shown:
    """Which pages have shown which of the languages asked for."""

    def __init__(self, langs: Sequence[str]) -> None:
        self.langs = tuple(langs)
        self._pages: dict[str, list[tuple[Url, float]]] = {lang: [] for lang in langs}
        self._texts: set[str] = set()

    def see(self, page: Page) -> str:
        """The language that a page shows; nothing if its text was there before."""
        if page.record.digest in self._texts:
            return ""
        self._texts.add(page.record.digest)
        found = shown_language(page, self.langs)
        if found is None:
            return ""
        self._pages[found.lang].append((page.url, found.score))
        return found.lang

    def forget(self, url: Url, lang: str) -> None:
        """A page is no proof of a language after all."""
        self._pages[lang] = [each for each in self._pages[lang] if each[0] != url]

    def count(self, lang: str) -> int:
        """How many pages have shown a language."""
        return len(self._pages[lang])

    @property
    def shown(self) -> tuple[str, ...]:
        """The languages that were shown, in the order they were asked for."""
        return tuple(lang for lang in self.langs if self._pages[lang])

    def proof(self) -> tuple[tuple[str, Url, float], ...]:
        """The first page that has shown each language."""
        return tuple((lang, *self._pages[lang][0]) for lang in self.shown)

    @property
    def is_bilingual(self) -> bool:
        """Whether two languages were shown, each by a page of its own."""
        return len(self.shown) > 1

    @property
    def sureness(self) -> float:
        """How surely the two languages that are surest were identified."""
        scores = sorted((score for _, _, score in self.proof()), reverse=True)
        return scores[1] if len(scores) > 1 else 0.0
