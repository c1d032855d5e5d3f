"""A list of URLs as a site for pairers: pages without links (`protocols.SiteView`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.types import LangScore, Link, PageRecord, Site, Sketch, Url


@dataclass(frozen=True, slots=True)
class UrlList:
    """The pages of some URLs, of which only the languages are known."""

    site: Site
    langs: Sequence[str]
    pages: Mapping[Url, PageRecord]

    @classmethod
    def of(cls, name: str, urls: Iterable[tuple[Url, LangScore]], langs: Sequence[str]) -> UrlList:
        """A list from URLs, each with its language and score; `""` is unknown.

        >>> UrlList.of("a.org", [(Url("http://a.org/"), LangScore("en", 1.0))], ["en"]).pages.keys()
        dict_keys(['http://a.org/'])
        """
        pages = {url: _record(url, lang) for url, lang in urls}
        return cls(Site(name, tuple(pages)), langs, pages)

    def links(self, *, rel: str | None = None) -> Iterator[tuple[Url, Link]]:
        """None: a list has no links."""
        return iter(())

    def resolve(self, url: Url) -> Url | None:
        """The URL itself where it is in the list."""
        return url if url in self.pages else None

    def sketches(self) -> Iterator[tuple[Url, Sketch]]:
        """None: the content of the pages is unknown."""
        return iter(())

    def lexicon(self, left: str, right: str) -> Lexicon:
        """An empty one: there is nothing to learn words from."""
        return Lexicon.empty(left, right)


def _record(url: Url, lang: LangScore) -> PageRecord:
    return PageRecord(
        url=url,
        lang=lang.lang,
        langs=(lang,) if lang.lang else (),
        title="",
        depth=1,
        size=0,
        text_length=0,
        digest=url,  # each is a page of its own
    )
