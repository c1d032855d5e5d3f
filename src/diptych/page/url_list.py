"""Present a list of URLs to pairers as a site of pages without links (`protocols.SiteView`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.types import LangScore, Link, PageRecord, Site, Sketch, Url


@dataclass(frozen=True, slots=True)
class UrlList:
    """Pages for which only the URLs and languages are known."""

    site: Site
    langs: Sequence[str]
    pages: Mapping[Url, PageRecord]

    @classmethod
    def of(cls, name: str, urls: Iterable[tuple[Url, LangScore]], langs: Sequence[str]) -> UrlList:
        """Create a list from URLs, each with its language (empty if unknown) and score.

        >>> UrlList.of("a.org", [(Url("http://a.org/"), LangScore("en", 1.0))], ["en"]).pages.keys()
        dict_keys(['http://a.org/'])
        """
        pages = {url: _record(url, lang) for url, lang in urls}
        return cls(Site(name, tuple(pages)), langs, pages)

    def links(self, *, rel: str | None = None) -> Iterator[tuple[Url, Link]]:
        """Yield nothing, because a list has no links."""
        return iter(())

    def resolve(self, url: Url) -> Url | None:
        """The URL itself if it is in the list, else None."""
        return url if url in self.pages else None

    def sketches(self) -> Iterator[tuple[Url, Sketch]]:
        """Yield nothing, because the content of the pages is unknown."""
        return iter(())

    def lexicon(self, left: str, right: str) -> Lexicon:
        """An empty lexicon, because there are no texts to learn from."""
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
        digest=url,  # each is a distinct page
    )
